// SPDX-License-Identifier: BSD-2-Clause
#include "sm/base/job.h"

#include <assert.h>
#include <stdlib.h>

#include "sm/sm_internal.h"
#include "util/mem.h"

struct job {
	struct sm_job base;
	struct sm *sm;
	struct job_kind kind;
	void *data;
	int error;
};

static void job_run(struct sm_job *base)
{
	struct job *j = (struct job *)base;

	j->error = j->kind.run(j->data);
}

static void job_done(struct sm_job *base)
{
	struct job *j = (struct job *)base;

	if (!base->orphan || j->kind.after_end)
		j->kind.ended(base->orphan ? NULL : j->sm, j->data, j->error);
	j->kind.free(j->data);
	free(j);
}

void job_start(struct sm *sm, struct job_kind kind, void *data)
{
	struct job *j = xcalloc(1, sizeof(*j));

	assert(kind.run && kind.ended && kind.free && data);
	j->base = (struct sm_job){
		.run = job_run, .done = job_done, .what = kind.what, .disk = kind.disk
	};
	j->sm = sm;
	j->kind = kind;
	j->data = data;
	sm->hooks.submit_job(sm->hooks.arg, &j->base);
}
