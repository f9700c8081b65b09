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
/* The first page and the last may both be in use in part. */
#define EVENT_LOG_PAGES (EVENT_LOG_MAX / EVENT_LOG_PAGE + 1)

/* P_Keys of the port an event is about, as they were then; shared by events about like ports. */
struct audience {
	unsigned refs;
	const void *made_from; /* compared: the next event may share it; never looked into */
	struct pkey_set set;
};

struct event {
	mono_t raised;
	uint8_t notice[NT_BYTES];
	struct audience *audience; /* NULL: see pkey */
	guid_t about;		   /* the port of the audience; 0: none */
	uint16_t pkey;		   /* 0: all subscribers */
	bool unheard;		   /* about a port whose P_Keys are not known: for no subscriber */
};

struct event_log {
	struct event *pages[EVENT_LOG_PAGES]; /* NULL: not in use */
	uint64_t first, end; /* numbers of the oldest event and of the one to come */
};

/* `number`: of one that is there. Stays where it is until it is forgotten. */
struct event *event_log_at(const struct event_log *l, uint64_t number);
/*
 * Place for the event with number l->end, to be filled; the oldest is forgotten if there are
 * EVENT_LOG_MAX.
 */
struct event *event_log_append(struct event_log *l);
/* There is one. */
void event_log_forget_oldest(struct event_log *l);
/* Forgets all; numbers go on, and the page of the next event stays. */
void event_log_clear(struct event_log *l);
/* The same, and frees that page, too. */
void event_log_release(struct event_log *l);

/* With a reference of its audience. */
struct event event_copy(const struct event *e);
/* One with a reference of the caller, of a copy of `set`. */
struct audience *audience_new(const struct pkey_set *set);
/* NULL is fine; returns NULL. */
struct audience *audience_unref(struct audience *a);
