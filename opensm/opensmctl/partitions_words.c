// SPDX-License-Identifier: BSD-2-Clause
/* The words of "partitions create|delete|add|remove|set|configure" as parameters of the call. */
#include "opensmctl/partitions.h"

#include <stdio.h>
#include <string.h>

#include "ib/codes.h"
#include "util/mem.h"
#include "util/str.h"

static const char *const verbs[] = {
	[VERB_LIST] = "list",	  [VERB_SHOW] = "show",		  [VERB_CREATE] = "create",
	[VERB_DELETE] = "delete", [VERB_ADD] = "add",		  [VERB_REMOVE] = "remove",
	[VERB_SET] = "set",	  [VERB_CONFIGURE] = "configure", [VERB_VERIFY] = "verify",
};

enum partition_verb partition_verb_of(int argc, char **argv)
{
	for (size_t i = 0; argc && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(argv[0], verbs[i]))
			return (enum partition_verb)i;
	return VERB_NONE;
}

const char *partition_verb_name(enum partition_verb verb)
{
	return verb < ARRAY_SIZE(verbs) ? verbs[verb] : "";
}

/* ---- options -------------------------------------------------------------------------------- */

static void add_bool(struct json_object *o, const char *key, bool value)
{
	json_object_object_add(o, key, json_object_new_boolean(value));
}

static int read_generation(const char *text, struct json_object *ret)
{
	uint64_t n;

	if (!text || str_to_u64(text, 10, INT64_MAX, &n) < 0)
		return ctl_usage(NULL, "--if-generation: a generation is a number, not '%s'",
				 text ? text : "");
	json_object_object_add(ret, "if_generation", json_object_new_int64((int64_t)n));
	return CTL_OK;
}

/* `*at`: the index of the option, which may take the next word. */
static int read_option(enum partition_verb verb, char **argv, int *at, struct json_object *ret)
{
	const char *name = argv[*at];

	if (!strcmp(name, "--wait") || !strcmp(name, "--no-wait"))
		add_bool(ret, "wait", !strcmp(name, "--wait"));
	else if (!strcmp(name, "--dry-run"))
		add_bool(ret, "dry_run", true);
	else if (!strcmp(name, "--known-only"))
		add_bool(ret, "known_only", true);
	else if (!strcmp(name, "--keep-empty") && verb == VERB_REMOVE)
		add_bool(ret, "keep_empty", true);
	else if (!strcmp(name, "--if-generation"))
		return read_generation(argv[++*at], ret);
	else if (str_starts(name, "--if-generation="))
		return read_generation(strchr(name, '=') + 1, ret);
	else
		return ctl_usage(NULL, "partitions %s: there is no option '%s'",
				 partition_verb_name(verb), name);
	return CTL_OK;
}

/* ---- fields --------------------------------------------------------------------------------- */

static int read_mtu(const char *value, struct json_object *ret)
{
	for (unsigned code = IB_MTU_256; code <= IB_MTU_4096; code++) {
		char text[16];

		snprintf(text, sizeof(text), "%u", ib_mtu_bytes(code));
		if (strcmp(text, value))
			continue;
		json_object_object_add(ret, "mtu", json_object_new_int((int)code));
		return CTL_OK;
	}
	return ctl_usage(NULL, "mtu is 256, 512, 1024, 2048 or 4096 bytes, not '%s'", value);
}

static int read_rate(const char *value, struct json_object *ret)
{
	for (unsigned code = IB_RATE_MIN; code <= IB_RATE_MAX; code++) {
		char text[32];

		ctl_gbps(ib_rate_bandwidth(code) / 10.0, text);
		if (strcmp(text, value))
			continue;
		json_object_object_add(ret, "rate", json_object_new_int((int)code));
		return CTL_OK;
	}
	return ctl_usage(NULL,
			 "rate is that of a link in Gb/s, for instance 2.5, 100 or 400, not '%s'",
			 value);
}

static int read_sl(const char *value, struct json_object *ret)
{
	uint64_t sl;

	if (str_to_u64(value, 10, 15, &sl) < 0)
		return ctl_usage(NULL, "sl is from 0 to 15, not '%s'", value);
	json_object_object_add(ret, "sl", json_object_new_int64((int64_t)sl));
	return CTL_OK;
}

