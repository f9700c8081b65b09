// SPDX-License-Identifier: BSD-2-Clause
/* The machine of supervise.h; the only function that changes the state is enter(). */
#include "launch/supervise.h"

static void enter(struct supervise *s, enum supervise_state state, mono_t due)
{
	s->state = state;
	s->due = due;
	s->aborted = false;
}

void supervise_init(struct supervise *s, mono_t watchdog, mono_t now)
{
	*s = (struct supervise){ .backoff = SUPERVISE_BACKOFF_MIN, .watchdog = watchdog };
	enter(s, SUPERVISE_WAITING, now);
}

void supervise_fail(struct supervise *s)
{
	enter(s, SUPERVISE_FAILED, MONO_NEVER);
}

mono_t supervise_due(const struct supervise *s)
{
	return s->due;
}

/* First ABRT, for the sake of a core dump, then KILL. */
static enum supervise_todo stuck(struct supervise *s, mono_t now)
{
	if (s->aborted) {
		s->due = MONO_NEVER;
		return SUPERVISE_KILL;
	}
	s->aborted = true;
	s->due = now + SUPERVISE_ABORT_LIMIT;
	return SUPERVISE_ABORT;
}

enum supervise_todo supervise_next(struct supervise *s, mono_t now)
{
	if (now < s->due)
		return SUPERVISE_NOTHING;
	switch (s->state) {
	case SUPERVISE_WAITING:
		return SUPERVISE_START;
	case SUPERVISE_STARTING:
	case SUPERVISE_RUNNING:
		return stuck(s, now);
	case SUPERVISE_ENDING:
		s->due = MONO_NEVER;
		return SUPERVISE_KILL;
	case SUPERVISE_FAILED:
	case SUPERVISE_ENDED:
		break;
	}
	return SUPERVISE_NOTHING;
}

void supervise_started(struct supervise *s, mono_t now)
{
	s->restarts += s->started_once;
	s->started_once = true;
	enter(s, SUPERVISE_STARTING, now + SUPERVISE_START_LIMIT);
}

static mono_t silence_ends(const struct supervise *s, mono_t now)
{
	return s->watchdog ? now + s->watchdog : MONO_NEVER;
}

void supervise_ready(struct supervise *s, mono_t now)
{
	if (s->state != SUPERVISE_STARTING || s->aborted)
		return;
	s->since = now;
	enter(s, SUPERVISE_RUNNING, silence_ends(s, now));
}

void supervise_fed(struct supervise *s, mono_t now)
{
	if (s->state == SUPERVISE_RUNNING && !s->aborted)
		s->due = silence_ends(s, now);
}

static void back_off(struct supervise *s, mono_t now)
{
	if (s->state == SUPERVISE_RUNNING && now - s->since >= SUPERVISE_WELL)
		s->backoff = SUPERVISE_BACKOFF_MIN;
	enter(s, SUPERVISE_WAITING, now + s->backoff);
	s->backoff = mono_min(2 * s->backoff, SUPERVISE_BACKOFF_MAX);
}

void supervise_ended(struct supervise *s, bool for_good, mono_t now)
{
	switch (s->state) {
	case SUPERVISE_ENDING:
		enter(s, SUPERVISE_ENDED, MONO_NEVER);
		break;
	case SUPERVISE_WAITING:
	case SUPERVISE_STARTING:
	case SUPERVISE_RUNNING:
		if (for_good)
			supervise_fail(s);
		else
			back_off(s, now);
		break;
	case SUPERVISE_FAILED:
	case SUPERVISE_ENDED:
		break;
	}
}

bool supervise_stop(struct supervise *s, mono_t now)
{
	switch (s->state) {
	case SUPERVISE_STARTING:
	case SUPERVISE_RUNNING:
		enter(s, SUPERVISE_ENDING, now + SUPERVISE_STOP_LIMIT);
		return true;
	case SUPERVISE_WAITING:
	case SUPERVISE_FAILED:
		enter(s, SUPERVISE_ENDED, MONO_NEVER);
		return false;
	case SUPERVISE_ENDING:
	case SUPERVISE_ENDED:
		break;
	}
	return false;
}

void supervise_retry(struct supervise *s, mono_t now)
{
	if (s->state != SUPERVISE_WAITING && s->state != SUPERVISE_FAILED)
		return;
	s->backoff = SUPERVISE_BACKOFF_MIN;
	enter(s, SUPERVISE_WAITING, now);
}

void supervise_hurry(struct supervise *s, mono_t now)
{
	if (s->state == SUPERVISE_WAITING)
		s->due = now;
}

bool supervise_is_settled(const struct supervise *s)
{
	return s->state != SUPERVISE_STARTING &&
	       (s->state != SUPERVISE_WAITING || s->started_once);
}

bool supervise_has_process(const struct supervise *s)
{
	return s->state == SUPERVISE_STARTING || s->state == SUPERVISE_RUNNING ||
	       s->state == SUPERVISE_ENDING;
}

bool supervise_is_permanent(int exit_status)
{
	return exit_status == 2 || (exit_status >= 64 && exit_status <= 78) || exit_status == 255;
}

const char *supervise_name(enum supervise_state state)
{
	switch (state) {
	case SUPERVISE_WAITING:
		return "waiting";
	case SUPERVISE_STARTING:
		return "starting";
	case SUPERVISE_RUNNING:
		return "running";
	case SUPERVISE_FAILED:
		return "failed";
	case SUPERVISE_ENDING:
		return "ending";
	case SUPERVISE_ENDED:
		return "ended";
	}
	return "?";
}
