// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cables and what the two ports on them do: train, fall, agree on speed and width.
 * Both ends always change together. Switches note it in PortStateChange and trap 128.
 */
#include "sim/sim_internal.h"
#include "sim/pma.h"

static struct sim_port *far_end(const struct sim *sim, const struct sim_port *p)
{
	return p->peer == SIM_NONE ? NULL : &sim->nodes[p->peer].ports[p->peer_port];
}

static unsigned highest_bit(uint64_t mask)
{
	return mask ? 1u << (63 - __builtin_clzll(mask)) : 0;
}

static uint64_t common(const struct sim_port *a, const struct sim_port *b, unsigned offset,
		       unsigned width)
{
	return ib_bits_get(a->info, offset, width) & ib_bits_get(b->info, offset, width);
}

/* Limits of a cable in width, and in each set of speeds; FDR10 separately. */
struct limits {
	unsigned width, speed[IB_SPEED_SETS];
	bool fdr10;
};

static struct limits limits_of(const struct sim_port *p)
{
	struct limits ret = { 0 };

	for (size_t i = 0; i < IB_WIDTHS; i++)
		if (!p->cable_lanes || ib_widths[i].lanes <= p->cable_lanes)
			ret.width |= ib_widths[i].bit;
	for (size_t i = 0; i < IB_SPEEDS; i++)
		for (unsigned set = 0; set < IB_SPEED_SETS; set++)
			if (!p->cable_tenths || ib_speeds[i].tenths <= p->cable_tenths)
				ret.speed[set] |= ib_speeds[i].bit[set];
	ret.fdr10 = !p->cable_tenths || p->cable_tenths >= IB_SPEED_FDR10;
	return ret;
}

/* Sets the active speed and width of the port at node:port: what both ends and the cable allow. */
void link_speed_negotiate(struct sim *sim, uint32_t node, unsigned port)
{
	struct sim_port *p = &sim->nodes[node].ports[port];
	const struct sim_port *q = far_end(sim, p);
	struct limits limits = limits_of(p);
	uint64_t ext = common(p, q, PI_SPEED_EXT_ENABLED, PI_SPEED_EXT_ENABLED_W) & 0xF &
		       limits.speed[IB_SPEED_EXTENDED];
	const struct ib_width *width = ib_widest(
		(unsigned)common(p, q, PI_WIDTH_ENABLED, PI_WIDTH_ENABLED_W) & limits.width);
	uint64_t ext2 = common(p, q, PI_SPEED_EXT2_ENABLED, PI_SPEED_EXT2_ENABLED_W) &
			limits.speed[IB_SPEED_EXTENDED2];
	unsigned speed = highest_bit(common(p, q, PI_SPEED_ENABLED, PI_SPEED_ENABLED_W) &
				     limits.speed[IB_SPEED_PLAIN]);
	bool both_extended = ib_get(p->info, PI_SPEED_EXT_ENABLED) < 30 &&
			     ib_get(q->info, PI_SPEED_EXT_ENABLED) < 30;
	bool fdr10 = (p->flags & q->flags & PF_FDR10) && !((p->flags | q->flags) & PF_FDR10_OFF);

	if (!both_extended)
		ext = 0;
	ib_put(p->info, PI_WIDTH_ACTIVE, width ? width->bit : 1);
	ib_put(p->info, PI_SPEED_ACTIVE, speed ? speed : 1);
	ib_put(p->info, PI_SPEED_EXT_ACTIVE, highest_bit(ext));
	ib_put(p->info, PI_SPEED_EXT2_ACTIVE, both_extended ? highest_bit(ext2) : 0);
	p->flags &= (uint8_t)~PF_FDR10_ACTIVE;
	if (fdr10 && limits.fdr10 && !ext && speed == 4)
		p->flags |= PF_FDR10_ACTIVE;
}

