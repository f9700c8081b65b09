// SPDX-License-Identifier: BSD-2-Clause
/*
 * JSON of answers, of any version of the daemon: a member that is missing or of another type counts
 * as "", 0, false, NULL.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object *js_get(struct json_object *o, const char *key);
const char *js_str(struct json_object *o, const char *key);
int64_t js_int(struct json_object *o, const char *key);
double js_num(struct json_object *o, const char *key);
bool js_bool(struct json_object *o, const char *key);
/* Is there such a member, not null? */
bool js_has(struct json_object *o, const char *key);
size_t js_len(struct json_object *array);
struct json_object *js_at(struct json_object *array, size_t n);
