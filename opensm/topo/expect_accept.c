// SPDX-License-Identifier: BSD-2-Clause
/*
 * A finding is accepted: of the ports and nodes that it is about, the picture of the fabric as it
 * was meant gets the cables as they are found. Everything else stays as it was meant.
 */
#include <stdlib.h>

#include "topo/expect.h"
#include "util/bisect.h"
#include "util/mem.h"

/* A port, or all of a node (port 0). */
struct place {
	guid_t guid;
	uint8_t port;
};

struct accept {
	struct place *all;
	size_t n, cap;
};

static int by_place(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	return COMPARE(a->guid, b->guid) ?: COMPARE(a->port, b->port);
}

static void add_place(struct accept *a, const struct expect_end *e)
{
	if (!e->guid)
		return;
	GROW(a->all, a->n + 1, a->cap);
	a->all[a->n++] = (struct place){ e->guid, e->port };
}

static bool has_place(const struct accept *a, guid_t guid, uint8_t port)
{
	const struct place key = { guid, port };
	size_t at = BISECT(i, 0, a->n, by_place(&a->all[i], &key) < 0);

	return at < a->n && !by_place(&a->all[at], &key);
}

static bool is_about(const struct accept *a, const struct expect *x, uint32_t row)
{
	const struct expect_port *p = &x->ports[row];
	guid_t guid = x->nodes[p->node].guid;

	return has_place(a, guid, p->number) || has_place(a, guid, 0);
}

/* Whole nodes are meant by findings about nodes; of others the ports alone. */
static void collect(struct accept *a, const struct expect_report *r, const struct expect_finding *f)
{
	bool has_ports = f->kind == EXPECT_SHIFTED || f->kind == EXPECT_WRONG_RAIL;

	if (!has_ports)
		add_place(a, &f->node);
	if (!has_ports && f->kind != EXPECT_PORT_GUID)
		add_place(a, &f->other);
	for (uint32_t i = 0; i < f->n_changes; i++) {
		const struct expect_change *c = &r->changes[f->first_change + i];

		/* Of a node that is not there, or not known, the place alone. */
		add_place(a, &c->at);
		add_place(a, &c->was);
		add_place(a, &c->is);
	}
	if (a->n)
		qsort(a->all, a->n, sizeof(*a->all), by_place);
}

/* Nodes of `have`, as `want` has them unless they are what is accepted. */
static uint32_t *add_found(struct expect_builder *b, const struct expect *have,
			   const struct expect *want, const struct accept *a)
{
	uint32_t *now = xcalloc(have->n_nodes + 1u, sizeof(*now));

	for (uint32_t i = 0; i < have->n_nodes; i++) {
		guid_t guid = have->nodes[i].guid;
		uint32_t k = a && !has_place(a, guid, 0) ? expect_find_node(want, guid) : TOPO_NONE;

		now[i] = expect_add_node(b, k == TOPO_NONE ? &have->nodes[i] : &want->nodes[k]);
	}
	return now;
}

static uint32_t *add_meant(struct expect_builder *b, const struct expect *want,
			   const struct expect *have, const uint32_t *of_have)
{
	uint32_t *now = xcalloc(want->n_nodes + 1u, sizeof(*now));

	for (uint32_t i = 0; i < want->n_nodes; i++) {
		uint32_t k = expect_find_node(have, want->nodes[i].guid);

		now[i] = k == TOPO_NONE ? expect_add_node(b, &want->nodes[i]) : of_have[k];
	}
	return now;
}

static void add_cables(struct expect_builder *b, const struct expect *x, const uint32_t *now,
		       const struct accept *a, bool about)
{
	for (uint32_t i = 0; i < x->n_ports; i++) {
		struct expect_port one = x->ports[i], two = x->ports[one.peer];
		bool is = !a || is_about(a, x, i) || is_about(a, x, one.peer);

		if (one.peer < i || is != about)
			continue;
		one.node = now[one.node];
		two.node = now[two.node];
		one.best = two.best = (struct expect_rate){ 0 };
		expect_add_cable(b, &one, &two);
	}
}

/* Nodes without a cable say nothing, and would not come back from a file. */
static struct expect *without_bare(struct expect *x)
{
	struct expect_builder *b = expect_builder_new();
	_cleanup_free_ uint32_t *now = xcalloc(x->n_nodes + 1u, sizeof(*now));

	for (uint32_t i = 0; i < x->n_nodes; i++)
		if (x->nodes[i].n_ports)
			now[i] = expect_add_node(b, &x->nodes[i]);
	add_cables(b, x, now, NULL, true);
	expect_free(x);
	return expect_build(b);
}

struct expect *expect_accept(const struct expect *want, const struct expect *have,
			     const struct expect_report *r, const struct expect_finding *f)
{
	struct expect_builder *b = expect_builder_new();
	_cleanup_free_ uint32_t *of_have = NULL, *of_want = NULL;
	struct accept a = { 0 };

	if (f)
		collect(&a, r, f);
	of_have = add_found(b, have, want, f ? &a : NULL);
	of_want = add_meant(b, want, have, of_have);
	add_cables(b, have, of_have, f ? &a : NULL, true);
	if (f)
		add_cables(b, want, of_want, &a, false);
	free(a.all);
	return without_bare(expect_build(b));
}
