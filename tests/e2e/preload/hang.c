// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into a subnet manager: a disk or a device that hangs. While the file $HANG_FILE exists,
 * a thread that puts a file into place (rename) waits, as in a write to a server that does not
 * answer; while $HANG_PORT exists, one that opens or closes a port, as in a driver in reset.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void hang_while(const char *name)
{
	const char *hang = getenv(name);

	while (hang && access(hang, F_OK) == 0)
		usleep(10000);
}

int umad_open_port(const char *device, int port)
{
	int (*real)(const char *, int) =
		(int (*)(const char *, int))dlsym(RTLD_NEXT, "umad_open_port");

	hang_while("HANG_PORT");
	return real(device, port);
}

int umad_close_port(int id)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "umad_close_port");

	hang_while("HANG_PORT");
	return real(id);
}

int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *) =
		(int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");

	hang_while("HANG_FILE");
	return real(from, to);
}
