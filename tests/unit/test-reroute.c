// SPDX-License-Identifier: BSD-2-Clause
/* Routes after a change: bounded load, no drift, no other entries; with any number of threads. */
#include "tests/lib/tables.h"
#include "tests/unit/route-desk.h"

#include "route/proof/keep_policy.h"
#include "route/select/reroute.h"
#include "route/select/engines.h"
#include "tests/lib/rounds.h"
#include "tests/lib/topocut.h"

/* Tables as the routing job makes them. */
static struct routes *route_balanced(const struct topo *t, const struct routes *previous,
				     unsigned threads, struct reroute_report *ret)
{
	const struct route_job job = { .topo = t, .previous = previous, .threads = threads };

	*ret = (struct reroute_report){ .load_fresh = 0 };
	return tables_reroute(route_engine_find("minhop"), &job, ret);
}

static void assert_threads_do_not_matter(const struct routes *r, const struct routes *previous)
{
	struct reroute_report report;
	struct routes *same = route_balanced(r->topo, previous, 3, &report);

	assert_same_tables(r, same);
	routes_unref(same);
}

/* The bound of reroute.h, and shortest paths, whatever was moved for it. */
static void assert_balanced(const struct routes *r, const struct reroute_report *report)
{
	struct route_verdict fresh, v;
	struct routes *f = route_job(&(struct route_job){ .topo = r->topo, .threads = 1 });

	routes_check(f, 1, &fresh);
	routes_check(r, 1, &v);
	assert_memory_equal(&v, &report->verdict, sizeof(v));
	assert_int_equal(v.looping, 0);
	assert_int_equal(v.unreachable, fresh.unreachable);
	assert_true(v.minimal);
	if (!fresh.unreachable && r->expected_load <= fresh.max_load)
		assert_true(v.max_load <= keep_bound(KEEP_BALANCE, fresh.max_load));
	routes_unref(f);
}

/* A random walk of cuts and repairs; in the end all is whole, and as balanced as ever. */
static void cuts_and_repairs_leave_no_drift(void **state)
{
	for (unsigned number = 0; number < test_rounds(24); number++) {
		struct topogen o = { .seed = number, .lmc = number % 7 == 3 ? 1 : 0 };
		struct topo *whole = any_fabric(number, &o);
		struct topocut *cut = topocut_new(whole);
		struct reroute_report report;
		struct routes *r = route(whole, NULL);
		unsigned random = number, n, n_steps = 10;
		uint32_t *cables = topocut_cables(whole, &n);

		print_message("# seed %u\n", number);
		for (unsigned i = 0; i <= n_steps && n; i++) {
			struct routes *next;
			struct topo *t;

			random = random * 1103515245 + 12345;
			cut->ports[cables[random / 65536 % n]] ^= true;
			for (unsigned k = 0; k < n && i == n_steps; k++)
				cut->ports[cables[k]] = false;
			t = topocut_apply(whole, cut);
			next = route_balanced(t, r, 1, &report);
			if (i == n_steps)
				assert_threads_do_not_matter(next, r);
			assert_balanced(next, &report);
			if (!report.n_entries && !report.n_lids)
				assert_minimal(next);
			routes_unref(r);
			topo_unref(t);
			r = next;
		}
		routes_unref(r);
		topocut_free(cut);
		topo_unref(whole);
		free(cables);
	}
}

/* With its leaf: the others keep what they say about its hosts. */
static void a_leaf_switch_comes_and_goes_and_nobody_else_changes(void **state)
{
	struct topo *t = topogen_fat_tree3(8, NULL), *without;
	struct topocut *cut = topocut_new(t);
	struct routes *before = route(t, NULL), *during, *after;
	uint32_t leaf = t->hosts[5].sw;

	cut->switches[leaf] = true;
	without = topocut_apply(t, cut);
	during = route(without, before);
	after = route(t, during);
	assert_int_equal(during->top, before->top);
	for (uint32_t s = 0; s < without->n_switches; s++) {
		uint32_t was = topo_find_switch(t, without->switches[s].guid);

		/* Aggregation switches of the pod may have met each other there. */
		for (unsigned lid = 1; lid <= t->n_hosts; lid++)
			assert_int_equal(routes_port(during, s, (lid_t)lid),
					 routes_port(before, was, (lid_t)lid));
	}
	assert_same_tables(before, after);
	topocut_free(cut);
	routes_unref(before);
	routes_unref(during);
	routes_unref(after);
	topo_unref(without);
	topo_unref(t);
}

