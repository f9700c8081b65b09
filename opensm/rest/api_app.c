// SPDX-License-Identifier: BSD-2-Clause
/*
 * The manager itself as the interface shows it, and services that are not there.
 *
 * Keys are never handed out. Clients test whether the M_Key is zero and whether the others are 1: a
 * stand-in keeps the result of these tests true, and says nothing else.
 *
 * A service that is not there is refused with 501 and a sentence. A success would be believed.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/json.h"
#include "rest/api_internal.h"
#include "util/mem.h"
#include "util/str.h"

static void answer_openapi(const struct rest_request *q, struct rest_answer *ret)
{
	const char *text = q->policy->openapi;

	rest_answer_bytes(ret, 200, "application/json", text, strlen(text));
}

const struct rest_operation api_openapi = {
	.help = "This document.",
	.gives = REST_GIVES(FIELD_ROW("OpenAPI", OF("object"))),
	.answer = answer_openapi,
};

#define VERSION_FIELDS(F) F("ufm_release_version", STR, q->policy ? q->policy->release : "")

static const struct json_field version_fields[] = FIELDS_TABLE(VERSION_FIELDS);

/* The release that clients compare. A manager that does not answer makes it 503. */
static void answer_version(const struct rest_request *q, struct rest_answer *ret)
{
	struct rest_error err;
	struct json_object *status = rest_call(q, "GetPriority", NULL, &err);

	if (status)
		rest_answer_json(ret, 200, FIELDS_NEW(VERSION_FIELDS));
	else
		rest_answer_call_error(ret, &err);
	json_object_put(status);
}

const struct rest_operation api_version = {
	.help = "Shows the release of the interface.",
	.gives = REST_GIVES(FIELD_ROW("Version", OBJECT(version_fields))),
	.answer = answer_version,
};

#define STAND_IN "0xffffffffffffffff" /* instead of a key */

/* ---- smconf ---------------------------------------------------------------------------------- */

enum conf_kind {
	CONF_TEXT,
	CONF_NUMBER,
	CONF_BOOL,
	CONF_M_KEY,	 /* "0x0" if ports have none, else a stand-in */
	CONF_KEY_OF_ONE, /* "0x1" as it is by default, else a stand-in */
};

/*
 * Names of the interface that are options of ours, too. Further columns: `.option`, the name of
 * the option, if it is another one; `.drawn`, the option by which a key is drawn, whatever its own
 * says.
 */
#define CONF_ROWS(C)                                                                               \
	C("subnet_prefix", TEXT)                                                                   \
	C("m_key", M_KEY)                                                                          \
	C("sm_key", KEY_OF_ONE, .drawn = "randomize_sm_key")                                       \
	C("sa_key", KEY_OF_ONE, .drawn = "randomize_sa_key")                                       \
	C("m_key_per_port", BOOL)                                                                  \
	C("m_key_lease_period", NUMBER)                                                            \
	C("no_partition_enforcement", BOOL)                                                        \
	C("vl_stall_count", TEXT)                                                                  \
	C("leaf_vl_stall_count", TEXT)                                                             \
	C("sm_priority", NUMBER)                                                                   \
	C("ignore_other_sm", BOOL)                                                                 \
	C("sminfo_polling_timeout", NUMBER)                                                        \
	C("polling_retry_number", NUMBER)                                                          \
	C("honor_guid2lid_file", BOOL)                                                             \
	C("max_wire_smps", NUMBER)                                                                 \
	C("transaction_timeout", NUMBER)                                                           \
	C("max_msg_fifo_timeout", NUMBER)                                                          \
	C("single_thread", BOOL)                                                                   \
	C("log_file", TEXT)                                                                        \
	C("dump_files_dir", TEXT)                                                                  \
	C("sa_db_file", TEXT)                                                                      \
	C("no_clients_rereg", BOOL)                                                                \
	C("disable_multicast", BOOL)                                                               \
	C("exit_on_fatal", BOOL)                                                                   \
	C("routing_engine_active", TEXT, .option = "routing_engine")                               \
	C("root_guid_file", TEXT)

static const struct conf_row {
	const char *name;
	enum conf_kind kind;
	const char *option, *drawn;
} conf_rows[] = {
#define CONF_ROW(key, type, ...) { .name = key, .kind = CONF_##type, __VA_ARGS__ },
	CONF_ROWS(CONF_ROW)
};

/* param_name leaves one of them. */
#define CONF_WORD_TEXT	     "string"
#define CONF_WORD_NUMBER     "int"
#define CONF_WORD_BOOL	     "bool"
#define CONF_WORD_M_KEY	     "string"
#define CONF_WORD_KEY_OF_ONE "string"
#define CONF_FIELD(name, type, ...) { name, CONF_WORD_##type, .optional = true },

static const struct json_field conf_fields[] = { CONF_ROWS(CONF_FIELD) { 0 } };

