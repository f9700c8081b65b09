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
	const char *config; /* -F */
	const char *create; /* -c */
	bool check;
	bool strict; /* errors end the program */
};

struct cli_row {
	char letter; /* 0: none */
	const char *name;
	const char *arg; /* what --help calls the argument; NULL: takes none */
	/* 0, or -ECANCELED once ret->action says CLI_EXIT. */
	int (*apply)(struct cli_run *run, const struct cli_row *row, const char *arg);
	enum conf_id id;   /* key it sets; CONF_N_OPTIONS: none */
	const char *value; /* of an option without argument */
	const char *echo;  /* in front of the value on stdout; NULL: silent */
	const char *after; /* behind it */
	const char *help;  /* NULL: that of the key */
};

extern const struct cli_row cli_rows[];
extern const size_t cli_n_rows;

void cli_echo(struct cli_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int cli_exit(struct cli_run *run, int code);
void cli_usage(FILE *out);
