// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which of the cables that something is known against are left out, and what is said about it.
 *
 * Decided once per sweep, between discovery and routing, on the whole picture: a cable that is bad
 * is left out unless it is the only way between two parts of the fabric that are there. Of several
 * that could be kept as the way, the one with the least against it is. What was held may be needed
 * in the next sweep and is used again then, and the other way round.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/links/dampening_internal.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/mem.h"
#include "util/sets.h"

/* ---- parts ---------------------------------------------------------------------------------- */

typedef bool link_fn(const struct port *p);

/* True: they were apart. */
static bool join_parts(uint32_t *root, const struct node *a, const struct node *b)
{
	return sets_join(root, a->index, b->index);
}

static bool joins_switches(const struct port *p)
{
	return fabric_link_is_up(p) && node_is_switch(p->peer->node) && node_is_routable(p->node) &&
	       node_is_routable(p->peer->node);
}

static uint32_t count_routable(const struct fabric *f)
{
	uint32_t ret = 0;

	FABRIC_EACH_NODE(f, n)
		ret += node_is_switch(n) && node_is_routable(n);
	return ret;
}

/* Each cable once; most lead to a part that is known. How many parts became one with another. */
static uint32_t join_links(uint32_t *root, const struct node *n, link_fn *counts)
{
	uint32_t ret = 0;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i], *far = p->peer;

		if (far && far > p && joins_switches(p) && (counts(p) || counts(far)))
			ret += join_parts(root, n, far->node);
	}
	return ret;
}

/* Every node its own part, then joined over links that `counts` says yes to, until all are one. */
static uint32_t *find_parts(const struct fabric *f, link_fn *counts)
{
	uint32_t *root = xcalloc(f->n_nodes + 1u, sizeof(*root));
	uint32_t parts = count_routable(f);

	for (uint32_t i = 0; i < f->n_nodes; i++)
		root[i] = i;
	for (uint32_t i = 0; i < f->n_nodes && parts > 1; i++)
		if (node_is_switch(f->nodes[i]))
			parts -= join_links(root, f->nodes[i], counts);
	return root;
}

static bool is_not_avoided(const struct port *p)
{
	return port_is_in_use(p) && port_is_in_use(p->peer);
}

uint32_t *hold_parts(const struct fabric *f)
{
	uint32_t *root = find_parts(f, is_not_avoided);

	for (uint32_t i = 0; i < f->n_nodes; i++)
		root[i] = sets_root(root, i);
	return root;
}

const struct node *hold_first_switch(const struct fabric *f)
{
	const struct port *own = f->own_port;

	if (!own || node_is_switch(own->node))
		return own ? own->node : NULL;
	return own->peer && node_is_switch(own->peer->node) ? own->peer->node : NULL;
}

const struct node *dampening_first_switch(const struct fabric *f)
{
	return hold_first_switch(f);
}

/* ---- what is left out ----------------------------------------------------------------------- */

static bool is_not_bad(const struct port *p)
{
	return !p->damp.cable || !cable_is_bad(p->damp.cable);
}

static bool is_unhealthy(const struct bad_cable *c)
{
	return c->end[0].unhealthy || c->end[1].unhealthy;
}

/*
 * The better cable first: one that works and is marked by an administrator comes behind those that
 * are only bad, and before those that do not come up at all. The GUIDs only make
 * the order the same every time.
 */
static int compare_cables(const void *a, const void *b)
{
	const struct bad_cable *x = *(struct bad_cable *const *)a;
	const struct bad_cable *y = *(struct bad_cable *const *)b;

	if (x->stuck != y->stuck)
		return x->stuck ? 1 : -1;
	if (x->returning != y->returning)
		return x->returning ? 1 : -1;
	if (x->refused != y->refused)
		return x->refused ? 1 : -1;
	if (x->mark != y->mark)
		return x->mark > y->mark ? 1 : -1;
	if (x->unhealthy != y->unhealthy)
		return x->unhealthy ? 1 : -1;
	if (x->level != y->level)
		return x->level > y->level ? 1 : -1;
	if (is_unhealthy(x) != is_unhealthy(y))
		return is_unhealthy(x) ? 1 : -1;
	if (x->end[0].node != y->end[0].node)
		return x->end[0].node > y->end[0].node ? 1 : -1;
	return (int)x->end[0].port - (int)y->end[0].port;
}

