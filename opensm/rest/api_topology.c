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

static struct json_object *copy_of(struct json_object *answer, const char *key)
{
	return json_object_get(json_object_object_get(answer, key));
}

#define TOPOLOGY_FIELDS(F)                                                                         \
	F("sm_topology_file", OF("?string"), copy_of(answer, "text"))                              \
	F("file", OF("string"), copy_of(answer, "file"))                                           \
	F("in_force", OF("bool"), copy_of(answer, "in_force"))                                     \
	F("refused", OF("?string"), copy_of(answer, "refused"))                                    \
	F("cables", OF("int"), copy_of(answer, "cables"))

static const struct json_field topology_fields[] = FIELDS_TABLE(TOPOLOGY_FIELDS);

static void answer_topology(const struct rest_request *q, struct rest_answer *ret)
{
	struct rest_error err;
	struct json_object *answer = rest_call(q, "ExpectedTopology", NULL, &err);

	if (answer)
		rest_answer_json(ret, 200, FIELDS_NEW(TOPOLOGY_FIELDS));
	else
		rest_answer_call_error(ret, &err);
	json_object_put(answer);
}

const struct rest_operation api_topology = {
	.help = "Shows the expected topology, and whether it is in force.",
	.gives = REST_GIVES(FIELD_ROW("Topology", OBJECT(topology_fields))),
	.answer = answer_topology,
};

#define TOPOLOGY_BODY(B)                                                                           \
	B(sm_topology_file, OPT(STR), "cables; POST without a text: those that are found")

static const struct json_field topology_body[] = BODY_TABLE(TOPOLOGY_BODY);

/* The text of a body: a string, or an object with one. False: it is neither. */
static bool text_of(struct json_object *body, const char **ret)
{
	const struct {
		TOPOLOGY_BODY(BODY_MEMBER)
	} members = { TOPOLOGY_BODY(BODY_READ) };
	struct json_object *text = body;

	*ret = NULL;
	if (json_object_is_type(body, json_type_object)) {
		if (!json_object_object_length(body))
			return true;
		text = members.sm_topology_file;
	} else if (!body) {
		return true;
	}
	if (!json_object_is_type(text, json_type_string))
		return false;
	*ret = json_object_get_string(text);
	return strlen(*ret) == (size_t)json_object_get_string_len(text);
}

/* Stored is done: there is nothing to wait for by the number of the job. */
#define STORED_FIELDS(F)                                                                           \
	F("SM topoconfig action", STR, text ? "updated" : "created from the fabric")               \
	F("job_id", STR, "0")                                                                      \
	F("cables", OF("int"), copy_of(answer, "cables"))                                          \
	F("warnings", OF("int"), copy_of(answer, "warnings"))

static const struct json_field stored_fields[] = FIELDS_TABLE(STORED_FIELDS);

static void set_topology(const struct rest_request *q, struct rest_answer *ret)
{
	struct json_object *parameters, *answer;
	struct rest_error err;
	const char *text;

	if (!text_of(q->body, &text) || (!text && q->method != REST_POST)) {
		api_refuse(ret,
			   "the body must be a text, or an object with the text sm_topology_file; "
			   "only POST may go without one, for the cables that are found");
		return;
	}
	parameters = json_object_new_object();
	json_add_str(parameters, "user", q->user ? q->user : "");
	if (text)
		json_add_str(parameters, "text", text);
	answer = rest_call(q, "SetExpectedTopology", parameters, &err);
	if (!answer) {
		rest_answer_call_error(ret, &err);
		return;
	}
	rest_answer_json(ret, 200, FIELDS_NEW(STORED_FIELDS));
	ret->changed = true;
	json_object_put(answer);
}

const struct rest_operation api_set_topology = {
	.help = "Replaces the expected topology.",
	.body = topology_body,
	.is_text_body = true,
	.gives = REST_GIVES(FIELD_ROW("TopologyStored", OBJECT(stored_fields))),
	.answer = set_topology,
};
