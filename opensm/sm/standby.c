// SPDX-License-Identifier: BSD-2-Clause
/*
 * The picture that a standby keeps warm: everything is read, nothing is written.
 *
 *   cold --discovery, LIDs as found, tables read--> warm --the master tells of a change--> stale
 *                                                     ^                                     |
 *                                                     \-- what changed is read (WATCH) ----/
 *
 * The master's SA forwards its traps to us (replica.c subscribes): each marks its place dirty, and the
 * next WATCH sweep reads that. What nobody tells of is found by a whole round now and then, whose pace
 * is a small part of the time it takes. Without a subscription tables count as stale at once.
 *
 * Taking over from a warm picture is a dirty sweep of all switches: ports are read where something
 * happened since the master died, cables that never were out are not asked who is behind them, tables
 * are believed. If the picture may be stale, all ports and all tables are read. All of that is proved
 * at once afterwards: a heavy sweep reads every port and every table.
 */
#include "ib/notices.h"
#include "sm/impl.h"
#include "util/mem.h"

/* The master gets this long to set right what changed; then we read what it made of it. */
#define SETTLE		   (1 * MONO_S)
/* Whole rounds, and readings of all tables after changes: at most so often, and this part of the time. */
#define ROUND_LEAST	   (300 * MONO_S)
#define TABLES_LEAST	   (10 * MONO_S)
/* Times that SETTLE may pass before tables are read although nobody tells of changes. */
#define SUBSCRIPTION_WAITS 10
#define TIME_SHARE	   20

void standby_enter(struct sm *sm)
{
	prepare_distrust(sm);
	sm->picture_whole = sm->first_sweep_done || sm->sweep == SWEEP_HEAVY;
	sm->tables_stale = true;
	sm->watch_whole = false;
	sm->watch_at = sm->tables_at = sm->now;
	sm->subscription_waits = 0;
	sm->round_at = sm->now + ROUND_LEAST;
	sm->takeover = false;
}

/* The master's LID, which hosts know as that of their SM. */
static void note_master(struct sm *sm)
{
	const struct port *p = fabric_find_port(sm->fabric, sm->polled);

	if (p && port_is_end(p) && p->known)
		sm->former_sm_lid = ib_get(p->info, PI_LID);
}

void standby_notice(struct sm *sm, const uint8_t *notice)
{
	bool was_wanted = sm->dirty_wanted;
	struct port *p;

	if (sm->state != SM_STANDBY || !ib_get(notice, NT_IS_GENERIC))
		return;
	sm->told++;
	switch (ib_get(notice, NT_TRAP)) {
	case TRAP_LINK_STATE:
		p = prepare_port_at(sm, ib_get(notice, N128_LID));
		if (p && node_is_switch(p->node))
			dirty_switch(sm, p->node, "the master tells of a link");
		else
			sm->watch_whole = true;
		sm->tables_stale = true;
		break;
	case TRAP_LOCAL_CHANGE:
		p = prepare_port_at(sm, ib_get(notice, N144_LID));
		if (p)
			dirty_port(sm, p, "the master tells of a port");
		break;
	case TRAP_GID_IN_SERVICE:
	case TRAP_GID_OUT_OF_SERVICE:
		sm->tables_stale = true;
		break;
	default:
		break;
	}
	if (sm->dirty_wanted && !was_wanted)
		sm->dirty_at = sm->now + SETTLE;
}

void standby_subscribed(struct sm *sm)
{
	if (!sm->tables_stale)
		return;
	sm->tables_at = mono_min(sm->tables_at, sm->now + SETTLE);
	sm->watch_at = mono_min(sm->watch_at, sm->tables_at);
}

bool standby_due(const struct sm *sm)
{
	return sm->now >= sm->watch_at || (sm->dirty_wanted && sm->now >= sm->dirty_at);
}

mono_t standby_next(const struct sm *sm)
{
	return mono_min(sm->watch_at, sm->dirty_wanted ? sm->dirty_at : MONO_NEVER);
}

/* What is read before the master tells of changes has to be read again: it is given some time. */
static void wait_for_subscription(struct sm *sm)
{
	if (replica_is_subscribed(sm) || sm->subscription_waits == SUBSCRIPTION_WAITS ||
	    sm->now < sm->tables_at)
		return;
	sm->subscription_waits++;
	sm->tables_at = sm->now + SETTLE;
}

/* ---- the watch ----------------------------------------------------------------------------- */

void standby_look(struct sm *sm)
{
	bool whole = sm->watch_whole || !sm->picture_whole || !sm->fabric->own_port ||
		     sm->now >= sm->round_at;

	note_master(sm);
	wait_for_subscription(sm);
	sm->watch_whole = false;
	if (whole) {
		sm->sweep_no++;
		discover_start(sm);
	} else {
		dirty_start(sm);
	}
	sm->read_tables = sm->tables_stale && sm->now >= sm->tables_at;
	sm->told_at_look = sm->told;
}

bool standby_settle(struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;

	if (!own || own->seen != sm->sweep_no)
		return false;
	if (!sm->partial)
		discover_finish(sm);
	else if (!dirty_settle(sm) && !sm->read_tables)
		return false;
	sm->picture_whole |= !sm->partial;
	note_master(sm);
	prepare_note_lids(sm);
	return true;
}

/* All tables have been read; whoever told of a change meanwhile makes them stale again. */
void standby_seen(struct sm *sm)
{
	mono_t took = sm->now - sm->sweep_started;

	if (sm->read_tables && sm->state == SM_STANDBY) {
		sm->tables_stale = !replica_is_subscribed(sm) || sm->told != sm->told_at_look;
		sm->tables_at =
			sm->now + MAX(replica_is_subscribed(sm) ? TABLES_LEAST : ROUND_LEAST,
				      took * TIME_SHARE);
	}
	log_verbose("standby: the picture is %s, tables are %s",
		    sm->picture_whole ? "whole" : "incomplete",
		    sm->tables_stale ? "stale" : "as read");
}

void standby_watched(struct sm *sm, bool through)
{
	mono_t took = sm->now - sm->sweep_started;

	if (!sm->partial)
		sm->round_at = sm->now + MAX(through ? ROUND_LEAST : TABLES_LEAST, took * TIME_SHARE);
	sm->watch_at = sm->round_at;
	if (sm->errors || sm->soft_faults || !through)
		sm->watch_at = mono_min(sm->watch_at, sm->now + TABLES_LEAST);
	if (sm->tables_stale)
		sm->watch_at = mono_min(sm->watch_at, MAX(sm->tables_at, sm->now + SETTLE));
	dirty_ended(sm);
}

/* ---- taking over --------------------------------------------------------------------------- */

void standby_leave(struct sm *sm)
{
	sm->takeover = sm->picture_whole && sm->fabric->own_port && !sm->rival_seen;
	if (!sm->takeover)
		prepare_distrust(sm);
}

/*
 * Every switch is asked. The master told us of all changes while it was there, and nobody has cleared
 * PortStateChange since: where it is not set, ports are as we know them. If it did not tell, all are read.
 */
void standby_start_takeover(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n)
		n->dirty |= node_is_switch(n);
	sm->fabric->own_port->dirty = true;
	sm->dirty_repair = true;
	sm->believe_bits = !sm->tables_stale;
	dirty_start(sm);
	elect_ask_all(sm);
	sm->prove_tables = true;
}
