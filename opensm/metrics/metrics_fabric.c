// SPDX-License-Identifier: BSD-2-Clause
/*
 * Families of the view: ports by state, links by speed and width, and port by port in the names of
 * infiniband_exporter, whose dashboards then work: its labels, its GUIDs (of switches the node's,
 * of hosts the port's), its uplinks.
 */
#include <stdio.h>
#include <string.h>

#include "conf/lists/lists.h"
#include "ib/attrs.h"
#include "metrics/metrics_internal.h"
#include "util/mem.h"

static const struct ib_speed *speed_of(const struct view *v, const struct view_port *p)
{
	return p->known ? ib_speed_of(ib_link_speed(p->info, view_speed_sets(v, p), false)) : NULL;
}

static const struct ib_width *width_of(const struct view_port *p)
{
	return p->known ? ib_width_of(ib_link_width(p->info)) : NULL;
}

/* A link is a cable that is up. Port 0 of a switch has none. */
static bool is_linked(const struct view_port *p)
{
	return p->peer != VIEW_NONE && p->state > IB_PORT_DOWN;
}

/* ---- in numbers ----------------------------------------------------------------------------- */

static void render_states(const struct view *v, struct metrics_text *t)
{
	unsigned n[IB_PORT_ACTIVE + 1] = { 0 };

	for (uint32_t i = 0; i < v->n_ports; i++) {
		const struct view_port *p = &v->ports[i];

		if (p->num && p->state <= IB_PORT_ACTIVE)
			n[p->state]++;
	}
	metric_family(t, "opensm_ports", METRIC_GAUGE, "External ports of known nodes, by state");
	for (unsigned s = IB_PORT_DOWN; s <= IB_PORT_ACTIVE; s++) {
		metric_labelled(t, "state", ib_port_state_name(s), n[s]);
	}
}

static void render_links(const struct view *v, struct metrics_text *t)
{
	unsigned n[IB_SPEEDS][IB_WIDTHS] = { 0 };

	for (uint32_t i = 0; i < v->n_ports; i++) {
		const struct view_port *p = &v->ports[i];
		const struct ib_speed *s = speed_of(v, p);
		const struct ib_width *w = width_of(p);

		if (is_linked(p) && i < p->peer && s && w)
			n[s - ib_speeds][w - ib_widths]++;
	}
	metric_family(t, "opensm_links", METRIC_GAUGE, "Links that are up, by speed and width");
	for (size_t s = 0; s < IB_SPEEDS; s++) {
		for (size_t w = 0; w < IB_WIDTHS; w++) {
			if (!n[s][w])
				continue;
			metric_sample(t, "");
			metric_label(t, "speed", ib_speeds[s].name);
			metric_label(t, "width", ib_widths[w].name);
			metric_count(t, n[s][w]);
		}
	}
}

static void render_lids(const struct view *v, struct metrics_text *t)
{
	unsigned n = 0;

	for (unsigned lid = 1; lid <= LID_MAX_UCAST; lid++)
		n += v->by_lid[lid] != VIEW_NONE;
	metric_gauge(t, "opensm_lids_used", "Unicast LIDs in use", n);
	metric_gauge(t, "opensm_lids_max", "Unicast LIDs in all", LID_MAX_UCAST);
}

/* ---- port by port --------------------------------------------------------------------------- */

static guid_t guid_of(const struct view *v, const struct view_port *p)
{
	return view_is_switch(v, p) ? v->nodes[p->node].guid : p->guid;
}

static unsigned lid_of(const struct view *v, const struct view_port *p)
{
	return v->ports[view_end_port(v, (uint32_t)(p - v->ports))].lid;
}

static void render_info(const struct metrics *m, struct metrics_text *t, bool switches)
{
	const struct view *v = m->view;

	metric_family(t, switches ? "infiniband_switch_info" : "infiniband_hca_info", METRIC_GAUGE,
		      switches ? "Switches" : "Ports of hosts");
	for (uint32_t i = 0; i < v->n_ports; i++) {
		const struct view_port *p = &v->ports[i];

		if (view_is_switch(v, p) != switches || !view_port_is_end(v, p) || !guid_of(v, p))
			continue;
		metric_sample(t, "");
		metric_label_guid(t, "guid", guid_of(v, p));
		metric_label(t, switches ? "switch" : "hca", view_node_name(v, &v->nodes[p->node]));
		metric_label_number(t, "lid", lid_of(v, p));
		metric_count(t, 1);
	}
}

