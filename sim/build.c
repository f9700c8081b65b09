// SPDX-License-Identifier: BSD-2-Clause
/*
 * From a netfile to nodes with ports, and what a node looks like right after power-on.
 * Chip templates: what a plain switch and a plain adapter report. No links are trained here but
 * the first time, at time 0.
 */
#include "sim/sim_internal.h"
#include "sim/cca.h"
#include "sim/pma.h"

#define CA_CAP_MASK                                                                                \
	(IB_CAP(IB_CAP_SL_MAPPING) | IB_CAP(3) | IB_CAP(IB_CAP_EXTENDED_SPEEDS) | IB_CAP(16) | \
	 IB_CAP(22) | IB_CAP(IB_CAP_CLIENT_REREGISTER))
#define SW_CAP_MASK                                                                                \
	(IB_CAP(IB_CAP_SL_MAPPING) | IB_CAP(3) | IB_CAP(IB_CAP_EXTENDED_SPEEDS) | IB_CAP(16) | \
	 IB_CAP(22) | IB_CAP(IB_CAP_MULTICAST_FDB_TOP))

/* PortInfo:LinkWidthSupported of a port that can do `lanes`. */
static unsigned width_mask(unsigned lanes)
{
	switch (lanes) {
	case 1:
		return 0x01;
	case 2:
		return 0x11;
	case 8:
		return 0x07;
	case 12:
		return 0x0B;
	default:
		return 0x03;
	}
}

/* Sets the supported speeds up to that of this row. */
static void put_speeds(uint8_t *info, const struct ib_speed *most)
{
	unsigned bits[IB_SPEED_SETS] = { 0 };

	for (const struct ib_speed *s = ib_speeds; s <= most; s++)
		for (unsigned set = 0; set < IB_SPEED_SETS; set++)
			bits[set] |= s->bit[set];
	ib_put(info, PI_SPEED_SUPPORTED, bits[IB_SPEED_PLAIN]);
	ib_put(info, PI_SPEED_EXT_SUPPORTED, bits[IB_SPEED_EXTENDED]);
	ib_put(info, PI_SPEED_EXT2_SUPPORTED, bits[IB_SPEED_EXTENDED2]);
}

static void port_template(const struct sim_node *n, unsigned port, const struct netfile_port *np,
			  struct sim_port *p)
{
	const struct ib_speed *s = ib_speed_of(np->speed ? np->speed : NETFILE_DEFAULT_SPEED);
	bool end_port = !node_is_switch(n) || port == 0;

	p->lanes = np->width ? np->width : 4;
	p->cable_lanes = np->cable_width;
	p->cable_tenths = np->cable_speed;
	p->loss = np->silent ? 100 : 0;
	p->flags = s->tenths >= IB_SPEED_FDR10 && s->tenths <= 250 ? PF_FDR10 : 0;
	ib_put(p->info, PI_WIDTH_SUPPORTED, width_mask(p->lanes));
	put_speeds(p->info, s);
	ib_put(p->info, PI_MTU_CAP, IB_MTU_4096);
	ib_put(p->info, PI_VL_CAP, 4);
	ib_put(p->info, PI_VLARB_HIGH_CAP, 8);
	ib_put(p->info, PI_VLARB_LOW_CAP, 8);
	ib_put(p->info, PI_LOCAL_PORT, port);
	ib_put(p->info, PI_RESP_TIME, 16);
	if (!end_port)
		return;
	ib_put(p->info, PI_CAP_MASK, node_is_switch(n) ? SW_CAP_MASK : CA_CAP_MASK);
	ib_put(p->info, PI_GUID_CAP, node_is_switch(n) ? 8 : 128);
	ib_put(p->info, PI_LID, np->lid);
	ib_put(p->info, PI_LMC, np->lmc);
}

static void make_node_info(struct sim_node *n, const struct netfile_node *nn)
{
	uint8_t *ni = n->node_info;

	ib_put(ni, NI_BASE_VERSION, 1);
	ib_put(ni, NI_CLASS_VERSION, 1);
	ib_put(ni, NI_NODE_TYPE, nn->type);
	ib_put(ni, NI_NUM_PORTS, nn->nports);
	ib_put(ni, NI_SYSTEM_IMAGE_GUID, nn->sysimg_guid ? nn->sysimg_guid : nn->guid);
	ib_put(ni, NI_NODE_GUID, nn->guid);
	ib_put(ni, NI_PARTITION_CAP, node_is_switch(n) ? 8 : 64);
	ib_put(ni, NI_DEVICE_ID, nn->device_id);
	ib_put(ni, NI_REVISION, 0xA0);
	ib_put(ni, NI_VENDOR_ID, nn->vendor_id ? nn->vendor_id : 0x2C9);
}

