// SPDX-License-Identifier: BSD-2-Clause
/*
 * The switches of a topo as a compressed graph, on which engines and routes_check() work.
 *
 * All cables from one switch to the same neighbour form one group; their ports matter only when
 * entries are written. Groups of a switch are in GUID order of the neighbour, ports in a group
 * ascend. With hop weights a group keeps only its cheapest ports, as the others are on no shortest
 * path.
 */
#pragma once

#include <stdint.h>

#include "route/core/engine.h"
#include "topo/topo.h"

struct graph_group {
	uint32_t to;	     /* neighbour switch */
	uint32_t first_port; /* graph->ports[first_port .. first_port + n_ports - 1] */
	uint8_t n_ports;
	uint8_t weight; /* cost of using it in hops, 1..255 */
	uint8_t way;	/* enum graph_way */
};

/* The paths that may use a group; GRAPH_UP and GRAPH_DOWN only in graphs oriented by tree.h. */
enum graph_way {
	GRAPH_ANY,
	GRAPH_UP,
	GRAPH_DOWN,
};

struct graph {
	const struct topo *topo; /* borrowed */
	uint32_t n;		 /* number of switches */
	uint32_t *first;	 /* n + 1: groups of u are groups[first[u] .. first[u + 1] - 1] */
	struct graph_group *groups;
	uint8_t *ports;
	bool weighted; /* set if some weight is not 1 */
	struct arena memory;
};

/* Loops over the groups of switch `u`, as `const struct graph_group *EDGE`. */
#define GRAPH_EACH(g, u, EDGE)                                                                     \
	for (const struct graph_group *EDGE = &(g)->groups[(g)->first[u]],                         \
				      *EDGE##_end = &(g)->groups[(g)->first[(u) + 1]];             \
	     EDGE < EDGE##_end; EDGE++)

/* Makes the graph. `options` NULL: every hop costs 1. The caller frees; `topo` must stay valid. */
struct graph *graph_new(const struct topo *topo, const struct route_options *options);
struct graph *graph_free(struct graph *g);
FREEP(graph_free, struct graph)

/* The index in g->groups of the group from one switch to a neighbour; TOPO_NONE: none. */
uint32_t graph_find(const struct graph *g, uint32_t from, uint32_t to);
/* The group from one switch to a neighbour; NULL: none. */
const struct graph_group *graph_edge(const struct graph *g, uint32_t from, uint32_t to);

/*
 * The port of a group of switch `sw` for this turn: the ports in rotation, where a cable slower
 * than the fastest of them gives part of its turns to these.
 */
uint8_t graph_port_in_turn(const struct graph *g, uint32_t sw, const struct graph_group *group,
			   unsigned turn);

/* By switch: the first switch that is connected with it. The caller frees. */
uint32_t *graph_parts(const struct graph *g);

/*
 * Breadth-first search over all cables. `far` is 0 where it begins, else UINT16_MAX; it becomes the
 * number of hops to the nearest such switch, UINT16_MAX: no path. Returns the greatest. `order`:
 * filled in with the switches reached, nearest first; room for all; may be NULL.
 */
uint16_t graph_flood(const struct graph *g, uint16_t *far, uint32_t *order);

/* Distances between switches; DISTANCE_NONE where there is no path (or one longer than 65534). */
#define DISTANCE_NONE UINT16_MAX

/* In an oriented graph a distance also says how the path begins: going down only, or up first. */
#define DISTANCE_UP   0x8000u
#define DISTANCE_DOWN 0x4000u

struct distances {
	uint32_t n;
	uint16_t mask;	/* mask of the distance; the other bits are the two above */
	uint16_t *rows; /* rows[from * n + to] */
};

/*
 * All distances, weighted if the graph is; NULL: cancelled (`cancelled` may be NULL). threads >= 1.
 */
struct distances *distances_new(const struct graph *g, unsigned threads,
				const atomic_bool *cancelled);
/*
 * distances_new() to `n` targets: rows[from * n + i] is the distance to targets[i]; not for
 * weights. `targets` NULL: all switches.
 */
struct distances *distances_to(const struct graph *g, const uint32_t *targets, uint32_t n,
			       unsigned threads, const atomic_bool *cancelled);
struct distances *distances_free(struct distances *d);
FREEP(distances_free, struct distances)

/* The distance by a group whose other end has distance `there`. */
static inline uint16_t graph_near(const struct graph_group *g, uint16_t there)
{
	if (g->way == GRAPH_UP)
		there = (uint16_t)((there & (DISTANCE_DOWN - 1)) | DISTANCE_UP);
	else if (g->way == GRAPH_DOWN)
		there |= DISTANCE_DOWN;
	return (uint16_t)(there + g->weight);
}

/*
 * Is `near`, by a group or by another switch, on a path of distance `here`? Where a path may go up
 * first, one of the same length that goes down at once is accepted, too.
 */
static inline bool graph_is_path(uint16_t near, uint16_t here)
{
	return near == here ||
	       (here & DISTANCE_UP && near == (here ^ (DISTANCE_UP | DISTANCE_DOWN)));
}

/*
 * Fills in the distances that routes keep (routes.h), by destination. Hops as bytes, at most 254,
 * 0xFF: none: hops[to * n + from]. Paths that only go down as bits, `words` per destination:
 * downs[to * words + from / 64]; `downs` may be NULL.
 */
void hops_by_target(const struct distances *d, unsigned threads, uint8_t *hops, uint64_t *downs);

/* Of `n` switches: do the paths from `from` to `to` only go down? */
static inline bool hops_go_down(const uint64_t *downs, uint32_t n, uint32_t from, uint32_t to)
{
	return downs[(size_t)to * ((n + 63) / 64) + from / 64] >> from % 64 & 1;
}

/* The hops of a distance; DISTANCE_NONE: no path. */
static inline uint16_t distances_hops(const struct distances *d, uint16_t distance)
{
	return distance == DISTANCE_NONE ? distance : distance & d->mask;
}

static inline const uint16_t *distances_from(const struct distances *d, uint32_t sw)
{
	return d->rows + (size_t)sw * d->n;
}
