// SPDX-License-Identifier: BSD-2-Clause
/*
 * TopologyText: the cables of a large fabric are collected in turns, and what is written is of one
 * moment: that of the last turn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/json.h"
#include "control/control.h"
#include "sim/gen/gen.h"
#include "show-world.h"
#include "topo/expect_file.h"

/* 3,456 hosts on 720 switches: more than a turn has room for. One link is down from the start. */
enum { ARITY = 24, CABLES = 3 * ARITY * ARITY * ARITY / 4 - 1 };

static struct world world;

static int start_large(void **state)
{
	memset(&world, 0, sizeof(world));
	world_start(&world, gen_fat_tree3(ARITY), NULL, NULL);
	*state = &world;
	return 0;
}

static const struct control_method *topology_text(void)
{
	for (const struct control_method *m = control_methods; m->name; m++)
		if (!strcmp(m->name, "TopologyText"))
			return m;
	fail();
	return NULL;
}

struct asking {
	const struct control_method *m;
	struct world *w;
	void *snapshot;
	unsigned turns;
};

static struct asking begin(struct world *w)
{
	struct asking a = { .m = topology_text(), .w = w };
	struct control_error err = { 0 };
	struct json_object *p = json_tokener_parse("{\"csv\": true}");

	a.snapshot = a.m->snapshot(a.m, &w->api, p, &err);
	assert_non_null(a.snapshot);
	json_object_put(p);
	return a;
}

static bool turn(struct asking *a)
{
	struct control_error err = { 0 };
	enum control_collected got = a->m->collect(a->snapshot, &a->w->api, &err);

	assert_int_not_equal(got, CONTROL_FAILED);
	a->turns++;
	return got == CONTROL_MORE;
}

/* The text, and how many cables the document says; to be freed. */
static char *end(struct asking *a, int *ret_cables)
{
	struct control_error err = { 0 };
	struct json_object *doc;
	char *ret;

	while (turn(a))
		assert_true(a->turns < 100);
	doc = a->m->render(a->snapshot, &err);
	assert_non_null(doc);
	a->m->drop(a->snapshot);
	ret = xstrdup(json_str(doc, "text"));
	*ret_cables = json_object_get_int(json_object_object_get(doc, "cables"));
	json_object_put(doc);
	return ret;
}

static void a_large_fabric_is_collected_in_turns(void **state)
{
	struct asking a = begin(*state);
	struct conf_report report = { 0 };
	int cables;
	_cleanup_free_ char *text = end(&a, &cables);
	_cleanup_(expect_freep) struct expect *x =
		expect_read_text("saved", text, strlen(text), &report);

	assert_non_null(x);
	assert_int_equal(cables, CABLES);
	assert_int_equal(expect_count_cables(x), CABLES);
	assert_true(a.turns > 4);
	conf_report_clear(&report);
}

static void cables_that_go_meanwhile_are_not_in_it(void **state)
{
	struct world *w = *state;
	struct asking a = begin(w), later;
	int leaf = sim_find(w->rig->sim, "leaf9"), cables, cables_later;
	_cleanup_free_ char *text = NULL, *text_later = NULL;

	for (unsigned i = 0; i < 3; i++)
		assert_true(turn(&a));
	for (unsigned port = ARITY / 2 + 1; port <= ARITY; port++)
		sim_link_down(w->rig->sim, leaf, port);
	rig_run(w->rig, 30 * MONO_S);
	text = end(&a, &cables);
	later = begin(w);
	text_later = end(&later, &cables_later);
	assert_string_equal(text, text_later);
	assert_int_equal(cables, cables_later);
	assert_true(cables <= CABLES - ARITY / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_fabric_is_collected_in_turns),
		cmocka_unit_test(cables_that_go_meanwhile_are_not_in_it),
	};

	return cmocka_run_group_tests(tests, start_large, stop);
}
