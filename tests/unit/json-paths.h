// SPDX-License-Identifier: BSD-2-Clause
/* Members of JSON documents by path, for tests that read answers. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "util/mem.h"

/* "a.b.2.c": members and elements. */
static inline struct json_object *at(struct json_object *o, const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);
	char *rest = copy, *word;

	while ((word = strsep(&rest, "."))) {
		if (json_object_is_type(o, json_type_array))
			o = json_object_array_get_idx(o, strtoul(word, NULL, 10));
		else
			o = json_object_object_get(o, word);
	}
	return o;
}

static const char *text_at(struct json_object *o, const char *path)
{
	struct json_object *v = at(o, path);

	return v ? json_object_get_string(v) : "(null)";
}

static inline int64_t number_at(struct json_object *o, const char *path)
{
	assert_non_null(at(o, path));
	return json_object_get_int64(at(o, path));
}

static inline size_t length_at(struct json_object *o, const char *path)
{
	assert_non_null(at(o, path));
	return json_object_array_length(at(o, path));
}

/* The element of an array whose member `key` is `value`. */
static inline struct json_object *with(struct json_object *array, const char *key,
				       const char *value)
{
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		struct json_object *o = json_object_array_get_idx(array, i);

		if (!strcmp(text_at(o, key), value))
			return o;
	}
	fail_msg("no %s %s in %s", key, value, json_object_to_json_string(array));
	return NULL;
}

static inline void assert_contains(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' does not say '%s'", text, words);
}
