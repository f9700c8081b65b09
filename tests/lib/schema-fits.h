// SPDX-License-Identifier: BSD-2-Clause
/* Does a value fit a schema, of JSON Schema or of OpenAPI, as opensm/api/schema.c writes them? */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

#define FITS_WHY 200 /* bytes of a text that says what does not fit */

/* False: `why`. `document` has what references lead to; NULL: there are none. */
bool schema_fits(struct json_object *document, struct json_object *schema, struct json_object *v,
		 char why[FITS_WHY]);
/* What a reference leads to; an object without one is itself. */
struct json_object *schema_resolve(struct json_object *document, struct json_object *o);
