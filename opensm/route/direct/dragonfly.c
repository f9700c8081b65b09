// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dragonfly engine: shortest paths of the form local, global, local, on VLs by port class.
 *
 * A path changes from VL 0 to VL 1 when it has crossed its first global cable; which VL a packet is
 * on so follows from the ports by which it enters and leaves a switch, and no path needs a service
 * level of its own:
 *
 * 	in \ out     local	global
 * 	host	     0		0
 * 	local	     1		0	(local, local: only where a cable is missing)
 * 	early local  0		0
 * 	global	     1		1
 *
 * Local cables on VL 0 lead to global ones on VL 0, these to global ones on VL 1, these to local
 * ones on VL 1, which lead nowhere: no cycle. So every path must be (local) (global) (global)
 * (local), with two globals where that is as short. A switch has one entry for a LID, wherever a
 * packet comes from, so a switch whose path begins with a local step cannot be used by packets that
 * arrive by a cable. Therefore steps are allowed in this order, from the destination's group:
 *
 * A  one local step       B  global, then A       C  global, then B       D  local, then B or C
 *
 * A missing local cable is walked round over a *whole* switch, one with a cable to all of its
 * group: for the last hop, on VL 1, over some of these, for the path to the global cable, on VL 0,
 * over others; the ports by which the latter are entered are the early ones. As whole switches walk
 * round nothing themselves, no cycle closes on either VL.
 *
 * Where no cable joins two groups, *relays* in a third one pass on what arrives by a global cable:
 * over a local one (VL 1) to an *onward* switch. The onward switch sends on VL 2 what comes from
 * relays, and all that the relay sends that way; a packet that enters a switch by a global cable of
 * an onward switch stays on VL 2:
 *
 * 	from relay   1		2
 * 	from onward  2		2
 *
 * Relays and onward switches are whole, no path to a relay begins at an onward switch, and no path
 * takes two global cables in a row if the first leads away from an onward switch. So VL 1 leads to
 * VL 2 only from a relay, and VL 2 to VL 1 only on the last hop round a missing cable, to a broken
 * switch, where the path ends.
 *
 * In a dragonfly+ local steps go up or down; see stage_up_or_down().
 *
 * Switches left without any of these take a shortest path to a switch that has one, and
 * routes_check() decides.
 */
#include "route/select/engines.h"

#include <string.h>

#include "route/direct/dragonfly_internal.h"
#include "util/mem.h"

#define HOPS 8 /* of the longest regular path */

enum stage {
	STAGE_NONE,
	STAGE_END,    /* the destination */
	STAGE_LOCAL,  /* A */
	STAGE_GLOBAL, /* B */
	STAGE_TWICE,  /* B or C */
	STAGE_FAR,    /* D, perhaps also C */
	STAGE_VIA,    /* global, to a relay */
	STAGE_LONG,   /* local, to one of these */
	STAGE_AROUND, /* to one of these or to D, over a whole switch */
};

struct search {
	const struct dragonfly *d;
	struct path_dag *w;
	uint32_t to;
	uint32_t *hops; /* TOPO_NONE: no stage yet */
	uint32_t *stage;
	uint32_t *left, n_left; /* switches without a stage */
};

/*
 * Steps within a group of leaves and spines: up to a spine that goes down, or on; down to the
 * destination. A path that went down does not go up again, so one VL is enough as long as no path
 * takes two global cables.
 */
static enum stage stage_up_or_down(const struct search *f, uint32_t u, uint32_t i)
{
	uint32_t v = f->d->g->groups[i].to;

	if (!f->d->shape->leaf[u])
		return f->stage[v] == STAGE_END ? STAGE_LOCAL : STAGE_NONE;
	switch ((enum stage)f->stage[v]) {
	case STAGE_TWICE:
		if (f->d->shape->leaf[f->to])
			*f->d->twice = true;
		return STAGE_FAR;
	case STAGE_END:
	case STAGE_LOCAL:
	case STAGE_GLOBAL:
		return STAGE_FAR;
	case STAGE_FAR:
	case STAGE_VIA:
	case STAGE_LONG:
	case STAGE_AROUND:
	case STAGE_NONE:
		break;
	}
	return STAGE_NONE;
}

/* Steps within a group in which all switches have cables to each other. */
static enum stage stage_by_local(const struct search *f, uint32_t u, uint32_t i)
{
	const struct dragonfly *d = f->d;
	uint32_t v = d->g->groups[i].to;
	bool around = d->missing[u] && !d->missing[v];
	bool relays = dragonfly_relays(d, u, d->shape->group[f->to]);