static void set_state(struct sim *sim, uint32_t node, unsigned port, unsigned state, unsigned phys)
{
	struct sim_node *n = &sim->nodes[node];
	struct sim_port *p = &n->ports[port];

	ib_put(p->info, PI_PORT_STATE, state);
	ib_put(p->info, PI_PHYS_STATE, phys);
	p->gen++;
	if (state == IB_PORT_DOWN)
		pma_count(p, SIM_LINK_DOWNED, 1);
	oracle_port_changed(sim, node, port);
	if (!node_is_switch(n) || n->off)
		return;
	ib_put(n->sw_info, SI_PORT_STATE_CHANGE, 1);
	trap_link_change(sim, node);
}

/* The link of node:port falls; the near end is left in `phys`, the far end polls. */
void link_state_down(struct sim *sim, uint32_t node, unsigned port, unsigned phys)
{
	struct sim_port *p = &sim->nodes[node].ports[port];
	struct sim_port *q = far_end(sim, p);

	if (!port_up(p)) {
		ib_put(p->info, PI_PHYS_STATE, phys);
		p->gen++;
		return;
	}
	set_state(sim, node, port, IB_PORT_DOWN, phys);
	if (q && q != p)
		set_state(sim, p->peer, p->peer_port, IB_PORT_DOWN, IB_PHYS_POLLING);
}

/* Polling finds something only if the cable is whole and the other end polls too. */
static bool can_train(const struct sim *sim, uint32_t node, unsigned port)
{
	const struct sim_node *n = &sim->nodes[node];
	const struct sim_port *p = &n->ports[port], *q = far_end(sim, p);

	if (!q || n->off || sim->nodes[p->peer].off || ((p->flags | q->flags) & PF_CUT))
		return false;
	return ib_get(p->info, PI_PHYS_STATE) == IB_PHYS_POLLING &&
	       ib_get(q->info, PI_PHYS_STATE) == IB_PHYS_POLLING;
}

void link_train(struct sim *sim, uint32_t node, unsigned port)
{
	struct event *ev;

	if (!can_train(sim, node, port))
		return;
	ev = event_new(sim, EV_TRAIN);
	ev->node = node;
	ev->port = (uint8_t)port;
	ev->gen = ++sim->nodes[node].ports[port].gen;
	queue_add(sim, ev, sim->now + sim->train_time);
}

void link_trained(struct sim *sim, struct event *ev)
{
	struct sim_port *p = &sim->nodes[ev->node].ports[ev->port];

	if (p->gen != ev->gen || !can_train(sim, ev->node, ev->port))
		return;
	link_speed_negotiate(sim, ev->node, ev->port);
	link_speed_negotiate(sim, p->peer, p->peer_port);
	set_state(sim, ev->node, ev->port, IB_PORT_INIT, IB_PHYS_LINK_UP);
	if (far_end(sim, p) != p)
		set_state(sim, p->peer, p->peer_port, IB_PORT_INIT, IB_PHYS_LINK_UP);
}

/* An ACTIVE port sends data; its ARMED neighbour becomes ACTIVE by receiving it (7.2.5). */
void link_auto_active(struct sim *sim, uint32_t node, unsigned port)
{
	struct sim_port *p = &sim->nodes[node].ports[port], *q = far_end(sim, p);
	bool near = port_state(p) == IB_PORT_ARMED;
	struct event *ev;

	if (!sim->auto_active || !q ||
	    port_state(p) + port_state(q) != IB_PORT_ARMED + IB_PORT_ACTIVE)
		return;
	ev = event_new(sim, EV_AUTO);
	ev->node = near ? node : p->peer;
	ev->port = near ? (uint8_t)port : p->peer_port;
	ev->gen = near ? p->gen : q->gen;
	queue_add(sim, ev, sim->now + sim->auto_active);
}

void link_auto_fire(struct sim *sim, const struct event *ev)
{
	struct sim_port *p = &sim->nodes[ev->node].ports[ev->port];

	if (p->gen != ev->gen || port_state(p) != IB_PORT_ARMED)
		return;
	ib_put(p->info, PI_PORT_STATE, IB_PORT_ACTIVE);
	oracle_port_changed(sim, ev->node, ev->port);
	oracle_port(sim, ev->node, ev->port);
}
