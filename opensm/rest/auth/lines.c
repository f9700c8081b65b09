// SPDX-License-Identifier: BSD-2-Clause
/* One copy of each line, so that readers may cut it up. */
#include "rest/auth/lines.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/str.h"

void lines_open(struct lines *l, const char *file, const char *text, size_t len)
{
	assert(l && file && (text || !len));
	*l = (struct lines){ .file = file, .next = text, .end = text + len };
}

int lines_fault(const struct lines *l, const char *at, struct fault *fault, const char *fmt, ...)
{
	size_t column = at ? (size_t)(at - l->line) + 1 : 1;
	char what[256], clean[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	str_printable(what, strlen(what), clean, sizeof(clean));
	snprintf(fault->text, sizeof(fault->text), "%.120s:%u:%zu: %s", l->file, l->number, column,
		 clean);
	return -EINVAL;
}

static int check_bytes(struct lines *l, size_t len, struct fault *fault)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)l->line[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return lines_fault(l, l->line + i, fault,
					   "the control character 0x%02x is not expected", c);
	}
	return 0;
}

/* Copies the next line: its length, or -EINVAL. */
static int copy_line(struct lines *l, struct fault *fault)
{
	const char *newline = memchr(l->next, '\n', (size_t)(l->end - l->next));
	const char *stop = newline ? newline : l->end;
	size_t len = (size_t)(stop - l->next);

	l->number++;
	if (len && stop[-1] == '\r')
		len--;
	if (len > LINE_MAX_BYTES) {
		l->line[0] = '\0';
		return lines_fault(l, NULL, fault, "the line has more than %d bytes",
				   LINE_MAX_BYTES);
	}
	memcpy(l->line, l->next, len);
	l->line[len] = '\0';
	l->next = newline ? newline + 1 : l->end;
	if (check_bytes(l, len, fault) < 0)
		return -EINVAL;
	while (len && (l->line[len - 1] == ' ' || l->line[len - 1] == '\t'))
		l->line[--len] = '\0';
	return (int)len;
}

int lines_next(struct lines *l, struct fault *fault)
{
	assert(l && fault);
	while (l->next < l->end) {
		int len = copy_line(l, fault);

		if (len < 0)
			return len;
		if (len && l->line[strspn(l->line, " \t")] != '#')
			return 1;
	}
	return 0;
}
