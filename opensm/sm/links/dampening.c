// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links that come and go, and ports that complain too much.
 *
 * A link falls when it is seen lower than before: from ARMED or ACTIVE to INIT or DOWN, from INIT
 * to DOWN. Both ends see one fall; it counts once. What counts is what we see, so a link that falls
 * ten times between two looks fell once.
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
 *
 * Complaints are traps 129 to 131 (link integrity, buffer overrun, watchdog) that a port's own node
 * sent about it, verified by traps.c. Ten, each within 5 s of the one before: the port is unhealthy
 * until it was silent for 1 min, and a cable between switches is left out of routing meanwhile. 250
 * and babbling_port_policy: it is switched off, from the other side, until the operator enables it
 * (ibportstate LID PORT enable): it stays disabled over our restarts, not over the switch's.
 *
 * No fabric is cut in two by this: no switch loses its last way (dampening_hold.c), and the
 * cable of our own port is never in here.
 *
 * A record lives with the cable: it stays while one end's node is known, is dropped when an end
 * is found on another cable, and there is at most one per port.
 */
#include "sm/links/dampening_internal.h"
#include "sm/base/about.h"
#include "sm/base/news.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

#define PROBATION_FIRST (60 * MONO_S)
#define HOLD_FIRST	(1 * MONO_S)
#define MAX_LEVEL	8
/* Falls seen at the two ends less apart than this may be the same. */
#define SPELL		(15 * MONO_S)

#define COMPLAINTS_WINDOW  (5 * MONO_S)
#define UNHEALTHY_FOR	   (60 * MONO_S)
#define UNHEALTHY_AFTER	   10
#define SWITCHED_OFF_AFTER 250

static const struct kind {
	unsigned falls; /* within FALLS_WINDOW; at most MAX_FALLS */
	mono_t longest; /* hold */
} kinds[] = {
	[false] = { .falls = 3, .longest = 240 * MONO_S }, /* between switches */
	[true] = { .falls = 5, .longest = 60 * MONO_S },   /* to a host */
};

bool cable_is_between_switches(const struct bad_cable *c)
{
	return !c->end[0].host && !c->end[1].host;
}

static const struct kind *kind_of(const struct bad_cable *c)
{
	return &kinds[!cable_is_between_switches(c)];
}

mono_t cable_hold_time(const struct bad_cable *c)
{
	return mono_min(HOLD_FIRST << c->level, kind_of(c)->longest);
}

mono_t cable_probation(const struct bad_cable *c)
{
	return MAX(PROBATION_FIRST, 2 * cable_hold_time(c));
}

/* A host has no other way: only falls that we saw ourselves count against it. */
bool cable_is_sick(const struct bad_cable *c)
{
	return c->state == CABLE_HELD || (cable_is_between_switches(c) &&
					  (c->end[0].unhealthy || c->end[1].unhealthy || c->stuck));
}

bool cable_is_bad(const struct bad_cable *c)
{
	return cable_is_sick(c) || c->refused || c->mark == CABLE_ISOLATED || c->unhealthy ||
	       c->returning || (c->mark == CABLE_DRAINED && cable_is_between_switches(c));
}

/* ---- records -------------------------------------------------------------------------------- */

void dampening_new(struct sm *sm, const struct sm_paths *paths)
{
	sm->m.dampening = xcalloc(1, sizeof(*sm->m.dampening));
	sm->m.dampening->next = MONO_NEVER;
	sm->m.dampening->log = (struct log_limit){ .interval = MONO_S, .burst = 20 };
}

void dampening_wake(struct dampening *h, mono_t at)
{
	h->next = mono_min(h->next, at);
}

static void leave_port(struct cable_end *e)
{
	if (!e->at)
		return;
	observe_shown(e->at->node);
	e->at->damp.held = e->at->damp.avoided = false;
	e->at->damp.cable = NULL;
	e->at = NULL;
}

static void cable_drop(struct dampening *h, struct bad_cable *c)
{
	leave_port(&c->end[0]);
	leave_port(&c->end[1]);
	h->cables[c->index] = h->cables[--h->n];
	h->cables[c->index]->index = c->index;
	free(c);
}

void dampening_free(struct sm *sm)
{
	while (sm->m.dampening->n)
		cable_drop(sm->m.dampening, sm->m.dampening->cables[0]);
	free(sm->m.dampening->cables);
	free(sm->m.dampening);
	sm->m.dampening = NULL;
}

