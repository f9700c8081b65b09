// SPDX-License-Identifier: BSD-2-Clause
/* Measures of some end ports: beside a walk of every pair, and on tables of known quality. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "offline/base/figures.h"
#include "tests/unit/route-desk.h"
#include "util/random.h"

static struct traffic traffic(const struct routes *r, struct route_ranks ranks)
{
	struct figures_flows flows = figures_flows(r, ranks, 2);
	struct traffic ret;

	traffic_of(r, ranks, &flows, &ret);
	figures_flows_clear(&flows);
	return ret;
}

/* Every third end port or so, in any order. */
static struct route_ranks some_of(const struct topo *t, unsigned seed)
{
	uint64_t state = seed;
	uint32_t n, kept = 0, *hosts = routes_ranks(t, &n);

	for (uint32_t i = 0; i < n; i++)
		if (random_next(&state) % 3 == 0)
			hosts[kept++] = hosts[i];
	for (uint32_t i = kept; i > 1; i--) {
		uint32_t k = (uint32_t)(random_next(&state) % i), h = hosts[i - 1];

		hosts[i - 1] = hosts[k];
		hosts[k] = h;
	}
	return (struct route_ranks){ hosts, kept };
}

static void walk(const struct routes *r, uint32_t from, uint32_t to, struct figures_flows *f)
{
	const struct topo *t = r->topo;

	for (uint32_t s = t->hosts[from].sw; s != t->hosts[to].sw;) {
		uint32_t c = routes_channel(r, s, t->hosts[to].lid);

		if (c == TOPO_NONE)
			return;
		f->load[c]++;
		s = t->ports[c].sw;
		f->last[c] += s == t->hosts[to].sw;
	}
}

static void flows_are_those_of_every_pair(void **state)
{
	for (unsigned seed = 1; seed <= 24; seed++) {
		struct topogen o = any_options(seed);
		struct topo *t = any_fabric(seed, &o);
		struct routes *r = route(t, NULL);
		struct route_ranks some = some_of(t, seed);
		struct figures_flows f = figures_flows(r, some, 2), walked;
		uint32_t n = topo_n_entries(t);

		walked.load = xcalloc(n + 1, sizeof(*walked.load));
		walked.last = xcalloc(n + 1, sizeof(*walked.last));
		for (uint32_t i = 0; i < some.n; i++)
			for (uint32_t k = 0; k < some.n; k++)
				walk(r, some.hosts[i], some.hosts[k], &walked);
		assert_memory_equal(f.load, walked.load, n * sizeof(*f.load));
		assert_memory_equal(f.last, walked.last, n * sizeof(*f.last));
		figures_flows_clear(&f);
		figures_flows_clear(&walked);
		free((void *)some.hosts);
		routes_unref(r);
		topo_unref(t);
	}
}

static void measures_are_shares(void **state)
{
	for (unsigned seed = 1; seed <= 24; seed++) {
		struct topogen o = any_options(seed);
		struct topo *t = any_fabric(seed, &o);
		struct routes *r = route(t, NULL);
		struct route_ranks some = some_of(t, seed);
		struct traffic f = traffic(r, some);

		assert_int_equal(f.hosts, some.n);
		assert_true(f.even >= 0 && f.even <= 1 && !f.even == !f.most);
		assert_true(f.incast >= 0 && f.incast <= 1 && f.incast_least <= 1);
		assert_true(f.incast_at == TOPO_NONE || f.incast_least <= f.incast + 1e-9);
		assert_true(f.mean.shift >= 0 && f.mean.shift <= 1 && f.mean.bisection <= 1);
		free((void *)some.hosts);
		routes_unref(r);
		topo_unref(t);
	}
}

/* Four hosts a leaf and four spines: the closed form has no two flows of a shift on a channel. */
static void a_whole_tree_has_all_of_it(void **state)
{
	struct topo *t = topogen_fat_tree2(6, 4, 4, 1, NULL);
	struct routes *r = route(t, NULL);
	uint32_t n;
	_cleanup_free_ uint32_t *all = routes_ranks(t, &n);
	struct traffic f = traffic(r, (struct route_ranks){ all, n });

	assert_int_equal(f.hosts, 24);
	assert_int_equal(f.switches, 6);
	assert_int_equal(f.most, 20);
	assert_float_equal(f.even, 1, 1e-9);
	assert_float_equal(f.incast, 1, 1e-9);
	assert_float_equal(f.mean.shift, 1, 1e-9);
	assert_int_equal(f.shift, 1);
	routes_unref(r);
	topo_unref(t);
}

