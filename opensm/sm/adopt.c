// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adoption: forwarding tables of switches that are set up, and not known, are read before routes are
 * made, so that what is right stays as it is: by the first sweep of a new master all of them, later
 * those of a switch that comes back with its old ones, and blocks whose Set was not answered. A block
 * read is a block that need not be written, so this costs no more than writing blindly, and the way
 * from what switches hold to what they shall hold is known; on a cold fabric nothing is read.
 *
 * So it is with P_Key tables of end ports, in every sweep: those of live ports are read while they
 * are unknown, whole, because a key that nobody knows of would stay in force. Ports in INIT hold
 * nothing that counts.
 *
 * So that tables of lanes which nobody needs any more do not stay for ever, the first sweep reads one VLArb block of
 * every switch: it shows whether an engine with lanes was at work there (plan/qos.h).
 *
 * The reads are paced like sync's writes. What cannot be read stays unknown, and is written.
 */
#include <string.h>

#include "sm/impl.h"
#include "util/mem.h"

/* Requests kept queued ahead of the window. */
#define FEED_DEPTH 256

/* Somebody gave it a LID and a table, and it forwards by that, whether it keeps the LID or not. */
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

static void on_block(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	const uint8_t *have = lft_have_block(&n->lft, r->mod);

	sm->adopt_pending--;
	if (r->end != MAD_END_ANSWERED)
		return;
	sm->adopt_differs |= !have || memcmp(have, r->payload, LFT_BLOCK_LIDS) != 0;
	lft_have_set(&n->lft, r->mod, r->payload);
}

static void ask_block(struct sm *sm, struct node *n, uint32_t block)
{
	sm->adopt_pending++;
	sm->adopt_asked = true;
	discover_get(sm, n, IB_ATTR_LFT, block, on_block);
}

static void on_pkeys(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	sm->adopt_pending--;
	if (r->end == MAD_END_ANSWERED)
		fabric_observe_pkeys(sm->fabric, p, r->mod & 0xFFFF, r->payload);
}

/* End ports; a standby also wants what switch ports before hosts check, because a master looks at that. */
static bool is_of_interest(const struct sm *sm, const struct port *p)
{
	return port_is_end(p) || (sm->sweep == SWEEP_WATCH && p->peer && port_is_end(p->peer));
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
	};

	if (!is_of_interest(sm, p) || !port_is_live(p) || mad_target_silent(sm->mad, rq.target) ||
	    fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	for (unsigned block = 0; block < blocks; block++) {
		if (!sm->read_tables && fabric_pkey_block(sm->fabric, p, block))
			continue;
		rq.mod = fabric_pkey_mod(p, block);
		sm->adopt_pending++;
		mad_submit(sm->mad, &rq, on_pkeys, sm, p);
	}
}

static void on_shares(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	sm->adopt_pending--;
	if (r->end == MAD_END_ANSWERED)
		p->node->lanes_left = qos_shares_are_lanes(r->payload);
}

static void ask_shares(struct sm *sm, struct node *n)
{
	struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_VLARB,
		.path = &n->path,
		.m_key = n->ports[0].m_key,
		.target = &n->target,
	};

	if (sm->first_sweep_done || sm->sweep == SWEEP_WATCH || !is_set_up(n) ||
	    mad_target_silent(sm->mad, rq.target))
		return;
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];

		if (!port_is_live(p) || p->vlarb || !ib_get(p->info, PI_VLARB_LOW_CAP) ||
		    ib_get(p->info, PI_VL_CAP) < 2)
			continue;
		rq.mod = 1u << 16 | i;
		sm->adopt_pending++;
		mad_submit(sm->mad, &rq, on_shares, sm, p);
		return;
	}
}

void adopt_start(struct sm *sm)
{
	sm->adopt_node = sm->adopt_block = 0;
	sm->adopt_differs = sm->adopt_asked = false;
	sm->adopt_end = sm->fabric->n_nodes;
	adopt_feed(sm);
}

