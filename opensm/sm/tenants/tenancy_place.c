// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places of ports that have left the fabric or do not answer: if their link is up they may still
 * send, and only their switch port can stop them. The place of a port that left while this process
 * was running is remembered; for others the file `neighbors` of the cache folder has the last
 * cable, as this host saw it. If neither knows, the port may be behind any link that is up and
 * whose far end does not answer, except one whose far end is another port by that file.
 */
#include "fabric/store.h"
#include "sm/tenants/tenancy_internal.h"
#include "util/mem.h"

static bool find_place(const struct sm *sm, guid_t guid, struct place *ret)
{
	const struct place *seen = guidmap_get(sm->m.tenancy->places, guid);

	if (seen)
		*ret = *seen;
	return seen || store_only_neighbor(sm->store, guid, &ret->node, &ret->port);
}

/* Is a link up to this node, which was there last and is unknown now? O(ports). */
static bool is_linked_to(const struct sm *sm, guid_t node)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
			const struct port *p = &n->ports[i];

			if (!p->peer && p->met_guid == node && p->known &&
			    port_state(p) > IB_PORT_DOWN)
				return true;
		}
	}
	return false;
}

/*
 * The far end of the last cable of a port without a cable; NULL: it is gone, or has another cable.
 */
static struct port *last_peer(const struct sm *sm, const struct port *p)
{
	struct node *n = p->met_guid ? fabric_find_node(sm->fabric, p->met_guid) : NULL;

	return n && p->met_port <= n->n_ports && !n->ports[p->met_port].peer
		       ? &n->ports[p->met_port]
		       : NULL;
}

struct port *place_live(const struct sm *sm, guid_t guid, struct port *p)
{
	struct place place;
	struct node *n = !p && find_place(sm, guid, &place)
				 ? fabric_find_node(sm->fabric, place.node)
				 : NULL;
	struct port *at = p ? p->peer : NULL;

	if (p && !at)
		at = last_peer(sm, p);
	if (n && place.port <= n->n_ports && !n->ports[place.port].peer)
		at = &n->ports[place.port];
	return at && at->known && !port_is_end(at) && port_state(at) > IB_PORT_DOWN ? at : NULL;
}

bool place_is_behind_silence(const struct sm *sm, guid_t guid, const struct port *p)
{
	struct place place;

	return !p && find_place(sm, guid, &place) && !fabric_find_node(sm->fabric, place.node) &&
	       is_linked_to(sm, place.node);
}

/*
 * Was the last cable of a switch port, whose far end does not answer, that of a single known port?
 */
static bool is_accounted_for(const struct sm *sm, const struct port *p)
{
	guid_t far, back;
	uint8_t port;

	return store_neighbor(sm->store, p->node->guid, p->num, &far, &port) &&
	       store_only_neighbor(sm->store, far, &back, &port);
}

/* Is there a link that passes packets and whose far end is not known? O(ports). */
static bool has_dark_link(const struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
			const struct port *p = &n->ports[i];

			if (p->known && !p->peer && port_is_live(p) && !is_accounted_for(sm, p))
				return true;
		}
	}
	return false;
}

bool place_may_be_hidden(const struct sm *sm, guid_t guid, const struct port *p)
{
	struct tenancy *t = sm->m.tenancy;

	if (p || guidmap_get(t->places, guid))
		return false;
	if (!t->dark_is_known || t->dark_at != sm->now)
		t->dark = has_dark_link(sm);
	t->dark_is_known = true;
	t->dark_at = sm->now;
	return t->dark;
}

/*
 * Remembers the places of ports that leave with rights, which may be taken away while they are
 * gone.
 */
void tenancy_node_goes(struct sm *sm, struct node *n)
{
	struct tenancy *t = sm->m.tenancy;

	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i], *at = p->peer ? p->peer : last_peer(sm, p);
		struct place *place;
		size_t n_rights;

		if (!p->guid || !at || port_is_end(at) ||
		    !tenants_of_port(partition_tenants(sm), p->guid, &n_rights))
			continue;
		place = guidmap_get(t->places, p->guid);
		if (!place) {
			place = xcalloc(1, sizeof(*place));
			guidmap_put(t->places, p->guid, place);
		}
		*place = (struct place){ at->node->guid, at->num };
	}
}

void places_free(struct tenancy *t)
{
	size_t pos = 0;
	guid_t guid;
	void *place;

	while (guidmap_next(t->places, &pos, &guid, &place))
		free(place);
	guidmap_free(t->places);
}
