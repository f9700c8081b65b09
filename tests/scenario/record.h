// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the managers of a scenario do, as text that two builds can be compared by:
 * SCENARIO_RECORD=PREFIX makes the runner write
 *
 *   PREFIX.mads   every MAD that a manager sends: from where, method, attribute, modifier, route,
 *                 keys, payload
 *   PREFIX.log    every record of the log
 *   PREFIX.docs   commands of administrators: messages of the control socket, what was printed
 *   PREFIX.end    a fingerprint of all tables at the end, and the dumps of the master
 *
 * All times are virtual: the same build writes the same bytes again.
 */
#pragma once

#include "tests/lib/rig.h"

struct record;

/* NULL: nothing is to be recorded, or `prefix` cannot be written (errno). */
struct record *record_new(const char *prefix);
struct record *record_free(struct record *r);
/* A run begins: managers of `rig` that start from now on are recorded. */
void record_rig(struct record *r, struct rig *rig, uint64_t seed);
/* A command of an administrator, a message of it, what it printed; `r` may be NULL. */
void record_text(struct record *r, const char *before, const char *text);
/* The rows of each file ledger.db below `folder`, whose managers have ended. `r` may be NULL. */
void record_ledgers(struct record *r, const char *folder);
/* The run is over; the rig still stands. */
void record_end(struct record *r, struct rig *rig);
/* For log_set_sink(). */
void record_log(void *record, unsigned bits, const char *text);
