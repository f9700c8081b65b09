// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watching one SM (handover.md 5): in STANDBY the master, in MASTER another one that is to hand over.
 *
 * One poll per sminfo_polling_timeout:
 *
 *   our own PortInfo, and Get SMInfo along the directed route
 *      \-- no answer to that, or half the time is over: Get SMInfo by LID, to the master our port names
 *             \-- neither has answered when both have ended, or the time is over: a miss
 *
 * A cable that was moved breaks the directed route and not the master. After more misses than
 * polling_retry_number, or as many polls of somebody who should act and does not, patience ends; what
 * follows is a discovery, which finds a master if there is one.
 */
#include <inttypes.h>
#include <string.h>

#include "ib/notices.h"
#include "sm/elect.h"
#include "sm/say.h"
#include "util/mem.h"

/*
 * A standby that was handed the fabric takes it at once, one that discovers needs a while: at least this
 * long, however short the polling options are.
 */
#define IDLE_PATIENCE	  (5 * MONO_S)
#define DISCOVER_PATIENCE (60 * MONO_S)

static mono_t period(const struct sm *sm)
{
	return (mono_t)sm->conf->sminfo_polling_timeout * MONO_MS;
}

static void cancel(struct sm *sm)
{
	sm->poll.open = false;
	mad_cancel(sm->mad, sm, &sm->poll.target);
}

void poll_start(struct sm *sm, guid_t guid)
{
	struct sm_poll *poll = &sm->poll;

	cancel(sm);
	sm->polled = guid;
	poll->misses = poll->polls = 0;
	poll->chosen = poll->since = poll->at = sm->now;
	poll->tell = poll->absent_told = false;
}

/* ---- trap 144 ------------------------------------------------------------------------------ */

/* Whom it may concern: the master of our port; or the other master, where it was met. */
static lid_t told_lid(const struct sm *sm)
{
	const struct port *p = fabric_find_port(sm->fabric, sm->polled);

	if (sm->state != SM_MASTER)
		return sm->poll.master_lid;
	return p && p->known ? ib_get(p->info, PI_LID) : 0;
}

/* 14.2.5.1: OtherLocalChanges, and that it is the priority. Sent once: polls repeat it. */
static void send_trap(struct sm *sm, lid_t to)
{
	const struct smp_head head = { .method = MAD_TRAP,
				       .attr = IB_ATTR_NOTICE,
				       .tid = ++sm->poll.trap_tid };
	const struct transport_addr addr = { .lid = to };
	uint8_t mad[MAD_SIZE], notice[SMP_DATA_SIZE] = { 0 };

	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TYPE, 4); /* informational */
	ib_put(notice, NT_PRODUCER, sm->fabric->own ? sm->fabric->own->type : IB_NODE_CA);
	ib_put(notice, NT_TRAP, TRAP_LOCAL_CHANGE);
	ib_put(notice, NT_ISSUER_LID, sm->poll.own_lid);
	ib_put(notice, N144_LID, sm->poll.own_lid);
	ib_put(notice, N144_OTHER_CHANGES, 1);
	ib_put(notice, N144_CAP_MASK, sm->poll.own_caps);
	ib_put(notice, N144_CHANGES, N144_SM_PRIORITY);
	smp_build_lid(mad, &head, notice);
	mad_send_once(sm->mad, &addr, mad);
}

static void tell_if_wanted(struct sm *sm)
{
	lid_t to = told_lid(sm);

	if (!sm->poll.tell)
		return;
	sm->poll.tell = false;
	if (lid_is_unicast(sm->poll.own_lid) && lid_is_unicast(to) && to != sm->poll.own_lid)
		send_trap(sm, to);
}

/* ---- our own port -------------------------------------------------------------------------- */

static void ask_by_lid(struct sm *sm);

static void on_own_port(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct sm_poll *poll = &sm->poll;

	poll->own_pending = false;
	if (r->end == MAD_END_ANSWERED) {
		poll->own_lid = ib_get(r->payload, PI_LID);
		poll->master_lid = ib_get(r->payload, PI_MASTER_SM_LID);
		poll->own_caps = ib_get(r->payload, PI_CAP_MASK);
		tell_if_wanted(sm);
	}
	if (r->end != MAD_END_CANCELLED && poll->open && !poll->out)
		ask_by_lid(sm);
}

