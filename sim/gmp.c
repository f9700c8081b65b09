// SPDX-License-Identifier: BSD-2-Clause
/*
 * What general MADs have and SMPs do not: a partition, a Q_Key, a global route, a queue pair.
 */
#include "sim/sim_internal.h"

#define PKEY_FULL     0x8000u
#define PKEY_DEFAULT  0xFFFFu
#define GRH_GUIDS_MAX 256u

static unsigned pkey_count(const struct sim_node *n)
{
	return (unsigned)ib_get(n->node_info, NI_PARTITION_CAP);
}

/* P_Key of an end port; 0: no such entry, or an empty one. */
static uint16_t port_pkey(const struct sim_node *n, unsigned port, unsigned index)
{
	const struct tables *t = n->tables;

	if (index >= pkey_count(n))
		return 0;
	if (!t || !t->pkeys || !t->pkeys[port])
		return index == 0 ? PKEY_DEFAULT : 0;
	return t->pkeys[port][index];
}

static bool same_partition(uint16_t a, uint16_t b)
{
	return (a & ~PKEY_FULL) && (a & ~PKEY_FULL) == (b & ~PKEY_FULL) && ((a | b) & PKEY_FULL);
}

/* The index of the packet's partition at the port; -1: none, the packet is dropped (10.9.3). */
static int find_pkey(const struct sim_node *n, unsigned port, uint16_t pkey)
{
	for (unsigned i = 0; i < pkey_count(n); i++)
		if (same_partition(port_pkey(n, port, i), pkey))
			return (int)i;
	return -1;
}

static void put_gid(uint8_t gid[16], uint64_t prefix, guid_t guid)
{
	ib_bits_put(gid, 0, 64, prefix);
	ib_bits_put(gid, 64, 64, guid);
}

static guid_t port_guid_at(const struct sim_node *n, unsigned port, unsigned index)
{
	const struct tables *t = n->tables;

	if (index == 0)
		return n->ports[port].guid;
	if (!t || !t->guids || !t->guids[port] || index >= ib_get(n->ports[port].info, PI_GUID_CAP))
		return 0;
	return t->guids[port][index];
}

/*
 * Place of this GID in the port's table; -1: not ours. The default prefix is always valid (4.1.1).
 */
static int find_gid(const struct sim_node *n, unsigned port, const uint8_t gid[16])
{
	uint64_t prefix = ib_bits_get(gid, 0, 64);
	guid_t guid = ib_bits_get(gid, 64, 64);

	if (prefix != 0xFE80000000000000ull && prefix != ib_get(n->ports[port].info, PI_GID_PREFIX))
		return -1;
	for (unsigned i = 0; guid && i < GRH_GUIDS_MAX; i++)
		if (port_guid_at(n, port, i) == guid)
			return (int)i;
	return -1;
}

static bool put_grh(const struct sim_node *n, unsigned port, struct event *ev)
{
	guid_t guid = port_guid_at(n, port, ev->to.grh.gid_index);

	if (!guid)
		return false;
	ev->from.global = true;
	ev->from.grh = ev->to.grh;
	put_gid(ev->from.grh.gid, ib_get(n->ports[port].info, PI_GID_PREFIX), guid);
	return true;
}

bool gmp_leave(struct sim *sim, struct event *ev, uint32_t node, unsigned port)
{
	const struct sim_node *n = &sim->nodes[node];

	ev->pkey = port_pkey(n, port, ev->to.pkey_index);
	if (!(ev->pkey & ~PKEY_FULL) || ev->to.qp == 0)
		return false;
	return !ev->to.global || put_grh(n, port, ev);
}

bool gmp_is_ours(const struct sim_node *n, unsigned port, struct event *ev)
{
	unsigned lmc = (unsigned)ib_get(n->ports[port].info, PI_LMC);
	int pkey = find_pkey(n, port, ev->pkey);
	int gid = 0;

	if (pkey < 0 || (ev->to.qp == 1 && ev->to.qkey != MAD_QP1_QKEY))
		return false;
	if (ev->from.global)
		gid = find_gid(n, port, ev->to.grh.gid);
	if (gid < 0)
		return false;
	ev->from.grh.gid_index = (uint8_t)gid;
	ev->from.pkey_index = (uint16_t)pkey;
	ev->from.path_bits = (uint8_t)(ev->dlid & ((1u << lmc) - 1));
	ev->from.qkey = 0;
	return true;
}

static bool is_end_port(const struct sim_node *n, unsigned port)
{
	return n && port <= n->nports && node_is_switch(n) == (port == 0);
}

uint16_t sim_port_pkey(const struct sim *sim, int node, unsigned port, unsigned index)
{
	const struct sim_node *n = sim_node(sim, node);

	return is_end_port(n, port) ? port_pkey(n, port, index) : 0;
}

bool sim_port_gid(const struct sim *sim, int node, unsigned port, unsigned index, uint8_t ret[16])
{
	const struct sim_node *n = sim_node(sim, node);
	guid_t guid = is_end_port(n, port) ? port_guid_at(n, port, index) : 0;

	if (!guid)
		return false;
	put_gid(ret, ib_get(n->ports[port].info, PI_GID_PREFIX), guid);
	return true;
}