static void take_port(struct cable_end *e, struct port *p)
{
	e->node = p->node->guid;
	e->port = p->num;
	e->host = !node_is_switch(p->node);
	e->at = p;
	snprintf(e->name, sizeof(e->name), "%s", node_name(p->node));
}

/* End `i` is on another cable than the one that `c` is about. */
static bool leads_elsewhere(const struct bad_cable *c, unsigned i)
{
	const struct port *peer = c->end[i].at ? c->end[i].at->peer : NULL;

	return peer && (peer->node->guid != c->end[!i].node || peer->num != c->end[!i].port);
}

bool cable_bind(struct dampening *h, struct bad_cable *c)
{
	if (leads_elsewhere(c, 0) || leads_elsewhere(c, 1)) {
		cable_drop(h, c);
		return false;
	}
	for (unsigned i = 0; i < 2; i++) {
		struct port *p = c->end[!i].at ? c->end[!i].at->peer : NULL;

		if (!p || p == c->end[i].at)
			continue;
		if (p->damp.cable && p->damp.cable != c)
			cable_drop(h, p->damp.cable);
		leave_port(&c->end[i]);
		take_port(&c->end[i], p);
		p->damp.cable = c;
		observe_shown(p->node);
	}
	return true;
}

bool cable_is_gone(const struct bad_cable *c)
{
	return !(c->end[0].at && c->end[0].at->peer) && !(c->end[1].at && c->end[1].at->peer);
}

static bool is_own_link(const struct sm *sm, const struct port *p)
{
	const struct port *own = sm->fabric->own_port;

	return own && (p == own || p->peer == own);
}

/* The record of the cable at `p`; NULL: nothing is known, or its ends are not. */
static struct bad_cable *record_of(struct sm *sm, struct port *p)
{
	if (!p->damp.cable && p->peer && p->peer->damp.cable)
		cable_bind(sm->m.dampening, p->peer->damp.cable);
	if (p->damp.cable && !cable_bind(sm->m.dampening, p->damp.cable))
		return NULL;
	return p->damp.cable;
}

/* The same, or a new one. NULL: our own link, no cable, or the far end is not known. */
static struct bad_cable *need_record(struct sm *sm, struct port *p)
{
	struct bad_cable *c = record_of(sm, p);
	struct dampening *h = sm->m.dampening;

	if (c || !p->peer || p->peer == p || is_own_link(sm, p))
		return c;
	c = xcalloc(1, sizeof(*c));
	take_port(&c->end[0], p);
	take_port(&c->end[1], p->peer);
	p->damp.cable = p->peer->damp.cable = c;
	c->until = sm->now + FALLS_WINDOW;
	c->index = h->n;
	GROW(h->cables, h->n + 1, h->cap);
	h->cables[h->n++] = c;
	dampening_wake(h, c->until);
	return c;
}

void dampening_forget(struct sm *sm, struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct bad_cable *c = n->ports[i].damp.cable;

		if (!c)
			continue;
		if (c->off_at == &n->ports[i])
			cable_note_off(c, OFF_NOT, NULL);
		leave_port(&c->end[c->end[1].at == &n->ports[i]]);
		if (!c->end[0].at && !c->end[1].at)
			cable_drop(sm->m.dampening, c);
	}
}

static void end_str(const struct cable_end *e, char ret[PORT_STRLEN])
{
	if (e->at)
		fabric_port_str(e->at, ret);
	else
		snprintf(ret, PORT_STRLEN, "'%s' port %u (0x%016" PRIx64 ")", e->name, e->port,
			 e->node);
}

char *cable_str(const struct bad_cable *c, char ret[CABLE_STRLEN])
{
	char a[PORT_STRLEN], b[PORT_STRLEN];

	end_str(&c->end[0], a);
	end_str(&c->end[1], b);
	snprintf(ret, CABLE_STRLEN, "%s - %s", a, b);
	return ret;
}

