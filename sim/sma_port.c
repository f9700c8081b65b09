// SPDX-License-Identifier: BSD-2-Clause
/*
 * PortInfo (14.2.5.6): what is stored, what is only read, what is refused, and the state machine
 *
 *   DOWN --link trained--> INIT --Set--> ARMED --Set, or data--> ACTIVE
 *    ^------------------ Set DOWN, or the link is lost --------------/
 *
 * Any other Set of the state is refused, a Set to the present state included. Also the vendor's
 * ExtendedPortInfo.
 */
#include "sim/sim_internal.h"

#define SPEED_ALL 15
#define SPEED_EXT_ALL 31
#define SPEED_EXT_NONE 30
#define WIDTH_ALL 255

#define FIELD(f) { #f, f, f##_W }
#define COPY(table, to, from) copy_fields(table, ARRAY_SIZE(table), to, from)

/* Stored by ports with a LID of their own. */
static const struct ib_field end_port_fields[] = {
	FIELD(PI_GID_PREFIX), FIELD(PI_LID), FIELD(PI_MASTER_SM_LID), FIELD(PI_MASTER_SM_SL),
	FIELD(PI_INIT_TYPE_REPLY), FIELD(PI_LMC),
};
/* Stored by ports with a LID of their own, but not by ibsim. */
static const struct ib_field end_port_quirk_fields[] = {
	FIELD(PI_M_KEY), FIELD(PI_M_KEY_LEASE), FIELD(PI_M_KEY_PROTECT), FIELD(PI_SUBNET_TIMEOUT),
};
/* Stored by ports with a cable. */
static const struct ib_field link_fields[] = { FIELD(PI_VL_HIGH_LIMIT) };
static const struct ib_field link_quirk_fields[] = {
	FIELD(PI_NEIGHBOR_MTU), FIELD(PI_LOCAL_PHY_ERRORS), FIELD(PI_OVERRUN_ERRORS),
};
/* Stored by ports of switches and routers. */
static const struct ib_field forwarding_fields[] = { FIELD(PI_HOQ_LIFE) };
static const struct ib_field forwarding_quirk_fields[] = {
	FIELD(PI_VL_STALL_COUNT), FIELD(PI_PART_ENF_IN), FIELD(PI_PART_ENF_OUT),
	FIELD(PI_FILTER_RAW_IN), FIELD(PI_FILTER_RAW_OUT),
};

struct port_call {
	struct sma_call *c;
	struct sim_port *p;
	unsigned port;
	bool end_port;       /* has a LID */
	bool cabled;         /* set unless it is port 0 of a switch */
	bool forwarding;     /* port of a switch or router with a cable */
	bool extended;       /* modifier bit 31 */
};

static void copy_fields(const struct ib_field *fields, size_t n, uint8_t *to, const uint8_t *from)
{
	for (size_t i = 0; i < n; i++)
		ib_bits_put(to, fields[i].offset, fields[i].width,
			    ib_bits_get(from, fields[i].offset, fields[i].width));
}

/* Modifier to port; false: no such port, or a Set for another port of an adapter. */
static bool find_port(struct sma_call *c, struct port_call *ret)
{
	bool is_switch = node_is_switch(c->n);
	unsigned port = c->mod & 0xFF;

	if (c->mod & 0x7FFFFF00u)
		return false;
	if (!is_switch && port == 0)
		port = c->in_port;
	if (port > c->n->nports || (!is_switch && c->set && port != c->in_port))
		return false;
	*ret = (struct port_call){
		.c = c, .p = &c->n->ports[port], .port = port, .end_port = !is_switch || port == 0,
		.cabled = port > 0, .forwarding = port > 0 && c->n->type != IB_NODE_CA,
		.extended = c->mod & PI_MOD_EXTENDED_SPEEDS,
	};
	return true;
}

