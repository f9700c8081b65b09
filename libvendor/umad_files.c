// SPDX-License-Identifier: BSD-2-Clause
#include "libvendor/umad_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SYS_MAD "/sys/class/infiniband_mad"
#define HEADER_WITH_PKEY 64 /* umad_size() with a P_Key index; the other header has none */
#define LIBRARY_FILES 64    /* number of files that every libibumad opens */

struct mad_file {
	unsigned number;
	char device[64];
	int port;
};

static bool read_text(const char *entry, const char *file, char *ret, size_t cap)
{
	char path[512];
	FILE *f;
	bool got;

	snprintf(path, sizeof(path), SYS_MAD "/%s/%s", entry, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	got = fgets(ret, (int)cap, f) != NULL;
	fclose(f);
	if (got)
		ret[strcspn(ret, "\n")] = '\0';
	return got;
}

/* Reads the entry "umad7". False: it is another one, or is being removed. */
static bool read_entry(const char *entry, struct mad_file *ret)
{
	char port[16], *end, *port_end;

	if (strncmp(entry, "umad", 4) || entry[4] < '0' || entry[4] > '9')
		return false;
	ret->number = (unsigned)strtoul(entry + 4, &end, 10);
	if (*end || !read_text(entry, "ibdev", ret->device, sizeof(ret->device)) ||
	    !read_text(entry, "port", port, sizeof(port)))
		return false;
	ret->port = (int)strtoul(port, &port_end, 10);
	return port_end != port;
}

typedef bool (*mad_file_fn)(const struct mad_file *file, void *arg);

/* The first file that `is_it` says yes to: its number, or -ENODEV. */
static int find_file(mad_file_fn is_it, void *arg)
{
	DIR *dir = opendir(SYS_MAD);
	const struct dirent *e;
	int found = -ENODEV;

	while (dir && found < 0 && (e = readdir(dir))) {
		struct mad_file file;

		if (read_entry(e->d_name, &file) && is_it(&file, arg))
			found = (int)file.number;
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool is_port(const struct mad_file *file, void *arg)
{
	const struct mad_file *want = arg;

	return file->port == want->port && !strcmp(file->device, want->device);
}

int umad_file_number(const char *device, int port)
{
	struct mad_file want = { .port = port };

	snprintf(want.device, sizeof(want.device), "%s", device);
	return find_file(is_port, &want);
}

/*
 * libibumad learns the size of its header when it opens a file itself: any that it can open does.
 */
static bool opens_by_library(const struct mad_file *file, void *arg)
{
	int fd = file->number < LIBRARY_FILES ? umad_open_port(file->device, file->port) : -1;

	if (fd < 0)
		return false;
	umad_close_port(fd);
	return true;
}

int umad_file_open(const char *device, int port)
{
	int number = umad_file_number(device, port), fd;
	char path[64];

	if (number < 0)
		return number;
	if (umad_size() < HEADER_WITH_PKEY)
		find_file(opens_by_library, NULL);
	snprintf(path, sizeof(path), "/dev/infiniband/umad%d", number);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Without it all MADs go and come with P_Key index 0, and the header is the shorter one. */
	if (umad_size() >= HEADER_WITH_PKEY && ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL) < 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}
