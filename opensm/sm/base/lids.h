// SPDX-License-Identifier: BSD-2-Clause
/*
 * LIDs are planned; LIDs, keys and neighbours are kept on disk (fabric/store.c).
 *
 *   files --lids_new()--> remembered --lids_assign()--> port_by_lid --changes--> files
 */
#pragma once

#include "sm/sm.h"

struct lids;

void lids_new(struct sm *sm, const struct sm_paths *paths);
void lids_free(struct sm *sm);
/* Another SM was at work: LIDs count only with honor_guid2lid_file. */
void lids_left_standby(struct sm *sm);
/*
 * Was this fabric set up before by us, or by a manager of ours whose place we took? Files of an
 * earlier life say so, or the copy of what the master knew.
 */
bool lids_are_ours(const struct sm *sm);
void lids_left_by_ours(struct sm *sm);
/* As a standby: LIDs are what ports say. */
void lids_note(struct sm *sm);
/*
 * LIDs of all end ports are planned and noted. False: our own port has none, and nothing can be set
 * up.
 */
bool lids_assign(struct sm *sm);
/* A cable was met: what is behind `a` has the keys of `b`, also after both were forgotten. */
void lids_note_cable(struct sm *sm, const struct port *a, const struct port *b);
/*
 * After a sweep: keys, and which port is cabled to which, for finding M_Keys of what is not known
 * yet.
 */
void lids_save(struct sm *sm);
/* The store is written where it changed, by another thread. */
void lids_write(struct sm *sm);
/* The LIDs that lids_save() was called for are not on the disk yet. */
bool lids_are_being_saved(const struct sm *sm);
/* The end port that owns a LID; NULL. */
struct port *lids_port_at(const struct sm *sm, lid_t lid);
/* A node is about to be removed; some nodes are. */
void lids_node_goes(struct sm *sm, struct node *n);
void lids_forget_ports(struct sm *sm);
