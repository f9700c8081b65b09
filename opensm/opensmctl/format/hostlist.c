// SPDX-License-Identifier: BSD-2-Clause
/*
 * A name is prefix and number. Sorted by prefix, width and number, whatever belongs into one pair
 * of brackets stands together.
 */
#include "opensmctl/format/hostlist.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

#define DIGITS_MAX 15

struct name {
	const char *text;
	size_t prefix;	 /* bytes before the number; all of it if there is none */
	uint64_t number;
	unsigned digits; /* 0: no number */
	unsigned width;	 /* digits, if leading zeros have to be kept; 0: written as it is */
};

static struct name name_of(const char *text)
{
	struct name n = { .text = text, .prefix = strlen(text) };
	size_t len = n.prefix;

	while (n.prefix && text[n.prefix - 1] >= '0' && text[n.prefix - 1] <= '9')
		n.prefix--;
	if (len - n.prefix > DIGITS_MAX)
		n.prefix = len;
	n.digits = (unsigned)(len - n.prefix);
	if (n.digits)
		n.number = strtoull(text + n.prefix, NULL, 10);
	if (n.digits > 1 && text[n.prefix] == '0')
		n.width = n.digits;
	return n;
}

static int by_prefix(const struct name *a, const struct name *b)
{
	int order = memcmp(a->text, b->text, MIN(a->prefix, b->prefix));

	return order ? order : (a->prefix > b->prefix) - (a->prefix < b->prefix);
}

static int by_digits(const void *x, const void *y)
{
	const struct name *a = x, *b = y;
	int order = by_prefix(a, b);

	if (order)
		return order;
	if (a->digits != b->digits)
		return a->digits < b->digits ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int by_width(const void *x, const void *y)
{
	const struct name *a = x, *b = y;
	int order = by_prefix(a, b);

	if (order)
		return order;
	if (a->width != b->width)
		return a->width < b->width ? -1 : 1;
	if (!a->digits != !b->digits)
		return a->digits ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

/*
 * Gives names the same width: n10 belongs to n08; n8 and n100 do not. Names are sorted by digits,
 * zeros first.
 */
static void widen(struct name *names, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (!by_prefix(&names[i], &names[i - 1]) && names[i].digits == names[i - 1].digits)
			names[i].width = names[i - 1].width;
}

static void print_number(FILE *out, const struct name *n)
{
	fprintf(out, "%0*llu", (int)n->width, (unsigned long long)n->number);
}

static bool is_of(const struct name *a, const struct name *b)
{
	return a->digits && b->digits && a->width == b->width && !by_prefix(a, b);
}

/* Prints one prefix with its ranges; returns the number of names in it. */
static size_t print_group(FILE *out, const struct name *names, size_t n)
{
	size_t end = 1, i = 0;

	while (end < n && is_of(&names[0], &names[end]))
		end++;
	if (end == 1) {
		fputs(names[0].text, out);
		return 1;
	}
	fprintf(out, "%.*s[", (int)names[0].prefix, names[0].text);
	while (i < end) {
		size_t last = i;

		while (last + 1 < end && names[last + 1].number == names[last].number + 1)
			last++;
		if (i)
			fputc(',', out);
		print_number(out, &names[i]);
		if (last > i) {
			fputc('-', out);
			print_number(out, &names[last]);
		}
		i = last + 1;
	}
	fputc(']', out);
	return end;
}

char *hostlist_compress(char **names, size_t n)
{
	_cleanup_free_ struct name *all = xcalloc(MAX(n, (size_t)1), sizeof(*all));
	char *ret = NULL;
	size_t len;
	FILE *out = open_memstream(&ret, &len);

	for (size_t i = 0; i < n; i++)
		all[i] = name_of(names[i]);
	qsort(all, n, sizeof(*all), by_digits);
	widen(all, n);
	qsort(all, n, sizeof(*all), by_width);
	for (size_t i = 0; i < n;) {
		if (i)
			fputc(',', out);
		i += print_group(out, all + i, n - i);
	}
	fclose(out);
	return ret;
}
