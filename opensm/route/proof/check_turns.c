// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dependency graph after a change: turns that have other VLs than before, and edges that no
 * path has any more. These are looked for among the turns that former paths made; for each, paths
 * over it are followed back to their senders until all its edges are found.
 */
#include <string.h>

#include "route/proof/check_delta.h"
#include "util/mem.h"

/* Has a packet that comes in by port `in` and leaves by `out` another VL than before? */
static bool turn_moved(const struct delta *d, uint32_t in, uint32_t out)
{
	const struct cdg *g = d->new->dependencies;
	size_t at = ((size_t)cdg_class(g, in) * g->n_classes + cdg_class(g, out)) * SL2VL_SLS;
	const struct sl2vl *was = d->old->routes->lanes; /* NULL: all is on VL 0 */

	return d->turned && memcmp(was ? &was->vl[at] : (const uint8_t[SL2VL_SLS]){ 0 },
				   &g->lanes->vl[at], SL2VL_SLS);
}

bool delta_has_moved_turn(const struct delta *d)
{
	const struct cdg *g = d->new->dependencies;
	size_t n = (size_t)g->n_vls * g->n_in * g->words;

	for (size_t i = 0; d->turned && i < g->n_ports * n; i++)
		for (uint64_t left = g->into[i]; left; left &= left - 1) {
			uint32_t sw = g->topo->ports[g->peer[i / n]].sw;
			uint32_t in = (uint32_t)(i % g->words) * 64 +
				      (uint32_t)__builtin_ctzll(left);

			if (turn_moved(d, g->topo->switches[sw].first_port + in, (uint32_t)(i / n)))
				return true;
		}
	return false;
}

/* Edges of packets that come in by `in` and leave by `out`: entries of one switch. */
struct turn {
	uint32_t in, out;
	uint16_t open[SL2VL_VLS_MAX + 1]; /* per VL in: VLs out of edges that no path has so far */
	/* layers that have one of them, per class of the port by which they come to `before` */
	uint16_t layers[UINT8_MAX + 1];
	uint32_t before; /* the switch before */
	bool done;	 /* there are no such layers */
};

/* VL in, as the graph tells them apart, of a layer that comes to the switch before by `class`. */
static unsigned vl_in(const struct cdg *g, const struct turn *e, unsigned class, unsigned layer)
{
	return g->n_in > 1 ? cdg_vl(g, class, cdg_class(g, g->peer[e->in]), layer) : 0;
}

static unsigned vl_out(const struct cdg *g, const struct turn *e, unsigned layer)
{
	return cdg_vl(g, cdg_class(g, e->in), cdg_class(g, e->out), layer);
}

/* All, where edges may be on former VLs. */
static void find_layers(const struct delta *d, struct turn *e)
{
	const struct cdg *g = d->new->dependencies;
	bool any = turn_moved(d, e->in, e->out);

	e->done = true;
	for (unsigned class = 0; class < g->n_classes; class++) {
		e->layers[class] = 0;
		for (unsigned k = 0; k < g->n_layers; k++)
			if (any || e->open[vl_in(g, e, class, k)] >> vl_out(g, e, k) & 1)
				e->layers[class] |= (uint16_t)(1u << k);
		e->done &= !e->layers[class];
	}
}

/* What end ports of `s` send to the LID, and comes to the switch before by `class`. */
static void close_edges(const struct delta *d, struct turn *e, uint32_t s, lid_t lid,
			unsigned class)
{
	const struct cdg *g = d->new->dependencies;
	uint16_t layers = e->layers[class];

	if (!layers || !d->new->sources[s])
		return;
	layers &= g->layers[sl2vl_sl(g->lanes, s, d->new->targets[lid].sw, lid, 0)];
	for (unsigned left = layers; left; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctz(left);

		e->open[vl_in(g, e, class, k)] &= (uint16_t)~(1u << vl_out(g, e, k));
	}
	if (layers && turn_moved(d, e->in, e->out)) {
		memset(e->open, 0, sizeof(e->open));
		e->done = true;
	} else if (layers) {
		find_layers(d, e);
	}
}

