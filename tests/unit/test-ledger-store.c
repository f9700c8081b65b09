// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger on the disk: what is written is read back, all of a batch or nothing of it, whatever
 * happens to the process, the file or the room for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "ledger/store.h"
#include "tests/lib/scratch.h"
#include "tests/unit/ledger-desk.h"
#include "util/file.h"
#include "util/random.h"

#define LEDGER _cleanup_(ledger_freep) struct ledger *
#define STORE  _cleanup_(ledger_store_closep) struct ledger_store *

/* A folder with the path of a ledger in it. */
struct place {
	char folder[SCRATCH_PATH];
	char path[SCRATCH_PATH + 16];
};

static struct place new_place(void)
{
	struct place p;

	scratch_folder(p.folder);
	snprintf(p.path, sizeof(p.path), "%s/" LEDGER_FILE, p.folder);
	return p;
}

static const char *aside_of(const char *path, char aside[LEDGER_ASIDE_MAX])
{
	snprintf(aside, LEDGER_ASIDE_MAX, "%s.damaged", path);
	return aside;
}

/* Opens it; nothing is put aside. */
static struct ledger_store *open_at(const char *path, bool fresh)
{
	char aside[LEDGER_ASIDE_MAX] = "?";
	struct ledger_store *s = NULL;
	bool is_fresh = !fresh;

	assert_int_equal(ledger_store_open(path, &s, &is_fresh, aside), 0);
	assert_string_equal(aside, "");
	assert_int_equal(is_fresh, fresh);
	return s;
}

/* The file is found to be damaged; a new one takes its place. */
static void open_damaged(const char *path)
{
	char aside[LEDGER_ASIDE_MAX] = "", expected[LEDGER_ASIDE_MAX];
	LEDGER l = ledger_new();
	struct ledger_meta meta;
	STORE s = NULL;
	bool fresh = false;

	assert_int_equal(ledger_store_open(path, &s, &fresh, aside), 0);
	assert_true(fresh);
	assert_string_equal(aside, aside_of(path, expected));
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(ledger_store_load(s, l, &meta), 0);
	assert_int_equal(ledger_rows(l, LEDGER_MEMBER), 0);
}

/* Members `from`..`to` - 1 with this number, as one batch. */
static int write_members(struct ledger_store *s, unsigned from, unsigned to, uint64_t number)
{
	_cleanup_free_ uint8_t *bytes = xmalloc((to - from) * 64 + 1);
	LEDGER l = ledger_new();
	size_t len = 0;

	for (unsigned i = from; i < to; i++) {
		struct ledger_row *row = written(l, member_key(i), member(dot(number, 1), FULL));

		ledger_row_pack(row, bytes + len);
		len += ledger_row_bytes(row);
		ledger_row_free(row);
	}
	return ledger_store_write(s, bytes, len, NULL);
}

static int write_one(struct ledger_store *s, const struct ledger_row *row)
{
	size_t len;
	_cleanup_free_ uint8_t *bytes = packed(row, &len);

	return ledger_store_write(s, bytes, len, NULL);
}

static size_t members_at(const char *path)
{
	LEDGER l = ledger_new();
	struct ledger_meta meta;
	STORE s = open_at(path, false);

	assert_int_equal(ledger_store_load(s, l, &meta), 0);
	return ledger_rows(l, LEDGER_MEMBER);
}

/* A file with 100 members; closed. */
static struct place filled(void)
{
	struct place p = new_place();
	STORE s = open_at(p.path, true);

	assert_int_equal(write_members(s, 0, 100, 1), 0);
	return p;
}

