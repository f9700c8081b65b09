// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger in a file of SQLite.
 *
 * The file is locked as long as it is open (locking_mode=EXCLUSIVE): one manager writes it, a shell
 * that somewhere holds a transaction cannot make it wait, and there is no ledger.db-shm. To read it
 * while the manager runs, copy ledger.db and ledger.db-wal together, and open the copy; the same
 * two files are what a backup needs. The manager leaves ledger.db alone when it ends.
 *
 * The process must not open and close the file by another way while it is open here: that drops
 * the locks (POSIX).
 */
#include "ledger/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/ledger_row.h"

#define FORMAT		1
#define BUSY_MS		1000
#define VALUE_SHOWN_MAX 65536u /* longer values are in `state` only */
#define PAGE_MIN	512 /* bytes, of SQLite */
#define NAME_LEN	32
#define ASIDE_TRIES	10000u

struct ledger_store {
	sqlite3 *db;
	sqlite3_stmt *put_row, *put_meta;
};

/* ---- errors ---------------------------------------------------------------------------------- */

static int system_error(sqlite3 *db, int otherwise)
{
	int error = db ? sqlite3_system_errno(db) : 0;

	return error ? -error : otherwise;
}

static int io_error(sqlite3 *db)
{
	int error = system_error(db, -EIO);

	return error == -ENOSPC || error == -EDQUOT ? error : -EIO;
}

/* -errno for a code of SQLite, which is no success. */
static int error_of(sqlite3 *db, int code)
{
	switch (code & 0xFF) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CANTOPEN:
		return system_error(db, -EACCES);
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	default:
		return io_error(db);
	}
}

/* Is it the content of the file, and not its disk? */
static bool is_damage(sqlite3 *db, int code)
{
	switch (code & 0xFF) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* tables or columns are others */
	case SQLITE_MISMATCH:
	case SQLITE_CONSTRAINT:
		return true;
	case SQLITE_READONLY: /* it could be opened for writing: its head says so */
		return sqlite3_db_readonly(db, "main") == 1;
	default:
		return false;
	}
}

/* ---- statements ------------------------------------------------------------------------------ */

static int run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void finalizep(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

/* Runs a statement whose values are bound; ready for the next use. */
static int run_bound(sqlite3_stmt *statement)
{
	int code = sqlite3_step(statement);

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* The first column of the first row; SQLITE_NOTFOUND: there is none. */
static int ask(sqlite3 *db, const char *sql, int64_t *ret)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	if (code != SQLITE_OK)
		return code;
	code = sqlite3_step(statement);
	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? SQLITE_NOTFOUND : code;
	*ret = sqlite3_column_int64(statement, 0);
	return SQLITE_OK;
}

/* ---- a new file ------------------------------------------------------------------------------ */

static int create_tables(sqlite3 *db)
{
	static const char sql[] =
		"BEGIN IMMEDIATE;"
		"CREATE TABLE row(tbl INTEGER, key BLOB, state BLOB, value BLOB, removed INTEGER,"
		" number INTEGER, at INTEGER, PRIMARY KEY(tbl, key)) WITHOUT ROWID;"
		"CREATE TABLE meta(name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;"
		"INSERT INTO meta VALUES('format', 1);"
		"COMMIT";
	int code = run(db, sql);

	_Static_assert(FORMAT == 1, "the number of the format stands in create_tables()");
	if (code != SQLITE_OK && !sqlite3_get_autocommit(db))
		run(db, "ROLLBACK");
	return code;
}

/* ---- what is there --------------------------------------------------------------------------- */

/* SQLITE_CORRUPT: it is not what it should be. */
static int check_content(sqlite3 *db)
{
	int64_t n = 0;
	int code = ask(db, "SELECT quick_check = 'ok' FROM pragma_quick_check(1)", &n);

	if (code == SQLITE_OK && n)
		code = ask(db, "SELECT value = 1 AND typeof(value) = 'integer' FROM meta"
			       " WHERE name = 'format'", &n);
	if (code == SQLITE_NOTFOUND || (code == SQLITE_OK && !n))
		return SQLITE_CORRUPT;
	return code;
}

static int set_modes(sqlite3 *db)
{
	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, BUSY_MS);
	return run(db, "PRAGMA locking_mode=EXCLUSIVE;" /* first: so no -shm comes into being */
		       "PRAGMA journal_mode=WAL;"
		       "PRAGMA synchronous=FULL;"
		       "PRAGMA secure_delete=ON;"
		       "PRAGMA trusted_schema=OFF");
}

