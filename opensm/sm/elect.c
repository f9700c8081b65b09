// SPDX-License-Identifier: BSD-2-Clause
/*
 * Election: who is master (IBA 14.4.1, handover.md 3 and 4).
 *
 *              start                                    sm_inactive, Set DISABLE
 *                |                                     .--------------------------.
 *                v         nobody better               |                          v
 *     .--> DISCOVERING ----------------> MASTER     STANDBY <--Set STANDBY-- NOT-ACTIVE
 *     |     ^    |  ^-- own port down ----'  ^ |     ^  | ^
 *     |     |    '---- a master, or somebody greater-'  | |
 *     |     |                                | |        | |
 *     |     '--- Set DISCOVER, the polled SM is gone ---' |
 *     |                                      | |          |
 *     |                      Set HANDOVER ---' '--- somebody greater: Set HANDOVER to it
 *     '-- nobody becomes master
 *
 *   MASTER, and a lower MASTER is met (two fabrics became one): its half is not touched until it has
 *   handed over, is gone, or has let as many polls pass as it may miss.
 *
 * Greater: higher priority, then lower port GUID. sm_enter() is the only door; it is never used while a
 * sweep is between its first Set and its last.
 */
#include <inttypes.h>
#include <string.h>

#include "sm/elect.h"
#include "sm/events.h"
#include "sm/say.h"

const char *sm_state_name(enum sm_state s)
{
	switch (s) {
	case SM_NOT_ACTIVE:
		return "NOTACTIVE";
	case SM_DISCOVERING:
		return "DISCOVERING";
	case SM_STANDBY:
		return "STANDBY";
	case SM_MASTER:
		return "MASTER";
	}
	return "?";
}

static enum log_id state_id(enum sm_state s)
{
	switch (s) {
	case SM_NOT_ACTIVE:
		return LOG_ID_STATE_NOT_ACTIVE;
	case SM_DISCOVERING:
		return LOG_ID_STATE_DISCOVERING;
	case SM_STANDBY:
		return LOG_ID_STATE_STANDBY;
	case SM_MASTER:
		return LOG_ID_STATE_MASTER;
	}
	return LOG_ID_NONE;
}

void sm_enter(struct sm *sm, enum sm_state next)
{
	enum sm_state before = sm->state;

	if (before == next)
		return;
	if (sm->state == SM_STANDBY)
		prepare_left_standby(sm);
	if (next == SM_STANDBY)
		standby_enter(sm);
	sm->state = next;
	log_sys_on(ABOUT(.id = state_id(next)), "Entering %s state", sm_state_name(next));
	sm->offer.by = 0;
	sm->decide_pending = false;
	sm->others_ruled |= next == SM_STANDBY;
	if (next != SM_STANDBY) {
		sm->on_probation = false;
		poll_start(sm, 0);
	}
	if (next == SM_MASTER) {
		sm->registry++;
	} else {
		sm->first_sweep_done = false;
		multicast_stop(sm);
		admin_withdraw(sm);
	}
	replica_state_changed(sm);
	event_state(sm, before, next);
}

void elect_new(struct sm *sm)
{
	sm->rogue_log = (struct log_limit){ .interval = MONO_S, .burst = 20 };
	sm->set_log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 10 };
	sm->set_limit = (struct log_limit){ .interval = MONO_S, .burst = 10 };
	sm->look_limit = (struct log_limit){ .interval = 10 * MONO_S, .burst = 1 };
	remote_reconfigured(sm);
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

/* ---- who is greater ------------------------------------------------------------------------ */

unsigned elect_priority(const struct sm *sm)
{
	unsigned own = sm->priority & 0xF, master = sm->conf->master_sm_priority & 0xF;

	return sm->state == SM_MASTER && master > own ? master : own;
}

unsigned sm_told_priority(const struct sm *sm)
{
	return elect_priority(sm);
}

bool elect_is_greater(const struct sm *sm, const struct remote_sm *r)
{
	unsigned own = elect_priority(sm);

	return r->priority > own || (r->priority == own && r->guid < sm->tr->port_guid);
}

/* Of two others. A master goes before all who are none, while we are none. */
static bool goes_before(const struct sm *sm, const struct remote_sm *a, const struct remote_sm *b)
{
	bool a_master = a->state == SM_MASTER, b_master = b->state == SM_MASTER;

	if (sm->state != SM_MASTER && a_master != b_master)
		return a_master;
	return a->priority > b->priority || (a->priority == b->priority && a->guid < b->guid);
}