void dampening_say(struct sm *sm, const struct bad_cable *c, const char *fmt, ...)
{
	char text[256], cable[CABLE_STRLEN];
	unsigned suppressed;
	va_list ap;

	if (!log_allow(&sm->m.dampening->log, sm->now, &suppressed))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (suppressed)
		log_error("%u similar records were left out", suppressed);
	log_on(c->end[0].at ? about_port(LOG_ID_CABLE, c->end[0].at)
			    : ABOUT(.id = LOG_ID_CABLE, .node_guid = c->end[0].node,
				    .port = c->end[0].port, .name = c->end[0].name),
	       LOGB_ERROR, "%s: %s", cable_str(c, cable), text);
}

/* ---- falls ---------------------------------------------------------------------------------- */

static mono_t fall_before(const struct bad_cable *c, unsigned n)
{
	return c->falls[(c->n_falls - 1 - n) % MAX_FALLS];
}

static bool fell_too_often(const struct bad_cable *c, mono_t now)
{
	unsigned most = kind_of(c)->falls;

	return c->n_falls >= most && now - fall_before(c, most - 1) < FALLS_WINDOW;
}

/* The falls that can be held against it, for the log. */
static void count_falls(struct bad_cable *c, mono_t now)
{
	unsigned n = MIN(c->n_falls, (unsigned)MAX_FALLS);

	while (n > 1 && now - fall_before(c, n - 1) >= FALLS_WINDOW)
		n--;
	c->held_falls = n;
	c->held_span = (int)((now - fall_before(c, n - 1)) / MONO_S);
}

static void hold_cable(struct bad_cable *c, mono_t now)
{
	c->state = CABLE_HELD;
	count_falls(c, now);
	c->held_since = now;
	c->held_at = c->n_falls;
	c->until = c->step_at = now + cable_hold_time(c);
	c->asked = false;
}

static void level_up(struct bad_cable *c)
{
	c->level += c->level < MAX_LEVEL;
}

static void note_fall(struct bad_cable *c, mono_t now)
{
	c->falls[c->n_falls++ % MAX_FALLS] = now;
	switch (c->state) {
	case CABLE_WATCHED:
		c->until = now + FALLS_WINDOW;
		if (fell_too_often(c, now))
			hold_cable(c, now);
		break;
	case CABLE_HELD:
		if (now >= c->step_at) {
			level_up(c);
			c->step_at = now + cable_hold_time(c);
		}
		c->until = now + cable_hold_time(c);
		c->asked = false;
		break;
	case CABLE_PROBATION:
		level_up(c);
		hold_cable(c, now);
		break;
	}
}

/* True unless the other end has told of this fall already. */
static bool is_news(struct bad_cable *c, const struct port *p, mono_t now)
{
	struct cable_end *e = &c->end[c->end[1].at == p];

	if (c->n_falls && now - fall_before(c, 0) > SPELL)
		c->end[0].falls = c->end[1].falls = c->counted = 0;
	e->falls++;
	if (e->falls <= c->counted)
		return false;
	c->counted = e->falls;
	return true;
}

/* The operator has enabled it again, and so has seen to it. */
static void look_if_off(struct sm *sm, struct bad_cable *c, const struct port *p)
{
	bool disabled = ib_get(p->info, PI_PHYS_STATE) == IB_PHYS_DISABLED;

	if (disabled) {
		c->off = OFF_SEEN;
	} else if (c->off == OFF_SEEN) {
		dampening_say(sm, c, "the port was enabled again");
		cable_note_off(c, OFF_NOT, NULL);
		c->isolated_for[0] = '\0';
		c->until = sm->now + FALLS_WINDOW;
		dampening_wake(sm->m.dampening, c->until);
	}
}

void dampening_link_seen(struct sm *sm, struct port *p, unsigned before)
{
	struct bad_cable *c = record_of(sm, p);
	unsigned now = port_state(p);

	if (c && c->off_at == p)
		look_if_off(sm, c, p);
	if (c && (c->mark == CABLE_ISOLATED || c->refused || c->unhealthy))
		return; /* it was taken down here, or is being worked at */
	if (now > IB_PORT_INIT || before <= now || (node_is_switch(p->node) && !p->num))
		return;
	c = need_record(sm, p);
	if (!c || !is_news(c, p, sm->now))
		return;
	note_fall(c, sm->now);
	dampening_wake(sm->m.dampening, c->until);
}