/* Everything to one leaf by one spine: half of what two spines give its two hosts. */
static void one_cable_for_all_is_seen(void **state)
{
	struct topo *t = topogen_fat_tree2(4, 2, 2, 1, NULL);
	struct routes *r = route(t, NULL);
	uint32_t leaf = t->hosts[0].sw, n;
	_cleanup_free_ uint32_t *all = routes_ranks(t, &n);
	struct traffic f;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		for (uint32_t s = 0; s < t->n_switches; s++) {
			uint8_t *row = r->lft + (size_t)s * r->row_size;
			bool is_leaf = topo_port(t, s, row[t->hosts[h].lid])->sw != leaf;

			if (t->hosts[h].sw == leaf && s != leaf && is_leaf)
				row[t->hosts[h].lid] = row[t->hosts[0].lid];
		}
	f = traffic(r, (struct route_ranks){ all, n });
	assert_int_equal(f.incast_at, leaf);
	assert_float_equal(f.incast_least, .5, 1e-9);
	assert_float_equal(f.incast, (.5 + 3) / 4, 1e-9);
	assert_int_equal(f.most, 12);
	/* 16 channels, 8 x 6 flows that take two of them each. */
	assert_float_equal(f.even, 8 * 6 * 2 / 16. / 12, 1e-9);
	routes_unref(r);
	topo_unref(t);
}

static void shifts_go_by_rank(void **state)
{
	struct topo *t = topogen_fat_tree2(4, 4, 4, 1, NULL);
	struct routes *r = route(t, NULL);
	uint32_t n;
	_cleanup_free_ uint32_t *all = routes_ranks(t, &n);
	struct route_ranks mixed = some_of(t, 3);

	assert_float_equal(traffic(r, (struct route_ranks){ all, n }).mean.shift, 1, 1e-9);
	assert_true(traffic(r, mixed).mean.shift < .999);
	free((void *)mixed.hosts);
	routes_unref(r);
	topo_unref(t);
}

/* A group of one sends nothing, and does not stop the others; flows of all count on a channel. */
static void groups_shift_at_once_each_in_itself(void **state)
{
	struct topo *t = topogen_fat_tree2(4, 1, 4, 1, NULL);
	struct routes *r = route(t, NULL);
	uint32_t n, rows[4][4];
	_cleanup_free_ uint32_t *all = routes_ranks(t, &n);
	struct route_ranks groups[4];
	double share;

	/* Group g: end port g of each leaf. By one spine all flows of a leaf share its cable. */
	for (unsigned g = 0; g < 4; g++) {
		for (unsigned leaf = 0; leaf < 4; leaf++)
			rows[g][leaf] = all[leaf * 4 + g];
		groups[g] = (struct route_ranks){ rows[g], 4 };
	}
	assert_int_equal(routes_measure_groups(r, groups, 1, 0, &share), 1);
	assert_float_equal(share, 1, 1e-9);
	assert_int_equal(routes_measure_groups(r, groups, 4, 0, &share), 4);
	assert_float_equal(share, .25, 1e-9);
	/* All end ports as one group: within a leaf nothing is shared. */
	assert_int_equal(routes_measure_groups(r, &(struct route_ranks){ all, n }, 1, 0, &share),
			 4);
	assert_float_equal(share, traffic(r, (struct route_ranks){ all, n }).mean.shift, 1e-9);
	groups[3].n = 1;
	assert_int_equal(routes_measure_groups(r, groups + 2, 2, 0, &share), 1);
	assert_int_equal(routes_measure_groups(r, groups + 3, 1, 0, &share), 0);
	assert_float_equal(share, 0, 1e-9);
	routes_unref(r);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_are_those_of_every_pair),
		cmocka_unit_test(measures_are_shares),
		cmocka_unit_test(a_whole_tree_has_all_of_it),
		cmocka_unit_test(one_cable_for_all_is_seen),
		cmocka_unit_test(shifts_go_by_rank),
		cmocka_unit_test(groups_shift_at_once_each_in_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
