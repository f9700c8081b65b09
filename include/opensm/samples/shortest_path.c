/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A routing engine from outside: to each LID the shortest way, of several the one through the
 * lowest port. It balances nothing; it shows how the picture is read and the tables are filled.
 *
 * 	cc -shared -fPIC -Wall -o libshortest_path.so shortest_path.c
 * 	opensm.conf: event_plugin_name shortest_path
 * 		     routing_engine sample_shortest
 */
#include <stdio.h>
#include <stdlib.h>

#include "opensm/event_plugin.h"
#include "opensm/routing_plugin.h"

#define FAR UINT32_MAX

/* Breadth first from switch `root`: hops[sw], FAR where it is not reached. */
static void measure(const struct opensm_topology *t, uint32_t root, uint32_t *hops, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < t->n_switches; i++)
		hops[i] = FAR;
	hops[root] = 0;
	queue[tail++] = root;
	while (head < tail) {
		const struct opensm_topo_switch *sw = &t->switches[queue[head]];

		for (unsigned p = 1; p <= sw->n_ports; p++) {
			uint32_t to = t->ports[sw->first_port + p].peer_switch;

			if (to == OPENSM_NONE || hops[to] != FAR || !t->switches[to].table_size)
				continue;
			hops[to] = hops[queue[head]] + 1;
			queue[tail++] = to;
		}
		head++;
	}
}

/* The first port of `sw` that leads one hop nearer. */
static uint8_t next_port(const struct opensm_topology *t, uint32_t sw, const uint32_t *hops)
{
	const struct opensm_topo_switch *s = &t->switches[sw];

	for (unsigned p = 1; p <= s->n_ports; p++) {
		uint32_t to = t->ports[s->first_port + p].peer_switch;

		if (to != OPENSM_NONE && hops[to] != FAR && hops[to] + 1 == hops[sw])
			return (uint8_t)p;
	}
	return OPENSM_NO_PORT;
}

/* `last`: the port at switch `root` itself. */
static void set_lids(const struct opensm_topology *t, struct opensm_tables *ret, uint32_t root,
		     const uint32_t *hops, unsigned lid, unsigned lmc, uint8_t last)
{
	for (uint32_t sw = 0; sw < t->n_switches; sw++) {
		uint8_t port = sw == root ? last : hops[sw] == FAR ? OPENSM_NO_PORT
								   : next_port(t, sw, hops);

		for (unsigned i = lid; lid && i < lid + (1u << lmc) && i <= t->max_lid; i++)
			ret->rows[(size_t)sw * ret->row_size + i] = port;
	}
}

static int compute(void *arg, const struct opensm_topology *t, struct opensm_tables *ret, char *why,
		   size_t why_len)
{
	uint32_t *hops = (uint32_t *)calloc(2 * (size_t)t->n_switches + 1, sizeof(*hops));

	if (!hops) {
		snprintf(why, why_len, "no memory");
		return -1;
	}
	for (uint32_t sw = 0; sw < t->n_switches && !t->cancelled(t); sw++) {
		const struct opensm_topo_switch *s = &t->switches[sw];

		measure(t, sw, hops, hops + t->n_switches);
		set_lids(t, ret, sw, hops, s->lid, s->lmc, 0);
		for (unsigned p = 1; p <= s->n_ports; p++) {
			uint32_t h = t->ports[s->first_port + p].peer_host;

			if (h != OPENSM_NONE)
				set_lids(t, ret, sw, hops, t->hosts[h].lid, t->hosts[h].lmc,
					 (uint8_t)p);
		}
	}
	free(hops);
	return 0;
}

static const struct opensm_routing_engine engine = { OPENSM_ROUTING_API, sizeof(engine),
						     "sample_shortest", compute, NULL };

static void *create(struct opensm *sm)
{
	static char here;

	return opensm_api(sm)->register_engine(sm, &engine) == 0 ? &here : NULL;
}

struct opensm_event_plugin osm_event_plugin = { OPENSM_PLUGIN_VERSION, create, NULL, NULL };
