// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports that complain too much, and ports that are switched off.
 *
 * Complaints are traps 129 to 131 (link integrity, buffer overrun, watchdog) that a port's own node
 * sent about it, verified by traps.c. Ten, each within 5 s of the one before: the port is unhealthy
 * until it was silent for 1 min, and a cable between switches is left out of routing meanwhile. 250
 * and babbling_port_policy: it is switched off, from the other side, until the operator enables it
 * (ibportstate LID PORT enable): it stays disabled over our restarts, not over the switch's.
 *
 * security_violation_policy switches off the switch port behind which a host broke rules, in the
 * same way. A cable that is the last way between switches is not switched off.
 */
#include "sm/out_of_use/bad_cable.h"

#include <assert.h>
#include <stdio.h>

#include "fabric/observe.h"
#include "ib/codes.h"
#include "sm/base/about.h"
#include "sm/base/news.h"

#define COMPLAINTS_WINDOW  (5 * MONO_S)
#define COMPLAINS_FOR	   (60 * MONO_S)
#define COMPLAINS_AFTER	   10
#define SWITCHED_OFF_AFTER 250

/* ---- complaints ------------------------------------------------------------------------------ */

static const char *complaint_name(unsigned trap)
{
	switch (trap) {
	case 129:
		return "link integrity";
	case 130:
		return "buffer overrun";
	default:
		return "flow control watchdog";
	}
}

static void note_complains(struct bad_cable *c, struct cable_end *e, bool complains)
{
	e->complains = complains;
	cable_set(c, OUT_COMPLAINS, c->end[0].complains || c->end[1].complains);
}

static void begin_complaints(struct sm *sm, struct bad_cable *c, struct cable_end *e)
{
	note_complains(c, e, true);
	if (!cable_is_between_switches(c))
		cable_say(sm, c,
			  "'%s' has sent %u traps %u (%s); it is the only way there and stays in "
			  "use",
			  e->name, e->complaints, e->last_trap, complaint_name(e->last_trap));
	else
		cable_look(sm, c, "a port complains too much");
}

void out_of_use_complaint(struct sm *sm, struct port *p, unsigned trap)
{
	struct bad_cable *c = sm->state == SM_MASTER ? cable_need(sm, p) : NULL;
	struct cable_end *e;

	assert(trap >= 129 && trap <= 131);
	if (!c)
		return;
	e = cable_end_of(c, p);
	if (sm->now >= e->complaints_until && !e->complains)
		e->complaints = 0;
	e->complaints += e->complaints < UINT32_MAX;
	e->last_trap = trap;
	if (e->complaints >= COMPLAINS_AFTER && !e->complains)
		begin_complaints(sm, c, e);
	e->complaints_until = sm->now + (e->complains ? COMPLAINS_FOR : COMPLAINTS_WINDOW);
	out_of_use_wake(sm->m.out_of_use, e->complaints_until);
	if (e->complaints % SWITCHED_OFF_AFTER == 0 && sm->conf->babbling_port_policy &&
	    !c->off.at) {
		c->off.state = OFF_WANTED;
		cable_look(sm, c, "a port babbles");
	}
}

static void end_complaints(struct sm *sm, struct bad_cable *c, struct cable_end *e)
{
	if (!e->complaints || sm->now < e->complaints_until)
		return;
	e->complaints = 0;
	if (!e->complains)
		return;
	note_complains(c, e, false);
	if (c->out)
		cable_look(sm, c, "a port stopped complaining");
}

void complaints_tick(struct sm *sm, struct bad_cable *c)
{
	end_complaints(sm, c, &c->end[0]);
	end_complaints(sm, c, &c->end[1]);
}

/* ---- switching off --------------------------------------------------------------------------- */

void out_of_use_switch_off(struct sm *sm, struct port *p, const char *why)
{
	struct bad_cable *c = sm->state == SM_MASTER ? cable_need(sm, p) : NULL;

	assert(node_is_switch(p->node) && why[0]);
	if (!c || cable_is_between_switches(c) || cable_is_own(sm, p) || c->off.state != OFF_NOT)
		return;
	snprintf(c->off.why, sizeof(c->off.why), "%s", why);
	c->off.state = OFF_WANTED;
	cable_look(sm, c, "a host broke a rule");
}

