// SPDX-License-Identifier: BSD-2-Clause
/*
 * How nodes are: capabilities, names, keys and addresses a test chooses; and looking at them.
 */
#include "sim/sim_internal.h"

#define EACH_NODE(sim, node, i, n)                                                                 \
	for (uint32_t i = (node) < 0 ? 0 : (uint32_t)(node);                                       \
	     i < (sim)->n_nodes && ((node) < 0 || i == (uint32_t)(node)) &&                        \
	     (n = &(sim)->nodes[i]);                                                               \
	     i++)

static struct sim_port *look(const struct sim *sim, int node, unsigned port)
{
	const struct sim_node *n = sim_node(sim, node);

	return n && port <= n->nports ? &n->ports[port] : NULL;
}

int sim_find(const struct sim *sim, const char *id_or_desc)
{
	size_t len = strlen(id_or_desc);

	for (uint32_t i = 0; i < sim->n_nodes; i++)
		if (!strcmp(sim->nodes[i].id, id_or_desc))
			return (int)i;
	for (uint32_t i = 0; i < sim->n_nodes && len < SMP_DATA_SIZE; i++)
		if (!memcmp(sim->nodes[i].desc, id_or_desc, len + 1))
			return (int)i;
	return -1;
}

unsigned sim_n_nodes(const struct sim *sim)
{
	return sim->n_nodes;
}

const char *sim_node_id(const struct sim *sim, int node)
{
	const struct sim_node *n = sim_node(sim, node);

	return n ? n->id : "";
}

unsigned sim_node_ports(const struct sim *sim, int node)
{
	const struct sim_node *n = sim_node(sim, node);

	return n ? n->nports : 0;
}

bool sim_node_is_switch(const struct sim *sim, int node)
{
	const struct sim_node *n = sim_node(sim, node);

	return n && node_is_switch(n);
}

guid_t sim_node_guid(const struct sim *sim, int node)
{
	const struct sim_node *n = sim_node(sim, node);

	return n ? ib_get(n->node_info, NI_NODE_GUID) : 0;
}

enum ib_phys_state sim_phys_state(const struct sim *sim, int node, unsigned port)
{
	const struct sim_port *p = look(sim, node, port);

	return p ? (enum ib_phys_state)ib_get(p->info, PI_PHYS_STATE) : IB_PHYS_NO_CHANGE;
}

enum ib_port_state sim_port_state(const struct sim *sim, int node, unsigned port)
{
	const struct sim_port *p = look(sim, node, port);

	return p ? (enum ib_port_state)port_state(p) : IB_PORT_NO_CHANGE;
}

lid_t sim_port_lid(const struct sim *sim, int node, unsigned port)
{
	const struct sim_port *p = look(sim, node, port);

	return p ? (lid_t)ib_get(p->info, PI_LID) : 0;
}

uint8_t sim_lft(const struct sim *sim, int node, lid_t lid)
{
	const struct sim_node *n = sim_node(sim, node);

	return n && lid < n->lft_size ? n->lft[lid] : LFT_NO_PORT;
}

unsigned sim_reregistered(const struct sim *sim, int node, unsigned port)
{
	const struct sim_port *p = look(sim, node, port);

	return p ? p->reregs : 0;
}

bool sim_peer(const struct sim *sim, int node, unsigned port, int *ret_node, unsigned *ret_port)
{
	const struct sim_port *p = look(sim, node, port);

	if (!p || p->peer == SIM_NONE)
		return false;
	*ret_node = (int)p->peer;
	*ret_port = p->peer_port;
	return true;
}

void sim_quirk_no_store(struct sim *sim, int node)
{
	struct sim_node *n;

	EACH_NODE(sim, node, i, n)
		for (unsigned p = 0; p <= n->nports; p++)
			n->ports[p].flags |= PF_NO_STORE;
}

void sim_set_linear_cap(struct sim *sim, int node, lid_t cap)
{
	struct sim_node *n;

	EACH_NODE(sim, node, i, n)
		if (node_is_switch(n))
			ib_put(n->sw_info, SI_LINEAR_FDB_CAP, cap);
}

void sim_set_mcast_cap(struct sim *sim, int node, unsigned cap)
{
	struct sim_node *n;

	EACH_NODE(sim, node, i, n)
		if (node_is_switch(n))
			ib_put(n->sw_info, SI_MULTICAST_FDB_CAP, cap);
}

void sim_set_optimized_sl2vl(struct sim *sim, int node, bool on)
{
	struct sim_node *n;

	EACH_NODE(sim, node, i, n)
		if (node_is_switch(n))
			ib_put(n->sw_info, SI_OPTIMIZED_SL2VL, on);
}

