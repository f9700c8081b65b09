// SPDX-License-Identifier: BSD-2-Clause
/*
 * Life of Subnet Administration, and the admission of requests (sa.md 1.1).
 *
 * Set and Delete run at once, in order of arrival; Get, GetTable and GetMulti become queries.
 */
#include "sa/sa.h"

#include <assert.h>
#include <string.h>

#include "sa/base/sa_internal.h"
#include "sa/base/trust.h"
#include "util/mem.h"

/* The options that differ from `old`; NULL: all. */
static void take_limits(struct sa *sa, const struct conf *old, const struct conf *conf)
{
	if (!old || old->sa_max_queries != conf->sa_max_queries)
		sa->limits.queries = conf->sa_max_queries;
	if (!old || old->sa_max_queries_per_port != conf->sa_max_queries_per_port)
		sa->limits.queries_each = conf->sa_max_queries_per_port;
	if (!old || old->sa_max_long_answers_per_port != conf->sa_max_long_answers_per_port)
		sa->limits.big_each = conf->sa_max_long_answers_per_port;
}

struct sa *sa_new(const struct conf *conf, const struct fabric *fabric, struct mad_engine *mad,
		  const struct sa_hooks *hooks)
{
	struct sa *sa = xcalloc(1, sizeof(*sa));

	assert(conf && fabric && mad);
	sa->conf = conf_ref(conf);
	sa->limits = sa_limits_default;
	take_limits(sa, NULL, conf);
	sa->fabric = fabric;
	sa->mad = mad;
	if (hooks)
		sa->hooks = *hooks;
	sa->drop_log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 5 };
	sa->quota_log = sa->key_log = sa->drop_log;
	sa->quotas = quotas_new();
	sa->askers = askers_new();
	sa->tally = tally_new();
	sa->path_tally = path_tally_new();
	sa->queries = queries_new(sa);
	sa->reports = reports_new(sa);
	sa->informs = informs_new(sa);
	sa->services = services_new(sa);
	sa->guids = alias_guids_new(sa);
	sa->mgroups = mgroups_new(sa);
	return sa;
}

struct sa *sa_free(struct sa *sa)
{
	if (!sa)
		return NULL;
	queries_drop_all(sa);
	queries_free(sa->queries);
	informs_free(sa->informs);
	reports_free(sa->reports);
	services_free(sa->services);
	alias_guids_free(sa->guids);
	mgroups_free(sa->mgroups);
	tally_free(sa->tally);
	path_tally_free(sa->path_tally);
	quotas_free(sa->quotas);
	askers_free(sa->askers);
	conf_prefixes_clear(&sa->prefixes);
	view_unref(sa->view);
	conf_unref(sa->conf);
	free(sa);
	return NULL;
}

void sa_set_conf(struct sa *sa, const struct conf *conf)
{
	const struct conf *old = sa->conf;

	take_limits(sa, old, conf);
	sa->conf = conf_ref(conf);
	conf_unref(old);
}

void sa_set_drawn_key(struct sa *sa, uint64_t key)
{
	sa->drawn_key = key;
}

void sa_publish(struct sa *sa, const struct view *view, mono_t now)
{
	const struct view *before = sa->view;

	assert(!view || view->paths);
	sa->now = now;
	sa->view = view ? view_ref(view) : NULL;
	sa->published++;
	path_tally_follow(sa);
	if (!view)
		queries_drop_all(sa);
	else if (before)
		queries_pkeys_changed(sa);
	events_view_changed(sa, before, now);
	mgroups_view_changed(sa);
	view_unref(before);
}

void sa_publish_pkeys(struct sa *sa, const struct view *derived, mono_t now)
{
	const struct view *before = sa->view;

	assert(before && derived && derived->ports == before->ports);
	sa->now = now;
	sa->view = view_ref(derived);
	queries_pkeys_changed(sa);
	reports_pkeys_changed(sa);
	mgroups_pkeys_changed(sa);
	view_unref(before);
}

bool sa_dispatch(struct sa *sa, mono_t now)
{
	sa->now = now;
	services_tick(sa, now);
	reports_tick(sa, now);
	return queries_dispatch(sa, now) || reports_next(sa) <= now;
}

mono_t sa_next(const struct sa *sa)
{
	return mono_min(services_next(sa), reports_next(sa));
}

void sa_cell(struct sa *sa, uint64_t cookie, const uint8_t *payload)
{
	queries_cell(sa, cookie, payload);
}

const struct sa_stats *sa_stats(const struct sa *sa)
{
	return &sa->stats;
}

/* ---- admission ---- */

static bool is_question(uint8_t method)
{
	return method == MAD_GET || method == MAD_SA_GET_TABLE || method == MAD_SA_GET_MULTI;
}

/* The specification has a response to it: a requester of attributes that we lack gets one. */
static bool is_answered(uint8_t method)
{
	return is_question(method) || method == MAD_SET || method == MAD_SA_DELETE ||
	       method == MAD_SA_GET_TRACE_TABLE;
}

static bool is_manager(const struct sa *sa, uint32_t port)
{
	return port != VIEW_NONE && sa->hooks.is_manager &&
	       sa->hooks.is_manager(sa->hooks.arg, sa->view->ports[port].guid);
}

/* By sa_key, or for this request by a proof of it. */
static bool is_trusted(const struct sa *sa, const struct sa_request *rq,
		       const struct transport_event *ev)
{
	if (trust_has_key(sa, rq->sm_key))
		return true;
	return rq->sm_key && rq->port != VIEW_NONE && !ev->whole && sa->hooks.knows_keys &&
	       sa->hooks.knows_keys(sa->hooks.arg, sa->view->ports[rq->port].guid, ev->mad);
}

