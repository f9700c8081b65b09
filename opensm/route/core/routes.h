// SPDX-License-Identifier: BSD-2-Clause
/* The immutable result of a routing engine: one forwarding row per switch of a topo. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "route/core/sl2vl.h"
#include "topo/topo.h"
#include "util/mem.h"

#define ROUTES_NOTE 256
#define ROUTES_NO_GAP UINT32_MAX

struct route_verdict; /* check.h */
/* rows in a file of their own, so that tables derived from others share what is the same */
struct routes_file;
struct cdg;	       /* cdg.h */
struct routes_journal; /* what was written since they were derived, and from what */

struct routes_entry {
	uint32_t sw;
	lid_t lid;
	uint8_t port; /* port of the older tables */
	uint8_t now;
};

/* Members that change while others only read the routes: they alter no table. */
struct routes_cache {
	/* Owned. State of a check that routes_check_after() starts from (check.h); mostly NULL. */
	struct route_proof *_Atomic proof;
	struct route_proof *(*proof_free)(struct route_proof *p); /* set with it */
	/* Owned. Dependency graph of a check that left no proof: cdg_of() takes it; mostly NULL. */
	struct cdg *_Atomic graph;
	struct cdg *(*graph_free)(struct cdg *g); /* set with it */
	struct routes_file *_Atomic file; /* NULL: the rows are memory like any other */
	struct routes_journal *_Atomic journal; /* NULL: neither derived nor derived from */
	/* Owned. These for a topo with more bare switches (keep_tables.c); mostly NULL. */
	struct routes *_Atomic alike;
	bool brief; /* something is derived from these once, and then they go: not worth a file */
};

struct routes {
	_Atomic unsigned refs; /* the worker makes and drops references too */
	const struct topo *topo; /* one reference */
	char engine[32];       /* "minhop" */
	char by[32];           /* of auto: engine whose tables were chosen; "" otherwise */
	/* what their most loaded channel carried when they were compared last; 0: unknown */
	uint32_t compared_load;
	lid_t top;             /* highest LID routed */
	uint32_t row_size;     /* bytes per row: (top + 1) rounded up to 64 */
	uint8_t *lft;          /* n_switches rows, 64-byte aligned; LFT_NO_PORT: no way */
	/* One row more is left out before that of this switch; ROUTES_NO_GAP: none is. */
	uint32_t gap;
	const struct routes *lender; /* one reference: `lft` is part of it; NULL: it is ours */
	/*
	 * Least hops between switches (with weights, 254 at most): hops[dst_sw * n_switches + sw],
	 * 0xFF none. Kept for dumps; NULL if the engine has none.
	 */
	uint8_t *hops;
	/*
	 * Of engines whose paths go up and then down (tree.h): the places of the switches in their
	 * order, and which paths only go down, as bits downs[dst_sw * words + sw / 64]. Else NULL.
	 */
	uint32_t *places;
	uint64_t *downs;
	/* Hash of the options in force; 0: unknown. With other options nothing is kept. */
	uint64_t options;
	/* max_load (check.h) that the engine's plan predicts; 0: no prediction. */
	uint32_t expected_load;
	/* Load of the most loaded channel when last balanced (sp/balance.h); 0: never. */
	uint32_t balanced_load;
	/* No entry of an assigned LID leaves the paths that direct_routes() deals out. */
	bool dealt;
	/* Owned. NULL: one VL is enough, and SLs and SL2VL tables do not matter. */
	struct sl2vl *lanes;
	/*
	 * The tree that every multicast tree must be part of, so that multicast and these paths
	 * cannot block each other: per switch the port towards the root, 0 at the root. NULL: free,
	 * as far as routes_check() allows.
	 */
	uint8_t *master_tree;
	/* One line for the log; "": none. */
	char note[ROUTES_NOTE];
	/* Owned. Verdict of routes_check() on these very tables, if the engine asked; else NULL. */
	struct route_verdict *judged;
	bool mapped;		  /* `lft` is pages of its own */
	uint64_t *written;        /* pages that are not those of the file, as bits; NULL: all are */
	struct routes_cache *cache; /* owned */
};

