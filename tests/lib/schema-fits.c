// SPDX-License-Identifier: BSD-2-Clause
/* A validator for the schemas that opensm/api/schema.c writes. */
#include "tests/lib/schema-fits.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/json.h"
#include "util/mem.h"
#include "util/str.h"

static struct json_object *member(struct json_object *o, const char *key)
{
	return json_object_object_get(o, key);
}

static bool fail(char why[FITS_WHY], const char *key, const char *what)
{
	snprintf(why, FITS_WHY, "%.80s: %.100s", key, what);
	return false;
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* "#/components/schemas/Ports" -> the object; an object without a reference is itself. */
struct json_object *schema_resolve(struct json_object *document, struct json_object *o)
{
	const char *reference = json_str(o, "$ref");
	_cleanup_free_ char *copy = NULL;
	char *rest, *word;

	if (!reference)
		return o;
	copy = xstrdup(reference);
	rest = copy + strlen("#/");
	for (o = document; (word = strsep(&rest, "/"));)
		o = member(o, word);
	return o;
}

static bool is_type(const char *type, struct json_object *v)
{
	static const struct {
		const char *name;
		enum json_type type;
	} rows[] = {
		{ "object", json_type_object },	  { "array", json_type_array },
		{ "string", json_type_string },	  { "boolean", json_type_boolean },
		{ "integer", json_type_int },	  { "number", json_type_int },
		{ "number", json_type_double },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, type) && json_object_is_type(v, rows[i].type))
			return true;
	return false;
}

/* "string", also of ["string", "null"]. */
static const char *type_of(struct json_object *schema)
{
	struct json_object *types = member(schema, "type");

	return json_object_is_type(types, json_type_array)
		       ? json_object_get_string(json_object_array_get_idx(types, 0))
		       : json_object_get_string(types);
}

static bool allows_null(struct json_object *schema)
{
	return json_flag(schema, "nullable", false) ||
	       json_object_is_type(member(schema, "type"), json_type_array);
}

/* "2026-11-30T06:35:00Z", perhaps with a fraction. */
static bool is_time(const char *text)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

	if (end && *end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	return end && !strcmp(end, "Z");
}

/* The one pattern that there is. */
static bool is_guid(const char *text)
{
	return str_starts(text, "0x") && strlen(text) == 18 &&
	       strspn(text + 2, "0123456789abcdef") == 16;
}

/* Is it one of the words of a schema that names them? */
static bool is_word(struct json_object *words, struct json_object *v)
{
	for (size_t i = 0; words && i < json_object_array_length(words); i++)
		if (json_object_equal(json_object_array_get_idx(words, i), v))
			return true;
	return !words;
}

static bool are_elements(struct json_object *document, struct json_object *schema,
			 struct json_object *v, char why[FITS_WHY])
{
	for (size_t i = 0; i < json_object_array_length(v); i++)
		if (!schema_fits(document, member(schema, "items"),
				  json_object_array_get_idx(v, i), why))
			return false;
	return true;
}

static bool are_members(struct json_object *document, struct json_object *schema,
			struct json_object *v, char why[FITS_WHY])
{
	struct json_object *required = member(schema, "required");
	struct json_object *others = member(schema, "additionalProperties");
	bool is_closed = json_object_is_type(others, json_type_boolean);

	for (size_t i = 0; required && i < json_object_array_length(required); i++) {
		struct json_object *key = json_object_array_get_idx(required, i);

		if (!json_object_object_get_ex(v, json_object_get_string(key), NULL))
			return fail(why, json_object_get_string(key), "is missing");
	}
	json_object_object_foreach(v, key, value) {
		struct json_object *of = member(member(schema, "properties"), key);

		if (!of && is_closed)
			return fail(why, key, "is no member");
		if (!of)
			of = others;
		if (of && !schema_fits(document, of, value, why))
			return false;
	}
	return true;
}

static bool is_any(struct json_object *document, struct json_object *any, struct json_object *v,
		   char why[FITS_WHY])
{
	for (size_t i = 0; i < json_object_array_length(any); i++)
		if (schema_fits(document, json_object_array_get_idx(any, i), v, why))
			return true;
	return false;
}

bool schema_fits(struct json_object *document, struct json_object *schema, struct json_object *v,
		 char why[FITS_WHY])
{
	const char *type;

	schema = schema_resolve(document, schema);
	if (!schema)
		return fail(why, "schema", "there is none");
	if (!v && allows_null(schema))
		return true;
	if (member(schema, "anyOf"))
		return is_any(document, member(schema, "anyOf"), v, why);
	type = type_of(schema);
	if (!type || !is_type(type, v))
		return fail(why, type ? type : "no type", json_object_to_json_string(v));
	if (!is_word(member(schema, "enum"), v))
		return fail(why, "enum", json_object_get_string(v));
	if (json_str(schema, "pattern") && !is_guid(json_object_get_string(v)))
		return fail(why, "GUID", json_object_get_string(v));
	if (json_str(schema, "format") && !is_time(json_object_get_string(v)))
		return fail(why, json_str(schema, "format"), json_object_get_string(v));
	if (json_object_is_type(v, json_type_array))
		return are_elements(document, schema, v, why);
	return !json_object_is_type(v, json_type_object) || are_members(document, schema, v, why);
}
