// SPDX-License-Identifier: BSD-2-Clause
/* The caller of a FUSE request; see caller.h. */
#include "sim/serve/caller.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

bool caller_find(pid_t tid, struct caller_call *ret)
{
	char path[64], text[256];
	unsigned long long fd, buffer, count;
	long number;
	ssize_t n;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	n = read(file, text, sizeof(text) - 1);
	close(file);
	if (n <= 0)
		return false;
	text[n] = 0;
	if (sscanf(text, "%ld 0x%llx 0x%llx 0x%llx", &number, &fd, &buffer, &count) != 4)
		return false;
	if (number != SYS_read && number != SYS_write)
		return false;
	*ret = (struct caller_call){ .writing = number == SYS_write,
				     .buffer = buffer,
				     .count = count };
	return true;
}

bool caller_put(pid_t tid, uintptr_t to, const uint8_t *bytes, size_t n)
{
	struct iovec here = { (void *)(uintptr_t)bytes, n }, there = { (void *)to, n };

	return process_vm_writev(tid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

bool caller_get(pid_t tid, uintptr_t from, uint8_t *bytes, size_t n)
{
	struct iovec here = { bytes, n }, there = { (void *)from, n };

	return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)n;
}