struct routes *routes_new(const struct topo *topo, const char *engine, lid_t top);
/* The same with rows that hold anything: the caller writes every byte of them. */
struct routes *routes_new_unset(const struct topo *topo, const char *engine, lid_t top);
/*
 * Rows of the same bytes as those of `before`, for a topo with the same switches. Only
 * routes_write() may change them until they are derived from in turn. Cheap if `before` came from
 * here or from routes_new_unset().
 */
struct routes *routes_derive(const struct topo *topo, const struct routes *before);
/*
 * The rows of `lender` without that of its switch `gap`, for a topo that lacks this one: they are
 * not copied. NULL: not possible.
 */
struct routes *routes_borrow(const struct topo *topo, const struct routes *lender, uint32_t gap);
/* The expensive part of the first routes_derive() ahead of time. `r` may be read meanwhile. */
void routes_settle(const struct routes *r);
void routes_write(struct routes *r, uint32_t sw, lid_t lid, uint8_t port);
/* Starts recording: later writes can be listed (routes_changes_since()) and undone. */
size_t routes_mark(struct routes *r);
/* Entries that differ from the state at `mark`, by switch and LID. The caller frees it. */
struct routes_entry *routes_changes_since(const struct routes *r, size_t mark, size_t *ret_n);
void routes_rewind(struct routes *r, size_t mark);
/* To be called before rows are written directly: tables derived later compare all rows. */
void routes_touch(struct routes *r);

/*
 * Entries of `now` that differ from those in `before`, by switch and LID, when `now` was derived
 * from it directly or by one or two steps; the cost is that of what was written. NULL: unknown,
 * compare the rows. Numbers of switches are those of `now`. The caller frees it.
 */
struct routes_entry *routes_changes(const struct routes *before, const struct routes *now,
				    size_t *ret_n);
/* Takes entries and returns them by LID; `first` (0 .. top + 2, all 0) as in SORT_BY_KEY(). */
struct routes_entry *routes_sort_by_lid(struct routes_entry *entries, size_t n, unsigned top,
					size_t *first);
/* `now` was derived from `r`, which is `same` with other numbers of switches: as well from that. */
void routes_stand_for(struct routes *now, const struct routes *r, const struct routes *same);
/* The same switches in both topos, and rows of the same size. NULL: no. */
bool routes_are_alike(const struct routes *a, const struct routes *b);
/* Has every switch (of the same place in both topos) the same row? Looks at all if it must. */
bool routes_are_same(const struct routes *before, const struct routes *now);

/* The descriptor that derived tables are mapped from, to be kept open by a child; -1: none. */
int routes_fd(const struct routes *r);
/* In a child process: pages shared with the parent become read-only, against stray writes. */
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

/* Output port of switch `sw` for `lid`, LFT_NO_PORT beyond top. */
static inline uint8_t routes_port(const struct routes *r, uint32_t sw, lid_t lid)
{
	return lid <= r->top ? routes_row(r, sw)[lid] : LFT_NO_PORT;
}

/*
 * Entries of a block of LIDs, those of all switches beside each other: rows are in pages of their
 * own, and of LIDs that follow each other each block is copied once, where it is asked for. All
 * zero but `routes`: nothing is there yet.
 */
struct routes_blocks {
	const struct routes *routes;
	uint8_t *entries; /* per switch LFT_BLOCK_LIDS */
	uint32_t *block;  /* per switch: which + 1 */
};

/* As routes_port(). */
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

/* The entry of topo->ports by which `sw` sends `lid` to another switch; TOPO_NONE: it does not. */
static inline uint32_t routes_channel(const struct routes *r, uint32_t sw, lid_t lid)
{
	uint8_t port = routes_port(r, sw, lid);

	return topo_behind(r->topo, sw, port) == TOPO_NONE
		       ? TOPO_NONE : r->topo->switches[sw].first_port + port;
}

/* Adds to the loads of all channels of a path. Returns what the most loaded one carries then. */
uint32_t routes_add_load(const struct routes *r, uint32_t sw, lid_t lid, uint32_t by,
			 uint32_t *load);
