// SPDX-License-Identifier: BSD-2-Clause
/*
 * The health of links as rows of the ledger: which are stored when, restarts, a full disk, the file
 * of former builds, rows of other managers. What is done about a link: tests/scenario/health-*.scn.
 */
#include "tests/unit/marks-world.h"

#include <inttypes.h>
#include <unistd.h>

#include "sm/health/sick.h"
#include "sm/ledger/settle_internal.h"
#include "tests/lib/scratch.h"

/* The port has counted symbol errors. */
static void errors_at(struct world *w, const char *name, unsigned port, unsigned n)
{
	struct port_counts c = { .interval_us = 10000000, .known = 1u << PORT_COUNT_SYMBOL_ERRORS };

	c.grown[PORT_COUNT_SYMBOL_ERRORS] = n;
	sm_port_counts(w->sm, guid_of(w, name), port, &c);
}

/* The number of the last change of the row; 0: it is not there, or removed. */
static uint64_t row_number(struct world *w, const struct ledger_key *key)
{
	struct ledger_value v;

	return ledger_get(settle_ledger(w->sm), key, &v) ? v.dot.number : 0;
}

/* ---- what is stored, and when ---------------------------------------------------------------- */

/* More links than are stored at a time. */
static void all_rows_are_stored_in_the_end(void **st)
{
	struct world *w = *st;
	struct health *judge;
	char dir[SCRATCH_PATH];

	start_in(w, scratch_folder(dir));
	judge = sick_judge(w->sm);
	for (unsigned i = 0; i < 3000; i++) {
		const struct health_end a = { 1 + i, 1 }, b = { 100000 + i, 1 };

		health_event(judge, health_link(judge, a, b, false), HEALTH_REBOOT,
			     RIG_EPOCH + sim_now(w->sim) / MONO_S);
	}
	errors_at(w, "leaf2", uplink(w, "leaf2", "spine1"), 1);
	run_for(w, 2 * MONO_S);
	assert_int_equal(ledger_rows_there(settle_ledger(w->sm), LEDGER_HEALTH), 3001);
	start_again(w, dir);
	assert_int_not_equal(health_find(sick_judge(w->sm), 102999, 1), UINT32_MAX);
	scratch_remove(dir);
}

/* Written by a later version, which is to find it again. */
static void a_row_that_is_not_understood_is_left_alone(void **st)
{
	struct world *w = *st;
	static const uint8_t bytes[] = { 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0 };
	const struct ledger_key key = { LEDGER_HEALTH, 9, { 0, 0, 0, 0, 0, 0, 0, 7, 1 } };
	const struct ledger_value v = { .dot = { 5, { 0x77, 1 } },
					.len = sizeof(bytes),
					.bytes = bytes };
	_cleanup_(ledger_row_freep) struct ledger_row *row = NULL;
	char dir[SCRATCH_PATH];

	start_in(w, scratch_folder(dir));
	row = ledger_prepare(settle_ledger(w->sm), NULL, &key, &v);
	ledger_merge(w->sm->m.settle->ledger, row);
	disk_tell_owners(w->sm, &key, 1);
	errors_at(w, "leaf2", uplink(w, "leaf2", "spine1"), 100);
	run_for(w, 30 * MONO_S);
	assert_int_equal(row_number(w, &key), 5);
	assert_int_equal(ledger_rows_there(settle_ledger(w->sm), LEDGER_HEALTH), 2);
	scratch_remove(dir);
}

/* ---- rows of other managers ------------------------------------------------------------------ */

/* hm_ports_health_policy_file has one line, on the port. */
static void policy_is(struct world *w, const char *name, unsigned port, const char *state)
{
	FILE *f = fopen(w->conf->hm_ports_health_policy_file, "we");

	assert_non_null(f);
	fprintf(f, "0x%016" PRIx64 " %u %s\n", guid_of(w, name), port, state);
	assert_int_equal(fclose(f), 0);
	sm_request_heavy(w->sm, NULL);
}

/* Another master's file calls the link unhealthy; ours, which is in force again, healthy. */
static void a_healthy_line_counts_again_after_another_master(void **st)
{
	struct world *w = *st;
	uint8_t row[HEALTH_ROW_MAX];
	char dir[SCRATCH_PATH];
	struct sick_shown s;
	struct health_end at;
	unsigned port;
	size_t len;

	w->conf->hm_dry_run = false;
	free(w->conf->hm_ports_health_policy_file);
	w->conf->hm_ports_health_policy_file = xasprintf("%s/policy", scratch_folder(dir));
	start(w);
	port = uplink(w, "leaf2", "spine1");
	policy_is(w, "leaf2", port, "unhealthy isolate");
	run_for(w, 40 * MONO_S);
	assert_true(sm_sick_at(w->sm, 0, &s));
	at = s.verdict->end[0];
	len = health_pack(sick_judge(w->sm), at, row); /* as the other one has it */
	policy_is(w, "leaf2", port, "healthy");
	run_for(w, 60 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	w->sm->state = SM_STANDBY;
	assert_true(health_take(sick_judge(w->sm), at, row, len));
	sick_took(w->sm);
	w->sm->state = SM_MASTER;
	sm_request_heavy(w->sm, NULL);
	run_for(w, 120 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_false(sm_sick_at(w->sm, 0, &s));
	scratch_remove(dir);
}

/* A manager that is master learns of it, as after a split: the next sweep decides. */
static void what_another_manager_found_is_acted_on(void **st)
{
	struct world *w = *st;
	uint8_t row[HEALTH_ROW_MAX];
	struct sick_shown s;
	struct health_end at;
	unsigned port;
	size_t len;

	w->conf->hm_dry_run = false;
	start(w);
	port = uplink(w, "leaf2", "spine1");
	errors_at(w, "leaf2", port, 100);
	assert_true(sm_sick_at(w->sm, 0, &s));
	at = s.verdict->end[0];
	len = health_pack(sick_judge(w->sm), at, row);
	assert_true(sm_sick_clear(w->sm, guid_of(w, "leaf2"), port));
	run_for(w, 20 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_true(health_take(sick_judge(w->sm), at, row, len));
	sick_took(w->sm);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sm_sick_links(w->sm, SICK_ISOLATED), 1);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	assert_true(health_take(sick_judge(w->sm), at, NULL, 0)); /* and cleared it */
	sick_took(w->sm);
	run_for(w, 60 * MONO_S);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(all_rows_are_stored_in_the_end),
		TEST(a_row_that_is_not_understood_is_left_alone),
		TEST(a_healthy_line_counts_again_after_another_master),
		TEST(what_another_manager_found_is_acted_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
