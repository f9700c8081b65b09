// SPDX-License-Identifier: BSD-2-Clause
/*
 * /static_topology/sm_topology_file: the expected topology of the manager, in NVIDIA's CSV or
 * another of its formats. GET gives what is in force; POST and PUT with a text replace the file,
 * and POST without one writes the cables that are found. The manager refuses a text with a fault
 * whole, stores it, and judges it as any other file before it is in force: a GET says whether it
 * is.
 */
#include <string.h>

#include "api/json.h"
#include "rest/api_internal.h"

#define MEMBER "sm_topology_file"

void api_topology(const struct rest_request *q, struct rest_answer *ret)
{
	struct rest_error err;
	struct json_object *answer = rest_call(q, "ExpectedTopology", NULL, &err), *o;

	if (!answer) {
		rest_answer_call_error(ret, &err);
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, MEMBER,
			       json_object_get(json_object_object_get(answer, "text")));
	for (unsigned i = 0; i < 4; i++) {
		static const char *const names[] = { "file", "in_force", "refused", "cables" };

		json_object_object_add(
			o, names[i], json_object_get(json_object_object_get(answer, names[i])));
	}
	json_object_put(answer);
	rest_answer_json(ret, 200, o);
}

/* The text of a body: a string, or an object with one. False: it is neither. */
static bool text_of(struct json_object *body, const char **ret)
{
	struct json_object *text = body;

	*ret = NULL;
	if (json_object_is_type(body, json_type_object)) {
		if (!json_object_object_length(body))
			return true;
		text = json_object_object_get(body, MEMBER);
	} else if (!body) {
		return true;
	}
	if (!json_object_is_type(text, json_type_string))
		return false;
	*ret = json_object_get_string(text);
	return strlen(*ret) == (size_t)json_object_get_string_len(text);
}

/* Stored is done: there is nothing to wait for by the number of the job. */
static void answer_set(struct json_object *answer, bool found, struct rest_answer *ret)
{
	struct json_object *o = json_object_new_object();

	json_add_str(o, "SM topoconfig action", found ? "created from the fabric" : "updated");
	json_add_str(o, "job_id", "0");
	json_object_object_add(o, "cables",
			       json_object_get(json_object_object_get(answer, "cables")));
	json_object_object_add(o, "warnings",
			       json_object_get(json_object_object_get(answer, "warnings")));
	json_object_put(answer);
	rest_answer_json(ret, 200, o);
	ret->changed = true;
}

void api_set_topology(const struct rest_request *q, struct rest_answer *ret)
{
	struct json_object *parameters, *answer;
	struct rest_error err;
	const char *text;

	if (!text_of(q->body, &text) || (!text && q->method != REST_POST)) {
		api_refuse(ret,
			   "the body must be a text, or an object with the text " MEMBER
			   "; only POST may go without one, for the cables that are found");
		return;
	}
	parameters = json_object_new_object();
	json_add_str(parameters, "user", q->user ? q->user : "");
	if (text)
		json_add_str(parameters, "text", text);
	answer = rest_call(q, "SetExpectedTopology", parameters, &err);
	if (answer)
		answer_set(answer, !text, ret);
	else
		rest_answer_call_error(ret, &err);
}
