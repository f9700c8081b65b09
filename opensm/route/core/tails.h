// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tails: switches that hang on one other switch, and those that hang on them.
 *
 * A leaf for management on one switch of a torus makes a graph of it that is no torus. So engines
 * that go by the shape of a fabric, and find none, look at it without its tails, and route what is
 * left, its *core*, on which the end ports of a tail are at the switch that the tail hangs on. The
 * tail's own tables are added afterwards: within it there is one path, and from it one way out.
 * What goes to a tail takes, in the core, the paths and VLs of what ends where the tail hangs. No
 * cycle of waiting packets leads through a tail, as it would have to come back by the cables by
 * which it came.
 */
#pragma once

#include "route/core/graph.h"
#include "route/core/routes.h"

struct tails {
	struct graph *graph; /* of the whole fabric */
	/* By switch: the neighbour towards the core; TOPO_NONE in the core. */
	uint32_t *on;
	/* by switch: core switch that its tail is attached to; itself in the core */
	uint32_t *root;
	uint32_t *place;   /* by switch: number in the core; TOPO_NONE in tails */
	uint32_t n;	   /* number of switches in tails */
	struct topo *core; /* fabric without the tails; one reference */
};

/*
 * A copy of `t` with fewer switches. `into`, by switch: itself if it stays, else the switch that
 * gets its end ports, on ports after its last one. Aggregation nodes of removed switches are left
 * out. `ret_place`, by switch: its number in the copy; TOPO_NONE: removed. NULL: a switch would
 * have more than 254 ports. The caller owns the reference.
 */
struct topo *tails_gather(const struct topo *t, const uint32_t *into, uint32_t *ret_place);

/* To be tried in this order: a switch with many end ports may be one that has lost cables. */
enum tails_kind {
	TAILS_STUBS, /* of stubs alone (topo_find_stubs()) */
	TAILS_ALL,
	TAILS_KINDS,
};

/* NULL: there are no tails, or a switch would have more than 254 ports. The caller frees. */
struct tails *tails_find(const struct topo *t, const struct route_options *options,
			 enum tails_kind kind);
struct tails *tails_free(struct tails *tails);
FREEP(tails_free, struct tails)

/* Makes routes of a core, as an engine does; routes.hops, if any, are those of shortest paths. */
typedef struct routes *(*tails_core_fn)(const struct route_job *core, char *why, size_t why_len);

/* Routes of the job from those that `compute` makes of its core. NULL and `why`: it makes none. */
struct routes *tails_compute(const struct route_job *job, const struct tails *tails,
			     tails_core_fn compute, char *why, size_t why_len);
