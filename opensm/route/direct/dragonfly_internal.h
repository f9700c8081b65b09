// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the dragonfly engine and its paths around missing cables. */
#pragma once

#include "route/direct/direct_routes.h"
#include "util/mem.h"

struct dragonfly {
	const struct graph *g;
	const struct shape *shape;
	uint32_t *missing; /* by switch: number of others of its group that it has no cable to */
	/* By group of the graph: set if it leads from a broken switch to an early whole one. */
	bool *early;
	/* Paths over a third group; NULL: none are needed. */
	/* by (switch, group): set if it relays packets of other groups to that group */
	bool *relay;
	bool *onward; /* by switch: set if relays send packets on by it */
	/* by group of the graph: set if it leads from a relay to an onward switch */
	bool *middle;
	_Atomic bool *twice;  /* set if packets of end ports may take two global cables in a row */
	struct arena *memory; /* memory of the arrays above */
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

/* Fills in the paths that missing cables require. */
void dragonfly_mend(struct dragonfly *d);
