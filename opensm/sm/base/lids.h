// SPDX-License-Identifier: BSD-2-Clause
/*
 * LIDs are planned; LIDs, keys and neighbours are kept on disk (fabric/store.c).
 *
 *   files --lids_new()--> remembered --lids_assign()--> port_by_lid --changes--> files
 */
#pragma once

#include "sm/sm.h"

void lids_new(struct sm *sm, const struct sm_paths *paths);
void lids_free(struct sm *sm);
/* Another SM was at work: LIDs of the file are kept only with honor_guid2lid_file. */
void lids_left_standby(struct sm *sm);
/*
 * Was this fabric set up before by us, or by a manager of ours whose place we took? Files of an
 * earlier life say so, or the copy of what the master knew.
 */
bool lids_are_ours(const struct sm *sm);
void lids_left_by_ours(struct sm *sm);
/* As a standby: notes the LIDs that ports have. */
void lids_note(struct sm *sm);
/*
 * Plans and notes the LIDs of all end ports. False: our own port has none, and nothing can be set
 * up.
 */
bool lids_assign(struct sm *sm);
/* Notes a cable, for finding M_Keys of what is behind `a` even after both ends were removed. */
void lids_note_cable(struct sm *sm, const struct port *a, const struct port *b);
/* Called after a sweep: stores keys and cables, by which M_Keys of unknown ports are found. */
void lids_save(struct sm *sm);
/* Has another thread write the changed parts of the store. */
void lids_write(struct sm *sm);
/* Is a write of LIDs for which lids_save() was called still under way? */
bool lids_are_being_saved(const struct sm *sm);
/* The end port that owns this LID; NULL: none. */
struct port *lids_port_at(const struct sm *sm, lid_t lid);
/* Called before a node is removed. */
void lids_node_goes(struct sm *sm, struct node *n);
void lids_forget_ports(struct sm *sm);
