// SPDX-License-Identifier: BSD-2-Clause
/*
 * What goes wrong, and how nodes are set up: everything a test may change from outside.
 * The effects are elsewhere; this file turns the knobs.
 */
#include <errno.h>
#include <limits.h>

#include "sim/sim_internal.h"

static uint32_t chance(double pct)
{
	if (pct <= 0)
		return 0;
	return pct >= 100 ? UINT32_MAX : (uint32_t)(pct / 100.0 * UINT32_MAX);
}

static struct sim_port *get_port(const struct sim *sim, int node, unsigned port)
{
	struct sim_node *n = sim_node(sim, node);

	return n && port <= n->nports ? &n->ports[port] : NULL;
}

void sim_set_loss(struct sim *sim, double request_pct, double response_pct)
{
	sim->request_loss = chance(request_pct);
	sim->response_loss = chance(response_pct);
}

void sim_set_delay(struct sim *sim, mono_t hop, mono_t jitter)
{
	sim->hop_time = hop;
	sim->jitter = jitter;
}

void sim_set_sma_time(struct sim *sim, mono_t busy)
{
	sim->sma_time = busy;
}

void sim_set_sma_queue(struct sim *sim, unsigned depth)
{
	sim->sma_queue = depth;
}

void sim_set_duplicates(struct sim *sim, double pct)
{
	sim->duplicates = chance(pct);
}

void sim_set_reorder(struct sim *sim, double pct, mono_t by)
{
	sim->reorder = chance(pct);
	sim->reorder_by = by;
}

void sim_set_trap_loss(struct sim *sim, double pct)
{
	sim->trap_loss = chance(pct);
}

void sim_set_train_time(struct sim *sim, mono_t t)
{
	sim->train_time = t;
}

void sim_set_auto_active(struct sim *sim, mono_t after)
{
	sim->auto_active = after;
}

void sim_set_silent(struct sim *sim, int node, enum sim_silence what, uint16_t attr)
{
	struct sim_node *n = sim_node(sim, node);

	if (!n)
		return;
	node_mood(n)->silence = what;
	n->mood->silent_attr = attr;
}

void sim_set_refuse(struct sim *sim, int node, uint16_t attr, uint16_t status)
{
	struct sim_node *n = sim_node(sim, node);

	if (!n)
		return;
	node_mood(n)->refuse_attr = attr;
	n->mood->refuse_status = status;
}

void sim_set_node_loss(struct sim *sim, int node, double request_pct, double response_pct)
{
	struct sim_node *n = sim_node(sim, node);

	if (!n)
		return;
	node_mood(n)->request_loss = chance(request_pct);
	n->mood->response_loss = chance(response_pct);
}

void sim_set_node_sma_time(struct sim *sim, int node, mono_t busy)
{
	struct sim_node *n = sim_node(sim, node);

	if (n)
		node_mood(n)->sma_time = busy;
}

void sim_set_link_loss(struct sim *sim, int node, unsigned port, unsigned pct)
{
	struct sim_port *p = get_port(sim, node, port);

	if (!p || p->peer == SIM_NONE)
		return;
	p->loss = (uint8_t)MIN(pct, 100u);
	sim->nodes[p->peer].ports[p->peer_port].loss = p->loss;
}

int sim_set_cable_rate(struct sim *sim, int node, unsigned port, unsigned lanes, unsigned tenths)
{
	struct sim_port *p = get_port(sim, node, port), *q;

	if (!p || p->peer == SIM_NONE)
		return -EINVAL;
	q = &sim->nodes[p->peer].ports[p->peer_port];
	p->cable_lanes = q->cable_lanes = (uint8_t)lanes;
	p->cable_tenths = q->cable_tenths = (uint16_t)tenths;
	return 0;
}

int sim_link_down(struct sim *sim, int node, unsigned port)
{
	struct sim_port *p = get_port(sim, node, port);

	if (!p || p->peer == SIM_NONE)
		return -EINVAL;
	p->flags |= PF_CUT;
	if (port_up(p))
		link_state_down(sim, (uint32_t)node, port, IB_PHYS_POLLING);
	return 0;
}

int sim_link_up(struct sim *sim, int node, unsigned port)
{
	struct sim_port *p = get_port(sim, node, port);

	if (!p || p->peer == SIM_NONE)
		return -EINVAL;
	p->flags &= (uint8_t)~PF_CUT;
	sim->nodes[p->peer].ports[p->peer_port].flags &= (uint8_t)~PF_CUT;
	link_train(sim, (uint32_t)node, port);
	return 0;
}

