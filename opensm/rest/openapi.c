// SPDX-License-Identifier: BSD-2-Clause
/*
 * The document of OpenAPI. A path is a row of rest_endpoints or of the HTTP half, its parameters,
 * body and answers are the rows of its operation (rest/rest.h); nothing is known here of any of
 * them. An answer is a component by the name of its row, as several operations may have the same.
 *
 * An answer has the members of its rows and no other; bodies may have further ones, which are
 * ignored.
 */
#include "rest/openapi.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "api/json.h"
#include "api/schema.h"
#include "rest/auth/users.h"
#include "rest/http/own.h"
#include "rest/http/request.h"
#include "rest/rest.h"
#include "util/mem.h"
#include "util/str.h"

static struct json_object *reference_to(const char *kind, const char *name)
{
	struct json_object *o = json_object_new_object();
	_cleanup_free_ char *text = xasprintf("#/components/%s/%s", kind, name);

	json_add_str(o, "$ref", text);
	return o;
}

static void add_content(struct json_object *o, const char *type, struct json_object *schema)
{
	struct json_object *content = json_add_object(o, "content");

	json_object_object_add(json_add_object(content, type), "schema", schema);
}

/* ---- operations ------------------------------------------------------------------------------ */

struct document {
	struct json_object *whole, *paths, *schemas; /* parts belong to the whole */
};

static void add_parameter(struct json_object *all, const char *name, const char *in,
			  const char *help, const char *type)
{
	struct json_object *o = json_append_object(all);

	json_add_str(o, "name", name);
	json_add_str(o, "in", in);
	if (!strcmp(in, "path"))
		json_add_bool(o, "required", true);
	if (help)
		json_add_str(o, "description", help);
	json_object_object_add(o, "schema", schema_of(type, NULL, SCHEMA_REQUEST));
}

static void add_parameters(struct json_object *o, const struct rest_endpoint *e)
{
	struct json_object *all = json_object_new_array();
	const char *at = e->pattern;

	while ((at = strchr(at, '{'))) {
		_cleanup_free_ char *name = xasprintf("%.*s", (int)strcspn(at + 1, "}"), at + 1);

		add_parameter(all, name, "path", NULL, "string");
		at++;
	}
	for (const struct json_field *f = e->operation->query; f && f->key; f++)
		add_parameter(all, f->key, "query", f->help, f->type);
	if (e->operation->if_match)
		add_parameter(all, REST_IF_MATCH, "header", "ETag of an answer, or *", "string");
	if (json_object_array_length(all))
		json_object_object_add(o, "parameters", json_object_get(all));
	json_object_put(all);
}

static void add_body(struct json_object *o, const struct rest_operation *op)
{
	struct json_object *body, *schema, *any;

	if (!op->body)
		return;
	body = json_add_object(o, "requestBody");
	json_add_bool(body, "required", !op->is_text_body);
	schema = schema_of("", op->body, SCHEMA_REQUEST);
	if (op->is_text_body) {
		any = json_object_new_array();
		json_object_array_add(any, schema);
		json_object_array_add(any, schema_of("string", NULL, SCHEMA_REQUEST));
		schema = json_object_new_object();
		json_object_object_add(schema, "anyOf", any);
	}
	add_content(body, op->is_form ? "application/x-www-form-urlencoded" : "application/json",
		    schema);
}

/* A reference to the answer, or to each of several. */
static struct json_object *gives_schema(struct document *d, const struct json_field *gives)
{
	struct json_object *any = json_object_new_array(), *o;

	for (const struct json_field *f = gives; f->key; f++) {
		struct json_object *schema = schema_of(f->type, f->of, SCHEMA_ANSWER);
		struct json_object *former = json_object_object_get(d->schemas, f->key);

		/* A name is that of one schema. */
		assert(!former || json_object_equal(former, schema));
		json_object_object_add(d->schemas, f->key, schema);
		json_object_array_add(any, reference_to("schemas", f->key));
	}
	if (json_object_array_length(any) == 1) {
		o = json_object_get(json_object_array_get_idx(any, 0));
		json_object_put(any);
		return o;
	}
	o = json_object_new_object();
	json_object_object_add(o, "anyOf", any);
	return o;
}

static void add_responses(struct document *d, struct json_object *o,
			  const struct rest_operation *op)
{
	struct json_object *all = json_add_object(o, "responses"), *success;
	char status[12];

	if (op->gives) {
		snprintf(status, sizeof(status), "%u", op->status ? op->status : 200);
		success = json_add_object(all, status);
		json_add_str(success, "description", "Done.");
		add_content(success, op->type ? op->type : "application/json",
			    gives_schema(d, op->gives));
	}
	json_object_object_add(all, "default", reference_to("responses", "Error"));
}

