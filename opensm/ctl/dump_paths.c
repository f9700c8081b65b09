// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owners and hops behind the forwarding tables. Reads routes and topo; writes no text.
 */
#include "ctl/dump_paths.h"

#include <string.h>

#include "route/graph.h"
#include "util/mem.h"

static int by_guid_rank(const void *a, const void *b, void *arg)
{
	const struct topo *t = arg;
	guid_t ra = dump_rank(t->switches[*(const uint32_t *)a].guid);
	guid_t rb = dump_rank(t->switches[*(const uint32_t *)b].guid);

	return (ra > rb) - (ra < rb);
}

static int by_base_lid(const void *a, const void *b, void *arg)
{
	const struct topo *t = arg;
	lid_t la = t->switches[*(const uint32_t *)a].lid;
	lid_t lb = t->switches[*(const uint32_t *)b].lid;

	return (la > lb) - (la < lb);
}

static void sort_switches(struct dump_paths *p)
{
	uint32_t n = p->topo->n_switches;

	p->order = xcalloc(MAX(n, 1u), sizeof(*p->order));
	p->by_lid = xcalloc(MAX(n, 1u), sizeof(*p->by_lid));
	for (uint32_t s = 0; s < n; s++) {
		p->order[s] = s;
		if (p->topo->switches[s].lid)
			p->by_lid[p->n_by_lid++] = s;
	}
	qsort_r(p->order, n, sizeof(*p->order), by_guid_rank, (void *)p->topo);
	qsort_r(p->by_lid, p->n_by_lid, sizeof(*p->by_lid), by_base_lid, (void *)p->topo);
}

static void own(struct dump_paths *p, lid_t base, uint8_t lmc, const struct dump_lid *owner)
{
	for (uint32_t lid = base; base && lid < base + (1u << lmc) && lid <= p->routes->top; lid++)
		p->lids[lid] = *owner;
}

static void find_owners(struct dump_paths *p, const struct dump_view *v, const uint32_t *order)
{
	const struct topo *t = p->topo;

	p->lids = xcalloc(p->routes->top + 1u, sizeof(*p->lids));
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *host = &t->hosts[h];
		const struct dump_lid owner = {
			.sw = host->sw,
			.host = h,
			.port = host->sw_port,
			.owned = true,
			.direct = true,
			.node = dump_view_find(v, order, host->node_guid),
		};

		own(p, host->lid, host->lmc, &owner);
	}
	for (uint32_t s = 0; s < t->n_switches; s++) {
		const struct topo_switch *sw = &t->switches[s];
		const struct dump_lid owner = {
			.sw = s,
			.host = TOPO_NONE,
			.port = 0,
			.owned = true,
			.direct = true,
			.node = dump_view_find(v, order, sw->guid),
		};

		own(p, sw->lid, sw->lmc, &owner);
	}
}

/* Hops by cable, in the form engines leave them. */
static uint8_t *count_hops(const struct topo *t)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(t, NULL);
	_cleanup_(distances_freep) struct distances *d = distances_new(g, 1, NULL);
	uint32_t n = t->n_switches;
	uint8_t *hops = xmalloc(MAX((size_t)n * n, (size_t)1));

	for (uint32_t dst = 0; dst < n; dst++)
		for (uint32_t sw = 0; sw < n; sw++) {
			uint16_t far = distances_from(d, dst)[sw];

			hops[(size_t)dst * n + sw] =
				far == DISTANCE_NONE ? HOPS_NONE : MIN(far, HOPS_NONE - 1);
		}
	return hops;
}

void dump_turns(const struct dump_paths *p, uint32_t sw, struct dump_turn ret[256])
{
	for (unsigned port = 0; port < 256; port++)
		ret[port] = (struct dump_turn){ .to = TOPO_NONE };
	for (unsigned port = 1; port <= p->topo->switches[sw].n_ports; port++) {
		ret[port].to = topo_port(p->topo, sw, port)->sw;
		if (ret[port].to != TOPO_NONE)
			ret[port].cost = dump_hops_to(p, ret[port].to)[sw];
	}
}