static int read_ipoib(const char *value, struct json_object *ret)
{
	if (strcmp(value, "yes") && strcmp(value, "no"))
		return ctl_usage(NULL, "ipoib is yes or no, not '%s'", value);
	add_bool(ret, "ip_over_ib", !strcmp(value, "yes"));
	return CTL_OK;
}

static int read_name(const char *value, struct json_object *ret)
{
	json_object_object_add(ret, "name", json_object_new_string(value));
	return CTL_OK;
}

static int read_field(const char *word, struct json_object *ret)
{
	static const struct {
		const char *key;
		int (*read)(const char *value, struct json_object *ret);
	} fields[] = {
		{ "name=", read_name }, { "mtu=", read_mtu },	  { "rate=", read_rate },
		{ "sl=", read_sl },	{ "ipoib=", read_ipoib },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (str_starts(word, fields[i].key))
			return fields[i].read(word + strlen(fields[i].key), ret);
	return ctl_usage(NULL,
			 "'%s' is none of name=NAME, mtu=BYTES, rate=GBPS, sl=SL, ipoib=yes|no",
			 word);
}

/* ---- members -------------------------------------------------------------------------------- */

/* Cuts `suffix` off the end of `word`. */
static bool cut_off(char *word, const char *suffix)
{
	size_t len = strlen(word), n = strlen(suffix);

	if (len <= n || strcmp(word + len - n, suffix))
		return false;
	word[len - n] = '\0';
	return true;
}

static bool is_guid(const char *word)
{
	return str_starts(word, "0x") || str_starts(word, "0X");
}

/* HOST|GUID[=full|limited][,index0] */
static void read_member(const char *word, struct json_object *members)
{
	_cleanup_free_ char *copy = xstrdup(word);
	struct json_object *o = json_object_new_object();

	if (cut_off(copy, ",index0"))
		add_bool(o, "index0", true);
	if (cut_off(copy, "=limited"))
		json_object_object_add(o, "membership", json_object_new_string("limited"));
	else if (cut_off(copy, "=full"))
		json_object_object_add(o, "membership", json_object_new_string("full"));
	json_object_object_add(o, is_guid(copy) ? "guid" : "host", json_object_new_string(copy));
	json_object_array_add(members, o);
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool takes_members(enum partition_verb verb)
{
	return verb == VERB_ADD || verb == VERB_REMOVE || verb == VERB_SET;
}

static bool takes_fields(enum partition_verb verb)
{
	return verb == VERB_CREATE || verb == VERB_CONFIGURE;
}

static int read_word(enum partition_verb verb, const char *word, struct json_object *ret)
{
	if (!js_has(ret, "pkey")) {
		json_object_object_add(ret, "pkey", json_object_new_string(word));
		return CTL_OK;
	}
	if (takes_fields(verb))
		return read_field(word, ret);
	if (!takes_members(verb))
		return ctl_usage(NULL, "partitions %s: '%s' is one too many",
				 partition_verb_name(verb), word);
	read_member(word, js_get(ret, "members"));
	return CTL_OK;
}

int partition_parameters(enum partition_verb verb, int argc, char **argv, struct json_object *ret)
{
	const char *action = partition_verb_name(verb);
	int r = CTL_OK;

	json_object_object_add(ret, "action", json_object_new_string(action));
	if (takes_members(verb))
		json_object_object_add(ret, "members", json_object_new_array());
	for (int i = 0; i < argc && r == CTL_OK; i++)
		r = argv[i][0] == '-' ? read_option(verb, argv, &i, ret)
				      : read_word(verb, argv[i], ret);
	if (r != CTL_OK)
		return r;
	if (!js_has(ret, "pkey"))
		return ctl_usage(NULL, "partitions %s: which one? Its P_Key or name is missing",
				 action);
	if (takes_members(verb) && verb != VERB_SET && !js_len(js_get(ret, "members")))
		return ctl_usage(NULL, "partitions %s: hosts, or GUIDs of ports, are missing",
				 action);
	return CTL_OK;
}
