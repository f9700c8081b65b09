// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensmctl OPTIONS OBJECT ...: commands may be abbreviated as long as nothing else begins so;
 * talk/options.c has the options.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

#define RUN_DIR	     "/run/opensm"
#define COMMANDS_MAX 64

/* ---- commands ------------------------------------------------------------------------------ */

static void print_commands(FILE *out)
{
	const struct ctl_command *const *all = ctl_commands;

	for (size_t i = 0; all[i]; i++) {
		_cleanup_free_ char *usage = xasprintf("%s %s", all[i]->name, all[i]->arguments);

		if (strlen(usage) > 26)
			fprintf(out, "  %s\n  %-26s  %s\n", usage, "", all[i]->help);
		else
			fprintf(out, "  %-26s  %s\n", usage, all[i]->help);
	}
}

static int print_help(void)
{
	printf("Usage: opensmctl [OPTIONS] OBJECT [ARGUMENTS]\n"
	       "       opensmctl OBJECT help\n\n"
	       "Shows and controls a running opensm.\n\n"
	       "OBJECT, which may be abbreviated:\n");
	print_commands(stdout);
	ctl_print_options();
	printf("\nExit status: 0 done; 1 refused, or not found; 2 not understood; 3 no daemon.\n"
	       "Sockets are in %s, or in $OPENSM_RUN_DIR. opensmctl(1) has more.\n",
	       RUN_DIR);
	return CTL_OK;
}

static int print_version(void)
{
	printf("opensmctl %s\n", PACKAGE_VERSION);
	return CTL_OK;
}

/* For the shell: commands, or the words of one. */
static int print_words(int argc, char **argv)
{
	const struct ctl_command *const *all = ctl_commands;

	for (size_t i = 0; all[i]; i++) {
		if (argc < 1)
			puts(all[i]->name);
		else if (!strcmp(all[i]->name, argv[0]) && all[i]->words)
			puts(all[i]->words);
	}
	return CTL_OK;
}

static int help_on(const struct ctl_command *command)
{
	printf("Usage: opensmctl [OPTIONS] %s%s%s\n  %s\n", command->name,
	       command->arguments[0] ? " " : "", command->arguments, command->help);
	return CTL_OK;
}

static char *candidates(const struct ctl_command *const *all, const char *word)
{
	char *text = xstrdup("");

	for (size_t i = 0; all[i]; i++) {
		char *more;

		if (!str_starts(all[i]->name, word))
			continue;
		more = xasprintf("%s%s%s", text, text[0] ? ", " : "", all[i]->name);
		free(text);
		text = more;
	}
	return text;
}

/* The command of this name, which may be abbreviated; NULL: an error was printed. */
static const struct ctl_command *find_command(struct ctl *c, int argc, char **argv)
{
	const struct ctl_command *const *all = ctl_commands;
	const char *names[COMMANDS_MAX + 1] = { NULL };
	_cleanup_free_ char *may_be = NULL;
	const char *word = argv[0], *near;
	size_t n = 0;
	int i;

	for (; all[n] && n < COMMANDS_MAX; n++)
		names[n] = all[n]->name;
	i = ctl_match(word, names);
	if (i >= 0)
		return all[i];
	ctl_look_for_json(c, argc, argv);
	near = str_nearest(word, names, n);
	may_be = i == -2 ? candidates(all, word) : NULL;
	if (may_be)
		ctl_usage(c, NULL, "'%s' may be: %s", word, may_be);
	else
		ctl_usage(c, NULL, "there is no object '%s'%s%s%s", word,
			  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

static int run_command(struct ctl *c, int argc, char **argv)
{
	const struct ctl_command *command;

	if (!strcmp(argv[0], "help"))
		return print_help();
	if (!strcmp(argv[0], "complete"))
		return print_words(argc - 1, argv + 1);
	command = find_command(c, argc, argv);
	if (!command)
		return CTL_USAGE;
	argc = ctl_back_options(c, ctl_takes(command, argc - 1, argv + 1), argc - 1, argv + 1);
	if (argc < 0)
		return CTL_USAGE;
	if (c->wish == CTL_VERSION)
		return print_version();
	if (c->wish == CTL_HELP || (argc == 1 && !strcmp(argv[1], "help")))
		return help_on(command);
	if (c->wish == CTL_SCHEMA)
		return ctl_print_schema(c, command, argc, argv + 1);
	ctl_measure(c);
	return c->watch ? ctl_watch(c, command, argc, argv + 1)
			: ctl_run(c, command, argc, argv + 1);
}

static int run(struct ctl *c, int argc, char **argv)
{
	char *status[] = { "status", NULL };
	int taken;

	if (argc && !strcmp(argv[0], "--complete"))
		return ctl_complete(c, argc - 1, argv + 1);
	taken = ctl_front_options(c, argc, argv);
	if (taken < 0)
		return CTL_USAGE;
	if (c->wish == CTL_VERSION)
		return print_version();
	if (c->wish == CTL_SCHEMA && argc == taken)
		return ctl_print_schema(c, NULL, 0, NULL);
	if (argc > taken)
		return run_command(c, argc - taken, argv + taken);
	return c->wish == CTL_HELP ? print_help() : run_command(c, 1, status);
}

int main(int argc, char **argv)
{
	const char *run_dir = getenv("OPENSM_RUN_DIR"), *instance = getenv("OPENSM_INSTANCE");
	struct ctl c = {
		.run_dir = run_dir && run_dir[0] ? run_dir : RUN_DIR,
		.instance = instance && instance[0] ? instance : NULL,
	};
	int r;

	setlocale(LC_CTYPE, "");
	c.messages = json_object_new_array();
	r = run(&c, argc - 1, argv + 1);
	ctl_print_error(&c, r);
	json_object_put(c.messages);
	client_close(c.client);
	if (fflush(stdout) != 0 && r == CTL_OK)
		r = CTL_REFUSED;
	return r;
}
