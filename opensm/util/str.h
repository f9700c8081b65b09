// SPDX-License-Identifier: BSD-2-Clause
/* Strings: untrusted text made printable, nearest known word, strict numbers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies at most `len` bytes of `text` (stops at NUL) into `ret`, which has `cap` bytes; bytes
 * outside printable ASCII become blanks, trailing blanks are removed. Always terminates. Returns
 * `ret`.
 */
char *str_printable(const void *text, size_t len, char *ret, size_t cap);

/*
 * The word of `words` (array of n pointers) nearest to `word`: edit distance at most 3 and at most
 * half of its length (transpositions count one). NULL if none is near.
 */
const char *str_nearest(const char *word, const char *const *words, size_t n);

/*
 * Reads the whole of `text` as a number (base as strtoull; 0: decimal, 0x, octal), no sign, no
 * blanks. 0, -EINVAL (not a number), -ERANGE (> max).
 */
int str_to_u64(const char *text, int base, uint64_t max, uint64_t *ret);

/* Removes blanks (isspace(3)) from both ends of `text`, in place. Returns its first character. */
char *str_trim(char *text);

#define STR_COUNT_MAX 64

/* "1 switch", "2 switches". Returns `ret`. */
const char *str_count(uint64_t n, const char *one, const char *many, char ret[STR_COUNT_MAX]);
#define STR_COUNT(n, one, many) str_count(n, one, many, (char[STR_COUNT_MAX]){ 0 })

bool str_equal(const char *a, const char *b); /* NULL equals NULL */
bool str_starts(const char *s, const char *prefix);
