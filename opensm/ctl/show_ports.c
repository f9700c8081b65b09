// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports: state of each, and for one that is not ACTIVE the reason.
 *
 * What has no cable and never had one is normal, and there is a lot of it: "not_active" is what an
 * administrator has to look at, so it leaves those out and counts them; "down" shows them.
 */
#include "ctl/show.h"
#include "util/guidmap.h"

/* NAME/PORT of a switch means that port; whatever else means all of the node. */
static bool is_of(const struct show_found *only, const struct dump_port *p)
{
	return !only->port || only->node->type != IB_NODE_SWITCH || !only->port->num || only->port == p;
}

static bool is_wanted(const struct show *s, const struct dump_port *p, unsigned *hidden)
{
	const char *why = s->why[p - s->view->ports];
	/* The ports of an adapter answer for themselves alone: one without a cable is never read. */
	bool unread = !p->known && show_node_of(s, p)->type != IB_NODE_SWITCH;
	bool empty = (unread || (p->known && p->state == IB_PORT_DOWN)) &&
		     p->phys != IB_PHYS_DISABLED && p->phys != IB_PHYS_TRAINING && !p->had_cable &&
		     p->peer == DUMP_NONE;

	if (s->flag[0])
		return p->state == IB_PORT_DOWN;
	if (!s->flag[1])
		return true;
	/* A port that is ACTIVE may still be left out: "complains too much". */
	if (p->state == IB_PORT_ACTIVE || p->num == 0)
		return why != NULL;
	*hidden += empty;
	return !empty;
}

struct json_object *show_ports(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	struct json_object *ret = json_object_new_object(), *ports = json_object_new_array();
	struct show_found only = { 0 };
	unsigned hidden = 0;

	show_index(s);
	if (s->word[0][0] && !show_find(s, s->word[0], &only, err)) {
		json_object_put(ports);
		json_object_put(ret);
		return NULL;
	}
	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		const struct dump_node *n = &s->view->nodes[s->order[i]];

		if (only.node && n != only.node)
			continue;
		for (unsigned num = n->type == IB_NODE_SWITCH ? 0 : 1; num <= n->n_ports; num++) {
			const struct dump_port *p = show_port(s, n, num);
			struct json_object *o;

			if (!is_of(&only, p) || !is_wanted(s, p, &hidden))
				continue;
			o = show_port_object(s, p);
			show_put_node(o, n);
			json_object_array_add(ports, o);
		}
	}
	json_object_object_add(ret, "ports", ports);
	json_add_int(ret, "hidden", hidden);
	return ret;
}