/* The row of an option in the answer of Options; NULL: it has none. */
static struct json_object *find_option(struct json_object *options, const char *name)
{
	size_t n = json_object_is_type(options, json_type_array) ? json_object_array_length(options)
								 : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(options, i);

		if (str_equal(json_object_get_string(json_object_object_get(o, "name")), name))
			return o;
	}
	return NULL;
}

/* Without m_key the seed of single ports is drawn at random: they have keys all the same. */
static bool is_on(struct json_object *options, const char *name)
{
	struct json_object *o = find_option(options, name);
	const char *value = json_object_get_string(json_object_object_get(o, "value"));

	return value && !strcasecmp(value, "TRUE");
}

static struct json_object *key_shown(struct json_object *option, const char *usual)
{
	bool is_default = json_object_get_boolean(json_object_object_get(option, "is_default"));

	return json_object_new_string(is_default ? usual : STAND_IN);
}

static struct json_object *number_shown(const char *value)
{
	uint64_t n;

	return json_object_new_int64(str_to_u64(value, 0, INT64_MAX, &n) == 0 ? (int64_t)n : 0);
}

static struct json_object *value_shown(const struct conf_row *row, struct json_object *options)
{
	struct json_object *o = find_option(options, row->option ? row->option : row->name);
	const char *value = json_object_get_string(json_object_object_get(o, "value"));

	switch (row->kind) {
	case CONF_M_KEY:
		return key_shown(o, is_on(options, "m_key_per_port") ? STAND_IN : "0x0");
	case CONF_KEY_OF_ONE:
		return key_shown(o, row->drawn && is_on(options, row->drawn) ? STAND_IN : "0x1");
	case CONF_BOOL:
		return json_object_new_boolean(
			is_on(options, row->option ? row->option : row->name));
	case CONF_NUMBER:
		return number_shown(value ? value : "");
	case CONF_TEXT:
		break;
	}
	return json_object_new_string(value ? value : "(null)");
}

/* The engine that routes, as Status has it; an option may name several. */
static void add_engine(const struct rest_request *q, struct json_object *o)
{
	struct rest_error err;
	struct json_object *status = rest_call(q, "Status", NULL, &err);
	struct json_object *routing = json_object_object_get(status, "routing");
	struct json_object *engine = json_object_object_get(routing, "engine");

	if (engine)
		json_object_object_add(o, "routing_engine_active", json_object_get(engine));
	json_object_put(status);
}

static bool is_conf_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(conf_rows); i++)
		if (!strcmp(conf_rows[i].name, name))
			return true;
	return false;
}

#define CONF_QUERY(Q) Q(param_name, TEXT, "the only parameter to show")

static const struct json_field conf_query[] = QUERY_TABLE(CONF_QUERY);

static void answer_smconf(const struct rest_request *q, struct rest_answer *ret)
{
	const struct {
		CONF_QUERY(QUERY_MEMBER)
	} asked = { CONF_QUERY(QUERY_READ) };
	const char *only = asked.param_name;
	struct json_object *answer, *options, *o;
	struct rest_error err;

	if (only && !is_conf_name(only)) {
		api_refuse(ret, "there is no parameter '%.60s'", only);
		return;
	}
	answer = rest_call(q, "Options", NULL, &err);
	if (!answer) {
		rest_answer_call_error(ret, &err);
		return;
	}
	options = json_object_object_get(answer, "options");
	o = json_object_new_object();
	for (size_t i = 0; i < ARRAY_SIZE(conf_rows); i++)
		if (!only || !strcmp(conf_rows[i].name, only))
			json_object_object_add(o, conf_rows[i].name,
					       value_shown(&conf_rows[i], options));
	if (!only || !strcmp(only, "routing_engine_active"))
		add_engine(q, o);
	json_object_put(answer);
	rest_answer_json(ret, 200, o);
}

const struct rest_operation api_smconf = {
	.help = "Shows parameters of the configuration.",
	.query = conf_query,
	.gives = REST_GIVES(FIELD_ROW("Configuration", OBJECT(conf_fields))),
	.answer = answer_smconf,
};

static void refuse_smconf(const struct rest_request *q, struct rest_answer *ret)
{
	rest_answer_error(ret, 403,
			  "the configuration is changed in opensm.conf on the manager's host");
}

const struct rest_operation api_set_smconf = {
	.help = "Is refused: the configuration is changed on the manager's host.",
	.answer = refuse_smconf,
};

/* ---- what is not there ----------------------------------------------------------------------- */

/* Virtual ports are members by GUID. */
static void answer_vports(const struct rest_request *q, struct rest_answer *ret)
{
	rest_answer_json(ret, 200, json_object_new_array());
}

const struct rest_operation api_vports = {
	.help = "Lists virtual ports: none.",
	.gives = REST_GIVES(FIELD_ROW("VirtualPorts", LIST(rest_no_members))),
	.answer = answer_vports,
};