	switch ((enum stage)f->stage[v]) {
	case STAGE_END:
		return STAGE_LOCAL;
	case STAGE_LOCAL:
		return around && !d->early[i] ? STAGE_LOCAL : STAGE_NONE;
	case STAGE_GLOBAL:
		return relays && !d->middle[i] ? STAGE_NONE : STAGE_FAR;
	case STAGE_TWICE:
		return relays ? STAGE_NONE : STAGE_FAR;
	case STAGE_VIA:
		return STAGE_LONG;
	case STAGE_FAR:
	case STAGE_LONG:
		return around && d->early[i] ? STAGE_AROUND : STAGE_NONE;
	case STAGE_NONE:
	case STAGE_AROUND:
		break;
	}
	return STAGE_NONE;
}

static enum stage stage_by_global(const struct search *f, uint32_t u, uint32_t i)
{
	const struct dragonfly *d = f->d;
	uint32_t v = d->g->groups[i].to, group = d->shape->group[f->to];

	switch ((enum stage)f->stage[v]) {
	case STAGE_END:
	case STAGE_LOCAL:
		return STAGE_GLOBAL;
	case STAGE_GLOBAL:
		return dragonfly_is_onward(d, u) || dragonfly_relays(d, u, group) ? STAGE_NONE
										   : STAGE_TWICE;
	case STAGE_FAR:
		return dragonfly_relays(d, v, group) && !dragonfly_is_onward(d, u) ? STAGE_VIA
										   : STAGE_NONE;
	case STAGE_TWICE:
	case STAGE_VIA:
	case STAGE_LONG:
	case STAGE_NONE:
	case STAGE_AROUND:
		break;
	}
	return STAGE_NONE;
}

/* The stage that `u` enters by a step through group `i`. */
static enum stage stage_by(const struct search *f, uint32_t u, uint32_t i)
{
	if (!dragonfly_is_local(f->d, u, f->d->g->groups[i].to))
		return stage_by_global(f, u, i);
	return f->d->shape->kind == SHAPE_DRAGONFLY_PLUS ? stage_up_or_down(f, u, i)
							  : stage_by_local(f, u, i);
}

/* The kinds of next hops, as bits, by which `u` arrives with this number of hops. */
static unsigned ways_of(const struct search *f, uint32_t u, uint32_t hops)
{
	const struct graph *g = f->d->g;
	unsigned ways = 0;

	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
		uint32_t v = g->groups[i].to;

		if (f->stage[v] != STAGE_NONE && f->hops[v] + 1 == hops)
			ways |= 1u << stage_by(f, u, i);
	}
	return ways & ~(1u << STAGE_NONE);
}

/*
 * The step that a switch takes of those possible. A switch that can begin with a global step does
 * so unless it is far away: others of the group rely on it.
 */
static unsigned choose_ways(unsigned ways)
{
	if (ways & 1u << STAGE_LOCAL)
		return 1u << STAGE_LOCAL;
	if (ways & 1u << STAGE_GLOBAL)
		return ways & (1u << STAGE_GLOBAL | 1u << STAGE_TWICE);
	if (ways & (1u << STAGE_FAR | 1u << STAGE_TWICE))
		return ways & (1u << STAGE_FAR | 1u << STAGE_TWICE);
	return ways & 1u << STAGE_VIA ? 1u << STAGE_VIA : ways;
}

static enum stage stage_of(unsigned ways)
{
	for (enum stage s = STAGE_AROUND; s > STAGE_NONE; s--)
		if (ways >> s & 1)
			return s;
	return STAGE_NONE;
}

static void enter_switch(struct search *f, uint32_t u, uint32_t hops, unsigned ways)
{
	const struct graph *g = f->d->g;

	path_dag_switch(f->w, u);
	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
		uint32_t v = g->groups[i].to;

		if (f->stage[v] != STAGE_NONE && f->hops[v] + 1 == hops &&
		    ways >> stage_by(f, u, i) & 1)
			path_dag_group(f->w, &g->groups[i]);
	}
}

/* All that can arrive with so many hops. Stages come last: none relies on a switch as far away. */
static void enter_all(struct search *f, uint32_t hops)
{
	uint32_t first = f->w->n, n = 0, *next = f->w->work[2];

	for (uint32_t i = 0; i < f->n_left; i++) {
		uint32_t u = f->left[i];
		unsigned ways = choose_ways(ways_of(f, u, hops));

		if (ways) {
			enter_switch(f, u, hops, ways);
			f->hops[u] = hops;
			next[u] = stage_of(ways);
		} else {
			f->left[n++] = u;
		}
	}
	f->n_left = n;
	for (uint32_t i = first; i < f->w->n; i++)
		f->stage[f->w->order[i]] = next[f->w->order[i]];
}

