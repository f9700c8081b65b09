// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of api/fields.h as schemas: of JSON Schema (draft 2020-12), or as OpenAPI 3.0 writes them,
 * which has `nullable` instead of the type null.
 */
#pragma once

#include "api/fields.h"

enum schema_manner {
	SCHEMA_JSON,	/* documents: members with '?' may be missing, further ones may come */
	SCHEMA_STRICT,	/* the same for tests: there are no further members */
	SCHEMA_ANSWER,	/* OpenAPI, answers: members with '?' are there, and no others */
	SCHEMA_REQUEST, /* OpenAPI, requests: members with '?' may be missing */
};

/* `type` and `of` as in struct json_field. To be put. */
struct json_object *schema_of(const char *type, const struct json_field *of,
			      enum schema_manner manner);