static void get_port_info(const struct port_call *pc)
{
	uint8_t *pi = pc->c->payload;

	memcpy(pi, pc->p->info, PI_BYTES);
	ib_put(pi, PI_LOCAL_PORT, pc->c->in_port);
	if (pc->c->foreign && ib_get(pi, PI_M_KEY_PROTECT))
		ib_put(pi, PI_M_KEY, 0);
	if (pc->extended || pc->c->sim->always_extended)
		return;
	ib_put(pi, PI_SPEED_EXT_ACTIVE, 0);
	ib_put(pi, PI_SPEED_EXT_SUPPORTED, 0);
	ib_put(pi, PI_SPEED_EXT_ENABLED, 0);
	ib_put(pi, PI_SPEED_EXT2_ACTIVE, 0);
	ib_put(pi, PI_SPEED_EXT2_SUPPORTED, 0);
	ib_put(pi, PI_SPEED_EXT2_ENABLED, 0);
}

static bool subset(uint64_t value, uint64_t of)
{
	return (value & ~of) == 0;
}

static bool valid_speeds(const struct port_call *pc, const uint8_t *want)
{
	const uint8_t *have = pc->p->info;
	uint64_t width = ib_get(want, PI_WIDTH_ENABLED), speed = ib_get(want, PI_SPEED_ENABLED);
	uint64_t ext = ib_get(want, PI_SPEED_EXT_ENABLED);

	if (width != WIDTH_ALL && !subset(width, ib_get(have, PI_WIDTH_SUPPORTED)))
		return false;
	if (speed != SPEED_ALL && !subset(speed, ib_get(have, PI_SPEED_SUPPORTED)))
		return false;
	return !pc->extended || ext >= SPEED_EXT_NONE ||
	       subset(ext, ib_get(have, PI_SPEED_EXT_SUPPORTED));
}

static bool valid_state(const struct port_call *pc, const uint8_t *want)
{
	unsigned state = (unsigned)ib_get(want, PI_PORT_STATE),
		 phys = (unsigned)ib_get(want, PI_PHYS_STATE);

	if (!pc->cabled)
		return true; /* port 0 is always ACTIVE; checked by valid_port0() */
	if (phys > IB_PHYS_DISABLED ||
	    (phys != IB_PHYS_NO_CHANGE && state != IB_PORT_DOWN && state != IB_PORT_NO_CHANGE))
		return false;
	switch (state) {
	case IB_PORT_NO_CHANGE:
	case IB_PORT_DOWN:
		return true;
	case IB_PORT_ARMED:
		return port_state(pc->p) == IB_PORT_INIT;
	case IB_PORT_ACTIVE:
		return port_state(pc->p) == IB_PORT_ARMED;
	}
	return false; /* INIT is not for the manager to set */
}

static bool valid_end_port(const struct port_call *pc, const uint8_t *want)
{
	unsigned lid = (unsigned)ib_get(want, PI_LID), lmc = (unsigned)ib_get(want, PI_LMC);
	bool base_port0 = !pc->cabled && !node_esp0(pc->c->n);

	if (!lid_is_unicast(lid) || lid + (1u << lmc) - 1 > LID_MAX_UCAST ||
	    ib_get(want, PI_MASTER_SM_LID) > LID_MAX_UCAST)
		return false;
	if (base_port0 && lmc != 0)
		return false;
	if (!pc->cabled && !base_port0 && ib_get(want, PI_PORT_STATE) > IB_PORT_DOWN)
		return false; /* enhanced port 0 is ACTIVE already */
	return (lid & ((1u << lmc) - 1)) == 0;
}

static bool valid_link(const struct port_call *pc, const uint8_t *want)
{
	unsigned mtu = (unsigned)ib_get(want, PI_NEIGHBOR_MTU),
		 vls = (unsigned)ib_get(want, PI_OPER_VLS);

	if (mtu < IB_MTU_256 || mtu > ib_get(pc->p->info, PI_MTU_CAP))
		return false;
	return vls <= ib_get(pc->p->info, PI_VL_CAP) && ib_get(want, PI_LINK_DOWN_DEFAULT) <= 2;
}

