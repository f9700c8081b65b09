// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hand on a simulated fabric: asks one question at a time, and brings a fabric up in the plainest
 * way (LID = node index + 1, shortest paths). For tests of the simulator itself.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "sim/gen/gen.h"
#include "sim/sim.h"
#include "util/mem.h"

struct probe {
	struct sim *sim;
	struct transport *tr;
	int node;
	uint32_t tid;
	uint64_t m_key;
	struct dr_path *paths; /* per node, known after probe_paths() */
	uint8_t answer[SMP_DATA_SIZE];
};

static inline struct probe probe_open(struct sim *sim, const char *node, int port)
{
	return (struct probe){ .sim = sim,
			       .tr = sim_attach(sim, node, port),
			       .node = sim_find(sim, node) };
}

static inline void probe_close(struct probe *p)
{
	p->tr = transport_close(p->tr);
	free(p->paths);
}

/* Lets time pass until something is received; false: nothing ever will be. */
static inline bool probe_receive(struct probe *p, struct transport_event *ret)
{
	while (!transport_receive(p->tr, ret)) {
		if (sim_next(p->sim) == MONO_NEVER)
			return false;
		sim_advance(p->sim, sim_next(p->sim));
	}
	return true;
}

#define PROBE_TIMEOUT (-1)

/*
 * Status of the answer, PROBE_TIMEOUT if there was none. Other MADs that come in are thrown away.
 */
static inline int probe_wait(struct probe *p, uint32_t tid)
{
	struct transport_event ev;

	while (probe_receive(p, &ev)) {
		bool mine =
			ev.kind == TRANSPORT_RETURNED || ib_get(ev.mad, SMP_METHOD) == MAD_GET_RESP;

		if (!mine || ib_get(ev.mad, SMP_TID) != tid)
			continue;
		if (ev.kind == TRANSPORT_RETURNED)
			return PROBE_TIMEOUT;
		memcpy(p->answer, ev.mad + SMP_DATA, SMP_DATA_SIZE);
		return (int)ib_get(ev.mad, SMP_STATUS);
	}
	return PROBE_TIMEOUT;
}

static inline int probe_dr(struct probe *p, const struct dr_path *path, uint8_t method,
			   uint16_t attr, uint32_t mod)
{
	struct transport_addr to = { .lid = LID_PERMISSIVE };
	struct smp_head head = {
		.method = method, .attr = attr, .mod = mod, .m_key = p->m_key, .tid = ++p->tid
	};
	uint8_t mad[MAD_SIZE];

	smp_build_dr(mad, &head, path, method == MAD_SET ? p->answer : NULL);
	if (transport_send(p->tr, &to, mad, MAD_SIZE, 200) < 0)
		return -2;
	return probe_wait(p, head.tid);
}

static inline int probe_lid(struct probe *p, lid_t lid, uint8_t method, uint16_t attr, uint32_t mod)
{
	struct transport_addr to = { .lid = lid };
	struct smp_head head = {
		.method = method, .attr = attr, .mod = mod, .m_key = p->m_key, .tid = ++p->tid
	};
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, &head, method == MAD_SET ? p->answer : NULL);
	if (transport_send(p->tr, &to, mad, MAD_SIZE, 200) < 0)
		return -2;
	return probe_wait(p, head.tid);
}

/* Directed routes to all nodes, breadth first; what is not connected gets length 255. */
static inline void probe_paths(struct probe *p)
{
	unsigned n = sim_n_nodes(p->sim), head = 0, tail = 0;
	unsigned *queue = xcalloc(n, sizeof(*queue));

	free(p->paths);
	p->paths = xcalloc(n, sizeof(*p->paths));
	for (unsigned i = 0; i < n; i++)
		p->paths[i].length = 255;
	p->paths[p->node].length = 0;
	queue[tail++] = (unsigned)p->node;
	while (head < tail) {
		int at = (int)queue[head++], peer;
		unsigned peer_port;

		if (at != p->node && !sim_node_is_switch(p->sim, at))
			continue;
		for (unsigned port = 1; port <= sim_node_ports(p->sim, at); port++) {
			if (!sim_peer(p->sim, at, port, &peer, &peer_port) ||
			    p->paths[peer].length != 255)
				continue;
			dr_path_extend(&p->paths[at], (uint8_t)port, &p->paths[peer]);
			queue[tail++] = (unsigned)peer;
		}
	}
	free(queue);
}

static inline int probe_get(struct probe *p, int node, uint16_t attr, uint32_t mod)
{
	if (!p->paths)
		probe_paths(p);
	return probe_dr(p, &p->paths[node], MAD_GET, attr, mod);
}

