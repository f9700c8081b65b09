// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lists of GUIDs and of switch ports. Names: names.c.
 */
#include "conf/lists/lists.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "conf/text/lines.h"
#include "conf/lists/modules.h"
#include "conf/partitions/partitions.h"
#include "conf/lists/prefixes.h"
#include "util/mem.h"
#include "util/str.h"

/* The blanks of isspace(). */
#define LINE_BLANKS " \t\n\v\f\r"

/* A line without faults. */
struct entry {
	struct conf_guid_port item;
	struct conf_place at;
	unsigned twin; /* line of the entry for the same device that holds instead; 0: none */
};

struct list {
	enum conf_list kind;
	struct conf_report *report;
	struct entry *entries;
	size_t n, cap;
};

/* --- One line ------------------------------------------------------------------------------- */

static bool is_space(char c)
{
	return isspace((unsigned char)c);
}

char *conf_line_word(char **rest)
{
	char *word = *rest + strspn(*rest, LINE_BLANKS);

	*rest = word + strcspn(word, LINE_BLANKS);
	if (**rest)
		*(*rest)++ = '\0';
	return word;
}

/* Warns of octal numbers, and of numbers that may be GUIDs without 0x. */
static void remark_base(const char *word, const struct conf_place *at, struct conf_report *r)
{
	bool octal = word[0] == '0' && isdigit((unsigned char)word[1]);

	if (octal || (isdigit((unsigned char)word[1]) && strlen(word) == 16))
		conf_report_at(r, CONF_WARNING, at, "\"%s\" is read as %s; did you mean 0x%s?",
			       word, octal ? "octal" : "decimal", word);
}

int conf_line_guid(struct line *line, struct conf_report *r, guid_t *ret, char **ret_rest)
{
	char *start = line->text, *end, cut, quoted[CONF_QUOTE_MAX];
	struct conf_place at;
	uint64_t guid = 0;
	int e;

	while (is_space(*start))
		start++;
	if (!*start || *start == '#')
		return 0;
	at = line_place(line, start);
	for (end = start; *end && !is_space(*end) && *end != '#';)
		end++;
	cut = *end;
	*end = '\0';
	e = str_to_u64(start, 0, UINT64_MAX, &guid);
	if (e < 0 || !guid) {
		conf_report_at(
			r, CONF_ERROR, &at,
			"%s is no GUID; expected 0x0002c90300a1b2c3 or so; the line is ignored",
			conf_quote(start, strlen(start), quoted));
		return -EINVAL;
	}
	remark_base(start, &at, r);
	*end = cut;
	while (is_space(*end))
		end++;
	*ret = guid;
	*ret_rest = end;
	return 1;
}

/* Reads a number of 1 to `max`. */
static int read_number(struct list *list, const struct line *line, char **rest, const char *what,
		       unsigned max, uint8_t *ret)
{
	char *word = conf_line_word(rest), quoted[CONF_QUOTE_MAX];
	struct conf_place at = line_place(line, word);
	bool octal = word[0] == '0' && isdigit((unsigned char)word[1]);
	uint64_t n = 0;

	if (!octal && str_to_u64(word, 0, max, &n) == 0 && n) {
		*ret = (uint8_t)n;
		return 0;
	}
	conf_report_at(list->report, CONF_ERROR, &at,
		       "%s; expected a %s of 1-%u; the line is ignored",
		       *word ? conf_quote(word, strlen(word), quoted) : "no number", what, max);
	return -EINVAL;
}

static int read_numbers(struct list *list, const struct line *line, char *rest,
			struct conf_guid_port *ret)
{
	char quoted[CONF_QUOTE_MAX], *word;

	if (list->kind == CONF_LIST_GUIDS)
		return 0;
	rest[strcspn(rest, "#")] = '\0';
	if (read_number(list, line, &rest, "port", IB_MAX_PORTS, &ret->port) < 0)
		return -EINVAL;
	if (list->kind == CONF_LIST_WEIGHTS &&
	    read_number(list, line, &rest, "weight", UINT8_MAX, &ret->weight) < 0)
		return -EINVAL;
	word = conf_line_word(&rest);
	if (*word) {
		struct conf_place at = line_place(line, word);

		conf_report_at(list->report, CONF_WARNING, &at,
			       "%s and what follows is ignored; expected the end of the line",
			       conf_quote(word, strlen(word), quoted));
	}
	return 0;
}

static void read_entry(void *arg, struct line *line)
{
	struct list *list = arg;
	struct entry e = { .at = line->at };
	char *rest;

	if (conf_line_guid(line, list->report, &e.item.guid, &rest) <= 0)
		return;
	if (read_numbers(list, line, rest, &e.item) < 0)
		return;
	GROW(list->entries, list->n + 1, list->cap);
	list->entries[list->n++] = e;
}