int sim_link_enable(struct sim *sim, int node, unsigned port, bool on)
{
	struct sim_port *p = get_port(sim, node, port);

	if (!p || p->peer == SIM_NONE)
		return -EINVAL;
	link_state_down(sim, (uint32_t)node, port, on ? IB_PHYS_POLLING : IB_PHYS_DISABLED);
	if (on)
		link_train(sim, (uint32_t)node, port);
	return 0;
}

int sim_link_flap(struct sim *sim, int node, unsigned port, mono_t down_for)
{
	struct event *ev;
	int r = sim_link_down(sim, node, port);

	if (r < 0)
		return r;
	ev = event_new(sim, EV_CABLE);
	ev->node = (uint32_t)node;
	ev->port = (uint8_t)port;
	queue_add(sim, ev, sim->now + down_for);
	return 0;
}

int sim_unplug(struct sim *sim, int node, unsigned port)
{
	struct sim_port *p = get_port(sim, node, port), *q;
	int r = sim_link_down(sim, node, port);

	if (r < 0)
		return r;
	q = &sim->nodes[p->peer].ports[p->peer_port];
	p->flags &= (uint8_t)~PF_CUT;
	q->flags &= (uint8_t)~PF_CUT;
	p->peer = q->peer = SIM_NONE;
	p->loss = q->loss = 0;
	p->cable_lanes = q->cable_lanes = 0;
	p->cable_tenths = q->cable_tenths = 0;
	return 0;
}

int sim_plug(struct sim *sim, int a, unsigned a_port, int b, unsigned b_port)
{
	struct sim_port *p = get_port(sim, a, a_port), *q = get_port(sim, b, b_port);

	if (!p || !q || a_port == 0 || b_port == 0 || p->peer != SIM_NONE || q->peer != SIM_NONE)
		return -EINVAL;
	p->peer = (uint32_t)b;
	p->peer_port = (uint8_t)b_port;
	q->peer = (uint32_t)a;
	q->peer_port = (uint8_t)a_port;
	link_train(sim, (uint32_t)a, a_port);
	return 0;
}

int sim_move(struct sim *sim, int node, unsigned port, int to, unsigned to_port)
{
	const struct sim_port *q = get_port(sim, to, to_port);
	int r;

	if (!q || to_port == 0 || q->peer != SIM_NONE)
		return -EINVAL;
	r = sim_unplug(sim, node, port);
	return r < 0 ? r : sim_plug(sim, node, port, to, to_port);
}

static void forget_address(struct sim_node *n)
{
	for (unsigned p = 0; p <= n->nports; p++) {
		ib_put(n->ports[p].info, PI_LID, 0);
		ib_put(n->ports[p].info, PI_LMC, 0);
	}
}

void sim_power(struct sim *sim, int node, bool on)
{
	struct sim_node *n = sim_node(sim, node);

	if (!n || n->off == !on)
		return;
	if (!on) {
		n->off = true;
		traps_forget(sim, (uint32_t)node);
		for (unsigned p = 1; p <= n->nports; p++)
			link_state_down(sim, (uint32_t)node, p, IB_PHYS_POLLING);
		node_reset(sim, (uint32_t)node);
		forget_address(n);
		oracle_node_changed(sim, (uint32_t)node);
		return;
	}
	n->off = false;
	for (unsigned p = 1; p <= n->nports; p++)
		link_train(sim, (uint32_t)node, p);
}

void sim_reboot(struct sim *sim, int node, mono_t down_for)
{
	struct event *ev;

	if (!sim_node(sim, node))
		return;
	sim_power(sim, node, false);
	ev = event_new(sim, EV_POWER);
	ev->node = (uint32_t)node;
	queue_add(sim, ev, sim->now + down_for);
}

void fault_event(struct sim *sim, const struct event *ev)
{
	if (ev->kind == EV_POWER)
		sim_power(sim, (int)ev->node, true);
	else
		sim_link_up(sim, (int)ev->node, ev->port);
}

void sim_ignore(struct sim *sim, int node, bool ignore)
{
	struct sim_node *n = sim_node(sim, node);

	if (n)
		n->ignored = ignore;
}
