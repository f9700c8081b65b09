// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger for administrators (sm/sm_ledger.h): in words, in numbers, and for the status line.
 * Only reads what the other files of settle*.c keep.
 */
#include "sm/sm_ledger.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/ledger/settle_internal.h"
#include "util/mem.h"

/* ---- the whole ------------------------------------------------------------------------------ */

enum sm_ledger_trouble sm_ledger_trouble(const struct sm *sm)
{
	const struct settle *s = sm->m.settle;
	const struct settle_contact *c;

	switch (s->state) {
	case SETTLE_KEEPING:
		return LEDGER_KEEPS;
	case SETTLE_TAKING:
		return LEDGER_TAKES;
	case SETTLE_ASKING:
		return sm->now >= s->asking_since + LEDGER_ASKS_LONG ? LEDGER_ASKS : LEDGER_FINE;
	case SETTLE_WRITING:
		c = contact_waited_for(s);
		return c && sm->now >= c->since + LEDGER_ASKS_LONG ? LEDGER_WAITS : LEDGER_FINE;
	case SETTLE_FOREIGN:
		break;
	}
	return LEDGER_FINE;
}

static void tell_asking(const struct sm *sm, char ret[LEDGER_REASON_STRLEN])
{
	char where[PLACE_STRLEN];

	if (sm->m.settle->silent)
		snprintf(ret, LEDGER_REASON_STRLEN,
			 "%s is asked for changes that are not here; P_Keys of tenants stay as "
			 "they are until it has answered",
			 guid_place_str(sm, sm->m.settle->silent, where));
	else
		snprintf(ret, LEDGER_REASON_STRLEN,
			 "P_Keys on devices are compared with the ledger when the first sweep has "
			 "ended, and stay as they are until then");
}

static void tell_taking(const struct sm *sm, char ret[LEDGER_REASON_STRLEN])
{
	char where[PLACE_STRLEN];

	snprintf(ret, LEDGER_REASON_STRLEN,
		 "a manager that may know more does not answer: %s; P_Keys stay on devices, and "
		 "none is given until it answers, or is stopped; what is removed now is taken",
		 guid_place_str(sm, sm->m.settle->silent, where));
}

static void tell_waiting(const struct sm *sm, char ret[LEDGER_REASON_STRLEN])
{
	const struct settle_contact *c = contact_waited_for(sm->m.settle);
	char where[PLACE_STRLEN];

	if (c)
		snprintf(ret, LEDGER_REASON_STRLEN,
			 "%s was out of reach, and may have been master of a part of the subnet; "
			 "P_Keys of tenants wait until a sweep has ended and it has answered",
			 guid_place_str(sm, c->guid, where));
}

static void tell_reason(const struct sm *sm, char ret[LEDGER_REASON_STRLEN])
{
	const struct settle *s = sm->m.settle;

	ret[0] = '\0';
	switch (s->state) {
	case SETTLE_ASKING:
		tell_asking(sm, ret);
		break;
	case SETTLE_TAKING:
		tell_taking(sm, ret);
		break;
	case SETTLE_KEEPING:
		snprintf(ret, LEDGER_REASON_STRLEN,
			 "%zu P_Keys on devices are not explained: opensmctl ledger adopt or "
			 "forget",
			 s->n_unexplained);
		break;
	case SETTLE_FOREIGN:
		snprintf(ret, LEDGER_REASON_STRLEN, "only the master writes to devices");
		break;
	case SETTLE_WRITING:
		tell_waiting(sm, ret);
		break;
	}
}

const char *sm_ledger_status(const struct sm *sm, char ret[LEDGER_REASON_STRLEN])
{
	const struct settle *s = sm->m.settle;
	char where[PLACE_STRLEN];

	ret[0] = '\0';
	switch (sm_ledger_trouble(sm)) {
	case LEDGER_KEEPS:
		snprintf(ret, LEDGER_REASON_STRLEN,
			 "KEEPING (%zu P_Keys on devices are not explained: opensmctl ledger adopt "
			 "or forget)",
			 s->n_unexplained);
		break;
	case LEDGER_TAKES:
		snprintf(ret, LEDGER_REASON_STRLEN,
			 "TAKING (a manager that may know more does not answer: %s)",
			 guid_place_str(sm, s->silent, where));
		break;
	case LEDGER_ASKS:
		snprintf(ret, LEDGER_REASON_STRLEN,
			 "ASKING (for %" PRId64 " s: P_Keys of tenants stay as they are)",
			 (sm->now - s->asking_since) / MONO_S);
		break;
	case LEDGER_WAITS:
		snprintf(ret, LEDGER_REASON_STRLEN,
			 "WAITING (for %" PRId64 " s: another manager is out of reach)",
			 (sm->now - contact_waited_for(s)->since) / MONO_S);
		break;
	case LEDGER_FINE:
	case LEDGER_TROUBLES:
		break;
	}
	return ret;
}

