// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program behind a FUSE request, which blocks in its read() or write() meanwhile. FUSE lacks
 * two abilities of user_mad.c: a read() that fails and yet fills the buffer, and calls of more than
 * a megabyte, which FUSE splits. So the call, and the memory of its arguments, are read from the
 * process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct caller_call {
	bool writing;
	uintptr_t buffer;
	size_t count;
};

/* The read() or write() that thread `tid` is in; false: it is in none, or may not be read. */
bool caller_find(pid_t tid, struct caller_call *ret);
/* Copies to and from the memory of that process: all n bytes, or false. */
bool caller_put(pid_t tid, uintptr_t to, const uint8_t *bytes, size_t n);
bool caller_get(pid_t tid, uintptr_t from, uint8_t *bytes, size_t n);
