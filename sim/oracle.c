// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watches the forwarding state after every Set: does a LID go round? A new circle must pass
 * through what was just changed, so only the changed entries are followed, from the changed switch.
 *
 * Data passes a port that is ACTIVE into one that is ARMED or ACTIVE. Judging a whole fabric is in
 * check.c.
 */
#include "sim/sim_internal.h"

/* The switch that data sent out of node:port reaches. */
static uint32_t behind(const struct sim *sim, uint32_t node, unsigned port)
{
	const struct sim_port *p = &sim->nodes[node].ports[port];

	if (!node_is_switch(&sim->nodes[node]) || port == 0 || p->peer == SIM_NONE)
		return SIM_NONE;
	if (port_state(p) != IB_PORT_ACTIVE || !node_is_switch(&sim->nodes[p->peer]))
		return SIM_NONE;
	return port_state(&sim->nodes[p->peer].ports[p->peer_port]) >= IB_PORT_ARMED ? p->peer
										     : SIM_NONE;
}

static struct hot_node look_at(const struct sim *sim, uint32_t node)
{
	const struct sim_node *n = &sim->nodes[node];

	return (struct hot_node){
		.lft = n->lft,
		.lft_end = n->lft ? MIN(n->lft_size, n->lft_top + 1u) : 0,
		.first_port = (uint32_t)(n->ports - sim->ports),
		.lid = (lid_t)ib_get(n->ports[0].info, PI_LID),
		.lmc = (uint8_t)ib_get(n->ports[0].info, PI_LMC),
		.nports = n->nports,
	};
}

void oracle_node_changed(struct sim *sim, uint32_t node)
{
	if (sim->hot)
		sim->hot[node] = look_at(sim, node);
}

static bool is_own(const struct hot_node *h, lid_t lid)
{
	return h->lid && lid >> h->lmc == h->lid >> h->lmc;
}

/* ---- ways that get lost ---------------------------------------------------------------------- */

/* The port leads to a host that has the LID. */
static bool leads_to_host(const struct sim *sim, uint32_t node, unsigned port, lid_t lid)
{
	const struct sim_port *p = &sim->nodes[node].ports[port];
	const uint8_t *info;
	unsigned lmc;

	if (p->peer == SIM_NONE || node_is_switch(&sim->nodes[p->peer]) ||
	    port_state(p) != IB_PORT_ACTIVE)
		return false;
	info = sim->nodes[p->peer].ports[p->peer_port].info;
	lmc = (unsigned)ib_get(info, PI_LMC);
	return lid && (unsigned)lid >> lmc == (unsigned)ib_get(info, PI_LID) >> lmc;
}

/* Does data for `lid` of a host arrive from `node`? With `through`: does it reach that switch? */
static bool arrives(const struct sim *sim, uint32_t node, lid_t lid, uint32_t through)
{
	for (uint32_t hops = 0; node != SIM_NONE && hops <= sim->n_nodes; hops++) {
		const struct hot_node *h = &sim->hot[node];
		uint8_t out = lid < h->lft_end ? h->lft[lid] : LFT_NO_PORT;

		if (node == through)
			return true;
		if (is_own(h, lid))
			return false;
		if (out == 0 || out > h->nports)
			return false;
		if (leads_to_host(sim, node, out, lid))
			return through == SIM_NONE;
		node = sim->hot_next[h->first_port + out];
	}
	return false;
}

static bool has_hosts(const struct sim *sim, uint32_t node)
{
	const struct sim_node *n = &sim->nodes[node];

	for (unsigned i = 1; node_is_switch(n) && i <= n->nports; i++)
		if (n->ports[i].peer != SIM_NONE &&
		    !node_is_switch(&sim->nodes[n->ports[i].peer]) &&
		    port_state(&n->ports[i]) == IB_PORT_ACTIVE)
			return true;
	return false;
}

/* Counts the lost path of `node` to `lid`, and those of switches that used `node`. */
static void count_lost(struct sim *sim, uint32_t node, lid_t lid)
{
	for (uint32_t i = 0; i < sim->n_nodes; i++)
		if (has_hosts(sim, i) && arrives(sim, i, lid, node))
			sim->lost_ever++;
}

/* The entry led to `port` before. */
static void look_for_loss(struct sim *sim, uint32_t node, lid_t lid, unsigned port)
{
	const struct hot_node *h = &sim->hot[node];
	uint32_t next;

	if (port == 0 || port > h->nports || is_own(h, lid) || arrives(sim, node, lid, SIM_NONE))
		return;
	next = sim->hot_next[h->first_port + port];
	if (leads_to_host(sim, node, port, lid) ||
	    (next != SIM_NONE && arrives(sim, next, lid, SIM_NONE)))
		count_lost(sim, node, lid);
}

/* The link out of node:port is about to fall. */
static void lose_link(struct sim *sim, uint32_t node, unsigned port)
{
	const struct hot_node *h = &sim->hot[node];
	uint32_t next = sim->hot_next[h->first_port + port];

	if (!sim->watch_lost || next == SIM_NONE || behind(sim, node, port) != SIM_NONE)
		return;
	for (uint32_t lid = 1; lid < h->lft_end; lid++)
		if (h->lft[lid] == port && arrives(sim, next, (lid_t)lid, SIM_NONE))
			count_lost(sim, node, (lid_t)lid);
}

void sim_watch_lost(struct sim *sim, bool on)
{
	sim->watch_lost = on;
	sim->lost_ever = on ? 0 : sim->lost_ever;
}

uint64_t sim_lost_ever(const struct sim *sim)
{
	return sim->lost_ever;
}