static void find_paths(const void *arg, uint32_t to, struct path_dag *w)
{
	const struct dragonfly *d = arg;
	struct search f = { .d = d, .w = w, .to = to, .hops = w->work[0], .stage = w->work[1],
			    .left = w->work[3] };

	path_dag_begin(w, to);
	memset(f.hops, 0xFF, d->g->n * sizeof(*f.hops));
	memset(f.stage, 0, d->g->n * sizeof(*f.stage));
	f.stage[to] = STAGE_END;
	f.hops[to] = 0;
	for (uint32_t u = 0; u < d->g->n; u++)
		if (u != to)
			f.left[f.n_left++] = u;
	for (uint32_t hops = 1; hops <= HOPS && f.n_left; hops++)
		enter_all(&f, hops);
	direct_enter_rest(w, f.hops);
}

/* ---- VLs ----------------------------------------------------------------------------------- */

enum port_class {
	CLASS_HOST,
	CLASS_LOCAL,
	CLASS_EARLY,
	CLASS_MIDDLE,
	CLASS_GLOBAL,
	CLASS_ONWARD,
	N_CLASSES,
};

static unsigned class_of(const void *arg, uint32_t sw, uint32_t peer)
{
	const struct dragonfly *d = arg;
	const struct graph_group *back = graph_edge(d->g, peer, sw);

	if (!dragonfly_is_local(d, sw, peer))
		return dragonfly_is_onward(d, peer) ? CLASS_ONWARD : CLASS_GLOBAL;
	if (d->relay && back && d->middle[back - d->g->groups])
		return CLASS_MIDDLE;
	return back && d->early[back - d->g->groups] ? CLASS_EARLY : CLASS_LOCAL;
}

/* VLs of packets that enter by `in`, on local cables and on global ones. */
static void set_vl(struct sl2vl *l, enum port_class in, uint8_t local, uint8_t global)
{
	for (enum port_class out = CLASS_LOCAL; out < N_CLASSES; out++)
		memset(&l->vl[(in * N_CLASSES + out) * SL2VL_SLS],
		       out < CLASS_GLOBAL ? local : global, SL2VL_SLS);
}

static struct sl2vl *make_vls(const struct dragonfly *d, const struct topo *t, uint32_t row_size)
{
	struct sl2vl *l = sl2vl_new(t, d->relay ? 3 : 2, SL2VL_BY_NOTHING, row_size, N_CLASSES);

	sl2vl_set_classes(l, t, class_of, d);
	memset(l->vl, 0, (size_t)N_CLASSES * N_CLASSES * SL2VL_SLS);
	memset(l->host_vl, 0, sizeof(l->host_vl));
	set_vl(l, CLASS_LOCAL, 1, 0);
	set_vl(l, CLASS_GLOBAL, 1, 1);
	if (d->relay) {
		set_vl(l, CLASS_MIDDLE, 1, 2);
		set_vl(l, CLASS_ONWARD, 2, 2);
	}
	return l;
}

struct routes *dragonfly_routes(const struct route_job *job, const struct graph *g,
				const struct shape *shape, char *why, size_t why_len)
{
	_Atomic bool twice = false;
	_cleanup_(arena_done) struct arena memory = { NULL };
	struct dragonfly d = { .g = g, .shape = shape, .twice = &twice, .memory = &memory };
	bool plus = shape->kind == SHAPE_DRAGONFLY_PLUS;
	unsigned vls = route_vls(job);
	_cleanup_(routes_unrefp) struct routes *r = NULL;

	if (vls < 2 && !plus)
		return route_refuse(why, why_len, "needs 2 VLs, every cable has 1");
	dragonfly_mend(&d);
	if (d.relay && vls < 3)
		return route_refuse(why, why_len, "some groups have no cable between them: needs 3"
				    " VLs, every cable has %u", vls);
	r = direct_routes(job, g, "dragonfly", find_paths, &d, NULL);
	if (r && vls < 2 && twice)
		return route_refuse(why, why_len, "some groups have no cable between them: needs 2"
				    " VLs, every cable has 1");
	if (r && (!plus || twice))
		r->lanes = make_vls(&d, job->topo, r->row_size);
	return take(r);
}

static struct routes *routes_of_core(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, NULL);
	_cleanup_(shape_freep) struct shape *shape = shape_find(g);

	return dragonfly_routes(job, g, shape, why, why_len);
}

struct routes *dragonfly_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, NULL);
	_cleanup_(tails_freep) struct tails *tails = NULL;
	_cleanup_(shape_freep) struct shape *shape = shape_find_core(g, NULL, &tails);
	char text[SHAPE_STRLEN];

	if (shape->kind != SHAPE_DRAGONFLY && shape->kind != SHAPE_DRAGONFLY_PLUS)
		return route_refuse(why, why_len, "no dragonfly: %s", shape_str(shape, text));
	if (tails)
		return tails_compute(job, tails, routes_of_core, why, why_len);
	return dragonfly_routes(job, g, shape, why, why_len);
}
