// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cables at different rates: no engine of trees lets one carry more than its share, in fresh tables
 * and when it slows down later; figures count flows over rates; where all rates agree, nothing
 * changes.
 */
#include "tests/unit/route-desk.h"

#include <math.h>
#include <stdio.h>

#include "route/select/keep_tables.h"
#include "tests/lib/topocut.h"

#define EDR	1000 /* of 4 lanes, in units of 100 Mb/s */
#define DDR	160
#define ONE_EDR 250 /* of 1 lane */

static void set_rate(struct topo *t, uint32_t entry, uint16_t rate)
{
	t->ports[entry].rate = t->ports[topo_peer(t, entry)].rate = rate;
	topo_set_paces(t);
}

/* Every cable between switches; the caller owns the topo. */
static struct topo *at_rate(struct topo *t, uint16_t rate)
{
	for (uint32_t i = 0; i < topo_n_entries(t); i++)
		t->ports[i].rate = rate;
	topo_set_paces(t);
	return t;
}

enum wear { ONE_DDR, SOME_NARROW, HALF_OF_A_SPINE, WEARS };

/* The cables of one switch without hosts, every second one. */
static void slow_spine(struct topo *t, uint16_t rate)
{
	_cleanup_free_ uint32_t *hosts = topo_count_hosts(t);
	uint32_t s = 0;

	while (hosts[s])
		s++;
	for (unsigned p = 1; p <= t->switches[s].n_ports; p += 2)
		if (topo_port(t, s, p)->sw != TOPO_NONE)
			set_rate(t, t->switches[s].first_port + p, rate);
}

static struct topo *worn(struct topo *t, enum wear wear, unsigned number)
{
	uint32_t n, *cables = topocut_cables(t, &n);

	at_rate(t, EDR);
	switch (wear) {
	case ONE_DDR: set_rate(t, cables[number * 7919 % n], DDR); break;
	case SOME_NARROW:
		for (uint32_t i = 0; i < 1 + n / 40; i++)
			set_rate(t, cables[(number + i * 31) * 7919 % n], ONE_EDR);
		break;
	case HALF_OF_A_SPINE: slow_spine(t, EDR / 2); break;
	case WEARS: break;
	}
	free(cables);
	return t;
}

/*
 * No tables have less on the most loaded channel: the mean of all, and that of the cables of a
 * switch with hosts, each cable by its rate.
 */
static double least_load(const struct topo *t, double mean)
{
	_cleanup_free_ uint32_t *hosts = topo_count_hosts(t);
	double most = mean;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		double room = 0;

		for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
			if (topo_port(t, s, p)->sw != TOPO_NONE)
				room += topo_room(t->paces, t->switches[s].first_port + p);
		if (hosts[s] && room > 0)
			most = MAX(most, hosts[s] * (double)(t->n_hosts - hosts[s]) / room);
	}
	return most;
}

static struct routes *keep(const char *engine, const struct topo *t, const struct routes *previous,
			   struct route_verdict *ret)
{
	struct route_chain chain = { .list = engine };
	struct keep_report w;
	struct routes *r = keep_tables(
		&chain, &(struct route_job){ .topo = t, .previous = previous, .threads = 2 },
		false, &w);

	assert_non_null(r);
	assert_null(route_fault(&w.choice.verdict));
	*ret = w.choice.verdict;
	return r;
}

static const char *const engines[] = { "auto", "minhop", "updn", "dnup", "ftree", "sssp", "dfsssp",
				       "nue" };

static struct topo *tree(unsigned number)
{
	switch (number) {
	case 0: return topogen_fat_tree2(18, 9, 9, 1, NULL);
	case 1: return topogen_fat_tree2(8, 4, 12, 3, NULL);
	case 2: return topogen_fat_tree3(12, NULL);
	}
	return topogen_fat_tree2(24, 12, 12, 1, &(struct topogen){ .seed = 3, .damage = 0.02 });
}

/* An entry is as many flows as its switch has hosts: no load is between two multiples of that. */
static double most_allowed(const struct topo *t, double mean)
{
	_cleanup_free_ uint32_t *hosts = topo_count_hosts(t);

	assert_true(hosts[0] > 0); /* the first switch is a leaf */
	return 1.15 * ceil(least_load(t, mean) / hosts[0]) * hosts[0];
}

