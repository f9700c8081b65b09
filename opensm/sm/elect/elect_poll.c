// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watching one SM (handover.md 5): in STANDBY the master, in MASTER another one that is to hand
 * over.
 *
 * One poll per sminfo_polling_timeout:
 *
 *   our own PortInfo, and Get SMInfo along the directed route
 *      \-- no answer to that, or half the time is over: Get SMInfo by LID, to the master our port
 *      names
 *             \-- neither has answered when both have ended, or the time is over: a miss
 *
 * A cable that was moved breaks the directed route and not the master. After more misses than
 * polling_retry_number, or as many polls of a manager that should act and does not, patience ends;
 * what follows is a discovery, which finds a master if there is one.
 */
#include <inttypes.h>
#include <string.h>

#include "ib/notices.h"
#include "sm/elect/elect_internal.h"
#include "sm/base/about.h"
#include "util/mem.h"

/* number of keys tried on our own port in a poll */
#define OWN_TRIES	  8 /* keys of our own port that are tried in a poll */
#define IDLE_PATIENCE	  (5 * MONO_S)
#define RIVAL_PATIENCE	  (10 * MONO_S)
#define DISCOVER_PATIENCE (60 * MONO_S)
/* plus two leases: time between questions to our own port */
#define ABSENT_PATIENCE	  (60 * MONO_S)

static mono_t poll_period(const struct sm *sm)
{
	return (mono_t)sm->conf->sminfo_polling_timeout * MONO_MS;
}

static void cancel_round(struct sm *sm)
{
	sm->m.elect->poll.stage = POLL_OVER;
	mad_cancel(sm->mad, sm, &sm->m.elect->poll.target);
}

void poll_start(struct sm *sm, guid_t guid)
{
	struct sm_poll *poll = &sm->m.elect->poll;

	cancel_round(sm);
	sm->m.elect->polled = guid;
	poll->misses = poll->polls = 0;
	poll->chosen = poll->since = poll->at = sm->now;
	poll->tell = poll->absent = false;
	told_change(&sm->m.elect->told, TOLD_ABSENT, false);
}

/* ---- trap 144 ------------------------------------------------------------------------------ */

/* The LID for a trap: the master in our port, or the other master at its port. */
static lid_t told_lid(const struct sm *sm)
{
	const struct port *p = fabric_find_port(sm->fabric, sm->m.elect->polled);

	if (sm->state != SM_MASTER)
		return sm->m.elect->poll.master_lid;
	return p && p->known ? ib_get(p->info, PI_LID) : 0;
}

/* Sends trap 144 with OtherLocalChanges for the priority (14.2.5.1). Once: polls repeat it. */
static void send_trap(struct sm *sm, lid_t to)
{
	struct sm_poll *poll = &sm->m.elect->poll;
	const struct smp_head head = { .method = MAD_TRAP,
				       .attr = IB_ATTR_NOTICE,
				       .tid = mad_once_tid(sm->mad, NULL, to) };
	const struct transport_addr addr = { .lid = to };
	uint8_t mad[MAD_SIZE], notice[SMP_DATA_SIZE] = { 0 };

	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TYPE, 4); /* informational */
	ib_put(notice, NT_PRODUCER, sm->fabric->own ? sm->fabric->own->type : IB_NODE_CA);
	ib_put(notice, NT_TRAP, TRAP_LOCAL_CHANGE);
	ib_put(notice, NT_ISSUER_LID, poll->own_lid);
	ib_put(notice, N144_LID, poll->own_lid);
	ib_put(notice, N144_OTHER_CHANGES, 1);
	ib_put(notice, N144_CAP_MASK, poll->own_caps);
	ib_put(notice, N144_CHANGES, N144_SM_PRIORITY);
	smp_build_lid(mad, &head, notice);
	mad_send_once(sm->mad, &addr, mad);
}

static void tell_if_wanted(struct sm *sm)
{
	struct sm_poll *poll = &sm->m.elect->poll;
	lid_t to = told_lid(sm);

	if (!poll->tell)
		return;
	poll->tell = false;
	if (lid_is_unicast(poll->own_lid) && lid_is_unicast(to) && to != poll->own_lid)
		send_trap(sm, to);
}

