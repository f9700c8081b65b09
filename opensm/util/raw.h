// SPDX-License-Identifier: BSD-2-Clause
/*
 * System calls that bypass libraries in front of libc with locks: libumad2sim has one mutex for
 * open(), read(), write(), close(), poll() and opendir(). A process forked while another thread
 * held it would wait for ever, so code of such processes calls these. Arguments, results and errno
 * are those of the calls in their names.
 */
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static inline int raw_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

static inline ssize_t raw_read(int fd, void *to, size_t n)
{
	return syscall(SYS_read, fd, to, n);
}

static inline ssize_t raw_write(int fd, const void *from, size_t n)
{
	return syscall(SYS_write, fd, from, n);
}

/* `ms` must not be negative. */
static inline int raw_poll(struct pollfd *fds, unsigned n, int ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	return (int)syscall(SYS_ppoll, fds, n, &t, NULL, 0);
}

static inline int raw_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}
