// SPDX-License-Identifier: BSD-2-Clause
/*
 * ClassPortInfo, NodeRecord, SwitchInfoRecord, SMInfoRecord, and the walk over end ports that the
 * other topology records share.
 */
#include "sa/records.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

/* ---- the walk ---- */

uint16_t walk_start_at(struct sa_query *q, uint32_t port)
{
	assert(port == VIEW_NONE || port < q->view->n_ports);
	/* no port has LID 0, so the walk ends there */
	q->at[WALK_LID] = q->at[WALK_LAST] = port == VIEW_NONE ? 0 : q->view->ports[port].lid;
	return 0;
}

uint16_t walk_start(struct sa_query *q)
{
	if (q->rq.mask & 1)
		return walk_start_at(q, view_port_at(q->view, ib_get(query_asked(q), NR_LID)));
	q->at[WALK_LID] = LID_MIN_UCAST;
	q->at[WALK_LAST] = LID_MAX_UCAST;
	return 0;
}

/* The end port at the cursor, or the next one; VIEW_NONE: no more. */
static uint32_t walk_port(struct sa_query *q)
{
	const struct view *v = q->view;

	if (!q->at[WALK_LID])
		return VIEW_NONE;
	for (; q->at[WALK_LID] <= q->at[WALK_LAST]; q->at[WALK_LID]++) {
		uint32_t port = v->by_lid[q->at[WALK_LID]];

		if (port != VIEW_NONE && v->ports[port].lid == q->at[WALK_LID])
			return port;
	}
	return VIEW_NONE;
}

void walk_on(struct sa_query *q)
{
	q->at[WALK_LID]++;
	q->at[WALK_OWN] = q->at[WALK_OWN2] = 0;
}

enum sa_step walk_next(struct sa_query *q, uint8_t *ret)
{
	uint32_t end = walk_port(q), before[WALK_CURSORS];
	enum sa_step step;

	if (end == VIEW_NONE)
		return SA_END;
	memcpy(before, q->at, sizeof(before));
	q->subject = end;
	ib_put(ret, NR_LID, q->view->ports[end].lid);
	step = q->type->of_port(q, end, ret);
	if (step == SA_WAIT)
		memcpy(q->at, before, sizeof(before));
	if (step != SA_END || q->status)
		return step;
	walk_on(q);
	return SA_SKIP;
}

/* ---- ClassPortInfo (13.4.8.1, 15.2.5.1) ---- */

enum {
	CPI_CAP_NOTICE = 1 << 1, /* Set(InformInfo) and Reports */
	CPI_CAP_UD_MULTICAST = 1 << 9,
	CPI_CAP_MULTI_PATH = 1 << 10,
	CPI_CAP_PORT_INFO_MASK = 1 << 13, /* AttributeModifier bit 31 of PortInfoRecord */
};

enum {
	CPI_CAP2_MFT_TOP = 1 << 3,
	CPI_CAP2_ALIAS_GUIDS = 1 << 5,
	CPI_CAP2_FULL_PORT_INFO = 1 << 6,
	CPI_CAP2_EXTENDED_SPEEDS = 1 << 7,
	CPI_CAP2_MULTICAST_SERVICES = 1 << 8,
	CPI_CAP2_PORT_INFO_MASK2 = 1 << 10,
	CPI_CAP2_SEND_ONLY_FULL_MEMBER = 1 << 12,
	CPI_CAP2_LINK_WIDTH_2X = 1 << 13,
	CPI_CAP2_LINK_SPEED_HDR = 1 << 15,
	CPI_CAP2_LINK_SPEED_NDR = 1 << 17,
};

/* Bit 1, QoS, is not set: QoS classes and service ids are accepted, but no policy uses them. */
static uint32_t cap_mask2(const struct conf *conf)
{
	return CPI_CAP2_ALIAS_GUIDS | CPI_CAP2_FULL_PORT_INFO | CPI_CAP2_EXTENDED_SPEEDS |
	       CPI_CAP2_MULTICAST_SERVICES | CPI_CAP2_PORT_INFO_MASK2 |
	       CPI_CAP2_SEND_ONLY_FULL_MEMBER | CPI_CAP2_LINK_WIDTH_2X | CPI_CAP2_LINK_SPEED_HDR |
	       CPI_CAP2_LINK_SPEED_NDR | (conf->use_mfttop ? CPI_CAP2_MFT_TOP : 0);
}

/* The code n of the shortest time 4.096 us * 2^n that is not below transaction_timeout. */
static unsigned resp_time(const struct conf *conf)
{
	uint64_t want_ns = (uint64_t)conf->transaction_timeout * 1000000;
	unsigned n = 0;

	while (n < 31 && UINT64_C(4096) << n < want_ns)
		n++;
	return n;
}

static enum sa_step class_port_info_next(struct sa_query *q, uint8_t *ret)
{
	const struct conf *conf = q->sa->conf;

	if (q->at[0]++)
		return SA_END;
	ib_put(ret, CPI_BASE_VERSION, 1);
	ib_put(ret, CPI_CLASS_VERSION, 2);
	ib_put(ret, CPI_CAP_MASK,
	       CPI_CAP_NOTICE | CPI_CAP_MULTI_PATH | CPI_CAP_PORT_INFO_MASK |
		       (conf->disable_multicast ? 0 : CPI_CAP_UD_MULTICAST));
	ib_put(ret, CPI_CAP_MASK2, cap_mask2(conf));
	ib_put(ret, CPI_RESP_TIME, resp_time(conf));
	ib_put(ret, CPI_REDIRECT_QP, 1);
	ib_put(ret, CPI_REDIRECT_QKEY, MAD_QP1_QKEY);
	ib_put(ret, CPI_TRAP_QKEY, MAD_QP1_QKEY);
	return SA_ROW;
}

