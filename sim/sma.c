// SPDX-License-Identifier: BSD-2-Clause
/*
 * The agent of a node: M_Key check, silence and refusals, then one row per attribute.
 * PortInfo is in sma_port.c, the tables in sma_tables.c.
 */
#include <errno.h>

#include "sim/sim_internal.h"

enum m_key_verdict { M_KEY_OURS, M_KEY_FOREIGN, M_KEY_REFUSED };

static void expire_lease(const struct sim *sim, struct sim_port *p)
{
	if (p->lease_end && sim->now >= p->lease_end) {
		ib_put(p->info, PI_M_KEY_PROTECT, 0);
		p->lease_end = 0;
	}
}

static void count_violation(const struct sim *sim, struct sim_port *p)
{
	uint64_t n = ib_get(p->info, PI_M_KEY_VIOLATIONS), lease = ib_get(p->info, PI_M_KEY_LEASE);

	if (n < UINT16_MAX)
		ib_put(p->info, PI_M_KEY_VIOLATIONS, n + 1);
	if (lease && !p->lease_end)
		p->lease_end = sim->now + (mono_t)lease * MONO_S;
}

void sim_wrong_m_key(struct sim *sim, int node, unsigned port)
{
	struct sim_node *n = sim_node(sim, node);
	struct sim_port *p = n && port <= n->nports ? &n->ports[port] : NULL;

	if (!p || !ib_get(p->info, PI_M_KEY))
		return;
	expire_lease(sim, p);
	count_violation(sim, p);
}

/* A directed route without a hop begins and ends at the same port. */
static bool is_from_own_host(const struct sim *sim, const uint8_t *mad)
{
	return sim->own_port_open && ib_get(mad, SMP_CLASS) == MAD_CLASS_SMI_DR &&
	       !ib_get(mad, SMP_HOP_COUNT);
}

/* 14.2.4: which requests a management key lets through. */
static enum m_key_verdict check_m_key(const struct sim *sim, struct sim_port *p, const uint8_t *mad)
{
	uint64_t key = ib_get(p->info, PI_M_KEY);
	unsigned method = (unsigned)ib_get(mad, SMP_METHOD);

	expire_lease(sim, p);
	if (key == 0)
		return M_KEY_OURS;
	if (key == ib_get(mad, SMP_M_KEY) || is_from_own_host(sim, mad)) {
		p->lease_end = 0;
		return M_KEY_OURS;
	}
	if (method == MAD_GET && (sim->gets_open || ib_get(p->info, PI_M_KEY_PROTECT) < 2))
		return M_KEY_FOREIGN;
	count_violation(sim, p);
	return M_KEY_REFUSED;
}

static bool is_silent(const struct sim_node *n, unsigned method, uint16_t attr)
{
	const struct mood *m = n->mood;

	if (!m || m->silence == SIM_ANSWERS || (m->silent_attr && m->silent_attr != attr))
		return false;
	return m->silence == SIM_SILENT || (m->silence == SIM_SILENT_GET && method == MAD_GET) ||
	       (m->silence == SIM_SILENT_SET && method == MAD_SET);
}

static uint16_t sma_node_info(struct sma_call *c)
{
	if (c->set)
		return MAD_STATUS_BAD_METHOD_ATTR;
	memset(c->payload, 0, SMP_DATA_SIZE);
	memcpy(c->payload, c->n->node_info, NI_BYTES);
	ib_put(c->payload, NI_LOCAL_PORT, c->in_port);
	ib_put(c->payload, NI_PORT_GUID, node_end_port(c->n, c->in_port)->guid);
	return 0;
}

static uint16_t sma_node_desc(struct sma_call *c)
{
	if (c->set)
		return MAD_STATUS_BAD_METHOD_ATTR;
	memcpy(c->payload, c->n->desc, SMP_DATA_SIZE);
	return 0;
}