/* ---- our own port -------------------------------------------------------------------------- */

static void ask_by_lid(struct sm *sm);

static void ask_own_port(struct sm *sm);

/* Asks the driver for LIDs, as our port is locked with an unknown key. */
static void ask_driver(struct sm *sm)
{
	struct sm_poll *poll = &sm->m.elect->poll;
	struct transport_port port;

	if (transport_look(sm->tr, &port) < 0)
		return;
	poll->own_lid = port.lid;
	poll->master_lid = port.sm_lid;
	poll->own_lmc = port.lmc;
	poll->master_sl = port.sm_sl;
}

static void on_own_port(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct sm_poll *poll = &sm->m.elect->poll;

	poll->own_pending = false;
	if (r->end == MAD_END_ANSWERED) {
		poll->own_lid = ib_get(r->payload, PI_LID);
		poll->master_lid = ib_get(r->payload, PI_MASTER_SM_LID);
		poll->own_lmc = ib_get(r->payload, PI_LMC);
		poll->master_sl = ib_get(r->payload, PI_MASTER_SM_SL);
		poll->own_caps = ib_get(r->payload, PI_CAP_MASK);
		keys_shown(sm, sm->tr->port_guid, ib_get(r->payload, PI_M_KEY));
		tell_if_wanted(sm);
	} else if (r->end == MAD_END_TIMEOUT) {
		elect_doubt(sm, sm->tr->port_guid, r->m_key); /* the master may have changed it */
		if (sm->fabric->own_port && poll->own_tries++ < OWN_TRIES) {
			ask_own_port(sm);
			return;
		}
		ask_driver(sm);
	}
	if (r->end != MAD_END_CANCELLED && poll->stage != POLL_OVER && !poll->out)
		ask_by_lid(sm);
}

/*
 * Must our own port not be asked? A master without its key, as both rotated while they were cut
 * off, reads the port when its lease ends. Each question of ours restarts the lease, so there are
 * few until then.
 */
static bool own_port_is_let_alone(const struct sm *sm)
{
	const struct sm_poll *poll = &sm->m.elect->poll;
	const struct port *own = sm->fabric->own_port;
	mono_t lease = own ? (mono_t)ib_get(own->info, PI_M_KEY_LEASE) * MONO_S : 0;

	return sm->state == SM_STANDBY && poll->absent && lease &&
	       sm->now - poll->own_asked < 2 * lease + ABSENT_PATIENCE;
}

/* Asks our own port. The answer may come after the end of the poll. */
static void ask_own_port(struct sm *sm)
{
	static const struct dr_path here = { 0 };
	const struct port *own = sm->fabric->own_port;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_PORT_INFO,
		.mod = own ? own->num : 0,
		.path = &here,
		.m_key = own && own->m_key ? own->m_key : keys_expected(sm, sm->tr->port_guid, 0),
		.urgent = true,
	};

	if (sm->m.elect->poll.own_pending)
		return;
	if (own_port_is_let_alone(sm)) {
		ask_driver(sm);
		return;
	}
	sm->m.elect->poll.own_asked = sm->now;
	sm->m.elect->poll.own_pending = true;
	mad_submit(sm->mad, &rq, on_own_port, sm, NULL);
}

void poll_tell(struct sm *sm)
{
	sm->m.elect->poll.tell = true;
	ask_own_port(sm);
}

/* ---- what an answer means ------------------------------------------------------------------ */

static mono_t patience_with(const struct sm *sm, const struct remote_sm *r)
{
	mono_t least = r->state == SM_DISCOVERING ? DISCOVER_PATIENCE : IDLE_PATIENCE;

	return MAX(least, (sm->conf->polling_retry_number + 1) * poll_period(sm));
}

/* Gives up on a polled manager that answers and should be master, but does not become it. */
static void give_up_idle(struct sm *sm, struct remote_sm *r)
{
	remote_failed(r);
	elect_take_over(sm, LOGB_ERROR, "this subnet manager is to be MASTER and stays %s",
			sm_state_name(r->state));
}

static void back_to_sleep(struct sm *sm)
{
	log_info("the subnet manager that ordered this one to stand by does not answer as a "
		 "master: this one is NOTACTIVE again");
	elect_enter(sm, SM_NOT_ACTIVE);
}

