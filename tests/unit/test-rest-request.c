// SPDX-License-Identifier: BSD-2-Clause
/* Targets, headers, forms, routes, configuration and answers of opensm-rest. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rest/setup/conf.h"
#include "rest/http/request.h"
#include "rest/http/router.h"
#include "rest/rest.h"

static void target_is(const char *text, enum rest_entry entry, const char *path)
{
	struct target t;

	assert_int_equal(target_parse(text, &t), 0);
	assert_int_equal(t.entry, entry);
	assert_string_equal(t.path, path);
	target_clear(&t);
}

static void targets_are_taken_apart(void **state)
{
	target_is("/ufmRest/resources/pkeys", ENTRY_BASIC, "/resources/pkeys");
	target_is("/ufmRest/resources/pkeys/?guids_data=true", ENTRY_BASIC, "/resources/pkeys");
	target_is("/ufmRestV2//app///ufm_version//", ENTRY_SESSION, "/app/ufm_version");
	target_is("/ufmRestV3", ENTRY_TOKEN, "/");
	target_is("/ufmRestV3/", ENTRY_TOKEN, "/");
	target_is("/ufmRest/resources/pkeys/0x5/guids/a%2Cb", ENTRY_BASIC,
		  "/resources/pkeys/0x5/guids/a,b");
	target_is("/dologin", ENTRY_NONE, "/dologin");
	target_is("/", ENTRY_NONE, "/");
	target_is("/page.js", ENTRY_NONE, "/page.js");
}

static void targets_that_are_none_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"*",
		"ufmRest",
		"/ufmRest/%",
		"/ufmRest/%2",
		"/ufmRest/%zz",
		"/ufmRest/a%2fb",
		"/ufmRest/%00",
		"/ufmRest/%0a",
		"/ufmRest/\x01",
		"/ufmRest/\x7f",
		"/ufmRest/a b",
		"/ufmRest/a of user admin",
		"/ufmRest/?a=b c",
		"/ufmRest/\ta",
		"/ufmRest/?a=%0d",
		"http://x/ufmRest/",
		"/ufmRest?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q",
	};
	struct target t;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(target_parse(texts[i], &t), -EINVAL);
	assert_int_equal(target_parse("/ufmRestX/a", &t), -ENOENT);
	assert_int_equal(target_parse("/page", &t), -ENOENT);
}

static void arguments_are_found(void **state)
{
	struct rest_request q = { 0 };
	struct target t;

	assert_int_equal(target_parse("/ufmRest/x?a=1&&b=True&c&d=x%20y+z&a=2&e=no", &t), 0);
	memcpy(q.query, t.query, sizeof(q.query));
	q.n_query = t.n_query;
	assert_string_equal(rest_query(&q, "a"), "1");
	assert_true(rest_query_bool(&q, "a", false));
	assert_true(rest_query_bool(&q, "b", false));
	assert_true(rest_query_bool(&q, "c", true));
	assert_string_equal(rest_query(&q, "d"), "x y z");
	assert_false(rest_query_bool(&q, "e", true));
	assert_null(rest_query(&q, "f"));
	target_clear(&t);
}

static void logins_are_read(void **state)
{
	static const char form[] = "httpd_username=ann&httpd_password=a%26+b";
	struct password_login login;

	assert_int_equal(login_from_basic("Basic YW5uOmE6Yg==", &login), 0);
	assert_string_equal(login.user, "ann");
	assert_string_equal(login.password, "a:b");
	assert_int_equal(login_from_basic("basic  YW5uOg==", &login), 0);
	assert_string_equal(login.password, "");
	assert_true(login_from_basic(NULL, &login) < 0);
	assert_true(login_from_basic("Bearer YW5uOmE6Yg==", &login) < 0);
	assert_true(login_from_basic("Basic", &login) < 0);
	assert_true(login_from_basic("Basic YW5u", &login) < 0);
	assert_true(login_from_basic("Basic YW4AOmE=", &login) < 0);
	assert_true(login_from_basic("Basic OmE=", &login) < 0);
	assert_int_equal(login_from_form(form, strlen(form), &login), 0);
	assert_string_equal(login.password, "a& b");
	assert_true(login_from_form("httpd_username=ann", 18, &login) < 0);
	assert_true(login_from_form(NULL, 0, &login) < 0);
}

/* ---- bodies -------------------------------------------------------------------------------- */

/* `n` times `piece` between brackets. */
static bool many_are_modest(const char *piece, size_t n)
{
	size_t len = strlen(piece);
	char *text = xmalloc(n * len + 2);
	bool is;

	text[0] = '[';
	for (size_t i = 0; i < n; i++)
		memcpy(text + 1 + i * len, piece, len);
	text[n * len + 1] = ']';
	is = json_is_modest(text, n * len + 2);
	free(text);
	return is;
}