static int prepare_writing(struct ledger_store *s)
{
	int code = sqlite3_prepare_v3(s->db, "REPLACE INTO row VALUES(?, ?, ?, ?, ?, ?, ?)", -1,
				      SQLITE_PREPARE_PERSISTENT, &s->put_row, NULL);

	if (code != SQLITE_OK)
		return code;
	return sqlite3_prepare_v3(s->db, "REPLACE INTO meta VALUES(?, ?)", -1,
				  SQLITE_PREPARE_PERSISTENT, &s->put_meta, NULL);
}

/* A file that is there, perhaps empty, becomes a store; a code of SQLite. */
static int ready(struct ledger_store *s, bool *ret_fresh)
{
	int64_t tables = 0;
	int code = set_modes(s->db);

	if (code == SQLITE_OK)
		code = ask(s->db, "SELECT count(*) FROM sqlite_master", &tables);
	if (code == SQLITE_OK)
		code = tables ? check_content(s->db) : create_tables(s->db);
	if (code == SQLITE_OK)
		code = prepare_writing(s);
	*ret_fresh = !tables;
	return code;
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* `as_it_is`: what the -wal has is not moved into the file. */
static struct ledger_store *close_store(struct ledger_store *s, bool as_it_is)
{
	if (!s)
		return NULL;
	if (as_it_is && s->db)
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_finalize(s->put_row);
	sqlite3_finalize(s->put_meta);
	sqlite3_close(s->db);
	free(s);
	return NULL;
}

struct ledger_store *ledger_store_close(struct ledger_store *s)
{
	return close_store(s, false);
}

/*
 * For its owner alone; SQLite gives the -wal the mode of the file. -EBADMSG: there is something in
 * it, but no page, which SQLite takes for a new file.
 */
static int make_private(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600), r = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (!S_ISREG(st.st_mode))
		r = -EINVAL;
	else if (fchmod(fd, 0600) < 0)
		r = -errno;
	else if (st.st_size > 0 && st.st_size < PAGE_MIN)
		r = -EBADMSG;
	close(fd);
	return r;
}

/* 0; -EBADMSG: it is damaged, and nothing was changed in it; -errno. */
static int try_open(const char *path, struct ledger_store **ret, bool *ret_fresh)
{
	struct ledger_store *s;
	int code, r = make_private(path);

	if (r < 0)
		return r;
	s = xcalloc(1, sizeof(*s));
	code = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (code == SQLITE_OK)
		code = ready(s, ret_fresh);
	if (code == SQLITE_OK) {
		*ret = s;
		return 0;
	}
	r = is_damage(s->db, code) ? -EBADMSG : error_of(s->db, code);
	close_store(s, true);
	return r;
}

/* Renames what need not be there. 0 or -errno. */
static int move_file(const char *path, const char *aside, const char *suffix)
{
	_cleanup_free_ char *from = xasprintf("%s%s", path, suffix);
	_cleanup_free_ char *to = xasprintf("%s%s", aside, suffix);

	return rename(from, to) < 0 && errno != ENOENT ? -errno : 0;
}

/*
 * The file first: of a process that is killed in between a -wal is left, which SQLite drops with a
 * new file. A file without its -wal would be an old one.
 */
static int move_aside(const char *path, char ret_aside[LEDGER_ASIDE_MAX])
{
	int r, len = snprintf(ret_aside, LEDGER_ASIDE_MAX, "%s.damaged", path);

	for (unsigned i = 1; len < LEDGER_ASIDE_MAX && !access(ret_aside, F_OK); i++) {
		if (i > ASIDE_TRIES)
			return -EEXIST;
		len = snprintf(ret_aside, LEDGER_ASIDE_MAX, "%s.damaged.%u", path, i);
	}
	if (len < 0 || len >= LEDGER_ASIDE_MAX)
		return -ENAMETOOLONG;
	r = move_file(path, ret_aside, "");
	if (r == 0)
		r = move_file(path, ret_aside, "-wal");
	return r < 0 ? r : move_file(path, ret_aside, "-shm");
}

