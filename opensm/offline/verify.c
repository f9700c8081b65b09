// SPDX-License-Identifier: BSD-2-Clause
/* opensm --verify: not there yet. */
#include <stdio.h>

#include "offline/offline.h"

int offline_verify(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fprintf(stderr, "opensm: --verify is not there yet\n");
	return 64;
}
