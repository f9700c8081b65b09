// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which rails the routed fabric has (topo/rails/rails.h): looked at with the first routes, and
 * again some seconds after what they depend on has changed; told when that is something else.
 *
 *   NEVER LOOKED --first routes--> KNOWN --ports, cables or names change--> STALE
 *                                    ^----------LOOK_EVERY after a look-------'
 */
#pragma once

#include "topo/rails/rails.h"
#include "util/mono.h"

struct sm;
struct sm_paths;

void rail_watch_free(struct sm *sm);

/* Called when routes of `t` come into force. */
void rail_watch_routed(struct sm *sm, const struct topo *t);
/* Called when a node has another description or SystemImageGUID. */
void rail_watch_renamed(struct sm *sm);
void rail_watch_tick(struct sm *sm);
mono_t rail_watch_next(const struct sm *sm);
