// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which cables are left out, by their reasons, and logs it. Decided once per sweep, between
 * discovery and routing, for the whole fabric: a cable may be the last path in one sweep and not in
 * the next.
 */
#include "sm/out_of_use/bad_cable.h"

#include <stdio.h>

#include "fabric/observe.h"
#include "ib/codes.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/out_of_use/counters.h"
#include "util/mem.h"

MACHINE_MEMORY(out_of_use);

void out_of_use_new(struct sm *sm, out_of_use_path_sl_fn *path_sl)
{
	struct out_of_use *h = sm->m.out_of_use;

	h->next = h->next_down = MONO_NEVER;
	h->log = (struct log_limit){ .interval = MONO_S, .burst = 20 };
	h->path_sl = path_sl;
	h->asks = counters_new();
}

void out_of_use_free(struct sm *sm)
{
	struct out_of_use *h = sm->m.out_of_use;

	while (h->n)
		cable_drop(h, h->cables[0]);
	free(h->cables);
	free(h->asks);
}

void out_of_use_node_goes(struct sm *sm, struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct bad_cable *c = n->ports[i].out.cable;

		if (!c)
			continue;
		if (c->off.at == &n->ports[i])
			switched_off_end(c);
		cable_leave(sm->m.out_of_use, c, &n->ports[i]);
	}
}

/* ---- words ----------------------------------------------------------------------------------- */

#define WORDS_STRLEN 96

static const char *reason_words(const struct bad_cable *c, enum out_reason reason,
				char ret[WORDS_STRLEN])
{
	const char *words = reason < OUT_REASONS ? reasons[reason].words : "";

	if (reason == OUT_FLAPS)
		snprintf(ret, WORDS_STRLEN, "the link came and went %u times in %d s",
			 c->flaps.held_falls, c->flaps.held_span);
	else if (reason == OUT_COMPLAINS)
		snprintf(ret, WORDS_STRLEN, "its ports have sent %u traps 129 to 131",
			 c->end[0].complaints + c->end[1].complaints);
	else
		snprintf(ret, WORDS_STRLEN, "%s", words);
	return ret;
}

/* The reason that is logged: one that no other machine has logged. */
static enum out_reason reason_to_tell(const struct bad_cable *c)
{
	unsigned bits = cable_reasons(c), told = bits & REASONS_WITH(told);

	return reason_worst(told ? told : bits);
}

static void tell_out(struct sm *sm, struct bad_cable *c)
{
	enum out_reason reason = reason_to_tell(c);
	char why[WORDS_STRLEN];

	c->told = reasons[reason].told ? TOLD_OUT : TOLD_OUT_BY_OTHERS;
	if (c->told == TOLD_OUT_BY_OTHERS)
		return;
	reason_words(c, reason, why);
	if (reason == OUT_FLAPS)
		cable_say(sm, c, "%s; it is left out for %d s, longer if it goes on", why,
			  (int)(flaps_hold_time(c) / MONO_S));
	else
		cable_say(sm, c, "%s; %s", why, reasons[reason].then);
}

static bool has_hosts(const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++)
		if (n->ports[i].peer && !node_is_switch(n->ports[i].peer->node))
			return true;
	return false;
}

static bool is_of_ordered_switch(const struct bad_cable *c)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct port *p = c->end[i].at;

		if (p && out_of_use_switch_is_ordered(p->node) && !has_hosts(p->node))
			return true;
	}
	return false;
}

/*
 * Where an administrator drains a whole switch without hosts, its last cable stays in use for the
 * switch itself: that was to be expected.
 */
static void tell_spared(struct sm *sm, struct bad_cable *c)
{
	enum out_reason reason = reason_to_tell(c);
	char why[WORDS_STRLEN];

	c->told = TOLD_SPARED_BY_OTHERS;
	if (reason < OUT_REASONS && reasons[reason].by_order && is_of_ordered_switch(c))
		return;
	c->told = TOLD_SPARED;
	cable_say(sm, c, "%s; it is the only way between two parts of the fabric and stays in use",
		  reason_words(c, reason, why));
}