static bool valid(const struct port_call *pc)
{
	const uint8_t *want = pc->c->payload;

	if (pc->end_port && !valid_end_port(pc, want))
		return false;
	if (!pc->cabled)
		return true;
	return valid_link(pc, want) && valid_speeds(pc, want) && valid_state(pc, want);
}

static void store_speeds(const struct port_call *pc, const uint8_t *want)
{
	uint8_t *have = pc->p->info;
	uint64_t width = ib_get(want, PI_WIDTH_ENABLED), speed = ib_get(want, PI_SPEED_ENABLED);
	uint64_t ext = ib_get(want, PI_SPEED_EXT_ENABLED),
		 ext2 = ib_get(want, PI_SPEED_EXT2_ENABLED);

	if (width)
		ib_put(have, PI_WIDTH_ENABLED,
		       width == WIDTH_ALL ? ib_get(have, PI_WIDTH_SUPPORTED) : width);
	if (speed)
		ib_put(have, PI_SPEED_ENABLED,
		       speed == SPEED_ALL ? ib_get(have, PI_SPEED_SUPPORTED) : speed);
	if (!pc->extended || ext == 0)
		return;
	if (ext == SPEED_EXT_ALL)
		ext = ib_get(have, PI_SPEED_EXT_SUPPORTED);
	ib_put(have, PI_SPEED_EXT_ENABLED, ext);
	/* 7: all; 0: none, which a manager that writes zeroes where it knows no bits notices. */
	ib_put(have, PI_SPEED_EXT2_ENABLED, ext2 & ib_get(have, PI_SPEED_EXT2_SUPPORTED));
}

static void clear_violations(uint8_t *have, const uint8_t *want)
{
	if (ib_get(want, PI_M_KEY_VIOLATIONS) == 0)
		ib_put(have, PI_M_KEY_VIOLATIONS, 0);
	if (ib_get(want, PI_P_KEY_VIOLATIONS) == 0)
		ib_put(have, PI_P_KEY_VIOLATIONS, 0);
	if (ib_get(want, PI_Q_KEY_VIOLATIONS) == 0)
		ib_put(have, PI_Q_KEY_VIOLATIONS, 0);
}

static void store_end_port(const struct port_call *pc, const uint8_t *want, bool quirk)
{
	COPY(end_port_fields, pc->p->info, want);
	if (!quirk)
		COPY(end_port_quirk_fields, pc->p->info, want);
	if (pc->port == 0)
		oracle_node_changed(pc->c->sim, pc->c->node);
	clear_violations(pc->p->info, want);
	pc->p->reregs = (uint16_t)(pc->p->reregs + ib_get(want, PI_CLIENT_REREGISTER));
	if (!pc->cabled && node_esp0(pc->c->n) && ib_get(want, PI_NEIGHBOR_MTU))
		ib_put(pc->p->info, PI_NEIGHBOR_MTU, ib_get(want, PI_NEIGHBOR_MTU));
}

static void store_link(const struct port_call *pc, const uint8_t *want, bool quirk)
{
	uint8_t *have = pc->p->info;

	COPY(link_fields, have, want);
	if (!quirk)
		COPY(link_quirk_fields, have, want);
	if (pc->forwarding)
		COPY(forwarding_fields, have, want);
	if (pc->forwarding && !quirk)
		COPY(forwarding_quirk_fields, have, want);
	if (ib_get(want, PI_OPER_VLS))
		ib_put(have, PI_OPER_VLS, ib_get(want, PI_OPER_VLS));
	if (ib_get(want, PI_LINK_DOWN_DEFAULT))
		ib_put(have, PI_LINK_DOWN_DEFAULT, ib_get(want, PI_LINK_DOWN_DEFAULT));
	store_speeds(pc, want);
}

