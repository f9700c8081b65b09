// SPDX-License-Identifier: BSD-2-Clause
/* The place of a mark: the port that it names, the cables that it covers, their text. */
#include <inttypes.h>
#include <stdio.h>

#include "fabric/words.h"
#include "sm/marks/marks_internal.h"

struct port *mark_port(const struct sm *sm, const struct link_mark *m)
{
	struct node *n = fabric_find_node(sm->fabric, m->node);

	if (m->port == MARK_WHOLE_SWITCH)
		return n && node_is_switch(n) ? &n->ports[0] : NULL;
	return n && m->port <= n->n_ports ? &n->ports[m->port] : NULL;
}

struct port *mark_cable(const struct link_mark *m, struct node *n, unsigned port)
{
	struct port *p = port <= n->n_ports ? &n->ports[port] : NULL;

	if (!p || !p->peer || p->peer == p || (m->port != MARK_WHOLE_SWITCH && port != m->port))
		return NULL;
	if (m->port == MARK_WHOLE_SWITCH && m->kind == MARK_DRAIN && !node_is_switch(p->peer->node))
		return NULL;
	return p;
}

char *mark_place_str(const struct sm *sm, const struct link_mark *m, char ret[MARK_PLACE_STRLEN])
{
	const struct port *p = mark_port(sm, m);
	char a[PORT_STRLEN], b[PORT_STRLEN];

	if (!p && m->port == MARK_WHOLE_SWITCH)
		snprintf(ret, MARK_PLACE_STRLEN, "switch 0x%016" PRIx64, m->node);
	else if (!p)
		snprintf(ret, MARK_PLACE_STRLEN, "0x%016" PRIx64 " port %u", m->node, m->port);
	else if (!p->num)
		snprintf(ret, MARK_PLACE_STRLEN, "%s", fabric_node_str(p->node, a));
	else if (!p->peer)
		snprintf(ret, MARK_PLACE_STRLEN, "%s", fabric_port_str(p, a));
	else
		snprintf(ret, MARK_PLACE_STRLEN, "%s - %s", fabric_port_str(p, a),
			 fabric_port_str(p->peer, b));
	return ret;
}
