// SPDX-License-Identifier: BSD-2-Clause
/*
 * The document of OpenAPI: it has every route of the server and no other, and says of answers
 * neither more nor less than they have. That every answer fits is checked by tests/lib/rest-fake.c,
 * in all tests of endpoints and in scenarios.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/json.h"
#include "rest/http/own.h"
#include "rest/http/request.h"
#include "rest/http/router.h"
#include "tests/lib/openapi-fits.h"
#include "tests/lib/rest-fake.h"
#include "util/mem.h"
#include "util/str.h"

static struct json_object *document;

static int read_document(void **state)
{
	document = openapi_document();
	assert_non_null(document);
	return 0;
}

static int drop_document(void **state)
{
	json_object_put(document);
	return 0;
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* All rows, also those of the HTTP half; NULL: there are no more. */
static const struct rest_endpoint *endpoint_at(size_t i)
{
	bool is_login;

	for (const struct rest_endpoint *e = rest_endpoints; e->pattern; e++)
		if (i-- == 0)
			return e;
	return own_endpoint(i, &is_login);
}

static void every_route_is_in_the_document_and_no_other(void **state)
{
	struct json_object *paths = json_object_object_get(document, "paths");
	const struct rest_endpoint *e;
	size_t n = 0, described = 0;

	for (; (e = endpoint_at(n)); n++) {
		struct json_object *o = openapi_operation(document, e->method, e->pattern);

		assert_non_null(o);
		assert_string_equal(json_str(o, "summary"), e->operation->help);
		/* What a request without success is answered with is described, too. */
		assert_non_null(openapi_answer(document, o, 400));
	}
	json_object_object_foreach(paths, path, methods) {
		assert_non_null(path);
		described += (size_t)json_object_object_length(methods);
	}
	assert_int_equal(described, n);
	assert_true(n > 30);
}

static void every_prefix_is_a_server(void **state)
{
	struct json_object *servers = json_object_object_get(document, "servers");
	size_t n = 0;

	for (; rest_prefixes[n].prefix; n++)
		assert_string_equal(json_str(json_object_array_get_idx(servers, n), "url"),
				    rest_prefixes[n].prefix);
	assert_int_equal(json_object_array_length(servers), n);
}

static void the_parts_of_a_path_are_its_parameters(void **state)
{
	const struct rest_endpoint *e;

	for (size_t i = 0; (e = endpoint_at(i)); i++) {
		struct json_object *o = openapi_operation(document, e->method, e->pattern);
		struct json_object *all = json_object_object_get(o, "parameters");
		const char *at = e->pattern;

		for (size_t k = 0; (at = strchr(at, '{')); k++, at++) {
			struct json_object *p = json_object_array_get_idx(all, k);

			assert_string_equal(json_str(p, "in"), "path");
			assert_true(str_starts(at + 1, json_str(p, "name")));
			assert_int_equal(at[1 + strlen(json_str(p, "name"))], '}');
		}
	}
}

