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

extern const struct former_file marks_rows_former;
/* Called before settle_listen(): the rows on the disk are in force from now on. */
void marks_rows_listen(struct sm *sm);
/* settle_changed_fn of rows of marks: another manager wrote them; at the start, all. */
void marks_rows_take(struct sm *sm, const struct ledger_key *keys, size_t n);
/* This manager may be able to change rows: marks in the file of a former build become rows. */
void marks_rows_settled(struct sm *sm);
/* Answers of struct marks_questions. */
void marks_rows_commit(struct sm *sm, const struct mark_table *next);
struct settle_reach marks_rows_reach(const struct sm *sm, uint64_t generation);
