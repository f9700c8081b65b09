// SPDX-License-Identifier: BSD-2-Clause
/*
 * The states of the manager, and the decision which manager becomes master: elect.h has the
 * diagram.
 */
#include <assert.h>
#include <stdarg.h>
#include <inttypes.h>
#include <string.h>

#include "sm/elect/elect_internal.h"
#include "sm/base/events.h"
#include "sm/base/about.h"
#include "sm/base/drawn_key.h"
#include "sm/base/news.h"
#include "util/mem.h"

MACHINE_MEMORY(elect);

#define PRIORITY_MAX 15

static const struct {
	const char *name;
	enum log_id id;
} states[] = {
	[SM_NOT_ACTIVE] = { "NOTACTIVE", LOG_ID_STATE_NOT_ACTIVE },
	[SM_DISCOVERING] = { "DISCOVERING", LOG_ID_STATE_DISCOVERING },
	[SM_STANDBY] = { "STANDBY", LOG_ID_STATE_STANDBY },
	[SM_MASTER] = { "MASTER", LOG_ID_STATE_MASTER },
};

const char *sm_state_name(enum sm_state s)
{
	return s < ARRAY_SIZE(states) ? states[s].name : "?";
}

void elect_enter(struct sm *sm, enum sm_state next)
{
	struct elect *e = sm->m.elect;
	enum sm_state before = sm->state;

	assert(next <= SM_MASTER);
	if (before == next)
		return;
	tell_news(sm, NEWS_STATE_LEAVES, .state = next);
	sm->state = next;
	log_sys_on(ABOUT(.id = states[next].id), "Entering %s state", sm_state_name(next));
	e->offer.by = 0;
	e->decide_pending = false;
	if (next == SM_STANDBY) {
		e->others_ruled = true;
	} else {
		e->on_probation = false;
		poll_start(sm, 0);
	}
	tell_news(sm, NEWS_STATE_ENTERED, .state = before);
}

void elect_new(struct sm *sm, bool (*may_succeed)(const struct sm *sm, guid_t guid))
{
	struct elect *e = sm->m.elect;

	assert(may_succeed);
	e->may_succeed = may_succeed;
	e->priority = sm->conf->sm_priority;
	e->rogue_log = (struct log_limit){ .interval = MONO_S, .burst = 20 };
	e->set_log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 10 };
	e->set_limit = (struct log_limit){ .interval = MONO_S, .burst = 10 };
	e->look_limit = (struct log_limit){ .interval = 10 * MONO_S, .burst = 1 };
	remote_reconfigured(sm, false);
}

void elect_free(struct sm *sm)
{
	poll_start(sm, 0);
	remote_free(sm);
}

bool elect_may_write(void *owner)
{
	const struct sm *sm = owner;

	return sm->state == SM_MASTER;
}

/* ---- the greater manager -------------------------------------------------------------------- */

static unsigned told_priority(const struct sm *sm, const struct conf *conf)
{
	unsigned own = sm->m.elect->priority & 0xF, master = conf->master_sm_priority & 0xF;

	return sm->state == SM_MASTER && master > own ? master : own;
}

unsigned sm_told_priority(const struct sm *sm)
{
	return told_priority(sm, sm->conf);
}

bool elect_is_greater(const struct sm *sm, const struct remote_sm *r)
{
	unsigned own = sm_told_priority(sm);

	return r->priority > own || (r->priority == own && r->guid < sm->tr->port_guid);
}

/* Does `a` precede `b`? Masters precede other managers, unless we are master. */
static bool goes_before(const struct sm *sm, const struct remote_sm *a, const struct remote_sm *b)
{
	bool a_master = a->state == SM_MASTER, b_master = b->state == SM_MASTER;

	if (sm->state != SM_MASTER && a_master != b_master)
		return a_master;
	return a->priority > b->priority || (a->priority == b->priority && a->guid < b->guid);
}

/*
 * Does a remote SM precede us (14.4.1)? Not while it is DISCOVERING and we are master: it lacks the
 * state that a master has. It will stand by, get that state, and then the fabric.
 */
static bool must_yield(const struct sm *sm, const struct remote_sm *r)
{
	switch ((enum sm_state)r->state) {
	case SM_NOT_ACTIVE:
		return false;
	case SM_DISCOVERING:
		return !r->defiant && elect_is_greater(sm, r) && sm->state != SM_MASTER;
	case SM_STANDBY:
		return !r->defiant && elect_is_greater(sm, r);
	case SM_MASTER:
		return sm->state != SM_MASTER ? !r->defiant : elect_is_greater(sm, r);
	}
	return false;
}

