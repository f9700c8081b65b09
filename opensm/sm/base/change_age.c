// SPDX-License-Identifier: BSD-2-Clause
#include "sm/base/change_age.h"

#include <assert.h>
#include <stdio.h>

#include "util/mem.h"
#include "util/told.h"

/*
 * The usual time to serve a change: this, and as much for each node, and sweeps of the length of
 * the longest that served.
 */
#define USUAL		(60 * MONO_S)
#define USUAL_PER_NODE	(2 * MONO_MS)
#define USUAL_SWEEPS	5
#define STATUS_INTERVAL (10 * MONO_S)

/* Something that asks for a sweep. */
struct change {
	bool asked; /* false: there is none */
	mono_t since;
	char why[100];
};

enum { TOLD_OLD };

struct change_age {
	struct change asked
		[SWEEP_KINDS]; /* the oldest that asks for each kind, and no sweep has begun for */
	struct change in_work[SWEEP_KINDS]; /* of the running sweep */
	mono_t longest;			    /* sweep that served */
	mono_t tell_after;		    /* age of the next record; 0: the first */
	mono_t status_at;
	struct told told;
	bool has_clock; /* after the first tick */
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
	c->since = now;
	snprintf(c->why, sizeof(c->why), "%s", why);
}

void change_age_began(struct change_age *a, enum sweep_kind kind)
{
	assert(kind > SWEEP_NONE && kind < SWEEP_KINDS);
	for (unsigned i = 0; i < SWEEP_KINDS; i++) {
		if (!(sweep_covers(kind) >> i & 1))
			continue;
		a->in_work[i] = a->asked[i];
		a->asked[i].asked = false;
	}
}

void change_age_ended(struct change_age *a, bool served, mono_t took)
{
	for (unsigned i = 0; i < SWEEP_KINDS; i++) {
		if (!served && is_older(&a->in_work[i], &a->asked[i]))
			a->asked[i] = a->in_work[i];
		a->in_work[i].asked = false;
	}
	if (served)
		a->longest = MAX(a->longest, took);
}

void change_age_drop(struct change_age *a, unsigned kinds)
{
	for (unsigned i = 0; i < SWEEP_KINDS; i++)
		a->asked[i].asked &= !(kinds >> i & 1);
}

/* NULL: there is none. */
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
	return USUAL + n_nodes * USUAL_PER_NODE + USUAL_SWEEPS * a->longest;
}

bool change_age_oldest(const struct change_age *a, uint32_t n_nodes, mono_t now,
		       struct oldest_change *ret)
{
	const struct change *c = oldest_of(a);

	if (!c)
		return false;
	ret->why = c->why;
	ret->age = MAX(now - c->since, 0);
	ret->stuck = ret->age >= usual_age(a, n_nodes);
	return true;
}

/* Before the first tick no time was known: what was asked for counts from then on. */
static void start_clock(struct change_age *a, mono_t now)
{
	for (unsigned i = 0; i < SWEEP_KINDS && !a->has_clock; i++)
		a->asked[i].since = now;
	a->has_clock = true;
}

static unsigned nothing_stuck(struct change_age *a)
{
	a->tell_after = 0;
	return told_change(&a->told, TOLD_OLD, false) == TOLD_ENDS ? CHANGE_AGE_TELL_SERVED : 0;
}

unsigned change_age_tick(struct change_age *a, uint32_t n_nodes, mono_t now)
{
	struct oldest_change is;
	unsigned todo = 0;

	start_clock(a, now);
	if (!change_age_oldest(a, n_nodes, now, &is) || !is.stuck)
		return nothing_stuck(a);
	if (is.age >= a->tell_after) {
		a->tell_after = is.age * 2;
		told_first(&a->told, TOLD_OLD);
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

	if (!c)
		return told_holds(&a->told, TOLD_OLD) ? now : MONO_NEVER;
	if (now - c->since < usual_age(a, n_nodes))
		return told_holds(&a->told, TOLD_OLD) ? now : c->since + usual_age(a, n_nodes);
	return mono_min(MAX(c->since + a->tell_after, now), a->status_at);
}
