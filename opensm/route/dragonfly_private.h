// SPDX-License-Identifier: BSD-2-Clause
/* What the dragonfly engine and its ways round damage share (dragonfly.c, dragonfly_damage.c). */
#pragma once

#include "route/shapes.h"

struct dragonfly {
	const struct graph *g;
	const struct shape *shape;
	uint32_t *missing; /* per switch: others of its group that it has no cable to */
	bool *early;	   /* per group of the graph: leads from a broken switch to an early whole one */
	/* Ways over a third group; NULL: none is needed. */
	bool *relay;	   /* per (switch, group): passes on what comes from other groups for that one */
	bool *onward;	   /* per switch: relays pass on by it */
	bool *middle;	   /* per group of the graph: from a relay to an onward switch */
	_Atomic bool *odd;   /* some step is none of A to D */
	_Atomic bool *twice; /* end ports' packets may take two global cables in a row */
};

static inline bool dragonfly_is_local(const struct dragonfly *d, uint32_t u, uint32_t v)
{
	return d->shape->group[u] == d->shape->group[v];
}

static inline bool dragonfly_relays(const struct dragonfly *d, uint32_t u, uint32_t group)
{
	return d->relay && d->relay[(size_t)u * d->shape->n_groups + group];
}

static inline bool dragonfly_is_onward(const struct dragonfly *d, uint32_t u)
{
	return d->relay && d->onward[u];
}

/* Fills in all that damage asks for. */
void dragonfly_mend(struct dragonfly *d);
void dragonfly_done(struct dragonfly *d);
