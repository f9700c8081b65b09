// SPDX-License-Identifier: BSD-2-Clause
/* What fabrics are taken for, in words: whole, damaged, shuffled, and what they are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route/shape/recognise.h"
#include "tests/lib/topocut.h"
#include "util/mem.h"

/* The fabric of `words` ("torus 4 5 6 1"), damaged and shuffled, is taken for `expected`. */
static void is_taken_for(const char *words, const struct topogen *o, const char *expected)
{
	char copy[80], *list[10], *rest, ret[SHAPE_STRLEN];
	struct topo *t;
	struct graph *g;
	struct shape *s;
	int n = 0;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		list[n++] = word;
	t = topogen_words(n, list, o);
	assert_non_null(t);
	g = graph_new(t, NULL);
	s = shape_find(g);
	assert_string_equal(shape_str(s, ret), expected);
	shape_free(s);
	graph_free(g);
	topo_unref(t);
}

static void whole_fabrics(void **state)
{
	static const char *const rows[][2] = {
		{ "fat-tree3 8", "tree of 3 levels (32+32+16 switches)" },
		{ "fat-tree2 6 3 4 2", "tree of 2 levels (6+3 switches)" },
		{ "tree3 4 3 5 2 2 1 2", "tree of 3 levels (15+10+4 switches)" },
		{ "dragonfly 9 4 2", "dragonfly of 9 groups of 4 switches" },
		{ "dragonfly 33 8 1", "dragonfly of 33 groups of 8 switches" },
		{ "dragonfly+ 5 4 3 2 2", "dragonfly+ of 5 groups of 7 switches" },
		{ "hyperx 12 8 1", "12x8 HyperX" },
		{ "hyperx3 3 4 5 1", "3x4x5 HyperX" },
		{ "hypercube 6 1", "hypercube of 6 dimensions (4x4x4 torus)" },
		{ "torus 4 4 1 2", "hypercube of 4 dimensions (4x4 torus)" },
		{ "torus 4 1 1 2", "ring of 4" },
		{ "hyperx 7 1 2", "full mesh of 7 switches" },
		{ "hyperx 2 1 2", "two switches" },
		{ "hyperx 1 1 5", "single switch" },
		{ "random 40 5 4", "irregular fabric of 40 switches" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		is_taken_for(rows[i][0], NULL, rows[i][1]);
	(void)state;
}

/* GUIDs at random: the sizes of a HyperX come in the order in which its rows are met. */
static void order_of_guids_is_nothing(void **state)
{
	struct topogen o = {
		.seed = 5, .random_guids = true, .random_lids = true, .reversed = true
	};

	is_taken_for("fat-tree3 8", &o, "tree of 3 levels (32+32+16 switches)");
	is_taken_for("dragonfly 17 6 2", &o, "dragonfly of 17 groups of 6 switches");
	is_taken_for("dragonfly+ 5 4 3 2 2", &o, "dragonfly+ of 5 groups of 7 switches");
	is_taken_for("hyperx 6 6 1", &o, "6x6 HyperX");
	is_taken_for("hypercube 5 1", &o, "hypercube of 5 dimensions");
	(void)state;
}

static void one_cable_short(void **state)
{
	struct topogen o = { .without_link = 1 };

	is_taken_for("fat-tree3 8", &o, "tree of 3 levels (32+32+16 switches), 1 cable missing");
	is_taken_for("dragonfly 9 4 2", &o, "dragonfly of 9 groups of 4 switches, 1 cable missing");
	is_taken_for("dragonfly+ 5 4 3 2 1", &o,
		     "dragonfly+ of 5 groups of 7 switches, 1 cable missing");
	is_taken_for("hyperx 6 6 1", &o, "6x6 HyperX, 1 cable missing");
	is_taken_for("hypercube 5 1", &o, "hypercube of 5 dimensions, 1 cable missing");
	(void)state;
}

/* A spine with a host is still a spine; a leaf most of whose hosts are away is still a leaf. */
static void odd_hosts_change_nothing(void **state)
{
	struct topogen service = { .service_on = 33 }, away = { .seed = 4, .absent = 0.3 };

	is_taken_for("fat-tree3 8", &service, "tree of 3 levels (32+32+16 switches)");
	is_taken_for("fat-tree2 8 4 16 1", &away, "tree of 2 levels (8+4 switches)");
	is_taken_for("dragonfly 9 4 4", &away, "dragonfly of 9 groups of 4 switches");
	(void)state;
}

/* Few hosts on a switch that hangs on one other, at any level: the tree is what it is without. */
static void stubs_are_in_no_level(void **state)
{
	static const char whole[] = "tree of 3 levels (32+32+16 switches), 1 switch in a branch of "
				    "its own";

	is_taken_for("fat-tree3 8", &(struct topogen){ .stub_on = 1 }, whole);
	is_taken_for("fat-tree3 8", &(struct topogen){ .stub_on = 33 }, whole);
	is_taken_for("fat-tree3 8", &(struct topogen){ .stub_on = 80 }, whole);
	is_taken_for("fat-tree2 8 4 4 1", &(struct topogen){ .stub_on = 12 },
		     "tree of 2 levels (8+4 switches), 1 switch in a branch of its own");
	(void)state;
}

/* The smallest trees have two hosts on a leaf: one on a switch above is less than a leaf's. */
static void the_smallest_tree_is_one(void **state)
{
	static const char whole[] = "tree of 3 levels (8+8+4 switches)";

	is_taken_for("fat-tree3 4", &(struct topogen){ .service_on = 9 }, whole);
	is_taken_for("fat-tree3 4", &(struct topogen){ .service_on = 9, .stub_on = 9 },
		     "tree of 3 levels (8+8+4 switches), 1 switch in a branch of its own");
	is_taken_for("fat-tree2 8 4 2 1", &(struct topogen){ .service_on = 12 },
		     "tree of 2 levels (8+4 switches)");
	(void)state;
}

static enum shape_kind kind_of(const struct topo *t)
{
	struct graph *g = graph_new(t, NULL);
	struct shape *s = shape_find(g);
	enum shape_kind kind = s->kind;

	shape_free(s);
	graph_free(g);
	return kind;
}

/* A few cables in a hundred do not change what a fabric is, whichever they are. */
/* `keep` end ports stay on each of the first `n` leaves. */
static void leaves_with_few_are_leaves(const char *words, uint32_t n, unsigned keep,
				       const char *expected)
{
	char copy[80], *list[10], *rest, ret[SHAPE_STRLEN];
	struct topo *t, *left;
	struct topocut *cut;
	struct graph *g;
	struct shape *s;
	_cleanup_free_ uint32_t *on = NULL;
	int k = 0;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		list[k++] = word;
	t = topogen_words(k, list, NULL);
	cut = topocut_new(t);
	on = xcalloc(t->n_switches, sizeof(*on));
	for (uint32_t h = 0; h < t->n_hosts; h++)
		cut->hosts[h] = t->hosts[h].sw < n && on[t->hosts[h].sw]++ >= keep;
	left = topocut_apply(t, cut);
	g = graph_new(left, NULL);
	s = shape_find(g);
	assert_string_equal(shape_str(s, ret), expected);
	shape_free(s);
	graph_free(g);
	topocut_free(cut);
	topo_unref(left);
	topo_unref(t);
}

/* Empty and half-filled leaves are no third level; tops of three levels stay what they are. */
static void leaves_that_wait_for_hosts(void **state)
{
	for (unsigned keep = 0; keep < 3; keep++) {
		leaves_with_few_are_leaves("fat-tree2 8 4 8 1", 3, keep,
					   "tree of 2 levels (8+4 switches)");
		leaves_with_few_are_leaves("fat-tree2 8 1 8 2", 3, keep,
					   "tree of 2 levels (8+1 switches)");
		leaves_with_few_are_leaves("fat-tree3 8", 3, keep,
					   "tree of 3 levels (32+32+16 switches)");
	}
}

static void damage_hides_nothing(void **state)
{
	for (unsigned seed = 1; seed <= 10; seed++) {
		struct topogen o = { .seed = seed, .damage = 0.02, .random_guids = true };
		struct topo *fabrics[] = {
			topogen_fat_tree3(8, &o), topogen_dragonfly(17, 8, 1, &o),
			topogen_hyperx(8, 7, 1, &o),
		};
		static const enum shape_kind kinds[] = { SHAPE_TREE, SHAPE_DRAGONFLY,
							 SHAPE_HYPERX };

		for (size_t i = 0; i < ARRAY_SIZE(fabrics); i++) {
			if (kind_of(fabrics[i]) != kinds[i])
				fail_msg("fabric %zu, seed %u", i, seed);
			topo_unref(fabrics[i]);
		}
	}
	(void)state;
}

/* Every cable of a HyperX changes one coordinate, and places are all different. */
static void places_agree_with_cables(void **state)
{
	struct topogen o = { .seed = 9, .damage = 0.03, .random_guids = true };
	struct topo *t = topogen_hyperx_n((unsigned[]){ 4, 3, 5 }, 3, 1, &o);
	struct graph *g = graph_new(t, NULL);
	struct shape *s = shape_find(g);

	assert_int_equal(s->kind, SHAPE_HYPERX);
	assert_int_equal(s->grid->n + s->grid->n_missing, 60);
	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			unsigned n = 0;

			for (unsigned d = 0; d < s->grid->n_dims; d++)
				n += grid_at(s->grid, u)[d] !=
				     grid_at(s->grid, g->groups[i].to)[d];
			assert_int_equal(n, 1);
		}
	for (uint32_t place = 0; place < 60; place++)
		assert_in_range(s->grid->switch_at[place], 0, g->n - 1);
	shape_free(s);
	graph_free(g);
	topo_unref(t);
	(void)state;
}

static void nothing_at_all(void **state)
{
	struct topo *t = topo_build(topo_builder_new());
	struct graph *g = graph_new(t, NULL);
	struct shape *s = shape_find(g);
	char text[SHAPE_STRLEN];

	assert_string_equal(shape_str(s, text), "no switches");
	shape_free(s);
	graph_free(g);
	topo_unref(t);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_fabrics),
		cmocka_unit_test(order_of_guids_is_nothing),
		cmocka_unit_test(one_cable_short),
		cmocka_unit_test(odd_hosts_change_nothing),
		cmocka_unit_test(stubs_are_in_no_level),
		cmocka_unit_test(the_smallest_tree_is_one),
		cmocka_unit_test(leaves_that_wait_for_hosts),
		cmocka_unit_test(damage_hides_nothing),
		cmocka_unit_test(places_agree_with_cables),
		cmocka_unit_test(nothing_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
