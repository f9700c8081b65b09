// SPDX-License-Identifier: BSD-2-Clause
#include "sm/ledger/former_file.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/ledger/settle_internal.h"
#include "util/file.h"
#include "util/mem.h"

static void rename_taken(const char *path, const char *why)
{
	_cleanup_free_ char *aside = xasprintf("%s.taken", path);

	if (rename(path, aside) == 0)
		log_info("%s: %s; it is kept as %s", path, why, aside);
	else if (errno != ENOENT)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = path, .error = errno), LOGB_ERROR,
		       "%s: %s, and it cannot be renamed: %s; delete it", path, why,
		       strerror(errno));
}

static void rename_bad(const char *path, int error, const char *consequence)
{
	_cleanup_free_ char *aside = xasprintf("%s.bad", path);
	bool moved = rename(path, aside) == 0;

	assert(error < 0);
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = path, .error = -error), LOGB_ERROR,
	       "%s: %s: %s%s%s", path, error == -EBADMSG ? "damaged" : strerror(-error),
	       consequence, moved ? "; it was renamed to " : "", moved ? aside : "");
}

static int read_file(struct sm *sm, const char *path, const struct former_file *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int error = file_read(path, f->limit, &text, &len);

	return error < 0 ? error : f->read(sm, text, len);
}

void former_begin(struct sm *sm, enum ledger_table table)
{
	struct settle *s = sm->m.settle;
	const struct former_file *f = s->owners[table].former;
	int error;

	if (!f || !s->folder)
		return;
	s->former[table] = xasprintf("%s/%s", s->folder, f->name);
	if (ledger_rows(s->ledger, table)) {
		former_end(sm, table, false);
		return;
	}
	error = read_file(sm, s->former[table], f);
	if (error == 0)
		return;
	if (error != -ENOENT)
		rename_bad(s->former[table], error, f->bad);
	free(take(s->former[table]));
}

bool former_waits(const struct sm *sm, enum ledger_table table)
{
	return sm->m.settle->former[table];
}

void former_end(struct sm *sm, enum ledger_table table, bool stored)
{
	struct settle *s = sm->m.settle;
	const struct former_file *f = s->owners[table].former;

	if (s->former[table])
		rename_taken(s->former[table], stored ? f->stored : f->beside);
	free(take(s->former[table]));
}
