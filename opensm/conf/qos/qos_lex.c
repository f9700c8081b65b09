// SPDX-License-Identifier: BSD-2-Clause
/*
 * Words and values of qos-policy.conf (qos.md 2). Words can be anywhere, a value ends with its
 * line.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/qos/qos_internal.h"
#include "util/bisect.h"
#include "util/str.h"

#define NUMBER_MAX 24 /* longer than any number of 64 bits */
#define QUOTE_LEN  24

/* ---- words ---------------------------------------------------------------------------------- */

struct conf_place lex_place(const struct lex *x, const char *p)
{
	return (struct conf_place){ x->file, x->line, (unsigned)(p - x->line_start) + 1 };
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct lex *x)
{
	while (x->at < x->end && is_blank(*x->at))
		x->at++;
}

void lex_skip_line(struct lex *x)
{
	const char *eol = memchr(x->at, '\n', (size_t)(x->end - x->at));

	x->at = eol ? eol : x->end;
}

/* Skips blanks, comments and ends of lines. */
static void skip_lines(struct lex *x)
{
	for (;;) {
		skip_blanks(x);
		if (x->at < x->end && *x->at == '#')
			lex_skip_line(x);
		if (x->at == x->end || *x->at != '\n')
			return;
		x->line_start = ++x->at;
		x->line++;
	}
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

struct word lex_word_here(struct lex *x)
{
	struct word w = { .len = 0 };

	skip_blanks(x);
	w.from = x->at;
	w.at = lex_place(x, x->at);
	while (x->at < x->end && is_of_word(*x->at)) {
		if (w.len < LEX_WORD_MAX)
			w.text[w.len] = *x->at;
		x->at++;
		w.len++;
	}
	return w;
}

struct word lex_word(struct lex *x)
{
	skip_lines(x);
	return lex_word_here(x);
}

bool lex_at_end(struct lex *x)
{
	skip_lines(x);
	return x->at == x->end;
}

bool lex_take(struct lex *x, char c)
{
	skip_blanks(x);
	if (x->at == x->end || *x->at != c)
		return false;
	x->at++;
	return true;
}

static void trim(struct slice *s)
{
	while (s->from < s->to && is_blank(*s->from)) {
		s->from++;
		s->at.column++;
	}
	while (s->from < s->to && is_blank(s->to[-1]))
		s->to--;
}

struct slice lex_rest(struct lex *x, char stop)
{
	struct slice s = { .from = x->at, .at = lex_place(x, x->at) };
	bool quoted = false;

	while (x->at < x->end && *x->at != '\n' &&
	       (quoted || (*x->at != '#' && (!stop || *x->at != stop)))) {
		if (*x->at == '"')
			quoted = !quoted;
		x->at++;
	}
	s.to = x->at;
	trim(&s);
	if (x->at < x->end && *x->at == '#')
		lex_skip_line(x);
	return s;
}

const char *lex_quote(const struct lex *x, const char *from, char ret[static CONF_QUOTE_MAX])
{
	size_t len = 0;

	while (from + len < x->end && from[len] != '\n' && len < QUOTE_LEN)
		len++;
	if (len)
		return conf_quote(from, len, ret);
	return from == x->end ? "the end of the file" : "the end of the line";
}

const char *slice_quote(const struct slice *s, char ret[static CONF_QUOTE_MAX])
{
	return s->from == s->to ? "nothing" : conf_quote(s->from, (size_t)(s->to - s->from), ret);
}

/* ---- ranges --------------------------------------------------------------------------------- */

void qos_ranges_add(struct qos_ranges *r, uint64_t first, uint64_t last)
{
	GROW(r->items, r->n + 1, r->cap);
	r->items[r->n++] = (struct qos_range){ MIN(first, last), MAX(first, last) };
}

static int compare_ranges(const void *a, const void *b)
{
	const struct qos_range *x = a, *y = b;

	return COMPARE(x->first, y->first);
}

void qos_ranges_merge(struct qos_ranges *r)
{
	size_t n = 0;

	if (r->n)
		qsort(r->items, r->n, sizeof(*r->items), compare_ranges);
	for (size_t i = 0; i < r->n; i++) {
		struct qos_range *last = n ? &r->items[n - 1] : NULL;

		if (last && (last->last == UINT64_MAX || r->items[i].first <= last->last + 1))
			last->last = MAX(last->last, r->items[i].last);
		else
			r->items[n++] = r->items[i];
	}
	r->n = n;
}

bool qos_ranges_have(const struct qos_ranges *r, uint64_t value)
{
	size_t at = BISECT(i, 0, r->n, r->items[i].last < value);

	return at < r->n && r->items[at].first <= value;
}

/* ---- numbers -------------------------------------------------------------------------------- */

bool slice_next(struct slice *rest, struct slice *ret)
{
	bool quoted = false;
	const char *p = rest->from;

	if (!p)
		return false;
	for (; p < rest->to && (quoted || *p != ','); p++)
		if (*p == '"')
			quoted = !quoted;
	*ret = (struct slice){ rest->from, p, rest->at };
	trim(ret);
	rest->at.column += (unsigned)(p + 1 - rest->from);
	rest->from = p < rest->to ? p + 1 : NULL;
	return true;
}

char *slice_text(const struct slice *s)
{
	size_t len = (size_t)(s->to - s->from);
	char *text = xmalloc(len + 1);

	memcpy(text, s->from, len);
	text[len] = '\0';
	return text;
}

static void remark_octal(struct lex *x, const char *text, const struct conf_place *at,
			 uint64_t value)
{
	if (text[0] == '0' && isdigit((unsigned char)text[1]) && value)
		conf_report_at(x->report, CONF_WARNING, at,
			       "\"%s\" is read as octal, %" PRIu64 "; did you mean 0x%s?", text,
			       value, text);
}

/* Reads a number within bounds. False: an error was added. */
static bool read_number(struct lex *x, const struct slice *s, uint64_t least, uint64_t most,
			uint64_t *ret)
{
	char quoted[CONF_QUOTE_MAX], text[NUMBER_MAX + 1];
	size_t len = MIN((size_t)(s->to - s->from), (size_t)NUMBER_MAX);
	int r;

	memcpy(text, s->from, len);
	text[len] = '\0';
	r = str_to_u64(text, 0, UINT64_MAX, ret);
	if (r == 0 && *ret >= least && *ret <= most && len == (size_t)(s->to - s->from)) {
		remark_octal(x, text, &s->at, *ret);
		return true;
	}
	if (r == -EINVAL)
		conf_report_at(x->report, CONF_ERROR, &s->at, "found %s, expected a number",
			       slice_quote(s, quoted));
	else
		conf_report_at(x->report, CONF_ERROR, &s->at,
			       "%s is out of range, expected %" PRIu64 " to %" PRIu64 " (0x%" PRIx64
			       ")",
			       slice_quote(s, quoted), least, most, most);
	return false;
}

bool lex_number(struct lex *x, const struct slice *s, uint64_t least, uint64_t most, uint64_t *ret)
{
	return read_number(x, s, least, most, ret);
}

/* Reads "A-B" or "A". */
static bool read_range(struct lex *x, const struct slice *s, uint64_t most, struct qos_range *ret)
{
	const char *dash = memchr(s->from, '-', (size_t)(s->to - s->from));
	struct slice a = *s, b;

	if (!dash) {
		if (!read_number(x, s, 0, most, &ret->first))
			return false;
		ret->last = ret->first;
		return true;
	}
	a.to = dash;
	b = (struct slice){ dash + 1, s->to, s->at };
	b.at.column += (unsigned)(dash + 1 - s->from);
	trim(&a);
	trim(&b);
	return read_number(x, &a, 0, most, &ret->first) && read_number(x, &b, 0, most, &ret->last);
}

/* Counts a range. False: the file has too many, which would need too much memory. */
static bool count_range(struct lex *x, const struct slice *s)
{
	if (x->n_ranges++ < QOS_RANGES_MAX)
		return true;
	if (x->n_ranges == QOS_RANGES_MAX + 1)
		conf_report_at(x->report, CONF_ERROR, &s->at,
			       "too many numbers and ranges, expected %u in a file at most",
			       QOS_RANGES_MAX);
	return false;
}

bool lex_ranges(struct lex *x, const struct slice *s, uint64_t most, struct qos_ranges *ret)
{
	struct slice rest = *s, item;

	while (slice_next(&rest, &item)) {
		struct qos_range r;

		if (!count_range(x, &item) || !read_range(x, &item, most, &r))
			return false;
		qos_ranges_add(ret, r.first, r.last);
	}
	qos_ranges_merge(ret);
	return true;
}

/* Clears bit 15 of both ends. */
static struct qos_range mask_pkeys(struct lex *x, const struct slice *s, struct qos_range r)
{
	struct qos_range ret = { r.first & 0x7FFF, r.last & 0x7FFF };
	char quoted[CONF_QUOTE_MAX];

	if ((r.first ^ r.last) & 0x8000)
		conf_report_at(x->report, CONF_WARNING, &s->at,
			       "%s: bit 15 says full member, and does not count: this is 0x%04x to "
			       "0x%04x",
			       slice_quote(s, quoted), (unsigned)MIN(ret.first, ret.last),
			       (unsigned)MAX(ret.first, ret.last));
	return ret;
}

bool lex_pkeys(struct lex *x, const struct slice *s, struct qos_ranges *ret)
{
	struct slice rest = *s, item;

	while (slice_next(&rest, &item)) {
		struct qos_range r;

		if (!count_range(x, &item) || !read_range(x, &item, 0xFFFF, &r))
			return false;
		r = mask_pkeys(x, &item, r);
		qos_ranges_add(ret, r.first, r.last);
	}
	qos_ranges_merge(ret);
	return true;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Reads a name and removes quotes and the blanks outside of them. NULL: an error was added. */
static char *read_name(struct lex *x, const struct slice *s)
{
	char *text = xmalloc((size_t)(s->to - s->from) + 1), *to = text;
	bool quoted = false;

	for (const char *p = s->from; p < s->to; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (quoted || !is_blank(*p))
			*to++ = *p;
	}
	*to = '\0';
	if (!quoted && *text)
		return text;
	conf_report_at(x->report, CONF_ERROR, &s->at, "found %s, expected %s",
		       quoted ? "an opening quote" : "nothing",
		       quoted ? "a closing one on the same line" : "a name");
	free(text);
	return NULL;
}

bool lex_names(struct lex *x, const struct slice *s, struct qos_strings *ret)
{
	struct slice rest = *s, item;

	while (slice_next(&rest, &item)) {
		char *name = count_range(x, &item) ? read_name(x, &item) : NULL;

		if (!name)
			return false;
		GROW(ret->items, ret->n + 1, ret->cap);
		ret->items[ret->n++] = name;
	}
	return true;
}

bool lex_name(struct lex *x, const struct slice *s, char **ret)
{
	struct slice rest = *s, item;
	char *name;

	slice_next(&rest, &item);
	if (rest.from) {
		conf_report_at(x->report, CONF_ERROR, &item.at,
			       "found several names, expected one; write a comma that belongs to "
			       "it in double quotes");
		return false;
	}
	name = read_name(x, &item);
	if (!name)
		return false;
	free(*ret);
	*ret = name;
	return true;
}
