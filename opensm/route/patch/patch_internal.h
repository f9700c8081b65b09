// SPDX-License-Identifier: BSD-2-Clause
/* The inside of patches: patch.c entries, patch_ground.c dependencies, patch_way.c one port. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/patch/patch.h"
#include "route/vl/cdg_order.h"

#define PATCH_PLANES 16

/* Most steps of a call: of walks, and of turns on trial. */
#define PATCH_WALKS_MAX	 (UINT64_C(16) << 20)
#define PATCH_TRIALS_MAX (UINT64_C(1) << 20)

/*
 * A vertex of dependencies is a channel, the entry of topo->ports by which a cable is left, on a
 * VL. Where a packet keeps its VL all the way, each VL is a *plane*: an order of its own with one
 * vertex per cable and direction. Else there is one plane, with a vertex per channel and VL.
 */
struct patch_plane {
	/* NULL: dependencies of the tables in force have a cycle, and nothing is proved here */
	struct cdg_order *order;
	/*
	 * before[channel * words]: ports of its switch by which packets came in that left by it, at
	 * any time since the ground was made; channels that died keep theirs.
	 */
	uint64_t *before;
};

struct patch_ground {
	const struct routes *routes; /* one reference */
	const struct topo *topo;     /* that of the routes */
	const struct sl2vl *lanes;   /* that of the routes; NULL: one VL, or all alike */
	uint32_t n, n_entries;	     /* number of switches; of entries of topo->ports */
	bool has_lmc;		     /* has a host several LIDs? */
	unsigned words;		     /* words of a mask of ports */

	struct patch_switch {
		uint32_t first; /* entry of port 0 */
		uint8_t n_ports;
		bool sends; /* has it an end port with a LID? */
		bool hurt;  /* has it a dead cable? */
	} * switches;
	struct patch_way {
		uint32_t to;   /* switch behind the port; TOPO_NONE: none, or the cable is dead */
		uint32_t peer; /* entry of the other end; TOPO_NONE: no switch */
		uint8_t port;  /* port number there */
		bool dead;
	} * ways; /* by entry */

	/* By LID 0..top. */
	struct patch_goal {
		uint32_t at;	 /* switch; TOPO_NONE: the LID is not assigned */
		uint8_t port;	 /* port there; 0: the switch itself */
		bool counts;	 /* set for end ports, whose packets can block each other */
		uint16_t layers; /* layers that end ports may use for it */
		uint16_t planes; /* planes of these, where packets keep their VL */
	} * goals;
	lid_t *lids; /* assigned LIDs, those of one switch side by side */
	uint32_t n_lids;
	const uint8_t *hops; /* least hops, as in routes.h */
	uint8_t *own_hops;   /* `hops` if the routes have none */

	/* SLs that lead to the same VLs everywhere are one layer. */
	unsigned n_layers, n_classes;
	uint8_t layer_sl[SL2VL_SLS]; /* one SL of each layer */
	uint16_t layers[SL2VL_SLS];  /* by SL of the scheme: layers that wishes may make of it */

	uint64_t most_walks, most_trials; /* PATCH_WALKS_MAX, PATCH_TRIALS_MAX; less in tests */
	unsigned n_vls;			  /* number of vertices per channel of a plane */
	unsigned n_planes;
	struct patch_plane planes[PATCH_PLANES];
	struct cdg_channels *channels;
	struct arena memory;
};

static inline uint8_t patch_class(const struct patch_ground *g, uint32_t entry)
{
	return g->n_classes > 1 ? g->lanes->class_of[entry] : 0;
}

/* The VL of a layer between ports of these classes; SL2VL_VL_DROP: none. */
static inline uint8_t patch_vl(const struct patch_ground *g, unsigned in, unsigned out,
			       unsigned layer)
{
	return g->lanes ? g->lanes->vl[(in * g->n_classes + out) * SL2VL_SLS + g->layer_sl[layer]]
			: 0;
}

/* ---- dependencies (patch_ground.c) ---- */

/* Turns on trial: all are kept, or none. */
struct patch_trial {
	struct patch_ground *ground;
	uint32_t marks[PATCH_PLANES];
	bool added; /* set if an order has a turn more than at the beginning */
	struct patch_bit {
		uint64_t *mask, bit;
	} * bits; /* to be set when it is kept */
	uint32_t n;
	size_t cap;
	uint64_t work; /* what all trials cost so far, in steps */
};