static uint16_t get_only(const struct sa_query *q)
{
	return query_is_get(q) ? 0 : SA_REQ_INVALID;
}

const struct sa_type sa_class_port_info = {
	.size = CPI_BYTES,
	.matches_itself = true,
	.check = get_only,
	.next = class_port_info_next,
};

/* ---- NodeRecord (15.2.5.2) ---- */

#define NR_DESC_BYTES 64
#define NR_DESC	      (NR_BYTES + NI_BYTES) /* byte offset */
#define NR_DESC_C     14
#define NR_PORT_GUID  (1ull << 8) /* component */
#define NODE_LIST(F)  NODE_INFO_LIST(F) F(NR_BODY, DESC, NR_DESC_BYTES * 8)
enum { NR_BODY_DESC = NI_BITS };
_Static_assert(IB_LAYOUT_COUNT(NODE_RECORD_LIST) + IB_LAYOUT_COUNT(NODE_LIST) == NR_DESC_C + 1,
	       "components of NodeRecord");

/* Starts at a port by LID, or by a GUID of the end port. */
static uint16_t node_start(struct sa_query *q)
{
	if (!(q->rq.mask & 1) && q->rq.mask & NR_PORT_GUID)
		return walk_start_at(q, view_port_of_guid(q->view, ib_get(query_asked(q) + NR_BYTES,
									  NI_PORT_GUID)));
	return walk_start(q);
}

static void put_node_info(uint8_t *info, const struct view_node *n, const struct view_port *p)
{
	ib_put(info, NI_BASE_VERSION, 1);
	ib_put(info, NI_CLASS_VERSION, 1);
	ib_put(info, NI_NODE_TYPE, n->type);
	ib_put(info, NI_NUM_PORTS, n->n_ports);
	ib_put(info, NI_SYSTEM_IMAGE_GUID, n->sysimg_guid);
	ib_put(info, NI_NODE_GUID, n->guid);
	ib_put(info, NI_PORT_GUID, p->guid);
	ib_put(info, NI_PARTITION_CAP, n->partition_cap);
	ib_put(info, NI_DEVICE_ID, n->device_id);
	ib_put(info, NI_REVISION, n->revision);
	ib_put(info, NI_LOCAL_PORT, p->num);
	ib_put(info, NI_VENDOR_ID, n->vendor_id);
}

static enum sa_step node_of_port(struct sa_query *q, uint32_t end, uint8_t *ret)
{
	const struct view_node *n = walk_node(q, end);

	walk_on(q);
	put_node_info(ret + NR_BYTES, n, &q->view->ports[end]);
	memcpy(ret + NR_DESC, n->desc, strnlen(n->desc, NR_DESC_BYTES));
	return SA_ROW;
}

/* Compares descriptions as text: bytes after the NUL are ignored. */
static bool node_match(const struct sa_query *q, const uint8_t *row)
{
	return !(q->rq.mask & 1ull << NR_DESC_C) ||
	       !strncmp((const char *)row + NR_DESC, (const char *)query_asked(q) + NR_DESC,
			NR_DESC_BYTES);
}

const struct sa_type sa_node_record = {
	.size = NR_DESC + NR_DESC_BYTES,
	.head_len = NR_BYTES,
	SA_HEAD(NODE_RECORD_LIST),
	SA_BODY(NODE_LIST),
	.lids = SA_COMP(NR_LID),
	.settled = 1ull << NR_DESC_C,
	.start = node_start,
	.next = walk_next,
	.of_port = node_of_port,
	.match = node_match,
};

/* ---- SwitchInfoRecord (15.2.5.6) ---- */

static enum sa_step switch_of_port(struct sa_query *q, uint32_t end, uint8_t *ret)
{
	const struct view_node *n = walk_node(q, end);

	walk_on(q);
	if (!n->switch_known)
		return SA_SKIP;
	memcpy(ret + SIR_BYTES, n->switch_info, SI_BYTES);
	return SA_ROW;
}

const struct sa_type sa_switch_info_record = {
	.size = SIR_BYTES + SI_BYTES,
	.head_len = SIR_BYTES,
	SA_HEAD(SWITCH_INFO_RECORD_LIST),
	SA_BODY(SWITCH_INFO_LIST),
	.lids = SA_COMP(SIR_LID),
	.start = walk_start,
	.next = walk_next,
	.of_port = switch_of_port,
};

/* ---- SMInfoRecord (15.2.5.10) ---- */

/* The SM_Key is shown to no requester: it stays 0. */
static enum sa_step sm_next(struct sa_query *q, uint8_t *ret)
{
	const struct view_sm *sm;
	uint8_t *info = ret + SMR_BYTES;

	if (q->at[0] >= q->view->n_sms)
		return SA_END;
	sm = &q->view->sms[q->at[0]++];
	if (sm->port == VIEW_NONE)
		return SA_SKIP;
	q->subject = sm->port;
	ib_put(ret, SMR_LID, q->view->ports[sm->port].lid);
	ib_put(info, SMI_GUID, sm->guid);
	ib_put(info, SMI_ACT_COUNT, sm->act_count);
	ib_put(info, SMI_PRIORITY, sm->priority);
	ib_put(info, SMI_STATE, sm->state);
	return SA_ROW;
}

const struct sa_type sa_sm_info_record = {
	.size = SMR_BYTES + SMI_BYTES,
	.head_len = SMR_BYTES,
	SA_HEAD(SM_INFO_RECORD_LIST),
	SA_BODY(SM_INFO_LIST),
	.lids = SA_COMP(SMR_LID),
	.next = sm_next,
};
