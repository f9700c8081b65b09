// SPDX-License-Identifier: BSD-2-Clause
/*
 * The incremental sweep ("dirty" in logs and JSON, as ever): the cost of a change is proportional
 * to the change.
 *
 * News of a change says where it happened: a trap 128 names a switch, the light sweep finds
 * one with PortStateChange set, a trap 144 names an end port. Places gather for a moment, because
 * both ends of a cable tell, and are then read, the nearest first:
 *
 *   SwitchInfo: no PortStateChange, same table  -> nothing happened since it was read last: one SMP
 *   else clear the bit, read its ports          -> a link that is down, or in INIT again, was out
 *   a link that was out                         -> its far end is dirty too; it is asked what is
 *                                               behind it
 *   a node that was not known                   -> discovery as in a heavy sweep
 *
 * Everything else is carried over from the sweep before as if it had been read now, so that all
 * later steps are those of a heavy sweep. When a cable is gone, directed routes that led through it
 * are laid anew over what is known, and nodes that cannot be reached any more are gone.
 *
 * What was carried over yields to what is read: a cable end that answers somewhere else makes the
 * old place dirty, and is accepted only if the former port no longer answers for it. Conflicts that
 * remain ask for a heavy sweep.
 */
#include <assert.h>
#include <string.h>

#include "sm/sm_internal.h"
#include "sm/base/news.h"
#include "util/mem.h"

/* Time in which the news of both ends of a cable are gathered. */
#define GATHER	   (1 * MONO_MS)
/*
 * Least time between two dirty sweeps: as long as the last one took, within these bounds. A long
 * one (routes of a large fabric, silent nodes) delays the next change by a second at most. Sweeps
 * that found nothing delay no real change: traps.c limits senders that ask for nothing.
 */
#define HOLD_LEAST (20 * MONO_MS)
#define HOLD_MOST  (1 * MONO_S)

struct incremental {
	bool wanted;
	mono_t at, hold; /* time of the next dirty sweep; earliest time */
	bool repair;	 /* set if tables must be compared even if no link changed */
	bool reading;	 /* set if this sweep may have more to read */
	bool failed;	 /* set if the next switch did not answer in this sweep */
	bool changed;	 /* set if this sweep found a change */
	bool cut;	 /* set if directed routes must be examined in this sweep */
	/* set if a cleared PortStateChange means no change since the last read, in this sweep */
	bool believe_bits;
	uint32_t reach_no;
};
MACHINE_MEMORY(incremental);

bool incremental_is_wanted(const struct sm *sm)
{
	return sm->m.incremental->wanted;
}

mono_t incremental_next(const struct sm *sm)
{
	return sm->m.incremental->wanted ? sm->m.incremental->at : MONO_NEVER;
}

void incremental_not_before(struct sm *sm, mono_t at)
{
	sm->m.incremental->at = at;
}

void incremental_changed(struct sm *sm)
{
	sm->m.incremental->changed = true;
}

void incremental_read_all(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n)
		n->dirty |= node_is_switch(n);
	sm->fabric->own_port->inc.dirty = true;
}

void incremental_read_behind(struct port *p)
{
	p->inc.dirty = true;
	if (p->behind)
		mad_target_wake(p->behind);
}

void incremental_compare_tables(struct sm *sm)
{
	sm->m.incremental->repair = true;
}

static void want(struct sm *sm, const char *why)
{
	if (!sm->m.incremental->wanted)
		sm->m.incremental->at = MAX(sm->now + GATHER, sm->m.incremental->hold);
	sm->m.incremental->wanted = true;
	want_sweep(sm, SWEEP_INCREMENTAL, why);
}

void incremental_switch(struct sm *sm, struct node *n, const char *why)
{
	n->dirty = true;
	want(sm, why);
}

void incremental_port(struct sm *sm, struct port *p, const char *why)
{
	p->inc.dirty = true;
	sm->m.incremental->repair |= !port_is_end(p);
	want(sm, why);
}

void incremental_tables(struct sm *sm, const char *why)
{
	sm->m.incremental->repair = true;
	want(sm, why);
}