/* --- Duplicates ----------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a;
	const struct entry *y = *(const struct entry *const *)b;

	if (x->item.guid != y->item.guid)
		return x->item.guid < y->item.guid ? -1 : 1;
	if (x->item.port != y->item.port)
		return x->item.port < y->item.port ? -1 : 1;
	return x->at.line < y->at.line ? -1 : x->at.line > y->at.line;
}

static bool same_thing(const struct entry *a, const struct entry *b)
{
	return a->item.guid == b->item.guid && a->item.port == b->item.port;
}

/* Finds entries for the same device: of weights the last holds, of other lists the first. */
static void mark_twins(struct list *list)
{
	_cleanup_free_ struct entry **sorted = xcalloc(list->n + 1, sizeof(*sorted));
	bool last_counts = list->kind == CONF_LIST_WEIGHTS;
	size_t end;

	for (size_t i = 0; i < list->n; i++)
		sorted[i] = &list->entries[i];
	qsort(sorted, list->n, sizeof(*sorted), compare_entries);
	for (size_t i = 0; i < list->n; i = end) {
		struct entry *counts;

		for (end = i + 1; end < list->n && same_thing(sorted[i], sorted[end]);)
			end++;
		counts = sorted[last_counts ? end - 1 : i];
		for (size_t k = i; k < end; k++)
			if (sorted[k] != counts)
				sorted[k]->twin = counts->at.line;
	}
}

static void drop_twins(struct list *list)
{
	size_t kept = 0;

	mark_twins(list);
	for (size_t i = 0; i < list->n; i++) {
		struct entry *e = &list->entries[i];

		if (e->twin)
			conf_report_at(list->report, CONF_WARNING, &e->at,
				       "also in line %u, which counts; this line is ignored",
				       e->twin);
		else
			list->entries[kept++] = *e;
	}
	list->n = kept;
}

/* --- Files ---------------------------------------------------------------------------------- */

static void give_guids(struct list *list, struct conf_guids *ret)
{
	drop_twins(list);
	ret->guids = list->n ? xcalloc(list->n, sizeof(*ret->guids)) : NULL;
	ret->n = list->n;
	for (size_t i = 0; i < list->n; i++)
		ret->guids[i] = list->entries[i].item.guid;
	free(list->entries);
}

int conf_guids_read_text(const char *path, const char *text, size_t len, struct conf_guids *ret,
			 struct conf_report *r)
{
	struct list list = { .kind = CONF_LIST_GUIDS, .report = r };
	int e = lines_split(path, text, len, r, read_entry, &list);

	give_guids(&list, ret);
	return e;
}

void conf_guids_clear(struct conf_guids *g)
{
	free(g->guids);
	*g = (struct conf_guids){ 0 };
}

static void give_ports(struct list *list, struct conf_guid_ports *ret)
{
	drop_twins(list);
	ret->items = list->n ? xcalloc(list->n, sizeof(*ret->items)) : NULL;
	ret->n = list->n;
	for (size_t i = 0; i < list->n; i++)
		ret->items[i] = list->entries[i].item;
	free(list->entries);
}

int conf_guid_ports_read_text(const char *path, const char *text, size_t len, enum conf_list kind,
			      struct conf_guid_ports *ret, struct conf_report *r)
{
	struct list list = { .kind = kind, .report = r };
	int e = lines_split(path, text, len, r, read_entry, &list);

	give_ports(&list, ret);
	return e;
}

void conf_guid_ports_clear(struct conf_guid_ports *p)
{
	free(p->items);
	*p = (struct conf_guid_ports){ 0 };
}

/* ---- in an option ---- */

void conf_guids_words(const char *name, const char *text, const struct conf_place *at,
		      struct conf_guids *ret, struct conf_report *r)
{
	_cleanup_free_ char *copy = xstrdup(text ? text : "");
	char quoted[CONF_QUOTE_MAX], *save = NULL;
	size_t cap = 0;

	*ret = (struct conf_guids){ 0 };
	for (char *w = strtok_r(copy, ", \t", &save); w; w = strtok_r(NULL, ", \t", &save)) {
		uint64_t guid = 0;

		if (str_to_u64(w, 0, UINT64_MAX, &guid) < 0 || !guid)
			conf_report_at(r, CONF_ERROR, at,
				       "%s: %s is no GUID; expected 0x0002c90300a1b2c3 or so; "
				       "the word stands for no port",
				       name, conf_quote(w, strlen(w), quoted));
		else
			remark_base(w, at, r);
		GROW(ret->guids, ret->n + 1, cap);
		ret->guids[ret->n++] = guid;
	}
}

bool conf_guids_has(const struct conf_guids *g, guid_t guid)
{
	for (size_t i = 0; i < g->n; i++) {
		if (g->guids[i] == guid && guid)
			return true;
	}
	return false;
}