/* "get_resources_pkeys_pkey". */
static char *id_of(const char *method, const char *pattern)
{
	char *id = xasprintf("%s%s", method, pattern), *to = id;

	for (const char *from = id; *from; from++)
		if (isalnum((unsigned char)*from) || *from == '_')
			*to++ = *from;
		else if (*from != '{' && *from != '}')
			*to++ = '_';
	*to = '\0';
	return id;
}

static void add_servers(struct json_object *o, bool is_login)
{
	struct json_object *all = json_add_array(o, "servers");

	for (const struct rest_prefix *p = rest_prefixes; p->prefix; p++)
		if (!is_login || p->entry == ENTRY_SESSION)
			json_add_str(json_append_object(all), "url", p->prefix);
}

static void add_endpoint(struct document *d, const struct rest_endpoint *e, bool is_login)
{
	static const char *const methods[] = {
		[REST_GET] = "get",
		[REST_POST] = "post",
		[REST_PUT] = "put",
		[REST_DELETE] = "delete",
	};
	_cleanup_free_ char *id = id_of(methods[e->method], e->pattern);
	_cleanup_free_ char *right = xasprintf("Right: %s.", right_name(e->right));
	struct json_object *path = json_object_object_get(d->paths, e->pattern), *o;

	if (!path)
		path = json_add_object(d->paths, e->pattern);
	o = json_add_object(path, methods[e->method]);
	json_add_str(o, "operationId", id);
	json_add_str(o, "summary", e->operation->help);
	if (is_login) {
		json_add_array(o, "security");
		add_servers(o, is_login);
	} else {
		json_add_str(o, "description", right);
	}
	add_parameters(o, e);
	add_body(o, e->operation);
	add_responses(d, o, e->operation);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* A way to log in, by which prefix it is meant. */
static struct json_object *scheme_of(enum rest_entry entry)
{
	struct json_object *o = json_object_new_object();

	json_add_str(o, "type", entry == ENTRY_BASIC ? "http" : "apiKey");
	switch (entry) {
	case ENTRY_BASIC:
		json_add_str(o, "scheme", "basic");
		break;
	case ENTRY_SESSION:
		json_add_str(o, "in", "cookie");
		json_add_str(o, "name", SESSION_COOKIE);
		break;
	case ENTRY_TOKEN:
	case ENTRY_NONE:
		json_add_str(o, "in", "header");
		json_add_str(o, "name", "Authorization");
		json_add_str(o, "description", "The word Basic, a blank and the token.");
		break;
	}
	return o;
}

static void add_schemes(struct document *d, struct json_object *schemes)
{
	struct json_object *security = json_add_array(d->whole, "security");

	for (const struct rest_prefix *p = rest_prefixes; p->prefix; p++) {
		const char *name = p->prefix + 1;

		json_object_object_add(schemes, name, scheme_of(p->entry));
		json_add_array(json_append_object(security), name);
	}
}

static void add_error(struct document *d, struct json_object *responses)
{
	struct json_object *error = json_add_object(responses, "Error");

	json_object_object_add(d->schemas, "Error",
			       schema_of("", rest_error_members, SCHEMA_ANSWER));
	json_add_str(error, "description", "The status says why; error is a sentence.");
	add_content(error, "application/json", reference_to("schemas", "Error"));
}

char *openapi_text(void)
{
	const int form = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE;
	struct document d = { .whole = json_object_new_object() };
	struct json_object *about, *components, *schemes;
	const struct rest_endpoint *own;
	bool is_login;
	char *text;

	json_add_str(d.whole, "openapi", "3.0.3");
	about = json_add_object(d.whole, "info");
	json_add_str(about, "title", "opensm-rest");
	json_add_str(about, "version", PACKAGE_VERSION);
	add_servers(d.whole, false);
	d.paths = json_object_new_object();
	components = json_object_new_object();
	d.schemas = json_add_object(components, "schemas");
	add_error(&d, json_add_object(components, "responses"));
	schemes = json_add_object(components, "securitySchemes");
	add_schemes(&d, schemes);
	for (const struct rest_endpoint *e = rest_endpoints; e->pattern; e++)
		add_endpoint(&d, e, false);
	for (size_t i = 0; (own = own_endpoint(i, &is_login)); i++)
		add_endpoint(&d, own, is_login);
	json_object_object_add(d.whole, "paths", d.paths);
	json_object_object_add(d.whole, "components", components);
	text = xasprintf("%s\n", json_object_to_json_string_ext(d.whole, form));
	json_object_put(d.whole);
	return text;
}
