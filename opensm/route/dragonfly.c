// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dragonfly engine: shortest paths of the form local, global, local, on two lanes by port classes.
 *
 * A path changes from lane 0 to lane 1 when it has crossed its first global cable; which lane a packet is
 * on so follows from the ports by which it enters and leaves a switch, and no path needs a service level
 * of its own:
 *
 *	in \ out     local	global
 *	host	     0		0
 *	local	     1		0	(local, local: only where a cable is missing)
 *	early local  0		0
 *	global	     1		1
 *
 * Local cables on lane 0 lead to global ones on lane 0, these to global ones on lane 1, these to local ones on
 * lane 1, which lead nowhere: no circle. So every path must be (local) (global) (global) (local), with two
 * globals where that is as short. A switch has one entry for a LID whoever asks, so a switch whose path
 * begins with a local step cannot be used by whoever comes by a cable. Therefore steps are allowed in this
 * order, beginning in the destination's group:
 *
 *	A  one local step	B  global, then A	C  global, then B	D  local, then B or C
 *
 * A local cable that is missing is walked round over a *whole* switch, one that knows all of its group: for
 * the last hop, on lane 1, over some of these, for the way to the global cable, on lane 0, over others; the
 * ports by which the latter are entered are the early ones. As whole switches walk round nothing
 * themselves, no circle closes on either lane.
 *
 * Where no cable joins two groups, *relays* in a third one pass on what comes in by a global cable: over a
 * local one (lane 1) to an *onward* switch, which sends what comes from relays, and all the relay sends that way, on
 * lane 2, and whoever is entered by a global cable of an onward switch stays on lane 2:
 *
 *	from relay   1		2
 *	from onward  2		2
 *
 * Relays and onward switches are whole, no way to a relay begins at an onward switch, and nobody takes two global
 * cables in a row if the first leads away from an onward switch. So lane 1 leads to lane 2 only from a
 * relay, and lane 2 to lane 1 only on the last hop round a missing cable, to a broken switch, where it ends.
 *
 * In a dragonfly+ local steps go up or down; see stage_up_or_down().
 *
 * What is left without any of these takes a shortest way to whoever has one, and the judge decides.
 */
#include "route/engines.h"

#include <stdio.h>
#include <string.h>

#include "route/dragonfly_private.h"
#include "route/steps.h"
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
	STAGE_ODD,    /* none of it */
};

struct search {
	const struct dragonfly *d;
	struct steps *s;
	uint32_t to;
	uint32_t *hops, *stage;
	uint32_t *left, n_left; /* who has no stage yet */
};

/*
 * Steps within a group of leaves and spines: up to a spine that goes down, or on; down to the destination. What
 * went down does not go up again, so one lane will do until somebody takes two global cables.
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
	case STAGE_ODD:
	case STAGE_NONE:
		break;
	}
	return STAGE_NONE;
}

/* Steps within a group of which everybody knows everybody. */
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
	case STAGE_ODD:
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
		return dragonfly_relays(d, v, group) && !dragonfly_is_onward(d, u) ? STAGE_VIA : STAGE_NONE;
	case STAGE_TWICE:
	case STAGE_VIA:
	case STAGE_LONG:
	case STAGE_NONE:
	case STAGE_AROUND:
	case STAGE_ODD:
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

/* The kinds of steps, as bits, by which `u` gets there with this number of hops. */
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
 * What a switch that can go these ways does. Who can begin with a global step does so unless it is far away: others of
 * the group lean on it.
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

static void enter(struct search *f, uint32_t u, uint32_t hops, unsigned ways)
{
	const struct graph *g = f->d->g;

	steps_switch(f->s, u);
	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
		uint32_t v = g->groups[i].to;

		if (f->stage[v] != STAGE_NONE && f->hops[v] + 1 == hops &&
		    (!ways || ways >> stage_by(f, u, i) & 1))
			steps_group(f->s, &g->groups[i]);
	}
}

/*
 * Everybody who can get there with this number of hops. Stages are written when all have been seen: nobody leans
 * on somebody as far away.
 */
static void enter_all(struct search *f, uint32_t hops)
{
	uint32_t first = f->s->n, n = 0, *next = f->s->work[2];

	for (uint32_t i = 0; i < f->n_left; i++) {
		uint32_t u = f->left[i];
		unsigned ways = choose_ways(ways_of(f, u, hops));

		if (ways) {
			enter(f, u, hops, ways);
			f->hops[u] = hops;
			next[u] = stage_of(ways);
		} else {
			f->left[n++] = u;
		}
	}
	f->n_left = n;
	for (uint32_t i = first; i < f->s->n; i++)
		f->stage[f->s->order[i]] = next[f->s->order[i]];
}

static bool has_neighbour_at(const struct search *f, uint32_t u, uint32_t hops)
{
	const struct graph *g = f->d->g;

	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
		if (f->stage[g->groups[i].to] != STAGE_NONE && f->hops[g->groups[i].to] == hops)
			return true;
	return false;
}

