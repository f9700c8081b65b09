// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks of links as rows of the ledger, with one manager: restarts, the disk, the file of former
 * builds, and what other managers write.
 */
#include "tests/unit/marks-world.h"

#include <inttypes.h>
#include <unistd.h>

#include "ledger/store.h"
#include "sm/ledger/settle_internal.h"
#include "tests/lib/scratch.h"
#include "util/hash.h"

static void marks_stay_over_a_restart(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	unsigned port, other;
	uint64_t generation;

	scratch_folder(dir);
	start_in(w, dir);
	port = uplink(w, "leaf2", "spine1");
	other = uplink(w, "leaf3", "spine2");
	assert_int_equal(ask(w, MARK_DO_ISOLATE, "leaf2", port).end, MARK_DONE);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf3", other).end, MARK_DONE);
	generation = sm_marks_generation(w->sm);
	start_again(w, dir);
	assert_int_equal(sm_marks_generation(w->sm), generation);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	assert_int_equal(entries_to(w, "leaf3", other), 0);
	assert_int_equal(ask(w, MARK_DO_RESTORE, "leaf2", port).end, MARK_DONE);
	start_again(w, dir);
	assert_true(sm_marks_generation(w->sm) > generation);
	assert_int_equal(marks_table(w->sm)->n, 1);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	scratch_remove(dir);
}

/* ---- the file of former builds --------------------------------------------------------------- */

/* With one mark: port `port` of leaf2 is isolated. `damaged`: and a bit of it is another one. */
static void write_former(struct world *w, const char *dir, unsigned port, bool damaged)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, MARKS_FILE),
			    *text = xasprintf("opensm link marks 1\ngeneration 7\n"
					      "0x%016" PRIx64 " %u isolate - 170 0 root cable\n",
					      guid_of(w, "leaf2"), port);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "%send 0x%016" PRIx64 "\n", text,
		hash_bytes(HASH_START, text, strlen(text)) ^ damaged);
	assert_int_equal(fclose(f), 0);
}

/* A manager has run in this folder, and never had a mark. Returns the port of leaf2 to spine1. */
static unsigned start_without_marks(struct world *w, char dir[SCRATCH_PATH])
{
	unsigned port;

	start_in(w, scratch_folder(dir));
	port = uplink(w, "leaf2", "spine1");
	rig_kill(w->rig, (unsigned)rig_find(w->rig, "h0"));
	sim_reboot(w->sim, node_of(w, "leaf2"), MONO_S);
	return port;
}

static void marks_of_a_former_build_are_in_force_and_become_rows(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	unsigned port = start_without_marks(w, dir);
	mono_t until = sim_now(w->sim) + 30 * MONO_S;

	write_former(w, dir, port, false);
	assert_true(rig_start(w->rig, "h0", 0, w->conf, dir) >= 0);
	while (rig_step(w->rig, until))
		assert_int_not_equal(state(w, "leaf2", port), IB_PORT_ACTIVE);
	w->sm = rig_master(w->rig);
	assert_int_equal(marks_table(w->sm)->n, 1);
	assert_false(has_file(dir, MARKS_FILE));
	assert_true(has_file(dir, MARKS_FILE ".taken"));
	start_again(w, dir);
	assert_int_equal(marks_table(w->sm)->all[0].kind, MARK_ISOLATE);
	assert_string_equal(marks_table(w->sm)->all[0].why, "cable");
	assert_int_equal(ask(w, MARK_DO_RESTORE, "leaf2", port).end, MARK_DONE);
	start_again(w, dir);
	assert_int_equal(marks_table(w->sm)->n, 0);
	scratch_remove(dir);
}

static void a_damaged_file_of_a_former_build_is_kept_beside(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	unsigned port = start_without_marks(w, dir);

	write_former(w, dir, port, true);
	listen_for(w, "damaged: no link is marked");
	start_in(w, dir);
	assert_true(w->said);
	assert_int_equal(marks_table(w->sm)->n, 0);
	assert_false(has_file(dir, MARKS_FILE));
	assert_true(has_file(dir, MARKS_FILE ".bad"));
	scratch_remove(dir);
}

/* As after a way back to a former build, and forth. */
static void a_file_of_a_former_build_counts_for_nothing_beside_rows(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	unsigned port;

	start_in(w, scratch_folder(dir));
	port = uplink(w, "leaf2", "spine1");
	assert_int_equal(ask(w, MARK_DO_ISOLATE, "leaf2", port).end, MARK_DONE);
	assert_int_equal(ask(w, MARK_DO_RESTORE, "leaf2", port).end, MARK_DONE);
	write_former(w, dir, port, false);
	listen_for(w, "it counts for nothing");
	start_again(w, dir);
	assert_true(w->said);
	assert_int_equal(marks_table(w->sm)->n, 0);
	assert_true(has_file(dir, MARKS_FILE ".taken"));
	scratch_remove(dir);
}

