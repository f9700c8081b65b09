// SPDX-License-Identifier: BSD-2-Clause
/* What a report carries of a fabric: each cable once, and texts of devices without markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "page/page.h"

#define PORT(num, state, peer, peer_port)                                                         \
	"{\"port\": " #num ", \"state\": \"" state "\", \"width\": 4, \"speed\": \"NDR\", "        \
	"\"gbps\": 400, \"speed_enabled\": \"NDR\", \"lid\": 7, \"peer\": {\"node_guid\": \"" peer \
	"\", \"port\": " #peer_port "}}"

static struct json_object *compact(const char *topology)
{
	struct json_object *o = json_tokener_parse(topology), *ret;

	assert_non_null(o);
	ret = page_compact(o);
	json_object_put(o);
	return ret;
}

static void is(struct json_object *o, const char *expected)
{
	assert_string_equal(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN), expected);
}

static void a_cable_is_one_row(void **state)
{
	struct json_object *o = compact(
		"{\"nodes\": [{\"name\": \"h\", \"node_guid\": \"0x1\", \"type\": \"ca\", "
		"\"n_ports\": 1, \"ports\": [" PORT(1, "active", "0x2", 3) "]}, {\"name\": \"s\", "
		"\"node_guid\": \"0x2\", \"type\": \"switch\", \"n_ports\": 3, \"lid\": 9, "
		"\"ports\": [{\"port\": 1, \"state\": \"down\"}, {\"port\": 2, \"state\": "
		"\"init\", \"why_not\": \"no node\"}, " PORT(3, "armed", "0x1", 1) "]}]}");

	is(js_get(o, "nodes"), "[[\"h\",\"0x1\",0,1,7],[\"s\",\"0x2\",1,3,9]]");
	is(js_get(o, "links"), "[[0,1,1,3,1,1,2],[1,2,-1,0,0,3,0,1]]");
	is(js_get(o, "states"), "[\"\",\"active\",\"armed\",\"init\"]");
	is(js_get(o, "kinds"), "[\"\",\"4x NDR 400|NDR\"]");
	is(js_get(o, "why"), "[\"\",\"no node\"]");
	json_object_put(o);
}

/* A switch whose ports 1 and 2 are one cable. */
static void a_loop_is_one_row(void **state)
{
	struct json_object *o = compact("{\"nodes\": [{\"name\": \"s\", \"node_guid\": \"0x2\", "
					"\"type\": \"switch\", \"n_ports\": 2, \"ports\": [" PORT(
						1, "active", "0x2", 2) ", " PORT(2, "active", "0x2",
										 1) "]}]}");

	assert_int_equal(js_len(js_get(o, "links")), 1);
	json_object_put(o);
}

/* A cable that fell is one row; an end that left the fabric has a row of its own. */
static void a_cable_that_fell_has_both_ends(void **state)
{
	struct json_object *o = compact(
		"{\"nodes\": [{\"name\": \"s\", \"node_guid\": \"0x2\", \"type\": \"switch\", "
		"\"n_ports\": 2, \"ports\": [{\"port\": 1, \"state\": \"down\", \"why_not\": "
		"\"fell\", \"was_cabled_to\": {\"node_guid\": \"0x3\", \"port\": 9, \"name\": "
		"\"t\"}}, {\"port\": 2, \"state\": \"down\", \"was_cabled_to\": {\"node_guid\": "
		"\"0x9\", \"port\": 1, \"name\": \"h9\"}}]}, {\"name\": \"t\", \"node_guid\": "
		"\"0x3\", \"type\": \"switch\", \"n_ports\": 9, \"ports\": [{\"port\": 9, "
		"\"state\": \"down\", \"was_cabled_to\": {\"node_guid\": \"0x2\", \"port\": 1, "
		"\"name\": \"s\"}}]}]}");

	is(js_get(o, "nodes"),
	   "[[\"s\",\"0x2\",1,2,0],[\"t\",\"0x3\",1,9,0],[\"h9\",\"0x9\",3,0,0]]");
	is(js_get(o, "links"), "[[0,1,1,9,0,1,1,1],[0,2,2,1,0,1,1,0]]");
	json_object_put(o);
}

static void history_is_rows(void **state)
{
	struct json_object *o = json_tokener_parse(
		"{\"since\": \"x\", \"errors_counted\": true, \"cables\": [{\"time\": "
		"\"1970-01-01T00:00:07.5Z\", \"fact\": \"down\", \"ends\": [{\"node_guid\": "
		"\"0x2\", \"port\": 1}, {\"node_guid\": \"0x3\", \"port\": 9}]}, {\"time\": "
		"\"1970-01-01T00:00:08Z\", \"fact\": \"errors\", \"count\": 5, \"ends\": "
		"[{\"node_guid\": \"0x2\", \"port\": 1}]}]}");
	struct json_object *c = page_compact_history(o);

	is(js_get(c, "cables"), "[[7,1,0,0,\"0x2\",1,\"0x3\",9],[8,2,5,0,\"0x2\",1]]");
	is(js_get(c, "facts"), "[\"\",\"down\",\"errors\"]");
	json_object_put(c);
	json_object_put(o);
}

static bool is_mixed(const char *before, const char *after)
{
	struct json_object *a = json_tokener_parse(before), *b = json_tokener_parse(after);
	bool ret = page_is_mixed(a, b);

	json_object_put(a);
	json_object_put(b);
	return ret;
}

static void a_fabric_that_changed_in_between_is_said(void **state)
{
	assert_false(is_mixed("{\"subnet\": {\"edits\": 7}}", "{\"subnet\": {\"edits\": 7}}"));
	assert_true(is_mixed("{\"subnet\": {\"edits\": 7}}", "{\"subnet\": {\"edits\": 8}}"));
	assert_true(is_mixed("{\"subnet\": {\"edits\": 7}}", "{\"absent\": \"no port is open\"}"));
	assert_true(is_mixed("{}", "{}"));
}

static void no_text_ends_the_script(void **state)
{
	struct json_object *o = json_object_new_string("</script><img src=x onerror=alert(1)>&");
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	page_write_json(out, o);
	fclose(out);
	assert_null(strpbrk(text, "<>&"));
	assert_non_null(strstr(text, "\\u003c/script\\u003e"));
	free(text);
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cable_is_one_row),
		cmocka_unit_test(a_loop_is_one_row),
		cmocka_unit_test(a_cable_that_fell_has_both_ends),
		cmocka_unit_test(history_is_rows),
		cmocka_unit_test(a_fabric_that_changed_in_between_is_said),
		cmocka_unit_test(no_text_ends_the_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
