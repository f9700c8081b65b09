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

struct standby;

void standby_new(struct sm *sm, const struct sm_paths *paths);
void standby_free(struct sm *sm);

/* The master's SA reported a Notice (80 bytes, 13.4.8.2). */
void standby_notice(struct sm *sm, const uint8_t *notice);
/* From now on it reports all of them. */
void standby_subscribed(struct sm *sm);
void standby_state_leaves(struct sm *sm, enum sm_state next);

/* The next watch reads everything. */
void standby_watch_whole(struct sm *sm);
bool standby_due(const struct sm *sm);
mono_t standby_next(const struct sm *sm);
/* The steps of a watch; standby_settle() is false if there is nothing more to do. */
void standby_look(struct sm *sm);
bool standby_settle(struct sm *sm);
void standby_seen(struct sm *sm);
/* The watch sweep ended: `through` to its last step; `failed`: with faults. */
void standby_watched(struct sm *sm, bool through, bool failed);

/* ---- the first sweeps of a master that was one ---- */

/* The next heavy sweep starts from the picture. */
bool standby_takes_over(const struct sm *sm);
/* Another master was at work: nothing is believed. */
void standby_distrust(struct sm *sm);
/* Discovery of a heavy sweep begins. True: from the picture, and the reading has been started. */
bool standby_start_takeover(struct sm *sm);
/* All tables that are not known have been read, or all of them (adopt_reads_all()). */
void standby_tables_read(struct sm *sm);
/* A sweep that writes went through. True: another one has to prove what was taken over. */
bool standby_written(struct sm *sm);
