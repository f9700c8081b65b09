// SPDX-License-Identifier: BSD-2-Clause
/* What is left of a fabric when things break: a copy without some cables, switches and hosts. */
#pragma once

#include "tests/lib/topogen.h"
#include "topo/topo.h"

struct topocut {
	bool *ports;    /* per entry of topo->ports: the cable on it is out (either end says so) */
	bool *switches; /* gone, with all cables and hosts on it */
	bool *hosts;
};

/* Nothing broken yet; for fabrics of the size of `t`. */
struct topocut *topocut_new(const struct topo *t);
struct topocut *topocut_free(struct topocut *c);

/* The caller owns the reference. */
struct topo *topocut_apply(const struct topo *t, const struct topocut *c);

/* Another switch in the place of `sw`, with its order GUID. The caller owns the reference. */
struct topo *topocut_replaced(const struct topo *t, uint32_t sw, guid_t guid, lid_t lid);

/* Ends of cables between switches, each cable once: entries of t->ports. The caller frees. */
uint32_t *topocut_cables(const struct topo *t, uint32_t *ret_n);

/* The host of the highest LID. */
uint32_t topocut_top_host(const struct topo *t);
/* Something breaks or comes back, by chance: a cable, a host (often the top one), a switch. */
void topocut_event(struct topocut *c, const struct topo *whole, uint64_t *seed);

/* The fabric that words describe ("fat-tree3", "16"); NULL: not understood. */
struct topo *topogen_words(int n, char **words, const struct topogen *o);
#define TOPOGEN_WORDS                                                                             \
	"fat-tree3 K | tree3 HOSTS LEAVES PODS AGGS CORES CABLES CABLES\n"                        \
	"            | fat-tree2 LEAVES SPINES HOSTS PARALLEL | torus X Y Z HOSTS\n"               \
	"            | dragonfly GROUPS ROUTERS HOSTS | hyperx X Y HOSTS\n"                        \
	"            | hyperx3 X Y Z HOSTS | hypercube DIMENSIONS HOSTS\n"                       \
	"            | dragonfly+ GROUPS LEAVES SPINES HOSTS PARALLEL | slim-fly Q HOSTS\n"      \
	"            | random SWITCHES DEGREE HOSTS\n"
