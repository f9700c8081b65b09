// SPDX-License-Identifier: BSD-2-Clause
/*
 * TopologyText: the cables of a large fabric are collected in turns, and what is written is of one
 * moment: that of the last turn. SetExpectedTopology: a manager that is not the master any more
 * writes nothing.
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

static const struct control_method *method(const char *name)
{
	for (const struct control_method *m = control_methods; m->name; m++)
		if (!strcmp(m->name, name))
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

static struct asking ask_for(struct world *w, const char *name, const char *parameters)
{
	struct asking a = { .m = method(name), .w = w };
	struct control_error err = { 0 };
	struct json_object *p = json_tokener_parse(parameters);

	a.snapshot = a.m->snapshot(a.m, &w->api, p, &err);
	assert_non_null(a.snapshot);
	json_object_put(p);
	return a;
}

static struct asking begin(struct world *w)
{
	return ask_for(w, "TopologyText", "{\"csv\": true}");
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

/* ---- a master that is none any more ---------------------------------------------------------- */

static char dir[SCRATCH_PATH], file[SCRATCH_PATH + 16];
static unsigned reloads;

static void on_reload(void *arg)
{
	reloads++;
}

static int start_small(void **state)
{
	memset(&world, 0, sizeof(world));
	world_start(&world, parse(net_text), NULL, NULL);
	scratch_folder(dir);
	snprintf(file, sizeof(file), "%s/meant", dir);
	world.conf->expected_topology_file = xstrdup(file);
	world.api.reload = on_reload;
	reloads = 0;
	*state = &world;
	return 0;
}

static int stop_small(void **state)
{
	scratch_remove(dir);
	return stop(state);
}

/* A manager of a higher priority comes to h1, and is given the fabric. */
static void lose_mastership(struct world *w)
{
	struct conf *greater = conf_new();

	greater->sm_priority = 15;
	assert_true(rig_start(w->rig, "h1", 0, greater, NULL) > 0);
	conf_unref(greater);
	rig_run(w->rig, sim_now(w->rig->sim) + 60 * MONO_S);
	assert_int_equal(sm_state(w->api.sm), SM_STANDBY);
}

/* The error; "" if there was none. */
static const char *render(struct asking *a)
{
	static struct control_error err;

	err = (struct control_error){ 0 };
	json_object_put(a->m->render(a->snapshot, &err));
	a->m->drop(a->snapshot);
	return err.name ? err.name : "";
}

static const char *collect_error(struct asking *a)
{
	static struct control_error err;

	err = (struct control_error){ 0 };
	assert_int_equal(a->m->collect(a->snapshot, &a->w->api, &err), CONTROL_FAILED);
	a->m->drop(a->snapshot);
	return err.name ? err.name : "";
}

static void assert_nothing_is_written(void)
{
	assert_int_not_equal(access(file, F_OK), 0);
	assert_int_equal(reloads, 0);
}

static void a_master_writes_what_it_finds(void **state)
{
	struct asking a = ask_for(*state, "SetExpectedTopology", "{}");

	while (turn(&a))
		;
	assert_string_equal(render(&a), "");
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(reloads, 1);
}

/* Mastership goes while the fabric is copied; then after it, before the thread writes. */
static void a_standby_writes_no_expected_topology(void **state)
{
	struct asking copying = ask_for(*state, "SetExpectedTopology", "{}");
	struct asking copied = ask_for(*state, "SetExpectedTopology", "{}");
	struct asking given = ask_for(*state, "SetExpectedTopology", "{\"text\": \"x\"}");

	while (turn(&copied))
		;
	lose_mastership(*state);
	assert_string_equal(collect_error(&copying), "NotMaster");
	assert_string_equal(collect_error(&given), "NotMaster");
	assert_string_equal(render(&copied), "NotMaster");
	assert_nothing_is_written();
}

/* opensmctl topology accept and save write what these say. */
static void a_standby_gives_no_text(void **state)
{
	struct asking copying = begin(*state), copied = begin(*state);

	while (turn(&copied))
		;
	lose_mastership(*state);
	assert_string_equal(collect_error(&copying), "NotMaster");
	assert_string_equal(render(&copied), "NotMaster");
}

/* It may have been a standby meanwhile, whose file is that of another master. */
static void a_master_that_was_none_meanwhile_writes_nothing(void **state)
{
	struct world *w = *state;
	struct asking a = ask_for(w, "SetExpectedTopology", "{}");
	const struct sm_event events[] = {
		{ .kind = SM_EVENT_STATE, .state = { SM_MASTER, SM_STANDBY } },
		{ .kind = SM_EVENT_STATE, .state = { SM_STANDBY, SM_MASTER } },
	};

	while (turn(&a))
		;
	for (unsigned i = 0; i < 2; i++)
		daemon_api_note(&w->api, &events[i]);
	assert_string_equal(render(&a), "NotMaster");
	assert_nothing_is_written();
}

/* The port vanishes, and there is another manager when it is back. */
static void another_manager_writes_nothing_either(void **state)
{
	struct world *w = *state;
	struct asking a = ask_for(w, "SetExpectedTopology", "{}");

	while (turn(&a))
		;
	daemon_api_sm_gone(&w->api);
	w->api.sm = w->rig->sms[0].sm;
	assert_string_equal(render(&a), "NotMaster");
	assert_nothing_is_written();
}

#define LARGE(f) cmocka_unit_test_setup_teardown(f, start_large, stop)
#define SMALL(f) cmocka_unit_test_setup_teardown(f, start_small, stop_small)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LARGE(a_large_fabric_is_collected_in_turns),
		LARGE(cables_that_go_meanwhile_are_not_in_it),
		SMALL(a_master_writes_what_it_finds),
		SMALL(a_standby_writes_no_expected_topology),
		SMALL(a_standby_gives_no_text),
		SMALL(a_master_that_was_none_meanwhile_writes_nothing),
		SMALL(another_manager_writes_nothing_either),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