/* What a remote SM means to us (handover.md 3). */
static bool must_yield(const struct sm *sm, const struct remote_sm *r)
{
	switch ((enum sm_state)r->state) {
	case SM_NOT_ACTIVE:
		return false;
	case SM_DISCOVERING:
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

/* The greatest one that counts and of which `is` says yes; NULL. */
static struct remote_sm *best(struct sm *sm,
			      bool (*is)(const struct sm *sm, const struct remote_sm *r))
{
	struct remote_sm *found = NULL;

	for (unsigned i = 0; i < sm->n_remote; i++) {
		struct remote_sm *r = &sm->remote[i];

		if (remote_counts(sm, r) && is(sm, r) && (!found || goes_before(sm, r, found)))
			found = r;
	}
	return found;
}

/* ---- handing over -------------------------------------------------------------------------- */

uint64_t elect_mkey(const struct sm *sm, struct port *p)
{
	uint64_t key = port_of_sma(p)->m_key;

	return key ? key : sm->conf->m_key;
}

void elect_fill(const struct sm *sm, uint8_t info[SMP_DATA_SIZE], bool with_key)
{
	memset(info, 0, SMP_DATA_SIZE);
	ib_put(info, SMI_GUID, sm->tr->port_guid);
	ib_put(info, SMI_SM_KEY, with_key ? sm->conf->sm_key : 0);
	ib_put(info, SMI_ACT_COUNT, (mad_sent(sm->mad, 0) + sm->act_count) & 0xFFFFFFFFu);
	ib_put(info, SMI_PRIORITY, elect_priority(sm));
	ib_put(info, SMI_STATE, sm->state);
}

/* Nobody waits for this. But who refuses will not be master, and then we had better be. */
static void on_handed_over(void *owner, const struct mad_result *result)
{
	struct sm *sm = owner;
	struct remote_sm *r = result->arg;
	char where[REMOTE_STRLEN];

	if (result->end != MAD_END_BAD_STATUS || sm->state != SM_STANDBY || sm->polled != r->guid)
		return;
	remote_failed(r);
	log_on(about_guid(sm, LOG_ID_HANDOVER_FAILED, r->guid), LOGB_ERROR,
	       "%s: this subnet manager does not take the fabric over (%s)",
	       remote_where(fabric_find_port(sm->fabric, r->guid), r->guid, where),
	       mad_status_name(result->status));
	elect_take_over(sm, "the fabric was not taken over");
}

/* What hosts have not been told yet is told before somebody else answers them (traps 64, 65). */
static void hand_over(struct sm *sm, struct remote_sm *r, struct port *p)
{
	uint8_t info[SMP_DATA_SIZE];
	struct dr_path path;
	const struct mad_request rq = {
		.attr = IB_ATTR_SM_INFO,
		.mod = SMI_HANDOVER,
		.path = &path,
		.payload = info,
		.m_key = elect_mkey(sm, p),
	};

	admin_last_words(sm);
	if (fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	elect_fill(sm, info, true);
	sync_command(sm->sync, p, &rq, on_handed_over, sm, r);
}

static void stand_by(struct sm *sm, struct remote_sm *r)
{
	struct port *p = fabric_find_port(sm->fabric, r->guid);
	bool was_master = sm->state == SM_MASTER;
	char where[REMOTE_STRLEN];

	log_on(about_guid(sm, was_master ? LOG_ID_HANDOVER : LOG_ID_MANAGER_SEEN, r->guid), LOGB_INFO,
	       "%s: subnet manager of priority %u is %s; we %sstand by", remote_where(p, r->guid, where),
	       r->priority, sm_state_name(r->state), was_master ? "hand over and " : "");
	if (p && was_master)
		hand_over(sm, r, p);
	poll_start(sm, r->guid);
	sm_enter(sm, SM_STANDBY);
	if (!was_master)
		poll_tell(sm);
}

/* Straight to the wire: no window, no retries, and nothing is left to wait for. */
void elect_good_bye(struct sm *sm)
{
	static const struct transport_addr next_door = { .lid = LID_PERMISSIVE };
	struct remote_sm *r = sm->state == SM_MASTER ? best(sm, is_standby) : NULL;
	struct port *p = r ? fabric_find_port(sm->fabric, r->guid) : NULL;
	struct smp_head head = {
		.method = MAD_SET, .attr = IB_ATTR_SM_INFO, .mod = SMI_HANDOVER, .tid = 1
	};
	uint8_t mad[MAD_SIZE], info[SMP_DATA_SIZE];
	char where[REMOTE_STRLEN];
	struct dr_path path;

	if (!p || !sm->first_sweep_done || fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	head.m_key = elect_mkey(sm, p);
	elect_fill(sm, info, true);
	smp_build_dr(mad, &head, &path, info);
	log_on(about_guid(sm, LOG_ID_HANDOVER, r->guid), LOGB_INFO,
	       "%s: we end, and hand over to this subnet manager", remote_where(p, r->guid, where));
	mad_send_once(sm->mad, &next_door, mad);
	sm->handed_over = true;
}

/* ---- two masters --------------------------------------------------------------------------- */

static void wait_for(struct sm *sm, const struct remote_sm *r)
{
	char where[REMOTE_STRLEN];

	if (sm->polled == r->guid)
		return;
	log_on(about_guid(sm, LOG_ID_MANAGER_SEEN, r->guid), LOGB_INFO,
	       "%s: another MASTER, of priority %u; nothing is changed until it hands over",
	       remote_where(fabric_find_port(sm->fabric, r->guid), r->guid, where), r->priority);
	poll_start(sm, r->guid);
	poll_tell(sm);
}

void elect_end_wait(struct sm *sm, const char *why)
{
	poll_start(sm, 0);
	sm->rival_seen = true;
	sweep_want(sm, SWEEP_HEAVY, why);
	sm->hold_until = sm->now;
}

/* MASTER: whom the fabric goes to, now. Only the greatest that is none yet is asked whether it has its copy. */
static struct remote_sm *successor(struct sm *sm)
{
	struct remote_sm *r = best(sm, must_yield);

	if (!r || r->state == SM_MASTER || replica_may_succeed(sm, r->guid))
		return r;
	return best(sm, must_yield_to_master);
}

/* MASTER, as things are known now. False: nothing may be changed. */
static bool master_decides(struct sm *sm)
{
	struct remote_sm *r = successor(sm);

	if (r) {
		stand_by(sm, r);
		return false;
	}
	r = best(sm, must_wait);
	if (r) {
		wait_for(sm, r);
		return false;
	}
	if (!sm->polled)
		return true;
	elect_end_wait(sm, "the other master has stepped down");
	return false;
}

/* There was a master: who stood by instead of taking over was right to. */
static void forgive_all(struct sm *sm)
{
	for (unsigned i = 0; i < sm->n_remote; i++)
		sm->remote[i].defiant = false;
}

/* ---- decisions ----------------------------------------------------------------------------- */

bool elect_decide(struct sm *sm)
{
	struct remote_sm *r;

	sm->decide_pending = false;
	if (sm->state == SM_MASTER)
		return master_decides(sm);
	r = best(sm, must_yield);
	if (r) {
		if (r->state == SM_MASTER)
			forgive_all(sm);
		stand_by(sm, r);
		return false;
	}
	sm_enter(sm, SM_MASTER);
	return true;
}

void elect_take_over(struct sm *sm, const char *why)
{
	sm_enter(sm, SM_DISCOVERING);
	sweep_want(sm, SWEEP_HEAVY, why);
}

void elect_accept(struct sm *sm, const char *why)
{
	sm_enter(sm, SM_MASTER);
	sweep_want(sm, SWEEP_HEAVY, why);
	sm->hold_until = sm->now;
}

/*
 * A standby tells its master, as trap 144 does; a master asks all others, as it does when one tells it:
 * their answers decide (elect_tick).
 */
void elect_priority_changed(struct sm *sm, unsigned before)
{
	if (elect_priority(sm) == before)
		return;
	if (sm->state == SM_STANDBY)
		poll_tell(sm);
	for (unsigned i = 0; i < sm->n_remote && sm->state == SM_MASTER; i++) {
		struct port *p = fabric_find_port(sm->fabric, sm->remote[i].guid);

		if (p)
			elect_look_at(sm, p);
	}
}

/* Nobody stays under a master that is not to be obeyed any more; whoever watches us learns our priority. */
void elect_reconfigured(struct sm *sm, unsigned before)
{
	struct remote_sm *r;

	remote_reconfigured(sm);
	r = remote_find(sm, sm->polled);
	if (sm->state == SM_STANDBY && r && r->trust != SM_TRUSTED)
		elect_take_over(sm, "the master is not in allowed_sm_guids any more");
	else
		elect_priority_changed(sm, before);
}

/* Answers that came outside of the sweeps that decide are acted upon when none runs. */
void elect_tick(struct sm *sm)
{
	if (sm->decide_pending && sm->state == SM_MASTER && sm->sweep == SWEEP_NONE) {
		sm->decide_pending = false;
		master_decides(sm);
	}
	offer_tick(sm);
	poll_tick(sm);
}

mono_t elect_next(const struct sm *sm)
{
	if (sm->decide_pending && sm->state == SM_MASTER && sm->sweep == SWEEP_NONE)
		return sm->now;
	return mono_min(offer_next(sm), poll_next(sm));
}
