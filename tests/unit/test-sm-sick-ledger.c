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
#include "util/hash.h"

#define FORMER "link_health"

/* The port has counted symbol errors. */
static void errors_at(struct world *w, const char *name, unsigned port, unsigned n)
{
	struct port_counts c = { .interval_us = 10000000, .known = 1u << PORT_COUNT_SYMBOL_ERRORS };

	c.grown[PORT_COUNT_SYMBOL_ERRORS] = n;
	sm_port_counts(w->sm, guid_of(w, name), port, &c);
}

/* The key of the row of this cable. */
static struct ledger_key key_of(struct world *w, const char *name, unsigned port)
{
	uint32_t link = health_find(sick_judge(w->sm), guid_of(w, name), port);
	struct ledger_key key = { .table = LEDGER_HEALTH, .len = 9 };
	struct health_end at;

	assert_int_not_equal(link, UINT32_MAX);
	at = health_verdict(sick_judge(w->sm), link)->end[0];
	ib_bits_put(key.bytes, 0, 64, at.node);
	key.bytes[8] = at.port;
	return key;
}

/* The number of the last change of the row; 0: it is not there, or removed. */
static uint64_t row_number(struct world *w, const struct ledger_key *key)
{
	struct ledger_value v;

	return ledger_get(settle_ledger(w->sm), key, &v) ? v.dot.number : 0;
}

/* ---- what is stored, and when ---------------------------------------------------------------- */

static void only_rows_that_changed_are_stored(void **st)
{
	struct world *w = *st;
	struct ledger_key a, b;
	char dir[SCRATCH_PATH];
	unsigned one, other;
	uint64_t first;

	start_in(w, scratch_folder(dir));
	one = uplink(w, "leaf2", "spine1");
	other = uplink(w, "leaf3", "spine1");
	errors_at(w, "leaf2", one, 1);
	errors_at(w, "leaf3", other, 1);
	run_for(w, MONO_S);
	a = key_of(w, "leaf2", one);
	b = key_of(w, "leaf3", other);
	first = row_number(w, &a);
	assert_int_not_equal(first, 0);
	assert_int_equal(row_number(w, &b), first);
	errors_at(w, "leaf2", one, 1); /* no finding yet */
	run_for(w, 280 * MONO_S);
	assert_int_equal(row_number(w, &a), first);
	run_for(w, 30 * MONO_S);
	assert_int_equal(row_number(w, &a), first + 1);
	assert_int_equal(row_number(w, &b), first);
	scratch_remove(dir);
}

static void a_finding_is_stored_soon(void **st)
{
	struct world *w = *st;
	struct ledger_key key;
	char dir[SCRATCH_PATH];
	unsigned port;
	uint64_t first;

	start_in(w, scratch_folder(dir));
	port = uplink(w, "leaf2", "spine1");
	errors_at(w, "leaf2", port, 1);
	run_for(w, MONO_S);
	key = key_of(w, "leaf2", port);
	first = row_number(w, &key);
	errors_at(w, "leaf2", port, 100);
	run_for(w, 12 * MONO_S);
	assert_true(row_number(w, &key) > first);
	scratch_remove(dir);
}

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

static void what_is_cleared_stays_so_over_a_restart(void **st)
{
	struct world *w = *st;
	struct ledger_key key;
	struct sick_shown s;
	char dir[SCRATCH_PATH];
	unsigned port;

	start_in(w, scratch_folder(dir));
	port = uplink(w, "leaf2", "spine1");
	errors_at(w, "leaf2", port, 100);
	run_for(w, 12 * MONO_S);
	key = key_of(w, "leaf2", port);
	assert_int_not_equal(row_number(w, &key), 0);
	assert_true(sm_sick_clear(w->sm, guid_of(w, "leaf2"), port));
	run_for(w, MONO_S);
	assert_int_equal(row_number(w, &key), 0);
	start_again(w, dir);
	assert_false(sm_sick_at(w->sm, 0, &s));
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

/* ---- a port that is to be disabled ----------------------------------------------------------- */

/* There is always a manager that knows to enable it. */
static void a_port_is_not_disabled_before_that_is_stored(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	unsigned port, far;

	w->conf->hm_dry_run = false;
	free(w->conf->hm_sw_symbol_ber_action);
	w->conf->hm_sw_symbol_ber_action = xstrdup("disable");
	start_in(w, scratch_folder(dir));
	port = uplink(w, "leaf2", "spine1");
	far = port_of(w, "leaf2", port)->peer->num;
	fill_disk(true);
	errors_at(w, "leaf2", port, 100);
	run_for(w, 60 * MONO_S);
	fill_disk(false);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT)); /* isolated all the same */
	assert_int_not_equal(sim_phys_state(w->sim, node_of(w, "spine1"), far), IB_PHYS_DISABLED);
	run_for(w, 330 * MONO_S);
	assert_int_equal(sim_phys_state(w->sim, node_of(w, "spine1"), far), IB_PHYS_DISABLED);
	scratch_remove(dir);
}