static void render_uplink(const struct view *v, struct metrics_text *t, const struct view_port *p)
{
	const struct view_port *far = &v->ports[p->peer];

	metric_sample(t, "");
	metric_label_guid(t, "guid", guid_of(v, p));
	metric_label_number(t, "port", p->num);
	metric_label(t, view_is_switch(v, p) ? "switch" : "hca",
		     view_node_name(v, &v->nodes[p->node]));
	metric_label(t, "uplink", view_node_name(v, &v->nodes[far->node]));
	metric_label_guid(t, "uplink_guid", guid_of(v, far));
	metric_label(t, "uplink_type", view_is_switch(v, far) ? "SW" : "CA");
	metric_label_number(t, "uplink_port", far->num);
	metric_label_number(t, "uplink_lid", lid_of(v, far));
	metric_count(t, 1);
}

static void render_uplinks(const struct metrics *m, struct metrics_text *t, bool switches)
{
	const struct view *v = m->view;

	metric_family(t, switches ? "infiniband_switch_uplink_info" : "infiniband_hca_uplink_info",
		      METRIC_GAUGE, "What is at the other end of the cable");
	for (uint32_t i = 0; i < v->n_ports; i++) {
		const struct view_port *p = &v->ports[i];

		if (view_is_switch(v, p) == switches && is_linked(p) && guid_of(v, p))
			render_uplink(v, t, p);
	}
}

static void render_rates(const struct metrics *m, struct metrics_text *t, bool switches, bool raw)
{
	static const char *const names[2][2] = {
		{ "infiniband_hca_rate_bytes_per_second",
		  "infiniband_hca_raw_rate_bytes_per_second" },
		{ "infiniband_switch_port_rate_bytes_per_second",
		  "infiniband_switch_port_raw_rate_bytes_per_second" },
	};
	const struct view *v = m->view;

	metric_family(t, names[switches][raw], METRIC_GAUGE,
		      raw ? "Rate of the link with its encoding" : "Rate of the link");
	for (uint32_t i = 0; i < v->n_ports; i++) {
		const struct view_port *p = &v->ports[i];
		const struct ib_speed *s = speed_of(v, p);
		const struct ib_width *w = width_of(p);

		if (view_is_switch(v, p) != switches || !is_linked(p) || !guid_of(v, p) || !s || !w)
			continue;
		metric_sample(t, "");
		metric_label_guid(t, "guid", guid_of(v, p));
		if (switches)
			metric_label_number(t, "port", p->num);
		metric_value(t, (raw ? s->raw : s->data) * w->lanes * 1e6 / 8);
	}
}

void metrics_fabric(const struct metrics *m, struct metrics_text *t)
{
	render_states(m->view, t);
	render_links(m->view, t);
	render_lids(m->view, t);
}

static unsigned active_ports(const struct view *v, const struct view_node *n)
{
	unsigned active = 0;

	for (unsigned i = 1; i <= n->n_ports; i++)
		active += v->ports[n->first_port + i].state == IB_PORT_ACTIVE;
	return active;
}

void metrics_switch_ports(const struct metrics *m, struct metrics_text *t)
{
	const struct view *v = m->view;

	metric_family(t, "opensm_switch_active_ports", METRIC_GAUGE,
		      "External ports of a switch that are active");
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct view_node *n = &v->nodes[i];

		if (n->type != IB_NODE_SWITCH || !n->guid)
			continue;
		metric_sample(t, "");
		metric_label_guid(t, "guid", n->guid);
		metric_count(t, active_ports(v, n));
	}
}

void metrics_switches(const struct metrics *m, struct metrics_text *t)
{
	render_info(m, t, true);
}

void metrics_hosts(const struct metrics *m, struct metrics_text *t)
{
	render_info(m, t, false);
}

void metrics_cables(const struct metrics *m, struct metrics_text *t)
{
	for (unsigned switches = 0; switches < 2; switches++) {
		render_uplinks(m, t, switches);
		render_rates(m, t, switches, false);
		render_rates(m, t, switches, true);
	}
}