static void tell_back(struct sm *sm, struct bad_cable *c)
{
	bool was_out = c->told == TOLD_OUT, was_said = was_out || c->told == TOLD_SPARED;
	const struct flaps *f = &c->flaps;

	c->told = TOLD_NOT;
	if (!was_said)
		return;
	if (f->state == FLAPS_PROBATION)
		cable_note(sm, c, "%s after %d s (falls meanwhile: %u)",
			   was_out ? "used again" : "quiet again",
			   (int)((sm->now - f->held_since) / MONO_S), f->n - f->n_when_held);
	else
		cable_note(sm, c, "%s", was_out ? "used again" : "in order again");
}

/* Logs each change once. A cable that returns is logged as used again later. */
static void tell_cable(struct sm *sm, struct bad_cable *c)
{
	unsigned bits = cable_reasons(c);

	if (bits & BIT(OUT_RETURNS) && !(bits & REASONS_WITH(told)))
		return;
	if (c->out && c->told != TOLD_OUT && c->told != TOLD_OUT_BY_OTHERS)
		tell_out(sm, c);
	else if (c->spared && c->told != TOLD_SPARED && c->told != TOLD_SPARED_BY_OTHERS)
		tell_spared(sm, c);
	else if (!c->out && !c->spared && c->told != TOLD_NOT)
		tell_back(sm, c);
}

/* ---- stuck, and returning -------------------------------------------------------------------- */

void out_of_use_stuck(struct sm *sm, struct port *p)
{
	struct bad_cable *c = p->peer && node_is_switch(p->node) && node_is_switch(p->peer->node)
				      ? cable_need(sm, p)
				      : NULL;

	assert(p->pending >= PORT_STUCK_AFTER);
	if (c)
		cable_set(c, OUT_STUCK, true);
}

static void end_stuck(struct bad_cable *c)
{
	for (unsigned i = 0; i < 2; i++)
		if (c->end[i].at && c->end[i].at->pending >= PORT_STUCK_AFTER)
			return;
	cable_set(c, OUT_STUCK, false);
}

/*
 * Notes that the cable is gone. A link that falls, as when it is taken down, keeps its record while
 * it may train.
 */
static void note_gone(struct bad_cable *c, mono_t now)
{
	bool gone = cable_is_gone(c);

	if (gone && !c->gone && c->flaps.state == FLAPS_WATCHED)
		c->flaps.until = MAX(c->flaps.until, now + FALLS_WINDOW);
	c->gone = gone;
}

/* Are both ends known, and is one not ACTIVE? */
static bool is_not_up_yet(const struct bad_cable *c)
{
	const struct port *a = c->end[0].at, *b = c->end[1].at;

	return a && b && a->peer == b && fabric_link_is_up(a) &&
	       (port_state(a) != IB_PORT_ACTIVE || port_state(b) != IB_PORT_ACTIVE);
}

/*
 * Notes that a cable returns. If it does not come up it becomes stuck, and is left out for that; if
 * it does not train, its record ends.
 */
static void note_return(struct bad_cable *c)
{
	bool is_down = cable_reasons(c) & REASONS_WITH(taken_down);
	bool returns = c->reasons & BIT(OUT_RETURNS) ||
		       (c->was_down && c->out && cable_is_between_switches(c));

	cable_set(c, OUT_RETURNS,
		  returns && !is_down && !(c->reasons & BIT(OUT_STUCK)) &&
			  (c->gone || is_not_up_yet(c)));
	c->was_down = is_down;
}

/* Asks for a sweep of returned cables that are ACTIVE at both ends, so that routes use them. */
static void look_at_returned(struct sm *sm)
{
	const struct out_of_use *h = sm->m.out_of_use;

	for (uint32_t i = 0; i < h->n; i++) {
		const struct bad_cable *c = h->cables[i];

		if (c->reasons & BIT(OUT_RETURNS) && c->end[0].at && !cable_is_gone(c) &&
		    !is_not_up_yet(c))
			tell_port(sm, c->end[0].at, "a link that was isolated is ACTIVE");
	}
}

