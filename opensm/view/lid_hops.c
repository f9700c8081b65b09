// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owners and hops behind the forwarding tables. Reads routes and topo; writes no text.
 */
#include "view/lid_hops.h"

#include <assert.h>
#include <string.h>

#include "route/core/graph.h"
#include "util/mem.h"

static void own_lids(struct lid_hops *h, lid_t base, uint8_t lmc, const struct lid_owner *owner)
{
	for (uint32_t lid = base; base && lid < base + (1u << lmc) && lid <= h->routes->top; lid++)
		h->lids[lid] = *owner;
}

static void own_end(struct lid_hops *h, const struct view *v, const struct topo_host *end)
{
	const struct lid_owner owner = {
		.sw = end->sw,
		.end = end,
		.port = end->sw_port,
		.owned = true,
		.direct = true,
		.node = view_find_node(v, end->node_guid),
	};

	own_lids(h, end->lid, end->lmc, &owner);
}

static void find_owners(struct lid_hops *h, const struct view *v)
{
	const struct topo *t = h->topo;

	h->lids = xcalloc(h->routes->top + 1u, sizeof(*h->lids));
	for (uint32_t i = 0; i < t->n_hosts; i++)
		own_end(h, v, &t->hosts[i]);
	for (uint32_t i = 0; i < t->n_asides; i++)
		own_end(h, v, &t->asides[i]);
	for (uint32_t s = 0; s < t->n_switches; s++) {
		const struct topo_switch *sw = &t->switches[s];
		const struct lid_owner owner = {
			.sw = s,
			.port = 0,
			.owned = true,
			.direct = true,
			.node = view_find_node(v, sw->guid),
		};

		own_lids(h, sw->lid, sw->lmc, &owner);
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

void lid_hops_by_port(const struct lid_hops *h, uint32_t sw, struct port_hops ret[256])
{
	assert(sw < h->topo->n_switches);
	for (unsigned port = 0; port < 256; port++)
		ret[port] = (struct port_hops){ .to = TOPO_NONE };
	for (unsigned port = 1; port <= h->topo->switches[sw].n_ports; port++) {
		ret[port].to = topo_port(h->topo, sw, port)->sw;
		if (ret[port].to != TOPO_NONE)
			ret[port].cost = lid_hops_to(h, ret[port].to)[sw];
	}
}

static bool is_direct(const struct lid_hops *h, uint32_t sw, const struct lid_owner *l,
		      const struct port_hops *ports, uint8_t port)
{
	const uint8_t *hops = lid_hops_to(h, l->sw);

	if (port == LFT_NO_PORT)
		return hops[sw] == HOPS_NONE;
	if (sw == l->sw)
		return port == l->port;
	return ports[port].to != TOPO_NONE && hops[ports[port].to] != HOPS_NONE &&
	       hops[sw] == hops[ports[port].to] + ports[port].cost;
}

/*
 * One pass over all entries, so that nearly all hops can be looked up instead of followed. A
 * missing entry makes paths through it end, hence not direct either unless nothing leads there.
 */
static void find_detours(struct lid_hops *h)
{
	struct port_hops ports[256];

	for (uint32_t sw = 0; sw < h->topo->n_switches; sw++) {
		const uint8_t *row = routes_row(h->routes, sw);

		lid_hops_by_port(h, sw, ports);
		for (unsigned lid = 1; lid <= h->routes->top; lid++) {
			struct lid_owner *l = &h->lids[lid];

			if (l->direct && l->sw != TOPO_NONE &&
			    !is_direct(h, sw, l, ports, row[lid]))
				l->direct = false;
		}
	}
}

struct lid_hops *lid_hops_new(const struct view *v)
{
	struct lid_hops *h;

	assert(v);
	if (!v->routes)
		return NULL;
	h = xcalloc(1, sizeof(*h));
	h->view = v;
	h->routes = v->routes;
	h->topo = v->routes->topo;
	find_owners(h, v);
	if (!v->routes->hops)
		h->counted = count_hops(h->topo);
	h->hops = v->routes->hops ? v->routes->hops : h->counted;
	find_detours(h);
	return h;
}

struct lid_hops *lid_hops_free(struct lid_hops *h)
{
	if (!h)
		return NULL;
	free(h->lids);
	free(h->counted);
	free(h);
	return NULL;
}

unsigned lid_hops_least(const struct lid_hops *h, uint32_t sw, lid_t lid)
{
	const struct lid_owner *l = lid_hops_owner(h, lid);
	unsigned hops;

	assert(sw < h->topo->n_switches);
	hops = l->sw == TOPO_NONE ? HOPS_NONE : lid_hops_to(h, l->sw)[sw];

	return hops == HOPS_NONE ? HOPS_UNKNOWN : hops + (l->end != NULL);
}

unsigned lid_hops_real(const struct lid_hops *h, uint32_t sw, lid_t lid)
{
	const struct lid_owner *l = lid_hops_owner(h, lid);
	unsigned hops = l->end != NULL;

	assert(sw < h->topo->n_switches);
	for (unsigned steps = 0; l->sw != TOPO_NONE && steps < HOPS_NONE; steps++) {
		uint8_t port = routes_port(h->routes, sw, lid);
		uint32_t to;

		if (sw == l->sw)
			return port == l->port ? hops : HOPS_UNKNOWN;
		if (port > h->topo->switches[sw].n_ports)
			break;
		to = topo_port(h->topo, sw, port)->sw;
		if (to == TOPO_NONE)
			break;
		hops += lid_hops_to(h, to)[sw];
		sw = to;
	}
	return HOPS_UNKNOWN;
}

void lid_hops_loads(const struct lid_hops *h, uint32_t sw, uint32_t ret[256])
{
	const uint8_t *row = routes_row(h->routes, sw);

	assert(sw < h->topo->n_switches);
	memset(ret, 0, 256 * sizeof(ret[0]));
	for (unsigned lid = 1; lid <= h->routes->top; lid++)
		if (h->lids[lid].owned)
			ret[row[lid]]++;
}

unsigned lid_hops_shortest(const struct lid_hops *h, uint32_t sw, lid_t lid, uint8_t ret[256])
{
	const struct lid_owner *l = lid_hops_owner(h, lid);
	struct port_hops ports[256];
	unsigned n = 0;

	assert(sw < h->topo->n_switches);
	if (l->sw == TOPO_NONE || lid_hops_to(h, l->sw)[sw] == HOPS_NONE)
		return 0;
	if (sw == l->sw) {
		ret[0] = l->port;
		return 1;
	}
	lid_hops_by_port(h, sw, ports);
	for (unsigned port = 1; port <= h->topo->switches[sw].n_ports; port++)
		if (is_direct(h, sw, l, ports, (uint8_t)port))
			ret[n++] = (uint8_t)port;
	return n;
}

uint8_t lid_hops_best_port(const struct lid_hops *h, uint32_t sw, lid_t lid)
{
	uint8_t ports[256];

	return lid_hops_shortest(h, sw, lid, ports) ? ports[0] : LFT_NO_PORT;
}
