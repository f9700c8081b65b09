// SPDX-License-Identifier: BSD-2-Clause
/* The inside of the judge, for check.c (the whole), check_run.c (many LIDs) and check_any.c (one LID). */
#pragma once

#include "route/check.h"
#include "route/depend.h"
#include "route/graph.h"

/* What a LID belongs to. */
struct target {
	uint32_t sw; /* TOPO_NONE: nobody */
	uint8_t port;
};

/* Where a cable leads, in one word: switch << 8 | port there. */
#define BEHIND_NONE UINT32_MAX

struct judge {
	const struct routes *routes;
	const struct topo *topo;
	struct graph *graph;
	struct distances *distances;
	uint32_t n_ports;      /* entries of topo->ports; a channel is an index there */
	uint32_t *behind;      /* per entry; BEHIND_NONE: no switch */
	uint32_t *sources;     /* per switch: end ports with a LID */
	uint64_t n_sources;
	struct target *targets;/* per LID */
	uint32_t *n_reach;     /* per switch: how many have cables to it, itself included */
	unsigned top;          /* highest LID that tables or ports have */
	struct dependency_graph *dependencies;
	bool simple;           /* on one VL all the way, whoever sends: dependencies are noted on the run */
	uint32_t *missing;     /* per LID of a switch: switches without a path to it */
	bool *nearer;          /* the same: every entry is known to be a step nearer */
};

/* What stays of a judgement, with the routes that were judged (routes.h). */
struct route_proof {
	struct judge j;
	uint32_t *load;
	uint64_t *pairs_at;
	struct route_verdict v; /* sums alone */
};

/* What is not as it was, with what it was; `entries` NULL: tables must be compared. */
struct route_changes {
	struct routes_entry *entries;
	size_t n;
};

/* From the routes it is of to `r`: true if it is their proof then. False: of no use any more, for anybody. */
bool route_proof_move(struct route_proof *p, const struct routes *r, const struct route_changes *changes);

/* Fills behind[]. */
void judge_find_behind(struct judge *j);
/* Does the entry of `s` come one hop nearer to the switch that has the LID? */
bool judge_comes_nearer(const struct judge *j, uint32_t s, lid_t lid);

/* A LID of a run, at a switch: what came there, and by which ports. */
struct cell {
	uint64_t in;
	uint32_t flow;
};

/* What one thread saw. All sums; `sign` -1 takes away what was seen before. */
struct witness {
	const struct judge *j;
	int sign;
	uint32_t at;	       /* order[] is for this destination switch; TOPO_NONE: none yet */
	const uint16_t *dist;  /* from there */
	uint32_t *order;       /* farthest from `at` first; `at` itself and what is not connected are left out */
	uint32_t n_order;
	struct cell *cells;    /* cells[sw * stride + LID of the run] */
	unsigned stride;       /* LIDs of the run */
	uint8_t *rows;         /* one block of all rows: rows[sw * LFT_BLOCK_LIDS + LID of the block] */
	uint32_t block;        /* which; UINT32_MAX: none yet */
	uint64_t *carries;     /* per switch: LIDs of the run that come through, a bit each */
	unsigned n_bad, n_runs;/* of late: of 64 LIDs those that no run could judge */
	uint8_t *columns;      /* columns[i * n + sw] for the LIDs of a run */
	uint32_t *next;        /* per switch, for the column at hand */
	uint32_t *flow;
	uint8_t *fate;
	uint32_t *hops, *path, *bucket;
	bool *fits;            /* per switch: its table has the LID, and a cable leads on to one that has */
	uint32_t *load;        /* per channel */
	uint64_t *pairs_at;    /* per number of hops: pairs that have a path of so many */
	struct dependency_walk *walk;
	struct route_verdict v;
};

struct witness *witness_new(const struct judge *j);
struct witness *witness_free(struct witness *w);

/* Sets at, dist, order. */
void witness_face(struct witness *w, uint32_t at);

/* LIDs first .. first + n - 1 (n <= 64), all of end ports on one switch. */
void judge_run(struct witness *w, lid_t first, unsigned n);

/* One LID of an end port, whatever its column looks like; ways_too: its dependencies as well. */
void judge_any(struct witness *w, const uint8_t *column, lid_t lid);
/* One LID of a switch. */
void judge_switch(struct witness *w, const uint8_t *column, lid_t lid);
/* The column of one LID as the switches have it. */
void judge_column_of(const struct judge *j, lid_t lid, uint8_t *ret);

/* The pair that is told as an example: of the lowest LID, from the lowest switch. */
void verdict_note_lost(struct route_verdict *v, const struct route_lost *lost);