static void make_switch_info(struct sim_node *n, const struct netfile_node *nn)
{
	uint8_t *si = n->sw_info;

	ib_put(si, SI_LINEAR_FDB_CAP, 0xC000);
	ib_put(si, SI_MULTICAST_FDB_CAP, 0x4000);
	ib_put(si, SI_PARTITION_ENF_CAP, 32);
	ib_put(si, SI_INBOUND_ENF_CAP, 1);
	ib_put(si, SI_OUTBOUND_ENF_CAP, 1);
	ib_put(si, SI_ENHANCED_PORT0, nn->enhanced_port0);
}

static guid_t port_guid(const struct netfile_node *nn, bool is_switch, unsigned port)
{
	if (is_switch)
		return nn->guid;
	return nn->ports[port].guid ? nn->ports[port].guid : nn->guid + port;
}

/* Its end ports say that byte 56 of PortInfo means something. */
static void say_xdr(const struct sim_node *n, struct sim_port *ports)
{
	for (unsigned p = 0; p <= (node_is_switch(n) ? 0u : n->nports); p++) {
		ib_put(ports[p].info, PI_CAP_MASK,
		       ib_get(ports[p].info, PI_CAP_MASK) | IB_CAP(IB_CAP_CAPMASK2));
		ib_put(ports[p].info, PI_CAP_MASK2,
		       IB_CAP(IB_CAP2_EXTENDED_SPEEDS2) | IB_CAP(IB_CAP2_XDR));
	}
}

static void make_node(struct sim *sim, uint32_t i, const struct netfile_node *nn,
		      struct sim_port *ports)
{
	struct sim_node *n = &sim->nodes[i];

	n->id = xstrdup(nn->id);
	n->type = nn->type;
	n->nports = nn->nports;
	n->ports = ports;
	make_node_info(n, nn);
	if (node_is_switch(n))
		make_switch_info(n, nn);
	memcpy(n->desc, nn->desc[0] ? nn->desc : nn->id, strlen(nn->desc[0] ? nn->desc : nn->id));
	for (unsigned p = 0; p <= n->nports; p++) {
		ports[p].guid =
			p > 0 && node_is_switch(n) ? 0 : port_guid(nn, node_is_switch(n), p);
		ports[p].peer = p > 0 && nn->ports[p].peer_node >= 0
					? (uint32_t)nn->ports[p].peer_node
					: SIM_NONE;
		ports[p].peer_port = nn->ports[p].peer_port;
		port_template(n, p, &nn->ports[p], &ports[p]);
	}
	for (unsigned p = 0; p <= n->nports; p++)
		if (ib_get(ports[p].info, PI_SPEED_EXT2_SUPPORTED)) {
			say_xdr(n, ports);
			break;
		}
}

static void tables_clear_row(void **rows, unsigned n)
{
	for (unsigned i = 0; rows && i < n; i++)
		free(rows[i]);
	free(rows);
}

void tables_free(struct sim_node *n)
{
	struct tables *t = n->tables;

	if (!t)
		return;
	tables_clear_row((void **)t->pkeys, n->nports + 1u);
	tables_clear_row((void **)t->guids, n->nports + 1u);
	free(t->sl2vl);
	free(t->vlarb);
	free(t->mft);
	free(t);
	n->tables = NULL;
}