void sim_set_state_table(struct sim *sim, int node, enum sim_state_table kind)
{
	const uint64_t bit = IB_CAP(IB_CAP2_PORT_STATE_TABLE);
	struct sim_node *n;

	EACH_NODE(sim, node, i, n) {
		uint8_t *info = n->ports[0].info;

		if (!node_is_switch(n))
			continue;
		n->state_table = (uint8_t)kind;
		ib_put(info, PI_CAP_MASK, ib_get(info, PI_CAP_MASK) | IB_CAP(IB_CAP_CAPMASK2));
		ib_put(info, PI_CAP_MASK2, (ib_get(info, PI_CAP_MASK2) & ~bit) | (kind ? bit : 0));
	}
}

int sim_set_defer(struct sim *sim, int node, unsigned port, bool on)
{
	struct sim_node *n = sim_node(sim, node);

	if (!n || port > n->nports)
		return -EINVAL;
	n->ports[port].flags &= (uint8_t)~PF_DEFER;
	if (on)
		n->ports[port].flags |= PF_DEFER;
	return 0;
}

void sim_set_caps(struct sim *sim, int node, enum ib_mtu mtu_cap, unsigned vl_cap)
{
	struct sim_node *n;

	EACH_NODE(sim, node, i, n)
		for (unsigned p = 0; p <= n->nports; p++) {
			uint8_t *pi = n->ports[p].info;

			ib_put(pi, PI_MTU_CAP, mtu_cap);
			ib_put(pi, PI_NEIGHBOR_MTU,
			       MIN(ib_get(pi, PI_NEIGHBOR_MTU), (uint64_t)mtu_cap));
			ib_put(pi, PI_VL_CAP, vl_cap);
		}
}

void sim_set_cap_mask(struct sim *sim, int node, uint32_t set, uint32_t clear)
{
	struct sim_node *n;

	EACH_NODE(sim, node, i, n)
	for (unsigned p = node_is_switch(n) ? 0 : 1; p <= (node_is_switch(n) ? 0u : n->nports);
	     p++) {
		uint8_t *pi = n->ports[p].info;

		ib_put(pi, PI_CAP_MASK, (ib_get(pi, PI_CAP_MASK) | set) & ~clear);
		trap_local_change(sim, i, p, 0);
	}
}

void sim_set_pkey_cap(struct sim *sim, int node, unsigned cap)
{
	struct sim_node *n;

	EACH_NODE(sim, node, i, n) {
		tables_free(n); /* rows have the old length */
		ib_put(n->node_info, NI_PARTITION_CAP, cap);
		if (node_is_switch(n))
			ib_put(n->sw_info, SI_PARTITION_ENF_CAP, cap);
	}
}

void sim_set_enforcement_cap(struct sim *sim, int node, unsigned cap)
{
	struct sim_node *n;

	EACH_NODE(sim, node, i, n) {
		if (!node_is_switch(n))
			continue;
		tables_free(n); /* rows have the old length */
		ib_put(n->sw_info, SI_PARTITION_ENF_CAP, cap);
	}
}

void sim_set_desc(struct sim *sim, int node, const char *desc)
{
	struct sim_node *n = sim_node(sim, node);

	if (!n)
		return;
	memset(n->desc, 0, SMP_DATA_SIZE);
	memcpy(n->desc, desc, MIN(strlen(desc), (size_t)SMP_DATA_SIZE));
	trap_local_change(sim, (uint32_t)node, node_is_switch(n) ? 0 : 1, 0x0001);
}

void sim_set_guid(struct sim *sim, int node, guid_t guid)
{
	struct sim_node *n = sim_node(sim, node);
	guid_t before;

	if (!n)
		return;
	before = ib_get(n->node_info, NI_NODE_GUID);
	ib_put(n->node_info, NI_NODE_GUID, guid);
	for (unsigned p = 0; p <= n->nports; p++)
		if (n->ports[p].guid)
			n->ports[p].guid += guid - before;
}

void sim_set_m_key(struct sim *sim, int node, unsigned port, uint64_t key, unsigned protect,
		   unsigned lease)
{
	struct sim_port *p = look(sim, node, port);

	if (!p)
		return;
	ib_put(p->info, PI_M_KEY, key);
	ib_put(p->info, PI_M_KEY_PROTECT, protect);
	ib_put(p->info, PI_M_KEY_LEASE, lease);
	p->lease_end = 0;
}

void sim_set_lid(struct sim *sim, int node, unsigned port, lid_t lid, uint8_t lmc, lid_t sm_lid)
{
	struct sim_port *p = look(sim, node, port);

	if (!p)
		return;
	ib_put(p->info, PI_LID, lid);
	ib_put(p->info, PI_LMC, lmc);
	ib_put(p->info, PI_MASTER_SM_LID, sm_lid);
	oracle_node_changed(sim, (uint32_t)node);
}

void sim_set_full_start(struct sim *sim)
{
	sim->full_start = true;
	for (uint32_t i = 0; i < sim->n_nodes; i++)
		for (unsigned p = 0; p <= sim->nodes[i].nports; p++)
			port_full_start(&sim->nodes[i].ports[p]);
}

void sim_set_always_extended(struct sim *sim)
{
	sim->always_extended = true;
}
