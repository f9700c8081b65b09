// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links out of service, with two managers: the standby has stored each change, takes over with all
 * marks in force before its first routing, and one whose disk fails is told of.
 */
#include "two-managers.h"

#include <sys/stat.h>

#include "fabric/words.h"
#include "sm/admin/marks_peers.h"
#include "sm/channel/channel.h"
#include "sm/links/marks.h"
#include "sm/health/sick.h"

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

static void a_change_is_with_the_standby_when_it_is_answered(void **st)
{
	struct world *w = *st;
	struct mark_result r;

	start_both(w);
	r = mark(w, ACTIVE, MARK_DO_ISOLATE);
	assert_int_equal(r.end, MARK_DONE);
	assert_int_equal(r.state, MARK_ISOLATED);
	assert_true(r.replicated);
	assert_int_equal(marks_digest(sm_of(w, SPARE)), marks_digest(sm_of(w, ACTIVE)));
	assert_int_equal(marks_table(sm_of(w, SPARE))->n, 1);
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
	assert_int_equal(marks_digest(sm_of(w, back)), marks_digest(sm_of(w, SPARE)));
	assert_int_equal(marks_table(sm_of(w, back))->all[0].kind, MARK_DRAIN);
	assert_int_equal(state(w, SPARE), IB_PORT_ACTIVE);
}

static void a_standby_refuses(void **st)
{
	struct world *w = *st;

	start_both(w);
	assert_int_equal(mark(w, SPARE, MARK_DO_DRAIN).end, MARK_NOT_MASTER);
}

static void a_standby_that_cannot_store_is_told_of(void **st)
{
	struct world *w = *st;
	char path[SCRATCH_PATH + 40];
	struct mark_result r;

	start_both(w);
	snprintf(path, sizeof(path), "%s/%s", w->dir[SPARE], MARKS_FILE);
	assert_int_equal(mkdir(path, 0700), 0);
	r = mark(w, ACTIVE, MARK_DO_DRAIN);
	assert_int_equal(r.end, MARK_DONE);
	assert_false(r.replicated);
	assert_int_equal(said("this standby cannot store which links are out of service", ""), 1);
	assert_int_equal(rmdir(path), 0);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(marks_digest(sm_of(w, SPARE)), marks_digest(sm_of(w, ACTIVE)));
}

static void a_late_standby_is_sent_the_table(void **st)
{
	struct world *w = *st;

	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 5 * MONO_S);
	assert_false(mark(w, ACTIVE, MARK_DO_DRAIN).replicated);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(marks_digest(sm_of(w, SPARE)), marks_digest(sm_of(w, ACTIVE)));
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

/* A session breaks while the standby stores the table: the next message is answered, too. */
static void a_standby_that_is_storing_says_so(void **st)
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
	assert_false(marks_peers_is_with(sm_of(w, ACTIVE), guid));
	spare_tap(w)->channel.cut = true;
	while (channel_is_connected(sm_of(w, ACTIVE), guid))
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	spare_tap(w)->channel.cut = false;
	attend(w, 4, 45 * MONO_S); /* with no reply the master would wait for a minute */
	assert_true(marks_peers_is_with(sm_of(w, ACTIVE), guid));
	assert_int_equal(marks_digest(sm_of(w, SPARE)), marks_digest(sm_of(w, ACTIVE)));
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
		TEST(a_standby_that_is_storing_says_so),
		TEST(windows_of_health_survive_a_takeover),
		TEST(a_takeover_knows_which_ports_are_disabled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