void patch_trial_begin(struct patch_trial *t);
/*
 * Adds the turn of packets that are on the cable of entry `in` on VL `vl_in`, and leave the switch
 * behind it by `out` on VL `vl_out`. False: it would close a cycle, and the trial is over.
 */
bool patch_trial_turn(struct patch_trial *t, uint32_t in, uint8_t vl_in, uint32_t out,
		      uint8_t vl_out);
void patch_trial_keep(struct patch_trial *t);
void patch_trial_drop(struct patch_trial *t);

/* Notes that these cables, by one end or both, are dead. */
void patch_ground_cut(struct patch_ground *g, const uint32_t *dead, size_t n);

/* Words of `before` of a channel on a plane. */
static inline uint64_t *patch_before(const struct patch_ground *g, unsigned plane, uint32_t entry)
{
	return &g->planes[plane].before[(size_t)entry * g->words];
}

/* ---- ways of one LID (patch_way.c) ---- */

/* An entry with a cable that is alive, which a switch left in this call: it may still be held. */
struct patch_moved {
	uint32_t sw, next; /* next: index of another one of this LID, plus 1 */
	uint8_t port;
};

#define PATCH_MEMO_HOPS 6
#define PATCH_HOPS	64 /* ways with more cables are proved without the short cut */

struct patch_run {
	struct patch_ground *ground;
	const struct routes *routes; /* the tables from now on */
	const struct patch_held *held;
	uint32_t *moved_of; /* by LID: index in `moved` plus 1 */
	struct patch_moved *moved;
	uint32_t n_moved;
	size_t moved_cap;
	/* switches seen by a search: those with the number of the search */
	uint32_t *seen, search;
	uint32_t *stack; /* room for all switches */
	struct patch_trial trial;
	struct patch_hop {
		uint32_t in,
			out; /* entry by which the switch was reached, port that it is left by */
	} hops[PATCH_HOPS];
	unsigned n_hops;
	uint64_t work; /* what walks and searches cost so far, in steps */
	/*
	 * By port of a switch: the last way that was taken by it. LIDs of one destination switch
	 * mostly go the same way, which is found out without following it.
	 */
	struct patch_memo {
		uint32_t sw, at; /* from here to there; TOPO_NONE: nothing is known */
		unsigned n;
		/* groups of VLs with one order each, as bits: those that have all its turns */
		uint16_t planes;
		const uint8_t *rows[PATCH_MEMO_HOPS]; /* rows of the switches on it */
		uint8_t ports[PATCH_MEMO_HOPS];	      /* their entries; of the last any */
	} memos[256];
};

/*
 * A call has an end, even if half of a torus dies: nothing is searched for any more after so many
 * steps, some 0.2 s each, and what has no way by then waits.
 */
static inline bool patch_is_spent(const struct patch_run *r)
{
	return r->work > r->ground->most_walks || r->trial.work > r->ground->most_trials;
}

/* Did the switch leave an alive cable for the LID in this call? `ret`: its port. */
bool patch_has_moved(const struct patch_run *r, uint32_t sw, lid_t lid, uint8_t *ret);
/* Do packets to the LID arrive from this switch, by the tables from now on? */
bool patch_way_arrives(const struct patch_run *r, uint32_t sw, lid_t lid);
/* Can `lid` leave `sw` by `port`? If so its dependencies are added; the entry is not written. */
bool patch_way_take(struct patch_run *r, uint32_t sw, lid_t lid, uint8_t port);
/*
 * Does the LID take the way that another one for the same destination switch took last by this
 * port, and is all known of it? Then patch_way_take() is true.
 */
bool patch_way_is_known(const struct patch_run *r, uint32_t sw, lid_t lid, uint8_t port);
/*
 * Lists into `ret` (room for 255) the switches that, by the tables from now on, send packets of end
 * ports to `lid` to this switch. Returns their number.
 */
unsigned patch_way_senders(struct patch_run *r, uint32_t sw, lid_t lid, uint32_t *ret);
/* Do packets of end ports to `lid` come to this switch, or from its own end ports? */
bool patch_way_is_used(struct patch_run *r, uint32_t sw, lid_t lid);
