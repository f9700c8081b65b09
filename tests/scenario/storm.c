// SPDX-License-Identifier: BSD-2-Clause
/*
 * storm N EVERY: N accidents, one per EVERY, drawn from the seed: links flap, nodes reboot or fall
 * silent for a while, cables change places. Afterwards everything is mended, so a scenario may
 * expect a whole fabric again. Attached nodes are spared reboot and silence, not their cables.
 */
#include <errno.h>

#include "tests/scenario/scenario.h"
#include "util/mem.h"

#define SETTLE (200 * MONO_MS) /* training, and traps on their way */

struct storm {
	struct scenario *s;
	struct sim *sim;
	uint64_t rng;
	mono_t every;
	bool *silent;              /* per node */
};

static unsigned draw(struct storm *st, unsigned below)
{
	st->rng = st->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((st->rng >> 33) % below);
}

static mono_t some_time(struct storm *st)
{
	return 1 + (mono_t)draw(st, (unsigned)(4 * st->every));
}

static bool hosts_manager(const struct storm *st, int node)
{
	return rig_find(st->s->rig, sim_node_id(st->sim, node)) >= 0;
}

/* A random port with a cable, through which something comes; tries a few times. */
static bool draw_cable(struct storm *st, int *ret_node, unsigned *ret_port)
{
	for (unsigned i = 0; i < 20; i++) {
		int peer;
		unsigned peer_port, n_ports;

		*ret_node = (int)draw(st, sim_n_nodes(st->sim));
		n_ports = sim_node_ports(st->sim, *ret_node);
		*ret_port = 1 + draw(st, n_ports);
		if (sim_peer(st->sim, *ret_node, *ret_port, &peer, &peer_port) &&
		    sim_port_hears(st->sim, *ret_node, *ret_port))
			return true;
	}
	return false;
}

static void flap(struct storm *st)
{
	unsigned port;
	int node;

	if (draw_cable(st, &node, &port))
		sim_link_flap(st->sim, node, port, some_time(st));
}

static void reboot(struct storm *st)
{
	int node = (int)draw(st, sim_n_nodes(st->sim));

	if (!hosts_manager(st, node))
		sim_reboot(st->sim, node, some_time(st));
}

static void fall_silent(struct storm *st)
{
	int node = (int)draw(st, sim_n_nodes(st->sim));

	if (hosts_manager(st, node) || (!st->silent[node] && !sim_port_hears(st->sim, node, 0)))
		return;
	st->silent[node] = !st->silent[node];
	sim_set_silent(st->sim, node, st->silent[node] ? SIM_SILENT : SIM_ANSWERS, 0);
}

/* The far ends of two cables of the same kind change places. */
static void swap_cables(struct storm *st)
{
	unsigned a_port, b_port, pa_port, pb_port;
	int a, b, pa, pb;

	if (!draw_cable(st, &a, &a_port) || !draw_cable(st, &b, &b_port))
		return;
	sim_peer(st->sim, a, a_port, &pa, &pa_port);
	sim_peer(st->sim, b, b_port, &pb, &pb_port);
	if (sim_node_is_switch(st->sim, a) || sim_node_is_switch(st->sim, b) || a == b ||
	    hosts_manager(st, a) || hosts_manager(st, b))
		return;
	sim_unplug(st->sim, a, a_port);
	sim_unplug(st->sim, b, b_port);
	sim_plug(st->sim, a, a_port, pb, pb_port);
	sim_plug(st->sim, b, b_port, pa, pa_port);
}

static void accident(struct storm *st)
{
	switch (draw(st, 8)) {
	case 0:
		reboot(st);
		break;
	case 1:
		fall_silent(st);
		break;
	case 2:
		swap_cables(st);
		break;
	default:
		flap(st);
		break;
	}
}

static void mend(struct storm *st)
{
	rig_run(st->s->rig, sim_now(st->sim) + 4 * st->every + SETTLE);
	for (int i = 0; i < (int)sim_n_nodes(st->sim); i++)
		if (st->silent[i])
			sim_set_silent(st->sim, i, SIM_ANSWERS, 0);
}

int scenario_storm(struct scenario *s, const struct words *w)
{
	struct storm st = { .s = s, .rng = s->seed * 77 + 1 };
	uint64_t n;

	if (parse_number(s, w->w[1], 100000, &n) < 0 || parse_time(s, w->w[2], &st.every) < 0)
		return -EINVAL;
	st.sim = scenario_sim(s);
	if (!st.sim || st.every < 1 || st.every > 60 * MONO_S)
		return st.sim ? fault(s, "a storm has accidents every 1us to 60s") : -EINVAL;
	st.silent = xcalloc(sim_n_nodes(st.sim), sizeof(*st.silent));
	for (uint64_t i = 0; i < n; i++) {
		accident(&st);
		rig_run(s->rig, sim_now(st.sim) + st.every);
	}
	mend(&st);
	free(st.silent);
	return 0;
}
