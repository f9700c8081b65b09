// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multicast tables: wanted trees minus what switches hold, as few Sets as that takes.
 *
 * Apart from struct sync, which works through a sweep in stages: groups come and go at any time.
 * Cells (16 ports of 32 MLIDs) that differ from the want are sent, one transaction per cell at a
 * time; changes of the want meanwhile share the next one. A cell whose Set was not answered,
 * refused, or stored otherwise is sent again; after MFT_TRIES in a row it is left alone until its
 * want changes or mft_sync_topology() is called.
 *
 * No packet may loop or come twice at any moment, in whatever order cells arrive
 * (plan/mft_order.h). Per group:
 *
 *        want()         held and wanted cables together are a forest
 *   IDLE -----> JUDGE ------------------------------------------------> BUILD  every row as wanted
 *              ^  |  \                                                  ^
 *   cells read |  |   \--they close a circle--> CUT  rows lose the      | nothing held outside of
 *              |  v                                  cables not wanted -/ what is wanted any more
 *             READ   cells of inherited switches are unknown
 *
 * Held are the entries that a switch may hold: old and new together while a Set is under way. If a
 * switch does not answer in CUT or READ, the group waits (outcome.waiting): a loop is worse than
 * silence. The next topology() tries again, and forget() of the switch ends the wait.
 *
 * Inherited switches (node->mft.inherited: they were forwarding before this manager came): as soon
 * as a group is wanted, its block is read from all of them. Right entries stay, so a restart with
 * the same groups, planned on adopt_mcast_tree(), writes nothing; stale entries in those blocks are
 * removed after the first topology(). Blocks in which no group is wanted are left alone.
 *
 * MulticastFDBTop: written after the cells, rounded up to whole blocks so that a new group does
 * not cost a SwitchInfo per switch; raised at once, lowered in topology() and lower_tops(); for
 * a group that waits then, when it goes on. 0xBFFF says none. Only while hooks.may_write_top()
 * says that SwitchInfo is not being written otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "mad/mad.h"
#include "route/mcast/mcast.h"

#define MFT_TRIES 3

struct mft_sync;

/* Cells, tops and groups that are not as they should be. */
struct mft_outcome {
	unsigned given_up;   /* number of cells and tops that differ and are left alone now */
	unsigned waiting;    /* number of groups that cannot go on now */
	unsigned not_served; /* rows beyond the MulticastFDBCap of a switch now: plan with caps */
	/* a node that did not store a Set; NULL after its mft_sync_forget() */
	struct node *failed_example;
};

struct mft_hooks {
	bool (*may_write)(void *arg);
	/* Is SwitchInfo free to be written (no sync_running(), no discovery)? NULL: never. */
	bool (*may_write_top)(void *arg);
	/* Called from mft_sync_feed() only, when nothing is under way any more; may want more. */
	void (*idle)(void *arg, const struct mft_outcome *outcome);
	void *arg;
};

struct mft_sync *mft_sync_new(struct fabric *f, struct mad_engine *mad,
			      const struct mft_hooks *hooks);
struct mft_sync *mft_sync_free(struct mft_sync *s);

/*
 * Sets the tree that group `mlid` (0xC000..0xFFFE) should have; NULL or empty: the group is gone.
 * Takes a reference of the tree. Rows of switches unknown to the fabric are skipped until
 * topology().
 */
void mft_sync_want(struct mft_sync *s, lid_t mlid, const struct mcast_tree *tree);
/* The tree wanted last; NULL: none. Valid until the next want(). */
const struct mcast_tree *mft_sync_wanted(const struct mft_sync *s, lid_t mlid);

/*
 * Are the rows of inherited switches of this MLID, and of those that share its block, known? If
 * not, asks them; false until they have answered or been given up. Then adopt_mcast_tree() (sm/)
 * finds the tree to plan on, so that nothing is moved.
 */
bool mft_sync_is_read(struct mft_sync *s, lid_t mlid);

/*
 * Called after each heavy sweep, after the new trees are wanted: switches or cables may have
 * changed, or tables of a switch were forgotten. Tries given-up cells again, and may lower tops.
 */
void mft_sync_topology(struct mft_sync *s);
/* Allows the next feed() to lower tops, as groups went and no new ones come. */
void mft_sync_lower_tops(struct mft_sync *s);
/* Called before observe_node_gone(): ends its transactions. Harmless for unknown nodes. */
void mft_sync_forget(struct mft_sync *s, struct node *n);

/* Sets option use_mfttop; true at first. */
void mft_sync_use_top(struct mft_sync *s, bool use);

/*
 * Cables died: until all is as wanted, cells leave ahead of the requests of others, at most
 * MFT_HURRY at a time, even if the engine's window is full; and by other routes where the known one
 * leads over a dead cable (fabric/ways.h). What is under way by such a route is sent once more.
 */
#define MFT_HURRY 64
void mft_sync_hurry(struct mft_sync *s);
/*
 * The switch is out of reach: nothing is written to it before the next topology(), and that is no
 * fault. Harmless for unknown nodes.
 */
void mft_sync_leave_alone(struct mft_sync *s, const struct node *n);

/* Queues as much as the engine wants. Called after want() and after each mad_dispatch(). */
void mft_sync_feed(struct mft_sync *s);
/* Is something queued or under way? */
bool mft_sync_busy(const struct mft_sync *s);
/*
 * May the cable at `port` become ACTIVE? Not while a stale row leads into it, or a group that uses
 * it is in CUT or READ, as it might close a circle. To be asked at both ends, after feed().
 */
bool mft_sync_port_is_clean(const struct mft_sync *s, const struct node *n, unsigned port);
/* Called when not MASTER any more: cancels all transactions and wants; `idle` is not called. */
void mft_sync_stop(struct mft_sync *s);