/* Fields that the SM may write get their power-on values; abilities of the chip stay. */
static void port_reset(const struct sim_node *n, unsigned port)
{
	struct sim_port *p = &n->ports[port];
	unsigned mtu = (unsigned)MIN(ib_get(p->info, PI_MTU_CAP), (uint64_t)IB_MTU_2048);
	bool port0 = node_is_switch(n) && port == 0;

	ib_put(p->info, PI_M_KEY, 0);
	ib_put(p->info, PI_GID_PREFIX, node_is_switch(n) && port > 0 ? 0 : 0xFE80000000000000ull);
	ib_put(p->info, PI_MASTER_SM_LID, 0);
	ib_put(p->info, PI_M_KEY_LEASE, 0);
	ib_put(p->info, PI_M_KEY_PROTECT, 0);
	ib_put(p->info, PI_M_KEY_VIOLATIONS, 0);
	ib_put(p->info, PI_MASTER_SM_SL, 0);
	ib_put(p->info, PI_NEIGHBOR_MTU, mtu);
	ib_put(p->info, PI_OPER_VLS, 1);
	ib_put(p->info, PI_VL_HIGH_LIMIT, 0);
	ib_put(p->info, PI_VL_STALL_COUNT, 0);
	ib_put(p->info, PI_HOQ_LIFE, 0);
	ib_put(p->info, PI_INIT_TYPE_REPLY, 0);
	ib_put(p->info, PI_PART_ENF_IN, 0);
	ib_put(p->info, PI_PART_ENF_OUT, 0);
	ib_put(p->info, PI_FILTER_RAW_IN, 0);
	ib_put(p->info, PI_FILTER_RAW_OUT, 0);
	ib_put(p->info, PI_SUBNET_TIMEOUT, 0);
	ib_put(p->info, PI_LOCAL_PHY_ERRORS, 0);
	ib_put(p->info, PI_OVERRUN_ERRORS, 0);
	ib_put(p->info, PI_LINK_DOWN_DEFAULT, 2);
	ib_put(p->info, PI_WIDTH_ENABLED, ib_get(p->info, PI_WIDTH_SUPPORTED));
	ib_put(p->info, PI_SPEED_ENABLED, ib_get(p->info, PI_SPEED_SUPPORTED));
	ib_put(p->info, PI_SPEED_EXT_ENABLED, ib_get(p->info, PI_SPEED_EXT_SUPPORTED));
	ib_put(p->info, PI_SPEED_EXT2_ENABLED, ib_get(p->info, PI_SPEED_EXT2_SUPPORTED));
	ib_put(p->info, PI_PORT_STATE, port0 ? IB_PORT_ACTIVE : IB_PORT_DOWN);
	ib_put(p->info, PI_PHYS_STATE, port0 ? IB_PHYS_LINK_UP : IB_PHYS_POLLING);
	p->lease_end = 0;
	pma_reset(p);
	cca_reset(p);
	if (port0) {
		ib_put(p->info, PI_WIDTH_ACTIVE, 2);
		ib_put(p->info, PI_SPEED_ACTIVE, 1);
	}
}

void port_full_start(struct sim_port *p)
{
	ib_put(p->info, PI_NEIGHBOR_MTU, ib_get(p->info, PI_MTU_CAP));
	ib_put(p->info, PI_OPER_VLS, ib_get(p->info, PI_VL_CAP));
}

struct mood *node_mood(struct sim_node *n)
{
	if (!n->mood)
		n->mood = xcalloc(1, sizeof(*n->mood));
	return n->mood;
}

void node_reset(struct sim *sim, uint32_t node)
{
	struct sim_node *n = &sim->nodes[node];

	tables_free(n);
	free(n->lft);
	n->lft = NULL;
	n->lft_size = 0;
	n->lft_top = 0;
	n->busy_until = sim->now;
	if (node_is_switch(n)) {
		ib_put(n->sw_info, SI_LINEAR_FDB_TOP, 0);
		ib_put(n->sw_info, SI_LIFE_TIME, 0);
		ib_put(n->sw_info, SI_PORT_STATE_CHANGE, 1);
		ib_put(n->sw_info, SI_MULTICAST_FDB_TOP, 0);
		ib_put(n->sw_info, SI_DEFAULT_PORT, 0);
		ib_put(n->sw_info, SI_DEFAULT_MCAST_PRIMARY, 0);
		ib_put(n->sw_info, SI_DEFAULT_MCAST_NOT_PRIMARY, 0);
	}
	for (unsigned p = 0; p <= n->nports; p++) {
		port_reset(n, p);
		key_watch_reset(&n->ports[p]);
		if (sim->full_start)
			port_full_start(&n->ports[p]);
	}
}

static void train_at_once(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->n_nodes; i++)
		for (unsigned p = 1; p <= sim->nodes[i].nports; p++) {
			struct sim_port *port = &sim->nodes[i].ports[p];

			if (port->peer == SIM_NONE)
				continue;
			link_speed_negotiate(sim, i, p);
			ib_put(port->info, PI_PORT_STATE, IB_PORT_INIT);
			ib_put(port->info, PI_PHYS_STATE, IB_PHYS_LINK_UP);
		}
}

void sim_build(struct sim *sim, const struct netfile *net)
{
	size_t n_ports = 0, first = 0;

	for (size_t i = 0; i < net->n_nodes; i++)
		n_ports += net->nodes[i].nports + 1u;
	sim->n_nodes = (uint32_t)net->n_nodes;
	sim->nodes = xcalloc(net->n_nodes ? net->n_nodes : 1, sizeof(*sim->nodes));
	sim->ports = xcalloc(n_ports ? n_ports : 1, sizeof(*sim->ports));
	for (uint32_t i = 0; i < sim->n_nodes; i++) {
		make_node(sim, i, &net->nodes[i], sim->ports + first);
		first += net->nodes[i].nports + 1u;
		node_reset(sim, i);
		if (net->nodes[i].silent)
			node_mood(&sim->nodes[i])->silence = SIM_SILENT;
	}
	train_at_once(sim);
}
