// SPDX-License-Identifier: BSD-2-Clause
/*
 * A line of a net file, read word by word. For the parser of net files only.
 *
 * Functions with an int result return 0, or -EINVAL after writing "line:column: ..." to `err`;
 * outputs are then unchanged. Only ids and words skip blanks before them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/types.h"

#define SCAN_ID_MAX 64

/* The present line, without its end, and the place in it. */
struct scan {
	const char *line, *p, *end;
	unsigned number;
	char *err;
	size_t err_len;
};

/* Writes an error about `where`, a place in the line. Returns -EINVAL. */
int scan_fail_at(struct scan *scan, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes the error "found '...', expected `expected`" about the present place. Returns -EINVAL. */
int scan_fail(struct scan *scan, const char *expected);

void scan_blanks(struct scan *scan);
bool scan_next_is(const struct scan *scan, char c);
bool scan_take(struct scan *scan, char c);
int scan_expect(struct scan *scan, char c, const char *expected);
/* Length of the next run of letters and digits. */
size_t scan_word_len(const struct scan *scan);
/* Skips `word` if it is the next whole word. */
bool scan_take_word(struct scan *scan, const char *word);

/* Reads a number of at most `max`; base as in str_to_u64(). */
int scan_number(struct scan *scan, int base, uint64_t max, uint64_t *ret);
int scan_u8(struct scan *scan, uint8_t max, uint8_t *ret);
/* Reads "[p]" with p = 1..max. */
int scan_port(struct scan *scan, uint8_t max, uint8_t *ret);
/* Reads "(guid)" in bare hexadecimal; 0 with `*ret` unchanged if there is none. */
int scan_port_guid(struct scan *scan, guid_t *ret);
/*
 * Reads a quoted id: 1..SCAN_ID_MAX printable characters except # and @; `*ret` points into the
 * line.
 */
int scan_id(struct scan *scan, const char **ret, size_t *ret_len);
/* Checks that only a comment follows. */
int scan_end_of_line(struct scan *scan);
