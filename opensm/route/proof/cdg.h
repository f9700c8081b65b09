// SPDX-License-Identifier: BSD-2-Clause
/*
 * The channel dependency graph (Dally and Seitz), with VLs: which channel waits for which.
 *
 * A vertex is (channel, VL), a channel being a cable between two switches taken in one direction.
 * There is an edge from the channel a packet comes in by to the one it leaves by, each on the VL
 * that the VL scheme gives it there. Tables cannot deadlock if and only if the graph has no cycle.
 *
 * 	g = cdg_of(routes, threads);           all that end ports send
 * 	ok = cdg_add_tree(g, tree, sl);        a multicast tree more, if it stays acyclic
 *
 * Edges are kept as masks of ports: for each (port out, VL) and VL in, the ports in. So thousands
 * of switches fit into some megabytes, and a search for cycles takes a word at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/mcast/mcast.h"
#include "route/core/routes.h"
#include "util/mem.h"

struct cdg;

/* A cycle in the direction packets go: the last channel waits for the first. */
struct route_cycle {
	uint32_t n;
	struct route_cycle_step {
		uint32_t sw; /* leaves this switch */
		uint8_t port;
		uint8_t vl;
	} *steps;
};

void route_cycle_done(struct route_cycle *c);

/* Empty. `lanes` NULL: one VL. Both must live as long as the graph. */
struct cdg *cdg_new(const struct topo *t, const struct sl2vl *lanes);
struct cdg *cdg_free(struct cdg *g);
FREEP(cdg_free, struct cdg)

/*
 * What all end ports send to each other, and possibly a little more, when that is known to have no
 * cycle either. `threads` 0: all of the machine. `r` must live as long.
 */
struct cdg *cdg_of(const struct routes *r, unsigned threads);

struct cdg *cdg_copy(const struct cdg *g);

/* And what switches themselves send and are sent, which the proof of tables leaves out. Slower. */
struct cdg *cdg_with_switches(const struct routes *r, unsigned threads);

/* (channel, VL)s that lie on cycles; 0: acyclic, which cdg_is_acyclic() finds faster. */
uint32_t cdg_on_cycles(const struct cdg *g);
bool cdg_is_acyclic(struct cdg *g);
/* One cycle, short but not always the shortest; false if there is none. route_cycle_done() it. */
bool cdg_cycle(struct cdg *g, struct route_cycle *ret);
/* VLs that something is sent on, a bit each. */
uint16_t cdg_vls(const struct cdg *g);
/* Those of them that packets of these SLs, a bit each, may be on. */
uint16_t cdg_vls_with(const struct cdg *g, uint16_t sls);

/*
 * What goes through a multicast tree on SL `sl`: in by any port, out by each other port of the row.
 * True if the graph is acyclic with it, and then it is part of the graph; else the graph stays what
 * it was. The graph must be acyclic before. Cheap (no search) where the tree agrees with the order
 * found before.
 */
bool cdg_add_tree(struct cdg *g, const struct mcast_tree *tree, uint8_t sl);
/* The same, whatever comes of it. */
void cdg_force_tree(struct cdg *g, const struct mcast_tree *tree, uint8_t sl);

/* ---- for the verifier ------------------------------------------------------------------------ */

/* One destination LID: where each switch sends it, in such an order that next is later. */
struct cdg_column {
	const uint8_t *ports;	/* per switch */
	/* per switch: the switch behind that port; n_switches or more: none */
	const uint32_t *next;
	/* each before its next; a switch that is not in it is not looked at */
	const uint32_t *order;
	uint32_t n_order;	/* `next` of all in it is known, and of what is next to them */
	uint32_t at;		/* switch of the destination */
	lid_t lid;
};

/* One thread's scratch. */
struct cdg_walk;
struct cdg_walk *cdg_walk_new(struct cdg *g);
struct cdg_walk *cdg_walk_free(struct cdg_walk *w);
/* What end ports send to this destination. Any number of walks at the same time. */
void cdg_add_column(struct cdg_walk *w, const struct cdg_column *c);
/* What end ports of `from` send, step by step, until it repeats itself: for what goes round. */
void cdg_add_way(struct cdg_walk *w, const struct cdg_column *c, uint32_t from);