/* A LID of no port, and a cable that is plugged in elsewhere: its entries may not go round. */
static void nobodys_entries_never_go_round(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 3, 1, 1 }, 1, NULL);
	struct routes *r = routes_new(t, "adopted", (lid_t)(t->max_lid + 1)), *kept;
	lid_t lid = r->top;
	unsigned n = 0;

	for (uint32_t s = 0; s < 3; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
			if (topo_port(t, s, p)->sw == (s + 1) % 3)
				routes_row(r, s)[lid] = (uint8_t)p;
	kept = route(t, r);
	assert_int_equal(kept->top, lid);
	for (uint32_t s = 0; s < 3; s++)
		n += routes_port(kept, s, lid) != LFT_NO_PORT;
	assert_int_equal(n, 2);
	routes_unref(kept);
	routes_unref(r);
	topo_unref(t);
}

/* A switch, a host on port 1, nothing on port 2, perhaps a cable from there to port 3. */
static struct topo *lonely_switch(bool loop)
{
	const struct topo_switch sw = { .guid = 1, .n_ports = 4, .lid = 1, .lft_cap = 64 };
	const struct topo_host host = { .guid = 10, .node_guid = 10, .node_port = 1, .lid = 2 };
	struct topo_builder *b = topo_builder_new();

	topo_add_switch(b, &sw);
	topo_add_host(b, &host);
	topo_add_host_link(b, 10, 1, 1);
	if (loop)
		topo_add_link(b, 1, 3, 1, 2);
	return topo_build(b);
}

/* The host of LID 3 is gone, and its port leads back to the switch now: so would its packets. */
static void nobodys_entry_does_not_enter_a_loop_cable(void **state)
{
	struct topo *before = lonely_switch(false), *after = lonely_switch(true);
	struct routes *r = routes_new(before, "adopted", 3), *without, *with;

	routes_row(r, 0)[3] = 2;
	without = route(before, r);
	assert_int_equal(routes_port(without, 0, 3), 2);
	with = route(after, without);
	assert_int_equal(routes_port(with, 0, 3), LFT_NO_PORT);
	assert_int_equal(routes_port(with, 0, 2), 1);
	routes_unref(r);
	routes_unref(without);
	routes_unref(with);
	topo_unref(before);
	topo_unref(after);
}

/* A new process finds what grew under its own options, and cannot know whose it is: it stays. */
static void scattered_tables_survive_a_restart(void **state)
{
	struct topo *t = topogen_fat_tree3(6, NULL);
	struct route_job job = { .topo = t, .threads = 1, .options = { .scatter_seed = 7 } };
	struct routes *grown = route(t, NULL), *adopted, *after;

	adopted = routes_new(t, "adopted", grown->top);
	memcpy(adopted->lft, grown->lft, (size_t)t->n_switches * grown->row_size);
	job.previous = adopted;
	after = route_job(&job);
	assert_same_tables(after, grown);
	routes_unref(grown);
	routes_unref(adopted);
	routes_unref(after);
	topo_unref(t);
}

/* Options of today against tables of yesterday: what they say counts. */
static void other_options_place_anew(void **state)
{
	struct topo *t = topogen_fat_tree3(6, NULL);
	struct route_job job = { .topo = t, .threads = 1, .options = { .scatter_seed = 7 } };
	struct routes *plain = route(t, NULL), *fresh = route_job(&job), *after, *again;

	job.previous = plain;
	after = route_job(&job);
	assert_same_tables(after, fresh);
	job.previous = after;
	again = route_job(&job);
	assert_same_tables(after, again);
	routes_unref(plain);
	routes_unref(fresh);
	routes_unref(after);
	routes_unref(again);
	topo_unref(t);
}

