// SPDX-License-Identifier: BSD-2-Clause
/*
 * Findings in what an administrator wrote: where, what was found, what was expected, what happens
 * now. Nothing below conf/ logs or exits: findings are collected, and their owner prints them.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum conf_severity { CONF_NOTE, CONF_WARNING, CONF_ERROR };

/* One finding: "FILE:LINE:COLUMN: what was found, what was expected, what happens now". */
struct conf_finding {
	enum conf_severity severity;
	unsigned line, column; /* from 1, columns are bytes; 0: not about a place in a file */
	char *file;            /* NULL: command line or built in */
	char *text;
};

/* Zero-initialise; conf_report_clear() gives everything back. */
struct conf_report {
	struct conf_finding *findings;
	size_t n, cap;
	size_t dropped; /* findings beyond CONF_REPORT_MAX, counted but not kept */
	unsigned errors, warnings;
};

#define CONF_REPORT_MAX 1000

/* Where a value comes from. All zero: the command line or the program itself. */
struct conf_place {
	const char *file;
	unsigned line, column;
};

/* Adds a finding. Text that comes from a file must have passed conf_quote(). */
void conf_report_add(struct conf_report *r, enum conf_severity severity, const char *file,
		     unsigned line, unsigned column, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
void conf_report_at(struct conf_report *r, enum conf_severity severity, const struct conf_place *at,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* "FILE:LINE:COLUMN: TEXT", or less where no place is known; to be freed. */
char *conf_finding_text(const struct conf_finding *f);
/* One line per finding: "FILE:LINE:COLUMN: error: TEXT"; unknown parts are left out. */
void conf_report_print(const struct conf_report *r, FILE *out);
/* As conf_report_print(), from finding number `from` on. */
void conf_report_print_from(const struct conf_report *r, size_t from, FILE *out);
/* Copies all findings of `more` to the end of `r`. */
void conf_report_append(struct conf_report *r, const struct conf_report *more);
void conf_report_clear(struct conf_report *r);

#define CONF_QUOTE_MAX 72
/* Text of a file for a finding: printable, in quotes, truncated to some 60 bytes. Returns `ret`. */
const char *conf_quote(const char *text, size_t len, char ret[static CONF_QUOTE_MAX]);
