// SPDX-License-Identifier: BSD-2-Clause
/* What former routing jobs leave for the next: deaths, times, and whether there was a process. */
#include "sm/routing/route_memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "route/select/choose.h"
#include "tests/unit/route-desk.h"

static void an_engine_that_died_is_asked_again_ever_more_rarely(void **state)
{
	struct route_memory *m = route_memory_new();
	struct route_report report = { .n_deaths = 1 };
	mono_t now = 0, last = 0;
	char text[200];
	unsigned n;

	snprintf(report.deaths[0].engine, sizeof(report.deaths[0].engine), "lash");
	snprintf(report.deaths[0].cause, sizeof(report.deaths[0].cause), "deadline");
	snprintf(report.deaths[0].how, sizeof(report.deaths[0].how), "it had no result");
	for (unsigned i = 0; i < 10; i++) {
		route_memory_note(m, NULL, &report, NULL, NULL, now);
		assert_true(route_memory_next(m) - now >= last);
		assert_true(route_memory_next(m) - now <= 3600 * MONO_S);
		last = route_memory_next(m) - now;
		assert_false(route_memory_release(m, now));
		route_memory_str(m, now, text, sizeof(text));
		assert_non_null(strstr(text, "lash (it had no result; it is asked again in "));
		now = route_memory_next(m);
		assert_true(route_memory_release(m, now));
		assert_int_equal(route_memory_next(m), MONO_NEVER);
		route_memory_str(m, now, text, sizeof(text));
		assert_string_equal(text, "");
	}
	assert_int_equal(last, 3600 * MONO_S);
	assert_int_equal(route_memory_counts(m, &n)->n, 10);
	assert_int_equal(n, 1);
	/* A death in a quiet time is counted, and nothing else follows from it. */
	report.deaths[0].quiet = true;
	route_memory_note(m, NULL, &report, NULL, NULL, now);
	assert_int_equal(route_memory_next(m), MONO_NEVER);
	assert_int_equal(route_memory_counts(m, &n)->n, 11);
	report.deaths[0].quiet = false;
	route_memory_note(m, NULL, &report, NULL, NULL, now);
	route_memory_forgive(m);
	assert_int_equal(route_memory_next(m), MONO_NEVER);
	route_memory_free(m);
}

/* One run of it is known. */
static void note_run(struct route_memory *m, const struct topo *t, const char *first, unsigned ms,
		     bool fresh)
{
	struct routes r = { .refs = 2, .topo = t };
	struct route_report report = { .serial = 1, .ms = ms, .fresh = fresh };
	const struct route_report none = { 0 };

	snprintf(report.first, sizeof(report.first), "%s", first);
	route_memory_note(m, &r, &report, NULL, NULL, 0);
	route_memory_note(m, NULL, &none, NULL, NULL, 0); /* lets go of r */
}

static unsigned limit_of(const struct route_memory *m, const struct topo *t, const char *first,
			 bool fresh, bool slow)
{
	const struct route_runs runs = route_memory_runs(m);

	return route_limit_ms(&runs, t, first, fresh, slow);
}

static void the_deadline_is_seconds_by_the_size_of_the_fabric(void **state)
{
	struct topo *t = topogen_fat_tree2(36, 18, 18, 1, &(struct topogen){ .seed = 1 });
	const struct topo big = { .n_switches = 3920, .max_lid = 47824 };
	const struct topo random = { .n_switches = 512, .max_lid = 4608 };
	struct route_memory *m = route_memory_new();

	for (unsigned fresh = 0; fresh < 2; fresh++) {
		assert_in_range(limit_of(m, t, "auto", fresh, false), 10000, 11000);
		assert_int_equal(limit_of(m, &big, "auto", fresh, false), 30000);
		/* 13 s of auto are measured */
		assert_in_range(limit_of(m, &random, "auto", fresh, false), 26000, 30000);
		/* 122 s of dfsssp are, and the daemon takes 9 min for hanging */
		assert_in_range(limit_of(m, &big, "dfsssp", fresh, true), 150000, 240000);
	}
	route_memory_free(m);
	topo_unref(t);
}

static void the_deadline_follows_the_last_run_of_the_same_engine(void **state)
{
	struct topo big = { .n_switches = 3920, .max_lid = 47824 };
	struct route_memory *m = route_memory_new();

	note_run(m, &big, "auto", 2200, true);
	assert_int_equal(limit_of(m, &big, "auto", true, false), 10000 + 5 * 2200);
	assert_int_equal(limit_of(m, &big, "auto", false, false), 10000 + 5 * 2200);
	/* of another engine nothing is known */
	assert_int_equal(limit_of(m, &big, "updn", true, false), 30000);
	/* A host more, and a small change: what large ones take is not forgotten. */
	big.max_lid++;
	note_run(m, &big, "auto", 40, false);
	assert_int_equal(limit_of(m, &big, "auto", true, false), 10000 + 5 * 2200);
	assert_int_equal(limit_of(m, &big, "auto", false, false), 10000 + 5 * 2200);
	/* The run of a small part says nothing of the whole. */
	note_run(m, &(struct topo){ .n_switches = 2, .max_lid = 9 }, "auto", 1, true);
	assert_int_equal(limit_of(m, &big, "auto", true, false), 30000);
	note_run(m, &big, "dfsssp", 15000, true);
	assert_int_equal(limit_of(m, &big, "dfsssp", true, true), 10000 + 5 * 15000);
	route_memory_forgive(m);
	assert_in_range(limit_of(m, &big, "dfsssp", true, true), 150000, 240000);
	route_memory_free(m);
}

