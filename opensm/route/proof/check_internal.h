// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of routes_check(): check_verifier.c (preparations), check.c (whole), check_run.c (many
 * LIDs), check_any.c (one LID).
 */
#pragma once

#include "route/proof/check.h"
#include "route/proof/cdg.h"
#include "route/core/graph.h"

/* The owner of a LID. */
struct target {
	uint32_t sw; /* TOPO_NONE: LID is unassigned */
	uint8_t port;
	/* Set if set aside (topo.h): no sender, and its paths count in no load or dependency. */
	bool aside;
};

/* The far end of a cable in one word: switch << 8 | port. */
#define BEHIND_NONE UINT32_MAX

struct verifier {
	const struct routes *routes;
	const struct topo *topo;
	unsigned threads;
	struct graph *graph;
	struct distances *distances;
	uint32_t n_ports;  /* number of entries of topo->ports; a channel is an index there */
	uint32_t *behind;  /* far end by entry; BEHIND_NONE: no switch */
	bool *counted;	   /* topo_find_counted(), by entry */
	uint32_t *sources; /* by switch: number of end ports with a LID */
	uint64_t n_sources;
	struct target *targets; /* by LID */
	/* by switch: number of switches that cables connect it with, itself included */
	uint32_t *n_reach;
	unsigned top; /* highest LID in tables or on ports */
	struct cdg *dependencies;
	/*
	 * Set if packets stay on one VL, whatever the source: dependencies are noted during runs.
	 */
	bool simple;
	uint32_t *missing; /* by LID of a switch: number of switches without a path to it */
	/* by LID of a switch: set if every entry is known to be a step nearer */
	bool *nearer;
};

/* Loops over the cables of switch `s` to other switches: `*TO` is the far end. */
#define BEHIND_EACH(j, s, TO)                                                                      \
	for (const uint32_t *TO = &(j)->behind[(j)->topo->switches[s].first_port + 1],             \
			    *TO##_end = TO + (j)->topo->switches[s].n_ports;                       \
	     TO < TO##_end; TO++)                                                                  \
		if (*TO != BEHIND_NONE)

/* State that a check leaves with the checked routes (routes.h). */
struct route_proof {
	struct verifier j;
	uint32_t *load;
	uint64_t *pairs_at;
	struct route_verdict v; /* sums only */
};

/* Changed entries with former values; `entries` NULL: tables must be compared. */
struct route_changes {
	struct routes_entry *entries;
	size_t n;
};

/* Moves a proof on to `r`. True: it is the proof of `r` now. False: it is useless. */
bool route_proof_move(struct route_proof *p, const struct routes *r,
		      const struct route_changes *changes);

/* `threads` 0: all of the machine. */
void verifier_begin(struct verifier *j, const struct routes *r, unsigned threads);
void verifier_done(struct verifier *j);
/* Allocates and fills behind[] and counted[] from the cables of the topo. */
void verifier_find_behind(struct verifier *j);
/* Makes room for higher LIDs. `old` shares its arrays by LID. */
void verifier_raise_top(struct verifier *j, struct verifier *old);
/*
 * Does the entry of `s` lead one hop nearer to the switch that owns the LID? Distances are
 * symmetric, and read from the row of that switch if more is asked `of_one` LID, else from that of
 * `s`.
 */
bool verifier_comes_nearer(const struct verifier *j, uint32_t s, lid_t lid, bool of_one);

/* The flow for one LID of a run that came to a switch, and the ports by which it came. */
struct cell {
	uint64_t in; /* ports below 64 */
	uint32_t flow;
};

/* Results of one thread, all of them sums. */
struct check_worker {
	const struct verifier *j;
	uint32_t at;	      /* destination switch of order[]; TOPO_NONE: none yet */
	const uint16_t *dist; /* distances from `at` */
	/* Connected switches, farthest from `at` first, without `at`. */
	uint32_t *order;
	uint32_t n_order;
	struct cell *cells; /* cells[sw * stride + LID of the run] */
	unsigned stride;    /* number of LIDs of the run */
	unsigned words;	    /* words of a mask of ports */
	uint64_t *high;	    /* high[place in cells * (words - 1)]: ports from 64 on */
	/* One block of all rows: rows[sw * LFT_BLOCK_LIDS + LID of the block]. */
	uint8_t *rows;
	uint32_t block;		/* number of the block in `rows`; UINT32_MAX: none yet */
	uint64_t *carries;	/* by switch: LIDs of the run that pass through it, as bits */
	unsigned n_bad, n_runs; /* n_bad: recent LIDs, of 64, that no run could check */
	uint8_t *columns;	/* columns[i * n + sw] for LID i of a run */
	uint32_t *next;		/* by switch, for the present LID */
	uint32_t *flow;
	uint8_t *state;
	uint32_t *hops, *path, *bucket;
	uint16_t *near;	    /* by switch: hops over switches whose tables have the LID */
	uint32_t *load;	    /* by channel */
	uint64_t *pairs_at; /* by number of hops: pairs with a path of that length */
	struct cdg_walk *walk;
	struct route_verdict v;
	struct arena memory;
};

struct check_worker *check_worker_new(const struct verifier *j);
struct check_worker *check_worker_free(struct check_worker *w);

/* Checks LIDs first .. first + n - 1 (n <= 64), all of end ports on one switch. */
void verify_run(struct check_worker *w, lid_t first, unsigned n);

/*
 * Adds the dependencies of such LIDs of hosts, and checks nothing. Those of switches that no cable
 * connects with the destination are left out.
 */
void verify_dependencies(struct check_worker *w, lid_t first, unsigned n);

/* Checks one LID of an end port, whatever its entries. */
void verify_any(struct check_worker *w, const uint8_t *column, lid_t lid);
/* Checks one LID of a switch. */
void verify_switch(struct check_worker *w, const uint8_t *column, lid_t lid);

/* Senders on switch `s` to a LID that `to` has: all its hosts, but not the owner of the LID. */
static inline uint32_t verifier_pairs(const struct verifier *j, uint32_t s, struct target to)
{
	return j->sources[s] - (s == to.sw && !to.aside);
}
/* Switches with this w->state[] into `ret`, those with most w->hops[] first. Returns how many. */
uint32_t check_sort_by_hops(struct check_worker *w, uint8_t state, uint32_t *ret);
/* Fills in the entries of all switches for one LID. */
void verifier_column_of(const struct verifier *j, lid_t lid, uint8_t *ret);

/* Keeps the pair to be shown as an example: of the lowest LID, from the lowest switch. */
void verdict_note_lost(struct route_verdict *v, const struct route_lost *lost);
