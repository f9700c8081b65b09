// SPDX-License-Identifier: BSD-2-Clause
/* Grids found from cables alone: shapes by name, damage, and graphs that are no grids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route/shape/grid.h"
#include "tests/lib/topocut.h"
#include "util/mem.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static struct grid *find(const struct topo *t, char why[128])
{
	struct graph *g = graph_new(t, NULL);
	struct grid *grid;

	why[0] = '\0';
	grid = grid_find(g, why, 128);
	assert_true(!!grid != !!why[0]);
	graph_free(g);
	return grid;
}

/*
 * Looks at nothing that grid_find uses: every cable is one step, every switch has a place of its
 * own.
 */
static void assert_grid(const struct topo *t, const struct grid *grid)
{
	uint32_t n_places = 1, seen = 0;

	assert_int_equal(grid->n, t->n_switches);
	for (unsigned d = 0; d < grid->n_dims; d++) {
		assert_in_range(grid->size[d], 2, 1000);
		assert_false(grid->wraps[d] && grid->size[d] == 2);
		n_places *= grid->size[d];
	}
	assert_int_equal(n_places, grid->n + grid->n_missing);
	for (uint32_t p = 0; p < n_places; p++) {
		uint32_t s = grid->switch_at[p], rest = p;

		if (s == TOPO_NONE)
			continue;
		seen++;
		for (unsigned d = 0; d < grid->n_dims; rest /= grid->size[d++])
			assert_int_equal(grid->at[s * grid->n_dims + d], rest % grid->size[d]);
	}
	assert_int_equal(seen, grid->n);
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t to = topo_port(t, s, p)->sw;
			unsigned n = 0;

			for (unsigned d = 0; to != TOPO_NONE && d < grid->n_dims; d++) {
				unsigned a = grid->at[s * grid->n_dims + d];
				unsigned b = grid->at[to * grid->n_dims + d];

				if (a == b)
					continue;
				n++;
				assert_true(a + 1 == b || b + 1 == a ||
					    (grid->wraps[d] && (a ? a : b) == grid->size[d] - 1u));
			}
			assert_true(to == TOPO_NONE || n == 1);
		}
}

static void assert_shape(const char *shape, const char *name, unsigned parallel, uint64_t seed)
{
	struct topogen o = { .seed = seed, .random_guids = true, .reversed = seed & 1 };
	struct topo *t = topogen_grid(shape, seed % 3, parallel, &o);
	char why[128], text[GRID_STRLEN];
	struct grid *grid = find(t, why);

	if (!grid)
		fail_msg("%s, seed %u: %s", shape, (unsigned)seed, why);
	assert_grid(t, grid);
	assert_int_equal(grid->n_missing, 0);
	assert_int_equal(grid->n_cut, 0);
	assert_string_equal(grid_str(grid, text), name);
	grid_free(grid);
	topo_unref(t);
}

