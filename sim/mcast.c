// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watches multicast tables: wherever a packet of a group is sent from, no switch may send it on
 * twice. A switch sends copies out of every port of its row but the one it came in by.
 *
 * What begins to send is looked at: the switches connected with it by copies are a tree almost
 * always, and then nothing can come twice. If not, a packet is sent from each of them.
 *
 * A MulticastFDBTop below 0xBFFF was never set: all rows count. Default multicast ports are not
 * simulated: what has no row goes nowhere.
 */
#include <errno.h>

#include "sim/sim_internal.h"

#define MLID_FIRST	0xC000u
#define POSITIONS	16u
#define MLIDS_PER_BLOCK 32u
#define TOP_NONE	0xBFFFu

/* Room for walks over switches. */
struct mcast_watch {
	uint32_t walk;	   /* number of the walk at hand */
	uint32_t *visited; /* per node: the walk that met it last */
	uint32_t *judged;  /* per node: the sweep over an MLID that judged it */
	uint32_t *queue;
	bool *on_way; /* per node: the packet is on its way from it */
	uint32_t judgement;
};

enum mcast_fault { MCAST_FINE, MCAST_TWICE, MCAST_LOOP };

void mcast_start(struct sim *sim)
{
	struct mcast_watch *w = xcalloc(1, sizeof(*w));

	w->visited = xcalloc(sim->n_nodes + 1ul, sizeof(*w->visited));
	w->judged = xcalloc(sim->n_nodes + 1ul, sizeof(*w->judged));
	w->queue = xcalloc(sim->n_nodes + 1ul, sizeof(*w->queue));
	w->on_way = xcalloc(sim->n_nodes + 1ul, sizeof(*w->on_way));
	sim->mcast = w;
}