static bool must_yield_to_master(const struct sm *sm, const struct remote_sm *r)
{
	return r->state == SM_MASTER && must_yield(sm, r);
}

static bool must_wait(const struct sm *sm, const struct remote_sm *r)
{
	return sm->state == SM_MASTER && r->state == SM_MASTER && !r->defiant &&
	       !elect_is_greater(sm, r);
}

static bool is_standby(const struct sm *sm, const struct remote_sm *r)
{
	return r->state == SM_STANDBY;
}

/* The greatest trusted manager for which `is` returns true; NULL: none. */
static struct remote_sm *best_manager(struct sm *sm,
				      bool (*is)(const struct sm *sm, const struct remote_sm *r))
{
	struct remote_sm *found = NULL;

	for (unsigned i = 0; i < sm->m.elect->n_remote; i++) {
		struct remote_sm *r = &sm->m.elect->remote[i];

		if (remote_counts(sm, r) && is(sm, r) && (!found || goes_before(sm, r, found)))
			found = r;
	}
	return found;
}

/* ---- handing over -------------------------------------------------------------------------- */

uint64_t elect_mkey(const struct sm *sm, struct port *p)
{
	uint64_t key = port_of_sma(p)->m_key;

	return key ? key : keys_expected(sm, port_of_sma(p)->guid, 0);
}

/*
 * Is it doubtful if the M_Key of the question was right? At protection level 1 a wrong one is
 * answered, with SM_Key neither shown nor proved.
 */
bool elect_key_is_doubtful(const struct sm *sm, const struct mad_result *r)
{
	return mad_doubts_key(r) ||
	       (r->end == MAD_END_ANSWERED && sm_sm_key(sm) &&
		sm->conf->m_key_protection_level && !ib_get(r->payload, SMI_SM_KEY) &&
		!proof_is_carried(r->payload));
}

void elect_doubt(struct sm *sm, guid_t guid, uint64_t m_key)
{
	struct port *p = fabric_find_port(sm->fabric, guid);

	/*
	 * A master knows the key of a port that showed it: then the manager of the port is silent.
	 */
	if (p && (sm->state != SM_MASTER || !p->known || ib_get(p->info, PI_M_KEY) != m_key))
		keys_doubt(sm, p, m_key);
}

void elect_fill(const struct sm *sm, uint8_t info[SMP_DATA_SIZE], bool with_key)
{
	memset(info, 0, SMP_DATA_SIZE);
	ib_put(info, SMI_GUID, sm->tr->port_guid);
	ib_put(info, SMI_SM_KEY, with_key && proof_shows_key(sm) ? sm_sm_key(sm) : 0);
	ib_put(info, SMI_ACT_COUNT, (mad_sent(sm->mad, 0) + sm->m.elect->act_count) & 0xFFFFFFFFu);
	ib_put(info, SMI_PRIORITY, sm_told_priority(sm));
	ib_put(info, SMI_STATE, sm->state);
}

/*
 * Handles the answer to a HANDOVER: a manager that refuses will not be master, so this one must be.
 */
static void on_handed_over(void *owner, const struct mad_result *result)
{
	struct sm *sm = owner;
	struct remote_sm *r = result->arg;

	if (result->end != MAD_END_BAD_STATUS || sm->state != SM_STANDBY ||
	    sm->m.elect->polled != r->guid)
		return;
	remote_failed(r);
	elect_take_over(sm, LOGB_ERROR, "this subnet manager refuses to take the fabric over (%s)",
			mad_status_name(result->status));
}

/* Makes the HANDOVER request; a manager of ours gets a proof instead of the key. */
static struct mad_request handover_request(const struct sm *sm, const struct remote_sm *r,
					   struct port *p, uint8_t info[SMP_DATA_SIZE])
{
	elect_fill(sm, info, !r->proved);
	if (r->proved)
		proof_order(sm, r, SMI_HANDOVER, info);
	return (struct mad_request){ .attr = IB_ATTR_SM_INFO,
				     .mod = SMI_HANDOVER,
				     .payload = info,
				     .m_key = elect_mkey(sm, p) };
}

/* Hands over. Pending reports (traps 64, 65) reach hosts before another SA answers them. */
static void hand_over(struct sm *sm, struct remote_sm *r, struct port *p)
{
	uint8_t info[SMP_DATA_SIZE];
	struct mad_request rq;

	tell_news(sm, NEWS_HANDING_OVER);
	rq = handover_request(sm, r, p, info);
	sync_command(sm->sync, p, &rq, on_handed_over, sm, r);
}

