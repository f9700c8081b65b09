// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of --diff. */
#pragma once

#include <stdio.h>

#include "topo/expect_file.h"

#define DIFF_EXIT_DIFFERS 1
#define DIFF_EXIT_FAULT	  2 /* as diff(1): usage, or a file that cannot be used */

struct diff {
	const char *path[2]; /* expected, found; strings of argv */
	struct expect *expected, *found;
	struct expect_report *report;
	bool json, help;
};

void diff_print_json(const struct diff *d, FILE *out);