/* Asks nodes that were isolated for a GUID that is now free. */
void incremental_guid_free(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			if (!n->ports[i].quarantined && n->ports[i].odd != PORT_ODD_PLANE)
				continue;
			n->ports[i].inc.dirty = true;
			want(sm, "a node is gone, another may have its GUID");
		}
	}
}

void incremental_clear(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		n->dirty = false;
		for (unsigned i = 0; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			p->inc.dirty = p->inc.carried_over = p->inc.claims = false;
		}
	}
	sm->m.incremental->wanted = sm->m.incremental->repair = sm->m.incremental->changed =
		sm->m.incremental->cut = false;
}

void incremental_ended(struct sm *sm)
{
	mono_t least = sm->m.incremental->changed ? HOLD_LEAST : 0;

	sm->m.incremental->hold =
		sm->now + mono_min(MAX(least, sm->now - sm->sweep_started), HOLD_MOST);
	if (sm->m.incremental->wanted)
		sm->m.incremental->at = MAX(sm->m.incremental->at, sm->m.incremental->hold);
}

/* ---- carrying over -------------------------------------------------------------------------- */

static void carry_port(struct port *p, uint32_t from, uint32_t to)
{
	discover_port_begins(p);
	p->inc.carried_over = p->peer_seen == from;
	p->out_read = false;
	if (p->seen == from)
		p->seen = to;
	if (p->peer_seen == from)
		p->peer_seen = to;
}

/* Makes the picture of the last sweep that of this one. */
static void carry_over(struct sm *sm)
{
	uint32_t from = sm->sweep_no, to = discover_stamp(sm, true);

	FABRIC_EACH_NODE(sm->fabric, n) {
		if (n->seen == from)
			n->seen = to;
		observe_begin(n);
		for (unsigned i = 0; i <= n->n_ports; i++)
			carry_port(&n->ports[i], from, to);
	}
}

/*
 * Puts the last cable of a host in doubt: it must answer, or it counts as silent for a while, or as
 * gone.
 */
static void doubt_host(struct sm *sm, struct port *p)
{
	struct node *n = p->node;

	if (n == sm->fabric->own)
		return;
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (&n->ports[i] != p && n->ports[i].peer)
			return;
	}
	n->seen = 0;
}

void incremental_link_out(struct sm *sm, struct port *p, struct port *far)
{
	bool again = p->out_read;

	p->out_read = true;
	/*
	 * The other end was read first: reading it again would lead back here, endlessly while it
	 * is INIT. If this end was read twice, its link may have been down in between.
	 */
	if (p->inc.out_seen == sm->sweep_no) {
		if (again)
			discover_doubt_cable(p);
		return;
	}
	p->inc.out_seen = sm->sweep_no;
	if (!discover_is_partial(sm))
		return;
	sm->m.incremental->changed = sm->m.incremental->cut = true;
	p->peer_seen = 0;
	p->inc.carried_over = false;
	if (!far)
		return;
	far->inc.out_seen = sm->sweep_no;
	far->peer_seen = 0;
	far->inc.carried_over = false;
	if (node_is_switch(far->node))
		far->node->dirty = true;
	else
		doubt_host(sm, far);
}

void incremental_cable_gone(struct sm *sm, struct port *p)
{
	observe_cable_gone(p);
	sm->m.incremental->changed = sm->m.incremental->cut = true;
}

void incremental_met(struct port *p)
{
	if (node_is_switch(p->node) && p->known && port_state(p) == IB_PORT_DOWN)
		p->node->dirty = true;
}

bool incremental_is_in_question(struct sm *sm, struct port *claimant, struct port *end)
{
	struct port *other = end->peer;

	if (!other || !other->inc.carried_over)
		return false;
	other->inc.carried_over = end->inc.carried_over = false;
	other->peer_seen = end->peer_seen = 0;
	other->inc.dirty = true;
	claimant->inc.claims = true; /* asked again after the old place was read */
	return true;
}

/* ---- the ways there ------------------------------------------------------------------------ */

