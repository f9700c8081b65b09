// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which cables are refused, each by itself (expected_verdicts.c). A refused cable that
 * joins two expected parts of the fabric is spared (out_of_use.h), as any other. One that leads
 * only to unexpected switches is not: their isolation is intended, unless they join expected parts.
 */
#include <string.h>

#include "sm/expected/expected_internal.h"
#include "util/mem.h"
#include "util/sets.h"

static bool enforces(const char *mode)
{
	return !strcmp(mode, "enforce");
}

unsigned expected_modes(const struct sm *sm)
{
	const struct conf *c = sm->conf;
	bool is_nvidia = !c->expected_topology_file && c->topo_config_enabled;
	unsigned ret = 0;

	if (is_nvidia || enforces(c->expected_topology_links))
		ret |= EXPECT_FLAW_LINK;
	if (enforces(c->expected_topology_node_guid))
		ret |= EXPECT_FLAW_NODE;
	if (enforces(c->expected_topology_port_guid))
		ret |= EXPECT_FLAW_PORT_GUID;
	if (enforces(c->expected_topology_description))
		ret |= EXPECT_FLAW_NAME;
	if (enforces(c->expected_topology_rate))
		ret |= EXPECT_FLAW_RATE;
	return ret;
}

struct look {
	struct sm *sm;
	unsigned flaws;
	const uint32_t *at; /* by node: its index in the expected topology */
	uint32_t *part;	    /* by switch: its connected part over cables that are not refused */
	uint32_t *strange;  /* by switch: these parts, joined where both are unexpected */
	bool *is_expected;  /* by root of a part: set if it has an expected switch */
	uint32_t *touches;  /* by root of `strange`: the expected part that it leads to */
	bool *bridges;	    /* by root of `strange`: set if it leads to several */
};

static bool joins_switches(const struct port *p)
{
	return node_is_switch(p->node) && node_is_switch(p->peer->node);
}

static void note_refused(struct expected *e, const struct port *p)
{
	GROW(e->cables, e->n_cables + 1, e->cap_cables);
	e->cables[e->n_cables++] = (struct refused){ p->node->guid, p->num };
}

/* ---- parts that are not expected ------------------------------------------------------------- */

/* Joins parts over usable links of a switch. */
static void join_links(struct look *l, const struct node *n)
{
	const struct verdicts *v = &l->sm->m.expected->verdicts;

	for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (verdict_is_cable(v, p) && !(verdict_of(v, p) & l->flaws) && joins_switches(p) &&
		    fabric_link_is_up(p))
			sets_join(l->part, n->index, p->peer->node->index);
	}
}

static void look_new(struct look *l)
{
	const struct fabric *f = l->sm->fabric;
	uint32_t n = f->n_nodes + 1u;

	l->part = xcalloc(n, sizeof(*l->part));
	l->strange = xcalloc(n, sizeof(*l->strange));
	l->is_expected = xcalloc(n, sizeof(*l->is_expected));
	l->touches = xcalloc(n, sizeof(*l->touches));
	l->bridges = xcalloc(n, sizeof(*l->bridges));
	for (uint32_t i = 0; i < n; i++) {
		l->part[i] = l->strange[i] = i;
		l->touches[i] = UINT32_MAX;
	}
	FABRIC_EACH_NODE(f, node)
		join_links(l, node);
}

static void look_free(struct look *l)
{
	free(l->part);
	free(l->strange);
	free(l->is_expected);
	free(l->touches);
	free(l->bridges);
}

static bool is_strange(struct look *l, const struct node *n)
{
	return !l->is_expected[sets_root(l->part, n->index)];
}

static void find_expected_parts(struct look *l)
{
	const struct fabric *f = l->sm->fabric;
	const struct node *own = out_of_use_first_switch(f);

	FABRIC_EACH_NODE(f, n) {
		if (node_is_switch(n) &&
		    (n == own || l->at[n->index] != TOPO_NONE))
			l->is_expected[sets_root(l->part, n->index)] = true;
	}
}