static void assert_mode(const char *path, const char *suffix)
{
	_cleanup_free_ char *whole = xasprintf("%s%s", path, suffix);
	struct stat st;

	assert_int_equal(stat(whole, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static bool is_there(const char *path, const char *suffix)
{
	_cleanup_free_ char *whole = xasprintf("%s%s", path, suffix);

	return access(whole, F_OK) == 0;
}

static void copy_file(const char *from, const char *to, const char *suffix)
{
	_cleanup_free_ char *a = xasprintf("%s%s", from, suffix);
	_cleanup_free_ char *b = xasprintf("%s%s", to, suffix);
	_cleanup_free_ char *bytes = NULL;
	size_t len;
	FILE *f;

	assert_int_equal(file_read(a, 1 << 28, &bytes, &len), 0);
	f = fopen(b, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* ---- what is written is read back ------------------------------------------------------------ */

static void a_new_file_is_fresh_once(void **state)
{
	struct place p = new_place();
	LEDGER l = ledger_new();
	struct ledger_meta meta = { .term = 7 };
	STORE s = open_at(p.path, true);

	assert_int_equal(ledger_store_load(s, l, &meta), 0);
	assert_int_equal(meta.term, 0);
	assert_false(meta.founded);
	assert_int_equal(meta.n_managers, 0);
	s = ledger_store_close(s);
	s = open_at(p.path, false);
	assert_null(ledger_store_close(NULL));
}

static void rows_of_all_tables_are_read_back(void **state)
{
	static const uint8_t bytes[] = { 2, 0, 0, 0, 0, 0, 0, 0, 9 };
	struct place p = new_place();
	LEDGER l = ledger_new(), *back = ledger_new();
	struct ledger_meta meta;
	STORE s = open_at(p.path, true);

	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		enum ledger_table table = (enum ledger_table)t;
		struct ledger_key key = table_key(table, 5), gone = table_key(table, 6);
		uint32_t len = table == LEDGER_MEMBER ? 1 : sizeof(bytes);

		write_row(l, key, value_of(dot(4, 1), bytes, len));
		write_row(l, gone, removed_at(dot(5, 1)));
		assert_int_equal(write_one(s, ledger_find(l, &key)), 0);
		assert_int_equal(write_one(s, ledger_find(l, &gone)), 0);
	}
	s = ledger_store_close(s);
	s = open_at(p.path, false);
	assert_int_equal(ledger_store_load(s, back, &meta), 0);
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		struct ledger_digest a = ledger_digest(l, (enum ledger_table)t),
				     b = ledger_digest(back, (enum ledger_table)t);

		assert_memory_equal(&a, &b, sizeof(a));
		assert_int_equal(b.rows, 2);
	}
}

static void a_row_is_put_in_place_of_what_was_there(void **state)
{
	struct place p = new_place();
	LEDGER l = ledger_new();
	struct ledger_meta meta;
	STORE s = open_at(p.path, true);

	assert_int_equal(write_members(s, 0, 3, 1), 0);
	assert_int_equal(write_members(s, 1, 2, 9), 0);
	assert_int_equal(ledger_store_load(s, l, &meta), 0);
	assert_int_equal(ledger_rows(l, LEDGER_MEMBER), 3);
	assert_int_equal(ledger_number(l, LEDGER_MEMBER), 9);
}

static struct ledger_meta all_meta(void)
{
	struct ledger_meta meta = { .term = UINT64_C(1) << 62, .founded = true };

	for (unsigned i = 0; i < LEDGER_MANAGERS_MAX; i++)
		meta.managers[meta.n_managers++] = (struct ledger_known){ UINT64_MAX - i, -5 + i };
	return meta;
}

/* The next master could not count on from it. */
static void a_term_that_cannot_be_is_damage(void **state)
{
	struct place p = new_place();
	LEDGER l = ledger_new();
	struct ledger_meta meta = all_meta(), back;
	STORE s = open_at(p.path, true);

	meta.term++;
	assert_int_equal(ledger_store_write(s, NULL, 0, &meta), 0);
	assert_int_equal(ledger_store_load(s, l, &back), -EBADMSG);
}

static void meta_is_read_back(void **state)
{
	struct place p = new_place();
	LEDGER l = ledger_new();
	struct ledger_meta meta = all_meta(), back;
	STORE s = open_at(p.path, true);

	assert_int_equal(ledger_store_write(s, NULL, 0, &meta), 0);
	s = ledger_store_close(s);
	s = open_at(p.path, false);
	assert_int_equal(ledger_store_load(s, l, &back), 0);
	assert_int_equal(back.term, UINT64_C(1) << 62);
	assert_true(back.founded);
	assert_int_equal(back.n_managers, LEDGER_MANAGERS_MAX);
	for (unsigned i = 0; i < LEDGER_MANAGERS_MAX; i++) /* by GUID */
		assert_memory_equal(&back.managers[i],
				    &meta.managers[LEDGER_MANAGERS_MAX - 1 - i],
				    sizeof(back.managers[i]));
	meta.n_managers = 1;
	assert_int_equal(ledger_store_write(s, NULL, 0, &meta), 0);
	assert_int_equal(ledger_store_load(s, l, &back), 0);
	assert_int_equal(back.n_managers, 1);
	assert_int_equal(write_members(s, 0, 1, 200), 0); /* meta stays as it was */
	assert_int_equal(ledger_store_load(s, l, &back), 0);
	assert_int_equal(back.term, UINT64_C(1) << 62);
}

static int64_t ask_copy(const char *path, const char *sql)
{
	struct place p = new_place();
	sqlite3_stmt *statement;
	sqlite3 *db;
	int64_t n;

	copy_file(path, p.path, "");
	if (is_there(path, "-wal"))
		copy_file(path, p.path, "-wal");
	assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	n = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return n;
}

static void people_see_what_is_in_force_and_no_secret(void **state)
{
	struct place p = new_place();
	LEDGER l = ledger_new();
	struct ledger_key key = table_key(LEDGER_SEED, 1);
	STORE s = open_at(p.path, true);

	assert_int_equal(write_members(s, 0, 2, 8), 0);
	write_row(l, key, value_of(dot(1, 1), "a secret", 8));
	assert_int_equal(write_one(s, ledger_find(l, &key)), 0);
	assert_int_equal(ask_copy(p.path, "SELECT count(*) FROM row WHERE tbl = 1 AND value = x'01'"
					  " AND NOT removed AND number = 8 AND at = 1795000000"),
			 2);
	assert_int_equal(ask_copy(p.path, "SELECT value IS NULL FROM row WHERE tbl = 3"), 1);
	assert_int_equal(ask_copy(p.path, "SELECT value FROM meta WHERE name = 'format'"), 1);
}

/* ---- modes, locks ---------------------------------------------------------------------------- */

static void files_are_for_their_owner_alone(void **state)
{
	struct place p = new_place();
	STORE s;

	umask(0);
	s = open_at(p.path, true);
	umask(022);
	assert_int_equal(write_members(s, 0, 10, 1), 0);
	assert_mode(p.path, "");
	assert_mode(p.path, "-wal");
	assert_false(is_there(p.path, "-shm"));
	s = ledger_store_close(s);
	assert_false(is_there(p.path, "-wal"));
	assert_int_equal(chmod(p.path, 0644), 0);
	s = open_at(p.path, false);
	assert_mode(p.path, "");
}

/* By another process: locks are of a process. */
static void a_file_is_open_once(void **state)
{
	struct place p = filled();
	STORE s = open_at(p.path, false);
	int status;
	pid_t child;

	assert_int_equal(write_members(s, 0, 1, 5), 0);
	child = fork();
	if (child == 0) {
		char aside[LEDGER_ASIDE_MAX];
		struct ledger_store *other;
		bool fresh;

		_exit(ledger_store_open(p.path, &other, &fresh, aside) == -EBUSY ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(write_members(s, 0, 1, 6), 0);
}

static void no_file_can_be_there(void **state)
{
	struct place p = new_place();
	char aside[LEDGER_ASIDE_MAX] = "as before", *deep = xasprintf("%s/no/folder", p.folder);
	struct ledger_store *s = NULL;
	bool fresh;

	assert_int_equal(ledger_store_open(deep, &s, &fresh, aside), -ENOENT);
	assert_int_equal(ledger_store_open(p.folder, &s, &fresh, aside), -EISDIR);
	assert_int_equal(symlink("/dev/null", p.path), 0);
	assert_int_equal(ledger_store_open(p.path, &s, &fresh, aside), -ELOOP);
	assert_int_equal(unlink(p.path), 0);
	assert_int_equal(mknod(p.path, S_IFIFO | 0600, 0), 0);
	assert_int_equal(ledger_store_open(p.path, &s, &fresh, aside), -EINVAL);
	assert_null(s);
	assert_string_equal(aside, "as before");
	free(deep);
}

static void a_file_that_is_gone_is_not_written_to(void **state)
{
	struct place p = filled();
	STORE s = open_at(p.path, false);

	assert_int_equal(unlink(p.path), 0);
	assert_int_equal(write_members(s, 0, 1, 5), -ENOENT);
	s = ledger_store_close(s);
	s = open_at(p.path, true);
	assert_int_equal(write_members(s, 0, 1, 5), 0);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void garbage_is_put_aside(void **state)
{
	struct place p = new_place();
	FILE *f = fopen(p.path, "w");

	for (unsigned i = 0; i < 10000; i++)
		fputs("no ledger ", f);
	fclose(f);
	open_damaged(p.path);
	assert_int_equal(members_at(p.path), 0);
}

static void a_second_one_gets_a_number(void **state)
{
	struct place p = filled();
	char aside[LEDGER_ASIDE_MAX], expected[LEDGER_ASIDE_MAX];
	struct ledger_store *s = open_at(p.path, false);

	assert_int_equal(ledger_store_renew(p.path, &s, aside), 0);
	assert_string_equal(aside, aside_of(p.path, expected));
	assert_int_equal(write_members(s, 0, 1, 5), 0);
	assert_int_equal(ledger_store_renew(p.path, &s, aside), 0);
	snprintf(expected, sizeof(expected), "%s.damaged.1", p.path);
	assert_string_equal(aside, expected);
	ledger_store_close(s);
	assert_int_equal(members_at(p.path), 0);
	assert_int_equal(members_at(expected), 1); /* with its -wal */
	assert_int_equal(members_at(aside_of(p.path, aside)), 100);
}

static void a_cut_file_is_put_aside(void **state)
{
	static const off_t lengths[] = { 1, 16, 99, 100, 1000, 4096, 5000, 8192, 12287 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct place p = filled();

		assert_int_equal(truncate(p.path, lengths[i]), 0);
		open_damaged(p.path);
	}
}

static void run_sql(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void another_format_is_put_aside(void **state)
{
	static const char *const changes[] = {
		"UPDATE meta SET value = 2 WHERE name = 'format'",
		"UPDATE meta SET value = 'x' WHERE name = 'format'",
		"DELETE FROM meta WHERE name = 'format'",
		"DROP TABLE meta",
		"DROP TABLE row",
		"ALTER TABLE row DROP COLUMN at",
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct place p = filled();

		run_sql(p.path, changes[i]);
		open_damaged(p.path);
	}
}

static void a_row_that_cannot_be_is_said(void **state)
{
	static const char *const changes[] = {
		"UPDATE row SET state = x'0102' WHERE key = (SELECT min(key) FROM row)",
		"UPDATE row SET state = NULL WHERE key = (SELECT min(key) FROM row)",
		"UPDATE row SET state = state || x'00' WHERE key = (SELECT min(key) FROM row)",
		"UPDATE row SET key = x'00' WHERE key = (SELECT min(key) FROM row)",
		"UPDATE row SET tbl = 2 WHERE key = (SELECT min(key) FROM row)",
		"INSERT INTO meta VALUES('manager x', 1)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct place p = filled();
		LEDGER l = ledger_new();
		struct ledger_meta meta = { .term = 5 };
		STORE s = NULL;

		run_sql(p.path, changes[i]);
		s = open_at(p.path, false);
		assert_int_equal(ledger_store_load(s, l, &meta), -EBADMSG);
		assert_int_equal(meta.term, 5);
	}
}

/* An older version runs for a while on the file of a later one, which has more tables. */
static void rows_of_unknown_tables_stay_in_the_file(void **state)
{
	struct place p = filled();
	LEDGER l = ledger_new();
	struct ledger_meta meta;
	STORE s = NULL;
	size_t n;

	run_sql(p.path, "UPDATE row SET tbl = 99, state = x'63' WHERE key = (SELECT min(key) FROM "
			"row)");
	n = (size_t)ask_copy(p.path, "SELECT count(*) FROM row WHERE tbl = 99");
	assert_int_not_equal(n, 0);
	s = open_at(p.path, false);
	assert_int_equal(ledger_store_load(s, l, &meta), 0);
	assert_int_equal(write_members(s, 200, 201, 9), 0);
	assert_int_equal(ask_copy(p.path, "SELECT count(*) FROM row WHERE tbl = 99"), n);
}

/* Whatever bytes are others: it opens, with rows that can be, or is put aside. */
static void changed_bytes_do_no_harm(void **state)
{
	struct place good = filled();
	uint64_t dice = 5;
	unsigned aside = 0;

	for (unsigned i = 0; i < 150; i++) {
		struct place p = new_place();
		char name[LEDGER_ASIDE_MAX];
		struct ledger_store *s = NULL;
		struct ledger_meta meta;
		LEDGER l = ledger_new();
		bool fresh;
		int fd, r;

		copy_file(good.path, p.path, "");
		fd = open(p.path, O_RDWR);
		assert_int_equal(pwrite(fd, &dice, 4, i < 100 ? i : random_next(&dice) % 12000), 4);
		close(fd);
		assert_int_equal(ledger_store_open(p.path, &s, &fresh, name), 0);
		r = ledger_store_load(s, l, &meta);
		assert_true(r == 0 || r == -EBADMSG);
		aside += name[0] ? 1 : 0;
		ledger_store_close(s);
		scratch_remove(p.folder);
	}
	assert_in_range(aside, 20, 149);
}

static void a_batch_that_is_no_row_changes_nothing(void **state)
{
	struct place p = filled();
	LEDGER l = ledger_new();
	struct ledger_row *row = written(l, member_key(500), member(dot(5, 1), FULL));
	size_t len;
	_cleanup_free_ uint8_t *bytes = packed(row, &len);
	STORE s = open_at(p.path, false);

	assert_int_equal(ledger_store_write(s, bytes, len - 1, NULL), -EBADMSG);
	bytes = xrealloc(bytes, len + 1, 1);
	bytes[len] = 0xff;
	assert_int_equal(ledger_store_write(s, bytes, len + 1, NULL), -EBADMSG);
	s = ledger_store_close(s);
	assert_int_equal(members_at(p.path), 100);
	ledger_row_free(row);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void a_copy_made_meanwhile_is_whole(void **state)
{
	struct place p = filled(), copy = new_place(), late = new_place();
	STORE s = open_at(p.path, false);

	assert_int_equal(write_members(s, 100, 150, 2), 0);
	copy_file(p.path, copy.path, "");
	copy_file(p.path, copy.path, "-wal");
	assert_int_equal(write_members(s, 150, 170, 3), 0);
	assert_int_equal(members_at(copy.path), 150);
	s = ledger_store_close(s);
	copy_file(p.path, late.path, "");
	assert_int_equal(members_at(late.path), 170);
}

/* Also beside the -wal of what came after it. */
static void an_old_copy_can_be_put_back(void **state)
{
	struct place old = filled(), p = new_place(), crashed = new_place();
	char aside[LEDGER_ASIDE_MAX];
	LEDGER l = ledger_new();
	struct ledger_meta meta;
	struct ledger_store *s = open_at(p.path, true);
	bool fresh;
	int r;

	assert_int_equal(write_members(s, 0, 500, 7), 0);
	copy_file(p.path, crashed.path, "-wal");
	ledger_store_close(s);
	copy_file(old.path, p.path, "");
	assert_int_equal(members_at(p.path), 100);
	copy_file(old.path, crashed.path, "");
	assert_int_equal(ledger_store_open(crashed.path, &s, &fresh, aside), 0);
	r = ledger_store_load(s, l, &meta);
	assert_true(r == 0 || r == -EBADMSG);
	ledger_store_close(s);
}

/* ---- a process that is killed ---------------------------------------------------------------- */

#define BATCH 50u

/* Batches of one number each, until it is killed; says on a pipe which were acknowledged. */
_Noreturn static void write_for_ever(const char *path, int said)
{
	char aside[LEDGER_ASIDE_MAX];
	struct ledger_store *s;
	bool fresh;

	if (ledger_store_open(path, &s, &fresh, aside) < 0)
		_exit(1);
	for (unsigned n = 1;; n++) {
		if (write_members(s, 0, BATCH, n) < 0 || write(said, &n, sizeof(n)) < 0)
			_exit(1);
	}
}

/* All members have the number of one batch, which is not before the last acknowledged one. */
static void check_batches(const char *path, unsigned acknowledged)
{
	LEDGER l = ledger_new();
	const struct ledger_row *row;
	struct ledger_meta meta;
	STORE s = open_at(path, false);
	size_t pos = 0;

	assert_int_equal(ledger_store_load(s, l, &meta), 0);
	assert_int_equal(ledger_rows(l, LEDGER_MEMBER), BATCH);
	assert_true(ledger_number(l, LEDGER_MEMBER) >= acknowledged);
	while ((row = ledger_next(l, LEDGER_MEMBER, &pos)))
		assert_int_equal(ledger_row_value(row).dot.number,
				 ledger_number(l, LEDGER_MEMBER));
}

static void a_batch_is_whole_though_its_writer_is_killed(void **state)
{
	uint64_t dice = 3;

	for (unsigned round = 0; round < 15; round++) {
		struct place p = new_place();
		unsigned n, last = 0, batches = 1 + (unsigned)(random_next(&dice) % 40);
		int said[2];
		pid_t child;

		assert_int_equal(pipe(said), 0);
		child = fork();
		if (child == 0)
			write_for_ever(p.path, said[1]);
		close(said[1]);
		while (last < batches && read(said[0], &n, sizeof(n)) == sizeof(n))
			last = n;
		kill(child, SIGKILL);
		while (read(said[0], &n, sizeof(n)) == sizeof(n))
			last = n;
		close(said[0]);
		assert_int_equal(waitpid(child, NULL, 0), child);
		check_batches(p.path, last);
		scratch_remove(p.folder);
	}
}

/* ---- a disk that is full, or read-only ------------------------------------------------------- */

/* A file may not grow: as a disk that fails. */
static void an_error_of_the_disk_is_said_and_passes(void **state)
{
	struct place p = filled();
	struct rlimit limit, small;
	LEDGER l = ledger_new();
	struct ledger_meta meta;
	STORE s = open_at(p.path, false);

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = (struct rlimit){ 20000, limit.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(write_members(s, 0, 5000, 2), -EIO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(ledger_store_load(s, l, &meta), 0);
	assert_int_equal(ledger_rows(l, LEDGER_MEMBER), 100);
	assert_int_equal(write_members(s, 0, 5000, 3), 0);
	s = ledger_store_close(s);
	assert_int_equal(members_at(p.path), 5000);
}

/* A file system of its own, of 1 MiB. False: this user or machine may have none. */
static bool mount_small(const struct place *p, unsigned long flags)
{
	return mount("tmpfs", p->folder, "tmpfs", flags, "size=1m") == 0;
}

/* Takes all the room there is but `left` bytes; the name of the file, to be freed. */
static char *fill(const struct place *p, size_t left)
{
	char *name = xasprintf("%s/large", p->folder);
	static const char block[4096];
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	setvbuf(f, NULL, _IONBF, 0);
	while (fwrite(block, sizeof(block), 1, f) == 1)
		;
	fclose(f);
	assert_int_equal(truncate(name, (off_t)(1 << 20) - (off_t)left), 0);
	return name;
}

static void check_full(const struct place *p)
{
	struct ledger_store *s = open_at(p->path, true);
	char aside[LEDGER_ASIDE_MAX];
	char *large;
	bool fresh;

	assert_int_equal(write_members(s, 0, 10, 1), 0);
	large = fill(p, 200 << 10);
	assert_int_equal(write_members(s, 0, 5000, 2), -ENOSPC);
	assert_int_equal(write_members(s, 0, 5000, 3), -ENOSPC);
	assert_int_equal(unlink(large), 0);
	assert_int_equal(write_members(s, 0, 1000, 4), 0);
	ledger_store_close(s);
	assert_int_equal(members_at(p->path), 1000);
	assert_int_equal(unlink(p->path), 0);
	free(large);
	large = fill(p, 0);
	assert_int_equal(ledger_store_open(p->path, &s, &fresh, aside), -ENOSPC);
	free(large);
}

static void a_full_disk_is_said_and_passes(void **state)
{
	struct place p = new_place();

	if (!mount_small(&p, 0))
		skip();
	check_full(&p);
	assert_int_equal(umount2(p.folder, MNT_DETACH), 0);
}

static void a_disk_that_is_read_only_is_said(void **state)
{
	struct place p = new_place();
	char aside[LEDGER_ASIDE_MAX];
	struct ledger_store *s;
	bool fresh;

	if (!mount_small(&p, 0))
		skip();
	ledger_store_close(open_at(p.path, true));
	assert_true(mount_small(&p, MS_REMOUNT | MS_RDONLY));
	assert_int_equal(ledger_store_open(p.path, &s, &fresh, aside), -EROFS);
	assert_int_equal(umount2(p.folder, MNT_DETACH), 0);
}

/* ---- size ------------------------------------------------------------------------------------ */

static void a_hundred_thousand_rows_are_read_back(void **state)
{
	struct place p = new_place();
	LEDGER l = ledger_new();
	struct ledger_meta meta;
	STORE s = open_at(p.path, true);

	assert_int_equal(write_members(s, 0, 100000, 1), 0);
	s = ledger_store_close(s);
	s = open_at(p.path, false);
	assert_int_equal(ledger_store_load(s, l, &meta), 0);
	assert_int_equal(ledger_rows(l, LEDGER_MEMBER), 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_file_is_fresh_once),
		cmocka_unit_test(rows_of_all_tables_are_read_back),
		cmocka_unit_test(a_row_is_put_in_place_of_what_was_there),
		cmocka_unit_test(meta_is_read_back),
		cmocka_unit_test(a_term_that_cannot_be_is_damage),
		cmocka_unit_test(people_see_what_is_in_force_and_no_secret),
		cmocka_unit_test(files_are_for_their_owner_alone),
		cmocka_unit_test(a_file_is_open_once),
		cmocka_unit_test(no_file_can_be_there),
		cmocka_unit_test(a_file_that_is_gone_is_not_written_to),
		cmocka_unit_test(garbage_is_put_aside),
		cmocka_unit_test(a_second_one_gets_a_number),
		cmocka_unit_test(a_cut_file_is_put_aside),
		cmocka_unit_test(another_format_is_put_aside),
		cmocka_unit_test(a_row_that_cannot_be_is_said),
		cmocka_unit_test(rows_of_unknown_tables_stay_in_the_file),
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(a_batch_that_is_no_row_changes_nothing),
		cmocka_unit_test(a_copy_made_meanwhile_is_whole),
		cmocka_unit_test(an_old_copy_can_be_put_back),
		cmocka_unit_test(a_batch_is_whole_though_its_writer_is_killed),
		cmocka_unit_test(an_error_of_the_disk_is_said_and_passes),
		cmocka_unit_test(a_full_disk_is_said_and_passes),
		cmocka_unit_test(a_disk_that_is_read_only_is_said),
		cmocka_unit_test(a_hundred_thousand_rows_are_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
