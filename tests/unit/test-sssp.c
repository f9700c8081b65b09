// SPDX-License-Identifier: BSD-2-Clause
/* What sssp promises: shortest paths, little on the most loaded channel, stability, its options. */
#include "tests/lib/rounds.h"
#include "tests/lib/tables.h"
#include "tests/lib/topocut.h"
#include "tests/unit/lanes-cases.h"

static struct routes *sssp(const struct topo *t, const struct route_options *o,
			   const struct routes *previous)
{
	struct route_job job = { .topo = t, .previous = previous, .threads = 2 };
	char why[256] = "";
	struct routes *r;

	if (o)
		job.options = *o;
	r = lanes_run("sssp", &job, why);
	assert_non_null(r);
	return r;
}

static uint32_t most_load(const struct routes *r)
{
	struct route_verdict v;

	routes_check(r, 1, &v);
	assert_int_equal(v.lost, 0);
	return v.max_load;
}

static void any_fabric_is_routed_minimally(void **state)
{
	for (unsigned number = 0; number < test_rounds(30); number++) {
		struct topogen o = any_options(number);
		struct topo *t = any_fabric(number, &o);
		struct routes *r = sssp(t, NULL, NULL), *plain = route(t, NULL);

		print_message("# seed %u: %u, %u\n", number, most_load(r), most_load(plain));
		assert_minimal(r);
		assert_true(most_load(r) <= most_load(plain));
		routes_unref(r);
		routes_unref(plain);
		topo_unref(t);
	}
}

static void strange_ones_too(void **state)
{
	strange_fabrics_are_routed("sssp");
}

static void same_bytes(void **state)
{
	threads_change_no_byte("sssp", 12);
}

static void hears_that_it_is_cancelled(void **state)
{
	cancelling_is_heard("sssp");
}

static void a_second_computation_changes_nothing(void **state)
{
	for (unsigned number = 0; number < test_rounds(18); number++) {
		struct topogen o = any_options(number);
		struct topo *t = any_fabric(number, &o);
		struct routes *first = sssp(t, NULL, NULL), *second = sssp(t, NULL, first);

		print_message("# seed %u\n", number);
		assert_same_tables(first, second);
		routes_unref(first);
		routes_unref(second);
		topo_unref(t);
	}
}

/*
 * The peer's most loaded channel carries 1,872 of such a tree; a leaf that lost one cable of eight
 * needs 1,161.
 */
static void a_broken_tree_is_balanced_around_the_breaks(void **state)
{
	struct topogen o = { .damage = 0.01, .seed = 1 };
	struct topo *t = topogen_fat_tree3(16, &o);
	struct routes *r = sssp(t, NULL, NULL);

	assert_in_range(most_load(r), 1161, 1300);
	routes_unref(r);
	topo_unref(t);
}

/* 768 while middle switches that lost cables counted as having to carry what they carry. */
static void load_goes_around_a_crowded_middle_switch(void **state)
{
	struct topogen o = { .damage = 0.1, .seed = 1 };
	struct topo *t = topogen_fat_tree3(12, &o);
	struct routes *r = sssp(t, NULL, NULL);

	assert_in_range(most_load(r), 600, 720);
	routes_unref(r);
	topo_unref(t);
}

/* Entries move to where shifts meet them least: the mean bandwidth of shifts is as before. */
static void balance_costs_shifts_nothing(void **state)
{
	struct topogen o = { .damage = 0.2, .seed = 1 };
	struct topo *t = topogen_fat_tree2(36, 18, 18, 1, &o);
	struct routes *r = sssp(t, NULL, NULL), *plain = route(t, NULL);

	assert_true(most_load(r) * 1.2 < most_load(plain));
	assert_true(tables_shifts(r, 100) > tables_shifts(plain, 100) * 0.99);
	routes_unref(r);
	routes_unref(plain);
	topo_unref(t);
}

/* The first spine comes behind the leaves; its host must not make it one of them. */
static void a_host_on_a_spine_costs_no_balance(void **state)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct topogen o = { .damage = 0.12, .seed = seed };
		struct topo *t = topogen_fat_tree2(12, 3, 14, 3, &o), *more;
		struct routes *r = sssp(t, NULL, NULL), *served;

		o.service_on = 14;
		more = topogen_fat_tree2(12, 3, 14, 3, &o);
		served = sssp(more, NULL, NULL);
		print_message("# seed %u: %u, with it %u\n", (unsigned)seed, most_load(r),
			      most_load(served));
		assert_true(most_load(served) < most_load(r) * 1.1);
		routes_unref(r);
		routes_unref(served);
		topo_unref(t);
		topo_unref(more);
	}
	(void)state;
}

