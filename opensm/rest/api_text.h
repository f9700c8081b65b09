// SPDX-License-Identifier: BSD-2-Clause
/*
 * JSON as text, for answers that grow with the fabric: a tree of objects would take ten times the
 * memory of the text.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "api/fields.h"
#include "rest/rest.h"

struct api_text {
	FILE *out;
	char *bytes;
	size_t len;
	bool comma; /* set if the next value at this depth needs a comma before it */
};

void api_text_start(struct api_text *t);
/* Closes the text and makes it the answer. */
void api_text_answer(struct api_text *t, struct rest_answer *ret);
/* Discards the text. */
void api_text_drop(struct api_text *t);

/* "{", "}", "[", "]"; a key NULL: an element. */
void api_text_open(struct api_text *t, const char *key, char bracket);
void api_text_close(struct api_text *t, char bracket);
void api_text_str(struct api_text *t, const char *key, const char *value); /* NULL: "N/A" */
void api_text_int(struct api_text *t, const char *key, int64_t value);
void api_text_bool(struct api_text *t, const char *key, bool value);
void api_text_value(struct api_text *t, const char *key, struct json_object *v); /* consumed */
/* "946dae03005985c8"; 0: "N/A". */
void api_text_guid(struct api_text *t, const char *key, uint64_t guid);

/*
 * Writes an object, the members of a list of api/fields.h. The value of an object or a list in it
 * is the call that writes what is between its brackets.
 */
#define FIELDS_TEXT(text, key, list)                                                               \
	do {                                                                                       \
		api_text_open(text, key, '{');                                                     \
		FIELDS_TEXT_INSIDE(text, list);                                                    \
		api_text_close(text, '}');                                                         \
	} while (0)
#define FIELDS_TEXT_INSIDE(text, list)                                                             \
	do {                                                                                       \
		struct api_text *out = (text);                                                     \
                                                                                                   \
		list(FIELD_TEXT)                                                                   \
	} while (0)
#define FIELD_TEXT(key, kind, ...)	 FIELD_TEXT_##kind(out, key, __VA_ARGS__);
#define FIELD_TEXT_STR			 api_text_str
#define FIELD_TEXT_GUID			 api_text_guid
#define FIELD_TEXT_INT			 api_text_int
#define FIELD_TEXT_BOOL			 api_text_bool
#define FIELD_TEXT_FLOAT		 api_text_value
#define FIELD_TEXT_OBJECT(fields)	 FIELD_TEXT_BRACED
#define FIELD_TEXT_LIST(fields)		 FIELD_TEXT_LISTED
#define FIELD_TEXT_BRACED(out, key, put) API_TEXT_AROUND(out, key, '{', put, '}')
#define FIELD_TEXT_LISTED(out, key, put) API_TEXT_AROUND(out, key, '[', put, ']')
/* An array: OF("[]string"). */
#define FIELD_TEXT_OF(type)		 FIELD_TEXT_LISTED
#define FIELD_TEXT_MAP(fields)		 FIELD_TEXT_BRACED
#define FIELD_TEXT_IF(is, kind)		 if (is) FIELD_TEXT_##kind
#define API_TEXT_AROUND(out, key, open, put, close)                                                \
	do {                                                                                       \
		api_text_open(out, key, open);                                                     \
		put;                                                                               \
		api_text_close(out, close);                                                        \
	} while (0)

/* ---- pages of lists -------------------------------------------------------------------------- */

/* Arguments of an operation that lists something. Without one of them the list is whole. */
#define API_PAGE_QUERY(Q)                                                                          \
	Q(page_number, TEXT, "number of a page, from 1")                                           \
	Q(rpp, TEXT, "rows of a page, 100 if absent")                               \
	Q(limit, TEXT, "another name of rpp")                                                      \
	Q(offset, TEXT, "rows before the page, instead of page_number")

/* Which rows of a list are written. */
struct api_page {
	bool is_paged;
	uint64_t first, size; /* rows before it, and in it; of a whole list 0 and UINT64_MAX */
	uint64_t total;	      /* rows met so far */
};

/* False: the arguments are none, and `ret` is filled with 400. */
bool api_page_read(const struct rest_request *q, struct rest_answer *ret, struct api_page *page);
/* Counts a row. True: it is of the page. */
bool api_page_takes(struct api_page *page);

/*
 * The answer with a page: `data` as the whole list would be, `put` the call that writes what is in
 * it, and the number of rows of all pages.
 */
#define API_PAGE_FIELDS(F, kind, page, put)                                                        \
	F("data", kind, put)                                                                       \
	F("total_resources", INT, (int64_t)(page)->total)
