// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table that a master was heard to have stored, and that our disk lacks, in a file of one line
 * beside the own table (`tenants.heard`): "generation 812 lineage 0x0123456789abcdef". A standby
 * that is started again while the master is dead knows by it that it must not clear P_Keys of
 * tenants.
 *
 * The file is there only while the table is behind. One that cannot be understood stands for any
 * table.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sm/admin/tenancy.h"
#include "sm/admin/tenancy_internal.h"
#include "util/file.h"
#include "util/mem.h"

#define LINE_MAX_BYTES 200u

struct heard_job {
	struct sm_job base;
	struct sm *sm;
	struct heard heard;
	char *path;
	int error;
};

static void heard_run(struct sm_job *base)
{
	struct heard_job *job = (struct heard_job *)base;
	char line[LINE_MAX_BYTES];

	if (job->heard.generation) {
		snprintf(line, sizeof(line),
			 "generation %" PRIu64 " lineage 0x%016" PRIx64 "\n",
			 job->heard.generation, job->heard.lineage);
		job->error = tenants_replace(job->path, line, strlen(line));
	} else if (unlink(job->path) < 0 && errno != ENOENT) {
		job->error = -errno;
	}
}

/* A write that fails is not repeated before other news: the table's own write says why. */
static void heard_done(struct sm_job *base)
{
	struct heard_job *job = (struct heard_job *)base;

	if (!base->orphan)
		job->sm->m.tenancy->heard_is_written = false;
	free(job->path);
	free(job);
}

/* The table that our disk lacks, as far as was heard. */
static struct heard lacking(const struct sm *sm)
{
	const struct tenants *own = partition_tenants(sm);
	struct heard h;

	if (peers_master_had_more(sm, &h))
		return h;
	if (sm->m.tenancy->disk_generation < tenants_generation(own))
		return (struct heard){ tenants_lineage(own), tenants_generation(own) };
	return (struct heard){ 0 };
}

void heard_tick(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	struct heard_job *job;
	struct heard h;

	if (!t->path || t->writing || t->heard_is_written || t->store == STORE_BEHIND)
		return;
	h = lacking(sm);
	if (h.generation == t->heard.generation && h.lineage == t->heard.lineage)
		return;
	t->heard = h;
	t->heard_is_written = true;
	job = xcalloc(1, sizeof(*job));
	job->base = (struct sm_job){ .run = heard_run,
				     .done = heard_done,
				     .what = "noting the master's partitions",
				     .disk = true };
	job->sm = sm;
	job->heard = h;
	job->path = xasprintf("%s%s", t->path, HEARD_SUFFIX);
	sm->hooks.submit_job(sm->hooks.arg, &job->base);
}

void heard_load(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	_cleanup_free_ char *path = xasprintf("%s%s", t->path ? t->path : "", HEARD_SUFFIX);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (!t->path)
		return;
	r = file_read(path, LINE_MAX_BYTES, &text, &len);
	if (r == -ENOENT)
		return;
	if (r < 0 || sscanf(text, "generation %" SCNu64 " lineage %" SCNx64, &t->heard.generation,
			    &t->heard.lineage) != 2)
		t->heard = (struct heard){ 0, UINT64_MAX };
	peers_heard(sm, &t->heard);
}

uint64_t tenancy_stored(const struct sm *sm)
{
	return MAX(partition_heard(sm), sm->m.tenancy->disk_generation);
}
