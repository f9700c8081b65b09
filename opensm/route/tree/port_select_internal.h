// SPDX-License-Identifier: BSD-2-Clause
/* Work space for one row, and facts about all its targets from one pass (port_select_ways.c). */
#pragma once

#include "route/tree/port_select.h"
#include "util/mem.h"

#define PORTS	      256
#define PLACE_TABLES  (2 * DMODK_LEVELS)
#define PLACE_SEVERAL 0xFF

/* A group, and its port if it has only one. */
#define PLACE_STEP(group, port) ((uint16_t)((group) << 8 | (port)))

struct waiting {
	uint32_t dest, at;
	uint32_t target; /* switch that all its candidates lead to */
	uint8_t old;	 /* where it is, and may stay; 0: nowhere yet */
};

/* Which paths there are from a switch. */
struct port_select_ways {
	uint16_t *n;	  /* per target switch: neighbours on shortest paths */
	uint16_t *last;	  /* per target switch: last such group of this switch, PLACE_STEP() */
	uint16_t *unique; /* per target switch: the only port towards it, or 0 */
	/* per target switch: all groups that lead up are paths, and no others */
	uint16_t *full;
	/* the groups that are paths: of group g bit g % 16 of bits[g / 16 * n + target] */
	uint16_t *bits;
	uint32_t cap_bits;
};

/* What port_select_part() changed in a row, as it was before. */
struct port_select_parted {
	struct parted_entry {
		lid_t lid;
		uint8_t port;
	} * entries;
	size_t n, cap;
};

/* The row that others are compared with: of the switch that was filled last from scratch. */
struct port_select_like {
	uint32_t sw; /* TOPO_NONE: there is none */
	const uint8_t *lft;
	const uint16_t *dist;
	struct port_select_ways ways;
	const struct graph_group *groups;
	uint32_t n_groups, n_up;
	uint8_t by_way[PORTS];
	uint16_t *differs; /* per switch */
	bool *marked;	   /* per switch; false between calls */
	uint32_t *found;   /* switches whose destinations are placed */
	uint32_t n_found;
	struct port_select_parted parted;
};

struct port_select_row {
	const struct port_select_plan *plan;
	uint32_t sw;
	uint8_t *lft;
	const uint8_t *old; /* previous row or NULL */
	lid_t old_top;
	uint32_t size;	      /* of lft */
	lid_t cap;	      /* LIDs at or above it do not fit */
	bool counted;	      /* count[] holds what stays unseen, too */
	bool simple;	      /* no option changes what or how to count */
	const uint16_t *dist; /* from this switch */
	struct port_select_ways ways;
	uint32_t n_groups, n_up; /* the latter: that lead up */
	uint8_t by_way[PORTS];	 /* the groups, those that lead up first */
	bool parallel;		 /* some group has several ports */
	unsigned n_all;
	uint8_t all[PORTS];	   /* ports of the groups that lead up */
	struct port_select_table { /* what homes at one distance from here say */
		uint16_t distance;
		uint16_t *port; /* per switch: 0: is not there, PLACE_SEVERAL, or the only port */
	} tables[PLACE_TABLES];
	unsigned n_tables;
	/* count[] is kept; else an entry that waits for it asks for another round */
	bool counting;
	const struct graph_group *groups;
	const uint16_t *from[PORTS]; /* per group: distances from the neighbour */
	uint32_t peer[PORTS];	     /* per port: neighbour, TOPO_NONE if not usable */
	uint8_t group[PORTS];	     /* per port */
	uint8_t chassis[PORTS];	     /* per group: the first group to the same chassis */
	uint32_t count[PORTS];	     /* destinations placed */
	struct port_select_like *like;
	struct port_select_parted parted;
	struct waiting *waiting;
	size_t n_waiting, cap_waiting;
	uint32_t target; /* of the candidates below; TOPO_NONE: none yet */
	unsigned n_candidates;
	uint8_t candidates[PORTS];
	uint32_t turn, turn_at; /* turn and its switch in the last port_select_diverted() */
	uint8_t turn_port;
	uint64_t random;
	struct arena memory;
};

/* Places a destination on `at`, or has it wait; only its lowest `n_homes` homes may be passed. */
void port_select_one(struct port_select_row *row, uint32_t dest, uint32_t at, unsigned n_homes);
void port_select_put(struct port_select_row *row, uint32_t dest, uint8_t port);
/* The port of a diverted flow to `dest` on `at`. */
uint8_t port_select_diverted(struct port_select_row *row, uint32_t dest, uint32_t at);
/* All groups up lead to `at`, or nothing is up: paths to a home between are paths to `at`. */
bool port_select_is_sure(const struct port_select_row *row, uint32_t at);

/* All on `at`, where nothing stays and homes nearly always decide. False: it is not so simple. */
bool port_select_at_once(struct port_select_row *row, uint32_t at, uint32_t first, uint32_t end);

/* After all that is counted: senders to destinations on crowded cables part (dmodk.h). */
void port_select_part(struct port_select_row *row);
/* The last of all: hosts of other leaves that every leaf sends to by ports of its own choice. */
void port_select_share(struct port_select_row *row);

/* Room for `n` targets, parts of `memory` but for the bits. */
void port_select_ways_open(struct port_select_ways *w, uint32_t n, struct arena *memory);
/* Fills row->ways; the groups are known. */
void port_select_find_ways(struct port_select_row *row);
/* The same for two targets; the others are known. */
void port_select_find_two(struct port_select_row *row, uint32_t x, uint32_t y);

/* The same for rows that may be like each other: the first switch above (dmodk_any()). */
static inline uint32_t port_select_via(const struct port_select_row *row)
{
	return row->n_up ? row->groups[row->by_way[0]].to : 0;
}

/* A LID of a switch, which carries little and is not counted. */
static inline bool port_select_is_idle(const struct port_select_row *row, uint32_t dest)
{
	return !row->plan->spread->hot[dest].port && !row->plan->options->count_switches;
}

/* Is a group a shortest path to `target`? */
static inline bool port_select_is_way(const struct port_select_row *row, uint32_t group,
				      uint32_t target)
{
	return row->ways.bits[group / 16 * row->plan->graph->n + target] >> group % 16 & 1;
}

/* The ports of homes that are `distance` from here. */
const uint16_t *port_select_table(struct port_select_row *row, uint16_t distance);

/* A part of `memory`, but for its `bits`. */
struct port_select_like *port_select_like_new(uint32_t n, struct arena *memory);
/* The row is full: others may be like it. */
void port_select_like_take(struct port_select_row *row);
/* Copies the model; what hangs on like->found is to be placed anew. False: it is too different. */
bool port_select_like_try(struct port_select_row *row);
/*
 * The same for a switch with the very neighbours of the model: its paths are not found, but
 * borrowed from there. If true they go back with the second function.
 */
bool port_select_like_twin(struct port_select_row *row);
void port_select_like_return(struct port_select_row *row);
