// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counts registrations of each kind, by port and in total; see enum sa_quota. The registrations
 * themselves are in other files.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sa/base/sa_internal.h"
#include "util/guidmap.h"
#include "util/mem.h"

#define MLIDS_PER_PORT_MIN 64u /* per port, with sa_max_groups_per_port 0 */

#define ROW(what, n, ...)                                                                          \
	{                                                                                          \
		.each = CONF_ID_sa_max_##what##_per_port, .all = CONF_ID_sa_max_##what,            \
		.each_at = offsetof(struct conf, sa_max_##what##_per_port),                        \
		.all_at = offsetof(struct conf, sa_max_##what), .few = (n), __VA_ARGS__            \
	}
#define ETM(what, SILENCE)                                                                         \
	.etm = CONF_ID_sa_etm_max_num_##what,                                                      \
	.etm_at = offsetof(struct conf, sa_etm_max_num_##what), .silence = (SILENCE)

static const struct {
	enum conf_id each, all;
	size_t each_at, all_at; /* their values, uint32_t */
	uint32_t few;
	/* The limit of requests without a key, with no answer beyond; CONF_N_OPTIONS: none. */
	enum conf_id etm;
	size_t etm_at;
	uint16_t silence;
} rows[SA_QUOTAS] = {
	[SA_QUOTA_GROUPS] = ROW(groups, SA_FEW_GROUPS, .etm = CONF_N_OPTIONS),
	[SA_QUOTA_MEMBERS] = ROW(members, SA_FEW_MEMBERS, ETM(mcgs, SA_DROP_MCGS)),
	[SA_QUOTA_SERVICES] = ROW(services, SA_FEW_SERVICES, ETM(srvcs, SA_DROP_SRVCS)),
	[SA_QUOTA_SUBSCRIPTIONS] =
		ROW(subscriptions, SA_FEW_SUBSCRIPTIONS, ETM(event_subs, SA_DROP_EVENT_SUBS)),
};

struct account {
	uint32_t n[SA_QUOTAS];
};

struct quotas {
	struct guidmap *accounts; /* accounts of ports with registrations */
	struct account all;
};

struct quotas *quotas_new(void)
{
	struct quotas *q = xcalloc(1, sizeof(*q));

	q->accounts = guidmap_new();
	return q;
}

struct quotas *quotas_free(struct quotas *q)
{
	size_t pos = 0;
	void *account;

	if (!q)
		return NULL;
	while (guidmap_next(q->accounts, &pos, NULL, &account))
		free(account);
	guidmap_free(q->accounts);
	free(q);
	return NULL;
}

static bool is_empty(const struct account *a)
{
	for (unsigned i = 0; i < SA_QUOTAS; i++)
		if (a->n[i])
			return false;
	return true;
}

void quota_charge(struct sa *sa, enum sa_quota kind, guid_t port, int by)
{
	struct guidmap *accounts = sa->quotas->accounts;
	struct account *a = guidmap_get(accounts, port);

	assert(kind < SA_QUOTAS && (by == 1 || by == -1));
	sa->quotas->all.n[kind] += (uint32_t)by;
	if (!port)
		return;
	if (!a) {
		a = xcalloc(1, sizeof(*a));
		guidmap_put(accounts, port, a);
	}
	a->n[kind] += (uint32_t)by;
	if (is_empty(a))
		free(guidmap_remove(accounts, port));
}

void quota_move(struct sa *sa, enum sa_quota kind, guid_t from, guid_t to)
{
	quota_charge(sa, kind, from, -1);
	quota_charge(sa, kind, to, 1);
}

uint32_t quota_all(const struct sa *sa, enum sa_quota kind)
{
	assert(kind < SA_QUOTAS);
	return sa->quotas->all.n[kind];
}

static uint32_t has_of(const struct sa *sa, enum sa_quota kind, guid_t port)
{
	const struct account *a = guidmap_get(sa->quotas->accounts, port);

	return a ? a->n[kind] : 0;
}

bool quota_has_room(const struct sa *sa, enum sa_quota kind, guid_t port, uint32_t used,
		    uint32_t max)
{
	assert(kind < SA_QUOTAS);
	return used < (has_of(sa, kind, port) < rows[kind].few ? max : max - max / 8);
}

static uint32_t value_at(const struct sa *sa, size_t offset)
{
	return *(const uint32_t *)((const char *)sa->conf + offset);
}

uint32_t sa_groups_per_port(const struct sa *sa)
{
	return sa->conf->sa_max_groups_per_port ?: MAX(MLIDS_PER_PORT_MIN, sa->n_mlids / 4);
}

enum conf_id quota_reached(const struct sa *sa, enum sa_quota kind, guid_t port)
{
	uint32_t each;

	assert(kind < SA_QUOTAS);
	each = kind == SA_QUOTA_GROUPS ? sa_groups_per_port(sa) : value_at(sa, rows[kind].each_at);
	if (port && has_of(sa, kind, port) >= each)
		return rows[kind].each;
	return quota_has_room(sa, kind, port, quota_all(sa, kind), value_at(sa, rows[kind].all_at))
		       ? CONF_N_OPTIONS
		       : rows[kind].all;
}

/* Is a request without a key beyond the limit of the trust model? A limit of 0 allows none. */
static bool is_beyond_model(const struct sa *sa, enum sa_quota kind, const struct sa_request *rq)
{
	uint32_t most;

	if (!sa->conf->sa_enhanced_trust_model || rq->trusted || rows[kind].etm == CONF_N_OPTIONS)
		return false;
	most = value_at(sa, rows[kind].etm_at);
	return most && has_of(sa, kind, sa->view->ports[rq->port].guid) >= most;
}

enum conf_id quota_reached_by(const struct sa *sa, enum sa_quota kind, const struct sa_request *rq)
{
	assert(kind < SA_QUOTAS && rq->port != VIEW_NONE);
	return is_beyond_model(sa, kind, rq)
		       ? rows[kind].etm
		       : quota_reached(sa, kind, sa->view->ports[rq->port].guid);
}

uint16_t quota_silence(enum conf_id quota)
{
	for (unsigned i = 0; i < SA_QUOTAS; i++)
		if (quota != CONF_N_OPTIONS && rows[i].etm == quota)
			return rows[i].silence;
	return 0;
}

const char *quota_text(const struct sa *sa, enum conf_id quota, char ret[static SA_QUOTA_STRLEN])
{
	const char *name = conf_option(quota)->name;
	_cleanup_free_ char *value = conf_value_text(sa->conf, quota);

	if (quota == CONF_ID_sa_max_groups_per_port && !sa->conf->sa_max_groups_per_port)
		snprintf(ret, SA_QUOTA_STRLEN,
			 "this port has reached %s, which is %u (0: a quarter of the multicast "
			 "LIDs, %u at least)",
			 name, sa_groups_per_port(sa), MLIDS_PER_PORT_MIN);
	else if (strstr(name, "_per_port"))
		snprintf(ret, SA_QUOTA_STRLEN, "this port has reached %s, which is %s", name,
			 value);
	else
		snprintf(ret, SA_QUOTA_STRLEN, "all ports together have reached %s, which is %s%s",
			 name, value,
			 quota == CONF_ID_sa_max_alias_guids
				 ? ""
				 : " (the last eighth is for ports that have few)");
	return ret;
}

const char *shortage_text(const struct sa *sa, enum sa_shortage what,
			  char ret[static SA_QUOTA_STRLEN])
{
	const struct sa_limits *l = &sa->limits;

	switch (what) {
	case SA_SHORT_LONG_ANSWERS:
		return quota_text(sa, CONF_ID_sa_max_long_answers_per_port, ret);
	case SA_SHORT_ANSWER:
		snprintf(ret, SA_QUOTA_STRLEN, "one answer has %zu bytes at most", l->answer_bytes);
		break;
	case SA_SHORT_ANSWERS:
		snprintf(ret, SA_QUOTA_STRLEN,
			 "answers in the making, of all ports together, have %zu bytes at most",
			 l->answers_bytes);
		break;
	case SA_SHORT_SENT:
		snprintf(ret, SA_QUOTA_STRLEN,
			 "this port gets %zu bytes of tables in %u s at most", l->sent_bytes_each,
			 (unsigned)(l->sent_window / MONO_S));
		break;
	case SA_SHORT_CELLS:
		snprintf(ret, SA_QUOTA_STRLEN,
			 "one query has %" PRIu32 " blocks of tables read from devices at most",
			 l->cells);
		break;
	case SA_SHORT_READS:
		return "too many blocks of tables are being read from devices, for all ports";
	case SA_SHORT_TURNS:
		return "P_Keys have changed too often since it was asked";
	case SA_SHORT_MEMORY:
	case SA_ENOUGH:
		return "this process gets no more memory";
	}
	return ret;
}