static bool leads_on(const struct port *p)
{
	return p->peer && !p->quarantined && !p->fell && !p->peer->fell &&
	       (!p->known || port_state(p) > IB_PORT_DOWN);
}

/*
 * Does the directed route of `n` lead to it over known cables? `crosses` is called for each port on
 * it.
 */
static bool path_holds(const struct sm *sm, const struct node *n,
		       bool (*crosses)(const struct sm *sm, const struct port *p))
{
	const struct node *at = sm->fabric->own;

	for (unsigned i = 1; i <= n->path.length; i++) {
		const struct port *p =
			n->path.hop[i] <= at->n_ports ? &at->ports[n->path.hop[i]] : NULL;

		if (!p || !leads_on(p) || (crosses && crosses(sm, p)))
			return false;
		at = p->peer->node;
	}
	return at == n;
}

/*
 * Would a directed route over the cable at `p` pass a switch that may be dead? A cable that leads
 * to such a switch is no reason: it cannot be reached otherwise.
 */
static bool passes_dead(const struct sm *sm, const struct port *p)
{
	return node_may_be_dead(p->node);
}

/*
 * May the cable lead to another node now? Nothing answered over it last time; with one key for all
 * a node would have answered. Or may the node that it leaves have lost its power?
 */
static bool is_doubtful(const struct sm *sm, const struct port *p)
{
	if (passes_dead(sm, p))
		return true;
	return keys_are_single(sm) && (p->silent || (p->peer && p->peer->silent));
}

/* Sets the route of the node behind `p`, unless a known route is as short. */
static void lay_path(struct sm *sm, struct port *p)
{
	const struct node *n = p->node;
	struct node *to = p->peer->node;
	struct dr_path path;

	if (!node_is_switch(to) || (to->path.length == n->path.length + 1 &&
				    path_holds(sm, to, is_doubtful(sm, p) ? NULL : is_doubtful)))
		return;
	dr_path_extend(&n->path, p->num, &path);
	observe_path(to, &path);
}

/* Appends to `queue` the nodes that are first reached by cables of `n`. */
static uint32_t reach_next(struct sm *sm, struct node *n, bool doubtful, struct node **queue)
{
	struct fabric *f = sm->fabric;
	uint32_t found = 0;

	for (unsigned i = 1; i <= n->n_ports && (node_is_switch(n) || n == f->own); i++) {
		struct port *p = &n->ports[i];
		struct node *to = p->peer ? p->peer->node : NULL;

		if (!to || to->reached == sm->m.incremental->reach_no || !leads_on(p) ||
		    (!node_is_switch(n) && p != f->own_port) || is_doubtful(sm, p) != doubtful)
			continue;
		if (n->path.length == IB_MAX_HOPS) {
			observe_left_out(p, PORT_ODD_TOO_FAR);
			continue;
		}
		to->reached = sm->m.incremental->reach_no;
		queue[found++] = to;
		lay_path(sm, p);
	}
	return found;
}

/*
 * Goes over known cables breadth first, and replaces routes that are invalid or too long. Doubtful
 * cables are used only for nodes that no other route reaches.
 */
static void lay_paths(struct sm *sm)
{
	struct fabric *f = sm->fabric;
	_cleanup_free_ struct node **queue = xcalloc(f->n_nodes + 1, sizeof(*queue));
	uint32_t head = 0, doubted = 0, tail = 0;

	sm->m.incremental->reach_no++;
	f->own->reached = sm->m.incremental->reach_no;
	queue[tail++] = f->own;
	while (head < tail || doubted < tail) {
		if (head < tail)
			tail += reach_next(sm, queue[head++], false, &queue[tail]);
		else
			tail += reach_next(sm, queue[doubted++], true, &queue[tail]);
	}
}

bool incremental_way_holds(const struct sm *sm, const struct node *n)
{
	return path_holds(sm, n, passes_dead);
}

