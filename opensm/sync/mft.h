// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multicast tables: wanted trees minus what switches hold, as few Sets as that takes.
 *
 * Apart from struct sync, which works through a sweep in stages: groups come and go at any time. What
 * is wanted changes with mft_sync_want(); whatever differs goes out cell by cell (16 ports of 32
 * MLIDs), one transaction per cell at a time, so that what changed meanwhile shares the next one. A
 * cell that nobody answered for is unknown again and repeated; so is one that was refused, or kept
 * something else; after MFT_TRIES in a row it is left alone until what is wanted of it changes or
 * mft_sync_topology() is called.
 *
 * No packet may loop or come twice at any moment, in whatever order cells arrive. Per group:
 *
 *        want()         held and wanted cables together are a forest
 *   IDLE -----> JUDGE ------------------------------------------------> BUILD  every row as wanted
 *              ^  |  \                                                  ^
 *   cells read |  |   \--they close a circle--> CUT  rows lose the      | nothing held outside of
 *              |  v                                  cables not wanted -/ what is wanted any more
 *             READ   cells of inherited switches are unknown
 *
 * "Held" is what a switch may hold: old and new together while a Set is under way. If a switch does
 * not answer in CUT or READ the group waits (outcome.waiting): a circle is worse than silence. The
 * next topology() tries again, and forget() of the switch ends the wait.
 *
 * Inherited switches (node->mft.inherited: they were forwarding before we came): as soon as a group
 * is wanted, its block is read from all of them. What is right stays, so a restart with the same
 * groups, planned on mft_sync_adopted(), writes nothing; what is stale in those blocks is emptied
 * after the first topology(). Blocks in which no group is wanted are left alone.
 *
 * MulticastFDBTop: written after the cells, rounded up to whole blocks so that a new group does not
 * cost a SwitchInfo per switch; raised at once, lowered in topology() and lower_tops() only. 0xBFFF says none. Only
 * while hooks.may_write_top() says that nobody else is writing SwitchInfo.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "mad/mad.h"
#include "route/mcast.h"

#define MFT_TRIES 3

struct mft_sync;

/* What happened since the last one. */
struct mft_outcome {
	unsigned sets; /* cells and tops queued */
	unsigned reads;
	unsigned timeouts;   /* ended without an answer; repeats count */
	unsigned refused;    /* answered with a bad status */
	unsigned unstored;   /* answered with something else */
	unsigned given_up;   /* cells and tops that differ and are left alone, now */
	unsigned waiting;    /* groups that cannot go on, now */
	unsigned not_served; /* rows beyond a switch's MulticastFDBCap, now: plan with caps */
	struct node *failed_example; /* of timeouts, refused, unstored; gone at forget() */
	uint16_t failed_attr, failed_status;
};

struct mft_hooks {
	bool (*may_write)(void *arg);
	/* Is nobody else about to write SwitchInfo (sync_running(), discovery)? NULL: never. */
	bool (*may_write_top)(void *arg);
	/* Nothing is under way any more. Called from mft_sync_feed() only; may want more. */
	void (*idle)(void *arg, const struct mft_outcome *outcome);
	void *arg;
};

struct mft_sync *mft_sync_new(struct fabric *f, struct mad_engine *mad,
			      const struct mft_hooks *hooks);
struct mft_sync *mft_sync_free(struct mft_sync *s);

/*
 * What group `mlid` (0xC000..0xFFFE) should be; `tree` NULL or empty: gone. Takes a reference of the
 * tree. Rows of switches that the fabric does not know are skipped until topology().
 */
void mft_sync_want(struct mft_sync *s, lid_t mlid, const struct mcast_tree *tree);
/* What was wanted last; NULL. Valid until the next want(). */
const struct mcast_tree *mft_sync_wanted(const struct mft_sync *s, lid_t mlid);

/*
 * Taking over from somebody else without moving anything: is it known what inherited switches hold of
 * this MLID (and of those that share its block)? Asks them if not; false until they have answered or
 * been given up. Then mft_sync_adopted() gives the tree that they hold, as far as it is one, to plan
 * on as `previous`; NULL: nothing. The caller owns the reference.
 */
bool mft_sync_is_read(struct mft_sync *s, lid_t mlid);
struct mcast_tree *mft_sync_adopted(const struct mft_sync *s, lid_t mlid);

/*
 * Switches or cables are not what they were, or what a switch holds was forgotten: after each
 * heavy sweep, after the new trees are wanted. What was given up is tried again, tops may sink.
 */
void mft_sync_topology(struct mft_sync *s);
/* Groups went and no new ones come: tops may sink with the next feed(). */
void mft_sync_lower_tops(struct mft_sync *s);
/* Somebody else may have written: nothing is known. The caller calls topology() some time after. */
void mft_sync_distrust(struct mft_sync *s);
/* Before fabric_remove_node(): ends its transactions. Harmless for nodes never met. */
void mft_sync_forget(struct mft_sync *s, struct node *n);

/* option use_mfttop; true at first. */
void mft_sync_use_top(struct mft_sync *s, bool use);

/* Queues as much as the engine wants. Call after want() and after each mad_dispatch(). */
void mft_sync_feed(struct mft_sync *s);
/* Something is queued or under way. */
bool mft_sync_busy(const struct mft_sync *s);
/*
 * May the cable at `port` become ACTIVE? Not while a stale row leads into it, or while a group that
 * uses it is in CUT or READ: the circle might close there. To be asked at both ends, when feed() has
 * been called since the last change.
 */
bool mft_sync_port_is_clean(const struct mft_sync *s, const struct node *n, unsigned port);
/* Not master any more: all transactions are cancelled, nothing is wanted, `idle` is not called. */
void mft_sync_stop(struct mft_sync *s);
