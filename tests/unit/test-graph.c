// SPDX-License-Identifier: BSD-2-Clause
/* Groups, distances and homes, against slow references and by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "route/core/graph.h"
#include "route/core/path_dag.h"
#include "route/tree/dmodk.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

#define FAR 1000000u

static void parallel_cables_are_one_group(void **state)
{
	struct topo *t = topogen_fat_tree2(3, 2, 1, 4, NULL);
	struct graph *g = graph_new(t, NULL);

	assert_int_equal(g->first[1] - g->first[0], 2);
	assert_int_equal(g->groups[0].to, 3);
	assert_int_equal(g->groups[0].n_ports, 4);
	assert_int_equal(g->groups[0].weight, 1);
	assert_int_equal(g->groups[1].to, 4);
	for (unsigned p = 0; p < 4; p++)
		assert_int_equal(g->ports[g->groups[0].first_port + p], 2 + p);
	assert_false(g->weighted);
	graph_free(g);
	topo_unref(t);
}

static void only_the_cheapest_ports_of_a_group_count(void **state)
{
	struct topo *t = topogen_fat_tree2(2, 1, 1, 3, NULL);
	const struct route_guid_port weights[] = {
		{ .guid = t->switches[0].guid, .port = 2, .weight = 9 },
		{ .guid = t->switches[0].guid, .port = 3, .weight = 4 },
		{ .guid = t->switches[0].guid, .port = 4, .weight = 4 },
		{ .guid = 12345, .port = 1, .weight = 7 },
	};
	struct route_options options = { .weights = weights, .n_weights = ARRAY_SIZE(weights) };
	struct graph *g = graph_new(t, &options);

	assert_true(g->weighted);
	assert_int_equal(g->groups[0].n_ports, 2);
	assert_int_equal(g->groups[0].weight, 4);
	assert_int_equal(g->ports[g->groups[0].first_port], 3);
	graph_free(g);
	topo_unref(t);
}

/* Floyd and Warshall, cable by cable. */
static uint32_t *slow_distances(const struct topo *t, const struct route_options *o)
{
	uint32_t n = t->n_switches, *d = xcalloc((size_t)n * n, sizeof(*d));

	for (uint32_t i = 0; i < n * n; i++)
		d[i] = i % (n + 1) ? FAR : 0;
	for (uint32_t s = 0; s < n; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t v = topo_port(t, s, p)->sw, weight = 1;

			for (uint32_t i = 0; o && i < o->n_weights; i++)
				if (o->weights[i].guid == t->switches[s].guid &&
				    o->weights[i].port == p)
					weight = o->weights[i].weight;
			if (v != TOPO_NONE && v != s)
				d[s * n + v] = MIN(d[s * n + v], weight);
		}
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				d[i * n + j] = MIN(d[i * n + j], d[i * n + k] + d[k * n + j]);
	return d;
}

static void assert_distances(const struct topo *t, const struct route_options *o, unsigned threads)
{
	struct graph *g = graph_new(t, o);
	struct distances *d = distances_new(g, threads, NULL);
	_cleanup_free_ uint32_t *slow = slow_distances(t, o);

	for (uint32_t a = 0; a < t->n_switches; a++)
		for (uint32_t b = 0; b < t->n_switches; b++) {
			uint32_t want = slow[a * t->n_switches + b];

			if (want == FAR)
				want = DISTANCE_NONE;
			assert_int_equal(distances_from(d, a)[b], want);
		}
	distances_free(d);
	graph_free(g);
}

static void distances_agree_with_the_slow_way(void **state)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct topogen o = { .seed = seed, .damage = seed % 3 * 0.2 };
		struct topo *t = topogen_random(5 + (unsigned)seed * 2, 3, 1, &o);

		print_message("# seed %llu\n", (unsigned long long)seed);
		assert_distances(t, NULL, 1 + (unsigned)seed % 3);
		topo_unref(t);
	}
}

static void weighted_distances_agree_with_the_slow_way(void **state)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct topogen gen = { .seed = seed, .damage = seed % 3 * 0.1 };
		struct topo *t = topogen_random(30, 4, 1, &gen);
		struct route_guid_port weights[60];
		struct route_options o = { .weights = weights, .n_weights = 60 };

		print_message("# seed %llu\n", (unsigned long long)seed);
		for (unsigned i = 0; i < 60; i++)
			weights[i] = (struct route_guid_port){
				.guid = t->switches[i / 2].guid,
				.port = (uint8_t)(1 + i % 2 + seed % 3),
				.weight = (uint8_t)(1 + (i * 37 + seed * 11) % 255),
			};
		assert_distances(t, &o, 2);
		topo_unref(t);
	}
}

