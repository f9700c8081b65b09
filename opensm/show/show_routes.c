// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routes: where one switch sends. Its load port by port; and LID by LID the port, the hops, and the
 * ports that would have been as short.
 */
#include "show/show_internal.h"
#include "util/mem.h"
#include "view/lid_hops.h"

#define LOAD_FIELDS(F)                                                                             \
	F("port", INT, p->num)                                                                     \
	F("lids", INT, loads[i])                                                                   \
	F("peer", IF(p->peer != VIEW_NONE, END), &s->view->ports[p->peer])

static const struct json_field load_fields[] = FIELDS_TABLE(LOAD_FIELDS);

static struct json_object *loads_of(const struct show *s, const struct lid_hops *h,
				    const struct view_node *n, uint32_t sw)
{
	struct json_object *ports = json_object_new_array();
	uint32_t loads[256];

	lid_hops_loads(h, sw, loads);
	for (unsigned i = 0; i <= n->n_ports; i++) {
		const struct view_port *p = show_port(s, n, i);

		if (loads[i] || p->peer != VIEW_NONE)
			json_object_array_add(ports, FIELDS_NEW(LOAD_FIELDS));
	}
	return ports;
}

#define ROUTE_FIELDS(F)                                                                            \
	F("lid", INT, lid)                                                                         \
	F("to", IF(at != VIEW_NONE, END), &s->view->ports[at])                                     \
	F("out_port", KNOWN, out != LFT_NO_PORT, out)                                              \
	F("hops", KNOWN, real != HOPS_UNKNOWN, real)                                               \
	F("least_hops", KNOWN, least != HOPS_UNKNOWN, least)                                       \
	F("equal_ports", OF("[]int"), JSON_LIST(n, json_object_new_int(candidates[i])))

static const struct json_field route_fields[] = FIELDS_TABLE(ROUTE_FIELDS);

static struct json_object *route_of(const struct show *s, const struct lid_hops *h, uint32_t sw,
				    lid_t lid)
{
	uint8_t out = routes_port(h->routes, sw, lid), candidates[256];
	unsigned n = lid_hops_shortest(h, sw, lid, candidates);
	unsigned least = lid_hops_least(h, sw, lid), real = lid_hops_real(h, sw, lid);
	uint32_t at = view_port_at(s->view, lid);

	return FIELDS_NEW(ROUTE_FIELDS);
}

static bool find_switch(const struct show *s, const struct view_node **ret, uint32_t *ret_sw,
			struct control_error *err)
{
	struct show_found f;

	if (!show_find(s, s->word[0], &f, err))
		return false;
	if (f.node->type != IB_NODE_SWITCH)
		return control_fail(err, "InvalidParameter",
				    "'%.64s' is no switch: only switches have forwarding tables",
				    show_name(s, f.node));
	*ret = f.node;
	*ret_sw = topo_find_switch(s->view->routes->topo, f.node->guid);
	if (*ret_sw == TOPO_NONE)
		control_fail(err, "NotReady",
			     "'%.64s' is not routed: it came after the routes were made, or "
			     "is left out (see ports %.64s)",
			     show_name(s, f.node), show_name(s, f.node));
	return *ret_sw != TOPO_NONE;
}

/* LIDs to be shown: all of the subnet, or those of one end port. */
static bool find_lids(const struct show *s, lid_t *ret_first, lid_t *ret_last,
		      struct control_error *err)
{
	const struct view_port *p;
	uint64_t lid;

	*ret_first = 1;
	*ret_last = s->view->routes->top;
	if (!s->word[1][0])
		return true;
	if (!show_find_end(s, s->word[1], &p, err))
		return false;
	if (!p->lid)
		return control_fail(err, "NotFound",
				    "'%.64s' port %u has no LID: nothing is routed there",
				    show_name(s, show_node_of(s, p)), p->num);
	*ret_first = p->lid;
	*ret_last = (lid_t)(p->lid + (1u << p->lmc) - 1);
	if (show_number(s->word[1], LID_MAX_UCAST, &lid))
		*ret_first = *ret_last = (lid_t)lid;
	return true;
}

#define ROUTES_FIELDS(F)                                                                           \
	F("switch", END, show_port(s, n, 0))                                                       \
	F("engine", STR, s->view->routes->engine)                                                  \
	F("ports", LIST(load_fields), loads_of(s, h, n, sw))                                       \
	F("routes", LIST(route_fields), routes)

const struct json_field show_routes_fields[] = FIELDS_TABLE(ROUTES_FIELDS);

struct json_object *show_routes(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	_cleanup_(lid_hops_freep) struct lid_hops *h = NULL;
	struct json_object *routes;
	const struct view_node *n = NULL;
	uint32_t sw = TOPO_NONE;
	lid_t first, last;

	if (!find_switch(s, &n, &sw, err) || !find_lids(s, &first, &last, err))
		return NULL;
	h = lid_hops_new(s->view);
	routes = json_object_new_array();
	for (uint32_t lid = first; lid <= last && lid <= s->view->routes->top; lid++)
		if (h->lids[lid].owned)
			json_object_array_add(routes, route_of(s, h, sw, (lid_t)lid));
	return FIELDS_NEW(ROUTES_FIELDS);
}
