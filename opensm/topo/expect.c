// SPDX-License-Identifier: BSD-2-Clause
/* Pictures of a fabric for comparisons: nodes and cables, in order. */
#include "topo/expect.h"

#include <assert.h>
#include <string.h>

#include "util/bisect.h"

/* A cable from one of its ends; each cable has two. */
struct half {
	struct expect_port port;
	uint32_t order; /* of its cable */
	uint32_t twin;	/* the other half */
	bool counts;
};

struct expect_builder {
	struct expect *x;
	struct half *halves;
	size_t cap_nodes, n_halves, cap_halves;
};

struct expect_builder *expect_builder_new(void)
{
	struct expect_builder *b = xcalloc(1, sizeof(*b));

	b->x = xcalloc(1, sizeof(*b->x));
	return b;
}

struct expect *expect_free(struct expect *x)
{
	if (!x)
		return NULL;
	arena_done(&x->names);
	free(x->nodes);
	free(x->ports);
	free(x->slots);
	free(x);
	return NULL;
}

struct expect_builder *expect_builder_free(struct expect_builder *b)
{
	if (!b)
		return NULL;
	expect_free(b->x);
	free(b->halves);
	free(b);
	return NULL;
}

uint32_t expect_add_node(struct expect_builder *b, const struct expect_node *node)
{
	struct expect *x = b->x;
	size_t len = strlen(node->name);

	GROW(x->nodes, x->n_nodes + 1, b->cap_nodes);
	x->nodes[x->n_nodes] = *node;
	x->nodes[x->n_nodes].name = "";
	if (len) {
		char *copy = arena_calloc(&x->names, len + 1, 1);

		memcpy(copy, node->name, len);
		x->nodes[x->n_nodes].name = copy;
	}
	return x->n_nodes++;
}

void expect_add_cable(struct expect_builder *b, const struct expect_port *one,
		      const struct expect_port *two)
{
	const struct expect_port *const ends[] = { one, two };
	uint32_t n = (uint32_t)b->n_halves;

	assert(one->node < b->x->n_nodes && two->node < b->x->n_nodes);
	if (one->node == two->node && one->number == two->number)
		return;
	GROW(b->halves, n + 2, b->cap_halves);
	for (uint32_t i = 0; i < 2; i++)
		b->halves[n + i] =
			(struct half){ .port = *ends[i], .order = n / 2, .twin = n + 1 - i };
	b->n_halves += 2;
}

/* --- Order ---------------------------------------------------------------------------------- */

struct place {
	struct expect_node node;
	uint32_t was;
};

static int by_guid(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	return COMPARE(a->node.guid, b->node.guid) ?: COMPARE(a->node.type, b->node.type) ?:
	       COMPARE(a->was, b->was);
}

static void order_nodes(struct expect_builder *b)
{
	struct expect *x = b->x;
	_cleanup_free_ struct place *places = xcalloc(x->n_nodes + 1u, sizeof(*places));
	_cleanup_free_ uint32_t *now = xcalloc(x->n_nodes + 1u, sizeof(*now));

	for (uint32_t i = 0; i < x->n_nodes; i++)
		places[i] = (struct place){ x->nodes[i], i };
	qsort(places, x->n_nodes, sizeof(*places), by_guid);
	for (uint32_t i = 0; i < x->n_nodes; i++) {
		x->nodes[i] = places[i].node;
		x->nodes[i].first_port = x->nodes[i].n_ports = 0;
		now[places[i].was] = i;
	}
	for (size_t i = 0; i < b->n_halves; i++)
		b->halves[i].port.node = now[b->halves[i].port.node];
}

struct key {
	uint64_t place; /* node, port */
	uint32_t order, half;
};

static int by_place(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;

	return COMPARE(a->place, b->place) ?: COMPARE(a->order, b->order);
}

static struct key *ordered_halves(const struct expect_builder *b)
{
	struct key *keys = xcalloc(b->n_halves + 1, sizeof(*keys));

	for (uint32_t i = 0; i < b->n_halves; i++) {
		const struct half *h = &b->halves[i];

		keys[i] = (struct key){ (uint64_t)h->port.node << 8 | h->port.number, h->order, i };
	}
	qsort(keys, b->n_halves, sizeof(*keys), by_place);
	return keys;
}

/* Of cables at one port the first counts, if it counts at its other end. */
static void choose_cables(struct expect_builder *b, const struct key *keys)
{
	for (size_t i = 0; i < b->n_halves; i++)
		b->halves[keys[i].half].counts = !i || keys[i].place != keys[i - 1].place;
}

struct expect *expect_build(struct expect_builder *b)
{
	struct expect *x = b->x;
	_cleanup_free_ struct key *keys = NULL;
	_cleanup_free_ uint32_t *row_of = xcalloc(b->n_halves + 1, sizeof(*row_of));

	order_nodes(b);
	keys = ordered_halves(b);
	choose_cables(b, keys);
	x->ports = xcalloc(b->n_halves + 1, sizeof(*x->ports));
	for (size_t i = 0; i < b->n_halves; i++) {
		struct half *h = &b->halves[keys[i].half];
		struct expect_node *n = &x->nodes[h->port.node];

		if (!h->counts || !b->halves[h->twin].counts)
			continue;
		if (!n->n_ports++)
			n->first_port = x->n_ports;
		row_of[keys[i].half] = x->n_ports;
		x->ports[x->n_ports] = h->port;
		x->ports[x->n_ports++].peer = h->twin;
	}
	for (uint32_t i = 0; i < x->n_ports; i++)
		x->ports[i].peer = row_of[x->ports[i].peer];
	b->x = NULL;
	expect_builder_free(b);
	return x;
}

/* --- Queries -------------------------------------------------------------------------------- */

uint32_t expect_find_port(const struct expect *x, uint32_t node, uint8_t number)
{
	const struct expect_node *n = &x->nodes[node];
	uint32_t end = n->first_port + n->n_ports;
	uint32_t at = BISECT(i, n->first_port, end, x->ports[i].number < number);

	return at < end && x->ports[at].number == number ? at : TOPO_NONE;
}

uint32_t expect_find_node(const struct expect *x, guid_t guid)
{
	uint32_t at = BISECT(i, 0, x->n_nodes, x->nodes[i].guid < guid);

	return at < x->n_nodes && x->nodes[at].guid == guid ? at : TOPO_NONE;
}

uint32_t expect_count_cables(const struct expect *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_ports; i++)
		if (x->ports[i].peer > i && x->ports[i].use == EXPECT_UP)
			n++;
	return n;
}

struct expect *expect_dup(const struct expect *x)
{
	struct expect_builder *b = expect_builder_new();

	for (uint32_t i = 0; i < x->n_nodes; i++)
		expect_add_node(b, &x->nodes[i]);
	for (uint32_t i = 0; i < x->n_ports; i++)
		if (x->ports[i].peer > i)
			expect_add_cable(b, &x->ports[i], &x->ports[x->ports[i].peer]);
	return expect_build(b);
}