/* Bad cables between switches are tried as bridges between what is apart without them. */
static void spare_cables(struct dampening *h, uint32_t *root)
{
	_cleanup_free_ struct bad_cable **bad = xcalloc(h->n + 1u, sizeof(struct bad_cable *));
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n; i++) {
		struct bad_cable *c = h->cables[i];

		if (cable_is_bad(c) && !c->mark_forced && !c->refused_alone &&
		    cable_is_between_switches(c) && c->end[0].at && c->end[1].at &&
		    joins_switches(c->end[0].at))
			bad[n++] = c;
	}
	qsort(bad, n, sizeof(struct bad_cable *), compare_cables);
	for (uint32_t i = 0; i < n; i++)
		bad[i]->spared |=
			join_parts(root, bad[i]->end[0].at->node, bad[i]->end[1].at->node);
}

/*
 * A host that is taken out of service with the switch asks for no way there, nor does the
 * aggregation node inside of it.
 */
static bool is_host_in_use(const struct sm *sm, const struct port *p)
{
	return !node_is_switch(p->peer->node) &&
	       !(p->damp.cable && p->damp.cable->mark == CABLE_ISOLATED) &&
	       !node_quirk(sm, p->peer->node, QUIRK_AGGREGATION);
}

/* Purposes of a switch that takes no tables. */
enum need {
	NEED_NOTHING,
	NEED_HOSTS, /* a few, as on a spine: the way there, and no way through */
	NEED_WAY,   /* two parts are apart without it; or a leaf, whose cables its hosts need all */
};

static enum need need_of(const struct sm *sm, uint32_t *root, const struct node *n)
{
	uint32_t part = UINT32_MAX, hosts = 0, cables = 0;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (!fabric_link_is_up(p) || !node_is_routable(p->peer->node))
			continue;
		if (!node_is_switch(p->peer->node)) {
			hosts += is_host_in_use(sm, p);
			continue;
		}
		if ((part != UINT32_MAX && part != sets_root(root, p->peer->node->index)))
			return NEED_WAY;
		part = sets_root(root, p->peer->node->index);
		cables++;
	}
	if (!hosts)
		return NEED_NOTHING;
	return 2 * hosts > cables || n->isolated ? NEED_WAY : NEED_HOSTS;
}

/* The only cable to a switch that takes no tables; 0: all lead to others of its kind. */
static uint8_t way_to(const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (joins_switches(p) && is_not_bad(p) && !p->peer->node->way)
			return (uint8_t)i;
	}
	return 0;
}

/* A switch that is in again, with one cable or with all of them. */
static void join_switch(uint32_t *root, struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (!joins_switches(p) || !is_not_bad(p) || (n->way && n->way != i))
			continue;
		p->peer->node->way = 0;
		join_parts(root, n, p->peer->node);
	}
}

/*
 * A switch that takes no tables is left out if the others do without it. What its tables say of
 * other hosts, if anything, is from before: where it is needed for its hosts no path leads through
 * it.
 */
static void spare_switches(const struct sm *sm, uint32_t *root)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		enum need need = NEED_NOTHING;

		if (n->avoided && n->isolated != NODE_ISOLATED_FORCED)
			need = need_of(sm, root, n);
		if (need == NEED_NOTHING)
			continue;
		n->avoided = false;
		n->way = need == NEED_HOSTS ? way_to(n) : 0;
		observe_shown(n);
		join_switch(root, n);
	}
}

