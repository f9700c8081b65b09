// SPDX-License-Identifier: BSD-2-Clause
/*
 * What endpoints use: query arguments, answers, and calls of the subnet manager. Knows nothing of
 * libmicrohttpd.
 */
#include "rest/rest.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/json.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- query --------------------------------------------------------------------------------- */

const char *rest_query(const struct rest_request *q, const char *name)
{
	assert(q && name);
	for (size_t i = 0; i < q->n_query; i++)
		if (!strcmp(q->query[i].name, name))
			return q->query[i].value;
	return NULL;
}

bool rest_query_bool(const struct rest_request *q, const char *name, bool missing)
{
	const char *value = rest_query(q, name);

	if (!value || !*value)
		return missing;
	return !strcasecmp(value, "true") || !strcasecmp(value, "yes") || !strcmp(value, "1");
}

/* ---- answers ------------------------------------------------------------------------------- */

void rest_answer_bytes(struct rest_answer *a, unsigned status, const char *type, const char *bytes,
		       size_t len)
{
	assert(a && status >= 100 && status < 600 && type && (bytes || !len));
	free(a->bytes);
	a->bytes = xmalloc(len + 1);
	if (len)
		memcpy(a->bytes, bytes, len);
	a->bytes[len] = '\0';
	a->len = len;
	a->status = status;
	a->type = type;
}

void rest_answer_json(struct rest_answer *a, unsigned status, struct json_object *o)
{
	const int form = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *text = json_object_to_json_string_ext(o, form);

	rest_answer_bytes(a, status, "application/json", text, strlen(text));
	json_object_put(o);
}

const struct json_field rest_no_members[] = { { 0 } };

void rest_answer_empty(struct rest_answer *a)
{
	rest_answer_bytes(a, 200, "application/json", "{}", 2);
}

/* Clients of schedulers look for these numbers in the body, not in the status line. */
static const char *error_prefix(unsigned status)
{
	if (status == 401)
		return "401 Unauthorized: ";
	return status == 503 ? "503 Service Unavailable: " : "";
}

#define ERROR_FIELDS(F) F("error", STR, whole)

const struct json_field rest_error_members[] = FIELDS_TABLE(ERROR_FIELDS);

void rest_answer_error(struct rest_answer *a, unsigned status, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL, *whole = NULL;
	va_list args;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	whole = xasprintf("%s%s", error_prefix(status), text);
	rest_answer_json(a, status, FIELDS_NEW(ERROR_FIELDS));
}

void rest_answer_header(struct rest_answer *a, const char *name, const char *fmt, ...)
{
	va_list args;
	char *value;

	assert(a && name && a->n_headers < REST_HEADERS_MAX);
	va_start(args, fmt);
	value = xvasprintf(fmt, args);
	va_end(args);
	for (char *c = value; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = ' ';
	a->headers[a->n_headers].name = name;
	a->headers[a->n_headers++].value = value;
}

void rest_answer_clear(struct rest_answer *a)
{
	free(a->bytes);
	for (size_t i = 0; i < a->n_headers; i++)
		free(a->headers[i].value);
	*a = (struct rest_answer){ 0 };
}

/* ---- the subnet manager -------------------------------------------------------------------- */

struct json_object *rest_call(const struct rest_request *q, const char *method,
			      struct json_object *parameters, struct rest_error *err)
{
	assert(q && q->backend && method && err);
	*err = (struct rest_error){ 0 };
	return q->backend->call(q->backend, q, method, parameters, err);
}

void rest_add_client(const struct rest_request *q, struct json_object *parameters)
{
	struct json_object *client = json_add_object(parameters, "client");

	json_add_str(client, "user", q->user);
	json_add_str(client, "address", q->address);
	json_add_str(client, "request", q->id);
}

static unsigned status_of(const char *name)
{
	static const struct {
		const char *name;
		unsigned status;
	} rows[] = {
		{ "NotFound", 404 },	 { "InvalidParameter", 400 }, { "NoRoom", 400 },
		{ "Denied", 403 },	 { "ReadOnly", 403 },	      { "Exists", 409 },
		{ "Overtaken", 412 },	 { "Unconfirmed", 504 },      { "Timeout", 504 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name))
			return rows[i].status;
	return 503;
}

void rest_answer_call_error(struct rest_answer *a, const struct rest_error *err)
{
	unsigned status = status_of(err->name);

	rest_answer_error(a, status, "%s", *err->text ? err->text : err->name);
	if (status == 503 && a->n_headers < REST_HEADERS_MAX)
		rest_answer_header(a, "Retry-After", "1");
}
