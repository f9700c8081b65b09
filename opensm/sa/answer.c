// SPDX-License-Identifier: BSD-2-Clause
/*
 * Answers in all shapes: a record, a table, an error that echoes the request; and no answer at all.
 *
 * Knows the header, the way back, and the counters. Does not know what is in a record.
 */
#include <stdio.h>
#include <string.h>

#include "ib/words.h"
#include "sa/words.h"
#include "util/mem.h"

/* A Set is answered with GetResp (15.4.2), MultiPathRecords as PathRecords (15.2.5.20). */
static uint8_t method_of_answer(uint8_t method)
{
	return method == MAD_SET ? MAD_GET_RESP : method | MAD_RESPONSE_BIT;
}

static void put_header(uint8_t *mad, const struct sa_request *rq, uint16_t status, uint16_t offset)
{
	memset(mad, 0, SA_DATA);
	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, method_of_answer(rq->method));
	ib_put(mad, SAH_STATUS, status);
	ib_put(mad, SAH_TID, rq->tid);
	ib_put(mad, SAH_ATTR_ID, rq->method == MAD_SA_GET_MULTI ? SA_PATH_RECORD : rq->attr);
	ib_put(mad, SAH_ATTR_MOD, rq->mod);
	ib_put(mad, SAH_ATTR_OFFSET, offset);
	ib_put(mad, SAH_COMP_MASK, rq->mask);
}

/* The way the request came, turned round; on the lane of the way back, if that is another. */
static void send(struct sa *sa, const struct sa_request *rq, const uint8_t *mad, size_t len)
{
	struct transport_addr to = rq->from;

	to.qkey = MAD_QP1_QKEY;
	to.grh.gid_index = 0;
	if (sa->view)
		to.sl = view_path_sl(sa->view, sa->view->sm_port, view_port_at(sa->view, to.lid), to.lid,
				     to.sl);
	if (mad_send_gmp(sa->mad, &to, mad, len, 0) < 0) {
		sa_drop(sa, rq, "the answer cannot be sent");
	} else {
		sa->stats.answered++;
		tally_answer(sa->tally, rq, (uint16_t)ib_get(mad, SAH_STATUS));
	}
}

void sa_answer_one(struct sa *sa, const struct sa_request *rq, const uint8_t *record, size_t len)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	size_t stride = (len + 7) & ~(size_t)7;
	/* InformInfo is in no table and not padded; the peer rounds its 36 bytes down */
	size_t offset = rq->attr == SA_INFORM_INFO ? len / 8 : stride / 8;

	put_header(mad, rq, 0, (uint16_t)offset);
	memcpy(mad + SA_DATA, record, len);
	send(sa, rq, mad, SA_DATA + stride);
}

void sa_answer_table(struct sa *sa, const struct sa_request *rq, uint8_t *message, size_t len,
		     size_t stride)
{
	put_header(message, rq, 0, len > SA_DATA ? (uint16_t)(stride / 8) : 0);
	ib_put(message, SAH_RMPP_FLAGS, RMPP_ACTIVE); /* the rest is the transport's (sa.md 1.3) */
	send(sa, rq, message, len);
}

void sa_refuse(struct sa *sa, const struct sa_request *rq, uint16_t status)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	bool is_table = rq->method == MAD_SA_GET_TABLE || rq->method == MAD_SA_GET_MULTI;

	put_header(mad, rq, status, is_table ? 0 : rq->offset);
	memcpy(mad + SA_DATA, rq->data, MIN(rq->data_len, (size_t)SA_DATA_SIZE));
	sa->stats.refused++;
	send(sa, rq, mad, MAD_SIZE);
}

void sa_drop(struct sa *sa, const struct sa_request *rq, const char *why)
{
	char more[64] = "", attr[IB_WORD_STRLEN], method[IB_WORD_STRLEN];
	bool guessed = rq->sm_key && !rq->trusted;
	struct sa_who who;
	unsigned n;

	sa->stats.dropped++;
	tally_drop(sa->tally, rq, why);
	/* Before the first sweep is done, and in standby, silence is what is expected. */
	if (!sa->view || !log_wants(LOGB_INFO | LOGB_ERROR) ||
	    !log_allow(&sa->drop_log, sa->now, &n))
		return;
	if (n)
		snprintf(more, sizeof(more), " (and %u more since the last such line)", n);
	sa_who_asks(sa, rq, &who);
	who.about.method = ib_method_words(rq->method, method);
	who.about.attr = sa_attr_words(rq->attr, attr);
	who.about.id = guessed ? LOG_ID_SA_KEY : LOG_ID_NONE;
	log_on(who.about, guessed ? LOGB_ERROR : LOGB_INFO, "no answer to %s of %s from %s: %s%s", method,
	       attr, who.text, why, more);
}