/* Who is left goes a shortest way to somebody who has one. */
static void enter_odd(struct search *f, uint32_t hops)
{
	uint32_t first = f->s->n, n = 0;

	for (uint32_t i = 0; i < f->n_left; i++) {
		uint32_t u = f->left[i];

		if (has_neighbour_at(f, u, hops - 1))
			enter(f, u, hops, 0);
		else
			f->left[n++] = u;
	}
	f->n_left = n;
	for (uint32_t i = first; i < f->s->n; i++) {
		f->hops[f->s->order[i]] = hops;
		f->stage[f->s->order[i]] = STAGE_ODD;
		*f->d->odd = true;
	}
}

static void find_steps(const void *arg, uint32_t to, struct steps *s)
{
	const struct dragonfly *d = arg;
	struct search f = { .d = d, .s = s, .to = to, .hops = s->work[0], .stage = s->work[1],
			    .left = s->work[3] };
	uint32_t before = 1;

	memset(f.stage, 0, d->g->n * sizeof(*f.stage));
	f.stage[to] = STAGE_END;
	f.hops[to] = 0;
	for (uint32_t u = 0; u < d->g->n; u++)
		if (u != to)
			f.left[f.n_left++] = u;
	for (uint32_t hops = 1; hops <= HOPS && f.n_left; hops++)
		enter_all(&f, hops);
	for (uint32_t hops = 2; f.n_left && (hops <= HOPS + 1 || f.n_left < before); hops++) {
		before = f.n_left;
		enter_odd(&f, hops);
	}
}

/* ---- lanes ----------------------------------------------------------------------------------- */

enum port_class {
	CLASS_HOST,
	CLASS_LOCAL,
	CLASS_EARLY,
	CLASS_MIDDLE,
	CLASS_GLOBAL,
	CLASS_ONWARD,
	N_CLASSES,
};

static enum port_class class_of(const struct dragonfly *d, uint32_t sw, uint32_t peer)
{
	const struct graph_group *back = shape_edge(d->g, peer, sw);

	if (!dragonfly_is_local(d, sw, peer))
		return dragonfly_is_onward(d, peer) ? CLASS_ONWARD : CLASS_GLOBAL;
	if (d->relay && back && d->middle[back - d->g->groups])
		return CLASS_MIDDLE;
	return back && d->early[back - d->g->groups] ? CLASS_EARLY : CLASS_LOCAL;
}

/* Everything that comes in by `in` and does not go to a host, local cables and global ones. */
static void set_lane(struct lanes *l, enum port_class in, uint8_t local, uint8_t global)
{
	for (enum port_class out = CLASS_LOCAL; out < N_CLASSES; out++)
		memset(&l->vl[(in * N_CLASSES + out) * LANES_SLS], out < CLASS_GLOBAL ? local : global,
		       LANES_SLS);
}

static struct lanes *lanes_of(const struct dragonfly *d, const struct topo *t, uint32_t row_size)
{
	struct lanes *l = lanes_new(t, d->relay ? 3 : 2, LANES_BY_NOTHING, row_size, N_CLASSES);
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	l->class_of = xcalloc(MAX(n, 1u), sizeof(*l->class_of));
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t peer = topo_port(t, s, p)->sw;

			if (peer != TOPO_NONE)
				l->class_of[t->switches[s].first_port + p] =
					(uint8_t)class_of(d, s, peer);
		}
	memset(l->vl, 0, (size_t)N_CLASSES * N_CLASSES * LANES_SLS);
	memset(l->host_vl, 0, sizeof(l->host_vl));
	set_lane(l, CLASS_LOCAL, 1, 0);
	set_lane(l, CLASS_GLOBAL, 1, 1);
	if (d->relay) {
		set_lane(l, CLASS_MIDDLE, 1, 2);
		set_lane(l, CLASS_ONWARD, 2, 2);
	}
	return l;
}

struct routes *dragonfly_routes(const struct route_job *job, const struct graph *g,
				const struct shape *shape, char *why, size_t why_len)
{
	_Atomic bool odd = false, twice = false;
	struct dragonfly d = { .g = g, .shape = shape, .odd = &odd, .twice = &twice };
	bool plus = shape->kind == SHAPE_DRAGONFLY_PLUS;
	unsigned lanes = route_lanes(job);
	struct routes *r;

	if (lanes < 2 && !plus) {
		snprintf(why, why_len, "needs 2 lanes, every cable has 1");
		return NULL;
	}
	dragonfly_mend(&d);
	if (d.relay && lanes < 3) {
		snprintf(why, why_len, "some groups have no cable between them: needs 3 lanes, every cable has %u",
			 lanes);
		dragonfly_done(&d);
		return NULL;
	}
	r = steps_deal(job, g, "dragonfly", find_steps, &d);
	if (!r) {
		snprintf(why, why_len, "cancelled");
	} else if (lanes < 2 && twice) {
		snprintf(why, why_len, "some groups have no cable between them: needs 2 lanes, every cable has 1");
		r = routes_unref(r);
	} else if (!plus || twice) {
		r->lanes = lanes_of(&d, job->topo, r->row_size);
	}
	dragonfly_done(&d);
	return r;
}

struct routes *dragonfly_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, NULL);
	_cleanup_(shape_freep) struct shape *shape = shape_find(g);
	char text[SHAPE_STRLEN];

	if (shape->kind != SHAPE_DRAGONFLY && shape->kind != SHAPE_DRAGONFLY_PLUS) {
		snprintf(why, why_len, "no dragonfly: %s", shape_str(shape, text));
		return NULL;
	}
	return dragonfly_routes(job, g, shape, why, why_len);
}
