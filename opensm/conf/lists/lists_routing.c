// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lists that only routing engines read: numbers of switches (ids_guid_file) and the order of their
 * ports (port_search_ordering_file). Syntax and handling of faults as in lists.c; of several lines
 * for a switch the first one holds.
 */
#include "conf/lists/lists_routing.h"

#include <string.h>

#include "conf/text/lines.h"
#include "util/mem.h"
#include "util/str.h"

/* A GUID and its line, to be sorted for duplicates. */
struct seen {
	guid_t guid;
	unsigned line;
};

static int by_guid(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

struct reading {
	struct conf_report *report;
	struct seen *seen;
	size_t n, cap;
	struct conf_guid_ids *ids;
	struct conf_port_orders *orders;
	size_t cap_items;
};

static void remember(struct reading *g, guid_t guid, unsigned line)
{
	GROW(g->seen, g->n + 1, g->cap);
	g->seen[g->n++] = (struct seen){ guid, line };
}

static void complain(struct reading *g, const struct line *line, const char *word,
		     const char *expected)
{
	struct conf_place at = line_place(line, word);
	char quoted[CONF_QUOTE_MAX];

	conf_report_at(g->report, CONF_ERROR, &at, "%s; expected %s; the line is ignored",
		       *word ? conf_quote(word, strlen(word), quoted) : "nothing", expected);
}

static void on_id(void *arg, struct line *line)
{
	struct reading *g = arg;
	struct conf_guid_id item = { 0 };
	char *rest, *word;

	if (conf_line_guid(line, g->report, &item.guid, &rest) <= 0)
		return;
	rest[strcspn(rest, "#")] = '\0';
	word = conf_line_word(&rest);
	if (str_to_u64(word, 0, UINT64_MAX, &item.id) < 0) {
		complain(g, line, word, "a number");
		return;
	}
	remember(g, item.guid, line->at.line);
	GROW(g->ids->items, g->ids->n + 1, g->cap_items);
	g->ids->items[g->ids->n++] = item;
}

/* Adds a port to the order. False: the line is faulty. */
static bool add_port(struct reading *g, const struct line *line, const char *word,
		      struct conf_port_order *ret)
{
	uint64_t port = 0;

	if (str_to_u64(word, 10, IB_MAX_PORTS, &port) < 0 || !port) {
		complain(g, line, word, "port numbers of 1-254");
		return false;
	}
	if (memchr(ret->ports, (int)port, ret->n)) {
		complain(g, line, word, "each port once");
		return false;
	}
	ret->ports[ret->n++] = (uint8_t)port;
	return true;
}

static void on_order(void *arg, struct line *line)
{
	struct reading *g = arg;
	struct conf_port_order item = { 0 };
	char *rest, *word;

	if (conf_line_guid(line, g->report, &item.guid, &rest) <= 0)
		return;
	rest[strcspn(rest, "#")] = '\0';
	for (word = conf_line_word(&rest); *word; word = conf_line_word(&rest))
		if (!add_port(g, line, word, &item))
			return;
	if (!item.n) {
		complain(g, line, word, "port numbers of 1-254");
		return;
	}
	remember(g, item.guid, line->at.line);
	GROW(g->orders->items, g->orders->n + 1, g->cap_items);
	g->orders->items[g->orders->n++] = item;
}

/* Reports switches with more than one line, of which the first holds. */
static void report_twins(struct reading *g, const char *path)
{
	if (g->n)
		qsort(g->seen, g->n, sizeof(*g->seen), by_guid);
	for (size_t i = 1; i < g->n; i++) {
		struct conf_place at = { .file = path, .line = g->seen[i].line, .column = 1 };

		if (g->seen[i].guid != g->seen[i - 1].guid)
			continue;
		conf_report_at(g->report, CONF_WARNING, &at,
			       "also in line %u, which counts; this line is ignored",
			       g->seen[i - 1].line);
		/* of three lines, the third refers to the first too */
		g->seen[i].line = g->seen[i - 1].line;
	}
	free(g->seen);
}

int conf_guid_ids_read_text(const char *path, const char *text, size_t len,
			    struct conf_guid_ids *ret, struct conf_report *r)
{
	struct reading g = { .report = r, .ids = ret };
	int e;

	*ret = (struct conf_guid_ids){ 0 };
	e = lines_split(path, text, len, r, on_id, &g);
	report_twins(&g, path);
	return e;
}

void conf_guid_ids_clear(struct conf_guid_ids *ids)
{
	free(ids->items);
	*ids = (struct conf_guid_ids){ 0 };
}

int conf_port_orders_read_text(const char *path, const char *text, size_t len,
			       struct conf_port_orders *ret, struct conf_report *r)
{
	struct reading g = { .report = r, .orders = ret };
	int e;

	*ret = (struct conf_port_orders){ 0 };
	e = lines_split(path, text, len, r, on_order, &g);
	report_twins(&g, path);
	return e;
}

void conf_port_orders_clear(struct conf_port_orders *orders)
{
	free(orders->items);
	*orders = (struct conf_port_orders){ 0 };
}
