// SPDX-License-Identifier: BSD-2-Clause
/* Work space for one row, and what is found out about all targets of it at once (place_ways.c). */
#pragma once

#include "route/place.h"

#define PORTS 256
#define PLACE_TABLES (2 * SPREAD_LEVELS)
#define PLACE_SEVERAL 0xFF

/* A group, and its port if it has only one. */
#define PLACE_STEP(group, port) ((uint16_t)((group) << 8 | (port)))

struct waiting {
	uint32_t dest, at;
	uint32_t target; /* switch that all its candidates lead to */
	uint8_t old;	 /* where it is, and may stay; 0: nowhere yet */
};

/* The row that others are compared with: of the switch that was filled last from scratch. */
struct place_like {
	uint32_t sw; /* TOPO_NONE: there is none */
	const uint8_t *lft;
	const uint16_t *dist;
	uint16_t *ways, *last, *unique, *full, *bits; /* as place_row has them */
	uint32_t cap_bits;
	uint32_t n_groups;
	unsigned n_all, n_up, n_ports;
	uint8_t all[PORTS], up_sizes[PORTS], ports[PORTS], sizes[PORTS];
	uint16_t *differs; /* per switch */
	bool *marked;	   /* per switch; false between calls */
	uint32_t *found;   /* switches whose destinations are placed */
	uint32_t n_found;
};

struct place_row {
	const struct place_plan *plan;
	uint32_t sw;
	uint8_t *lft;
	const uint8_t *old; /* previous row or NULL */
	lid_t old_top;
	uint32_t size;	      /* of lft */
	lid_t cap;	      /* LIDs at or above it do not fit */
	bool counted;	      /* count[] holds what stays unseen, too */
	bool simple;	      /* no option changes what or how to count */
	const uint16_t *dist; /* from this switch */
	uint16_t *ways;	      /* per target switch: neighbours on shortest paths */
	uint16_t *last;	      /* per target switch: last such group of this switch, PLACE_STEP() */
	uint16_t *unique;     /* per target switch: the only port towards it, or 0 */
	uint16_t *full;	      /* per target switch: all groups that lead up are ways, and no others */
	uint16_t *bits;	      /* the groups that are ways: of group g bit g % 16 of bits[g / 16 * n + target] */
	uint32_t cap_bits;
	uint32_t n_groups, n_up; /* the latter: that lead up */
	uint8_t by_way[PORTS];	 /* the groups, those that lead up first */
	unsigned n_all;
	uint8_t all[PORTS];	 /* ports of the groups that lead up */
	struct place_table {	 /* what homes at one distance from here say */
		uint16_t distance;
		uint16_t *port;	 /* per switch: 0: is not there, PLACE_SEVERAL, or the only port */
	} tables[PLACE_TABLES];
	unsigned n_tables;
	bool counting;		 /* count[] is kept; else whoever waits for it asks for another round */
	const struct graph_group *groups;
	const uint16_t *from[PORTS]; /* per group: distances from the neighbour */
	uint32_t peer[PORTS];	     /* per port: neighbour, TOPO_NONE if not usable */
	uint8_t group[PORTS];	/* per port */
	uint8_t chassis[PORTS]; /* per group: the first group to the same chassis */
	uint32_t count[PORTS];	/* destinations placed */
	struct place_like *like;
	struct waiting *waiting;
	size_t n_waiting, cap_waiting;
	uint32_t target; /* of the candidates below; TOPO_NONE: none yet */
	unsigned n_candidates;
	uint8_t candidates[PORTS];
	uint32_t turn; /* of the last diverted_port() among these candidates */
	uint8_t turn_port;
	uint64_t random;
};

/* Places one destination on `at` that may have to be counted; only its lowest `n_homes` homes may be on the way. */
void place_one(struct place_row *row, uint32_t dest, uint32_t at, unsigned n_homes);
void place_put(struct place_row *row, uint32_t dest, uint8_t port);
/* All ways up lead to `at` (or there is no up and down): a home on the way is reached by a way to `at`. */
bool place_is_sure(const struct place_row *row, uint32_t at);

/* All that hangs on `at`, where nothing stays and homes decide nearly always. False: it is not as simple. */
bool place_at_once(struct place_row *row, uint32_t at, uint32_t first, uint32_t end);

/* ways, last, unique, full and bits; the groups are known. */
void place_find_ways(struct place_row *row);
/* The same for two targets; the others are known. */
void place_find_two(struct place_row *row, uint32_t x, uint32_t y);

/* Is a group a shortest way to `target`? */
static inline bool place_is_way(const struct place_row *row, uint32_t group, uint32_t target)
{
	return row->bits[group / 16 * row->plan->graph->n + target] >> group % 16 & 1;
}

/* The ports of homes that are `distance` from here. */
const uint16_t *place_table(struct place_row *row, uint16_t distance);

struct place_like *place_like_new(uint32_t n);
struct place_like *place_like_free(struct place_like *m);
/* The row is full: others may be like it. */
void place_like_take(struct place_row *row);
/* Copies the model; what hangs on like->found is to be placed anew. False: it is too different. */
bool place_like_try(struct place_row *row);
/*
 * The same for a switch with the very neighbours of the model: its ways are not found, but borrowed from there. If
 * true they go back with the second function.
 */
bool place_like_twin(struct place_row *row);
void place_like_return(struct place_row *row);
