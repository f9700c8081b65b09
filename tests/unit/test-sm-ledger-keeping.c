// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger as an administrator meets it: a manager that has lost its folder keeps what devices
 * hold, says so, and goes on when that was adopted or forgotten.
 */
#include "tenancy-desk.h"

#include <dirent.h>
#include <errno.h>

#include "sm/ledger/settle_internal.h"
#include "sm/sm_ledger.h"

/* Files of the cache folder, but partitions.conf. */
static void wipe(const struct desk *d)
{
	DIR *dir = opendir(d->dir);
	struct dirent *e;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		_cleanup_free_ char *path = xasprintf("%s/%s", d->dir, e->d_name);

		if (e->d_name[0] != '.' && strcmp(path, d->file) != 0)
			assert_int_equal(unlink(path), 0);
	}
	closedir(dir);
}

/* The manager ends, loses its folder, and comes back. */
static void lose_folder(struct desk *d)
{
	rig_stop(d->rig, d->sm);
	wipe(d);
	start(d);
	run_for(d, 20 * MONO_S);
}

struct ended {
	bool is_there;
	struct sm_ledger_ended r;
};

static void on_ended(void *arg, const struct sm_ledger_ended *r)
{
	struct ended *e = arg;

	assert_false(e->is_there);
	*e = (struct ended){ true, *r };
}

static struct sm_ledger_ended wait_end(struct desk *d, struct ended *e)
{
	mono_t until = sim_now(d->rig->sim) + 20 * MONO_S;

	assert_false(e->is_there);
	while (!e->is_there && rig_step(d->rig, until))
		;
	assert_true(e->is_there);
	return e->r;
}

static struct sm_ledger_ended adopt(struct desk *d)
{
	struct ended e = { 0 };

	assert_int_equal(sm_ledger_adopt(sm_of(d), on_ended, &e), 0);
	return wait_end(d, &e);
}

static struct sm_ledger_ended forget(struct desk *d)
{
	struct ended e = { 0 };

	assert_int_equal(sm_ledger_forget(sm_of(d), on_ended, &e), 0);
	return wait_end(d, &e);
}

static void assert_state(struct desk *d, const char *state, enum sm_ledger_trouble trouble)
{
	struct sm_ledger l;

	sm_ledger(sm_of(d), &l);
	assert_string_equal(l.state, state);
	assert_int_equal(l.trouble, trouble);
	assert_int_equal(sm_ledger_trouble(sm_of(d)), trouble);
}

static size_t rows_of(struct desk *d, const char *table)
{
	struct sm_ledger_table t;

	for (unsigned i = 0; sm_ledger_table_at(sm_of(d), i, &t); i++) {
		if (!strcmp(t.name, table))
			return t.n_rows;
	}
	fail_msg("there is no table %s", table);
	return 0;
}

static void give_two_partitions(struct desk *d)
{
	assert_done(add(d, 0x5, 3));
	assert_done(ask_one(d, TENANT_ADD, 0x5, d->guid[4], false, false));
	assert_done(ask_one(d, TENANT_ADD, 0x6, d->guid[3], true, true));
}

static void assert_as_given(const struct desk *d)
{
	assert_true(both_hold(d, 3, 0x8005));
	assert_true(both_hold(d, 4, 0x0005));
	assert_true(both_hold(d, 3, 0x8006));
	assert_int_equal(host_index(d, 3, 0x8006), 0);
}

static void nothing_is_wrong_at_first(void **state)
{
	struct desk *d = *state;
	char text[LEDGER_REASON_STRLEN];
	struct sm_ledger l;
	struct ended e;

	sm_ledger(sm_of(d), &l);
	assert_state(d, "writing", LEDGER_FINE);
	assert_string_equal(sm_ledger_status(sm_of(d), text), "");
	assert_string_equal(l.reason, "");
	assert_null(l.fault);
	assert_non_null(strstr(l.file, "/ledger.db"));
	assert_int_equal(l.n_standbys, 0);
	assert_int_equal(sm_ledger_adopt(sm_of(d), on_ended, &e), -EALREADY);
	assert_int_equal(sm_ledger_forget(sm_of(d), on_ended, &e), -EALREADY);
	assert_null(strstr(d->rig->sms[d->sm].status, "KEEPING"));
}

