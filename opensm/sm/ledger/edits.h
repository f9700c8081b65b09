// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rows that one commit changes, collected: an owner of a table puts and removes rows, commits
 * them, and clears the list. Values are copied, and overwritten before they are freed.
 */
#pragma once

#include "sm/ledger/settle.h"

struct edits {
	struct settle_edit *list;
	size_t n, cap;
	uint64_t number[LEDGER_TABLES]; /* of the changes to a table; 0: not asked for yet */
};

/* `number`: of the change, from settle_next_number(). `len` bytes, 1 or more. */
void edits_put(struct edits *all, const struct ledger_key *key, uint64_t number, const void *bytes,
	       size_t len);
void edits_remove(struct edits *all, const struct ledger_key *key, uint64_t number);
/* The number for changes of `table`, which is equal for all changes of one commit. */
uint64_t edits_number(const struct sm *sm, struct edits *all, enum ledger_table table);
/* Commits all edits; the list may be cleared after that. */
void edits_commit(struct sm *sm, const struct edits *all, settle_done_fn *done, void *arg);
void edits_clear(struct edits *all);