static void every_shape_is_found(void **state)
{
	static const struct {
		const char *shape, *name;
	} shapes[] = {
		{ "2", "line of 2" },
		{ "3", "line of 3" },
		{ "100", "line of 100" },
		{ "3t", "ring of 3" },
		{ "4t", "ring of 4" },
		{ "5t", "ring of 5" },
		{ "100t", "ring of 100" },
		{ "2x2", "ring of 4" },
		{ "2x2x2", "hypercube of 3 dimensions" },
		{ "2x2x2x2x2x2x2x2x2x2", "hypercube of 10 dimensions" },
		{ "2x2x2x2x2x2x2x2x2x2x2x2", "hypercube of 12 dimensions" },
		{ "4tx4t", "hypercube of 4 dimensions (4x4 torus)" },
		{ "4tx4tx4t", "hypercube of 6 dimensions (4x4x4 torus)" },
		{ "3tx3t", "3x3 torus" },
		{ "3tx3tx3t", "3x3x3 torus" },
		{ "3tx3tx3tx3t", "3x3x3x3 torus" },
		{ "4x4", "4x4 mesh" },
		{ "5x3x2", "5x3x2 mesh" },
		{ "2x9", "2x9 mesh" },
		{ "2x3t", "2x3(ring) grid" },
		{ "2x5t", "2x5(ring) grid" },
		{ "6tx3", "6(ring)x3 grid" },
		{ "3tx4tx5t", "3x4x5 torus" },
		{ "6tx6tx6t", "6x6x6 torus" },
		{ "5tx5t", "5x5 torus" },
		{ "3tx5tx7", "3(ring)x5(ring)x7 grid" },
		{ "16tx16tx16t", "16x16x16 torus" },
		{ "100tx3t", "100x3 torus" },
		{ "3x3x3x3x3", "3x3x3x3x3 mesh" },
		{ "40x40", "40x40 mesh" },
		{ "4tx6tx6t", "4x6x6 torus" },
		{ "10tx10tx10t", "10x10x10 torus" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		for (uint64_t seed = 0; seed < 4; seed++)
			assert_shape(shapes[i].shape, shapes[i].name, 1 + (seed == 2) * 2, seed);
}

/* 1: found, and true; 0: refused. */
static unsigned find_damaged(const char *shape, uint64_t seed, double cables, unsigned n_switches)
{
	struct topogen o = { .seed = seed, .random_guids = true, .damage = cables };
	struct topo *whole = topogen_grid(shape, 1, 1, &o), *t;
	struct topocut *cut = topocut_new(whole);
	uint64_t random = seed * 77 + 1;
	char why[128];
	struct grid *grid;

	for (unsigned i = 0; i < n_switches; i++)
		cut->switches[next_random(&random) % whole->n_switches] = true;
	t = topocut_apply(whole, cut);
	grid = find(t, why);
	if (grid)
		assert_grid(t, grid);
	else if (getenv("GRID_WHY"))
		print_message("%s seed %u %g %u: %s\n", shape, (unsigned)seed, cables, n_switches,
			      why);
	topocut_free(cut);
	topo_unref(whole);
	topo_unref(t);
	return grid ? (grid_free(grid), 1) : 0;
}

static void damaged_grids_are_found_or_refused(void **state)
{
	static const struct {
		const char *shape;
		double cables;
		unsigned switches, least; /* of 40 must be found */
	} rows[] = {
		{ "6tx6tx6t", 0.01, 0, 40 }, { "6tx6tx6t", 0.05, 0, 38 },
		{ "6tx6tx6t", 0, 3, 40 },    { "6tx6tx6t", 0.03, 3, 36 },
		{ "5tx5tx5t", 0.03, 1, 36 }, { "4tx4tx4t", 0.03, 1, 34 },
		{ "8tx8t", 0.03, 0, 36 },    { "8tx8t", 0, 1, 38 },
		{ "3tx3tx3t", 0.03, 0, 36 }, { "2x2x2x2x2x2x2", 0.05, 2, 36 },
		{ "8x8", 0.02, 0, 20 },	     { "5x5x5", 0.03, 1, 30 },
		{ "3tx4tx5t", 0.05, 0, 30 }, { "4x4", 0.1, 1, 0 },
		{ "2x10", 0.05, 0, 0 },	     { "5tx5t", 0.2, 2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned n = 0;

		for (uint64_t seed = 1; seed <= 40; seed++)
			n += find_damaged(rows[i].shape, seed, rows[i].cables, rows[i].switches);
		if (getenv("GRID_WHY"))
			print_message("%s %g %u: %u of 40\n", rows[i].shape, rows[i].cables,
				      rows[i].switches, n);
		if (n < rows[i].least)
			fail_msg("%s: only %u of 40 found", rows[i].shape, n);
	}
}

static void assert_none(struct topo *t, const char *says)
{
	char why[128];
	struct grid *grid = find(t, why);

	assert_null(grid);
	if (!strstr(why, says))
		fail_msg("\"%s\" does not say \"%s\"", why, says);
	topo_unref(t);
}

static void what_is_no_grid_is_refused(void **state)
{
	struct topo_builder *b = topo_builder_new();

	(void)state;
	assert_none(topo_build(b), "no switches");
	assert_none(topogen_grid("1", 3, 1, NULL), "a single switch");
	assert_none(topogen_fat_tree3(4, NULL), "");
	assert_none(topogen_fat_tree3(8, NULL), "more than two neighbours in common");
	assert_none(topogen_fat_tree2(6, 3, 2, 1, NULL), "more than two neighbours in common");
	assert_none(topogen_fat_tree2(6, 1, 2, 1, NULL), "no cycles of four");
	assert_none(topogen_dragonfly(9, 4, 2, NULL), "more than one neighbour in common");
	assert_none(topogen_hyperx(4, 4, 2, NULL), "more than one neighbour in common");
	assert_none(topogen_random(40, 3, 2, &(struct topogen){ .seed = 1 }), "");
	assert_none(topogen_random(40, 5, 2, &(struct topogen){ .seed = 2 }), "");
	/* A line in pieces. */
	assert_none(topogen_grid("6", 1, 1, &(struct topogen){ .without_link = 3 }), "in pieces");
}

static void random_graphs_are_refused_or_true(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 2000; seed++) {
		struct topogen o = { .seed = seed, .damage = seed % 4 * 0.1, .random_guids = true };
		struct topo *t = topogen_random(1 + seed % 14, 1 + seed % 5, 1, &o);
		char why[128];
		struct grid *grid = find(t, why);

		if (grid)
			assert_grid(t, grid);
		grid_free(grid);
		topo_unref(t);
	}
}

static void twos_fold_to_rings_of_four(void **state)
{
	struct topogen o = { .seed = 3, .random_guids = true };
	struct topo *t = topogen_grid("4tx5tx4t", 0, 1, &o);
	char why[128];
	struct grid *grid = find(t, why), *folded;
	unsigned n_fours = 0;

	(void)state;
	assert_non_null(grid);
	assert_int_equal(grid->n_dims, 5);
	folded = grid_fold(grid);
	assert_int_equal(folded->n_dims, 3);
	for (unsigned d = 0; d < 3; d++) {
		n_fours += folded->size[d] == 4;
		assert_true(folded->wraps[d]);
	}
	assert_int_equal(n_fours, 2);
	assert_grid(t, folded);
	grid_free(folded);
	grid_free(grid);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_is_found),
		cmocka_unit_test(damaged_grids_are_found_or_refused),
		cmocka_unit_test(what_is_no_grid_is_refused),
		cmocka_unit_test(random_graphs_are_refused_or_true),
		cmocka_unit_test(twos_fold_to_rings_of_four),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