static bool is_direct(const struct dump_paths *p, uint32_t sw, const struct dump_lid *l,
		      const struct dump_turn *turns, uint8_t port)
{
	const uint8_t *hops = dump_hops_to(p, l->sw);

	if (port == LFT_NO_PORT)
		return hops[sw] == HOPS_NONE;
	if (sw == l->sw)
		return port == l->port;
	return turns[port].to != TOPO_NONE && hops[turns[port].to] != HOPS_NONE &&
	       hops[sw] == hops[turns[port].to] + turns[port].cost;
}

/*
 * One pass over all entries, so that nearly all hops can be looked up instead of followed. A
 * missing entry makes paths through it end, hence not direct either unless nothing leads there.
 */
static void find_detours(struct dump_paths *p)
{
	struct dump_turn turns[256];

	for (uint32_t sw = 0; sw < p->topo->n_switches; sw++) {
		const uint8_t *row = routes_row(p->routes, sw);

		dump_turns(p, sw, turns);
		for (unsigned lid = 1; lid <= p->routes->top; lid++) {
			struct dump_lid *l = &p->lids[lid];

			if (l->direct && l->sw != TOPO_NONE &&
			    !is_direct(p, sw, l, turns, row[lid]))
				l->direct = false;
		}
	}
}

struct dump_paths *dump_paths_new(const struct dump_view *v, const uint32_t *order)
{
	struct dump_paths *p;

	if (!v->routes)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->routes = v->routes;
	p->topo = v->routes->topo;
	sort_switches(p);
	find_owners(p, v, order);
	if (!v->routes->hops)
		p->counted = count_hops(p->topo);
	p->hops = v->routes->hops ? v->routes->hops : p->counted;
	find_detours(p);
	return p;
}

struct dump_paths *dump_paths_free(struct dump_paths *p)
{
	if (!p)
		return NULL;
	free(p->order);
	free(p->by_lid);
	free(p->lids);
	free(p->counted);
	free(p);
	return NULL;
}

void dump_paths_freep(struct dump_paths **p)
{
	*p = dump_paths_free(*p);
}

unsigned dump_least_hops(const struct dump_paths *p, uint32_t sw, lid_t lid)
{
	const struct dump_lid *l = &p->lids[lid];
	unsigned hops = l->sw == TOPO_NONE ? HOPS_NONE : dump_hops_to(p, l->sw)[sw];

	return hops == HOPS_NONE ? HOPS_UNKNOWN : hops + (l->host != TOPO_NONE);
}

unsigned dump_real_hops(const struct dump_paths *p, uint32_t sw, lid_t lid)
{
	const struct dump_lid *l = &p->lids[lid];
	unsigned hops = l->host != TOPO_NONE;

	for (unsigned steps = 0; l->sw != TOPO_NONE && steps < HOPS_NONE; steps++) {
		uint8_t port = routes_port(p->routes, sw, lid);
		uint32_t to;

		if (sw == l->sw)
			return port == l->port ? hops : HOPS_UNKNOWN;
		if (port > p->topo->switches[sw].n_ports)
			break;
		to = topo_port(p->topo, sw, port)->sw;
		if (to == TOPO_NONE)
			break;
		hops += dump_hops_to(p, to)[sw];
		sw = to;
	}
	return HOPS_UNKNOWN;
}

uint8_t dump_best_port(const struct dump_paths *p, uint32_t sw, lid_t lid)
{
	const struct dump_lid *l = &p->lids[lid];
	struct dump_turn turns[256];

	if (l->sw == TOPO_NONE)
		return LFT_NO_PORT;
	dump_turns(p, sw, turns);
	if (sw == l->sw)
		return l->port;
	for (unsigned port = 1; port <= p->topo->switches[sw].n_ports; port++)
		if (is_direct(p, sw, l, turns, port))
			return port;
	return LFT_NO_PORT;
}
