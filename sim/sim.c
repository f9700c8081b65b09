// SPDX-License-Identifier: BSD-2-Clause
/*
 * The simulation itself: its life, its clock, its events. These are only dispatched here, a MAD
 * that arrives to the agent that it is for; what they do is next door.
 */
#include "sim/sim_internal.h"
#include "sim/cca.h"
#include "sim/pma.h"
#include "sim/rmpp.h"

struct sim *sim_new(const struct netfile *net, uint64_t seed)
{
	struct sim *sim = xcalloc(1, sizeof(*sim));

	sim->rng = seed;
	sim->hop_time = MONO_US;
	sim->sma_time = 5 * MONO_US;
	sim->train_time = 10 * MONO_MS;
	sim->sl2vl.size = 8;
	sim->vlarb.size = SMP_DATA_SIZE;
	sim->next_tid = 1;
	sim->watch = true;
	sim_build(sim, net);
	oracle_start(sim);
	return sim;
}

struct sim *sim_free(struct sim *sim)
{
	if (!sim)
		return NULL;
	simports_close(sim);
	links_close(sim);
	for (uint32_t i = 0; i < sim->n_nodes; i++) {
		traps_forget(sim, i);
		for (unsigned p = 0; p <= sim->nodes[i].nports; p++) {
			pma_reset(&sim->nodes[i].ports[p]);
			cca_reset(&sim->nodes[i].ports[p]);
		}
		tables_free(&sim->nodes[i]);
		free(sim->nodes[i].lft);
		free(sim->nodes[i].mood);
		free(sim->nodes[i].id);
	}
	queue_clear(sim);
	oracle_stop(sim);
	intern_free(&sim->sl2vl);
	intern_free(&sim->vlarb);
	free(sim->counts);
	free(sim->nodes);
	free(sim->ports);
	free(sim);
	return NULL;
}

mono_t sim_now(const struct sim *sim)
{
	return sim->now;
}

mono_t sim_next(const struct sim *sim)
{
	return queue_next(sim);
}

/* A GMP: to the agents of the port for counters and congestion control, or to a program. */
static void gmp_arrives(struct sim *sim, struct event *ev)
{
	struct sim_node *n = &sim->nodes[ev->node];
	unsigned port = node_is_switch(n) ? 0 : ev->port;
	uint16_t link = n->ports[port].link;

	if (!gmp_is_ours(n, port, ev))
		event_free(sim, ev);
	else if (ev->to.qp == 1 && pma_answers(ev->mad))
		pma_arrive(sim, ev);
	else if (ev->to.qp == 1 && cca_answers(ev->mad))
		cca_arrive(sim, ev);
	else if (link)
		link_deliver(sim, link - 1u, ev);
	else
		event_free(sim, ev);
}

static void arrive(struct sim *sim, struct event *ev)
{
	unsigned class = (unsigned)ib_get(ev->mad, SMP_CLASS);

	if (sim->nodes[ev->node].off)
		event_free(sim, ev);
	else if (class == MAD_CLASS_SMI_DR || class == MAD_CLASS_SMI_LID)
		sma_arrive(sim, ev);
	else
		gmp_arrives(sim, ev);
}

static void happen(struct sim *sim, struct event *ev)
{
	switch (ev->kind) {
	case EV_ARRIVE:
		arrive(sim, ev);
		return;
	case EV_TIMEOUT:
		link_timeout(sim, ev);
		return;
	case EV_RMPP:
		rmpp_clock(sim, ev);
		return;
	case EV_TRAP:
		trap_again(sim, ev);
		return;
	case EV_TRAIN:
		link_trained(sim, ev);
		break;
	case EV_AUTO:
		link_auto_fire(sim, ev);
		break;
	case EV_CABLE:
	case EV_POWER:
		fault_event(sim, ev);
		break;
	case EV_IDLE:
		break;
	}
	event_free(sim, ev);
}

void sim_advance(struct sim *sim, mono_t to)
{
	struct event *ev;

	while ((ev = queue_pop(sim, to))) {
		sim->now = ev->at;
		happen(sim, ev);
	}
	if (to > sim->now)
		sim->now = to;
}
