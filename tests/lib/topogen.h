// SPDX-License-Identifier: BSD-2-Clause
/* Fabrics for tests and benches, made straight in memory: no simulator, no discovery. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "topo/topo.h"

struct topogen {
	uint64_t seed;        /* of everything random below */
	double damage;        /* share of the cables between switches that are cut, 0..1 */
	double absent;        /* share of the hosts that are not there, 0..1 */
	bool random_lids;     /* else one run per switch with hosts, then the switches */
	bool switches_first;  /* the highest LID is a host's */
	bool random_guids;    /* else GUIDs in order of construction */
	uint8_t lmc;          /* of all hosts */
	uint32_t without_host;/* leaves out this host + 1; its LID stays reserved; 0: none */
	uint32_t without_link;/* leaves out this cable + 1; 0: none */
	uint32_t without_switch; /* leaves out this switch + 1; 0: none */
	uint32_t service_on;  /* one host more on this switch + 1; 0: none */
	/* a switch with so many hosts (0: 1) hangs on this switch + 1, by one cable; 0: none */
	uint32_t stub_on, stub_hosts;
	bool asides;          /* each switch has one port more, to an aggregation node */
	bool asides_are_hosts; /* these aggregation nodes are marked as ordinary hosts */
	uint32_t without_aside; /* this switch + 1 has no aggregation node; 0: all have one */
	bool reversed;        /* tell the builder everything in reverse order */
};

#define TOPOGEN_SWITCH_GUID UINT64_C(0x0002000000000000)
#define TOPOGEN_HOST_GUID UINT64_C(0x0001000000000000)
#define TOPOGEN_ASIDE_GUID UINT64_C(0x0003000000000000)

/* `o` may be NULL: no damage, orderly. The caller owns the reference. */
struct topo *topogen_fat_tree3(unsigned k, const struct topogen *o); /* k ports, k^3/4 hosts */
/* Three levels of any proportion; every agg of a pod has cores of its own. */
struct topogen_tree {
	unsigned hosts, leaves, pods; /* per leaf, per pod, in all */
	unsigned aggs, cores;         /* per pod, per agg of a pod */
	unsigned leaf_cables, core_cables;
};
struct topo *topogen_tree3(const struct topogen_tree *tree, const struct topogen *o);
struct topo *topogen_fat_tree2(unsigned leaves, unsigned spines, unsigned hosts, unsigned parallel,
			       const struct topogen *o);
/* Dimension sizes 1 are left out, 2 get one cable; `hosts` per switch. */
struct topo *topogen_torus(const unsigned size[3], unsigned hosts, const struct topogen *o);
/*
 * Any grid: "4x4" a mesh, "6tx6tx3" two rings and a line, "2x2x2" a cube. `parallel` cables for
 * each.
 */
struct topo *topogen_grid(const char *shape, unsigned hosts, unsigned parallel,
			  const struct topogen *o);
struct topo *topogen_dragonfly(unsigned groups, unsigned routers, unsigned hosts,
			       const struct topogen *o);
/*
 * Diameter two: 2 q^2 switches of (3 q - 1) / 2 cables; q: 5, 13, 17, 29 or 37
 * (sim/gen/slim_fly.h).
 */
struct topo *topogen_slim_fly(unsigned q, unsigned hosts, const struct topogen *o);
/* Every pair of switches in a row or column has a cable. */
struct topo *topogen_hyperx(unsigned x, unsigned y, unsigned hosts, const struct topogen *o);
/* The same in up to 12 dimensions; with sizes 2 a hypercube. */
struct topo *topogen_hyperx_n(const unsigned *size, unsigned n_dims, unsigned hosts,
			      const struct topogen *o);
/*
 * Groups of leaves with hosts and spines; `parallel` cables between two groups, over the spines in
 * turn.
 */
struct topogen_plus {
	unsigned groups, leaves, spines, hosts, parallel;
};
struct topo *topogen_dragonfly_plus(const struct topogen_plus *plus, const struct topogen *o);
/* A random tree plus random cables up to an average degree; 0..hosts hosts per switch. */
struct topo *topogen_random(unsigned switches, unsigned degree, unsigned hosts,
			    const struct topogen *o);