/* Nothing can be stored at first: what was asked for meanwhile is refused, the mark stays. */
static void a_former_mark_that_cannot_be_stored_stays_in_force(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	unsigned port = start_without_marks(w, dir);

	write_former(w, dir, port, false);
	fill_disk(true);
	start_in(w, dir);
	assert_int_equal(marks_table(w->sm)->n, 1);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf3", uplink(w, "leaf3", "spine2")).end,
			 MARK_CLOSED);
	fill_disk(false);
	assert_true(has_file(dir, MARKS_FILE));
	assert_int_equal(state(w, "leaf2", port), IB_PORT_INIT);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf3", uplink(w, "leaf3", "spine2")).end,
			 MARK_DONE);
	assert_false(has_file(dir, MARKS_FILE));
	start_again(w, dir);
	assert_int_equal(marks_table(w->sm)->n, 2);
	scratch_remove(dir);
}

/* ---- what other managers write --------------------------------------------------------------- */

/* Rows may be changed here, or not. */
static void may_change(struct world *w, bool may)
{
	w->sm->m.settle->state = may ? SETTLE_WRITING : SETTLE_FOREIGN;
}

/* A write of another manager that has seen all of ours is stored here, and told. */
static void write_elsewhere(struct world *w, unsigned port, unsigned kind)
{
	const struct ledger *l = settle_ledger(w->sm);
	const uint8_t bytes[9] = { (uint8_t)kind };
	struct ledger_key key = { .table = LEDGER_MARK, .len = 9 };
	const struct ledger_value v = {
		.dot = { ledger_number(l, LEDGER_MARK) + 1, { 0x77, 1 } },
		.removed = !kind,
		.len = kind ? sizeof(bytes) : 0,
		.bytes = kind ? bytes : NULL,
	};
	_cleanup_(ledger_row_freep) struct ledger_row *row = NULL;

	ib_bits_put(key.bytes, 0, 64, guid_of(w, "leaf2"));
	key.bytes[8] = (uint8_t)port;
	row = ledger_prepare(l, NULL, &key, &v);
	assert_int_equal(ledger_merge(w->sm->m.settle->ledger, row), LEDGER_OTHER);
	disk_tell_owners(w->sm, &key, 1);
}

/* Whether or not this manager may change rows: out of service is the safe side. */
static void what_others_write_is_in_force(void **st)
{
	struct world *w = *st;
	unsigned port;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	may_change(w, false);
	write_elsewhere(w, port, LEDGER_MARK_ISOLATE);
	assert_int_equal(marks_table(w->sm)->n, 1);
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	write_elsewhere(w, port, LEDGER_MARK_DRAIN);
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_int_equal(entries_to(w, "leaf2", port), 0);
	listen_for(w, "restored (as another manager has it)");
	write_elsewhere(w, port, 0);
	assert_true(w->said);
	run_for(w, 30 * MONO_S);
	assert_int_not_equal(entries_to(w, "leaf2", port), 0);
}

/* Routes are being computed without it, and links are in INIT: its link is held at once. */
static void a_mark_that_comes_in_the_first_sweep_is_held_at_once(void **st)
{
	struct world *w = *st;
	mono_t until = sim_now(w->sim) + 30 * MONO_S;
	unsigned port;
	int i;

	w->rig->job_time = 50 * MONO_MS;
	i = rig_start(w->rig, "h0", 0, w->conf, NULL);
	assert_true(i >= 0);
	w->sm = w->rig->sms[i].sm;
	while (!w->rig->sms[i].jobs || w->sm->state != SM_MASTER)
		assert_true(rig_step(w->rig, until));
	assert_false(w->sm->first_sweep_done);
	port = uplink(w, "leaf2", "spine1");
	write_elsewhere(w, port, LEDGER_MARK_ISOLATE);
	do
		assert_int_equal(state(w, "leaf2", port), IB_PORT_INIT);
	while (rig_step(w->rig, until));
	assert_true(w->sm->first_sweep_done);
	assert_int_equal(marks_table(w->sm)->n, 1);
	assert_int_equal(unreachable(w), 0);
}

/* Each of two managers has marked one end of the cable. */
static void a_cable_marked_at_both_ends_is_restored(void **st)
{
	struct world *w = *st;
	const struct port *far;
	struct mark_result r;
	unsigned port;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	far = port_of(w, "leaf2", port)->peer;
	assert_int_equal(ask(w, MARK_DO_DRAIN, "spine1", far->num).end, MARK_DONE);
	write_elsewhere(w, port, LEDGER_MARK_ISOLATE);
	run_for(w, 30 * MONO_S);
	assert_int_equal(marks_table(w->sm)->n, 2);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	r = ask(w, MARK_DO_RESTORE, "spine1", far->num);
	assert_int_equal(r.end, MARK_DONE);
	assert_int_equal(r.n_marks, 2);
	run_for(w, 30 * MONO_S);
	assert_int_equal(marks_table(w->sm)->n, 0);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
}

