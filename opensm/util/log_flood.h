// SPDX-License-Identifier: BSD-2-Clause
/*
 * Limits of the log, so that it stays readable and the disk empty whatever happens in a fabric:
 *
 *   1. Records with the same text about the same thing are written a few times, then counted:
 *      "(repeated 41 times in the last 60 s)". While it goes on, the count comes less and less
 *      often, at last once an hour. A record without a cause outside is written a few times every
 *      minute.
 *   2. Records about one node or port: 60 at once, 120 per hour. Alarms about it have 16 at once,
 *      and per hour, of their own: whatever else a host has written, it does not hide them.
 *   3. Records about nodes and ports together: 1000 at once, 3600 per hour. A quarter of each is
 *      kept for errors.
 *   4. All records: 2000 at once, 100 per second; state changes have 200 and 10 per second of
 *      their own.
 *
 * Suppressed records are counted, and the counts are logged. Memory is bounded: rows are replaced
 * by newer ones, their counts stay. Time is an argument. Of texts only that of the last record of a
 * row is kept.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/mono.h"

#define LOG_FLOOD_TEXT 240

/* One record of the log, as far as the limit on repeated records looks at it. */
struct log_case {
	uint64_t what;	 /* hash of text and subject, the same for records alike */
	uint64_t source; /* node or port that caused it; 0: not caused from outside */
	/*
	 * number of records alike that are written before they are counted; 0: all, it is a
	 * milestone
	 */
	unsigned often;
	bool important;	 /* set for errors */
	bool alarm;	 /* set for errors about a host that breaks rules */
	bool state;	 /* set for changes of state */
	const char *text, *func; /* `func`: a constant or NULL */
	unsigned bits;	 /* mask of enum log_bits */
	unsigned id;
};

enum log_count_kind {
	LOG_COUNT_ALIKE,  /* repetitions of `text` */
	LOG_COUNT_SOURCE, /* records of one source; `text` is the last one */
	LOG_COUNT_ALL,
};

/* A number of records that were suppressed. */
struct log_count {
	enum log_count_kind kind;
	uint64_t n;
	unsigned seconds; /* seconds in which they were suppressed */
	unsigned bits, id;
	const char *func;
	char text[LOG_FLOOD_TEXT];
};

struct log_flood;

struct log_flood *log_flood_new(void);
struct log_flood *log_flood_free(struct log_flood *f);
/* True: the record is to be written, after counts that are due (log_flood_next()). */
bool log_flood_pass(struct log_flood *f, const struct log_case *c, mono_t now);
/* True: `ret` is a count that is due, to be written now. Called until it returns false. */
bool log_flood_next(struct log_flood *f, mono_t now, struct log_count *ret);
/* Returns all counts like log_flood_next(), due or not, before the log ends. */
bool log_flood_last(struct log_flood *f, mono_t now, struct log_count *ret);

/* "60 s", "4 min", "2 h". Returns `ret`. */
#define LOG_SPAN_STRLEN 24
char *log_span_str(unsigned seconds, char ret[LOG_SPAN_STRLEN]);
