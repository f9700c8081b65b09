// SPDX-License-Identifier: BSD-2-Clause
/* Numbers channels, and lists the LIDs of every switch. */
#include "route/nue/nue_net.h"

#include <assert.h>
#include <string.h>

#define SLOW_COST 100 /* hops that avoiding a slow cable is worth */

static bool is_slow(const struct nue_net *net, uint32_t sw, const struct graph_group *group)
{
	for (unsigned i = 0; i < group->n_ports; i++)
		if (!topo_port(net->topo, sw, net->graph->ports[group->first_port + i])->slow)
			return false;
	return true;
}

static void find_costs(struct nue_net *net, bool avoid_slow)
{
	const struct graph *g = net->graph;

	net->max_cost = 1;
	for (uint32_t s = 0; s < net->n; s++)
		for (uint32_t c = g->first[s]; c < g->first[s + 1]; c++) {
			net->cost[c] = g->groups[c].weight;
			if (avoid_slow && is_slow(net, s, &g->groups[c]))
				net->cost[c] = (uint16_t)(net->cost[c] + SLOW_COST);
			net->max_cost = MAX(net->max_cost, net->cost[c]);
		}
}

static void find_paces(struct nue_net *net)
{
	const struct graph *g = net->graph;

	if (!net->topo->paces)
		return;
	ARENA_ARRAY(&net->memory, net->pace, net->channels->n + 1u);
	for (uint32_t s = 0; s < net->n; s++)
		for (uint32_t c = g->first[s]; c < g->first[s + 1]; c++) {
			const uint8_t *ports = g->ports + g->groups[c].first_port;
			double room = 0;

			for (unsigned i = 0; i < g->groups[c].n_ports; i++)
				room += topo_room(net->topo->paces,
						  net->topo->switches[s].first_port + ports[i]);
			net->pace[c] = (float)(g->groups[c].n_ports / room);
		}
}

/* Ports have the channel of their group also where others of the group weigh less. */
static struct cdg_channels *number_channels(const struct graph *g)
{
	struct cdg_channels *c = cdg_channels_open(g->n, g->first[g->n]);
	uint32_t n_ports = topo_n_entries(g->topo);

	ARENA_ONES(&c->memory, c->of_port, n_ports + 1u);
	for (uint32_t s = 0; s < g->n; s++) {
		c->first[s + 1] = g->first[s + 1];
		for (uint32_t id = g->first[s]; id < g->first[s + 1]; id++) {
			c->to[id] = g->groups[id].to;
			c->back[id] = graph_find(g, c->to[id], s);
		}
		for (unsigned p = 1; p <= g->topo->switches[s].n_ports; p++)
			if (topo_port(g->topo, s, p)->sw != TOPO_NONE)
				c->of_port[g->topo->switches[s].first_port + p] =
					graph_find(g, s, topo_port(g->topo, s, p)->sw);
	}
	cdg_channels_close(c);
	return c;
}

static void list_lids(struct nue_net *net)
{
	const struct topo *t = net->topo;
	uint32_t n = 0;

	for (uint32_t s = 0; s < net->n; s++) {
		net->first_lid[s] = n;
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t h = topo_port(t, s, p)->host;

			if (h == TOPO_NONE || !t->hosts[h].lid)
				continue;
			net->sources[s]++;
			for (uint32_t k = 0; k < 1u << t->hosts[h].lmc; k++)
				net->lids[n++] = (lid_t)(t->hosts[h].lid + k);
		}
	}
	net->first_lid[net->n] = n;
}

struct nue_net *nue_net_new(const struct route_job *job, unsigned threads)
{
	struct nue_net *net = xcalloc(1, sizeof(*net));
	const struct topo *t = job->topo;
	size_t n_lids = 0;

	assert(threads > 0);
	net->topo = t;
	net->n = t->n_switches;
	net->graph = graph_new(t, &job->options);
	net->distances = distances_new(net->graph, threads, job->cancelled);
	net->channels = number_channels(net->graph);
	ARENA_ARRAY(&net->memory, net->cost, net->channels->n + 1u);
	ARENA_ARRAYS(&net->memory, net->n + 1u, net->sources, net->sends, net->first_lid);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		n_lids += (size_t)1 << t->hosts[h].lmc;
	ARENA_ARRAY(&net->memory, net->lids, n_lids + 1);
	find_costs(net, job->options.avoid_throttled_links);
	find_paces(net);
	list_lids(net);
	for (uint32_t s = 0; s < net->n; s++)
		net->sends[s] = net->sources[s] || job->options.nue_include_switches;
	return net->distances ? net : nue_net_free(net);
}

struct nue_net *nue_net_free(struct nue_net *net)
{
	if (!net)
		return NULL;
	graph_free(net->graph);
	distances_free(net->distances);
	cdg_channels_free(net->channels);
	arena_done(&net->memory);
	free(net);
	return NULL;
}