/* Where minhop's paths are not free of cycles on one VL nue goes its own ways in a tree. */
static bool is_tried(const char *engine, unsigned number)
{
	return strcmp(engine, "nue") != 0 || number == 0 || number == 2;
}

static unsigned exceeds_its_share(unsigned number, enum wear wear, const char *engine)
{
	struct topo *t = worn(tree(number), wear, number + 1);
	struct route_verdict v;
	struct routes *r = keep(engine, t, NULL, &v);
	double most = most_allowed(t, v.avg_load);

	if (v.max_load > most)
		print_message("# tree %u, wear %u, %s: %u, at most %.0f\n", number, wear, engine,
			      v.max_load, most);
	routes_unref(r);
	topo_unref(t);
	return v.max_load > most;
}

static void trees_share_out_by_rate(void **state)
{
	unsigned n = 0;

	for (unsigned number = 0; number < 4; number++)
		for (unsigned wear = 0; wear < WEARS; wear++)
			for (size_t e = 0; e < ARRAY_SIZE(engines); e++)
				if (is_tried(engines[e], number))
					n += exceeds_its_share(number, wear, engines[e]);
	assert_int_equal(n, 0);
}

static void a_port_with_several_lids_is_shared_out_too(void **state)
{
	static const char *const with_lmc[] = { "minhop", "updn", "ftree" };

	for (size_t e = 0; e < ARRAY_SIZE(with_lmc); e++) {
		struct topo *t = worn(topogen_fat_tree2(18, 9, 9, 1, &(struct topogen){ .lmc = 2 }),
				      ONE_DDR, 5);
		struct route_verdict v;
		struct routes *r = keep(with_lmc[e], t, NULL, &v);

		assert_true(v.max_load <= 4 * 1.15 * least_load(t, v.avg_load / 4));
		routes_unref(r);
		topo_unref(t);
	}
}

/* Tables of fabrics without a known rate, and of one rate, are the same. */
static void one_rate_changes_nothing(void **state)
{
	for (unsigned number = 0; number < 12; number++)
		for (size_t e = 0; e < ARRAY_SIZE(engines); e++) {
			struct topogen o = any_options(number);
			struct topo *t = any_fabric(number, &o);
			struct topo *u = at_rate(any_fabric(number, &o), DDR);
			struct route_verdict v, w;
			struct routes *a = keep(engines[e], t, NULL, &v);
			struct routes *b = keep(engines[e], u, NULL, &w);

			assert_null(u->paces);
			assert_same_tables(a, b);
			assert_int_equal(v.max_load, w.max_load);
			routes_unref(a);
			routes_unref(b);
			topo_unref(t);
			topo_unref(u);
		}
}

static uint32_t n_changed(const struct routes *a, const struct routes *b)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < a->topo->n_switches; s++)
		for (unsigned lid = 1; lid <= a->top; lid++)
			n += routes_port(a, s, (lid_t)lid) != routes_port(b, s, (lid_t)lid);
	return n;
}

/* A cable that trains at a lower rate moves what it carries too much; later sweeps move nothing. */
static void a_cable_slows_down_and_recovers(void **state)
{
	static const char *const kept[] = { "auto", "minhop", "updn", "ftree" };

	for (size_t e = 0; e < ARRAY_SIZE(kept); e++) {
		struct topo *whole = worn(tree(0), WEARS, 0), *slow = worn(tree(0), ONE_DDR, 3);
		struct route_verdict v;
		struct routes *r = keep(kept[e], whole, NULL, &v), *then, *again, *back;
		uint32_t before = v.max_load;

		then = keep(kept[e], slow, r, &v);
		assert_true(v.max_load <= 1.15 * least_load(slow, v.avg_load));
		/* Of 18 times 9 flows over it there and back, and not more by far. */
		assert_in_range(n_changed(r, then), 1, 2 * 18 * 9);
		again = keep(kept[e], slow, then, &v);
		assert_same_tables(then, again);
		back = keep(kept[e], whole, again, &v);
		assert_true(v.max_load <= 1.15 * before);
		routes_unref(r);
		routes_unref(then);
		routes_unref(again);
		routes_unref(back);
		topo_unref(whole);
		topo_unref(slow);
	}
}

