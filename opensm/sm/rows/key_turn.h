// SPDX-License-Identifier: BSD-2-Clause
/*
 * New M_Keys: because options ask for another seed or m_key; those of single ports (m_key_per_port)
 * by command, too, by periodic_key_update, or because a port, or SMInfo, showed an epoch of another
 * manager.
 * Seeds and epochs are rows of the ledger (key_seeds.h): these are on the disk, and standbys have
 * them, before a port has a key.
 *
 *   IDLE --other keys--> WRITING --rows are on the disk--> SENDING --standbys have them, or 10 s--.
 *    ^                                                                                            |
 *    '--- in force: a sweep writes what differs <-- its file is written -- STORING <--------------'
 *
 * The file CACHE/m_key_ring names the seed and epoch in force until standbys have the next ones: a
 * master that dies before, and starts again, would give ports keys that no standby has. It finds
 * the rows, and goes on from there. A fault of the disk leads back to IDLE.
 *
 * A manager that has just become master gives ports keys of its own seed when those that may take
 * over have found it, and registered.
 *
 * A standby puts the seed in force in front of its own, as rows say it, and writes down a seed of
 * its own that has no row: should the subnet fall apart, each manager has to open ports that the
 * other one locked. A master takes later epochs over, and keeps seeds of others behind its own. A
 * manager that is locked out takes rows as a standby does.
 *
 * Rows of seeds leave this host only for managers that no stranger can pass for: neither sm_key nor
 * sa_key is 0, or the well-known 1.
 */
#pragma once

#include "sm/ledger/settle.h"
#include "sm/sm.h"

/* settle_changed_fn of rows of seeds. */
void key_turn_take_seeds(struct sm *sm, const struct ledger_key *keys, size_t n);
void key_turn_free(struct sm *sm);
/* Called after a change of options, which may ask for another seed. */
void key_turn_reconfigured(struct sm *sm, const struct conf *before);
void key_turn_state_changed(struct sm *sm);
/* Called after a sweep, when the file guid2mkey has the present keys of ports. */
void key_turn_sweep_ended(struct sm *sm);
/* Takes an SMInfo that a manager of ours has proved, and that may name a later epoch of a seed. */
void key_turn_epoch_told(struct sm *sm, const uint8_t *info);
void key_turn_tick(struct sm *sm);
mono_t key_turn_next(const struct sm *sm);
