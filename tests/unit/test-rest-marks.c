// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports out of service by the REST interface, on a manager of paper: what it is asked for, and the
 * bytes that clients compare.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/json.h"
#include "tests/lib/rest-fake.h"

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

static void assert_status(unsigned status, const char *method, const char *target, const char *body)
{
	struct rest_answer a;

	fake_request(&fake, method, target, body, NULL, &a);
	assert_int_equal(a.status, status);
	rest_answer_clear(&a);
}

#define UNHEALTHY(port)                                                                            \
	"{\"ports\":[\"" port "\"],\"ports_policy\":\"UNHEALTHY\","                                \
	"\"action\":\"isolate\"}"
#define HEALTHY(port) "{\"ports\":[\"" port "\"],\"ports_policy\":\"HEALTHY\"}"

static void answer_is(const char *target, const char *want)
{
	struct rest_answer a;

	fake_request(&fake, "GET", target, NULL, NULL, &a);
	assert_int_equal(a.status, 200);
	assert_string_equal(a.bytes, want);
	rest_answer_clear(&a);
}

#define RECORD                                                                                     \
	"{\"PeerLID\":\"2\",\"PeerPortNumber\":1,\"UnhealthyPortNumber\":1,"                       \
	"\"PeerGUID\":\"b8599f0300fc0001\",\"PeerPort\":\"leaf1/1\",\"UnhealthyNode\":\"h0\","     \
	"\"UnhealthyPort\":\"h0/HCA-1/1\",\"State\":\"Info\",\"PeerPortDname\":\"1\","             \
	"\"Condition\":\"MANUAL\",\"PeerNode\":\"leaf1\",\"StatusTime\":"                          \
	"\"Wed Apr 29 00:05:32 2020\",\"UnhealthyPortDname\":\"HCA-1/1\","                         \
	"\"UnhealthyGUID\":\"946dae0300590000\"}"

static void a_port_is_taken_out_of_service_and_listed(void **state)
{
	setenv("TZ", "UTC", 1);
	answer_is("/app/unhealthy_ports", "[]");
	assert_status(200, "PUT", "/app/unhealthy_ports", UNHEALTHY("b8599f0300fc0001_1"));
	assert_string_equal(json_str(fake.last, "target"), "0xb8599f0300fc0001/1");
	assert_string_equal(json_str(fake.last, "action"), "isolate");
	answer_is("/app/unhealthy_ports", "[" RECORD "]");
	answer_is("/app/unhealthy_ports/946dae0300590000_1", RECORD);
	answer_is("/app/unhealthy_ports/B8599F0300FC0001_1", RECORD);
	assert_status(404, "GET", "/app/unhealthy_ports/b8599f0300fc0001_2", NULL);
	answer_is("/resources/isolated_ports",
		  "{\"isolated_ports\":[\"0x946dae0300590000_1\"],\"healthy_ports\":[]}");
	assert_status(200, "PUT", "/app/unhealthy_ports", HEALTHY("946dae0300590000_1"));
	answer_is("/app/unhealthy_ports", "[]");
	assert_status(200, "PUT", "/app/unhealthy_ports", HEALTHY("946dae0300590000_1"));
}

static void a_port_that_cannot_be_spared_is_refused(void **state)
{
	assert_status(400, "PUT", "/app/unhealthy_ports", UNHEALTHY("b8599f0300fc0001_3"));
	assert_status(400, "PUT", "/app/unhealthy_ports", UNHEALTHY("b8599f0300fc0001_41"));
	assert_status(400, "PUT", "/app/unhealthy_ports", HEALTHY("b8599f0300fc0001_41"));
	assert_int_equal(fake.n_marks, 0);
	fake.fails = "Denied";
	assert_status(403, "PUT", "/app/unhealthy_ports", UNHEALTHY("b8599f0300fc0001_1"));
}