/* ---- what is true now ------------------------------------------------------------------------ */

void oracle_port_changed(struct sim *sim, uint32_t node, unsigned port)
{
	const struct sim_port *p = &sim->nodes[node].ports[port];

	if (!sim->hot)
		return;
	lose_link(sim, node, port);
	if (p->peer != SIM_NONE)
		lose_link(sim, p->peer, p->peer_port);
	sim->hot_next[sim->hot[node].first_port + port] = behind(sim, node, port);
	if (p->peer != SIM_NONE)
		sim->hot_next[sim->hot[p->peer].first_port + p->peer_port] =
			behind(sim, p->peer, p->peer_port);
}

void oracle_start(struct sim *sim)
{
	size_t n_ports = 1;

	for (uint32_t i = 0; i < sim->n_nodes; i++)
		n_ports += sim->nodes[i].nports + 1u;
	sim->hot = xcalloc(sim->n_nodes + 1ul, sizeof(*sim->hot));
	sim->hot_next = xcalloc(n_ports, sizeof(*sim->hot_next));
	for (uint32_t i = 0; i < sim->n_nodes; i++)
		oracle_node_changed(sim, i);
	for (uint32_t i = 0; i < sim->n_nodes; i++)
		for (unsigned p = 0; p <= sim->nodes[i].nports; p++)
			oracle_port_changed(sim, i, p);
	mcast_start(sim);
}

void oracle_stop(struct sim *sim)
{
	mcast_stop(sim);
	free(sim->hot);
	free(sim->hot_next);
}

bool oracle_is_current(const struct sim *sim)
{
	for (uint32_t i = 0; i < sim->n_nodes; i++) {
		const struct hot_node now = look_at(sim, i), *h = &sim->hot[i];

		if (h->lft != now.lft || h->lft_end != now.lft_end || h->lid != now.lid ||
		    h->lmc != now.lmc)
			return false;
		for (unsigned p = 0; p <= now.nports; p++)
			if (sim->hot_next[h->first_port + p] != behind(sim, i, p))
				return false;
	}
	return true;
}

/* Does `lid` come back to `node`? A circle elsewhere was there before and is not counted again. */
static bool comes_back(const struct sim *sim, uint32_t node, lid_t lid)
{
	const struct hot_node *h = &sim->hot[node];

	if (lid == 0 || is_own(h, lid))
		return false;
	for (uint32_t hops = 0; hops <= sim->n_nodes; hops++) {
		uint8_t out = lid < h->lft_end ? h->lft[lid] : LFT_NO_PORT;
		uint32_t at;

		if (out == 0 || out > h->nports)
			return false;
		at = sim->hot_next[h->first_port + out];
		if (at == SIM_NONE)
			return false;
		h = &sim->hot[at];
		if (at == node)
			return true;
		if (is_own(h, lid))
			return false;
	}
	return false;
}

void oracle_lft_block(struct sim *sim, uint32_t node, unsigned block, const uint8_t *before)
{
	const struct sim_node *n = &sim->nodes[node];
	unsigned first = block * LFT_BLOCK_LIDS;

	if (!sim->watch)
		return;
	for (unsigned i = 0; sim->watch_lost && i < LFT_BLOCK_LIDS; i++)
		if (n->lft[first + i] != before[i])
			look_for_loss(sim, node, (lid_t)(first + i), before[i]);
	for (unsigned i = 0; i < LFT_BLOCK_LIDS; i++)
		if (n->lft[first + i] != before[i] && comes_back(sim, node, (lid_t)(first + i)))
			sim->loops_ever++;
}

/* Entries above the old LinearFDBTop begin to count. */
void oracle_top(struct sim *sim, uint32_t node, lid_t before)
{
	const struct sim_node *n = &sim->nodes[node];

	if (!sim->watch)
		return;
	for (uint32_t lid = before + 1u; lid <= n->lft_top && lid < n->lft_size; lid++)
		if (comes_back(sim, node, (lid_t)lid))
			sim->loops_ever++;
}

static void check_entries(struct sim *sim, uint32_t node, unsigned port)
{
	const struct sim_node *n = &sim->nodes[node];
	uint32_t end = MIN(n->lft_size, n->lft_top + 1u);
	const uint8_t *at = n->lft;

	if (!node_is_switch(n) || !at)
		return;
	while ((at = memchr(at, (int)port, end - (size_t)(at - n->lft)))) {
		if (comes_back(sim, node, (lid_t)(at - n->lft)))
			sim->loops_ever++;
		at++;
	}
}

/* The port, or the one across, may have begun to pass data. */
void oracle_port(struct sim *sim, uint32_t node, unsigned port)
{
	const struct sim_port *p = &sim->nodes[node].ports[port];

	if (!sim->watch || p->peer == SIM_NONE || !node_is_switch(&sim->nodes[p->peer]))
		return;
	mcast_port(sim, node, port);
	if (port_state(p) == IB_PORT_ACTIVE)
		check_entries(sim, node, port);
	else if (port_state(p) == IB_PORT_ARMED &&
		 port_state(&sim->nodes[p->peer].ports[p->peer_port]) == IB_PORT_ACTIVE)
		check_entries(sim, p->peer, p->peer_port);
}

void sim_watch_loops(struct sim *sim, bool on)
{
	sim->watch = on;
	if (on)
		sim->loops_ever = sim->mcast_loops_ever = sim->mcast_twice_ever = 0;
}

uint64_t sim_loops_ever(const struct sim *sim)
{
	return sim->loops_ever;
}

uint64_t sim_early_active(const struct sim *sim)
{
	return sim->early_active;
}
