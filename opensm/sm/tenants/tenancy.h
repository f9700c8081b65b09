// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions at run time: requests in order, each on the disk, on the devices and with the standbys
 * before it is answered (sm.h: sm_tenancy_request()).
 *
 *   WAITING --judged--> BATCH --in the ledger--> STORED --ports and standbys confirmed--> answered
 *      |                  |                      |
 *      |                  |                      '--deadline--> UNCONFIRMED; ports are tried on
 *      '--refused         '--disk fault: taken back, refused
 *
 * What is judged together goes to the disk together. The table (base/partition.c) has a batch
 * already while it is being written; a fault takes all of it back.
 *
 *   tenancy.c        requests and their answers
 *   tenancy_rows.c   the table, and rows of the ledger
 *   tenancy_wire.c   ports whose P_Key tables are to be confirmed
 *   tenancy_held.c   ports that may hold a P_Key: sm_tenancy_open()
 *   tenancy_place.c  where ports were that do not answer
 *   tenancy_audit.c  sm_tenancy_verify()
 *   tenancy_import.c the file of former builds
 *   tenancy_doubt.c  what is held while the manager may not write; sm_ledger_adopt()
 *
 * As long as this manager may not write what rows decide (settle.h), nothing may be changed, and
 * P_Keys of tenants stay as devices have them (partition_hold_tenants()).
 */
#pragma once

#include "ledger/ledger.h"
#include "sm/sm.h"

/* settle_changed_fn: the table is as these rows of the ledger say. */
void tenancy_derive(struct sm *sm, const struct ledger_key *keys, size_t n);
/* Called after settle_new(). */
void tenancy_new(struct sm *sm, const struct sm_paths *paths);
/* Answers the open requests. Called after sync_free(). */
void tenancy_free(struct sm *sm);
void tenancy_tick(struct sm *sm);
mono_t tenancy_next(const struct sm *sm);
/* Called after each change of state, before the first port is planned as MASTER. */
void tenancy_state_changed(struct sm *sm);
void tenancy_sweep_ended(struct sm *sm);
/* partition_plan(), without changes that are still being stored: they may be refused yet. */
void tenancy_plan_stored(struct sm *sm);
/* Called before node `n` is removed. */
void tenancy_node_goes(struct sm *sm, struct node *n);
/*
 * Called when other managers have stored something or can be asked, or (`is_other_state`) when this
 * manager may write, or may no longer.
 */
void tenancy_settled(struct sm *sm, bool is_other_state);
/* Makes the P_Key tables of all end ports be read again. */
void tenancy_doubt_devices(struct sm *sm);
/*
 * The number of P_Keys of live ports that differ from rows and files, as far as they were read:
 * keys that neither gives and no row removed, and keys that a row gives and the port lacks.
 */
size_t tenancy_unexplained(struct sm *sm);
