// SPDX-License-Identifier: BSD-2-Clause
/*
 * Timers of the event loop that run once, or are off; the share of the main thread's time that
 * work gets which clients may ask for as often as they like; and pauses between tries that grow.
 */
#pragma once

#include <systemd/sd-event.h>

#include "util/mono.h"

/* Off at first; `arg` is the callback's. 0 or -errno. */
static inline int timer_new(sd_event *event, sd_event_source **ret,
			    sd_event_time_handler_t callback, void *arg)
{
	int r = sd_event_add_time(event, ret, CLOCK_MONOTONIC, 0, 1, callback, arg);

	return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

/* At `at` of the monotonic clock, or at once if that has passed. MONO_NEVER: off. */
static inline void timer_at(sd_event_source *timer, mono_t at)
{
	if (at != MONO_NEVER)
		sd_event_source_set_time(timer, at < 0 ? 0 : (uint64_t)at);
	sd_event_source_set_enabled(timer, at == MONO_NEVER ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

/* In `in` microseconds from now. */
static inline void timer_in(sd_event_source *timer, mono_t in)
{
	sd_event_source_set_time_relative(timer, in < 0 ? 0 : (uint64_t)in);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

/* Nothing that this timer is for is that exact, and a round trip is shorter. */
#define LAZY_TIMER_SLACK (MONO_MS / 2)

/*
 * A timer for work whose time moves on with each answer. Setting it costs a system call, firing too
 * early one look: it is set again only to fire earlier, and what is not due yet waits for
 * LAZY_TIMER_SLACK, in which answers come that move it on.
 */
struct lazy_timer {
	sd_event_source *source;
	mono_t at; /* when it fires; MONO_NEVER: it is off */
};

/* It fires at once. 0 or -errno. */
static inline int lazy_timer_new(sd_event *event, struct lazy_timer *ret,
				 sd_event_time_handler_t callback, void *arg)
{
	ret->at = 0;
	return sd_event_add_time(event, &ret->source, CLOCK_MONOTONIC, 0, 1, callback, arg);
}

/* First thing in its callback. */
static inline void lazy_timer_fired(struct lazy_timer *t)
{
	t->at = MONO_NEVER;
}

/* It fires at `at` or before, a little later if that is soon; at once if it is not after `now`. */
static inline void lazy_timer_by(struct lazy_timer *t, mono_t now, mono_t at)
{
	if (at > now && at < now + LAZY_TIMER_SLACK)
		at = now + LAZY_TIMER_SLACK;
	if (at >= t->at)
		return;
	t->at = at;
	timer_at(t->source, at);
}

/* Short pieces of work do not wait: 20 ms of it may come at once, which fill 100 ms. */
#define PACE_SLACK   (100 * MONO_MS)
#define PACE_LONGEST (5 * MONO_S)

/* Zero: no work was done yet. */
struct pace {
	mono_t until; /* the work so far is a fifth of the time until then */
};

/*
 * Work was done. It gets a fifth of the time at most. The wait is never longer than PACE_LONGEST: a
 * process that was stopped in the middle did not work all that time.
 */
static inline void pace_worked(struct pace *p, mono_t began, mono_t ended)
{
	p->until = mono_min((p->until > began ? p->until : began) + 5 * (ended - began),
			    ended + PACE_LONGEST);
}

/* Time to wait before more work; 0: none. Short pieces do not wait, up to PACE_SLACK. */
static inline mono_t pace_wait(const struct pace *p, mono_t now)
{
	return p->until > now + PACE_SLACK ? p->until - now : 0;
}

/* What lasted longer was no failure. */
#define RETRY_LASTED  (60 * MONO_S)
#define RETRY_FIRST   (1 * MONO_S)
#define RETRY_DOUBLES 6u /* 64 s at most */

/* Zero: nothing was tried yet. */
struct retry {
	unsigned failures; /* in a row */
	mono_t began, at;  /* the latest try; no other before */
};

/* A try is made at `now`. */
static inline void retry_began(struct retry *r, mono_t now, mono_t pause)
{
	r->began = now;
	r->at = now + pause;
}

/*
 * What came of it is over at `now`. The next try may be made at once after one that lasted, or the
 * first that did not; then after 1 s, and twice as long each time.
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
