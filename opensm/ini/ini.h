// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of NAME=value lines without sections: /etc/sysconfig/opensm, /etc/default/opensm,
 * opensm-rest.conf. iniparser reads them. It knows no places, and takes some lines otherwise than
 * a shell does, so each line is held against a pattern first:
 *
 *   [ export ] NAME=value [ # comment ]      value: "text", 'text', or a word
 *
 * A backslash at the end of a line joins it with the next one; so does a quote that is open, by a
 * blank.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define INI_ITEMS_MAX 1000u
#define INI_LINE_MAX  1000u /* bytes of a line, with those that are joined to it */

enum ini_form {
	INI_SHELL, /* a shell may source the file: it gets the same values */
	INI_PLAIN, /* also blanks around "=" and in values without quotes; no "export" */
};

/* A line that is neither blank nor a comment. */
struct ini_item {
	char *name;  /* "": the line is no assignment */
	char *value; /* that of the last line with this name; NULL: the line fits no pattern */
	char *line_text;
	bool is_twin; /* fits no pattern as its name differs from another one in capitals alone */
	unsigned line, column; /* from 1; of the value, or of a line that fits no pattern */
};

struct ini {
	struct ini_item *items; /* in the order of the file */
	size_t n, cap;
};

/*
 * `text` may hold any bytes. 0: read, with the lines that fit no pattern. -EINVAL: there is a NUL
 * byte. -E2BIG: more than INI_ITEMS_MAX. -EIO: iniparser cannot be given the text
 * (memfd_create(), /proc). `ret` is to be cleared in any case.
 */
int ini_read(const char *text, size_t len, enum ini_form form, struct ini *ret);
void ini_clear(struct ini *ini);
/* Of a negative result of ini_read(). */
const char *ini_refusal(int result);
/* Of a line that fits no pattern: what was found and expected. To be freed. */
char *ini_fault(const struct ini_item *item);
