// SPDX-License-Identifier: BSD-2-Clause
/* Which instances there are: those of opensm.service (instances.json), and all that answer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "opensmctl/talk/launched.h"
#include "opensmctl/talk/ctl.h"
#include "util/mem.h"

static void copy_member(struct json_object *to, const char *as, struct json_object *from,
			const char *key)
{
	struct json_object *value = js_get(from, key);

	json_object_object_add(to, as, value ? json_object_get(value) : NULL);
}

/* Adds what a living instance says of itself. */
static void add_answer(const struct ctl *c, struct json_object *o, const char *path)
{
	int ignored;
	struct json_object *status = ctl_call_at(c, path, "Status", &ignored);

	json_object_object_add(o, "socket", json_object_new_string(path));
	json_object_object_add(o, "answers", json_object_new_boolean(status != NULL));
	copy_member(o, "manager_state", status, "state");
	copy_member(o, "port", status, "port");
	if (status)
		copy_member(o, "status", status, "status");
	if (status && !js_has(o, "pid"))
		copy_member(o, "pid", status, "pid");
	if (status && !js_has(o, "conf"))
		copy_member(o, "conf", js_get(status, "configuration"), "file");
	json_object_put(status);
}

static struct json_object *all_instances(struct ctl *c, struct json_object *launched)
{
	struct json_object *list = js_get(launched, "instances");
	struct json_object *all = json_object_new_array();
	struct instances found;

	for (size_t i = 0; i < js_len(list); i++)
		json_object_array_add(all, json_object_get(js_at(list, i)));
	if (instances_find(c->run_dir, &found) < 0)
		return all;
	for (size_t i = 0; i < found.n; i++) {
		struct json_object *o = launched_find(launched, found.all[i].name);

		if (!o) {
			o = json_object_new_object();
			json_object_object_add(o, "name",
					       json_object_new_string(found.all[i].name));
			json_object_object_add(o, "state", json_object_new_string("running"));
			json_object_array_add(all, o);
		}
		add_answer(c, o, found.all[i].path);
	}
	instances_clear(&found);
	return all;
}

static enum ctl_color state_tint(struct json_object *o)
{
	return !strcmp(js_str(o, "state"), "running") ? CTL_GOOD : CTL_BAD;
}

static char *state_text(struct json_object *o)
{
	return xstrdup(js_bool(o, "answers") ? js_str(o, "state") : launched_state(o));
}

static const struct column instance_columns[] = {
	{ "INSTANCE", .key = "name", .color = CTL_NAME },
	{ "STATE", .text = state_text, .tint = state_tint },
	{ "MANAGER", .key = "manager_state" },
	{ "PORT", .key = "port" },
	{ "PID>", COLUMN_NATURAL, .key = "pid", .drop = 2 },
	{ "STARTS AGAIN>", COLUMN_INT, .key = "restarts", .drop = 1 },
	{ "CONFIGURATION", .key = "conf", .drop = 3 },
	{ "STATUS", .key = "status", .folds = true },
	{ 0 },
};

/* ---- those that fail ----------------------------------------------------------------------- */

static void print_failing(const struct ctl *c, struct json_object *o)
{
	char since[CTL_TIME_STRLEN];

	launched_since(o, since);
	printf("instance %s: %s%s%s%s%s (%s)\n", js_str(o, "name"), ctl_color(c, CTL_BAD),
	       js_str(o, "status"), ctl_color(c, CTL_PLAIN), since[0] ? ", since " : "", since,
	       js_str(o, "conf"));
	if (js_has(o, "unit"))
		printf("    journalctl -u %s\n", js_str(o, "unit"));
}

/*
 * Asks no daemon: what opensm-launch has written is what counts here, and what a monitoring wants
 * to be told at once.
 */
static int show_failing(struct ctl *c, int argc, char **argv)
{
	struct json_object *launched = launched_read(c), *list = js_get(launched, "instances");
	struct json_object *failing = json_object_new_array();
	int r;

	for (size_t i = 0; i < js_len(list); i++)
		if (launched_fails(js_at(list, i)))
			json_object_array_add(failing, json_object_get(js_at(list, i)));
	r = js_len(failing) ? CTL_NO_DAEMON : CTL_OK;
	if (c->json)
		ctl_print_json(c, failing);
	else if (!js_len(failing))
		puts("no instance fails");
	for (size_t i = 0; !c->json && i < js_len(failing); i++)
		print_failing(c, js_at(failing, i));
	json_object_put(failing);
	json_object_put(launched);
	return r;
}

/* ---- the command --------------------------------------------------------------------------- */

/* Has the instance not failed, and is it not gone? */
static bool is_in_order(struct json_object *o)
{
	return js_bool(o, "answers") ? !launched_fails(o) :
				       !launched_fails(o) && strcmp(launched_state(o), "gone") != 0;
}

static int cmd_instances(struct ctl *c, int argc, char **argv)
{
	struct json_object *launched, *all;
	int r = CTL_OK;

	if (argc)
		return ctl_too_many(c, &ctl_instances, argv[0]);
	launched = launched_read(c);
	all = all_instances(c, launched);
	if (c->json) {
		ctl_print_json(c, all);
	} else if (js_len(all)) {
		ctl_print_table(c, instance_columns, all);
		if (c->stats && js_has(launched, "rule"))
			printf("%s\n", js_str(launched, "rule"));
	}
	for (size_t i = 0; i < js_len(all); i++)
		if (!is_in_order(js_at(all, i)))
			r = CTL_NO_DAEMON;
	if (!js_len(all)) {
		ctl_refuse(c, "there is no instance in %s%s%s; systemctl status opensm tells more",
			   c->run_dir, launched_why_none(launched)[0] ? ": " : "",
			   launched_why_none(launched));
		r = CTL_NO_DAEMON;
	}
	json_object_put(all);
	json_object_put(launched);
	return r;
}

static const struct ctl_command instances_commands[] = {
	{ .name = "failing",
	  .scope = CTL_SEES_ALL,
	  .document = "Instances",
	  .run = show_failing },
	{ 0 },
};

const struct ctl_command ctl_instances = {
	.name = "instances",
	.arguments = "[failing]",
	.help = "all instances and their state; or those that fail",
	.words = "failing",
	.scope = CTL_SEES_ALL,
	.subs = instances_commands,
	.document = "Instances",
	.run = cmd_instances,
};
