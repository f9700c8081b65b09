// SPDX-License-Identifier: BSD-2-Clause
/*
 * What documents of a large fabric are made from is collected in turns, between which the manager
 * goes on: they show one state of the fabric, that of the last turn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/gen/gen.h"
#include "show-world.h"
#include "sm/trust/violations.h"

/* 3,456 hosts on 720 switches: more than a turn has room for. */
enum { ARITY = 24, PORTS_OF_A_TURN = 4096 };

static struct world world;

static int start_large(void **state)
{
	memset(&world, 0, sizeof(world));
	world_start(&world, gen_fat_tree3(ARITY), NULL, NULL);
	*state = &world;
	return 0;
}

struct asking {
	const struct control_method *m;
	struct world *w;
	void *snapshot;
	unsigned turns;
};

static struct asking begin(struct world *w, const char *name)
{
	struct asking a = { .m = method_of(name), .w = w };
	struct control_error err = { 0 };
	struct json_object *p = json_object_new_object();

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

static struct json_object *end(struct asking *a)
{
	struct control_error err = { 0 };
	struct json_object *ret;

	while (turn(a))
		assert_true(a->turns < 100);
	ret = a->m->render(a->snapshot, &err);
	assert_non_null(ret);
	a->m->drop(a->snapshot);
	return ret;
}

/* Texts of both: they are freed. */
static bool is_same(struct json_object *a, struct json_object *b)
{
	bool ret = !strcmp(json_object_to_json_string(a), json_object_to_json_string(b));

	json_object_put(a);
	json_object_put(b);
	return ret;
}

static void a_large_fabric_is_collected_in_turns(void **state)
{
	static const char *const names[] = { "Topology", "Nodes", "Ports", "Path", "Partitions",
					     "Groups", "Sa" };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct asking a = begin(w, names[i]);

		while (turn(&a))
			assert_true(a.turns < 100);
		assert_true(a.turns > sm_fabric(w->api.sm)->n_nodes * 2 / PORTS_OF_A_TURN + 2);
		a.m->drop(a.snapshot);
	}
}

static void a_link_that_falls_meanwhile_is_down_at_both_ends(void **state)
{
	struct world *w = *state;
	struct asking a = begin(w, "Topology");
	struct json_object *before, *doc;

	before = ask(w, "Topology", "{}");
	for (unsigned i = 0; i < 4; i++)
		assert_true(turn(&a));
	sim_link_down(w->rig->sim, sim_find(w->rig->sim, "leaf2"), 1);
	rig_run(w->rig, 30 * MONO_S);
	doc = end(&a);
	assert_false(is_same(json_object_get(before), json_object_get(doc)));
	json_object_put(before);
	assert_true(is_same(doc, ask(w, "Topology", "{}")));
}

static void a_switch_that_is_cut_off_meanwhile_is_said_of_all_behind_it(void **state)
{
	struct world *w = *state;
	struct asking a = begin(w, "Ports");
	int leaf = sim_find(w->rig->sim, "leaf9");

	for (unsigned i = 0; i < 4; i++)
		assert_true(turn(&a));
	for (unsigned port = ARITY / 2 + 1; port <= ARITY; port++)
		sim_link_down(w->rig->sim, leaf, port);
	rig_run(w->rig, 30 * MONO_S);
	assert_true(is_same(end(&a), ask(w, "Ports", "{}")));
}

static void a_manager_that_goes_meanwhile_leaves_nothing_behind(void **state)
{
	struct world *w = *state;
	struct asking a = begin(w, "Topology");

	assert_true(turn(&a));
	assert_true(turn(&a));
	a.m->drop(a.snapshot);
}

/* The host at port 2 of leaf1 does; nothing else changes. */
static void break_a_rule(struct world *w)
{
	guid_t leaf = sim_node_guid(w->rig->sim, sim_find(w->rig->sim, "leaf1"));

	violation_count(w->api.sm, VIOLATION_P_KEY,
			&fabric_find_node(sm_fabric(w->api.sm), leaf)->ports[2]);
}

/* The first one of all, when the ports were copied already; then one more. */
static void a_rule_that_is_broken_meanwhile_is_counted(void **state)
{
	struct world *w = *state;

	for (unsigned n = 1; n <= 2; n++) {
		struct asking a = begin(w, "Ports"), later;
		struct json_object *doc, *after;

		for (unsigned i = 0; i < 7; i++)
			assert_true(turn(&a));
		break_a_rule(w);
		doc = end(&a);
		later = begin(w, "Ports");
		after = end(&later);
		assert_non_null(strstr(json_object_to_json_string(after), "\"p_key\""));
		assert_true(is_same(doc, after));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_fabric_is_collected_in_turns),
		cmocka_unit_test(a_link_that_falls_meanwhile_is_down_at_both_ends),
		cmocka_unit_test(a_switch_that_is_cut_off_meanwhile_is_said_of_all_behind_it),
		cmocka_unit_test(a_rule_that_is_broken_meanwhile_is_counted),
		cmocka_unit_test(a_manager_that_goes_meanwhile_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, start_large, stop);
}
