// SPDX-License-Identifier: BSD-2-Clause
/*
 * Aligned tables. Where a terminal is too narrow, sentences are folded first, then columns are left
 * out in the order of their rows, which a line below the table says, and at last names are cut in
 * their middle, as their ends tell them apart.
 */
#include <assert.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"

#define COLUMNS_MAX	 16
#define BETWEEN		 2 /* blanks between two columns */
/* Columns to which a sentence may be folded: before columns are left out, before names are cut. */
#define SENTENCE_LEAST	 24
#define SENTENCE_AT_LAST 14
#define NAME_LEAST	 12 /* columns to which a name may be cut */

struct cell {
	char *text;
	enum ctl_color color;
};

struct table {
	const struct ctl *c;
	const struct column *columns[COLUMNS_MAX];
	size_t n_columns;
	size_t width[COLUMNS_MAX];
	bool left_out[COLUMNS_MAX];
	size_t sentence_least;
	struct cell *cells;
	size_t n_records;
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

/* ---- cells ----------------------------------------------------------------------------------- */

/* The text of a record in a column, to be freed. */
static char *cell_text(const struct column *column, struct json_object *o, size_t index)
{
	const char *key = column->key;
	char gbps[32], list[64], time[CTL_TIME_STRLEN];

	if (column->text)
		return column->text(o);
	if (column->otherwise && !js_has(o, key))
		return xstrdup(column->otherwise);
	switch (column->kind) {
	case COLUMN_STR:
		return xstrdup(js_str(o, key));
	case COLUMN_TIME:
		return xstrdup(ctl_time_of(o, key, time));
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
		t->width[i] = MAX(t->width[i], ctl_columns(cell->text));
	}
}

/* ---- fitting --------------------------------------------------------------------------------- */

static size_t least_of(const struct table *t, size_t i)
{
	return MAX(head_len(t->columns[i]->head), t->sentence_least);
}

/* Width of the table if sentences are folded as far as they may be, or not at all. */
static size_t total(const struct table *t, bool folded)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->n_columns; i++)
		if (!t->left_out[i])
			sum += BETWEEN + (folded && t->columns[i]->folds
						  ? MIN(t->width[i], least_of(t, i))
						  : t->width[i]);
	return sum ? sum - BETWEEN : 0;
}

/* Makes sentences narrower, the widest first, until the table fits or none may be narrower. */
static void fold_sentences(struct table *t)
{
	while (total(t, false) > t->c->width) {
		size_t widest = COLUMNS_MAX;

		for (size_t i = 0; i < t->n_columns; i++)
			if (!t->left_out[i] && t->columns[i]->folds &&
			    t->width[i] > least_of(t, i) &&
			    (widest == COLUMNS_MAX || t->width[i] > t->width[widest]))
				widest = i;
		if (widest == COLUMNS_MAX)
			return;
		t->width[widest]--;
	}
}

/* Leaves out the column that is needed least. False: all that are left are needed. */
static bool leave_one_out(struct table *t)
{
	size_t least = COLUMNS_MAX;

	for (size_t i = 0; i < t->n_columns; i++) {
		unsigned drop = t->columns[i]->drop;

		if (t->left_out[i] || !drop)
			continue;
		if (least == COLUMNS_MAX || drop < t->columns[least]->drop)
			least = i;
	}
	if (least == COLUMNS_MAX)
		return false;
	t->left_out[least] = true;
	return true;
}

/* Cuts the widest column of names by what is too much. False: none can be cut further. */
static bool cut_one(struct table *t)
{
	size_t over = total(t, true) - t->c->width, widest = COLUMNS_MAX, least;

	for (size_t i = 0; i < t->n_columns; i++)
		if (!t->left_out[i] && !t->columns[i]->folds && !is_number(t->columns[i]->head) &&
		    (widest == COLUMNS_MAX || t->width[i] > t->width[widest]))
			widest = i;
	if (widest == COLUMNS_MAX)
		return false;
	least = MAX(head_len(t->columns[widest]->head), (size_t)NAME_LEAST);
	if (t->width[widest] <= least)
		return false;
	t->width[widest] -= MIN(over, t->width[widest] - least);
	return true;
}

static void fit(struct table *t)
{
	while (total(t, true) > t->c->width && leave_one_out(t))
		;
	if (total(t, true) > t->c->width)
		t->sentence_least = SENTENCE_AT_LAST;
	while (total(t, true) > t->c->width && cut_one(t))
		;
	fold_sentences(t);
}

/* "a-long-na...hca-1": the middle is left out. */
static void cut_middle(struct cell *cell, size_t width)
{
	const char *dots = strcmp(nl_langinfo(CODESET), "UTF-8") != 0 ? "~" : "\u2026";
	size_t columns = ctl_columns(cell->text), front = width / 2, back;
	char *text;

	if (columns <= width)
		return;
	back = ctl_bytes(cell->text, columns - (width - front - 1));
	text = xasprintf("%.*s%s%s", (int)ctl_bytes(cell->text, front), cell->text, dots,
			 cell->text + back);
	free(cell->text);
	cell->text = text;
}

