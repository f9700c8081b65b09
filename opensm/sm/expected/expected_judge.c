// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which cables are refused: each is judged by itself (expect_judge()); nodes are looked up once.
 *
 * A refused cable that joins two parts of what is expected is spared by dampening, as any other.
 * One that leads to switches that are not expected at all is not: doing without them is what is
 * asked for, unless it is only through them that expected parts reach each other.
 */
#include <string.h>

#include "sm/expected/expected_internal.h"
#include "util/bisect.h"
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

static enum expect_type type_of(const struct node *n)
{
	return node_is_switch(n)	      ? EXPECT_SWITCH
	       : n->type == IB_NODE_ROUTER ? EXPECT_ROUTER
					   : EXPECT_CA;
}

const char *expected_name(const struct node *n)
{
	return n->alias ?: n->desc;
}

struct expect_seen expected_seen(const struct port *p)
{
	return (struct expect_seen){ .node = p->node->guid,
				     .port_guid = node_is_switch(p->node) ? 0 : p->guid,
				     .system = p->node->sysimg_guid,
				     .type = type_of(p->node),
				     .at = TOPO_NONE,
				     .name = p->node->desc,
				     .port = p->num };
}

struct expect_rate expected_rate(const struct port *p)
{
	if (!p->known || port_state(p) == IB_PORT_DOWN)
		return (struct expect_rate){ 0 };
	return expect_rate_of(p->info, fabric_speed_sets(p));
}

static bool is_there(void *arg, guid_t guid)
{
	return fabric_find_node(arg, guid);
}

/* Each cable once. */
static bool is_first_end(const struct port *p)
{
	return p->peer && p->peer != p &&
	       (p->node->guid < p->peer->node->guid ||
		(p->node == p->peer->node && p->num < p->peer->num));
}

struct look {
	struct sm *sm;
	const struct expect *want;
	unsigned flaws;
	bool by_name;
	uint32_t *at;	   /* of nodes: the same in the picture */
	uint32_t *part;	   /* of switches, over cables that are not refused */
	uint32_t *strange; /* of these, joined where both are not expected */
	bool *is_expected; /* by the root of the part */
	uint32_t *touches; /* by the root of `strange`: the expected part that it leads to */
	bool *bridges;	   /* the same: it leads to several */
};

static bool is_refused(const struct look *l, const struct port *p)
{
	struct expect_question q = { .end = { expected_seen(p), expected_seen(p->peer) },
				     .rate = expected_rate(p),
				     .by_name = l->by_name,
				     .is_there = is_there,
				     .arg = l->sm->fabric };

	q.end[0].at = l->at[p->node->index];
	q.end[1].at = l->at[p->peer->node->index];
	return expect_judge(l->want, &q) & l->flaws;
}

static bool joins_switches(const struct port *p)
{
	return node_is_switch(p->node) && node_is_switch(p->peer->node);
}

static void note_refused(struct expected *e, const struct port *p)
{
	GROW(e->cables, e->n_cables + 1, e->cap_cables);
	e->cables[e->n_cables++] = (struct refused){
		.node = p->node->guid,
		.port = p->num,
		.work = { .state = MARK_DRAINING, .down_at = MONO_NEVER },
	};
}

/* ---- parts that are not expected ------------------------------------------------------------- */

static void look_new(struct look *l)
{
	const struct fabric *f = l->sm->fabric;
	uint32_t n = f->n_nodes + 1u;

	l->at = xcalloc(n, sizeof(*l->at));
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
		l->at[node->index] = expect_seek(l->want, node->guid, node->sysimg_guid,
						 expected_name(node));
}

static void look_free(struct look *l)
{
	free(l->at);
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
	const struct node *own = dampening_first_switch(f);

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

/* Over refused cables between switches: first those within what is strange, then those to it. */
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

/* Nothing that is expected is lost with it. */
static bool can_do_without(struct look *l, const struct port *p)
{
	const struct node *n = is_strange(l, p->node) ? p->node : p->peer->node;

	if (!joins_switches(p) || !is_strange(l, n))
		return false;
	return !l->bridges[sets_root(l->strange, sets_root(l->part, n->index))];
}

int expected_by_place(const void *va, const void *vb)
{
	const struct refused *a = va, *b = vb;

	return COMPARE(a->node, b->node) ?: COMPARE(a->port, b->port);
}

static void refuse_all(struct look *l)
{
	struct expected *e = l->sm->m.expected;
	uint32_t n = 0;

	find_expected_parts(l);
	find_bridges(l);
	for (uint32_t i = 0; i < e->n_cables; i++) {
		struct port *p = refused_port(l->sm, i);

		if (dampening_refuse(l->sm, p, can_do_without(l, p)))
			e->cables[n++] = e->cables[i];
	}
	e->n_cables = n;
	if (n)
		qsort(e->cables, n, sizeof(*e->cables), expected_by_place);
}

/* ---- all cables ------------------------------------------------------------------------------ */

unsigned expected_judge_all(struct sm *sm, const struct expect *want, unsigned flaws, bool refuse,
			    unsigned *ret_cables)
{
	struct look l = { .sm = sm, .want = want, .flaws = flaws };
	unsigned n = 0;

	*ret_cables = 0;
	if (!flaws)
		return 0;
	l.by_name = !strcmp(sm->conf->expected_topology_node_guid, "off");
	look_new(&l);
	FABRIC_EACH_NODE(sm->fabric, node) {
		for (unsigned i = 1; i <= node->n_ports; i++) {
			const struct port *p = &node->ports[i];

			if (!is_first_end(p))
				continue;
			(*ret_cables)++;
			if (is_refused(&l, p)) {
				n++;
				if (refuse)
					note_refused(sm->m.expected, p);
			} else if (joins_switches(p) && fabric_link_is_up(p)) {
				sets_join(l.part, node->index, p->peer->node->index);
			}
		}
	}
	if (refuse)
		refuse_all(&l);
	look_free(&l);
	return n;
}
