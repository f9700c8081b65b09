// SPDX-License-Identifier: BSD-2-Clause
/* Common to the dragonfly engine and its paths round damage. */
#pragma once

#include "route/direct/direct_routes.h"
#include "util/mem.h"

struct dragonfly {
	const struct graph *g;
	const struct shape *shape;
	uint32_t *missing; /* per switch: others of its group that it has no cable to */
	/* per group of the graph: leads from a broken switch to an early whole one */
	bool *early;
	/* Paths over a third group; NULL: none is needed. */
	bool *relay;	   /* per (switch, group): passes on packets of other groups for that one */
	bool *onward;	   /* per switch: relays pass on by it */
	bool *middle;	   /* per group of the graph: from a relay to an onward switch */
	_Atomic bool *twice; /* end ports' packets may take two global cables in a row */
	struct arena *memory; /* the arrays above are in it */
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

/* Fills in all that missing cables ask for. */
void dragonfly_mend(struct dragonfly *d);
