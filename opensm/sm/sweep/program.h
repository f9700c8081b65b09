// SPDX-License-Identifier: BSD-2-Clause
/*
 * From plans to Sets: what is wanted goes to sync/, what it came to is judged.
 *
 *   REST --program_start_ahead()--> WRITING --all Sets ended--> REST
 *   REST --program_start()--> WRITING --all Sets ended, or were repeated in vain--> REST
 *     |                          ^
 *     '--program_release(): ports that waited for multicast tables--'
 */
#pragma once

#include <stdbool.h>

struct node;
struct sm;
struct sync_outcome;

void program_free(struct sm *sm);
/* Effects on sync/, which is below sm/: sends more Sets; drops those to a node that goes. */
void program_feed(struct sm *sm);
void program_node_goes(struct sm *sm, struct node *n);
/* Other tables are in force, patched around cables that died: runs that repeat Sets write them. */
void program_patched(struct sm *sm);
/*
 * Puts new routes in force, if there are some, and writes all differences. False: there are no
 * routes at all.
 */
bool program_start(struct sm *sm);
/* Writes, while routes are being computed, what does not depend on them: P_Keys. */
void program_start_ahead(struct sm *sm);
bool program_busy(const struct sm *sm);
/*
 * Called when multicast tables are as complete as they will be in this sweep: ports that waited for
 * them come up.
 */
void program_release(struct sm *sm);
bool program_released(const struct sm *sm);
/* Evaluates the outcome when sync/ has ended. */
void program_judge(struct sm *sm, const struct sync_outcome *o);
