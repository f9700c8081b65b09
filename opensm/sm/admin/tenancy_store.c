// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file of tenants: read at the start, entries written behind it by disk jobs, one at a time;
 * and when it cannot be used.
 *
 *   STORE_FINE      changes are taken
 *   STORE_NONE      there is no cache folder to keep it in: none is taken
 *   STORE_CORRUPT   what is in front of the fault was read, but later entries may have taken
 *                   keys away: P_Keys stay
 *                   as devices have them, and none is taken
 *
 *   STORE_BEHIND    the former master had a table that we lack: as above
 *
 * A write that fails closes nothing: the next change tries the same place again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/admin/tenancy_internal.h"
#include "sm/base/about.h"
#include "util/mem.h"
#include "util/random.h"

/* The file is written anew when entries are so many times the table, and these bytes more. */
#define COMPACT_TIMES 4u
#define COMPACT_BYTES (1u << 20)

bool store_is_closed(const struct tenancy *t)
{
	return t->store != STORE_FINE;
}

const char *tenancy_fault(const struct sm *sm)
{
	const struct tenancy *t = sm->m.tenancy;

	if (t->store == STORE_CORRUPT || t->store == STORE_BEHIND)
		return t->closed;
	return t->write_fault[0] ? t->write_fault : NULL;
}

/* ---- writing ------------------------------------------------------------------------------- */

struct store_job {
	struct sm_job base;
	struct sm *sm;
	char *path, *text;
	char *lines; /* as given, for the standbys; `text` is these, or all of the file (`whole`) */
	size_t at, len, lines_len, snapshot_len;
	uint64_t generation; /* behind it */
	bool whole;
	int error;
};

static void store_run(struct sm_job *base)
{
	struct store_job *job = (struct store_job *)base;

	job->error = job->whole ? tenants_replace(job->path, job->text, job->len)
				: tenants_append(job->path, job->at, job->text, job->len);
}

static void note_fault(struct sm *sm, const struct store_job *job)
{
	struct tenancy *t = sm->m.tenancy;
	bool is_new = !t->write_fault[0];

	snprintf(t->write_fault, sizeof(t->write_fault), "%.120s cannot be written: %.60s",
		 job->path, strerror(-job->error));
	if (is_new)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = job->path, .error = -job->error),
		       LOGB_ERROR, "%s: no partition can be changed at run time", t->write_fault);
}

static void store_written(const struct store_job *job)
{
	struct sm *sm = job->sm;
	struct tenancy *t = sm->m.tenancy;

	t->writing = false;
	if (job->error < 0) {
		/* The file may be gone, shorter, or have a part of it: the next write is whole. */
		t->has_file = false;
		note_fault(sm, job);
	} else {
		t->has_file = true;
		t->file_len = job->at + job->len;
		t->disk_generation = job->generation;
		if (job->whole)
			t->snapshot_len = job->snapshot_len;
		t->write_fault[0] = '\0';
		peers_batch(sm, job->lines, job->lines_len);
	}
	peers_stored(sm, job->error);
	tenancy_batch_ended(sm, job->error);
}

static void store_done(struct sm_job *base)
{
	struct store_job *job = (struct store_job *)base;

	if (!base->orphan)
		store_written(job);
	free(job->path);
	if (job->whole)
		free(job->text);
	free(job->lines);
	free(job);
}

static bool is_to_be_compacted(const struct tenancy *t)
{
	return t->file_len > COMPACT_BYTES + COMPACT_TIMES * t->snapshot_len;
}

/* The table holds the batch already: written whole, its lines are not needed. */
static void write_whole(struct sm *sm, struct store_job *job)
{
	job->text = tenants_text(partition_tenants(sm), &job->len);
	job->snapshot_len = job->len;
	job->at = 0;
	job->whole = true;
}

