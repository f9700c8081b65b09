// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chooses who reads the file, and keeps what was read. Our own reader of shell text: shell.c.
 */
#include "launch/sysconfig.h"

#include <ctype.h>
#include <errno.h>
#include <iniparser/iniparser.h>
#include <string.h>

#include "launch/shell.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define LIMIT (1U << 20)
/* iniparser reads lines into 1024 bytes, and wants room for the name once more. */
#define LINE_LIMIT 900

static const char *const ours[] = { SYSCONFIG_GUIDS, SYSCONFIG_PRIORITY, SYSCONFIG_PORTS,
				    SYSCONFIG_ORDER, SYSCONFIG_STRICT };

bool sysconfig_is_ours(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (str_equal(ours[i], name))
			return true;
	return false;
}

struct sysconfig_setting *sysconfig_add(struct sysconfig *s, const char *name, size_t len)
{
	struct sysconfig_setting *item;

	GROW(s->items, s->n + 1, s->cap);
	item = &s->items[s->n++];
	*item = (struct sysconfig_setting){ .name = xmalloc(len + 1) };
	memcpy(item->name, name, len);
	item->name[len] = '\0';
	return item;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

const struct sysconfig_setting *sysconfig_find(const struct sysconfig *s, const char *name)
{
	for (size_t i = s->n; i-- > 0;) {
		const struct sysconfig_setting *item = &s->items[i];

		if (str_equal(item->name, name))
			return item->value && !is_blank(item->value) ? item : NULL;
	}
	return NULL;
}

void sysconfig_clear(struct sysconfig *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].name);
		free(s->items[i].value);
	}
	free(s->items);
	free(s->file);
	*s = (struct sysconfig){ 0 };
}

/* ---- what iniparser can read -------------------------------------------------------------- */

/* Capitals only: iniparser makes all names small, so that two could become one. */
static size_t name_len(const char *at, size_t len)
{
	size_t n = 0;

	while (n < len && (isupper((unsigned char)at[n]) || at[n] == '_' ||
			   (n && isdigit((unsigned char)at[n]))))
		n++;
	return n;
}

/* Characters that mean nothing to a shell, wherever they stand. */
static bool is_plain_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-+.,:/@%^", c));
}

/* The value at `at`; returns its length with quotes, or -1. Empty words are left to our own reader. */
static ssize_t plain_value(const char *at, size_t len)
{
	bool quoted = len && (*at == '"' || *at == '\'');
	size_t n = quoted ? 1 : 0;

	while (n < len && (is_plain_char(at[n]) || (quoted && at[n] == ' ')))
		n++;
	if (!quoted)
		return n ? (ssize_t)n : -1;
	/* An empty pair of quotes is more than iniparser can take. */
	return n > 1 && n < len && at[n] == *at ? (ssize_t)n + 1 : -1;
}

/* One line without its end: nothing, a comment, or NAME=value. `s` (may be NULL) gets the setting. */
static bool plain_line(const char *line, size_t len, unsigned number, struct sysconfig *s)
{
	struct sysconfig_setting *item;
	size_t name, at;
	ssize_t value;

	if (len > LINE_LIMIT || (len && line[len - 1] == '\\'))
		return false;
	at = strspn(line, " \t");
	if (at >= len || line[at] == '#')
		return true;
	name = at ? 0 : name_len(line, len);
	if (!name || name >= len || line[name] != '=')
		return false;
	at = name + 1;
	value = plain_value(line + at, len - at);
	if (value < 0)
		return false;
	for (size_t rest = at + (size_t)value; rest < len; rest++)
		if (line[rest] != ' ' && line[rest] != '\t')
			return false;
	if (!s)
		return true;
	item = sysconfig_add(s, line, name);
	item->line = number;
	item->column = (unsigned)at + 1;
	return true;
}

static bool plain_text(const char *text, size_t len, struct sysconfig *s)
{
	const char *end = text + len;
	unsigned number = 1;

	if (memchr(text, '\0', len))
		return false;
	for (; text < end; number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);

		/* Also the last line has its end, or iniparser may forget it. */
		if (!newline || !plain_line(text, n, number, s))
			return false;
		text += n + 1;
	}
	return true;
}

bool sysconfig_is_plain(const char *text, size_t len)
{
	return plain_text(text, len, NULL);
}

/* ---- iniparser ---------------------------------------------------------------------------- */

static int keep_quiet(const char *format, ...)
{
	return 0;
}

static char *ini_value(const dictionary *d, const char *name)
{
	_cleanup_free_ char *key = xasprintf(":%s", name);

	/* With a NULL it has been seen to fall over; only this getter, only with a key (users.md 2.1). */
	for (char *c = key; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	const char *value = iniparser_getstring(d, key, NULL);

	return value ? xstrdup(value) : NULL;
}

/* Values for the names that the plain reading has found. False: iniparser does not want it. */
static bool ask_iniparser(const char *path, struct sysconfig *s)
{
	dictionary *d;
	bool whole = true;

	iniparser_set_error_callback(keep_quiet);
	d = iniparser_load(path);
	if (!d)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		s->items[i].value = ini_value(d, s->items[i].name);
		whole = whole && s->items[i].value;
	}
	iniparser_freedict(d);
	return whole;
}

/* ---- all together ------------------------------------------------------------------------- */

/* A name nobody knows that looks like one of ours. */
static void warn_of_near_names(const struct sysconfig *s, struct conf_report *r)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sysconfig_setting *item = &s->items[i];
		const char *nearest;

		if (sysconfig_is_ours(item->name))
			continue;
		nearest = str_nearest(item->name, ours, ARRAY_SIZE(ours));
		if (nearest)
			conf_report_add(r, CONF_WARNING, s->file, item->line, 1,
					"%s means nothing here; did you mean %s? It is ignored",
					item->name, nearest);
		else if (str_equal(item->name, "OPTIONS"))
			conf_report_add(r, CONF_WARNING, s->file, item->line, 1,
					"OPTIONS is not passed on; expected settings in opensm.conf; "
					"it is ignored");
	}
}

int sysconfig_read(const char *path, struct sysconfig *ret, struct conf_report *r)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int result;

	*ret = (struct sysconfig){ .file = xstrdup(path) };
	result = file_read(path, LIMIT, &text, &len);
	if (result == -ENOENT)
		return 0;
	ret->present = true;
	if (result < 0) {
		conf_report_add(r, CONF_ERROR, path, 0, 0,
				"cannot be read: %s; expected a file of NAME=value; nothing is started",
				strerror(-result));
		return result;
	}
	if (plain_text(text, len, ret) && ask_iniparser(path, ret)) {
		ret->by_iniparser = true;
	} else {
		sysconfig_clear(ret);
		result = sysconfig_read_text(path, text, len, ret, r);
	}
	warn_of_near_names(ret, r);
	return result;
}