static void a_malformed_list_of_ports_changes_nothing(void **state)
{
	static const char *const bodies[] = {
		NULL,
		"[]",
		"{}",
		"{\"ports\":[],\"ports_policy\":\"HEALTHY\"}",
		"{\"ports\":\"b8599f0300fc0001_1\",\"ports_policy\":\"UNHEALTHY\"}",
		"{\"ports\":[7],\"ports_policy\":\"UNHEALTHY\"}",
		UNHEALTHY("b8599f0300fc0001"),
		UNHEALTHY("b8599f0300fc0001_0"),
		UNHEALTHY("b8599f0300fc0001_255"),
		UNHEALTHY("b8599f0300fc0001_x"),
		UNHEALTHY("_1"),
		UNHEALTHY("0_1"),
		UNHEALTHY(""),
		"{\"ports\":[\"b8599f0300fc0001_1\",\"x\"],\"ports_policy\":\"UNHEALTHY\"}",
		"{\"ports\":[\"b8599f0300fc0001_1\"]}",
		"{\"ports\":[\"b8599f0300fc0001_1\"],\"ports_policy\":\"SICK\"}",
		"{\"ports\":[\"b8599f0300fc0001_1\"],\"ports_policy\":\"UNHEALTHY\","
		"\"action\":\"no_discover\"}",
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		assert_status(400, "PUT", "/app/unhealthy_ports", bodies[i]);
	assert_string_equal(fake.last_method, "");
}

#define DEVICE(action, policy, type, id)                                                           \
	"{\"params\":{\"action\":\"isolate\",\"device_policy\":\"" policy                          \
	"\"},\"action\":\"" action "\",\"object_ids\":[\"" id "\"],\"object_type\":\"" type        \
	"\",\"identifier\":\"id\"}"

static void a_device_is_taken_out_of_service_by_a_job(void **state)
{
	struct rest_answer a;

	fake_request(&fake, "POST", "/actions",
		     DEVICE("mark_device_unhealthy", "UNHEALTHY", "System", "946dae0300590001"),
		     NULL, &a);
	assert_int_equal(a.status, 202);
	assert_int_equal(a.n_headers, 1);
	assert_string_equal(a.headers[0].name, "Location");
	assert_non_null(strstr(a.headers[0].value, "/jobs/1796000000"));
	assert_true(a.changed);
	rest_answer_clear(&a);
	assert_int_equal(fake.n_marks, 1);
	assert_int_equal(fake.marks[0].port, 2);
	answer_is("/jobs/1796000000",
		  "{\"ID\":\"1796000000\",\"Status\":\"Completed\",\"Progress\":100,"
		  "\"Operation\":\"isolate\",\"Description\":\"isolate: leaf1/2\",\"Summary\":\"\","
		  "\"Created\":\"2026-11-30T06:00:00.000000Z\","
		  "\"LastUpdated\":\"2026-11-30T06:00:01.000000Z\","
		  "\"CreatedBy\":\"opensm-rest/admin\",\"RelatedObjects\":[\"leaf1/2\"]}");
	answer_is("/jobs/0", "{\"ID\":\"0\",\"Status\":\"Completed\",\"Progress\":100}");
	assert_status(404, "GET", "/jobs/1", NULL);
	assert_status(404, "GET", "/jobs/x", NULL);
	assert_status(202, "POST", "/actions",
		      DEVICE("mark_device_healthy", "HEALTHY", "System", "946dae0300590001"));
	assert_int_equal(fake.n_marks, 0);
	assert_status(202, "POST", "/actions",
		      DEVICE("mark_device_unhealthy", "UNHEALTHY", "System", "b8599f0300fc0003"));
	assert_int_equal(fake.marks[0].port, 0);
	assert_status(202, "POST", "/actions",
		      DEVICE("mark_device_unhealthy", "UNHEALTHY", "Port", "b8599f0300fc0002_2"));
	assert_int_equal(fake.n_marks, 2);
	assert_status(400, "POST", "/actions",
		      DEVICE("mark_device_unhealthy", "HEALTHY", "System", "b8599f0300fc0003"));
	assert_status(400, "POST", "/actions",
		      DEVICE("mark_device_unhealthy", "UNHEALTHY", "System", "nowhere"));
	assert_status(400, "POST", "/actions", "{\"action\":\"mark_device_unhealthy\"}");
	assert_int_equal(fake.n_marks, 2);
}

#define REST_TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		REST_TEST(a_port_is_taken_out_of_service_and_listed),
		REST_TEST(a_port_that_cannot_be_spared_is_refused),
		REST_TEST(a_malformed_list_of_ports_changes_nothing),
		REST_TEST(a_device_is_taken_out_of_service_by_a_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