/* ---- the file of former builds --------------------------------------------------------------- */

/* Of the cable at `p`: three link downs, found. `damaged`: and a bit of it is another one. */
static void write_former(const char *dir, const struct health_end end[2], bool damaged)
{
	_cleanup_free_ char *path = xasprintf("%s/" FORMER, dir);
	_cleanup_free_ char *text = xasprintf("opensm link health 1\nsweep 8\n"
					      "link 0x%" PRIx64 " %u 0x%" PRIx64 " %u 0 64 "
					      "1699999000 1699999900\n"
					      "events 6 1699999000 1699999500 1699999900\n",
					      end[0].node, end[0].port, end[1].node, end[1].port);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "%send 0x%016" PRIx64 "\n", text,
		hash_bytes(HASH_START, text, strlen(text)) ^ damaged);
	assert_int_equal(fclose(f), 0);
}

/* A manager has run in this folder, and stored no health. */
static void start_without_rows(struct world *w, char dir[SCRATCH_PATH], struct health_end ret[2])
{
	const struct port *p;

	start_in(w, scratch_folder(dir));
	p = port_of(w, "leaf2", uplink(w, "leaf2", "spine1"));
	ret[0] = (struct health_end){ p->node->guid, p->num };
	ret[1] = (struct health_end){ p->peer->node->guid, p->peer->num };
	rig_kill(w->rig, (unsigned)rig_find(w->rig, "h0"));
}

static void what_a_former_build_knew_is_known_and_becomes_rows(void **st)
{
	struct world *w = *st;
	struct health_end end[2];
	struct sick_shown s;
	char dir[SCRATCH_PATH];

	start_without_rows(w, dir, end);
	write_former(dir, end, false);
	start_in(w, dir);
	assert_true(sm_sick_at(w->sm, 0, &s));
	assert_int_equal(s.verdict->on, 1u << HEALTH_LINK_DOWN);
	assert_false(has_file(dir, FORMER));
	assert_true(has_file(dir, FORMER ".taken"));
	start_again(w, dir);
	assert_true(sm_sick_at(w->sm, 0, &s));
	assert_int_equal(s.verdict->since, 1699999000);
	assert_true(sm_sick_clear(w->sm, end[0].node, end[0].port));
	run_for(w, MONO_S);
	write_former(dir, end, false); /* as after a way back, and forth */
	start_again(w, dir);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_false(has_file(dir, FORMER));
	scratch_remove(dir);
}

static void a_damaged_file_of_a_former_build_is_kept_beside(void **st)
{
	struct world *w = *st;
	struct health_end end[2];
	struct sick_shown s;
	char dir[SCRATCH_PATH];

	start_without_rows(w, dir, end);
	write_former(dir, end, true);
	listen_for(w, "damaged: what was known of the health of links is forgotten");
	start_in(w, dir);
	assert_true(w->said);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_true(has_file(dir, FORMER ".bad"));
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
		TEST(only_rows_that_changed_are_stored),
		TEST(a_finding_is_stored_soon),
		TEST(all_rows_are_stored_in_the_end),
		TEST(what_is_cleared_stays_so_over_a_restart),
		TEST(a_row_that_is_not_understood_is_left_alone),
		TEST(a_port_is_not_disabled_before_that_is_stored),
		TEST(what_a_former_build_knew_is_known_and_becomes_rows),
		TEST(a_damaged_file_of_a_former_build_is_kept_beside),
		TEST(a_healthy_line_counts_again_after_another_master),
		TEST(what_another_manager_found_is_acted_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
