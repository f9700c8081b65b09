// SPDX-License-Identifier: BSD-2-Clause
/*
 * Members of JSON objects as the documents of the control socket have them: one way to write each
 * kind.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/types.h"

void json_add_str(struct json_object *o, const char *key, const char *value); /* NULL: null */
void json_add_text(struct json_object *o, const char *key, const char *value); /* "": null, too */
void json_add_int(struct json_object *o, const char *key, int64_t value);
/* NAN: null, a figure that there is none of. */
void json_add_double(struct json_object *o, const char *key, double value);
void json_add_bool(struct json_object *o, const char *key, bool value);
void json_add_guid(struct json_object *o, const char *key, guid_t guid); /* "0x%016x"; 0: null */
void json_add_hex(struct json_object *o, const char *key, unsigned v);	 /* "0x7fff" */
/* "2026-11-22T05:40:00Z", from seconds since 1970. Returns `ret`. */
#define JSON_TIME_STRLEN 40
char *json_time_text(int64_t seconds, char ret[static JSON_TIME_STRLEN]);
/* The same; 0: null. */
void json_add_seconds(struct json_object *o, const char *key, int64_t seconds);
/* "2026-11-22T05:40:00.123456Z", from microseconds since 1970; 0: null. */
void json_add_time(struct json_object *o, const char *key, int64_t realtime_us);
/* `value` where `known`, else null. */
void json_add_known(struct json_object *o, const char *key, bool known, int64_t value);

/* Empty ones, which stay `o`'s or the array's; to be filled. */
struct json_object *json_add_object(struct json_object *o, const char *key);
struct json_object *json_add_array(struct json_object *o, const char *key);
struct json_object *json_append_object(struct json_object *array);
void json_append_str(struct json_object *array, const char *value);

/* A text among parameters; NULL: it is not there. The text stays theirs. */
const char *json_str(struct json_object *parameters, const char *key);
/* A bool among parameters; `otherwise`: it is not there. */
bool json_flag(struct json_object *parameters, const char *key, bool otherwise);
