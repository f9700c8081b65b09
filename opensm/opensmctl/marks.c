// SPDX-License-Identifier: BSD-2-Clause
/* drain, isolate, restore, marks: links and switches that are out of service. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"

/* ---- answers --------------------------------------------------------------------------------- */

static void print_peak(const char *what, struct json_object *peak)
{
	printf("%s%" PRId64, what, js_int(peak, "pairs"));
	if (js_has(peak, "node"))
		printf("  at %s/%" PRId64, js_str(peak, "node"), js_int(peak, "port"));
	putchar('\n');
}

static void print_load(struct json_object *load)
{
	if (!load)
		return;
	print_peak("pairs on the most loaded cable now    ", js_get(load, "now"));
	print_peak("the same without them, about          ", js_get(load, "after"));
}

static void print_plan(struct json_object *o)
{
	struct json_object *cost = js_get(o, "cost");

	printf("cables that would be out of service   %" PRId64 "\n", js_int(cost, "cables"));
	printf("pairs of hosts routed over them now   %" PRId64 "\n", js_int(cost, "pairs_over"));
	printf("pairs that would have no way          %" PRId64 "\n", js_int(cost, "pairs_lost"));
	printf("host ports cut off from the manager   %" PRId64 "\n",
	       js_int(cost, "hosts_cut_off"));
	printf("switches cut off from the manager     %" PRId64 "\n",
	       js_int(cost, "switches_cut_off"));
	printf("multicast groups that use them        %" PRId64 "\n", js_int(cost, "groups"));
	print_load(js_has(cost, "load") ? js_get(cost, "load") : NULL);
	if (js_has(o, "refused"))
		printf("it would be refused: %s\n", js_str(o, "refused"));
	else
		printf("it would be done; nothing was changed\n");
}

static bool is_refused(const struct ctl *c, struct json_object *o)
{
	return !c->json && js_has(o, "refused");
}

static void print_done(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	char n[64], copies[CTL_COPIES_STRLEN];

	if (js_bool(asked, "plan")) {
		print_plan(o);
		return;
	}
	if (js_has(o, "state"))
		printf("%s%s", js_str(o, "state"), js_bool(o, "changed") ? "" : ", as it was");
	else
		printf("%s: %s", js_str(asked, "action"),
		       ctl_plural(js_int(o, "marks"), "mark", n));
	printf("; %s%s%s\n", ctl_copies(o, copies), js_has(o, "text") ? "; " : "",
	       js_str(o, "text"));
}

#define TARGET(what)                                                                               \
	{                                                                                          \
		CTL_TEXT, .parameter = "target", .offers = what,                                   \
			  .missing = "a link, a switch or a host is needed"                        \
	}

static const struct ctl_word mark_words[] = {
	TARGET(OFFER_PLACES),
	{ CTL_FLAG, .option = "--plan", .parameter = "plan" },
	{ CTL_FLAG, .option = "--force", .parameter = "force" },
	{ CTL_TEXT, .option = "--why", .parameter = "why", .offers = OFFER_REASONS },
	{ CTL_TIME, .option = "--until", .parameter = "until_seconds" },
	{ 0 },
};
static const struct ctl_word restore_words[] = { TARGET(OFFER_MARKED), { 0 } };

#define MARK_CALL                                                                                  \
	.scope = CTL_ACTS, .method = "Mark", .as = "action", .print = print_done,                  \
	.fails = is_refused
#define MARK_WORDS                                                                                 \
	.takes = mark_words, .arguments = "TARGET [--plan] [--until TIME] [--force] [--why TEXT]", \
	.words = "--plan --until --force --why"

const struct ctl_command ctl_drain = {
	.name = "drain",
	.help = "takes a link between switches, or a switch, out of routing; links stay up",
	MARK_WORDS,
	MARK_CALL,
};

const struct ctl_command ctl_isolate = {
	.name = "isolate",
	.help = "the same, then takes the link down to INIT; also the link of a host",
	MARK_WORDS,
	MARK_CALL,
};

const struct ctl_command ctl_restore = {
	.name = "restore",
	.arguments = "TARGET | all",
	.help = "puts back what was drained or isolated",
	.words = "all",
	.takes = restore_words,
	MARK_CALL,
};

/* ---- marks ----------------------------------------------------------------------------------- */

static char *place_text(struct json_object *mark, const char *key)
{
	struct json_object *end = js_get(mark, key);
	const char *name = end ? js_str(end, "node") : js_str(mark, "node_guid");
	int64_t port = end ? js_int(end, "port") : js_int(mark, "port");

	if (!end && !strcmp(key, "peer"))
		return xstrdup("-");
	return port ? xasprintf("%s/%" PRId64, name, port) : xstrdup(name);
}

static char *link_text(struct json_object *mark)
{
	return place_text(mark, "end");
}

static char *peer_text(struct json_object *mark)
{
	return place_text(mark, "peer");
}

/* The reason given, and the one for which it is not back. */
static char *why_text(struct json_object *mark)
{
	const char *why = js_has(mark, "why") ? js_str(mark, "why") : "";
	const char *kept = js_has(mark, "kept") ? js_str(mark, "kept") : "";

	if (!why[0] && !kept[0])
		return xstrdup("-");
	return xasprintf("%s%s%s%s", why, why[0] && kept[0] ? "; " : "", kept[0] ? "kept: " : "",
			 kept);
}

static enum ctl_color tint(struct json_object *mark)
{
	const char *state = js_str(mark, "state");

	if (!strcmp(state, "drained") || !strcmp(state, "isolated"))
		return CTL_GOOD;
	return !strcmp(state, "spared") || !strcmp(state, "unclean") ? CTL_BAD : CTL_WARN;
}

static const struct column columns[] = {
	{ "LINK", COLUMN_STR, .key = "node_guid", .color = CTL_NAME, .text = link_text },
	{ "PEER", COLUMN_STR, .key = "peer", .text = peer_text },
	{ "KIND", COLUMN_STR, .key = "kind", .drop = 1 },
	{ "STATE", COLUMN_STR, .key = "state", .tint = tint },
	{ "BY", COLUMN_STR, .key = "by" },
	{ "SINCE", COLUMN_TIME, .key = "since", .drop = 2 },
	{ "UNTIL", COLUMN_TIME, .key = "until" },
	{ "WHY", COLUMN_STR, .key = "why", .text = why_text, .folds = true },
	{ 0 },
};

static void print_marks(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	ctl_print_table(c, columns, js_get(o, "marks"));
}

const struct ctl_command ctl_marks = {
	.name = "marks",
	.arguments = "",
	.help = "links and switches that are out of service, and why",
	.scope = CTL_SHOWS,
	.method = "Marks",
	.print = print_marks,
};
