// SPDX-License-Identifier: BSD-2-Clause
/* Routing for tests: fabrics by number, tables in one call, and what every table must be. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route/proof/check.h"
#include "route/core/engine.h"
#include "route/select/engines.h"
#include "route/core/graph.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

static inline struct routes *route_job(const struct route_job *job)
{
	char why[128] = "";
	struct routes *r = route_engine_run(route_engine_find("minhop"), job, why, sizeof(why));

	assert_non_null(r);
	return r;
}

static inline struct routes *route(const struct topo *t, const struct routes *previous)
{
	return route_job(&(struct route_job){ .topo = t, .previous = previous, .threads = 2 });
}

static inline void assert_same_tables(const struct routes *a, const struct routes *b)
{
	assert_int_equal(a->top, b->top);
	for (uint32_t sw = 0; sw < a->topo->n_switches; sw++)
		assert_memory_equal(routes_row(a, sw), routes_row(b, sw), a->row_size);
}

/* Random graphs, trees whole and broken, tori, dragonflies, by number. */
static inline struct topo *any_fabric(unsigned number, const struct topogen *o)
{
	switch (number % 6) {
	case 0: return topogen_random(3 + number % 60, 2 + number % 5, 4, o);
	case 1: return topogen_fat_tree3(4 + number % 3 * 2, o);
	case 2: return topogen_fat_tree2(2 + number % 7, 1 + number % 4, 3, 1 + number % 3, o);
	case 3: return topogen_torus((unsigned[]){ 3, 2 + number % 4, 1 + number % 3 }, 2, o);
	case 4: return topogen_dragonfly(5 + number % 5, 2 + number % 3, 2, o);
	}
	return topogen_hyperx(3 + number % 3, 3, 2, o);
}

static inline struct topogen any_options(unsigned number)
{
	return (struct topogen){
		.seed = number, .damage = number % 5 * 0.06, .random_lids = number & 1,
		.random_guids = number & 2, .lmc = number % 7 == 3 ? 2 : 0,
	};
}

/* Every entry leads to a neighbour that is nearer, and is there exactly when there is a path. */
static inline void assert_minimal(const struct routes *r)
{
	const struct topo *t = r->topo;
	struct graph *g = graph_new(t, NULL);
	struct distances *d = distances_new(g, 1, NULL);

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (uint32_t h = 0; h < t->n_hosts; h++)
			for (unsigned k = 0; k < 1u << t->hosts[h].lmc; k++) {
				uint8_t port = routes_port(r, s, (lid_t)(t->hosts[h].lid + k));
				uint32_t at = t->hosts[h].sw;

				if (distances_from(d, s)[at] == DISTANCE_NONE) {
					assert_int_equal(port, LFT_NO_PORT);
				} else if (s == at) {
					assert_int_equal(port, t->hosts[h].sw_port);
				} else {
					assert_in_range(port, 1, t->switches[s].n_ports);
					uint32_t peer = topo_port(t, s, port)->sw;

					assert_true(peer != TOPO_NONE);
					assert_int_equal(distances_from(d, peer)[at] + 1,
							 distances_from(d, s)[at]);
				}
			}
	distances_free(d);
	graph_free(g);
}
