// SPDX-License-Identifier: BSD-2-Clause
/*
 * Flaws of each cable, beside a picture of how the fabric was meant.
 *
 * A verdict follows from the picture and from the two nodes of the cable; if one of these is not in
 * the picture, also from which nodes there are. So cables at nodes that were edited since
 * (node->edited) are judged again, with those of nodes that are not in the picture when a node came
 * or went; beside another picture all are.
 */
#include <assert.h>
#include <string.h>

#include "sm/expected/expected_internal.h"
#include "util/mem.h"

/* ---- the fabric in the terms of topo/expect.h ------------------------------------------------ */

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

/* ---- one cable ------------------------------------------------------------------------------- */

static bool is_there(void *arg, guid_t guid)
{
	return fabric_find_node(arg, guid);
}

/* Is this the end for which a cable is judged, once? */
static bool is_first_end(const struct port *p)
{
	return p->peer && p->peer != p &&
	       (p->node->guid < p->peer->node->guid ||
		(p->node == p->peer->node && p->num < p->peer->num));
}

static void judge_cable(struct sm *sm, const struct port *p)
{
	struct verdicts *v = &sm->m.expected->verdicts;
	struct expect_question q = { .end = { expected_seen(p), expected_seen(p->peer) },
				     .rate = expected_rate(p),
				     .by_name = v->by_name,
				     .is_there = is_there,
				     .arg = sm->fabric };

	q.end[0].at = v->at[p->node->index];
	q.end[1].at = v->at[p->peer->node->index];
	v->rows[v->first[p->node->index] + p->num] =
		(uint8_t)(VERDICT_CABLE | expect_judge(v->of->x, &q));
	v->judged++;
}

static void seek(struct verdicts *v, const struct node *n)
{
	v->at[n->index] = expect_seek(v->of->x, n->guid, n->sysimg_guid, expected_name(n));
}

/* ---- what was edited ------------------------------------------------------------------------- */

/* Judges the cables of a node; a cable that is gone has edited both nodes. */
static void judge_node(struct sm *sm, const struct node *n)
{
	struct verdicts *v = &sm->m.expected->verdicts;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		v->rows[v->first[n->index] + i] = 0;
		if (is_first_end(p))
			judge_cable(sm, p);
		else if (p->peer && p->peer != p)
			judge_cable(sm, p->peer);
	}
}

/*
 * Judges edited nodes; the place of each in the expected topology is found before any cable is
 * judged.
 */
static void judge_edited(struct sm *sm)
{
	struct verdicts *v = &sm->m.expected->verdicts;

	FABRIC_EACH_NODE(sm->fabric, n) {
		if (n->edited > v->edits)
			seek(v, n);
	}
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (n->edited > v->edits)
			judge_node(sm, n);
	}
}

/* ---- nodes that came or went ----------------------------------------------------------------- */

static void make_room(struct verdicts *v, const struct fabric *f)
{
	v->n_nodes = f->n_nodes;
	v->guids = xcalloc(f->n_nodes + 1u, sizeof(*v->guids));
	v->first = xcalloc(f->n_nodes + 1u, sizeof(*v->first));
	v->at = xcalloc(f->n_nodes + 1u, sizeof(*v->at));
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		v->guids[i] = f->nodes[i]->guid;
		v->first[i + 1] = v->first[i] + f->nodes[i]->n_ports + 1u;
	}
	v->n_rows = v->first[f->n_nodes];
	v->rows = xcalloc(v->n_rows + 1u, sizeof(*v->rows));
}

static void free_rows(struct verdicts *v)
{
	free(take(v->guids));
	free(take(v->first));
	free(take(v->at));
	free(take(v->rows));
	v->n_rows = v->n_nodes = 0;
}

/* Is the node at the same index, and unedited? */
static bool is_kept(const struct verdicts *old, const struct node *n)
{
	return n->index < old->n_nodes && old->guids[n->index] == n->guid &&
	       n->edited <= old->edits;
}

static void keep(struct verdicts *v, const struct verdicts *old, uint32_t i)
{
	v->at[i] = old->at[i];
	memcpy(&v->rows[v->first[i]], &old->rows[old->first[i]], v->first[i + 1] - v->first[i]);
}

static void judge_new_shape(struct sm *sm)
{
	struct verdicts *v = &sm->m.expected->verdicts, old = *v;

	make_room(v, sm->fabric);
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (is_kept(&old, n))
			keep(v, &old, n->index);
		else
			seek(v, n);
	}
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!is_kept(&old, n) || v->at[n->index] == TOPO_NONE)
			judge_node(sm, n);
	}
	free_rows(&old);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void judge_all(struct sm *sm, struct meant *want)
{
	struct expected *e = sm->m.expected;
	struct verdicts *v = &e->verdicts;

	want->refs++;
	expected_forget_verdicts(e);
	v->of = want;
	make_room(v, sm->fabric);
	FABRIC_EACH_NODE(sm->fabric, n)
		seek(v, n);
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++)
			if (is_first_end(&n->ports[i]))
				judge_cable(sm, &n->ports[i]);
	}
}

void expected_judge(struct sm *sm, struct meant *want)
{
	struct verdicts *v = &sm->m.expected->verdicts;
	bool by_name = !strcmp(sm->conf->expected_topology_node_guid, "off");
	bool is_known = v->of == want && v->by_name == by_name;

	assert(want);
	v->by_name = by_name;
	if (!is_known)
		judge_all(sm, want);
	else if (v->shape != sm->fabric->shape)
		judge_new_shape(sm);
	else if (v->edits != sm->fabric->edits)
		judge_edited(sm);
	v->shape = sm->fabric->shape;
	v->edits = sm->fabric->edits;
}

void expected_forget_verdicts(struct expected *e)
{
	struct verdicts *v = &e->verdicts;

	v->of = meant_unref(v->of);
	free_rows(v);
}