static void a_body_of_too_many_values_is_known_by_its_bytes(void **state)
{
	const char unterminated[] = { '"', '\\' };

	assert_true(json_is_modest(NULL, 0));
	assert_true(json_is_modest("{}", 2));
	assert_true(json_is_modest(unterminated, sizeof(unterminated)));
	assert_true(many_are_modest("\"0200000000000001\",", 55000));
	assert_true(many_are_modest("1,", JSON_VALUES_MAX - 2));
	assert_false(many_are_modest("1,", JSON_VALUES_MAX));
	assert_true(many_are_modest("{},", JSON_GROUPS_MAX - 1));
	assert_false(many_are_modest("{},", JSON_GROUPS_MAX));
	assert_false(many_are_modest("[", 1000));
	/* What stands in strings is no value, and an escaped quote ends none. */
	assert_true(many_are_modest("\"{[,\\\"{[,\",", 50000));
	assert_false(many_are_modest("\"\\\\\",{},\"\",", 1000));
}

static void tokens_and_cookies_are_found(void **state)
{
	char cookie[8];

	assert_string_equal(token_from_header("Basic abc"), "abc");
	assert_null(token_from_header("Basic "));
	assert_null(token_from_header("Bearer abc"));
	assert_true(session_from_cookie("a=b; session=x", cookie, sizeof(cookie)));
	assert_string_equal(cookie, "x");
	assert_true(session_from_cookie("session=1234567;a", cookie, sizeof(cookie)));
	assert_false(session_from_cookie("session=12345678", cookie, sizeof(cookie)));
	assert_false(session_from_cookie("xsession=1;;; ;", cookie, sizeof(cookie)));
	assert_false(session_from_cookie(NULL, cookie, sizeof(cookie)));
}

/* ---- routes -------------------------------------------------------------------------------- */

static const struct rest_endpoint table[] = {
	{ .method = REST_GET, .pattern = "/a/b" },
	{ .method = REST_GET, .pattern = "/a/{b}" },
	{ .method = REST_DELETE, .pattern = "/a/{b}/guids/{guids}" },
	{ 0 },
};

static void the_first_row_that_fits_is_taken(void **state)
{
	const struct rest_endpoint *found = NULL;
	const char *segments[REST_SEGMENTS_MAX];
	char *memory;
	size_t n;

	assert_int_equal(route_find(table, REST_GET, "/a/b", &found), 0);
	assert_ptr_equal(found, &table[0]);
	assert_int_equal(route_find(table, REST_GET, "/a/c", &found), 0);
	assert_ptr_equal(found, &table[1]);
	assert_int_equal(route_find(table, REST_PUT, "/a/c", &found), -EPERM);
	assert_int_equal(route_find(table, REST_GET, "/a", &found), -ENOENT);
	assert_int_equal(route_find(table, REST_GET, "/a/", &found), -ENOENT);
	assert_int_equal(route_find(table, REST_GET, "/a/b/c", &found), -ENOENT);
	assert_int_equal(route_find(table, REST_DELETE, "/a/0x5/guids/g,h", &found), 0);
	memory = route_segments(found->pattern, "/a/0x5/guids/g,h", segments, &n);
	assert_int_equal(n, 2);
	assert_string_equal(segments[0], "0x5");
	assert_string_equal(segments[1], "g,h");
	free(memory);
}

static void every_endpoint_can_be_reached_and_names_a_right(void **state)
{
	for (const struct rest_endpoint *e = rest_endpoints; e->pattern; e++) {
		assert_non_null(e->operation->answer);
		assert_true(e->pattern[0] == '/');
		/* What changes something needs more than the right to read. */
		if (e->changes)
			assert_true(e->right > REST_READ);
	}
}

/* ---- answers ------------------------------------------------------------------------------- */

static void answers_are_the_bytes_that_were_asked_for(void **state)
{
	struct rest_answer a = { 0 };
	struct rest_error err = { .name = "NotFound", .text = "no such partition" };

	rest_answer_error(&a, 401, "x");
	assert_non_null(strstr(a.bytes, "401"));
	rest_answer_empty(&a);
	assert_int_equal(a.len, 2);
	assert_memory_equal(a.bytes, "{}", 2);
	rest_answer_json(&a, 200, NULL);
	assert_string_equal(a.bytes, "null");
	rest_answer_call_error(&a, &err);
	assert_int_equal(a.status, 404);
	assert_string_equal(a.bytes, "{\"error\":\"no such partition\"}");
	rest_answer_header(&a, "ETag", "a\r\nb: c");
	assert_string_equal(a.headers[0].value, "a  b: c");
	err = (struct rest_error){ .name = "Unheard" };
	rest_answer_call_error(&a, &err);
	assert_int_equal(a.status, 503);
	rest_answer_clear(&a);
}

