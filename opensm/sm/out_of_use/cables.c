// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records of cables. A record exists while the node of one end is known, and is dropped when an end
 * is found on another cable; there is at most one per port.
 */
#include "sm/out_of_use/bad_cable.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "fabric/observe.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/mem.h"

bool cable_is_between_switches(const struct bad_cable *c)
{
	return !c->end[0].host && !c->end[1].host;
}

unsigned cable_reasons(const struct bad_cable *c)
{
	unsigned bits = c->reasons;

	for (unsigned i = 0; i < OUT_REASONS && !cable_is_between_switches(c); i++)
		bits &= reasons[i].host ? ~0u : ~BIT(i);
	return bits;
}

bool cable_is_gone(const struct bad_cable *c)
{
	return !(c->end[0].at && c->end[0].at->peer) && !(c->end[1].at && c->end[1].at->peer);
}

struct cable_end *cable_end_of(struct bad_cable *c, const struct port *p)
{
	return &c->end[c->end[1].at == p];
}

void cable_set(struct bad_cable *c, enum out_reason reason, bool holds)
{
	if (holds)
		c->reasons |= BIT(reason);
	else
		c->reasons &= ~BIT(reason);
	c->forced &= c->reasons;
}

void out_of_use_wake(struct out_of_use *h, mono_t at)
{
	h->next = mono_min(h->next, at);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void leave_port(struct cable_end *e)
{
	if (!e->at)
		return;
	observe_shown(e->at->node);
	e->at->out.held = e->at->out.avoided = false;
	e->at->out.cable = NULL;
	e->at = NULL;
}

static void take_port(struct cable_end *e, struct port *p)
{
	e->node = p->node->guid;
	e->port = p->num;
	e->host = !node_is_switch(p->node);
	e->at = p;
	snprintf(e->name, sizeof(e->name), "%s", node_name(p->node));
}

void cable_drop(struct out_of_use *h, struct bad_cable *c)
{
	leave_port(&c->end[0]);
	leave_port(&c->end[1]);
	h->cables[c->index] = h->cables[--h->n];
	h->cables[c->index]->index = c->index;
	free(c);
}

/* Is end `i` on another cable than the one of `c`? */
static bool leads_elsewhere(const struct bad_cable *c, unsigned i)
{
	const struct port *peer = c->end[i].at ? c->end[i].at->peer : NULL;

	return peer && (peer->node->guid != c->end[!i].node || peer->num != c->end[!i].port);
}

bool cable_bind(struct out_of_use *h, struct bad_cable *c)
{
	if (leads_elsewhere(c, 0) || leads_elsewhere(c, 1)) {
		cable_drop(h, c);
		return false;
	}
	for (unsigned i = 0; i < 2; i++) {
		struct port *p = c->end[!i].at ? c->end[!i].at->peer : NULL;

		if (!p || p == c->end[i].at)
			continue;
		if (p->out.cable && p->out.cable != c)
			cable_drop(h, p->out.cable);
		leave_port(&c->end[i]);
		take_port(&c->end[i], p);
		p->out.cable = c;
		observe_shown(p->node);
	}
	return true;
}

/* ---- records --------------------------------------------------------------------------------- */

bool cable_is_own(const struct sm *sm, const struct port *p)
{
	const struct port *own = sm->fabric->own_port;

	return own && (p == own || p->peer == own);
}

struct bad_cable *cable_record(struct sm *sm, struct port *p)
{
	if (!p->out.cable && p->peer && p->peer->out.cable)
		cable_bind(sm->m.out_of_use, p->peer->out.cable);
	if (p->out.cable && !cable_bind(sm->m.out_of_use, p->out.cable))
		return NULL;
	return p->out.cable;
}

struct bad_cable *cable_need(struct sm *sm, struct port *p)
{
	struct bad_cable *c = cable_record(sm, p);
	struct out_of_use *h = sm->m.out_of_use;

	if (c || !p->peer || p->peer == p || cable_is_own(sm, p))
		return c;
	c = xcalloc(1, sizeof(*c));
	take_port(&c->end[0], p);
	take_port(&c->end[1], p->peer);
	p->out.cable = p->peer->out.cable = c;
	c->flaps.until = sm->now + FALLS_WINDOW;
	c->down.next = MONO_NEVER;
	c->index = h->n;
	GROW(h->cables, h->n + 1, h->cap);
	h->cables[h->n++] = c;
	out_of_use_wake(h, c->flaps.until);
	return c;
}

void cable_leave(struct out_of_use *h, struct bad_cable *c, const struct port *p)
{
	leave_port(cable_end_of(c, p));
	if (!c->end[0].at && !c->end[1].at)
		cable_drop(h, c);
}

/* ---- reasons of other machines --------------------------------------------------------------- */

const struct node *out_of_use_first_switch(const struct fabric *f)
{
	const struct port *own = f->own_port;

	if (!own || node_is_switch(own->node))
		return own ? own->node : NULL;
	return own->peer && node_is_switch(own->peer->node) ? own->peer->node : NULL;
}

static bool is_at_first_switch(const struct sm *sm, const struct port *p)
{
	const struct node *first = out_of_use_first_switch(sm->fabric);

	return p->node == first || (p->peer && p->peer->node == first);
}

/*
 * A link that is not ACTIVE yet stays so: the sweep that runs now was routed without the reason,
 * and would activate it. The next out_of_use_settle() decides about the last way.
 */
static void hold_at_once(struct bad_cable *c, enum out_reason reason)
{
	for (unsigned i = 0; i < 2 && reasons[reason].held && !c->spared; i++)
		if (c->end[i].at)
			c->end[i].at->out.held = true;
}

bool out_of_use_give(struct sm *sm, struct port *p, enum out_reason reason, bool forced)
{
	struct bad_cable *c = cable_need(sm, p);

	if (!c || cable_is_own(sm, p))
		return false;
	cable_set(c, reason, true);
	hold_at_once(c, reason);
	if (forced && !(reasons[reason].own_switch && is_at_first_switch(sm, p)))
		c->forced |= BIT(reason);
	return true;
}

bool out_of_use_take(struct sm *sm, struct port *p, enum out_reason reason)
{
	struct bad_cable *c = cable_record(sm, p);

	if (c)
		cable_set(c, reason, false);
	return c;
}

void out_of_use_take_all(struct sm *sm, enum out_reason reason)
{
	struct out_of_use *h = sm->m.out_of_use;

	for (uint32_t i = 0; i < h->n; i++)
		if (!reasons[reason].judged || !cable_is_gone(h->cables[i]))
			cable_set(h->cables[i], reason, false);
	if (reason != OUT_ISOLATED)
		return;
	FABRIC_EACH_NODE(sm->fabric, n)
		n->isolated = NODE_NOT_ISOLATED;
}

void out_of_use_give_switch(struct sm *sm, struct node *n, bool forced)
{
	assert(node_is_switch(n));
	if (n == out_of_use_first_switch(sm->fabric))
		return;
	n->isolated = forced ? NODE_ISOLATED_FORCED : NODE_ISOLATED;
}

bool out_of_use_has(const struct port *p, enum out_reason reason)
{
	return p->out.cable && p->out.cable->reasons & BIT(reason);
}

bool out_of_use_is(const struct port *p)
{
	return p->out.cable && p->out.cable->out;
}

bool out_of_use_is_spared(const struct port *p)
{
	return p->out.cable && p->out.cable->spared;
}

/* ---- switches ------------------------------------------------------------------------------- */

bool out_of_use_switch_is_ordered(const struct node *n)
{
	bool has_cables = false;

	for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (!p->peer || !node_is_switch(p->peer->node))
			continue;
		if (!p->out.cable || !(p->out.cable->reasons & REASONS_WITH(by_order)))
			return false;
		has_cables = true;
	}
	return has_cables;
}

/* ---- words ----------------------------------------------------------------------------------- */

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

void cable_log(struct sm *sm, const struct bad_cable *c, enum log_id id, unsigned bits,
	       const char *fmt, ...)
{
	char text[256], cable[CABLE_STRLEN];
	unsigned suppressed;
	va_list ap;

	if (!log_allow(&sm->m.out_of_use->log, sm->now, &suppressed))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (suppressed)
		log_error("%u similar records on cables were left out", suppressed);
	log_on(c->end[0].at ? about_port(id, c->end[0].at)
			    : ABOUT(.id = id, .node_guid = c->end[0].node, .port = c->end[0].port,
				    .name = c->end[0].name),
	       bits, "%s: %s", cable_str(c, cable), text);
}

void cable_look(struct sm *sm, const struct bad_cable *c, const char *why)
{
	struct port *a = c->end[0].at, *b = c->end[1].at;

	if (sm->state != SM_MASTER)
		return;
	if (a && (node_is_switch(a->node) || !b))
		tell_port(sm, a, why);
	if (b && (node_is_switch(b->node) || !a))
		tell_port(sm, b, why);
}
