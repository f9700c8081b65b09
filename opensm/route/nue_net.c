// SPDX-License-Identifier: BSD-2-Clause
/* Numbers channels and turns, and lists who is where. */
#include "route/nue_net.h"

#include <string.h>

#include "util/mem.h"

#define SLOW_COST 100 /* hops that avoiding a slow cable is worth */

static uint32_t find_reverse(const struct graph *g, uint32_t from, uint32_t to)
{
	uint32_t low = g->first[to], high = g->first[to + 1];

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (g->groups[mid].to == from)
			return mid;
		if (g->groups[mid].to < from)
			low = mid + 1;
		else
			high = mid;
	}
	return NUE_NONE;
}

static bool is_slow(const struct nue_net *net, uint32_t sw, const struct graph_group *group)
{
	for (unsigned i = 0; i < group->n_ports; i++)
		if (!topo_port(net->topo, sw, net->graph->ports[group->first_port + i])->slow)
			return false;
	return true;
}

static void number_channels(struct nue_net *net, bool avoid_slow)
{
	const struct graph *g = net->graph;

	net->max_cost = 1;
	for (uint32_t s = 0; s < net->n; s++)
		for (uint32_t c = g->first[s]; c < g->first[s + 1]; c++) {
			const struct graph_group *group = &g->groups[c];

			net->tail[c] = s;
			net->reverse[c] = find_reverse(g, s, group->to);
			net->cost[c] = group->weight;
			if (avoid_slow && is_slow(net, s, group))
				net->cost[c] = (uint16_t)(net->cost[c] + SLOW_COST);
			net->max_cost = MAX(net->max_cost, net->cost[c]);
		}
}

/* Also those that a group leaves out because others weigh less. */
static void number_ports(struct nue_net *net)
{
	for (uint32_t s = 0; s < net->n; s++)
		for (unsigned p = 1; p <= net->topo->switches[s].n_ports; p++) {
			uint32_t to = topo_port(net->topo, s, p)->sw;

			if (to != TOPO_NONE)
				net->of_port[net->topo->switches[s].first_port + p] =
					find_reverse(net->graph, to, s);
		}
}

static void number_turns(struct nue_net *net)
{
	for (uint32_t s = 0; s < net->n; s++) {
		net->square[s] = net->n_words;
		net->n_words += (size_t)nue_degree(net, s) * nue_words(net, s);
	}
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
			for (uint32_t k = 0; k < 1u << t->hosts[h].lmc; k++) {
				net->lids[n] = (lid_t)(t->hosts[h].lid + k);
				net->lid_port[n++] = (uint8_t)p;
			}
		}
	}
	net->first_lid[net->n] = n;
}

static size_t count_lids(const struct topo *t)
{
	size_t n = 0;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		n += (size_t)1 << t->hosts[h].lmc;
	return n;
}

struct nue_net *nue_net_new(const struct route_job *job, unsigned threads)
{
	struct nue_net *net = xcalloc(1, sizeof(*net));
	const struct topo *t = job->topo;
	size_t n_ports = 0, n_lids = count_lids(t);

	for (uint32_t s = 0; s < t->n_switches; s++)
		n_ports += t->switches[s].n_ports + 1u;
	net->topo = t;
	net->n = t->n_switches;
	net->graph = graph_new(t, &job->options);
	net->distances = distances_new(net->graph, threads, job->cancelled);
	net->n_channels = net->graph->first[net->n];
	net->tail = xcalloc(net->n_channels + 1u, sizeof(*net->tail));
	net->reverse = xcalloc(net->n_channels + 1u, sizeof(*net->reverse));
	net->cost = xcalloc(net->n_channels + 1u, sizeof(*net->cost));
	net->of_port = xmalloc((n_ports + 1) * sizeof(*net->of_port));
	memset(net->of_port, 0xFF, (n_ports + 1) * sizeof(*net->of_port));
	net->square = xcalloc(net->n + 1u, sizeof(*net->square));
	net->sources = xcalloc(net->n + 1u, sizeof(*net->sources));
	net->sends = xcalloc(net->n + 1u, sizeof(*net->sends));
	net->first_lid = xcalloc(net->n + 1u, sizeof(*net->first_lid));
	net->lids = xcalloc(n_lids + 1, sizeof(*net->lids));
	net->lid_port = xcalloc(n_lids + 1, 1);
	number_channels(net, job->options.avoid_throttled_links);
	number_ports(net);
	number_turns(net);
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
	free(net->tail);
	free(net->reverse);
	free(net->cost);
	free(net->of_port);
	free(net->square);
	free(net->sources);
	free(net->sends);
	free(net->first_lid);
	free(net->lids);
	free(net->lid_port);
	free(net);
	return NULL;
}

void nue_net_freep(struct nue_net **net)
{
	*net = nue_net_free(*net);
}