static void read_request(struct sa *sa, const struct transport_event *ev, struct sa_request *ret)
{
	const uint8_t *mad = ev->whole ? ev->whole : ev->mad;
	size_t len = ev->whole ? ev->length : MIN(ev->length, sizeof(ev->mad));

	*ret = (struct sa_request){
		.from = ev->from,
		.method = (uint8_t)ib_get(mad, SAH_METHOD),
		.attr = (uint16_t)ib_get(mad, SAH_ATTR_ID),
		.mod = (uint32_t)ib_get(mad, SAH_ATTR_MOD),
		.tid = ib_get(mad, SAH_TID),
		.mask = ib_get(mad, SAH_COMP_MASK),
		.sm_key = ib_get(mad, SAH_SM_KEY),
		.offset = (uint16_t)ib_get(mad, SAH_ATTR_OFFSET),
		.rmpp = ib_get(mad, SAH_RMPP_FLAGS) & RMPP_ACTIVE,
		.port = VIEW_NONE,
		.data = mad + SA_DATA,
		.data_len = len > SA_DATA ? len - SA_DATA : 0,
		.arrived = sa->now,
	};
	if (sa->view)
		ret->port = view_port_at(sa->view, ev->from.lid);
	ret->trusted = is_trusted(sa, ret, ev);
	ret->manager = ret->trusted && is_manager(sa, ret->port);
	ret->whole = ret->manager && ret->mod == SA_FOR_STANDBY;
}

/* Why a request gets no answer, in the order of sa.md 1.1; NULL: it does. */
static const struct sa_why *refusal(const struct sa *sa, const struct sa_request *rq)
{
	if (!sa->view)
		return SA_WHY("not_ready", "no complete sweep as master yet");
	if (trust_is_guess(rq))
		return SA_WHY("wrong_key", "its SM_Key is not sa_key");
	if (!is_answered(rq->method))
		return SA_WHY("no_method", "no such method");
	if (rq->data_len > sa->limits.request_bytes)
		return SA_WHY("too_long", "the request is too long");
	if (is_question(rq->method) && queries_overloaded(sa))
		return SA_WHY("overload", "overload (max_msg_fifo_timeout)");
	if (rq->port == VIEW_NONE && rq->attr != SA_INFORM_INFO)
		return SA_WHY("unknown_lid", "no port has this LID");
	return NULL;
}

/* Registers or takes back, now. */
static void change(struct sa *sa, const struct sa_type *type, const struct sa_request *rq)
{
	uint8_t record[SA_DATA_SIZE];
	struct sa_request echo = *rq;
	uint16_t status;

	memcpy(record, rq->data, sizeof(record));
	echo.data = record;
	status = (rq->method == MAD_SET ? type->set : type->delete)(sa, rq, record);
	if (status == SA_DROP)
		sa_abused(sa, rq, SA_ABUSE_CLAIM);
	else if (status > SA_DROP || status == SA_NO_RESOURCES)
		sa_abused(sa, rq, SA_ABUSE_QUOTA);
	if (status >= SA_DROP)
		sa_drop(sa, rq, sa_silence_why(status));
	else if (status)
		sa_refuse(sa, &echo, status);
	else
		sa_answer_one(sa, rq, record, type->size);
}

static bool has_method(const struct sa_type *type, const struct sa_request *rq)
{
	switch (rq->method) {
	case MAD_SET:
		return type->set;
	case MAD_SA_DELETE:
		return type->delete;
	case MAD_GET:
	case MAD_SA_GET_TABLE:
		return type->next;
	case MAD_SA_GET_MULTI:
		return rq->attr == SA_MULTI_PATH_RECORD;
	}
	return false;
}

static void serve(struct sa *sa, const struct sa_request *rq)
{
	const struct sa_type *type = sa_type_find(rq->attr);

	if (rq->port == VIEW_NONE) { /* InformInfo: the one that answers strangers */
		sa_refuse(sa, rq, SA_REQ_INVALID);
		return;
	}
	if (!type || !has_method(type, rq))
		sa_refuse(sa, rq, MAD_STATUS_BAD_METHOD_ATTR);
	else if (is_question(rq->method))
		query_take(sa, type, rq);
	else
		change(sa, type, rq);
}

/* Of a Report that comes back there may be the common header alone. */
static bool is_ours(const struct transport_event *ev)
{
	size_t least = ev->kind == TRANSPORT_RETURNED ? MAD_HEADER_BYTES : SA_DATA;

	return ev->length >= least && ib_get(ev->mad, SAH_BASE_VERSION) == 1 &&
	       ib_get(ev->mad, SAH_CLASS) == MAD_CLASS_SA &&
	       ib_get(ev->mad, SAH_CLASS_VERSION) == 2;
}

void sa_receive(struct sa *sa, struct transport_event *ev, mono_t now)
{
	struct sa_request rq;
	enum sa_abuse kind;
	const struct sa_why *why;

	sa->now = now;
	if (ev->kind == TRANSPORT_GONE || !is_ours(ev))
		return;
	if (ev->kind == TRANSPORT_RETURNED || ib_get(ev->mad, SAH_METHOD) == MAD_REPORT_RESP) {
		reports_receive(sa, ev, now);
		return;
	}
	sa->stats.requests++;
	read_request(sa, ev, &rq);
	why = refusal(sa, &rq);
	if (why) {
		if (sa->view && trust_is_guess(&rq))
			askers_guessed(sa, &rq);
		sa_drop(sa, &rq, why);
		return;
	}
	why = trust_refusal(sa, &rq, &kind);
	if (!why) {
		serve(sa, &rq);
		return;
	}
	sa_abused(sa, &rq, kind);
	sa_drop(sa, &rq, why);
}
