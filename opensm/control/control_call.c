// SPDX-License-Identifier: BSD-2-Clause
/* One call: its text, whether it fits its method, and the text of its answer. */
#include "control/control_internal.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

#define DEPTH_MAX 16
/* Most objects of a message: each takes a kilobyte of memory. */
#define OBJECTS_MAX (80u * 1000)
#define NAME_MAX_LEN 100

const struct control_error_name control_errors[] = {
	{ "NotFound", "What was asked about is not there" },
	{ "Ambiguous", "What was asked about fits several" },
	{ "InvalidParameter",
	  "A parameter is missing, unknown, of the wrong type or out of range" },
	{ "NotReady", "No port is open, or nothing has been read yet" },
	{ "NotMaster", "Only the master can do this" },
	{ "Denied", "The caller may not do this" },
	{ "Busy", "Too many callers" },
	{ "NoAnswer", "The device was asked, and did not answer" },
	{ "BadMessage", "This was no call; the connection ends" },
	{ "Exists", "A partition with this P_Key is there, and is not the same" },
	{ "ReadOnly", "The partition is that of partitions.conf, or a file cannot be written" },
	{ "NoRoom", "A P_Key table is full, or a limit of the manager is reached" },
	{ "Overtaken", "The partition has changed meanwhile: its generation is another one" },
	{ "Unconfirmed",
	  "The change is stored, and a device has not confirmed it yet. Parameters beside text are "
	  "those of the answer" },
	{ "Closed", "The store of partitions cannot be written, is corrupt or behind" },
	{ "TooLarge", "There is too much of it for one answer" },
	{ "NotMarked", "What is to be restored is in service" },
	{ "TooCostly",
	  "It would cut off what is in use, or the manager itself; nothing was changed" },
	{ "NoStandby", "No standby manager has stored the change, and one must" },
	{ 0 },
};

/* ---- types ----------------------------------------------------------------------------------- */

static bool find_field(const char *type, const char *name, struct control_parameter *ret)
{
	for (const char *at = control_next_parameter(type, ret); at;
	     at = control_next_parameter(at, ret))
		if (!strcmp(ret->name, name))
			return true;
	return false;
}

static bool is_of_type(struct json_object *value, const char *type)
{
	if (str_starts(type, "[]"))
		return json_object_is_type(value, json_type_array);
	if (!strcmp(type, "int"))
		return json_object_is_type(value, json_type_int);
	if (!strcmp(type, "bool"))
		return json_object_is_type(value, json_type_boolean);
	if (!strcmp(type, "string"))
		return json_object_is_type(value, json_type_string);
	if (type[0] == '(')
		return json_object_is_type(value, json_type_object);
	return true; /* object */
}

static bool all_known(const char *type, struct json_object *parameters, struct control_error *err)
{
	struct control_parameter f;

	json_object_object_foreach(parameters, name, value)
	{
		char shown[NAME_MAX_LEN];

		str_printable(name, strlen(name), shown, sizeof(shown));
		if (!find_field(type, name, &f))
			return control_fail(err, "InvalidParameter", "there is no parameter '%s'",
					    shown);
		if (value ? is_of_type(value, f.type) : f.optional)
			continue;
		return control_fail(err, "InvalidParameter", "parameter '%s' must be of type %s",
				    shown, f.type);
	}
	return true;
}

bool control_fits(const char *type, struct json_object *parameters, struct control_error *err)
{
	struct control_parameter f;

	if (!all_known(type, parameters, err))
		return false;
	for (const char *at = control_next_parameter(type, &f); at;
	     at = control_next_parameter(at, &f)) {
		if (f.optional || json_object_object_get_ex(parameters, f.name, NULL))
			continue;
		return control_fail(err, "InvalidParameter", "parameter '%s' is missing", f.name);
	}
	return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool has_too_many_objects(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '{' || text[i] == '[';
	return n > OBJECTS_MAX;
}

static struct json_object *parse_object(const char *text, size_t len, const char **ret_why)
{
	struct json_tokener *tok;
	struct json_object *o;

	*ret_why = "it has too many objects";
	if (has_too_many_objects(text, len))
		return NULL;
	tok = json_tokener_new_ex(DEPTH_MAX);
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	/* With its NUL, so that it knows that nothing follows. */
	o = json_tokener_parse_ex(tok, text, (int)len + 1);
	*ret_why = json_tokener_get_error(tok) == json_tokener_success ?
			   "it is no object" :
			   json_tokener_error_desc(json_tokener_get_error(tok));
	json_tokener_free(tok);
	if (json_object_is_type(o, json_type_object))
		return o;
	json_object_put(o);
	return NULL;
}

static bool call_flag(struct json_object *call, const char *name)
{
	struct json_object *value = json_object_object_get(call, name);

	return json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value);
}