static void note_touch(struct look *l, const struct node *strange, const struct node *other)
{
	uint32_t at = sets_root(l->strange, sets_root(l->part, strange->index));
	uint32_t part = sets_root(l->part, other->index);

	if (l->touches[at] == UINT32_MAX)
		l->touches[at] = part;
	else if (l->touches[at] != part)
		l->bridges[at] = true;
}

static struct port *refused_port(const struct sm *sm, uint32_t i)
{
	const struct refused *c = &sm->m.expected->cables[i];

	return &fabric_find_node(sm->fabric, c->node)->ports[c->port];
}

/* Joins parts over refused cables between switches: first unexpected ones, then those to these. */
static void find_bridges(struct look *l)
{
	for (unsigned turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < l->sm->m.expected->n_cables; i++) {
			const struct port *p = refused_port(l->sm, i);
			const struct node *a = p->node, *b = p->peer->node;

			if (!joins_switches(p))
				continue;
			if (!turn && is_strange(l, a) && is_strange(l, b))
				sets_join(l->strange, sets_root(l->part, a->index),
					  sets_root(l->part, b->index));
			else if (turn && is_strange(l, a) && !is_strange(l, b))
				note_touch(l, a, b);
			else if (turn && is_strange(l, b) && !is_strange(l, a))
				note_touch(l, b, a);
		}
	}
}

/* Would no expected part be lost without the cable? */
static bool can_do_without(struct look *l, const struct port *p)
{
	const struct node *n = is_strange(l, p->node) ? p->node : p->peer->node;

	if (!joins_switches(p) || !is_strange(l, n))
		return false;
	return !l->bridges[sets_root(l->strange, sets_root(l->part, n->index))];
}

static bool any_joins_switches(const struct sm *sm)
{
	for (uint32_t i = 0; i < sm->m.expected->n_cables; i++)
		if (joins_switches(refused_port(sm, i)))
			return true;
	return false;
}

/* Refuses all cables with verdicts; `l` NULL: none of them joins switches. */
static void refuse_all(struct sm *sm, struct look *l)
{
	struct expected *e = sm->m.expected;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_cables; i++) {
		struct port *p = refused_port(sm, i);

		if (out_of_use_give(sm, p, OUT_UNEXPECTED, l && can_do_without(l, p)))
			e->cables[n++] = e->cables[i];
	}
	e->n_cables = n;
}

/* ---- all cables ------------------------------------------------------------------------------ */

unsigned expected_count(struct sm *sm, struct meant *want, unsigned flaws, unsigned *ret_cables)
{
	const struct verdicts *v = &sm->m.expected->verdicts;
	unsigned n = 0;

	*ret_cables = 0;
	if (!flaws)
		return 0;
	expected_judge(sm, want);
	for (uint32_t i = 0; i < v->n_rows; i++) {
		*ret_cables += v->rows[i] & VERDICT_CABLE ? 1 : 0;
		n += v->rows[i] & flaws ? 1 : 0;
	}
	return n;
}

static void find_refused(struct sm *sm, unsigned flaws)
{
	struct expected *e = sm->m.expected;

	for (uint32_t i = 0; i < sm->fabric->n_nodes; i++) {
		const uint8_t *rows = &e->verdicts.rows[e->verdicts.first[i]];
		uint32_t n = e->verdicts.first[i + 1] - e->verdicts.first[i];

		for (uint32_t k = 0; k < n; k++)
			if (rows[k] & flaws)
				note_refused(e, &sm->fabric->nodes[i]->ports[k]);
	}
}

void expected_refuse(struct sm *sm, unsigned flaws)
{
	struct expected *e = sm->m.expected;
	struct look l = { .sm = sm, .flaws = flaws };

	if (!flaws)
		return;
	expected_judge(sm, e->now);
	find_refused(sm, flaws);
	if (!any_joins_switches(sm)) {
		refuse_all(sm, NULL);
		return;
	}
	l.at = e->verdicts.at;
	look_new(&l);
	find_expected_parts(&l);
	find_bridges(&l);
	refuse_all(sm, &l);
	look_free(&l);
}
