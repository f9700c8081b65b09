// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links that come and go.
 *
 * A link falls when it is seen lower than before: from ARMED or ACTIVE to INIT or DOWN, from INIT
 * to DOWN. Both ends see one fall; it counts once. Falls are counted as they are seen: a link that
 * falls ten times between two looks fell once.
 *
 *   falls within 2 min     between switches 3     to a host 5
 *
 * So many, and the cable is held for 1 s: not routed, not armed, not activated. A host that reboots
 * bounces its link two or three times and is not held. Each fall while it is held starts the time
 * anew; one after the time would have been over doubles it, up to 4 min (to a host: 1 min). When
 * the time is over its switch is looked at again and the cable let go. It is on probation then,
 * twice as long as it was held and no less than 1 min: one fall and it is held again, twice as
 * long. Probation that was quiet halves the time, and in the end nothing is remembered.
 *
 *            3 or 5 falls                  time is over
 *   WATCHED --------------> HELD --------------------------> PROBATION
 *      ^                     ^ \--a fall: time anew--/         | |
 *      |                     \---------- a fall ---------------/ |
 *      \------------- quiet, the last level -----------------------/
 */
#include "sm/out_of_use/bad_cable.h"

#include "ib/codes.h"

#define PROBATION_FIRST (60 * MONO_S)
#define HOLD_FIRST	(1 * MONO_S)
#define MAX_LEVEL	8
/* Falls seen at both ends within this time may be the same. */
#define SPELL		(15 * MONO_S)

static const struct kind {
	unsigned falls; /* number of falls within FALLS_WINDOW; at most MAX_FALLS */
	mono_t longest; /* longest time of a hold */
} kinds[] = {
	[false] = { .falls = 3, .longest = 240 * MONO_S }, /* between switches */
	[true] = { .falls = 5, .longest = 60 * MONO_S },   /* cable to a host */
};

static const struct kind *kind_of(const struct bad_cable *c)
{
	return &kinds[!cable_is_between_switches(c)];
}

mono_t flaps_hold_time(const struct bad_cable *c)
{
	return mono_min(HOLD_FIRST << c->flaps.level, kind_of(c)->longest);
}

static mono_t probation(const struct bad_cable *c)
{
	return MAX(PROBATION_FIRST, 2 * flaps_hold_time(c));
}

/* ---- falls ----------------------------------------------------------------------------------- */

static mono_t fall_before(const struct flaps *f, unsigned n)
{
	return f->falls[(f->n - 1 - n) % MAX_FALLS];
}

static bool fell_too_often(const struct bad_cable *c, mono_t now)
{
	unsigned most = kind_of(c)->falls;

	return c->flaps.n >= most && now - fall_before(&c->flaps, most - 1) < FALLS_WINDOW;
}

/* Counts the falls that are recent enough, for the log. */
static void count_falls(struct flaps *f, mono_t now)
{
	unsigned n = MIN(f->n, (unsigned)MAX_FALLS);

	while (n > 1 && now - fall_before(f, n - 1) >= FALLS_WINDOW)
		n--;
	f->held_falls = n;
	f->held_span = (int)((now - fall_before(f, n - 1)) / MONO_S);
}

static void hold(struct bad_cable *c, mono_t now)
{
	struct flaps *f = &c->flaps;

	f->state = FLAPS_HELD;
	cable_set(c, OUT_FLAPS, true);
	count_falls(f, now);
	f->held_since = now;
	f->n_when_held = f->n;
	f->until = f->step_at = now + flaps_hold_time(c);
	f->asked = false;
}

void flaps_release(struct bad_cable *c, mono_t now)
{
	if (c->flaps.state != FLAPS_HELD || now < c->flaps.until)
		return;
	c->flaps.state = FLAPS_PROBATION;
	cable_set(c, OUT_FLAPS, false);
	c->flaps.until = now + probation(c);
	c->flaps.asked = false;
}

