// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports: state of each, and for one that is not ACTIVE the reason.
 *
 * "not_active" is for ports that need attention: of each alarm the port where an administrator
 * looks, and ports that are being set up. Of what an administrator took out there is a list of its
 * own; ports without a cable are many and normal: they are counted, and "down" shows them.
 */
#include "show/show_internal.h"

/* NAME/PORT of a switch means that port, any other word all ports of the node. */
static bool is_of(const struct show_found *only, const struct view_port *p)
{
	return !only->port || only->node->type != IB_NODE_SWITCH || !only->port->num ||
	       only->port == p;
}

/* One line for the two ends of a cable: the switch port, by which a host is found. */
static bool has_violations(const struct show *s, const struct view_port *p)
{
	const struct view_port *peer = show_port_at(s, p->peer);
	const struct violation_counts *c = show_violations(s, p);
	bool is_told_of = peer && show_node_of(s, p)->type != IB_NODE_SWITCH &&
			  show_node_of(s, peer)->type == IB_NODE_SWITCH;

	for (unsigned i = 0; c && !is_told_of && i < VIOLATION_KINDS; i++) {
		if (c->n[i])
			return true;
	}
	return false;
}

static bool is_wanted(const struct show *s, const struct view_port *p, unsigned *hidden)
{
	enum show_part part = s->part[p - s->view->ports];
	unsigned phys = (unsigned)ib_get(p->info, PI_PHYS_STATE);
	/* The ports of an adapter answer for themselves: one without a cable is never read. */
	bool unread = !p->known && show_node_of(s, p)->type != IB_NODE_SWITCH;
	bool empty = (unread || (p->known && p->state == IB_PORT_DOWN)) &&
		     phys != IB_PHYS_DISABLED && phys != IB_PHYS_TRAINING && !p->met_guid &&
		     p->peer == VIEW_NONE;

	if (s->flag[2])
		return has_violations(s, p);
	if (s->flag[0])
		return p->state == IB_PORT_DOWN;
	if (!s->flag[1])
		return true;
	if (part != SHOW_NO_PART)
		return part == SHOW_PLACE;
	if (p->state == IB_PORT_ACTIVE || p->num == 0)
		return false;
	*hidden += empty;
	return !empty;
}

#define PORTS_FIELDS(F)                                                                            \
	F("ports", LIST(show_listed_fields), ports)                                                \
	F("planned", OPT_LIST(show_alarm_fields), s->flag[1] ? json_object_get(s->planned) : NULL) \
	F("hidden", INT, hidden)

const struct json_field show_ports_fields[] = FIELDS_TABLE(PORTS_FIELDS);

struct json_object *show_ports(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	struct json_object *ports;
	struct show_found only = { 0 };
	unsigned hidden = 0;

	if (s->word[0][0] && !show_find(s, s->word[0], &only, err))
		return NULL;
	ports = json_object_new_array();
	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		const struct view_node *n = &s->view->nodes[i];

		if (only.node && n != only.node)
			continue;
		for (unsigned num = n->type == IB_NODE_SWITCH ? 0 : 1; num <= n->n_ports; num++) {
			const struct view_port *p = show_port(s, n, num);
			struct json_object *o;

			if (!is_of(&only, p) || !is_wanted(s, p, &hidden))
				continue;
			o = json_append_object(ports);
			show_put_port(o, s, p);
			show_put_node(o, s, n);
		}
	}
	return FIELDS_NEW(PORTS_FIELDS);
}
