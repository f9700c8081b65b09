// SPDX-License-Identifier: BSD-2-Clause
/*
 * What no cable in another port explains: cables that are missing, nodes that are not found, nodes
 * that are unknown. Nodes of one picture alone that are connected with each other are one finding,
 * by the cables that lead to them: of a leaf without uplinks also its hosts are not found.
 */
#include "topo/expect_internal.h"
#include "util/bisect.h"

/* A cable between a node of both pictures and one of this picture alone. */
struct cut {
	uint32_t root;	/* the region of the latter */
	uint32_t point; /* of the former */
};

/* Nodes of one picture alone, in connected parts; a part is known by one of its nodes. */
struct regions {
	uint32_t *root;	 /* per node: nearer to the root, or itself */
	uint32_t *nodes, *n_cuts;
	/* per root: a cable to it is elsewhere, or need not be there; its GUID is a twin */
	bool *explained;
	struct cut *cuts;
	size_t n;
	size_t cap;
};

static struct regions regions_new(uint32_t n_nodes)
{
	struct regions r = { 0 };

	r.root = xcalloc(n_nodes + 1u, sizeof(*r.root));
	r.nodes = xcalloc(n_nodes + 1u, sizeof(*r.nodes));
	r.n_cuts = xcalloc(n_nodes + 1u, sizeof(*r.n_cuts));
	r.explained = xcalloc(n_nodes + 1u, sizeof(*r.explained));
	for (uint32_t i = 0; i < n_nodes; i++)
		r.root[i] = i;
	return r;
}

static void regions_clear(struct regions *r)
{
	free(r->root);
	free(r->nodes);
	free(r->n_cuts);
	free(r->explained);
	free(r->cuts);
}

/* Each step leads to a smaller number, and halves the way for the next one. */
static uint32_t root_of(struct regions *r, uint32_t node)
{
	while (r->root[node] != node) {
		r->root[node] = r->root[r->root[node]];
		node = r->root[node];
	}
	return node;
}

static void join(struct regions *r, uint32_t a, uint32_t b)
{
	uint32_t one = root_of(r, a), two = root_of(r, b);

	r->root[MAX(one, two)] = MIN(one, two);
}

/* The regions of nodes of `x` that are not `same` as any of the other picture. */
static struct regions find_regions(const struct expect *x, const uint32_t *same)
{
	struct regions r = regions_new(x->n_nodes);

	for (uint32_t i = 0; i < x->n_ports; i++) {
		const struct expect_port *p = &x->ports[i], *q = &x->ports[p->peer];

		if (p->use == EXPECT_UP && same[p->node] == TOPO_NONE &&
		    same[q->node] == TOPO_NONE)
			join(&r, p->node, q->node);
	}
	for (uint32_t i = 0; i < x->n_nodes; i++)
		if (same[i] == TOPO_NONE)
			r.nodes[root_of(&r, i)]++;
	return r;
}

static void add_cut(struct regions *r, uint32_t node, uint32_t point)
{
	uint32_t root = root_of(r, node);

	GROW(r->cuts, r->n + 1, r->cap);
	r->cuts[r->n++] = (struct cut){ root, point };
	r->n_cuts[root]++;
}

static int by_root(const void *va, const void *vb)
{
	const struct cut *a = va, *b = vb;

	return COMPARE(a->root, b->root) ?: COMPARE(a->point, b->point);
}

static void order_cuts(struct regions *r)
{
	if (r->n)
		qsort(r->cuts, r->n, sizeof(*r->cuts), by_root);
}

/* --- Unknown -------------------------------------------------------------------------------- */

static void find_unknown_cuts(struct expect_job *j, struct regions *r)
{
	for (uint32_t i = 0; i < j->have->n_ports; i++) {
		const struct expect_port *p = &j->have->ports[i], *q = &j->have->ports[p->peer];

		if (p->use != EXPECT_OFF && j->want_of[p->node] == TOPO_NONE &&
		    j->want_of[q->node] != TOPO_NONE)
			add_cut(r, p->node, j->point_of[p->peer]);
	}
	for (uint32_t i = 0; i < j->have->n_nodes; i++)
		if (j->is_twin[i] && j->want_of[i] == TOPO_NONE)
			r->explained[root_of(r, i)] = true;
	order_cuts(r);
}

/* A single unknown cable in the port of a cable that is missing explains that. */
static void report_unknown(struct expect_job *j, const struct cut *cuts, uint32_t n, uint32_t nodes)
{
	uint32_t node = expect_found_port(j, j->unknown[cuts[0].point])->node;
	struct expect_finding *f = expect_add_finding(j, EXPECT_UNKNOWN_NODE);

	f->node = expect_have_end(j, node);
	f->have_type = j->have->nodes[node].type;
	f->n_nodes = nodes;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = cuts[i].point, was = n == 1 ? j->was[at] : TOPO_NONE;

		expect_add_change(j, at, was, j->unknown[at]);
		if (was != TOPO_NONE)
			j->was[at] = j->was[was] = TOPO_NONE;
	}
}