static void rows_are_counted_with_their_last_change(void **state)
{
	struct desk *d = *state;
	struct sm_ledger_table t;
	struct sm_ledger l;

	give_two_partitions(d);
	assert_done(drop(d, 0x5, 4));
	assert_true(sm_ledger_table_at(sm_of(d), 0, &t));
	assert_string_equal(t.name, "partition");
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(t.n_removed, 0);
	assert_int_equal(t.number, 3);
	assert_true(sm_ledger_table_at(sm_of(d), 1, &t));
	assert_string_equal(t.name, "member");
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(t.n_removed, 1);
	assert_int_equal(t.number, 4);
	sm_ledger(sm_of(d), &l);
	assert_int_equal(l.changed, t.changed);
	rig_stop(d->rig, d->sm);
	start(d);
	assert_true(sm_ledger_table_at(sm_of(d), 1, &t));
	assert_int_equal(t.number, 4);
}

static void without_its_folder_a_manager_keeps_and_says_so(void **state)
{
	struct desk *d = *state;
	char text[LEDGER_REASON_STRLEN];
	struct sm_ledger l;

	give_two_partitions(d);
	lose_folder(d);
	assert_state(d, "keeping", LEDGER_KEEPS);
	assert_as_given(d);
	sm_ledger(sm_of(d), &l);
	assert_int_equal(l.n_unexplained, 3);
	assert_string_equal(sm_ledger_status(sm_of(d), text),
			    "KEEPING (3 P_Keys on devices are not explained: opensmctl ledger "
			    "adopt or forget)");
	assert_non_null(strstr(d->rig->sms[d->sm].status, text));
	assert_int_equal(add(d, 0x7, 2).end, SM_TENANCY_CLOSED);
}

static void what_is_adopted_is_as_devices_hold_it(void **state)
{
	struct desk *d = *state;
	struct sm_ledger_ended r;

	give_two_partitions(d);
	lose_folder(d);
	r = adopt(d);
	assert_int_equal(r.error, 0);
	assert_int_equal(r.n_unexplained, 3);
	assert_int_equal(r.n_partitions, 2);
	assert_int_equal(r.n_members, 3);
	assert_int_equal(r.n_ports, 2);
	assert_int_equal(r.n_missing, 0);
	assert_state(d, "writing", LEDGER_FINE);
	assert_int_equal(rows_of(d, "member"), 3);
	run_for(d, 30 * MONO_S);
	assert_as_given(d);
	assert_done(drop(d, 0x5, 3));
	assert_true(none_holds(d, 3, 0x8005));
	assert_true(both_hold(d, 4, 0x0005));
}

static void what_was_adopted_is_there_after_a_restart(void **state)
{
	struct desk *d = *state;

	give_two_partitions(d);
	lose_folder(d);
	adopt(d);
	rig_stop(d->rig, d->sm);
	start(d);
	run_for(d, 20 * MONO_S);
	assert_state(d, "writing", LEDGER_FINE);
	assert_as_given(d);
	assert_int_equal(tenants_members(sm_tenants(sm_of(d))), 3);
}

static void what_is_forgotten_is_cleared(void **state)
{
	struct desk *d = *state;
	struct sm_ledger_ended r;

	give_two_partitions(d);
	lose_folder(d);
	r = forget(d);
	assert_int_equal(r.error, 0);
	assert_int_equal(r.n_unexplained, 3);
	assert_state(d, "writing", LEDGER_FINE);
	run_for(d, 30 * MONO_S);
	assert_true(none_holds(d, 3, 0x8005));
	assert_true(none_holds(d, 4, 0x0005));
	assert_true(none_holds(d, 3, 0x8006));
	assert_int_equal(rows_of(d, "member"), 0);
	assert_done(add(d, 0x7, 2));
}

static void one_way_out_at_a_time(void **state)
{
	struct desk *d = *state;
	struct ended first = { 0 }, second = { 0 };

	give_two_partitions(d);
	lose_folder(d);
	assert_int_equal(sm_ledger_adopt(sm_of(d), on_ended, &first), 0);
	assert_int_equal(sm_ledger_adopt(sm_of(d), on_ended, &second), -EBUSY);
	assert_int_equal(sm_ledger_forget(sm_of(d), on_ended, &second), -EBUSY);
	wait_end(d, &first);
	assert_false(second.is_there);
	assert_int_equal(rows_of(d, "member"), 3);
}

