// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks of links (links/marks.h) with the standbys: each is sent the whole table when it connects,
 * and each time the table changes (stream CHANNEL_MARKS); a table that was never changed is not
 * sent. A standby stores what it is sent in place of its own, so a takeover begins with the marks
 * of the former master.
 */
#pragma once

#include "sm/sm.h"

struct marks_peers;

void marks_peers_new(struct sm *sm, const struct sm_paths *paths);
void marks_peers_free(struct sm *sm);
/* Behind marks_new() and channel_new(): messages of the channel are taken in. */
void marks_peers_listen(struct sm *sm);
void marks_peers_standby(struct sm *sm, guid_t guid, bool connected);
void marks_peers_state_changed(struct sm *sm);
/* A standby is connected. */
bool marks_peers_are_there(const struct sm *sm);
/* All connected ones have stored the table with this digest; false without any. */
bool marks_peers_have(const struct sm *sm, uint64_t digest);
/* This one has what is in force, or takes none: it may be the next master. */
bool marks_peers_is_with(const struct sm *sm, guid_t guid);
void marks_peers_tick(struct sm *sm);
mono_t marks_peers_next(const struct sm *sm);
