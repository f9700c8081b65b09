// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages of lists, the list of jobs, and alarms. That answers fit the document is checked by the
 * fake.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/rest-fake.h"
#include "tests/unit/json-paths.h"
#include "util/mem.h"

static struct rest_fake fake;

static int start(void **state)
{
	fake_start(&fake);
	return 0;
}

static int stop(void **state)
{
	fake_stop(&fake);
	return 0;
}

static void assert_answer(const char *target, const char *body)
{
	struct rest_answer a;

	fake_request(&fake, "GET", target, NULL, NULL, &a);
	assert_int_equal(a.status, 200);
	assert_string_equal(a.bytes, body);
	rest_answer_clear(&a);
}

static void assert_status(unsigned status, const char *method, const char *target, const char *body)
{
	struct rest_answer a;

	fake_request(&fake, method, target, body, NULL, &a);
	assert_int_equal(a.status, status);
	rest_answer_clear(&a);
}

static struct json_object *get(const char *target)
{
	struct json_object *o;
	struct rest_answer a;

	fake_request(&fake, "GET", target, NULL, NULL, &a);
	assert_int_equal(a.status, 200);
	o = json_tokener_parse(a.bytes);
	assert_non_null(o);
	rest_answer_clear(&a);
	return o;
}

/* Without arguments a list is whole, as clients of old expect it. */
static void pages_of_p_keys(void **state)
{
	for (unsigned i = 1; i <= 5; i++) {
		_cleanup_free_ char *body = xasprintf("{\"pkey\":\"0x%x\"}", i);

		assert_status(200, "POST", "/resources/pkeys/add", body);
	}
	assert_answer("/resources/pkeys",
		      "[\"0x7fff\",\"0x5\",\"0x4\",\"0x3\",\"0x2\",\"0x1\",\"0x6000\"]");
	assert_answer("/resources/pkeys?rpp=3",
		      "{\"data\":[\"0x7fff\",\"0x5\",\"0x4\"],\"total_resources\":7}");
	assert_answer("/resources/pkeys?page_number=3&rpp=3",
		      "{\"data\":[\"0x6000\"],\"total_resources\":7}");
	assert_answer("/resources/pkeys?page_number=4&limit=3",
		      "{\"data\":[],\"total_resources\":7}");
	assert_answer("/resources/pkeys?offset=1&limit=2",
		      "{\"data\":[\"0x5\",\"0x4\"],\"total_resources\":7}");
	assert_answer("/resources/pkeys?offset=6", "{\"data\":[\"0x6000\"],\"total_resources\":7}");
	assert_answer("/resources/pkeys?rpp=1&offset=2&qos_conf=true&guids_data=true",
		      "{\"data\":{\"0x4\":{\"partition\":\"api_pkey_0x4\",\"ip_over_ib\":true,"
		      "\"qos_conf\":{\"mtu_limit\":2,\"rate_limit\":2.5,\"service_level\":0},"
		      "\"guids\":[]}},\"total_resources\":7}");
}

static void pages_of_devices(void **state)
{
	static const char *const lists[] = { "ports", "systems", "links" };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		_cleanup_free_ char *all = xasprintf("/resources/%s", lists[i]);
		_cleanup_free_ char *page = xasprintf("%s?rpp=2&page_number=2", all);
		struct json_object *whole = get(all), *part = get(page);
		int64_t n = (int64_t)json_object_array_length(whole);

		assert_true(n > 4);
		assert_int_equal(json_object_get_int64(at(part, "total_resources")), n);
		assert_int_equal(length_at(part, "data"), 2);
		assert_true(
			json_object_equal(at(part, "data.0"), json_object_array_get_idx(whole, 2)));
		assert_true(
			json_object_equal(at(part, "data.1"), json_object_array_get_idx(whole, 3)));
		json_object_put(whole);
		json_object_put(part);
	}
}

static void a_page_that_is_none_is_refused(void **state)
{
	static const char *const bad[] = {
		"page_number=0",
		"page_number=x",
		"rpp=0",
		"rpp=-1",
		"limit=1e3",
		"offset=-1",
		"page_number=1&offset=0",
		"rpp=",
		"page_number=99999999999999999999",
	};
	static const char *const lists[] = { "/resources/pkeys", "/resources/links", "/jobs" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
			_cleanup_free_ char *target = xasprintf("%s?%s", lists[k], bad[i]);

			assert_status(400, "GET", target, NULL);
		}
}

