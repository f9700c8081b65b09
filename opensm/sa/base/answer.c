// SPDX-License-Identifier: BSD-2-Clause
/*
 * Answers in all shapes: a record, a table, an error that echoes the request; and no answer at all.
 *
 * Knows the header, the way back, and the counters. Knows nothing about records.
 */
#include <string.h>

#include "ib/words.h"
#include "sa/base/requester.h"
#include "util/mem.h"

/* A Set is answered with GetResp (15.4.2), MultiPathRecords as PathRecords (15.2.5.20). */
static uint8_t method_of_answer(uint8_t method)
{
	return method == MAD_SET ? MAD_GET_RESP : method | MAD_RESPONSE_BIT;
}

static void put_answer_header(uint8_t *mad, const struct sa_request *rq, uint16_t status,
			      uint16_t offset)
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

/* By the path of the request, reversed; on the SL of the way back, if that is another. */
static void send_answer(struct sa *sa, const struct sa_request *rq, const uint8_t *mad, size_t len)
{
	struct transport_addr to = rq->from;

	to.qkey = MAD_QP1_QKEY;
	to.grh.gid_index = 0;
	if (sa->view)
		to.sl = view_path_sl(sa->view, sa->view->sm_port, view_port_at(sa->view, to.lid),
				     to.lid, to.sl);
	if (mad_send_gmp(sa->mad, &to, mad, len, 0) < 0) {
		sa_drop(sa, rq, SA_WHY("not_sent", "the answer cannot be sent"));
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

	put_answer_header(mad, rq, 0, (uint16_t)offset);
	memcpy(mad + SA_DATA, record, len);
	send_answer(sa, rq, mad, SA_DATA + stride);
}

void sa_answer_table(struct sa *sa, const struct sa_request *rq, uint8_t *message, size_t len,
		     size_t stride)
{
	put_answer_header(message, rq, 0, len > SA_DATA ? (uint16_t)(stride / 8) : 0);
	ib_put(message, SAH_RMPP_FLAGS, RMPP_ACTIVE); /* the rest is the transport's (sa.md 1.3) */
	send_answer(sa, rq, message, len);
}

void sa_refuse(struct sa *sa, const struct sa_request *rq, uint16_t status)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	bool is_table = rq->method == MAD_SA_GET_TABLE || rq->method == MAD_SA_GET_MULTI;

	put_answer_header(mad, rq, status, is_table ? 0 : rq->offset);
	memcpy(mad + SA_DATA, rq->data, MIN(rq->data_len, (size_t)SA_DATA_SIZE));
	sa->stats.refused++;
	send_answer(sa, rq, mad, MAD_SIZE);
}

/* Method and attribute of a request, and its port, for the log. */
struct request_text {
	struct sa_port_text port;
	char method[IB_WORD_STRLEN], attr[IB_WORD_STRLEN];
};

static void request_text(const struct sa *sa, const struct sa_request *rq, const char *why,
			 struct request_text *ret)
{
	sa_requester_text(sa, rq, &ret->port);
	ret->port.about.method = ib_method_words(rq->method, ret->method);
	ret->port.about.attr = sa_attr_words(rq->attr, ret->attr);
	ret->port.about.hint = why;
}

const char *sa_more_words(unsigned n, char ret[static SA_MORE_STRLEN])
{
	ret[0] = '\0';
	if (n)
		snprintf(ret, SA_MORE_STRLEN, " (and %u more since the last such line)", n);
	return ret;
}

/*
 * What many ports can cause at once has a limit for all of them (log_flood.h has one for each): the
 * rest of the log needs its room.
 */
static bool may_log(const struct sa *sa, struct log_limit *limit, unsigned bits,
		    char ret_more[static SA_MORE_STRLEN])
{
	unsigned n;

	if (!log_wants(bits) || !log_allow(limit, sa->now, &n))
		return false;
	sa_more_words(n, ret_more);
	return true;
}

void sa_drop(struct sa *sa, const struct sa_request *rq, const struct sa_why *why)
{
	char more[SA_MORE_STRLEN];
	bool guessed = rq->sm_key && !rq->trusted;
	unsigned bits = guessed ? LOGB_ERROR : LOGB_INFO;
	struct log_limit *limit = guessed ? &sa->key_log : &sa->drop_log;
	struct request_text t;

	sa->stats.dropped++;
	tally_drop(sa->tally, rq, why);
	/* Before the first sweep is done, and in standby, silence is what is expected. */
	if (!sa->view || !may_log(sa, limit, bits, more))
		return;
	request_text(sa, rq, why->text, &t);
	t.port.about.id = guessed ? LOG_ID_SA_KEY : LOG_ID_NONE;
	log_on(t.port.about, bits, "no answer to %s of %s from %s: %s%s", t.method, t.attr,
	       t.port.text, why->text, more);
}

const struct sa_why *sa_silence_why(enum sa_silence silence)
{
	switch (silence) {
	case SA_DROP:
	case SA_DROP_END:
		return SA_WHY("not_entitled", "not for this port");
	case SA_DROP_MCGS:
		return SA_WHY("too_many_groups", "its port has reached sa_etm_max_num_mcgs");
	case SA_DROP_SRVCS:
		return SA_WHY("too_many_services", "its port has reached sa_etm_max_num_srvcs");
	case SA_DROP_EVENT_SUBS:
		return SA_WHY("too_many_subscriptions",
			      "its port has reached sa_etm_max_num_event_subs");
	}
	return SA_WHY("not_entitled", "not for this port");
}

/* `what` became of the request, since `why`. */
static void log_limit(struct sa *sa, const struct sa_request *rq, const char *what, const char *why)
{
	char more[SA_MORE_STRLEN];
	struct request_text t;

	if (!may_log(sa, &sa->quota_log, LOGB_INFO, more))
		return;
	request_text(sa, rq, why, &t);
	log_on(t.port.about, LOGB_INFO, "%s: %s of %s %s: %s%s", t.port.text, t.method, t.attr,
	       what, why, more);
}

uint16_t sa_over_quota(struct sa *sa, const struct sa_request *rq, enum conf_id quota)
{
	char why[SA_QUOTA_STRLEN];

	if (quota_silence(quota))
		return quota_silence(quota);
	log_limit(sa, rq, "refused (no resources)", quota_text(sa, quota, why));
	return SA_NO_RESOURCES;
}

uint16_t sa_short_of(struct sa *sa, const struct sa_request *rq, enum sa_shortage what)
{
	char why[SA_QUOTA_STRLEN];

	log_limit(sa, rq, "refused (no resources)", shortage_text(sa, what, why));
	return SA_NO_RESOURCES;
}

void sa_without(struct sa *sa, const struct sa_request *rq, const char *what, enum conf_id quota)
{
	char words[64], why[SA_QUOTA_STRLEN];

	snprintf(words, sizeof(words), "answered without %s", what);
	log_limit(sa, rq, words, quota_text(sa, quota, why));
}
