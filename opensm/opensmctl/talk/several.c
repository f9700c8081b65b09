// SPDX-License-Identifier: BSD-2-Clause
/*
 * A host with several instances: commands that show something show it of each, commands that act
 * want to be told which. "-i all" is each of them, also for those that act.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "opensmctl/talk/ctl.h"
#include "opensmctl/talk/launched.h"
#include "util/mem.h"
#include "util/str.h"

#define ALL "all"

/* A result that is there of one instance is enough where something was looked for. */
static bool looks_for(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (argv[i][0] != '-')
			return true;
	return false;
}

static bool shows_each(const struct ctl *c, const struct ctl_command *command, int argc,
		       char **argv)
{
	int skip;

	command = ctl_meant(command, argc, argv, &skip);
	if (c->instance)
		return str_equal(c->instance, ALL) && command->scope != CTL_SEES_ALL;
	switch (command->scope) {
	case CTL_SHOWS:
	case CTL_HEADS:
		return true;
	case CTL_SHOWS_BARE:
		return !argc;
	case CTL_ACTS:
	case CTL_SEES_ALL:
		break;
	}
	return false;
}

static void print_head(const struct ctl *c, const struct ctl_command *command, bool first)
{
	if (c->json || c->oneline || command->scope == CTL_HEADS)
		return;
	printf("%s%sInstance %s:%s\n", first ? "" : "\n", ctl_color(c, CTL_NAME), c->turn,
	       ctl_color(c, CTL_PLAIN));
}

/* Asks one instance after the other. */
static int run_each(struct ctl *c, const struct ctl_command *command, const struct instances *found,
		    int argc, char **argv)
{
	int best = CTL_NO_DAEMON, worst = CTL_OK;

	for (size_t i = 0; i < found->n; i++) {
		struct ctl one = *c;
		int r;

		one.instance = found->all[i].path;
		one.turn = found->all[i].name;
		one.client = NULL;
		print_head(&one, command, i == 0);
		r = ctl_do(&one, command, argc, argv);
		client_close(one.client);
		best = MIN(best, r);
		worst = MAX(worst, r);
	}
	return looks_for(argc, argv) ? best : worst;
}

/* Instances that cannot be shown, as they do not run. */
static void report_absent(const struct ctl *c)
{
	struct json_object *launched = launched_read(c), *list = js_get(launched, "instances");

	for (size_t i = 0; i < js_len(list); i++)
		if (!strcmp(js_str(js_at(list, i), "state"), "failed"))
			ctl_refuse(c, "instance %s does not run: %s",
				   js_str(js_at(list, i), "name"),
				   js_str(js_at(list, i), "status"));
	json_object_put(launched);
}

static int run_all(struct ctl *c, const struct ctl_command *command, const struct instances *found,
		   int argc, char **argv)
{
	int r;

	c->answers = c->json ? json_object_new_array() : NULL;
	r = run_each(c, command, found, argc, argv);
	if (c->answers) {
		struct json_object *answers = c->answers;

		c->answers = NULL;
		ctl_print_json(c, answers);
		json_object_put(answers);
	}
	return r;
}

int ctl_run(struct ctl *c, const struct ctl_command *command, int argc, char **argv)
{
	struct instances found;
	int r;

	assert(command);
	if (!shows_each(c, command, argc, argv))
		return ctl_do(c, command, argc, argv);
	if (str_equal(c->instance, ALL))
		c->instance = NULL;
	if (instances_find(c->run_dir, &found) < 0)
		found.n = 0;
	r = found.n > 1 ? run_all(c, command, &found, argc, argv) : ctl_do(c, command, argc, argv);
	if (found.n)
		report_absent(c);
	instances_clear(&found);
	return r;
}
