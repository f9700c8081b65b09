// SPDX-License-Identifier: BSD-2-Clause
/*
 * Topology and Nodes: what is known of the fabric, ordered by GUID.
 */
#include <string.h>

#include "ctl/show.h"
#include "util/guidmap.h"

static struct json_object *node_object(const struct show *s, const struct dump_node *n)
{
	struct json_object *o = json_object_new_object();
	const struct dump_port *port0 = show_port(s, n, 0);

	show_put_node(o, n);
	json_add_guid(o, "system_guid", n->sysimg_guid);
	json_add_int(o, "vendor_id", n->vendor_id);
	json_add_int(o, "device_id", n->device_id);
	json_add_int(o, "revision", n->revision);
	json_add_int(o, "n_ports", n->n_ports);
	if (n->type != IB_NODE_SWITCH)
		return o;
	json_add_guid(o, "port_guid", port0->guid);
	json_add_int(o, "lid", port0->lid);
	json_add_int(o, "lmc", port0->lmc);
	json_add_bool(o, "enhanced_port0", n->is_enhanced);
	if (s->why && s->why[n->first_port])
		json_add_str(o, "why_not", s->why[n->first_port]);
	return o;
}

static void put_peer(struct json_object *o, const struct show *s, const struct dump_port *p)
{
	struct json_object *peer;

	if (p->peer == DUMP_NONE)
		return;
	peer = json_object_new_object();
	show_put_end(peer, s, &s->view->ports[p->peer]);
	json_object_object_add(o, "peer", peer);
}

static void put_link(struct json_object *o, const struct dump_port *p)
{
	if (p->state == IB_PORT_DOWN)
		return;
	json_add_int(o, "width", p->width);
	json_add_str(o, "speed", show_speed_name(p->speed));
	show_put_tenths(o, "lane_gbps", p->speed);
	/* FDR10 is QDR coded otherwise; its lanes are sold as 10 Gb/s. */
	show_put_tenths(o, "gbps", p->width * (p->speed == 103 ? 100u : p->speed));
	json_add_int(o, "mtu", ib_mtu_bytes(p->mtu));
	json_add_int(o, "mtu_cap", ib_mtu_bytes(p->mtu_cap));
	json_add_int(o, "vls", p->vls ? 1 << (p->vls < 5 ? p->vls - 1 : 3) : 0);
}

struct json_object *show_port_object(const struct show *s, const struct dump_port *p)
{
	struct json_object *o = json_object_new_object();
	const char *why = s->why ? s->why[p - s->view->ports] : NULL;

	json_add_int(o, "port", p->num);
	if (show_is_end(s, p)) {
		json_add_guid(o, "port_guid", p->guid);
		json_add_int(o, "lid", p->lid);
		json_add_int(o, "lmc", p->lmc);
	}
	json_add_str(o, "state", p->known ? show_state_name(p->state) : NULL);
	json_add_str(o, "phys_state", p->known ? show_phys_name(p->phys) : NULL);
	put_link(o, p);
	put_peer(o, s, p);
	if (why)
		json_add_str(o, "why_not", why);
	show_put_gone(o, s, p);
	return o;
}

static void put_ports(struct json_object *o, const struct show *s, const struct dump_node *n)
{
	struct json_object *ports = json_object_new_array();

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct dump_port *p = show_port(s, n, i);

		if (p->known || n->type == IB_NODE_SWITCH || p->peer != DUMP_NONE)
			json_object_array_add(ports, show_port_object(s, p));
	}
	json_object_object_add(o, "ports", ports);
}

static struct json_object *own_object(const struct show *s)
{
	struct json_object *o = json_object_new_object();

	show_put_end(o, s, &s->view->ports[s->own_port]);
	return o;
}

struct json_object *show_topology(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	struct json_object *ret = json_object_new_object(), *nodes = json_object_new_array();

	show_index(s);
	json_object_object_add(ret, "own", own_object(s));
	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		const struct dump_node *n = &s->view->nodes[s->order[i]];
		struct json_object *o = node_object(s, n);

		put_ports(o, s, n);
		json_object_array_add(nodes, o);
	}
	json_object_object_add(ret, "nodes", nodes);
	return ret;
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

static void put_counts(struct json_object *o, const struct show *s, const struct dump_node *n)
{
	unsigned active = 0, cabled = 0;
	struct json_object *lids = json_object_new_array();

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct dump_port *p = show_port(s, n, i);

		active += p->state == IB_PORT_ACTIVE;
		cabled += p->peer != DUMP_NONE;
		if (p->lid && n->type != IB_NODE_SWITCH)
			json_object_array_add(lids, json_object_new_int(p->lid));
	}
	if (n->type == IB_NODE_SWITCH && show_port(s, n, 0)->lid)
		json_object_array_add(lids, json_object_new_int(show_port(s, n, 0)->lid));
	json_object_object_add(o, "lids", lids);
	json_add_int(o, "ports_active", active);
	json_add_int(o, "ports_cabled", cabled);
}

static bool is_type(const char *word)
{
	return !word[0] || !strcmp(word, "switch") || !strcmp(word, "ca") || !strcmp(word, "router");
}

struct json_object *show_nodes(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	struct json_object *ret, *nodes;

	if (!is_type(s->word[1])) {
		control_fail(err, "InvalidParameter", "'%.40s' is no type of node; expected switch, ca or router",
			     s->word[1]);
		return NULL;
	}
	show_index(s);
	nodes = json_object_new_array();
	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		const struct dump_node *n = &s->view->nodes[s->order[i]];
		struct json_object *o;

		if (!show_node_matches(s, n, s->word[0]) ||
		    (s->word[1][0] && strcmp(s->word[1], show_type_name(n->type)) != 0))
			continue;
		o = node_object(s, n);
		put_counts(o, s, n);
		json_object_array_add(nodes, o);
	}
	if (s->word[0][0] && !json_object_array_length(nodes)) {
		json_object_put(nodes);
		control_fail(err, "NotFound", "no node answers to '%.100s'; expected a name, a GUID (0x...) or a LID",
			     s->word[0]);
		return NULL;
	}
	ret = json_object_new_object();
	json_object_object_add(ret, "nodes", nodes);
	return ret;
}