static void jobs_are_listed_the_latest_first(void **state)
{
	struct json_object *o;

	assert_answer("/jobs", "[]");
	assert_answer("/jobs?rpp=10", "{\"data\":[],\"total_resources\":0}");
	fake.n_jobs = 6;
	fake.job_runs = true;
	o = get("/jobs");
	assert_int_equal(json_object_array_length(o), 6);
	assert_string_equal(text_at(o, "0.ID"), "1796000005");
	assert_string_equal(text_at(o, "0.Status"), "Running");
	assert_int_equal(json_object_get_int64(at(o, "0.Progress")), 0);
	assert_string_equal(text_at(o, "0.LastUpdated"), text_at(o, "0.Created"));
	assert_string_equal(text_at(o, "2.Status"), "Failed");
	assert_string_equal(text_at(o, "2.Summary"), "2 pairs of hosts would have no way");
	assert_string_equal(text_at(o, "1.CreatedBy"), "opensm-rest/admin");
	assert_string_equal(text_at(o, "1.RelatedObjects.0"), "leaf1/2");
	json_object_put(o);
	o = get("/jobs?status=failed");
	assert_int_equal(json_object_array_length(o), 1);
	assert_string_equal(text_at(o, "0.ID"), "1796000003");
	json_object_put(o);
	o = get("/jobs?operation=isolate&rpp=2");
	assert_int_equal(length_at(o, "data"), 2);
	assert_int_equal(json_object_get_int64(at(o, "total_resources")), 3);
	json_object_put(o);
	fake.fails = "Unreachable";
	assert_status(503, "GET", "/jobs", NULL);
}

static void alarms_say_what_is_wrong_and_what_to_do(void **state)
{
	struct json_object *o = get("/alarms"), *same = get("/app/alarms");

	assert_true(json_object_equal(o, same));
	json_object_put(same);
	assert_int_equal(json_object_array_length(o), 4);
	assert_string_equal(text_at(o, "0.id"), "unreachable_pairs:0000000000000000/0");
	assert_string_equal(text_at(o, "0.severity"), "Critical");
	assert_null(at(o, "0.node_guid"));
	assert_null(at(o, "0.since"));
	assert_string_equal(text_at(o, "1.id"), "link_down:b8599f0300fc0001/7");
	assert_string_equal(text_at(o, "1.object"), "leaf1/7 - spine2/1");
	assert_string_equal(text_at(o, "1.node_guid"), "b8599f0300fc0001");
	assert_string_equal(text_at(o, "1.peer_node_guid"), "b8599f0300fc0003");
	assert_string_equal(text_at(o, "1.since"), "2026-11-30T06:00:00Z");
	assert_string_equal(text_at(o, "1.cause"), "the link is down");
	assert_string_equal(text_at(o, "1.todo"), "check the cable");
	assert_string_equal(text_at(o, "1.also.0"), "missing");
	assert_null(at(o, "1.by"));
	assert_string_equal(text_at(o, "2.severity"), "Info");
	assert_string_equal(text_at(o, "2.why"), "ticket 4711");
	assert_int_equal(json_object_get_int64(at(o, "2.affected")), 4);
	json_object_put(o);
	o = get("/alarms?severity=critical&rpp=1");
	assert_int_equal(length_at(o, "data"), 1);
	assert_int_equal(json_object_get_int64(at(o, "total_resources")), 2);
	json_object_put(o);
	o = get("/alarms?kind=slow_link");
	assert_int_equal(json_object_array_length(o), 1);
	assert_string_equal(text_at(o, "0.severity"), "Warning");
	json_object_put(o);
}

static void alarms_that_are_too_many_are_counted(void **state)
{
	struct rest_answer a;

	fake_request(&fake, "GET", "/alarms", NULL, NULL, &a);
	assert_int_equal(a.n_headers, 1);
	assert_string_equal(a.headers[0].name, "X-Not-Listed");
	assert_string_equal(a.headers[0].value, "3");
	rest_answer_clear(&a);
	fake.fails = "Unreachable";
	assert_status(503, "GET", "/alarms", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, start, stop)
		T(pages_of_p_keys),
		T(pages_of_devices),
		T(a_page_that_is_none_is_refused),
		T(jobs_are_listed_the_latest_first),
		T(alarms_say_what_is_wrong_and_what_to_do),
		T(alarms_that_are_too_many_are_counted),
	};

	return cmocka_run_group_tests_name("rest-pages", tests, NULL, NULL);
}