static void level_up(struct flaps *f)
{
	f->level += f->level < MAX_LEVEL;
}

static void note_fall(struct bad_cable *c, mono_t now)
{
	struct flaps *f = &c->flaps;

	f->falls[f->n++ % MAX_FALLS] = now;
	switch (f->state) {
	case FLAPS_WATCHED:
		f->until = now + FALLS_WINDOW;
		if (fell_too_often(c, now))
			hold(c, now);
		break;
	case FLAPS_HELD:
		if (now >= f->step_at) {
			level_up(f);
			f->step_at = now + flaps_hold_time(c);
		}
		f->until = now + flaps_hold_time(c);
		f->asked = false;
		break;
	case FLAPS_PROBATION:
		level_up(f);
		hold(c, now);
		break;
	}
}

/* Is the fall new, as the other end has not shown it yet? */
static bool is_news(struct bad_cable *c, const struct port *p, mono_t now)
{
	struct cable_end *e = cable_end_of(c, p);
	struct flaps *f = &c->flaps;

	if (f->n && now - fall_before(f, 0) > SPELL)
		c->end[0].falls = c->end[1].falls = f->counted = 0;
	e->falls++;
	if (e->falls <= f->counted)
		return false;
	f->counted = e->falls;
	return true;
}

void out_of_use_link_seen(struct sm *sm, struct port *p, unsigned before)
{
	struct bad_cable *c = cable_record(sm, p);
	unsigned now = port_state(p);

	if (c && c->off.at == p)
		switched_off_seen(sm, c, p);
	if (c && c->reasons & REASONS_WITH(taken_down))
		return; /* the link was taken down here, or is being set up */
	if (now > IB_PORT_INIT || before <= now || (node_is_switch(p->node) && !p->num))
		return;
	c = cable_need(sm, p);
	if (!c || !is_news(c, p, sm->now))
		return;
	note_fall(c, sm->now);
	out_of_use_wake(sm->m.out_of_use, c->flaps.until);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void end_probation(struct bad_cable *c, mono_t now)
{
	struct flaps *f = &c->flaps;

	if (f->level) {
		f->level--;
		f->until = now + probation(c);
	} else {
		f->state = FLAPS_WATCHED;
		f->until = fall_before(f, 0) + FALLS_WINDOW;
	}
}

void flaps_tick(struct sm *sm, struct bad_cable *c)
{
	struct flaps *f = &c->flaps;

	if (sm->now < f->until)
		return;
	switch (f->state) {
	case FLAPS_WATCHED:
		break;
	case FLAPS_HELD:
		if (!f->asked)
			cable_look(sm, c, "a cable was held long enough");
		f->asked = true;
		break;
	case FLAPS_PROBATION:
		end_probation(c, sm->now);
		break;
	}
}

/* ---- shown as an alarm ----------------------------------------------------------------------- */

/* One fall is the cable that was pulled once; two within the window are a link that flaps. */
#define FALLS_SHOWN 2

bool out_of_use_falls_at(const struct sm *sm, unsigned n, struct out_of_use_falls *ret)
{
	const struct out_of_use *h = sm->m.out_of_use;
	const struct bad_cable *c = n < h->n ? h->cables[n] : NULL;
	struct flaps f;

	*ret = (struct out_of_use_falls){ 0 };
	if (!c)
		return false;
	f = c->flaps;
	if (f.state == FLAPS_WATCHED && f.n)
		count_falls(&f, sm->now);
	if (f.state != FLAPS_PROBATION && (f.state != FLAPS_WATCHED || f.held_falls < FALLS_SHOWN ||
					   sm->now - fall_before(&f, 0) >= FALLS_WINDOW))
		return true;
	ret->port = c->end[0].at ? c->end[0].at : c->end[1].at;
	ret->falls = f.held_falls;
	ret->probation = f.state == FLAPS_PROBATION;
	return true;
}
