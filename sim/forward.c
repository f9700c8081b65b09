// SPDX-License-Identifier: BSD-2-Clause
/*
 * The way of a MAD: hop by hop along a directed route, or by the forwarding tables of the switches
 * it meets. The way is walked when the MAD leaves; it arrives after the time its hops take, if the
 * dice let it. SMPs are counted here.
 *
 * A directed route only needs trained links (14.2.2). LID routing needs the programmed tables, and
 * behind the first cable ports that are ARMED or ACTIVE. A GMP is data: each port that sends it
 * must be ACTIVE (7.2.7). The way of a request may have a part by LIDs before its directed route
 * (DrSLID), and one behind it (DrDLID); answers do not go back such ways here.
 */
#include "sim/sim_internal.h"
#include "util/random.h"

#define LID_HOPS_MAX 64

struct place {
	uint32_t node;
	unsigned port;
	unsigned hops;
};

/* ---- dice and counts ---- */

static uint64_t draw(struct sim *sim)
{
	return random_next(&sim->rng);
}

bool forward_chance(struct sim *sim, uint32_t p)
{
	if (p == 0)
		return false;
	return p == UINT32_MAX || (uint32_t)draw(sim) < p;
}

void forward_count(struct sim *sim, uint16_t attr, uint8_t method)
{
	size_t i;

	for (i = 0; i < sim->n_counts; i++)
		if (sim->counts[i].attr == attr && sim->counts[i].method == method)
			break;
	if (i == sim->n_counts) {
		GROW(sim->counts, i + 1, sim->cap_counts);
		sim->counts[i] = (struct count){ .attr = attr, .method = method };
		sim->n_counts++;
	}
	sim->counts[i].n++;
}

uint64_t sim_count(const struct sim *sim, uint16_t attr, uint8_t method)
{
	uint64_t n = 0;

	for (size_t i = 0; i < sim->n_counts; i++)
		if (sim->counts[i].method == method && (attr == 0 || sim->counts[i].attr == attr))
			n += sim->counts[i].n;
	return n;
}

/* ---- the way ---- */

/* Through the cable of port `out`; false: no link, or lost on it. */
static bool cross(struct sim *sim, struct place *at, unsigned out)
{
	const struct sim_port *p = &sim->nodes[at->node].ports[out];

	if ((!port_up(p) && p != sim->parting) || p->peer == SIM_NONE)
		return false;
	at->node = p->peer;
	at->port = p->peer_port;
	at->hops++;
	if (p->loss && forward_chance(sim, (uint32_t)(p->loss * (UINT32_MAX / 100.0))))
		return false;
	return true;
}

/* May `out` be the next hop of a directed route at `at`? Adapters only begin or end one. */
static bool may_leave(const struct sim *sim, const struct place *at, unsigned out)
{
	const struct sim_node *n = &sim->nodes[at->node];

	if (node_is_switch(n))
		return out > 0 && out <= n->nports;
	return at->hops == 0 && out == at->port;
}

static bool walk_request(struct sim *sim, uint8_t *mad, struct place *at)
{
	unsigned hops = (unsigned)ib_get(mad, SMP_HOP_COUNT);

	for (unsigned i = 1; i <= hops; i++) {
		unsigned out = mad[SMP_INITIAL_PATH + i];

		if (!may_leave(sim, at, out) || !cross(sim, at, out))
			return false;
		mad[SMP_RETURN_PATH + i] = (uint8_t)at->port;
	}
	ib_put(mad, SMP_HOP_POINTER, hops + 1);
	return true;
}

static bool walk_response(struct sim *sim, uint8_t *mad, struct place *at)
{
	unsigned hops = (unsigned)ib_get(mad, SMP_HOP_COUNT);

	for (unsigned i = hops; i >= 1; i--) {
		unsigned out = mad[SMP_RETURN_PATH + i];

		if (!may_leave(sim, at, out) || !cross(sim, at, out))
			return false;
	}
	ib_put(mad, SMP_HOP_POINTER, 0);
	return true;
}

/* The port a switch sends `dlid` out of; 0: it is for itself; LFT_NO_PORT: dropped. */
static unsigned next_port(const struct sim *sim, const struct place *at, lid_t dlid)
{
	struct sim_node *n = &sim->nodes[at->node];
	unsigned out;

	if (port_has_lid(&n->ports[0], dlid))
		return 0;
	out = node_lft(n, dlid);
	if (out == 0 || out > n->nports)
		return LFT_NO_PORT;
	if (at->hops > 0 && port_state(&n->ports[out]) < IB_PORT_ARMED)
		return LFT_NO_PORT;
	return out;
}

static bool is_smp(const uint8_t *mad)
{
	unsigned class = (unsigned)ib_get(mad, SMP_CLASS);

	return class == MAD_CLASS_SMI_DR || class == MAD_CLASS_SMI_LID;
}

/*
 * Through the cable of port `out` with data, which waits for ACTIVE, or with an SMP, which does
 * not.
 */
static bool cross_with(struct sim *sim, struct place *at, unsigned out, bool data)
{
	if (data && port_state(&sim->nodes[at->node].ports[out]) != IB_PORT_ACTIVE)
		return false;
	return cross(sim, at, out);
}

