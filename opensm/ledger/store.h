// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger on the disk: `ledger.db` in the cache folder, of SQLite, mode 0600, WAL,
 * synchronous=FULL.
 *
 *   row(tbl INTEGER, key BLOB, state BLOB, value BLOB, removed INTEGER, number INTEGER, at INTEGER,
 *	 PRIMARY KEY(tbl, key)) WITHOUT ROWID
 *
 * `state` is ledger_row_pack(); value, removed, number and at repeat what is in force, for people
 * with sqlite3 (no value of secret tables, none of more than 64 KiB).
 *
 *   meta(name TEXT PRIMARY KEY, value BLOB): "format", "term", "founded",
 *	 "manager 0x..." (seen last, seconds since 1970)
 *
 * The file is locked as long as it is open; store.c says how to read it then.
 *
 * ledger_store_open() and ledger_store_load() block, and are for the start; ledger_store_write() is
 * for a worker: one transaction a batch. A store is used by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger.h"

#define LEDGER_FILE	    "ledger.db"
#define LEDGER_MANAGERS_MAX 65u

/* Contents of the file besides rows. */
struct ledger_meta {
	uint64_t term;
	bool founded; /* set if unexplained P_Keys on devices are not ours */
	struct ledger_known {
		guid_t guid;  /* port GUID of a manager of ours that rows were exchanged with */
		int64_t seen; /* time when it was last seen, in seconds since 1970 */
	} managers[LEDGER_MANAGERS_MAX];
	unsigned n_managers;
};

struct ledger_store;

/*
 * Opens or creates the file. Returns 0, and `*ret_fresh`: it was created. A damaged file, or one of
 * a later format, is renamed (".damaged", with a number if that exists) and a new one created;
 * `ret_aside`: its new name, else "". -errno: no file can be created (disk full, read-only).
 */
#define LEDGER_ASIDE_MAX 4096
int ledger_store_open(const char *path, struct ledger_store **ret, bool *ret_fresh,
		      char ret_aside[LEDGER_ASIDE_MAX]);
struct ledger_store *ledger_store_close(struct ledger_store *s); /* accepts NULL */
FREEP(ledger_store_close, struct ledger_store)
/* Loads rows and meta. 0; -EBADMSG: an invalid row (the file is to be put aside); -errno. */
int ledger_store_load(struct ledger_store *s, struct ledger *l, struct ledger_meta *ret);
/*
 * Called after -EBADMSG: closes the store, renames its file as ledger_store_open() does, and
 * creates a new one. Returns 0; -errno, and `*s` is NULL.
 */
int ledger_store_renew(const char *path, struct ledger_store **s, char ret_aside[LEDGER_ASIDE_MAX]);
/*
 * Writes rows and meta in one transaction. `rows`: results of ledger_row_pack() one after the
 * other, each replacing its row; `meta` NULL: unchanged. Returns 0; -errno (-ENOSPC, -EROFS, -EIO
 * ...): nothing was written, a later write may succeed; -ENOENT: the file was removed or renamed
 * meanwhile: close it, open a new one, and write all rows.
 */
int ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
		       const struct ledger_meta *meta);
