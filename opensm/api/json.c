// SPDX-License-Identifier: BSD-2-Clause
/* Every member of a document is added here. */
#include "api/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void json_add_str(struct json_object *o, const char *key, const char *value)
{
	assert(o && key);
	json_object_object_add(o, key, value ? json_object_new_string(value) : NULL);
}

void json_add_text(struct json_object *o, const char *key, const char *value)
{
	json_add_str(o, key, value && value[0] ? value : NULL);
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

void json_add_hex(struct json_object *o, const char *key, unsigned v)
{
	char text[12];

	snprintf(text, sizeof(text), "0x%04x", v);
	json_add_str(o, key, text);
}

char *json_time_text(int64_t seconds, char ret[static JSON_TIME_STRLEN])
{
	struct tm tm;
	time_t t = (time_t)seconds;

	if (!gmtime_r(&t, &tm) || !strftime(ret, JSON_TIME_STRLEN, "%Y-%m-%dT%H:%M:%SZ", &tm))
		ret[0] = '\0';
	return ret;
}

void json_add_seconds(struct json_object *o, const char *key, int64_t seconds)
{
	char text[JSON_TIME_STRLEN];

	json_add_str(o, key, seconds > 0 ? json_time_text(seconds, text) : NULL);
}

void json_add_time(struct json_object *o, const char *key, int64_t realtime_us)
{
	char text[JSON_TIME_STRLEN], whole[JSON_TIME_STRLEN + 16]; /* ".", any int, "Z" */

	json_time_text(realtime_us / 1000000, text);
	text[strcspn(text, "Z")] = '\0';
	snprintf(whole, sizeof(whole), "%s.%06dZ", text, (int)(realtime_us % 1000000));
	json_add_str(o, key, realtime_us ? whole : NULL);
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

bool json_flag(struct json_object *parameters, const char *key, bool otherwise)
{
	struct json_object *value = json_object_object_get(parameters, key);

	return value ? json_object_get_boolean(value) : otherwise;
}
