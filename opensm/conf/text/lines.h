// SPDX-License-Identifier: BSD-2-Clause
/* Text of a file, line by line, for all readers of conf/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "conf/text/report.h"

/* More than any configuration or list of 49,152 ports needs. */
#define LINES_FILE_MAX (64u << 20)

/* One physical line, without its end. `text` is NUL-terminated and may be changed. */
struct line {
	char *text;
	size_t len;
	struct conf_place at; /* column 1 */
};

typedef void (*lines_on_line)(void *arg, struct line *line);

/*
 * Reads `path` and calls `on_line` for every line, in order. Returns 0; -ENOENT without a finding;
 * another -errno with one, before any line was delivered (directory, FIFO, NUL bytes, too large).
 */
int lines_read(const char *path, struct conf_report *r, lines_on_line on_line, void *arg);
/* Reads the text alone, to be freed; errors as lines_read(), but lines_split() finds NUL bytes. */
int lines_load(const char *path, struct conf_report *r, char **ret, size_t *ret_len);
/* As lines_load(), with another limit than LINES_FILE_MAX bytes. */
int lines_load_most(const char *path, size_t limit, struct conf_report *r, char **ret,
		    size_t *ret_len);
/* Adds the finding for a file that is needed and does not exist. Returns -ENOENT. */
int lines_missing(const char *path, struct conf_report *r);
/* As lines_read(), for text in memory. */
int lines_split(const char *path, const char *text, size_t len, struct conf_report *r,
		lines_on_line on_line, void *arg);

/* A place on the line: `p` points into line->text. */
struct conf_place line_place(const struct line *line, const char *p);

/* The capacity of a list. */
struct line_room {
	unsigned most;
	const char *what; /* noun for the entries, as "rules" */
	bool full;	  /* set after the finding was added */
};

/* Is there room for another entry beside `n`? If not, the line is ignored, with one finding. */
bool line_has_room(struct line_room *room, size_t n, const struct line *line,
		   struct conf_report *r);
