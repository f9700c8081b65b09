// SPDX-License-Identifier: BSD-2-Clause
#include "api/schema.h"

#include <string.h>

#include "util/mem.h"
#include "util/str.h"

static bool is_openapi(enum schema_manner manner)
{
	return manner == SCHEMA_ANSWER || manner == SCHEMA_REQUEST;
}

/* In answers of REST members that may be null are there. */
static bool is_required(const struct json_field *f, enum schema_manner manner)
{
	return !f->optional && (manner == SCHEMA_ANSWER || f->type[0] != '?');
}

/* JSON Schema has a format for times, and none for GUIDs. */
static void add_format(struct json_object *schema, const char *format)
{
	if (!strcmp(format, "guid"))
		json_add_str(schema, "pattern", "^0x[0-9a-f]{16}$");
	else
		json_add_str(schema, "format", format);
}

/* The words that a string may be; also null where the member may be that. */
static void add_words(struct json_object *schema, const struct json_field *f)
{
	struct json_object *words = json_add_array(schema, "enum");

	for (unsigned i = 0; i < f->n_words; i++)
		json_append_str(words, f->word(i));
	if (f->type[0] == '?')
		json_object_array_add(words, NULL);
}

static void add_members(struct json_object *o, const struct json_field *of,
			enum schema_manner manner)
{
	struct json_object *required = json_object_new_array();
	struct json_object *properties = json_add_object(o, "properties");

	for (const struct json_field *f = of; f->key; f++) {
		struct json_object *schema = schema_of(f->type, f->of, manner);

		if (f->format && !is_openapi(manner))
			add_format(schema, f->format);
		if (f->n_words && !is_openapi(manner))
			add_words(schema, f);
		if (f->help)
			json_add_str(schema, "description", f->help);
		json_object_object_add(properties, f->key, schema);
		if (is_required(f, manner))
			json_append_str(required, f->key);
	}
	/* OpenAPI allows no empty list. */
	if (json_object_array_length(required))
		json_object_object_add(o, "required", json_object_get(required));
	json_object_put(required);
	if (manner == SCHEMA_ANSWER || manner == SCHEMA_STRICT)
		json_add_bool(o, "additionalProperties", false);
}

/* "int|string": any of them. */
static void add_any(struct json_object *o, const char *type, enum schema_manner manner)
{
	_cleanup_free_ char *copy = xstrdup(type);
	struct json_object *any = json_add_array(o, "anyOf");
	char *rest = copy, *word;

	while ((word = strsep(&rest, "|")))
		json_object_array_add(any, schema_of(word, NULL, manner));
}

static const char *word_of(const char *type)
{
	static const char *const words[][2] = {
		{ "string", "string" }, { "int", "integer" },	{ "float", "number" },
		{ "bool", "boolean" },	{ "object", "object" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i][0], type))
			return words[i][1];
	return "object";
}

static void allow_null(struct json_object *o, enum schema_manner manner)
{
	struct json_object *any = json_object_object_get(o, "anyOf"), *types;
	const char *type = json_str(o, "type");

	if (is_openapi(manner)) {
		json_add_bool(o, "nullable", true);
	} else if (any) {
		json_add_str(json_append_object(any), "type", "null");
	} else {
		types = json_object_new_array();
		json_append_str(types, type);
		json_append_str(types, "null");
		json_object_object_add(o, "type", types);
	}
}

struct json_object *schema_of(const char *type, const struct json_field *of,
			      enum schema_manner manner)
{
	struct json_object *o = json_object_new_object();
	bool is_nullable = type[0] == '?';

	type += is_nullable;
	if (strchr(type, '|')) {
		add_any(o, type, manner);
	} else if (str_starts(type, "[]")) {
		json_add_str(o, "type", "array");
		json_object_object_add(o, "items", schema_of(type + 2, of, manner));
	} else if (str_starts(type, "[string]")) {
		json_add_str(o, "type", "object");
		json_object_object_add(o, "additionalProperties",
				       schema_of(type + strlen("[string]"), of, manner));
	} else {
		json_add_str(o, "type", word_of(type));
		if (of)
			add_members(o, of, manner);
	}
	if (is_nullable)
		allow_null(o, manner);
	return o;
}
