// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes opensm.conf (opensm-conf.md 7): every key in the order and format of OpenSM, under a
 * comment with its help and the origin of its value. The file reads back to the same values.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "conf/conf.h"
#include "conf/value.h"
#include "util/mem.h"

#define COMMENT_WIDTH 78

struct writer {
	const struct conf *conf;
	FILE *out;
	struct conf_report *report;
	const char *section;
};

/* Writes words in lines that begin with '#'. */
static void write_comment(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column && column + 1 + len > COMMENT_WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		fputs(column ? " " : "# ", out);
		fwrite(text, 1, len, out);
		column += len + (column ? 1 : 2);
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static const char *remark(enum conf_state state)
{
	switch (state) {
	case CONF_STATE_LATER:
		return " Not supported yet.";
	case CONF_STATE_NONE: /* the help of the option says it */
	case CONF_STATE_EFFECTIVE:
	case CONF_STATE_ALWAYS:
	case CONF_STATE_OWN:
		break;
	}
	return "";
}

/* Writes heading and comment; a key without help is listed under the one before. */
static void write_head(struct writer *w, const struct conf_option *o)
{
	_cleanup_free_ char *text = NULL;

	if (!o->help[0])
		return;
	fputc('\n', w->out);
	if (w->section != o->section)
		fprintf(w->out, "#\n# %s\n#\n\n", o->section);
	w->section = o->section;
	text = xasprintf("%s%s", o->help, remark(o->state));
	write_comment(w->out, text);
}

/* Would blanks at the ends, or quotes around the text, be lost if it was not quoted? */
static bool needs_quotes(const char *text)
{
	size_t len = strlen(text);

	if (!len || isspace((unsigned char)text[0]) || isspace((unsigned char)text[len - 1]))
		return true;
	return len > 1 && (text[0] == '"' || text[0] == '\'') && text[len - 1] == text[0];
}

/* Writes the origin of a value that is not the default. */
static void write_source(struct writer *w, enum conf_id id)
{
	const struct conf *c = w->conf;

	switch (conf_source(c, id)) {
	case CONF_SOURCE_FILE:
		fprintf(w->out, "# From %s:%u.\n", c->file, c->file_line[id]);
		return;
	case CONF_SOURCE_COMMAND_LINE:
		if (c->given[id])
			fputs("# From the command line.\n", w->out);
		return;
	case CONF_SOURCE_COPIED:
		fputs("# From the master.\n", w->out);
		return;
	case CONF_SOURCE_PROFILE:
		fprintf(w->out, "# From security_profile %s.\n", c->security_profile);
		return;
	case CONF_SOURCE_DEFAULT:
		return;
	}
}

/*
 * Is the line a comment? True for defaults of options that OpenSM does not know, and for values of
 * a profile.
 */
static bool is_hidden(const struct conf *c, enum conf_id id)
{
	return c->profiled[id] ||
	       (conf_option(id)->state == CONF_STATE_OWN && conf_value_is_default(c, id));
}

static void write_value(struct writer *w, enum conf_id id)
{
	const struct conf_option *o = conf_option(id);
	_cleanup_free_ char *text = conf_value_text(w->conf, id);
	bool hidden = is_hidden(w->conf, id);

	write_source(w, id);
	if (strchr(text, '#')) {
		char quoted[CONF_QUOTE_MAX];

		conf_report_add(w->report, CONF_ERROR, NULL, 0, 0,
				"%s: %s has a '#', which begins a comment; it is not written",
				o->name, conf_quote(text, strlen(text), quoted));
		fprintf(w->out, "# %s %s\n", o->name, text);
	} else if (o->type == CONF_STRING && needs_quotes(text)) {
		fprintf(w->out, "%s \"%s\"\n", o->name, text);
	} else {
		fprintf(w->out, "%s%s %s\n", hidden ? "# " : "", o->name, text);
	}
}

static bool is_per_sl(unsigned id)
{
	return id < CONF_N_OPTIONS &&
	       (conf_option(id)->type == CONF_SL_U16 || conf_option(id)->type == CONF_SL_U8);
}

static unsigned sl_value(const struct conf *c, unsigned id, unsigned sl)
{
	return ((const struct conf_per_sl *)value_of(c, id))->values[sl];
}

/* Writes a block per SL with keys `id` to `end` - 1; only SL 0 if all values are 0. */
static void write_per_sl(struct writer *w, unsigned id, unsigned end)
{
	bool any = false;

	for (unsigned sl = 0; sl <= 16; sl++) {
		unsigned sum = 0, shown = sl % 16;

		for (unsigned i = id; sl < 16 && i < end; i++)
			sum += sl_value(w->conf, i, sl);
		if (sl == 16 ? any : !sum)
			continue;
		for (unsigned i = id; i < end; i++)
			fprintf(w->out, "%s %u %u\n", conf_option(i)->name, shown,
				sl_value(w->conf, i, shown));
		any = true;
	}
}

int conf_write(const struct conf *c, FILE *out, struct conf_report *r)
{
	struct writer w = { .conf = c, .out = out, .report = r };

	fputs("# Configuration of the subnet manager: KEY VALUE, '#' begins a comment.\n", out);
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		unsigned end = id;

		write_head(&w, conf_option(id));
		while (is_per_sl(end))
			end++;
		if (end > id) {
			write_per_sl(&w, id, end);
			id = end - 1;
			continue;
		}
		write_value(&w, id);
	}
	fputc('\n', out);
	return ferror(out) ? -EIO : 0;
}
