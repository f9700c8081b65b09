// SPDX-License-Identifier: BSD-2-Clause
/*
 * From members to tables: which MLIDs need a new tree, when, and on which picture of the fabric.
 *
 *   QUIET --a group changes--> GATHERING --5 to 100 ms--> PLANNING --> AGING --quiet for 5 s--.
 *     ^                                                                                      |
 *     '----- trees that have decayed are planned afresh, tables end at their last group -----'
 */
#pragma once

#include "sm/sm.h"
#include "sync/mft.h"

struct multicast;

void multicast_new(struct sm *sm, const struct sm_paths *paths);
void multicast_free(struct sm *sm);
/* Members of this group came or went; what is no multicast LID is ignored. */
void multicast_changed(struct sm *sm, lid_t mlid);
void multicast_sweep(struct sm *sm); /* after admin_publish(): all trees, on the new picture */
/* A slice of planning, if it is due, and Sets for what was planned. */
void multicast_feed(struct sm *sm);
/* When the next call has something to do: 0 at once, MONO_NEVER nothing waits. */
mono_t multicast_next(const struct sm *sm);
/* The sweep waits for its trees, for some seconds at most. */
bool multicast_busy(const struct sm *sm);
/* Not MASTER any more: what was planned is forgotten, switches keep what they hold. */
void multicast_state_changed(struct sm *sm);
void multicast_node_goes(struct sm *sm, struct node *n);
/* No stale multicast row leads into this cable, from either end. */
bool multicast_may_activate(void *sm, const struct port *p);
/* The multicast tables that switches hold and should hold; never NULL, ours. */
struct mft_sync *multicast_tables(const struct sm *sm);
