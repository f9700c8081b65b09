// SPDX-License-Identifier: BSD-2-Clause
/*
 * PortInfoRecord and LinkRecord: what is said of every port, switch ports included.
 */
#include <string.h>

#include "sa/records.h"
#include "util/mem.h"

/* Ports of the end port at the walk's cursor: all of a switch, one of others. */
static const struct view_node *node_of(const struct sa_query *q, uint32_t end)
{
	return &q->view->nodes[q->view->ports[end].node];
}

/* ---- PortInfoRecord (15.2.5.3) ---- */

#define PIR_INFO       PIR_BYTES   /* byte offset of PortInfo */
#define PIR_MATCH_BITS 0x80000000u /* modifier: masks name bits that must be there */
#define PIR_RAW_SPEEDS 0x80	   /* Options: extended speeds as they are */
#define SPEED_QDR      4

enum { /* components among PortInfo's fields, for SA_HAS() and SA_COMP() */
       PIR_BASE_LID_C = 5,
       PIR_CAP_MASK_C = 7,
       PIR_CAP_MASK2_C = 53,
};

static const struct ib_field port_head[] = IB_LAYOUT_ROWS(PORT_INFO_RECORD_LIST);
static const struct ib_field port_body[] = IB_LAYOUT_ROWS(PORT_INFO_LIST);
_Static_assert(ARRAY_SIZE(port_head) + ARRAY_SIZE(port_body) == 58, "components of PortInfoRecord");

/* The LID of either the record or PortInfo finds the port (sa.md 9). */
static uint16_t port_start(struct sa_query *q)
{
	const uint8_t *asked = query_asked(q);
	lid_t lid = ib_get(asked, PIR_LID);

	if (SA_HAS(q->rq.mask, PIR_LID) || !SA_HAS(q->rq.mask, PIR_BASE_LID))
		return walk_start_lid(q);
	return walk_start(q, true, ib_get(asked + PIR_INFO, PI_LID) ?: lid);
}

/* The next port number of the end port at the cursor, or a negative number when it has no more. */
static int next_num(struct sa_query *q, uint32_t end)
{
	const struct view_port *p = &q->view->ports[end];
	bool is_switch = view_is_switch(q->view, p);
	unsigned first = is_switch ? 0 : p->num,
		 last = is_switch ? node_of(q, end)->n_ports : p->num;
	unsigned num = MAX(first, q->at[WALK_OWN]);

	if (SA_HAS(q->rq.mask, PIR_PORT_NUM)) {
		unsigned asked = ib_get(query_asked(q), PIR_PORT_NUM);

		num = asked >= num ? asked : last + 1;
	}
	return num <= last ? (int)num : -1;
}

static bool raw_speeds(const struct sa_query *q)
{
	return SA_HAS(q->rq.mask, PIR_OPTIONS) &&
	       ib_get(query_asked(q), PIR_OPTIONS) & PIR_RAW_SPEEDS;
}

/* Readers that know nothing of extended speeds are told QDR. */
static void show_speeds(const struct sa_query *q, const struct view_node *n, uint8_t *info)
{
	const uint8_t *speaks =
		n->type == IB_NODE_SWITCH ? q->view->ports[n->first_port].info : info;

	if (raw_speeds(q) || !(ib_get(speaks, PI_CAP_MASK) & IB_CAP(IB_CAP_EXTENDED_SPEEDS)) ||
	    !ib_get(info, PI_SPEED_EXT_ACTIVE))
		return;
	ib_put(info, PI_SPEED_SUPPORTED, ib_get(info, PI_SPEED_SUPPORTED) | SPEED_QDR);
	ib_put(info, PI_SPEED_ENABLED, ib_get(info, PI_SPEED_ENABLED) | SPEED_QDR);
	ib_put(info, PI_SPEED_ACTIVE, ib_get(info, PI_SPEED_ACTIVE) | SPEED_QDR);
}

static enum sa_step port_next(struct sa_query *q, uint8_t *ret)
{
	const struct view *v = q->view;
	uint32_t end = walk_port(q), port;
	int num;

	if (end == VIEW_NONE)
		return SA_END;
	num = next_num(q, end);
	if (num < 0) {
		walk_on(q);
		q->at[WALK_OWN] = 0;
		return SA_SKIP;
	}
	q->at[WALK_OWN] = (uint32_t)num + 1;
	port = view_node_port(node_of(q, end), (unsigned)num);
	if (port == VIEW_NONE || !v->ports[port].known)
		return SA_SKIP;
	q->subject = end;
	ib_put(ret, PIR_LID, v->ports[end].lid);
	ib_put(ret, PIR_PORT_NUM, num);
	if (SA_HAS(q->rq.mask, PIR_OPTIONS))
		ib_put(ret, PIR_OPTIONS, ib_get(query_asked(q), PIR_OPTIONS));
	memcpy(ret + PIR_INFO, v->ports[port].info, PI_BYTES);
	if (!q->rq.trusted)
		ib_put(ret + PIR_INFO, PI_M_KEY, 0);
	show_speeds(q, node_of(q, end), ret + PIR_INFO);
	return SA_ROW;
}

