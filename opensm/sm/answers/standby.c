// SPDX-License-Identifier: BSD-2-Clause
/*
 * The master's SA forwards its traps to us (replica.c subscribes): each marks its place dirty, and
 * the next WATCH sweep reads that. Changes without a report are found by rounds over the whole
 * fabric, which use a small part of the time. Without a subscription tables count as stale at once.
 *
 * A takeover starts with a dirty sweep of all switches: ports are read where something happened
 * since the master died, nodes behind cables that stayed up are not identified again, and tables
 * are believed. If the known fabric may be stale, all ports and tables are read. A heavy sweep
 * afterwards reads every port and every table as proof.
 */
#include "ib/notices.h"
#include "sm/sm_internal.h"
#include "sm/base/news.h"
#include "util/hash.h"
#include "util/mem.h"

/* Time that the master gets to react to a change before its result is read. */
#define SETTLE		   (1 * MONO_S)
/*
 * Least periods of whole rounds, and of readings of all tables after changes; TIME_SHARE: inverse
 * of the part of the time that they may take.
 */
#define ROUND_LEAST	   (300 * MONO_S)
#define TABLES_LEAST	   (10 * MONO_S)
/* Times that SETTLE may pass before tables are read although no change is reported. */
#define SUBSCRIPTION_WAITS 10
#define TIME_SHARE	   20
#define SILENCE_NONE	   HASH_START

struct standby {
	bool picture_whole; /* set if the whole fabric was read once */
	/* set if LFTs and P_Keys may have changed since they were read */
	bool tables_stale;
	bool watch_whole;	     /* the next watch reads everything */
	uint32_t told, told_at_look; /* Notices of the master */
	unsigned subscription_waits;
	mono_t watch_at, round_at, tables_at;
	mono_t silence_at, silence_wait; /* when ports that lead to silence are asked again */
	uint64_t silence;		 /* hash of the silent ports; SILENCE_NONE: none */
	bool takeover;	   /* the next heavy sweep starts from the picture */
	bool prove_tables; /* the next heavy sweep but one reads all tables */
};
MACHINE_MEMORY(standby);

/*
 * Makes tables and speeds unknown, as another manager may have written them. Not while sync runs.
 */
static void distrust_tables(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n)
		observe_distrust(sm->fabric, n);
	routing_forget(sm);
}

static void enter_standby(struct sm *sm)
{
	struct standby *s = sm->m.standby;

	distrust_tables(sm);
	s->picture_whole = sm->first_sweep_done || sm->sweep == SWEEP_HEAVY;
	s->tables_stale = true;
	s->watch_whole = false;
	s->watch_at = s->tables_at = sm->now;
	s->subscription_waits = 0;
	s->silence = SILENCE_NONE;
	s->silence_at = MONO_NEVER;
	s->round_at = sm->now + ROUND_LEAST;
	s->takeover = false;
}

/* Notes the master's LID, which is the SM LID of hosts. */
static void note_master(struct sm *sm)
{
	const struct port *p = fabric_find_port(sm->fabric, elect_polled(sm));

	if (p && port_is_end(p) && p->known)
		discover_know_master(sm, ib_get(p->info, PI_LID));
}

void standby_notice(struct sm *sm, const uint8_t *notice)
{
	struct standby *s = sm->m.standby;
	bool was_wanted = incremental_is_wanted(sm);
	struct port *p;

	if (sm->state != SM_STANDBY || !ib_get(notice, NT_IS_GENERIC))
		return;
	s->told++;
	switch (ib_get(notice, NT_TRAP)) {
	case TRAP_LINK_STATE:
		p = lids_port_at(sm, ib_get(notice, N128_LID));
		if (p && node_is_switch(p->node))
			tell_switch(sm, p->node, "the master tells of a link");
		else
			s->watch_whole = true;
		s->tables_stale = true;
		break;
	case TRAP_LOCAL_CHANGE:
		p = lids_port_at(sm, ib_get(notice, N144_LID));
		if (p)
			tell_port(sm, p, "the master tells of a port");
		break;
	case TRAP_GID_IN_SERVICE:
	case TRAP_GID_OUT_OF_SERVICE:
		s->tables_stale = true;
		break;
	default:
		break;
	}
	if (!was_wanted)
		incremental_not_before(sm, sm->now + SETTLE);
}

void standby_subscribed(struct sm *sm)
{
	struct standby *s = sm->m.standby;

	if (!s->tables_stale)
		return;
	s->tables_at = mono_min(s->tables_at, sm->now + SETTLE);
	s->watch_at = mono_min(s->watch_at, s->tables_at);
}

bool standby_due(const struct sm *sm)
{
	return sm->now >= standby_next(sm);
}

mono_t standby_next(const struct sm *sm)
{
	return mono_min(sm->m.standby->watch_at, incremental_next(sm));
}

/*
 * Waits a while for a subscription: a fabric that was read before changes are reported must be read
 * again.
 */
static void wait_for_subscription(struct sm *sm)
{
	struct standby *s = sm->m.standby;

	if (replica_is_subscribed(sm) || s->subscription_waits == SUBSCRIPTION_WAITS ||
	    sm->now < s->tables_at)
		return;
	s->subscription_waits++;
	s->tables_at = sm->now + SETTLE;
}

/* ---- silent ports --------------------------------------------------------------------------- */

/* A hash of the silent ports. With one key for all, a present node answers the first question. */
static uint64_t silent_ports(const struct sm *sm)
{
	uint64_t set = SILENCE_NONE;

	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; keys_are_single(sm) && i <= n->n_ports; i++) {
			if (!port_leads_to_silence(&n->ports[i]))
				continue;
			set = hash_bytes(set, &n->guid, sizeof(n->guid));
			set = hash_bytes(set, &i, sizeof(i));
		}
	}
	return set;
}

