// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lists of hosts as Slurm writes them: n[1-2,7],gpu[08-10]x[1-2].
 *
 * The number of names and of brackets is bounded before any is made: a list of twenty characters
 * may stand for more names than there are hosts in the world.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "rest/api_values.h"
#include "util/mem.h"

#define BRACKETS_MAX 4 /* in one name */
#define DIGITS_MAX   9

struct expansion {
	struct json_object *names;
	char *why; /* text of API_WHY_MAX bytes */
	const char *list;
};

static bool expansion_fails(struct expansion *e, const char *what)
{
	snprintf(e->why, API_WHY_MAX, "host list '%.120s': %s", e->list, what);
	return false;
}

static bool add_name(struct expansion *e, const char *name, size_t len)
{
	if (!len)
		return expansion_fails(e, "a name is empty");
	if (len > API_HOST_MAX)
		return expansion_fails(e, "a name is longer than 255 characters");
	if (json_object_array_length(e->names) >= API_HOSTS_MAX)
		return expansion_fails(e, "it has more than 65536 names");
	json_object_array_add(e->names, json_object_new_string_len(name, (int)len));
	return true;
}

/* Digits at `text`: how many; their value in `ret`. */
static size_t read_number(const char *text, unsigned *ret)
{
	size_t n = strspn(text, "0123456789");

	*ret = 0;
	for (size_t i = 0; i < n && i < DIGITS_MAX; i++)
		*ret = *ret * 10 + (unsigned)(text[i] - '0');
	return n;
}

struct range {
	unsigned from, to;
	int width; /* digits of the first number, with its zeros */
};

/* "7" or "08-10", up to a comma or the bracket; NULL: neither. */
static const char *read_range(const char *text, struct range *ret)
{
	size_t n = read_number(text, &ret->from);

	ret->to = ret->from;
	ret->width = (int)n;
	if (!n || n > DIGITS_MAX)
		return NULL;
	text += n;
	if (*text == '-') {
		n = read_number(text + 1, &ret->to);
		text += 1 + n;
		if (!n || n > DIGITS_MAX)
			return NULL;
	}
	return (*text == ',' || *text == ']') && ret->to >= ret->from ? text : NULL;
}

static bool expand_from(struct expansion *e, const char *name, unsigned brackets);

/* The names that begin with `prefix`, go on with a number of the range and end with `rest`. */
static bool expand_range(struct expansion *e, const char *prefix, const struct range *range,
			 const char *rest, unsigned brackets)
{
	if (range->to - range->from >= API_HOSTS_MAX)
		return expansion_fails(e, "it has more than 65536 names");
	for (unsigned i = range->from; i <= range->to; i++) {
		_cleanup_free_ char *name = xasprintf("%s%0*u%s", prefix, range->width, i, rest);

		if (!expand_from(e, name, brackets + 1))
			return false;
	}
	return true;
}

/* `name`: one item of the list, of which the brackets are yet to be replaced by numbers. */
static bool expand_from(struct expansion *e, const char *name, unsigned brackets)
{
	const char *open = strchr(name, '['), *close = open ? strchr(open, ']') : NULL;
	_cleanup_free_ char *prefix = NULL;
	struct range range;

	if (!open)
		return strchr(name, ']') ? expansion_fails(e, "']' without '['")
					 : add_name(e, name, strlen(name));
	if (!close || brackets >= BRACKETS_MAX)
		return expansion_fails(e, close ? "more than 4 brackets in a name"
						: "'[' without ']'");
	if (strlen(name) > 4 * API_HOST_MAX)
		return expansion_fails(e, "a name is longer than 255 characters");
	prefix = xasprintf("%.*s", (int)(open - name), name);
	for (const char *at = open + 1;; at++) {
		at = read_range(at, &range);
		if (!at)
			return expansion_fails(e, "expected numbers as in n[1-2,7]");
		if (!expand_range(e, prefix, &range, close + 1, brackets))
			return false;
		if (at >= close)
			return true;
	}
}

/* Bytes of the first item: up to a comma that is outside of brackets. */
static size_t item_length(const char *list)
{
	bool inside = false;
	size_t n = 0;

	for (; list[n] && (inside || list[n] != ','); n++) {
		if (list[n] == '[')
			inside = true;
		else if (list[n] == ']')
			inside = false;
	}
	return n;
}

static bool expand_item(struct expansion *e, const char *item, size_t len)
{
	_cleanup_free_ char *name = NULL;

	for (; len && (*item == ' ' || *item == '\t'); item++)
		len--;
	while (len && (item[len - 1] == ' ' || item[len - 1] == '\t'))
		len--;
	name = xasprintf("%.*s", (int)len, item);
	return expand_from(e, name, 0);
}

struct json_object *api_hosts_expand(const char *list, char why[API_WHY_MAX])
{
	struct expansion e = { .names = json_object_new_array(), .why = why, .list = list };
	bool is_good = strlen(list) <= API_HOSTS_MAX * (API_HOST_MAX + 1) ||
		       expansion_fails(&e, "it is too long");

	assert(list && why);
	for (const char *at = list; is_good; at++) {
		size_t len = item_length(at);

		is_good = expand_item(&e, at, len);
		at += len;
		if (!*at)
			break;
	}
	if (is_good)
		return e.names;
	json_object_put(e.names);
	return NULL;
}
