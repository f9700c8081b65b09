// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watches the forwarding state after every Set: does a LID go round? A new circle must pass
 * through what was just changed, so only the changed entries are followed, from the changed switch.
 *
 * Data passes a port that is ACTIVE into one that is ARMED or ACTIVE. Judging a whole fabric is in
 * check.c.
 */
#include "libvendor/sim/impl.h"

/* The switch that `lid` reaches next from `node`; SIM_NONE: it leaves the switches or is dropped. */
static uint32_t next_switch(const struct sim *sim, uint32_t node, lid_t lid)
{
	const struct sim_node *n = &sim->nodes[node];
	const struct sim_port *p;
	unsigned out = node_lft(n, lid);

	if (out == 0 || out > n->nports)
		return SIM_NONE;
	p = &n->ports[out];
	if (port_state(p) != IB_PORT_ACTIVE || p->peer == SIM_NONE || !node_is_switch(&sim->nodes[p->peer]))
		return SIM_NONE;
	if (port_state(&sim->nodes[p->peer].ports[p->peer_port]) < IB_PORT_ARMED)
		return SIM_NONE;
	return p->peer;
}

/* Does `lid` come back to `node`? A circle elsewhere was there before and is not counted again. */
static bool comes_back(const struct sim *sim, uint32_t node, lid_t lid)
{
	uint32_t at = node;

	if (lid == 0 || port_has_lid(&sim->nodes[node].ports[0], lid))
		return false;
	for (uint32_t hops = 0; hops <= sim->n_nodes; hops++) {
		at = next_switch(sim, at, lid);
		if (at == node)
			return true;
		if (at == SIM_NONE || port_has_lid(&sim->nodes[at].ports[0], lid))
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
	if (port_state(p) == IB_PORT_ACTIVE)
		check_entries(sim, node, port);
	else if (port_state(p) == IB_PORT_ARMED && port_state(&sim->nodes[p->peer].ports[p->peer_port]) == IB_PORT_ACTIVE)
		check_entries(sim, p->peer, p->peer_port);
}

void sim_watch_loops(struct sim *sim, bool on)
{
	sim->watch = on;
	if (on)
		sim->loops_ever = 0;
}

uint64_t sim_loops_ever(const struct sim *sim)
{
	return sim->loops_ever;
}

uint64_t sim_early_active(const struct sim *sim)
{
	return sim->early_active;
}
