// SPDX-License-Identifier: BSD-2-Clause
/*
 * Topology and Nodes: the nodes, ports and cables that are known, ordered by GUID.
 */
#include <limits.h>
#include <string.h>

#include "show/show_internal.h"

static void put_node(struct json_object *o, const struct show *s, const struct view_node *n)
{
	const struct view_port *port0 = &s->view->ports[n->first_port];

	show_put_node(o, s, n);
	json_add_guid(o, "system_guid", n->sysimg_guid);
	json_add_int(o, "vendor_id", n->vendor_id);
	json_add_int(o, "device_id", n->device_id);
	json_add_int(o, "revision", n->revision);
	json_add_int(o, "n_ports", n->n_ports);
	if (n->type != IB_NODE_SWITCH)
		return;
	json_add_guid(o, "port_guid", port0->guid);
	json_add_int(o, "lid", port0->lid);
	json_add_int(o, "lmc", port0->lmc);
	json_add_bool(o, "enhanced_port0", view_is_enhanced0(n));
	if (s->why && s->why[n->first_port])
		json_add_str(o, "why_not", s->why[n->first_port]);
}

/* The fastest speed that the port may train at; NULL: PortInfo has none. */
static const char *fastest_enabled(const uint8_t *info, enum ib_speed_set most)
{
	for (size_t row = IB_SPEEDS; row-- > 0;)
		for (enum ib_speed_set set = IB_SPEED_PLAIN; set <= most; set++)
			if (ib_speeds[row].bit[set] &
			    ib_speed_bits(info, set, IB_SPEED_ENABLED))
				return ib_speeds[row].name;
	return NULL;
}

static void put_link(struct json_object *o, const struct view *v, const struct view_port *p)
{
	enum ib_speed_set most = MAX(view_speed_sets(v, p), IB_SPEED_EXTENDED);
	unsigned width = ib_link_width(p->info), tenths = ib_link_speed(p->info, most, p->fdr10);
	const struct ib_speed *speed = ib_speed_of(tenths);

	if (p->state == IB_PORT_DOWN)
		return;
	json_add_int(o, "width", width);
	json_add_str(o, "speed", speed ? speed->name : "");
	json_add_str(o, "speed_enabled", fastest_enabled(p->info, most));
	show_put_tenths(o, "lane_gbps", tenths);
	/* FDR10 is QDR coded otherwise; its lanes are sold as 10 Gb/s. */
	show_put_tenths(o, "gbps", width * (tenths == IB_SPEED_FDR10 ? IB_SPEED_QDR : tenths));
	json_add_int(o, "mtu", ib_mtu_bytes((unsigned)ib_get(p->info, PI_NEIGHBOR_MTU)));
	json_add_int(o, "mtu_cap", ib_mtu_bytes(p->mtu_cap));
	json_add_int(o, "vls", ib_data_vls((unsigned)ib_get(p->info, PI_OPER_VLS)));
}

static void put_violations(struct json_object *o, const struct violation_counts *c)
{
	struct json_object *counts = NULL;

	for (unsigned i = 0; i < VIOLATION_KINDS; i++) {
		if (!c->n[i])
			continue;
		if (!counts)
			counts = json_add_object(o, "violations");
		json_add_int(counts, violation_kind_name(i), (int64_t)c->n[i]);
	}
}

void show_put_port(struct json_object *o, const struct show *s, const struct view_port *p)
{
	const char *why = s->why ? s->why[p - s->view->ports] : NULL;

	json_add_int(o, "port", p->num);
	if (view_port_is_end(s->view, p)) {
		json_add_guid(o, "port_guid", p->guid);
		json_add_int(o, "lid", p->lid);
		json_add_int(o, "lmc", p->lmc);
	}
	json_add_str(o, "state", p->known ? ib_port_state_row(p->state)->word : NULL);
	json_add_str(o, "phys_state",
		     p->known ? ib_phys_state_row((unsigned)ib_get(p->info, PI_PHYS_STATE))->word
			      : NULL);
	put_link(o, s->view, p);
	if (p->peer != VIEW_NONE)
		show_add_end(o, "peer", s, &s->view->ports[p->peer]);
	if (why)
		json_add_str(o, "why_not", why);
	if (why && s->held[p - s->view->ports])
		json_add_int(o, "held_seconds", s->held[p - s->view->ports]);
	if (show_violations(s, p))
		put_violations(o, show_violations(s, p));
	show_put_gone(o, s, p);
}