/* Paths to the LID over the turn. */
static void follow_back(struct delta *d, struct turn *e, lid_t lid)
{
	const struct verifier *j = d->new;
	const struct cdg *g = j->dependencies;
	size_t n = 0;

	for (unsigned p = 0; p <= j->topo->switches[e->before].n_ports; p++)
		if (g->hosts[(size_t)e->before * g->words + p / 64] >> p % 64 & 1)
			close_edges(d, e, e->before, lid,
				    cdg_class(g, j->topo->switches[e->before].first_port + p));
	APPEND(d->queue, n, d->cap_queue) = (struct upstream){ .sw = e->before };
	for (size_t i = 0; i < n && !e->done; i++) {
		struct upstream here = d->queue[i];
		const struct topo_switch *sw = &j->topo->switches[here.sw];

		for (unsigned p = 1; p <= sw->n_ports; p++) {
			uint32_t behind = j->behind[sw->first_port + p];

			if (behind == BEHIND_NONE || !sends_to(d, behind, lid))
				continue;
			if (!i)
				here.class = cdg_class(g, sw->first_port + p);
			close_edges(d, e, behind >> 8, lid, here.class);
			APPEND(d->queue, n, d->cap_queue) =
				(struct upstream){ .sw = behind >> 8, .class = here.class };
		}
	}
}

/* Takes away the edges of a turn at `s` that no path has. */
static void drop_edges(struct delta *d, struct turn *e, uint32_t s)
{
	const struct verifier *j = d->new;
	const struct topo_switch *sw = &j->topo->switches[s];
	const struct cdg *g = j->dependencies;
	unsigned in = e->in - sw->first_port;
	uint64_t *into = &g->into[(size_t)e->out * g->n_vls * g->n_in * g->words + in / 64];

	for (unsigned i = 0; i < g->n_vls * g->n_in; i++)
		e->open[i % g->n_in] |=
			(uint16_t)((into[i * g->words] >> in % 64 & 1) << i / g->n_in);
	find_layers(d, e);
	for (unsigned lid = 1; lid <= j->top && lid < sw->lft_cap && !e->done; lid++)
		if (sw->first_port + routes_port(j->routes, s, (lid_t)lid) == e->out &&
		    j->targets[lid].port && !j->targets[lid].aside &&
		    j->targets[lid].sw != TOPO_NONE &&
		    j->targets[lid].sw != s && sends_to(d, j->behind[e->in], (lid_t)lid))
			follow_back(d, e, (lid_t)lid);
	for (unsigned i = 0; i < g->n_vls * g->n_in; i++)
		if (e->open[i % g->n_in] >> i / g->n_in & 1)
			into[i * g->words] &= ~(UINT64_C(1) << in % 64);
}

/* Drops the dependencies of turns at switch `s` that paths made before and make no more. */
static void drop_dependencies(struct delta *d, uint32_t s)
{
	const struct topo_switch *sw = &d->new->topo->switches[s];

	for (unsigned out = 1; out <= sw->n_ports; out++)
		for (unsigned in = 1; in <= sw->n_ports; in++) {
			struct turn e = { .in = sw->first_port + in, .out = sw->first_port + out };

			if (!d->left_out[e.out] || !d->left_in[e.in] ||
			    d->new->behind[e.in] == BEHIND_NONE)
				continue;
			e.before = d->new->behind[e.in] >> 8;
			drop_edges(d, &e, s);
		}
}

void delta_forget_cables(struct delta *d)
{
	struct cdg *g = d->new->dependencies;
	size_t n = (size_t)g->n_vls * g->n_in * g->words;

	for (size_t i = 0; i < d->n_cables; i++) {
		const struct topo_switch *sw = &d->new->topo->switches[d->cables[i].sw];
		unsigned port = d->cables[i].end - sw->first_port;

		if (d->cables[i].was == d->cables[i].now)
			continue;
		memset(&g->into[d->cables[i].end * n], 0, n * sizeof(*g->into));
		for (size_t k = port / 64; k < (sw->n_ports + 1u) * n; k += g->words)
			g->into[sw->first_port * n + k] &= ~(UINT64_C(1) << port % 64);
	}
}

bool delta_settle_graph(struct delta *d, bool had_moved_turn)
{
	struct cdg *g = d->new->dependencies;
	bool ok = cdg_is_still_acyclic(g, &d->added);

	if (!g->lanes)
		return ok;
	for (uint32_t s = 0; s < d->new->topo->n_switches; s++)
		drop_dependencies(d, s);
	cdg_forget_vls(g);
	return (ok || cdg_is_acyclic(g)) && !(had_moved_turn && delta_has_moved_turn(d));
}
