// SPDX-License-Identifier: BSD-2-Clause
/* The inside of routes_check(): check.c (whole), check_run.c (many LIDs), check_any.c (one LID). */
#pragma once

#include "route/proof/check.h"
#include "route/proof/cdg.h"
#include "route/core/graph.h"

/* The owner of a LID. */
struct target {
	uint32_t sw; /* TOPO_NONE: unassigned */
	uint8_t port;
	/* set aside (topo.h): no sender, and paths to it count in no load and no dependency */
	bool aside;
};

/* Where a cable leads, in one word: switch << 8 | port there. */
#define BEHIND_NONE UINT32_MAX

struct verifier {
	const struct routes *routes;
	const struct topo *topo;
	unsigned threads;
	struct graph *graph;
	struct distances *distances;
	uint32_t n_ports;      /* entries of topo->ports; a channel is an index there */
	uint32_t *behind;      /* per entry; BEHIND_NONE: no switch */
	bool *counted;         /* per entry: topo_find_counted() */
	uint32_t *sources;     /* per switch: end ports with a LID */
	uint64_t n_sources;
	struct target *targets;/* per LID */
	uint32_t *n_reach;     /* per switch: how many have cables to it, itself included */
	unsigned top;          /* highest LID that tables or ports have */
	struct cdg *dependencies;
	/* on one VL all the way, whatever the source: dependencies are noted on the run */
	bool simple;
	uint32_t *missing;     /* per LID of a switch: switches without a path to it */
	bool *nearer;          /* the same: every entry is known to be a step nearer */
};

/* The cables of switch `s` to others: `*TO` is where one leads. */
#define BEHIND_EACH(j, s, TO)                                                                      \
	for (const uint32_t *TO = &(j)->behind[(j)->topo->switches[s].first_port + 1],             \
			    *TO##_end = TO + (j)->topo->switches[s].n_ports;                       \
	     TO < TO##_end; TO++)                                                                  \
		if (*TO != BEHIND_NONE)

/* The state that a check leaves with the routes checked (routes.h). */
struct route_proof {
	struct verifier j;
	uint32_t *load;
	uint64_t *pairs_at;
	struct route_verdict v; /* sums alone */
};

/* Entries and cables that changed, with former values; `entries` NULL: tables must be compared. */
struct route_changes {
	struct routes_entry *entries;
	size_t n;
};

/* Moves a proof on to `r`: true if it is the proof of `r` then. False: it is useless. */
bool route_proof_move(struct route_proof *p, const struct routes *r,
		      const struct route_changes *changes);

/* Allocates and fills behind[] and counted[], by the cables of the topo. */
void verifier_find_behind(struct verifier *j);
/* LIDs may be higher than any before. `old` shares its arrays by LID. */
void verifier_raise_top(struct verifier *j, struct verifier *old);
/*
 * Does the entry of `s` come one hop nearer to the switch that has the LID? Distances are the same
 * both ways, and read by the row of that switch if more is asked `of_one` LID, else by that of `s`.
 */
bool verifier_comes_nearer(const struct verifier *j, uint32_t s, lid_t lid, bool of_one);

/* A LID of a run, at a switch: the flow that came there, and by which ports. */
struct cell {
	uint64_t in; /* ports below 64 */
	uint32_t flow;
};

/* Results of one thread. All sums. */
struct check_worker {
	const struct verifier *j;
	uint32_t at;	       /* order[] is for this destination switch; TOPO_NONE: none yet */
	const uint16_t *dist;  /* from there */
	/* farthest from `at` first; `at` itself and what is not connected are left out */
	uint32_t *order;
	uint32_t n_order;
	struct cell *cells;    /* cells[sw * stride + LID of the run] */
	unsigned stride;       /* LIDs of the run */
	unsigned words;	       /* of a mask of ports */
	uint64_t *high;	       /* high[place in cells * (words - 1)]: by which ports from 64 on */
	/* one block of all rows: rows[sw * LFT_BLOCK_LIDS + LID of the block] */
	uint8_t *rows;
	uint32_t block;        /* which; UINT32_MAX: none yet */
	uint64_t *carries;     /* per switch: LIDs of the run that come through, a bit each */
	unsigned n_bad, n_runs;/* recently: LIDs of 64 that no run could check */
	uint8_t *columns;      /* columns[i * n + sw] for the LIDs of a run */
	uint32_t *next;        /* per switch, for the LID at hand */
	uint32_t *flow;
	uint8_t *state;
	uint32_t *hops, *path, *bucket;
	uint16_t *near;        /* per switch: hops over switches whose tables have the LID */
	uint32_t *load;        /* per channel */
	uint64_t *pairs_at;    /* per number of hops: pairs that have a path of so many */
	struct cdg_walk *walk;
	struct route_verdict v;
	struct arena memory;
};

struct check_worker *check_worker_new(const struct verifier *j);
struct check_worker *check_worker_free(struct check_worker *w);

/* LIDs first .. first + n - 1 (n <= 64), all of end ports on one switch. */
void verify_run(struct check_worker *w, lid_t first, unsigned n);

/* One LID of an end port, whatever its entries; ways_too: its dependencies as well. */
void verify_any(struct check_worker *w, const uint8_t *column, lid_t lid);
/* One LID of a switch. */
void verify_switch(struct check_worker *w, const uint8_t *column, lid_t lid);

/* Senders on switch `s` to a LID that `to` has: all its hosts, but not the owner of the LID. */
static inline uint32_t verifier_pairs(const struct verifier *j, uint32_t s, struct target to)
{
	return j->sources[s] - (s == to.sw && !to.aside);
}
/* Switches with this w->state[] into `ret`, those with most w->hops[] first. How many. */
uint32_t check_sort_by_hops(struct check_worker *w, uint8_t state, uint32_t *ret);
/* The entries of all switches for one LID. */
void verifier_column_of(const struct verifier *j, lid_t lid, uint8_t *ret);

/* Keeps the pair that is shown as an example: of the lowest LID, from the lowest switch. */
void verdict_note_lost(struct route_verdict *v, const struct route_lost *lost);