/* Block by block over the nodes, as sync writes them. */
void adopt_feed(struct sm *sm)
{
	const struct fabric *f = sm->fabric;

	/* The master is lost: there is more to do than to look. */
	if (sm->sweep == SWEEP_WATCH && sm->state != SM_STANDBY)
		sm->adopt_node = sm->adopt_end;
	while (sm->adopt_node < sm->adopt_end && mad_pending(sm->mad) < FEED_DEPTH) {
		struct node *n = f->nodes[sm->adopt_node];

		if (is_set_up(n) && sm->adopt_block < blocks_of(n)) {
			if (sm->read_tables || !lft_have_block(&n->lft, sm->adopt_block))
				ask_block(sm, n, sm->adopt_block);
			sm->adopt_block++;
			continue;
		}
		for (unsigned i = 0; i <= n->n_ports; i++)
			ask_pkeys(sm, &n->ports[i]);
		ask_shares(sm, n);
		sm->adopt_node++;
		sm->adopt_block = 0;
	}
}

/* Routes that stand in no switch are no routes: what was found takes their place. */
void adopt_done(struct sm *sm)
{
	if (sm->read_tables && sm->routes && sm->adopt_differs) {
		log_info("forwarding tables were found that are not ours: they are taken over");
		sm->routes = routes_unref(sm->routes);
	}
	sm->read_tables = false;
}

bool adopt_busy(const struct sm *sm)
{
	return sm->adopt_node < sm->adopt_end || sm->adopt_pending;
}

static void fill_row(const struct node *n, uint8_t *row, lid_t top)
{
	for (uint32_t block = 0; block <= top / LFT_BLOCK_LIDS; block++) {
		const uint8_t *have = lft_have_block(&n->lft, block);

		if (have)
			memcpy(row + block * LFT_BLOCK_LIDS, have, LFT_BLOCK_LIDS);
	}
}

/* Highest LID with an entry that leads somewhere. */
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
 * Tables keep their top, with the columns of hosts that are away, if all switches agree on it; else
 * it is as high as something leads somewhere.
 */
static lid_t top_of(const struct sm *sm, const struct topo *topo)
{
	lid_t top = 0, used = 0;
	bool agree = true;

	for (uint32_t sw = 0; sw < topo->n_switches; sw++) {
		const struct node *n = fabric_find_node(sm->fabric, topo->switches[sw].guid);
		lid_t own = (lid_t)ib_get(n->switch_info, SI_LINEAR_FDB_TOP);

		if (!n->lft.n_blocks)
			continue;
		agree &= !top || own == top;
		top = own;
		used = MAX(used, last_entry(n));
	}
	return MAX(topo->max_lid, agree ? top : MIN(used, LID_MAX_UCAST));
}

/* Does the switch hold its row of `r`, as far as is known? */
static bool holds_row(const struct node *n, const struct routes *r)
{
	uint32_t sw = topo_find_switch(r->topo, n->guid);

	for (uint32_t block = 0; block < n->lft.n_blocks; block++) {
		const uint8_t *have = lft_have_block(&n->lft, block);

		if (!have || block > r->top / LFT_BLOCK_LIDS)
			continue;
		if (sw == TOPO_NONE || memcmp(have, routes_row(r, sw) + (size_t)block * LFT_BLOCK_LIDS, LFT_BLOCK_LIDS) != 0)
			return false;
	}
	return true;
}

/*
 * Switches that did not get what was meant for them, because others that should have been first did not answer: the
 * way to new tables begins at what they hold.
 */
bool adopt_holds(const struct sm *sm, const struct topo *topo)
{
	for (uint32_t sw = 0; sw < topo->n_switches; sw++)
		if (!holds_row(fabric_find_node(sm->fabric, topo->switches[sw].guid), sm->routes))
			return false;
	return true;
}

struct routes *adopt_routes(const struct sm *sm, const struct topo *topo)
{
	lid_t top = top_of(sm, topo);
	struct routes *r = NULL;

	for (uint32_t sw = 0; sw < topo->n_switches; sw++) {
		const struct node *n = fabric_find_node(sm->fabric, topo->switches[sw].guid);

		if (!n->lft.n_blocks)
			continue;
		if (!r)
			r = routes_new(topo, "adopted", top);
		fill_row(n, routes_row(r, sw), r->top);
	}
	return r;
}
