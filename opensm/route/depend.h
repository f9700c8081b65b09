// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which channel waits for which: the channel dependency graph (Dally and Seitz), with lanes.
 *
 * A vertex is (channel, VL), a channel being a cable between two switches taken in one direction. There
 * is an edge from the channel a packet comes in by to the one it leaves by, each on the VL that the lanes
 * give it there. Tables cannot deadlock if and only if the graph has no cycle.
 *
 *	g = dependency_graph_of(routes, threads);           all that end ports send
 *	ok = dependency_graph_add_tree(g, tree, sl);        a multicast tree more, if it stays acyclic
 *
 * Edges are kept as masks of ports: for each (port out, VL) and VL in, the ports in. So thousands of
 * switches fit into some megabytes, and a search for cycles takes a word at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/mcast.h"
#include "route/routes.h"

struct dependency_graph;

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

/* Empty. `lanes` NULL: one lane. Both must live as long as the graph. */
struct dependency_graph *dependency_graph_new(const struct topo *t, const struct lanes *lanes);
struct dependency_graph *dependency_graph_free(struct dependency_graph *g);
void dependency_graph_freep(struct dependency_graph **g);

/*
 * What all end ports send to each other, and possibly a little more, when that is known to have no cycle either.
 * `threads` 0: all of the machine. `r` must live as long.
 */
struct dependency_graph *dependency_graph_of(const struct routes *r, unsigned threads);

/* And what switches themselves send and are sent, which the proof of tables leaves out. Slower. */
struct dependency_graph *dependency_graph_with_switches(const struct routes *r, unsigned threads);

/* (channel, VL)s that lie on cycles; 0: acyclic. */
uint32_t dependency_graph_on_cycles(const struct dependency_graph *g);
bool dependency_graph_is_acyclic(struct dependency_graph *g);
/* One cycle, short but not always the shortest; false if there is none. route_cycle_done() it. */
bool dependency_graph_cycle(struct dependency_graph *g, struct route_cycle *ret);
/* VLs that something is sent on, a bit each. */
uint16_t dependency_graph_vls(const struct dependency_graph *g);

/*
 * What goes through a multicast tree on SL `sl`: in by any port, out by each other port of the row. True if
 * the graph is acyclic with it, and then it is part of the graph; else the graph stays what it was. The
 * graph must be acyclic before. Cheap (no search) where the tree agrees with the order found before.
 */
bool dependency_graph_add_tree(struct dependency_graph *g, const struct mcast_tree *tree, uint8_t sl);
/* The same, whatever comes of it. */
void dependency_graph_force_tree(struct dependency_graph *g, const struct mcast_tree *tree, uint8_t sl);

/*
 * Unicast and these trees (each on SL sls[i]; NULL: all on 0) together: true if nothing waits for itself;
 * else `cycle` (NULL: not wanted) is one, and route_cycle_done() it.
 */
bool routes_check_trees(const struct routes *r, const struct mcast_tree *const *trees, uint32_t n,
			const uint8_t *sls, struct route_cycle *cycle);

/* ---- for the judge --------------------------------------------------------------------------- */

/*
 * Before columns are added and after: tables that make it fast, as large as the scheme and a word per pair of ports
 * of a switch. `hosts` must be known by then.
 */
void dependency_graph_begin(struct dependency_graph *g, unsigned threads);
void dependency_graph_end(struct dependency_graph *g);

/* One destination LID: where every switch sends it. Switches come in an order such that next is later. */
struct dependency_column {
	const uint8_t *ports;	/* per switch */
	const uint32_t *next;	/* per switch: the switch behind that port; n_switches or more: none */
	const uint32_t *order;	/* each before its next; who is not in it is not looked at */
	uint32_t n_order;	/* `next` of all in it is known, and of what is next to them */
	uint32_t at;		/* switch of the destination */
	lid_t lid;
};

/* One thread's scratch. */
struct dependency_walk;
struct dependency_walk *dependency_walk_new(struct dependency_graph *g);
struct dependency_walk *dependency_walk_free(struct dependency_walk *w);
/* What end ports send to this destination. Any number of walks at the same time. */
void dependency_add_column(struct dependency_walk *w, const struct dependency_column *c);
/* What end ports of `from` send, step by step, until it repeats itself: for what goes round. */
void dependency_add_way(struct dependency_walk *w, const struct dependency_column *c, uint32_t from);
