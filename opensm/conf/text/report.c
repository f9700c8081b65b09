// SPDX-License-Identifier: BSD-2-Clause
/* Findings are collected here, and printed by the owner of the report. This is not a log. */
#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "conf/text/report.h"
#include "util/mem.h"
#include "util/str.h"

static const char *const severity_names[] = {
	[CONF_NOTE] = "note",
	[CONF_WARNING] = "warning",
	[CONF_ERROR] = "error",
};

/* Adds a finding; takes over `text`. */
static void add_finding(struct conf_report *r, enum conf_severity severity,
			const struct conf_place *at, char *text)
{
	struct conf_finding *f;

	if (severity == CONF_ERROR)
		r->errors++;
	if (severity == CONF_WARNING)
		r->warnings++;
	if (r->n >= CONF_REPORT_MAX) {
		r->dropped++;
		free(text);
		return;
	}
	GROW(r->findings, r->n + 1, r->cap);
	f = &r->findings[r->n++];
	f->severity = severity;
	f->line = at->line;
	f->column = at->column;
	f->file = at->file ? xstrdup(at->file) : NULL;
	f->text = text;
}

void conf_report_add(struct conf_report *r, enum conf_severity severity, const char *file,
		     unsigned line, unsigned column, const char *fmt, ...)
{
	struct conf_place at = { .file = file, .line = line, .column = column };
	va_list ap;

	va_start(ap, fmt);
	add_finding(r, severity, &at, xvasprintf(fmt, ap));
	va_end(ap);
}

void conf_report_at(struct conf_report *r, enum conf_severity severity, const struct conf_place *at,
		    const char *fmt, ...)
{
	va_list ap;

	assert(r && at);
	va_start(ap, fmt);
	add_finding(r, severity, at, xvasprintf(fmt, ap));
	va_end(ap);
}

char *conf_finding_text(const struct conf_finding *f)
{
	if (!f->file)
		return xstrdup(f->text);
	if (f->line && f->column)
		return xasprintf("%s:%u:%u: %s", f->file, f->line, f->column, f->text);
	return f->line ? xasprintf("%s:%u: %s", f->file, f->line, f->text)
		       : xasprintf("%s: %s", f->file, f->text);
}

static void print_finding(const struct conf_finding *f, FILE *out)
{
	fputs(f->file ? f->file : "opensm", out);
	if (f->line)
		fprintf(out, ":%u", f->line);
	if (f->line && f->column)
		fprintf(out, ":%u", f->column);
	fprintf(out, ": %s: %s\n", severity_names[f->severity], f->text);
}

void conf_report_print_from(const struct conf_report *r, size_t from, FILE *out)
{
	for (size_t i = from; i < r->n; i++)
		print_finding(&r->findings[i], out);
	if (r->dropped)
		fprintf(out, "opensm: note: %zu more findings are not shown\n", r->dropped);
}

void conf_report_print(const struct conf_report *r, FILE *out)
{
	conf_report_print_from(r, 0, out);
}

void conf_report_clear(struct conf_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->findings[i].file);
		free(r->findings[i].text);
	}
	free(r->findings);
	*r = (struct conf_report){ 0 };
}

void conf_report_append(struct conf_report *r, const struct conf_report *more)
{
	for (size_t i = 0; i < more->n; i++) {
		const struct conf_finding *f = &more->findings[i];

		conf_report_add(r, f->severity, f->file, f->line, f->column, "%s", f->text);
	}
	r->dropped += more->dropped;
}

const char *conf_quote(const char *text, size_t len, char ret[static CONF_QUOTE_MAX])
{
	enum { ROOM = CONF_QUOTE_MAX - 6 }; /* two quotes, three dots, NUL */
	char clean[ROOM + 1];

	str_printable(text, len, clean, sizeof(clean));
	snprintf(ret, CONF_QUOTE_MAX, "\"%s%s\"", clean, len > ROOM ? "..." : "");
	return ret;
}
