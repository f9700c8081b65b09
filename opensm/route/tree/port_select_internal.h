// SPDX-License-Identifier: BSD-2-Clause
/*
 * Work space for one row; facts about all its targets from one pass (port_select_ways.c); ports for
 * single destinations (port_select_one.c).
 */
#pragma once

#include "route/tree/port_select.h"
#include "util/mem.h"

#define PORTS	      256
#define PLACE_TABLES  (2 * DMODK_LEVELS)
#define PLACE_SEVERAL 0xFF

/* A group, and its port if it has only one; 0 as port if it has several. */
#define PLACE_STEP(group, port) ((uint16_t)((group) << 8 | (port)))

struct waiting {
	uint32_t dest, at;
	uint32_t target; /* switch that all its candidates lead to */
	uint8_t old;	 /* previous port, which is allowed; 0: none */
};

/* Shortest paths from a switch, by target switch. */
struct port_select_ways {
	uint16_t *n;	  /* number of neighbours on shortest paths */
	uint16_t *last;	  /* last group on a shortest path, as PLACE_STEP() */
	uint16_t *unique; /* the port, if only one is on a shortest path; else 0 */
	/* set if shortest paths use all groups up, and no others */
	uint16_t *full;
	/* groups on shortest paths: for group g, bit g % 16 of bits[g / 16 * n + target] */
	uint16_t *bits;
	uint32_t cap_bits;
};

/* Entries that port_select_part() changed in a row, with their former ports. */
struct port_select_parted {
	struct parted_entry {
		lid_t lid;
		uint8_t port;
	} * entries;
	size_t n, cap;
};

/* The model that rows are compared with: the row last filled from scratch. */
struct port_select_like {
	uint32_t sw; /* switch of the model; TOPO_NONE: there is no model */
	const uint8_t *lft;
	const uint16_t *dist;
	struct port_select_ways ways;
	const struct graph_group *groups;
	uint32_t n_groups, n_up;
	uint8_t by_way[PORTS];
	uint16_t *differs; /* by switch: not 0 if distance or paths differ from the model's */
	bool *marked;	   /* by switch; all false between calls */
	uint32_t *found;   /* switches whose destinations must be placed anew */
	uint32_t n_found;
	struct port_select_parted parted;
};

struct port_select_row {
	const struct port_select_plan *plan;
	uint32_t sw;
	uint8_t *lft;
	const uint8_t *old; /* previous row or NULL */
	lid_t old_top;
	uint32_t size;	      /* size of lft */
	lid_t cap;	      /* end of the LIDs that fit */
	bool counted;	      /* set if count[] includes entries that were not examined */
	bool simple;	      /* set if no option changes the counting */
	const uint16_t *dist; /* distances from this switch */
	struct port_select_ways ways;
	uint32_t n_groups, n_up; /* n_up: number of groups that lead up */
	uint8_t by_way[PORTS];	 /* groups that lead up, then the others */
	bool parallel;		 /* set if some group has several ports */
	unsigned n_all;
	uint8_t all[PORTS];	   /* ports of all groups that lead up */
	struct port_select_table { /* ports towards homes at one distance */
		uint16_t distance;
		/* by home: its only port, or PLACE_SEVERAL; 0: not at this distance */
		uint16_t *port;
	} tables[PLACE_TABLES];
	unsigned n_tables;
	/* set if count[] is kept; if not, a waiting entry makes the row be filled once more */
	bool counting;
	const struct graph_group *groups;
	const uint16_t *from[PORTS]; /* by group: distances from the neighbour */
	uint32_t peer[PORTS];	     /* by port: neighbour; TOPO_NONE: not usable */
	uint8_t group[PORTS];	     /* by port: its group */
	uint8_t chassis[PORTS];	     /* by group: the first group that leads to the same chassis */
	uint32_t count[PORTS];	     /* by port: number of destinations placed */
	struct port_select_like *like;
	struct port_select_parted parted;
	struct waiting *waiting;
	size_t n_waiting, cap_waiting;
	uint32_t target; /* target of `candidates`; TOPO_NONE: none yet */
	unsigned n_candidates;
	uint8_t candidates[PORTS];
	/* turn and switch of the last port_select_diverted(), whose result is turn_port */
	uint32_t turn, turn_at;
	uint8_t turn_port;
	uint64_t random;
	struct arena memory;
};

