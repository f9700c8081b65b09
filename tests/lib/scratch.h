// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files and folders of a test program, below one folder of its own in /dev/shm or /tmp. The folder
 * is removed with all contents when the program ends, even after failures; KEEP=1 in the
 * environment keeps it and prints its name.
 *
 * Tests that must leave a folder empty remove it by rmdir().
 */
#pragma once

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "util/mem.h"

#define SCRATCH_PATH 64 /* bytes for the name of a folder, with its zero */

static char scratch_root[SCRATCH_PATH - 8];
static pid_t scratch_owner;

static inline int scratch_remove_one(const char *path, const struct stat *st, int flag,
				     struct FTW *at)
{
	return remove(path);
}

/* Removes a folder; those not removed are removed at the end. */
static inline void scratch_remove(const char *folder)
{
	if (getenv("KEEP"))
		fprintf(stderr, "# kept: %s\n", folder);
	else
		nftw(folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void scratch_end(void)
{
	if (scratch_owner == getpid()) /* not a child that ends */
		scratch_remove(scratch_root);
}

/*
 * Memory is preferred if there is room: tested code calls fsync() a thousand times, which is slow
 * on disks.
 */
static inline const char *scratch_base(void)
{
	struct statvfs s;

	if (access("/dev/shm", W_OK | X_OK) == 0 && statvfs("/dev/shm", &s) == 0 &&
	    (unsigned long long)s.f_bavail * s.f_frsize >= 1ULL << 28)
		return "/dev/shm";
	return "/tmp";
}

/*
 * Creates an empty folder; its name is in `ret`, of SCRATCH_PATH bytes at least, which is returned.
 */
static inline char *scratch_folder(char *ret)
{
	static unsigned n;

	if (!scratch_owner) {
		snprintf(scratch_root, sizeof(scratch_root), "%s/%.32s.XXXXXX", scratch_base(),
			 program_invocation_short_name);
		if (!mkdtemp(scratch_root))
			abort();
		scratch_owner = getpid();
		atexit(scratch_end);
	}
	snprintf(ret, SCRATCH_PATH, "%s/%u", scratch_root, n++);
	if (mkdir(ret, 0700) < 0)
		abort();
	return ret;
}

/* Creates a file with these bytes; its name is to be freed. */
static inline char *scratch_bytes(const char *bytes, size_t len)
{
	char folder[SCRATCH_PATH], *path = xasprintf("%s/file", scratch_folder(folder));
	FILE *f = fopen(path, "w");

	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f) != 0)
		abort();
	return path;
}

static inline char *scratch_file(const char *text)
{
	return scratch_bytes(text, strlen(text));
}

/*
 * Creates a partition file that equals none: every port is a full member of the default partition.
 */
static inline void scratch_open_partitions(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs("Default=0x7fff, ipoib : ALL=full;\n", f) < 0 || fclose(f) != 0)
		abort();
}

/* Set up and tear down a new current folder, for tests that write into it. */
static inline int scratch_enter(void **state)
{
	*state = scratch_folder(xmalloc(SCRATCH_PATH));
	umask(022);
	return chdir(*state);
}

static inline int scratch_leave(void **state)
{
	scratch_remove(*state);
	free(*state);
	return chdir("/");
}
