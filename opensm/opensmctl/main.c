// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensmctl OPTIONS OBJECT ...: options as iproute2 has them, commands that may be abbreviated as
 * long as nothing else begins so.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
	printf("\nOPTIONS:\n"
	       "  -j, -json          JSON instead of text\n"
	       "  -p, -pretty        the same, indented (with -j)\n"
	       "  -o, -oneline       one line per record, no headings, a TAB between columns\n"
	       "  -s, -stats         more figures; may be repeated\n"
	       "  -ts, -timestamp    time of each event, in front of it\n"
	       "  -c, -color[=auto|always|never]\n"
	       "  -i, -instance NAME the instance to talk to, where there are several: a name, the "
	       "path of\n"
	       "                     a socket, or all. Default: commands that show ask all\n"
	       "  -V, -Version       print the version\n\n"
	       "Exit codes: 0 done; 1 refused, or not found; 2 not understood; 3 no daemon.\n"
	       "Sockets are in %s, or in $OPENSM_RUN_DIR. opensmctl(1) has more.\n",
	       RUN_DIR);
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

static void name_candidates(const struct ctl_command *const *all, const char *word)
{
	const char *between = "";

	for (size_t i = 0; all[i]; i++) {
		if (!str_starts(all[i]->name, word))
			continue;
		fprintf(stderr, "%s%s", between, all[i]->name);
		between = ", ";
	}
	fputc('\n', stderr);
}

static int run_command(struct ctl *c, int argc, char **argv)
{
	const struct ctl_command *const *all = ctl_commands;
	const char *names[COMMANDS_MAX + 1] = { NULL };
	const char *near;
	size_t n = 0;
	int i;

	if (!strcmp(argv[0], "help"))
		return print_help();
	if (!strcmp(argv[0], "complete"))
		return print_words(argc - 1, argv + 1);
	for (; all[n] && n < COMMANDS_MAX; n++)
		names[n] = all[n]->name;
	i = ctl_match(argv[0], names);
	if (i == -2) {
		fprintf(stderr, "opensmctl: '%s' may be: ", argv[0]);
		name_candidates(all, argv[0]);
		return CTL_USAGE;
	}
	if (i < 0) {
		near = str_nearest(argv[0], names, n);
		return near ? ctl_usage(NULL, "there is no object '%s' (did you mean '%s'?)",
					argv[0], near)
			    : ctl_usage(NULL, "there is no object '%s'", argv[0]);
	}
	if (argc == 2 && !strcmp(argv[1], "help"))
		return help_on(all[i]);
	return ctl_run(c, all[i], argc - 1, argv + 1);
}

/* ---- options ------------------------------------------------------------------------------- */

enum option {
	OPT_JSON,
	OPT_PRETTY,
	OPT_ONELINE,
	OPT_STATS,
	OPT_TIMESTAMP,
	OPT_TS,
	OPT_COLOR,
	OPT_INSTANCE,
	OPT_VERSION,
	OPT_HELP,
	OPT_DONE,
};

/* The first that begins so, as in iproute2: -t is -timestamp. */
static const char *const option_names[] = {
	[OPT_JSON] = "json",	  [OPT_PRETTY] = "pretty",	 [OPT_ONELINE] = "oneline",
	[OPT_STATS] = "stats",	  [OPT_TIMESTAMP] = "timestamp", [OPT_TS] = "ts",
	[OPT_COLOR] = "color",	  [OPT_INSTANCE] = "instance",	 [OPT_VERSION] = "Version",
	[OPT_HELP] = "help",
};

static enum option find_option(const char *name, size_t len)
{
	for (size_t i = 0; len && i < ARRAY_SIZE(option_names); i++)
		if (!strncmp(option_names[i], name, len))
			return (enum option)i;
	return OPT_DONE;
}

/* False: not a way to colour. */
static bool set_color(struct ctl *c, const char *how)
{
	if (!how || !how[0] || str_starts("always", how))
		c->color = true;
	else if (str_starts("auto", how))
		c->color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	else if (str_starts("never", how))
		c->color = false;
	else
		return false;
	return true;
}

static bool set_flag(struct ctl *c, enum option o)
{
	switch (o) {
	case OPT_JSON:
		c->json = true;
		return true;
	case OPT_PRETTY:
		c->pretty = true;
		return true;
	case OPT_ONELINE:
		c->oneline = true;
		return true;
	case OPT_STATS:
		c->stats++;
		return true;
	case OPT_TIMESTAMP:
	case OPT_TS:
		c->timestamps = true;
		return true;
	case OPT_COLOR:
	case OPT_INSTANCE:
	case OPT_VERSION:
	case OPT_HELP:
	case OPT_DONE:
		break;
	}
	return false;
}

/* Takes options off the front; the number of words taken, or -1 with `ret_exit`. */
static int take_options(struct ctl *c, int argc, char **argv, int *ret_exit)
{
	int i = 0;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		const char *name = argv[i] + (argv[i][1] == '-' ? 2 : 1);
		size_t len = strcspn(name, "=");
		enum option o = find_option(name, len);

		*ret_exit = CTL_OK;
		if (!name[0])
			return i + 1; /* "--" */
		if (!name[len] && set_flag(c, o))
			continue;
		if (o == OPT_COLOR && set_color(c, name[len] ? name + len + 1 : NULL))
			continue;
		if (o == OPT_INSTANCE && (name[len] || i + 1 < argc)) {
			c->instance = name[len] ? name + len + 1 : argv[++i];
			continue;
		}
		if (o == OPT_VERSION && !name[len])
			printf("opensmctl %s\n", PACKAGE_VERSION);
		else if (o == OPT_HELP && !name[len])
			print_help();
		else
			*ret_exit = ctl_usage(NULL, "there is no option '%s'", argv[i]);
		return -1;
	}
	return i;
}

int main(int argc, char **argv)
{
	const char *run_dir = getenv("OPENSM_RUN_DIR"), *instance = getenv("OPENSM_INSTANCE");
	struct ctl c = {
		.run_dir = run_dir && run_dir[0] ? run_dir : RUN_DIR,
		.instance = instance && instance[0] ? instance : NULL,
	};
	char *status[] = { "status", NULL };
	int taken, r = CTL_OK;

	setlocale(LC_CTYPE, "");
	taken = take_options(&c, argc - 1, argv + 1, &r);
	if (taken < 0)
		return r;
	argc -= 1 + taken;
	argv += 1 + taken;
	r = argc ? run_command(&c, argc, argv) : run_command(&c, 1, status);
	client_close(c.client);
	if (fflush(stdout) != 0 && r == CTL_OK)
		r = CTL_REFUSED;
	return r;
}
