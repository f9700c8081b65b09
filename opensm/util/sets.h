// SPDX-License-Identifier: BSD-2-Clause
/*
 * Disjoint sets of numbers, as an array in which all begin with set[i] = i; the smallest member
 * stands for its set. And components: sets of vertices of a graph that lie on cycles together.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/mem.h"

/* Returns the member that stands for the set of `i`, and shortens the path to it. */
static inline uint32_t sets_root(uint32_t *set, uint32_t i)
{
	while (set[i] != i) {
		assert(set[i] < i); /* and so it ends: i falls with every step */
		set[i] = set[set[i]];
		i = set[i];
	}
	return i;
}

/* Joins the sets of `i` and `j`. True: they were two. */
static inline bool sets_join(uint32_t *set, uint32_t i, uint32_t j)
{
	i = sets_root(set, i);
	j = sets_root(set, j);
	if (i < j)
		set[j] = i;
	else
		set[i] = j;
	return i != j;
}

/* ---- strongly connected components (Tarjan) -------------------------------------------------- */

#define COMPONENTS_END UINT32_MAX

/* State of a search; all zero is none. */
struct components {
	uint32_t *number;    /* by vertex: order of discovery, from 1 */
	uint32_t *low;
	uint32_t *component; /* by vertex: number of its component, from 1; 0: not known yet */
	uint16_t *at;	     /* by vertex: next edge */
	uint32_t *seen;	     /* vertices in the order of discovery */
	uint32_t *stack, *calls;
	uint32_t n_seen, n_stack, n_calls;
	uint32_t n;	     /* number of components */
	uint32_t largest;    /* number of vertices of the largest component */
	uint32_t on_cycles;  /* number of vertices in components of more than one */
};

/* Allocates memory for `n` vertices. */
static inline void components_open(struct components *c, struct arena *memory, size_t n)
{
	ARENA_ARRAY(memory, c->number, n);
	ARENA_ARRAY(memory, c->low, n);
	ARENA_ARRAY(memory, c->component, n);
	ARENA_ARRAY(memory, c->at, n);
	ARENA_ARRAY(memory, c->seen, n);
	ARENA_ARRAY(memory, c->stack, n);
	ARENA_ARRAY(memory, c->calls, n);
}

/* Resets the state, in time proportional to the vertices seen. */
static inline void components_forget(struct components *c)
{
	while (c->n_seen) {
		uint32_t v = c->seen[--c->n_seen];

		c->number[v] = c->component[v] = c->at[v] = 0;
	}
	c->n = c->largest = c->on_cycles = 0;
}

static inline void components_enter(struct components *c, uint32_t v)
{
	c->seen[c->n_seen++] = v;
	c->number[v] = c->low[v] = c->n_seen;
	c->stack[c->n_stack++] = v;
	c->calls[c->n_calls++] = v;
}

static inline void components_leave(struct components *c, uint32_t v)
{
	uint32_t size = 0, other;

	c->n_calls--;
	if (c->n_calls) {
		uint32_t caller = c->calls[c->n_calls - 1];

		c->low[caller] = MIN(c->low[caller], c->low[v]);
	}
	if (c->low[v] != c->number[v])
		return;
	c->n++;
	do {
		assert(c->n_stack > 0);
		other = c->stack[--c->n_stack];
		c->component[other] = c->n;
		size++;
	} while (other != v);
	c->largest = MAX(c->largest, size);
	c->on_cycles += size > 1 ? size : 0;
}

/*
 * Searches all vertices reachable from `from`, which was not seen. `next` returns the end of edge
 * number *at of a vertex, or of a later one, and sets *at to the number after it; COMPONENTS_END:
 * there is none.
 */
static inline __attribute__((always_inline)) void
components_search(struct components *c, uint32_t from,
		  uint32_t (*next)(const void *arg, uint32_t v, uint16_t *at), const void *arg)
{
	components_enter(c, from);
	while (c->n_calls) {
		uint32_t v = c->calls[c->n_calls - 1], to = next(arg, v, &c->at[v]);

		if (to == COMPONENTS_END)
			components_leave(c, v);
		else if (!c->number[to])
			components_enter(c, to);
		else if (!c->component[to])
			c->low[v] = MIN(c->low[v], c->number[to]);
	}
}