static void long_rings_cross_the_block_of_512(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 1100, 1, 1 }, 0, NULL);
	struct graph *g = graph_new(t, NULL);
	struct distances *d = distances_new(g, 2, NULL);

	for (uint32_t a = 0; a < 1100; a += 7)
		for (uint32_t b = 0; b < 1100; b++) {
			uint32_t around = (b + 1100 - a) % 1100;

			assert_int_equal(distances_from(d, a)[b], MIN(around, 1100 - around));
		}
	distances_free(d);
	graph_free(g);
	topo_unref(t);
}

static void distances_can_be_cancelled(void **state)
{
	struct topo *t = topogen_fat_tree2(4, 2, 1, 1, NULL);
	struct graph *g = graph_new(t, NULL);
	atomic_bool cancelled = true;

	assert_null(distances_new(g, 1, &cancelled));
	cancelled = false;
	struct distances *d = distances_new(g, 1, &cancelled);

	assert_non_null(d);
	distances_free(d);
	graph_free(g);
	topo_unref(t);
}

/* The tree with k = 8: 4 x 4 cores, each the home of one host per leaf pod position. */
/* Next hops of a switch: neighbours from which the rest of the way is as much shorter. */
static void assert_next_hops(const struct path_dag *w, const struct distances *d, uint32_t i)
{
	const struct graph *g = w->graph;
	uint32_t s = w->order[i], k = w->first[i];

	GRAPH_EACH(g, s, edge) {
		bool is_path = distances_from(d, edge->to)[w->to] != DISTANCE_NONE &&
			       distances_from(d, edge->to)[w->to] + edge->weight ==
				       distances_from(d, s)[w->to];

		for (unsigned p = 0; is_path && p < edge->n_ports; p++, k++) {
			assert_int_equal(w->edges[k].next, edge->to);
			assert_int_equal(w->edges[k].port, g->ports[edge->first_port + p]);
			assert_int_equal(w->edges[k].channel,
					 g->topo->switches[s].first_port + w->edges[k].port);
		}
	}
	assert_int_equal(k, w->first[i + 1]);
}

/* The paths to all switches, whole and listed switch by switch. */
static void assert_paths(const struct topo *t, const struct route_options *o)
{
	struct graph *g = graph_new(t, o);
	struct distances *d = distances_new(g, 1, NULL);
	struct path_dag whole, some;

	path_dag_init(&whole, g);
	path_dag_init(&some, g);
	for (uint32_t to = 0; to < g->n; to++) {
		path_dag_find(&whole, d, to);
		path_dag_order(&some, d, to);
		assert_int_equal(some.n, whole.n);
		assert_memory_equal(some.order, whole.order, whole.n * sizeof(*whole.order));
		for (uint32_t i = 0; i < whole.n; i++) {
			path_dag_list(&some, d, i);
			assert_int_equal(some.n, whole.n);
			assert_next_hops(&whole, d, i);
			assert_next_hops(&some, d, i);
		}
	}
	path_dag_done(&whole);
	path_dag_done(&some);
	distances_free(d);
	graph_free(g);
}

static void paths_are_the_same_listed_one_by_one(void **state)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct topogen gen = { .seed = seed, .damage = 0.3 };
		struct topo *t = topogen_random(20, 4, 2, &gen);
		struct route_guid_port weights[] = {
			{ .guid = t->switches[2].guid, .port = 3, .weight = 4 },
			{ .guid = t->switches[7].guid, .port = 4, .weight = 2 },
		};

		assert_paths(t, NULL);
		assert_paths(t, &(struct route_options){ .weights = weights, .n_weights = 2 });
		topo_unref(t);
	}
}

