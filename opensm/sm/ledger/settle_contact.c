// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watches whether each manager of ours is within reach. One that is cut off from the master takes
 * over what it can reach; as soon as cables are back, both are masters of the same ports. So the
 * master asks the port of each manager four times within the time that a takeover takes; firmware
 * answers, whatever the manager does.
 *
 *   REACHED --no answer for half of that time--> LOST --it answers--> RETURNED --settled--> REACHED
 *                                                  |                    |  or after SETTLE_NEWCOMER
 *                                                  |-- a sweep ends, and finds no such port: no row
 *                                                  '-- a heavy sweep ends, and finds a port that
 *                                                      does not answer: SILENT until it does
 *
 * In LOST and RETURNED, P_Keys of tenants are not written. A manager whose port appears in the
 * fabric is RETURNED, too.
 *
 * While a manager of ours is out of reach, MasterSMLID of our own port is read once a second: if it
 * is not our LID, another master has reached this part of the fabric.
 */
#include <assert.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/base/keys.h"
#include "sm/elect/elect.h"
#include "sm/ledger/settle_internal.h"

#define TAKEOVER_MAX (24 * 3600 * MONO_S)
#define NAMED_LOOK   MONO_S
#define NAMED_PAUSE  (10 * MONO_S) /* least time between two sweeps for the same other master */

static mono_t takeover_time(const struct sm *sm)
{
	mono_t poll = MAX(sm->conf->sminfo_polling_timeout, 1u) * MONO_MS;
	mono_t polls = sm->conf->polling_retry_number + (mono_t)1;

	return polls < TAKEOVER_MAX / poll ? polls * poll : TAKEOVER_MAX;
}

mono_t settle_pause_limit(const struct sm *sm)
{
	return MAX(takeover_time(sm) / 2, SETTLE_PAUSE_MIN);
}