static void cut_names(struct table *t)
{
	for (size_t k = 0; k < t->n_records; k++)
		for (size_t i = 0; i < t->n_columns; i++)
			if (!t->left_out[i] && !t->columns[i]->folds)
				cut_middle(&t->cells[k * t->n_columns + i], t->width[i]);
}

/* ---- printing -------------------------------------------------------------------------------- */

static bool is_last(const struct table *t, size_t i)
{
	while (++i < t->n_columns)
		if (!t->left_out[i])
			return false;
	return true;
}

static void print_cell(const struct table *t, size_t i, const char *text, size_t len,
		       enum ctl_color color)
{
	size_t wide = ctl_columns(text) - (len < strlen(text) ? ctl_columns(text + len) : 0);
	int pad = t->c->oneline || wide > t->width[i] ? 0 : (int)(t->width[i] - wide);
	bool number = is_number(t->columns[i]->head), last = is_last(t, i);

	if (number)
		printf("%*s", pad, "");
	printf("%s%.*s%s", color ? ctl_color(t->c, color) : "", (int)len, text,
	       color ? ctl_color(t->c, CTL_PLAIN) : "");
	if (last)
		putchar('\n');
	else if (t->c->oneline)
		putchar('\t');
	else
		printf("%*s", number ? BETWEEN : pad + BETWEEN, "");
}

/* Bytes of the cell that stand in its first line. */
static size_t first_line(const struct table *t, size_t i, const char *text)
{
	return !t->c->oneline && t->columns[i]->folds && t->width[i] ? ctl_fold(text, t->width[i])
								     : strlen(text);
}

/* Prints the lines of a record behind the first; `rest` is what each cell has left. */
static void print_rest(const struct table *t, const struct cell *cells, const char **rest)
{
	for (;;) {
		size_t last = t->n_columns;

		for (size_t i = 0; i < t->n_columns; i++)
			if (rest[i] && *rest[i])
				last = i;
		if (last == t->n_columns)
			return;
		for (size_t i = 0, gap = 0; i <= last; i++) {
			size_t n = rest[i] && *rest[i] ? first_line(t, i, rest[i]) : 0;

			if (t->left_out[i])
				continue;
			if (!n) {
				gap += t->width[i] + BETWEEN;
				continue;
			}
			printf("%*s%s%.*s%s", (int)gap, "", ctl_color(t->c, cells[i].color), (int)n,
			       rest[i], ctl_color(t->c, CTL_PLAIN));
			gap = t->width[i] + BETWEEN -
			      (ctl_columns(rest[i]) - ctl_columns(rest[i] + n));
			rest[i] += n + strspn(rest[i] + n, " ");
		}
		putchar('\n');
	}
}

static void print_record(const struct table *t, const struct cell *cells)
{
	const char *rest[COLUMNS_MAX] = { NULL };

	if (t->c->oneline && t->c->turn)
		printf("%s\t", t->c->turn);
	for (size_t i = 0; i < t->n_columns; i++) {
		const char *text = cells[i].text;
		size_t n = first_line(t, i, text);

		if (t->left_out[i])
			continue;
		print_cell(t, i, text, n, cells[i].color);
		rest[i] = text + n + strspn(text + n, " ");
	}
	print_rest(t, cells, rest);
}

/* Says which columns there was no room for. */
static void print_left_out(const struct table *t)
{
	const char *between = "";

	for (size_t i = 0; i < t->n_columns; i++) {
		const char *head = t->columns[i]->head;

		if (!t->left_out[i])
			continue;
		printf("%s%.*s", between[0] ? between : "(no room for ", (int)head_len(head), head);
		between = ", ";
	}
	if (between[0])
		printf(": --wide)\n");
}

static void free_cells(struct table *t)
{
	for (size_t k = 0; k < t->n_records * t->n_columns; k++)
		free(t->cells[k].text);
	free(t->cells);
}

void ctl_print_table(const struct ctl *c, const struct column *columns, struct json_object *records)
{
	struct table t = { .c = c, .n_records = js_len(records), .sentence_least = SENTENCE_LEAST };

	add_columns(&t, columns, js_at(records, 0));
	t.cells = xcalloc(t.n_records * t.n_columns + 1, sizeof(*t.cells));
	for (size_t k = 0; k < t.n_records; k++)
		add_record(&t, js_at(records, k), k);
	if (c->width && !c->oneline) {
		fit(&t);
		cut_names(&t);
	}
	for (size_t i = 0; !c->oneline && i < t.n_columns; i++)
		if (!t.left_out[i])
			print_cell(&t, i, t.columns[i]->head, head_len(t.columns[i]->head),
				   CTL_DIM);
	for (size_t k = 0; k < t.n_records; k++)
		print_record(&t, &t.cells[k * t.n_columns]);
	print_left_out(&t);
	free_cells(&t);
}
