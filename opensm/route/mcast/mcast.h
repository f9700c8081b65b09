// SPDX-License-Identifier: BSD-2-Clause
/*
 * The paths of a multicast group: one tree of switches and cables per MLID.
 *
 * A planner belongs to one topo; mcast_plan() is pure: same planner inputs, same job, same tree. It
 * keeps a tree stable: a member that joins adds the branch that leads to it, a member that leaves
 * removes the branch that led to it alone, a failed cable is bridged; nothing else moves. Only if
 * the job allows it (a sweep, or quiet after changes) a decayed tree is planned afresh.
 *
 * A fresh tree has least depth: its root is a switch whose farthest member is nearest, and among
 * such switches MLIDs take turns, so that groups spread over the spines of a tree. Every switch of
 * the tree is connected to its parent by one cable, towards the root. A tree has decayed when its
 * farthest switches are a quarter farther apart than necessary (in a fat tree: when packets turn
 * upwards again, which unicast routes never do), or when it has half as many cables again.
 *
 * If the planner has the dependencies of unicast, a tree that closes a cycle with them, or with
 * trees planned before, is replaced by one that does not (mcast_safe.c). So with a proof the tree
 * of a group also depends on which groups came first.
 *
 * A switch sends a copy out of every port of its row but the one by which it arrived, whether or
 * not that one is in the row (18.2.4.3.3). So the path of a send-only member is in rows in one
 * direction: towards the receivers and not back, and nothing is delivered to it (sa.md 6.6; OpenSM
 * delivers to such members too). A group without a receiver, or with one port in all, has an empty
 * tree, as in OpenSM: no member could receive from another.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/engine.h"
#include "route/core/routes.h"
#include "topo/topo.h"

#define MLID_MIN   ((lid_t)0xC000)
#define MLID_MAX   ((lid_t)0xFFFE)
#define MCAST_NONE UINT32_MAX

/* A port in a group. It may be named more than once, and receives if one of these does. */
struct mcast_member {
	uint32_t sw; /* switch in the topo; TOPO_NONE (no switch): unreachable */
	/* port of that switch, with no switch behind it; 0: the switch itself */
	uint8_t port;
	bool receive; /* false: SendOnly */
};

struct mcast_row {
	guid_t guid;	  /* node GUID of the switch: identifies it in another topo */
	uint64_t mask[4]; /* ports the switch sends copies to; bit p % 64 of word p / 64 */
	uint32_t sw;	  /* number of the switch in the topo it was planned on */
	uint32_t up;	  /* row of the parent; MCAST_NONE: this is the root */
	uint8_t up_port;  /* cable to the parent: port here, port at the parent */
	uint8_t down_port;
};

/* Immutable. `rows` by GUID. */
struct mcast_tree {
	unsigned refs;	     /* used on the main thread only */
	uint32_t n_rows;     /* 0: no switch needs a row */
	uint32_t root;	     /* row of the root; MCAST_NONE: none */
	uint32_t n_links;    /* cables between switches: n_rows - 1 or 0, unless branches wait */
	uint32_t n_left_out; /* members that are not in the same connected part as most members */
	uint32_t n_hops;     /* cables between the two switches farthest apart */
	/* Set if it closes a cycle with unicast or other trees, and no other tree was possible. */
	bool unproved;
	struct mcast_row rows[];
};

static inline void mcast_set_port(struct mcast_row *row, unsigned port)
{
	row->mask[port / 64] |= UINT64_C(1) << port % 64;
}

struct mcast_tree *mcast_tree_ref(const struct mcast_tree *t);
struct mcast_tree *mcast_tree_unref(const struct mcast_tree *t);
FREEP(mcast_tree_unref, struct mcast_tree)
/* The row of a switch; NULL: it has none for this group. */
const struct mcast_row *mcast_tree_find(const struct mcast_tree *t, guid_t guid);
/*
 * Rows with all cables of a tree, as cdg_add_tree() needs them. By switch: the port towards the
 * root, 0 at a root; and whether it is in the tree (NULL: all are). To be freed.
 */