static mono_t ask_period(const struct sm *sm)
{
	return settle_pause_limit(sm) / 2;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct settle_contact *contact_of(struct settle *s, guid_t guid)
{
	for (unsigned i = 0; i < s->n_contacts; i++) {
		if (s->contacts[i].guid == guid)
			return &s->contacts[i];
	}
	return NULL;
}

static struct settle_contact *free_place(struct settle *s)
{
	struct settle_contact *c = contact_of(s, 0);

	return c || s->n_contacts == SETTLE_CONTACTS ? c : &s->contacts[s->n_contacts++];
}

static void drop(struct sm *sm, struct settle_contact *c)
{
	mad_cancel(sm->mad, sm, &c->target);
	*c = (struct settle_contact){ 0 };
}

/* Adds a manager, with NULL if all places are used: further managers are not watched. */
static struct settle_contact *make(struct sm *sm, guid_t guid, enum settle_contact_state state)
{
	struct settle_contact *c = free_place(sm->m.settle);

	if (c)
		*c = (struct settle_contact){
			.guid = guid, .state = state, .since = sm->now, .reached_at = sm->now
		};
	return c;
}

static void become(struct sm *sm, struct settle_contact *c, enum settle_contact_state state)
{
	c->state = state;
	c->since = sm->now;
}

/* ---- news of one ----------------------------------------------------------------------------- */

static void reached(struct sm *sm, struct settle_contact *c)
{
	struct port *p = fabric_find_port(sm->fabric, c->guid);

	c->reached_at = sm->now;
	c->unanswered = c->is_late = false;
	if (c->state != CONTACT_LOST && c->state != CONTACT_SILENT)
		return;
	c->is_unswept = c->state == CONTACT_LOST;
	become(sm, c, CONTACT_RETURNED);
	if (p)
		elect_look_at(sm, p);
}

static void lose(struct sm *sm, struct settle_contact *c)
{
	struct settle *s = sm->m.settle;

	become(sm, c, CONTACT_LOST);
	c->lost_sweep = sm->stats.heavy_sweeps + (sm->sweep == SWEEP_HEAVY);
	if (s->state == SETTLE_WRITING)
		log_guid(sm, c->guid, LOG_ID_REPLICA, LOGB_INFO,
			 "the port of this manager does not answer, and it may be master of what "
			 "is out of our reach: P_Keys of tenants wait until a sweep has ended");
	s->has_old_smps = true;
	peers_doubt(sm);
	want_sweep_now(sm, SWEEP_HEAVY, "the port of another manager does not answer");
}

void contact_met(struct sm *sm, const struct port *p)
{
	struct settle *s = sm->m.settle;
	struct settle_contact *c = contact_of(s, p->guid);

	if (c || p->guid == sm->tr->port_guid || !settle_knows(sm, p->guid))
		return;
	c = make(sm, p->guid, CONTACT_RETURNED);
	if (!c)
		return;
	c->is_unswept = sm->sweep != SWEEP_NONE;
	peers_doubt(sm);
	contacts_look(sm);
}

void contact_settled(struct sm *sm, guid_t guid)
{
	struct settle_contact *c = contact_of(sm->m.settle, guid);

	if (!c && fabric_find_port(sm->fabric, guid))
		make(sm, guid, CONTACT_REACHED);
	else if (!c)
		return;
	else if (c->state == CONTACT_RETURNED)
		become(sm, c, CONTACT_REACHED);
}

void contact_heard(struct sm *sm, guid_t guid)
{
	struct settle_contact *c = contact_of(sm->m.settle, guid);

	if (c)
		reached(sm, c);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void on_answer(void *owner, const struct mad_result *r)
{
	struct settle_contact *c = r->arg;

	c->asked = false;
	if (r->end == MAD_END_ANSWERED || r->end == MAD_END_BAD_STATUS)
		reached(owner, c);
}

/* Starts the time after which a port that has not answered is LOST. */
static void expect_answer(const struct sm *sm, struct settle_contact *c)
{
	if (!c->unanswered)
		c->lost_at = MAX(c->reached_at + settle_pause_limit(sm), sm->now + ask_period(sm));
	c->unanswered = true;
}

/* Starts that time when the question is sent: it may have waited for our own port. */
static bool on_sending(void *owner, void *arg)
{
	expect_answer(owner, arg);
	return true;
}

static void ask(struct sm *sm, struct settle_contact *c, const struct port *p)
{
	struct dr_path path;
	struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_PORT_INFO,
		.path = &path,
		.urgent = true, /* ahead of thousands of requests to a part that is cut off */
		.target = &c->target,
		.wanted = on_sending,
	};

	if (!p || fabric_port_path(sm->fabric, p, &path) < 0) {
		/* A running sweep may have lost the path to the port, and may find it again. */
		if (sm->sweep != SWEEP_NONE && sm->first_sweep_done)
			expect_answer(sm, c);
		return;
	}
	rq.mod = p->num;
	rq.m_key = port_of_sma_const(p)->m_key;
	mad_target_revive(&c->target);
	c->asked = true;
	mad_submit(sm->mad, &rq, on_answer, sm, c);
}

/* Ends the wait for a sweep, which an administrator has stopped. */
static void go_on_without_sweeps(struct sm *sm, struct settle_contact *c)
{
	c->is_unswept = false;
	if (c->state == CONTACT_LOST && sm->now >= c->since + SETTLE_NEWCOMER)
		become(sm, c, CONTACT_SILENT);
}

static void look_at(struct sm *sm, struct settle_contact *c)
{
	const struct port *p = fabric_find_port(sm->fabric, c->guid);

	if (!c->asked && sm->now >= c->ask_at) {
		c->ask_at = sm->now + ask_period(sm);
		ask(sm, c, p);
	}
	if (c->state == CONTACT_RETURNED && !c->is_unswept &&
	    sm->now >= c->since + SETTLE_NEWCOMER)
		become(sm, c, CONTACT_REACHED);
	if (c->state == CONTACT_REACHED && c->unanswered && sm->now >= c->lost_at) {
		/* Answers that have arrived are read after the ticks, so the next tick decides. */
		if (c->is_late)
			lose(sm, c);
		c->is_late = true;
	}
	if (sm->sweeping_off)
		go_on_without_sweeps(sm, c);
}

/* ---- our own port ---------------------------------------------------------------------------- */

/* Is a manager of ours out of reach, as far as this one knows? */
static bool lacks_some(const struct sm *sm)
{
	struct settle *s = sm->m.settle;

	for (unsigned i = 0; i < s->meta.n_managers; i++) {
		const struct settle_contact *c = contact_of(s, s->meta.managers[i].guid);

		if (!c || c->state != CONTACT_REACHED)
			return true;
	}
	return false;
}

/* Must our own port be read now? Not during a sweep, which may write it. */
static bool looks_at_own_port(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->first_sweep_done && sm->sweep == SWEEP_NONE &&
	       lacks_some(sm);
}

/*
 * Looks for another master in MasterSMLID of our own port. A cable may come back unnoticed if the
 * other master reads and clears PortStateChange of the switch first; but it also writes its LID
 * there.
 */
static void look_at_own_port(struct sm *sm)
{
	struct settle *s = sm->m.settle;
	struct transport_port has;
	bool is_new;

	s->named.look_at = sm->now + NAMED_LOOK;
	if (transport_look(sm->tr, &has) < 0 || !has.lid)
		return;
	is_new = has.sm_lid != s->named.lid;
	s->named.lid = has.sm_lid != has.lid ? has.sm_lid : 0;
	if (!s->named.lid || (!is_new && sm->now < s->named.until))
		return;
	s->named.until = sm->now + NAMED_PAUSE;
	if (is_new)
		log_on(ABOUT(.id = LOG_ID_MANAGER_SEEN, .port_guid = sm->tr->port_guid), LOGB_INFO,
		       "our own port names the subnet manager at LID %u as its master: the fabric "
		       "is searched for that, and P_Keys of tenants wait until it is found or the "
		       "port names us again",
		       has.sm_lid);
	elect_met_rival(sm);
	want_sweep_now(sm, SWEEP_HEAVY, "our own port names another master");
}

/* ---- all of them ----------------------------------------------------------------------------- */

const struct settle_contact *contact_waited_for(const struct settle *s)
{
	for (unsigned i = 0; i < s->n_contacts && s->state == SETTLE_WRITING; i++) {
		const struct settle_contact *c = &s->contacts[i];

		if (c->guid && (c->state == CONTACT_LOST || c->state == CONTACT_RETURNED))
			return c;
	}
	return NULL;
}

void contacts_look(struct sm *sm)
{
	struct settle *s = sm->m.settle;
	bool waits = contact_waited_for(s);

	if (waits == s->waits_for_contact)
		return;
	s->waits_for_contact = waits;
	tell_news(sm, NEWS_SETTLED, .flag = true);
	if (!waits)
		links_go_on(sm);
}

void contacts_tick(struct sm *sm)
{
	struct settle *s = sm->m.settle;

	for (unsigned i = 0; i < s->n_contacts && sm->state == SM_MASTER; i++) {
		if (s->contacts[i].guid)
			look_at(sm, &s->contacts[i]);
	}
	if (sm->now >= s->named.look_at && looks_at_own_port(sm))
		look_at_own_port(sm);
	contacts_look(sm);
}

mono_t contacts_next(const struct sm *sm)
{
	const struct settle *s = sm->m.settle;
	mono_t next = looks_at_own_port(sm) ? s->named.look_at : MONO_NEVER;

	for (unsigned i = 0; i < s->n_contacts && sm->state == SM_MASTER; i++) {
		const struct settle_contact *c = &s->contacts[i];

		if (!c->guid)
			continue;
		if (!c->asked)
			next = mono_min(next, c->ask_at);
		if (c->state == CONTACT_RETURNED && !c->is_unswept)
			next = mono_min(next, c->since + SETTLE_NEWCOMER);
		if (c->state == CONTACT_REACHED && c->unanswered)
			next = mono_min(next, c->is_late ? sm->now : c->lost_at);
		if (c->state == CONTACT_LOST && sm->sweeping_off)
			next = mono_min(next, c->since + SETTLE_NEWCOMER);
	}
	return next;
}

/* Starts the time for a manager to settle: switches have a path to it now, so messages arrive. */
static void begin_patience(struct sm *sm, struct settle_contact *c)
{
	c->is_unswept = false;
	c->since = sm->now;
}

/* Decides at the end of a sweep: is there such a port, and does it answer? */
static void judge(struct sm *sm, struct settle_contact *c)
{
	const struct port *p = fabric_find_port(sm->fabric, c->guid);

	if (!p || !p->known)
		drop(sm, c);
	else if (c->state == CONTACT_RETURNED && c->is_unswept)
		begin_patience(sm, c);
	else if (c->state == CONTACT_LOST && sm->stats.heavy_sweeps > c->lost_sweep)
		become(sm, c, CONTACT_SILENT);
}

/*
 * Notes a port without a manager, so that a manager that starts there counts as having been in
 * reach.
 */
static void note_idle(struct sm *sm, guid_t guid)
{
	const struct port *p = fabric_find_port(sm->fabric, guid);

	if (p && p->known && guid != sm->tr->port_guid && !contact_of(sm->m.settle, guid) &&
	    !(fabric_cap_mask(p) & IB_CAP(IB_CAP_IS_SM)))
		make(sm, guid, CONTACT_REACHED);
}

void contacts_sweep_ended(struct sm *sm)
{
	struct settle *s = sm->m.settle;

	for (unsigned i = 0; i < s->n_contacts; i++) {
		if (s->contacts[i].guid)
			judge(sm, &s->contacts[i]);
	}
	for (unsigned i = 0; i < s->meta.n_managers; i++)
		note_idle(sm, s->meta.managers[i].guid);
	contacts_look(sm);
}

void contacts_begin(struct sm *sm)
{
	struct settle *s = sm->m.settle;

	for (unsigned i = 0; i < s->n_contacts; i++) {
		struct settle_contact *c = &s->contacts[i];

		if (!c->guid)
			continue;
		become(sm, c, CONTACT_REACHED);
		c->reached_at = sm->now;
		c->unanswered = c->is_late = false;
	}
}

void contacts_free(struct sm *sm)
{
	for (unsigned i = 0; i < SETTLE_CONTACTS; i++)
		mad_cancel(sm->mad, sm, &sm->m.settle->contacts[i].target);
}
