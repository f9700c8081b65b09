// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links that are gone for their health: not read by discovery, or disabled. Both come after the
 * isolation is complete: no table leads over the link, and it is in INIT.
 *
 *   disable:      NOTED --stored--> Set --PortInfo tells--> SEEN --not wanted--> Set --> gone
 *                                                            \--enabled by others--> gone
 *   no_discover:  hidden; both ends are left out by discovery, and their cable is forgotten
 *
 * A port is a row of the ledger, and goes to standbys with it, before it is disabled: there is
 * always a manager that knows to enable it. It is the switch's end, of two the one that is reached
 * without the link, and is enabled through the same switch. Such a link is no longer in the
 * picture, so the last ways that out_of_use.h spares do not count it: after each sweep it is seen
 * whether both ends are still joined without it.
 */
#include <stdlib.h>

#include "ib/codes.h"
#include "sm/base/news.h"
#include "sm/health/sick_internal.h"
#include "sm/out_of_use/bad_cable.h"
#include "util/mem.h"

#define AGAIN	      5	 /* seconds before a Set without effect is repeated; doubled each time */
#define AGAIN_DOUBLES 7u /* number of doublings */

/* ---- beginning ------------------------------------------------------------------------------- */

static void note_off(struct sm *sm, const struct port *p)
{
	struct sick *k = sm->m.sick;
	struct health_off *o =
		health_off_add(k->judge, (struct health_end){ p->node->guid, p->num },
			       (struct health_end){ p->peer->node->guid, p->peer->num });

	sick_note_change(k);
	o->version = k->version;
	k->save_at = k->off_at = sm->now;
}

void sick_go_on(struct sm *sm, struct sick_case *c)
{
	struct port *p = sick_port_at(sm, &c->at);

	if (!p || !out_of_use_is_down(p))
		return;
	if (c->action == HEALTH_DISABLE) {
		note_off(sm, out_of_use_near_end(p));
		c->off = true;
	} else if (c->action == HEALTH_NO_DISCOVER) {
		c->hidden = true;
		sm->m.sick->n_hidden++;
		tell_port(sm, p, "a link is not read any more, for its health");
	}
}

/* ---- the last way ---------------------------------------------------------------------------- */

/* Would two parts of the fabric be separate without the link? A host has no other link. */
static bool is_last_way(const struct sm *sm, const uint32_t *part, const struct health_verdict *v)
{
	const struct node *a = fabric_find_node(sm->fabric, v->end[0].node),
			  *b = fabric_find_node(sm->fabric, v->end[1].node);

	return !v->host && (!a || !b || part[a->index] != part[b->index]);
}

static void check_ways(struct sm *sm)
{
	struct sick *k = sm->m.sick;
	_cleanup_free_ uint32_t *part = NULL;

	k->check_ways = false;
	if (!k->n_hidden && !health_off_at(k->judge, 0))
		return;
	part = out_of_use_parts(sm->fabric);
	for (uint32_t i = 0; i < k->n; i++) {
		struct sick_case *c = &k->all[i];

		if (c->state == SICK_ISOLATED && (c->hidden || c->off) &&
		    is_last_way(sm, part, health_verdict(k->judge, c->link)))
			sick_spare(sm, c);
	}
}

/* ---- disabled ports -------------------------------------------------------------------------- */

static void on_answer(void *owner, const struct mad_result *r)
{
	if (r->end == MAD_END_ANSWERED || r->end == MAD_END_TIMEOUT)
		tell_port(owner, r->arg,
			  "a port was disabled or enabled for the health of its link");
}

/* Should the port be disabled, as its link is judged now? */
static bool is_wanted(const struct sick *k, const struct health_off *o)
{
	uint32_t i = sick_case_of(k, health_find(k->judge, o->at.node, o->at.port));

	return i != SICK_NO_CASE && k->all[i].state == SICK_ISOLATED &&
	       k->all[i].action == HEALTH_DISABLE &&
	       sick_off_is_of(o, health_verdict(k->judge, k->all[i].link));
}

static void forget_off(struct sm *sm, uint32_t n)
{
	const struct health_off o = *health_off_at(sm->m.sick->judge, n);
	uint32_t i = sick_case_of(sm->m.sick,
				  health_find(sm->m.sick->judge, o.at.node, o.at.port));

	if (i != SICK_NO_CASE)
		sm->m.sick->all[i].off = false;
	health_off_remove(sm->m.sick->judge, n);
	sick_note_change(sm->m.sick);
	sick_save_soon(sm);
}

/*
 * Handles a port that an administrator enabled, or whose switch was restarted: its link is judged
 * anew.
 */
static void enabled_by_others(struct sm *sm, uint32_t n)
{
	const struct health_off o = *health_off_at(sm->m.sick->judge, n);
	uint32_t link = health_find(sm->m.sick->judge, o.at.node, o.at.port);

	forget_off(sm, n);
	if (link != UINT32_MAX)
		sick_forget(sm, link, "its port was enabled by others; it is judged anew");
}

static void send(struct sm *sm, struct health_off *o, struct port *p, bool on)
{
	int64_t now = sm->now / MONO_S;

	if (now < o->again_at || (!on && sm->m.sick->saved < o->version)) {
		sm->m.sick->off_at = sm->now + MONO_S;
		return;
	}
	o->again_at = now + (AGAIN << MIN(o->tries, AGAIN_DOUBLES));
	o->tries++;
	sm->m.sick->off_at = mono_min(sm->m.sick->off_at, o->again_at * MONO_S);
	if (on)
		sync_switch_on(sm->sync, p, on_answer, sm, p);
	else
		sync_switch_off(sm->sync, p, on_answer, sm, p);
}

/* Is the port also disabled for other reasons (out_of_use), so that it must not be enabled here? */
static bool is_off_for_others(const struct port *p)
{
	return p->out.cable && p->out.cable->off.at == p;
}

static void look_at_off(struct sm *sm, uint32_t n)
{
	struct health_off *o = health_off_at(sm->m.sick->judge, n);
	struct port *p = sick_port_at(sm, &o->at);
	bool wanted = is_wanted(sm->m.sick, o), disabled;

	if (!p || !p->known)
		return;
	disabled = ib_get(p->info, PI_PHYS_STATE) == IB_PHYS_DISABLED;
	if (disabled && !o->seen) {
		o->seen = true;
		o->tries = 0;
		o->again_at = 0;
		sick_note_change(sm->m.sick);
		sick_save_soon(sm);
	}
	if (!wanted && (!disabled || is_off_for_others(p)))
		forget_off(sm, n);
	else if (!wanted)
		send(sm, o, p, true);
	else if (!disabled && o->seen)
		enabled_by_others(sm, n);
	else if (!disabled)
		send(sm, o, p, false);
}

void sick_off_tick(struct sm *sm)
{
	struct sick *k = sm->m.sick;
	uint32_t n = 0;

	if (k->check_ways)
		check_ways(sm);
	if (sm->now < k->off_at)
		return;
	k->off_at = MONO_NEVER;
	while (health_off_at(k->judge, n))
		n++;
	while (n-- > 0)
		look_at_off(sm, n);
}

mono_t sick_off_next(const struct sm *sm)
{
	const struct sick *k = sm->m.sick;

	if (k->check_ways)
		return sm->now;
	return k->off_at == MONO_NEVER ? MONO_NEVER : MAX(k->off_at, sm->now);
}
