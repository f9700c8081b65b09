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
struct program;
struct sm;
struct sm_paths;
struct sync_outcome;

void program_new(struct sm *sm, const struct sm_paths *paths);
void program_free(struct sm *sm);
/* For sync/, which is below sm/: more Sets; and none to a node that goes. */
void program_feed(struct sm *sm);
void program_node_goes(struct sm *sm, struct node *n);
/*
 * New routes, if there are some, come into force, and all that is wanted is written. False: there
 * are no routes at all.
 */
bool program_start(struct sm *sm);
/* Meanwhile routes are computed: what needs none of them is written, P_Keys. */
void program_start_ahead(struct sm *sm);
bool program_busy(const struct sm *sm);
/*
 * Multicast tables are as right as they will be in this sweep: ports that waited for them come up.
 */
void program_release(struct sm *sm);
bool program_released(const struct sm *sm);
/* sync/ has ended. */
void program_judge(struct sm *sm, const struct sync_outcome *o);