/* Cuts all cables of a leaf but one. */
static struct topo *with_a_poor_leaf(const struct topo *t, uint32_t leaf)
{
	struct topocut *cut = topocut_new(t);
	unsigned n = 0;
	struct topo *ret;

	for (unsigned p = 1; p <= t->switches[leaf].n_ports; p++)
		if (topo_port(t, leaf, p)->sw != TOPO_NONE)
			cut->ports[t->switches[leaf].first_port + p] = n++ > 0;
	ret = topocut_apply(t, cut);
	topocut_free(cut);
	return ret;
}

/* On channels that lead neither from the switch nor to it. */
static uint32_t most_load_beside(const struct routes *r, uint32_t beside)
{
	const struct topo *t = r->topo;
	_cleanup_free_ uint32_t *load = xcalloc(topo_n_entries(t), sizeof(*load));
	uint32_t most = 0;

	for (uint32_t a = 0; a < t->n_hosts; a++)
		for (uint32_t b = 0; b < t->n_hosts; b++)
			for (uint32_t s = t->hosts[a].sw; s != t->hosts[b].sw;) {
				uint32_t channel = routes_channel(r, s, t->hosts[b].lid);

				load[channel] += s != beside && t->ports[channel].sw != beside;
				most = MAX(most, load[channel]);
				s = t->ports[channel].sw;
			}
	return most;
}

/* What that one cable carries, whatever is done, is no measure for others. */
static void a_leaf_with_one_cable_makes_the_rest_no_worse(void **state)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct topogen o = { .damage = 0.15, .seed = seed };
		struct topo *t = topogen_fat_tree2(16, 8, 12, 1, &o),
			    *poor = with_a_poor_leaf(t, t->hosts[0].sw);
		struct routes *r = sssp(poor, NULL, NULL);
		uint32_t beside = most_load_beside(r, t->hosts[0].sw);

		print_message("# seed %u: %u, beside that leaf %u\n", (unsigned)seed, most_load(r),
			      beside);
		assert_int_equal(most_load(r), 12 * 180);
		assert_true(beside <= 4 * 180);
		routes_unref(r);
		topo_unref(t);
		topo_unref(poor);
	}
	(void)state;
}

static void columns_keep_neighbours_apart(void **state)
{
	struct topogen o = { .damage = 0.03, .seed = 1 };
	struct topo *t = topogen_fat_tree2(26, 2, 10, 3, &o);
	struct route_job job = { .topo = t, .threads = 2 };
	char why[256];
	struct routes *r = lanes_run("columns", &job, why);

	assert_non_null(r);
	assert_true(tables_shifts(r, 200) > .45);
	routes_unref(r);
	topo_unref(t);
	(void)state;
}

/* Loads of the paths to some hosts only. */
static uint32_t most_load_to(const struct routes *r, unsigned every)
{
	const struct topo *t = r->topo;
	_cleanup_free_ uint32_t *load = xcalloc((size_t)t->n_switches * 256, sizeof(*load));
	uint32_t most = 0;

	for (uint32_t a = 0; a < t->n_hosts; a++)
		for (uint32_t b = 0; b < t->n_hosts; b += every)
			for (uint32_t s = t->hosts[a].sw; s != t->hosts[b].sw;) {
				uint8_t port = routes_port(r, s, t->hosts[b].lid);

				load[s * 256 + port]++;
				most = MAX(most, load[s * 256 + port]);
				s = topo_port(t, s, port)->sw;
			}
	return most;
}

static void compute_nodes_are_spread_among_each_other(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 4, 4, 2 }, 4, NULL);
	guid_t guids[32];
	struct route_options o = { .cn = { .guids = guids, .n = 32, .given = true } };
	struct routes *plain = sssp(t, NULL, NULL), *aware;

	for (uint32_t i = 0; i < 32; i++)
		guids[i] = t->hosts[4 * i].guid;
	aware = sssp(t, &o, NULL);
	print_message("# to these %u, else %u; to all %u, else %u\n", most_load_to(aware, 4),
		      most_load_to(plain, 4), most_load_to(aware, 1), most_load_to(plain, 1));
	assert_true(10 * most_load_to(aware, 4) < 7 * most_load_to(plain, 4));
	assert_true(10 * most_load_to(aware, 1) < 11 * most_load_to(plain, 1));
	routes_unref(plain);
	routes_unref(aware);
	topo_unref(t);
}

