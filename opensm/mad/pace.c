// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measured round trips. Means and spreads as in RFC 6298; differences are explained in pace.h.
 */
#include "mad/pace.h"

#include <assert.h>

#include "util/mem.h"

#define CAUTION_MAX 7u
/* answers after which one needless repetition is forgotten: less than 1 % */
#define DEBT_EACH 128u
#define RTT_MAX ((mono_t)UINT32_MAX / 8)
#define DEBT_MAX (64u * DEBT_EACH)

static enum mad_rtt_kind kind_of(uint8_t method)
{
	return method == MAD_SET ? MAD_RTT_SET : MAD_RTT_GET;
}

static void rtt_take(struct mad_rtt *r, mono_t sample)
{
	uint32_t us = (uint32_t)mono_min(MAX(sample, (mono_t)1), RTT_MAX);
	uint32_t off = us > r->mean ? us - r->mean : r->mean - us;

	if (!r->mean) {
		*r = (struct mad_rtt){ .mean = us, .spread = us / 2 };
		return;
	}
	r->spread = (uint32_t)((3 * (uint64_t)r->spread + off) / 4);
	r->mean = (uint32_t)MAX((7 * (uint64_t)r->mean + us) / 8, (uint64_t)1);
}

static mono_t rtt_expected(const struct mad_rtt *r)
{
	return MAX((mono_t)r->mean + 4 * (mono_t)r->spread, 2 * (mono_t)r->mean) * MONO_US;
}

bool pace_is_strange(const struct mad_target *target, uint8_t method)
{
	return !target || !target->rtt[kind_of(method)].mean;
}

void pace_sent(struct pace *p, const struct mad_target *target, uint8_t method,
	       struct pace_try *try, mono_t now)
{
	try->sent = now;
	try->order = ++p->order;
	try->strange = pace_is_strange(target, method);
}

static void caution_fade(struct caution *c)
{
	if (c->debt > 0 && --c->debt == 0 && c->doublings > 0 && --c->doublings > 0)
		c->debt = DEBT_EACH;
}

/* Needless tries sent before the first of them was known to be needless count as one step. */
static void caution_grow(struct caution *c, const struct pace_try *try, unsigned needless,
			 uint64_t order)
{
	c->debt = MIN(c->debt + needless * DEBT_EACH, DEBT_MAX);
	if (try->order < c->from)
		return;
	c->from = order + 1;
	c->doublings = MIN(c->doublings + MAX(needless / 2, 1u), CAUTION_MAX);
}

void pace_silent(struct mad_target *target, uint8_t method)
{
	target->mute[kind_of(method)] = true;
}

void pace_answered(struct pace *p, struct mad_target *target, uint8_t method,
		   const struct pace_try *try, unsigned needless, mono_t now)
{
	mono_t sample = now - try->sent;

	assert(try->order > 0 && try->order <= p->order);
	caution_fade(&p->strangers);
	caution_fade(&p->known);
	if (needless)
		caution_grow(try->strange ? &p->strangers : &p->known, try, needless, p->order);
	rtt_take(&p->all[kind_of(method)], sample);
	p->answered_order = MAX(p->answered_order, try->order);
	p->answered_at = now;
	if (!target)
		return;
	rtt_take(&target->rtt[kind_of(method)], sample);
	target->answered_order = MAX(target->answered_order, try->order);
	target->answered_at = now;
	target->mute[kind_of(method)] = false;
}

/*
 * A target without measurements takes twice as long as all others do; a Set is not answered sooner
 * than that target's Gets.
 */
mono_t pace_expected(const struct pace *p, const struct mad_target *target, uint8_t method,
		     mono_t limit)
{
	enum mad_rtt_kind kind = kind_of(method);
	const struct mad_rtt *all = &p->all[p->all[kind].mean ? kind : MAD_RTT_GET];
	mono_t get = target ? rtt_expected(&target->rtt[MAD_RTT_GET]) : 0;

	if (!pace_is_strange(target, method))
		return mono_min(rtt_expected(&target->rtt[kind]), limit);
	if (!all->mean)
		return limit;
	return mono_min(2 * MAX(rtt_expected(all), get), limit);
}

mono_t pace_repeat(const struct pace *p, const struct mad_target *target, uint8_t method,
		   unsigned repeats, mono_t limit)
{
	bool strange = pace_is_strange(target, method);
	bool mute = target && target->mute[kind_of(method)];
	unsigned doublings = strange ? MIN(repeats, 20u) + p->strangers.doublings :
				       MIN(repeats / 2, 20u) + p->known.doublings;
	mono_t wait = mute ? limit : MAX(pace_expected(p, target, method, limit), PACE_FLOOR);

	return wait > limit >> doublings ? limit : wait << doublings;
}

mono_t pace_late(const struct pace *p, const struct mad_target *target, const struct pace_try *try,
		 mono_t wait)
{
	mono_t since = try->sent;

	if (target && target->answered_order < try->order)
		since = MAX(since, target->answered_at);
	if (p->answered_order < try->order)
		since = MAX(since, p->answered_at);
	return since + wait;
}
