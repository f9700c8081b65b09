// SPDX-License-Identifier: BSD-2-Clause
/*
 * M_Keys of ports that are absent (keys/key_lines.h) with the standbys: a host that is off, or
 * away, for more changes of keys than the ring of seeds goes back is met with the key of its line
 * in guid2mkey, by whichever manager is master then.
 *
 *   end of a sweep --lines of guid2mkey whose port is not there--> changed ones --> each standby
 *
 * A standby that connects is sent all lines, and then those that came or changed (stream
 * CHANNEL_LINES). It has them in guid2mkey and neighbors, on the disk, before it answers. They
 * leave this host only under the conditions of seeds (keys_may_be_sent()).
 */
#pragma once

#include "sm/sm.h"

struct line_peers;

void line_peers_new(struct sm *sm, const struct sm_paths *paths);
void line_peers_free(struct sm *sm);
/* Behind lids_new() and channel_new(): messages of the channel are taken in. */
void line_peers_listen(struct sm *sm);
void line_peers_standby(struct sm *sm, guid_t guid, bool connected);
void line_peers_state_changed(struct sm *sm);
/* Behind lids_save() of this sweep. */
void line_peers_sweep_ended(struct sm *sm);
/* Ports are absent, and standbys are to have their keys. */
bool line_peers_have_lines(const struct sm *sm);
/* This one has stored all lines, or takes none: it may be the next master. */
bool line_peers_is_with(const struct sm *sm, guid_t guid);
void line_peers_tick(struct sm *sm);
mono_t line_peers_next(const struct sm *sm);
