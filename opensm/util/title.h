// SPDX-License-Identifier: BSD-2-Clause
/*
 * A status line in the command line of the process, where `ps` and the CGroup tree of `systemctl
 * status` show it.
 *
 * The starting program appends an argument of TITLE_WIDTH bytes, made by title_new(); the program
 * overwrites it in place. An argument that does not begin with '[' is never changed.
 */
#pragma once

#include <stddef.h>

#define TITLE_WIDTH 200

/* The place of a title; zero: there is none, and nothing is shown. */
struct title {
	char *at; /* the argument itself */
	size_t width;
};

/* "[text]" and blanks up to `width` (at least 8) bytes, to be freed. */
char *title_new(size_t width, const char *text);
/* The last of `argc` arguments, if it is a title. */
struct title title_find(int argc, char *const argv[]);
/* Shows `text`: unprintable bytes as blanks, truncated with "..." if it is too long. */
void title_set(const struct title *t, const char *text);
