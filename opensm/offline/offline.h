// SPDX-License-Identifier: BSD-2-Clause
/* Commands that route a fabric from files, verify its tables, or compare two fabrics. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "conf/text/report.h"
#include "topo/expect_file.h"

/* Is --plan, --verify or --diff anywhere among the program's arguments? */
bool offline_wanted(int argc, char **argv);
/*
 * Runs the command. Exit status: 0 good, 1 tables are not valid, 64 usage, 65 bad input; of --diff:
 * 0 equal, 1 differs, 2 not understood.
 */
int offline_main(int argc, char **argv);

/* The three commands; argv is that of the program. */
int offline_plan(int argc, char **argv);
int offline_verify(int argc, char **argv);
int offline_diff(int argc, char **argv);

/*
 * Runs `command`; what it writes to stderr becomes one JSON object there, {"error": ...}, or
 * {"warning": ...} if the status is 0 or 1. Returns its status.
 */
int offline_with_json_errors(int (*command)(int argc, char **argv), int argc, char **argv);
/* Prints all findings of --check as a JSON document. */
void findings_print_json(const struct conf_report *report, FILE *out);

/* Between the files of --diff. */
#define DIFF_EXIT_DIFFERS 1
#define DIFF_EXIT_FAULT	  2 /* as diff(1): wrong usage, or a file that cannot be used */

struct diff {
	const char *path[2]; /* paths of the expected and the found topology; strings of argv */
	struct expect *expected, *found;
	struct expect_report *report;
	bool json, help;
};

void diff_print_json(const struct diff *d, FILE *out);
