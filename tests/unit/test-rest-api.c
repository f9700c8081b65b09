// SPDX-License-Identifier: BSD-2-Clause
/*
 * The endpoints of opensm-rest: which call a request becomes, which answer an error, and what is
 * said of ports, systems and cables. What whole clients send is test-rest-replay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The answer's status; its body in `*ret`, to be put, if that is wanted. */
static unsigned send(const char *method, const char *target, const char *body,
		     const struct fake_manner *manner, struct json_object **ret)
{
	struct rest_answer a;
	unsigned status;

	fake_request(&fake, method, target, body, manner, &a);
	status = a.status;
	if (ret) {
		*ret = json_tokener_parse(a.bytes);
		assert_non_null(*ret);
	}
	rest_answer_clear(&a);
	return status;
}

static void assert_status(unsigned status, const char *method, const char *target,
			  const char *body)
{
	assert_int_equal(send(method, target, body, NULL, NULL), status);
}

static void assert_called(const char *parameters)
{
	json_object_object_del(fake.last, "client");
	assert_string_equal(json_object_to_json_string_ext(fake.last, JSON_C_TO_STRING_PLAIN),
			    parameters);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void members_are_sent_with_what_is_not_usual(void **state)
{
	assert_status(200, "POST", "/resources/pkeys",
		      "{\"pkey\":\"0x5\",\"guids\":[\"946DAE0300590000\",\"0x946dae0300590001\"],"
		      "\"memberships\":[\"FULL\",\"Limited\"],\"index0\":\"True\",\"new\":{}}");
	assert_string_equal(fake.last_method, "ChangePartition");
	assert_called("{\"members\":[{\"guid\":\"0x946dae0300590000\",\"index0\":true},"
		      "{\"guid\":\"0x946dae0300590001\",\"membership\":\"limited\","
		      "\"index0\":true}],"
		      "\"action\":\"add\",\"pkey\":\"0x5\"}");
}

/* What a body does not name is left as it is: the manager knows the usual values. */
static void fields_are_sent_as_codes(void **state)
{
	assert_status(200, "PUT", "/resources/pkeys/?wait=0",
		      "{\"pkey\":5,\"guids\":[],\"mtu_limit\":4,\"rate_limit\":100,"
		      "\"service_level\":3,\"ip_over_ib\":false,\"partition_name\":\"red\"}");
	assert_called("{\"members\":[],\"ip_over_ib\":false,\"mtu\":5,\"rate\":16,\"sl\":3,"
		      "\"name\":\"red\",\"action\":\"set\",\"pkey\":\"0x5\",\"wait\":false}");
}

static void a_change_names_its_client(void **state)
{
	assert_status(200, "POST", "/resources/pkeys/add", "{\"pkey\":\"0x5\"}");
	assert_string_equal(text_at(fake.last, "client.user"), "admin");
	assert_string_equal(text_at(fake.last, "client.address"), "127.0.0.1");
	assert_string_equal(text_at(fake.last, "client.request"), "0123456789abcdef");
}

static void a_guid_that_is_given_twice_counts_once(void **state)
{
	assert_status(200, "POST", "/resources/pkeys",
		      "{\"pkey\":\"0x5\",\"guids\":[\"946dae0300590000\",\"946DAE0300590000\"]}");
	assert_int_equal(length_at(fake.last, "members"), 1);
	assert_status(400, "POST", "/resources/pkeys",
		      "{\"pkey\":\"0x5\",\"guids\":[\"946dae0300590000\",\"946DAE0300590000\"],"
		      "\"memberships\":[\"full\",\"limited\"]}");
}

static void unknown_guids_are_refused_where_the_policy_says_so(void **state)
{
	const struct fake_manner strict = { .known_only = true };

	assert_int_equal(send("POST", "/resources/pkeys",
			      "{\"pkey\":\"0x5\",\"guids\":[\"946dae0300590000\"]}", &strict, NULL),
			 200);
	assert_true(json_object_get_boolean(at(fake.last, "known_only")));
	assert_int_equal(send("POST", "/actions/remove_guids_from_pkey",
			      "{\"pkey\":\"0x5\",\"guids\":[\"946dae0300590000\"]}", &strict, NULL),
			 200);
	assert_null(at(fake.last, "known_only"));
}

static void hosts_are_expanded_and_sent_by_name(void **state)
{
	assert_status(200, "POST", "/resources/pkeys/hosts",
		      "{\"pkey\":\"0x5\",\"hosts_names\":\"h[0-1],h2\","
		      "\"membership\":\"limited\"}");
	assert_called("{\"members\":[{\"host\":\"h0\",\"membership\":\"limited\"},"
		      "{\"host\":\"h1\",\"membership\":\"limited\"},"
		      "{\"host\":\"h2\",\"membership\":\"limited\"}],"
		      "\"action\":\"add\",\"pkey\":\"0x5\"}");
}

/* A job's epilog with a dead node: the others leave, and the answer names the one that has not. */
static void a_host_that_is_off_keeps_no_other(void **state)
{
	struct json_object *body;

	assert_status(200, "POST", "/resources/pkeys/hosts",
		      "{\"pkey\":\"0x5\",\"hosts_names\":\"h[0-2]\"}");
	assert_int_equal(send("DELETE", "/resources/pkeys/0x5/hosts/h0,h77,h2", NULL, NULL, &body),
			 404);
	assert_contains(text_at(body, "error"), "no host has that name");
	json_object_put(body);
	assert_int_equal(send("GET", "/resources/pkeys/0x5?guids_data=true", NULL, NULL, &body),
			 200);
	assert_int_equal(length_at(body, "guids"), 1);
	assert_string_equal(text_at(body, "guids.0.guid"), "946dae0300590001");
	json_object_put(body);
	assert_status(404, "DELETE", "/resources/pkeys/0x5/hosts/h77", NULL);
	assert_status(404, "DELETE", "/resources/pkeys/0x5/hosts/h[76-79]", NULL);
}

static unsigned remove_hosts(const char *hosts, struct rest_answer *a)
{
	_cleanup_free_ char *target = xasprintf("/resources/pkeys/0x5/hosts/%s", hosts);
	unsigned status;

	assert_status(200, "POST", "/resources/pkeys/hosts",
		      "{\"pkey\":\"0x5\",\"hosts_names\":\"h[0-2]\"}");
	fake_request(&fake, "DELETE", target, NULL, NULL, a);
	status = a->status;
	rest_answer_clear(a);
	return status;
}

/* Of several hosts that did not leave, the one that may still hold the key is what counts. */
static void the_gravest_answer_of_several_hosts_counts(void **state)
{
	struct rest_answer a;

	fake.host_fails[0] = (struct fake_host_fail){ "h1", "Unconfirmed" };
	assert_int_equal(remove_hosts("h77,h0,h1", &a), 504);
	fake.host_fails[1] = (struct fake_host_fail){ "h2", "Busy" };
	assert_int_equal(remove_hosts("h77,h2,h1", &a), 504);
	assert_int_equal(remove_hosts("h77,h1,h2", &a), 504);
	fake.host_fails[0].name = "NoRoom";
	assert_int_equal(remove_hosts("h77,h1,h2,h0", &a), 503);
	assert_int_equal(remove_hosts("h77,h1,h0", &a), 400);
	fake.host_fails[0].name = NULL;
	assert_int_equal(remove_hosts("h77,h1,h0", &a), 404);
}

/* The host that was not known at first is there again when it is tried by itself. */
static void all_hosts_that_left_in_the_end_are_success(void **state)
{
	_cleanup_free_ char *tag = NULL;
	struct rest_answer a;

	assert_status(200, "POST", "/resources/pkeys/hosts",
		      "{\"pkey\":\"0x5\",\"hosts_names\":\"h[0-2]\"}");
	fake.change_fails_once = "NotFound";
	fake_request(&fake, "DELETE", "/resources/pkeys/0x5/hosts/h0,h1", NULL, NULL, &a);
	assert_int_equal(a.status, 200);
	assert_string_equal(a.bytes, "{}");
	assert_true(a.changed);
	assert_int_equal(a.generation, fake.generation);
	tag = xasprintf("\"%u\"", (unsigned)fake.generation);
	assert_int_equal(a.n_headers, 3);
	assert_string_equal(a.headers[0].value, tag);
	assert_string_equal(a.headers[1].value, "false");
	assert_string_equal(a.headers[2].name, "X-Standbys");
	rest_answer_clear(&a);
}

/* A removal is repeated after 504: what is not in the table any more may be on devices still. */
static void what_is_gone_from_the_table_alone_is_not_gone(void **state)
{
	static const char *const targets[] = {
		"/resources/pkeys/0x5",
		"/resources/pkeys/0x5/guids/946dae0300590000",
		"/resources/pkeys/0x5/hosts/h0,h1",
	};
	const struct fake_manner patient = { .patience = MONO_S };

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct json_object *body;

		assert_status(404, "DELETE", targets[i], NULL);
		fake.open = 2;
		fake.open_falls = 0;
		assert_int_equal(send("DELETE", targets[i], NULL, NULL, &body), 504);
		assert_contains(text_at(body, "error"), "2 ports");
		json_object_put(body);
		assert_int_equal(send("DELETE", targets[i], NULL, &patient, NULL), 504);
		fake.open_falls = 1;
		fake.asked = 0;
		assert_int_equal(send("DELETE", targets[i], NULL, &patient, NULL), 404);
		assert_true(fake.asked >= 2);
		fake.open = 2;
		fake.open_falls = 0;
		assert_int_equal(send("DELETE", targets[i], NULL, NULL, NULL), 504);
		fake.open = 0;
	}
}

