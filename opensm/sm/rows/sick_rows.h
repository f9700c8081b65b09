// SPDX-License-Identifier: BSD-2-Clause
/*
 * The health of links (health/sick.h) and its rows of the ledger: one a link with anything against
 * it, and a port that is disabled. As master, rows that are other than what the judge knows are
 * stored every five minutes, a new finding within ten seconds, a port that is to be disabled at
 * once. Rows that others wrote, the judge takes in.
 */
#pragma once

#include "sm/ledger/settle.h"
#include "sm/sm.h"

extern const struct former_file sick_rows_former;
/* settle_changed_fn of rows of health: another manager wrote them; at the start, all. */
void sick_rows_take(struct sm *sm, const struct ledger_key *keys, size_t n);
void sick_rows_tick(struct sm *sm);
mono_t sick_rows_next(const struct sm *sm);
