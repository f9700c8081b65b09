// SPDX-License-Identifier: BSD-2-Clause
/*
 * --complete WORDS...: what may stand in place of the last word, a line each, for completion by the
 * shells. Commands, options and formats are those of the tables of commands; names come from the
 * daemons that answer at once. Nothing is ever said on stderr. ":files" alone: names of files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

#define FIND_MS 500  /* for finding daemons */
#define ASK_MS	1500 /* for one answer; the person waits */

struct completing {
	struct ctl *c;
	const char *cur; /* the word under the cursor */
};

static void offer(const struct completing *o, const char *word)
{
	if (word && word[0] && str_starts(word, o->cur))
		puts(word);
}

/* ---- what daemons know ----------------------------------------------------------------------- */

/* The answer of one daemon; NULL: there is none soon. To be put. */
static struct json_object *ask(const char *path, const char *method, const char *key,
			       const char *value)
{
	struct client *cl = client_open_within(path, FIND_MS);
	struct json_object *parameters = json_object_new_object(), *reply = NULL, *answer = NULL;
	_cleanup_free_ char *name = xasprintf("org.opensm.%s", method);

	if (key)
		json_object_object_add(parameters, key, json_object_new_string(value));
	if (cl && client_send_within(cl, name, parameters, false, FIND_MS) == 0 &&
	    client_receive_until(cl, ASK_MS, &reply) == 0)
		answer = json_object_get(js_get(reply, "parameters"));
	json_object_put(reply);
	json_object_put(parameters);
	client_close(cl);
	return answer;
}

/* Calls `each` with the answers of all daemons that are meant. */
static void ask_all(const struct completing *o, const char *method, const char *key,
		    const char *value,
		    void (*each)(const struct completing *o, struct json_object *answer))
{
	const char *wanted =
		o->c->instance && strcmp(o->c->instance, "all") ? o->c->instance : NULL;
	struct instances found;

	if (instances_find_within(o->c->run_dir, FIND_MS, &found) < 0)
		found.n = 0;
	for (size_t i = 0; i < found.n; i++) {
		struct json_object *answer;

		if (wanted && strcmp(wanted, found.all[i].name) &&
		    strcmp(wanted, found.all[i].path))
			continue;
		answer = ask(found.all[i].path, method, key, value);
		if (answer)
			each(o, answer);
		json_object_put(answer);
	}
	instances_clear(&found);
}

static void offer_instances(const struct completing *o)
{
	struct instances found;

	if (instances_find_within(o->c->run_dir, FIND_MS, &found) < 0)
		return;
	for (size_t i = 0; i < found.n; i++)
		offer(o, found.all[i].name);
	offer(o, "all");
	instances_clear(&found);
}

/* Offers a text member of each object of an array. */
static void offer_members(const struct completing *o, struct json_object *list, const char *key)
{
	for (size_t i = 0; i < js_len(list); i++)
		offer(o, js_str(js_at(list, i), key));
}

static void offer_nodes(const struct completing *o, struct json_object *answer)
{
	offer_members(o, js_get(answer, "nodes"), "name");
}

static void offer_ports(const struct completing *o, struct json_object *answer)
{
	struct json_object *ports = js_get(answer, "ports");

	for (size_t i = 0; i < js_len(ports); i++) {
		_cleanup_free_ char *place = ctl_place(js_at(ports, i));

		if (js_int(js_at(ports, i), "port"))
			offer(o, place);
	}
}

static void offer_partitions(const struct completing *o, struct json_object *answer)
{
	offer_members(o, js_get(answer, "partitions"), "name");
	offer_members(o, js_get(answer, "partitions"), "pkey");
}

static void offer_groups(const struct completing *o, struct json_object *answer)
{
	offer_members(o, js_get(answer, "groups"), "mlid");
	offer_members(o, js_get(answer, "groups"), "mgid");
}

static void offer_options(const struct completing *o, struct json_object *answer)
{
	offer_members(o, js_get(answer, "options"), "name");
}

