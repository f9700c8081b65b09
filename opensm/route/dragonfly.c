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
 *	local	     2 (damage)	0
 *	global	     1		1
 *
 * Local cables on lane 0 lead to global ones on lane 0, these to global ones on lane 1, these to local ones on
 * lane 1, which lead nowhere: no circle. So every path must be (local) (global) (global) (local), with two
 * globals where that is as short. A switch has one entry for a LID whoever asks, so a switch whose path
 * begins with a local step cannot be used by whoever comes by a local or global cable. Therefore steps are
 * allowed in this order, with the destination's group first:
 *
 *	A  one local step	B  global, then A	C  global, then B	D  local, then B or C
 *
 * Where damage leaves a switch without any of these it takes a shortest way to one that has, which may be
 * two local steps; they have a lane of their own, and the judge decides.
 *
 * In a dragonfly+ local steps are up or down, groups are crossed by up and down, and one lane is enough
 * while no path goes up after it went down.
 */
#include "route/engines.h"

#include <stdio.h>
#include <string.h>

#include "route/shapes.h"
#include "route/steps.h"
#include "util/mem.h"

enum stage {
	STAGE_NONE,
	STAGE_END,    /* the destination */
	STAGE_LOCAL,  /* A */
	STAGE_GLOBAL, /* B */
	STAGE_TWICE,  /* C */
	STAGE_FAR,    /* D */
	STAGE_ODD,    /* damage */
};

struct dragonfly {
	const struct graph *g;
	const struct shape *shape;
	_Atomic bool *odd; /* some step is none of A to D */
};

struct search {
	const struct dragonfly *d;
	struct steps *s;
	uint32_t *hops, *stage;
};

static bool is_local(const struct dragonfly *d, uint32_t u, uint32_t v)
{
	return d->shape->group[u] == d->shape->group[v];
}

/* May a switch enter `stage` by a step to `v`? */
static bool leads_on(const struct search *f, enum stage stage, uint32_t u, uint32_t v)
{
	bool local = is_local(f->d, u, v);

	switch (stage) {
	case STAGE_LOCAL:
		return local && f->stage[v] == STAGE_END;
	case STAGE_GLOBAL:
		return !local && (f->stage[v] == STAGE_END || f->stage[v] == STAGE_LOCAL);
	case STAGE_TWICE:
		return !local && f->stage[v] == STAGE_GLOBAL;
	case STAGE_FAR:
		return local && (f->stage[v] == STAGE_GLOBAL || f->stage[v] == STAGE_TWICE);
	case STAGE_ODD:
		return f->stage[v] != STAGE_NONE;
	case STAGE_NONE:
	case STAGE_END:
		break;
	}
	return false;
}

/* Hops of `u` if it enters `stage`; TOPO_NONE: it cannot. */
static uint32_t hops_by(const struct search *f, enum stage stage, uint32_t u)
{
	const struct graph *g = f->d->g;
	uint32_t least = TOPO_NONE;

	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
		if (leads_on(f, stage, u, g->groups[i].to))
			least = MIN(least, f->hops[g->groups[i].to] + 1);
	return least;
}

static void enter(struct search *f, enum stage stage, uint32_t u, uint32_t hops)
{
	const struct graph *g = f->d->g;

	steps_switch(f->s, u);
	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
		if (leads_on(f, stage, u, g->groups[i].to) && f->hops[g->groups[i].to] + 1 == hops)
			steps_group(f->s, &g->groups[i]);
	f->hops[u] = hops;
}

/*
 * Everybody who can enters `stage` with this number of hops. The stage is written when all have been seen:
 * nobody leans on somebody of the same stage.
 */
static void enter_all(struct search *f, enum stage stage, uint32_t hops)
{
	uint32_t first = f->s->n;

	for (uint32_t u = 0; u < f->d->g->n; u++)
		if (f->stage[u] == STAGE_NONE && hops_by(f, stage, u) == hops)
			enter(f, stage, u, hops);
	for (uint32_t i = first; i < f->s->n; i++)
		f->stage[f->s->order[i]] = stage;
}

