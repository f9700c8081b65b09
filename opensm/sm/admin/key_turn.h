// SPDX-License-Identifier: BSD-2-Clause
/*
 * New M_Keys: because options ask for another seed or m_key; those of single ports (m_key_per_port)
 * by command, too, by periodic_key_update, or because a port showed an epoch of another manager.
 * They are on the disk and with the standbys before a port has one.
 *
 *   IDLE --a ring that is new--> STORING --stored--> SENDING --all standbys have it, or 10 s--.
 *    ^                             '-- fault --> IDLE                                         |
 *    '------------------------------------------ in force: a sweep writes what differs <------'
 *
 * A manager that has just become master gives ports keys of its own seed when those that may take
 * over have found it, and registered.
 *
 * Without a rotation, too, each standby is sent the ring, and the cables if it knows no port yet,
 * so that it reaches the ports as master. A standby keeps what it is sent in front of its own seeds
 * (stream CHANNEL_KEYS), and its reply has one of these that the master lacks: the master keeps it
 * behind its own, as each may have to open ports that the other locked, once the subnet fell apart.
 * Keys leave this host only for managers that no stranger can pass for: neither sm_key nor sa_key
 * is 0, or the well-known 1.
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
