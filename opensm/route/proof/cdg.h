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

/* A cycle of waiting packets in forward direction: the last channel waits for the first. */
struct route_cycle {
	uint32_t n;
	struct route_cycle_step {
		uint32_t sw; /* switch that the channel leaves */
		uint8_t port;
		uint8_t vl;
	} * steps;
};

void route_cycle_done(struct route_cycle *c);

/* An empty graph. `lanes` NULL: one VL. Both must stay valid. */
struct cdg *cdg_new(const struct topo *t, const struct sl2vl *lanes);
struct cdg *cdg_free(struct cdg *g);
FREEP(cdg_free, struct cdg)

/*
 * The dependencies of all that end ports send to each other, and possibly a few more if these are
 * known to close no cycle. `threads` 0: one per processor. `r` must stay valid.
 */
struct cdg *cdg_of(const struct routes *r, unsigned threads);

struct cdg *cdg_copy(const struct cdg *g);

/* cdg_of() and packets of and to switches, which the proof of tables omits. Slower. */
struct cdg *cdg_with_switches(const struct routes *r, unsigned threads);

/* A vertex: the cable that leaves by entry `channel` of topo->ports, on a VL. */
struct cdg_vertex {
	uint32_t channel;
	uint8_t vl;
};

/* Calls `edge` for every dependency: of packets that come in by one, and wait for the other. */
void cdg_each_edge(const struct cdg *g,
		   void (*edge)(void *arg, struct cdg_vertex from, struct cdg_vertex to),
		   void *arg);

/* The number of (channel, VL)s on cycles; 0: acyclic, which cdg_is_acyclic() finds faster. */
uint32_t cdg_on_cycles(const struct cdg *g);
bool cdg_is_acyclic(struct cdg *g);
/* Finds a short cycle, not always the shortest; false: none. To be freed by route_cycle_done(). */
bool cdg_cycle(struct cdg *g, struct route_cycle *ret);
/* The VLs in use, as bits. */
uint16_t cdg_vls(const struct cdg *g);
/* The VLs, as bits, that packets of these SLs, as bits, may use. */
uint16_t cdg_vls_with(const struct cdg *g, uint16_t sls);

/*
 * Adds the dependencies of a multicast tree on SL `sl`: in by any port, out by each other port of
 * the row. True: the graph stays acyclic, and the tree is part of it; else the graph is unchanged.
 * The graph must be acyclic before. Cheap (no search) if the tree agrees with the known order.
 */
bool cdg_add_tree(struct cdg *g, const struct mcast_tree *tree, uint8_t sl);
/* cdg_add_tree() without the check. */
void cdg_force_tree(struct cdg *g, const struct mcast_tree *tree, uint8_t sl);
/*
 * May packets on SL `sl` that come in by port `in` of switch `sw` leave by port `out` without any
 * search: is that a dependency already, or does it agree with the known order? Both are ports with
 * cables to switches. False: not known, as also where VLs change on the way.
 */
bool cdg_turn_fits(const struct cdg *g, uint32_t sw, unsigned in, unsigned out, uint8_t sl);
/*
 * Removes the dependencies of the channel of entry `channel` of topo->ports, as its cable is dead:
 * packets do not wait for it, they are discarded. An order that is known stays right.
 */
void cdg_remove_channel(struct cdg *g, uint32_t channel);

/* ---- for the verifier ------------------------------------------------------------------------ */

/* Entries for one destination LID, with the switches in an order in which next hops are later. */
struct cdg_column {
	const uint8_t *ports; /* by switch */
	/* By switch: next hop; n_switches or more: none. */
	const uint32_t *next;
	/* Switches, each before its next hop; those not in it are ignored. */
	const uint32_t *order;
	/* `next` is valid for switches in `order`, and for their next hops */
	uint32_t n_order;
	uint32_t at; /* switch of the destination */
	lid_t lid;
};

/* Work space of one thread. */
struct cdg_walk;
struct cdg_walk *cdg_walk_new(struct cdg *g);
struct cdg_walk *cdg_walk_free(struct cdg_walk *w);
/* Adds what end ports send to this destination. Any number of walks may run at the same time. */
void cdg_add_column(struct cdg_walk *w, const struct cdg_column *c);
/* Adds what end ports of `from` send, step by step, until it repeats: for loops. */
void cdg_add_way(struct cdg_walk *w, const struct cdg_column *c, uint32_t from);
