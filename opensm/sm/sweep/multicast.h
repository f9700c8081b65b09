// SPDX-License-Identifier: BSD-2-Clause
/*
 * From members to tables: which MLIDs need a new tree, when, and on which picture of the fabric.
 *
 *   QUIET --a group changes--> GATHERING --5 to 100 ms--> PLANNING --> AGING --quiet for 5 s--.
 *     ^                                                                                      |
 *     '----- trees that have decayed are planned afresh, tables end at their last group -----'
 *
 * Beside that, in any state: cables died -> their trees are MENDED in the same turn, on the picture
 * that they were planned on. The next sweep may make them better.
 */
#pragma once

#include "sm/sm.h"
#include "sync/mft.h"

void multicast_new(struct sm *sm, const struct sm_paths *paths);
void multicast_free(struct sm *sm);
/* Called when members of this group came or went; a LID that is not a multicast LID is ignored. */
void multicast_changed(struct sm *sm, lid_t mlid);
void multicast_sweep(struct sm *sm); /* after admin_publish(): plans all trees on the new view */
/*
 * Cables between switches are dead: `ports` are n switch ports, of one end or of both. In the next
 * multicast_feed() trees that lead over them are mended. No trees are planned over them before the
 * next sweep, even if they come back.
 */
void multicast_cables_died(struct sm *sm, const struct port *const *ports, size_t n);
/* Trees around dead cables: sums since the manager started. */
struct multicast_mended {
	uint64_t groups; /* trees that led over a dead cable */
	/* Branches that were connected again; that wait for a sweep; that no cable leads to. */
	uint64_t branches, waiting, cut_off;
};
const struct multicast_mended *multicast_mended(const struct sm *sm);
/* Mends and plans for a while, if due, and sends Sets for what was planned. */
void multicast_feed(struct sm *sm);
/* The time of the next multicast_feed() with work to do; 0: at once, MONO_NEVER: none. */
mono_t multicast_next(const struct sm *sm);
/* Does the sweep wait for multicast trees? It does so for some seconds at most. */
bool multicast_busy(const struct sm *sm);
/* Called when not MASTER any more: discards all plans; switches keep their tables. */
void multicast_state_changed(struct sm *sm);
void multicast_node_goes(struct sm *sm, struct node *n);
/* May this cable become ACTIVE: does no stale multicast entry lead into it at either end? */
bool multicast_may_activate(void *sm, const struct port *p);
/* The multicast tables that switches hold and should hold; never NULL, owned by this machine. */
struct mft_sync *multicast_tables(const struct sm *sm);
