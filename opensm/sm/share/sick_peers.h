// SPDX-License-Identifier: BSD-2-Clause
/*
 * The health of links (links/sick.h) with the standbys: each is sent all that is held against links
 * when it connects, and every five minutes while that changes (stream CHANNEL_HEALTH). A standby
 * has it in place of its own, so windows go on after a takeover. Nothing waits for its answer.
 */
#pragma once

#include "sm/sm.h"

struct sick_peers;

void sick_peers_new(struct sm *sm, const struct sm_paths *paths);
void sick_peers_free(struct sm *sm);
/* Behind sick_new() and channel_new(): messages of the channel are taken in. */
void sick_peers_listen(struct sm *sm);
void sick_peers_standby(struct sm *sm, guid_t guid, bool connected);
void sick_peers_state_changed(struct sm *sm);
void sick_peers_tick(struct sm *sm);
mono_t sick_peers_next(const struct sm *sm);
