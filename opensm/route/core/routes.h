// SPDX-License-Identifier: BSD-2-Clause
/* The immutable result of a routing engine: one forwarding row per switch of a topo. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "route/core/sl2vl.h"
#include "topo/topo.h"
#include "util/mem.h"

#define ROUTES_NOTE   256
#define ROUTES_NO_GAP UINT32_MAX

struct route_verdict; /* check.h */
/* Rows in a file of their own, so that derived tables share unchanged pages. */
struct routes_file;
struct cdg;	       /* cdg.h */
struct routes_journal; /* changes since the routes were derived, and their origin */

struct routes_entry {
	uint32_t sw;
	lid_t lid;
	uint8_t port; /* port of the older tables */
	uint8_t now;
};

/* Members that may change while other threads read the routes; they alter no table. */
struct routes_cache {
	/* Owned. State for routes_check_after() (check.h); mostly NULL. */
	struct route_proof *_Atomic proof;
	struct route_proof *(*proof_free)(struct route_proof *p); /* set with it */
	/* Owned. Dependency graph of a check that left no proof, for cdg_of(); mostly NULL. */
	struct cdg *_Atomic graph;
	struct cdg *(*graph_free)(struct cdg *g); /* set with it */
	struct routes_file *_Atomic file;	  /* NULL: the rows are ordinary memory */
	struct routes_journal *_Atomic journal;	  /* NULL: neither derived nor derived from */
	/* Owned. These routes for a topo with more bare switches (keep_tables.c); mostly NULL. */
	struct routes *_Atomic alike;
	/* set if only one table is derived from these, so that a file is not worth it */
	bool brief;
};

struct routes {
	_Atomic unsigned refs;	 /* atomic, as the worker takes and drops references, too */
	const struct topo *topo; /* one reference */
	char engine[32];	 /* "minhop" */
	char by[32];		 /* with auto: engine whose tables were chosen; else "" */
	/* Load of the most loaded channel at the last comparison; 0: not known. */
	uint32_t compared_load;
	lid_t top;	   /* highest LID routed */
	uint32_t row_size; /* bytes per row: (top + 1) rounded up to 64 */
	uint8_t *lft;	   /* n_switches rows, 64-byte aligned; LFT_NO_PORT: no path */
	/* Switch before whose row one more row is skipped; ROUTES_NO_GAP: none. */
	uint32_t gap;
	const struct routes *lender; /* owner of `lft`, one reference; NULL: `lft` is our own */
	/*
	 * Least hops between switches (with weights, at most 254): hops[dst_sw * n_switches + sw],
	 * 0xFF: none. Kept for dumps; NULL if the engine has none.
	 */
	uint8_t *hops;
	/*
	 * For engines whose paths go up and then down (tree.h): places of the switches in their
	 * order; and paths that only go down, as bits downs[dst_sw * words + sw / 64]. Else NULL.
	 */
	uint32_t *places;
	uint64_t *downs;
	/* Hash of the options in force; 0: not known. With other options no entry is kept. */
	uint64_t options;
	/* max_load (check.h) that the engine's plan predicts; 0: no prediction. */
	uint32_t expected_load;
	/* Load of the most loaded channel when last balanced (sp/balance.h); 0: never. */
	uint32_t balanced_load;
	/* Set if no entry of an assigned LID leaves the paths of direct_routes(). */
	bool dealt;
	/* Owned. VLs; NULL: one VL is enough, and SLs and SL2VL tables do not matter. */
	struct sl2vl *lanes;
	/*
	 * Tree that every multicast tree must be part of, so that multicast and these paths cannot
	 * block each other: by switch the port towards the root, 0 at the root. NULL: any tree that
	 * routes_check() allows.
	 */
	uint8_t *master_tree;
	/* One line for the log; "": none. */
	char note[ROUTES_NOTE];
	/* Owned. Verdict of routes_check() on these tables, if the engine asked; else NULL. */
	struct route_verdict *judged;
	bool mapped;		    /* set if `lft` has pages of its own */
	uint64_t *written;	    /* bit mask of pages that differ from the file; NULL: all do */
	struct routes_cache *cache; /* owned */
};

struct routes *routes_new(const struct topo *topo, const char *engine, lid_t top);
/* routes_new() with undefined rows: the caller writes every byte of them. */
struct routes *routes_new_unset(const struct topo *topo, const char *engine, lid_t top);
/*
 * Routes with rows equal to those of `before`, for a topo with the same switches. Only
 * routes_write() may change them until others are derived from them. Cheap if `before` came from
 * here or from routes_new_unset().
 */
