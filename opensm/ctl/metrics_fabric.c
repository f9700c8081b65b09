// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the view shows: ports by state, links by speed and width, and port by port in the names of
 * infiniband_exporter, whose dashboards then work: its labels, its GUIDs (of switches the node's, of hosts the
 * port's), its uplinks.
 */
#include <stdio.h>
#include <string.h>

#include "conf/files.h"
#include "conf/lists.h"
#include "ctl/metrics_private.h"
#include "ib/attrs.h"
#include "util/mem.h"

/* Per lane, in Mb/s: what is signalled, and what is left of it for data. */
static const struct speed {
	unsigned tenths; /* as ib_link_speed() */
	const char *name;
	double raw, data;
} speeds[] = {
	{ 25, "SDR", 2500, 2000 },
	{ 50, "DDR", 5000, 4000 },
	{ 100, "QDR", 10000, 8000 },
	{ 103, "FDR10", 10312.5, 10000 },
	{ 140, "FDR", 14062.5, 13636.363636 },
	{ 250, "EDR", 25781.25, 25000 },
	{ 500, "HDR", 53125, 50000 },
	{ 1000, "NDR", 106250, 100000 },
	{ 2000, "XDR", 212500, 200000 },
};
static const unsigned widths[] = { 1, 2, 4, 8, 12 };

static uint32_t cap_mask_of(const struct view *v, const struct view_port *p)
{
	const struct view_port *speaker =
		view_is_switch(v, p) ? &v->ports[v->nodes[p->node].first_port] : p;

	return speaker->known ? (uint32_t)ib_get(speaker->info, PI_CAP_MASK) : 0;
}

static const struct speed *speed_of(const struct view *v, const struct view_port *p)
{
	unsigned tenths = p->known ? ib_link_speed(p->info, cap_mask_of(v, p), false) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++) {
		if (speeds[i].tenths == tenths)
			return &speeds[i];
	}
	return NULL;
}

static unsigned width_at(const struct view_port *p)
{
	unsigned lanes = p->known ? ib_link_width(p->info) : 0;

	for (unsigned i = 0; i < ARRAY_SIZE(widths); i++) {
		if (widths[i] == lanes)
			return i;
	}
	return ARRAY_SIZE(widths);
}

/* With a cable, and up: what a link is. Port 0 of a switch has none. */
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
		metric_sample(t, "");
		metric_label(t, "state", ib_port_state_name(s));
		metric_count(t, n[s]);
	}
}

static void render_links(const struct view *v, struct metrics_text *t)
{
	unsigned n[ARRAY_SIZE(speeds)][ARRAY_SIZE(widths)] = { 0 };

	for (uint32_t i = 0; i < v->n_ports; i++) {
		const struct view_port *p = &v->ports[i];
		const struct speed *s = speed_of(v, p);
		unsigned w = width_at(p);

		if (is_linked(p) && i < p->peer && s && w < ARRAY_SIZE(widths))
			n[s - speeds][w]++;
	}
	metric_family(t, "opensm_links", METRIC_GAUGE, "Links that are up, by speed and width");
	for (size_t s = 0; s < ARRAY_SIZE(speeds); s++) {
		for (size_t w = 0; w < ARRAY_SIZE(widths); w++) {
			char width[8];

			if (!n[s][w])
				continue;
			snprintf(width, sizeof(width), "%ux", widths[w]);
			metric_sample(t, "");
			metric_label(t, "speed", speeds[s].name);
			metric_label(t, "width", width);
			metric_count(t, n[s][w]);
		}
	}
}

static void render_lids(const struct view *v, struct metrics_text *t)
{
	unsigned n = 0;

	for (unsigned lid = 1; lid <= LID_MAX_UCAST; lid++)
		n += v->by_lid[lid] != VIEW_NONE;
	metric_one(t, "opensm_lids_used", METRIC_GAUGE, "Unicast LIDs that somebody has", n);
	metric_one(t, "opensm_lids_max", METRIC_GAUGE, "Unicast LIDs that there are",
		   LID_MAX_UCAST);
}

/* ---- port by port --------------------------------------------------------------------------- */

static const char *name_of(const struct metrics *m, const struct view_node *n)
{
	const char *mapped = m->files ? conf_names_find(conf_files_names(m->files), n->guid) : NULL;

	return mapped ? mapped : n->desc;
}

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
		metric_label(t, switches ? "switch" : "hca", name_of(m, &v->nodes[p->node]));
		metric_label_number(t, "lid", lid_of(v, p));
		metric_count(t, 1);
	}
}

static void render_uplink(const struct metrics *m, struct metrics_text *t,
			  const struct view_port *p)
{
	const struct view *v = m->view;
	const struct view_port *far = &v->ports[p->peer];

	metric_sample(t, "");
	metric_label_guid(t, "guid", guid_of(v, p));
	metric_label_number(t, "port", p->num);
	metric_label(t, view_is_switch(v, p) ? "switch" : "hca", name_of(m, &v->nodes[p->node]));
	metric_label(t, "uplink", name_of(m, &v->nodes[far->node]));
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
			render_uplink(m, t, p);
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
		const struct speed *s = speed_of(v, p);
		unsigned w = width_at(p);

		if (view_is_switch(v, p) != switches || !is_linked(p) || !guid_of(v, p) || !s ||
		    w == ARRAY_SIZE(widths))
			continue;
		metric_sample(t, "");
		metric_label_guid(t, "guid", guid_of(v, p));
		if (switches)
			metric_label_number(t, "port", p->num);
		metric_value(t, (raw ? s->raw : s->data) * widths[w] * 1e6 / 8);
	}
}

void metrics_fabric(const struct metrics *m, struct metrics_text *t)
{
	render_states(m->view, t);
	render_links(m->view, t);
	render_lids(m->view, t);
	if (!m->per_port)
		return;
	metric_instance(t, NULL);
	for (unsigned switches = 0; switches < 2; switches++) {
		render_info(m, t, switches);
		render_uplinks(m, t, switches);
		render_rates(m, t, switches, false);
		render_rates(m, t, switches, true);
	}
}
