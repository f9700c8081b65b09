// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fabrics of known shape as a struct netfile: for the simulator, for ibsim, for planning offline.
 *
 * Hosts are called h0, h1 ... and come first; switches leaf1, agg1, spine1, core1 in trees, s0, s1
 * ... elsewhere. Every generator returns a new netfile the caller frees; sizes out of range (a
 * switch beyond 254 ports, no switch at all) give NULL.
 */
#pragma once

#include <stdint.h>

#include "sim/netfile/netfile.h"

/*
 * k-port switches, full bisection: k leaves, k/2 spines, k*k/2 hosts (36: 648 on 54 switches). k
 * even.
 */
struct netfile *gen_fat_tree2(unsigned k);
/*
 * Three levels: k pods of k/2 leaves and k/2 aggs, k*k/4 cores, k^3/4 hosts (36: 11,664 on 1,620).
 */
struct netfile *gen_fat_tree3(unsigned k);
/* Two levels, every leaf with `cables` links to every spine. */
struct netfile *gen_tree(unsigned leaves, unsigned hosts_per_leaf, unsigned spines,
			 unsigned cables);
/*
 * Groups of hosts with an adapter for each rail, "gpu0 mlx5_0" ..., each group with a leaf for each
 * rail; all leaves are cabled to all spines or, `apart`, each rail to so many spines of its own.
 */
struct netfile *gen_rails(unsigned units, unsigned hosts, unsigned rails, unsigned spines,
			  bool apart);
/*
 * Sizes below 2 make no cables in that dimension; hosts per switch. A mesh has no wrap-around
 * cables.
 */
struct netfile *gen_torus(unsigned x, unsigned y, unsigned z, unsigned hosts);
struct netfile *gen_mesh(unsigned x, unsigned y, unsigned z, unsigned hosts);
/* Complete groups, one cable between each pair of groups (33, 8, 4: 264 switches, 1,056 hosts). */
struct netfile *gen_dragonfly(unsigned groups, unsigned routers, unsigned hosts);
/* Diameter two: 2 q^2 switches of (3 q - 1) / 2 cables; q: 5, 13, 17, 29 or 37 (slim_fly.h). */
struct netfile *gen_slim_fly(unsigned q, unsigned hosts);
struct netfile *gen_hypercube(unsigned dim, unsigned hosts);
struct netfile *gen_ring(unsigned switches, unsigned hosts);
/* Connected random graph, `degree` links per switch (switches * degree even). */
struct netfile *gen_random(unsigned switches, unsigned degree, unsigned hosts, uint64_t seed);
struct netfile *gen_single(unsigned hosts);
/* Two hosts, one cable. */
struct netfile *gen_pair(void);

/* Clusters of irregular shape (gen_odd.c): "odd-mixed" ...; NULL: no such name. */
struct netfile *gen_odd(const char *name);
/* Names of these clusters, number 0, 1 ...; NULL: there are no more. */
const char *gen_odd_name(unsigned number);

/* Sets speed (tenths of Gb/s per lane) and lanes of every port. Returns `net`. */
struct netfile *gen_speed(struct netfile *net, unsigned tenths, unsigned lanes);

/*
 * Builds a fabric from words of scenarios and netgen: kind[, number]*. On error NULL and a message
 * in `err`. Kinds: fat-tree2 K | fat-tree3 K | tree LEAVES HOSTS SPINES [CABLES] | rails UNITS
 * HOSTS RAILS SPINES | planes UNITS HOSTS RAILS SPINES | torus X Y Z HOSTS | mesh X Y Z HOSTS |
 * dragonfly GROUPS ROUTERS HOSTS | slim-fly Q HOSTS | hypercube DIM HOSTS | ring SWITCHES HOSTS |
 * random SWITCHES DEGREE HOSTS SEED | single HOSTS | pair | odd-NAME
 */
struct netfile *gen_words(unsigned n, const char *const *words, char *err, size_t err_len);

/* Adds a port to each switch, with an aggregation node (a CA of one port) on it. */
void gen_aggregation(struct netfile *net);
/*
 * Adds irregularities of real fabrics, drawn with the seed: aggregation nodes, a stub leaf and a
 * gateway on a spine, hosts with one port and with two, missing cables, a slow one, one from a
 * switch to itself, a host that does not answer and a port that loses all SMPs, exchanged adapters,
 * a host without a driver, a director, hosts named in several ways. Connected parts stay connected.
 * Existing nodes keep their ids and the numbers of their ports.
 *
 * Nodes of `spare` (ids, "leaf1:5" for both ends of a cable; NULL at the end; may be NULL) answer,
 * and keep names and cables. Seed 0: nothing is added. Speeds must be set before.
 */
void gen_wear(struct netfile *net, uint64_t seed, const char *const *spare);
