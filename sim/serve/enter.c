// SPDX-License-Identifier: BSD-2-Clause
/* Mount namespaces; see enter.h. */
#include "sim/serve/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc has these since 2.36. */
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 4
#endif

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

/* 0: our own. */
static int open_namespace(int pid)
{
	char path[64];

	if (pid == 0)
		/* right in a new PID namespace, too */
		return open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int join(int pid)
{
	int fd = open_namespace(pid), r;

	if (fd < 0)
		return -errno;
	r = setns(fd, CLONE_NEWNS) < 0 ? -errno : 0;
	close(fd);
	return r;
}

static int put_link(const char *folder, unsigned node, const char *what, const char *place)
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
	r = put_link(folder, node, "dev", "/dev/infiniband");
	if (r == 0)
		r = put_link(folder, node, "sys", "/sys/class");
	if (r == 0 && chdir(here) < 0)
		r = complain(here);
	return r;
}

/* Clones a mount of this node, without a place. Returns its descriptor, or -errno. */
static int pick(const char *folder, unsigned node, const char *what)
{
	char from[PATH_MAX];
	int fd;

	snprintf(from, sizeof(from), "%s/node/%u/%s", folder, node, what);
	fd = (int)syscall(SYS_open_tree, AT_FDCWD, from, OPEN_TREE_CLONE | O_CLOEXEC);
	return fd < 0 ? complain(from) : fd;
}

static int lay(int fd, const char *root, const char *place)
{
	char to[PATH_MAX];

	snprintf(to, sizeof(to), "%s%s", root[1] ? root : "", place);
	if (mkdir(to, 0755) < 0 && errno != EEXIST)
		return complain(to);
	return syscall(SYS_move_mount, fd, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH) < 0
		       ? complain(to)
		       : 0;
}

int lay_node(int pid, const char *folder, unsigned node, int into, const char *root)
{
	int there = open_namespace(into), dev = -1, sys = -1, r;

	if (there < 0)
		return complain("mount namespace");
	r = join(pid);
	if (r < 0) {
		errno = -r;
		complain("mount namespace");
	} else {
		r = dev = pick(folder, node, "dev");
	}
	if (r >= 0)
		r = sys = pick(folder, node, "sys");
	if (r >= 0 && setns(there, CLONE_NEWNS) < 0)
		r = complain("mount namespace");
	if (r >= 0)
		r = lay(dev, root, "/dev/infiniband");
	if (r >= 0)
		r = lay(sys, root, "/sys/class");
	if (dev >= 0)
		close(dev);
	if (sys >= 0)
		close(sys);
	close(there);
	return r < 0 ? r : 0;
}
