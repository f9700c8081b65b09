// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks of links (marks/marks.h) and their rows of the ledger: a change of the table is stored as
 * the rows that differ; rows that come from elsewhere are a new table.
 *
 *   file of a former build --in force--> this manager may write --stored--> rows, and .taken
 *                              '--another manager has rows: these count---> .taken
 */
#pragma once

#include "sm/marks/marks.h"

struct marks_rows;

/*
 * Becomes the owner of the rows of marks; called after marks_new() and settle_new().
 * settle_listen() passes it the rows on the disk later, which are in force from then on.
 */
void marks_rows_new(struct sm *sm, const struct sm_paths *paths);
void marks_rows_free(struct sm *sm);
/* This manager may be able to change rows: marks in the file of a former build become rows. */
void marks_rows_settled(struct sm *sm);
/* Answers of struct marks_questions. */
void marks_rows_commit(struct sm *sm, const struct mark_table *next);
struct settle_reach marks_rows_reach(const struct sm *sm, uint64_t generation);
