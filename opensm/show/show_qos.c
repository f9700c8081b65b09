// SPDX-License-Identifier: BSD-2-Clause
/*
 * Qos: VLs as devices have them, by kind of port: SL2VL, VL arbitration, VLHighLimit, and the share
 * of its cable that each VL gets while all have packets to send.
 *
 * Shares. High-priority entries send up to VLHighLimit x 4096 bytes (0: one packet; 255: without an
 * end) before one packet of a low-priority entry is let in between (7.6.9.2), and within a table
 * bytes go by weight. Packets are taken for 4096 bytes. A VL that no SL takes sends nothing.
 */
#include <stdio.h>

#include "show/show_internal.h"
#include "show/show_lanes.h"

#define LIMIT_NONE 255 /* VLHighLimit: high-priority packets are never made to wait */

/* ---- shares --------------------------------------------------------------------------------- */

struct shares {
	uint32_t high, low; /* weights of the VLs that send */
	double of_high;	    /* share of the cable for the high-priority table */
};

static struct shares shares_of(const struct lanes_group *g)
{
	unsigned taken = lanes_taken(g), limit = MAX(g->high_limit, 1u);
	struct shares s = { 0 };

	for (unsigned vl = 0; vl < MIN(qos_vls(g->vls), (unsigned)QOS_VL_NONE); vl++) {
		if (taken >> vl & 1) {
			s.high += g->high_weight[vl];
			s.low += g->low_weight[vl];
		}
	}
	if (s.high)
		s.of_high = !s.low || limit == LIMIT_NONE ? 1 : limit / (limit + 1.0);
	return s;
}

static double share_of(const struct lanes_group *g, const struct shares *s, unsigned vl)
{
	double share = 0;

	if (qos_vls(g->vls) == 1)
		return 100;
	if (s->high)
		share += s->of_high * g->high_weight[vl] / s->high;
	if (s->low)
		share += (1 - s->of_high) * g->low_weight[vl] / s->low;
	return 100 * share;
}

/* ---- a group -------------------------------------------------------------------------------- */

static void put_sls(struct json_object *o, const struct lanes_group *g, unsigned vl)
{
	struct json_object *sls = json_add_array(o, "sls");

	for (unsigned sl = 0; sl < QOS_SLS; sl++) {
		bool takes = false;

		for (unsigned i = 0; i < g->n_rows; i++)
			takes |= g->vl[i][sl] == vl;
		if (takes)
			json_object_array_add(sls, json_object_new_int((int)sl));
	}
}

static void put_vls(struct json_object *vls, const struct lanes_group *g)
{
	struct shares shares = shares_of(g);
	bool known = (g->low_known || g->high_known || qos_vls(g->vls) == 1) && g->n_rows;
	unsigned taken = lanes_taken(g);

	for (unsigned vl = 0; vl < QOS_VL_NONE; vl++) {
		struct json_object *o;

		if (vl >= qos_vls(g->vls) && !(taken >> vl & 1))
			continue;
		o = json_append_object(vls);
		json_add_int(o, "vl", vl);
		json_add_bool(o, "exists", vl < qos_vls(g->vls));
		put_sls(o, g, vl);
		json_add_known(o, "high", g->high_known, g->high_weight[vl]);
		json_add_known(o, "low", g->low_known, g->low_weight[vl]);
		if (known && vl < qos_vls(g->vls) && taken >> vl & 1)
			show_put_tenths(o, "share", (unsigned)(share_of(g, &shares, vl) * 10 + .5));
	}
}

static void put_rows(struct json_object *rows, const struct lanes_group *g)
{
	for (unsigned i = 0; i < g->n_rows; i++) {
		struct json_object *row = json_object_new_array();

		for (unsigned sl = 0; sl < QOS_SLS; sl++)
			json_object_array_add(row, json_object_new_int(g->vl[i][sl]));
		json_object_array_add(rows, row);
	}
}

static void put_group(struct json_object *o, const struct show *s, const struct lanes_group *g)
{
	json_add_str(o, "kind", lanes_kind_name(g->kind));
	json_add_int(o, "ports", g->n_ports);
	json_add_int(o, "vls", qos_vls(g->vls));
	json_add_int(o, "high_limit", g->high_limit);
	lanes_put_example(o, s, g);
	json_add_bool(o, "known", g->n_rows || g->low_known || g->high_known);
	put_vls(json_add_array(o, "lanes"), g);
	put_rows(json_add_array(o, "sl2vl"), g);
	json_add_bool(o, "more_rows", g->more_rows);
}

/* ---- the document --------------------------------------------------------------------------- */

static void clear_lanes(struct show *s)
{
	struct lanes *l = s->rows;

	free(l->groups);
}

enum control_collected show_qos_collect(void *snapshot, const struct daemon_api *api,
					struct control_error *err)
{
	struct show *s = snapshot;

	if (show_collect(s, api, err) == CONTROL_MORE)
		return CONTROL_MORE;
	s->rows = lanes_new(sm_fabric(api->sm));
	s->clear_rows = clear_lanes;
	return CONTROL_COLLECTED;
}

/* Is the SL, as a partition or policy says it, of this level? */
static bool is_of_level(const struct qos_plan *plan, unsigned sl, unsigned level)
{
	if (plan->lanes->n_levels > 1)
		return plan->level_sl[sl] == sl2vl_level_sl(plan->lanes, level);
	return plan->level_of[sl] == level;
}

static void put_level(struct json_object *o, const struct qos_plan *plan, unsigned level)
{
	unsigned own = sl2vl_own_vls(plan->lanes);
	struct json_object *sls, *vls;

	json_add_int(o, "level", level);
	sls = json_add_array(o, "sls");
	for (unsigned sl = 0; sl < QOS_SLS; sl++)
		if (is_of_level(plan, sl, level))
			json_object_array_add(sls, json_object_new_int((int)sl));
	vls = json_add_array(o, "vls");
	for (unsigned i = 0; i < own; i++)
		json_object_array_add(vls, json_object_new_int((int)(level * own + i)));
}

static void put_plan(struct json_object *o, const struct show *s)
{
	const struct qos_plan *plan = &s->view->qos;
	unsigned n = plan->lanes ? plan->n_levels * MAX(plan->lanes->n_levels, 1u) : 1;
	struct json_object *levels;

	json_add_bool(o, "qos", plan->by_options);
	json_add_str(o, "engine", s->view->routes ? s->view->routes->engine : "none");
	json_add_int(o, "engine_vls", plan->lanes ? plan->lanes->n_vls : 0);
	json_add_str(o, "note", plan->note[0] ? plan->note : NULL);
	levels = json_add_array(o, "levels");
	for (unsigned level = 0; n > 1 && level < n; level++)
		put_level(json_append_object(levels), plan, level);
}

struct json_object *show_qos(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	const struct lanes *l = s->rows;
	struct json_object *ret = json_object_new_object(), *ports;

	put_plan(ret, s);
	ports = json_add_array(ret, "ports");
	for (size_t i = 0; i < l->n_groups; i++)
		put_group(json_append_object(ports), s, &l->groups[i]);
	lanes_put_warnings(json_add_array(ret, "warnings"), s, l);
	json_add_int(ret, "hidden", l->n_others);
	return ret;
}
