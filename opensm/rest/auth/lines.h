// SPDX-License-Identifier: BSD-2-Clause
/* A text of lines: comments and blank lines are left out, a fault names file, line and column. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LINE_MAX_BYTES 2048

struct fault {
	char text[400]; /* "FILE:LINE:COLUMN: text", printable */
};

struct lines {
	const char *file; /* name of the file in faults */
	const char *next, *end;
	unsigned number; /* number of the line in `line`, from 1 */
	char line[LINE_MAX_BYTES + 1];
};

/* `text` stays the caller's while `l` is in use; it may hold any bytes. */
void lines_open(struct lines *l, const char *file, const char *text, size_t len);
/*
 * The next line that is neither blank nor a comment (`#` first), without blanks at its end: 1. At
 * the end 0. A line that is too long or has control characters: -EINVAL and a fault.
 */
int lines_next(struct lines *l, struct fault *fault);
/* -EINVAL, and the fault at `at`, a character of l->line (NULL: its first). */
int lines_fault(const struct lines *l, const char *at, struct fault *fault, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