static void every_operation_has_a_name_of_its_own(void **state)
{
	struct json_object *seen = json_object_new_object();
	const struct rest_endpoint *e;

	for (size_t i = 0; (e = endpoint_at(i)); i++) {
		struct json_object *o = openapi_operation(document, e->method, e->pattern);
		const char *id = json_str(o, "operationId");

		assert_true(id && !strpbrk(id, "/{}-."));
		assert_false(json_object_object_get_ex(seen, id, NULL));
		json_add_bool(seen, id, true);
	}
	json_object_put(seen);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Requests of each kind of answer. */
static const struct {
	const char *target;
	enum rest_method method;
	const char *body;
} requests[] = {
	{ "/app/ufm_version", REST_GET, NULL },
	{ "/app/smconf", REST_GET, NULL },
	{ "/resources/ports", REST_GET, NULL },
	{ "/resources/ports/946dae0300590000_1", REST_GET, NULL },
	{ "/resources/systems", REST_GET, NULL },
	{ "/resources/links", REST_GET, NULL },
	{ "/resources/links?rpp=2", REST_GET, NULL },
	{ "/resources/vports", REST_GET, NULL },
	{ "/resources/pkeys/last_updated", REST_GET, NULL },
	{ "/resources/pkeys/add", REST_POST, "{\"pkey\":\"0x5\"}" },
	{ "/resources/pkeys", REST_GET, NULL },
	{ "/resources/pkeys?guids_data=true&qos_conf=true&sharp_state=true", REST_GET, NULL },
	{ "/resources/pkeys/0x7fff?guids_data=true", REST_GET, NULL },
	{ "/resources/pkeys/0x77", REST_GET, NULL },
	{ "/app/unhealthy_ports", REST_PUT,
	  "{\"ports\":[\"946dae0300590000_1\"],\"ports_policy\":\"UNHEALTHY\"}" },
	{ "/app/unhealthy_ports", REST_GET, NULL },
	{ "/app/unhealthy_ports/946dae0300590000_1", REST_GET, NULL },
	{ "/resources/isolated_ports", REST_GET, NULL },
	{ "/actions", REST_POST,
	  "{\"action\":\"mark_device_healthy\",\"object_ids\":[\"h0\"]}" },
	{ "/jobs/1796000000", REST_GET, NULL },
	{ "/jobs", REST_GET, NULL },
	{ "/alarms", REST_GET, NULL },
	{ "/app/alarms?rpp=1&offset=1", REST_GET, NULL },
	{ "/jobs?rpp=1", REST_GET, NULL },
	{ "/resources/pkeys?rpp=1", REST_GET, NULL },
	{ "/resources/pkeys?rpp=1&guids_data=true", REST_GET, NULL },
	{ "/resources/ports?limit=1", REST_GET, NULL },
	{ "/resources/systems?offset=1", REST_GET, NULL },
	{ "/static_topology/sm_topology_file", REST_POST, NULL },
	{ "/static_topology/sm_topology_file", REST_GET, NULL },
	{ "/resources/pkeys", REST_POST, "{}" }, /* an error */
};

/* Adds a member, or an element of another type, to a value or to the first element of a list. */
static void add_one_too_many(struct json_object *v)
{
	struct json_object *first;

	if (json_object_is_type(v, json_type_object)) {
		json_add_int(v, "one_too_many", 1);
		return;
	}
	first = json_object_array_get_idx(v, 0);
	if (json_object_is_type(first, json_type_object))
		add_one_too_many(first);
	else
		json_object_array_add(v, json_tokener_parse("{\"one_too_many\":1}"));
}

/* Sends request number `i`. Returns its body, the caller's; `*ret` is the schema of it. */
static struct json_object *send(struct rest_fake *fake, size_t i, struct json_object **ret)
{
	static const char *const names[] = { "GET", "POST", "PUT", "DELETE" };
	_cleanup_free_ char *path = xasprintf("%.*s", (int)strcspn(requests[i].target, "?"),
					      requests[i].target);
	struct json_object *body, *operation;
	const struct rest_endpoint *e;
	struct rest_answer a;

	fake_request(fake, names[requests[i].method], requests[i].target, requests[i].body, NULL,
		     &a);
	assert_int_equal(route_find(rest_endpoints, requests[i].method, path, &e), 0);
	operation = openapi_operation(document, e->method, e->pattern);
	*ret = openapi_answer(document, operation, a.status);
	body = json_tokener_parse(a.bytes);
	rest_answer_clear(&a);
	return body;
}

static void an_answer_with_a_member_too_many_does_not_fit(void **state)
{
	struct rest_fake fake;

	fake_start(&fake);
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		char why[FITS_WHY];
		struct json_object *schema, *v = send(&fake, i, &schema);

		assert_true(schema_fits(document, schema, v, why));
		add_one_too_many(v);
		assert_false(schema_fits(document, schema, v, why));
		json_object_put(v);
	}
	fake_stop(&fake);
}

/* Members that are left out on request are no part of `required`. */
static void an_answer_without_a_member_does_not_fit(void **state)
{
	struct rest_fake fake;
	size_t taken = 0;

	fake_start(&fake);
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		struct json_object *schema, *v = send(&fake, i, &schema), *first = v;
		char why[FITS_WHY];

		if (json_object_is_type(v, json_type_array) && json_object_array_length(v))
			first = json_object_array_get_idx(v, 0);
		if (json_object_is_type(first, json_type_object) &&
		    json_object_object_get_ex(first, "severity", NULL)) {
			json_object_object_del(first, "severity");
			assert_false(schema_fits(document, schema, v, why));
			taken++;
		}
		json_object_put(v);
	}
	assert_true(taken >= 4);
	fake_stop(&fake);
}

/* One reader drops the whole list where "tier" is a text. */
static void a_value_of_another_type_does_not_fit(void **state)
{
	struct json_object *schema, *v, *port;
	struct rest_fake fake;
	char why[FITS_WHY];
	size_t i = 0;

	while (strcmp(requests[i].target, "/resources/ports") != 0)
		i++;
	fake_start(&fake);
	v = send(&fake, i, &schema);
	port = json_object_array_get_idx(v, 0);
	assert_true(json_object_is_type(json_object_object_get(port, "tier"), json_type_int));
	json_add_str(port, "tier", "1");
	assert_false(schema_fits(document, schema, v, why));
	json_add_str(port, "tier", NULL);
	assert_false(schema_fits(document, schema, v, why));
	json_object_put(v);
	fake_stop(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_route_is_in_the_document_and_no_other),
		cmocka_unit_test(every_prefix_is_a_server),
		cmocka_unit_test(the_parts_of_a_path_are_its_parameters),
		cmocka_unit_test(every_operation_has_a_name_of_its_own),
		cmocka_unit_test(an_answer_with_a_member_too_many_does_not_fit),
		cmocka_unit_test(an_answer_without_a_member_does_not_fit),
		cmocka_unit_test(a_value_of_another_type_does_not_fit),
	};

	return cmocka_run_group_tests(tests, read_document, drop_document);
}