static int64_t newest_change(const struct settle *s)
{
	int64_t at = 0;

	for (unsigned t = 0; t < LEDGER_TABLES; t++)
		at = MAX(at, s->newest[t].at);
	return at;
}

void sm_ledger(const struct sm *sm, struct sm_ledger *ret)
{
	const struct settle *s = sm->m.settle;

	assert(ret);
	*ret = (struct sm_ledger){
		.state = settle_state_name(s->state),
		.trouble = sm_ledger_trouble(sm),
		.term = s->meta.term,
		.file = s->path,
		.fault = s->path && !s->fault[0] ? NULL : s->fault,
		.n_unexplained = settle_unexplained(sm),
		.changed = newest_change(s),
	};
	tell_reason(sm, ret->reason);
	for (unsigned i = 0; i < s->n_peers; i++) {
		if (!s->peers[i].guid)
			continue;
		ret->n_standbys++;
		ret->n_behind += peer_behind(s, &s->peers[i]) != 0;
	}
}

bool sm_ledger_table_at(const struct sm *sm, unsigned n, struct sm_ledger_table *ret)
{
	const struct settle *s = sm->m.settle;

	if (n >= LEDGER_TABLES)
		return false;
	*ret = (struct sm_ledger_table){
		.name = ledger_table(n)->name,
		.n_rows = ledger_rows_there(s->ledger, n),
		.number = s->newest[n].number,
		.changed = s->newest[n].at,
	};
	ret->n_removed = ledger_rows(s->ledger, n) - ret->n_rows;
	return true;
}

/* ---- another manager ------------------------------------------------------------------------ */

static const struct ledger_known *find_known(const struct settle *s, guid_t guid)
{
	for (unsigned i = 0; i < s->meta.n_managers; i++) {
		if (s->meta.managers[i].guid == guid)
			return &s->meta.managers[i];
	}
	return NULL;
}

static void see_reached(const struct settle *s, const struct settle_peer *p,
			struct sm_ledger_peer *ret)
{
	size_t behind = peer_behind(s, p);

	ret->is_told = peer_is_settled(p);
	ret->n_behind = behind == SIZE_MAX ? 0 : behind;
	ret->standing = p->refuses	     ? LEDGER_REFUSES
			: behind == SIZE_MAX ? LEDGER_COMPARING
			: behind	     ? LEDGER_BEHIND
					     : LEDGER_WITH;
}

void sm_ledger_peer(const struct sm *sm, guid_t guid, struct sm_ledger_peer *ret)
{
	struct settle *s = sm->m.settle;
	const struct settle_peer *p = settle_peer_of(s, guid);
	const struct ledger_known *known = find_known(s, guid);

	assert(ret);
	*ret = (struct sm_ledger_peer){
		.guid = guid,
		.standing = known || channel_has_answered(sm, guid) ? LEDGER_UNREACHED
								    : LEDGER_NOT_OURS,
		.seen = known ? known->seen : 0,
	};
	if (p)
		see_reached(s, p, ret);
}

/* The n-th manager: reachable ones first, then those known from before. */
static guid_t guid_at(struct settle *s, unsigned n)
{
	for (unsigned i = 0; i < s->n_peers; i++) {
		if (s->peers[i].guid && n-- == 0)
			return s->peers[i].guid;
	}
	for (unsigned i = 0; i < s->meta.n_managers; i++) {
		if (!settle_peer_of(s, s->meta.managers[i].guid) && n-- == 0)
			return s->meta.managers[i].guid;
	}
	return 0;
}

bool sm_ledger_peer_at(const struct sm *sm, unsigned n, struct sm_ledger_peer *ret)
{
	guid_t guid = guid_at(sm->m.settle, n);

	if (guid)
		sm_ledger_peer(sm, guid, ret);
	return guid != 0;
}
