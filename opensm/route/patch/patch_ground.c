// SPDX-License-Identifier: BSD-2-Clause
/*
 * What patches are proved against: the dependencies of the tables in force, in an order into which
 * those of a patch are added one at a time, and all that is asked often about a fabric, side by
 * side.
 *
 * Dependencies are those that the proof of tables counts (route/proof/cdg.h): of packets between
 * end ports. They are only added, as a switch may have its old table yet when another has its new
 * one; only those over a cable that died go, as no packet waits for such a cable.
 */
#include <assert.h>
#include <string.h>

#include "route/core/graph.h"
#include "route/core/unassigned.h"
#include "route/patch/patch_internal.h"
#include "route/proof/cdg.h"

/* ---- the fabric ------------------------------------------------------------------------------ */

static void find_switches(struct patch_ground *g)
{
	const struct topo *t = g->topo;
	unsigned most = 0;

	ARENA_ARRAY(&g->memory, g->switches, g->n + 1u);
	ARENA_ARRAY(&g->memory, g->ways, g->n_entries + 1u);
	for (uint32_t s = 0; s < g->n; s++) {
		g->switches[s].first = t->switches[s].first_port;
		g->switches[s].n_ports = t->switches[s].n_ports;
		most = MAX(most, (unsigned)t->switches[s].n_ports);
	}
	g->words = most / 64 + 1;
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE && t->hosts[h].lid)
			g->switches[t->hosts[h].sw].sends = true;
	for (uint32_t e = 0; e < g->n_entries; e++)
		g->ways[e] = (struct patch_way){ .to = t->ports[e].sw,
						 .peer = topo_peer(t, e),
						 .port = t->ports[e].port };
}

/* LIDs in the order of their switches, by counting. */
static void sort_lids(struct patch_ground *g)
{
	_cleanup_free_ uint32_t *first = xcalloc(g->n + 2u, sizeof(*first));
	lid_t top = g->routes->top;

	for (uint32_t lid = 1; lid <= top; lid++)
		if (g->goals[lid].at != TOPO_NONE)
			first[g->goals[lid].at + 1]++;
	for (uint32_t s = 0; s < g->n; s++)
		first[s + 1] += first[s];
	g->n_lids = first[g->n];
	ARENA_ARRAY(&g->memory, g->lids, g->n_lids + 1u);
	for (uint32_t lid = 1; lid <= top; lid++)
		if (g->goals[lid].at != TOPO_NONE)
			g->lids[first[g->goals[lid].at]++] = (lid_t)lid;
}

static void find_goals(struct patch_ground *g)
{
	const struct topo *t = g->topo;
	lid_t top = g->routes->top;
	_cleanup_free_ uint8_t *ports = xcalloc(top + 1u, sizeof(*ports));
	_cleanup_free_ uint32_t *at = unassigned_places(t, top, ports);

	ARENA_ARRAY(&g->memory, g->goals, top + 1u);
	for (uint32_t lid = 0; lid <= top; lid++)
		g->goals[lid] = (struct patch_goal){ .at = at[lid], .port = ports[lid] };
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		g->has_lmc |= t->hosts[h].lmc > 0;
		TOPO_EACH_LID(&t->hosts[h], lid)
		if (lid <= top)
			g->goals[lid].counts = true;
	}
	sort_lids(g);
}

static void find_hops(struct patch_ground *g)
{
	_cleanup_(graph_freep) struct graph *graph = NULL;
	_cleanup_(distances_freep) struct distances *d = NULL;

	g->hops = g->routes->hops;
	if (g->hops)
		return;
	graph = graph_new(g->topo, NULL);
	d = distances_new(graph, 1, NULL);
	g->own_hops = arena_keep(&g->memory, xmalloc((size_t)g->n * g->n + 1));
	hops_by_target(d, 1, g->own_hops, NULL);
	g->hops = g->own_hops;
}

/* ---- VLs ------------------------------------------------------------------------------------- */

static bool are_alike(const struct sl2vl *l, unsigned a, unsigned b)
{
	for (size_t i = 0; i < (size_t)l->n_classes * l->n_classes; i++)
		if (l->vl[i * SL2VL_SLS + a] != l->vl[i * SL2VL_SLS + b])
			return false;
	return true;
}