void dampening_stuck(struct sm *sm, struct port *p)
{
	struct bad_cable *c = p->peer && node_is_switch(p->node) && node_is_switch(p->peer->node)
				      ? need_record(sm, p)
				      : NULL;

	assert(p->pending >= PORT_STUCK_AFTER);
	if (c)
		c->stuck = true;
}

/* ---- marks of an administrator -------------------------------------------------------------- */

void dampening_unmark(struct sm *sm)
{
	struct dampening *h = sm->m.dampening;

	for (uint32_t i = 0; i < h->n; i++) {
		h->cables[i]->mark = CABLE_UNMARKED;
		h->cables[i]->mark_forced = false;
	}
	FABRIC_EACH_NODE(sm->fabric, n)
		n->isolated = NODE_NOT_ISOLATED;
}

/* The manager is never cut off from the rest, whatever is forced. */
static bool is_at_own_switch(const struct sm *sm, const struct port *p)
{
	const struct node *own = hold_first_switch(sm->fabric);

	return p->node == own || (p->peer && p->peer->node == own);
}

void dampening_mark(struct sm *sm, struct port *p, enum cable_mark mark, bool forced)
{
	struct bad_cable *c = need_record(sm, p);

	if (!c || mark < c->mark)
		return;
	c->mark_forced |= forced && !is_at_own_switch(sm, p);
	c->mark = mark;
}

void dampening_mark_switch(struct sm *sm, struct node *n, bool forced)
{
	assert(node_is_switch(n));
	if (n == hold_first_switch(sm->fabric))
		return;
	n->isolated = forced ? NODE_ISOLATED_FORCED : NODE_ISOLATED;
}

bool dampening_set_unhealthy(struct sm *sm, struct port *p, bool unhealthy)
{
	struct bad_cable *c = unhealthy ? need_record(sm, p) : record_of(sm, p);

	if (!c)
		return false;
	c->unhealthy = unhealthy;
	return true;
}

void dampening_unrefuse(struct sm *sm)
{
	struct dampening *h = sm->m.dampening;

	for (uint32_t i = 0; i < h->n; i++)
		if (!cable_is_gone(h->cables[i])) /* else as it was judged before it fell */
			h->cables[i]->refused = h->cables[i]->refused_alone = false;
}

bool dampening_refuse(struct sm *sm, struct port *p, bool forced)
{
	struct bad_cable *c = need_record(sm, p);

	if (!c || is_own_link(sm, p))
		return false;
	c->refused = true;
	c->refused_alone = forced;
	return true;
}

bool dampening_is_out(const struct port *p)
{
	return p->damp.cable && p->damp.cable->out;
}

bool dampening_is_spared(const struct port *p)
{
	return p->damp.cable && p->damp.cable->spared;
}

/* ---- complaints ----------------------------------------------------------------------------- */

/* Asks for a sweep that decides anew; a dirty switch port has all routes compared. */
static void look_at(struct sm *sm, const struct bad_cable *c, const char *why)
{
	struct port *a = c->end[0].at, *b = c->end[1].at;

	if (sm->state != SM_MASTER)
		return;
	if (a && (node_is_switch(a->node) || !b))
		tell_port(sm, a, why);
	if (b && (node_is_switch(b->node) || !a))
		tell_port(sm, b, why);
}

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

static void become_unhealthy(struct sm *sm, struct bad_cable *c, struct cable_end *e)
{
	e->unhealthy = true;
	if (!cable_is_between_switches(c))
		dampening_say(
			sm, c,
			"'%s' has sent %u traps %u (%s); it is the only way there and stays in use",
			e->name, e->complaints, e->last_trap, complaint_name(e->last_trap));
	else
		look_at(sm, c, "a port complains too much");
}

void dampening_complaint(struct sm *sm, struct port *p, unsigned trap)
{
	struct bad_cable *c = sm->state == SM_MASTER ? need_record(sm, p) : NULL;
	struct cable_end *e;

	assert(trap >= 129 && trap <= 131);
	if (!c)
		return;
	e = &c->end[c->end[1].at == p];
	if (sm->now >= e->complaints_until && !e->unhealthy)
		e->complaints = 0;
	e->complaints += e->complaints < UINT32_MAX;
	e->last_trap = trap;
	if (e->complaints >= UNHEALTHY_AFTER && !e->unhealthy)
		become_unhealthy(sm, c, e);
	e->complaints_until = sm->now + (e->unhealthy ? UNHEALTHY_FOR : COMPLAINTS_WINDOW);
	dampening_wake(sm->m.dampening, e->complaints_until);
	if (e->complaints % SWITCHED_OFF_AFTER == 0 && sm->conf->babbling_port_policy &&
	    !c->off_at) {
		c->off = OFF_WANTED;
		look_at(sm, c, "a port babbles");
	}
}

