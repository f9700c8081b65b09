// SPDX-License-Identifier: BSD-2-Clause
/* opensmctl qos: VLs as they stand on devices, and what is wrong with them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/show.h"
#include "util/mem.h"

/* Groups of ports that are shown to people. */
#define GROUPS_SHOWN 32

/* ---- lanes ---------------------------------------------------------------------------------- */

static char *share_text(struct json_object *lane)
{
	if (!js_bool(lane, "exists"))
		return xstrdup("no such VL");
	if (!js_has(lane, "share"))
		return xstrdup("-");
	return xasprintf("%.1f %%", js_num(lane, "share"));
}

static enum ctl_color share_tint(struct json_object *lane)
{
	if (!js_bool(lane, "exists"))
		return CTL_BAD;
	return js_has(lane, "share") && js_num(lane, "share") <= 0 ? CTL_BAD : CTL_PLAIN;
}

static const struct column lane_columns[] = {
	{ "KIND", .key = "kind", .color = CTL_NAME },
	{ "PORTS>", COLUMN_INT, .key = "ports" },
	{ "VLS>", COLUMN_INT, .key = "vls" },
	{ "LIMIT>", COLUMN_INT, .key = "high_limit", .drop = 1 },
	{ "VL>", COLUMN_INT, .key = "vl" },
	{ "SLS", COLUMN_LIST, .key = "sls" },
	{ "HIGH>", COLUMN_INT, .key = "high", .otherwise = "-" },
	{ "LOW>", COLUMN_INT, .key = "low", .otherwise = "-" },
	{ "SHARE>", .text = share_text, .tint = share_tint },
	{ "SUCH AS", COLUMN_PLACE, .key = "such_as", .drop = 2 },
	{ 0 },
};

static void copy_member(struct json_object *to, struct json_object *from, const char *key)
{
	if (js_has(from, key))
		json_object_object_add(to, key, json_object_get(js_get(from, key)));
}

/* A record for each VL, with what its group has. To be put. */
static struct json_object *lanes_of(struct json_object *groups)
{
	static const char *const of_group[] = { "kind", "ports", "vls", "high_limit", "such_as" };
	static const char *const of_lane[] = { "vl", "exists", "sls", "high", "low", "share" };
	struct json_object *ret = json_object_new_array();

	for (size_t i = 0; i < js_len(groups) && i < GROUPS_SHOWN; i++) {
		struct json_object *lanes = js_get(js_at(groups, i), "lanes");

		for (size_t k = 0; k < js_len(lanes); k++) {
			struct json_object *o = json_object_new_object();

			for (size_t n = 0; n < ARRAY_SIZE(of_group); n++)
				copy_member(o, js_at(groups, i), of_group[n]);
			for (size_t n = 0; n < ARRAY_SIZE(of_lane); n++)
				copy_member(o, js_at(lanes, k), of_lane[n]);
			json_object_array_add(ret, o);
		}
	}
	return ret;
}

/* ---- SL2VL rows ----------------------------------------------------------------------------- */

static void print_rows(const struct ctl *c, struct json_object *groups)
{
	printf("\n%sSL                   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15%s\n",
	       ctl_color(c, CTL_DIM), ctl_color(c, CTL_PLAIN));
	for (size_t i = 0; i < js_len(groups) && i < GROUPS_SHOWN; i++) {
		struct json_object *group = js_at(groups, i), *rows = js_get(group, "sl2vl");

		for (size_t k = 0; k < js_len(rows); k++) {
			printf("VL, %-4s %7" PRId64 "  ", js_str(group, "kind"),
			       js_int(group, "ports"));
			for (size_t sl = 0; sl < js_len(js_at(rows, k)); sl++)
				printf(" %2d", json_object_get_int(js_at(js_at(rows, k), sl)));
			printf("\n");
		}
		if (js_bool(group, "more_rows"))
			printf("         and more rows at these ports\n");
	}
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void print_plan(struct json_object *o)
{
	struct json_object *levels = js_get(o, "levels");

	printf("qos is %s; ", js_bool(o, "qos") ? "TRUE" : "FALSE");
	if (js_int(o, "engine_vls"))
		printf("the engine %s uses %" PRId64 " VLs\n", js_str(o, "engine"),
		       js_int(o, "engine_vls"));
	else
		printf("the engine %s needs no VLs of its own\n", js_str(o, "engine"));
	if (js_has(o, "note"))
		printf("%s\n", js_str(o, "note"));
	for (size_t i = 0; i < js_len(levels); i++) {
		char sls[80], vls[80];

		ctl_list(js_get(js_at(levels, i), "sls"), ",", sls, sizeof(sls));
		ctl_list(js_get(js_at(levels, i), "vls"), ",", vls, sizeof(vls));
		printf("level %zu: SLs %s on VLs %s\n", i, sls[0] ? sls : "none", vls);
	}
}

static void print_warnings(const struct ctl *c, struct json_object *warnings)
{
	for (size_t i = 0; i < js_len(warnings); i++) {
		struct json_object *w = js_at(warnings, i);
		_cleanup_free_ char *such_as = ctl_place(js_get(w, "such_as"));
		_cleanup_free_ char *at = ctl_place(js_get(w, "at"));
		char ports[64];

		printf("%sWARNING%s %s; %s of kind %s, such as %s%s%s\n", ctl_color(c, CTL_BAD),
		       ctl_color(c, CTL_PLAIN), js_str(w, "text"),
		       ctl_plural(js_int(w, "ports"), "port", ports), js_str(w, "kind"), such_as,
		       js_has(w, "at") ? " to " : "", js_has(w, "at") ? at : "");
	}
}

static bool any_known(struct json_object *groups)
{
	for (size_t i = 0; i < js_len(groups); i++)
		if (js_bool(js_at(groups, i), "known"))
			return true;
	return false;
}

static void print_qos(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	struct json_object *groups = js_get(o, "ports"), *lanes;

	if (!c->oneline)
		print_plan(o);
	if (!any_known(groups) && !c->oneline) {
		printf("SL2VL and VL arbitration tables were neither written nor read: they are as "
		       "devices had them\n");
		return;
	}
	lanes = lanes_of(groups);
	if (!c->oneline)
		printf("\n");
	ctl_print_table(c, lane_columns, lanes);
	json_object_put(lanes);
	if (c->oneline)
		return;
	print_rows(c, groups);
	if (js_len(groups) > GROUPS_SHOWN || js_int(o, "hidden"))
		printf("and ports with other tables, which --json shows\n");
	if (js_len(js_get(o, "warnings")))
		printf("\n");
	print_warnings(c, js_get(o, "warnings"));
}

const struct ctl_command ctl_qos = {
	.name = "qos",
	.arguments = "[policy]",
	.help = "VLs as programmed, by kind of port: which SL takes which, and its share of a "
		"cable; lanes that starve; policy: the rules of qos-policy.conf, and how often "
		"each decided",
	.words = "policy",
	.scope = CTL_SHOWS,
	.subs = qos_commands,
	.method = "Qos",
	.print = print_qos,
};
