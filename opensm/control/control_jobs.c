// SPDX-License-Identifier: BSD-2-Clause
/*
 * Jobs: changes that callers have asked for, of partitions and of links out of service, while they
 * go on and after their end. The last CONTROL_JOBS are kept, in memory alone.
 *
 *   RUNNING --stored, all devices have confirmed--> DONE
 *     |-----stored, a device has not confirmed----> UNCONFIRMED
 *     \-----nothing was changed-------------------> FAILED
 *
 * Numbers ascend, also over a restart: the first one is the time of the start.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "control/control_internal.h"
#include "util/mem.h"
#include "util/str.h"

#define CONTROL_JOBS 512

enum job_state { JOB_RUNNING, JOB_DONE, JOB_UNCONFIRMED, JOB_FAILED, JOB_STATES };

struct control_job {
	uint64_t number; /* 0: an empty row */
	enum job_state state;
	struct control_job_about about;
	int64_t began_us, ended_us; /* since 1970; 0: it goes on */
	char error[24];		    /* "NoRoom"; "": none */
	char text[320];		    /* reason of the error, or a remark */
	uint64_t generation;	    /* generation that it made; 0: none */
};

struct control_jobs {
	struct control_job rows[CONTROL_JOBS];
	uint64_t first, n; /* number of the first job; and how many there were */
};

struct control_jobs *control_jobs_new(int64_t started_realtime)
{
	struct control_jobs *jobs = xcalloc(1, sizeof(*jobs));

	jobs->first = (uint64_t)started_realtime;
	return jobs;
}

struct control_jobs *control_jobs_free(struct control_jobs *jobs)
{
	free(jobs);
	return NULL;
}

static struct control_job *row_of(struct control_jobs *jobs, uint64_t nth)
{
	return &jobs->rows[nth % CONTROL_JOBS];
}

static int64_t time_now(const struct daemon_api *api)
{
	return daemon_api_realtime(api, daemon_api_now(api));
}

uint64_t control_job_begin(const struct daemon_api *api, const struct control_job_about *about)
{
	struct control_job *job;

	assert(api && about);
	if (!api->jobs)
		return 0;
	job = row_of(api->jobs, api->jobs->n);
	*job = (struct control_job){
		.number = api->jobs->first + api->jobs->n++,
		.about = *about,
		.began_us = time_now(api),
	};
	return job->number;
}

void control_job_end(const struct daemon_api *api, uint64_t number, const char *error,
		     const char *text, uint64_t generation)
{
	struct control_job *job;

	assert(api && text);
	if (!number || !api->jobs)
		return;
	job = row_of(api->jobs, number - api->jobs->first);
	if (job->number != number) /* newer ones fill all rows */
		return;
	job->state = !error			       ? JOB_DONE
		     : str_equal(error, "Unconfirmed") ? JOB_UNCONFIRMED
						       : JOB_FAILED;
	job->ended_us = time_now(api);
	job->generation = generation;
	snprintf(job->error, sizeof(job->error), "%s", error ? error : "");
	snprintf(job->text, sizeof(job->text), "%s", text);
}

/* ---- the method ------------------------------------------------------------------------------ */

static const char *const state_names[JOB_STATES] = {
	[JOB_RUNNING] = "running",
	[JOB_DONE] = "done",
	[JOB_UNCONFIRMED] = "unconfirmed",
	[JOB_FAILED] = "failed",
};

#define JOB_FIELDS(F)                                                                              \
	F("number", INT, job->number)                                                              \
	F("operation", STR, job->about.operation)                                                  \
	F("object", STR, job->about.object)                                                        \
	F("by", STR, job->about.by)                                                                \
	F("state", STR, state_names[job->state])                                                   \
	F("began", TIME, job->began_us)                                                            \
	F("ended", OPT(TIME), job->ended_us)                                                       \
	F("error", TEXT, job->error)                                                               \
	F("text", TEXT, job->text)                                                                 \
	F("generation", KNOWN, job->generation, job->generation)

static const struct json_field job_fields[] = FIELDS_TABLE(JOB_FIELDS);

/* The n-th of the latest; NULL: there are no more, or they are forgotten. */
static const struct control_job *job_at(struct control_jobs *jobs, uint64_t n)
{
	if (!jobs || n >= MIN(jobs->n, (uint64_t)CONTROL_JOBS))
		return NULL;
	return row_of(jobs, jobs->n - 1 - n);
}

#define JOBS_FIELDS(F)                                                                             \
	F("jobs", LIST(job_fields),                                                                \
	  JSON_LIST_OF(const struct control_job *job, (job = job_at(api->jobs, i)),                \
		       FIELDS_ITEM(JOB_FIELDS)))

const struct json_field control_jobs_fields[] = FIELDS_TABLE(JOBS_FIELDS);

struct json_object *control_jobs(const struct daemon_api *api, struct json_object *parameters,
				 struct control_error *err)
{
	return FIELDS_NEW(JOBS_FIELDS);
}