static void a_caller_that_left_is_not_told(void **state)
{
	struct desk *d = *state;
	struct ended e = { 0 };

	give_two_partitions(d);
	lose_folder(d);
	assert_int_equal(sm_ledger_adopt(sm_of(d), on_ended, &e), 0);
	sm_ledger_abandon(sm_of(d), &e);
	run_for(d, 5 * MONO_S);
	assert_false(e.is_there);
	assert_int_equal(rows_of(d, "member"), 3);
}

/* ---- another partitions.conf before it is sure ---------------------------------------------- */

static void write_file(const struct desk *d, const char *more)
{
	_cleanup_free_ char *text = xasprintf("Default=0x7fff: ALL=full;\n"
					      "One=0x1: 0x%016" PRIx64 "=full;\n%s",
					      d->guid[1], more);

	write_text(d->file, text);
}

static void reload(struct desk *d)
{
	struct conf_files *files = conf_files_read(d->conf, sm_files(sm_of(d)));

	sm_reload(sm_of(d), d->conf, files);
	conf_files_unref(files);
}

/* Its own P_Keys of a moment ago are not those of unknown tenants. */
static void a_file_that_changes_at_once_leaves_nothing_unexplained(void **state)
{
	struct desk *d = *state;
	_cleanup_free_ char *old = xasprintf("Old=0x3: 0x%016" PRIx64 "=full;\n", d->guid[3]);
	_cleanup_free_ char *new = xasprintf("New=0x4: 0x%016" PRIx64 "=full;\n", d->guid[4]);

	rig_stop(d->rig, d->sm);
	wipe(d);
	write_file(d, old);
	d->sm = (unsigned)rig_start(d->rig, "h0", 0, d->conf, d->dir);
	rig_start(d->rig, "h6", 0, d->conf, NULL); /* it is asked, which takes a second */
	run_for(d, 300 * MONO_MS);
	assert_true(both_hold(d, 3, 0x8003));
	assert_state(d, "asking", LEDGER_FINE);
	write_file(d, new);
	sm_request_heavy(sm_of(d), d->conf);
	run_for(d, 20 * MONO_S);
	assert_state(d, "writing", LEDGER_FINE);
	assert_true(both_hold(d, 4, 0x8004));
	assert_true(none_holds(d, 3, 0x8003));
}

/* A tenant that is unknown since the folder was lost stays nevertheless. */
static void a_file_that_changes_at_once_takes_no_tenant(void **state)
{
	struct desk *d = *state;
	struct sm_ledger l;

	assert_done(add(d, 0x5, 3));
	rig_stop(d->rig, d->sm);
	wipe(d);
	d->sm = (unsigned)rig_start(d->rig, "h0", 0, d->conf, d->dir);
	run_for(d, 20 * MONO_MS);
	write_file(d, "Two=0x2: ALL;\nFive=0x5, api: ;\n");
	reload(d);
	run_for(d, 20 * MONO_S);
	sm_ledger(sm_of(d), &l);
	assert_state(d, "keeping", LEDGER_KEEPS);
	assert_int_equal(l.n_unexplained, 1);
	assert_true(both_hold(d, 3, 0x8005));
}

/* ---- the file of former builds -------------------------------------------------------------- */

static void write_former(const struct desk *d, const char *end)
{
	_cleanup_free_ char *path = xasprintf("%s/tenants", d->dir);
	_cleanup_free_ char *text =
		xasprintf("opensm-tenants 1 lineage 0x0000000000000007 generation 12 time "
			  "1700000000 chain 0x0000000000000000\n"
			  "0x0005 generation 11 ipoib true mtu 4 rate 2 sl 0 name \"five\"\n"
			  "+0x%016" PRIx64 "=full\n"
			  "end 0x0000000000000000\n"
			  "13 1700000060 0x0005 +0x%016" PRIx64 "=limited 0x0006 ipoib true mtu 4 "
			  "rate 2 sl 0 name \"six\" +0x%016" PRIx64 "=full,index0 chain "
			  "0x0000000000000000\n%s",
			  d->guid[3], d->guid[4], d->guid[3], end);

	write_text(path, text);
}

static bool has_file(const struct desk *d, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", d->dir, name);

	return access(path, F_OK) == 0;
}