/* A table that is not to be believed says nothing about what is gone. */
static void a_manager_that_is_closed_knows_of_nothing_that_it_is_gone(void **state)
{
	struct json_object *body;

	fake.closed = "tenants:7:1: this is no line";
	assert_int_equal(send("DELETE", "/resources/pkeys/0x5/guids/946dae0300590000", NULL, NULL,
			      &body),
			 503);
	assert_contains(text_at(body, "error"), "tenants:7:1");
	json_object_put(body);
	assert_status(200, "GET", "/resources/pkeys/0x5", NULL);
}

/* The check of a load balancer is a read of the table: that of a standby may be an old one. */
static void only_the_master_shows_partitions(void **state)
{
	fake.fails = "NotMaster";
	assert_status(503, "GET", "/resources/pkeys", NULL);
	assert_status(503, "GET", "/resources/pkeys?guids_data=true", NULL);
	assert_status(503, "GET", "/resources/pkeys/0x5", NULL);
	assert_status(503, "GET", "/resources/pkeys/last_updated", NULL);
	assert_true(json_object_get_boolean(json_object_object_get(fake.last, "master")));
}

/* A client that does not wait is not made to; others are answered when it is settled. */
static void what_is_not_there_is_asked_for_once_without_a_wait(void **state)
{
	fake.open = 1;
	assert_status(404, "DELETE", "/resources/pkeys/0x5?wait=0", NULL);
	fake.change_fails_once = "NotFound";
	assert_status(504, "POST", "/actions/remove_guids_from_pkey",
		      "{\"pkey\":\"0x5\",\"guids\":[\"946dae0300590000\"]}");
	fake.open = 0;
	fake.change_fails_once = "NotFound";
	assert_status(200, "POST", "/actions/remove_guids_from_pkey",
		      "{\"pkey\":\"0x5\",\"guids\":[\"946dae0300590000\"]}");
}

