// SPDX-License-Identifier: BSD-2-Clause
/* Reading answers: an answer of another version of the daemon must not crash us. */
#include "client/js.h"

struct json_object *js_get(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(o, json_type_object))
		json_object_object_get_ex(o, key, &value);
	return value;
}

const char *js_str(struct json_object *o, const char *key)
{
	struct json_object *value = js_get(o, key);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

int64_t js_int(struct json_object *o, const char *key)
{
	struct json_object *value = js_get(o, key);

	return json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : 0;
}

double js_num(struct json_object *o, const char *key)
{
	struct json_object *value = js_get(o, key);

	return json_object_is_type(value, json_type_int) ||
			       json_object_is_type(value, json_type_double) ?
		       json_object_get_double(value) :
		       0;
}

bool js_bool(struct json_object *o, const char *key)
{
	struct json_object *value = js_get(o, key);

	return json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value);
}

bool js_has(struct json_object *o, const char *key)
{
	return js_get(o, key) != NULL;
}

size_t js_len(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

struct json_object *js_at(struct json_object *array, size_t n)
{
	return n < js_len(array) ? json_object_array_get_idx(array, n) : NULL;
}
