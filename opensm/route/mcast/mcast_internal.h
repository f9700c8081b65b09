// SPDX-License-Identifier: BSD-2-Clause
/*
 * Inside of the planner of multicast trees: shared by mcast.c (the plan), mcast_grow.c (one tree
 * growing), mcast_root.c (choice of the root), mcast_tree.c (trees), mcast_safe.c, mcast_dead.c
 * (cables that died) and mcast_mend.c.
 */
#pragma once

#include "route/core/graph.h"
#include "route/mcast/mcast.h"

/* One switch in the plan at hand; counts only if `plan` is that of the planner. */
struct mcast_vertex {
	uint32_t plan;
	uint32_t parent; /* switch; MCAST_NONE: top of its piece, or not in the tree */
	uint32_t degree; /* number of cables of the tree that end here */
	uint32_t near;	 /* XOR of the switches at the other ends of these cables */
	uint32_t row;	 /* index, while rows are written */
	uint8_t up_port, down_port;
	bool in_tree;
	uint64_t members[4];  /* ports with a member */
	uint64_t receives[4]; /* ports with a member that receives */
};

/* Ports of a switch whose cables are dead. */
struct mcast_dead {
	uint32_t sw;
	uint64_t ports[4]; /* bit p % 64 of word p / 64 */
};

struct mcast_planner {
	const struct topo *topo;     /* one reference */
	const struct routes *routes; /* one reference; NULL: no routes, or none with hops */
	struct graph *graph;
	uint8_t *hops;	/* as routes->hops, without routes; NULL: not needed yet */
	uint16_t *caps; /* NULL: all have room */
	uint32_t n;	/* switches */

	/* mcast_root.c: connected parts of the usable switches, for MLID numbers lo .. hi - 1. */
	uint32_t *island;	  /* part by switch; MCAST_NONE: not usable */
	uint32_t *island_members; /* number of members by part */
	uint32_t island_lo, island_hi;
	bool restricted;    /* some switch cannot be used */
	uint16_t *far;	    /* per switch: to the farthest member */
	uint32_t *sum;	    /* per switch: to all of them together */
	uint8_t *own_row;   /* hops to the root if mcast_counts_hops() */
	const uint8_t *row; /* hops to the root */

	/* The present plan. */
	uint32_t plan;	 /* its number */
	uint32_t number; /* MLID - MLID_MIN */
	struct mcast_vertex *vertices;
	uint32_t *switches; /* with a vertex of this plan */
	uint32_t n_switches;
	uint32_t *member_switches; /* switches with members in the chosen part */
	uint32_t n_member_switches;
	uint32_t n_left_out;
	uint32_t n_receivers;

	/* mcast_safe.c */
	struct cdg *depends; /* owned; NULL: no proof is wanted */
	/* one reference: whose VLs `depends` looks at, or with `bound` whose tree counts */
	struct routes *proved;
	/* per SL: cables of the tree that always fits; NULL: none */
	struct graph *common[16];
	uint16_t common_sought;	  /* a bit per SL */
	bool only_common;	  /* no other cables may be used */
	uint32_t *hosts;	  /* per switch: its end ports */
	uint32_t *roots, n_roots; /* preferred, in their order */

	/* mcast_dead.c */
	struct mcast_dead *dead; /* by switch; owned */
	uint32_t n_dead, cap_dead;
	/* set if every tree has to be part of routes->master_tree, as nothing is proved */
	bool bound;

	/* Work space for searches and lists of switches. */
	uint32_t *queue, *via, *seen;
	uint32_t search; /* number of the search */
	struct arena memory;
};

static inline bool mcast_has_ports(const uint64_t mask[4])
{
	return mask[0] | mask[1] | mask[2] | mask[3];
}

static inline bool mcast_has_port(const uint64_t mask[4], unsigned port)
{
	return mask[port / 64] >> port % 64 & 1;
}

/*
 * Do hops to the root have to be counted for each tree? The distances of all switches are those of
 * the whole topo.
 */
static inline bool mcast_counts_hops(const struct mcast_planner *p)
{
	return p->restricted || p->only_common || p->n_dead;
}

/* ---- mcast.c ---- */

/*
 * Takes the members in this part of the fabric (mcast_find_islands()); MCAST_NONE: in all parts.
 * Returns the number of different ports.
 */
uint32_t mcast_take_members(struct mcast_planner *p, const struct mcast_job *job, uint32_t island);
/*
 * The rows of the tree as it grew, with one reference. Where it has several pieces, copies stay in
 * each, and `root` is the top of the one that the tree has its root in.
 */