void incremental_lay_ways(struct sm *sm)
{
	lay_paths(sm);
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool is_out_of_reach(const struct sm *sm, const struct node *n)
{
	return n->reached != sm->m.incremental->reach_no;
}

static void read_switch(struct sm *sm, struct node *n)
{
	n->dirty = false;
	discover_read_switch(sm, n);
}

static void read_ports(struct sm *sm, struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];

		if (!p->inc.dirty)
			continue;
		p->inc.dirty = false;
		discover_read_port(sm, p);
	}
}

static bool has_dirty_port(const struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		if (n->ports[i].inc.dirty)
			return true;
	}
	return false;
}

static unsigned distance(const struct sm *sm, const struct node *n)
{
	return node_is_switch(n) || n == sm->fabric->own ? n->path.length : IB_MAX_HOPS;
}

/* Marks ports behind which a known cable end answered, after everything else was read. */
static bool take_claims(struct sm *sm)
{
	bool any = false;

	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			any |= p->inc.claims;
			p->inc.dirty |= p->inc.claims;
			p->inc.claims = false;
		}
	}
	return any;
}

/* Reads the nearest dirty nodes; unreachable ones wait, as a path may be found. */
static bool take_nearest(struct sm *sm)
{
	unsigned least = IB_MAX_HOPS + 1;

	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!is_out_of_reach(sm, n) && (n->dirty || has_dirty_port(n)))
			least = MIN(least, distance(sm, n));
	}
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (is_out_of_reach(sm, n) || distance(sm, n) != least)
			continue;
		read_ports(sm, n);
		if (n->dirty)
			read_switch(sm, n);
	}
	return least <= IB_MAX_HOPS || take_claims(sm);
}

void incremental_start(struct sm *sm, bool believe_bits)
{
	assert(picture_holds(sm));
	carry_over(sm);
	sm->m.incremental->believe_bits = believe_bits;
	sm->m.incremental->changed = sm->m.incremental->repair;
	sm->m.incremental->repair = sm->m.incremental->wanted = false;
	sm->m.incremental->cut = true;
	sm->m.incremental->failed = false;
	sm->m.incremental->reading = true;
	incremental_feed(sm);
}

/* Reads level by level: changes near may alter the routes to farther nodes. */
void incremental_feed(struct sm *sm)
{
	if (sm->sweep == SWEEP_NONE || !discover_is_partial(sm))
		return;
	while (sm->m.incremental->reading && !discover_busy(sm)) {
		if (sm->m.incremental->cut)
			lay_paths(sm);
		sm->m.incremental->cut = false;
		sm->m.incremental->reading = take_nearest(sm);
	}
}

/* If the first switch on all routes does not answer, the others need not be asked. */
void incremental_lost(struct sm *sm, const struct node *n)
{
	if (n->path.length > 1)
		return;
	sm->m.incremental->failed = true;
	sm->m.incremental->reading = false;
}

/*
 * Ends the sweep after a node claimed two places, one of them old. Routes over the old one end at
 * another node, which would get tables and a LID of this one, so nothing more is read or written.
 */
void incremental_contradicted(struct sm *sm)
{
	sm->m.incremental->failed |= discover_is_partial(sm);
	sm->m.incremental->reading = false;
}

bool incremental_busy(const struct sm *sm)
{
	return sm->m.incremental->reading || discover_busy(sm);
}

/* ---- results -------------------------------------------------------------------------------- */

/* Asks for a heavy sweep: a port with another LID than assigned may be another port. */
void incremental_other_lid(struct sm *sm)
{
	if (!discover_is_partial(sm) || sm->m.incremental->failed)
		return;
	want_sweep(sm, SWEEP_HEAVY, "a port has another LID than it was given");
	tell_news(sm, NEWS_CONTRADICTED);
}

/*
 * May the switch have another key? At protection levels 0 and 1 it answers Gets with any key, and
 * no Sets; PortInfo shows it.
 */
static bool may_have_another_key(const struct sm *sm, const struct node *n)
{
	return n->sync.passed_over && keys_wanted(sm, n->ports[0].guid);
}

