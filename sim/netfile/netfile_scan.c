// SPDX-License-Identifier: BSD-2-Clause
/*
 * Words, numbers and ids of a net file's line. What they mean is netfile_parse.c.
 */
#include "sim/netfile/netfile_scan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/str.h"

#define NUMBER_MAX 24 /* characters of a number */

int scan_fail_at(struct scan *scan, const char *where, const char *fmt, ...)
{
	va_list args;
	int len = snprintf(scan->err, scan->err_len, "%u:%zu: ", scan->number,
			   (size_t)(where - scan->line) + 1);

	if (len >= 0 && (size_t)len < scan->err_len) {
		va_start(args, fmt);
		vsnprintf(scan->err + len, scan->err_len - (size_t)len, fmt, args);
		va_end(args);
	}
	return -EINVAL;
}

int scan_fail(struct scan *scan, const char *expected)
{
	char found[24];

	if (scan->p == scan->end)
		return scan_fail_at(scan, scan->p, "the line ends, expected %s", expected);
	str_printable(scan->p, (size_t)(scan->end - scan->p), found, sizeof(found));
	return scan_fail_at(scan, scan->p, "found '%s', expected %s", found, expected);
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void scan_blanks(struct scan *scan)
{
	while (scan->p < scan->end && (*scan->p == ' ' || *scan->p == '\t'))
		scan->p++;
}

bool scan_next_is(const struct scan *scan, char c)
{
	return scan->p < scan->end && *scan->p == c;
}

bool scan_take(struct scan *scan, char c)
{
	if (!scan_next_is(scan, c))
		return false;
	scan->p++;
	return true;
}

size_t scan_word_len(const struct scan *scan)
{
	const char *p = scan->p;

	while (p < scan->end && is_alnum(*p))
		p++;
	return (size_t)(p - scan->p);
}

bool scan_take_word(struct scan *scan, const char *word)
{
	size_t len = strlen(word);

	scan_blanks(scan);
	if (scan_word_len(scan) != len || memcmp(scan->p, word, len))
		return false;
	scan->p += len;
	return true;
}

int scan_number(struct scan *scan, int base, uint64_t max, uint64_t *ret)
{
	char text[NUMBER_MAX + 1] = "";
	size_t len = scan_word_len(scan);
	int r;

	if (!len || len > NUMBER_MAX)
		return scan_fail(scan, "a number");
	memcpy(text, scan->p, len);
	r = str_to_u64(text, base, max, ret);
	if (r == -ERANGE)
		return scan_fail_at(scan, scan->p, "%s is too large, expected at most %llu", text,
			       (unsigned long long)max);
	if (r < 0)
		return scan_fail(scan, "a number");
	scan->p += len;
	return 0;
}

int scan_u8(struct scan *scan, uint8_t max, uint8_t *ret)
{
	uint64_t value;
	int r = scan_number(scan, 0, max, &value);

	if (r == 0)
		*ret = (uint8_t)value;
	return r;
}

int scan_expect(struct scan *scan, char c, const char *expected)
{
	return scan_take(scan, c) ? 0 : scan_fail(scan, expected);
}

int scan_port(struct scan *scan, uint8_t max, uint8_t *ret)
{
	const char *start = scan->p;
	uint8_t port = 0;
	int r = scan_expect(scan, '[', "[port]");

	if (r == 0)
		r = scan_u8(scan, max, &port);
	if (r == 0)
		r = scan_expect(scan, ']', "]");
	if (r < 0)
		return r;
	if (!port)
		return scan_fail_at(scan, start, "port 0 has no cable, expected 1 to %u", max);
	*ret = port;
	return 0;
}

int scan_port_guid(struct scan *scan, guid_t *ret)
{
	guid_t guid;
	int r;

	if (!scan_take(scan, '('))
		return 0;
	r = scan_number(scan, 16, UINT64_MAX, &guid);
	if (r == 0)
		r = scan_expect(scan, ')', ")");
	if (r == 0)
		*ret = guid;
	return r;
}

static int check_id(struct scan *scan, const char *id, size_t len)
{
	if (!len || len > SCAN_ID_MAX)
		return scan_fail_at(scan, id, "id of %zu characters, expected 1 to %d", len,
				    SCAN_ID_MAX);
	for (size_t i = 0; i < len; i++)
		if (id[i] < 0x20 || id[i] > 0x7E || id[i] == '#' || id[i] == '@')
			return scan_fail_at(scan, id + i,
					    "character 0x%02x, which ids may not contain",
					    (unsigned char)id[i]);
	if (id[len - 1] == ' ')
		return scan_fail_at(scan, id + len - 1, "blank at the end of an id");
	return 0;
}

int scan_id(struct scan *scan, const char **ret, size_t *ret_len)
{
	const char *end;
	size_t len;
	int r;

	scan_blanks(scan);
	if (!scan_next_is(scan, '"'))
		return scan_fail(scan, "an \"id\"");
	end = memchr(scan->p + 1, '"', (size_t)(scan->end - scan->p - 1));
	if (!end)
		return scan_fail(scan, "an id that ends in a quote");
	len = (size_t)(end - scan->p - 1);
	r = check_id(scan, scan->p + 1, len);
	if (r < 0)
		return r;
	*ret = scan->p + 1;
	*ret_len = len;
	scan->p = end + 1;
	return 0;
}

int scan_end_of_line(struct scan *scan)
{
	scan_blanks(scan);
	if (scan->p == scan->end || *scan->p == '#')
		return 0;
	return scan_fail(scan, "the end of the line");
}
