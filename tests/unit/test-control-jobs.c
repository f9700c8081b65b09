// SPDX-License-Identifier: BSD-2-Clause
/* Jobs: what is listed while they go on and afterwards, and how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "control/control_internal.h"
#include "tests/unit/json-paths.h"
#include "util/mem.h"

#define STARTED 1796000000

static mono_t now;

static void on_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	*ret_now = now;
	*ret_realtime = STARTED * MONO_S + now;
}

static struct daemon_api api = { .clock = on_clock };

static int start(void **state)
{
	now = 0;
	api.jobs = control_jobs_new(STARTED);
	return 0;
}

static int stop(void **state)
{
	api.jobs = control_jobs_free(api.jobs);
	return 0;
}

static struct json_object *listed(void)
{
	struct control_error err = { 0 };
	struct json_object *o = control_jobs(&api, NULL, &err);

	assert_non_null(o);
	return o;
}

static uint64_t begin(const char *object)
{
	struct control_job_about about = { .operation = "drain", .by = "root" };

	snprintf(about.object, sizeof(about.object), "%s", object);
	now += MONO_S;
	return control_job_begin(&api, &about);
}

static void end(uint64_t job, const char *error, const char *text, uint64_t generation)
{
	now += MONO_S;
	control_job_end(&api, job, error, text, generation);
}

static void a_job_goes_on_and_ends(void **state)
{
	uint64_t job = begin("leaf1/2");
	struct json_object *o = listed();

	assert_int_equal(job, STARTED);
	assert_int_equal(length_at(o, "jobs"), 1);
	assert_string_equal(text_at(o, "jobs.0.state"), "running");
	assert_string_equal(text_at(o, "jobs.0.operation"), "drain");
	assert_string_equal(text_at(o, "jobs.0.object"), "leaf1/2");
	assert_string_equal(text_at(o, "jobs.0.by"), "root");
	assert_string_equal(text_at(o, "jobs.0.began"), "2026-11-30T00:53:21.000000Z");
	assert_null(at(o, "jobs.0.ended"));
	json_object_put(o);
	end(job, NULL, "", 7);
	o = listed();
	assert_string_equal(text_at(o, "jobs.0.state"), "done");
	assert_string_equal(text_at(o, "jobs.0.ended"), "2026-11-30T00:53:22.000000Z");
	assert_int_equal(json_object_get_int64(at(o, "jobs.0.generation")), 7);
	assert_null(at(o, "jobs.0.error"));
	json_object_put(o);
}

static void jobs_end_in_any_order_and_say_how(void **state)
{
	uint64_t one = begin("one"), two = begin("two"), three = begin("three");
	struct json_object *o;

	end(three, "Unconfirmed", "2 ports are silent", 9);
	end(one, "TooCostly", "2 pairs would have no way", 0);
	o = listed();
	assert_int_equal(two, one + 1);
	assert_string_equal(text_at(o, "jobs.0.object"), "three");
	assert_string_equal(text_at(o, "jobs.0.state"), "unconfirmed");
	assert_string_equal(text_at(o, "jobs.1.state"), "running");
	assert_string_equal(text_at(o, "jobs.2.state"), "failed");
	assert_string_equal(text_at(o, "jobs.2.error"), "TooCostly");
	assert_string_equal(text_at(o, "jobs.2.text"), "2 pairs would have no way");
	assert_null(at(o, "jobs.2.generation"));
	json_object_put(o);
}

/* One that is forgotten while it goes on ends without a trace in the row of another. */
static void the_last_ones_are_kept(void **state)
{
	uint64_t first = begin("first");
	struct json_object *o;

	for (unsigned i = 0; i < 600; i++)
		end(begin("later"), NULL, "", i);
	end(first, "NoRoom", "no room", 0);
	o = listed();
	assert_int_equal(length_at(o, "jobs"), 512);
	for (size_t i = 0; i < 512; i++) {
		struct json_object *job = json_object_array_get_idx(at(o, "jobs"), i);

		assert_string_equal(text_at(job, "object"), "later");
		assert_string_equal(text_at(job, "state"), "done");
		assert_int_equal(json_object_get_int64(at(job, "number")), STARTED + 600 - i);
	}
	json_object_put(o);
}

static void without_a_list_there_is_none(void **state)
{
	struct daemon_api none = { .clock = on_clock };
	const struct control_job_about about = { .operation = "add" };
	struct control_error err = { 0 };
	struct json_object *o;

	assert_int_equal(control_job_begin(&none, &about), 0);
	control_job_end(&none, 0, NULL, "", 1);
	o = control_jobs(&none, NULL, &err);
	assert_int_equal(length_at(o, "jobs"), 0);
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, start, stop)
		T(a_job_goes_on_and_ends),
		T(jobs_end_in_any_order_and_say_how),
		T(the_last_ones_are_kept),
		T(without_a_list_there_is_none),
	};

	return cmocka_run_group_tests_name("control-jobs", tests, NULL, NULL);
}
