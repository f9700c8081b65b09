// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links out of service, and the health of links, with two managers: the standby has stored each
 * change, takes over with all marks in force before its first routing, and one whose disk fails is
 * told of.
 */
#include "two-managers.h"

#include <sys/stat.h>

#include "fabric/words.h"
#include "ledger/store.h"
#include "sm/channel/channel.h"
#include "sm/health/sick.h"
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

static unsigned state(struct world *w, unsigned which)
{
	return sim_port_state(w->rig->sim, sim_find(w->rig->sim, "leaf2"), uplink(w, which));
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

static void a_change_is_with_the_standby_when_it_is_answered(void **st)
{
	struct world *w = *st;
	struct mark_result r;

	start_both(w);
	r = mark(w, ACTIVE, MARK_DO_ISOLATE);
	assert_int_equal(r.end, MARK_DONE);
	assert_int_equal(r.state, MARK_ISOLATED);
	assert_true(r.replicated);
	assert_int_equal(r.n_standbys, 1);
	assert_int_equal(r.n_standbys_with, 1);
	assert_agree(w, SPARE, ACTIVE);
	assert_int_equal(marks_table(sm_of(w, SPARE))->n, 1);
	r = mark(w, ACTIVE, MARK_DO_RESTORE);
	assert_int_equal(r.n_standbys_with, 1);
	assert_agree(w, SPARE, ACTIVE);
	assert_int_equal(marks_table(sm_of(w, SPARE))->n, 0);
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

static void a_takeover_finds_links_out_of_service(void **st)
{
	struct world *w = *st;

	start_both(w);
	mark(w, ACTIVE, MARK_DO_ISOLATE);
	rig_kill(w->rig, ACTIVE);
	for (unsigned i = 0; i < 4000 && rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S); i++)
		assert_int_not_equal(state(w, SPARE), IB_PORT_ACTIVE);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_int_equal(state(w, SPARE), IB_PORT_INIT);
	assert_int_equal(mark(w, SPARE, MARK_DO_RESTORE).end, MARK_DONE);
	attend(w, 4, 20 * MONO_S);
	assert_int_equal(state(w, SPARE), IB_PORT_ACTIVE);
}

/* The former master comes back by its priority, and takes over with what was changed meanwhile. */
static void a_former_master_learns_what_was_changed_without_it(void **st)
{
	struct world *w = *st;
	int back;

	start_both(w);
	mark(w, ACTIVE, MARK_DO_ISOLATE);
	fail_over(w);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(mark(w, SPARE, MARK_DO_RESTORE).end, MARK_DONE);
	assert_int_equal(mark(w, SPARE, MARK_DO_DRAIN).end, MARK_DONE);
	back = rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]);
	assert_true(back >= 0);
	assert_int_equal(marks_table(sm_of(w, back))->all[0].kind, MARK_ISOLATE);
	attend(w, 4, 90 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, back)), SM_MASTER);
	assert_agree(w, back, SPARE);
	assert_int_equal(marks_table(sm_of(w, back))->all[0].kind, MARK_DRAIN);
	assert_int_equal(state(w, SPARE), IB_PORT_ACTIVE);
}

static void a_standby_refuses(void **st)
{
	struct world *w = *st;

	start_both(w);
	assert_int_equal(mark(w, SPARE, MARK_DO_DRAIN).end, MARK_NOT_MASTER);
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

static void a_late_standby_is_sent_the_table(void **st)
{
	struct world *w = *st;

	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 5 * MONO_S);
	assert_false(mark(w, ACTIVE, MARK_DO_DRAIN).replicated);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE);
	attend(w, 4, 30 * MONO_S);
	assert_agree(w, SPARE, ACTIVE);
	assert_int_equal(marks_table(sm_of(w, SPARE))->n, 1);
}

/* Two of three symbol errors are counted by one manager, the third by the next. */
static void windows_of_health_survive_a_takeover(void **st)
{
	struct world *w = *st;
	struct port_counts c = { .interval_us = 10000000,
				 .known = 1u << PORT_COUNT_SYMBOL_ERRORS };
	guid_t leaf;
	unsigned port;

	start_both(w);
	leaf = guid_of(w, "leaf2");
	port = uplink(w, ACTIVE);
	c.grown[PORT_COUNT_SYMBOL_ERRORS] = 2;
	sm_port_counts(sm_of(w, ACTIVE), leaf, port, &c);
	rig_run(w->rig, sim_now(w->rig->sim) + 30 * MONO_S);
	fail_over(w);
	assert_int_equal(sm_sick_links(sm_of(w, SPARE), SICK_DRY_RUN), 0);
	c.grown[PORT_COUNT_SYMBOL_ERRORS] = 1;
	sm_port_counts(sm_of(w, SPARE), leaf, port, &c);
	assert_int_equal(sm_sick_links(sm_of(w, SPARE), SICK_DRY_RUN), 1);
}

/* The new master knows that the port was disabled here, and enables it when all is in order. */
static void a_takeover_knows_which_ports_are_disabled(void **st)
{
	struct world *w = *st;
	guid_t leaf = guid_of(w, "leaf2");
	struct port_counts c = { .interval_us = 10000000,
				 .known = 1u << PORT_COUNT_SYMBOL_ERRORS };
	int node = sim_find(w->rig->sim, "leaf2");
	unsigned port;

	for (unsigned i = 0; i < 2; i++) {
		w->conf[i]->hm_dry_run = false;
		free(w->conf[i]->hm_sw_symbol_ber_action);
		w->conf[i]->hm_sw_symbol_ber_action = xstrdup("disable");
	}
	start_both(w);
	port = uplink(w, ACTIVE);
	c.grown[PORT_COUNT_SYMBOL_ERRORS] = 2;
	sm_port_counts(sm_of(w, ACTIVE), leaf, (uint8_t)port, &c);
	rig_run(w->rig, sim_now(w->rig->sim) + 30 * MONO_S); /* the standby was told that much */
	sm_port_counts(sm_of(w, ACTIVE), leaf, (uint8_t)port, &c);
	rig_run(w->rig, sim_now(w->rig->sim) + 40 * MONO_S);
	assert_int_equal(sim_port_state(w->rig->sim, node, port), IB_PORT_DOWN);
	fail_over(w);
	rig_run(w->rig, sim_now(w->rig->sim) + 30 * MONO_S);
	assert_int_equal(sim_port_state(w->rig->sim, node, port), IB_PORT_DOWN);
	assert_int_equal(sm_sick_links(sm_of(w, SPARE), SICK_ISOLATED), 1);
	assert_true(sm_sick_clear(sm_of(w, SPARE), leaf, port));
	rig_run(w->rig, sim_now(w->rig->sim) + 40 * MONO_S);
	assert_int_equal(sim_port_state(w->rig->sim, node, port), IB_PORT_ACTIVE);
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
		TEST(a_change_is_with_the_standby_when_it_is_answered),
		TEST(a_takeover_finds_links_out_of_service),
		TEST(a_former_master_learns_what_was_changed_without_it),
		TEST(a_standby_refuses),
		TEST(a_standby_that_cannot_store_is_told_of),
		TEST(a_late_standby_is_sent_the_table),
		TEST(a_standby_that_does_not_answer_is_not_waited_for),
		TEST(a_standby_that_is_storing_is_asked_again),
		TEST(windows_of_health_survive_a_takeover),
		TEST(a_takeover_knows_which_ports_are_disabled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
