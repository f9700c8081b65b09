// SPDX-License-Identifier: BSD-2-Clause
/* A repair under way: repair.c (differences), repair_distances.c, repair_entries.c. */
#pragma once

#include "route/proof/keep_policy.h"
#include "route/tree/fill.h"
#include "util/mem.h"

/* A cable was removed or added, or its higher end is now the other one. */
enum repair_end { END_GONE, END_CAME, END_TURNED };

/* One end of such a cable. */
struct cable_end {
	uint32_t sw, to;
	uint8_t port, what; /* enum repair_end */
};

/* A switch that lost all its cables, or had none before. */
enum repair_lone { LONE_NOT, LONE_GONE, LONE_CAME };

struct repair {
	const struct route_job *job;
	const struct fill_plan *how;
	const struct routes *before;
	const struct graph *g;
	struct routes *r;
	struct dmodk *spread;
	struct cable_end *ends;		  /* sorted by switch */
	size_t n_ends, cap_ends;
	uint32_t n_turned;		  /* number of ends of turned cables */
	uint32_t n_other_ends; /* number of other ends, cables of lone switches excluded */
	bool came_some;			  /* set if a cable was added */
	bool gains; /* set if a cable was added between switches that stayed, so gets its share */
	uint8_t *lone;			  /* by switch: enum repair_lone */
	uint32_t lones[KEEP_REPAIR_SWITCHES];
	uint32_t n_lones;
	uint32_t came[KEEP_REPAIR_HOSTS]; /* hosts that were added */
	uint32_t n_came;
	uint32_t targets[KEEP_REPAIR_TARGETS];
	uint32_t n_targets;
	uint32_t *column;                 /* by switch: index in targets, or TOPO_NONE */
	struct moved_pair {
		uint32_t sw, to;
	} *moved;			  /* pairs whose distance changed, by `to` */
	size_t n_moved, cap_moved;
	/* as in struct routes; repair_distances() updates them */
	uint8_t *hops;
	uint64_t *downs;
	bool diverts; /* set if no cable was added: entries that change have lost their path */
	uint32_t *turns;		  /* by switch: number of diverted entries */
	/* by switch: number of destinations per port; NULL: not counted yet */
	uint32_t **counts;
	struct waiting {
		uint32_t sw, dest, at;
	/* entries that may stay, or move to paths that came back, for balance */
	} *waiting;
	size_t n_waiting, cap_waiting;
	struct repair_choice *choices;
	uint16_t *row;			  /* distances from switch `row_of` */
	uint32_t row_of;
	struct arena memory;
};

static inline size_t repair_down_word(const struct repair *p, uint32_t from, uint32_t to)
{
	return (size_t)to * ((p->g->n + 63) / 64) + from / 64;
}

static inline uint16_t repair_distance_in(const struct repair *p, const uint8_t *hops,
					  const uint64_t *downs, uint32_t from, uint32_t to)
{
	uint8_t far = hops[(size_t)to * p->g->n + from];

	if (far == 0xFF)
		return DISTANCE_NONE;
	if (!downs)
		return far;
	return far | (hops_go_down(downs, p->g->n, from, to) ? DISTANCE_DOWN : DISTANCE_UP);
}

/* The former distance. */
static inline uint16_t repair_old_distance(const struct repair *p, uint32_t from, uint32_t to)
{
	return repair_distance_in(p, p->before->hops, p->before->downs, from, to);
}

/* The present distance, as far as it is known. */
static inline uint16_t repair_distance(const struct repair *p, uint32_t from, uint32_t to)
{
	return repair_distance_in(p, p->hops, p->downs, from, to);
}

/* Finds the targets, and their distances. False: too many. */
bool repair_distances(struct repair *p);
/* Writes the entries of p->r. */
void repair_entries(struct repair *p);