static bool walk_lid(struct sim *sim, lid_t dlid, bool data, struct place *at)
{
	if (port_has_lid(node_end_port(&sim->nodes[at->node], at->port), dlid))
		return true; /* for this port itself */
	if (!node_is_switch(&sim->nodes[at->node]) && !cross_with(sim, at, at->port, data))
		return false;
	while (at->hops <= LID_HOPS_MAX) {
		struct sim_node *n = &sim->nodes[at->node];
		unsigned out;

		if (!node_is_switch(n))
			return port_has_lid(&n->ports[at->port], dlid);
		out = next_port(sim, at, dlid);
		if (out == 0)
			return true;
		if (out == LFT_NO_PORT || !cross_with(sim, at, out, data))
			return false;
	}
	return false;
}

static bool is_mixed(const uint8_t *mad)
{
	return ib_get(mad, SMP_DR_SLID) != LID_PERMISSIVE ||
	       ib_get(mad, SMP_DR_DLID) != LID_PERMISSIVE;
}

/* Its last directed hop sends it on by LID, as from itself (C14-9): a switch, or the sender. */
static bool walk_rest(struct sim *sim, struct event *ev, struct place *at)
{
	const struct sim_node *n = &sim->nodes[at->node];
	lid_t to = (lid_t)ib_get(ev->mad, SMP_DR_DLID);

	if (to == LID_PERMISSIVE)
		return true;
	if (at->hops > 0 && !node_is_switch(n))
		return port_has_lid(&n->ports[at->port], to);
	ev->from.lid = (lid_t)ib_get(node_end_port(&sim->nodes[at->node], at->port)->info, PI_LID);
	return walk_lid(sim, to, false, at);
}

static bool walk_directed(struct sim *sim, struct event *ev, struct place *at)
{
	if (ib_get(ev->mad, SMP_METHOD) & MAD_RESPONSE_BIT)
		return !is_mixed(ev->mad) && walk_response(sim, ev->mad, at);
	if (ib_get(ev->mad, SMP_DR_SLID) != LID_PERMISSIVE && !walk_lid(sim, ev->dlid, false, at))
		return false;
	return walk_request(sim, ev->mad, at) && walk_rest(sim, ev, at);
}

static bool walk(struct sim *sim, struct event *ev, struct place *at)
{
	if (!is_smp(ev->mad))
		return gmp_leave(sim, ev, at->node, at->port) && walk_lid(sim, ev->dlid, true, at);
	if (ib_get(ev->mad, SMP_CLASS) != MAD_CLASS_SMI_DR)
		return walk_lid(sim, ev->dlid, false, at);
	ev->from.lid = LID_PERMISSIVE;
	return walk_directed(sim, ev, at);
}

static uint32_t loss_of(const struct sim *sim, const struct event *ev, uint32_t from, uint32_t to)
{
	bool response = ib_get(ev->mad, SMP_METHOD) & MAD_RESPONSE_BIT;
	const struct mood *mood = sim->nodes[response ? from : to].mood;
	uint32_t all = response ? sim->response_loss : sim->request_loss;

	return mood ? MAX(all, response ? mood->response_loss : mood->request_loss) : all;
}

static mono_t travel_time(struct sim *sim, unsigned hops)
{
	mono_t t = sim->hop_time * hops;

	if (sim->jitter)
		t += (mono_t)(draw(sim) % (uint64_t)(sim->jitter + 1));
	if (sim->reorder_by && forward_chance(sim, sim->reorder))
		t += (mono_t)(draw(sim) % (uint64_t)(sim->reorder_by + 1));
	return t;
}

static void arrive_twice(struct sim *sim, const struct event *ev, unsigned hops)
{
	struct event *twin = event_new(sim, EV_ARRIVE);

	memcpy(twin->mad, ev->mad, MAD_SIZE);
	twin->length = ev->length;
	twin->from = ev->from;
	twin->to = ev->to;
	twin->pkey = ev->pkey;
	twin->dlid = ev->dlid;
	twin->node = ev->node;
	twin->port = ev->port;
	queue_add(sim, twin, sim->now + travel_time(sim, hops) + sim->hop_time);
}

void forward_send(struct sim *sim, struct event *ev, uint32_t node, unsigned port)
{
	struct place at = { .node = node, .port = port };
	mono_t start = MAX(sim->now, ev->at);

	if (!walk(sim, ev, &at) ||
	    (at.hops > 0 && forward_chance(sim, loss_of(sim, ev, node, at.node)))) {
		event_free(sim, ev);
		return;
	}
	ev->kind = EV_ARRIVE;
	ev->node = at.node;
	ev->port = (uint8_t)at.port;
	queue_add(sim, ev, start + travel_time(sim, at.hops));
	if (forward_chance(sim, sim->duplicates))
		arrive_twice(sim, ev, at.hops);
}

void forward_answer(struct sim *sim, struct event *ev)
{
	struct sim_node *n = &sim->nodes[ev->node];
	unsigned port = node_is_switch(n) ? 0 : ev->port;

	ev->to = ev->from;
	ev->to.qkey = MAD_QP1_QKEY;
	ev->dlid = ev->to.lid;
	ev->from = (struct transport_addr){
		.lid = (lid_t)(ib_get(n->ports[port].info, PI_LID) | ev->to.path_bits),
		.sl = ev->to.sl,
		.qp = 1,
	};
	forward_send(sim, ev, ev->node, port);
}