bool incremental_is_unchanged(const struct sm *sm, const struct node *n, const uint8_t *switch_info)
{
	bool ours = sm->state == SM_MASTER && sm->first_sweep_done;

	/*
	 * a master clears the bit before its standby reads it; a standby with all reports need not
	 * read
	 */
	return discover_is_partial(sm) && (ours || sm->m.incremental->believe_bits) &&
	       n->switch_known && !n->cleared_late && !n->misses && !n->change_uncleared &&
	       !may_have_another_key(sm, n) &&
	       n->ports[0].seen == sm->sweep_no && n->seen == sm->sweep_no &&
	       !ib_get(switch_info, SI_PORT_STATE_CHANGE) &&
	       ib_get(switch_info, SI_LINEAR_FDB_TOP) == ib_get(n->switch_info, SI_LINEAR_FDB_TOP);
}

static void drop_stamps(struct node *n)
{
	if (n->ports[0].seen)
		observe_shown(n);
	n->seen = 0;
	for (unsigned i = 0; i <= n->n_ports; i++)
		n->ports[i].seen = n->ports[i].peer_seen = 0;
}

/* Drops ports of a host whose cable is gone; our own port stays. */
static void drop_bare_ports(const struct sm *sm, struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];

		if (!p->peer && p != sm->fabric->own_port)
			p->seen = p->peer_seen = 0;
	}
}

static bool was_out_now(const struct sm *sm, const struct port *p)
{
	return p->inc.out_seen == sm->sweep_no ||
	       (p->peer && p->peer->inc.out_seen == sm->sweep_no);
}

/* Was a cable on the route to `sw` down since Sets were sent there? */
static bool went_astray(const struct sm *sm, const struct node *sw)
{
	return sw->path_changed ? discover_cables_moved(sm) : !path_holds(sm, sw, was_out_now);
}

/* The last switch on the route to a node: itself, or the one that it is connected to. */
static const struct node *switch_before(const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports && !node_is_switch(n); i++) {
		if (n->ports[i].peer)
			return n->ports[i].peer->node;
	}
	return n;
}

/*
 * Marks tables as unknown that were written lately by routes whose cables may have led elsewhere,
 * and at switches whose links changed: a link may have been down and set up before we knew, and the
 * node behind it may have lost its tables.
 */
static void prove(struct sm *sm)
{
	bool stray_mft = false;

	FABRIC_EACH_NODE(sm->fabric, n) {
		const struct node *sw = switch_before(n);
		bool astray = went_astray(sm, sw);

		/* A node that answers again gets what could not be written while it was silent. */
		sm->m.incremental->changed |=
			n->sync.passed_over && !mad_target_silent(sm->mad, &n->target);
		if (n->misses || !(astray || sw->changed))
			continue;
		stray_mft |= astray && n->mft.unproven;
		if (astray && n->lft.unproven) {
			observe_tables_lost(n);
			sm->m.incremental->changed = true;
		} else if (astray && n->mft.unproven) {
			observe_mft_lost(n);
			sm->m.incremental->changed = true;
		}
		for (unsigned i = 0; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (!fabric_cells_unproven(p))
				continue;
			observe_blocks_lost(sm->fabric, p);
			sm->m.incremental->changed = true;
		}
	}
	if (stray_mft)
		forget_stray_mfts(sm);
}

/* Is a dirty node out of reach of known cables, so that no dirty sweep can read it? */
static bool is_any_left(const struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (is_out_of_reach(sm, n) && (n->dirty || has_dirty_port(n)))
			return true;
	}
	return false;
}

bool incremental_settle(struct sm *sm)
{
	if (sm->m.incremental->failed)
		return false;
	lay_paths(sm);
	prove(sm);
	if (!sm->m.incremental->changed) {
		if (is_any_left(sm))
			want_sweep(sm, SWEEP_HEAVY, "no known cable leads to a node that changed");
		discover_settled(sm);
		return false;
	}
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (is_out_of_reach(sm, n))
			drop_stamps(n);
		else if (!node_is_switch(n))
			drop_bare_ports(sm, n);
	}
	lids_forget_ports(sm);
	discover_finish(sm);
	return true;
}
