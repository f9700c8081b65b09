// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lines that fit go to iniparser, the others are left out of its copy of the text. It has names
 * in small letters: of two that differ in capitals alone the later one does not fit.
 */
#include "ini/ini.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef HAVE_INIPARSER_INIPARSER_H
#include <iniparser/iniparser.h>
#else
#include <iniparser.h>
#endif

#include "util/mem.h"

#define NAME "([A-Za-z_][A-Za-z0-9_]*)"

/* Groups: 1 "export", 2 the name, 3 the value. */
static const char *const patterns[] = {
	[INI_SHELL] = "^[ \t]*(export )?" NAME
		      "=(\"[^\"$`\\\\[:cntrl:]]*\"|'[^'\\\\[:cntrl:]]*'|[A-Za-z0-9_.,:/@%^+=-]*)"
		      "([ \t]+#.*|[ \t]*)$",
	[INI_PLAIN] = "^[ \t]*()" NAME "[ \t]*=[ \t]*"
		      "(\"[^\"\\\\[:cntrl:]]*\"|'[^'\\\\[:cntrl:]]*'|"
		      "([^\"'\\\\;#[:space:][:cntrl:]]([ \t]*[^\"'\\\\;#[:space:][:cntrl:]])*)?)"
		      "[ \t]*([;#].*)?$",
};

struct reader {
	const char *at, *end;
	unsigned line; /* number of the line at `at` */
	enum ini_form form;
	regex_t pattern;
	FILE *good; /* lines that fit, without those that only hold comments */
	struct ini *into;
};

/* ---- lines ----------------------------------------------------------------------------------- */

static bool begins_comment(enum ini_form form, char c, char before)
{
	if (form == INI_PLAIN)
		return c == '#' || c == ';';
	return c == '#' && (!before || strchr(" \t", before));
}

/* The quote that is open after `c`; 0: none. `escaped`: a backslash stands before `c`. */
static char quote_behind(char quote, char c, bool escaped)
{
	if (quote)
		return c == quote && !(escaped && quote == '"') ? 0 : quote;
	return !escaped && (c == '"' || c == '\'') ? c : 0;
}

/*
 * The next line, joined with those behind it and, by a blank, with those in its quotes; to be
 * freed. *ret_open: a quote is not closed, so it has all that follows.
 */
static char *next_line(struct reader *r, bool *ret_open)
{
	bool is_comment = false, escaped = false, is_end;
	char *text = NULL, quote = 0;
	size_t n = 0, cap = 0;

	for (; r->at < r->end; r->at++) {
		is_end = *r->at == '\n';
		GROW(text, n + 2, cap);
		r->line += is_end;
		is_comment |= !quote && begins_comment(r->form, *r->at, n ? text[n - 1] : 0);
		quote = is_comment ? 0 : quote_behind(quote, *r->at, escaped);
		if (is_end && escaped && !is_comment && quote != '\'')
			n--;
		else if (is_end && !quote)
			break;
		else
			text[n++] = is_end ? ' ' : *r->at;
		escaped = *r->at == '\\' && !escaped;
	}
	r->at += r->at < r->end;
	n -= n && text[n - 1] == '\r';
	GROW(text, n + 1, cap);
	text[n] = '\0';
	*ret_open = quote;
	return text;
}

static bool is_one_of_two(const struct ini *ini, const char *name)
{
	for (size_t i = 0; i < ini->n; i++)
		if (!strcasecmp(ini->items[i].name, name) && strcmp(ini->items[i].name, name) != 0)
			return true;
	return false;
}

static char *copy_group(const char *text, const regmatch_t *group)
{
	return xasprintf("%.*s", (int)(group->rm_eo - group->rm_so), text + group->rm_so);
}

/* The line as it will be asked for: names are the same with "export" and without. */
static bool take_line(struct reader *r, bool is_open, struct ini_item *item)
{
	regmatch_t group[4];
	_cleanup_free_ char *name = NULL, *value = NULL;

	if (is_open || strlen(item->line_text) > INI_LINE_MAX ||
	    regexec(&r->pattern, item->line_text, ARRAY_SIZE(group), group, 0) != 0)
		return false;
	name = copy_group(item->line_text, &group[2]);
	item->is_twin = is_one_of_two(r->into, name);
	if (item->is_twin)
		return false;
	value = copy_group(item->line_text, &group[3]);
	fprintf(r->good, "%s=%s\n", name, value);
	item->column = (unsigned)group[3].rm_so + 1;
	free(item->name);
	item->name = take(name);
	return true;
}

