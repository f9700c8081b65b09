// SPDX-License-Identifier: BSD-2-Clause
/* Members of JSON objects as the documents of the control socket have them: one way to write each kind. */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/types.h"

void json_add_str(struct json_object *o, const char *key, const char *value); /* NULL: null */
void json_add_int(struct json_object *o, const char *key, int64_t value);
void json_add_bool(struct json_object *o, const char *key, bool value);
void json_add_guid(struct json_object *o, const char *key, guid_t guid); /* "0x%016x"; 0: null */
