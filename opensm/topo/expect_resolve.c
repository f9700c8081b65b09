// SPDX-License-Identifier: BSD-2-Clause
/*
 * A picture that knows nodes by other means than their GUIDs, with those of another picture: by
 * names, and by port GUIDs as NVIDIA's CSV does.
 */
#include <string.h>

#include "topo/expect.h"
#include "util/bisect.h"

/* --- GUIDs for names ------------------------------------------------------------------------ */

/* Per node of `x`: the first one of `other` that is meant; TOPO_NONE. */
static uint32_t *find_all(const struct expect *x, const struct expect *other)
{
	uint32_t *ret = xmalloc((x->n_nodes + 1u) * sizeof(*ret));

	memset(ret, 0xFF, (x->n_nodes + 1u) * sizeof(*ret));
	for (uint32_t i = 0; i < other->n_nodes; i++) {
		const struct expect_node *n = &other->nodes[i];
		uint32_t at = expect_seek(x, n->guid, n->sysimg_guid, n->name);

		if (at != TOPO_NONE && ret[at] == TOPO_NONE)
			ret[at] = i;
	}
	return ret;
}

static struct expect *with_guids(const struct expect *x, const struct expect *other)
{
	struct expect_builder *b = expect_builder_new();
	_cleanup_free_ uint32_t *of_other = find_all(x, other);

	for (uint32_t i = 0, free = 0; i < x->n_nodes; i++) {
		struct expect_node n = of_other[i] == TOPO_NONE ? x->nodes[i]
								: other->nodes[of_other[i]];

		if (of_other[i] == TOPO_NONE) {
			while (expect_find_node(other, expect_number_guid(free + i)) != TOPO_NONE)
				free++;
			n.guid = expect_number_guid(free + i);
		}
		expect_add_node(b, &n);
	}
	for (uint32_t i = 0; i < x->n_ports; i++)
		if (x->ports[i].peer > i)
			expect_add_cable(b, &x->ports[i], &x->ports[x->ports[i].peer]);
	return expect_build(b);
}

/* --- Port GUIDs in place of node GUIDs ------------------------------------------------------ */

struct alias {
	guid_t guid;
	uint32_t port; /* of the other picture */
};

static int by_alias(const void *va, const void *vb)
{
	const struct alias *a = va, *b = vb;

	return COMPARE(a->guid, b->guid) ?: COMPARE(a->port, b->port);
}

static struct alias *port_guids_of(const struct expect *x, uint32_t *ret_n)
{
	struct alias *all = xcalloc(x->n_ports + 1u, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_ports; i++)
		if (x->ports[i].guid)
			all[n++] = (struct alias){ x->ports[i].guid, i };
	qsort(all, n, sizeof(*all), by_alias);
	*ret_n = n;
	return all;
}

static bool may_be_port(const struct expect *x, const struct expect_node *n,
			const struct expect *other)
{
	return n->type == EXPECT_ANY_TYPE && n->n_ports == 1 &&
	       x->ports[n->first_port].number == 1 &&
	       expect_find_node(other, n->guid) == TOPO_NONE;
}

/* Per node of `x`: the port of `other` that it is, TOPO_NONE. NULL: all of them are nodes. */
static uint32_t *find_aliases(const struct expect *x, const struct expect *other)
{
	_cleanup_free_ struct alias *all = NULL;
	_cleanup_free_ uint32_t *ret = xcalloc(x->n_nodes + 1u, sizeof(*ret));
	bool found = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_nodes; i++) {
		uint32_t at;

		ret[i] = TOPO_NONE;
		if (!may_be_port(x, &x->nodes[i], other))
			continue;
		if (!all)
			all = port_guids_of(other, &n);
		at = BISECT(k, 0, n, all[k].guid < x->nodes[i].guid);
		if (at == n || all[at].guid != x->nodes[i].guid)
			continue;
		ret[i] = all[at].port;
		found = true;
	}
	return found ? take(ret) : NULL;
}

/* Per node of `x` the one in the picture that is built, where all but ports of others are. */
static uint32_t *add_nodes(struct expect_builder *b, const struct expect *x,
			   const struct expect *other, const uint32_t *alias)
{
	_cleanup_free_ uint32_t *added = xmalloc((other->n_nodes + 1u) * sizeof(*added));
	uint32_t *now = xcalloc(x->n_nodes + 1u, sizeof(*now));

	memset(added, 0xFF, (other->n_nodes + 1u) * sizeof(*added));
	for (uint32_t i = 0; i < x->n_nodes; i++)
		if (alias[i] == TOPO_NONE)
			now[i] = expect_add_node(b, &x->nodes[i]);
	for (uint32_t i = 0; i < x->n_nodes; i++) {
		uint32_t node, own;

		if (alias[i] == TOPO_NONE)
			continue;
		node = other->ports[alias[i]].node;
		own = expect_find_node(x, other->nodes[node].guid);
		if (added[node] == TOPO_NONE)
			added[node] = own != TOPO_NONE ? now[own]
						       : expect_add_node(b, &other->nodes[node]);
		now[i] = added[node];
	}
	return now;
}

struct expect *expect_resolved(const struct expect *x, const struct expect *other)
{
	_cleanup_free_ uint32_t *alias = NULL, *now = NULL;
	struct expect_builder *b;

	if (x->slots)
		return with_guids(x, other);
	alias = find_aliases(x, other);
	if (!alias)
		return NULL;
	b = expect_builder_new();
	now = add_nodes(b, x, other, alias);
	for (uint32_t i = 0; i < x->n_ports; i++) {
		struct expect_port ends[] = { x->ports[i], x->ports[x->ports[i].peer] };

		if (x->ports[i].peer < i)
			continue;
		for (unsigned k = 0; k < 2; k++) {
			uint32_t node = ends[k].node;

			ends[k].node = now[node];
			if (alias[node] != TOPO_NONE)
				ends[k].number = other->ports[alias[node]].number;
		}
		expect_add_cable(b, &ends[0], &ends[1]);
	}
	return expect_build(b);
}

struct expect *expect_resolve(struct expect *x, const struct expect *other)
{
	struct expect *ret = expect_resolved(x, other);

	if (!ret)
		return x;
	expect_free(x);
	return ret;
}
