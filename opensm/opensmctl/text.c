// SPDX-License-Identifier: BSD-2-Clause
/* Words in, text for people out: abbreviations, colours, durations, aligned tables. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/ctl.h"
#include "util/mem.h"
#include "util/str.h"

#define COLUMNS_MAX 16

int ctl_match(const char *text, const char *const *words)
{
	int found = -1;

	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], text))
			return i;
		if (str_starts(words[i], text))
			found = found == -1 ? i : -2;
	}
	return text[0] ? found : -1;
}

const char *ctl_color(const struct ctl *c, enum ctl_color color)
{
	static const char *const codes[] = {
		[CTL_PLAIN] = "\033[0m", [CTL_GOOD] = "\033[32m", [CTL_BAD] = "\033[1;31m",
		[CTL_WARN] = "\033[33m", [CTL_NAME] = "\033[1m",  [CTL_DIM] = "\033[2m",
	};

	return c->color ? codes[color] : "";
}

const char *ctl_duration(int64_t seconds, char ret[static 32])
{
	if (seconds < 60)
		snprintf(ret, 32, "%" PRId64 " s", seconds);
	else if (seconds < 3600)
		snprintf(ret, 32, "%" PRId64 " min %" PRId64 " s", seconds / 60, seconds % 60);
	else if (seconds < 86400)
		snprintf(ret, 32, "%" PRId64 " h %" PRId64 " min", seconds / 3600,
			 seconds % 3600 / 60);
	else
		snprintf(ret, 32, "%" PRId64 " d %" PRId64 " h", seconds / 86400,
			 seconds % 86400 / 3600);
	return ret;
}

const char *ctl_plural(int64_t n, const char *one, char ret[static 64])
{
	snprintf(ret, 64, "%" PRId64 " %s%s", n, one, n == 1 ? "" : "s");
	return ret;
}

struct cell {
	char *text;
	enum ctl_color color;
};

struct table {
	const struct ctl *c;
	const char *const *heads;
	size_t n_columns, n, cap;
	size_t width[COLUMNS_MAX];
	struct cell *cells;
};

static size_t head_len(const char *head)
{
	size_t len = strlen(head);

	return len && head[len - 1] == '>' ? len - 1 : len;
}

static bool is_number(const char *head)
{
	return head[head_len(head)] == '>';
}

struct table *table_new(const struct ctl *c, const char *const *heads)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->c = c;
	t->heads = heads;
	while (heads[t->n_columns] && t->n_columns < COLUMNS_MAX) {
		t->width[t->n_columns] = head_len(heads[t->n_columns]);
		t->n_columns++;
	}
	return t;
}

/* As many columns as a terminal gives it: the bytes that continue a UTF-8 character count nothing. */
static size_t columns_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xC0) != 0x80;
	return n;
}

void table_cell(struct table *t, enum ctl_color color, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	size_t column = t->n % t->n_columns;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (!text || !text[0]) {
		free(text);
		text = xstrdup("-");
	}
	GROW(t->cells, t->n + 1, t->cap);
	t->cells[t->n++] = (struct cell){ .text = text, .color = color };
	t->width[column] = MAX(t->width[column], columns_of(text));
}

static void print_cell(const struct table *t, size_t column, const char *text, size_t len,
		       enum ctl_color color)
{
	size_t wide = columns_of(text) - (strlen(text) - len);
	int pad = (int)(t->width[column] - wide);
	bool is_last = column + 1 == t->n_columns;

	if (t->c->oneline)
		pad = 0;
	if (is_number(t->heads[column]))
		printf("%*s", pad, "");
	printf("%s%.*s%s", color ? ctl_color(t->c, color) : "", (int)len, text,
	       color ? ctl_color(t->c, CTL_PLAIN) : "");
	if (is_last)
		putchar('\n');
	else if (t->c->oneline)
		putchar('\t');
	else
		printf("%*s", is_number(t->heads[column]) ? 2 : pad + 2, "");
}

void table_print(struct table *t)
{
	if (!t->c->oneline)
		for (size_t i = 0; i < t->n_columns; i++)
			print_cell(t, i, t->heads[i], head_len(t->heads[i]), CTL_DIM);
	for (size_t i = 0; i < t->n; i++) {
		print_cell(t, i % t->n_columns, t->cells[i].text, strlen(t->cells[i].text),
			   t->cells[i].color);
		free(t->cells[i].text);
	}
	free(t->cells);
	free(t);
}