static void offer_findings(const struct completing *o, struct json_object *answer)
{
	offer_members(o, js_get(answer, "findings"), "id");
}

static void offer_alarms(const struct completing *o, struct json_object *answer)
{
	offer_members(o, js_get(answer, "alarms"), "object");
}

/* Reasons that were given before: work of one ticket has one reason. */
static void offer_reasons(const struct completing *o, struct json_object *answer)
{
	offer_members(o, js_get(answer, "marks"), "why");
}

static void offer_marked(const struct completing *o, struct json_object *answer)
{
	struct json_object *marks = js_get(answer, "marks");

	for (size_t i = 0; i < js_len(marks); i++) {
		struct json_object *mark = js_at(marks, i), *end = js_get(mark, "end");
		const char *name = end ? js_str(end, "node") : js_str(mark, "node_guid");
		_cleanup_free_ char *text =
			js_has(mark, "port") ? xasprintf("%s/%" PRId64, name, js_int(mark, "port"))
					     : xstrdup(name);

		offer(o, text);
	}
}

/* Names of nodes; behind "NAME/" the ports of that node. */
static void offer_places(const struct completing *o)
{
	const char *slash = strrchr(o->cur, '/');
	_cleanup_free_ char *node = slash ? xasprintf("%.*s", (int)(slash - o->cur), o->cur) : NULL;

	if (node)
		ask_all(o, "Ports", "node", node, offer_ports);
	else
		ask_all(o, "Nodes", NULL, NULL, offer_nodes);
}

static void offer_known(const struct completing *o, enum ctl_offer what)
{
	switch (what) {
	case OFFER_NOTHING:
		break;
	case OFFER_NODES:
		ask_all(o, "Nodes", NULL, NULL, offer_nodes);
		break;
	case OFFER_SWITCHES:
		ask_all(o, "Nodes", "type", "switch", offer_nodes);
		break;
	case OFFER_PLACES:
		offer_places(o);
		break;
	case OFFER_PARTITIONS:
		ask_all(o, "Partitions", NULL, NULL, offer_partitions);
		break;
	case OFFER_GROUPS:
		ask_all(o, "Groups", NULL, NULL, offer_groups);
		break;
	case OFFER_OPTIONS:
		ask_all(o, "Options", NULL, NULL, offer_options);
		break;
	case OFFER_FINDINGS:
		ask_all(o, "Drift", NULL, NULL, offer_findings);
		break;
	case OFFER_REASONS:
		ask_all(o, "Marks", NULL, NULL, offer_reasons);
		break;
	case OFFER_MARKED:
		ask_all(o, "Marks", NULL, NULL, offer_marked);
		break;
	case OFFER_ALARMS:
		ask_all(o, "Alarms", NULL, NULL, offer_alarms);
		break;
	case OFFER_FILES:
		puts(":files");
		break;
	}
}

/* ---- what the tables know -------------------------------------------------------------------- */

static void offer_commands(const struct completing *o)
{
	for (size_t i = 0; ctl_commands[i]; i++)
		offer(o, ctl_commands[i]->name);
	offer(o, "help");
}

static const struct ctl_command *find_exactly(const char *name)
{
	const char *names[128] = { NULL };
	int i;

	for (size_t n = 0; ctl_commands[n] && n + 1 < ARRAY_SIZE(names); n++)
		names[n] = ctl_commands[n]->name;
	i = ctl_match(name, names);
	return i >= 0 ? ctl_commands[i] : NULL;
}

/* Do rows say the word themselves? */
static bool is_of_rows(const struct ctl_word *takes, const char *word)
{
	for (; takes && takes->kind; takes++) {
		if (takes->option && !strcmp(takes->option, word))
			return true;
		for (const char *const *one = takes->among; one && *one; one++)
			if (!strcmp(*one, word))
				return true;
	}
	return false;
}

