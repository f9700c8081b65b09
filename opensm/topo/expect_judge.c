// SPDX-License-Identifier: BSD-2-Clause
/*
 * One cable that was found beside the picture of the fabric as it was meant: what is wrong with it,
 * without regard to the others. That is what decides whether it may be used; which cause explains
 * it is expect_compare()'s.
 */
#include <assert.h>
#include <string.h>

#include "topo/expect.h"

/*
 * The row of a port. A CA's port may be named by its port GUID, as port 1 of a node of its own, as
 * NVIDIA's CSV does. TOPO_NONE: the picture has no cable there.
 */
static uint32_t row_of(const struct expect *x, const struct expect_seen *e)
{
	uint32_t row = e->at == TOPO_NONE ? TOPO_NONE : expect_find_port(x, e->at, e->port), node;

	if (row != TOPO_NONE || x->slots || !e->port_guid || e->port_guid == e->node)
		return row;
	node = expect_find_node(x, e->port_guid);
	if (node == TOPO_NONE || x->nodes[node].type != EXPECT_ANY_TYPE)
		return TOPO_NONE;
	return expect_find_port(x, node, 1);
}

static bool is_other_type(const struct expect *x, uint32_t row, const struct expect_seen *e)
{
	const struct expect_node *n = &x->nodes[x->ports[row].node];

	return n->type != EXPECT_ANY_TYPE && n->type != e->type;
}

static unsigned flaws_of_end(const struct expect *x, uint32_t row, const struct expect_seen *e)
{
	const struct expect_port *p = &x->ports[row];
	const char *name = x->nodes[p->node].name;
	unsigned ret = 0;

	if (p->guid && e->port_guid && p->guid != e->port_guid)
		ret |= EXPECT_FLAW_PORT_GUID;
	if (name[0] && !x->slots && strcmp(name, e->name))
		ret |= EXPECT_FLAW_NAME;
	return ret;
}

static bool is_slower(struct expect_rate have, const struct expect *x, uint32_t row)
{
	struct expect_rate want = x->ports[row].rate;

	if (want.width && want.speed && have.width && have.speed)
		return (uint32_t)have.width * have.speed < (uint32_t)want.width * want.speed;
	return (want.width && have.width && have.width < want.width) ||
	       (want.speed && have.speed && have.speed < want.speed);
}

/* The cable is in the picture; `row` is one end. */
static unsigned flaws_of_cable(const struct expect *x, uint32_t row, uint32_t peer,
			       const struct expect_question *q)
{
	unsigned ret = flaws_of_end(x, row, &q->end[0]) | flaws_of_end(x, peer, &q->end[1]);

	if (is_other_type(x, row, &q->end[0]) || is_other_type(x, peer, &q->end[1]))
		ret |= EXPECT_FLAW_NODE | EXPECT_FLAW_LINK;
	if (x->ports[row].use == EXPECT_OFF)
		ret |= EXPECT_FLAW_LINK;
	if (x->ports[row].use == EXPECT_UP &&
	    (is_slower(q->rate, x, row) || is_slower(q->rate, x, peer)))
		ret |= EXPECT_FLAW_RATE;
	return ret;
}

/* Is the node at the other end of `row`, which is not there, replaced by `e`? */
static bool is_replaced(const struct expect *x, uint32_t row, const struct expect_seen *e,
			const struct expect_question *q)
{
	const struct expect_port *far = &x->ports[x->ports[row].peer];
	const struct expect_node *n = &x->nodes[far->node];

	return x->ports[row].use != EXPECT_OFF && far->number == e->port &&
	       (n->type == EXPECT_ANY_TYPE || n->type == e->type) &&
	       e->at == TOPO_NONE && !q->is_there(q->arg, n->guid);
}

static unsigned flaws_of_other(const struct expect *x, uint32_t row, const struct expect_seen *e,
			       const struct expect_question *q)
{
	const char *name = x->nodes[x->ports[x->ports[row].peer].node].name;

	if (x->slots || !is_replaced(x, row, e, q))
		return EXPECT_FLAW_LINK;
	return q->by_name && name[0] && !strcmp(name, e->name)
		       ? 0
		       : EXPECT_FLAW_LINK | EXPECT_FLAW_NODE;
}

/*
 * Between switches of one system, at ports that the picture does not have: no cable, but a link
 * inside, such as ports for management of the fabric (FNM) have. Pictures need not list it.
 */
static bool is_inside(const struct expect_seen *a, const struct expect_seen *b)
{
	return a->type == EXPECT_SWITCH && b->type == EXPECT_SWITCH && a->node != b->node &&
	       a->at != TOPO_NONE && b->at != TOPO_NONE && a->system && a->system == b->system;
}

unsigned expect_judge(const struct expect *want, const struct expect_question *q)
{
	uint32_t a = row_of(want, &q->end[0]), b = row_of(want, &q->end[1]);

	assert(q->is_there);
	if (a != TOPO_NONE && b != TOPO_NONE)
		return want->ports[a].peer == b ? flaws_of_cable(want, a, b, q) : EXPECT_FLAW_LINK;
	if (a != TOPO_NONE)
		return flaws_of_other(want, a, &q->end[1], q);
	if (b != TOPO_NONE)
		return flaws_of_other(want, b, &q->end[0], q);
	return is_inside(&q->end[0], &q->end[1]) ? 0 : EXPECT_FLAW_LINK;
}

bool expect_home(const struct expect *want, const struct expect_seen *end, guid_t *ret_switch,
		 uint8_t *ret_port)
{
	uint32_t row = row_of(want, end);
	const struct expect_port *p = row == TOPO_NONE ? NULL : &want->ports[want->ports[row].peer];

	if (!p || want->slots)
		return false;
	*ret_switch = want->nodes[p->node].guid;
	*ret_port = p->number;
	return true;
}