/*
 * Plans when to ask silent ports: the node behind may be a new one, whose M_Key is tried after
 * others. Soon, then less and less often, as a master does in light sweeps.
 */
static void plan_silence(struct sm *sm)
{
	struct standby *s = sm->m.standby;
	uint64_t now = silent_ports(sm);

	if (now != s->silence)
		s->silence_wait = TABLES_LEAST;
	else if (sm->now >= s->silence_at)
		s->silence_wait = mono_min(2 * s->silence_wait, ROUND_LEAST);
	else
		return;
	s->silence = now;
	s->silence_at = now == SILENCE_NONE ? MONO_NEVER : sm->now + s->silence_wait;
}

static void ask_silence(struct sm *sm)
{
	if (sm->now < sm->m.standby->silence_at)
		return;
	key_rows_recall_cables(sm);
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			if (port_leads_to_silence(&n->ports[i]))
				incremental_read_behind(&n->ports[i]);
		}
	}
}

/* ---- the watch ----------------------------------------------------------------------------- */

void standby_look(struct sm *sm)
{
	struct standby *s = sm->m.standby;
	bool whole =
		s->watch_whole || !s->picture_whole || !picture_holds(sm) || sm->now >= s->round_at;

	note_master(sm);
	keys_look(sm);
	wait_for_subscription(sm);
	s->watch_whole = false;
	ask_silence(sm);
	if (whole) {
		discover_start(sm);
	} else {
		incremental_start(sm, false);
	}
	adopt_plan(sm, s->tables_stale && sm->now >= s->tables_at);
	s->told_at_look = s->told;
}

bool standby_settle(struct sm *sm)
{
	if (!own_port_was_read(sm))
		return false;
	if (!discover_is_partial(sm)) {
		lids_forget_ports(sm);
		discover_finish(sm);
	} else if (!incremental_settle(sm) && !adopt_reads_all(sm))
		return false;
	sm->m.standby->picture_whole |= !discover_is_partial(sm);
	note_master(sm);
	lids_note(sm);
	return true;
}

/* Notes that all tables were read; a change reported in the meantime makes them stale again. */
void standby_seen(struct sm *sm)
{
	struct standby *s = sm->m.standby;
	mono_t took = sm->now - sm->sweep_started;

	if (adopt_reads_all(sm) && sm->state == SM_STANDBY) {
		s->tables_stale = !replica_is_subscribed(sm) || s->told != s->told_at_look;
		s->tables_at = sm->now + MAX(replica_is_subscribed(sm) ? TABLES_LEAST : ROUND_LEAST,
					     took * TIME_SHARE);
	}
	log_verbose("standby: the picture is %s, tables are %s",
		    s->picture_whole ? "whole" : "incomplete",
		    s->tables_stale ? "stale" : "as read");
}

void standby_watched(struct sm *sm, bool through, bool failed)
{
	struct standby *s = sm->m.standby;
	mono_t took = sm->now - sm->sweep_started;

	if (!discover_is_partial(sm))
		s->round_at =
			sm->now + MAX(through ? ROUND_LEAST : TABLES_LEAST, took * TIME_SHARE);
	plan_silence(sm);
	s->watch_at = mono_min(s->round_at, s->silence_at);
	if (failed || !through)
		s->watch_at = mono_min(s->watch_at, sm->now + TABLES_LEAST);
	if (s->tables_stale)
		s->watch_at = mono_min(s->watch_at, MAX(s->tables_at, sm->now + SETTLE));
	if (through) /* known keys let us enter a locked fabric after a restart */
		lids_save(sm);
	incremental_ended(sm);
}

/* ---- taking over --------------------------------------------------------------------------- */

static void leave_standby(struct sm *sm)
{
	/* during a rotation of keys it is unknown which port has which key */
	sm->m.standby->takeover =
		sm->m.standby->picture_whole && !elect_rival_seen(sm) && !keys_may_be_mixed(sm);
	if (!sm->m.standby->takeover)
		distrust_tables(sm);
}

void standby_state_leaves(struct sm *sm, enum sm_state next)
{
	if (sm->state == SM_STANDBY) {
		leave_standby(sm);
		lids_left_standby(sm);
		keys_ruled(sm);
	}
	if (next == SM_STANDBY)
		enter_standby(sm);
}

bool standby_takes_over(const struct sm *sm)
{
	return sm->m.standby->takeover;
}

void standby_distrust(struct sm *sm)
{
	distrust_tables(sm);
	sm->m.standby->takeover = false;
}

void standby_watch_whole(struct sm *sm)
{
	sm->m.standby->watch_whole = true;
}

/*
 * Takes over: asks every switch. The master reported all changes while it was there, and no manager
 * has cleared PortStateChange since, so ports without it are unchanged. Without reports all are
 * read.
 */
static void take_over(struct sm *sm)
{
	incremental_read_all(sm);
	incremental_compare_tables(sm);
	incremental_start(sm, !sm->m.standby->tables_stale);
	elect_ask_all(sm);
	sm->m.standby->prove_tables = true;
}

bool standby_start_takeover(struct sm *sm)
{
	struct standby *s = sm->m.standby;
	bool from_picture = s->takeover && picture_holds(sm);
	bool proof = s->prove_tables && sm->first_sweep_done;

	s->takeover = false;
	if (from_picture)
		take_over(sm);
	adopt_plan(sm, s->tables_stale || proof);
	s->prove_tables = s->prove_tables && !proof;
	return from_picture;
}

void standby_tables_read(struct sm *sm)
{
	sm->m.standby->tables_stale &= !adopt_reads_all(sm);
}

bool standby_written(struct sm *sm)
{
	discover_know_master(sm, 0);
	return sm->m.standby->prove_tables;
}
