// SPDX-License-Identifier: BSD-2-Clause
/* Which of the offline commands is wanted. */
#include "offline/offline.h"

#include <string.h>

/* The word, or the word with its value ("--plan=FABRIC"). */
static bool has(int argc, char **argv, const char *word)
{
	size_t len = strlen(word);

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], word, len) && (!argv[i][len] || argv[i][len] == '='))
			return true;
	return false;
}

bool offline_wanted(int argc, char **argv)
{
	return has(argc, argv, "--plan") || has(argc, argv, "--verify") ||
	       has(argc, argv, "--diff");
}

int offline_main(int argc, char **argv)
{
	if (has(argc, argv, "--diff"))
		return offline_diff(argc, argv);
	return has(argc, argv, "--verify") ? offline_verify(argc, argv) : offline_plan(argc, argv);
}
