// SPDX-License-Identifier: BSD-2-Clause
/*
 * The simulation itself: its clock, its dice, its counters. Events are only dispatched here;
 * what they do is next door.
 */
#include "sim/sim_internal.h"
#include "sim/cca.h"
#include "sim/pma.h"
#include "sim/rmpp.h"
#include "util/random.h"

uint64_t sim_random(struct sim *sim)
{
	return random_next(&sim->rng);
}

bool sim_chance(struct sim *sim, uint32_t p)
{
	if (p == 0)
		return false;
	return p == UINT32_MAX || (uint32_t)sim_random(sim) < p;
}

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

static void happen(struct sim *sim, struct event *ev)
{
	switch (ev->kind) {
	case EV_ARRIVE:
		sma_arrive(sim, ev);
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

void sim_tally(struct sim *sim, uint16_t attr, uint8_t method)
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
