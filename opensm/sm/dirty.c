// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dirty sweep: the cost of a change is proportional to the change.
 *
 * Whoever learns that something happened says where: a trap 128 names a switch, the light sweep finds
 * one with PortStateChange set, a trap 144 names an end port. Places gather for a moment, because both
 * ends of a cable tell, and are then read, the nearest first:
 *
 *   SwitchInfo: no PortStateChange, same table  -> nothing happened since it was read last: one SMP
 *   else clear the bit, read its ports          -> a link that is down, or in INIT again, was out
 *   a link that was out                         -> its far end is dirty too; who is behind it is asked
 *   whoever was not known                       -> discovery as in a heavy sweep
 *
 * Everything else is carried over from the sweep before as if it had been read now ("hearsay"), so that
 * all later steps are those of a heavy sweep. When a cable is gone, directed routes that led through it
 * are laid anew over what is known, and whoever cannot be reached any more is gone.
 *
 * Hearsay yields to facts: a cable end that answers somewhere else makes the old place dirty, and is
 * believed only if the old place does not hold. What cannot be settled here asks for a heavy sweep.
 */
#include <string.h>

#include "sm/impl.h"
#include "util/mem.h"

/* Both ends of a cable tell; the second within this time. */
#define GATHER	   (1 * MONO_MS)
/*
 * Between two dirty sweeps; and no more than half of the time is spent with them. A look that found
 * nothing keeps no real change waiting: traps.c sets the pace of who asks for nothing.
 */
#define HOLD_LEAST (20 * MONO_MS)

static void want(struct sm *sm, const char *why)
{
	if (!sm->dirty_wanted)
		sm->dirty_at = MAX(sm->now + GATHER, sm->dirty_hold);
	sweep_want(sm, SWEEP_DIRTY, why);
}

void dirty_switch(struct sm *sm, struct node *n, const char *why)
{
	n->dirty = true;
	want(sm, why);
}

void dirty_port(struct sm *sm, struct port *p, const char *why)
{
	p->dirty = true;
	sm->dirty_repair |= !port_is_end(p);
	want(sm, why);
}

void dirty_tables(struct sm *sm, const char *why)
{
	sm->dirty_repair = true;
	want(sm, why);
}

/* Whoever was left out as a second one may be the only one now: it is asked. */
void dirty_left_out(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			if (!n->ports[i].quarantined)
				continue;
			n->ports[i].dirty = true;
			want(sm, "somebody is gone, another may have its GUID");
		}
	}
}

void dirty_clear(struct sm *sm)
{
	sm->partial = false;
	FABRIC_EACH_NODE(sm->fabric, n) {
		n->dirty = false;
		for (unsigned i = 0; i <= n->n_ports; i++)
			n->ports[i].dirty = n->ports[i].hearsay = n->ports[i].claims = false;
	}
	sm->dirty_wanted = sm->dirty_repair = sm->dirty_changed = sm->dirty_cut = false;
}

void dirty_ended(struct sm *sm)
{
	mono_t least = sm->dirty_changed ? HOLD_LEAST : 0;

	sm->dirty_hold = sm->now + MAX(least, sm->now - sm->sweep_started);
	if (sm->dirty_wanted)
		sm->dirty_at = MAX(sm->dirty_at, sm->dirty_hold);
}

/* ---- hearsay ------------------------------------------------------------------------------- */

static void carry_port(struct port *p, uint32_t from, uint32_t to)
{
	p->suspect = p->quarantined;
	p->quarantine_told &= p->quarantined;
	p->hearsay = p->peer_seen == from;
	if (p->seen == from)
		p->seen = to;
	if (p->peer_seen == from)
		p->peer_seen = to;
}

/* The sweep before becomes this one. */
static void carry_over(struct sm *sm)
{
	uint32_t from = sm->sweep_no++, to = sm->sweep_no;

	FABRIC_EACH_NODE(sm->fabric, n) {
		if (n->seen == from)
			n->seen = to;
		n->changed = n->path_changed = false;
		for (unsigned i = 0; i <= n->n_ports; i++)
			carry_port(&n->ports[i], from, to);
	}
}

/* The last cable of a host is in question: it has to answer, or to be silent for a while, or is gone. */
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