static void a_former_file_becomes_rows_once(void **state)
{
	struct desk *d = *state;

	give_two_partitions(d);
	rig_stop(d->rig, d->sm);
	wipe(d);
	write_former(d, "14 17000");
	start(d);
	run_for(d, 20 * MONO_S);
	assert_state(d, "writing", LEDGER_FINE);
	assert_as_given(d);
	assert_int_equal(rows_of(d, "partition"), 2);
	assert_int_equal(rows_of(d, "member"), 3);
	assert_string_equal(tenants_find(sm_tenants(sm_of(d)), 0x5)->fields.name, "five");
	assert_false(has_file(d, "tenants"));
	assert_true(has_file(d, "tenants.taken"));
	assert_int_equal(add(d, 0x7, 2).generation, 14);
	rig_stop(d->rig, d->sm);
	start(d);
	assert_int_equal(rows_of(d, "member"), 4);
}

static void a_former_file_beside_rows_is_put_aside(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x7, 2));
	rig_stop(d->rig, d->sm);
	write_former(d, "");
	start(d);
	run_for(d, 20 * MONO_S);
	assert_int_equal(rows_of(d, "member"), 1);
	assert_true(has_file(d, "tenants.taken"));
}

static void nothing_of_the_managers_is_adopted(void **state)
{
	struct desk *d = *state;

	lose_folder(d);
	assert_state(d, "writing", LEDGER_FINE);
	assert_int_equal(rows_of(d, "partition"), 0);
}

/* ---- the file -------------------------------------------------------------------------------- */

static const char *full_file; /* nothing can be written to it, as soon as it is there */

int __real_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta);
int __wrap_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta);

int __wrap_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta)
{
	if (full_file && access(full_file, F_OK) == 0)
		return -ENOSPC;
	return __real_ledger_store_write(s, rows, len, meta);
}

static void restart(struct desk *d)
{
	rig_kill(d->rig, d->sm);
	start(d);
}

/* The disk has place for a new file, and not for what is in it; later for all. */
static void a_file_that_was_deleted_on_a_full_disk_is_written_whole_later(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	assert_int_equal(unlink(d->store), 0);
	full_file = d->store;
	assert_int_equal(add(d, 0x5, 4).end, SM_TENANCY_CLOSED);
	full_file = NULL;
	assert_done(add(d, 0x5, 5));
	restart(d);
	assert_true(both_hold(d, 3, 0x8005) && both_hold(d, 5, 0x8005));
	assert_true(none_holds(d, 4, 0x8005));
	assert_state(d, "writing", LEDGER_FINE);
}

/* A term that begins while rows are being written is on the disk a moment later. */
static void what_is_noted_while_rows_are_written_is_stored_too(void **state)
{
	struct desk *d = *state;
	struct tenant_member member = { d->guid[3], true, false };
	const struct tenant_request rq = {
		.action = TENANT_ADD, .pkey = 0x5, .members = &member, .n_members = 1
	};
	struct settle *s = sm_of(d)->m.settle;
	uint64_t term = s->meta.term + 7;
	struct answer a = { 0 };

	d->rig->disk_time = MONO_S;
	submit(d, &rq, &a);
	run_for(d, 500 * MONO_MS);
	assert_true(s->is_storing);
	s->meta.term = term;
	disk_note_meta(sm_of(d));
	assert_done(wait_for(d, &a));
	run_for(d, 5 * MONO_S);
	d->rig->disk_time = 0;
	restart(d);
	assert_true(sm_of(d)->m.settle->meta.term > term);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(nothing_is_wrong_at_first),
		TEST(rows_are_counted_with_their_last_change),
		TEST(without_its_folder_a_manager_keeps_and_says_so),
		TEST(what_is_adopted_is_as_devices_hold_it),
		TEST(what_was_adopted_is_there_after_a_restart),
		TEST(what_is_forgotten_is_cleared),
		TEST(one_way_out_at_a_time),
		TEST(a_caller_that_left_is_not_told),
		TEST(nothing_of_the_managers_is_adopted),
		TEST(a_file_that_changes_at_once_leaves_nothing_unexplained),
		TEST(a_file_that_changes_at_once_takes_no_tenant),
		TEST(a_former_file_becomes_rows_once),
		TEST(a_former_file_beside_rows_is_put_aside),
		TEST(a_file_that_was_deleted_on_a_full_disk_is_written_whole_later),
		TEST(what_is_noted_while_rows_are_written_is_stored_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