static void find_layers(struct patch_ground *g)
{
	const struct sl2vl *l = g->lanes;
	unsigned layer_of[SL2VL_SLS];

	for (unsigned sl = 0; sl < SL2VL_SLS; sl++) {
		unsigned layer = 0;

		while (layer < g->n_layers && !are_alike(l, sl, g->layer_sl[layer]))
			layer++;
		if (layer == g->n_layers)
			g->layer_sl[g->n_layers++] = (uint8_t)sl;
		layer_of[sl] = layer;
	}
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
		for (unsigned wish = 0; wish < SL2VL_SLS; wish++)
			g->layers[sl] |= (uint16_t)(1u << layer_of[(sl & l->sl_mask) |
								   (wish & ~l->sl_mask & 15u)]);
}

/* With one class and SLs that are free every VL is like the other: one will do. */
static void find_lanes(struct patch_ground *g)
{
	const struct sl2vl *l = g->routes->lanes;

	g->n_classes = 1;
	if (l && (l->by != SL2VL_BY_NOTHING || (l->n_classes > 1 && l->class_of))) {
		g->lanes = l;
		g->n_classes = l->class_of ? l->n_classes : 1;
		find_layers(g);
		return;
	}
	g->n_layers = 1;
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
		g->layers[sl] = 1;
}

static void add_layers(struct patch_ground *g, uint32_t from)
{
	for (uint32_t lid = 1; lid <= g->routes->top; lid++) {
		struct patch_goal *goal = &g->goals[lid];

		if (goal->counts && goal->at != TOPO_NONE)
			goal->layers |=
				g->layers[sl2vl_sl(g->lanes, from, goal->at, (lid_t)lid, 0)];
	}
}

static void find_layers_of_goals(struct patch_ground *g)
{
	bool by_source = g->lanes &&
			 (g->lanes->by == SL2VL_BY_SWITCHES || g->lanes->by == SL2VL_BY_SWITCH_LID);

	for (uint32_t s = 0, n = 0; s < g->n && (by_source || !n); s++)
		if (g->switches[s].sends) {
			add_layers(g, s);
			n++;
		}
	for (uint32_t lid = 1; g->n_classes == 1 && lid <= g->routes->top; lid++)
		for (unsigned left = g->goals[lid].layers; left; left &= left - 1) {
			uint8_t vl = patch_vl(g, 0, 0, (unsigned)__builtin_ctz(left));

			if (vl != SL2VL_VL_DROP)
				g->goals[lid].planes |= (uint16_t)(1u << vl);
		}
}

/* ---- dependencies ---------------------------------------------------------------------------- */

/* A vertex per channel and VL: those of a channel are of_port[channel] + VL. */
static struct cdg_channels *channels_with_vls(const struct topo *t, unsigned n_vls)
{
	struct cdg_channels *one = cdg_channels_new(t), *c;
	uint32_t n_entries = topo_n_entries(t);

	if (n_vls == 1)
		return one;
	c = cdg_channels_open(t->n_switches, one->n * n_vls);
	ARENA_ARRAY(&c->memory, c->of_port, n_entries + 1u);
	for (uint32_t s = 0; s < t->n_switches; s++)
		c->first[s + 1] = one->first[s + 1] * n_vls;
	for (uint32_t id = 0; id < c->n; id++) {
		c->to[id] = one->to[id / n_vls];
		c->back[id] = one->back[id / n_vls] * n_vls + id % n_vls;
	}
	for (uint32_t e = 0; e < n_entries; e++)
		c->of_port[e] =
			one->of_port[e] == CHANNEL_NONE ? CHANNEL_NONE : one->of_port[e] * n_vls;
	cdg_channels_close(c);
	cdg_channels_free(one);
	return c;
}

static uint32_t vertex(const struct patch_ground *g, uint32_t entry, uint8_t vl)
{
	return g->channels->of_port[entry] + (g->n_vls > 1 ? vl : 0u);
}

static unsigned plane_of(const struct patch_ground *g, uint8_t vl)
{
	return g->n_planes > 1 ? vl : 0u;
}