static void stand_by_for(struct sm *sm, struct remote_sm *r)
{
	struct port *p = fabric_find_port(sm->fabric, r->guid);
	bool was_master = sm->state == SM_MASTER;

	log_guid(sm, r->guid, was_master ? LOG_ID_HANDOVER : LOG_ID_MANAGER_SEEN, LOGB_INFO,
		 "this subnet manager is %s; %s", sm_state_name(r->state),
		 was_master ? "it has a greater priority, and gets the fabric"
			    : "this host stands by");
	if (p && was_master)
		hand_over(sm, r, p);
	poll_start(sm, r->guid);
	elect_enter(sm, SM_STANDBY);
	if (!was_master)
		poll_tell(sm);
}

/* The standby that would become master; NULL: none. */
static struct remote_sm *best_standby(struct sm *sm)
{
	return sm->state == SM_MASTER ? best_manager(sm, is_standby) : NULL;
}

/* Hands over at the end of the process: sent directly, without window, retries or a wait. */
void elect_good_bye(struct sm *sm)
{
	struct remote_sm *r = best_standby(sm);
	struct port *p = r ? fabric_find_port(sm->fabric, r->guid) : NULL;
	uint8_t info[SMP_DATA_SIZE];
	struct mad_request rq;

	if (!p || !sm->first_sweep_done)
		return;
	rq = handover_request(sm, r, p, info);
	if (!sync_last_command(sm->sync, p, &rq))
		return;
	log_guid(sm, r->guid, LOG_ID_HANDOVER, LOGB_INFO,
		 "the fabric is handed over to this subnet manager, as this one ends");
	sm->m.elect->handed_over = true;
}

/* ---- two masters --------------------------------------------------------------------------- */

static void wait_for(struct sm *sm, const struct remote_sm *r)
{
	if (sm->m.elect->polled == r->guid)
		return;
	log_guid(sm, r->guid, LOG_ID_MANAGER_SEEN, LOGB_INFO,
		 "this subnet manager, of priority %u, is MASTER too: nothing is changed until it "
		 "hands over",
		 r->priority);
	poll_start(sm, r->guid);
	poll_tell(sm);
}

void elect_met_rival(struct sm *sm)
{
	bool is_new = !sm->m.elect->rival_seen;

	sm->m.elect->rival_seen = true;
	if (is_new)
		tell_news(sm, NEWS_RIVAL);
}

void elect_end_wait(struct sm *sm, const char *why)
{
	poll_start(sm, 0);
	elect_met_rival(sm);
	want_sweep_now(sm, SWEEP_HEAVY, why);
}

/*
 * As MASTER: the manager that gets the fabric now. Only the greatest standby is asked if it has its
 * copy.
 */
static struct remote_sm *find_successor(struct sm *sm)
{
	struct remote_sm *r = best_manager(sm, must_yield);

	if (!r || r->state == SM_MASTER || sm->m.elect->may_succeed(sm, r->guid))
		return r;
	return best_manager(sm, must_yield_to_master);
}

/* As MASTER: decides by what is known now. False: the fabric must not be changed. */
static bool master_decides(struct sm *sm)
{
	struct remote_sm *r = find_successor(sm);

	if (r) {
		stand_by_for(sm, r);
		return false;
	}
	r = best_manager(sm, must_wait);
	if (r) {
		wait_for(sm, r);
		return false;
	}
	if (!sm->m.elect->polled)
		return true;
	elect_end_wait(sm, "the other master has stepped down");
	return false;
}

/* Clears `defiant` of all managers: there was a master, so those that stood by were right. */
static void forgive_all(struct sm *sm)
{
	for (unsigned i = 0; i < sm->m.elect->n_remote; i++)
		sm->m.elect->remote[i].defiant = false;
}

/* ---- decisions ----------------------------------------------------------------------------- */

bool elect_decide(struct sm *sm)
{
	struct remote_sm *r;

	sm->m.elect->decide_pending = false;
	if (sm->state == SM_MASTER)
		return master_decides(sm);
	r = best_manager(sm, must_yield);
	if (r) {
		if (r->state == SM_MASTER)
			forgive_all(sm);
		stand_by_for(sm, r);
		return false;
	}
	elect_enter(sm, SM_MASTER);
	return true;
}

void elect_take_over(struct sm *sm, unsigned bits, const char *fmt, ...)
{
	guid_t polled = sm->m.elect->polled;
	char why[120];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (polled)
		log_guid(sm, polled, bits & LOGB_ERROR ? LOG_ID_HANDOVER_FAILED : LOG_ID_HANDOVER,
			 bits, "%s; this host takes over", why);
	else
		log_on(ABOUT(.id = LOG_ID_HANDOVER), bits, "%s; this host takes over", why);
	elect_enter(sm, SM_DISCOVERING);
	want_sweep(sm, SWEEP_HEAVY, why);
}

