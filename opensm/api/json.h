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
/* Adds a number; NAN, for a figure that is not known, as null. */
void json_add_double(struct json_object *o, const char *key, double value);
void json_add_bool(struct json_object *o, const char *key, bool value);
void json_add_guid(struct json_object *o, const char *key, guid_t guid); /* "0x%016x"; 0: null */
void json_add_hex(struct json_object *o, const char *key, unsigned v);	 /* "0x7fff" */
/* "2026-11-22T05:40:00Z", from seconds since 1970. Returns `ret`. */
#define JSON_TIME_STRLEN 40
char *json_time_text(int64_t seconds, char ret[static JSON_TIME_STRLEN]);
/* Adds a time as json_time_text() has it; 0: null. */
void json_add_seconds(struct json_object *o, const char *key, int64_t seconds);
/* Adds "2026-11-22T05:40:00.123456Z", from microseconds since 1970; 0: null. */
void json_add_time(struct json_object *o, const char *key, int64_t realtime_us);
/* Adds `value` if `known`, else null. */
void json_add_known(struct json_object *o, const char *key, bool known, int64_t value);

/* Add an empty object or array and return it; it stays owned by `o` or the array. */
struct json_object *json_add_object(struct json_object *o, const char *key);
struct json_object *json_add_array(struct json_object *o, const char *key);
struct json_object *json_append_object(struct json_object *array);
void json_append_str(struct json_object *array, const char *value);

/* The text of a parameter, which stays its owner's; NULL: it is not given. */
const char *json_str(struct json_object *parameters, const char *key);
/* The bool of a parameter; `otherwise`: it is not given. */
bool json_flag(struct json_object *parameters, const char *key, bool otherwise);