/* The bit of the port by which the cable of entry `in` reaches the switch of entry `out`. */
static struct patch_bit bit_of(const struct patch_ground *g, unsigned plane, uint32_t in,
			       uint32_t out)
{
	unsigned port = g->ways[in].port;

	return (struct patch_bit){ patch_before(g, plane, out) + port / 64, UINT64_C(1)
										    << port % 64 };
}

static void set_edge(void *arg, struct cdg_vertex from, struct cdg_vertex to)
{
	struct patch_ground *g = arg;
	unsigned plane = plane_of(g, to.vl);
	struct patch_bit b = bit_of(g, plane, from.channel, to.channel);

	*b.mask |= b.bit;
	cdg_order_set(g->planes[plane].order, vertex(g, from.channel, from.vl),
		      vertex(g, to.channel, to.vl));
}

static void find_planes(struct patch_ground *g)
{
	_cleanup_(cdg_freep) struct cdg *cdg = cdg_of(g->routes, 1);
	unsigned vls = 1;

	for (unsigned left = cdg_vls(cdg); g->lanes && left; left &= left - 1)
		vls = (unsigned)__builtin_ctz(left) + 1;
	if (g->lanes)
		vls = MAX(vls, (unsigned)g->lanes->n_vls);
	g->n_planes = g->n_classes > 1 ? 1 : vls;
	g->n_vls = g->n_classes > 1 ? vls : 1;
	g->channels = channels_with_vls(g->topo, g->n_vls);
	for (unsigned i = 0; i < g->n_planes; i++) {
		g->planes[i].order = cdg_order_new(g->channels);
		ARENA_ARRAY(&g->memory, g->planes[i].before, (size_t)g->n_entries * g->words + 1);
	}
	cdg_each_edge(cdg, set_edge, g);
	for (unsigned i = 0; i < g->n_planes; i++)
		if (!cdg_order_settle(g->planes[i].order))
			g->planes[i].order = cdg_order_free(g->planes[i].order);
}

struct patch_ground *patch_ground_new(const struct routes *r)
{
	struct patch_ground *g = xcalloc(1, sizeof(*g));

	assert(r && r->topo);
	g->routes = routes_ref(r);
	g->topo = r->topo;
	g->n = r->topo->n_switches;
	g->n_entries = topo_n_entries(r->topo);
	g->most_walks = PATCH_WALKS_MAX;
	g->most_trials = PATCH_TRIALS_MAX;
	find_switches(g);
	find_goals(g);
	find_hops(g);
	find_lanes(g);
	find_layers_of_goals(g);
	find_planes(g);
	routes_settle(r);
	return g;
}

struct patch_ground *patch_ground_free(struct patch_ground *g)
{
	if (!g)
		return NULL;
	for (unsigned i = 0; i < g->n_planes; i++)
		cdg_order_free(g->planes[i].order);
	cdg_channels_free(g->channels);
	routes_unref(g->routes);
	arena_done(&g->memory);
	free(g);
	return NULL;
}

const struct routes *patch_ground_routes(const struct patch_ground *g)
{
	assert(g);
	return g->routes;
}

bool patch_ground_is_dead(const struct patch_ground *g, uint32_t entry)
{
	assert(g && entry < g->n_entries);
	return g->ways[entry].dead;
}

/* Words of the masks of an order, and what else it has per channel. */
static size_t bytes_of_order(const struct cdg_channels *c)
{
	return c->row[c->n] * 3 * sizeof(uint64_t) + (size_t)c->n * (5 * sizeof(uint32_t) + 1);
}

size_t patch_ground_bytes(const struct patch_ground *g)
{
	size_t sum = sizeof(*g), n = g->n;

	sum += n * sizeof(*g->switches) + g->n_entries * sizeof(*g->ways);
	sum += (g->routes->top + 1u) * sizeof(*g->goals) + g->n_lids * sizeof(*g->lids);
	sum += g->own_hops ? n * n : 0;
	sum += g->channels->n * (3 * sizeof(uint32_t) + sizeof(size_t)) +
	       g->n_entries * sizeof(uint32_t);
	for (unsigned i = 0; i < g->n_planes; i++)
		sum += (size_t)g->n_entries * g->words * sizeof(uint64_t) +
		       (g->planes[i].order ? bytes_of_order(g->channels) : 0);
	return sum;
}