/* True: there is a switch that takes no tables, or shall not be used. */
static bool doubt_switches(const struct fabric *f)
{
	bool any = false;

	FABRIC_EACH_NODE(f, n) {
		bool avoided = n->sync.lft_failures >= NODE_LFT_TRIES || n->isolated;

		if (avoided != n->avoided)
			observe_shown(n);
		n->avoided = avoided;
		n->way = 0;
		any |= avoided;
	}
	return any;
}

static void spare_last_ways(struct sm *sm)
{
	_cleanup_free_ uint32_t *root = NULL;
	struct dampening *h = sm->m.dampening;
	bool doubt = doubt_switches(sm->fabric);

	for (uint32_t i = 0; i < h->n; i++)
		h->cables[i]->spared = false;
	if (!h->n && !doubt)
		return;
	root = find_parts(sm->fabric, is_not_bad);
	spare_cables(h, root);
	if (!doubt)
		return;
	spare_switches(sm, root);
	spare_cables(h, root); /* those of the switches that are in again */
}

/* ---- words ---------------------------------------------------------------------------------- */

static const char *reason_words(const struct bad_cable *c, char ret[96])
{
	unsigned complaints = c->end[0].complaints + c->end[1].complaints;

	if (c->state == CABLE_HELD)
		snprintf(ret, 96, "the link came and went %u times in %d s", c->held_falls,
			 c->held_span);
	else if (is_unhealthy(c))
		snprintf(ret, 96, "its ports have sent %u traps 129 to 131", complaints);
	else if (c->stuck)
		snprintf(ret, 96, "it does not become ACTIVE");
	else if (c->unhealthy)
		snprintf(ret, 96, "it is isolated for its health (opensmctl health)");
	else if (c->refused)
		snprintf(ret, 96, "it is not in the expected topology");
	else
		snprintf(ret, 96, "it is %s by an administrator",
			 c->mark == CABLE_ISOLATED ? "isolated" : "drained");
	return ret;
}

static void tell_out(struct sm *sm, struct bad_cable *c)
{
	char why[96];

	c->told = OUT_TOLD_OUT;
	if (!cable_is_sick(c) && !c->refused)
		return; /* marks.c, or sick.c, has said so */
	if (c->refused && !cable_is_sick(c))
		dampening_say(sm, c, "%s; it is held in INIT", reason_words(c, why));
	else if (c->state == CABLE_HELD)
		dampening_say(sm, c, "%s; it is left out for %d s, longer if it goes on",
			      reason_words(c, why), (int)(cable_hold_time(c) / MONO_S));
	else
		dampening_say(sm, c, "%s; nothing is routed over it for now", reason_words(c, why));
}

static void tell_spared(struct sm *sm, struct bad_cable *c)
{
	char why[96];

	c->told = OUT_TOLD_SPARED;
	dampening_say(sm, c,
		      "%s; it is the only way between two parts of the fabric and stays in use",
		      reason_words(c, why));
}

static void tell_back(struct sm *sm, struct bad_cable *c)
{
	bool was_out = c->told == OUT_TOLD_OUT;

	c->told = OUT_TOLD_NOT;
	if (c->state == CABLE_PROBATION)
		dampening_say(sm, c, "%s after %d s (falls meanwhile: %u)",
			      was_out ? "used again" : "quiet again",
			      (int)((sm->now - c->held_since) / MONO_S), c->n_falls - c->held_at);
	else
		dampening_say(sm, c, "%s", was_out ? "used again" : "in order again");
}

/* Every change is said once. */
static void tell_cable(struct sm *sm, struct bad_cable *c)
{
	if (c->returning && !cable_is_sick(c))
		return; /* "used again" follows */
	if (c->out && c->told != OUT_TOLD_OUT)
		tell_out(sm, c);
	else if (c->spared && c->told != OUT_TOLD_SPARED)
		tell_spared(sm, c);
	else if (!c->out && !c->spared && c->told != OUT_TOLD_NOT)
		tell_back(sm, c);
}

