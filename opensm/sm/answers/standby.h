// SPDX-License-Identifier: BSD-2-Clause
/*
 * The picture that a standby keeps warm: everything is read, nothing is written.
 *
 *   cold --discovery, LIDs as found, tables read--> warm --the master tells of a change--> stale
 *                                                     ^                                     |
 *                                                     \-- what changed is read (WATCH) ----/
 */
#pragma once

#include "sm/sm.h"

/* The master's SA reported a Notice (80 bytes, 13.4.8.2). */
void standby_notice(struct sm *sm, const uint8_t *notice);
/* Called when the master reports every kind of change to us from now on. */
void standby_subscribed(struct sm *sm);
void standby_state_leaves(struct sm *sm, enum sm_state next);

/* Makes the next watch sweep read everything. */
void standby_watch_whole(struct sm *sm);
bool standby_due(const struct sm *sm);
mono_t standby_next(const struct sm *sm);
/* Steps of a watch sweep; standby_settle() returns false if nothing more is to be done. */
void standby_look(struct sm *sm);
bool standby_settle(struct sm *sm);
void standby_seen(struct sm *sm);
/* The watch sweep ended: `through` to its last step; `failed`: with faults. */
void standby_watched(struct sm *sm, bool through, bool failed);

/* ---- the first sweeps of a master that was one ---- */

/* Does the next heavy sweep start from the picture of the standby? */
bool standby_takes_over(const struct sm *sm);
/* Discards the picture: another master was at work. */
void standby_distrust(struct sm *sm);
/*
 * Called when a heavy sweep begins. True: the sweep starts from the picture of the standby, and the
 * reading of what differs has begun.
 */
bool standby_start_takeover(struct sm *sm);
/* Called when all unknown tables have been read, or all tables (adopt_reads_all()). */
void standby_tables_read(struct sm *sm);
/* Called after a sweep that writes. True: another sweep must prove what was taken over. */
bool standby_written(struct sm *sm);