struct mcast_tree *mcast_tree_of(const struct topo *t, const uint8_t *up, const bool *in_it);

struct mcast_planner;
struct cdg;

struct mcast_params {
	const struct topo *topo;
	/*
	 * Routes of the same topo, whose table of hops is used; NULL, or without that table: the
	 * planner computes distances itself (some 50 ms at 1,620 switches).
	 */
	const struct routes *routes;
	const struct route_options *options; /* hop weights; may be NULL */
	/*
	 * MulticastFDBCap of each switch (number of MLIDs, 0: none); NULL: all have room. A switch
	 * without room for an MLID is avoided, and its own members are left out.
	 */
	const uint16_t *caps;
	/*
	 * Dependencies of unicast, on its VLs (cdg.h), for the same topo: trees are chosen so that
	 * the union stays free of cycles, and are added to it. NULL: no proof is wanted. The
	 * planner takes ownership; `routes` must be those that it was made of.
	 */
	struct cdg *depends;
	/* Preferred roots (mc_roots_file): node GUIDs of switches, MLIDs in turn. */
	const guid_t *roots;
	uint32_t n_roots;
};

/* Holds references of topo and routes; copies caps. */
struct mcast_planner *mcast_planner_new(const struct mcast_params *params);
struct mcast_planner *mcast_planner_free(struct mcast_planner *p);
FREEP(mcast_planner_free, struct mcast_planner)

/* Its topo, valid as long as the planner is. */
const struct topo *mcast_planner_topo(const struct mcast_planner *p);

struct mcast_job {
	lid_t mlid;
	const struct mcast_member *members; /* all members of the group, in any order */
	uint32_t n_members;
	const struct mcast_tree
		*previous; /* former tree, perhaps of another topo of the same fabric; NULL: none */
	uint8_t sl;	   /* SL, for its VL if trees are proved */
	bool may_replan;   /* set if a decayed tree may be given up */
};

/*
 * Never NULL; the caller owns one reference, which is one of `previous` if nothing changes. Costs
 * a few microseconds plus what is proportional to members and rows; the planner's scratch memory
 * makes it not reentrant.
 */
struct mcast_tree *mcast_plan(struct mcast_planner *p, const struct mcast_job *job);

/* ---- cables that died ------------------------------------------------------------------------ */

/*
 * Cables of the planner's topo died: `dead` are n entries of topo->ports, of one end or of both;
 * ports that lead to no switch are ignored. Trees that are planned or mended from now on do not use
 * them. False: all of them were known to be dead. Costs what is proportional to the cables.
 */
bool mcast_cables_died(struct mcast_planner *p, const uint32_t *dead, size_t n);
/* Does a tree of this fabric lead over a dead cable? */
bool mcast_uses_dead(const struct mcast_planner *p, const struct mcast_tree *t);

/* Branches of one tree behind dead cables; those without members are dropped, and not counted. */
struct mcast_mended {
	uint32_t mended;  /* connected with the rest again */
	uint32_t waiting; /* not, as every connection that was tried may close a cycle */
	uint32_t cut_off; /* not, as no living cables lead there */
};

/*
 * job->previous around dead cables: branches are connected again by the shortest ways over living
 * cables, and all else stays as it is. Members that the tree does not reach are not added. If the
 * planner proves trees, and the former one was not `unproved`, the new one closes no cycle either.
 * A branch that waits or is cut off keeps its rows, without the dead cable: then the tree has
 * several rows without a parent, `root` being the one of the greatest piece. Never NULL; the caller
 * owns one reference, which is one of job->previous if nothing changes. job->may_replan is ignored.
 */
struct mcast_tree *mcast_mend(struct mcast_planner *p, const struct mcast_job *job,
			      struct mcast_mended *ret);
