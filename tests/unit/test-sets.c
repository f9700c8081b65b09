// SPDX-License-Identifier: BSD-2-Clause
/*
 * The smallest member stands for its set, in whatever order sets are joined; components are what
 * lies on cycles together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "util/mem.h"
#include "util/random.h"
#include "util/sets.h"

#define N_MAX 255

/* What the array says against one colour per member, painted over with every join. */
static void assert_sets(uint32_t n, uint64_t seed)
{
	uint32_t set[N_MAX], colour[N_MAX];

	for (uint32_t i = 0; i < n; i++)
		set[i] = colour[i] = i;
	for (uint32_t joins = 0; joins < 2 * n; joins++) {
		uint32_t a = (uint32_t)(random_next(&seed) % n),
			 b = (uint32_t)(random_next(&seed) % n);
		uint32_t low = MIN(colour[a], colour[b]), high = MAX(colour[a], colour[b]);

		assert_int_equal(sets_join(set, a, b), low != high);
		for (uint32_t i = 0; i < n; i++)
			if (colour[i] == high)
				colour[i] = low;
		for (uint32_t i = 0; i < n; i += 1 + n / 8)
			assert_int_equal(sets_root(set, i), colour[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(sets_root(set, i), colour[i]);
}

static void the_smallest_stands_for_all(void **state)
{
	for (uint32_t n = 1; n <= N_MAX; n++)
		assert_sets(n, n);
}

/* A random graph; vertices are of one component if each reaches the other. */
#define VERTICES 40u

struct graph {
	bool edge[VERTICES][VERTICES], reaches[VERTICES][VERTICES];
};

static void draw_graph(struct graph *g, uint64_t seed)
{
	for (unsigned a = 0; a < VERTICES; a++)
		for (unsigned b = 0; b < VERTICES; b++) {
			g->edge[a][b] = a != b && random_next(&seed) % VERTICES == 0;
			g->reaches[a][b] = g->edge[a][b] || a == b;
		}
	for (unsigned m = 0; m < VERTICES; m++)
		for (unsigned a = 0; a < VERTICES; a++)
			for (unsigned b = 0; b < VERTICES; b++)
				g->reaches[a][b] |= g->reaches[a][m] && g->reaches[m][b];
}

static uint32_t next_vertex(const void *arg, uint32_t v, uint16_t *at)
{
	const struct graph *g = arg;

	while (*at < VERTICES)
		if (g->edge[v][(*at)++])
			return *at - 1u;
	return COMPONENTS_END;
}

static void assert_components(const struct graph *g, const struct components *c)
{
	uint32_t on_cycles = 0, largest = 0;

	for (unsigned a = 0; a < VERTICES; a++) {
		uint32_t size = 0;

		for (unsigned b = 0; b < VERTICES; b++) {
			bool together = g->reaches[a][b] && g->reaches[b][a];

			assert_int_equal(c->component[a] == c->component[b], together);
			size += together;
		}
		on_cycles += size > 1;
		largest = MAX(largest, size);
	}
	assert_int_equal(c->on_cycles, on_cycles);
	assert_int_equal(c->largest, largest);
}

static void components_reach_each_other(void **state)
{
	_cleanup_(arena_done) struct arena memory = { NULL };
	struct components c = { .n = 0 };
	struct graph g;

	components_open(&c, &memory, VERTICES);
	for (uint64_t seed = 1; seed < 50; seed++) {
		draw_graph(&g, seed);
		for (uint32_t v = 0; v < VERTICES; v++)
			if (!c.number[v])
				components_search(&c, v, next_vertex, &g);
		assert_components(&g, &c);
		components_forget(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_stands_for_all),
		cmocka_unit_test(components_reach_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
