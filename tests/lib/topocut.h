// SPDX-License-Identifier: BSD-2-Clause
/* A damaged fabric: a copy without some cables, switches and hosts. */
#pragma once

#include "tests/lib/topogen.h"
#include "topo/topo.h"

struct topocut {
	bool *ports;    /* by entry of topo->ports: set if the cable is removed (at either end) */
	bool *switches; /* set if the switch is removed, with all its cables and hosts */
	bool *hosts;
};

/* Makes an empty list of damage, for fabrics of the size of `t`. */
struct topocut *topocut_new(const struct topo *t);
struct topocut *topocut_free(struct topocut *c);

/* A copy of the fabric with the damage. The caller owns the reference. */
struct topo *topocut_apply(const struct topo *t, const struct topocut *c);

/* A copy with another switch in the place of `sw`. The caller owns the reference. */
struct topo *topocut_replaced(const struct topo *t, uint32_t sw, guid_t guid, lid_t lid);

/* Cables between switches, by one end each: entries of t->ports. The caller frees. */
uint32_t *topocut_cables(const struct topo *t, uint32_t *ret_n);

/* The host with the highest LID. */
uint32_t topocut_top_host(const struct topo *t);
/* Breaks or repairs one thing at random: a cable, a host (often the top one), a switch. */
void topocut_event(struct topocut *c, const struct topo *whole, uint64_t *seed);

/* The fabric of words such as "fat-tree3", "16"; NULL: they are not understood. */
struct topo *topogen_words(int n, char **words, const struct topogen *o);
#define TOPOGEN_WORDS                                                                             \
	"fat-tree3 K | tree3 HOSTS LEAVES PODS AGGS CORES CABLES CABLES\n"                        \
	"            | fat-tree2 LEAVES SPINES HOSTS PARALLEL | torus X Y Z HOSTS\n"               \
	"            | dragonfly GROUPS ROUTERS HOSTS | hyperx X Y HOSTS\n"                        \
	"            | hyperx3 X Y Z HOSTS | hypercube DIMENSIONS HOSTS\n"                       \
	"            | dragonfly+ GROUPS LEAVES SPINES HOSTS PARALLEL | slim-fly Q HOSTS\n"      \
	"            | random SWITCHES DEGREE HOSTS\n"