static void report_island(struct expect_job *j, uint32_t node, uint32_t nodes)
{
	struct expect_finding *f = expect_add_finding(j, EXPECT_UNKNOWN_NODE);

	f->node = expect_have_end(j, node);
	f->have_type = j->have->nodes[node].type;
	f->n_nodes = nodes;
}

static void explain_unknown(struct expect_job *j)
{
	struct regions r = find_regions(j->have, j->want_of);

	find_unknown_cuts(j, &r);
	for (size_t i = 0; i < r.n; i += r.n_cuts[r.cuts[i].root]) {
		uint32_t root = r.cuts[i].root;

		if (!r.explained[root])
			report_unknown(j, &r.cuts[i], r.n_cuts[root], r.nodes[root]);
	}
	for (uint32_t i = 0; i < j->have->n_nodes; i++)
		if (r.nodes[i] && !r.n_cuts[i] && !r.explained[i])
			report_island(j, i, r.nodes[i]);
	regions_clear(&r);
}

/* --- Missing -------------------------------------------------------------------------------- */

/* A CA leads no further: its cable to a node that is not found may well be there. */
static bool leads_on(const struct expect_job *j, uint32_t point)
{
	enum expect_type type = expect_point_type(j, point);

	return type == EXPECT_SWITCH || type == EXPECT_ANY_TYPE;
}

static void find_missing_cuts(struct expect_job *j, struct regions *r)
{
	for (uint32_t i = 0; i < j->want->n_ports; i++) {
		const struct expect_port *p = &j->want->ports[i], *q = &j->want->ports[p->peer];

		if (j->have_of[p->node] != TOPO_NONE)
			continue;
		if (p->use == EXPECT_UP && j->have_of[q->node] == TOPO_NONE)
			continue;
		if (j->was[i] == TOPO_NONE)
			r->explained[root_of(r, p->node)] = true;
		else if (leads_on(j, p->peer))
			add_cut(r, p->node, p->peer);
	}
	order_cuts(r);
}

static void report_missing_cable(struct expect_job *j, uint32_t point, uint32_t nodes)
{
	expect_add_finding(j, EXPECT_MISSING)->n_nodes = nodes;
	expect_add_change(j, point, j->was[point], TOPO_NONE);
}

static void report_missing_nodes(struct expect_job *j, const struct cut *cuts, uint32_t n,
				 uint32_t nodes)
{
	struct expect_finding *f;

	if (n == 1) {
		report_missing_cable(j, cuts[0].point, nodes);
		return;
	}
	f = expect_add_finding(j, EXPECT_MISSING_NODE);
	f->node = expect_want_end(j, j->want->ports[j->was[cuts[0].point]].node);
	f->n_nodes = nodes;
	for (uint32_t i = 0; i < n; i++)
		expect_add_change(j, cuts[i].point, j->was[cuts[i].point], TOPO_NONE);
}

static void explain_absent(struct expect_job *j)
{
	struct regions r = find_regions(j->want, j->have_of);

	find_missing_cuts(j, &r);
	for (size_t i = 0; i < r.n; i += r.n_cuts[r.cuts[i].root])
		report_missing_nodes(j, &r.cuts[i], r.n_cuts[r.cuts[i].root],
				     r.nodes[r.cuts[i].root]);
	for (uint32_t i = 0; i < j->want->n_nodes; i++) {
		struct expect_finding *f;

		if (!r.nodes[i] || r.n_cuts[i] || r.explained[i])
			continue;
		f = expect_add_finding(j, EXPECT_MISSING_NODE);
		f->node = expect_want_end(j, i);
		f->n_nodes = r.nodes[i];
	}
	regions_clear(&r);
}

/* Both of its nodes are found. */
static void explain_missing_cables(struct expect_job *j)
{
	for (uint32_t i = 0; i < j->want->n_ports; i++) {
		const struct expect_port *p = &j->want->ports[i], *q = &j->want->ports[p->peer];

		if (j->was[i] > i && j->was[i] != TOPO_NONE && j->have_of[p->node] != TOPO_NONE &&
		    j->have_of[q->node] != TOPO_NONE)
			report_missing_cable(j, expect_first_end(j, i, j->was[i]), 0);
	}
}

void expect_explain_rest(struct expect_job *j)
{
	explain_unknown(j);
	explain_absent(j);
	explain_missing_cables(j);
}