static int open_anew(const char *path, struct ledger_store **ret, bool *ret_fresh,
		     char ret_aside[LEDGER_ASIDE_MAX])
{
	int r = move_aside(path, ret_aside);

	if (r == 0)
		r = try_open(path, ret, ret_fresh);
	return r;
}

int ledger_store_open(const char *path, struct ledger_store **ret, bool *ret_fresh,
		      char ret_aside[LEDGER_ASIDE_MAX])
{
	char aside[LEDGER_ASIDE_MAX] = "";
	bool fresh = false;
	int r;

	assert(path && ret && ret_fresh && ret_aside);
	r = try_open(path, ret, &fresh);
	if (r == -EBADMSG)
		r = open_anew(path, ret, &fresh, aside);
	if (r < 0)
		return r;
	*ret_fresh = fresh;
	memcpy(ret_aside, aside, sizeof(aside));
	return 0;
}

int ledger_store_renew(const char *path, struct ledger_store **s,
		       char ret_aside[LEDGER_ASIDE_MAX])
{
	bool fresh;

	assert(path && s && ret_aside);
	*s = close_store(*s, true);
	return open_anew(path, s, &fresh, ret_aside);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* No manager counts so far. A greater number in the file is damage: none could follow it. */
#define NUMBER_MAX (UINT64_C(1) << 62)

static int load_row(sqlite3_stmt *statement, struct ledger *l)
{
	_cleanup_(ledger_row_freep) struct ledger_row *row = NULL;
	const void *state = sqlite3_column_blob(statement, 2), *key;
	size_t len = (size_t)sqlite3_column_bytes(statement, 2), key_len;

	/* Of a later version, which will want it again. */
	if (sqlite3_column_int64(statement, 0) >= LEDGER_TABLES)
		return 0;
	if (!state || ledger_row_unpack(state, len, &row) != (ssize_t)len)
		return -EBADMSG;
	key = sqlite3_column_blob(statement, 1);
	key_len = (size_t)sqlite3_column_bytes(statement, 1);
	if (ledger_row_number(row) > NUMBER_MAX ||
	    sqlite3_column_int64(statement, 0) != row->key.table || key_len != row->key.len ||
	    memcmp(key, row->key.bytes, key_len))
		return -EBADMSG;
	ledger_merge(l, row);
	return 0;
}

static int load_managers(struct ledger_meta *m, const char *name, int64_t seen)
{
	struct ledger_known known = { .seen = seen };
	char end;

	if (sscanf(name, "manager 0x%" SCNx64 "%c", &known.guid, &end) != 1)
		return -EBADMSG;
	if (m->n_managers < LEDGER_MANAGERS_MAX)
		m->managers[m->n_managers++] = known;
	return 0;
}

/* Names of others are left to a later build. */
static int load_meta(sqlite3_stmt *statement, struct ledger_meta *m)
{
	const char *name = (const char *)sqlite3_column_text(statement, 0);
	int64_t value = sqlite3_column_int64(statement, 1);

	if (!name || (!strcmp(name, "term") && (uint64_t)value > NUMBER_MAX))
		return -EBADMSG;
	if (!strcmp(name, "term"))
		m->term = (uint64_t)value;
	else if (!strcmp(name, "founded"))
		m->founded = value;
	else if (!strncmp(name, "manager ", 8))
		return load_managers(m, name, value);
	return 0;
}

/* The next row of the file: 1; 0: that was the last one; -errno. */
static int step(const struct ledger_store *s, sqlite3_stmt *statement)
{
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : error_of(s->db, code);
}

static int load_rows(const struct ledger_store *s, struct ledger *l)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = NULL;
	int r = sqlite3_prepare_v2(s->db, "SELECT tbl, key, state FROM row", -1, &statement, NULL);

	if (r != SQLITE_OK)
		return error_of(s->db, r);
	while ((r = step(s, statement)) > 0) {
		r = load_row(statement, l);
		if (r < 0)
			break;
	}
	return r;
}

static int load_metas(const struct ledger_store *s, struct ledger_meta *m)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = NULL;
	int r = sqlite3_prepare_v2(s->db, "SELECT name, value FROM meta", -1, &statement, NULL);

	if (r != SQLITE_OK)
		return error_of(s->db, r);
	while ((r = step(s, statement)) > 0) {
		r = load_meta(statement, m);
		if (r < 0)
			break;
	}
	return r;
}

