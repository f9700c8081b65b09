// SPDX-License-Identifier: BSD-2-Clause
/* The end of what a command prints: a full disk behind standard output is an error. */
#include "offline/base/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool output_done(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	fprintf(stderr, "opensm: standard output: %s\n", strerror(errno));
	return false;
}
