// SPDX-License-Identifier: BSD-2-Clause
/*
 * Timers of the event loop that run once, or are off; the share of the main thread's time for work
 * that clients may request as often as they like; and growing pauses between tries.
 */
#pragma once

#include <systemd/sd-event.h>

#include "util/mono.h"

/* Makes a timer that is off; `arg` is the callback's. 0 or -errno. */
static inline int timer_new(sd_event *event, sd_event_source **ret,
			    sd_event_time_handler_t callback, void *arg)
{
	int r = sd_event_add_time(event, ret, CLOCK_MONOTONIC, 0, 1, callback, arg);

	return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

/* Fires at `at` of the monotonic clock, or at once if that has passed. MONO_NEVER: off. */
static inline void timer_at(sd_event_source *timer, mono_t at)
{
	if (at != MONO_NEVER)
		sd_event_source_set_time(timer, at < 0 ? 0 : (uint64_t)at);
	sd_event_source_set_enabled(timer, at == MONO_NEVER ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

/* Fires in `in` microseconds from now. */
static inline void timer_in(sd_event_source *timer, mono_t in)
{
	sd_event_source_set_time_relative(timer, in < 0 ? 0 : (uint64_t)in);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

/* Delay that no user of a lazy timer minds; a round trip is shorter. */
#define LAZY_TIMER_SLACK (MONO_MS / 2)

/*
 * A timer for work whose time moves on with each answer. Setting it costs a system call, firing too
 * early one check. So it is set again only to fire earlier, and work that is not yet due waits for
 * LAZY_TIMER_SLACK, in which further answers may move it on.
 */
struct lazy_timer {
	sd_event_source *source;
	mono_t at; /* when it fires; MONO_NEVER: it is off */
};

/* Makes a timer that fires at once. 0 or -errno. */
static inline int lazy_timer_new(sd_event *event, struct lazy_timer *ret,
				 sd_event_time_handler_t callback, void *arg)
{
	ret->at = 0;
	return sd_event_add_time(event, &ret->source, CLOCK_MONOTONIC, 0, 1, callback, arg);
}

/* Must be called first in the timer's callback. */
static inline void lazy_timer_fired(struct lazy_timer *t)
{
	t->at = MONO_NEVER;
}

/*
 * Lets the timer fire at `at` or before, a little later if that is soon; at once if `at` is not
 * after `now`.
 */
static inline void lazy_timer_by(struct lazy_timer *t, mono_t now, mono_t at)
{
	if (at > now && at < now + LAZY_TIMER_SLACK)
		at = now + LAZY_TIMER_SLACK;
	if (at >= t->at)
		return;
	t->at = at;
	timer_at(t->source, at);
}

/* Short pieces of work do not wait: up to 20 ms may run at once, as a fifth of 100 ms. */
#define PACE_SLACK   (100 * MONO_MS)
#define PACE_LONGEST (5 * MONO_S)

/* Zero: no work was done yet. */
struct pace {
	mono_t until; /* time until which the work so far makes up a fifth */
};

/*
 * Notes work that was done, which may take a fifth of the time. The wait is never longer than
 * PACE_LONGEST: a process that was stopped in the middle did not work all that time.
 */
static inline void pace_worked(struct pace *p, mono_t began, mono_t ended)
{
	p->until = mono_min((p->until > began ? p->until : began) + 5 * (ended - began),
			    ended + PACE_LONGEST);
}

/* Time to wait before more work; 0: none, also if it would be at most PACE_SLACK. */
static inline mono_t pace_wait(const struct pace *p, mono_t now)
{
	return p->until > now + PACE_SLACK ? p->until - now : 0;
}

/* A try that lasted longer is no failure. */
#define RETRY_LASTED  (60 * MONO_S)
#define RETRY_FIRST   (1 * MONO_S)
#define RETRY_DOUBLES 6u /* 64 s at most */

/* Zero: nothing was tried yet. */
struct retry {
	unsigned failures; /* number of failures in a row */
	mono_t began, at;  /* time of the latest try; time before which no other may start */
};

/* Notes a try at `now`. */
static inline void retry_began(struct retry *r, mono_t now, mono_t pause)
{
	r->began = now;
	r->at = now + pause;
}

/*
 * Notes that the latest try ended at `now`. The next one may start at once after a try that lasted,
 * or after the first failure; then after 1 s, and twice as long each time.
 */
static inline void retry_failed(struct retry *r, mono_t now)
{
	unsigned n;

	if (now - r->began >= RETRY_LASTED)
		r->failures = 0;
	n = r->failures++;
	if (r->failures > RETRY_DOUBLES + 1)
		r->failures = RETRY_DOUBLES + 1;
	r->at = n ? now + (RETRY_FIRST << (n - 1)) : now;
}
