// SPDX-License-Identifier: BSD-2-Clause
/*
 * The switches of a topo as a compressed graph: what engines and routes_check() walk.
 *
 * All cables from one switch to the same neighbour form one group; what differs between them
 * (which port) matters only at the very end. Groups of a switch are in GUID order of the
 * neighbour, ports in a group ascend. With hop weights a group keeps only its cheapest ports:
 * the others can never be on a shortest path.
 */
#pragma once

#include <stdint.h>

#include "route/core/engine.h"
#include "topo/topo.h"

struct graph_group {
	uint32_t to;         /* neighbour switch */
	uint32_t first_port; /* graph->ports[first_port .. first_port + n_ports - 1] */
	uint8_t n_ports;
	uint8_t weight;      /* hops that using it costs, 1..255 */
	uint8_t way;	     /* enum graph_way */
};

/* Which paths may use a group; only what tree.h orients has ups and downs. */
enum graph_way {
	GRAPH_ANY,
	GRAPH_UP,
	GRAPH_DOWN,
};

struct graph {
	const struct topo *topo; /* borrowed */
	uint32_t n;              /* switches */
	uint32_t *first;         /* n + 1: groups of u are groups[first[u] .. first[u + 1] - 1] */
	struct graph_group *groups;
	uint8_t *ports;
	bool weighted;           /* some weight is not 1 */
	struct arena memory;
};

/* Each group of switch `u` in turn, as `const struct graph_group *EDGE`. */
#define GRAPH_EACH(g, u, EDGE)                                                                     \
	for (const struct graph_group *EDGE = &(g)->groups[(g)->first[u]],                         \
				      *EDGE##_end = &(g)->groups[(g)->first[(u) + 1]];             \
	     EDGE < EDGE##_end; EDGE++)

/* `options` may be NULL: every hop costs 1. The caller frees; `topo` must live longer. */
struct graph *graph_new(const struct topo *topo, const struct route_options *options);
struct graph *graph_free(struct graph *g);
FREEP(graph_free, struct graph)

/* The group from one switch to a neighbour, as an index of g->groups; TOPO_NONE: there is none. */
uint32_t graph_find(const struct graph *g, uint32_t from, uint32_t to);
/* The group itself, or NULL. */
const struct graph_group *graph_edge(const struct graph *g, uint32_t from, uint32_t to);

/*
 * The cable of a group of switch `sw` whose turn it is: one after the other, where a cable at a
 * lower rate than the fastest of them lets a part of its turns pass to these.
 */
uint8_t graph_port_in_turn(const struct graph *g, uint32_t sw, const struct graph_group *group,
			   unsigned turn);

/* Per switch: the first of those that cables connect it with. The caller frees. */
uint32_t *graph_parts(const struct graph *g);

/*
 * Breadth first, over all cables: `far` is 0 where the search begins, else UINT16_MAX; it becomes
 * hops to the nearest such switch, UINT16_MAX where no path leads. Returns the most. `order`: room
 * for all switches, those that are reached, nearest first; may be NULL.
 */
uint16_t graph_flood(const struct graph *g, uint16_t *far, uint32_t *order);

/* Distances between switches; DISTANCE_NONE where there is no path (or one longer than 65534). */
#define DISTANCE_NONE UINT16_MAX

/* In an oriented graph a distance also says how the way begins: going down only, or up first. */
#define DISTANCE_UP   0x8000u
#define DISTANCE_DOWN 0x4000u

struct distances {
	uint32_t n;
	uint16_t mask;  /* of what is the distance; the other bits are the two above */
	uint16_t *rows; /* rows[from * n + to] */
};

/* NULL if cancelled (`cancelled` may be NULL). `threads` >= 1. Weighted if the graph is. */
struct distances *distances_new(const struct graph *g, unsigned threads,
				const atomic_bool *cancelled);
/*
 * The same to `n` targets: rows[from * n + i] is that to targets[i], not for weights. `targets`
 * NULL: all switches.
 */
struct distances *distances_to(const struct graph *g, const uint32_t *targets, uint32_t n,
			       unsigned threads, const atomic_bool *cancelled);
struct distances *distances_free(struct distances *d);
FREEP(distances_free, struct distances)

/* The distance from here by a group whose other end has distance `there`. */
static inline uint16_t graph_near(const struct graph_group *g, uint16_t there)
{
	if (g->way == GRAPH_UP)
		there = (uint16_t)((there & (DISTANCE_DOWN - 1)) | DISTANCE_UP);
	else if (g->way == GRAPH_DOWN)
		there |= DISTANCE_DOWN;
	return (uint16_t)(there + g->weight);
}

/*
 * Is `near`, of a group or by way of another switch, a path of the distance `here`? Where a path
 * may go up first, one of the same length that goes down at once will do as well.
 */
static inline bool graph_is_path(uint16_t near, uint16_t here)
{
	return near == here ||
	       (here & DISTANCE_UP && near == (here ^ (DISTANCE_UP | DISTANCE_DOWN)));
}

/*
 * What routes keep of distances (routes.h), by destination: hops as bytes, hops[to * n + from], at
 * most 254, 0xFF: none. Which paths only go down as bits, `words` for each destination:
 * downs[to * words + from / 64]; `downs` may be NULL.
 */
void hops_by_target(const struct distances *d, unsigned threads, uint8_t *hops, uint64_t *downs);

/* Of `n` switches: do the paths from `from` to `to` only go down? */
static inline bool hops_go_down(const uint64_t *downs, uint32_t n, uint32_t from, uint32_t to)
{
	return downs[(size_t)to * ((n + 63) / 64) + from / 64] >> from % 64 & 1;
}

/* DISTANCE_NONE, or hops alone. */
static inline uint16_t distances_hops(const struct distances *d, uint16_t distance)
{
	return distance == DISTANCE_NONE ? distance : distance & d->mask;
}

static inline const uint16_t *distances_from(const struct distances *d, uint32_t sw)
{
	return d->rows + (size_t)sw * d->n;
}
