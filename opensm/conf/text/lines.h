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
/* The text alone, to be freed; the same errors. Whether it is text: lines_split(). */
int lines_load(const char *path, struct conf_report *r, char **ret, size_t *ret_len);
/* The same with another limit than LINES_FILE_MAX bytes. */
int lines_load_most(const char *path, size_t limit, struct conf_report *r, char **ret,
		    size_t *ret_len);
/* The finding for a file that is not there and should be. Returns -ENOENT. */
int lines_missing(const char *path, struct conf_report *r);
/* The same as lines_read() for text in memory. */
int lines_split(const char *path, const char *text, size_t len, struct conf_report *r,
		lines_on_line on_line, void *arg);

/* A place on the line: `p` points into line->text. */
struct conf_place line_place(const struct line *line, const char *p);

/* A list that holds so many entries, and no more. */
struct line_room {
	unsigned most;
	const char *what; /* they are: "rules" */
	bool full;	  /* this was told */
};

/* There is room for one more beside `n`. False: this line is ignored, with a finding once. */
bool line_has_room(struct line_room *room, size_t n, const struct line *line,
		   struct conf_report *r);
