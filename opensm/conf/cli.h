// SPDX-License-Identifier: BSD-2-Clause
/*
 * The command line: options of the peer (cli.md 1-3) and --check, over the file, over the defaults.
 *
 * Prints what the peer prints on stdout and findings on stderr, both streams of the caller. Opens
 * the configuration file, the lists for --check and the file of -c; starts nothing, asks no user
 * (the menu of -g 0 belongs to the caller, which knows the ports).
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "conf/conf.h"

#define CLI_EXIT_USAGE 2
#define CLI_EXIT_CONFIG 78 /* --check or --strict found errors */
#define CLI_EXIT_RANGE 255 /* a value the peer refuses to start with; -c could not write */

enum cli_action {
	CLI_RUN,
	CLI_MENU, /* as CLI_RUN, but the user chooses the port first; conf->guid is all ones */
	CLI_EXIT, /* the program ends with exit_code */
};

/* The environment of the program; strings belong to the caller. */
struct cli_env {
	const char *version;	 /* "4.0.0" */
	const char *tmp_dir;	 /* OSM_TMP_DIR; NULL or "": not set */
	const char *config_path; /* configuration file if -F is not given; NULL: CONF_FILE */
	FILE *out, *err;	 /* `out` should be line buffered */
	bool out_is_log;	 /* `out` is the journal: keys are not echoed */
	bool strict;		 /* for cli_read_config(): an option without effect is an error */
	/*
	 * Adds findings about folders, sockets, groups and plugins to `r`, for --check and for a
	 * start with --strict. NULL: none are looked for.
	 */
	void (*look_around)(const struct conf *conf, struct conf_report *r);
	/* Prints all findings as JSON, for --check --json. NULL: they are printed as text. */
	void (*print_json)(const struct conf_report *r, FILE *out);
};

struct cli {
	enum cli_action action;
	int exit_code;
	struct conf *conf; /* the configuration in force; one reference */
	struct conf *file; /* defaults and file only, for conf_reload(); one reference */
	char *config_path; /* path of the file, whether or not it exists yet; SIGHUP reads it */
	char *pidfile;	   /* NULL: no PID file is written */
	bool once;
	bool release; /* set if the program sweeps once and leaves no M_Key in the ports */
	unsigned vendor_debug;	   /* number of times that -d 5 was given */
	struct conf_report report; /* all findings, printed already; they are logged later */
};

/* Fills `ret`, which cli_clear() frees whatever the action is. Uses the globals of getopt. */
void cli_parse(int argc, char *const argv[], const struct cli_env *env, struct cli *ret);
void cli_clear(struct cli *cli);
/* Overwrites the keys of the command line, which every user of the host can read. */
void cli_hide_keys(int argc, char *argv[]);

/*
 * Reads the file over the environment over the defaults, as for cli.file. Returns as conf_read();
 * `*ret` always gets one reference.
 */
int cli_read_config(const char *path, const struct cli_env *env, struct conf **ret,
		    struct conf_report *r);
