// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adoption: forwarding tables of switches that are set up, and not known, are read before routes
 * are made, so that what is right stays as it is: by the first sweep of a new master all of them,
 * later those of a switch that comes back with its old ones, and blocks whose Set was not answered.
 * A block read is a block that need not be written, so this costs no more than writing blindly, and
 * the way from what switches hold to what they shall hold is known; on a cold fabric nothing is
 * read.
 *
 * So it is with P_Key tables of end ports, in every sweep: those of live ports are read while they
 * are unknown, whole, because an unknown key would stay in force. Ports in INIT hold
 * nothing that counts.
 *
 * Tables of VL layers that are not needed any more shall not stay for ever: the first sweep reads
 * one VLArb block of every switch, which shows whether an engine with VL layers was at work there
 * (plan/qos.h).
 *
 * The reads are paced like sync's writes. What cannot be read stays unknown, and is written.
 */
#include <string.h>

#include "sm/sm_internal.h"
#include "util/mem.h"

/* Number of requests kept queued ahead of the window. */
#define FEED_DEPTH 256

struct adopt {
	uint32_t node, block; /* next block to be read */
	uint32_t end;	      /* number of nodes to read from */
	unsigned pending;
	uint32_t round; /* number of this reading: one more than that of the last */
	bool all;	/* set if this reading takes known tables, too */
	bool asked;   /* set if this reading found an unknown block */
	bool differs; /* set if some block differs from what was known */
};
MACHINE_MEMORY(adopt);

void adopt_plan(struct sm *sm, bool all)
{
	sm->m.adopt->all = all;
}

bool adopt_reads_all(const struct sm *sm)
{
	return sm->m.adopt->all;
}

bool adopt_has_asked(const struct sm *sm)
{
	return sm->m.adopt->asked;
}

/* Is the switch set up: does it have a LID and a table by which it forwards? */
static bool is_set_up(const struct node *n)
{
	const struct port *p0 = &n->ports[0];

	return node_is_switch(n) && n->switch_known && p0->known && p0->lid &&
	       ib_get(p0->info, PI_LID) && ib_get(n->switch_info, SI_LINEAR_FDB_TOP) &&
	       ib_get(n->switch_info, SI_LINEAR_FDB_TOP) <
		       ib_get(n->switch_info, SI_LINEAR_FDB_CAP);
}

static uint32_t blocks_of(const struct node *n)
{
	return ib_get(n->switch_info, SI_LINEAR_FDB_TOP) / LFT_BLOCK_LIDS + 1;
}

/*
 * Is a queued read still wanted? Not if a standby lost its master during a rotation: it has a
 * former key, and would time out before the takeover.
 */
static bool is_wanted(void *owner, void *arg)
{
	const struct sm *sm = owner;

	return sm->sweep != SWEEP_WATCH || sm->state == SM_STANDBY;
}

static void on_block(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;

	sm->m.adopt->pending--;
	if (r->end == MAD_END_ANSWERED)
		sm->m.adopt->differs |= observe_lft_block(r->arg, r->mod, r->payload);
}

static void ask_block(struct sm *sm, struct node *n, uint32_t block)
{
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_LFT,
		.mod = block,
		.path = &n->path,
		.m_key = n->ports[0].m_key,
		.target = &n->target,
		.wanted = is_wanted,
	};

	sm->m.adopt->pending++;
	sm->m.adopt->asked = true;
	mad_submit(sm->mad, &rq, on_block, sm, n);
}

/*
 * Forgets the P_Keys of a port, which the master of this standby is writing. A read under way may
 * bring old ones.
 */
void adopt_distrust_pkeys(struct sm *sm, struct port *end)
{
	end->doubted = sm->m.adopt->round;
	observe_distrust_pkeys(sm->fabric, end);
}

static void on_pkeys(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;
	const struct port *end = port_is_end(p) || !p->peer ? p : p->peer;

	sm->m.adopt->pending--;
	if (r->end == MAD_END_ANSWERED && end->doubted != sm->m.adopt->round)
		observe_block(sm->fabric, p, TABLE_PKEYS, r->mod & 0xFFFF, r->payload);
}

/*
 * Are P_Keys of the port read? End ports; in a standby, and while P_Keys of tenants are held, also
 * those that switch ports check.
 */
static bool is_of_interest(const struct sm *sm, const struct port *p)
{
	return port_is_end(p) || ((sm->sweep == SWEEP_WATCH || partition_is_held(sm)) && p->peer &&
				  port_is_end(p->peer));
}

static void ask_pkeys(struct sm *sm, struct port *p)
{
	unsigned blocks = (fabric_pkey_cap(p) + PKEYS_PER_BLOCK - 1) / PKEYS_PER_BLOCK;
	struct dr_path path;
	struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_PKEY_TABLE,
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
		.wanted = is_wanted,
	};

	if (!is_of_interest(sm, p) || !port_is_live(p) || mad_target_silent(sm->mad, rq.target) ||
	    fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	for (unsigned block = 0; block < blocks; block++) {
		if (!sm->m.adopt->all && fabric_cell(sm->fabric, p, TABLE_PKEYS, block))
			continue;
		rq.mod = port_tables[TABLE_PKEYS].mod(p, block);
		sm->m.adopt->pending++;
		mad_submit(sm->mad, &rq, on_pkeys, sm, p);
	}
}

static void on_shares(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	sm->m.adopt->pending--;
	if (r->end == MAD_END_ANSWERED)
		sync_lanes_found(p->node, qos_shares_are_lanes(r->payload));
}