void dirty_link_out(struct sm *sm, struct port *p)
{
	struct port *far = p->peer;

	/* The other end was read first: reading that again would lead back here, for ever while it is INIT. */
	if (p->out_seen == sm->sweep_no)
		return;
	p->out_seen = sm->sweep_no;
	if (!sm->partial)
		return;
	sm->dirty_changed = sm->dirty_cut = true;
	p->peer_seen = 0;
	p->hearsay = false;
	if (!far)
		return;
	far->out_seen = sm->sweep_no;
	far->peer_seen = 0;
	far->hearsay = false;
	if (node_is_switch(far->node))
		far->node->dirty = true;
	else
		doubt_host(sm, far);
}

void dirty_cable_gone(struct sm *sm, struct port *p)
{
	if (!p->peer)
		return;
	fabric_disconnect(p);
	sm->dirty_changed = sm->dirty_cut = sm->cables_changed = true;
}

void dirty_met(struct port *p)
{
	if (node_is_switch(p->node) && p->known && port_state(p) == IB_PORT_DOWN)
		p->node->dirty = true;
}

bool dirty_question_hearsay(struct sm *sm, struct port *claimant, struct port *end)
{
	struct port *other = end->peer;

	if (!other || !other->hearsay)
		return false;
	other->hearsay = end->hearsay = false;
	other->peer_seen = end->peer_seen = 0;
	other->dirty = true;
	claimant->claims = true; /* asked again when the old place has been read */
	return true;
}

/* ---- the ways there ------------------------------------------------------------------------ */

static bool leads_on(const struct port *p)
{
	return p->peer && !p->quarantined && (!p->known || port_state(p) > IB_PORT_DOWN);
}

/* Does `n`'s directed route lead to it, over cables as known? `crosses` is told every port on the way. */
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

/* Breadth first over known cables; routes that do not hold any more, or are longer than need be, are laid anew. */
static void lay_paths(struct sm *sm)
{
	struct fabric *f = sm->fabric;
	_cleanup_free_ struct node **queue = xcalloc(f->n_nodes + 1, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	sm->reach_no++;
	f->own->reached = sm->reach_no;
	queue[tail++] = f->own;
	while (head < tail) {
		struct node *n = queue[head++];

		if (!node_is_switch(n) && n != f->own)
			continue;
		for (unsigned i = 1; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];
			struct node *to = p->peer ? p->peer->node : NULL;

			if (!to || to->reached == sm->reach_no || !leads_on(p) ||
			    (!node_is_switch(n) && p != f->own_port))
				continue;
			if (n->path.length == IB_MAX_HOPS) {
				p->odd = PORT_ODD_TOO_FAR;
				continue;
			}
			to->reached = sm->reach_no;
			queue[tail++] = to;
			if (!node_is_switch(to) ||
			    (to->path.length == n->path.length + 1 && path_holds(sm, to, NULL)))
				continue;
			dr_path_extend(&n->path, i, &to->path);
			to->path_changed = true;
		}
	}
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool is_out_of_reach(const struct sm *sm, const struct node *n)
{
	return n->reached != sm->reach_no;
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

		if (!p->dirty)
			continue;
		p->dirty = false;
		discover_read_port(sm, p);
	}
}

static bool has_dirty_port(const struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		if (n->ports[i].dirty)
			return true;
	}
	return false;
}

static unsigned distance(const struct sm *sm, const struct node *n)
{
	return node_is_switch(n) || n == sm->fabric->own ? n->path.length : IB_MAX_HOPS;
}

/* Those who claim what was another's are asked when there is nothing else to read. */
static bool take_claims(struct sm *sm)
{
	bool any = false;

	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			any |= p->claims;
			p->dirty |= p->claims;
			p->claims = false;
		}
	}
	return any;
}

/* What is dirty, and nearest; what is out of reach waits: another way there may be found yet. */
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

void dirty_start(struct sm *sm)
{
	carry_over(sm);
	sm->cables_changed = sm->cables_moved = false;
	sm->dirty_changed = sm->dirty_repair;
	sm->dirty_repair = sm->dirty_wanted = false;
	sm->dirty_cut = true;
	sm->dirty_failed = false;
	sm->partial = true;
	sm->dirty_reading = true;
	dirty_feed(sm);
}

/* Level by level: what is found near may change the way to what is far. */
void dirty_feed(struct sm *sm)
{
	while (sm->dirty_reading && sm->discover_pending + sm->descs_pending == 0) {
		if (sm->dirty_cut)
			lay_paths(sm);
		sm->dirty_cut = false;
		sm->dirty_reading = take_nearest(sm);
	}
}