struct routes *routes_derive(const struct topo *topo, const struct routes *before);
/*
 * Routes that use the rows of `lender` without copying, except that of its switch `gap`, for a topo
 * that lacks this switch. NULL: not possible.
 */
struct routes *routes_borrow(const struct topo *topo, const struct routes *lender, uint32_t gap);
/* Does the expensive part of the first routes_derive() in advance. `r` may be read meanwhile. */
void routes_settle(const struct routes *r);
void routes_write(struct routes *r, uint32_t sw, lid_t lid, uint8_t port);
/* Starts recording: later writes can be listed (routes_changes_since()) and undone. */
size_t routes_mark(struct routes *r);
/* The entries that differ from the state at `mark`, by switch and LID. The caller frees. */
struct routes_entry *routes_changes_since(const struct routes *r, size_t mark, size_t *ret_n);
void routes_rewind(struct routes *r, size_t mark);
/* Called before rows are written directly: tables derived later compare all rows. */
void routes_touch(struct routes *r);

/*
 * The entries of `now` that differ from `before`, by switch and LID, if `now` was derived from it
 * directly or over one or two others; the cost is that of the entries written. NULL: not known,
 * compare the rows. Switch numbers are those of `now`. The caller frees.
 */
struct routes_entry *routes_changes(const struct routes *before, const struct routes *now,
				    size_t *ret_n);
/* Sorts entries by LID, and takes them over; `first` (0 .. top + 2, all 0) as in SORT_BY_KEY(). */
struct routes_entry *routes_sort_by_lid(struct routes_entry *entries, size_t n, unsigned top,
					size_t *first);
/* `now` was derived from `r`, which is `same` with other switch numbers: notes that. */
void routes_stand_for(struct routes *now, const struct routes *r, const struct routes *same);
/* Have both the same switches, and rows of the same size? NULL: no. */
bool routes_are_alike(const struct routes *a, const struct routes *b);
/* Has every switch (with the same number in both) the same row? Compares all rows if necessary. */
bool routes_are_same(const struct routes *before, const struct routes *now);

/* The descriptor that derived tables are mapped from, which a child must keep open; -1: none. */
int routes_fd(const struct routes *r);
/* In a child process: makes pages shared with the parent read-only, against stray writes. */
void routes_guard(const struct routes *r);

struct routes *routes_ref(const struct routes *r);
struct routes *routes_unref(const struct routes *r);
FREEP(routes_unref, struct routes)

/* Were the tables made by this engine, named in the configuration or chosen by auto? NULL: no. */
bool routes_are_by(const struct routes *r, const char *engine);

static inline uint8_t *routes_row(const struct routes *r, uint32_t sw)
{
	return r->lft + ((size_t)sw + (sw >= r->gap)) * r->row_size;
}

/* The output port of switch `sw` for `lid`; LFT_NO_PORT beyond top. */
static inline uint8_t routes_port(const struct routes *r, uint32_t sw, lid_t lid)
{
	return lid <= r->top ? routes_row(r, sw)[lid] : LFT_NO_PORT;
}

/*
 * Cache of LFT blocks of all switches, side by side, as rows are in pages of their own: of
 * consecutive LIDs each block is copied once, when it is needed. All zero but `routes`: empty.
 */
struct routes_blocks {
	const struct routes *routes;
	uint8_t *entries; /* by switch, LFT_BLOCK_LIDS entries */
	uint32_t *block;  /* by switch: number of the cached block plus 1 */
};

/* routes_port() by the cache. */
static inline uint8_t routes_blocks_port(const struct routes_blocks *b, uint32_t sw, lid_t lid)
{
	uint8_t *entries = b->entries + (size_t)sw * LFT_BLOCK_LIDS;
	uint32_t block = lid / LFT_BLOCK_LIDS;

	if (lid > b->routes->top)
		return LFT_NO_PORT;
	if (b->block[sw] != block + 1)
		memcpy(entries, routes_row(b->routes, sw) + block * LFT_BLOCK_LIDS, LFT_BLOCK_LIDS);
	b->block[sw] = block + 1;
	return entries[lid % LFT_BLOCK_LIDS];
}

/* The index in topo->ports by which `sw` sends `lid` to another switch; TOPO_NONE: it does not. */
static inline uint32_t routes_channel(const struct routes *r, uint32_t sw, lid_t lid)
{
	uint8_t port = routes_port(r, sw, lid);

	return topo_behind(r->topo, sw, port) == TOPO_NONE
		       ? TOPO_NONE
		       : r->topo->switches[sw].first_port + port;
}

/* Adds `by` to the load of each channel of a path. Returns the greatest of these loads. */
uint32_t routes_add_load(const struct routes *r, uint32_t sw, lid_t lid, uint32_t by,
			 uint32_t *load);