struct mcast_tree *mcast_write_tree(struct mcast_planner *p, uint32_t root);

/* The group's part of its SL's common tree; NULL if that reaches fewer members than cables do. */
struct mcast_tree *mcast_plan_common(struct mcast_planner *p, const struct mcast_job *job);

/* ---- mcast_tree.c ---- */

/* One reference; without a root. */
struct mcast_tree *mcast_tree_new(uint32_t n_rows);
bool mcast_tree_is_same(const struct mcast_tree *a, const struct mcast_tree *b);

/* ---- mcast_root.c ---- */

/* Finds the usable switches for the MLID number, and their connected parts. */
void mcast_find_islands(struct mcast_planner *p);
/* The root of a fresh tree: least depth; among equals those of the previous tree, then by turns. */
uint32_t mcast_choose_root(struct mcast_planner *p, const struct mcast_tree *previous);
/* Puts the switches in the middle of the member switches into p->queue. Returns their number. */
uint32_t mcast_find_middle(struct mcast_planner *p);
/* Makes mcast_to_root() refer to this root. */
void mcast_aim(struct mcast_planner *p, uint32_t root);

static inline unsigned mcast_to_root(const struct mcast_planner *p, uint32_t sw)
{
	return p->row[sw] == UINT8_MAX ? DISTANCE_NONE : p->row[sw];
}

/* ---- mcast_grow.c ---- */

/* The vertex of `sw`, empty at its first use in this plan. */
struct mcast_vertex *mcast_vertex(struct mcast_planner *p, uint32_t sw);
/*
 * Takes over the previous tree: cables that still exist, between switches of this part of the
 * fabric; MCAST_NONE: between any that can be used.
 */
void mcast_import(struct mcast_planner *p, const struct mcast_tree *t, uint32_t island);
/* Removes branches that lead to no member. */
void mcast_prune(struct mcast_planner *p);
/* The top of the piece with most switches that have members; MCAST_NONE: no piece has a member. */
uint32_t mcast_greatest_piece(struct mcast_planner *p);
/* The top of the piece that `sw`, which is in the tree, belongs to. */
uint32_t mcast_top_of(const struct mcast_planner *p, uint32_t sw);
/* Joins all pieces to the piece `root`, as far as cables lead from one to the other. */
void mcast_join_pieces(struct mcast_planner *p, uint32_t root);

/* Which connections a piece may be joined by. */
#define MCAST_TRIES 8
struct mcast_joint {
	uint32_t to;	   /* top of the piece that it may be joined to */
	uint32_t n_banned; /* up to MCAST_TRIES; the one that was found last stands behind them */
	struct {
		uint32_t from,
			at; /* last cable of the connection, to a switch of the other piece */
	} connections[MCAST_TRIES + 1];
};

/*
 * Joins the piece `top` by the shortest connection. `joint` NULL: by any, to the nearest piece.
 * False: there is none.
 */
bool mcast_join_piece(struct mcast_planner *p, uint32_t top, struct mcast_joint *joint);
void mcast_add_switch(struct mcast_planner *p, uint32_t sw);
/* Connects the top of a piece with a switch of another one by the cable at its port `port`. */
void mcast_hang(struct mcast_planner *p, uint32_t child, uint32_t parent, uint8_t port);
/* Reverses the cables from `sw` to its top: now `sw` is the top. */
void mcast_make_top(struct mcast_planner *p, uint32_t sw);
/* Adds all members that are not in the tree yet; `root` is its top. */
void mcast_add_members(struct mcast_planner *p, uint32_t root);
/* Removes all cables of the tree; members stay. */
void mcast_fell(struct mcast_planner *p);

/* ---- mcast_way.c ---- */

/*
 * Joins the piece `top` to the piece `to` by a connection whose dependencies agree with the known
 * order of p->depends, which is not NULL. False: none was found.
 */
bool mcast_join_in_order(struct mcast_planner *p, uint32_t top, uint32_t to, uint8_t sl);

/* ---- mcast_dead.c ---- */

bool mcast_is_dead(const struct mcast_planner *p, uint32_t sw, unsigned port);

/* ---- mcast_safe.c ---- */

/* Searches the common tree of an SL, once: p->common[sl]. */
void mcast_find_common(struct mcast_planner *p, uint8_t sl);
/* Does the tree close no cycle with unicast and earlier trees? If so, it is added to them. */
bool mcast_fits(struct mcast_planner *p, const struct mcast_tree *t, uint8_t sl);
