// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads opensm.conf (opensm-conf.md 1): "KEY VALUE" lines, comments from '#' on. A fault in a line
 * has no effect on other lines.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "conf/conf.h"
#include "conf/foreign.h"
#include "conf/text/lines.h"
#include "util/mem.h"
#include "util/str.h"

/* OpenSM reads so many characters of a line, and takes the rest as another line. */
#define PEER_LINE_MAX 1022

struct reader {
	struct conf *conf;
	struct conf_report *report;
};

/* Key and value of a line; both point into it. */
struct pair {
	char *key, *value;
	enum conf_id id;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Ends the line at '#', even inside quotes, as OpenSM does; with quotes a finding is added. */
static void cut_comment(struct reader *reader, struct line *line)
{
	char *hash = strchr(line->text, '#');
	struct conf_place at;
	char *quote;

	if (!hash)
		return;
	*hash = '\0';
	quote = strpbrk(line->text, "\"'");
	if (!quote || quote == line->text || !is_blank(quote[-1]) || strchr(quote + 1, *quote))
		return;
	at = line_place(line, hash);
	conf_report_at(reader->report, CONF_WARNING, &at,
		       "'#' begins a comment even inside quotes; the value ends before it");
}

/* Removes one pair of equal quotes around the value. */
static char *unquote(char *value)
{
	size_t len = strlen(value);

	if (len < 2 || (value[0] != '"' && value[0] != '\'') || value[len - 1] != value[0])
		return value;
	value[len - 1] = '\0';
	return value + 1;
}

/* Splits a line into key and value. False: it is empty. */
static bool take_apart(struct line *line, struct pair *ret)
{
	char *p = line->text;

	while (isspace((unsigned char)*p))
		p++;
	if (!*p)
		return false;
	ret->key = p;
	while (*p && !is_blank(*p))
		p++;
	if (*p)
		*p++ = '\0';
	ret->value = str_trim(p);
	return true;
}

/* Is it "KEY=VALUE" with a known KEY? The key is cut off then. */
static bool has_separator(char *key)
{
	size_t stem = strcspn(key, "=:");

	if (!key[stem])
		return false;
	key[stem] = '\0';
	return conf_option_find(key) != CONF_N_OPTIONS;
}

/*
 * A key of another subnet manager has no effect: an error if it asks for protection, or with
 * --strict.
 */
static void foreign_key(struct reader *reader, const struct conf_place *at, const struct pair *pair)
{
	bool asks = foreign_asks(pair->key, unquote(pair->value));
	bool is_old = foreign_is_old(pair->key); /* OpenSM 3.3 and later ignore it too */
	const char *lack = foreign_lack(pair->key);
	bool is_fault = asks && (lack || (reader->conf->strict && !is_old));
	const char *whose = is_old ? "OpenSM before 3.3" : "NVIDIA's subnet manager";
	char quoted[CONF_QUOTE_MAX];

	conf_quote(pair->key, strlen(pair->key), quoted);
	conf_report_at(reader->report, is_fault ? CONF_ERROR : CONF_WARNING, at,
		       "%.*s: an option of %s, not supported here%s%s%s; it has no effect%s",
		       (int)strlen(quoted) - 2, quoted + 1, whose, lack ? " (" : "",
		       lack ? lack : "", lack ? ")" : "",
		       asks && lack ? ": what it would protect is not protected; remove the line "
				      "if that is as it shall be"
				    : "");
}

static void unknown_key(struct reader *reader, const struct line *line, struct pair *pair)
{
	struct conf_place at = line_place(line, pair->key);
	char quoted[CONF_QUOTE_MAX];
	const char *nearest;

	conf_quote(pair->key, strlen(pair->key), quoted);
	if (foreign_is_nvidia(pair->key) || foreign_is_old(pair->key)) {
		foreign_key(reader, &at, pair);
		return;
	}
	if (has_separator(pair->key)) {
		if (conf_is_secret(conf_option_find(pair->key)))
			conf_quote(pair->key, strlen(pair->key), quoted);
		conf_report_at(reader->report, CONF_ERROR, &at,
			       "%s: unknown key; expected a blank after %s; the line is ignored",
			       quoted, pair->key);
		return;
	}
	nearest = conf_option_nearest(pair->key);
	conf_report_at(reader->report, CONF_ERROR, &at,
		       "%s: unknown key%s%s%s; the line is ignored", quoted,
		       nearest ? "; did you mean " : "", nearest ? nearest : "",
		       nearest ? "?" : "");
}

/* Remarks on a pair whose key is known. */
static void remark_pair(struct reader *reader, const struct line *line, const struct pair *pair)
{
	const char *name = conf_option(pair->id)->name;
	struct conf_place at = line_place(line, pair->key);

	if (strcmp(pair->key, name) != 0)
		conf_report_at(reader->report, CONF_WARNING, &at, "%s: deprecated name of %s",
			       pair->key, name);
	if (pair->value[0] == '=' || (pair->value[0] == ':' && is_blank(pair->value[1]))) {
		at = line_place(line, pair->value);
		conf_report_at(reader->report, CONF_WARNING, &at,
			       "%s: '%c' is taken for a part of the value; expected a blank only",
			       name, pair->value[0]);
	}
}

static bool is_repeatable(enum conf_id id)
{
	enum conf_type type = conf_option(id)->type;

	return type == CONF_SL_U16 || type == CONF_SL_U8;
}

static void set_pair(struct reader *reader, const struct line *line, const struct pair *pair)
{
	struct conf_place key = line_place(line, pair->key), at = line_place(line, pair->value);
	uint32_t *seen = &reader->conf->file_line[pair->id];

	if (conf_set(reader->conf, pair->id, unquote(pair->value), &at, reader->report) < 0) {
		reader->conf->file_faulty[pair->id] = true;
		return;
	}
	if (*seen && !is_repeatable(pair->id))
		conf_report_at(reader->report, CONF_WARNING, &key,
			       "%s: also set in line %u; this line, the last, counts",
			       conf_option(pair->id)->name, *seen);
	*seen = line->at.line;
	reader->conf->file_column[pair->id] = at.column;
}

static void read_line(void *arg, struct line *line)
{
	struct reader *reader = arg;
	struct pair pair;

	if (line->len > PEER_LINE_MAX && line->text[strspn(line->text, " \t")] != '#')
		conf_report_add(reader->report, CONF_NOTE, line->at.file, line->at.line, 0,
				"longer than %u characters; taken as a whole", PEER_LINE_MAX);
	cut_comment(reader, line);
	if (!take_apart(line, &pair))
		return;
	pair.id = conf_option_find(pair.key);
	if (pair.id == CONF_N_OPTIONS) {
		unknown_key(reader, line, &pair);
		return;
	}
	remark_pair(reader, line, &pair);
	set_pair(reader, line, &pair);
}

static void forget_file(struct conf *c, const char *path)
{
	char *file = xstrdup(path);

	free(c->file);
	c->file = file;
	memset(c->file_line, 0, sizeof(c->file_line));
	memset(c->file_column, 0, sizeof(c->file_column));
	memset(c->file_faulty, 0, sizeof(c->file_faulty));
}

/* After a failed reading `c` names no file. */
static int finish(struct conf *c, int error)
{
	if (error < 0) {
		free(c->file);
		c->file = NULL;
	}
	return error;
}

int conf_read_text(struct conf *c, const char *path, const char *text, size_t len,
		   struct conf_report *r)
{
	struct reader reader = { .conf = c, .report = r };

	assert(c && (text || !len) && r);
	forget_file(c, path);
	return finish(c, lines_split(path, text, len, r, read_line, &reader));
}

int conf_read(struct conf *c, const char *path, struct conf_report *r)
{
	struct reader reader = { .conf = c, .report = r };

	assert(c && path && r);
	forget_file(c, path);
	return finish(c, lines_read(path, r, read_line, &reader));
}