/* The first switch on the way to everybody: there is no use in asking the others. */
void dirty_lost(struct sm *sm, const struct node *n)
{
	if (n->path.length > 1)
		return;
	sm->dirty_failed = true;
	sm->dirty_reading = false;
}

/*
 * Of two places where a node is said to be, one is from before. Directed routes over that one end at
 * somebody else, who would get tables and a LID that are not meant for him: nothing more is read, and
 * nothing written.
 */
void dirty_contradicted(struct sm *sm)
{
	sm->dirty_failed |= sm->partial;
	sm->dirty_reading = false;
}

bool dirty_busy(const struct sm *sm)
{
	return sm->dirty_reading || sm->discover_pending + sm->descs_pending > 0;
}

/* ---- what it came to ----------------------------------------------------------------------- */

/* Counters that grow by themselves are no news. */
static void without_counters(uint8_t *info)
{
	ib_put(info, PI_M_KEY_VIOLATIONS, 0);
	ib_put(info, PI_P_KEY_VIOLATIONS, 0);
	ib_put(info, PI_Q_KEY_VIOLATIONS, 0);
}

/* A LID that neither stands there as far as we know nor is none: this may be somebody else's. */
static bool is_of_another(const struct port *p, const uint8_t *payload)
{
	unsigned lid = ib_get(payload, PI_LID);

	return port_is_end(p) && p->known && p->lid && lid && lid != p->lid &&
	       ib_get(p->info, PI_LID) == p->lid;
}

void dirty_observed(struct sm *sm, const struct port *p, const uint8_t *payload)
{
	uint8_t before[SMP_DATA_SIZE], after[SMP_DATA_SIZE];

	if (sm->partial && is_of_another(p, payload)) {
		sweep_want(sm, SWEEP_HEAVY, "a port has another LID than it was given");
		dirty_contradicted(sm);
	}

	memcpy(before, p->info, sizeof(before));
	memcpy(after, payload, sizeof(after));
	without_counters(before);
	without_counters(after);
	sm->dirty_changed |= !p->known || memcmp(before, after, sizeof(before)) != 0;
}

bool dirty_is_unchanged(const struct sm *sm, const struct node *n, const uint8_t *switch_info)
{
	bool ours = sm->state == SM_MASTER && sm->first_sweep_done;

	/* A master clears the bit before its standby looks; but who is told of everything need not look. */
	return sm->partial && (ours || sm->believe_bits) && n->switch_known && !n->cleared_late &&
	       !n->misses && !n->change_uncleared && n->ports[0].seen == sm->sweep_no &&
	       n->seen == sm->sweep_no && !ib_get(switch_info, SI_PORT_STATE_CHANGE) &&
	       ib_get(switch_info, SI_LINEAR_FDB_TOP) == ib_get(n->switch_info, SI_LINEAR_FDB_TOP);
}

static void drop_stamps(struct node *n)
{
	n->seen = 0;
	for (unsigned i = 0; i <= n->n_ports; i++)
		n->ports[i].seen = n->ports[i].peer_seen = 0;
}

/* Ports of a host whose cable is gone; our own counts whatever it is. */
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
	return p->out_seen == sm->sweep_no || (p->peer && p->peer->out_seen == sm->sweep_no);
}

/* Some cable on the way to `sw` was out since Sets went there. */
static bool went_astray(const struct sm *sm, const struct node *sw)
{
	return sw->path_changed ? sm->cables_moved : !path_holds(sm, sw, was_out_now);
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
 * written lately is unknown; so it is at a switch whose links changed: one that was out in between may
 * have been set up by us before we knew, and whoever is behind it may have lost its tables.
 */
static void prove(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		const struct node *sw = switch_before(n);
		bool astray = went_astray(sm, sw);

		if (n->misses || !(astray || sw->changed))
			continue;
		if (astray && n->lft.unproven) {
			node_forget_tables(n);
			sm->dirty_changed = true;
		}
		for (unsigned i = 0; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (!fabric_cells_unproven(p))
				continue;
			fabric_forget_cells(sm->fabric, p);
			sm->dirty_changed = true;
		}
	}
}

bool dirty_settle(struct sm *sm)
{
	if (sm->dirty_failed)
		return false;
	lay_paths(sm);
	prove(sm);
	if (!sm->dirty_changed)
		return false;
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (is_out_of_reach(sm, n))
			drop_stamps(n);
		else if (!node_is_switch(n))
			drop_bare_ports(sm, n);
	}
	discover_finish(sm);
	return true;
}