/* Words of the command's own list that its rows do not say: options, or others. */
static void offer_words(const struct completing *o, const struct ctl_command *command)
{
	_cleanup_free_ char *copy = xstrdup(command->words ? command->words : "");
	char *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		if ((word[0] == '-') == (o->cur[0] == '-') && !is_of_rows(command->takes, word))
			offer(o, word);
}

static void offer_value(const struct completing *o, const struct ctl_word *w)
{
	static const char *const times[] = { "90s", "15m", "2h", "1d", NULL };

	for (const char *const *word = w->kind == CTL_TIME ? times : w->among; word && *word;
	     word++)
		offer(o, *word);
	offer_known(o, w->offers);
}

static bool has_value(const struct ctl_word *w)
{
	return w->option && (w->kind == CTL_TEXT || w->kind == CTL_TIME || w->kind == CTL_NUMBER);
}

/* The row of the option that stands before the cursor and wants a value; NULL: none does. */
static const struct ctl_word *wants_value(const struct ctl_word *takes, const char *before)
{
	for (; before && takes && takes->kind; takes++)
		if (has_value(takes) && !strcmp(takes->option, before))
			return takes;
	return NULL;
}

/*
 * Offers what the next word without an option may be; `n` such words stand before it. A word of a
 * choice may be left out: the row behind it counts, too.
 */
static void offer_positional(const struct completing *o, const struct ctl_word *takes, int n)
{
	for (; takes && takes->kind; takes++) {
		if (takes->option || (n-- > 0 && takes->kind != CTL_ALL))
			continue;
		offer_value(o, takes);
		if (takes->kind != CTL_ONE_OF)
			return;
	}
}

/* How many of the words are no options, nor their values. */
static int count_words(const struct ctl_word *takes, int argc, char **argv)
{
	int n = 0;

	for (int i = 0; i < argc; i++) {
		if (wants_value(takes, argv[i]))
			i++;
		else if (argv[i][0] != '-')
			n++;
	}
	return n;
}

/* `argv`: the words between the command and the cursor. */
static void complete_command(const struct completing *o, const struct ctl_command *command,
			     int argc, char **argv)
{
	int skip;
	const struct ctl_command *meant = ctl_meant(command, argc, argv, &skip);
	const struct ctl_word *w = wants_value(meant->takes, argc > skip ? argv[argc - 1] : NULL);

	if (w) {
		offer_value(o, w);
		return;
	}
	if (o->cur[0] == '-') {
		for (w = meant->takes; w && w->kind; w++)
			offer(o, w->option);
		if (meant == command)
			offer_words(o, command);
		ctl_offer_options(o->cur);
		return;
	}
	if (!skip && !argc)
		offer_words(o, command);
	offer_positional(o, meant->takes, count_words(meant->takes, argc - skip, argv + skip));
	for (w = meant->takes; w && w->kind; w++)
		if (w->kind == CTL_READ)
			offer(o, w->option);
}

static bool is_instance_option(const char *word)
{
	return !strcmp(word, "-i") || !strcmp(word, "-instance") || !strcmp(word, "--instance");
}

int ctl_complete(struct ctl *c, int argc, char **argv)
{
	struct completing o = { .c = c, .cur = argc ? argv[argc - 1] : "" };
	const struct ctl_command *command;
	int n = argc ? argc - 1 : 0, kept = 0, at = 0;

	if (n && is_instance_option(argv[n - 1])) {
		offer_instances(&o);
		return CTL_OK;
	}
	for (int i = 0; i < n; i++) {
		if (is_instance_option(argv[i]) && i + 1 < n)
			c->instance = argv[++i];
		else
			argv[kept++] = argv[i];
	}
	while (at < kept && argv[at][0] == '-')
		at++;
	if (at < kept) {
		command = find_exactly(argv[at]);
		if (command)
			complete_command(&o, command, kept - at - 1, argv + at + 1);
	} else if (o.cur[0] == '-') {
		ctl_offer_options(o.cur);
	} else {
		offer_commands(&o);
	}
	return CTL_OK;
}
