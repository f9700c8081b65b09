// SPDX-License-Identifier: BSD-2-Clause
/* Reads lists of hosts. Of several lines for a host the first one holds. */
#include "conf/lists/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "conf/text/lines.h"
#include "util/mem.h"
#include "util/str.h"

#define HEX_DIGITS 16 /* of 64 bits */

struct reader {
	struct conf_hosts *to;
	size_t cap;
	struct conf_report *report;
	bool full;
};

struct word {
	const char *at;
	size_t len;
};

static void refuse(struct reader *rd, const struct line *line, struct word w, const char *expected)
{
	struct conf_place at = line_place(line, w.at);
	char quoted[CONF_QUOTE_MAX];

	conf_report_at(rd->report, CONF_ERROR, &at, "%s; expected %s; the line is ignored",
		       conf_quote(w.at, w.len, quoted), expected);
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The content of a line without its comment and the blanks around it. */
static struct word content_of(const char *text)
{
	struct word w = { .at = text };
	bool quoted;

	while (is_blank(*w.at))
		w.at++;
	quoted = *w.at == '"';
	for (; w.at[w.len]; w.len++) {
		char c = w.at[w.len];

		if (!quoted && c == '#' && (!w.len || is_blank(w.at[w.len - 1])))
			break;
		if (quoted && w.len && c == '"')
			quoted = false;
	}
	while (w.len && is_blank(w.at[w.len - 1]))
		w.len--;
	return w;
}

static bool take_guid(struct reader *rd, const struct line *line, struct word w, guid_t *ret)
{
	char digits[2 + HEX_DIGITS + 1];

	if (w.len <= 2 + HEX_DIGITS) {
		snprintf(digits, sizeof(digits), "%.*s", (int)w.len, w.at);
		if (str_to_u64(digits, 16, UINT64_MAX, ret) == 0 && *ret)
			return true;
	}
	refuse(rd, line, w, "0x and a GUID of up to 16 hexadecimal digits that is not 0, alone on "
			    "the line");
	return false;
}

static bool take_name(struct reader *rd, const struct line *line, struct word w, char **ret)
{
	struct word in = w;

	if (*w.at == '"') {
		in = (struct word){ w.at + 1, w.len > 1 ? w.len - 2 : 0 };
		if (!in.len || w.at[w.len - 1] != '"' || memchr(in.at, '"', in.len)) {
			refuse(rd, line, w, "a name, and a closing quote at its end");
			return false;
		}
	}
	*ret = xasprintf("%.*s", (int)in.len, in.at);
	return true;
}

static bool has_room(struct reader *rd, const struct line *line)
{
	if (rd->to->n < CONF_HOSTS_MAX)
		return true;
	if (!rd->full)
		conf_report_at(rd->report, CONF_ERROR, &line->at,
			       "more than %d hosts; this line and those that follow are ignored",
			       CONF_HOSTS_MAX);
	rd->full = true;
	return false;
}

static void read_one(void *arg, struct line *line)
{
	struct reader *rd = arg;
	struct word w = content_of(line->text);
	struct conf_place at = line_place(line, w.at);
	struct conf_host one = { .line = at.line, .column = at.column };

	if (!w.len || !has_room(rd, line))
		return;
	if (w.len >= 2 && !strncmp(w.at, "0x", 2) ? !take_guid(rd, line, w, &one.guid)
						  : !take_name(rd, line, w, &one.name))
		return;
	GROW(rd->to->items, rd->to->n + 1, rd->cap);
	rd->to->items[rd->to->n++] = one;
}

/* ---- each once ------------------------------------------------------------------------------ */

static int compare(const struct conf_host *a, const struct conf_host *b)
{
	if (!a->name != !b->name)
		return a->name ? 1 : -1;
	if (a->name)
		return strcmp(a->name, b->name);
	return (a->guid > b->guid) - (a->guid < b->guid);
}

static int compare_places(const void *va, const void *vb)
{
	const struct conf_host *const *a = va, *const *b = vb;
	int order = compare(*a, *b);

	return order ? order : ((*a)->line > (*b)->line) - ((*a)->line < (*b)->line);
}

static void refuse_again(const char *path, const struct conf_host *first,
			 const struct conf_host *again, struct conf_report *r)
{
	struct conf_place at = { .file = path, .line = again->line, .column = again->column };

	conf_report_at(r, CONF_ERROR, &at,
		       "it stands on line %u already; expected each once; the line is "
		       "ignored",
		       first->line);
}

/* Gives duplicates of an earlier line, which are ignored, the number 0. */
static void find_again(const char *path, struct conf_hosts *h, struct conf_report *r)
{
	_cleanup_free_ struct conf_host **order = xcalloc(h->n + 1, sizeof(struct conf_host *));
	size_t first = 0;

	for (size_t i = 0; i < h->n; i++)
		order[i] = &h->items[i];
	if (h->n)
		qsort(order, h->n, sizeof(struct conf_host *), compare_places);
	for (size_t i = 1; i < h->n; i++) {
		if (compare(order[first], order[i])) {
			first = i;
			continue;
		}
		refuse_again(path, order[first], order[i], r);
		order[i]->line = 0;
	}
}

static void drop_again(struct conf_hosts *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		if (h->items[i].line)
			h->items[n++] = h->items[i];
		else
			free(h->items[i].name);
	h->n = n;
}

int conf_hosts_read_text(const char *path, const char *text, size_t len, struct conf_hosts *ret,
			 struct conf_report *r)
{
	struct reader rd = { .to = ret, .report = r };
	int error;

	*ret = (struct conf_hosts){ 0 };
	error = lines_split(path, text, len, r, read_one, &rd);
	find_again(path, ret, r);
	drop_again(ret);
	return error;
}

void conf_hosts_clear(struct conf_hosts *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->items[i].name);
	free(h->items);
	*h = (struct conf_hosts){ 0 };
}