/* ---- configuration ------------------------------------------------------------------------- */

static struct rest_conf *parse(const char *text, struct fault *fault)
{
	return rest_conf_parse("rest.conf", text, strlen(text), fault);
}

static void a_configuration_is_read(void **state)
{
	struct fault fault;
	struct rest_conf *c = parse("# a comment\n listen =  0.0.0.0:443, [::1]:8443\n"
				    "certificate = c.pem\nkey=k.pem # of this host\n"
				    "listen_http = 127.0.0.1:80\nsite = \"hall; 2\"\n"
				    "instance = mlx5_0\nknown_only = yes\nmax_connections = 100\n",
				    &fault);

	assert_non_null(c);
	assert_int_equal(c->n_listen, 3);
	assert_string_equal(c->listen[1].host, "::1");
	assert_int_equal(c->listen[1].port, 8443);
	assert_true(c->listen[1].tls && !c->listen[2].tls);
	assert_string_equal(c->control_socket, "/run/opensm/mlx5_0.sock");
	assert_string_equal(c->site, "hall; 2");
	assert_true(c->known_only);
	assert_int_equal(c->max_connections, 100);
	rest_conf_free(c);
}

static void refused(const char *text, const char *place)
{
	struct fault fault = { "" };

	assert_null(parse(text, &fault));
	if (strncmp(fault.text, place, strlen(place)))
		fail_msg("'%s' instead of %s", fault.text, place);
}

static void a_fault_of_the_configuration_is_named(void **state)
{
	refused("", "rest.conf: neither");
	refused("listen = 1.2.3.4:443\n", "rest.conf: listen");
	refused("listen_http = 1.2.3.4:80\n", "rest.conf: listen_http");
	refused("listen_http = 127.0.0.1:80\nlistem = x\n",
		"rest.conf:2:10: there is no key 'listem'; 'listen'");
	refused("listen_http = localhost:80\n", "rest.conf:1:15: ");
	refused("listen_http = 127.0.0.1:80,127.0.0.1:65536\n", "rest.conf:1:15: ");
	refused("listen_http = 127.0.0.1\n", "rest.conf:1:15: ");
	refused("listen_http = [127.0.0.1\n", "rest.conf:1:15: ");
	refused("\n\n  listen 127.0.0.1:80\n", "rest.conf:3:3: found 'listen 127.0.0.1:80'; "
						 "expected NAME=value");
	/* A quote or backslash in a comment does not join lines. */
	refused("site = lab ; the operators' name\nnonsense = it's\n", "rest.conf:2:1: ");
	refused("site = lab # don't\nnonsense = here\n", "rest.conf:2:12: there is no key");
	refused("; C:\\\nnonsense = here\n", "rest.conf:2:12: there is no key");
	refused("key = a#it's\nnonsense = here\n", "rest.conf:2:12: there is no key");
	refused("site = it's\nkey = a\n", "rest.conf:1:1: found 'site = it's key = a");
	refused("key\n", "rest.conf:1:1: ");
	refused("key=\n", "rest.conf:1:5: key: a value is expected");
	refused("key = a\nkey = b\n", "rest.conf:2:7: key is set twice");
	refused("key = a\nKey = b\n", "rest.conf:2:1: ");
	refused("known_only = maybe\n", "rest.conf:1:14: ");
	refused("max_connections = 3\n", "rest.conf:1:19: ");
	refused("instance = ../x\n", "rest.conf:1:12: ");
	refused("control_socket = x\n", "rest.conf:1:18: ");
	refused("key = a\x07\n", "rest.conf:1:1: ");
	refused("listen_http = 127.0.0.1:80\nmax_connections=16\nmax_connections_per_address=17\n",
		"rest.conf: max_connections_per_address");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_taken_apart),
		cmocka_unit_test(targets_that_are_none_are_refused),
		cmocka_unit_test(arguments_are_found),
		cmocka_unit_test(logins_are_read),
		cmocka_unit_test(a_body_of_too_many_values_is_known_by_its_bytes),
		cmocka_unit_test(tokens_and_cookies_are_found),
		cmocka_unit_test(the_first_row_that_fits_is_taken),
		cmocka_unit_test(every_endpoint_can_be_reached_and_names_a_right),
		cmocka_unit_test(answers_are_the_bytes_that_were_asked_for),
		cmocka_unit_test(a_configuration_is_read),
		cmocka_unit_test(a_fault_of_the_configuration_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