static void homes_of_a_whole_tree_are_used_equally(void **state)
{
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct topogen o = { .seed = seed, .random_guids = seed, .random_lids = seed };
		struct topo *t = topogen_fat_tree3(8, &o);
		struct graph *g = graph_new(t, NULL);
		struct distances *d = distances_new(g, 1, NULL);
		struct dmodk *s = dmodk_new(g, d, NULL);
		uint32_t used[80] = { 0 };

		print_message("# seed %llu\n", (unsigned long long)seed);
		for (uint32_t i = 0; i < s->n; i++)
			if (s->host[i] != TOPO_NONE) {
				assert_int_equal(s->depth[i], 2);
				used[s->level[0].home[i]]++;
				used[s->level[1].home[i]]++;
			}
		for (uint32_t u = 0; u < 80; u++)
			assert_int_equal(used[u], s->rank[u] * 4); /* 4 leaves, then 8 pods below */
		dmodk_free(s);
		distances_free(d);
		graph_free(g);
		topo_unref(t);
	}
}

static void assert_all_have_homes(const struct topogen *o, unsigned core_hosts)
{
	const struct topogen_tree tree = {
		.hosts = 8,
		.leaves = 4,
		.pods = 4,
		.aggs = 4,
		.cores = 4,
		.leaf_cables = 1,
		.core_cables = 1,
	};
	struct topo *t = topogen_tree3(&tree, o);
	struct graph *g = graph_new(t, NULL);
	struct distances *d = distances_new(g, 1, NULL);
	struct dmodk *s = dmodk_new(g, d, NULL);
	unsigned homeless = 0;

	for (uint32_t i = 0; i < s->n; i++)
		homeless += s->host[i] != TOPO_NONE && s->depth[i] != 2;
	assert_int_equal(homeless, core_hosts);
	for (uint32_t u = 0; u < 48; u++)
		if (u >= 16 || s->first[u + 1] - s->first[u] > 1) /* an empty leaf is nothing */
			assert_int_equal(s->rank[u], u / 16);
	dmodk_free(s);
	distances_free(d);
	graph_free(g);
	topo_unref(t);
}

static void half_empty_leaves_are_leaves(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		print_message("# seed %llu\n", (unsigned long long)seed);
		assert_all_have_homes(&(struct topogen){ .seed = seed, .absent = 0.6 }, 0);
	}
}

static void a_service_node_on_a_root_changes_no_rank(void **state)
{
	assert_all_have_homes(&(struct topogen){ .service_on = 48 }, 1);
}

static void a_torus_has_no_levels(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 3, 3, 3 }, 2, NULL);
	struct graph *g = graph_new(t, NULL);
	struct distances *d = distances_new(g, 1, NULL);
	struct dmodk *s = dmodk_new(g, d, NULL);

	assert_int_equal(s->n, 27 * 3);
	for (uint32_t i = 0; i < s->n; i++)
		assert_int_equal(s->depth[i], 0);
	dmodk_free(s);
	distances_free(d);
	graph_free(g);
	topo_unref(t);
}

static void a_slim_fly_is_regular_and_of_diameter_two(void **state)
{
	static const unsigned sizes[] = { 5, 13, 17 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned q = sizes[i], degree = (3 * q - 1) / 2;
		struct topo *t = topogen_slim_fly(q, 1, NULL);
		struct graph *g = graph_new(t, NULL);
		struct distances *d = distances_new(g, 1, NULL);

		assert_int_equal(g->n, 2 * q * q);
		for (uint32_t s = 0; s < g->n; s++) {
			assert_int_equal(g->first[s + 1] - g->first[s], degree);
			assert_int_equal(t->switches[s].n_ports, degree + 1);
			for (uint32_t to = 0; to < g->n; to++)
				assert_in_range(distances_from(d, s)[to], s != to, 2);
		}
		distances_free(d);
		graph_free(g);
		topo_unref(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parallel_cables_are_one_group),
		cmocka_unit_test(only_the_cheapest_ports_of_a_group_count),
		cmocka_unit_test(distances_agree_with_the_slow_way),
		cmocka_unit_test(weighted_distances_agree_with_the_slow_way),
		cmocka_unit_test(long_rings_cross_the_block_of_512),
		cmocka_unit_test(distances_can_be_cancelled),
		cmocka_unit_test(paths_are_the_same_listed_one_by_one),
		cmocka_unit_test(homes_of_a_whole_tree_are_used_equally),
		cmocka_unit_test(half_empty_leaves_are_leaves),
		cmocka_unit_test(a_service_node_on_a_root_changes_no_rank),
		cmocka_unit_test(a_torus_has_no_levels),
		cmocka_unit_test(a_slim_fly_is_regular_and_of_diameter_two),
	};

	return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