static int read_call(struct json_object *o, struct control_call *ret, struct control_error *err)
{
	struct json_object *method = json_object_object_get(o, "method");
	struct json_object *parameters = json_object_object_get(o, "parameters");
	char shown[NAME_MAX_LEN];

	if (!json_object_is_type(method, json_type_string)) {
		control_fail(err, "BadMessage", "there is no \"method\" in it");
		return -EBADMSG;
	}
	if (parameters && !json_object_is_type(parameters, json_type_object)) {
		control_fail(err, "BadMessage", "\"parameters\" is no object");
		return -EBADMSG;
	}
	ret->method = control_find(json_object_get_string(method));
	if (!ret->method) {
		str_printable(json_object_get_string(method),
			      (size_t)json_object_get_string_len(method), shown, sizeof(shown));
		control_fail(err, "org.varlink.service.MethodNotFound", "there is no method '%s'",
			     shown);
		return -EINVAL;
	}
	if (ret->method->only_more && !call_flag(o, "more")) {
		control_fail(err, "org.varlink.service.ExpectedMore", "%s needs \"more\": true",
			     ret->method->name);
		return -EINVAL;
	}
	ret->parameters = parameters ? json_object_get(parameters) : json_object_new_object();
	ret->more = call_flag(o, "more");
	ret->oneway = call_flag(o, "oneway");
	if (control_fits(ret->method->type, ret->parameters, err))
		return 0;
	control_call_clear(ret);
	return -EINVAL;
}

int control_parse(const char *text, size_t len, struct control_call *ret, struct control_error *err)
{
	struct json_object *o;
	const char *why;
	int r;

	assert(text && ret && err);
	*ret = (struct control_call){ 0 };
	if (len > CONTROL_LONG_MAX) {
		control_fail(err, "BadMessage", "a call has at most %u bytes", CONTROL_LONG_MAX);
		return -EBADMSG;
	}
	o = parse_object(text, len, &why);
	if (!o) {
		control_fail(err, "BadMessage", "a JSON object was expected: %s", why);
		return -EBADMSG;
	}
	r = read_call(o, ret, err);
	json_object_put(o);
	if (r == 0 && len > CONTROL_MESSAGE_MAX && ret->method->right != CONTROL_TENANT) {
		control_fail(err, "BadMessage", "a call of %s has at most %u bytes",
			     ret->method->name, CONTROL_MESSAGE_MAX);
		control_call_clear(ret);
		return -EBADMSG;
	}
	return r;
}

void control_call_clear(struct control_call *call)
{
	assert(call);
	json_object_put(call->parameters);
	*call = (struct control_call){ 0 };
}

/* ---- answers --------------------------------------------------------------------------------- */

static char *to_text(struct json_object *o, size_t *ret_len)
{
	size_t len;
	const char *text =
		json_object_to_json_string_length(o, JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	char *copy = xmemdup(text, len + 1);

	json_object_put(o);
	*ret_len = len + 1;
	return copy;
}

char *control_reply(struct json_object *answer, bool continues, size_t *ret_len)
{
	struct json_object *o = json_object_new_object();

	assert(answer && ret_len);
	json_object_object_add(o, "parameters", answer);
	if (continues)
		json_add_bool(o, "continues", true);
	return to_text(o, ret_len);
}

char *control_error_reply(struct control_error *err, size_t *ret_len)
{
	struct json_object *o = json_object_new_object(), *parameters = take(err->more);
	_cleanup_free_ char *name = strchr(err->name, '.') ? xstrdup(err->name) :
							     xasprintf("org.opensm.%s", err->name);

	if (!parameters)
		parameters = json_object_new_object();
	json_add_str(o, "error", name);
	json_add_str(parameters, "text", err->text);
	json_object_object_add(o, "parameters", parameters);
	return to_text(o, ret_len);
}
