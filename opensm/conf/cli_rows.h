// SPDX-License-Identifier: BSD-2-Clause
/* The options of the command line, one row each; for cli.c only. */
#pragma once

#include <stddef.h>

#include "conf/cli.h"

/* One reading of a command line. */
struct cli_run {
	const struct cli_env *env;
	struct cli *ret;
	FILE *out;	    /* NULL: --check, which prints findings only */
	size_t printed;	    /* findings printed so far */
	const char *config; /* argument of -F, or NULL */
	const char *create; /* argument of -c, or NULL */
	bool check;
	bool json; /* findings of --check for programs */
	bool strict; /* errors end the program */
};

struct cli_row {
	char letter; /* 0: the option has no letter */
	const char *name;
	const char *arg; /* name of the argument in --help; NULL: the option takes none */
	/* Returns 0, or -ECANCELED after it set ret->action to CLI_EXIT. */
	int (*apply)(struct cli_run *run, const struct cli_row *row, const char *arg);
	enum conf_id id;   /* key that the option sets; CONF_N_OPTIONS: none */
	const char *value; /* value that an option without argument sets */
	const char *echo;  /* text before the value on stdout; NULL: nothing is printed */
	const char *after; /* text after the value on stdout */
	const char *help;  /* NULL: the help of the key is used */
};

extern const struct cli_row cli_rows[];
extern const size_t cli_n_rows;

/* Prints to where a command line is repeated, if anywhere. */
void cli_echo(struct cli_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Ends the program with `code` after this option. Returns -ECANCELED. */
int cli_exit(struct cli_run *run, int code);
