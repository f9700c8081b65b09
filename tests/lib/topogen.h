// SPDX-License-Identifier: BSD-2-Clause
/* Fabrics for tests and benches, built directly in memory: no simulator, no discovery. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "topo/topo.h"

struct topogen {
	uint64_t seed;        /* for all random properties below */
	double damage;        /* share of the cables between switches that are cut, 0..1 */
	double absent;        /* share of the hosts that are missing, 0..1 */
	bool random_lids;     /* otherwise one run per switch with hosts, then the switches */
	bool switches_first;  /* set if the highest LID belongs to a host */
	bool random_guids;    /* otherwise GUIDs are in the order of construction */
	uint8_t lmc;          /* LMC of all hosts */
	/* number + 1 of a host that is left out, with its LID reserved; 0: none */
	uint32_t without_host;
	uint32_t without_link;/* number + 1 of a cable that is left out; 0: none */
	uint32_t without_switch; /* number + 1 of a switch that is left out; 0: none */
	uint32_t service_on;  /* number + 1 of a switch with one host more; 0: none */
	/*
	 * A stub is one more switch, which hangs on a single cable. stub_on: index of the switch
	 * that it hangs on, plus 1; 0: there is no stub. stub_hosts: its hosts; 0 means 1.
	 */
	uint32_t stub_on, stub_hosts;
	bool asides;          /* set if each switch has an aggregation node on a further port */
	bool asides_are_hosts; /* set if the aggregation nodes are marked as ordinary hosts */
	/* number + 1 of a switch without an aggregation node; 0: all have one */
	uint32_t without_aside;
	bool reversed;        /* set if everything is passed to the builder in reverse order */
};

#define TOPOGEN_SWITCH_GUID UINT64_C(0x0002000000000000)
#define TOPOGEN_HOST_GUID UINT64_C(0x0001000000000000)
#define TOPOGEN_ASIDE_GUID UINT64_C(0x0003000000000000)

/* `o` may be NULL: no damage, regular LIDs and GUIDs. The caller owns the reference. */
struct topo *topogen_fat_tree3(unsigned k, const struct topogen *o); /* k ports, k^3/4 hosts */
/* Three levels of any proportion; every agg of a pod has cores of its own. */
struct topogen_tree {
	unsigned hosts, leaves, pods; /* per leaf, per pod, in total */
	unsigned aggs, cores;         /* per pod, per agg of a pod */
	unsigned leaf_cables, core_cables;
};
struct topo *topogen_tree3(const struct topogen_tree *tree, const struct topogen *o);
struct topo *topogen_fat_tree2(unsigned leaves, unsigned spines, unsigned hosts, unsigned parallel,
			       const struct topogen *o);
/* Sizes of 1 are left out, a size of 2 has one cable; `hosts` per switch. */
struct topo *topogen_torus(const unsigned size[3], unsigned hosts, const struct topogen *o);
/*
 * Any grid: "4x4" a mesh, "6tx6tx3" two rings and a line, "2x2x2" a cube. `parallel` cables for
 * each edge.
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
/* A HyperX of up to 12 dimensions; a hypercube if all sizes are 2. */
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
/* A random tree with random cables added up to an average degree; 0..hosts hosts per switch. */
struct topo *topogen_random(unsigned switches, unsigned degree, unsigned hosts,
			    const struct topogen *o);
