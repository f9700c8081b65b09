// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asks the master's SA one question at a time, and checks the answers. The transport joins
 * segments. One without RMPP (libumad2sim) delivers only the first segment of a table, whose length
 * is no multiple of a record's; such an answer is not used.
 */
#include <string.h>

#include "sm/answers/replica_internal.h"
#include "util/mem.h"

#define ASK_TIMEOUT_MS	 1000
#define TABLE_TIMEOUT_MS 8000
/* Time that the transport may take beyond the timeout until it returns a question unanswered. */
#define GRACE		 (2 * MONO_S)

/* ---- questions ----------------------------------------------------------------------------- */

bool replica_ask(struct sm *sm, const struct replica_question *q)
{
	struct replica *r = sm->m.replica;
	unsigned timeout_ms = q->method == MAD_SA_GET_TABLE ? TABLE_TIMEOUT_MS : ASK_TIMEOUT_MS;
	uint8_t mad[MAD_SIZE] = { 0 };

	r->ask.question = *q;
	r->ask.tid = mad_gmp_tid(sm->mad, r->ask.to.lid);
	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, q->method);
	ib_put(mad, SAH_TID, r->ask.tid);
	ib_put(mad, SAH_ATTR_ID, q->attr);
	ib_put(mad, SAH_ATTR_MOD, q->mod);
	ib_put(mad, SAH_COMP_MASK, q->mask);
	memcpy(mad + SA_DATA, q->data, sizeof(q->data));
	ib_put(mad, SAH_SM_KEY, replica_sm_key(sm, mad));
	r->ask.deadline = sm->now + timeout_ms * MONO_MS + GRACE;
	if (mad_send_gmp(sm->mad, &r->ask.to, mad, sizeof(mad), timeout_ms) == 0)
		return true;
	r->ask.tid = 0;
	return false;
}

static void put_own_identity(uint8_t *record, uint64_t prefix, guid_t guid)
{
	ib_put(record, SVR_ID, SA_MANAGER_ID);
	ib_bits_put(ib_at(record, SVR_GID), 0, 64, prefix);
	ib_bits_put(ib_at(record, SVR_GID), 64, 64, guid);
}

/* Asks for the configuration of a master of ours, by Get, which needs no RMPP. */
void replica_question_get(struct replica_question *q, const struct replica *r)
{
	*q = (struct replica_question){
		.method = MAD_GET,
		.attr = SA_SERVICE_RECORD,
		.mask = SA_COMP(SVR_ID) | SA_COMP(SVR_GID),
	};
	put_own_identity(q->data, r->own.prefix, r->of.guid);
}

void replica_question_register(struct replica_question *q, const uint8_t *record, uint32_t lease)
{
	*q = (struct replica_question){
		.method = MAD_SET,
		.attr = SA_SERVICE_RECORD,
		.mask = (SA_COMP(SVR_DATA64_1) << 1) - 1, /* all components, */
	};
	q->mask &= ~(SA_COMP(SVR_PKEY) | SA_COMP(SVR_RSV1) | SA_COMP(SVR_KEY)); /* except these */
	memcpy(q->data, record, SVR_BYTES);
	ib_put(q->data, SVR_LEASE, lease);
}

/* Subscribes to a trap from any LID and producer; its number implies its type (13.4.8.3). */
void replica_question_inform(struct replica_question *q, unsigned trap)
{
	*q = (struct replica_question){ .method = MAD_SET, .attr = SA_INFORM_INFO };
	ib_put(q->data, INF_LID_BEGIN, 0xFFFF);
	ib_put(q->data, INF_IS_GENERIC, 1);
	ib_put(q->data, INF_SUBSCRIBE, 1);
	ib_put(q->data, INF_TYPE, 0xFFFF);
	ib_put(q->data, INF_TRAP, trap);
	ib_put(q->data, INF_QPN, 1);
	ib_put(q->data, INF_PRODUCER, 0xFFFFFF);
}

void replica_question_table(struct replica_question *q, const struct replica *r,
			    enum replica_table_kind kind)
{
	static const struct {
		uint16_t attr, stride;
		uint32_t bytes; /* most bytes of an answer; a longer one is not kept */
	} tables[COPY_TABLES] = {
		[COPY_MEMBERS] = { SA_MC_MEMBER_RECORD, MCM_BYTES, TRANSPORT_MESSAGE_MAX },
		[COPY_SERVICES] = { SA_SERVICE_RECORD, SVR_BYTES, 12u << 20 },
		[COPY_SUBSCRIPTIONS] = { SA_INFORM_INFO_RECORD, IIW_BYTES, 5u << 20 },
		[COPY_ALIASES] = { SA_GUID_INFO_RECORD, GIR_BYTES, 16u << 20 },
	};