/* ---- what carries clearly more than its like (sp/balance.h) --------------------------------- */

static struct routes *route_by(const char *engine, const struct topo *t,
			       const struct routes *previous, struct reroute_report *ret)
{
	const struct route_job job = { .topo = t, .previous = previous, .threads = 1 };

	*ret = (struct reroute_report){ .load_fresh = 0 };
	return tables_reroute(route_engine_find(engine), &job, ret);
}

/* A leaf with seven cables left has eight destinations: one cable would carry two for all. */
static void a_broken_tree_shares_out_what_comes_together(void **state)
{
	static const char *const engines[] = { "minhop", "ftree", "updn" };
	struct topogen o = { .damage = 0.01, .seed = 1 };
	struct topo *t = topogen_fat_tree3(16, &o);

	for (unsigned i = 0; i < ARRAY_SIZE(engines); i++) {
		struct route_job job = { .topo = t, .threads = 1 };
		char why[100];
		struct routes *plain =
			route_engine_find(engines[i])->compute(&job, why, sizeof(why));
		struct reroute_report report;
		struct routes *r = route_by(engines[i], t, NULL, &report);
		struct route_verdict v;

		routes_check(plain, 1, &v);
		assert_true(v.max_load > 1900);
		routes_check(r, 1, &v);
		print_message("# %s: %u, %u entries\n", engines[i], v.max_load, report.n_balanced);
		assert_memory_equal(&v, &report.verdict, sizeof(v));
		assert_in_range(v.max_load, 1000, 1300);
		assert_true(v.minimal && !v.credit_loop && !v.unreachable);
		assert_true(tables_bisections(r, 6, 1) > 0.98 * tables_bisections(plain, 6, 1));
		assert_true(tables_shift_congestion(r, 40) <=
			    tables_shift_congestion(plain, 40) + 1);
		routes_unref(plain);
		routes_unref(r);
	}
	topo_unref(t);
}

/* Above the size of keep_may_compare() steps are longer, and no entry is moved gently. */
static void a_large_broken_tree_shares_out_as_well(void **state)
{
	struct topogen o = { .damage = 0.1, .seed = 1 };
	struct topo *t = topogen_fat_tree3(26, &o);
	struct reroute_report report;
	struct routes *plain = route(t, NULL), *r = route_by("minhop", t, NULL, &report);
	struct route_verdict was, v;

	assert_false(keep_may_compare(t));
	routes_check(plain, 1, &was);
	routes_check(r, 1, &v);
	print_message("# %u, then %u\n", was.max_load, v.max_load);
	assert_memory_equal(&v, &report.verdict, sizeof(v));
	/* 11,154, 6,721 and 135,066 entries if the engine did not part senders */
	assert_true(was.max_load < 9000 && v.max_load < 6500);
	assert_in_range(report.n_balanced, 1, 20000);
	assert_true(v.minimal && !v.credit_loop && !v.unreachable);
	assert_true(tables_bisections(r, 4, 1) > 0.99 * tables_bisections(plain, 4, 1));
	assert_true(tables_shifts(r, 8) > 0.95 * tables_shifts(plain, 8));
	routes_unref(plain);
	routes_unref(r);
	topo_unref(t);
}

static void whole_trees_are_left_alone(void **state)
{
	struct topo *t = topogen_fat_tree3(8, NULL);
	struct reroute_report report;
	struct routes *plain = route(t, NULL), *r = route_by("minhop", t, NULL, &report);

	assert_int_equal(report.n_balanced, 0);
	assert_same_tables(r, plain);
	routes_unref(plain);
	routes_unref(r);
	topo_unref(t);
}

