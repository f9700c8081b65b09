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
	unsigned given_up;   /* cells and tops that differ and are left alone, now */
	unsigned waiting;    /* groups that cannot go on, now */
	unsigned not_served; /* rows beyond a switch's MulticastFDBCap, now: plan with caps */
	struct node *failed_example; /* of Sets that were not stored; NULL after its forget() */
};

struct mft_hooks {
	bool (*may_write)(void *arg);
	/* Is SwitchInfo free to be written (no sync_running(), no discovery)? NULL: never. */
	bool (*may_write_top)(void *arg);
	/* Nothing is under way any more. Called from mft_sync_feed() only; may want more. */
	void (*idle)(void *arg, const struct mft_outcome *outcome);
	void *arg;
};

struct mft_sync *mft_sync_new(struct fabric *f, struct mad_engine *mad,
			      const struct mft_hooks *hooks);
struct mft_sync *mft_sync_free(struct mft_sync *s);

/*
 * The tree that group `mlid` (0xC000..0xFFFE) should be; NULL or empty: gone. Takes a reference of
 * the tree. Rows of switches that the fabric does not know are skipped until topology().
 */
void mft_sync_want(struct mft_sync *s, lid_t mlid, const struct mcast_tree *tree);
/* The tree that was wanted last; NULL. Valid until the next want(). */
const struct mcast_tree *mft_sync_wanted(const struct mft_sync *s, lid_t mlid);

/*
 * Taking over without moving anything: are the rows of inherited switches of this MLID (and of
 * those that share its block) known? Asks them if not; false until they have answered or been given
 * up. Then adopt_mcast_tree() (sm/) finds the tree in it to plan on.
 */
bool mft_sync_is_read(struct mft_sync *s, lid_t mlid);

/*
 * Switches or cables are not as they were, or the tables of a switch were forgotten: after each
 * heavy sweep, after the new trees are wanted. Cells that were given up are tried again, tops may
 * sink.
 */
void mft_sync_topology(struct mft_sync *s);
/* Groups went and no new ones come: tops may sink with the next feed(). */
void mft_sync_lower_tops(struct mft_sync *s);
/* Before observe_node_gone(): ends its transactions. Harmless for nodes never met. */
void mft_sync_forget(struct mft_sync *s, struct node *n);

/* option use_mfttop; true at first. */
void mft_sync_use_top(struct mft_sync *s, bool use);

/* Queues as much as the engine wants. Call after want() and after each mad_dispatch(). */
void mft_sync_feed(struct mft_sync *s);
/* Something is queued or under way. */
bool mft_sync_busy(const struct mft_sync *s);
/*
 * May the cable at `port` become ACTIVE? Not while a stale row leads into it, or while a group
 * that uses it is in CUT or READ: the circle might close there. To be asked at both ends, when
 * feed() has been called since the last change.
 */
bool mft_sync_port_is_clean(const struct mft_sync *s, const struct node *n, unsigned port);
/* Not master any more: all transactions are cancelled, nothing is wanted, `idle` is not called. */
void mft_sync_stop(struct mft_sync *s);