static bool has_bits(uint64_t have, uint64_t want)
{
	return (have & want) == want;
}

static bool port_match(const struct sa_query *q, const uint8_t *row, uint64_t *ret_done)
{
	const uint8_t *have = row + PIR_INFO, *want = query_asked(q) + PIR_INFO;

	*ret_done = SA_COMP(PIR_LID) | SA_COMP(PIR_PORT_NUM) | SA_COMP(PIR_OPTIONS);
	if (!SA_HAS(q->rq.mask, PIR_LID) || !ib_get(want, PI_LID))
		*ret_done |= SA_COMP(PIR_BASE_LID);
	if (!(q->rq.mod & PIR_MATCH_BITS))
		return true;
	*ret_done |= SA_COMP(PIR_CAP_MASK) | SA_COMP(PIR_CAP_MASK2);
	return (!SA_HAS(q->rq.mask, PIR_CAP_MASK) ||
		has_bits(ib_get(have, PI_CAP_MASK), ib_get(want, PI_CAP_MASK))) &&
	       (!SA_HAS(q->rq.mask, PIR_CAP_MASK2) ||
		has_bits(ib_get(have, PI_CAP_MASK2), ib_get(want, PI_CAP_MASK2)));
}

const struct sa_type sa_port_info_record = {
	.attr = SA_PORT_INFO_RECORD,
	.name = "PortInfoRecord",
	.size = PIR_BYTES + PI_BYTES,
	.head_len = PIR_BYTES,
	.head = port_head,
	.n_head = ARRAY_SIZE(port_head),
	.body = port_body,
	.n_body = ARRAY_SIZE(port_body),
	.start = port_start,
	.next = port_next,
	.match = port_match,
};

/* ---- LinkRecord (15.2.5.13) ---- */

static const struct ib_field link_head[] = IB_LAYOUT_ROWS(LINK_RECORD_LIST);

static uint16_t link_start(struct sa_query *q)
{
	return walk_start(q, SA_HAS(q->rq.mask, LKR_FROM_LID),
			  ib_get(query_asked(q), LKR_FROM_LID));
}

/* The next port of the end port at the cursor that may have a cable; VIEW_NONE: no more of them. */
static uint32_t next_cable(struct sa_query *q, uint32_t end)
{
	const struct view_node *n = node_of(q, end);

	if (n->type != IB_NODE_SWITCH)
		return q->at[WALK_OWN]++ ? VIEW_NONE : end;
	return ++q->at[WALK_OWN] <= n->n_ports ? view_node_port(n, q->at[WALK_OWN]) : VIEW_NONE;
}

static enum sa_step link_next(struct sa_query *q, uint8_t *ret)
{
	const struct view *v = q->view;
	uint32_t end = walk_port(q), port, peer, peer_end;

	if (end == VIEW_NONE)
		return SA_END;
	port = next_cable(q, end);
	if (port == VIEW_NONE) {
		walk_on(q);
		q->at[WALK_OWN] = 0;
		return SA_SKIP;
	}
	peer = v->ports[port].peer;
	if (peer == VIEW_NONE)
		return SA_SKIP;
	peer_end = view_end_port(v, peer);
	if (!v->ports[peer_end].lid || !query_may_see(q, peer_end))
		return SA_SKIP;
	q->subject = end;
	ib_put(ret, LKR_FROM_LID, v->ports[end].lid);
	ib_put(ret, LKR_FROM_PORT, v->ports[port].num);
	ib_put(ret, LKR_TO_PORT, v->ports[peer].num);
	ib_put(ret, LKR_TO_LID, v->ports[peer_end].lid);
	return SA_ROW;
}

/* A LID of the range of the other end will do. */
static bool link_match(const struct sa_query *q, const uint8_t *row, uint64_t *ret_done)
{
	uint32_t port;

	*ret_done = SA_COMP(LKR_FROM_LID) | SA_COMP(LKR_TO_LID);
	if (!SA_HAS(q->rq.mask, LKR_TO_LID))
		return true;
	port = view_port_at(q->view, ib_get(query_asked(q), LKR_TO_LID));
	return port != VIEW_NONE && q->view->ports[port].lid == ib_get(row, LKR_TO_LID);
}

const struct sa_type sa_link_record = {
	.attr = SA_LINK_RECORD,
	.name = "LinkRecord",
	.size = LKR_BYTES,
	.head = link_head,
	.n_head = ARRAY_SIZE(link_head),
	.start = link_start,
	.next = link_next,
	.match = link_match,
};
