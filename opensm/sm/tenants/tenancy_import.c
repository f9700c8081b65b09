// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions of former builds: the file `tenants` of the cache folder is read once, its partitions
 * and members become rows of the ledger in one commit, and it is renamed ("tenants.taken"). A
 * ledger that has rows of partitions already knows more: then the file is renamed only.
 *
 * What was removed is in no such file: a standby whose file was older gives what it has, too. Both
 * files say the same where the managers were in step when they were replaced.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/tenants/tenants_import.h"
#include "sm/tenants/tenancy_internal.h"
#include "sm/base/about.h"
#include "util/mem.h"

#define TAKEN ".taken" /* suffix of the file after it was read */

struct tenancy_import {
	char *path;	       /* path of the file; NULL: no cache folder */
	struct tenants *table; /* table to be committed; NULL: none */
	struct ledger_key *keys;
	size_t n_keys, cap_keys;
};

static bool has_rows(const struct sm *sm)
{
	return ledger_rows(settle_ledger(sm), LEDGER_PARTITION) ||
	       ledger_rows(settle_ledger(sm), LEDGER_MEMBER);
}

static void put_aside(const char *path, const char *end)
{
	_cleanup_free_ char *from = xasprintf("%s%s", path, end);
	_cleanup_free_ char *to = xasprintf("%s" TAKEN, from);

	if (rename(from, to) < 0 && errno != ENOENT)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = from, .error = errno), LOGB_ERROR,
		       "%s cannot be renamed (%s): the ledger has what it says; remove it", from,
		       strerror(errno));
}

static void put_all_aside(const char *path)
{
	put_aside(path, "");
	put_aside(path, ".heard");
	put_aside(path, ".diverged");
}

void import_read(struct sm *sm, const struct sm_paths *paths)
{
	struct conf_report report = { 0 };
	struct tenancy_import *m;

	if (!paths || !paths->cache_dir)
		return;
	m = sm->m.tenancy->import = xcalloc(1, sizeof(*m));
	m->path = xasprintf("%s/" TENANTS_FILE, paths->cache_dir);
	if (has_rows(sm)) {
		put_all_aside(m->path);
		return;
	}
	tenants_import(m->path, &report, &m->table);
	log_findings(&report);
	conf_report_clear(&report);
}

/*
 * Makes edits of all partitions and members; all rows have the number of the table, that of its
 * last change.
 */
static void edit_table(struct tenancy_import *m, struct edits *ret)
{
	const struct tenant_partition *p;
	uint64_t number = MAX(tenants_generation(m->table), (uint64_t)1);

	for (size_t i = 0; (p = tenants_at(m->table, i)); i++) {
		edit_partition(ret, p->pkey, &p->fields, number);
		for (size_t k = 0; k < p->n_members; k++)
			edit_member(ret, p->pkey, &p->members[k], p->fields.behind, number);
	}
	for (size_t i = 0; i < ret->n; i++)
		APPEND(m->keys, m->n_keys, m->cap_keys) = ret->list[i].key;
}

static void on_imported(struct sm *sm, void *arg, int error)
{
	struct tenancy_import *m = sm->m.tenancy->import;

	if (error < 0) {
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = m->path, .error = -error), LOGB_ERROR,
		       "%s was read, and the ledger cannot be written (%s): partitions that were "
		       "made at run time are not served; restart opensm when it can",
		       m->path, strerror(-error));
		return;
	}
	tenancy_derive(sm, m->keys, m->n_keys);
	log_info("%s: %zu rows are in the ledger now", m->path, m->n_keys);
	if (!settle_fault(sm))
		put_all_aside(m->path);
}

void import_tick(struct sm *sm)
{
	struct tenancy_import *m = sm->m.tenancy->import;
	struct edits edits = { 0 };

	if (!m || !m->table)
		return;
	edit_table(m, &edits);
	m->table = tenants_free(m->table);
	edits_commit(sm, &edits, on_imported, NULL);
	edits_clear(&edits);
}

void import_free(struct tenancy *t)
{
	if (!t->import)
		return;
	tenants_free(t->import->table);
	free(t->import->keys);
	free(t->import->path);
	free(t->import);
	t->import = NULL;
}
