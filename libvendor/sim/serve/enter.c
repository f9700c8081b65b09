// SPDX-License-Identifier: BSD-2-Clause
/* Mount namespaces; see enter.h. */
#include "libvendor/sim/serve/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

int enter_private(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	return 0;
}

static int complain(const char *what)
{
	int error = errno;

	fprintf(stderr, "ibfab: %s: %s\n", what, strerror(error));
	return -error;
}

static int join(int pid)
{
	char path[64];
	int fd, r;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = setns(fd, CLONE_NEWNS) < 0 ? -errno : 0;
	close(fd);
	return r;
}

static int put(const char *folder, unsigned node, const char *what, const char *place)
{
	char from[PATH_MAX];

	snprintf(from, sizeof(from), "%s/node/%u/%s", folder, node, what);
	if (mkdir(place, 0755) < 0 && errno != EEXIST)
		return complain(place);
	return mount(from, place, NULL, MS_BIND, NULL) < 0 ? complain(from) : 0;
}

int enter_node(int pid, const char *folder, unsigned node)
{
	char here[PATH_MAX];
	int r;

	if (!getcwd(here, sizeof(here)))
		return complain("getcwd");
	r = join(pid);
	if (r == 0)
		r = enter_private();
	if (r < 0) {
		errno = -r;
		return complain("mount namespace");
	}
	r = put(folder, node, "dev", "/dev/infiniband");
	if (r == 0)
		r = put(folder, node, "sys", "/sys/class");
	if (r == 0 && chdir(here) < 0)
		r = complain(here);
	return r;
}