/*
 * Places a destination on `at`, or appends it to `waiting`; only the lowest `n_homes` homes are
 * tried.
 */
void port_select_one(struct port_select_row *row, uint32_t dest, uint32_t at, unsigned n_homes);
void port_select_put(struct port_select_row *row, uint32_t dest, uint8_t port);
/* The port of `dest` on `at`, for flows that were diverted. */
uint8_t port_select_diverted(struct port_select_row *row, uint32_t dest, uint32_t at);
/*
 * Do paths to a home on the way surely lead on to `at`: all groups up do, or the graph is not
 * oriented?
 */
bool port_select_is_sure(const struct port_select_row *row, uint32_t at);

/*
 * Places the LIDs of one end port (LMC), `n` in a row, on different chassis, groups and ports if
 * possible.
 */
void port_select_group(struct port_select_row *row, uint32_t first, uint32_t n, uint32_t at);
/* Adds entries that stayed unseen to the counts. */
void port_select_count_unseen(struct port_select_row *row);
/* Places entries that wait for counts: first those without a port, then those that may move. */
void port_select_fill_waiting(struct port_select_row *row);

/* Has no path from this switch to `at` changed? Its entries then stay unseen. */
static inline bool port_select_is_unseen(const struct port_select_row *row, uint32_t at)
{
	return row->old && !change_moved(row->plan->change, row->sw, at);
}

static inline bool port_select_is_ordered(const struct port_select_row *row, uint32_t dest)
{
	return row->plan->is_ordered && row->plan->is_ordered[dest];
}

/*
 * Places all destinations on `at` if no entry stays and homes nearly always decide. False: not so.
 */
bool port_select_at_once(struct port_select_row *row, uint32_t at, uint32_t first, uint32_t end);

/* Redirects some destinations on crowded cables (dmodk.h), after all counting. */
void port_select_part(struct port_select_row *row);
/* Places shared hosts (dmodk.h) of other leaves, the last of all. */
void port_select_share(struct port_select_row *row);

/* Makes room for `n` targets in `memory`, except for the bits. */
void port_select_ways_open(struct port_select_ways *w, uint32_t n, struct arena *memory);
/* Fills row->ways; the groups must be known. */
void port_select_find_ways(struct port_select_row *row);
/* Fills row->ways for two targets. */
void port_select_find_two(struct port_select_row *row, uint32_t x, uint32_t y);

/* `via` of dmodk_any(), equal for rows that may be similar: the first switch above. */
static inline uint32_t port_select_via(const struct port_select_row *row)
{
	return row->n_up ? row->groups[row->by_way[0]].to : 0;
}

/* Is it a LID of a switch, which carries little and is not counted? */
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

/* The ports towards homes at `distance` from this switch. */
const uint16_t *port_select_table(struct port_select_row *row, uint16_t distance);

/* A new, empty model in `memory`, except for its `bits`. */
struct port_select_like *port_select_like_new(uint32_t n, struct arena *memory);
/* Makes the full row the model. */
void port_select_like_take(struct port_select_row *row);
/* Copies the model; destinations on like->found must then be placed anew. False: too different. */
bool port_select_like_try(struct port_select_row *row);
/*
 * port_select_like_try() for a switch with the same neighbours as the model, whose paths it borrows
 * instead of finding its own. If true, port_select_like_return() must follow.
 */
bool port_select_like_twin(struct port_select_row *row);
void port_select_like_return(struct port_select_row *row);