/* Outlives its poll: the other answer may be here first. */
static void ask_own_port(struct sm *sm)
{
	static const struct dr_path here = { 0 };
	const struct port *own = sm->fabric->own_port;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_PORT_INFO,
		.mod = own ? own->num : 0,
		.path = &here,
		.m_key = own && own->m_key ? own->m_key : sm->conf->m_key,
	};

	if (sm->poll.own_pending)
		return;
	sm->poll.own_pending = true;
	mad_submit(sm->mad, &rq, on_own_port, sm, NULL);
}

void poll_tell(struct sm *sm)
{
	sm->poll.tell = true;
	ask_own_port(sm);
}

/* ---- what an answer means ------------------------------------------------------------------ */

static mono_t patience(const struct sm *sm, const struct remote_sm *r)
{
	mono_t least = r->state == SM_DISCOVERING ? DISCOVER_PATIENCE : IDLE_PATIENCE;

	return MAX(least, (sm->conf->polling_retry_number + 1) * period(sm));
}

/* Nobody who answers is master: whoever should be does not become it. */
static void give_up_idle(struct sm *sm, struct remote_sm *r)
{
	char where[REMOTE_STRLEN];

	remote_failed(r);
	log_on(about_guid(sm, LOG_ID_HANDOVER_FAILED, r->guid), LOGB_ERROR,
	       "%s: this subnet manager is to be master and stays %s; it is passed over",
	       remote_where(fabric_find_port(sm->fabric, r->guid), r->guid, where),
	       sm_state_name(r->state));
	elect_take_over(sm, "nobody is master");
}

static void back_to_sleep(struct sm *sm)
{
	log_info("who told us to stand by is no master that can be reached");
	sm_enter(sm, SM_NOT_ACTIVE);
}

/*
 * testing.md 5.1 #15: who says MASTER has its LID written into our port in its first sweep. There may be
 * reasons why it cannot; so this is said, and no more.
 */
static void check_presence(struct sm *sm, const struct remote_sm *r)
{
	struct sm_poll *poll = &sm->poll;
	char where[REMOTE_STRLEN];

	if (poll->absent_told || sm->now - poll->chosen < MAX(patience(sm, r), DISCOVER_PATIENCE) ||
	    !poll->own_lid || poll->master_lid != poll->own_lid)
		return;
	poll->absent_told = true;
	log_on(about_guid(sm, LOG_ID_HANDOVER_FAILED, r->guid), LOGB_ERROR,
	       "%s: this subnet manager says that it is MASTER, and our port still names us: it may "
	       "manage nothing (allowed_sm_guids keeps strangers out)",
	       remote_where(fabric_find_port(sm->fabric, r->guid), r->guid, where));
}

/* handover.md 3, row STANDBY. */
static void standby_answered(struct sm *sm, struct remote_sm *r)
{
	if (r->state == SM_MASTER) {
		check_presence(sm, r);
		sm->on_probation = false;
		r->vain = 0;
		sm->poll.since = sm->now;
		if (!elect_is_greater(sm, r))
			poll_tell(sm);
	} else if (sm->on_probation) {
		back_to_sleep(sm);
	} else if (r->state == SM_NOT_ACTIVE || !elect_is_greater(sm, r)) {
		elect_take_over(sm, "the master has stepped down");
	} else if (sm->now - sm->poll.since >= patience(sm, r)) {
		give_up_idle(sm, r);
	}
}

/* Row MASTER: it may take as many polls to hand over as it might miss; then we go on without it. */
static void rival_answered(struct sm *sm, struct remote_sm *r)
{
	char where[REMOTE_STRLEN];

	if (r->state != SM_MASTER) {
		elect_end_wait(sm, "the other master has stepped down");
	} else if (sm->poll.polls <= sm->conf->polling_retry_number + 1) {
		poll_tell(sm);
	} else {
		remote_failed(r);
		log_on(about_guid(sm, LOG_ID_HANDOVER_FAILED, r->guid), LOGB_ERROR,
		       "%s: this subnet manager is MASTER beside us, and lower, and does not hand over; "
		       "we set up the fabric in spite of it",
		       remote_where(fabric_find_port(sm->fabric, r->guid), r->guid, where));
		elect_end_wait(sm, "the other master does not hand over");
	}
}

