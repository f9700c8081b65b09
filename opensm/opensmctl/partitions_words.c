// SPDX-License-Identifier: BSD-2-Clause
/* The words of "partitions create|delete|add|remove|set|configure" as parameters of the call. */
#include "opensmctl/partitions.h"

#include <stdio.h>
#include <string.h>

#include "ib/codes.h"
#include "util/mem.h"
#include "util/str.h"

static void add_bool(struct json_object *o, const char *key, bool value)
{
	json_object_object_add(o, key, json_object_new_boolean(value));
}

/* ---- fields --------------------------------------------------------------------------------- */

static int read_mtu(const struct ctl *c, const char *value, struct json_object *ret)
{
	for (unsigned code = IB_MTU_256; code <= IB_MTU_4096; code++) {
		char text[16];

		snprintf(text, sizeof(text), "%u", ib_mtu_bytes(code));
		if (strcmp(text, value))
			continue;
		json_object_object_add(ret, "mtu", json_object_new_int((int)code));
		return CTL_OK;
	}
	return ctl_usage(c, NULL, "mtu is 256, 512, 1024, 2048 or 4096 bytes, not '%s'", value);
}

static int read_rate(const struct ctl *c, const char *value, struct json_object *ret)
{
	for (unsigned code = IB_RATE_MIN; code <= IB_RATE_MAX; code++) {
		char text[32];

		ctl_gbps(ib_rate_bandwidth(code) / 10.0, text);
		if (strcmp(text, value))
			continue;
		json_object_object_add(ret, "rate", json_object_new_int((int)code));
		return CTL_OK;
	}
	return ctl_usage(c, NULL,
			 "rate is that of a link in Gb/s, for instance 2.5, 100 or 400, not '%s'",
			 value);
}

static int read_sl(const struct ctl *c, const char *value, struct json_object *ret)
{
	uint64_t sl;

	if (str_to_u64(value, 10, 15, &sl) < 0)
		return ctl_usage(c, NULL, "sl is from 0 to 15, not '%s'", value);
	json_object_object_add(ret, "sl", json_object_new_int64((int64_t)sl));
	return CTL_OK;
}

static int read_ipoib(const struct ctl *c, const char *value, struct json_object *ret)
{
	if (strcmp(value, "yes") && strcmp(value, "no"))
		return ctl_usage(c, NULL, "ipoib is yes or no, not '%s'", value);
	add_bool(ret, "ip_over_ib", !strcmp(value, "yes"));
	return CTL_OK;
}

static int read_name(const struct ctl *c, const char *value, struct json_object *ret)
{
	json_object_object_add(ret, "name", json_object_new_string(value));
	return CTL_OK;
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
static struct json_object *member_of(const char *word)
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
	return o;
}

void partition_read_members(struct json_object *parameters)
{
	struct json_object *words = js_get(parameters, "members"), *members;

	if (!words)
		return;
	members = json_object_new_array();
	for (size_t i = 0; i < js_len(words); i++)
		json_object_array_add(members, member_of(json_object_get_string(js_at(words, i))));
	json_object_object_add(parameters, "members", members);
}

/* ---- words of each command ------------------------------------------------------------------- */

#define ONE_PARTITION                                                                              \
	{ CTL_TEXT, .parameter = "pkey", .offers = OFFER_PARTITIONS,                               \
	  .missing = "which one? Its P_Key or name is missing" },                                  \
		{ CTL_FLAG, .option = "--wait", .parameter = "wait" },                             \
		{ CTL_OFF, .option = "--no-wait", .parameter = "wait" },                           \
		{ CTL_FLAG, .option = "--dry-run", .parameter = "dry_run" },                       \
		{ CTL_FLAG, .option = "--known-only", .parameter = "known_only" },                 \
	{                                                                                          \
		CTL_NUMBER, .option = "--if-generation", .parameter = "if_generation",             \
			    .most = INT64_MAX, .what = "generation, which is a number"             \
	}
#define MEMBERS                                                                                    \
	{                                                                                          \
		CTL_ALL, .parameter = "members", .offers = OFFER_PLACES,                           \
			 .missing = "hosts, or GUIDs of ports, are missing"                        \
	}

const struct ctl_word partition_delete_takes[] = { ONE_PARTITION, { 0 } };
const struct ctl_word partition_fields_takes[] = {
	ONE_PARTITION,
	{ CTL_READ, .option = "name=", .read = read_name },
	{ CTL_READ, .option = "mtu=", .read = read_mtu },
	{ CTL_READ, .option = "rate=", .read = read_rate },
	{ CTL_READ, .option = "sl=", .read = read_sl },
	{ CTL_READ, .option = "ipoib=", .read = read_ipoib },
	{ 0 },
};
const struct ctl_word partition_add_takes[] = { ONE_PARTITION, MEMBERS, { 0 } };
const struct ctl_word partition_remove_takes[] = {
	ONE_PARTITION,
	MEMBERS,
	{ CTL_FLAG, .option = "--keep-empty", .parameter = "keep_empty" },
	{ 0 },
};
const struct ctl_word partition_set_takes[] = {
	ONE_PARTITION,
	{ CTL_ALL, .parameter = "members", .offers = OFFER_PLACES },
	{ 0 },
};
