// SPDX-License-Identifier: BSD-2-Clause
/*
 * Topology and Nodes: the nodes, ports and cables that are known, ordered by GUID.
 */
#include <limits.h>
#include <string.h>

#include "show/show_internal.h"

/* Members behind those of SHOW_NODE_FIELDS; the last ones are port 0 of a switch. */
#define NODE_FIELDS(F)                                                                             \
	F("system_guid", GUID, n->sysimg_guid)                                                     \
	F("vendor_id", INT, n->vendor_id)                                                          \
	F("device_id", INT, n->device_id)                                                          \
	F("revision", INT, n->revision)                                                            \
	F("n_ports", INT, n->n_ports)                                                              \
	F("port_guid", IF(is_switch, GUID), port0->guid)                                           \
	F("lid", IF(is_switch, INT), port0->lid)                                                   \
	F("lmc", IF(is_switch, INT), port0->lmc)                                                   \
	F("enhanced_port0", IF(is_switch, BOOL), view_is_enhanced0(n))                             \
	F("why_not", IF(is_switch &&why, STR), why)

static void put_node(struct json_object *o, const struct show *s, const struct view_node *n)
{
	const struct view_port *port0 = &s->view->ports[n->first_port];
	const char *why = s->why ? s->why[n->first_port] : NULL;
	bool is_switch = n->type == IB_NODE_SWITCH;

	show_put_node(o, s, n);
	FIELDS_PUT(NODE_FIELDS);
}

/* The fastest speed that the port may train at; NULL: PortInfo has none. */
static const char *fastest_enabled(const uint8_t *info, enum ib_speed_set most)
{
	for (size_t row = IB_SPEEDS; row-- > 0;)
		for (enum ib_speed_set set = IB_SPEED_PLAIN; set <= most; set++)
			if (ib_speeds[row].bit[set] & ib_speed_bits(info, set, IB_SPEED_ENABLED))
				return ib_speeds[row].name;
	return NULL;
}

/* Counts by kind; NULL: there are none. */
static struct json_object *violations_of_port(const struct violation_counts *c)
{
	struct json_object *counts = NULL;

	for (unsigned i = 0; c && i < VIOLATION_KINDS; i++) {
		if (!c->n[i])
			continue;
		if (!counts)
			counts = json_object_new_object();
		json_add_int(counts, violation_kind_name(i), (int64_t)c->n[i]);
	}
	return counts;
}

/* FDR10 is QDR coded otherwise; its lanes are sold as 10 Gb/s. */
static unsigned link_tenths(unsigned width, unsigned tenths)
{
	return width * (tenths == IB_SPEED_FDR10 ? IB_SPEED_QDR : tenths);
}

#define LINK_FIELDS(F)                                                                             \
	F("width", IF(is_up, INT), width)                                                          \
	F("speed", IF(is_up, STR), speed ? speed->name : "")                                       \
	F("speed_enabled", IF(is_up, OPT(STR)), fastest_enabled(p->info, most))                    \
	F("lane_gbps", IF(is_up, TENTHS), tenths)                                                  \
	F("gbps", IF(is_up, TENTHS), link_tenths(width, tenths))                                   \
	F("mtu", IF(is_up, INT), ib_mtu_bytes((unsigned)ib_get(p->info, PI_NEIGHBOR_MTU)))         \
	F("mtu_cap", IF(is_up, INT), ib_mtu_bytes(p->mtu_cap))                                     \
	F("vls", IF(is_up, INT), ib_data_vls((unsigned)ib_get(p->info, PI_OPER_VLS)))

#define PORT_FIELDS(F)                                                                             \
	F("port", INT, p->num)                                                                     \
	F("port_guid", IF(is_end, GUID), p->guid)                                                  \
	F("lid", IF(is_end, INT), p->lid)                                                          \
	F("lmc", IF(is_end, INT), p->lmc)                                                          \
	F("state", OPT(STR), p->known ? ib_port_state_row(p->state)->word : NULL)                  \
	F("phys_state", OPT(STR), p->known ? ib_phys_state_row(phys)->word : NULL)                 \
	LINK_FIELDS(F)                                                                             \
	F("peer", IF(p->peer != VIEW_NONE, END), &s->view->ports[p->peer])                         \
	F("why_not", IF(why, STR), why)                                                            \
	F("held_seconds", IF(why && s->held[at], INT), s->held[at])                                \
	F("violations", IF(violations, OF("[string]int")), violations)                             \
	F("was_cabled_to", IF(gone, OBJECT(show_gone_fields)), gone)

static const struct json_field port_fields[] = FIELDS_TABLE(PORT_FIELDS);
const struct json_field show_listed_fields[] = { PORT_FIELDS(FIELD_ROW)
							 SHOW_NODE_FIELDS(FIELD_ROW){ 0 } };

