// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions at run time: requests in order, each on the disk, on the devices and with the standbys
 * before it is answered (sm.h: sm_tenancy_request()).
 *
 *   WAITING --judged--> BATCH --on the disk--> STORED --ports and standbys confirmed--> answered
 *      |                  |                      |
 *      |                  |                      '--deadline--> UNCONFIRMED; ports are tried on
 *      '--refused         '--disk fault: taken back, refused
 *
 * What is judged together goes to the disk together. The table (base/partition.c) has a batch
 * already while it is being written; a fault takes all of it back.
 *
 *   tenancy.c        requests and their answers
 *   tenancy_store.c  the file, and when it cannot be used
 *   tenancy_peers.c  standbys that store it too
 *   tenancy_heard.c  what a master was heard to have and we lack, kept over a restart
 *   tenancy_wire.c   ports whose P_Key tables are to be confirmed
 *   tenancy_held.c   ports that may hold a P_Key: sm_tenancy_open()
 *   tenancy_place.c  where ports were that do not answer
 *   tenancy_audit.c  sm_tenancy_verify()
 *
 * Closed: nothing may be changed, and P_Keys of tenants stay as devices have them
 * (partition_hold_tenants()) where the table is not to be believed.
 */
#pragma once

#include "sm/sm.h"

struct tenancy;

/* Reads the file; blocks. */
void tenancy_new(struct sm *sm, const struct sm_paths *paths);
/* Answers what is open. Behind sync_free(). */
void tenancy_free(struct sm *sm);
void tenancy_tick(struct sm *sm);
mono_t tenancy_next(const struct sm *sm);
/* Before the first port is planned as master. */
void tenancy_state_changed(struct sm *sm);
/* `n` is about to be removed. */
void tenancy_node_goes(struct sm *sm, struct node *n);
/* The fault of the store of the table, in words, until the store is mended; NULL: none. */
const char *tenancy_fault(const struct sm *sm);
/*
 * The generation of the table on our disk, or the greater one that a former master was heard to
 * have: a standby that lacks it must not clear P_Keys. What is not on the disk yet may be taken
 * back.
 */
uint64_t tenancy_stored(const struct sm *sm);
/* Has the manager on this port stored all that is stored here? Also true if there is nothing. */
bool tenancy_is_with(const struct sm *sm, guid_t guid);
/* A standby of ours can be sent messages (channel.h), or cannot any more. */
void tenancy_standby(struct sm *sm, guid_t guid, bool connected);