/* ---- isolation ------------------------------------------------------------------------------ */

void dampening_isolate(struct sm *sm, struct port *p, const char *why)
{
	struct bad_cable *c = sm->state == SM_MASTER ? need_record(sm, p) : NULL;

	assert(node_is_switch(p->node) && why[0]);
	if (!c || cable_is_between_switches(c) || is_own_link(sm, p) || c->off != OFF_NOT)
		return;
	snprintf(c->isolated_for, sizeof(c->isolated_for), "%s", why);
	c->off = OFF_WANTED;
	look_at(sm, c, "a host broke a rule");
}

bool dampening_is_isolated(const struct port *p)
{
	const struct bad_cable *c = p->damp.cable;

	return c && c->off_at == p && c->isolated_for[0];
}

/* ---- time ----------------------------------------------------------------------------------- */

static void end_complaints(struct sm *sm, struct bad_cable *c, struct cable_end *e)
{
	if (!e->complaints || sm->now < e->complaints_until)
		return;
	e->complaints = 0;
	if (!e->unhealthy)
		return;
	e->unhealthy = false;
	if (c->out)
		look_at(sm, c, "a port stopped complaining");
}

static void end_probation(struct bad_cable *c, mono_t now)
{
	if (c->level) {
		c->level--;
		c->until = now + cable_probation(c);
	} else {
		c->state = CABLE_WATCHED;
		c->until = fall_before(c, 0) + FALLS_WINDOW;
	}
}

/* A cable that is left out, and would be for as long as others say so. */
static bool is_left_out(const struct bad_cable *c)
{
	return c->out || c->mark || c->refused || c->returning;
}

/* Nothing worth keeping, once its time is over. */
static bool is_over(const struct bad_cable *c, mono_t now)
{
	return c->state == CABLE_WATCHED && now >= c->until && c->off == OFF_NOT && !c->stuck &&
	       !c->unhealthy && (cable_is_gone(c) || !is_left_out(c)) &&
	       !c->end[0].complaints && !c->end[1].complaints;
}

/* When something is due for this cable. */
static mono_t next_of(const struct bad_cable *c, mono_t now)
{
	mono_t next = c->asked ? MONO_NEVER : c->until;

	for (unsigned i = 0; i < 2; i++) {
		if (c->end[i].complaints)
			next = mono_min(next, c->end[i].complaints_until);
	}
	return next > now ? next : MONO_NEVER;
}

static void tick_cable(struct sm *sm, struct bad_cable *c)
{
	end_complaints(sm, c, &c->end[0]);
	end_complaints(sm, c, &c->end[1]);
	if (sm->now < c->until)
		return;
	switch (c->state) {
	case CABLE_WATCHED:
		break;
	case CABLE_HELD:
		if (!c->asked)
			look_at(sm, c, "a cable was held long enough");
		c->asked = true;
		break;
	case CABLE_PROBATION:
		end_probation(c, sm->now);
		break;
	}
}

void dampening_sweep_ended(struct sm *sm)
{
	if (sm->state != SM_MASTER)
		return;
	hold_switch_off(sm);
	hold_look_at_returning(sm);
	unserved_report(sm);
}

void dampening_tick(struct sm *sm)
{
	struct dampening *h = sm->m.dampening;

	if (sm->now < h->next)
		return;
	h->next = MONO_NEVER;
	for (uint32_t i = h->n; i-- > 0;) {
		struct bad_cable *c = h->cables[i];

		tick_cable(sm, c);
		if (is_over(c, sm->now))
			cable_drop(h, c);
		else
			dampening_wake(h, next_of(c, sm->now));
	}
	if (h->line_waits && sm->sweep == SWEEP_NONE) /* else its end will */
		unserved_report(sm);
}

mono_t dampening_next(const struct sm *sm)
{
	return sm->m.dampening->next;
}

unsigned dampening_cables(const struct sm *sm)
{
	return sm->m.dampening->n;
}
