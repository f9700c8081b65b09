// SPDX-License-Identifier: BSD-2-Clause
/*
 * Does a request of opensm-rest with its answer fit the document of OpenAPI? The
 * schemas are those of opensm/rest/openapi.c.
 */
#pragma once

#include "rest/rest.h"
#include "tests/lib/schema-fits.h"

/* The document, the caller's to put. */
struct json_object *openapi_document(void);
/* The operation of a method at a path of the document, borrowed; NULL: there is none. */
struct json_object *openapi_operation(struct json_object *document, enum rest_method method,
				      const char *pattern);
/* The schema of answers of a status, borrowed; NULL: the document has none. */
struct json_object *openapi_answer(struct json_object *document, struct json_object *operation,
				   unsigned status);
/*
 * Does the answer to a request of an operation fit, and where it is a success, the body of the
 * request, too? False: `why`.
 */
bool openapi_fits_exchange(struct json_object *document, struct json_object *operation,
			   const struct rest_request *q, const struct rest_answer *answer,
			   char why[FITS_WHY]);
