// SPDX-License-Identifier: BSD-2-Clause
/*
 * Devices and cables that are not served, and those that are not there any more. What follows from
 * a device is said of the device: the hosts behind a switch that cannot be reached, the ports that
 * led to a switch that is gone.
 */
#include <stdio.h>

#include "fabric/observe.h"
#include "fabric/words.h"
#include "ib/codes.h"
#include "sm/alarms/alarms_internal.h"
#include "util/guidmap.h"

static struct alarm_end end_of(const struct port *p)
{
	return (struct alarm_end){ p->node->guid, p->num };
}

static struct alarm_end far_of(const struct port *p)
{
	if (p->peer)
		return end_of(p->peer);
	return (struct alarm_end){ p->met_guid, p->met_port };
}

static bool port_is_planned(const struct look *l, const struct port *p)
{
	return alarm_is_planned(l, end_of(p)) || alarm_is_planned(l, far_of(p));
}

/* ---- not served ------------------------------------------------------------------------------ */

/* A switch port that leads to the node; its own port 0 of a switch. */
static struct alarm_end place_of(const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++)
		if (n->ports[i].peer && node_is_switch(n->ports[i].peer->node))
			return end_of(n->ports[i].peer);
	return (struct alarm_end){ n->guid, 0 };
}

static void add_node(struct look *l, enum alarm_kind kind, const struct node *n)
{
	struct alarm *a;

	if (alarm_is_planned(l, (struct alarm_end){ n->guid, 0 }))
		return;
	a = alarm_add(l, kind, (struct alarm_end){ n->guid, 0 });
	a->where = place_of(n);
	alarm_name_node(l, a);
}

/* A host without a path: said of its switch, which counts such hosts. */
static void add_host_without_path(struct look *l, const struct port *p)
{
	const struct port *sw = p->peer;
	struct alarm *a;

	if (!sw || !node_is_switch(sw->node) || port_is_planned(l, p)) {
		if (!port_is_planned(l, p))
			add_node(l, ALARM_NO_WAY, p->node);
		return;
	}
	a = alarm_add(l, ALARM_NO_WAY, (struct alarm_end){ sw->node->guid, 0 });
	a->where = place_of(sw->node);
	a->n = 1;
	alarm_name_node(l, a);
}

/* A device behind a port that does not answer, and may have been known before. */
static void add_behind(struct look *l, enum alarm_kind kind, const struct port *p)
{
	bool is_known = kind == ALARM_SILENT_BEHIND && p->met_guid;
	struct alarm *a =
		alarm_add(l, kind, is_known ? (struct alarm_end){ p->met_guid, 0 } : end_of(p));

	a->where = end_of(p);
	if (is_known) {
		alarm_name_node(l, a);
		alarm_say(a, "does not answer behind %s/%u", node_name(p->node), p->num);
	} else {
		alarm_name_cable(l, a);
	}
}

static void take_unserved(void *arg, enum alarm_kind kind, const struct node *n,
			  const struct port *p)
{
	struct look *l = arg;

	/* Marks are alarms of their own. */
	if (kind == ALARM_ADMIN_DRAINED || kind == ALARM_ADMIN_ISOLATED ||
	    alarm_rows[kind].class == ALARM_NO_ALARM || (p && port_is_planned(l, p)))
		return;
	if (kind == ALARM_NO_WAY && p)
		add_host_without_path(l, p);
	else if (alarm_rows[kind].about == ABOUT_NODE)
		add_node(l, kind, n);
	else if (alarm_rows[kind].about == ABOUT_CABLE)
		alarm_add_cable(l, kind, p);
	else
		add_behind(l, kind, p);
}

/* ---- not there any more ---------------------------------------------------------------------- */

static bool is_disabled(const struct port *p)
{
	return p->known && ib_get(p->info, PI_PHYS_STATE) == IB_PHYS_DISABLED;
}

/* Hosts that went before their switch did, by more than this, did not go with it. */
#define WENT_TOGETHER (60 * MONO_S)

static unsigned hosts_behind(const struct alarms *s, const struct went *sw)
{
	size_t pos = 0;
	unsigned n = 0;
	guid_t guid;
	void *at;

	while (s->went && guidmap_next(s->went, &pos, &guid, &at)) {
		const struct went *w = at;

		n += w->behind == sw->node && w->type != IB_NODE_SWITCH &&
		     w->at >= sw->at - WENT_TOGETHER;
	}
	return n;
}

/* Counted once in a look, though each port that led to the switch asks. */
static unsigned hosts_of(struct look *l, const struct went *sw)
{
	if (l->counted != sw->node)
		l->hosts = hosts_behind(l->before, sw);
	l->counted = sw->node;
	return l->hosts;
}

static void add_gone(struct look *l, const struct port *p)
{
	const struct went *w = went_find(l->before, p->met_guid);
	bool is_switch = w ? w->type == IB_NODE_SWITCH : !p->identity.host;
	struct alarm *a = alarm_add(l, is_switch ? ALARM_SWITCH_GONE : ALARM_HOST_GONE,
				    (struct alarm_end){ p->met_guid, 0 });
	unsigned hosts = is_switch && w ? hosts_of(l, w) : 0;

	a->where = end_of(p);
	a->n = 1;
	alarm_name_node(l, a);
	if (hosts)
		alarm_say(a, "is gone, and with it %u host%s; it was behind %s/%u", hosts,
			  hosts == 1 ? "" : "s", node_name(p->node), p->num);
	else
		alarm_say(a, "is gone; it was behind %s/%u", node_name(p->node), p->num);
}

/* Is the other end still without a cable, so that nothing was connected elsewhere meanwhile? */
static bool is_still_free(const struct port *p, const struct port *far)
{
	return !far->peer && far->met_guid == p->node->guid && far->met_port == p->num;
}

static void look_at_lost(struct look *l, const struct port *p)
{
	struct node *n = fabric_find_node(l->sm->fabric, p->met_guid);
	const struct port *far = n && p->met_port <= n->n_ports ? &n->ports[p->met_port] : NULL;

	if (port_is_planned(l, p))
		return;
	if (is_disabled(p) || (far && is_disabled(far)))
		alarm_add_cable(l, ALARM_DISABLED, p);
	else if (!n)
		add_gone(l, p);
	else if (far && is_still_free(p, far))
		alarm_add_cable(l, ALARM_LINK_FELL, p);
}

static bool is_lost(const struct port *p)
{
	return !p->peer && p->met_guid && !p->silent && port_state(p) == IB_PORT_DOWN;
}

void alarms_look_at_fabric(struct look *l)
{
	unserved_each(l->sm, take_unserved, l);
	FABRIC_EACH_NODE(l->sm->fabric, n)
		for (unsigned i = 1; i <= n->n_ports; i++)
			if (is_lost(&n->ports[i]))
				look_at_lost(l, &n->ports[i]);
}

/* ---- what was taken away for good ------------------------------------------------------------ */

unsigned sm_alarms_forget(struct sm *sm, guid_t node, unsigned port)
{
	unsigned n_forgotten = 0;

	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];
			bool is_it = (n->guid == node && (!port || i == port)) ||
				     (p->met_guid == node && (!port || p->met_port == port));

			if (is_it && is_lost(p)) {
				went_forget(sm->m.alarms, p->met_guid);
				observe_forgotten(p);
				n_forgotten++;
			}
		}
	}
	return n_forgotten;
}