/* ---- switching off -------------------------------------------------------------------------- */

/*
 * The end that does not babble, if it is a switch; the other one could not be reached to switch it
 * on again.
 */
static struct port *side_to_switch_off(const struct bad_cable *c)
{
	unsigned babbler =
		c->isolated_for[0] ? c->end[1].host : c->end[1].complaints > c->end[0].complaints;
	struct port *p = c->end[!babbler].at;

	return p && node_is_switch(p->node) ? p : c->end[babbler].at;
}

/* Also to the system log: this does not mend itself. */
static void tell_off(const struct bad_cable *c)
{
	char cable[CABLE_STRLEN], where[PORT_STRLEN], why[ISOLATED_FOR_STRLEN];

	if (c->isolated_for[0])
		snprintf(why, sizeof(why), "%s", c->isolated_for);
	else
		snprintf(why, sizeof(why), "%u error traps", c->off_traps);
	log_sys_on(about_port(LOG_ID_PORT_OFF, c->off_at),
		   "%s: %s: switched off at %s (%s) until it is enabled: ibportstate %u %u enable",
		   cable_str(c, cable), why, fabric_port_str(c->off_at, where),
		   c->isolated_for[0] ? "security_violation_policy" : "babbling_port_policy",
		   c->off_at->node->ports[0].lid, c->off_at->num);
}

static void on_switched_off(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;
	struct bad_cable *c = p->damp.cable;

	if (!c || r->end == MAD_END_CANCELLED)
		return;
	if (r->end != MAD_END_ANSWERED) {
		dampening_say(sm, c, "a port %s and cannot be switched off (%s)",
			      c->isolated_for[0] ? "broke a rule" : "babbles",
			      r->end == MAD_END_TIMEOUT ? "no answer" : mad_status_name(r->status));
		return;
	}
	cable_note_off(c, OFF_DONE, p);
	c->off_traps = c->end[0].complaints + c->end[1].complaints;
	tell_off(c);
	tell_port(sm, p, "a port was switched off");
}

/*
 * Only what the fabric can do without, and when nothing is routed over it any more; the host behind
 * a cable can be done without.
 */
static void switch_off(struct sm *sm, struct bad_cable *c)
{
	struct port *p = side_to_switch_off(c);

	if (cable_is_between_switches(c) && !c->out && !c->spared && cable_is_bad(c))
		return; /* not decided yet */
	c->off = OFF_NOT;
	if (!is_unhealthy(c) && !c->isolated_for[0])
		/*
		 * it has been quiet since: a sweep may take long, and another master may have
		 * been in between
		 */
		return;
	if (c->spared)
		dampening_say(sm, c,
			      "a port babbles; it is not switched off, being the only way between "
			      "two parts of the fabric");
	else if (p)
		sync_switch_off(sm->sync, p, on_switched_off, sm, p);
}

void hold_switch_off(struct sm *sm)
{
	for (uint32_t i = 0; i < sm->m.dampening->n; i++) {
		if (sm->m.dampening->cables[i]->off == OFF_WANTED)
			switch_off(sm, sm->m.dampening->cables[i]);
	}
}

/* ---- the decision --------------------------------------------------------------------------- */

/* Time is over and it was quiet. */
static void release_cable(struct bad_cable *c, mono_t now)
{
	if (c->state != CABLE_HELD || now < c->until)
		return;
	c->state = CABLE_PROBATION;
	c->until = now + cable_probation(c);
	c->asked = false;
}

static void end_stuck(struct bad_cable *c)
{
	for (unsigned i = 0; i < 2; i++) {
		if (c->end[i].at && c->end[i].at->pending >= PORT_STUCK_AFTER)
			return;
	}
	c->stuck = false;
}

