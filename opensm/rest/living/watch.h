// SPDX-License-Identifier: BSD-2-Clause
/*
 * Follows the manager for all streams of events at once: one connection, however many browsers
 * look at the page, and none when none has for a minute.
 *
 * A thread of its own waits for events of the manager (Monitor). What has changed becomes news:
 *
 *   manager   {"reachable", "text"}: whether a manager answers, else why not
 *   event     {"kind", "time", "text"}; of a flood the first of each second
 *   fabric    {"key"}: the fabric or its tables are others than before (page_key())
 *   again     {}: events were missed; what is not told here is to be asked for
 *   status, history, and the small documents of page_parts, whenever their text is another one
 *
 * Documents are asked for half a second after an event, at most once in a second, and every ten
 * seconds.
 */
#pragma once

#include "rest/rest.h"

struct watch;

struct watch_news {
	const char *name; /* a constant */
	bool lasts;	  /* it says how things are, and not what happened */
	char *data;	  /* JSON in one line, to be freed */
};

/* NULL: errno. Signals must be blocked by the caller: the thread inherits that. */
struct watch *watch_new(struct rest_backend *b);
/* Waits for the thread, some seconds if the manager does not answer. NULL is fine; returns NULL. */
struct watch *watch_free(struct watch *w);
/* Does any stream want news? False at first. */
void watch_want(struct watch *w, bool wanted);
/* Readable when there are news. */
int watch_fd(const struct watch *w);
/* The next ones; false: there are none. */
bool watch_take(struct watch *w, struct watch_news *ret);
