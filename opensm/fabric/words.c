// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes and ports in words. Names are cut so that what follows them, the GUID above all, never is.
 */
#include "fabric/words.h"

#include <inttypes.h>
#include <stdio.h>

#include "fabric/fabric_internal.h"
#include "util/mem.h"
#include "util/str.h"

#define GUID_FORMAT "(0x%016" PRIx64 ")"

void node_set_alias(struct node *n, const char *alias)
{
	char *copy;

	if (str_equal(n->alias, alias))
		return;
	copy = alias ? xstrdup(alias) : NULL;
	free(n->alias);
	n->alias = copy;
	fabric_edited(n);
}

lid_t fabric_lid_of(const struct port *p)
{
	const struct port *end = node_is_switch(p->node) ? &p->node->ports[0] : p;

	if (end->lid)
		return end->lid;
	return end->known ? (lid_t)ib_get(end->info, PI_LID) : 0;
}

char *fabric_node_str(const struct node *n, char ret[NODE_STRLEN])
{
	snprintf(ret, NODE_STRLEN, "'%.64s' " GUID_FORMAT, node_name(n), n->guid);
	return ret;
}

char *fabric_port_str(const struct port *p, char ret[PORT_STRLEN])
{
	snprintf(ret, PORT_STRLEN, "'%.64s' port %u " GUID_FORMAT, node_name(p->node), p->num,
		 p->node->guid);
	return ret;
}

char *fabric_place_str(const struct port *p, char ret[PLACE_STRLEN])
{
	char name[PORT_STRLEN], lid[16] = "", at[100] = "";

	if (!p) {
		snprintf(ret, PLACE_STRLEN, "an unknown port");
		return ret;
	}
	if (node_is_switch(p->node) && p->num == 0)
		fabric_node_str(p->node, name);
	else
		fabric_port_str(p, name);
	if (fabric_lid_of(p))
		snprintf(lid, sizeof(lid), ", LID %u", fabric_lid_of(p));
	if (p->peer)
		snprintf(at, sizeof(at), ", %s '%.64s' port %u",
			 node_is_switch(p->node) ? "cabled to" : "behind", node_name(p->peer->node),
			 p->peer->num);
	snprintf(ret, PLACE_STRLEN, "%s%s%s", name, lid, at);
	return ret;
}
