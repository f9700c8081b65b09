// SPDX-License-Identifier: BSD-2-Clause
/* opensm --plan: not there yet. */
#include <stdio.h>

#include "offline/offline.h"

int offline_plan(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fprintf(stderr, "opensm: --plan is not there yet\n");
	return 64;
}