/*
 * Logs a master that has not written its LID into our port, as it should in its first sweep
 * (testing.md 5.1 #15). It may have reasons, so nothing else is done.
 */
static void check_presence(struct sm *sm, const struct remote_sm *r)
{
	struct sm_poll *poll = &sm->m.elect->poll;

	poll->absent = sm->now - poll->chosen >= MAX(patience_with(sm, r), DISCOVER_PATIENCE) &&
		       poll->own_lid && poll->master_lid == poll->own_lid;
	if (!poll->absent || !told_first(&sm->m.elect->told, TOLD_ABSENT))
		return;
	log_guid(sm, r->guid, LOG_ID_HANDOVER_FAILED, LOGB_ERROR,
		 "this subnet manager says that it is MASTER, and has not written its LID to our "
		 "port: it may manage nothing. Stop it if it should not be there "
		 "(allowed_sm_guids keeps strangers out)");
}

/* Handles an answer as STANDBY (handover.md 3). */
static void standby_answered(struct sm *sm, struct remote_sm *r)
{
	struct elect *e = sm->m.elect;

	if (r->state == SM_MASTER) {
		check_presence(sm, r);
		e->on_probation = false;
		r->vain = 0;
		e->poll.since = sm->now;
		if (!elect_is_greater(sm, r))
			poll_tell(sm);
	} else if (e->on_probation) {
		back_to_sleep(sm);
	} else if (r->state == SM_NOT_ACTIVE || !elect_is_greater(sm, r)) {
		elect_take_over(sm, LOGB_INFO, "this subnet manager is not MASTER any more");
	} else if (sm->now - e->poll.since >= patience_with(sm, r)) {
		give_up_idle(sm, r);
	}
}

/*
 * Must we wait for the manager? One of ours hands over after it has found the keys of ports between
 * us.
 */
static bool is_waited_for(const struct sm *sm, const struct remote_sm *r)
{
	const struct sm_poll *poll = &sm->m.elect->poll;

	return poll->polls <= sm->conf->polling_retry_number + 1 ||
	       (r->proved && sm->now - poll->chosen < RIVAL_PATIENCE);
}

/*
 * As MASTER: another master may take as many polls to hand over as it might miss; then we go on
 * without it.
 */
static void rival_answered(struct sm *sm, struct remote_sm *r)
{
	if (r->state != SM_MASTER) {
		elect_end_wait(sm, "the other master has stepped down");
	} else if (is_waited_for(sm, r)) {
		poll_tell(sm);
	} else {
		remote_failed(r);
		log_guid(sm, r->guid, LOG_ID_HANDOVER_FAILED, LOGB_ERROR,
			 "this subnet manager is MASTER beside this one, of less priority, and "
			 "does not hand over: the fabric is set up in spite of it. Stop it, or "
			 "two masters write to the same ports");
		elect_end_wait(sm, "the other master does not hand over");
	}
}

static void poll_answered(struct sm *sm, struct remote_sm *r)
{
	cancel_round(sm);
	sm->m.elect->poll.misses = 0;
	sm->m.elect->poll.at = sm->m.elect->poll.started + poll_period(sm);
	if (sm->state == SM_STANDBY)
		standby_answered(sm, r);
	else
		rival_answered(sm, r);
}

/*
 * As STANDBY: gives up on a manager after too many misses; the discovery that follows does not wait
 * for it.
 */
static void give_up(struct sm *sm)
{
	struct remote_sm *r = remote_find(sm, sm->m.elect->polled);

	if (r)
		r->unanswered = SILENT_AFTER;
	elect_take_over(sm, LOGB_ERROR, "the master does not answer any more");
}

static void poll_missed(struct sm *sm)
{
	struct elect *e = sm->m.elect;
	struct sm_poll *poll = &e->poll;

	cancel_round(sm);
	poll->at = poll->started + poll_period(sm);
	if (e->on_probation)
		back_to_sleep(sm);
	else if (++poll->misses <= sm->conf->polling_retry_number)
		log_guid(sm, e->polled, LOG_ID_NONE, LOGB_VERBOSE,
			 "this subnet manager does not answer (%u)", poll->misses);
	else if (sm->state == SM_STANDBY)
		give_up(sm);
	else
		elect_end_wait(sm, "the other master does not answer any more");
}

