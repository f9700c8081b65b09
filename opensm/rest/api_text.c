// SPDX-License-Identifier: BSD-2-Clause
/* JSON as text. */
#include "rest/api_text.h"

#include <assert.h>
#include <inttypes.h>

#include "rest/api_values.h"
#include "util/mem.h"
#include "util/str.h"

void api_text_start(struct api_text *t)
{
	*t = (struct api_text){ 0 };
	t->out = open_memstream(&t->bytes, &t->len);
	assert(t->out);
}

void api_text_answer(struct api_text *t, struct rest_answer *ret)
{
	fclose(t->out);
	free(ret->bytes);
	ret->bytes = t->bytes;
	ret->len = t->len;
	ret->status = 200;
	ret->type = "application/json";
}

void api_text_drop(struct api_text *t)
{
	fclose(t->out);
	free(t->bytes);
}

/* Node descriptions and names come from devices and files. */
static void write_quoted(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(out, "\\u%04x", (unsigned char)*text);
		else
			putc(*text, out);
	}
	putc('"', out);
}

static void write_key(struct api_text *t, const char *key)
{
	if (t->comma)
		putc(',', t->out);
	t->comma = true;
	if (key)
		fprintf(t->out, "\"%s\":", key);
}

void api_text_open(struct api_text *t, const char *key, char bracket)
{
	write_key(t, key);
	putc(bracket, t->out);
	t->comma = false;
}

void api_text_close(struct api_text *t, char bracket)
{
	putc(bracket, t->out);
	t->comma = true;
}

void api_text_str(struct api_text *t, const char *key, const char *value)
{
	write_key(t, key);
	write_quoted(t->out, value ? value : "N/A");
}

void api_text_int(struct api_text *t, const char *key, int64_t value)
{
	write_key(t, key);
	fprintf(t->out, "%" PRId64, value);
}

void api_text_bool(struct api_text *t, const char *key, bool value)
{
	write_key(t, key);
	fputs(value ? "true" : "false", t->out);
}

void api_text_value(struct api_text *t, const char *key, struct json_object *v)
{
	write_key(t, key);
	fputs(json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN), t->out);
	json_object_put(v);
}

void api_text_guid(struct api_text *t, const char *key, uint64_t guid)
{
	char text[API_GUID_TEXT];

	api_guid_text(guid, text);
	api_text_str(t, key, guid ? text : NULL);
}

/* ---- pages ----------------------------------------------------------------------------------- */

#define PAGE_ROWS_USUAL 100

/* False: `text` is no number from `least` on. NULL leaves `ret` as it is. */
static bool read_number(const char *text, uint64_t least, uint64_t *ret)
{
	return !text || (str_to_u64(text, 10, INT32_MAX, ret) == 0 && *ret >= least);
}

bool api_page_read(const struct rest_request *q, struct rest_answer *ret, struct api_page *page)
{
	const struct {
		API_PAGE_QUERY(QUERY_MEMBER)
	} asked = { API_PAGE_QUERY(QUERY_READ) };
	const char *rows = asked.rpp ? asked.rpp : asked.limit;
	uint64_t number = 1, size = PAGE_ROWS_USUAL, before = 0;

	assert(q && ret && page);
	*page = (struct api_page){ .size = UINT64_MAX };
	if (!asked.page_number && !rows && !asked.offset)
		return true;
	if (!read_number(asked.page_number, 1, &number) || !read_number(rows, 1, &size) ||
	    !read_number(asked.offset, 0, &before)) {
		rest_answer_error(ret, 400,
				  "page_number, rpp, limit and offset: expected numbers, the "
				  "first three from 1");
		return false;
	}
	if (asked.page_number && asked.offset) {
		rest_answer_error(ret, 400, "expected page_number or offset, found both");
		return false;
	}
	*page = (struct api_page){ .is_paged = true, .size = size };
	page->first = asked.offset ? before : (number - 1) * size;
	return true;
}

bool api_page_takes(struct api_page *page)
{
	uint64_t at = page->total++;

	return at >= page->first && at - page->first < page->size;
}
