// SPDX-License-Identifier: BSD-2-Clause
/* Exchanges against the document of OpenAPI of opensm-rest. */
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
	return schema_of(schema_resolve(document, response), "application/json");
}

static bool is_request(struct json_object *document, struct json_object *operation,
		       const struct rest_request *q, char why[FITS_WHY])
{
	struct json_object *body = member(operation, "requestBody");

	if (!body || (!q->body && !json_flag(body, "required", false)))
		return true;
	return schema_fits(document, schema_of(body, "application/json"), q->body, why);
}

bool openapi_fits_exchange(struct json_object *document, struct json_object *operation,
			   const struct rest_request *q, const struct rest_answer *answer,
			   char why[FITS_WHY])
{
	struct json_object *schema = openapi_answer(document, operation, answer->status);
	struct json_object *body = json_tokener_parse(answer->bytes);
	bool fits = schema_fits(document, schema, body, why) &&
		    (answer->status >= 400 || is_request(document, operation, q, why));

	json_object_put(body);
	return fits;
}