static void put_ports(struct json_object *ports, const struct show *s, const struct view_node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct view_port *p = show_port(s, n, i);

		if (p->known || n->type == IB_NODE_SWITCH || p->peer != VIEW_NONE)
			show_put_port(json_append_object(ports), s, p);
	}
}

static void put_near(struct json_object *o, const struct show_vicinity *v,
		     const struct view_node *n)
{
	unsigned rank = v->rank[n - v->s->view->nodes];
	struct json_object *ports;

	put_node(o, v->s, n);
	if (n->type == IB_NODE_SWITCH && rank != UINT_MAX)
		json_add_int(o, "rank", rank);
	ports = json_add_array(o, "ports");
	for (unsigned num = 1; n == v->node && num <= n->n_ports; num++) {
		if (show_vicinity_has(v, n, num))
			show_put_port(json_append_object(ports), v->s, show_port(v->s, n, num));
	}
}

static void put_vicinity(struct json_object *nodes, const struct show *s)
{
	_cleanup_(show_vicinity_freep) struct show_vicinity *v = show_vicinity_new(s, s->word[0]);

	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		if (v->shown[i])
			put_near(json_append_object(nodes), v, &s->view->nodes[i]);
	}
}

struct json_object *show_topology(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	struct json_object *ret = json_object_new_object(), *nodes;

	show_add_end(ret, "own", s, &s->view->ports[s->view->sm_port]);
	nodes = json_add_array(ret, "nodes");
	if (s->word[0][0]) {
		put_vicinity(nodes, s);
		return ret;
	}
	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		struct json_object *o = json_append_object(nodes);

		put_node(o, s, &s->view->nodes[i]);
		put_ports(json_add_array(o, "ports"), s, &s->view->nodes[i]);
	}
	return ret;
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

static void put_counts(struct json_object *o, const struct show *s, const struct view_node *n)
{
	struct json_object *lids = json_add_array(o, "lids");
	unsigned active = 0, cabled = 0;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct view_port *p = show_port(s, n, i);

		active += p->state == IB_PORT_ACTIVE;
		cabled += p->peer != VIEW_NONE;
		if (p->lid && n->type != IB_NODE_SWITCH)
			json_object_array_add(lids, json_object_new_int(p->lid));
	}
	if (n->type == IB_NODE_SWITCH && show_port(s, n, 0)->lid)
		json_object_array_add(lids, json_object_new_int(show_port(s, n, 0)->lid));
	json_add_int(o, "ports_active", active);
	json_add_int(o, "ports_cabled", cabled);
}

static bool is_type(const char *word)
{
	return !word[0] || !strcmp(word, "switch") || !strcmp(word, "ca") ||
	       !strcmp(word, "router");
}

struct json_object *show_nodes(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	struct json_object *ret, *nodes;

	if (!is_type(s->word[1]))
		return control_fail(err, "InvalidParameter",
				    "'%.40s' is no type of node; expected switch, ca or router",
				    s->word[1]);
	ret = json_object_new_object();
	nodes = json_add_array(ret, "nodes");
	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		const struct view_node *n = &s->view->nodes[i];
		struct json_object *o;

		if (!show_node_matches(s, n, s->word[0]) ||
		    (s->word[1][0] && strcmp(s->word[1], ib_node_row(n->type)->word) != 0))
			continue;
		o = json_append_object(nodes);
		put_node(o, s, n);
		put_counts(o, s, n);
	}
	if (!s->word[0][0] || json_object_array_length(nodes))
		return ret;
	json_object_put(ret);
	return control_fail(err, "NotFound",
			    "no node answers to '%.100s'; expected a name, a GUID (0x...) or a LID",
			    s->word[0]);
}
