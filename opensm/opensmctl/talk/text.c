// SPDX-License-Identifier: BSD-2-Clause
/* Words in, text for people out: abbreviations, colours, durations, aligned tables. */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "opensmctl/talk/ctl.h"
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

char *ctl_place(struct json_object *o)
{
	if (!o)
		return xstrdup("-");
	if (!js_has(o, "name"))
		return xasprintf("%s (not in the fabric)", js_str(o, "port_guid"));
	if (js_int(o, "port"))
		return xasprintf("%.70s/%d", js_str(o, "name"), (int)js_int(o, "port"));
	return xasprintf("%.70s", js_str(o, "name")); /* a switch, by its name */
}

char *ctl_gbps(double gbps, char ret[static 32])
{
	snprintf(ret, 32, "%.4g", gbps);
	return ret;
}

char *ctl_link(struct json_object *o, char ret[static 32])
{
	ret[0] = '\0';
	if (js_int(o, "width"))
		snprintf(ret, 32, "%dx %.8s", (int)js_int(o, "width"), js_str(o, "speed"));
	return ret;
}

char *ctl_list(struct json_object *array, const char *between, char *ret, size_t cap)
{
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < js_len(array) && len + 14 < cap; i++)
		len += (size_t)snprintf(ret + len, cap - len, "%s%s", i ? between : "",
					json_object_get_string(js_at(array, i)));
	return ret;
}

static char *time_text(int64_t seconds)
{
	time_t t = (time_t)seconds;
	char text[40] = "-";
	struct tm tm;

	if (t && localtime_r(&t, &tm))
		strftime(text, sizeof(text), "%FT%T", &tm);
	return xstrdup(text);
}

/* ---- tables --------------------------------------------------------------------------------- */

struct cell {
	char *text;
	enum ctl_color color;
};

struct table {
	const struct ctl *c;
	const struct column *columns[COLUMNS_MAX];
	size_t n_columns;
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

/* Number of columns on a terminal: continuation bytes of UTF-8 characters take none. */
static size_t columns_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		if (((unsigned char)*text & 0xC0) != 0x80)
			n++;
	return n;
}

/* The text of a record in a column, to be freed. */
static char *cell_text(const struct column *column, struct json_object *o, size_t index)
{
	const char *key = column->key;
	char gbps[32], list[64];

	if (column->text)
		return column->text(o);
	if (column->otherwise && !js_has(o, key))
		return xstrdup(column->otherwise);
	switch (column->kind) {
	case COLUMN_STR:
		return xstrdup(js_str(o, key));
	case COLUMN_TIME:
		return time_text(js_int(o, key));
	case COLUMN_LIST:
		return xstrdup(ctl_list(js_get(o, key), ",", list, sizeof(list)));
	case COLUMN_LINK:
		return xstrdup(ctl_link(o, list));
	case COLUMN_NATURAL:
		if (!js_int(o, key))
			return xstrdup("");
		/* fall through */
	case COLUMN_INT:
		return xasprintf("%" PRId64, js_int(o, key));
	case COLUMN_GBPS:
		return xstrdup(ctl_gbps(js_num(o, key), gbps));
	case COLUMN_LEN:
		return xasprintf("%zu", js_len(js_get(o, key)));
	case COLUMN_PLACE:
		return ctl_place(key ? js_get(o, key) : o);
	case COLUMN_INDEX:
		break;
	}
	return xasprintf("%zu", index);
}

static void add_columns(struct table *t, const struct column *columns, struct json_object *first)
{
	for (const struct column *column = columns; column->head; column++) {
		if (column->optional && !js_has(first, column->key))
			continue;
		assert(t->n_columns < COLUMNS_MAX);
		t->width[t->n_columns] = head_len(column->head);
		t->columns[t->n_columns++] = column;
	}
}

static void add_record(struct table *t, struct json_object *o, size_t index)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *column = t->columns[i];
		struct cell *cell = &t->cells[index * t->n_columns + i];

		cell->text = cell_text(column, o, index);
		cell->color = column->tint ? column->tint(o) : column->color;
		if (!cell->text[0]) {
			free(cell->text);
			cell->text = xstrdup("-");
		}
		t->width[i] = MAX(t->width[i], columns_of(cell->text));
	}
}

static void print_cell(const struct table *t, size_t i, const char *text, size_t len,
		       enum ctl_color color)
{
	size_t wide = columns_of(text) - (strlen(text) - len);
	int pad = t->c->oneline ? 0 : (int)(t->width[i] - wide);
	bool number = is_number(t->columns[i]->head);

	if (number)
		printf("%*s", pad, "");
	printf("%s%.*s%s", color ? ctl_color(t->c, color) : "", (int)len, text,
	       color ? ctl_color(t->c, CTL_PLAIN) : "");
	if (i + 1 == t->n_columns)
		putchar('\n');
	else if (t->c->oneline)
		putchar('\t');
	else
		printf("%*s", number ? 2 : pad + 2, "");
}

static void print_record(const struct table *t, const struct cell *cells)
{
	if (t->c->oneline && t->c->turn)
		printf("%s\t", t->c->turn);
	for (size_t i = 0; i < t->n_columns; i++) {
		print_cell(t, i, cells[i].text, strlen(cells[i].text), cells[i].color);
		free(cells[i].text);
	}
}

void ctl_print_table(const struct ctl *c, const struct column *columns, struct json_object *records)
{
	struct table t = { .c = c };
	size_t n = js_len(records);

	add_columns(&t, columns, js_at(records, 0));
	t.cells = xcalloc(n * t.n_columns + 1, sizeof(*t.cells));
	for (size_t k = 0; k < n; k++)
		add_record(&t, js_at(records, k), k);
	for (size_t i = 0; !c->oneline && i < t.n_columns; i++)
		print_cell(&t, i, t.columns[i]->head, head_len(t.columns[i]->head), CTL_DIM);
	for (size_t k = 0; k < n; k++)
		print_record(&t, &t.cells[k * t.n_columns]);
	free(t.cells);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

void ctl_print_json(const struct ctl *c, struct json_object *value)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	if (c->answers) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "instance", json_object_new_string(c->turn));
		json_object_object_add(o, "answer", json_object_get(value));
		json_object_array_add(c->answers, o);
		return;
	}
	if (c->pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	printf("%s\n", json_object_to_json_string_ext(value, flags));
}

const char *ctl_copies(struct json_object *answer, char ret[CTL_COPIES_STRLEN])
{
	int64_t n = js_int(answer, "standbys"), with = js_int(answer, "standbys_with");

	if (n)
		snprintf(ret, CTL_COPIES_STRLEN,
			 "stored here and by %" PRId64 " of %" PRId64 " standby%s", with, n,
			 n == 1 ? "" : "s");
	else
		snprintf(ret, CTL_COPIES_STRLEN, "stored here; there is no standby");
	return ret;
}