static uint16_t set_switch_info(struct sma_call *c)
{
	static const struct ib_field copied[] = {
		{ "LINEAR_FDB_TOP", SI_LINEAR_FDB_TOP, SI_LINEAR_FDB_TOP_W },
		{ "DEFAULT_PORT", SI_DEFAULT_PORT, SI_DEFAULT_PORT_W },
		{ "DEFAULT_MCAST_PRIMARY", SI_DEFAULT_MCAST_PRIMARY, SI_DEFAULT_MCAST_PRIMARY_W },
		{ "DEFAULT_MCAST_NOT_PRIMARY", SI_DEFAULT_MCAST_NOT_PRIMARY,
		  SI_DEFAULT_MCAST_NOT_PRIMARY_W },
		{ "LIFE_TIME", SI_LIFE_TIME, SI_LIFE_TIME_W },
	};
	uint8_t *si = c->n->sw_info;
	lid_t before = c->n->lft_top, top = (lid_t)ib_get(c->payload, SI_LINEAR_FDB_TOP);
	lid_t mcast_before = (lid_t)ib_get(si, SI_MULTICAST_FDB_TOP);

	if (top >= ib_get(si, SI_LINEAR_FDB_CAP))
		return MAD_STATUS_BAD_VALUE;
	for (size_t i = 0; i < ARRAY_SIZE(copied); i++)
		ib_bits_put(si, copied[i].offset, copied[i].width,
			    ib_bits_get(c->payload, copied[i].offset, copied[i].width));
	if (ib_get(c->n->ports[0].info, PI_CAP_MASK) & IB_CAP(IB_CAP_MULTICAST_FDB_TOP))
		ib_put(si, SI_MULTICAST_FDB_TOP, ib_get(c->payload, SI_MULTICAST_FDB_TOP));
	if (ib_get(c->payload, SI_PORT_STATE_CHANGE))
		ib_put(si, SI_PORT_STATE_CHANGE, 0);
	c->n->lft_top = top;
	oracle_node_changed(c->sim, c->node);
	oracle_top(c->sim, c->node, before);
	mcast_top(c->sim, c->node, mcast_before);
	return 0;
}

static uint16_t sma_switch_info(struct sma_call *c)
{
	uint16_t status = 0;

	if (!node_is_switch(c->n))
		return MAD_STATUS_BAD_METHOD_ATTR;
	if (c->set)
		status = set_switch_info(c);
	if (status)
		return status;
	memset(c->payload, 0, SMP_DATA_SIZE);
	memcpy(c->payload, c->n->sw_info, SI_BYTES);
	return 0;
}

static const struct {
	uint16_t attr;
	uint16_t (*answer)(struct sma_call *c);
} rows[] = {
	{ IB_ATTR_PORT_INFO, sma_port_info },		   /* 14.2.5.6 */
	{ IB_ATTR_LFT, sma_lft },			   /* 14.2.5.10 */
	{ IB_ATTR_NODE_INFO, sma_node_info },		   /* 14.2.5.3 */
	{ IB_ATTR_PKEY_TABLE, sma_pkeys },		   /* 14.2.5.7 */
	{ IB_ATTR_SL2VL, sma_sl2vl },			   /* 14.2.5.8 */
	{ IB_ATTR_VLARB, sma_vlarb },			   /* 14.2.5.9 */
	{ IB_ATTR_SWITCH_INFO, sma_switch_info },	   /* 14.2.5.4 */
	{ IB_ATTR_NODE_DESC, sma_node_desc },		   /* 14.2.5.2 */
	{ IB_ATTR_MFT, sma_mft },			   /* 14.2.5.12 */
	{ IB_ATTR_GUID_INFO, sma_guids },		   /* 14.2.5.5 */
	{ IB_ATTR_PORT_STATE_TABLE, sma_port_states },
	{ IB_ATTR_MLNX_EXT_PORT_INFO, sma_ext_port_info }, /* vendor */
};

static uint16_t call_row(struct sma_call *c, uint16_t attr)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].attr == attr)
			return rows[i].answer(c);
	return MAD_STATUS_BAD_METHOD_ATTR;
}

int sim_read(struct sim *sim, int node, uint16_t attr, uint32_t mod, uint8_t ret[SMP_DATA_SIZE])
{
	uint8_t payload[SMP_DATA_SIZE] = { 0 };
	struct sma_call c = {
		.sim = sim, .n = sim_node(sim, node), .mod = mod, .payload = payload
	};

	if (!c.n)
		return -EINVAL;
	c.node = (uint32_t)node;
	c.in_port = node_is_switch(c.n) ? 0 : 1;
	if (call_row(&c, attr))
		return -ENOENT;
	memcpy(ret, payload, SMP_DATA_SIZE);
	return 0;
}

