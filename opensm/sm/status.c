// SPDX-License-Identifier: BSD-2-Clause
/*
 * The line for `systemctl status`, and the report of late changes or stuck convergence
 * (change_age.h): in the log and in that line, with the cause.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sm/sm_internal.h"
#include "sm/sm_ledger.h"

static void sweep_str(const struct sm *sm, mono_t now, char *ret, size_t cap)
{
	char doing[SYNC_DOING_STRLEN];

	sync_doing(sm->sync, doing);
	snprintf(ret, cap, "a %s sweep has been at '%s' for %" PRId64 " s%s%s; %" PRIu64
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

#define LATE_STRLEN 420

static const char *late_str(const struct sm *sm, char ret[LATE_STRLEN])
{
	struct sm_unserved is;

	ret[0] = '\0';
	if (sm_unserved(sm, sm->now, &is) && is.is_late)
		snprintf(ret, LATE_STRLEN, "%s for %" PRId64 " s (%s): %s; ",
			 is.stuck ? "A CHANGE IS NOT SERVED" : "a change is not served yet",
			 is.age / MONO_S, is.why, is.cause);
	return ret;
}

#define CROWDED_STRLEN 90

/* Lists ports whose P_Key tables are too small for their partitions. */
static const char *crowded_str(const struct sm *sm, char ret[CROWDED_STRLEN])
{
	const struct pkey_plan *plan = sm->state == SM_MASTER ? partition_wanted(sm) : NULL;

	ret[0] = '\0';
	if (plan && plan->n_dropped)
		snprintf(ret, CROWDED_STRLEN,
			 "; P_Keys do not fit at %zu ports (opensmctl partitions)",
			 plan->n_dropped);
	return ret;
}

#define LIMITED_STRLEN 110

static const char *limited_str(const struct sm *sm, char ret[LIMITED_STRLEN])
{
	uint16_t first;
	size_t n = sm->state == SM_MASTER
			   ? tenants_all_limited(sm_tenants(sm), sm_partitions(sm), &first, 1)
			   : 0;

	ret[0] = '\0';
	if (n)
		snprintf(ret, LIMITED_STRLEN,
			 "; partitions without a full member: %zu, the first 0x%04x (opensmctl "
			 "partitions verify)",
			 n, first);
	return ret;
}

const char *sm_status_line(struct sm *sm)
{
	const struct sm_stats *st = &sm->stats;
	char left_out[LEFT_OUT_STRLEN];
	unsigned n = sm->state == SM_MASTER ? sm_left_out(sm, left_out, sizeof(left_out)) : 0;
	char differs[160], late[LATE_STRLEN], crowded[CROWDED_STRLEN], limited[LIMITED_STRLEN];
	unsigned others = sm_configured_otherwise(sm, differs, sizeof(differs));
	const char *fault = settle_fault(sm);
	char out[400], ledger[LEDGER_REASON_STRLEN];

	sm_engines_out(sm, out, sizeof(out));
	sm_ledger_status(sm, ledger);
	snprintf(
		sm->status, sizeof(sm->status),
		"%s%s: %s%s%s%u nodes (%u switches), %u ports active, heavy sweep %u: %u "
		"Sets%s%s%s%s%s%s%s%s%s%s%s%s%s",
		sm_state_name(sm->state),
		sm->state == SM_MASTER ? (st->up ? ", subnet up" : ", errors") : "",
		ledger, ledger[0] ? "; " : "", late_str(sm, late), sm->fabric->n_nodes,
		sm->fabric->n_switches, st->ports_active,
		st->heavy_sweeps, st->last_sets, sweep_port_is_down(sm) ? ", SM port is down" : "",
		own_port_is_silent(sm->m.own_port)
			? ", our own port does not answer (firmware, or an M_Key not known here)"
			: "",
		sm->sweeping_off ? ", sweeping is switched off" : "",
		out[0] ? "; routing goes on without " : "", out, n ? "; " : "", n ? left_out : "",
		crowded_str(sm, crowded), limited_str(sm, limited),
		others ? "; another manager is configured otherwise: " : "", others ? differs : "",
		fault ? "; partitions cannot be changed at run time: " : "", fault ? fault : "");
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