/* Tables that another manager left, which give a slow cable what its neighbours carry. */
static void found_tables_with_a_slow_cable_are_replaced(void **state)
{
	struct topo *whole = tree(0), *slow = worn(tree(0), ONE_DDR, 3);
	struct route_chain chain = { .list = "updn" };
	struct route_verdict v;
	struct routes *even = keep("updn", whole, NULL, &v), *r;
	struct routes *found = routes_new(slow, "", even->top);
	struct keep_report w;

	for (uint32_t s = 0; s < slow->n_switches; s++)
		memcpy(routes_row(found, s), routes_row(even, s), even->row_size);
	r = keep_tables(&chain,
			&(struct route_job){ .topo = slow, .previous = found, .threads = 1 }, true,
			&w);
	assert_non_null(r);
	assert_true(w.choice.verdict.max_load <=
		    1.15 * least_load(slow, w.choice.verdict.avg_load));
	routes_unref(r);
	routes_unref(found);
	routes_unref(even);
	topo_unref(whole);
	topo_unref(slow);
}

/* Switches in a line, one host each. */
static struct topo *line(const uint16_t *rates, unsigned n)
{
	struct topo_builder *b = topo_builder_new();

	for (unsigned i = 0; i <= n; i++) {
		topo_add_switch(b, &(struct topo_switch){ .guid = 100 + i, .n_ports = 3,
							  .lid = (lid_t)(50 + i),
							  .lft_cap = 0xC000 });
		topo_add_host(b, &(struct topo_host){ .guid = 1 + i, .node_guid = 1 + i,
						      .node_port = 1, .lid = (lid_t)(1 + i) });
		topo_add_host_link(b, 1 + i, 100 + i, 3);
		if (!i)
			continue;
		topo_add_link(b, 99 + i, 2, 100 + i, 1);
		topo_set_port(b, 99 + i, 2, (struct topo_port_facts){ .rate = rates[i - 1] });
		/* The other end does not know it. */
		if (i % 2)
			topo_set_port(b, 100 + i, 1,
				      (struct topo_port_facts){ .rate = rates[i - 1] });
	}
	return topo_build(b);
}

static void paces_are_those_beside_the_median(void **state)
{
	struct topo *t = line((uint16_t[]){ EDR, EDR, DDR, 2 * EDR }, 4);
	const uint32_t *paces = t->paces, *first = paces + t->switches[0].first_port;

	assert_int_equal(t->median_rate, EDR);
	assert_non_null(paces);
	assert_int_equal(first[2], TOPO_PACE);
	assert_int_equal(first[3], TOPO_PACE); /* a host */
	assert_int_equal(paces[t->switches[2].first_port + 2], TOPO_PACE * EDR / DDR);
	assert_int_equal(paces[t->switches[3].first_port + 1], TOPO_PACE * EDR / DDR);
	assert_int_equal(paces[t->switches[4].first_port + 1], TOPO_PACE / 2);
	assert_int_equal(topo_load(paces, t->switches[2].first_port + 2, 16), 100);
	assert_int_equal(topo_load(paces, t->switches[4].first_port + 1, 16), 8);
	assert_int_equal(topo_load(paces, t->switches[2].first_port + 2, UINT32_MAX), UINT32_MAX);
	assert_int_equal(topo_load(NULL, 0, 7), 7);
	topo_unref(t);
	t = line((uint16_t[]){ EDR, 0, EDR }, 3);
	assert_null(t->paces);
	assert_int_equal(t->median_rate, EDR);
	topo_unref(t);
	t = line((uint16_t[]){ 0 }, 1);
	assert_null(t->paces);
	assert_int_equal(t->median_rate, 0);
	topo_unref(t);
}