/* ---- dead cables ----------------------------------------------------------------------------- */

/* Notes one end; its vertices are appended to `list`. Returns their number. */
static size_t cut_end(struct patch_ground *g, uint32_t entry, uint32_t *list)
{
	if (g->ways[entry].dead)
		return 0;
	g->ways[entry].dead = true;
	g->ways[entry].to = TOPO_NONE;
	g->switches[topo_switch_with(g->topo, entry)].hurt = true;
	for (unsigned vl = 0; vl < g->n_vls; vl++)
		list[vl] = vertex(g, entry, (uint8_t)vl);
	return g->n_vls;
}

void patch_ground_cut(struct patch_ground *g, const uint32_t *dead, size_t n)
{
	_cleanup_free_ uint32_t *list = xmalloc((2 * n * g->n_vls + 1) * sizeof(*list));
	size_t n_list = 0;

	for (size_t i = 0; i < n; i++) {
		assert(dead[i] < g->n_entries && g->ways[dead[i]].peer != TOPO_NONE);
		n_list += cut_end(g, dead[i], list + n_list);
		n_list += cut_end(g, g->ways[dead[i]].peer, list + n_list);
	}
	for (unsigned i = 0; n_list && i < g->n_planes; i++)
		if (g->planes[i].order)
			cdg_order_cut(g->planes[i].order, list, n_list);
}

/* ---- turns on trial -------------------------------------------------------------------------- */

void patch_trial_begin(struct patch_trial *t)
{
	const struct patch_ground *g = t->ground;

	t->n = 0;
	t->added = false;
	for (unsigned i = 0; i < g->n_planes; i++)
		t->marks[i] = g->planes[i].order ? cdg_order_mark(g->planes[i].order) : 0;
}

static void forget(struct patch_ground *g)
{
	for (unsigned i = 0; i < g->n_planes; i++)
		if (g->planes[i].order)
			cdg_order_forget(g->planes[i].order);
}

void patch_trial_drop(struct patch_trial *t)
{
	for (unsigned i = 0; i < t->ground->n_planes; i++)
		if (t->ground->planes[i].order)
			cdg_order_undo(t->ground->planes[i].order, t->marks[i]);
	t->n = 0;
}

void patch_trial_keep(struct patch_trial *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		*t->bits[i].mask |= t->bits[i].bit;
	forget(t->ground);
	t->n = 0;
}

/* A turn that does not fit even alone never will: that is kept, so that it is not searched for. */
static void remember_refusal(struct patch_trial *t, struct cdg_order *o, uint32_t in, uint32_t out)
{
	if (t->added) {
		patch_trial_drop(t);
		if (cdg_order_add(o, in, out))
			patch_trial_drop(t);
	}
	forget(t->ground);
}

bool patch_trial_turn(struct patch_trial *t, uint32_t in, uint8_t vl_in, uint32_t out,
		      uint8_t vl_out)
{
	struct patch_ground *g = t->ground;
	unsigned plane = plane_of(g, vl_out);
	struct cdg_order *o = g->planes[plane].order;
	struct patch_bit b = bit_of(g, plane, in, out);
	uint32_t mark = o ? cdg_order_mark(o) : 0;
	uint64_t work = o ? cdg_order_work(o) : 0;
	bool fits;

	assert(g->ways[in].to != TOPO_NONE && g->ways[out].to != TOPO_NONE);
	t->work++;
	if (g->n_vls == 1 && *b.mask & b.bit)
		return true;
	fits = !o || cdg_order_add(o, vertex(g, in, vl_in), vertex(g, out, vl_out));
	t->work += o ? cdg_order_work(o) - work : 0;
	if (!fits) {
		remember_refusal(t, o, vertex(g, in, vl_in), vertex(g, out, vl_out));
		return false;
	}
	t->added |= o && cdg_order_mark(o) != mark;
	if (!(*b.mask & b.bit))
		APPEND(t->bits, t->n, t->cap) = b;
	return true;
}
