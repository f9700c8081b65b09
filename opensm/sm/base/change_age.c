// SPDX-License-Identifier: BSD-2-Clause
#include "sm/base/change_age.h"

#include <assert.h>
#include <stdio.h>

#include "util/mem.h"
#include "util/told.h"

/*
 * Usual time to serve a change: a base, a part for each node, and a multiple of the longest pause
 * in a sweep that served one, as when a routing engine computes.
 */
#define USUAL		(60 * MONO_S)
#define USUAL_PER_NODE	(2 * MONO_MS)
#define USUAL_PAUSES	5
/* Number of sweeps after a change was noticed whose answers count as progress. */
#define MOVING_SWEEPS	5
#define STATUS_INTERVAL (10 * MONO_S)

/* A request for a sweep. */
struct change {
	bool asked; /* false: there is no request */
	mono_t since;
	mono_t moved; /* time of the last progress of the running sweep, or `since` */
	unsigned n_ended; /* number of sweeps ended since then */
	char why[100];
};

enum { TOLD_LATE, TOLD_STUCK };

struct change_age {
	struct change asked
		[SWEEP_KINDS]; /* oldest request for each kind of sweep that has not begun */
	struct change in_work[SWEEP_KINDS]; /* requests that the running sweep serves, by kind */
	mono_t moved;			    /* time of the last progress of the running sweep */
	mono_t pause, longest; /* longest pause of the running sweep; of completed ones */
	mono_t tell_after; /* age at which the next record is logged; 0: the first */
	mono_t status_at;
	struct told told;
	bool has_clock; /* set after the first tick */
};

struct change_age *change_age_new(void)
{
	return xcalloc(1, sizeof(struct change_age));
}

static bool is_older(const struct change *a, const struct change *b)
{
	return a->asked && (!b->asked || a->since < b->since);
}

void change_age_asked(struct change_age *a, enum sweep_kind kind, const char *why, mono_t now)
{
	struct change *c = &a->asked[kind];

	assert(kind > SWEEP_NONE && kind < SWEEP_KINDS && why);
	if (c->asked)
		return;
	c->asked = true;
	c->since = c->moved = now;
	c->n_ended = 0;
	snprintf(c->why, sizeof(c->why), "%s", why);
}

void change_age_began(struct change_age *a, enum sweep_kind kind, mono_t now)
{
	assert(kind > SWEEP_NONE && kind < SWEEP_KINDS);
	a->moved = now;
	a->pause = 0;
	for (unsigned i = 0; i < SWEEP_KINDS; i++) {
		if (!(sweep_covers(kind) >> i & 1))
			continue;
		a->in_work[i] = a->asked[i];
		a->asked[i].asked = false;
	}
}

static void move_change(struct change *c, mono_t now)
{
	if (c->asked && c->n_ended < MOVING_SWEEPS)
		c->moved = MAX(c->moved, now);
}

void change_age_moved(struct change_age *a, mono_t now)
{
	a->pause = MAX(a->pause, now - a->moved);
	a->moved = now;
	for (unsigned i = 0; i < SWEEP_KINDS; i++) {
		move_change(&a->asked[i], now);
		move_change(&a->in_work[i], now);
	}
}

void change_age_ended(struct change_age *a, bool served, mono_t now)
{
	for (unsigned i = 0; i < SWEEP_KINDS; i++) {
		if (!served && is_older(&a->in_work[i], &a->asked[i]))
			a->asked[i] = a->in_work[i];
		a->in_work[i].asked = false;
		a->asked[i].n_ended += a->asked[i].asked;
	}
	if (served)
		a->longest = MAX(a->longest, MAX(a->pause, now - a->moved));
}

void change_age_drop(struct change_age *a, unsigned kinds)
{
	for (unsigned i = 0; i < SWEEP_KINDS; i++)
		a->asked[i].asked &= !(kinds >> i & 1);
}

/* The oldest request; NULL: there is none. */
static const struct change *oldest_of(const struct change_age *a)
{
	static const struct change none;
	const struct change *found = &none;

	for (unsigned i = 0; i < SWEEP_KINDS; i++) {
		if (is_older(&a->asked[i], found))
			found = &a->asked[i];
		if (is_older(&a->in_work[i], found))
			found = &a->in_work[i];
	}
	return found->asked ? found : NULL;
}

static mono_t usual_age(const struct change_age *a, uint32_t n_nodes)
{
	return USUAL + n_nodes * USUAL_PER_NODE + USUAL_PAUSES * a->longest;
}

bool change_age_oldest(const struct change_age *a, uint32_t n_nodes, mono_t now,
		       struct oldest_change *ret)
{
	const struct change *c = oldest_of(a);

	if (!c)
		return false;
	ret->why = c->why;
	ret->age = MAX(now - c->since, 0);
	ret->is_late = ret->age >= usual_age(a, n_nodes);
	ret->stuck = now - c->moved >= usual_age(a, n_nodes);
	return true;
}

/* Starts the clock: requests before the first tick, when no time was known, count from then on. */
static void start_clock(struct change_age *a, mono_t now)
{
	for (unsigned i = 0; i < SWEEP_KINDS && !a->has_clock; i++)
		a->asked[i].since = a->asked[i].moved = now;
	a->has_clock = true;
}

static unsigned nothing_late(struct change_age *a)
{
	a->tell_after = 0;
	told_change(&a->told, TOLD_STUCK, false);
	return told_change(&a->told, TOLD_LATE, false) == TOLD_ENDS ? CHANGE_AGE_TELL_SERVED : 0;
}

/* Was there progress recently? */
static bool moves(const struct change *c, mono_t now)
{
	return now - c->moved < STATUS_INTERVAL;
}

static bool is_worth_telling(struct change_age *a, const struct oldest_change *is, mono_t now)
{
	if (is->stuck && told_first(&a->told, TOLD_STUCK))
		return true;
	return is->age >= a->tell_after && (is->stuck || moves(oldest_of(a), now));
}

unsigned change_age_tick(struct change_age *a, uint32_t n_nodes, mono_t now)
{
	struct oldest_change is;
	unsigned todo = 0;

	start_clock(a, now);
	if (!change_age_oldest(a, n_nodes, now, &is) || !is.is_late)
		return nothing_late(a);
	if (is_worth_telling(a, &is, now)) {
		a->tell_after = is.age * 2;
		a->status_at = now;
		told_first(&a->told, TOLD_LATE);
		todo |= CHANGE_AGE_TELL;
	}
	if (now >= a->status_at) {
		a->status_at = now + STATUS_INTERVAL;
		todo |= CHANGE_AGE_STATUS;
	}
	return todo;
}

mono_t change_age_next(const struct change_age *a, uint32_t n_nodes, mono_t now)
{
	const struct change *c = oldest_of(a);
	mono_t next;

	if (!c)
		return told_holds(&a->told, TOLD_LATE) ? now : MONO_NEVER;
	if (now - c->since < usual_age(a, n_nodes))
		return told_holds(&a->told, TOLD_LATE) ? now : c->since + usual_age(a, n_nodes);
	next = a->status_at;
	if (told_holds(&a->told, TOLD_STUCK) || moves(c, now))
		next = mono_min(next, MAX(c->since + a->tell_after, now));
	if (!told_holds(&a->told, TOLD_STUCK))
		next = mono_min(next, MAX(c->moved + usual_age(a, n_nodes), now));
	return next;
}
