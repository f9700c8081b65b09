// SPDX-License-Identifier: BSD-2-Clause
/*
 * Destinations dealt out over the ways that an engine allows, by load.
 *
 * An engine says for one destination switch which steps every other switch may take towards it; all
 * combinations of allowed steps must be right (arrive, and wait for nobody in a circle). Which of them each
 * LID takes is decided here: the one whose whole path carries least, in a few rounds over all
 * destinations. Loads are in end-port pairs. What previous tables say stays where it is allowed.
 */
#pragma once

#include <stdint.h>

#include "route/engine.h"
#include "route/graph.h"
#include "route/routes.h"

struct step {
	uint32_t channel; /* index of the port in topo->ports */
	uint32_t next;
};

/* The steps towards one switch. */
struct steps {
	const struct graph *graph;
	uint32_t n;	  /* switches that reach it, without itself; every step leads to one before */
	uint32_t *order;
	uint32_t *first;  /* n + 1: steps of order[i] are list[first[i]..] */
	uint32_t n_list;
	struct step *list;
	uint32_t *work[4]; /* an entry per switch each: the finder's, undefined at first */
};

/* The next switch in order; its steps follow. */
static inline void steps_switch(struct steps *s, uint32_t sw)
{
	s->order[s->n] = sw;
	s->first[s->n++] = s->n_list;
	s->first[s->n] = s->n_list;
}

/* All cables of a group are steps of the switch at hand. */
void steps_group(struct steps *s, const struct graph_group *group);

typedef void (*steps_find)(const void *arg, uint32_t to, struct steps *s);

/*
 * Routes of name `engine` by the steps that `find` allows, called from several threads at once. NULL:
 * cancelled.
 */
struct routes *steps_deal(const struct route_job *job, const struct graph *g, const char *engine,
			  steps_find find, const void *arg);
