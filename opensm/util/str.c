// SPDX-License-Identifier: BSD-2-Clause
/*
 * Strings: what a peer sent made printable, what a user typed understood. No locale.
 */
#include "util/str.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define NEAREST_LEN 63 /* longer words have no neighbours */
#define NEAREST_DISTANCE 3

char *str_printable(const void *text, size_t len, char *ret, size_t cap)
{
	const unsigned char *in = text;
	size_t n = 0;

	assert((text || !len) && (ret || !cap));
	if (!cap)
		return ret;
	while (n < len && n < cap - 1 && in[n]) {
		ret[n] = in[n] >= 0x20 && in[n] < 0x7F ? (char)in[n] : ' ';
		n++;
	}
	while (n && ret[n - 1] == ' ')
		n--;
	ret[n] = '\0';
	return ret;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	return MIN(MIN(a, b), c);
}

/* Edits (insert, delete, replace, swap of neighbours) between two words of at most NEAREST_LEN. */
static unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][NEAREST_LEN + 1]; /* row i of the matrix is rows[i % 3] */

	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3],
			 *above2 = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = min3(above[j] + 1, row[j - 1] + 1,
				      above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = MIN(row[j], above2[j - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

const char *str_nearest(const char *word, const char *const *words, size_t n)
{
	size_t len = strlen(word);
	unsigned best = MIN(NEAREST_DISTANCE, len / 2) + 1;
	const char *found = NULL;

	assert(word && (words || !n));
	if (len > NEAREST_LEN)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t other = strlen(words[i]);
		unsigned distance;

		if (other > NEAREST_LEN)
			continue;
		distance = edit_distance(word, len, words[i], other);
		if (distance >= best)
			continue;
		best = distance;
		found = words[i];
	}
	return found;
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int str_to_u64(const char *text, int base, uint64_t max, uint64_t *ret)
{
	unsigned long long value;
	char *end;

	assert(text && ret);
	/* strtoull() would accept blanks and a minus sign. */
	if (!is_alnum(text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, base);
	if (*end || end == text)
		return -EINVAL;
	if (errno == ERANGE || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

char *str_trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

const char *str_count(uint64_t n, const char *one, const char *many, char ret[STR_COUNT_MAX])
{
	snprintf(ret, STR_COUNT_MAX, "%" PRIu64 " %s", n, n == 1 ? one : many);
	return ret;
}

bool str_equal(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}
