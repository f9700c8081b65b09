// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the log. */
#pragma once

#include "util/log.h"

#define LOG_IDENT "OpenSM"
#define TEXT_MAX 4096 /* most bytes of one record (files.md 8) */

struct log_record {
	unsigned bits;
	const char *func; /* NULL: none */
	const char *text; /* text of the caller */
	/* `text` with the prefix, and with the function if LOGB_FUNCS is in the mask */
	const char *body;
	const struct log_about *about; /* subject; NULL: none */
	/* number of suppressed records that it stands for; 0: it is a record itself */
	uint64_t repeated;
};

/* log_record.c: by which two records are alike, and the source of one (0: not from outside). */
uint64_t log_record_hash(const struct log_record *record, const char *fmt);
uint64_t log_record_source(const struct log_record *record);
/* Writes the record with its fields to the journal. */
void log_write_journal(const struct log_record *record, const char *instance);
