// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links out of service with two managers, where no scenario goes (tests/scenario/marks-managers.scn
 * has the rest): a standby that does not answer, stores slowly, or cannot store.
 */
#include "two-managers.h"

#include <sys/stat.h>

#include "fabric/words.h"
#include "ledger/store.h"
#include "sm/channel/channel.h"
#include "sm/marks/marks.h"

struct answer {
	struct mark_result r;
	unsigned n;
};

static void on_answer(void *arg, const struct mark_result *r)
{
	struct answer *a = arg;

	a->r = *r;
	a->n++;
}

static guid_t guid_of(struct world *w, const char *name)
{
	return sim_node_guid(w->rig->sim, sim_find(w->rig->sim, name));
}

/* The port of leaf2 that leads to spine1. */
static unsigned uplink(struct world *w, unsigned which)
{
	const struct node *n = fabric_find_node(sm_fabric(sm_of(w, which)), guid_of(w, "leaf2"));

	for (unsigned i = 1; i <= n->n_ports; i++)
		if (n->ports[i].peer && !strcmp(node_name(n->ports[i].peer->node), "spine1"))
			return i;
	fail();
	return 0;
}

static struct mark_result mark(struct world *w, unsigned which, enum mark_action action)
{
	const struct mark_request rq = { .action = action,
					 .node = guid_of(w, "leaf2"),
					 .port = (uint8_t)uplink(w, which),
					 .wait = true,
					 .by = "root",
					 .why = "cable" };
	struct answer a = { 0 };

	assert_true(sm_mark_request(sm_of(w, which), &rq, on_answer, &a));
	while (!a.n)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	return a.r;
}

/* Both managers have the same marks, of the same change. */
static void assert_agree(struct world *w, unsigned a, unsigned b)
{
	const struct mark_table *x = marks_table(sm_of(w, a)), *y = marks_table(sm_of(w, b));

	assert_int_equal(x->generation, y->generation);
	assert_int_equal(x->n, y->n);
	for (uint32_t i = 0; i < x->n; i++) {
		assert_int_equal(mark_compare(&x->all[i], &y->all[i]), 0);
		assert_int_equal(x->all[i].kind, y->all[i].kind);
		assert_int_equal(x->all[i].until, y->all[i].until);
		assert_string_equal(x->all[i].by, y->all[i].by);
		assert_string_equal(x->all[i].why, y->all[i].why);
	}
}

/* What it has missed, it gets later. */
static void a_standby_that_does_not_answer_is_not_waited_for(void **st)
{
	struct world *w = *st;
	struct mark_result r;
	mono_t before;

	start_both(w);
	attend(w, 4, 30 * MONO_S);
	spare_tap(w)->channel.cut = true;
	before = sim_now(w->rig->sim);
	r = mark(w, ACTIVE, MARK_DO_DRAIN);
	assert_true(sim_now(w->rig->sim) < before + 5 * MONO_S);
	assert_int_equal(r.end, MARK_DONE);
	assert_false(r.replicated);
	assert_int_equal(r.n_standbys, 1);
	assert_int_equal(r.n_standbys_with, 0);
	assert_int_equal(marks_table(sm_of(w, SPARE))->n, 0);
	spare_tap(w)->channel.cut = false;
	attend(w, 4, 90 * MONO_S);
	assert_agree(w, SPARE, ACTIVE);
}

/* Its file cannot be opened. */
static void a_standby_that_cannot_store_is_told_of(void **st)
{
	struct world *w = *st;
	char path[SCRATCH_PATH + 40];
	struct mark_result r;

	snprintf(path, sizeof(path), "%s/%s", w->dir[SPARE], LEDGER_FILE);
	assert_int_equal(mkdir(path, 0700), 0);
	start_both(w);
	attend(w, 4, 30 * MONO_S);
	r = mark(w, ACTIVE, MARK_DO_DRAIN);
	assert_int_equal(r.end, MARK_DONE);
	assert_false(r.replicated);
	assert_int_equal(r.n_standbys_with, 0);
	assert_int_equal(said("this standby cannot store what is changed at run time", ""), 1);
	rig_kill(w->rig, SPARE);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE + 1);
	attend(w, 4, 90 * MONO_S);
	assert_agree(w, SPARE + 1, ACTIVE);
}

static bool is_with(struct world *w)
{
	const struct sm *sm = sm_of(w, ACTIVE);

	return settle_reach(sm, LEDGER_MARK, sm_marks_generation(sm)).with == 1;
}

/* A session breaks while the standby stores rows: they are sent again, and answered. */
static void a_standby_that_is_storing_is_asked_again(void **st)
{
	struct world *w = *st;
	struct mark_request rq = { .action = MARK_DO_DRAIN, .by = "root", .why = "cable",
				   .node = guid_of(w, "leaf2") };
	struct answer a = { 0 };
	guid_t guid;

	start_both(w);
	guid = sm_of(w, SPARE)->tr->port_guid;
	attend(w, 4, 30 * MONO_S);
	rq.port = (uint8_t)uplink(w, ACTIVE);
	w->rig->disk_time = 20 * MONO_S;
	assert_true(sm_mark_request(sm_of(w, ACTIVE), &rq, on_answer, &a));
	run_for(w, 23 * MONO_S); /* stored by the master, and sent */
	assert_int_equal(marks_table(sm_of(w, ACTIVE))->n, 1);
	assert_false(is_with(w));
	spare_tap(w)->channel.cut = true;
	while (channel_is_connected(sm_of(w, ACTIVE), guid))
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	spare_tap(w)->channel.cut = false;
	w->rig->disk_time = 0;
	attend(w, 4, 90 * MONO_S);
	assert_true(is_with(w));
	assert_agree(w, SPARE, ACTIVE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_standby_that_cannot_store_is_told_of),
		TEST(a_standby_that_does_not_answer_is_not_waited_for),
		TEST(a_standby_that_is_storing_is_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