/* More than one manager alone takes: none of them is used. */
static void managers_that_meet_keep_all_marks(void **st)
{
	struct world *w = *st;
	struct mark_table *t = xcalloc(1, sizeof(*t));

	start(w);
	for (unsigned i = 0; i < MARKS_MAX; i++) {
		const struct link_mark m = { .node = 1 + i, .port = 1, .by = "-" };

		assert_true(mark_table_put(t, &m));
	}
	marks_take(w->sm, t, NULL);
	marks_store(w->sm);
	write_elsewhere(w, uplink(w, "leaf2", "spine1"), LEDGER_MARK_ISOLATE);
	assert_int_equal(marks_table(w->sm)->n, MARKS_MAX + 1);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf3", uplink(w, "leaf3", "spine2")).end,
			 MARK_NO_ROOM);
}

static void requests_are_refused_while_others_are_asked(void **st)
{
	struct world *w = *st;
	struct mark_request rq;
	struct mark_result r;

	start(w);
	rq = request(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1"));
	may_change(w, false);
	r = ask_watched(w, &rq, NULL);
	assert_int_equal(r.end, MARK_CLOSED);
	assert_string_equal(r.text, settle_closed(w->sm));
	assert_int_equal(marks_table(w->sm)->n, 0);
	rq.plan = true;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	rq.plan = false;
	may_change(w, true); /* without a cache folder, for as long as this manager runs */
	r = ask_watched(w, &rq, NULL);
	assert_int_equal(r.end, MARK_DONE);
	assert_int_equal(r.n_standbys, 0);
	assert_int_equal(marks_table(w->sm)->n, 1);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void a_mark_ends_at_its_time(void **st)
{
	struct world *w = *st;
	struct mark_request rq;
	char dir[SCRATCH_PATH];

	scratch_folder(dir);
	start_in(w, dir);
	rq = request(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1"));
	rq.seconds = 3600;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	run_for(w, 3500 * MONO_S);
	assert_int_equal(marks_table(w->sm)->n, 1);
	listen_for(w, "restored (its time is over)");
	run_for(w, 120 * MONO_S);
	assert_true(w->said);
	assert_int_equal(marks_table(w->sm)->n, 0);
	assert_int_equal(unreachable(w), 0);
	scratch_remove(dir);
}

/* While the ledger accepts no change, a mark whose time is over stays in force. */
static void a_mark_that_is_over_waits_for_the_ledger(void **st)
{
	struct world *w = *st;
	struct mark_request rq;
	char dir[SCRATCH_PATH];

	scratch_folder(dir);
	start_in(w, dir);
	rq = request(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1"));
	rq.seconds = 3600;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	may_change(w, false);
	run_for(w, 3720 * MONO_S);
	assert_int_equal(marks_table(w->sm)->n, 1);
	may_change(w, true);
	run_for(w, 5 * MONO_S);
	assert_int_equal(marks_table(w->sm)->n, 0);
	scratch_remove(dir);
}

static void a_disk_fault_changes_nothing(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	struct mark_result r;

	scratch_folder(dir);
	start_in(w, dir);
	fill_disk(true);
	r = ask(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1"));
	fill_disk(false);
	assert_int_equal(r.end, MARK_CLOSED);
	assert_false(r.changed);
	assert_non_null(strstr(r.text, LEDGER_FILE " cannot be written: "));
	assert_int_equal(marks_table(w->sm)->n, 0);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1")).end,
			 MARK_DONE);
	scratch_remove(dir);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(marks_stay_over_a_restart),
		TEST(marks_of_a_former_build_are_in_force_and_become_rows),
		TEST(a_damaged_file_of_a_former_build_is_kept_beside),
		TEST(a_file_of_a_former_build_counts_for_nothing_beside_rows),
		TEST(a_former_mark_that_cannot_be_stored_stays_in_force),
		TEST(what_others_write_is_in_force),
		TEST(a_mark_that_comes_in_the_first_sweep_is_held_at_once),
		TEST(a_cable_marked_at_both_ends_is_restored),
		TEST(managers_that_meet_keep_all_marks),
		TEST(requests_are_refused_while_others_are_asked),
		TEST(a_mark_ends_at_its_time),
		TEST(a_mark_that_is_over_waits_for_the_ledger),
		TEST(a_disk_fault_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
