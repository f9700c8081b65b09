// SPDX-License-Identifier: BSD-2-Clause
/*
 * The configuration: one struct with one member per key of opensm.conf, made from options.def.
 *
 * A struct conf is built (defaults, file, command line, verify), then immutable and shared by
 * reference. Nothing in here logs or exits: faults go into a struct conf_report, whose owner prints
 * them. A fault never silently becomes a different value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/types.h"

enum conf_severity { CONF_NOTE, CONF_WARNING, CONF_ERROR };

/* One finding: "FILE:LINE:COLUMN: what was found, what was expected, what happens now". */
struct conf_finding {
	enum conf_severity severity;
	unsigned line, column; /* 0: not about a place in a file */
	char *file;            /* NULL: command line or built in */
	char *text;
};

struct conf_report {
	struct conf_finding *findings;
	size_t n, cap;
	unsigned errors, warnings;
};

void conf_report_add(struct conf_report *r, enum conf_severity severity, const char *file, unsigned line,
		     unsigned column, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void conf_report_print(const struct conf_report *r, FILE *out);
void conf_report_clear(struct conf_report *r);

/* Members of struct conf by type column of options.def. */
typedef char *conf_string;

struct conf {
	unsigned refs;
#define OPTION(name, ctype, ...) ctype name;
#include "conf/options.def"
#undef OPTION
};

/* All defaults; one reference. Environment (OSM_TMP_DIR) is looked up by the caller. */
struct conf *conf_new(void);
struct conf *conf_ref(const struct conf *c);
struct conf *conf_unref(struct conf *c);
void conf_unrefp(struct conf **c);
struct conf *conf_copy(const struct conf *c);
