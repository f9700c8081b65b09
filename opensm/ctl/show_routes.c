// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routes: where one switch sends. Its load port by port; and LID by LID the port, the hops, and the ports
 * that would have been as short.
 */
#include "ctl/dump_paths.h"
#include "ctl/show.h"
#include "ctl/show_ways.h"
#include "util/guidmap.h"
#include "util/mem.h"

/* ---- equally short ways (show_ways.h) ------------------------------------------------------- */

struct show_ways *show_ways_new(const struct show *s)
{
	struct show_ways *w = xcalloc(1, sizeof(*w));

	w->order = dump_view_order(s->view);
	w->paths = dump_paths_new(s->view, w->order);
	return w;
}

struct show_ways *show_ways_free(struct show_ways *w)
{
	if (!w)
		return NULL;
	dump_paths_free(w->paths);
	free(w->order);
	free(w);
	return NULL;
}

void show_ways_freep(struct show_ways **w)
{
	*w = show_ways_free(*w);
}

void show_loads(const struct show_ways *w, uint32_t sw, uint32_t ret[256])
{
	const uint8_t *row = routes_row(w->paths->routes, sw);

	for (unsigned i = 0; i < 256; i++)
		ret[i] = 0;
	for (unsigned lid = 1; lid <= w->paths->routes->top; lid++)
		ret[row[lid]] += w->paths->lids[lid].owned;
}

unsigned show_candidates(const struct show_ways *w, uint32_t sw, lid_t lid, uint8_t ret[256])
{
	const struct dump_lid *l = &w->paths->lids[lid];
	const uint8_t *hops = l->sw == TOPO_NONE ? NULL : dump_hops_to(w->paths, l->sw);
	struct dump_turn turns[256];
	unsigned n = 0;

	if (!hops || hops[sw] == HOPS_NONE)
		return 0;
	if (sw == l->sw) {
		ret[0] = l->port;
		return 1;
	}
	dump_turns(w->paths, sw, turns);
	for (unsigned port = 1; port <= w->paths->topo->switches[sw].n_ports; port++)
		if (turns[port].to != TOPO_NONE && hops[turns[port].to] != HOPS_NONE &&
		    hops[turns[port].to] + turns[port].cost == hops[sw])
			ret[n++] = (uint8_t)port;
	return n;
}

/* ---- the document --------------------------------------------------------------------------- */

static void put_load(struct json_object *ports, const struct show *s, const struct dump_port *p,
		     unsigned lids)
{
	struct json_object *o = json_object_new_object(), *peer;

	json_add_int(o, "port", p->num);
	json_add_int(o, "lids", lids);
	if (p->peer != DUMP_NONE) {
		peer = json_object_new_object();
		show_put_end(peer, s, &s->view->ports[p->peer]);
		json_object_object_add(o, "peer", peer);
	}
	json_object_array_add(ports, o);
}

static struct json_object *loads_array(const struct show *s, const struct show_ways *w,
				       const struct dump_node *n, uint32_t sw)
{
	struct json_object *ports = json_object_new_array();
	uint32_t loads[256];

	show_loads(w, sw, loads);
	for (unsigned i = 0; i <= n->n_ports; i++)
		if (loads[i] || show_port(s, n, i)->peer != DUMP_NONE)
			put_load(ports, s, show_port(s, n, i), loads[i]);
	return ports;
}

static struct json_object *route_object(const struct show *s, const struct show_ways *w, uint32_t sw,
					lid_t lid)
{
	struct json_object *o = json_object_new_object(), *array = json_object_new_array();
	uint8_t out = routes_port(w->paths->routes, sw, lid), candidates[256];
	unsigned n = show_candidates(w, sw, lid, candidates);
	unsigned least = dump_least_hops(w->paths, sw, lid), real = dump_real_hops(w->paths, sw, lid);
	uint32_t at = s->by_lid[lid];

	json_add_int(o, "lid", lid);
	if (at != DUMP_NONE) {
		struct json_object *to = json_object_new_object();

		show_put_end(to, s, &s->view->ports[at]);
		json_object_object_add(o, "to", to);
	}
	json_object_object_add(o, "out_port", out == LFT_NO_PORT ? NULL : json_object_new_int(out));
	json_object_object_add(o, "hops", real == HOPS_UNKNOWN ? NULL : json_object_new_int((int)real));
	json_object_object_add(o, "least_hops",
			       least == HOPS_UNKNOWN ? NULL : json_object_new_int((int)least));
	for (unsigned i = 0; i < n; i++)
		json_object_array_add(array, json_object_new_int(candidates[i]));
	json_object_object_add(o, "equal_ports", array);
	return o;
}

static bool find_switch(const struct show *s, const struct dump_node **ret, uint32_t *ret_sw,
			struct control_error *err)
{
	struct show_found f;

	if (!show_find(s, s->word[0], &f, err))
		return false;
	if (f.node->type != IB_NODE_SWITCH) {
		control_fail(err, "InvalidParameter", "'%.64s' is no switch: only switches have forwarding tables",
			     dump_node_name(f.node));
		return false;
	}
	*ret = f.node;
	*ret_sw = topo_find_switch(s->view->routes->topo, f.node->guid);
	if (*ret_sw == TOPO_NONE)
		control_fail(err, "NotReady", "'%.64s' is not routed: it came after the routes were made, or "
			     "is left out (see ports %.64s)", dump_node_name(f.node),
			     dump_node_name(f.node));
	return *ret_sw != TOPO_NONE;
}

/* LIDs to be shown: all that somebody has, or those of one end port. */
static bool find_lids(const struct show *s, lid_t *ret_first, lid_t *ret_last,
		      struct control_error *err)
{
	const struct dump_port *p;
	uint64_t lid;

	*ret_first = 1;
	*ret_last = s->view->routes->top;
	if (!s->word[1][0])
		return true;
	if (!show_find_end(s, s->word[1], &p, err))
		return false;
	if (!p->lid) {
		control_fail(err, "NotFound", "'%.64s' port %u has no LID: nothing is routed there",
			     dump_node_name(show_node_of(s, p)), p->num);
		return false;
	}
	*ret_first = p->lid;
	*ret_last = (lid_t)(p->lid + (1u << p->lmc) - 1);
	if (show_number(s->word[1], LID_MAX_UCAST, &lid))
		*ret_first = *ret_last = (lid_t)lid;
	return true;
}

struct json_object *show_routes(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	_cleanup_(show_ways_freep) struct show_ways *w = NULL;
	struct json_object *ret, *o, *routes;
	const struct dump_node *n;
	lid_t first, last;
	uint32_t sw;

	show_index(s);
	if (!find_switch(s, &n, &sw, err) || !find_lids(s, &first, &last, err))
		return NULL;
	w = show_ways_new(s);
	ret = json_object_new_object();
	o = json_object_new_object();
	show_put_end(o, s, show_port(s, n, 0));
	json_object_object_add(ret, "switch", o);
	json_add_str(ret, "engine", s->view->routes->engine);
	json_object_object_add(ret, "ports", loads_array(s, w, n, sw));
	routes = json_object_new_array();
	for (uint32_t lid = first; lid <= last && lid <= s->view->routes->top; lid++)
		if (w->paths->lids[lid].owned)
			json_object_array_add(routes, route_object(s, w, sw, (lid_t)lid));
	json_object_object_add(ret, "routes", routes);
	return ret;
}