void mcast_stop(struct sim *sim)
{
	free(sim->mcast->visited);
	free(sim->mcast->judged);
	free(sim->mcast->queue);
	free(sim->mcast->on_way);
	free(sim->mcast);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Numbers (MLID - 0xC000) whose rows count at a switch are below this. */
static unsigned live_end(const struct sim_node *n)
{
	unsigned cap = (unsigned)ib_get(n->sw_info, SI_MULTICAST_FDB_CAP);
	unsigned top = (unsigned)ib_get(n->sw_info, SI_MULTICAST_FDB_TOP);
	bool has_top = ib_get(n->ports[0].info, PI_CAP_MASK) & IB_CAP(IB_CAP_MULTICAST_FDB_TOP);

	if (!node_is_switch(n) || !n->tables)
		return 0;
	cap = MIN(cap, n->tables->mft_rows);
	return has_top && top >= TOP_NONE ? MIN(cap, top + 1 - MLID_FIRST) : cap;
}

/* 16 masks, or NULL: nothing is sent. */
static const uint16_t *row_of(const struct sim *sim, uint32_t node, unsigned number)
{
	const struct sim_node *n = &sim->nodes[node];

	return number < live_end(n) ? &n->tables->mft[(size_t)number * POSITIONS] : NULL;
}

static bool sends(const uint16_t *row, unsigned port)
{
	return row && row[port / 16] >> port % 16 & 1;
}

/* Does a copy that comes in by `in` go anywhere? */
static bool sends_beyond(const uint16_t *row, unsigned in)
{
	for (unsigned i = 0; row && i < POSITIONS; i++)
		if (row[i] & ~(i == in / 16 ? 1u << in % 16 : 0))
			return true;
	return false;
}

static uint32_t next_switch(const struct sim *sim, uint32_t node, unsigned port)
{
	return sim->hot_next[sim->hot[node].first_port + port];
}

/* ---- one packet ---------------------------------------------------------------------------- */

/* Follows the copies from `node`, which they reached by port `in`; ends at the first fault. */
static enum mcast_fault send_on(struct sim *sim, uint32_t node, unsigned in, unsigned number)
{
	struct mcast_watch *w = sim->mcast;
	const uint16_t *row = row_of(sim, node, number);
	enum mcast_fault fault = MCAST_FINE;

	if (w->visited[node] == w->walk && w->on_way[node])
		return MCAST_LOOP;
	if (w->visited[node] == w->walk)
		return sends_beyond(row, in) ? MCAST_TWICE : MCAST_FINE;
	w->visited[node] = w->walk;
	w->on_way[node] = true;
	for (unsigned p = 1; row && p <= sim->nodes[node].nports && fault == MCAST_FINE; p++) {
		uint32_t next = p != in && sends(row, p) ? next_switch(sim, node, p) : SIM_NONE;

		if (next != SIM_NONE)
			fault = send_on(sim, next, sim->nodes[node].ports[p].peer_port, number);
	}
	w->on_way[node] = false;
	return fault;
}

/* ---- connected switches -------------------------------------------------------------------- */

/* Do copies pass between node:port and the switch behind it, either way? */
static bool is_joined(const struct sim *sim, uint32_t node, unsigned port, const uint16_t *row,
		      unsigned number)
{
	const struct sim_port *p = &sim->nodes[node].ports[port];

	if (p->peer == SIM_NONE || !node_is_switch(&sim->nodes[p->peer]))
		return false;
	if (sends(row, port) && next_switch(sim, node, port) != SIM_NONE)
		return true;
	return next_switch(sim, p->peer, p->peer_port) != SIM_NONE &&
	       sends(row_of(sim, p->peer, number), p->peer_port);
}

/*
 * Switches connected with `start` go to w->queue. Returns their number, *ret_ends: ends of cables.
 */
static uint32_t gather(struct sim *sim, uint32_t start, unsigned number, uint32_t *ret_ends)
{
	struct mcast_watch *w = sim->mcast;
	uint32_t head = 0, n = 0;

	w->walk++;
	w->visited[start] = w->walk;
	w->queue[n++] = start;
	*ret_ends = 0;
	while (head < n) {
		uint32_t at = w->queue[head++];
		const uint16_t *row = row_of(sim, at, number);

		w->judged[at] = w->judgement;
		for (unsigned p = 1; p <= sim->nodes[at].nports; p++) {
			uint32_t peer = sim->nodes[at].ports[p].peer;

			if (!is_joined(sim, at, p, row, number))
				continue;
			++*ret_ends;
			if (w->visited[peer] == w->walk)
				continue;
			w->visited[peer] = w->walk;
			w->queue[n++] = peer;
		}
	}
	return n;
}

static enum mcast_fault look_at(struct sim *sim, uint32_t node, unsigned number)
{
	enum mcast_fault worst = MCAST_FINE;
	uint32_t ends, n = gather(sim, node, number, &ends);

	if (ends == 2 * (n - 1)) /* it is a tree */
		return MCAST_FINE;
	for (uint32_t i = 0; i < n && worst != MCAST_LOOP; i++) {
		enum mcast_fault fault;

		sim->mcast->walk++;
		fault = send_on(sim, sim->mcast->queue[i], 0, number);
		worst = MAX(worst, fault);
	}
	return worst;
}

static void watch(struct sim *sim, uint32_t node, unsigned number)
{
	enum mcast_fault fault = look_at(sim, node, number);

	if (fault == MCAST_LOOP)
		sim->mcast_loops_ever++;
	if (fault == MCAST_TWICE)
		sim->mcast_twice_ever++;
}

/* ---- what changes -------------------------------------------------------------------------- */

void mcast_block(struct sim *sim, uint32_t node, uint32_t mod, const uint16_t *before)
{
	unsigned first = (mod & 0x1FF) * MLIDS_PER_BLOCK, position = mod >> 28;

	if (!sim->watch)
		return;
	for (unsigned i = 0; i < MLIDS_PER_BLOCK; i++) {
		const uint16_t *row = row_of(sim, node, first + i);

		if (row && row[position] & ~before[i])
			watch(sim, node, first + i);
	}
}

void mcast_top(struct sim *sim, uint32_t node, lid_t before)
{
	const struct sim_node *n = &sim->nodes[node];
	unsigned end = live_end(n);

	if (!sim->watch || before < TOP_NONE || before == ib_get(n->sw_info, SI_MULTICAST_FDB_TOP))
		return;
	for (unsigned number = before + 1 - MLID_FIRST; number < end; number++)
		watch(sim, node, number);
}

static void watch_port(struct sim *sim, uint32_t node, unsigned port)
{
	unsigned end = live_end(&sim->nodes[node]);

	for (unsigned number = 0; number < end; number++)
		if (sends(row_of(sim, node, number), port))
			watch(sim, node, number);
}

void mcast_port(struct sim *sim, uint32_t node, unsigned port)
{
	const struct sim_port *p = &sim->nodes[node].ports[port];

	if (!sim->watch || p->peer == SIM_NONE || !node_is_switch(&sim->nodes[node]) ||
	    !node_is_switch(&sim->nodes[p->peer]))
		return;
	if (next_switch(sim, node, port) != SIM_NONE)
		watch_port(sim, node, port);
	if (next_switch(sim, p->peer, p->peer_port) != SIM_NONE)
		watch_port(sim, p->peer, p->peer_port);
}

/* ---- questions ----------------------------------------------------------------------------- */

static bool has_fault(struct sim *sim, unsigned number)
{
	sim->mcast->judgement++;
	for (uint32_t i = 0; i < sim->n_nodes; i++)
		if (row_of(sim, i, number) && sim->mcast->judged[i] != sim->mcast->judgement &&
		    look_at(sim, i, number) != MCAST_FINE)
			return true;
	return false;
}

uint32_t mcast_count_faults(struct sim *sim)
{
	unsigned end = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->n_nodes; i++)
		end = MAX(end, live_end(&sim->nodes[i]));
	for (unsigned number = 0; number < end; number++)
		n += has_fault(sim, number);
	return n;
}

