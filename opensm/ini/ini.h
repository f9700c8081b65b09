// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of NAME=value lines without sections: /etc/sysconfig/opensm, /etc/default/opensm,
 * opensm-rest.conf. iniparser reads them. As it reports no line numbers, and reads some lines
 * otherwise than a shell does, each line is matched with a pattern first:
 *
 *   [ export ] NAME=value [ # comment ]      value: "text", 'text', or a word
 *
 * A backslash at the end of a line joins it with the next one; an open quote does so, too, with a
 * blank.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define INI_ITEMS_MAX 1000u
#define INI_LINE_MAX  1000u /* bytes of a line, including lines joined to it */

enum ini_form {
	INI_SHELL, /* values are those of a shell that sources the file */
	INI_PLAIN, /* allows blanks around "=" and in values without quotes, but no "export" */
};

/* A line that is neither blank nor a comment. */
struct ini_item {
	char *name;  /* "": the line is no assignment */
	char *value; /* value of the last line with this name; NULL: the line fits no pattern */
	char *line_text;
	/* set if it fits no pattern as its name differs from another one in capitals alone */
	bool is_twin;
	unsigned line, column; /* place of the value, or of a line that fits no pattern; from 1 */
};

struct ini {
	struct ini_item *items; /* in the order of the file */
	size_t n, cap;
};

/*
 * Reads `text`, which may hold any bytes. 0: read, including lines that fit no pattern. -EINVAL:
 * there is a NUL byte. -E2BIG: more than INI_ITEMS_MAX lines. -EIO: the text cannot be passed to
 * iniparser (memfd_create(), /proc). `ret` is to be cleared in any case.
 */
int ini_read(const char *text, size_t len, enum ini_form form, struct ini *ret);
void ini_clear(struct ini *ini);
/* The sentence for a negative result of ini_read(). */
const char *ini_refusal(int result);
/* The sentence for a line that fits no pattern: found and expected text. To be freed. */
char *ini_fault(const struct ini_item *item);