bool out_of_use_is_switched_off(const struct port *p)
{
	const struct bad_cable *c = p->out.cable;

	return c && c->off.at == p && c->off.why[0];
}

/*
 * The end to be disabled: that which does not babble, if it is a switch; the babbling one could not
 * be reached to enable it again.
 */
static struct port *side_to_switch_off(const struct bad_cable *c)
{
	unsigned babbler =
		c->off.why[0] ? c->end[1].host : c->end[1].complaints > c->end[0].complaints;
	struct port *p = c->end[!babbler].at;

	return p && node_is_switch(p->node) ? p : c->end[babbler].at;
}

/* Logs to the system log as well: the port does not recover by itself. */
static void tell_off(const struct bad_cable *c)
{
	char cable[CABLE_STRLEN], where[PORT_STRLEN], why[SWITCHED_OFF_WHY];
	const struct port *p = c->off.at;

	if (c->off.why[0])
		snprintf(why, sizeof(why), "%s", c->off.why);
	else
		snprintf(why, sizeof(why), "%u error traps", c->off.complaints);
	log_sys_on(about_port(LOG_ID_PORT_OFF, p),
		   "%s: %s: switched off at %s (%s) until it is enabled: ibportstate %u %u enable",
		   cable_str(c, cable), why, fabric_port_str(p, where),
		   c->off.why[0] ? "security_violation_policy" : "babbling_port_policy",
		   p->node->ports[0].lid, p->num);
}

static void note_off(struct bad_cable *c, struct port *at)
{
	for (unsigned i = 0; i < 2 && c->off.at != at; i++)
		if (c->end[i].at)
			observe_shown(c->end[i].at->node);
	c->off.state = at ? OFF_DONE : OFF_NOT;
	c->off.at = at;
}

void switched_off_end(struct bad_cable *c)
{
	note_off(c, NULL);
}

static void on_switched_off(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;
	struct bad_cable *c = p->out.cable;

	if (!c || r->end == MAD_END_CANCELLED)
		return;
	if (r->end != MAD_END_ANSWERED) {
		cable_say(sm, c, "a port %s and cannot be switched off (%s)",
			  c->off.why[0] ? "broke a rule" : "babbles",
			  r->end == MAD_END_TIMEOUT ? "no answer" : mad_status_name(r->status));
		return;
	}
	note_off(c, p);
	c->off.complaints = c->end[0].complaints + c->end[1].complaints;
	tell_off(c);
	tell_port(sm, p, "a port was switched off");
}

/*
 * Disables the port, only if the fabric can do without the cable, and after nothing is routed over
 * it; a host can be done without.
 */
static void switch_off(struct sm *sm, struct bad_cable *c)
{
	struct port *p = side_to_switch_off(c);

	if (cable_is_between_switches(c) && !c->out && !c->spared && cable_reasons(c))
		return; /* not decided yet */
	c->off.state = OFF_NOT;
	if (!(c->reasons & BIT(OUT_COMPLAINS)) && !c->off.why[0])
		/*
		 * quiet since then: a sweep may take long, and another master may have come in
		 * between
		 */
		return;
	if (c->spared)
		cable_say(sm, c,
			  "a port babbles; it is not switched off, being the only way between "
			  "two parts of the fabric");
	else if (p)
		sync_switch_off(sm->sync, p, on_switched_off, sm, p);
}

void switch_off_wanted(struct sm *sm)
{
	struct out_of_use *h = sm->m.out_of_use;

	for (uint32_t i = 0; i < h->n; i++)
		if (h->cables[i]->off.state == OFF_WANTED)
			switch_off(sm, h->cables[i]);
}

/* Notes that the operator has enabled the port again. */
void switched_off_seen(struct sm *sm, struct bad_cable *c, const struct port *p)
{
	bool disabled = ib_get(p->info, PI_PHYS_STATE) == IB_PHYS_DISABLED;

	if (disabled) {
		c->off.state = OFF_SEEN;
	} else if (c->off.state == OFF_SEEN) {
		cable_note(sm, c, "the port was enabled again");
		switched_off_end(c);
		c->off.why[0] = '\0';
		c->flaps.until = sm->now + FALLS_WINDOW;
		out_of_use_wake(sm->m.out_of_use, c->flaps.until);
	}
}
