// SPDX-License-Identifier: BSD-2-Clause
/* Whatever goes into a document passes here. */
#include "ctl/json.h"

#include <inttypes.h>
#include <stdio.h>

void json_add_str(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, value ? json_object_new_string(value) : NULL);
}

void json_add_int(struct json_object *o, const char *key, int64_t value)
{
	json_object_object_add(o, key, json_object_new_int64(value));
}

void json_add_bool(struct json_object *o, const char *key, bool value)
{
	json_object_object_add(o, key, json_object_new_boolean(value));
}

void json_add_guid(struct json_object *o, const char *key, guid_t guid)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	json_add_str(o, key, guid ? text : NULL);
}