/* Writes p->answer. */
static inline int probe_set(struct probe *p, int node, uint16_t attr, uint32_t mod)
{
	if (!p->paths)
		probe_paths(p);
	return probe_dr(p, &p->paths[node], MAD_SET, attr, mod);
}

/* PortInfo as a base for a Set: both states say "no change". */
static inline void probe_get_port(struct probe *p, int node, unsigned port)
{
	probe_get(p, node, IB_ATTR_PORT_INFO, port);
	ib_put(p->answer, PI_PORT_STATE, IB_PORT_NO_CHANGE);
	ib_put(p->answer, PI_PHYS_STATE, IB_PHYS_NO_CHANGE);
}

/* Read, change one field, write. */
#define probe_put(p, node, attr, mod, FIELD, value)                                                \
	(probe_get(p, node, attr, mod), ib_put((p)->answer, FIELD, value),                         \
	 probe_set(p, node, attr, mod))
#define probe_put_port(p, node, port, FIELD, value)                                                \
	(probe_get_port(p, node, port), ib_put((p)->answer, FIELD, value),                         \
	 probe_set(p, node, IB_ATTR_PORT_INFO, port))

static inline lid_t probe_lid_of(int node)
{
	return (lid_t)(node + 1);
}

static inline void probe_set_lids(struct probe *p)
{
	for (int i = 0; i < (int)sim_n_nodes(p->sim); i++) {
		probe_get_port(p, i, 0);
		ib_put(p->answer, PI_LID, probe_lid_of(i));
		ib_put(p->answer, PI_MASTER_SM_LID, probe_lid_of(p->node));
		ib_put(p->answer, PI_SUBNET_TIMEOUT, 18);
		probe_set(p, i, IB_ATTR_PORT_INFO, 0);
	}
}

/* For every switch the port towards `node`, by breadth-first search from there. */
static inline void probe_tree_to(struct probe *p, int node, uint8_t *port_of)
{
	unsigned n = sim_n_nodes(p->sim), head = 0, tail = 0;
	unsigned *queue = xcalloc(n, sizeof(*queue));

	memset(port_of, LFT_NO_PORT, n);
	port_of[node] = 0;
	queue[tail++] = (unsigned)node;
	while (head < tail) {
		int at = (int)queue[head++], peer;
		unsigned peer_port;

		if (at != node && !sim_node_is_switch(p->sim, at))
			continue;
		for (unsigned port = 1; port <= sim_node_ports(p->sim, at); port++)
			if (sim_peer(p->sim, at, port, &peer, &peer_port) &&
			    port_of[peer] == LFT_NO_PORT) {
				port_of[peer] = (uint8_t)peer_port;
				queue[tail++] = (unsigned)peer;
			}
	}
	free(queue);
}

static inline void probe_set_lfts(struct probe *p)
{
	unsigned n = sim_n_nodes(p->sim);
	uint8_t *ports = xcalloc(n, n);

	for (unsigned i = 0; i < n; i++)
		probe_tree_to(p, (int)i, ports + (size_t)i * n);
	for (unsigned sw = 0; sw < n; sw++) {
		if (!sim_node_is_switch(p->sim, (int)sw))
			continue;
		probe_get(p, (int)sw, IB_ATTR_SWITCH_INFO, 0);
		ib_put(p->answer, SI_LINEAR_FDB_TOP, n);
		ib_put(p->answer, SI_PORT_STATE_CHANGE, 1);
		probe_set(p, (int)sw, IB_ATTR_SWITCH_INFO, 0);
		for (unsigned block = 0; block * LFT_BLOCK_LIDS <= n; block++) {
			memset(p->answer, LFT_NO_PORT, SMP_DATA_SIZE);
			for (unsigned i = 0; i < LFT_BLOCK_LIDS; i++) {
				unsigned lid = block * LFT_BLOCK_LIDS + i;

				if (lid > 0 && lid <= n)
					p->answer[i] = ports[(size_t)(lid - 1) * n + sw];
			}
			probe_set(p, (int)sw, IB_ATTR_LFT, block);
		}
	}
	free(ports);
}

static inline void probe_set_state(struct probe *p, unsigned state)
{
	for (int i = 0; i < (int)sim_n_nodes(p->sim); i++)
		for (unsigned port = 1; port <= sim_node_ports(p->sim, i); port++)
			if (sim_port_state(p->sim, i, port) == state - 1)
				probe_put_port(p, i, port, PI_PORT_STATE, state);
}

static inline void probe_bring_up(struct probe *p)
{
	probe_set_lids(p);
	probe_set_lfts(p);
	probe_set_state(p, IB_PORT_ARMED);
	probe_set_state(p, IB_PORT_ACTIVE);
}