/* Loads are counted class by class, by threads that have counted before. */
static void threads_keep_nothing_of_another_class(void **state)
{
	for (unsigned seed = 1; seed <= test_rounds(60); seed++) {
		struct topogen o = {
			.damage = 0.2, .seed = seed, .lmc = seed % 3, .random_guids = seed % 2,
		};
		struct topo *t = topogen_fat_tree2(6 + seed % 7, 3 + seed % 6, 4 + seed % 5, 1, &o);
		guid_t guids[64];
		struct route_options options = { .io = { .guids = guids, .given = true } };
		struct route_job job = { .topo = t, .threads = 1 };
		struct routes *one, *other;
		char why[256] = "";

		for (uint32_t h = 0; h < t->n_hosts && options.io.n < 64; h += 3)
			guids[options.io.n++] = t->hosts[h].guid;
		job.options = options;
		one = lanes_run("sssp", &job, why);
		for (job.threads = 2; job.threads < 12; job.threads++) {
			other = lanes_run("sssp", &job, why);
			assert_memory_equal(one->lft, other->lft,
					    (size_t)t->n_switches * one->row_size);
			routes_unref(other);
		}
		routes_unref(one);
		topo_unref(t);
	}
}

static void a_broken_list_is_refused(void **state)
{
	struct topo *t = topogen_fat_tree3(4, NULL);
	struct route_job job = { .topo = t,
				 .options = { .io = { .given = true, .broken = true } } };
	char why[256] = "";

	assert_null(lanes_run("sssp", &job, why));
	assert_non_null(strstr(why, "io_guid_file"));
	topo_unref(t);
}

/* A triangle whose direct cable 0-1 is slow. */
static struct topo *slow_triangle(bool way_round)
{
	struct topo_builder *b = topo_builder_new();

	for (unsigned s = 0; s < 3; s++) {
		topo_add_switch(b, &(struct topo_switch){ .guid = 10 + s,
							  .n_ports = 4,
							  .lid = (lid_t)(10 + s),
							  .lft_cap = 64 });
		topo_add_host(b, &(struct topo_host){ .guid = 1 + s,
						      .node_guid = 1 + s,
						      .node_port = 1,
						      .lid = (lid_t)(1 + s) });
		topo_add_host_link(b, 1 + s, 10 + s, 1);
	}
	topo_add_link(b, 10, 2, 11, 2);
	if (way_round)
		topo_add_link(b, 10, 3, 12, 2);
	topo_add_link(b, 11, 3, 12, 3);
	topo_set_port(b, 10, 2, (struct topo_port_facts){ .vls = 8, .slow = true });
	topo_set_port(b, 11, 2, (struct topo_port_facts){ .vls = 8, .slow = true });
	return topo_build(b);
}

static void slow_cables_are_the_last_resort(void **state)
{
	struct topo *t = slow_triangle(true), *line = slow_triangle(false);
	struct route_options o = { .avoid_throttled_links = true };
	struct routes *direct = sssp(t, NULL, NULL), *around = sssp(t, &o, NULL),
		      *only = sssp(line, &o, NULL);

	assert_int_equal(routes_port(direct, 0, 2), 2);
	assert_int_equal(routes_port(around, 0, 2), 3);
	assert_int_equal(routes_port(around, 1, 1), 3);
	assert_int_equal(routes_port(only, 0, 2), 2);
	routes_unref(direct);
	routes_unref(around);
	routes_unref(only);
	topo_unref(t);
	topo_unref(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_fabric_is_routed_minimally),
		cmocka_unit_test(strange_ones_too),
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(hears_that_it_is_cancelled),
		cmocka_unit_test(a_second_computation_changes_nothing),
		cmocka_unit_test(a_broken_tree_is_balanced_around_the_breaks),
		cmocka_unit_test(load_goes_around_a_crowded_middle_switch),
		cmocka_unit_test(balance_costs_shifts_nothing),
		cmocka_unit_test(a_host_on_a_spine_costs_no_balance),
		cmocka_unit_test(a_leaf_with_one_cable_makes_the_rest_no_worse),
		cmocka_unit_test(columns_keep_neighbours_apart),
		cmocka_unit_test(compute_nodes_are_spread_among_each_other),
		cmocka_unit_test(threads_keep_nothing_of_another_class),
		cmocka_unit_test(a_broken_list_is_refused),
		cmocka_unit_test(slow_cables_are_the_last_resort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
