// SPDX-License-Identifier: BSD-2-Clause
/*
 * The minhop engine: shortest paths on any graph, spread evenly, without configuration.
 *
 * Shortest is easy: distances between switches (distance.c), then every switch sends towards a
 * neighbour that is nearer. All the quality is in which of the nearest neighbours.
 *
 * Counting per switch, the classical answer, gives every port the same number of destinations and
 * still fails on trees: all switches deal out the same destinations in the same order, so what one
 * level sends to one switch, the next level sends on through one port. A tree wants the opposite
 * of independent decisions: all flows to one destination should come together as early as they
 * can and come down one path, because flows to one destination compete at its port anyway, while
 * flows to different destinations should never meet on the way down.
 *
 * So every destination gets a chain of homes (dmodk.c): a switch above its leaf, one above that, up
 * to a root. In a tree the path down from a root is unique, hence the chain is the path, and it is
 * the same for all sources. A source goes to the highest home that lies on a shortest path; a
 * switch in the same pod finds that the root does not and takes the next lower one. A switch with
 * several neighbours towards a home takes the digit below.
 *
 *      root    c0  c1  c2  c3        Leaves are numbered so that pods are contiguous, and slots
 *               |\ /|    |\ /|        run over the ports of a leaf that lead to no switch:
 *      agg     a0  a1    ...             slot = leaf number * hosts per leaf + place on the leaf
 *               |\ /|                 The digits of the slot, in the mixed radix of the numbers
 *      leaf    l0  l1                 of cables up, are the homes:
 *              ||  ||                    slot mod ups(leaf), slot / ups(leaf) mod ups(agg), ...
 *
 * Consecutive slots so take different paths at the leaf, leaves take different roots, and shift
 * permutations meet no contention at all (D-mod-K, Zahavi; with distances instead of a regular
 * tree, Dmodc, Gliksberg et al.). No route depends on which other hosts are there: a host that
 * leaves changes none. Parallel cables take the next digit.
 *
 * Leaves with more hosts than cables up number a multiple of those so, and the rest apart: it
 * begins with the first cable again, or, if it is small, every leaf sends to it by other cables
 * (measure_slots() in dmodk.c).
 *
 * LIDs of switches carry little and need no homes: every switch takes any of the paths, another one
 * for other slots and for other switches above it (dmodk_any()). If all took the same, every leaf
 * would have to change an entry for each switch behind a cable that fails.
 *
 * Damage. A switch with fewer neighbours up than its siblings is broken. Below whole switches the
 * digits stay as they are; destinations below a broken one choose their home among those left by
 * the number of destinations that are at home there already. A source cut off from a home first
 * tries the next lower one (which keeps the last part of the path free of others); if none is on a
 * shortest path, its entry waits until the row is full and goes to the least used port. A switch
 * above the leaves that no home leads through only sees diverted flows and uses its level's digit.
 * A leaf of eight hosts with seven cables left has two destinations at home behind one of them: in
 * large fabrics some senders, in turn, go by another home of that leaf, as few as it takes
 * (part_crowded() in dmodk.c). What is left is balanced by load (balance_verified.c).
 *
 * No levels. On a torus or dragonfly every switch is a leaf, chains are empty, and destinations
 * are routed one by one along the least loaded shortest path of the whole fabric (fill.c).
 *
 * Change. Entries of the previous tables stay as long as they are on a shortest path (change.c
 * lists the switches that can be skipped). One exception: a path that is new, because a cable came
 * back, gets its share: the entries whose homes lead there, and of those that are counted or loaded
 * as many as make it even. Entries of unassigned LIDs stay as well (unassigned.c), so a host that
 * leaves and comes back changes nothing. The options of OpenSM that say how to count
 * (guid_routing_order_file, scatter_ports ...) replace the closed form by counting where they
 * apply. Several LIDs of one port (LMC) rotate by their offset and prefer another chassis, then
 * another switch, then another port than the LIDs before them.
 */
#include "route/select/engines.h"

#include "route/tree/repair.h"
#include "util/mem.h"

struct routes *minhop_routes(const struct route_job *job, const struct graph *g,
			     const struct shape *shape, char *why, size_t why_len)
{
	return repair_or_fill(job, &(struct fill_plan){ .engine = "minhop", .graph = g });
}

struct routes *minhop_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *graph = NULL;

	if (!route_is_possible(job, why, why_len))
		return NULL;
	graph = graph_new(job->topo, &job->options);
	return minhop_routes(job, graph, NULL, why, why_len);
}