/*
 * DOWN, with or without a physical state: the link falls and, unless disabled, trains again. The
 * answer has left before.
 */
static void take_down(const struct port_call *pc, unsigned phys)
{
	struct sim *sim = pc->c->sim;

	if (phys == IB_PHYS_NO_CHANGE)
		phys = ib_get(pc->p->info, PI_PHYS_STATE) == IB_PHYS_DISABLED ? IB_PHYS_DISABLED
									      : IB_PHYS_POLLING;
	if (port_up(pc->p))
		sim->parting = pc->p;
	link_state_down(sim, pc->c->node, pc->port, phys);
	if (phys == IB_PHYS_POLLING)
		link_train(sim, pc->c->node, pc->port);
}

static void change_state(const struct port_call *pc, unsigned state, unsigned phys)
{
	struct sim *sim = pc->c->sim;
	const struct sim_port *peer =
		pc->p->peer == SIM_NONE ? NULL : &sim->nodes[pc->p->peer].ports[pc->p->peer_port];

	if (state == IB_PORT_DOWN || phys != IB_PHYS_NO_CHANGE) {
		take_down(pc, phys);
		return;
	}
	if (state == IB_PORT_NO_CHANGE)
		return;
	ib_put(pc->p->info, PI_PORT_STATE, state);
	if (state == IB_PORT_ACTIVE && (!peer || port_state(peer) < IB_PORT_ARMED))
		sim->early_active++;
	link_auto_active(sim, pc->c->node, pc->port);
	oracle_port_changed(sim, pc->c->node, pc->port);
	oracle_port(sim, pc->c->node, pc->port);
}

static uint16_t set_port_info(const struct port_call *pc)
{
	uint8_t want[PI_BYTES];
	bool quirk = pc->p->flags & PF_NO_STORE;

	memcpy(want, pc->c->payload, PI_BYTES);
	if (!valid(pc))
		return MAD_STATUS_BAD_VALUE;
	if (pc->end_port)
		store_end_port(pc, want, quirk);
	if (!pc->cabled)
		return 0;
	store_link(pc, want, quirk);
	change_state(pc, (unsigned)ib_get(want, PI_PORT_STATE),
		     (unsigned)ib_get(want, PI_PHYS_STATE));
	return 0;
}

uint16_t sma_port_info(struct sma_call *c)
{
	struct port_call pc;
	uint16_t status;

	if (!find_port(c, &pc))
		return MAD_STATUS_BAD_VALUE;
	status = c->set ? set_port_info(&pc) : 0;
	if (status)
		return status;
	get_port_info(&pc);
	return 0;
}

uint16_t sma_ext_port_info(struct sma_call *c)
{
	struct port_call pc;
	uint8_t *pi = c->payload;
	bool fdr10;

	if (ib_get(c->n->node_info, NI_VENDOR_ID) != 0x2C9)
		return MAD_STATUS_BAD_METHOD_ATTR;
	if (!find_port(c, &pc) || !pc.cabled)
		return MAD_STATUS_BAD_VALUE;
	fdr10 = pc.p->flags & PF_FDR10;
	if (c->set && fdr10)
		pc.p->flags = (uint8_t)(ib_get(pi, EPI_SPEED_ENABLED) & EPI_SPEED_FDR10
						? pc.p->flags & ~PF_FDR10_OFF
						: pc.p->flags | PF_FDR10_OFF);
	memset(pi, 0, SMP_DATA_SIZE);
	ib_put(pi, EPI_SPEED_SUPPORTED, fdr10 ? EPI_SPEED_FDR10 : 0);
	ib_put(pi, EPI_SPEED_ENABLED, fdr10 && !(pc.p->flags & PF_FDR10_OFF) ? EPI_SPEED_FDR10 : 0);
	ib_put(pi, EPI_SPEED_ACTIVE, pc.p->flags & PF_FDR10_ACTIVE ? EPI_SPEED_FDR10 : 0);
	return 0;
}