/* Data passes from a port into the one across. */
static bool data_passes(const struct sim *sim, const struct sim_port *from)
{
	if (from->peer == SIM_NONE || !port_up(from) || port_state(from) != IB_PORT_ACTIVE)
		return false;
	return port_state(&sim->nodes[from->peer].ports[from->peer_port]) >= IB_PORT_ARMED;
}

struct delivery {
	sim_mcast_fn fn;
	void *arg;
	uint64_t left; /* copies between switches before it is given up as going round */
	unsigned n;
};

static void deliver(struct delivery *d, uint32_t node, unsigned port)
{
	d->n++;
	if (d->fn)
		d->fn(d->arg, (int)node, port);
}

static void reach(const struct sim *sim, struct delivery *d, uint32_t node, unsigned in,
		  unsigned number)
{
	const uint16_t *row = row_of(sim, node, number);

	if (row && in != 0 && sends(row, 0))
		deliver(d, node, 0);
	for (unsigned p = 1; row && p <= sim->nodes[node].nports; p++) {
		const struct sim_port *port = &sim->nodes[node].ports[p];

		if (p == in || !sends(row, p) || !data_passes(sim, port))
			continue;
		if (!node_is_switch(&sim->nodes[port->peer])) {
			deliver(d, port->peer, port->peer_port);
		} else if (d->left) {
			d->left--;
			reach(sim, d, port->peer, port->peer_port, number);
		}
	}
}

int sim_mcast_reach(struct sim *sim, lid_t mlid, int node, unsigned port, sim_mcast_fn fn,
		    void *arg)
{
	const struct sim_node *n = sim_node(sim, node);
	struct delivery d = { .fn = fn, .arg = arg, .left = 2ull * sim->n_nodes };
	const struct sim_port *p;

	if (!n || port > n->nports || mlid < MLID_FIRST || node_is_switch(n) != (port == 0))
		return -EINVAL;
	p = &n->ports[port];
	if (port == 0)
		reach(sim, &d, (uint32_t)node, 0, mlid - MLID_FIRST);
	else if (data_passes(sim, p) && node_is_switch(&sim->nodes[p->peer]))
		reach(sim, &d, p->peer, p->peer_port, mlid - MLID_FIRST);
	else if (data_passes(sim, p))
		deliver(&d, p->peer, p->peer_port);
	return (int)d.n;
}

uint64_t sim_mcast_loops_ever(const struct sim *sim)
{
	return sim->mcast_loops_ever;
}

uint64_t sim_mcast_twice_ever(const struct sim *sim)
{
	return sim->mcast_twice_ever;
}