static void answered(struct sm *sm, struct remote_sm *r)
{
	cancel(sm);
	sm->poll.misses = 0;
	sm->poll.at = sm->poll.started + period(sm);
	if (sm->state == SM_STANDBY)
		standby_answered(sm, r);
	else
		rival_answered(sm, r);
}

/* STANDBY: no discovery waits for one who did not answer so often. */
static void give_up(struct sm *sm)
{
	struct remote_sm *r = remote_find(sm, sm->polled);

	if (r)
		r->unanswered = SILENT_AFTER;
	elect_take_over(sm, "the master does not answer any more");
}

static void missed(struct sm *sm)
{
	char where[REMOTE_STRLEN];

	cancel(sm);
	sm->poll.at = sm->poll.started + period(sm);
	if (sm->on_probation)
		back_to_sleep(sm);
	else if (++sm->poll.misses <= sm->conf->polling_retry_number)
		log_on(about_guid(sm, LOG_ID_NONE, sm->polled), LOGB_VERBOSE,
		       "%s: this subnet manager does not answer (%u)",
		       remote_where(fabric_find_port(sm->fabric, sm->polled), sm->polled, where),
		       sm->poll.misses);
	else if (sm->state == SM_STANDBY)
		give_up(sm);
	else
		elect_end_wait(sm, "the other master does not answer any more");
}

/* ---- the questions ------------------------------------------------------------------------- */

static void on_answer(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct remote_sm *known = NULL;

	sm->poll.out--;
	if (!sm->poll.open || r->end == MAD_END_CANCELLED)
		return;
	if (r->end == MAD_END_ANSWERED)
		known = remote_learn(sm, sm->polled, r->payload);
	if (known && known->trust == SM_TRUSTED)
		answered(sm, known);
	else if (!sm->poll.out)
		ask_by_lid(sm);
}

static void ask(struct sm *sm, const struct mad_request *rq)
{
	sm->poll.out++;
	mad_submit(sm->mad, rq, on_answer, sm, NULL);
}

/* The second way, once per poll: a master has its LID in our port. */
static void ask_by_lid(struct sm *sm)
{
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_SM_INFO,
		.lid = sm->poll.master_lid,
		.m_key = sm->conf->m_key,
		.target = &sm->poll.target,
	};
	bool possible = sm->state == SM_STANDBY && lid_is_unicast(rq.lid) &&
			rq.lid != sm->poll.own_lid && !sm->poll.lid_sent;

	if (possible) {
		sm->poll.lid_sent = true;
		ask(sm, &rq);
	} else if (!sm->poll.out && !sm->poll.own_pending) {
		missed(sm);
	}
}

static void ask_directed(struct sm *sm)
{
	struct port *p = fabric_find_port(sm->fabric, sm->polled);
	struct dr_path path;
	struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_SM_INFO,
		.path = &path,
		.target = &sm->poll.target,
	};

	if (!p || fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	rq.m_key = elect_mkey(sm, p);
	ask(sm, &rq);
}

static void begin(struct sm *sm)
{
	struct sm_poll *poll = &sm->poll;

	poll->started = sm->now;
	poll->at = sm->now + period(sm) / 2;
	poll->open = true;
	poll->lid_sent = false;
	poll->polls++;
	mad_target_revive(&poll->target);
	ask_own_port(sm);
	ask_directed(sm);
}

void poll_tick(struct sm *sm)
{
	struct sm_poll *poll = &sm->poll;

	if (!sm->polled || sm->now < poll->at)
		return;
	if (poll->open && sm->now < poll->started + period(sm)) {
		poll->at = poll->started + period(sm);
		ask_by_lid(sm);
		return;
	}
	if (poll->open)
		missed(sm);
	if (sm->polled && !poll->open && sm->now >= poll->at)
		begin(sm);
}

mono_t poll_next(const struct sm *sm)
{
	return sm->polled ? sm->poll.at : MONO_NEVER;
}