/* Both ends are known, and one at least is not ACTIVE. */
static bool is_not_up_yet(const struct bad_cable *c)
{
	const struct port *a = c->end[0].at, *b = c->end[1].at;

	return a && b && a->peer == b && fabric_link_is_up(a) &&
	       (port_state(a) != IB_PORT_ACTIVE || port_state(b) != IB_PORT_ACTIVE);
}

/* A link that falls, as when it is taken down, is remembered while it may train. */
static void note_gone(struct bad_cable *c, mono_t now)
{
	bool gone = cable_is_gone(c);

	if (gone && !c->gone && c->state == CABLE_WATCHED)
		c->until = MAX(c->until, now + FALLS_WINDOW);
	c->gone = gone;
}

/*
 * If it does not come up it becomes stuck, and is left out for that; if it does not even train, its
 * record ends.
 */
static void note_return(struct bad_cable *c)
{
	bool isolated = c->mark == CABLE_ISOLATED || c->refused || c->unhealthy;

	c->returning |= c->isolated && !isolated && c->out && cable_is_between_switches(c);
	c->returning &= !isolated && !c->stuck && (c->gone || is_not_up_yet(c));
	c->isolated = isolated;
}

void hold_look_at_returning(struct sm *sm)
{
	const struct dampening *h = sm->m.dampening;

	for (uint32_t i = 0; i < h->n; i++) {
		const struct bad_cable *c = h->cables[i];

		if (c->returning && c->end[0].at && !cable_is_gone(c) && !is_not_up_yet(c))
			tell_port(sm, c->end[0].at, "a link that was isolated is ACTIVE");
	}
}

unsigned dampening_returning(const struct sm *sm)
{
	const struct dampening *h = sm->m.dampening;
	unsigned n = 0;

	for (uint32_t i = 0; i < h->n; i++)
		n += h->cables[i]->returning && h->cables[i]->out && !cable_is_gone(h->cables[i]);
	return n;
}

static enum cable_out out_for(const struct bad_cable *c)
{
	if (!c->out)
		return CABLE_NOT_OUT;
	if (c->mark)
		return c->mark == CABLE_ISOLATED ? CABLE_OUT_ISOLATED : CABLE_OUT_DRAINED;
	if (c->refused)
		return CABLE_OUT_REFUSED;
	if (c->state == CABLE_HELD)
		return CABLE_OUT_HELD;
	return c->end[0].unhealthy || c->end[1].unhealthy ? CABLE_OUT_UNHEALTHY : CABLE_OUT_STUCK;
}

static void mark_ports(struct bad_cable *c)
{
	enum cable_out before = c->out_for;
	bool held = c->out && (c->state == CABLE_HELD || c->mark == CABLE_ISOLATED || c->refused ||
			       c->unhealthy);

	c->out_for = out_for(c);
	for (unsigned i = 0; i < 2; i++) {
		struct port *p = c->end[i].at;

		if (!p)
			continue;
		if (p->damp.avoided != c->out || p->damp.held != held || before != c->out_for)
			observe_shown(p->node);
		p->damp.avoided = c->out;
		p->damp.held = held;
	}
}

bool dampening_settle(struct sm *sm)
{
	struct dampening *h = sm->m.dampening;
	bool changed = false;

	for (uint32_t i = h->n; i-- > 0;) {
		struct bad_cable *c = i < h->n ? h->cables[i] : NULL;

		if (!c || !cable_bind(h, c))
			continue;
		release_cable(c, sm->now);
		note_gone(c, sm->now);
		end_stuck(c);
		note_return(c);
		dampening_wake(h, c->until);
	}
	spare_last_ways(sm);
	for (uint32_t i = 0; i < h->n; i++) {
		struct bad_cable *c = h->cables[i];
		bool out = cable_is_bad(c) && !c->spared;

		changed |= out != c->out;
		c->out = out;
		mark_ports(c);
		tell_cable(sm, c);
	}
	return changed;
}