unsigned out_of_use_returning(const struct sm *sm)
{
	const struct out_of_use *h = sm->m.out_of_use;
	unsigned n = 0;

	for (uint32_t i = 0; i < h->n; i++)
		n += h->cables[i]->reasons & BIT(OUT_RETURNS) && h->cables[i]->out &&
		     !cable_is_gone(h->cables[i]);
	return n;
}

/* ---- the decision ---------------------------------------------------------------------------- */

static void mark_ports(struct bad_cable *c)
{
	unsigned shown = c->out ? cable_reasons(c) : 0;
	bool held = shown & REASONS_WITH(held);

	for (unsigned i = 0; i < 2; i++) {
		struct port *p = c->end[i].at;

		if (!p)
			continue;
		if (p->out.avoided != c->out || p->out.held != held || c->shown != shown)
			observe_shown(p->node);
		p->out.avoided = c->out;
		p->out.held = held;
	}
	c->shown = shown;
}

bool out_of_use_settle(struct sm *sm)
{
	struct out_of_use *h = sm->m.out_of_use;
	bool changed = false;

	for (uint32_t i = h->n; i-- > 0;) {
		struct bad_cable *c = i < h->n ? h->cables[i] : NULL;

		if (!c || !cable_bind(h, c))
			continue;
		flaps_release(c, sm->now);
		note_gone(c, sm->now);
		end_stuck(c);
		note_return(c);
		out_of_use_wake(h, c->flaps.until);
	}
	guard_last_ways(sm);
	for (uint32_t i = 0; i < h->n; i++) {
		struct bad_cable *c = h->cables[i];
		bool out = cable_reasons(c) && !c->spared;

		changed |= out != c->out;
		c->out = out;
		mark_ports(c);
		tell_cable(sm, c);
	}
	return changed;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Can the record be dropped, as nothing is to be remembered? */
static bool is_over(const struct bad_cable *c, mono_t now)
{
	return c->flaps.state == FLAPS_WATCHED && now >= c->flaps.until &&
	       c->off.state == OFF_NOT && !(c->reasons & REASONS_WITH(lasts)) &&
	       (cable_is_gone(c) || (!c->out && !c->reasons)) && !c->end[0].complaints &&
	       !c->end[1].complaints;
}

/* The time at which something is due for this cable. */
static mono_t next_of(const struct bad_cable *c, mono_t now)
{
	mono_t next = c->flaps.asked ? MONO_NEVER : c->flaps.until;

	for (unsigned i = 0; i < 2; i++)
		if (c->end[i].complaints)
			next = mono_min(next, c->end[i].complaints_until);
	return next > now ? next : MONO_NEVER;
}

static void tick_records(struct sm *sm)
{
	struct out_of_use *h = sm->m.out_of_use;

	h->next = MONO_NEVER;
	for (uint32_t i = h->n; i-- > 0;) {
		struct bad_cable *c = h->cables[i];

		complaints_tick(sm, c);
		flaps_tick(sm, c);
		if (is_over(c, sm->now))
			cable_drop(h, c);
		else
			out_of_use_wake(h, next_of(c, sm->now));
	}
	if (h->line_waits && sm->sweep == SWEEP_NONE) /* else the end of the sweep logs it */
		unserved_report(sm);
}

void out_of_use_tick(struct sm *sm)
{
	if (sm->now >= sm->m.out_of_use->next)
		tick_records(sm);
	take_down_tick(sm);
}

mono_t out_of_use_next(const struct sm *sm)
{
	return mono_min(sm->m.out_of_use->next, take_down_next(sm));
}

void out_of_use_sweep_ended(struct sm *sm)
{
	if (sm->state != SM_MASTER)
		return;
	switch_off_wanted(sm);
	look_at_returned(sm);
	take_down_look(sm);
	unserved_report(sm);
}

/* Reacts to a new state: another manager may have written. */
void out_of_use_state_changed(struct sm *sm)
{
	struct out_of_use *h = sm->m.out_of_use;

	for (uint32_t i = 0; i < h->n; i++)
		take_down_end(h->cables[i]);
	h->n_to_look = 0;
	h->next_down = MONO_NEVER;
}

unsigned out_of_use_cables(const struct sm *sm)
{
	return sm->m.out_of_use->n;
}
