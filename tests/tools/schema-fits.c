// SPDX-License-Identifier: BSD-2-Clause
/*
 * schema-fits < LINES: lines by twos, a schema and a document. Says which documents do not fit;
 * exit status 1 if any does not, or if there is none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json.h"
#include "tests/lib/schema-fits.h"
#include "util/mem.h"

/* The next line as JSON; NULL with `*ret_ok`: it is the word null. */
static struct json_object *next(bool *ret_ok)
{
	_cleanup_free_ char *line = NULL;
	size_t cap = 0;
	ssize_t len = getline(&line, &cap, stdin);
	struct json_object *o = len > 0 ? json_tokener_parse(line) : NULL;

	*ret_ok = o || (len > 0 && !strcmp(line, "null\n"));
	return o;
}

int main(void)
{
	unsigned n = 0, wrong = 0;
	bool ok;

	for (struct json_object *schema; (schema = next(&ok)); n++) {
		struct json_object *v = next(&ok);
		char why[FITS_WHY] = "this is no JSON";

		if (!ok || !schema_fits(NULL, schema, v, why)) {
			printf("%s: %s\n", json_str(schema, "title"), why);
			wrong++;
		}
		json_object_put(v);
		json_object_put(schema);
	}
	if (!n)
		printf("there is no document\n");
	return wrong || !n;
}
