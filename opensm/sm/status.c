// SPDX-License-Identifier: BSD-2-Clause
/*
 * The line for `systemctl status`, and the report of late changes or stuck convergence
 * (change_age.h): in the log and in that line, with the cause.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sm/alarms/alarms.h"
#include "sm/sm_internal.h"
#include "sm/sm_ledger.h"

static void sweep_str(const struct sm *sm, mono_t now, char *ret, size_t cap)
{
	char doing[SYNC_DOING_STRLEN];

	sync_doing(sm->sync, doing);
	snprintf(ret, cap,
		 "a %s sweep has been at '%s' for %" PRId64 " s%s%s; %" PRIu64
		 " SMPs were answered in it",
		 sweep_kind_name(sm->sweep), sweep_step_name(sm),
		 (now - sweep_step_since(sm)) / MONO_S, doing[0] ? ", writing " : "", doing,
		 sweep_answers(sm));
}

static void cause_str(const struct sm *sm, mono_t now, char *ret, size_t cap)
{
	if (sm->sweep != SWEEP_NONE)
		sweep_str(sm, now, ret, cap);
	else if (sm->sweeping_off)
		snprintf(ret, cap, "sweeping is switched off");
	else if (own_port_is_silent(sm->m.own_port))
		snprintf(ret, cap, "our own port does not answer");
	else if (sm->state == SM_MASTER && elect_polled(sm))
		snprintf(ret, cap, "another master has to hand over first");
	else if (sweep_errors(sm))
		snprintf(ret, cap, "the last sweep ended with %u errors", sweep_errors(sm));
	else
		snprintf(ret, cap, "no sweep has begun");
}

bool sm_unserved(const struct sm *sm, mono_t now, struct sm_unserved *ret)
{
	struct oldest_change is;

	*ret = (struct sm_unserved){ 0 };
	if (!change_age_oldest(sm->m.change_age, sm->fabric->n_nodes, now, &is))
		return false;
	ret->age = is.age;
	ret->is_late = is.is_late;
	ret->stuck = is.stuck;
	snprintf(ret->why, sizeof(ret->why), "%s", is.why);
	cause_str(sm, now, ret->cause, sizeof(ret->cause));
	return true;
}

/* Room for the alarms: the counts, and the causes of some. */
#define ALARMS_STRLEN 1500

const char *sm_status_line(struct sm *sm)
{
	const struct sm_stats *st = &sm->stats;
	char alarms[ALARMS_STRLEN], ledger[LEDGER_REASON_STRLEN];
	unsigned n = sm_alarms_line(sm, alarms, sizeof(alarms));

	sm_ledger_status(sm, ledger);
	snprintf(sm->status, sizeof(sm->status),
		 "%s%s: %s%s%u nodes (%u switches), %u ports active, heavy sweep %u: %u Sets%s%s",
		 sm_state_name(sm->state),
		 sm->state == SM_MASTER ? (st->up ? ", subnet up" : ", errors") : "", ledger,
		 ledger[0] ? "; " : "", sm->fabric->n_nodes, sm->fabric->n_switches,
		 st->ports_active, st->heavy_sweeps, st->last_sets, n ? "; " : "", alarms);
	return sm->status;
}

void status_tell(struct sm *sm)
{
	if (sm->hooks.status)
		sm->hooks.status(sm->hooks.arg, sm_status_line(sm));
}

/* Has the state of the ledger's faults changed since the last look? */
static bool is_other_trouble(struct sm *sm)
{
	unsigned was = sm->ledger_trouble;

	sm->ledger_trouble = sm_ledger_trouble(sm);
	return sm->ledger_trouble != was;
}

void status_tick(struct sm *sm)
{
	unsigned todo = change_age_tick(sm->m.change_age, sm->fabric->n_nodes, sm->now);
	struct sm_unserved is;

	if (todo & CHANGE_AGE_TELL_SERVED)
		log_on(ABOUT(.id = LOG_ID_STUCK), LOGB_INFO, "changes are served again");
	if ((todo & CHANGE_AGE_TELL) && sm_unserved(sm, sm->now, &is))
		log_on(ABOUT(.id = LOG_ID_STUCK), is.stuck ? LOGB_ERROR : LOGB_INFO,
		       "a change is not served%s for %" PRId64 " s (%s): %s",
		       is.stuck ? "" : " yet", is.age / MONO_S, is.why, is.cause);
	if ((todo & CHANGE_AGE_STATUS) || is_other_trouble(sm))
		status_tell(sm);
}

mono_t status_next(const struct sm *sm)
{
	return change_age_next(sm->m.change_age, sm->fabric->n_nodes, sm->now);
}
