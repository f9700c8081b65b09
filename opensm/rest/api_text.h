// SPDX-License-Identifier: BSD-2-Clause
/*
 * JSON as text, for answers that grow with the fabric: a tree of objects would take ten times the
 * memory of the text.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