/* C and D, nearest first; what is left after that. */
static void enter_rest(struct search *f)
{
	uint32_t n = f->d->g->n, before;

	for (uint32_t hops = 2; hops <= 3; hops++) {
		enter_all(f, STAGE_TWICE, hops);
		enter_all(f, STAGE_FAR, hops);
	}
	enter_all(f, STAGE_FAR, 4);
	for (uint32_t hops = 2; f->s->n + 1 < n && hops < n; hops++) {
		before = f->s->n;
		enter_all(f, STAGE_ODD, hops);
		if (f->s->n > before)
			*f->d->odd = true;
		else if (hops > 8)
			break; /* no way in from the rest of the fabric */
	}
}

static void find_steps(const void *arg, uint32_t to, struct steps *s)
{
	const struct dragonfly *d = arg;
	struct search f = { .d = d, .s = s, .hops = s->work[0], .stage = s->work[1] };

	memset(f.stage, 0, d->g->n * sizeof(*f.stage));
	f.stage[to] = STAGE_END;
	f.hops[to] = 0;
	enter_all(&f, STAGE_LOCAL, 1);
	enter_all(&f, STAGE_GLOBAL, 1);
	enter_all(&f, STAGE_GLOBAL, 2);
	enter_rest(&f);
}

enum port_class {
	CLASS_HOST,
	CLASS_LOCAL,
	CLASS_GLOBAL,
	N_CLASSES,
};

static struct lanes *lanes_of(const struct dragonfly *d, const struct topo *t, uint32_t row_size)
{
	struct lanes *l = lanes_new(t, *d->odd ? 3 : 2, LANES_BY_NOTHING, row_size, N_CLASSES);
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	l->class_of = xcalloc(n, sizeof(*l->class_of));
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t peer = topo_port(t, s, p)->sw;

			if (peer != TOPO_NONE)
				l->class_of[t->switches[s].first_port + p] =
					is_local(d, s, peer) ? CLASS_LOCAL : CLASS_GLOBAL;
		}
	memset(l->vl, 0, (size_t)N_CLASSES * N_CLASSES * LANES_SLS);
	memset(l->host_vl, 0, sizeof(l->host_vl));
	memset(&l->vl[(CLASS_GLOBAL * N_CLASSES + CLASS_LOCAL) * LANES_SLS], 1, LANES_SLS);
	memset(&l->vl[(CLASS_GLOBAL * N_CLASSES + CLASS_GLOBAL) * LANES_SLS], 1, LANES_SLS);
	if (*d->odd)
		memset(&l->vl[(CLASS_LOCAL * N_CLASSES + CLASS_LOCAL) * LANES_SLS], 2, LANES_SLS);
	return l;
}

struct routes *dragonfly_routes(const struct route_job *job, const struct graph *g,
				const struct shape *shape, char *why, size_t why_len)
{
	_Atomic bool odd = false;
	struct dragonfly d = { .g = g, .shape = shape, .odd = &odd };
	unsigned lanes = route_lanes(job);
	struct routes *r;

	if (lanes < 2) {
		snprintf(why, why_len, "needs 2 lanes, every cable has 1");
		return NULL;
	}
	r = steps_deal(job, g, "dragonfly", find_steps, &d);
	if (!r) {
		snprintf(why, why_len, "cancelled");
		return NULL;
	}
	if (odd && lanes < 3) {
		snprintf(why, why_len, "damaged: needs 3 lanes, every cable has %u", lanes);
		return routes_unref(r);
	}
	r->lanes = lanes_of(&d, job->topo, r->row_size);
	return r;
}

struct routes *dragonfly_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, NULL);
	_cleanup_(shape_freep) struct shape *shape = shape_find(g);
	char text[SHAPE_STRLEN];

	if (shape->kind != SHAPE_DRAGONFLY) {
		snprintf(why, why_len, "no dragonfly: %s", shape_str(shape, text));
		return NULL;
	}
	return dragonfly_routes(job, g, shape, why, why_len);
}
