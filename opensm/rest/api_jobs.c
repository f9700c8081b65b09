// SPDX-License-Identifier: BSD-2-Clause
/*
 * Jobs: changes of partitions and of links out of service, as the manager keeps the last of them,
 * whichever client asked for them. Those that are answered when they are done, which is nearly all,
 * are in the list too.
 *
 * Number 0 is the job of a request that had nothing to wait for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/json.h"
#include "rest/api_internal.h"
#include "rest/api_text.h"
#include "util/mem.h"
#include "util/str.h"

/* States of the manager as clients know them. */
static const struct status {
	const char *state, *name;
	int64_t progress;
} statuses[] = {
	{ "running", "Running", 0 },
	{ "done", "Completed", 100 },
	{ "unconfirmed", "Completed With Errors", 100 },
	{ "failed", "Failed", 100 },
};

static const struct status *status_of(struct json_object *job)
{
	const char *state = json_str(job, "state");

	for (size_t i = 0; state && i < ARRAY_SIZE(statuses); i++)
		if (!strcmp(statuses[i].state, state))
			return &statuses[i];
	return &statuses[0];
}

static const char *text_of(struct json_object *job, const char *key)
{
	const char *text = json_str(job, key);

	return text ? text : "";
}

static const char *updated(struct json_object *job)
{
	return text_of(job, json_str(job, "ended") ? "ended" : "began");
}

#define JOB_FIELDS(F)                                                                              \
	F("ID", STR, id)                                                                           \
	F("Status", STR, status->name)                                                             \
	F("Progress", INT, status->progress)                                                       \
	F("Operation", IF(job, STR), text_of(job, "operation"))                                    \
	F("Description", IF(job, STR), description)                                                \
	F("Summary", IF(job, STR), text_of(job, "text"))                                           \
	F("Created", IF(job, STR), text_of(job, "began"))                                          \
	F("LastUpdated", IF(job, STR), updated(job))                                               \
	F("CreatedBy", IF(job, STR), text_of(job, "by"))                                           \
	F("RelatedObjects", IF(job, OF("[]string")), api_text_str(t, NULL, text_of(job, "object")))

static const struct json_field job_fields[] = FIELDS_TABLE(JOB_FIELDS);

/* `job` NULL: the one with number 0. */
static void write_job(struct api_text *t, struct json_object *job)
{
	const struct status *status = job ? status_of(job) : &statuses[1];
	char id[24], description[160];

	snprintf(id, sizeof(id), "%" PRId64,
		 json_object_get_int64(json_object_object_get(job, "number")));
	snprintf(description, sizeof(description), "%s: %s", text_of(job, "operation"),
		 text_of(job, "object"));
	FIELDS_TEXT(t, NULL, JOB_FIELDS);
}

void api_answer_job(const struct rest_request *q, struct rest_answer *ret, uint64_t number)
{
	char id[24];

	snprintf(id, sizeof(id), "%" PRIu64, number);
	rest_answer_json(ret, 202, FIELDS_NEW(API_STARTED_FIELDS));
	rest_answer_header(ret, "Location", "%s/jobs/%s", q->prefix, id);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* The jobs that the manager knows, the latest first: the caller's. NULL: `ret` is filled. */
static struct json_object *ask(const struct rest_request *q, struct rest_answer *ret)
{
	struct rest_error err;
	struct json_object *o = rest_call(q, "Jobs", NULL, &err);

	if (!o)
		rest_answer_call_error(ret, &err);
	return o;
}

#define JOBS_QUERY(Q)                                                                              \
	Q(status, TEXT, "Running, Completed, Completed With Errors or Failed")                     \
	Q(operation, TEXT, "create, delete, add, remove, set, configure, drain, isolate, restore")
#define JOBS_ARGUMENTS(Q) JOBS_QUERY(Q) API_PAGE_QUERY(Q)

static const struct json_field jobs_query[] = QUERY_TABLE(JOBS_ARGUMENTS);

struct jobs_asked {
	JOBS_QUERY(QUERY_MEMBER)
};

static bool is_asked_for(const struct jobs_asked *asked, struct json_object *job)
{
	if (asked->status && strcasecmp(asked->status, status_of(job)->name) != 0)
		return false;
	return !asked->operation || !strcasecmp(asked->operation, text_of(job, "operation"));
}

static void write_jobs(struct api_text *t, struct json_object *all, const struct jobs_asked *asked,
		       struct api_page *page)
{
	size_t n = all ? json_object_array_length(all) : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *job = json_object_array_get_idx(all, i);

		if (is_asked_for(asked, job) && api_page_takes(page))
			write_job(t, job);
	}
}

#define JOBS_PAGE_FIELDS(F)                                                                        \
	API_PAGE_FIELDS(F, LIST(job_fields), page, write_jobs(t, all, asked, page))

static const struct json_field jobs_page_fields[] = FIELDS_TABLE(JOBS_PAGE_FIELDS);

static void write_jobs_page(struct api_text *t, struct json_object *all,
			    const struct jobs_asked *asked, struct api_page *page)
{
	if (page->is_paged)
		FIELDS_TEXT(t, NULL, JOBS_PAGE_FIELDS);
	else
		API_TEXT_AROUND(t, NULL, '[', write_jobs(t, all, asked, page), ']');
}

static void answer_jobs(const struct rest_request *q, struct rest_answer *ret)
{
	const struct jobs_asked asked = { JOBS_QUERY(QUERY_READ) };
	struct json_object *o;
	struct api_page page;
	struct api_text t;

	if (!api_page_read(q, ret, &page))
		return;
	o = ask(q, ret);
	if (!o)
		return;
	api_text_start(&t);
	write_jobs_page(&t, json_object_object_get(o, "jobs"), &asked, &page);
	api_text_answer(&t, ret);
	json_object_put(o);
}

const struct rest_operation api_jobs = {
	.help = "Lists the last 512 changes, the latest first, also those that go on.",
	.query = jobs_query,
	.gives = REST_GIVES(FIELD_ROW("Jobs", LIST(job_fields))
				    FIELD_ROW("JobsPage", OBJECT(jobs_page_fields))),
	.answer = answer_jobs,
};

/* ---- one ------------------------------------------------------------------------------------- */

static struct json_object *find_job(struct json_object *o, uint64_t number)
{
	struct json_object *all = json_object_object_get(o, "jobs");
	size_t n = all ? json_object_array_length(all) : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *job = json_object_array_get_idx(all, i);

		if ((uint64_t)json_object_get_int64(json_object_object_get(job, "number")) ==
		    number)
			return job;
	}
	return NULL;
}

static void answer_job(const struct rest_request *q, struct rest_answer *ret)
{
	struct json_object *o = ask(q, ret), *job;
	uint64_t number = UINT64_MAX;
	struct api_text t;

	if (!o)
		return;
	if (str_to_u64(q->segments[0], 10, INT64_MAX, &number) < 0)
		number = UINT64_MAX;
	job = find_job(o, number);
	if (job || !number) {
		api_text_start(&t);
		write_job(&t, job);
		api_text_answer(&t, ret);
	} else {
		rest_answer_error(ret, 404, "there is no job '%.40s', or it is forgotten",
				  q->segments[0]);
	}
	json_object_put(o);
}

const struct rest_operation api_job = {
	.help = "Shows a job by the number that its request was answered with.",
	.gives = REST_GIVES(FIELD_ROW("Job", OBJECT(job_fields))),
	.answer = answer_job,
};