static void ask_shares(struct sm *sm, struct node *n)
{
	struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_VLARB,
		.path = &n->path,
		.m_key = n->ports[0].m_key,
		.target = &n->target,
		.wanted = is_wanted,
	};

	if (sm->first_sweep_done || sm->sweep == SWEEP_WATCH || !is_set_up(n) ||
	    mad_target_silent(sm->mad, rq.target))
		return;
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];

		if (!port_is_live(p) || p->tables[TABLE_VLARB] ||
		    !ib_get(p->info, PI_VLARB_LOW_CAP) || ib_get(p->info, PI_VL_CAP) < 2)
			continue;
		rq.mod = 1u << 16 | i;
		sm->m.adopt->pending++;
		mad_submit(sm->mad, &rq, on_shares, sm, p);
		return;
	}
}

void adopt_start(struct sm *sm)
{
	sm->m.adopt->round++;
	sm->m.adopt->node = sm->m.adopt->block = 0;
	sm->m.adopt->differs = sm->m.adopt->asked = false;
	sm->m.adopt->end = sm->fabric->n_nodes;
	adopt_feed(sm);
}

/* Queues reads block by block over the nodes, in the order in which sync writes. */
void adopt_feed(struct sm *sm)
{
	const struct fabric *f = sm->fabric;

	/* the master is lost: the takeover comes first */
	if (!is_wanted(sm, NULL))
		sm->m.adopt->node = sm->m.adopt->end;
	while (sm->m.adopt->node < sm->m.adopt->end && mad_pending(sm->mad) < FEED_DEPTH) {
		struct node *n = f->nodes[sm->m.adopt->node];

		if (is_set_up(n) && sm->m.adopt->block < blocks_of(n)) {
			if (sm->m.adopt->all || !lft_have_block(&n->lft, sm->m.adopt->block))
				ask_block(sm, n, sm->m.adopt->block);
			sm->m.adopt->block++;
			continue;
		}
		for (unsigned i = 0; i <= n->n_ports; i++)
			ask_pkeys(sm, &n->ports[i]);
		ask_shares(sm, n);
		sm->m.adopt->node++;
		sm->m.adopt->block = 0;
	}
}

/* True: this reading took all tables, and found some that differ from ours. */
bool adopt_done(struct sm *sm)
{
	bool others = sm->m.adopt->all && sm->m.adopt->differs;

	sm->m.adopt->all = false;
	return others;
}

bool adopt_busy(const struct sm *sm)
{
	return sm->m.adopt->node < sm->m.adopt->end || sm->m.adopt->pending;
}

static void fill_row(const struct node *n, uint8_t *row, lid_t top)
{
	for (uint32_t block = 0; block <= top / LFT_BLOCK_LIDS; block++) {
		const uint8_t *have = lft_have_block(&n->lft, block);

		if (have)
			memcpy(row + block * LFT_BLOCK_LIDS, have, LFT_BLOCK_LIDS);
	}
}

/* The highest LID with an entry that leads to a port. */
static lid_t last_entry(const struct node *n)
{
	for (uint32_t block = n->lft.n_blocks; block-- > 0;) {
		const uint8_t *have = lft_have_block(&n->lft, block);

		for (unsigned i = LFT_BLOCK_LIDS; have && i-- > 0;)
			if (have[i] != LFT_NO_PORT)
				return (lid_t)(block * LFT_BLOCK_LIDS + i);
	}
	return 0;
}

/*
 * The top of tables, which is kept with columns of absent hosts if all switches agree on it; or the
 * highest LID with an entry.
 */
static lid_t top_of(const struct sm *sm, const struct topo *topo)
{
	lid_t top = 0, used = 0;
	bool agree = true;

	for (uint32_t sw = 0; sw < topo->n_switches; sw++) {
		const struct node *n = fabric_find_node(sm->fabric, topo->switches[sw].guid);
		lid_t own;

		if (!n || !n->lft.n_blocks)
			continue;
		own = (lid_t)ib_get(n->switch_info, SI_LINEAR_FDB_TOP);
		agree &= !top || own == top;
		top = own;
		used = MAX(used, last_entry(n));
	}
	return MAX(topo->max_lid, agree ? top : MIN(used, LID_MAX_UCAST));
}

/* Does the switch have its row of `r`, as far as it is known? */
static bool holds_row(const struct node *n, const struct routes *r)
{
	uint32_t sw = topo_find_switch(r->topo, n->guid);

	for (uint32_t block = 0; block < n->lft.n_blocks; block++) {
		const uint8_t *have = lft_have_block(&n->lft, block);

		if (!have || block > r->top / LFT_BLOCK_LIDS)
			continue;
		if (sw == TOPO_NONE ||
		    memcmp(have, routes_row(r, sw) + (size_t)block * LFT_BLOCK_LIDS,
			   LFT_BLOCK_LIDS) != 0)
			return false;
	}
	return true;
}

/*
 * Do all switches have their rows? Some may not, as others that should have been written before did
 * not answer: the transition to new tables then starts at what they have.
 */
bool adopt_holds(const struct sm *sm, const struct routes *r, const struct topo *topo)
{
	for (uint32_t sw = 0; sw < topo->n_switches; sw++) {
		const struct node *n = fabric_find_node(sm->fabric, topo->switches[sw].guid);

		/* the switch is gone, and the remaining ones were not written */
		if (!n || !holds_row(n, r))
			return false;
	}
	return true;
}

struct routes *adopt_routes(const struct sm *sm, const struct topo *topo)
{
	lid_t top = top_of(sm, topo);
	struct routes *r = NULL;

	for (uint32_t sw = 0; sw < topo->n_switches; sw++) {
		const struct node *n = fabric_find_node(sm->fabric, topo->switches[sw].guid);

		if (!n || !n->lft.n_blocks)
			continue;
		if (!r)
			r = routes_new(topo, "adopted", top);
		fill_row(n, routes_row(r, sw), r->top);
	}
	return r;
}
