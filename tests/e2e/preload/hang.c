// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into a subnet manager: a disk that hangs. While the file $HANG_FILE exists, a thread
 * that puts a file into place (rename) waits, as in a write to a server that does not answer.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *) =
		(int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
	const char *hang = getenv("HANG_FILE");

	while (hang && access(hang, F_OK) == 0)
		usleep(10000);
	return real(from, to);
}
