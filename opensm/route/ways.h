// SPDX-License-Identifier: BSD-2-Clause
/* All shortest ways to one switch: who chooses among what, nearest first. */
#pragma once

#include <stdint.h>

#include "route/graph.h"

struct way {
	uint32_t channel; /* index of the port in topo->ports */
	uint32_t next;
	uint8_t port;
};

struct ways {
	uint32_t to;
	uint32_t *order; /* switches that reach it, nearest first, without itself */
	uint32_t n;
	uint32_t *first; /* n + 1: ways of order[i] are ways[first[i]] .. ways[first[i + 1] - 1] */
	struct way *ways;
	uint64_t *sorting;
};

void ways_init(struct ways *w, const struct graph *g);
void ways_done(struct ways *w);
void ways_find(struct ways *w, const struct graph *g, const struct distances *d, uint32_t to);
/* All ports of a group of switch `s` as ways from number `n` on. Returns the number after them. */
uint32_t ways_append(struct ways *w, uint32_t n, const struct graph *g, uint32_t s, const struct graph_group *group);
