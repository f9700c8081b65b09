// SPDX-License-Identifier: BSD-2-Clause
/* drain, isolate, restore, marks: links and switches that are out of service. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "opensmctl/commands.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- words ----------------------------------------------------------------------------------- */

/* "90", "90s", "15m", "2h", "3d": seconds. False: neither. */
static bool read_duration(const char *word, int64_t *ret)
{
	static const struct {
		char unit;
		unsigned seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	size_t digits = strspn(word, "0123456789");
	char text[12];
	uint64_t n;

	if (!digits || digits >= sizeof(text) || (word[digits] && word[digits + 1]))
		return false;
	memcpy(text, word, digits);
	text[digits] = '\0';
	if (str_to_u64(text, 10, UINT32_MAX, &n) < 0 || !n)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (word[digits] != units[i].unit && (word[digits] || i))
			continue;
		*ret = (int64_t)(n * units[i].seconds);
		return *ret <= UINT32_MAX;
	}
	return false;
}

static void set_flag(struct json_object *parameters, const char *key)
{
	json_object_object_add(parameters, key, json_object_new_boolean(true));
}

/* An option; how many words it takes, 0: it is none, -1: it is wrong, which was told. */
static int read_option(struct ctl *c, const struct ctl_command *command, char **argv,
		       struct json_object *parameters)
{
	int64_t seconds;

	if (!strcmp(argv[0], "--plan"))
		set_flag(parameters, "plan");
	else if (!strcmp(argv[0], "--force"))
		set_flag(parameters, "force");
	else if (!strcmp(argv[0], "--json"))
		c->json = true;
	else if (!strcmp(argv[0], "--why") && argv[1])
		json_object_object_add(parameters, "why", json_object_new_string(argv[1]));
	else if (!strcmp(argv[0], "--until") && argv[1] && read_duration(argv[1], &seconds))
		json_object_object_add(parameters, "until_seconds", json_object_new_int64(seconds));
	else if (!strcmp(argv[0], "--until"))
		return ctl_usage(command, "--until takes a time such as 90s, 15m, 2h or 3d"), -1;
	else if (str_starts(argv[0], "--"))
		return ctl_usage(command, "unexpected argument '%s'", argv[0]), -1;
	else
		return 0;
	return !strcmp(argv[0], "--why") || !strcmp(argv[0], "--until") ? 2 : 1;
}

static bool read_words(struct ctl *c, const struct ctl_command *command, int argc, char **argv,
		       struct json_object *parameters)
{
	const char *target = NULL;

	for (int i = 0; i < argc;) {
		int n = read_option(c, command, argv + i, parameters);

		if (n < 0)
			return false;
		if (!n && target) {
			ctl_too_many(command, argv[i]);
			return false;
		}
		if (!n)
			target = argv[i];
		i += n ? n : 1;
	}
	if (!target) {
		ctl_usage(command, "a link, a switch or a host is needed");
		return false;
	}
	json_object_object_add(parameters, "target", json_object_new_string(target));
	return true;
}

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

static int print_plan(struct json_object *o)
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
	return js_has(o, "refused") ? CTL_REFUSED : CTL_OK;
}

static void print_done(const struct ctl_command *command, struct json_object *o)
{
	char n[64], copies[CTL_COPIES_STRLEN];

	if (js_has(o, "state"))
		printf("%s%s", js_str(o, "state"), js_bool(o, "changed") ? "" : ", as it was");
	else
		printf("%s: %s", command->name, ctl_plural(js_int(o, "marks"), "mark", n));
	printf("; %s%s%s\n", ctl_copies(o, copies), js_has(o, "text") ? "; " : "",
	       js_str(o, "text"));
}

static int call_mark(struct ctl *c, const struct ctl_command *command, int argc, char **argv)
{
	struct json_object *parameters = json_object_new_object(), *answer;
	bool plan;
	int r = CTL_OK;

	json_object_object_add(parameters, "action", json_object_new_string(command->name));
	if (!read_words(c, command, argc, argv, parameters)) {
		json_object_put(parameters);
		return CTL_USAGE;
	}
	plan = js_bool(parameters, "plan");
	answer = ctl_call(c, "Mark", parameters);
	if (!answer)
		return c->exit_code;
	if (c->json)
		ctl_print_json(c, answer);
	else if (plan)
		r = print_plan(answer);
	else
		print_done(command, answer);
	json_object_put(answer);
	return r;
}

int cmd_drain(struct ctl *c, int argc, char **argv)
{
	return call_mark(c, ctl_row("drain"), argc, argv);
}

int cmd_isolate(struct ctl *c, int argc, char **argv)
{
	return call_mark(c, ctl_row("isolate"), argc, argv);
}

int cmd_restore(struct ctl *c, int argc, char **argv)
{
	return call_mark(c, ctl_row("restore"), argc, argv);
}

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

static char *time_text(int64_t seconds)
{
	char text[40] = "-";
	time_t t = (time_t)seconds;
	struct tm tm;

	if (seconds && localtime_r(&t, &tm))
		strftime(text, sizeof(text), "%FT%T", &tm);
	return xstrdup(text);
}

static char *since_text(struct json_object *mark)
{
	return time_text(js_int(mark, "since"));
}

static char *until_text(struct json_object *mark)
{
	return time_text(js_int(mark, "until"));
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
	{ "KIND", COLUMN_STR, .key = "kind" },
	{ "STATE", COLUMN_STR, .key = "state", .tint = tint },
	{ "BY", COLUMN_STR, .key = "by" },
	{ "SINCE", COLUMN_STR, .key = "since", .text = since_text },
	{ "UNTIL", COLUMN_STR, .key = "until", .text = until_text },
	{ "WHY", COLUMN_STR, .key = "why", .text = why_text },
	{ 0 },
};

int cmd_marks(struct ctl *c, int argc, char **argv)
{
	struct json_object *o;

	if (argc && strcmp(argv[0], "--json"))
		return ctl_too_many(ctl_row("marks"), argv[0]);
	if (argc)
		c->json = true;
	o = ctl_call(c, "Marks", NULL);
	if (!o)
		return c->exit_code;
	if (c->json)
		ctl_print_json(c, o);
	else
		ctl_print_table(c, columns, js_get(o, "marks"));
	json_object_put(o);
	return CTL_OK;
}
