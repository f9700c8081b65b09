// SPDX-License-Identifier: BSD-2-Clause
/*
 * Texts that clients and files give opensm-rest. The first byte says what the rest is: a target, an
 * Authorization header, a form, a cookie, the file of users, or the configuration. What
 * is accepted holds what its header promises.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rest/setup/conf.h"
#include "rest/http/request.h"
#include "rest/http/router.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);
extern const unsigned fuzz_runs;
const unsigned fuzz_runs = 50000; /* replay.c: each takes microseconds */

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static void fuzz_routes(const char *path)
{
	for (const struct rest_endpoint *e = rest_endpoints; e->pattern; e++) {
		const char *segments[REST_SEGMENTS_MAX];
		char *memory;
		size_t n;

		if (!route_fits(e->pattern, path))
			continue;
		memory = route_segments(e->pattern, path, segments, &n);
		must(n <= REST_SEGMENTS_MAX);
		for (size_t i = 0; i < n; i++)
			must(*segments[i] && !strchr(segments[i], '/'));
		free(memory);
	}
}

static void fuzz_target(char *text, size_t len)
{
	struct target t;

	if (target_parse(text, &t) < 0)
		return;
	must(t.path[0] == '/' && !strstr(t.path, "//") && is_printable(t.path));
	must(!t.path[1] || t.path[strlen(t.path) - 1] != '/');
	must(t.n_query <= REST_QUERY_MAX);
	for (size_t i = 0; i < t.n_query; i++)
		must(is_printable(t.query[i].name) && is_printable(t.query[i].value));
	fuzz_routes(t.path);
	target_clear(&t);
}

static void fuzz_header(char *text, size_t len)
{
	struct password_login login;
	const char *token = token_from_header(text);

	must(!token || *token);
	if (login_from_basic(text, &login) == 0)
		must(user_name_is_valid(login.user));
}

static void fuzz_form(char *text, size_t len)
{
	struct password_login login;

	if (login_from_form(text, len, &login) == 0)
		must(user_name_is_valid(login.user) && is_printable(login.password));
}

static void fuzz_cookie(char *text, size_t len)
{
	char value[65];

	if (session_from_cookie(text, value, sizeof(value)))
		must(strlen(value) < sizeof(value) && !strchr(value, ';'));
}

static void check_fault(const struct fault *fault)
{
	must(*fault->text && is_printable(fault->text));
}

static void fuzz_users(char *text, size_t len)
{
	struct fault fault = { "" };
	struct users *u = users_parse("users", text, len, &fault);

	if (!u)
		check_fault(&fault);
	else
		must(users_count(u) <= USERS_MAX && users_dummy_hash(u));
	users_free(u);
}

static void fuzz_conf(char *text, size_t len)
{
	struct fault fault = { "" };
	struct rest_conf *c = rest_conf_parse("conf", text, len, &fault);

	if (!c)
		check_fault(&fault);
	else
		must(c->n_listen && c->n_listen <= CONF_LISTEN_MAX &&
		     c->max_connections_per_address <= c->max_connections);
	rest_conf_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	static void (*const kinds[])(char *text, size_t len) = {
		fuzz_target, fuzz_header, fuzz_form, fuzz_cookie, fuzz_users, fuzz_conf,
	};
	char *text;

	if (!len)
		return 0;
	text = xmalloc(len);
	memcpy(text, input + 1, len - 1);
	text[len - 1] = '\0';
	kinds[(uint8_t)(input[0] - '0') % ARRAY_SIZE(kinds)](text, len - 1);
	free(text);
	return 0;
}