/* What is left out neither comes first nor takes time. */
static void engines_left_out_do_not_count(void **state)
{
	const struct route_skip skip[] = { { .engine = "nue" },
					   { .engine = "updn" },
					   { .engine = "auto" },
					   { .engine = "minhop" } };
	struct route_chain chain = { .list = "nue, updn", .skip = skip };
	const char *const firsts[] = { "nue", "updn", "auto", "minhop", NULL };

	for (chain.n_skip = 0; chain.n_skip < ARRAY_SIZE(firsts); chain.n_skip++) {
		const struct route_engine *first = route_chain_first(&chain);

		assert_int_equal(!first, !firsts[chain.n_skip]);
		if (first)
			assert_string_equal(first->name, firsts[chain.n_skip]);
		assert_int_equal(route_chain_is_slow(&chain), chain.n_skip == 0);
	}
	chain = (struct route_chain){ .list = "nue no_fallback", .skip = skip, .n_skip = 1 };
	assert_null(route_chain_first(&chain));
	chain = (struct route_chain){ .list = NULL };
	assert_string_equal(route_chain_first(&chain)->name, "auto");
	assert_false(route_chain_is_slow(&chain));
}

static void a_process_is_tried_again_after_longer_pauses(void **state)
{
	struct route_memory *m = route_memory_new();
	struct route_report report = { .no_child = EAGAIN };
	mono_t now = 0, last = 0;
	char text[200];

	assert_int_equal(route_memory_child_next(m), MONO_NEVER);
	for (unsigned i = 0; i < 10; i++) {
		route_memory_note(m, NULL, &report, NULL, NULL, now);
		assert_int_equal(route_memory_no_child(m), EAGAIN);
		assert_false(route_memory_release_child(m, now));
		assert_in_range(route_memory_child_next(m) - now, MAX(last, 10 * MONO_S),
				300 * MONO_S);
		last = route_memory_child_next(m) - now;
		now += last;
		assert_true(route_memory_release_child(m, now));
		assert_int_equal(route_memory_child_next(m), MONO_NEVER);
	}
	assert_int_equal(last, 300 * MONO_S);
	route_memory_str(m, now, text, sizeof(text));
	assert_string_equal(text, "a process of its own (Resource temporarily unavailable)");
	report = (struct route_report){ .serial = 1 };
	route_memory_note(m, NULL, &report, NULL, NULL, now);
	assert_int_equal(route_memory_no_child(m), 0);
	route_memory_str(m, now, text, sizeof(text));
	assert_string_equal(text, "");
	report = (struct route_report){ .no_child = EAGAIN };
	route_memory_note(m, NULL, &report, NULL, NULL, now);
	assert_int_equal(route_memory_child_next(m), now + 10 * MONO_S);
	route_memory_free(m);
}

/* A SIGHUP that changed nothing brings options that are the same, in another place. */
static void a_child_goes_on_with_options_that_are_the_same(void **state)
{
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct conf *conf = conf_new(), *same = conf_new(), *other = conf_new();
	struct routes *r = routes_new(t, "minhop", t->max_lid);
	struct route_task task = { .previous = r, .conf = conf };
	struct route_report report = { .serial = 5 };
	struct route_memory *m = route_memory_new();
	const struct conf_place nowhere = { 0 };
	struct conf_report said = { 0 };

	assert_int_equal(conf_set(other, CONF_ID_routing_engine, "updn", &nowhere, &said), 0);
	conf_report_clear(&said);
	route_memory_note(m, r, &report, conf, NULL, 0);
	assert_int_equal(route_memory_follows(m, &task), 5);
	task.conf = same;
	assert_int_equal(route_memory_follows(m, &task), 5);
	task.conf = other;
	assert_int_equal(route_memory_follows(m, &task), 0);
	route_memory_free(m);
	routes_unref(r);
	conf_unref(conf);
	conf_unref(same);
	conf_unref(other);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_that_died_is_asked_again_ever_more_rarely),
		cmocka_unit_test(the_deadline_is_seconds_by_the_size_of_the_fabric),
		cmocka_unit_test(the_deadline_follows_the_last_run_of_the_same_engine),
		cmocka_unit_test(engines_left_out_do_not_count),
		cmocka_unit_test(a_process_is_tried_again_after_longer_pauses),
		cmocka_unit_test(a_child_goes_on_with_options_that_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
