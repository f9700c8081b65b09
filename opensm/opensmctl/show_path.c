// SPDX-License-Identifier: BSD-2-Clause
/* path: the way, and what bounds it; or all that stands against it, first. */
#include <stdio.h>
#include <string.h>

#include "opensmctl/show.h"
#include "util/mem.h"

/* The ports that lead on as short, each with its LIDs: "4:12  5:11". */
static char *candidates_text(struct json_object *hop)
{
	struct json_object *all = js_get(hop, "candidates");
	size_t len = 0;
	char text[64] = "";

	for (size_t i = 0; js_len(all) > 1 && i < js_len(all) && len < 48; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d:%d", i ? "  " : "",
					(int)js_int(js_at(all, i), "port"),
					(int)js_int(js_at(all, i), "lids"));
	if (len >= 48)
		snprintf(text + len, sizeof(text) - len, " ...");
	return xstrdup(text);
}

static const struct column hop_columns[] = {
	{ "HOP>", .kind = COLUMN_INDEX },
	{ "NODE", .key = "name", .color = CTL_NAME },
	{ "IN>", COLUMN_INT, .key = "in_port", .otherwise = "" },
	{ "OUT>", COLUMN_INT, .key = "out_port", .otherwise = "" },
	{ "VL>", COLUMN_INT, .key = "vl", .otherwise = "", .optional = true },
	{ "LINK Gb/s>", COLUMN_GBPS, .key = "gbps", .otherwise = "" },
	{ "MTU>", COLUMN_INT, .key = "mtu", .otherwise = "", .drop = 2 },
	{ "EQUALLY SHORT (PORT:LIDS)", .text = candidates_text, .folds = true, .drop = 1 },
	{ 0 },
};

static void print_reasons(struct json_object *hops)
{
	for (size_t i = 0; i < js_len(hops); i++) {
		struct json_object *h = js_at(hops, i);

		if (js_len(js_get(h, "candidates")) > 1)
			printf("%s, port %d: %s\n", js_str(h, "name"), (int)js_int(h, "out_port"),
			       js_str(h, "chosen_because"));
	}
}

static void print_bound(struct json_object *o, const char *what, const char *value,
			const char *unit)
{
	struct json_object *by = js_get(o, "bound_by");

	if (js_has(by, "level")) {
		printf("%-10s %s %s, the limit of level '%s' of the QoS policy\n", what, value,
		       unit, js_str(by, "level"));
		return;
	}
	if (!js_bool(by, "alone")) {
		printf("%-10s %s %s, on every link alike\n", what, value, unit);
		return;
	}
	printf("%-10s %s %s, bound by '%s' port %d", what, value, unit, js_str(by, "name"),
	       (int)js_int(by, "port"));
	if (js_has(by, "peer"))
		printf(" to '%s' port %d", js_str(by, "peer"), (int)js_int(by, "peer_port"));
	putchar('\n');
}

static void print_end(const char *what, struct json_object *o)
{
	_cleanup_free_ char *place = ctl_place(o);

	printf("%-10s %s, LID %d, %s\n", what, place, (int)js_int(o, "lid"),
	       js_str(o, "port_guid"));
}

static void print_partitions(struct json_object *doc)
{
	struct json_object *chosen = js_get(doc, "partition"),
			   *shared = js_get(doc, "shared_pkeys");

	if (!chosen)
		return;
	printf("%-10s %s", "P_Key", js_str(chosen, "pkey"));
	if (js_has(chosen, "name"))
		printf(" '%s'", js_str(chosen, "name"));
	printf(" (%s to %s)", js_str(chosen, "from"), js_str(chosen, "to"));
	if (js_len(shared) > 1)
		printf(", one of %zu that both have", js_len(shared));
	printf("\n%-10s %d: %s\n", "SL", (int)js_int(js_get(doc, "sl"), "value"),
	       js_str(js_get(doc, "sl"), "from"));
}

