// SPDX-License-Identifier: BSD-2-Clause
/* Every member of a document is added here. */
#include "api/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void json_add_str(struct json_object *o, const char *key, const char *value)
{
	assert(o && key);
	json_object_object_add(o, key, value ? json_object_new_string(value) : NULL);
}

void json_add_int(struct json_object *o, const char *key, int64_t value)
{
	assert(o && key);
	json_object_object_add(o, key, json_object_new_int64(value));
}

void json_add_double(struct json_object *o, const char *key, double value)
{
	assert(o && key);
	json_object_object_add(o, key, isnan(value) ? NULL : json_object_new_double(value));
}

void json_add_bool(struct json_object *o, const char *key, bool value)
{
	assert(o && key);
	json_object_object_add(o, key, json_object_new_boolean(value));
}

void json_add_guid(struct json_object *o, const char *key, guid_t guid)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	json_add_str(o, key, guid ? text : NULL);
}

void json_add_known(struct json_object *o, const char *key, bool known, int64_t value)
{
	assert(o && key);
	json_object_object_add(o, key, known ? json_object_new_int64(value) : NULL);
}

struct json_object *json_add_object(struct json_object *o, const char *key)
{
	struct json_object *ret = json_object_new_object();

	assert(o && key);
	json_object_object_add(o, key, ret);
	return ret;
}

struct json_object *json_add_array(struct json_object *o, const char *key)
{
	struct json_object *ret = json_object_new_array();

	assert(o && key);
	json_object_object_add(o, key, ret);
	return ret;
}

struct json_object *json_append_object(struct json_object *array)
{
	struct json_object *ret = json_object_new_object();

	assert(array);
	json_object_array_add(array, ret);
	return ret;
}

void json_append_str(struct json_object *array, const char *value)
{
	assert(array && value);
	json_object_array_add(array, json_object_new_string(value));
}

const char *json_str(struct json_object *parameters, const char *key)
{
	return json_object_get_string(json_object_object_get(parameters, key));
}