/* Nothing happens: nothing moves. One cable more: few entries do. */
static void what_was_eased_stays(void **state)
{
	struct topogen o = { .damage = 0.02, .seed = 5 };
	struct topo *t = topogen_fat_tree3(12, &o), *less;
	struct reroute_report report;
	struct routes *r = route_by("minhop", t, NULL, &report),
		      *again = route_by("minhop", t, r, &report), *after;
	uint64_t changed = 0;

	assert_int_equal(report.n_balanced, 0);
	assert_same_tables(again, r);
	o.without_link = 40;
	less = topogen_fat_tree3(12, &o);
	after = route_by("minhop", less, again, &report);
	assert_true(report.verdict.minimal && !report.verdict.credit_loop);
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned lid = 1; lid <= r->top; lid++)
			changed += routes_row(r, s)[lid] != routes_row(after, s)[lid];
	print_message("# %llu entries\n", (unsigned long long)changed);
	assert_in_range(changed, 1, (uint64_t)t->n_switches * r->top / 50);
	routes_unref(r);
	routes_unref(again);
	routes_unref(after);
	topo_unref(t);
	topo_unref(less);
}

static unsigned changed_blocks(const struct routes *a, const struct routes *b)
{
	unsigned n = 0;

	for (size_t at = 0; at < (size_t)a->topo->n_switches * a->row_size; at += LFT_BLOCK_LIDS)
		n += memcmp(a->lft + at, b->lft + at, LFT_BLOCK_LIDS) != 0;
	return n;
}

/*
 * 127 leaves send one host another way, and the leaf at the cable has 21 blocks: all else are LIDs
 * of switches, and what shares out the host's load must not cost blocks of its own.
 */
static void a_leaf_uplink_changes_few_blocks(void **state)
{
	struct topogen orders[] = { { 0 }, { .random_lids = true, .seed = 3 } };
	unsigned most = 0;

	for (unsigned o = 0; o < ARRAY_SIZE(orders); o++) {
		struct topo *t = topogen_fat_tree3(16, &orders[o]);
		struct topocut *cut = topocut_new(t);
		struct reroute_report report;
		struct routes *whole = route_by("minhop", t, NULL, &report);
		struct topo *less;
		struct routes *r, *again;

		for (unsigned i = 0; i < 24; i++) {
			uint32_t leaf = t->hosts[(i * 339 + 8) % t->n_hosts].sw;
			uint32_t port = t->switches[leaf].first_port + 9 + i % 8;

			assert_true(t->ports[port].sw != TOPO_NONE);
			cut->ports[port] = true;
			less = topocut_apply(t, cut);
			cut->ports[port] = false;
			r = route_by("minhop", less, whole, &report);
			most = MAX(most, changed_blocks(whole, r));
			assert_in_range(report.verdict.max_load, 1016, 1200);
			again = route_by("minhop", t, r, &report);
			most = MAX(most, changed_blocks(r, again));
			routes_unref(whole);
			routes_unref(r);
			topo_unref(less);
			whole = again;
		}
		routes_unref(whole);
		topocut_free(cut);
		topo_unref(t);
	}
	print_message("# most %u\n", most);
	assert_in_range(most, 127 + 21, 225);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_and_repairs_leave_no_drift),
		cmocka_unit_test(a_leaf_switch_comes_and_goes_and_nobody_else_changes),
		cmocka_unit_test(nobodys_entries_never_go_round),
		cmocka_unit_test(nobodys_entry_does_not_enter_a_loop_cable),
		cmocka_unit_test(scattered_tables_survive_a_restart),
		cmocka_unit_test(other_options_place_anew),
		cmocka_unit_test(a_broken_tree_shares_out_what_comes_together),
		cmocka_unit_test(a_large_broken_tree_shares_out_as_well),
		cmocka_unit_test(whole_trees_are_left_alone),
		cmocka_unit_test(what_was_eased_stays),
		cmocka_unit_test(a_leaf_uplink_changes_few_blocks),
	};

	return cmocka_run_group_tests_name("reroute", tests, NULL, NULL);
}