int ledger_store_load(struct ledger_store *s, struct ledger *l, struct ledger_meta *ret)
{
	struct ledger_meta meta = { 0 };
	int r;

	assert(s && l && ret);
	r = load_rows(s, l);
	if (r == 0)
		r = load_metas(s, &meta);
	if (r < 0)
		return r;
	*ret = meta;
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The value in force, for people. */
static void bind_shown(sqlite3_stmt *put, enum ledger_table table, const struct ledger_value *v)
{
	if (!v->removed && !ledger_table(table)->secret && v->len <= VALUE_SHOWN_MAX)
		sqlite3_bind_blob(put, 4, v->len ? (const void *)v->bytes : "", (int)v->len,
				  SQLITE_STATIC);
	sqlite3_bind_int(put, 5, v->removed);
	sqlite3_bind_int64(put, 6, (int64_t)v->dot.number);
	sqlite3_bind_int64(put, 7, v->at);
}

/* Writes the first of the rows; the bytes it has, or -errno. */
static ssize_t write_row(struct ledger_store *s, const uint8_t *rows, size_t len)
{
	_cleanup_(ledger_row_freep) struct ledger_row *row = NULL;
	ssize_t taken = ledger_row_unpack(rows, len, &row);
	struct ledger_value v;
	int code;

	if (taken < 0)
		return taken;
	v = ledger_row_value(row);
	sqlite3_bind_int(s->put_row, 1, (int)row->key.table);
	sqlite3_bind_blob(s->put_row, 2, row->key.bytes, row->key.len, SQLITE_STATIC);
	sqlite3_bind_blob(s->put_row, 3, rows, (int)taken, SQLITE_STATIC);
	bind_shown(s->put_row, row->key.table, &v);
	code = run_bound(s->put_row);
	return code == SQLITE_OK ? taken : error_of(s->db, code);
}

static int write_rows(struct ledger_store *s, const uint8_t *rows, size_t len)
{
	while (len) {
		ssize_t n = write_row(s, rows, len);

		if (n < 0)
			return (int)n;
		rows += n;
		len -= (size_t)n;
	}
	return 0;
}

static int put_number(struct ledger_store *s, const char *name, int64_t value)
{
	sqlite3_bind_text(s->put_meta, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s->put_meta, 2, value);
	return run_bound(s->put_meta);
}

static int put_managers(struct ledger_store *s, const struct ledger_meta *m)
{
	int code = run(s->db, "DELETE FROM meta WHERE name GLOB 'manager *'");
	char name[NAME_LEN];

	for (unsigned i = 0; i < m->n_managers && code == SQLITE_OK; i++) {
		snprintf(name, sizeof(name), "manager 0x%016" PRIx64, m->managers[i].guid);
		code = put_number(s, name, m->managers[i].seen);
	}
	return code;
}

static int write_meta(struct ledger_store *s, const struct ledger_meta *m)
{
	int code = put_number(s, "term", (int64_t)m->term);

	if (code == SQLITE_OK)
		code = put_number(s, "founded", m->founded);
	if (code == SQLITE_OK)
		code = put_managers(s, m);
	return code == SQLITE_OK ? 0 : error_of(s->db, code);
}

static int write_all(struct ledger_store *s, const uint8_t *rows, size_t len,
		     const struct ledger_meta *meta)
{
	int r = write_rows(s, rows, len);

	if (r == 0 && meta)
		r = write_meta(s, meta);
	return r;
}

/* Was the file renamed or removed? SQLite would go on writing to it. */
static bool has_moved(struct ledger_store *s)
{
	int moved = 0;

	return sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
	       moved;
}

int ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
		       const struct ledger_meta *meta)
{
	int code, r;

	assert(s && (rows || !len) && (!meta || meta->n_managers <= LEDGER_MANAGERS_MAX));
	if (has_moved(s))
		return -ENOENT;
	code = run(s->db, "BEGIN IMMEDIATE");
	if (code != SQLITE_OK)
		return error_of(s->db, code);
	r = write_all(s, rows, len, meta);
	if (r == 0) {
		code = run(s->db, "COMMIT");
		r = code == SQLITE_OK ? 0 : error_of(s->db, code);
	}
	if (r < 0 && !sqlite3_get_autocommit(s->db))
		run(s->db, "ROLLBACK");
	return r;
}