void elect_accept(struct sm *sm, const char *why)
{
	elect_enter(sm, SM_MASTER);
	want_sweep_now(sm, SWEEP_HEAVY, why);
}

/*
 * Called if our priority may have changed from `before`. A standby tells its master, as trap 144
 * does; a master asks all others, whose answers decide (elect_tick).
 */
static void priority_changed(struct sm *sm, unsigned before)
{
	if (sm_told_priority(sm) == before)
		return;
	if (sm->state == SM_STANDBY)
		poll_tell(sm);
	for (unsigned i = 0; i < sm->m.elect->n_remote && sm->state == SM_MASTER; i++) {
		struct port *p = fabric_find_port(sm->fabric, sm->m.elect->remote[i].guid);

		if (p)
			elect_look_at(sm, p);
	}
}

void sm_set_priority(struct sm *sm, unsigned priority)
{
	unsigned before = sm_told_priority(sm);

	if (priority > PRIORITY_MAX || priority == sm->m.elect->priority)
		return;
	log_info("sm_priority is %u now, and was %u, as an administrator asked for", priority,
		 sm->m.elect->priority);
	sm->m.elect->priority = priority;
	priority_changed(sm, before);
}

unsigned sm_priority(const struct sm *sm)
{
	return sm->m.elect->priority;
}

void elect_inherit(struct sm *sm, uint8_t priority)
{
	sm->m.elect->priority = priority;
}

/*
 * Reacts to changed options: this is no standby of a master that is no longer trusted, and managers
 * that watch us learn our priority.
 */
void elect_reconfigured(struct sm *sm, const struct conf *before)
{
	unsigned told = told_priority(sm, before);
	struct remote_sm *r;

	if (before->sm_priority != sm->conf->sm_priority)
		sm->m.elect->priority = sm->conf->sm_priority;
	remote_reconfigured(sm, before->sm_key != sm->conf->sm_key);
	r = remote_find(sm, sm->m.elect->polled);
	if (sm->state == SM_STANDBY && r && r->trust != SM_TRUSTED)
		elect_take_over(sm, LOGB_INFO, "this master is not in allowed_sm_guids any more");
	else
		priority_changed(sm, told);
}

/* ---- what others may know ------------------------------------------------------------------ */

guid_t elect_polled(const struct sm *sm)
{
	return sm->m.elect->polled;
}

/*
 * Does the manager say MASTER? Its last answer holds while a question is under way, or each sweep
 * would log a new master.
 */
static bool says_master(const struct sm *sm, const struct remote_sm *r)
{
	return r->state == SM_MASTER && (remote_counts(sm, r) || remote_is_asked(sm, r));
}

guid_t elect_rival(const struct sm *sm, bool steps_down)
{
	for (unsigned i = 0; i < sm->m.elect->n_remote && sm->state == SM_MASTER; i++) {
		const struct remote_sm *r = &sm->m.elect->remote[i];

		if (says_master(sm, r) && !(steps_down && r->defiant))
			return r->guid;
	}
	return 0;
}

bool elect_rival_seen(const struct sm *sm)
{
	return sm->m.elect->rival_seen;
}

void elect_rival_dealt_with(struct sm *sm)
{
	sm->m.elect->rival_seen = false;
}

bool elect_others_ruled(const struct sm *sm)
{
	return sm->m.elect->others_ruled;
}

bool elect_handed_over(const struct sm *sm)
{
	return sm->m.elect->handed_over;
}

void elect_decide_again(struct sm *sm)
{
	sm->m.elect->decide_pending = true;
}

/* ---- turns --------------------------------------------------------------------------------- */

/* Decides by answers that came outside of sweeps, when no sweep is running. */
void elect_tick(struct sm *sm)
{
	if (sm->m.elect->decide_pending && sm->state == SM_MASTER && sm->sweep == SWEEP_NONE) {
		sm->m.elect->decide_pending = false;
		master_decides(sm);
	}
	remote_tick(sm);
	offer_tick(sm);
	poll_tick(sm);
}

mono_t elect_next(const struct sm *sm)
{
	if (sm->m.elect->decide_pending && sm->state == SM_MASTER && sm->sweep == SWEEP_NONE)
		return sm->now;
	return mono_min(remote_next(sm), mono_min(offer_next(sm), poll_next(sm)));
}
