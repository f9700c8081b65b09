// SPDX-License-Identifier: BSD-2-Clause
/* A validator for the document of OpenAPI of opensm-rest. */
#include "tests/lib/openapi-fits.h"

#include <stdio.h>
#include <string.h>

#include "api/json.h"
#include "rest/openapi.h"
#include "util/mem.h"
#include "util/str.h"

static struct json_object *member(struct json_object *o, const char *key)
{
	return json_object_object_get(o, key);
}

struct json_object *openapi_document(void)
{
	_cleanup_free_ char *text = openapi_text();

	return json_tokener_parse(text);
}

struct json_object *openapi_operation(struct json_object *document, enum rest_method method,
				      const char *pattern)
{
	static const char *const names[] = {
		[REST_GET] = "get",
		[REST_POST] = "post",
		[REST_PUT] = "put",
		[REST_DELETE] = "delete",
	};

	return member(member(member(document, "paths"), pattern), names[method]);
}

static bool fail(char why[FITS_WHY], const char *key, const char *what)
{
	snprintf(why, FITS_WHY, "%.80s: %.100s", key, what);
	return false;
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* "#/components/schemas/Ports" -> the object; an object without a reference is itself. */
static struct json_object *resolve(struct json_object *document, struct json_object *o)
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

static bool are_elements(struct json_object *document, struct json_object *schema,
			 struct json_object *v, char why[FITS_WHY])
{
	for (size_t i = 0; i < json_object_array_length(v); i++)
		if (!openapi_fits(document, member(schema, "items"),
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
		if (of && !openapi_fits(document, of, value, why))
			return false;
	}
	return true;
}

static bool is_any(struct json_object *document, struct json_object *any, struct json_object *v,
		   char why[FITS_WHY])
{
	for (size_t i = 0; i < json_object_array_length(any); i++)
		if (openapi_fits(document, json_object_array_get_idx(any, i), v, why))
			return true;
	return false;
}

bool openapi_fits(struct json_object *document, struct json_object *schema, struct json_object *v,
		  char why[FITS_WHY])
{
	const char *type;

	schema = resolve(document, schema);
	if (!schema)
		return fail(why, "schema", "there is none");
	if (!v && json_flag(schema, "nullable", false))
		return true;
	if (member(schema, "anyOf"))
		return is_any(document, member(schema, "anyOf"), v, why);
	type = json_str(schema, "type");
	if (!type || !is_type(type, v))
		return fail(why, type ? type : "no type", json_object_to_json_string(v));
	if (json_object_is_type(v, json_type_array))
		return are_elements(document, schema, v, why);
	return !json_object_is_type(v, json_type_object) || are_members(document, schema, v, why);
}

/* ---- requests and answers -------------------------------------------------------------------- */

static struct json_object *schema_of(struct json_object *o, const char *type)
{
	return member(member(member(o, "content"), type), "schema");
}

struct json_object *openapi_answer(struct json_object *document, struct json_object *operation,
				   unsigned status)
{
	struct json_object *all = member(operation, "responses"), *response;
	char text[12];

	snprintf(text, sizeof(text), "%u", status);
	response = member(all, text);
	if (!response && status >= 400)
		response = member(all, "default");
	return schema_of(resolve(document, response), "application/json");
}

static bool is_request(struct json_object *document, struct json_object *operation,
		       const struct rest_request *q, char why[FITS_WHY])
{
	struct json_object *body = member(operation, "requestBody");

	if (!body || (!q->body && !json_flag(body, "required", false)))
		return true;
	return openapi_fits(document, schema_of(body, "application/json"), q->body, why);
}

bool openapi_fits_exchange(struct json_object *document, struct json_object *operation,
			   const struct rest_request *q, const struct rest_answer *answer,
			   char why[FITS_WHY])
{
	struct json_object *schema = openapi_answer(document, operation, answer->status);
	struct json_object *body = json_tokener_parse(answer->bytes);
	bool fits = openapi_fits(document, schema, body, why) &&
		    (answer->status >= 400 || is_request(document, operation, q, why));

	json_object_put(body);
	return fits;
}
