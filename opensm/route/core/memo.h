// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables that several engines of one choice (auto) would compute alike: the first engine leaves
 * them here, the next ones copy them. A memo changes no table, only what it takes to come by it.
 *
 * Not for several threads at once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/routes.h"
#include "util/mem.h"

enum memo_step {
	MEMO_PLACED,   /* destinations placed by load (tree/fill.c) */
	MEMO_RELIEVED, /* and the most loaded channels relieved (sp/sssp.c) */
	MEMO_STEPS,
};

struct route_memo {
	const struct topo *topo; /* borrowed: of jobs for other topos the memo knows nothing */
	struct route_memo_entry {
		uint64_t key;  /* hash of all that decides on the tables beside the topo */
		uint8_t *rows; /* one after the other; NULL: nothing is left here yet */
		uint32_t row_size, load;
	} of[MEMO_STEPS];
};

/* Frees what was left, not the struct. */
void route_memo_done(struct route_memo *m);
/* Leaves rows of `r` and a load in the place of what was there. `m` NULL: does nothing. */
void route_memo_leave(struct route_memo *m, enum memo_step step, uint64_t key,
		      const struct routes *r, uint32_t load);
/*
 * Finds what was left with this key for tables as large as `r`, which are not changed. NULL: there
 * is nothing, or `m` is NULL.
 */
const struct route_memo_entry *route_memo_find(const struct route_memo *m, enum memo_step step,
					       uint64_t key, const struct routes *r);
