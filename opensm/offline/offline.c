// SPDX-License-Identifier: BSD-2-Clause
/* Which of the offline commands is wanted. */
#include "offline/offline.h"

#include <string.h>

#include "util/str.h"

/* "--json", or as much of it as getopt understands. */
static bool has_json(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (str_starts(argv[i], "--j") && str_starts("--json", argv[i]))
			return true;
	return false;
}

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
	int (*command)(int argc, char **argv) = has(argc, argv, "--diff") ? offline_diff :
						has(argc, argv, "--verify") ? offline_verify :
									      offline_plan;

	return has_json(argc, argv) ? offline_with_json_errors(command, argc, argv) :
				      command(argc, argv);
}