static uint16_t handle(struct sim *sim, struct event *ev, bool foreign)
{
	struct sim_node *n = &sim->nodes[ev->node];
	struct sma_call c = {
		.sim = sim,
		.n = n,
		.node = ev->node,
		.in_port = ev->port,
		.foreign = foreign,
		.set = ib_get(ev->mad, SMP_METHOD) == MAD_SET,
		.payload = ev->mad + SMP_DATA,
		.mod = (uint32_t)ib_get(ev->mad, SMP_ATTR_MOD),
	};
	uint16_t attr = (uint16_t)ib_get(ev->mad, SMP_ATTR_ID), status;

	if (ib_get(ev->mad, SMP_BASE_VERSION) != 1 || ib_get(ev->mad, SMP_CLASS_VERSION) != 1)
		return MAD_STATUS_BAD_VERSION;
	if (!c.set && ib_get(ev->mad, SMP_METHOD) != MAD_GET)
		return MAD_STATUS_BAD_METHOD;
	if (c.set && n->mood && n->mood->refuse_status && n->mood->refuse_attr == attr)
		return n->mood->refuse_status;
	status = call_row(&c, attr);
	if (c.set)
		key_watch_set(sim, ev->node, ev->port);
	return status;
}

/* Waiting for those before it, then the work itself. False: the agent's queue is full. */
static bool take_turn(struct sim *sim, struct sim_node *n, struct event *ev)
{
	mono_t start = MAX(n->busy_until, sim->now);
	mono_t work = n->mood && n->mood->sma_time ? n->mood->sma_time : sim->sma_time;

	if (sim->sma_queue && work && (start - sim->now) / work >= (mono_t)sim->sma_queue)
		return false;
	n->busy_until = start + work;
	ev->at = n->busy_until;
	return true;
}

void sim_set_own_port_open(struct sim *sim, bool open)
{
	sim->own_port_open = open;
}

void sim_set_gets_open(struct sim *sim, bool open)
{
	sim->gets_open = open;
}

static void answer(struct sim *sim, struct event *ev, uint16_t status)
{
	smp_make_response(ev->mad, status, NULL);
	ev->dlid = ev->from.lid;
	ev->from.lid = (lid_t)ib_get(node_end_port(&sim->nodes[ev->node], ev->port)->info, PI_LID);
	forward_send(sim, ev, ev->node, ev->port);
	sim->parting = NULL;
}

static void to_link(struct sim *sim, struct event *ev, const struct sim_port *p)
{
	if (p->link)
		link_deliver(sim, p->link - 1u, ev);
	else
		event_free(sim, ev);
}

/* A Get or Set of an SMP attribute, or an unknown method. */
static void request(struct sim *sim, struct event *ev, struct sim_port *p)
{
	struct sim_node *n = &sim->nodes[ev->node];
	uint16_t attr = (uint16_t)ib_get(ev->mad, SMP_ATTR_ID);
	enum m_key_verdict v;

	if (is_silent(n, (unsigned)ib_get(ev->mad, SMP_METHOD), attr) || !take_turn(sim, n, ev)) {
		event_free(sim, ev);
		return;
	}
	v = check_m_key(sim, p, ev->mad);
	key_watch_look(sim, ev->node, ev->port);
	if (v == M_KEY_REFUSED) {
		trap_bad_m_key(sim, ev->node, ev->port, ev->mad, ev->from.lid);
		event_free(sim, ev);
		return;
	}
	if (attr == IB_ATTR_SM_INFO && link_is_sm(sim, p))
		to_link(sim, ev, p);
	else
		answer(sim, ev, handle(sim, ev, v == M_KEY_FOREIGN));
}

void sma_arrive(struct sim *sim, struct event *ev)
{
	struct sim_port *p = node_end_port(&sim->nodes[ev->node], ev->port);
	unsigned method = (unsigned)ib_get(ev->mad, SMP_METHOD);

	if ((method & MAD_RESPONSE_BIT) || method == MAD_TRAP) {
		to_link(sim, ev, p);
	} else if (method == MAD_TRAP_REPRESS) {
		if (trap_repressed(sim, ev->node, ev->mad))
			event_free(sim, ev);
		else
			to_link(sim, ev, p);
	} else {
		request(sim, ev, p);
	}
}
