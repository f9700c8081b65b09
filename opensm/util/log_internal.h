// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the log. */
#pragma once

#include "util/log.h"

#define LOG_IDENT "OpenSM"
#define TEXT_MAX 4096 /* one record, as files.md 8 */

struct log_record {
	unsigned bits;
	const char *func; /* NULL: none */
	const char *text; /* what the caller wrote */
	const char *body; /* the same with the prefix, and the function if functions are logged */
	const struct log_about *about; /* NULL: nothing in particular */
	uint64_t repeated;	       /* it stands for so many; 0: itself */
};

/* log_record.c: what makes two records alike, and the source of one (0: not from outside). */
uint64_t log_record_hash(const struct log_record *record, const char *fmt);
uint64_t log_record_source(const struct log_record *record);
/* The record with its fields, to the journal. */
void log_write_journal(const struct log_record *record, const char *instance);
