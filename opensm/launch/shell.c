// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads assignments the way a shell does, as far as one can without being one.
 *
 *   file  = { blank | comment | [ "export" ] NAME "=" word | ";" }
 *   word  = { char | "\" char | 'text' | "text" | $NAME | ${NAME} | ${NAME-text} | ${NAME:-text} }
 *
 * One pass, one position. A place that only a shell can follow is skipped as a whole, and what
 * depends on it is marked unknown: that is an error where it is one of our settings.
 */
#include "launch/sysconfig.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

#define WORD_LIMIT (1U << 18)

struct reader {
	const char *file, *at, *end;
	const char *line_start;
	unsigned line;
	struct sysconfig *into;
	struct conf_report *report;
	unsigned faults;

	/* The word being read. */
	char *word;
	size_t len, cap;
	bool unknown;	   /* something in it is only known to a shell */
	bool needed;	   /* one of our settings */
	bool too_long;
};

static unsigned column(const struct reader *r)
{
	return (unsigned)(r->at - r->line_start) + 1;
}

static int char_ahead(const struct reader *r, size_t ahead)
{
	return (size_t)(r->end - r->at) > ahead ? (unsigned char)r->at[ahead] : -1;
}

static void step_char(struct reader *r)
{
	if (*r->at++ != '\n')
		return;
	r->line++;
	r->line_start = r->at;
}

/* A variable may stand in itself, twice: what comes out is bounded. */
static void add_char(struct reader *r, char c)
{
	if (r->len == WORD_LIMIT) {
		r->too_long = true;
		return;
	}
	GROW(r->word, r->len + 2, r->cap);
	r->word[r->len++] = c;
	r->word[r->len] = '\0';
}

static void add_text(struct reader *r, const char *text)
{
	while (*text)
		add_char(r, *text++);
}

/* A finding about the place (line, col). `needed`: one of our settings depends on it. */
static void add_fault(struct reader *r, unsigned line, unsigned col, const char *what)
{
	if (r->needed)
		r->faults++;
	conf_report_add(r->report, r->needed ? CONF_ERROR : CONF_WARNING, r->file, line, col,
			"%s; %s", what,
			r->needed ? "nothing is started" : "the setting is ignored");
}

static bool is_name_start(int c)
{
	return c == '_' || (c >= 0 && isalpha(c));
}

static size_t name_len(const char *at, const char *end)
{
	size_t n = 0;

	if (at == end || !is_name_start((unsigned char)*at))
		return 0;
	while (at + n < end && (at[n] == '_' || isalnum((unsigned char)at[n])))
		n++;
	return n;
}

/* ---- what only a shell can do -------------------------------------------------------------- */

/* To behind the next `close` that no backslash precedes, or to the end. */
static void skip_to(struct reader *r, char close)
{
	while (r->at < r->end && *r->at != close) {
		if (*r->at == '\\' && char_ahead(r, 1) >= 0)
			step_char(r);
		step_char(r);
	}
	if (r->at < r->end)
		step_char(r);
}

/* From behind an opening bracket to behind the one that closes it. */
static void skip_brackets(struct reader *r, char open, char close)
{
	unsigned depth = 1;

	while (r->at < r->end && depth) {
		char c = *r->at;

		step_char(r);
		if (c == '\'' || c == '"')
			skip_to(r, c);
		depth += c == open;
		depth -= c == close;
	}
}

static const struct shell_form {
	const char *start;
	char open, close; /* open: brackets, which nest */
	const char *what;
} shell_forms[] = {
	{ "`", 0, '`', "found a command in backticks; expected a value, nothing is run here" },
	{ "$(", '(', ')', "found a command, $(...); expected a value, nothing is run here" },
	{ "${", '{', '}',
	  "found ${...} with an operator; expected $NAME, ${NAME} or ${NAME:-word}" },
	{ "$'", 0, '\'', "found $'...'; expected plain quotes" },
	{ "$\"", 0, '"', "found $\"...\"; expected plain quotes" },
	{ "~", 0, 0, "found ~, a home folder; expected its name" },
	{ "$", 0, 0, "found a variable that only a running shell has; expected a value" },
};

/* What stands at a `$`, `~` or backtick and is not understood. */
static void refuse_form(struct reader *r)
{
	const struct shell_form *form = shell_forms;
	unsigned line = r->line, col = column(r);

	while (*r->at != form->start[0] || (form->start[1] && char_ahead(r, 1) != form->start[1]))
		form++;
	r->unknown = true;
	for (const char *c = form->start; *c; c++)
		step_char(r);
	if (form->open)
		skip_brackets(r, form->open, form->close);
	else if (form->close)
		skip_to(r, form->close);
	else if (*form->start == '$')
		step_char(r);
	add_fault(r, line, col, form->what);
}

/* ---- variables ----------------------------------------------------------------------------- */

/* Any assignment of the name, blank or not; the file's own only. */
static const struct sysconfig_setting *assigned(const struct reader *r, const char *name,
						size_t len)
{
	for (size_t i = r->into->n; i-- > 0;) {
		const struct sysconfig_setting *s = &r->into->items[i];

		if (strlen(s->name) == len && memcmp(s->name, name, len) == 0 && s->value)
			return s;
	}
	return NULL;
}

/* `otherwise` (of n bytes) stands in for what is not there; with `or_empty` also for nothing. */
static void expand_name(struct reader *r, const char *name, size_t len, const char *otherwise,
			size_t n, bool or_empty)
{
	const struct sysconfig_setting *s = assigned(r, name, len);

	if (s && s->unknown) {
		r->unknown = true;
		add_fault(r, r->line, column(r), "found a variable that only a shell can know");
	}
	if (s && (s->value[0] || !or_empty))
		add_text(r, s->value);
	else
		for (size_t i = 0; i < n; i++)
			add_char(r, otherwise[i]);
}

/* ${NAME}, ${NAME-word}, ${NAME:-word}; the word is plain text. False: something else. */
static bool read_braces(struct reader *r)
{
	const char *name = r->at + 2, *close = memchr(r->at, '}', (size_t)(r->end - r->at));
	size_t len = name_len(name, r->end);
	const char *word = name + len;
	bool or_empty;

	if (!close || !len || memchr(r->at, '\n', (size_t)(close - r->at)))
		return false;
	or_empty = *word == ':';
	if (word != close) {
		word += or_empty;
		if (*word++ != '-')
			return false;
		for (const char *c = word; c < close; c++)
			if (strchr("$`\"'\\{", *c))
				return false;
	}
	expand_name(r, name, len, word, (size_t)(close - word), or_empty);
	r->at = close + 1;
	return true;
}

/* At a `$` or backtick. */
static void read_dollar(struct reader *r, bool in_quotes)
{
	int next = char_ahead(r, 1);
	size_t len = name_len(r->at + 1, r->end);

	if (*r->at == '$' && len) {
		expand_name(r, r->at + 1, len, "", 0, false);
		r->at += 1 + len;
	} else if (*r->at == '$' && next == '{') {
		if (!read_braces(r))
			refuse_form(r);
	} else if (*r->at == '`' || next == '(' ||
		   (next >= 0 && strchr("?$!#@*-0123456789", next)) ||
		   (!in_quotes && (next == '\'' || next == '"'))) {
		refuse_form(r);
	} else {
		add_char(r, *r->at);
		step_char(r);
	}
}

/* ---- words --------------------------------------------------------------------------------- */

static void read_backslash(struct reader *r)
{
	step_char(r);
	if (r->at == r->end) {
		add_char(r, '\\');
		return;
	}
	if (*r->at != '\n')
		add_char(r, *r->at);
	step_char(r);
}

/* Inside double quotes a backslash means something before $ ` " \ and the end of a line only. */
static bool is_escape(const struct reader *r)
{
	int next = char_ahead(r, 1);

	return *r->at == '\\' && next >= 0 && strchr("$`\"\\\n", next);
}

static void read_quotes(struct reader *r)
{
	unsigned line = r->line, col = column(r);
	char quote = *r->at;

	step_char(r);
	while (r->at < r->end && *r->at != quote) {
		if (quote == '"' && (*r->at == '$' || *r->at == '`')) {
			read_dollar(r, true);
		} else if (quote == '"' && is_escape(r)) {
			read_backslash(r);
		} else {
			add_char(r, *r->at);
			step_char(r);
		}
	}
	if (r->at < r->end) {
		step_char(r);
		return;
	}
	r->unknown = true;
	add_fault(r, line, col, quote == '"' ? "found a quote (\") that is never closed" :
					   "found a quote (') that is never closed");
}

static bool is_blank(char c)
{
	return strchr(" \t\r", c) != NULL;
}

/* Also what makes a command of a line: `&`, `|`, redirections, brackets. */
static bool ends_word(char c)
{
	return is_blank(c) || strchr("\n;&|<>()", c) != NULL;
}

static void read_word(struct reader *r)
{
	while (r->at < r->end && !ends_word(*r->at)) {
		switch (*r->at) {
		case '\'':
		case '"':
			read_quotes(r);
			break;
		case '\\':
			read_backslash(r);
			break;
		case '$':
		case '`':
			read_dollar(r, false);
			break;
		case '~':
			if (r->at[-1] == '=' || r->at[-1] == ':') {
				refuse_form(r);
				break;
			}
			/* fall through */
		default:
			add_char(r, *r->at);
			step_char(r);
		}
	}
}

/* ---- lines --------------------------------------------------------------------------------- */

static void skip_line(struct reader *r)
{
	while (r->at < r->end && *r->at != '\n')
		step_char(r);
}

static void read_assignment(struct reader *r, size_t name_length)
{
	struct sysconfig_setting item = { 0 };
	const char *name = r->at;

	r->at += name_length + 1;
	item.line = r->line;
	item.column = column(r);
	r->word = NULL;
	r->len = r->cap = 0;
	r->unknown = r->too_long = false;
	add_char(r, '\0');
	r->len = 0;
	item.name = xmalloc(name_length + 1);
	memcpy(item.name, name, name_length);
	item.name[name_length] = '\0';
	r->needed = sysconfig_is_ours(item.name);
	read_word(r);
	if (r->too_long) {
		r->unknown = true;
		add_fault(r, item.line, item.column, "found a value of more than 256 KiB");
	}
	item.value = take(r->word);
	item.unknown = r->unknown;
	GROW(r->into->items, r->into->n + 1, r->into->cap);
	r->into->items[r->into->n++] = item;
}

/* Anything that is no assignment is a command, and its effect is unknown. */
static void read_command(struct reader *r)
{
	size_t len = 0;
	char quoted[CONF_QUOTE_MAX];
	_cleanup_free_ char *what = NULL;

	while (r->at + len < r->end && r->at[len] != '\n')
		len++;
	what = xasprintf("found %s; expected NAME=value, nothing is run here",
			 conf_quote(r->at, len, quoted));
	r->needed = true;
	add_fault(r, r->line, column(r), what);
	skip_line(r);
}

static bool is_export(const struct reader *r)
{
	return (size_t)(r->end - r->at) > 7 && memcmp(r->at, "export", 6) == 0 &&
	       (r->at[6] == ' ' || r->at[6] == '\t');
}

/* `export NAME NAME` without values says nothing new. */
static void read_statement(struct reader *r)
{
	bool exported = is_export(r);
	size_t len;

	if (exported) {
		r->at += 7;
		while (char_ahead(r, 0) == ' ' || char_ahead(r, 0) == '\t')
			step_char(r);
	}
	len = name_len(r->at, r->end);
	if (len && char_ahead(r, len) == '=')
		read_assignment(r, len);
	else if (exported && len && (char_ahead(r, len) < 0 || ends_word(r->at[len])))
		r->at += len;
	else
		read_command(r);
}

int sysconfig_read_text(const char *path, const char *text, size_t len, struct sysconfig *ret,
			struct conf_report *report)
{
	struct reader r = { .file = path, .at = text, .end = text + len, .line_start = text,
			    .line = 1, .into = ret, .report = report };
	bool said = false; /* something stands on this line that a `;` can end */

	*ret = (struct sysconfig){ .file = xstrdup(path) };
	if (memchr(text, '\0', len)) {
		conf_report_add(report, CONF_ERROR, path, 0, 0,
				"found a NUL byte; expected text; nothing is started");
		return -EINVAL;
	}
	while (r.at < r.end) {
		if (*r.at == '#') {
			skip_line(&r);
		} else if (is_blank(*r.at)) {
			step_char(&r);
		} else if (*r.at == '\n' || (*r.at == ';' && said)) {
			said = false;
			step_char(&r);
		} else if (*r.at == '\\' && char_ahead(&r, 1) == '\n') {
			read_backslash(&r);
		} else {
			read_statement(&r);
			said = true;
		}
	}
	return r.faults ? -EINVAL : 0;
}