/* ---- the questions ------------------------------------------------------------------------- */

static void on_answer(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct elect *e = sm->m.elect;
	struct remote_sm *known = NULL;

	e->poll.out--;
	if (e->poll.stage == POLL_OVER || r->end == MAD_END_CANCELLED)
		return;
	if (r->end == MAD_END_ANSWERED)
		known = remote_learn(sm, e->polled, e->poll.nonce, r->payload);
	if (elect_key_is_doubtful(sm, r))
		elect_doubt(sm, e->polled, r->m_key);
	if (known && known->trust == SM_TRUSTED)
		poll_answered(sm, known);
	else if (!e->poll.out)
		ask_by_lid(sm);
}

static void ask_polled(struct sm *sm, const struct mad_request *rq)
{
	struct elect *e = sm->m.elect;
	uint8_t info[SMP_DATA_SIZE];
	struct mad_request question = *rq;

	/* otherwise it would wait behind requests of a sweep to hundreds of silent ports */
	question.urgent = true;
	proof_ask(sm, e->polled, e->poll.nonce, info);
	question.payload = info;
	e->poll.out++;
	mad_submit(sm->mad, &question, on_answer, sm, NULL);
}

/* Asks by LID, once per poll: a master has its LID in our port. */
static void ask_by_lid(struct sm *sm)
{
	struct sm_poll *poll = &sm->m.elect->poll;
	struct port *p = fabric_find_port(sm->fabric, sm->m.elect->polled);
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_SM_INFO,
		.lid = poll->master_lid,
		.lmc = poll->own_lmc, /* all end ports of a subnet have the same LMC */
		.m_key = p ? elect_mkey(sm, p) : keys_expected(sm, sm->m.elect->polled, 0),
		.target = &poll->target,
	};
	bool possible = sm->state == SM_STANDBY && lid_is_unicast(rq.lid) &&
			rq.lid != poll->own_lid && poll->stage == POLL_DIRECTED;

	if (possible) {
		poll->stage = POLL_BY_LID;
		ask_polled(sm, &rq);
	} else if (!poll->out && !poll->own_pending) {
		poll_missed(sm);
	}
}

static void ask_directed(struct sm *sm)
{
	struct port *p = fabric_find_port(sm->fabric, sm->m.elect->polled);
	struct dr_path path;
	struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_SM_INFO,
		.path = &path,
		.target = &sm->m.elect->poll.target,
	};

	if (!p || fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	rq.m_key = elect_mkey(sm, p);
	ask_polled(sm, &rq);
}

static void start_round(struct sm *sm)
{
	struct sm_poll *poll = &sm->m.elect->poll;

	poll->started = sm->now;
	poll->at = sm->now + poll_period(sm) / 2;
	poll->stage = POLL_DIRECTED;
	poll->polls++;
	poll->own_tries = 0;
	poll->nonce = proof_nonce(sm);
	mad_target_revive(&poll->target);
	ask_own_port(sm);
	ask_directed(sm);
}

void poll_tick(struct sm *sm)
{
	struct sm_poll *poll = &sm->m.elect->poll;

	if (!sm->m.elect->polled || sm->now < poll->at)
		return;
	if (poll->stage != POLL_OVER && sm->now < poll->started + poll_period(sm)) {
		poll->at = poll->started + poll_period(sm);
		ask_by_lid(sm);
		return;
	}
	if (poll->stage != POLL_OVER)
		poll_missed(sm);
	if (sm->m.elect->polled && poll->stage == POLL_OVER && sm->now >= poll->at)
		start_round(sm);
}

mono_t poll_next(const struct sm *sm)
{
	return sm->m.elect->polled ? sm->m.elect->poll.at : MONO_NEVER;
}

lid_t elect_master_lid(const struct sm *sm, uint8_t *ret_sl)
{
	const struct sm_poll *poll = &sm->m.elect->poll;
	lid_t lid = poll->master_lid;

	*ret_sl = poll->master_sl;
	return lid_is_unicast(lid) && lid != poll->own_lid ? lid : 0;
}
