// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much the log may say. Whatever a fabric does, the log stays readable and the disk empty:
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
 * What is not written is counted, and the counts are written. Memory is bounded: rows give way to
 * newer ones, their counts stay. Time is an argument; knows no text but what it keeps of the last
 * record of a row.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/mono.h"

#define LOG_FLOOD_TEXT 240

/* One record, as far as it matters here. */
struct log_case {
	uint64_t what;	 /* what it says of what: the same for records alike */
	uint64_t source; /* the node or port that caused it; 0: not from outside */
	/* so many alike are written before they are counted; 0: all, it is a milestone */
	unsigned often;
	bool important;	 /* an error */
	bool alarm;	 /* an error about a host that breaks rules */
	bool state;	 /* a change of state */
	const char *text, *func; /* func: a constant or NULL */
	unsigned bits;	 /* of the log */
	unsigned id;
};

enum log_count_kind {
	LOG_COUNT_ALIKE,  /* repetitions of `text` */
	LOG_COUNT_SOURCE, /* of one source; `text` is the last */
	LOG_COUNT_ALL,
};

/* What was not written. */
struct log_count {
	enum log_count_kind kind;
	uint64_t n;
	unsigned seconds; /* in so many */
	unsigned bits, id;
	const char *func;
	char text[LOG_FLOOD_TEXT];
};

struct log_flood;

struct log_flood *log_flood_new(void);
struct log_flood *log_flood_free(struct log_flood *f);
/* True: to be written. Counts that are due come first: log_flood_next(). */
bool log_flood_pass(struct log_flood *f, const struct log_case *c, mono_t now);
/* True: `ret` is a count that is due, to be written now. To be asked until it is false. */
bool log_flood_next(struct log_flood *f, mono_t now, struct log_count *ret);
/* The end: the same for all counts, due or not. */
bool log_flood_last(struct log_flood *f, mono_t now, struct log_count *ret);

/* "60 s", "4 min", "2 h". Returns `ret`. */
#define LOG_SPAN_STRLEN 24
char *log_span_str(unsigned seconds, char ret[LOG_SPAN_STRLEN]);
