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

/* The release that clients compare. A manager that does not answer makes it 503. */
void api_version(const struct rest_request *q, struct rest_answer *ret)
{
	struct rest_error err;
	struct json_object *status = rest_call(q, "GetPriority", NULL, &err), *o;

	if (!status) {
		rest_answer_call_error(ret, &err);
		return;
	}
	json_object_put(status);
	o = json_object_new_object();
	json_add_str(o, "ufm_release_version", q->policy ? q->policy->release : "");
	rest_answer_json(ret, 200, o);
}

#define STAND_IN "0xffffffffffffffff" /* instead of a key */

/* ---- smconf ---------------------------------------------------------------------------------- */

enum conf_kind {
	CONF_TEXT,
	CONF_NUMBER,
	CONF_BOOL,
	CONF_M_KEY,	 /* "0x0" if ports have none, else a stand-in */
	CONF_KEY_OF_ONE, /* "0x1" as it is by default, else a stand-in */
};

/* Names of the interface that are options of ours, too. */
static const struct conf_row {
	const char *name;
	enum conf_kind kind;
	const char *option; /* name of the option; NULL: `name` */
	const char *drawn;  /* the option by which the key is drawn, whatever its own says */
} conf_rows[] = {
	{ .name = "subnet_prefix", .kind = CONF_TEXT },
	{ .name = "m_key", .kind = CONF_M_KEY },
	{ .name = "sm_key", .kind = CONF_KEY_OF_ONE, .drawn = "randomize_sm_key" },
	{ .name = "sa_key", .kind = CONF_KEY_OF_ONE, .drawn = "randomize_sa_key" },
	{ .name = "m_key_per_port", .kind = CONF_BOOL },
	{ .name = "m_key_lease_period", .kind = CONF_NUMBER },
	{ .name = "no_partition_enforcement", .kind = CONF_BOOL },
	{ .name = "vl_stall_count", .kind = CONF_TEXT },
	{ .name = "leaf_vl_stall_count", .kind = CONF_TEXT },
	{ .name = "sm_priority", .kind = CONF_NUMBER },
	{ .name = "ignore_other_sm", .kind = CONF_BOOL },
	{ .name = "sminfo_polling_timeout", .kind = CONF_NUMBER },
	{ .name = "polling_retry_number", .kind = CONF_NUMBER },
	{ .name = "honor_guid2lid_file", .kind = CONF_BOOL },
	{ .name = "max_wire_smps", .kind = CONF_NUMBER },
	{ .name = "transaction_timeout", .kind = CONF_NUMBER },
	{ .name = "max_msg_fifo_timeout", .kind = CONF_NUMBER },
	{ .name = "single_thread", .kind = CONF_BOOL },
	{ .name = "log_file", .kind = CONF_TEXT },
	{ .name = "dump_files_dir", .kind = CONF_TEXT },
	{ .name = "sa_db_file", .kind = CONF_TEXT },
	{ .name = "no_clients_rereg", .kind = CONF_BOOL },
	{ .name = "disable_multicast", .kind = CONF_BOOL },
	{ .name = "exit_on_fatal", .kind = CONF_BOOL },
	{ .name = "routing_engine_active", .kind = CONF_TEXT, .option = "routing_engine" },
	{ .name = "root_guid_file", .kind = CONF_TEXT },
};

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

void api_smconf(const struct rest_request *q, struct rest_answer *ret)
{
	const char *only = rest_query(q, "param_name");
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

void api_smconf_refused(const struct rest_request *q, struct rest_answer *ret)
{
	rest_answer_error(ret, 403,
			  "the configuration is changed in opensm.conf on the manager's host");
}

/* ---- what is not there ----------------------------------------------------------------------- */

/* Lists without entries: virtual ports are members by GUID. */
void api_nothing(const struct rest_request *q, struct rest_answer *ret)
{
	rest_answer_json(ret, 200, json_object_new_array());
}

void api_actions(const struct rest_request *q, struct rest_answer *ret)
{
	const char *action =
		json_object_is_type(q->body, json_type_object)
			? json_object_get_string(json_object_object_get(q->body, "action"))
			: NULL;

	if (!action)
		api_refuse(ret, "action is missing");
	else if (!strcmp(action, "mark_device_unhealthy"))
		api_mark_device(q, ret, true);
	else if (!strcmp(action, "mark_device_healthy"))
		api_mark_device(q, ret, false);
	else
		rest_answer_error(ret, 501, "there is no action '%.60s'; nothing was changed",
				  action);
}
