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

/* Both ends of a cable tell; the second within this time. */
#define GATHER	   (1 * MONO_MS)
/*
 * Between two dirty sweeps: as long as the last one took, within these bounds. One that took long
 * (routes of a large fabric, nodes that do not answer) keeps the next change waiting for a second
 * at most. A look that found nothing keeps no real change waiting: traps.c sets the pace of
 * senders that ask for nothing.
 */
#define HOLD_LEAST (20 * MONO_MS)
#define HOLD_MOST  (1 * MONO_S)

struct incremental {
	bool wanted;
	mono_t at, hold; /* when the next dirty sweep is due; and may be due at the soonest */
	bool repair;	 /* tables must be compared, whether links changed or not */
	bool reading;	 /* in this sweep: there may be more to read */
	bool failed;	 /* in this sweep: the next switch does not answer */
	bool changed;	 /* in this sweep: something is not as it was */
	bool cut;	 /* in this sweep: directed routes must be looked at */
	bool believe_bits; /* in this sweep: no PortStateChange means no change since we looked */
	uint32_t reach_no;
};

void incremental_new(struct sm *sm, const struct sm_paths *paths)
{
	sm->m.incremental = xcalloc(1, sizeof(*sm->m.incremental));
}

void incremental_free(struct sm *sm)
{
	free(sm->m.incremental);
	sm->m.incremental = NULL;
}

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

/* A node that was left out as a second one may be the only one now: it is asked. */
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

/* The sweep before becomes this one. */
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
 * The last cable of a host is in question: it has to answer, or to be silent for a while, or is
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
	 * The other end was read first: reading that again would lead back here, for ever while it
	 * is INIT. Or this one was read twice: its link may have been out in between.
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
	claimant->inc.claims = true; /* asked again when the old place has been read */
	return true;
}

/* ---- the ways there ------------------------------------------------------------------------ */

static bool leads_on(const struct port *p)
{
	return p->peer && !p->quarantined && (!p->known || port_state(p) > IB_PORT_DOWN);
}

/*
 * Does the directed route of `n` lead to it over known cables? `crosses` is called with every port
 * on the way.
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
 * Nothing answered over the cable when it was tried last: it may lead elsewhere by now, to a node
 * whose key is not tried there yet. Without keys that one would have answered.
 */
static bool is_doubtful(const struct sm *sm, const struct port *p)
{
	return keys_are_single(sm) && (p->silent || (p->peer && p->peer->silent));
}

/* Sets the route over `p`, unless a known route is as short. */
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

/* The nodes that are reached by cables of `n` first, which come behind those in `queue`. */
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
 * Breadth first over known cables; routes that do not hold any more, or are longer than need be,
 * are laid anew. Over a doubtful cable go routes to nodes that no other way leads to.
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

/* Ports behind which a known cable end answered are asked when nothing else is to be read. */
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

/* Reads the nearest dirty nodes; those out of reach wait: a path to them may be found yet. */
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

/* Level by level: changes found near may alter the way to farther nodes. */
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

/* The first switch on the way to all others, which need not be asked. */
void incremental_lost(struct sm *sm, const struct node *n)
{
	if (n->path.length > 1)
		return;
	sm->m.incremental->failed = true;
	sm->m.incremental->reading = false;
}

/*
 * Of two places where a node is said to be, one is from before. Directed routes over that one end
 * at another node, which would get tables and a LID that are not its own: nothing more is
 * read, and nothing written.
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

/* A port with another LID than it was assigned may be another port. */
void incremental_other_lid(struct sm *sm)
{
	if (!discover_is_partial(sm) || sm->m.incremental->failed)
		return;
	want_sweep(sm, SWEEP_HEAVY, "a port has another LID than it was given");
	tell_news(sm, NEWS_CONTRADICTED);
}

/* At protection levels 0 and 1 a switch answers Gets with any key, and no Sets. PortInfo tells. */
static bool may_have_another_key(const struct sm *sm, const struct node *n)
{
	return n->sync.passed_over && keys_wanted(sm, n->ports[0].guid);
}

bool incremental_is_unchanged(const struct sm *sm, const struct node *n, const uint8_t *switch_info)
{
	bool ours = sm->state == SM_MASTER && sm->first_sweep_done;

	/*
	 * A master clears the bit before its standby reads it; but a standby that gets all reports
	 * need not read.
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

/* Some cable on the way to `sw` was out since Sets went there. */
static bool went_astray(const struct sm *sm, const struct node *sw)
{
	return sw->path_changed ? discover_cables_moved(sm) : !path_holds(sm, sw, was_out_now);
}

/* The switch through which Sets to a node go last: itself, or where it hangs. */
static const struct node *switch_before(const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports && !node_is_switch(n); i++) {
		if (n->ports[i].peer)
			return n->ports[i].peer->node;
	}
	return n;
}

/*
 * Sets travel by directed routes. If a cable on the way may have led elsewhere meanwhile, what was
 * written lately is unknown; so it is at a switch whose links changed: one that was out in between
 * may have been set up by us before we knew, and the node behind it may have lost its tables.
 */
static void prove(struct sm *sm)
{
	bool stray_mft = false;

	FABRIC_EACH_NODE(sm->fabric, n) {
		const struct node *sw = switch_before(n);
		bool astray = went_astray(sm, sw);

		/* A node that answers again gets now what was not written while it was silent. */
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

/* A node was to be read, and no known cable leads there: no dirty sweep can ever read it. */
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