static void print_bounds(struct json_object *doc)
{
	struct json_object *mtu = js_get(doc, "mtu"), *rate = js_get(doc, "rate");
	char text[32];

	if (mtu) {
		snprintf(text, sizeof(text), "%d", (int)js_int(mtu, "bytes"));
		print_bound(mtu, "MTU", text, "bytes");
	}
	if (rate)
		print_bound(rate, "rate", ctl_gbps(js_num(rate, "gbps"), text), "Gb/s");
	if (js_has(js_get(doc, "policy"), "level") && js_has(doc, "life"))
		printf("%-10s %d (packet life time)\n", "life", (int)js_int(doc, "life"));
}

static void print_disjoint(struct json_object *doc)
{
	struct json_object *o = js_get(doc, "disjoint");

	if (o)
		printf("%-10s of %d paths %d without a common cable (shortest allow %d), %d "
		       "without a common switch (%d)\n",
		       "disjoint", (int)js_int(o, "paths"), (int)js_int(o, "cables"),
		       (int)js_int(o, "cables_possible"), (int)js_int(o, "switches"),
		       (int)js_int(o, "switches_possible"));
}

/* Prints lines of -o: the result, each reason against it, each hop. */
static void print_lines(const struct ctl *c, struct json_object *doc)
{
	struct json_object *why_not = js_get(doc, "why_not");

	printf("reachable\t%s\n", js_bool(doc, "reachable") ? "yes" : "no");
	for (size_t i = 0; i < js_len(why_not); i++)
		printf("why_not\t%s\n", json_object_get_string(js_at(why_not, i)));
	ctl_print_table(c, hop_columns, js_get(doc, "hops"));
}

static void print_path(struct ctl *c, struct json_object *doc, struct json_object *asked)
{
	struct json_object *why_not = js_get(doc, "why_not"), *hops = js_get(doc, "hops");

	if (c->oneline) {
		print_lines(c, doc);
		return;
	}
	print_end("from", js_get(doc, "from"));
	print_end("to", js_get(doc, "to"));
	if (js_bool(doc, "reachable")) {
		printf("%-10s %syes%s%s\n", "reachable", ctl_color(c, CTL_GOOD),
		       ctl_color(c, CTL_PLAIN),
		       js_bool(doc, "reversible") ? "" : "; but there is no way back");
	} else {
		printf("%-10s %sno%s\n", "reachable", ctl_color(c, CTL_BAD),
		       ctl_color(c, CTL_PLAIN));
		for (size_t i = 0; i < js_len(why_not); i++)
			printf("  - %s\n", json_object_get_string(js_at(why_not, i)));
	}
	qos_print_decision(doc);
	print_partitions(doc);
	print_bounds(doc);
	print_disjoint(doc);
	if (!js_len(hops))
		return;
	putchar('\n');
	ctl_print_table(c, hop_columns, hops);
	if (c->stats) {
		putchar('\n');
		print_reasons(hops);
	}
}

static bool is_cut_off(const struct ctl *c, struct json_object *doc)
{
	return !js_bool(doc, "reachable");
}

static const struct ctl_word path_words[] = {
	{ CTL_TEXT, .parameter = "from", .offers = OFFER_PLACES,
	  .missing = "from where to where?" },
	{ CTL_TEXT, .parameter = "to", .offers = OFFER_PLACES, .missing = "from where to where?" },
	{ CTL_TEXT, .option = "--service-id", .parameter = "service_id" },
	{ CTL_TEXT, .option = "--qos-class", .parameter = "qos_class" },
	{ CTL_TEXT, .option = "--pkey", .parameter = "pkey", .offers = OFFER_PARTITIONS },
	{ 0 },
};

const struct ctl_command ctl_path = {
	.name = "path",
	.arguments = "A B [--service-id S] [--qos-class C] [--pkey P]",
	.help = "why A reaches B by these ports, with this P_Key, SL, MTU and rate; or why not",
	.words = "--service-id --qos-class --pkey",
	.scope = CTL_SHOWS,
	.method = "Path",
	.takes = path_words,
	.print = print_path,
	.fails = is_cut_off,
};
