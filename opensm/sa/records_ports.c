// SPDX-License-Identifier: BSD-2-Clause
/* PortInfoRecord and LinkRecord: records of every port, switch ports included. */
#include <string.h>

#include "sa/records.h"
#include "util/mem.h"

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

_Static_assert(IB_LAYOUT_COUNT(PORT_INFO_RECORD_LIST) + IB_LAYOUT_COUNT(PORT_INFO_LIST) == 58,
	       "components of PortInfoRecord");

/* The LID of either the record or PortInfo finds the port (sa.md 9). */
static uint16_t port_start(struct sa_query *q)
{
	const uint8_t *asked = query_asked(q);

	if (SA_HAS(q->rq.mask, PIR_LID) || !SA_HAS(q->rq.mask, PIR_BASE_LID))
		return walk_start(q);
	return walk_start_at(q, view_port_at(q->view, ib_get(asked + PIR_INFO, PI_LID)
							      ?: ib_get(asked, PIR_LID)));
}

/* The next port number of the end port at the cursor, or a negative number when it has no more. */
static int next_num(struct sa_query *q, uint32_t end)
{
	const struct view_port *p = &q->view->ports[end];
	bool is_switch = view_is_switch(q->view, p);
	unsigned first = is_switch ? 0 : p->num,
		 last = is_switch ? walk_node(q, end)->n_ports : p->num;
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

	if (raw_speeds(q) || ib_speed_active_set(info, ib_speed_sets(speaks)) == IB_SPEED_PLAIN)
		return;
	ib_put(info, PI_SPEED_SUPPORTED, ib_get(info, PI_SPEED_SUPPORTED) | SPEED_QDR);
	ib_put(info, PI_SPEED_ENABLED, ib_get(info, PI_SPEED_ENABLED) | SPEED_QDR);
	ib_put(info, PI_SPEED_ACTIVE, ib_get(info, PI_SPEED_ACTIVE) | SPEED_QDR);
}

static enum sa_step port_of_port(struct sa_query *q, uint32_t end, uint8_t *ret)
{
	const struct view *v = q->view;
	int num = next_num(q, end);
	uint32_t port;

	if (num < 0)
		return SA_END;
	q->at[WALK_OWN] = (uint32_t)num + 1;
	port = view_node_port(walk_node(q, end), (unsigned)num);
	if (port == VIEW_NONE || !v->ports[port].known)
		return SA_SKIP;
	q->subject = port;
	ib_put(ret, PIR_PORT_NUM, num);
	if (SA_HAS(q->rq.mask, PIR_OPTIONS))
		ib_put(ret, PIR_OPTIONS, ib_get(query_asked(q), PIR_OPTIONS));
	memcpy(ret + PIR_INFO, v->ports[port].info, PI_BYTES);
	if (!q->rq.trusted)
		ib_put(ret + PIR_INFO, PI_M_KEY, 0);
	show_speeds(q, walk_node(q, end), ret + PIR_INFO);
	return SA_ROW;
}

/* A capability mask is equal, or has all bits asked for (PIR_MATCH_BITS). */
static bool has_caps(const struct sa_query *q, bool asked, uint64_t have, uint64_t want)
{
	return !asked || (q->rq.mod & PIR_MATCH_BITS ? have & want : have) == want;
}

static bool port_match(const struct sa_query *q, const uint8_t *row)
{
	const uint8_t *have = row + PIR_INFO, *want = query_asked(q) + PIR_INFO;
	uint64_t mask = q->rq.mask;

	/* A base LID alone has found the port; one of 0 is any. */
	if (SA_HAS(mask, PIR_LID) && SA_HAS(mask, PIR_BASE_LID) && ib_get(want, PI_LID) &&
	    ib_get(want, PI_LID) != ib_get(have, PI_LID))
		return false;
	return has_caps(q, SA_HAS(mask, PIR_CAP_MASK), ib_get(have, PI_CAP_MASK),
			ib_get(want, PI_CAP_MASK)) &&
	       has_caps(q, SA_HAS(mask, PIR_CAP_MASK2), ib_get(have, PI_CAP_MASK2),
			ib_get(want, PI_CAP_MASK2));
}

const struct sa_type sa_port_info_record = {
	.size = PIR_BYTES + PI_BYTES,
	.head_len = PIR_BYTES,
	SA_HEAD(PORT_INFO_RECORD_LIST),
	SA_BODY(PORT_INFO_LIST),
	.lids = SA_COMP(PIR_LID),
	.settled = SA_COMP(PIR_PORT_NUM) | SA_COMP(PIR_OPTIONS) | SA_COMP(PIR_BASE_LID) |
		   SA_COMP(PIR_CAP_MASK) | SA_COMP(PIR_CAP_MASK2),
	.start = port_start,
	.next = walk_next,
	.of_port = port_of_port,
	.match = port_match,
};

/* ---- LinkRecord (15.2.5.13) ---- */

/* The next port of the end port at the cursor that may have a cable; VIEW_NONE: no more of them. */
static uint32_t next_cable(struct sa_query *q, uint32_t end)
{
	const struct view_node *n = walk_node(q, end);

	if (n->type != IB_NODE_SWITCH)
		return q->at[WALK_OWN]++ ? VIEW_NONE : end;
	return ++q->at[WALK_OWN] <= n->n_ports ? view_node_port(n, q->at[WALK_OWN]) : VIEW_NONE;
}

static enum sa_step link_of_port(struct sa_query *q, uint32_t end, uint8_t *ret)
{
	const struct view *v = q->view;
	uint32_t port = next_cable(q, end), peer, peer_end;

	if (port == VIEW_NONE)
		return SA_END;
	peer = v->ports[port].peer;
	if (peer == VIEW_NONE)
		return SA_SKIP;
	peer_end = view_end_port(v, peer);
	if (!v->ports[peer_end].lid || !query_may_see(q, peer))
		return SA_SKIP;
	q->subject = port;
	ib_put(ret, LKR_FROM_PORT, v->ports[port].num);
	ib_put(ret, LKR_TO_PORT, v->ports[peer].num);
	ib_put(ret, LKR_TO_LID, v->ports[peer_end].lid);
	return SA_ROW;
}

const struct sa_type sa_link_record = {
	.size = LKR_BYTES,
	SA_HEAD(LINK_RECORD_LIST),
	.lids = SA_COMP(LKR_FROM_LID) | SA_COMP(LKR_TO_LID),
	.start = walk_start,
	.next = walk_next,
	.of_port = link_of_port,
};
