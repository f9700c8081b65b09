// SPDX-License-Identifier: BSD-2-Clause
/*
 * The health of links (health/sick.h) and its rows of the ledger: one a link with anything against
 * it, and a port that is disabled. As master, rows that are other than what the judge knows are
 * stored every five minutes, a new finding within ten seconds, a port that is to be disabled at
 * once. Rows that others wrote, the judge takes in.
 */
#pragma once

#include "sm/sm.h"

struct sick_rows;

/* Called after sick_new() and settle_new(), before settle_listen(). */
void sick_rows_new(struct sm *sm, const struct sm_paths *paths);
void sick_rows_free(struct sm *sm);
void sick_rows_tick(struct sm *sm);
mono_t sick_rows_next(const struct sm *sm);
