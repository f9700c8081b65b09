// SPDX-License-Identifier: BSD-2-Clause
/*
 * The immutable result of a routing engine: one forwarding row per switch of a topo.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/lanes.h"
#include "topo/topo.h"

#define ROUTES_NOTE 256

struct route_verdict; /* check.h */
struct routes_file; /* rows in a file of their own, so that tables derived from others share what is the same */
struct routes_journal; /* what was written since they were derived, and from what */

struct routes_entry {
	uint32_t sw;
	lid_t lid;
	uint8_t port; /* another one than it has now: that of before */
};

struct routes {
	_Atomic unsigned refs; /* the worker makes and drops references too */
	const struct topo *topo; /* one reference */
	char engine[32];       /* "minhop" */
	char by[32];           /* of auto: whose tables it took; "" otherwise */
	uint32_t by_load;      /* of auto: what their most loaded channel carried when it compared them last */
	lid_t top;             /* highest LID routed */
	uint32_t row_size;     /* bytes per row: (top + 1) rounded up to 64 */
	uint8_t *lft;          /* n_switches rows, 64-byte aligned; LFT_NO_PORT: no way */
	/*
	 * Least hops between switches (with weights, 254 at most): hops[dst_sw * n_switches + sw],
	 * 0xFF none. Kept for dumps; NULL if the engine has none.
	 */
	uint8_t *hops;
	/*
	 * Of engines whose ways go up and then down (tree.h): the places of the switches in their order, and
	 * which ways only go down, as bits downs[dst_sw * words + sw / 64]. Both NULL otherwise.
	 */
	uint32_t *places;
	uint64_t *downs;
	/* Of the options that they were made with; 0: unknown. With others nothing need stay. */
	uint64_t options;
	/* What the engine's plan comes to as verdict.max_load (check.h); 0: it cannot say. */
	uint32_t expected_load;
	/* The most that a channel carried when they were eased last (ease.h); 0: never. */
	uint32_t eased_load;
	/* Owned. NULL: one lane will do, and SLs and SL2VL are nobody's concern here. */
	struct lanes *lanes;
	/*
	 * The tree of which every multicast tree must be a part, so that they and these paths cannot block each
	 * other: per switch the port towards its root, 0 at the root. NULL: they may go wherever the judge lets them.
	 */
	uint8_t *master_tree;
	/* What the engine has to say about them in one line for the log; "" nothing. */
	char note[ROUTES_NOTE];
	/* Owned. What the judge said of these very tables, if the engine asked (auto); NULL: it was not asked. */
	struct route_verdict *judged;
	/* Owned. What a judgement leaves for the next (routes_check_after() in check.h); mostly NULL. */
	struct route_proof *_Atomic proof;
	bool mapped;		  /* `lft` is pages of its own */
	struct routes_file *_Atomic file; /* NULL: it is memory like any other */
	uint64_t *written;        /* pages that are not those of the file, as bits; NULL: all are */
	struct routes_journal *_Atomic journal; /* NULL: nobody derives, nor was it derived */
};

struct route_proof;
struct route_proof *route_proof_free(struct route_proof *p); /* check.c */
struct routes *routes_new(const struct topo *topo, const char *engine, lid_t top);
/* The same with rows that hold anything: the caller writes every byte of them. */
struct routes *routes_new_unset(const struct topo *topo, const char *engine, lid_t top);
/*
 * Rows of the same bytes as those of `before`, for a topo with the same switches. Only routes_write()
 * may change them until they are derived from in turn. Cheap if `before` came from here or from
 * routes_new_unset().
 */
struct routes *routes_derive(const struct topo *topo, const struct routes *before);
/* What the first routes_derive() would do first, for who has time now. They are what they were, also meanwhile. */
void routes_settle(const struct routes *r);
void routes_write(struct routes *r, uint32_t sw, lid_t lid, uint8_t port);
/* What is written from here on can be told, and taken back. */
size_t routes_mark(struct routes *r);
/* Entries that are not what they were then, by switch and LID. The caller frees it. */
struct routes_entry *routes_changes_since(const struct routes *r, size_t mark, size_t *ret_n);
void routes_rewind(struct routes *r, size_t mark);
/* Somebody changes rows directly: what is derived later must look at all of them. */
void routes_touch(struct routes *r);

/*
 * Entries of `now` that are not what they are in `before`, by switch and LID, when `now` was derived from it, directly or
 * by one or two steps; at the cost of what was written. NULL: somebody has to compare them. The caller frees it.
 */
struct routes_entry *routes_changes(const struct routes *before, const struct routes *now, size_t *ret_n);
/* Has every switch (of the same place in both topos) the same row? Looks at all of them only if it must. */
bool routes_are_same(const struct routes *before, const struct routes *now);

struct routes *routes_ref(const struct routes *r);
struct routes *routes_unref(struct routes *r);
void routes_unrefp(struct routes **r);

/* Are they made by this engine, asked for by name or by auto? NULL: no. */
bool routes_are_by(const struct routes *r, const char *engine);

static inline uint8_t *routes_row(const struct routes *r, uint32_t sw)
{
	return r->lft + (size_t)sw * r->row_size;
}

/* Output port of switch `sw` for `lid`, LFT_NO_PORT beyond top. */
static inline uint8_t routes_port(const struct routes *r, uint32_t sw, lid_t lid)
{
	return lid <= r->top ? routes_row(r, sw)[lid] : LFT_NO_PORT;
}
