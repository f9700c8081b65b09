// SPDX-License-Identifier: BSD-2-Clause
/* Is a document what the rows of its method say (api/fields.h)? */
#pragma once

#include <stdio.h>
#include <string.h>

#include "api/fields.h"
#include "util/mem.h"
#include "util/str.h"

#define FIT_WHY 300

static inline bool fields_fit(const struct json_field *fields, struct json_object *o,
			      char why[FIT_WHY]);

static inline bool word_fits(const char *word, struct json_object *v)
{
	static const struct {
		const char *word;
		enum json_type type;
	} rows[] = {
		{ "string", json_type_string }, { "int", json_type_int },
		{ "float", json_type_double },	{ "float", json_type_int },
		{ "bool", json_type_boolean },	{ "object", json_type_object },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].word, word) && json_object_is_type(v, rows[i].type))
			return true;
	return false;
}

/* `type` and `of` as in struct json_field. */
static inline bool type_fits(const char *type, const struct json_field *of, struct json_object *v,
			     char why[FIT_WHY])
{
	if (!v)
		return type[0] == '?';
	type += type[0] == '?';
	if (str_starts(type, "[]")) {
		for (size_t i = 0; i < json_object_array_length(v); i++)
			if (!type_fits(type + 2, of, json_object_array_get_idx(v, i), why))
				return false;
		return true;
	}
	if (str_starts(type, "[string]")) {
		json_object_object_foreach(v, key, value) {
			if (!key || !type_fits(type + strlen("[string]"), of, value, why))
				return false;
		}
		return true;
	}
	return of ? fields_fit(of, v, why) : word_fits(type, v);
}

static inline const struct json_field *find_field(const struct json_field *fields, const char *key)
{
	while (fields->key && strcmp(fields->key, key) != 0)
		fields++;
	return fields->key ? fields : NULL;
}

/* False: `why` has the member that is missing, of another type or one too many. */
static inline bool fields_fit(const struct json_field *fields, struct json_object *o,
			      char why[FIT_WHY])
{
	bool fits = json_object_is_type(o, json_type_object);

	for (const struct json_field *f = fields; fits && f->key; f++) {
		fits = f->optional || f->type[0] == '?' ||
		       json_object_object_get_ex(o, f->key, NULL);
		if (!fits)
			snprintf(why, FIT_WHY, "%s is missing", f->key);
	}
	json_object_object_foreach(o, key, value) {
		const struct json_field *f = fits ? find_field(fields, key) : NULL;

		if (!fits || (f && type_fits(f->type, f->of, value, why)))
			continue;
		fits = false;
		if (!*why)
			snprintf(why, FIT_WHY, "%s: %.200s", key,
				 json_object_to_json_string(value));
	}
	return fits;
}