/* The name that a line would set, for the judgement on it; "": none. */
static char *name_like(const char *text)
{
	size_t skip = strspn(text, " \t"), len = 0;

	if (!strncmp(text + skip, "export ", 7))
		skip += 7;
	while (text[skip + len] == '_' || isalnum((unsigned char)text[skip + len]))
		len++;
	return xasprintf("%.*s", text[skip + len] == '=' ? (int)len : 0, text + skip);
}

static int read_lines(struct reader *r)
{
	while (r->at < r->end) {
		unsigned line = r->line;
		bool is_open;
		_cleanup_free_ char *text = next_line(r, &is_open);
		size_t blanks = strspn(text, " \t\r");
		struct ini_item item = { .line = line, .column = (unsigned)blanks + 1 };

		if (!text[blanks] || text[blanks] == '#' ||
		    (text[blanks] == ';' && r->form == INI_PLAIN))
			continue;
		item.name = is_open ? xstrdup("") : name_like(text);
		item.line_text = take(text);
		if (take_line(r, is_open, &item))
			item.value = xstrdup("");
		GROW(r->into->items, r->into->n + 1, r->into->cap);
		r->into->items[r->into->n++] = item;
		if (r->into->n > INI_ITEMS_MAX)
			return -E2BIG;
	}
	return 0;
}

char *ini_fault(const struct ini_item *item)
{
	if (strlen(item->line_text) > INI_LINE_MAX)
		return xasprintf("found a line of %zu bytes; expected at most %u",
				 strlen(item->line_text), INI_LINE_MAX);
	if (item->is_twin)
		return xasprintf(
			"found %s, and another name that differs from it in capitals alone; "
			"expected one of them",
			item->name);
	return xasprintf(
		"found '%.60s'; expected NAME=value, in quotes if it has blanks or special "
		"characters (no shell runs here)",
		item->line_text + strspn(item->line_text, " \t"));
}

/* ---- iniparser ------------------------------------------------------------------------------- */

static int hush(const char *format, ...)
{
	return 0;
}

static int take_values(struct ini *ini, int fd)
{
	char path[40], key[INI_LINE_MAX + 2];
	dictionary *d;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	iniparser_set_error_callback(hush);
	d = iniparser_load(path);
	iniparser_set_error_callback(NULL);
	if (!d)
		return -EIO;
	for (size_t i = 0; i < ini->n; i++) {
		if (!ini->items[i].value)
			continue;
		snprintf(key, sizeof(key), ":%s", ini->items[i].name);
		free(ini->items[i].value);
		ini->items[i].value = xstrdup(iniparser_getstring(d, key, ""));
	}
	iniparser_freedict(d);
	return 0;
}

/* Gives the good lines to iniparser in an anonymous file, and takes the values back. */
static int read_all(struct reader *r)
{
	int fd = memfd_create("ini", MFD_CLOEXEC), result;

	if (fd < 0)
		return -EIO;
	r->good = fdopen(fd, "w");
	if (!r->good) {
		close(fd);
		return -EIO;
	}
	result = read_lines(r);
	if (result == 0)
		result = fflush(r->good) ? -EIO : take_values(r->into, fd);
	fclose(r->good);
	return result;
}

int ini_read(const char *text, size_t len, enum ini_form form, struct ini *ret)
{
	struct reader r = { .at = text, .end = text + len, .line = 1, .form = form, .into = ret };
	int result;

	*ret = (struct ini){ 0 };
	if (memchr(text, '\0', len))
		return -EINVAL;
	if (regcomp(&r.pattern, patterns[form], REG_EXTENDED) != 0)
		return -EIO;
	result = read_all(&r);
	regfree(&r.pattern);
	return result;
}

const char *ini_refusal(int result)
{
	switch (result) {
	case -EINVAL:
		return "found a NUL byte; expected text";
	case -E2BIG:
		return "found more than 1000 settings";
	default:
		return "no copy for iniparser can be made in memory, or /proc is not there to read "
		       "it";
	}
}

void ini_clear(struct ini *ini)
{
	for (size_t i = 0; i < ini->n; i++) {
		free(ini->items[i].name);
		free(ini->items[i].value);
		free(ini->items[i].line_text);
	}
	free(ini->items);
	*ini = (struct ini){ 0 };
}
