// SPDX-License-Identifier: BSD-2-Clause
/* Which instances there are: those that opensm-launch keeps running (instances.json), and all that answer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/client.h"
#include "opensmctl/commands.h"
#include "util/file.h"
#include "util/mem.h"

#define FILE_MAX_LEN (1024 * 1024)

/* What the launcher wrote; an empty object where it did not. To be put. */
static struct json_object *read_launched(const struct ctl *c)
{
	_cleanup_free_ char *path = xasprintf("%s/instances.json", c->run_dir), *text = NULL;
	struct json_object *o = NULL;

	if (file_read(path, FILE_MAX_LEN, &text, NULL) == 0)
		o = json_tokener_parse(text);
	if (json_object_is_type(o, json_type_object))
		return o;
	json_object_put(o);
	return json_object_new_object();
}

static struct json_object *find_named(struct json_object *list, const char *name)
{
	for (size_t i = 0; i < js_len(list); i++)
		if (!strcmp(js_str(js_at(list, i), "name"), name))
			return js_at(list, i);
	return NULL;
}

static void copy(struct json_object *to, const char *as, struct json_object *from, const char *key)
{
	struct json_object *value = js_get(from, key);

	json_object_object_add(to, as, value ? json_object_get(value) : NULL);
}

/* Adds what a living instance says of itself. */
static void add_answer(struct ctl *c, struct json_object *o, const char *path)
{
	struct ctl one = *c;
	struct json_object *status;

	json_object_object_add(o, "socket", json_object_new_string(path));
	one.instance = path;
	one.client = NULL;
	status = ctl_call(&one, "Status", NULL);
	client_close(one.client);
	json_object_object_add(o, "answers", json_object_new_boolean(status != NULL));
	copy(o, "manager_state", status, "state");
	copy(o, "port", status, "port");
	if (status)
		copy(o, "status", status, "status");
	if (status && !js_has(o, "pid"))
		copy(o, "pid", status, "pid");
	if (status && !js_has(o, "conf"))
		copy(o, "conf", js_get(status, "configuration"), "file");
	json_object_put(status);
}

static struct json_object *gather(struct ctl *c, struct json_object *launched)
{
	struct json_object *list = js_get(launched, "instances");
	struct json_object *all = json_object_new_array();
	struct instances found;

	for (size_t i = 0; i < js_len(list); i++)
		json_object_array_add(all, json_object_get(js_at(list, i)));
	if (instances_find(c->run_dir, &found) < 0)
		return all;
	for (size_t i = 0; i < found.n; i++) {
		struct json_object *o = find_named(all, found.all[i].name);

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

static void print_table(const struct ctl *c, struct json_object *all)
{
	static const char *const heads[] = { "INSTANCE", "STATE", "MANAGER",  "PORT",
					     "PID>",	 "STARTS AGAIN>", "CONFIGURATION", "STATUS", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *o = js_at(all, i);
		bool runs = !strcmp(js_str(o, "state"), "running");

		table_cell(t, CTL_NAME, "%s", js_str(o, "name"));
		table_cell(t, runs ? CTL_GOOD : CTL_BAD, "%s", js_str(o, "state"));
		table_cell(t, CTL_PLAIN, "%s", js_str(o, "manager_state"));
		table_cell(t, CTL_PLAIN, "%s", js_str(o, "port"));
		if (js_int(o, "pid"))
			table_cell(t, CTL_PLAIN, "%" PRId64, js_int(o, "pid"));
		else
			table_cell(t, CTL_PLAIN, "%s", "");
		table_cell(t, CTL_PLAIN, "%" PRId64, js_int(o, "restarts"));
		table_cell(t, CTL_PLAIN, "%s", js_str(o, "conf"));
		table_cell(t, CTL_PLAIN, "%s", js_str(o, "status"));
	}
	table_print(t);
}

int cmd_instances(struct ctl *c, int argc, char **argv)
{
	struct json_object *launched, *all;
	int r = CTL_OK;

	if (argc)
		return ctl_too_many(&manager_commands[1], argv[0]);
	launched = read_launched(c);
	all = gather(c, launched);
	if (c->json) {
		ctl_print_json(c, all);
	} else if (js_len(all)) {
		print_table(c, all);
		if (c->stats && js_has(launched, "rule"))
			printf("%s\n", js_str(launched, "rule"));
	}
	if (!js_len(all)) {
		ctl_refuse("there is no instance in %s; systemctl status opensm tells more",
			   c->run_dir);
		r = CTL_NO_DAEMON;
	}
	json_object_put(all);
	json_object_put(launched);
	return r;
}