static void figures_count_flows_over_rates(void **state)
{
	struct topo *t = line((uint16_t[]){ EDR, EDR, EDR / 4 }, 3);
	struct routes *r = route(t, NULL);
	struct route_verdict v;
	struct route_measures m;
	/* Two end ports, on both sides of the slow cable: each gets a quarter of the other. */
	struct route_ranks two = { (uint32_t[]){ 2, 3 }, 2 };

	routes_check(r, 1, &v);
	assert_int_equal(v.max_load, 4 * 3);
	assert_int_equal(v.min_load, 3);
	routes_measure_ranks(r, two, 4, 0, 1, &m);
	assert_true(m.shift == 0.25);
	assert_int_equal(routes_judged_load(r) != NULL, 0);
	routes_unref(r);
	topo_unref(t);
}

/* Between two switches engines of grids go by turns. */
static void parallel_cables_take_turns_by_rate(void **state)
{
	struct topo *t = at_rate(topogen_grid("4x4", 8, 2, NULL), EDR);
	uint32_t n, *cables = topocut_cables(t, &n);
	struct route_verdict v;
	struct routes *r;
	uint32_t slow = cables[0], other = TOPO_NONE;

	set_rate(t, slow, EDR / 4);
	for (unsigned p = 1; p <= t->switches[topo_switch_with(t, slow)].n_ports; p++) {
		uint32_t c = t->switches[topo_switch_with(t, slow)].first_port + p;

		if (c != slow && t->ports[c].sw == t->ports[slow].sw)
			other = c;
	}
	assert_int_not_equal(other, TOPO_NONE);
	r = route_engine_run(route_engine_find("dor"),
			     &(struct route_job){ .topo = t, .threads = 1 }, (char[128]){ 0 }, 128);
	assert_non_null(r);
	routes_check_after(NULL, r, 1, &v);
	assert_true(routes_judged_load(r)[slow] * 2 < routes_judged_load(r)[other]);
	assert_null(route_fault(&v));
	routes_unref(r);
	topo_unref(t);
	free(cables);
}

/* Flows on a cable with lash, both ways. */
static uint32_t flows_with_lash(struct topo *t, uint16_t rate, unsigned *ret_vls,
				struct route_verdict *v)
{
	uint32_t n, *cables = topocut_cables(t, &n), at = cables[0], ret;
	struct routes *r;

	set_rate(t, at, rate);
	r = route_engine_run(route_engine_find("lash"),
			     &(struct route_job){ .topo = t, .threads = 1 }, (char[128]){ 0 }, 128);
	assert_non_null(r);
	routes_check_after(NULL, r, 1, v);
	assert_null(route_fault(v));
	ret = routes_judged_load(r)[at] + routes_judged_load(r)[topo_peer(t, at)];
	*ret_vls = r->lanes ? r->lanes->n_vls : 1;
	routes_unref(r);
	free(cables);
	return ret;
}

/* lash leads all hosts of a switch one way, so whole switches take another one. */
static void lash_goes_around_a_slow_cable(void **state)
{
	struct topo *torus = at_rate(topogen_grid("5tx5t", 4, 1, NULL), EDR);
	struct topo *mesh = at_rate(topogen_grid("5x5", 4, 1, NULL), EDR);
	struct route_verdict v, w;
	unsigned vls, then;
	uint32_t usual = flows_with_lash(torus, EDR, &vls, &v);

	assert_true(flows_with_lash(torus, ONE_EDR, &then, &w) * 2 < usual);
	assert_true(w.max_load < v.max_load * 5 / 2);
	assert_int_equal(then, vls);
	flows_with_lash(mesh, ONE_EDR, &vls, &v);
	assert_int_equal(vls, 1); /* as without */
	topo_unref(torus);
	topo_unref(mesh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paces_are_those_beside_the_median),
		cmocka_unit_test(figures_count_flows_over_rates),
		cmocka_unit_test(one_rate_changes_nothing),
		cmocka_unit_test(trees_share_out_by_rate),
		cmocka_unit_test(a_port_with_several_lids_is_shared_out_too),
		cmocka_unit_test(a_cable_slows_down_and_recovers),
		cmocka_unit_test(found_tables_with_a_slow_cable_are_replaced),
		cmocka_unit_test(parallel_cables_take_turns_by_rate),
		cmocka_unit_test(lash_goes_around_a_slow_cable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
