// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events that subscribers have yet to read, oldest first, each with a number of its own.
 *
 * The log is kept in pages. A page comes with its first event and goes with its last: an event
 * stays where it is, and one more costs the same however many there are. Whatever hosts send, no
 * other host waits for a large table to be copied.
 */
#pragma once

#include "ib/notices.h"
#include "plan/pkey.h"
#include "util/mono.h"
#include "util/types.h"

#define EVENT_LOG_MAX	65536u
#define EVENT_LOG_PAGE	64u
/* One more, as the first and the last page may both be in partial use. */
#define EVENT_LOG_PAGES (EVENT_LOG_MAX / EVENT_LOG_PAGE + 1)

/* The P_Keys that the port of an event had then; shared by events of similar ports. */
struct audience {
	unsigned refs;
	/* identity of the source, compared only: the next event may share it */
	const void *made_from;
	struct pkey_set set;
};

struct event {
	mono_t raised;
	uint8_t notice[NT_BYTES];
	struct audience *audience; /* NULL: `pkey` applies */
	guid_t about;		   /* port GUID of the audience; 0: none */
	uint16_t pkey;		   /* P_Key of the subscribers; 0: all */
	/* set if the P_Keys of its port are not known: for no subscriber */
	bool unheard;
};

struct event_log {
	struct event *pages[EVENT_LOG_PAGES]; /* NULL: not in use */
	uint64_t first, end; /* number of the oldest event; number of the next event */
};

/* The event with this number, which must exist. Its address is stable until it is forgotten. */
struct event *event_log_at(const struct event_log *l, uint64_t number);
/*
 * Returns the memory of event number l->end, to be filled; forgets the oldest one if there are
 * EVENT_LOG_MAX.
 */
struct event *event_log_append(struct event_log *l);
/* Forgets the oldest event; there must be one. */
void event_log_forget_oldest(struct event_log *l);
/* Forgets all events; numbers go on, and the page of the next event is kept. */
void event_log_clear(struct event_log *l);
/* event_log_clear(), and frees that page, too. */
void event_log_release(struct event_log *l);

/* A copy, with a reference of the audience. */
struct event event_copy(const struct event *e);
/* A new audience with a copy of `set`; the caller owns one reference. */
struct audience *audience_new(const struct pkey_set *set);
/* NULL is fine; returns NULL. */
struct audience *audience_unref(struct audience *a);
