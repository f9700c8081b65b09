// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of the cache folder that builds before the ledger kept, at most one a table: read once at
 * the start if the table has no rows, renamed (".taken" behind the name) when their content is in
 * the ledger, and never looked at again.
 */
#pragma once

#include "ledger/ledger.h"
#include "sm/sm.h"

struct former_file {
	const char *name;
	size_t limit; /* most bytes that are read */
	/* Takes the contents in. Returns 0; -EBADMSG and others: the file is renamed (".bad"). */
	int (*read)(struct sm *sm, const char *text, size_t len);
	/* For the log: the contents are rows now; rows count, not they; the file is bad. */
	const char *stored, *beside, *bad;
};

/* Reads the file of the table, or renames it, if the ledger has rows of that table already. */
void former_begin(struct sm *sm, enum ledger_table table);
/* Is the content of the file known and not yet in the ledger? */
bool former_waits(const struct sm *sm, enum ledger_table table);
/* Renames a file that waits: its content was stored, or counts for nothing beside rows. */
void former_end(struct sm *sm, enum ledger_table table, bool stored);
