// SPDX-License-Identifier: BSD-2-Clause
/* Which of the offline commands is wanted. */
#include "offline/offline.h"

#include <string.h>

static bool has(int argc, char **argv, const char *word)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], word))
			return true;
	return false;
}

bool offline_wanted(int argc, char **argv)
{
	return has(argc, argv, "--plan") || has(argc, argv, "--verify");
}

int offline_main(int argc, char **argv)
{
	return has(argc, argv, "--verify") ? offline_verify(argc, argv) : offline_plan(argc, argv);
}
