// SPDX-License-Identifier: BSD-2-Clause
/*
 * New M_Keys: because options ask for another seed or m_key; those of single ports (m_key_per_port)
 * by command, too, by periodic_key_update, or because a port showed an epoch of another manager.
 * Standbys have them, and they are on the disk, before a port has one.
 *
 *   IDLE --other keys--> KEEPING --seeds are kept--> SENDING --all standbys have it, or 10 s--.
 *    ^                                                                                        |
 *    '-- in force: a sweep writes what differs <-- stored -- STORING <------------------------'
 *
 * The file names the seed and epoch in force until standbys have the next ones: a master that dies
 * before, and starts again, would give ports keys that no standby has. A seed that no port has a
 * key of yet is kept behind the one in force (KEEPING), as a standby that was sent it may take over
 * with it. A ring by which ports have the keys that they have (seeds behind the first; an epoch
 * that a port showed) is stored at once, and sent then. A fault of the disk leads back to IDLE.
 *
 * A manager that has just become master gives ports keys of its own seed when those that may take
 * over have found it, and registered.
 *
 * Without a rotation, too, each standby is sent the ring, so that it reaches the ports as master
 * (keys of absent ports, and cables: key_rows.h). A standby keeps what it is sent in front of its
 * own seeds (stream CHANNEL_KEYS), and its reply has one of these that the master lacks: the master
 * keeps it behind its own, as each may have to open ports that the other locked, once the subnet
 * fell apart. Keys leave this host only for managers that no stranger can pass for: neither sm_key
 * nor sa_key is 0, or the well-known 1.
 */
#pragma once

#include "sm/sm.h"

struct key_turn;

void key_turn_new(struct sm *sm);
void key_turn_free(struct sm *sm);
/* Behind keys_new() and channel_new(): messages of the channel are taken in. */
void key_turn_listen(struct sm *sm);
/* Options may ask for another seed. */
void key_turn_reconfigured(struct sm *sm);
void key_turn_state_changed(struct sm *sm);
void key_turn_standby(struct sm *sm, guid_t guid, bool connected);
/* The file guid2mkey is what ports have now. */
void key_turn_sweep_ended(struct sm *sm);
void key_turn_tick(struct sm *sm);
mono_t key_turn_next(const struct sm *sm);
