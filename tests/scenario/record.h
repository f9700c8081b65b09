// SPDX-License-Identifier: BSD-2-Clause
/*
 * The behaviour of the managers of a scenario as text, by which two builds can be compared:
 * SCENARIO_RECORD=PREFIX makes the runner write
 *
 *   PREFIX.mads   every MAD that a manager sends: from where, method, attribute, modifier, route,
 *                 keys, payload
 *   PREFIX.log    every record of the log
 *   PREFIX.docs   commands of administrators: messages of the control socket, what was printed
 *   PREFIX.end    a fingerprint of all tables at the end, and the dumps of the master
 *
 * All times are virtual: the same build writes the same bytes.
 */
#pragma once

#include "tests/lib/rig.h"

struct record;

/* NULL: no record is wanted, or `prefix` cannot be written (errno). */
struct record *record_new(const char *prefix);
struct record *record_free(struct record *r);
/* Starts a run. */
void record_run(struct record *r, uint64_t seed);
/* A transport that writes down what a manager sends by `port`, which the rig closes. */
struct transport *record_port(struct record *r, const char *node, struct transport *port);
/* Records a command of an administrator, one of its messages, or its output; `r` may be NULL. */
void record_text(struct record *r, const char *before, const char *text);
/*
 * Records the rows of each file ledger.db below `folder`, whose managers have ended. `r` may be
 * NULL.
 */
void record_ledgers(struct record *r, const char *folder);
/* Ends the run; the rig still exists. */
void record_end(struct record *r, struct rig *rig);
/* A function for log_set_sink(). */
void record_log(void *record, unsigned bits, const char *text);