void show_put_port(struct json_object *o, const struct show *s, const struct view_port *p)
{
	enum ib_speed_set most = MAX(view_speed_sets(s->view, p), IB_SPEED_EXTENDED);
	unsigned width = ib_link_width(p->info), tenths = ib_link_speed(p->info, most, p->fdr10);
	const struct ib_speed *speed = ib_speed_of(tenths);
	bool is_end = view_port_is_end(s->view, p), is_up = p->state != IB_PORT_DOWN;
	unsigned phys = (unsigned)ib_get(p->info, PI_PHYS_STATE);
	size_t at = (size_t)(p - s->view->ports);
	const char *why = s->why ? s->why[at] : NULL;
	struct json_object *violations = violations_of_port(show_violations(s, p));
	struct json_object *gone = show_gone_of(s, p);

	FIELDS_PUT(PORT_FIELDS);
}

static struct json_object *ports_of(const struct show *s, const struct view_node *n)
{
	struct json_object *ports = json_object_new_array();

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct view_port *p = show_port(s, n, i);

		if (p->known || n->type == IB_NODE_SWITCH || p->peer != VIEW_NONE)
			show_put_port(json_append_object(ports), s, p);
	}
	return ports;
}

#define WHOLE_FIELDS(F)                                                                            \
	F("rank", IF(rank != UINT_MAX, INT), rank)                                                 \
	F("ports", LIST(port_fields), ports)

static const struct json_field whole_fields[] = { SHOW_NODE_FIELDS(FIELD_ROW) NODE_FIELDS(FIELD_ROW)
							  WHOLE_FIELDS(FIELD_ROW){ 0 } };

/* A node with `ports`, which are consumed; `rank`: of a switch in a vicinity, else UINT_MAX. */
static void put_whole(struct json_object *o, const struct show *s, const struct view_node *n,
		      unsigned rank, struct json_object *ports)
{
	put_node(o, s, n);
	FIELDS_PUT(WHOLE_FIELDS);
}

static void put_near(struct json_object *o, const struct show_vicinity *v,
		     const struct view_node *n)
{
	unsigned rank = v->rank[n - v->s->view->nodes];
	struct json_object *ports = json_object_new_array();

	for (unsigned num = 1; n == v->node && num <= n->n_ports; num++) {
		if (show_vicinity_has(v, n, num))
			show_put_port(json_append_object(ports), v->s, show_port(v->s, n, num));
	}
	put_whole(o, v->s, n, n->type == IB_NODE_SWITCH ? rank : UINT_MAX, ports);
}

static void put_vicinity(struct json_object *nodes, const struct show *s)
{
	_cleanup_(show_vicinity_freep) struct show_vicinity *v = show_vicinity_new(s, s->word[0]);

	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		if (v->shown[i])
			put_near(json_append_object(nodes), v, &s->view->nodes[i]);
	}
}

static void put_all(struct json_object *nodes, const struct show *s)
{
	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		const struct view_node *n = &s->view->nodes[i];

		put_whole(json_append_object(nodes), s, n, UINT_MAX, ports_of(s, n));
	}
}

#define TOPOLOGY_FIELDS(F)                                                                         \
	F("own", END, &s->view->ports[s->view->sm_port])                                           \
	F("nodes", LIST(whole_fields), nodes)

const struct json_field show_topology_fields[] = FIELDS_TABLE(TOPOLOGY_FIELDS);

struct json_object *show_topology(void *snapshot, struct control_error *err)
{
	const struct show *s = snapshot;
	struct json_object *nodes = json_object_new_array();

	if (s->word[0][0])
		put_vicinity(nodes, s);
	else
		put_all(nodes, s);
	return FIELDS_NEW(TOPOLOGY_FIELDS);
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

#define COUNT_FIELDS(F)                                                                            \
	F("lids", OF("[]int"), lids)                                                               \
	F("ports_active", INT, active)                                                             \
	F("ports_cabled", INT, cabled)

static const struct json_field node_fields[] = { SHOW_NODE_FIELDS(FIELD_ROW) NODE_FIELDS(FIELD_ROW)
							 COUNT_FIELDS(FIELD_ROW){ 0 } };

static void put_counts(struct json_object *o, const struct show *s, const struct view_node *n)
{
	struct json_object *lids = json_object_new_array();
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
	FIELDS_PUT(COUNT_FIELDS);
}

#define NODES_FIELDS(F) F("nodes", LIST(node_fields), nodes)

const struct json_field show_nodes_fields[] = FIELDS_TABLE(NODES_FIELDS);

static bool is_type(const char *word)
{
	return !word[0] || !strcmp(word, "switch") || !strcmp(word, "ca") ||
	       !strcmp(word, "router");
}

struct json_object *show_nodes(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	struct json_object *nodes;

	if (!is_type(s->word[1]))
		return control_fail(err, "InvalidParameter",
				    "'%.40s' is no type of node; expected switch, ca or router",
				    s->word[1]);
	nodes = json_object_new_array();
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
		return FIELDS_NEW(NODES_FIELDS);
	json_object_put(nodes);
	return control_fail(err, "NotFound",
			    "no node answers to '%.100s'; expected a name, a GUID (0x...) or a LID",
			    s->word[0]);
}
