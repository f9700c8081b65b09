// SPDX-License-Identifier: BSD-2-Clause
#include "api/fields.h"

#include <assert.h>
#include <stdio.h>

static void write_fields(FILE *out, const struct json_field *fields)
{
	fputc('(', out);
	for (const struct json_field *f = fields; f->key; f++) {
		fprintf(out, "%s%s: %s%s", f == fields ? "" : ", ", f->key,
			f->optional && f->type[0] != '?' ? "?" : "", f->type);
		if (f->of)
			write_fields(out, f->of);
	}
	fputc(')', out);
}

char *json_fields_text(const struct json_field *fields)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert(fields);
	write_fields(out, fields);
	fclose(out);
	return text;
}