/* Requests that say something else than they should: none becomes a call. */
static void bad_bodies_are_refused(void **state)
{
	static const char *const bodies[] = {
		NULL,
		"null",
		"[]",
		"5",
		"\"pkey\"",
		"{}",
		"{\"pkey\":\"0x5\"}",
		"{\"guids\":[]}",
		"{\"pkey\":\"0x8005\",\"guids\":[]}",
		"{\"pkey\":\"0x0\",\"guids\":[]}",
		"{\"pkey\":\"0x7fff\",\"guids\":[]}",
		"{\"pkey\":null,\"guids\":[]}",
		"{\"pkey\":\"0x5\",\"guids\":\"946dae0300590000\"}",
		"{\"pkey\":\"0x5\",\"guids\":[null]}",
		"{\"pkey\":\"0x5\",\"guids\":[5]}",
		"{\"pkey\":\"0x5\",\"guids\":[\"946dae030059000\"]}",
		"{\"pkey\":\"0x5\",\"guids\":[],\"membership\":\"both\"}",
		"{\"pkey\":\"0x5\",\"guids\":[],\"membership\":1}",
		"{\"pkey\":\"0x5\",\"guids\":[],\"memberships\":[\"full\"]}",
		"{\"pkey\":\"0x5\",\"guids\":[],\"memberships\":{}}",
		"{\"pkey\":\"0x5\",\"guids\":[],\"index0\":\"maybe\"}",
		"{\"pkey\":\"0x5\",\"guids\":[],\"ip_over_ib\":[]}",
		"{\"pkey\":\"0x5\",\"guids\":[],\"mtu_limit\":2048}",
		"{\"pkey\":\"0x5\",\"guids\":[],\"rate_limit\":3}",
		"{\"pkey\":\"0x5\",\"guids\":[],\"service_level\":16}",
		"{\"pkey\":\"0x5\",\"guids\":[],\"partition_name\":5}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++)
		if (send("POST", "/resources/pkeys", bodies[i], NULL, NULL) != 400)
			fail_msg("%s is taken", bodies[i]);
	assert_status(400, "DELETE", "/resources/pkeys/x", NULL);
	assert_status(400, "DELETE", "/resources/pkeys/0x0", NULL);
	assert_status(400, "DELETE", "/resources/pkeys/0x5/guids/,", NULL);
	assert_status(400, "DELETE", "/resources/pkeys/0x5/hosts/n[", NULL);
	assert_status(400, "GET", "/resources/pkeys/0x8005", NULL);
	assert_status(400, "PUT", "/resources/pkeys/qos_conf", "{\"pkey\":\"0x5\"}");
	assert_string_equal(fake.last_method, "");
}

/* ---- answers --------------------------------------------------------------------------------- */

static void errors_have_the_status_that_clients_expect(void **state)
{
	static const struct {
		const char *name;
		unsigned status;
	} rows[] = {
		{ "Unconfirmed", 504 }, { "Timeout", 504 },	{ "Closed", 503 },
		{ "NoStandby", 503 },	{ "NotMaster", 503 },	{ "Busy", 503 },
		{ "NotReady", 503 },	{ "Unreachable", 503 }, { "NoRoom", 400 },
		{ "ReadOnly", 400 },	{ "Exists", 400 },	{ "InvalidParameter", 400 },
		{ "Overtaken", 412 },	{ "NotFound", 404 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct json_object *body;

		fake.fails = rows[i].name;
		assert_int_equal(send("POST", "/resources/pkeys/add", "{\"pkey\":\"0x5\"}", NULL,
				      &body),
				 rows[i].status);
		assert_contains(text_at(body, "error"), "it fails");
		json_object_put(body);
	}
	fake.fails = "Unreachable";
	assert_status(503, "GET", "/app/ufm_version", NULL);
	assert_status(503, "GET", "/app/smconf", NULL);
	assert_status(503, "GET", "/resources/ports", NULL);
	assert_status(503, "GET", "/resources/ports/x", NULL);
	assert_status(503, "GET", "/resources/systems", NULL);
	assert_status(503, "GET", "/resources/links", NULL);
	assert_status(503, "GET", "/resources/pkeys", NULL);
	assert_status(503, "GET", "/resources/pkeys/0x5", NULL);
	assert_status(503, "GET", "/resources/pkeys/last_updated", NULL);
	assert_status(503, "DELETE", "/resources/pkeys/0x5/guids/946dae0300590000", NULL);
}

/* Both are 504: one has the manager's text, "it is stored, but ...", the other is not known. */
static void a_change_without_an_end_says_what_is_known_of_it(void **state)
{
	struct json_object *body;

	fake.change_fails_once = "Unconfirmed";
	assert_int_equal(send("DELETE", "/resources/pkeys/0x5", NULL, NULL, &body), 504);
	assert_null(strstr(text_at(body, "error"), "not known whether"));
	json_object_put(body);
	fake.change_fails_once = "Timeout";
	assert_int_equal(send("DELETE", "/resources/pkeys/0x5", NULL, NULL, &body), 504);
	assert_contains(text_at(body, "error"), "not known whether the change is stored");
	json_object_put(body);
}

static void a_partition_of_the_file_names_its_line(void **state)
{
	struct json_object *body;

	assert_int_equal(send("DELETE", "/resources/pkeys/0x6000", NULL, NULL, &body), 400);
	assert_contains(text_at(body, "error"), "partitions.conf:3");
	json_object_put(body);
}

/* The text of the ETag of an answer, "" if it has none; to be freed. */
static char *etag_of(const char *method, const char *target, const char *body)
{
	struct rest_answer a;
	char *ret = NULL;

	fake_request(&fake, method, target, body, NULL, &a);
	for (size_t i = 0; i < a.n_headers; i++)
		if (!strcmp(a.headers[i].name, "ETag"))
			ret = xstrdup(a.headers[i].value);
	rest_answer_clear(&a);
	return ret ? ret : xstrdup("");
}

static unsigned add_if(const char *tag)
{
	const struct fake_manner manner = { .if_match = tag };

	return send("POST", "/resources/pkeys",
		    "{\"pkey\":\"0x5\",\"guids\":[\"946dae0300590000\"]}", &manner, NULL);
}

static void a_change_may_depend_on_the_version(void **state)
{
	_cleanup_free_ char *none = etag_of("GET", "/resources/pkeys/0x5", NULL);
	_cleanup_free_ char *made = NULL, *seen = NULL;

	assert_string_equal(none, "\"0\"");
	assert_int_equal(add_if("*"), 412);
	assert_int_equal(add_if("\"7\""), 412);
	assert_int_equal(add_if("W/\"x\""), 412);
	assert_int_equal(add_if(none), 200);
	assert_int_equal(add_if(none), 412);
	seen = etag_of("GET", "/resources/pkeys/0x5", NULL);
	assert_string_not_equal(seen, none);
	made = etag_of("POST", "/resources/pkeys",
		       "{\"pkey\":\"0x5\",\"guids\":[\"946dae0300590001\"]}");
	assert_int_equal(add_if(seen), 412);
	assert_int_equal(add_if(made), 200);
	assert_int_equal(add_if("*"), 200);
}

static void a_change_is_known_to_the_journal(void **state)
{
	struct rest_answer a;

	fake_request(&fake, "POST", "/resources/pkeys/add", "{\"pkey\":\"0x5\"}", NULL, &a);
	assert_true(a.changed);
	assert_int_equal(a.generation, fake.generation);
	rest_answer_clear(&a);
	fake_request(&fake, "GET", "/resources/pkeys", NULL, NULL, &a);
	assert_false(a.changed);
	rest_answer_clear(&a);
}

/* One that no device has confirmed yet is a change, with its generation. */
static void an_unconfirmed_change_is_known_to_the_journal_too(void **state)
{
	struct rest_answer a;

	fake.change_fails_once = "Unconfirmed";
	fake_request(&fake, "POST", "/resources/pkeys/add", "{\"pkey\":\"0x5\"}", NULL, &a);
	assert_int_equal(a.status, 504);
	assert_true(a.changed);
	assert_int_equal(a.generation, fake.generation + 1);
	rest_answer_clear(&a);
}

static void a_change_says_whether_a_standby_has_it(void **state)
{
	static const char *const words[] = { "false", "true" }, *const of[] = { "0/2", "1/2" };
	struct rest_answer a;

	for (unsigned i = 0; i < 2; i++) {
		fake.replicated = i;
		fake_request(&fake, "POST", "/resources/pkeys/add", "{\"pkey\":\"0x5\"}", NULL, &a);
		assert_int_equal(a.status, 200);
		assert_string_equal(a.bytes, "{}");
		assert_string_equal(a.headers[1].name, "X-Replicated");
		assert_string_equal(a.headers[1].value, words[i]);
		assert_string_equal(a.headers[2].name, "X-Standbys");
		assert_string_equal(a.headers[2].value, of[i]);
		rest_answer_clear(&a);
	}
}

static void partitions_are_written_as_documented(void **state)
{
	struct rest_answer a;

	assert_status(200, "POST", "/resources/pkeys",
		      "{\"pkey\":\"0x5\",\"guids\":[\"946DAE0300590000\"],\"index0\":true}");
	fake_request(&fake, "GET", "/resources/pkeys?guids_data=true&qos_conf=true", NULL, NULL,
		     &a);
	assert_string_equal(
		a.bytes,
		"{\"0x7fff\":{\"partition\":\"management\",\"ip_over_ib\":true,"
		"\"qos_conf\":{\"mtu_limit\":2,\"rate_limit\":2.5,\"service_level\":0},"
		"\"guids\":[],\"index0\":false,\"membership\":\"limited\"},"
		"\"0x5\":{\"partition\":\"api_pkey_0x5\",\"ip_over_ib\":true,"
		"\"qos_conf\":{\"mtu_limit\":2,\"rate_limit\":2.5,\"service_level\":0},"
		"\"guids\":[{\"guid\":\"946dae0300590000\",\"index0\":true,"
		"\"membership\":\"full\"}]},"
		"\"0x6000\":{\"partition\":\"api_pkey_0x6000\",\"ip_over_ib\":true,"
		"\"qos_conf\":{\"mtu_limit\":2,\"rate_limit\":2.5,\"service_level\":0},"
		"\"guids\":[]}}");
	rest_answer_clear(&a);
	fake_request(&fake, "GET", "/resources/pkeys", NULL, NULL, &a);
	assert_string_equal(a.bytes, "[\"0x7fff\",\"0x5\",\"0x6000\"]");
	rest_answer_clear(&a);
	fake_request(&fake, "GET", "/resources/pkeys/0x77", NULL, NULL, &a);
	assert_int_equal(a.len, 2);
	assert_string_equal(a.bytes, "{}");
	rest_answer_clear(&a);
}

static void keys_are_never_handed_out(void **state)
{
	struct json_object *body;

	fake.secret_keys = true;
	assert_int_equal(send("GET", "/app/smconf", NULL, NULL, &body), 200);
	assert_string_equal(text_at(body, "m_key"), "0xffffffffffffffff");
	assert_string_equal(text_at(body, "sm_key"), "0xffffffffffffffff");
	assert_string_equal(text_at(body, "sa_key"), "0x1");
	assert_string_equal(text_at(body, "routing_engine_active"), "minhop");
	assert_int_equal(number_at(body, "sm_priority"), 15);
	assert_int_equal(number_at(body, "m_key_lease_period"), 60);
	assert_false(json_object_get_boolean(at(body, "no_partition_enforcement")));
	assert_false(json_object_get_boolean(at(body, "m_key_per_port")));
	json_object_put(body);
	/* A seed that was drawn at random stands in no option. */
	fake.secret_keys = false;
	fake.keys_per_port = true;
	assert_int_equal(send("GET", "/app/smconf", NULL, NULL, &body), 200);
	assert_string_equal(text_at(body, "m_key"), "0xffffffffffffffff");
	assert_true(json_object_get_boolean(at(body, "m_key_per_port")));
	json_object_put(body);
	assert_status(403, "PUT", "/app/smconf", "{\"m_key\":\"0x1\"}");
	fake.secret_keys = false;
	assert_int_equal(send("GET", "/app/smconf?param_name=sa_key", NULL, NULL, &body), 200);
	assert_string_equal(text_at(body, "sa_key"), "0x1");
	json_object_put(body);
	fake.drawn_key = true;
	assert_int_equal(send("GET", "/app/smconf", NULL, NULL, &body), 200);
	assert_string_equal(text_at(body, "sa_key"), "0xffffffffffffffff");
	assert_string_equal(text_at(body, "sm_key"), "0x1");
	json_object_put(body);
}

static void what_is_not_there_is_no_success(void **state)
{
	assert_status(501, "POST", "/actions", "{\"action\":\"reset\"}");
	assert_status(400, "POST", "/actions", "{}");
	assert_status(400, "POST", "/actions", NULL);
	assert_string_equal(fake.last_method, "");
}

/* ---- the expected topology ------------------------------------------------------------------- */

#define TOPOLOGY_FILE "/static_topology/sm_topology_file"

static void a_topology_is_learnt_replaced_and_read(void **state)
{
	struct json_object *body;

	assert_int_equal(send("GET", TOPOLOGY_FILE, NULL, NULL, &body), 200);
	assert_false(json_object_get_boolean(at(body, "in_force")));
	assert_null(at(body, "sm_topology_file"));
	json_object_put(body);
	assert_status(200, "POST", TOPOLOGY_FILE, NULL);
	assert_called("{\"user\":\"admin\"}");
	assert_status(200, "PUT", TOPOLOGY_FILE,
		      "{\"sm_topology_file\":\"0x5,1,0x2,1,Any,Active\"}");
	assert_called("{\"user\":\"admin\",\"text\":\"0x5,1,0x2,1,Any,Active\"}");
	assert_int_equal(send("GET", TOPOLOGY_FILE, NULL, NULL, &body), 200);
	assert_string_equal(text_at(body, "sm_topology_file"), "0x5,1,0x2,1,Any,Active");
	assert_string_equal(text_at(body, "file"), "/var/cache/opensm/meant.csv");
	json_object_put(body);
}

static void what_is_no_topology_is_refused_with_the_reason(void **state)
{
	static const char *const bodies[] = { NULL, "{}", "[]", "7", "{\"sm_topology_file\":7}",
					      "{\"text\":\"x\"}",
					      "\"0x1,1,0x2,1,Any,Active\\u0000\"" };
	struct json_object *body;

	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++)
		assert_status(400, "PUT", TOPOLOGY_FILE, bodies[i]);
	assert_status(400, "POST", TOPOLOGY_FILE, "[]");
	assert_string_equal(fake.last_method, "");
	assert_int_equal(send("PUT", TOPOLOGY_FILE, "\"0x1,1,what\"", NULL, &body), 400);
	assert_non_null(strstr(text_at(body, "error"), "sm_topology_file:1:7: "));
	json_object_put(body);
	fake.fails = "ReadOnly";
	assert_status(403, "POST", TOPOLOGY_FILE, NULL);
	fake.fails = "NotFound";
	assert_status(404, "GET", TOPOLOGY_FILE, NULL);
}

/* ---- ports, systems, cables ------------------------------------------------------------------ */

static void a_host_port_says_where_it_hangs(void **state)
{
	struct json_object *all, *p;

	assert_int_equal(send("GET", "/resources/ports/946dae0300590000_1", NULL, NULL, &all), 200);
	assert_int_equal(json_object_array_length(all), 1);
	p = json_object_array_get_idx(all, 0);
	assert_string_equal(text_at(p, "name"), "946dae0300590000_1");
	assert_string_equal(text_at(p, "system_name"), "h0");
	assert_string_equal(text_at(p, "node_description"), "h0 mlx5_0");
	assert_string_equal(text_at(p, "description"), "Computer IB Port");
	assert_string_equal(text_at(p, "dname"), "HCA-1/1");
	assert_string_equal(text_at(p, "systemID"), "946dae0300590000");
	assert_int_equal(number_at(p, "lid"), 10);
	assert_int_equal(number_at(p, "tier"), 1);
	assert_string_equal(text_at(p, "active_speed"), "NDR");
	assert_string_equal(text_at(p, "active_width"), "4x");
	assert_string_equal(text_at(p, "physical_state"), "Link Up");
	assert_string_equal(text_at(p, "logical_state"), "Active");
	assert_string_equal(text_at(p, "peer"), "b8599f0300fc0001_1");
	assert_string_equal(text_at(p, "peer_guid"), "b8599f0300fc0001");
	assert_string_equal(text_at(p, "peer_port_dname"), "1");
	assert_string_equal(text_at(p, "peer_node_name"), "leaf1");
	json_object_put(all);
	assert_status(200, "GET", "/resources/ports/946dae0300590000", NULL);
	assert_status(404, "GET", "/resources/ports/946dae0300590000_2", NULL);
	assert_status(404, "GET", "/resources/ports/x", NULL);
}

/* The document of a whole fabric is not for one port. */
static void one_port_is_asked_for_by_its_name(void **state)
{
	assert_status(200, "GET", "/resources/ports/946dae0300590000_1", NULL);
	assert_string_equal(fake.last_method, "Topology");
	assert_called("{\"port\":\"946dae0300590000_1\"}");
}

/* Of a fabric that is not seen as a whole: switches say how far they are from hosts. */
static void ranks_are_those_of_the_document(void **state)
{
	struct json_object *all;

	fake.topology = "{\"nodes\":[{\"name\":\"a\",\"node_guid\":\"0x000000000000000a\","
			"\"type\":\"switch\",\"rank\":1,\"ports\":[{\"port\":1,\"peer\":"
			"{\"node_guid\":\"0x000000000000000b\",\"port\":2}}]},"
			"{\"name\":\"b\",\"node_guid\":\"0x000000000000000b\","
			"\"type\":\"switch\",\"rank\":2}]}";
	assert_int_equal(send("GET", "/resources/ports/a_1", NULL, NULL, &all), 404);
	json_object_put(all);
	assert_int_equal(send("GET", "/resources/ports/000000000000000a_1", NULL, NULL, &all), 200);
	assert_int_equal(number_at(all, "0.tier"), 3);
	assert_string_equal(text_at(all, "0.peer_node_name"), "b");
	json_object_put(all);
}

static size_t ports_of(const char *query, struct json_object **ret)
{
	_cleanup_free_ char *target = xasprintf("/resources/ports%s", query);
	struct json_object *all;
	size_t n;

	assert_int_equal(send("GET", target, NULL, NULL, &all), 200);
	n = json_object_array_length(all);
	if (ret)
		*ret = all;
	else
		json_object_put(all);
	return n;
}

static void ports_are_filtered(void **state)
{
	assert_int_equal(ports_of("", NULL), 5 + 4 + 3 + 2);
	assert_int_equal(ports_of("?sys_type=Computer", NULL), 5);
	assert_int_equal(ports_of("?sys_type=switch", NULL), 9);
	assert_int_equal(ports_of("?active=true", NULL), 4 + 3 + 3 + 2);
	assert_int_equal(ports_of("?show_disabled=false", NULL), 4 + 9);
	assert_int_equal(ports_of("?show_disabled=true&new=1", NULL), 14);
	assert_int_equal(ports_of("?system_name=h2", NULL), 2);
	assert_int_equal(ports_of("?system=946dae0300590001", NULL), 1);
	assert_int_equal(ports_of("?system=x", NULL), 0);
}

static void one_host_may_have_several_adapters(void **state)
{
	struct json_object *all;

	ports_of("?system_name=h2", &all);
	assert_string_equal(text_at(all, "0.dname"), "HCA-1/1");
	assert_string_equal(text_at(all, "1.dname"), "HCA-2/1");
	assert_string_equal(text_at(all, "1.guid"), "946dae0300590012");
	json_object_put(all);
}

static void tiers_rise_from_the_hosts(void **state)
{
	struct json_object *all, *p;

	ports_of("", &all);
	p = with(all, "name", "b8599f0300fc0001_1");
	assert_int_equal(number_at(p, "tier"), 1);
	assert_string_equal(text_at(p, "peer_node_name"), "h0");
	assert_string_equal(text_at(p, "peer_port_dname"), "HCA-1/1");
	assert_int_equal(number_at(with(all, "name", "b8599f0300fc0001_3"), "tier"), 2);
	assert_int_equal(number_at(with(all, "name", "b8599f0300fc0003_2"), "tier"), 2);
	p = with(all, "name", "b8599f0300fc0001_4");
	assert_int_equal(number_at(p, "tier"), 2);
	assert_string_equal(text_at(p, "peer"), "N/A");
	assert_string_equal(text_at(p, "physical_state"), "Polling");
	p = with(all, "name", "946dae0300590003_1");
	assert_int_equal(number_at(p, "lid"), 65535);
	assert_string_equal(text_at(p, "physical_state"), "Disabled");
	json_object_put(all);
}

/* As they come from the factory all switches have one description: hosts must not be one group. */
static void switches_of_one_name_are_told_apart(void **state)
{
	struct json_object *all;

	ports_of("?sys_type=Computer", &all);
	assert_string_equal(text_at(with(all, "name", "946dae0300590002_1"), "peer_node_name"),
			    "Quantum-b8599f0300fc0002");
	json_object_put(all);
}

static void systems_are_hosts_and_switches(void **state)
{
	struct json_object *all, *o;

	assert_int_equal(send("GET", "/resources/systems", NULL, NULL, &all), 200);
	assert_int_equal(json_object_array_length(all), 4 + 3);
	o = with(all, "system_name", "h2");
	assert_int_equal(length_at(o, "ports"), 2);
	assert_string_equal(text_at(o, "ports.1.name"), "946dae0300590012_1");
	assert_string_equal(text_at(o, "vendor"), "Mellanox");
	assert_string_equal(text_at(o, "model"), "MT4129");
	assert_string_equal(text_at(o, "technology"), "NDR");
	assert_string_equal(text_at(with(all, "system_name", "h3"), "technology"), "N/A");
	json_object_put(all);
	assert_int_equal(send("GET", "/resources/systems?type=switch", NULL, NULL, &all), 200);
	assert_int_equal(json_object_array_length(all), 3);
	json_object_put(all);
	assert_int_equal(send("GET", "/resources/systems?type=host", NULL, NULL, &all), 200);
	assert_int_equal(json_object_array_length(all), 4);
	json_object_put(all);
}

static void each_cable_is_listed_once(void **state)
{
	struct json_object *all, *first, *rest;

	assert_int_equal(send("GET", "/resources/links", NULL, NULL, &all), 200);
	assert_int_equal(json_object_array_length(all), 6);
	assert_string_equal(text_at(all, "0.name"), "946dae0300590000_1:b8599f0300fc0001_1");
	assert_string_equal(text_at(all, "0.source_port_node_description"), "h0 mlx5_0");
	assert_string_equal(text_at(all, "0.width"), "IB_4x");
	assert_int_equal(send("GET", "/resources/links?page_number=1&rpp=4", NULL, NULL, &first),
			 200);
	assert_int_equal(send("GET", "/resources/links?page_number=2&rpp=4", NULL, NULL, &rest),
			 200);
	assert_int_equal(length_at(first, "data"), 4);
	assert_int_equal(length_at(rest, "data"), 2);
	assert_int_equal(number_at(rest, "total_resources"), 6);
	assert_string_equal(text_at(rest, "data.0.name"), text_at(all, "4.name"));
	json_object_put(all);
	json_object_put(first);
	json_object_put(rest);
	assert_int_equal(send("GET", "/resources/links?rpp=2&page_number=9", NULL, NULL, &all),
			 200);
	assert_int_equal(length_at(all, "data"), 0);
	json_object_put(all);
	assert_status(400, "GET", "/resources/links?rpp=0", NULL);
	assert_status(400, "GET", "/resources/links?rpp=2&page_number=x", NULL);
}

#define REST_TEST(fn) cmocka_unit_test_setup_teardown(fn, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REST_TEST(members_are_sent_with_what_is_not_usual),
		REST_TEST(fields_are_sent_as_codes),
		REST_TEST(a_change_names_its_client),
		REST_TEST(a_guid_that_is_given_twice_counts_once),
		REST_TEST(unknown_guids_are_refused_where_the_policy_says_so),
		REST_TEST(hosts_are_expanded_and_sent_by_name),
		REST_TEST(a_host_that_is_off_keeps_no_other),
		REST_TEST(the_gravest_answer_of_several_hosts_counts),
		REST_TEST(all_hosts_that_left_in_the_end_are_success),
		REST_TEST(what_is_gone_from_the_table_alone_is_not_gone),
		REST_TEST(a_manager_that_is_closed_knows_of_nothing_that_it_is_gone),
		REST_TEST(only_the_master_shows_partitions),
		REST_TEST(what_is_not_there_is_asked_for_once_without_a_wait),
		REST_TEST(bad_bodies_are_refused),
		REST_TEST(errors_have_the_status_that_clients_expect),
		REST_TEST(a_change_without_an_end_says_what_is_known_of_it),
		REST_TEST(a_partition_of_the_file_names_its_line),
		REST_TEST(a_change_may_depend_on_the_version),
		REST_TEST(a_change_is_known_to_the_journal),
		REST_TEST(an_unconfirmed_change_is_known_to_the_journal_too),
		REST_TEST(a_change_says_whether_a_standby_has_it),
		REST_TEST(partitions_are_written_as_documented),
		REST_TEST(keys_are_never_handed_out),
		REST_TEST(what_is_not_there_is_no_success),
		REST_TEST(a_topology_is_learnt_replaced_and_read),
		REST_TEST(what_is_no_topology_is_refused_with_the_reason),
		REST_TEST(a_host_port_says_where_it_hangs),
		REST_TEST(one_port_is_asked_for_by_its_name),
		REST_TEST(ranks_are_those_of_the_document),
		REST_TEST(ports_are_filtered),
		REST_TEST(one_host_may_have_several_adapters),
		REST_TEST(tiers_rise_from_the_hosts),
		REST_TEST(switches_of_one_name_are_told_apart),
		REST_TEST(systems_are_hosts_and_switches),
		REST_TEST(each_cable_is_listed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
