// SPDX-License-Identifier: BSD-2-Clause
/*
 * Clients of the REST interface, request by request, against the endpoints and a manager of paper:
 * the rows of tests/lib/rest-replay.rows, which says how to read them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/rest-fake.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define ROWS_MAX ((size_t)1 << 20)

/* What stands behind $ in a row. */
static const struct {
	const char *name, *value;
} words[] = {
	{ "$H0", "946dae0300590000" }, { "$H1", "946dae0300590001" },
	{ "$H2", "946dae0300590002" }, { "$N0", "h0" },
	{ "$N1", "h1" },	       { "$SHORT", "h[0-1]" },
};

struct replay {
	struct rest_fake fake;
	struct rest_answer answer;
	struct json_object *body; /* of the answer */
	char client[64];
	unsigned line, requests, checks;
};

static char *with_words(const char *text)
{
	char *ret = xstrdup(text);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		for (char *at; (at = strstr(ret, words[i].name));) {
			char *next = xasprintf("%.*s%s%s", (int)(at - ret), ret, words[i].value,
					       at + strlen(words[i].name));

			free(ret);
			ret = next;
		}
	return ret;
}

static void send_row(struct replay *r, char *row)
{
	char *method = strsep(&row, " "), *target = strsep(&row, " ");

	rest_answer_clear(&r->answer);
	json_object_put(r->body);
	assert_non_null(target);
	fake_request(&r->fake, method, target, row, NULL, &r->answer);
	r->body = json_tokener_parse(r->answer.bytes ? r->answer.bytes : "");
	r->requests++;
}

static void compare_answer(struct replay *r, char *row)
{
	char *status = strsep(&row, " ");

	if (r->answer.status != strtoul(status, NULL, 10))
		fail_msg("line %u: %s: status %u: %s", r->line, r->client, r->answer.status,
			 r->answer.bytes);
	if (row && strcmp(r->answer.bytes, row) != 0)
		fail_msg("line %u: %s: '%s', not '%s'", r->line, r->client, r->answer.bytes, row);
	assert_string_equal(r->answer.type, "application/json");
}

static bool is_hex16(const char *text)
{
	return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

static bool is_type(struct json_object *v, const char *type, const char *value)
{
	const char *text = v ? json_object_get_string(v) : "null";
	bool is_text = json_object_is_type(v, json_type_string);

	if (!strcmp(type, "none"))
		return !v;
	if (!strcmp(type, "count"))
		return json_object_is_type(v, json_type_array) &&
		       json_object_array_length(v) == strtoul(value, NULL, 10);
	if (value && strcmp(text, value) != 0)
		return false;
	if (!strcmp(type, "str"))
		return is_text;
	if (!strcmp(type, "hex16"))
		return is_text && is_hex16(text);
	if (!strcmp(type, "bool"))
		return json_object_is_type(v, json_type_boolean);
	if (!strcmp(type, "list"))
		return json_object_is_type(v, json_type_array);
	if (!strcmp(type, "dict"))
		return json_object_is_type(v, json_type_object);
	assert_string_equal(type, "num");
	return json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double);
}

struct check {
	struct replay *r;
	const char *row, *type, *value;
};

static void check_one(const struct check *c, struct json_object *v)
{
	if (!is_type(v, c->type, c->value))
		fail_msg("line %u: %s: '%s' is not so: %.400s", c->r->line, c->r->client, c->row,
			 json_object_to_json_string(v));
	c->r->checks++;
}

static void check_at(const struct check *c, struct json_object *v, const char *where);

/* Each element, of which there must be one. */
static void check_each(const struct check *c, struct json_object *v, const char *where)
{
	if (json_object_is_type(v, json_type_array)) {
		assert_true(json_object_array_length(v) > 0);
		for (size_t i = 0; i < json_object_array_length(v); i++)
			check_at(c, json_object_array_get_idx(v, i), where);
		return;
	}
	assert_true(json_object_is_type(v, json_type_object) && json_object_object_length(v));
	json_object_object_foreach(v, key, member) {
		assert_non_null(key);
		check_at(c, member, where);
	}
}

static void check_at(const struct check *c, struct json_object *v, const char *where)
{
	size_t len = strcspn(where, ".");
	char name[64];

	if (!*where || !strcmp(where, ".")) {
		check_one(c, v);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)len, where);
	where += len + (where[len] == '.');
	if (!strcmp(name, "*"))
		check_each(c, v, where);
	else if (json_object_is_type(v, json_type_array))
		check_at(c, json_object_array_get_idx(v, strtoul(name, NULL, 10)), where);
	else
		check_at(c, json_object_object_get(v, name), where);
}

static void check_row(struct replay *r, char *row)
{
	_cleanup_free_ char *copy = xstrdup(row);
	char *where = strsep(&row, " ");
	struct check c = { .r = r, .row = copy };

	c.type = strsep(&row, " ");
	c.value = row;
	assert_non_null(c.type);
	check_at(&c, r->body, where);
}

static void name_client(struct replay *r, const char *row)
{
	snprintf(r->client, sizeof(r->client), "%.*s", (int)strcspn(row, " |"), row);
}

static void play_row(struct replay *r, const char *line)
{
	_cleanup_free_ char *row = with_words(line);

	if (str_starts(row, "client "))
		name_client(r, row + 7);
	else if (str_starts(row, "> "))
		send_row(r, row + 2);
	else if (str_starts(row, "= "))
		compare_answer(r, row + 2);
	else if (str_starts(row, "? "))
		check_row(r, row + 2);
	else if (*row && *row != '#')
		fail_msg("line %u is no row: %s", r->line, row);
}

static void every_client_gets_what_it_needs(void **state)
{
	const char *top = getenv("abs_top_srcdir");
	_cleanup_free_ char *path = xasprintf("%s/tests/lib/rest-replay.rows", top ? top : ".");
	_cleanup_free_ char *text = NULL;
	static struct replay r;
	char *rest, *line;
	size_t len;

	assert_int_equal(file_read(path, ROWS_MAX, &text, &len), 0);
	fake_start(&r.fake);
	for (rest = text; (line = strsep(&rest, "\n"));) {
		r.line++;
		play_row(&r, line);
	}
	assert_true(r.requests > 80 && r.checks > 200);
	/* Clients have cleaned up: what is left is of the file. */
	for (size_t i = 2; i < FAKE_PARTITIONS; i++)
		assert_int_equal(r.fake.all[i].pkey, 0);
	rest_answer_clear(&r.answer);
	json_object_put(r.body);
	fake_stop(&r.fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_client_gets_what_it_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