	*q = (struct replica_question){
		.method = MAD_SA_GET_TABLE,
		.attr = tables[kind].attr,
		.mod = r->of.ours ? SA_FOR_STANDBY : 0,
		.stride = tables[kind].stride,
		.limit = tables[kind].bytes / tables[kind].stride,
	};
}

/* ---- answers ------------------------------------------------------------------------------- */

bool replica_from_master(const struct replica *r, const struct transport_addr *from)
{
	unsigned mask = (1u << r->ask.to_lmc) - 1;

	return r->ask.to.lid && (from->lid & ~mask) == (r->ask.to.lid & ~mask) && from->qp == 1;
}

static uint8_t answer_method(uint8_t method)
{
	return method == MAD_SET ? MAD_GET_RESP : method | MAD_RESPONSE_BIT;
}

/*
 * Is it a table of whole records? AttributeOffset is 0 for an empty table, whatever length a
 * transport rounds up to; a truncated table is longer than one MAD, of which 200 bytes arrived.
 */
static bool is_sound_table(const struct replica_question *q, const struct transport_event *ev,
			   size_t *ret_n)
{
	size_t stride = ib_get(ev->mad, SAH_ATTR_OFFSET) * 8, bytes = ev->length - SA_DATA;

	*ret_n = 0;
	if (!stride)
		return ev->length <= MAD_SIZE;
	if (stride != q->stride || !bytes || bytes % stride || bytes / stride > q->limit ||
	    (ev->length > MAD_SIZE && !ev->whole))
		return false;
	*ret_n = bytes / stride;
	return true;
}

static void read_table(const struct replica_question *q, struct transport_event *ev,
		       struct replica_answer *ret)
{
	if (!is_sound_table(q, ev, &ret->n)) {
		ret->end = REPLICA_CUT;
		return;
	}
	if (!ret->n)
		return;
	ret->message = ev->whole ? take(ev->whole) : xmemdup(ev->mad, ev->length);
	ret->data = ret->message + SA_DATA;
}

static void read_answer(const struct replica_question *q, struct transport_event *ev,
			struct replica_answer *ret)
{
	*ret = (struct replica_answer){ .end = REPLICA_OK, .data = ev->mad + SA_DATA };
	if (ev->kind != TRANSPORT_MAD) {
		ret->end = REPLICA_SILENT;
	} else if (ib_get(ev->mad, SAH_STATUS)) {
		ret->end = REPLICA_REFUSED;
		ret->status = ib_get(ev->mad, SAH_STATUS);
	} else if (q->method == MAD_SA_GET_TABLE) {
		read_table(q, ev, ret);
	}
}

static bool is_mine(const struct replica *r, const struct transport_event *ev, uint8_t method)
{
	return r->ask.tid && (uint32_t)ib_get(ev->mad, SAH_TID) == r->ask.tid &&
	       ib_get(ev->mad, SAH_METHOD) == method &&
	       ib_get(ev->mad, SAH_ATTR_ID) == r->ask.question.attr;
}

/* The reason why a MAD does not answer the present question; MAD_STRAYS: it answers it. */
static enum mad_stray fault_of(const struct replica *r, const struct transport_event *ev)
{
	if (!r->ask.tid || (uint32_t)ib_get(ev->mad, SAH_TID) != r->ask.tid)
		return MAD_STRAY_UNASKED;
	if (!replica_from_master(r, &ev->from))
		return MAD_STRAY_ELSEWHERE;
	if (ev->length < SA_DATA || !is_mine(r, ev, answer_method(r->ask.question.method)))
		return MAD_STRAY_MISMATCHED;
	return MAD_STRAYS;
}

bool replica_is_answer(struct sm *sm, struct transport_event *ev, struct replica_answer *ret)
{
	struct replica *r = sm->m.replica;
	const struct replica_question *q = &r->ask.question;
	enum mad_stray fault;

	if (ev->kind == TRANSPORT_RETURNED) {
		if (!is_mine(r, ev, q->method))
			return false;
	} else {
		fault = fault_of(r, ev);
		if (fault != MAD_STRAYS) {
			mad_refuse_gmp(sm->mad, fault, ev);
			return false;
		}
	}
	r->ask.tid = 0;
	read_answer(q, ev, ret);
	return true;
}

void replica_answer_report(struct sm *sm, const struct transport_event *ev)
{
	struct transport_addr to = ev->from;
	uint8_t mad[MAD_SIZE];

	memcpy(mad, ev->mad, sizeof(mad));
	ib_put(mad, SAH_METHOD, MAD_REPORT_RESP);
	to.qkey = MAD_QP1_QKEY;
	to.grh.gid_index = 0;
	mad_send_once(sm->mad, &to, mad);
}