void store_append(struct sm *sm, char *text, size_t len)
{
	struct tenancy *t = sm->m.tenancy;
	struct store_job *job = xcalloc(1, sizeof(*job));

	t->writing = true;
	job->base = (struct sm_job){
		.run = store_run, .done = store_done, .what = "storing partitions", .disk = true
	};
	job->sm = sm;
	job->path = xstrdup(t->path);
	job->text = job->lines = text;
	job->len = job->lines_len = len;
	job->at = t->file_len;
	job->generation = tenants_generation(partition_tenants(sm));
	if (!t->has_file || is_to_be_compacted(t))
		write_whole(sm, job);
	sm->hooks.submit_job(sm->hooks.arg, &job->base);
}

void store_is_whole(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;

	t->has_file = false;
	t->store = STORE_FINE;
	t->closed[0] = '\0';
	partition_hold_tenants(sm, false);
}

void store_is_behind(struct sm *sm, uint64_t generation)
{
	struct tenancy *t = sm->m.tenancy;

	partition_hold_tenants(sm, true);
	if (t->store == STORE_NONE)
		return;
	t->store = STORE_BEHIND;
	snprintf(t->closed, sizeof(t->closed),
		 "the former master had stored partitions that this host lacks (generation "
		 "%" PRIu64 ", here %" PRIu64 ")",
		 generation, tenants_generation(partition_tenants(sm)));
	log_error(
		"%s: P_Keys of tenants stay as devices have them, and no partition can be changed "
		"at run time, until %s is copied from its host and opensm is restarted; if that "
		"table is lost for good, remove %s" HEARD_SUFFIX " and restart",
		t->closed, t->path, t->path);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Tells this table from those of other managers; it keeps no secret. */
static uint64_t new_lineage(const struct sm *sm)
{
	uint64_t seed = sm->tr->port_guid;

	if (sm->hooks.realtime)
		seed ^= (uint64_t)sm->hooks.realtime(sm->hooks.arg) * UINT64_C(0x9E3779B97F4A7C15);
	return random_next(&seed) | 1;
}

static void close_store(struct sm *sm, const struct conf_report *r, int error)
{
	struct tenancy *t = sm->m.tenancy;
	const struct conf_finding *f = r->n ? &r->findings[0] : NULL;

	t->store = STORE_CORRUPT;
	if (f && f->line)
		snprintf(t->closed, sizeof(t->closed), "%.200s:%u:%u is corrupt", f->file, f->line,
			 f->column);
	else
		snprintf(t->closed, sizeof(t->closed), "%.120s cannot be read: %.80s", t->path,
			 f ? f->text : strerror(-error));
	partition_hold_tenants(sm, true);
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = t->path, .error = -error), LOGB_ERROR,
	       "%s: P_Keys of tenants stay as devices have them until the file is mended and "
	       "opensm "
	       "is restarted",
	       t->closed);
}

static void read_file(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	struct conf_report report = { 0 };
	struct tenants *table = NULL;
	int r = tenants_read(t->path, &report, &table, &t->file_len);

	log_findings(&report);
	t->has_file = r == 0;
	if (r == -ENOENT)
		table = tenants_new(new_lineage(sm));
	else if (r < 0)
		close_store(sm, &report, r);
	if (table)
		partition_set_tenants(sm, table);
	t->disk_generation = tenants_generation(partition_tenants(sm));
	if (r == 0 && tenants_at(table, 0))
		log_info("%s: %zu members of partitions made at run time, generation %llu", t->path,
			 tenants_members(table), (unsigned long long)tenants_generation(table));
	conf_report_clear(&report);
}

void store_load(struct sm *sm, const struct sm_paths *paths)
{
	struct tenancy *t = sm->m.tenancy;

	if (paths && paths->cache_dir) {
		t->path = xasprintf("%s/%s", paths->cache_dir, TENANTS_FILE);
		read_file(sm);
		return;
	}
	t->store = STORE_NONE;
	snprintf(t->closed, sizeof(t->closed), "there is no cache folder to store partitions in");
}
