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

/* SLs that some row maps to a VL, a bit each. */
static unsigned sls_of(const struct lanes_group *g, unsigned vl)
{
	unsigned sls = 0;

	for (unsigned i = 0; i < g->n_rows; i++)
		for (unsigned sl = 0; sl < QOS_SLS; sl++)
			if (g->vl[i][sl] == vl)
				sls |= 1u << sl;
	return sls;
}

#define LANE_FIELDS(F)                                                                             \
	F("vl", INT, vl)                                                                           \
	F("exists", BOOL, exists)                                                                  \
	F("sls", OF("[]int"), lanes_bits(sls_of(g, vl)))                                           \
	F("high", KNOWN, g->high_known, g->high_weight[vl])                                        \
	F("low", KNOWN, g->low_known, g->low_weight[vl])                                           \
	F("share", IF(is_known &&exists &&taken >> vl & 1, TENTHS),                                \
	  (unsigned)(share_of(g, &shares, vl) * 10 + .5))

static const struct json_field lane_fields[] = FIELDS_TABLE(LANE_FIELDS);

static struct json_object *lanes_of(const struct lanes_group *g)
{
	struct json_object *lanes = json_object_new_array();
	struct shares shares = shares_of(g);
	bool is_known = (g->low_known || g->high_known || qos_vls(g->vls) == 1) && g->n_rows;
	unsigned taken = lanes_taken(g);

	for (unsigned vl = 0; vl < QOS_VL_NONE; vl++) {
		bool exists = vl < qos_vls(g->vls);

		if (exists || taken >> vl & 1)
			json_object_array_add(lanes, FIELDS_NEW(LANE_FIELDS));
	}
	return lanes;
}

static struct json_object *row_of(const uint8_t vl[QOS_SLS])
{
	return JSON_LIST(QOS_SLS, json_object_new_int(vl[i]));
}

#define GROUP_FIELDS(F)                                                                            \
	F("kind", STR, lanes_kind_name(g->kind))                                                   \
	F("ports", INT, g->n_ports)                                                                \
	F("vls", INT, qos_vls(g->vls))                                                             \
	F("high_limit", INT, g->high_limit)                                                        \
	LANES_EXAMPLE_FIELDS(F)                                                                    \
	F("known", BOOL, g->n_rows || g->low_known || g->high_known)                               \
	F("lanes", LIST(lane_fields), lanes_of(g))                                                 \
	F("sl2vl", OF("[][]int"), JSON_LIST(g->n_rows, row_of(g->vl[i])))                          \
	F("more_rows", BOOL, g->more_rows)

static const struct json_field group_fields[] = FIELDS_TABLE(GROUP_FIELDS);

static struct json_object *group_of(const struct show *s, const struct lanes_group *g)
{
	const struct view_port *example = lanes_example(s, g);

	return FIELDS_NEW(GROUP_FIELDS);
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

static unsigned sls_of_level(const struct qos_plan *plan, unsigned level)
{
	unsigned sls = 0;

	for (unsigned sl = 0; sl < QOS_SLS; sl++)
		if (is_of_level(plan, sl, level))
			sls |= 1u << sl;
	return sls;
}

#define LEVEL_FIELDS(F)                                                                            \
	F("level", INT, level)                                                                     \
	F("sls", OF("[]int"), lanes_bits(sls_of_level(plan, level)))                               \
	F("vls", OF("[]int"), JSON_LIST(own, json_object_new_int((int)(level * own + i))))

static const struct json_field level_fields[] = FIELDS_TABLE(LEVEL_FIELDS);

static struct json_object *level_of(const struct qos_plan *plan, unsigned level)
{
	unsigned own = sl2vl_own_vls(plan->lanes);

	return FIELDS_NEW(LEVEL_FIELDS);
}

#define QOS_FIELDS(F)                                                                              \
	F("qos", BOOL, plan->by_options)                                                           \
	F("engine", STR, s->view->routes ? s->view->routes->engine : "none")                       \
	F("engine_vls", INT, plan->lanes ? plan->lanes->n_vls : 0)                                 \
	F("note", TEXT, plan->note)                                                                \
	F("levels", LIST(level_fields), JSON_LIST(n_levels, level_of(plan, i)))                    \
	F("ports", LIST(group_fields), JSON_LIST(l->n_groups, group_of(s, &l->groups[i])))         \
	F("warnings", LIST(lanes_warning_fields), lanes_warnings(s, l))                            \
	F("hidden", INT, l->n_others)

const struct json_field show_qos_fields[] = FIELDS_TABLE(QOS_FIELDS);

struct json_object *show_qos(void *snapshot, struct control_error *err)
{
	const struct show *s = snapshot;
	const struct lanes *l = s->rows;
	const struct qos_plan *plan = &s->view->qos;
	unsigned n = plan->lanes ? plan->n_levels * MAX(plan->lanes->n_levels, 1u) : 1;
	unsigned n_levels = n > 1 ? n : 0; /* a single one is not shown */

	return FIELDS_NEW(QOS_FIELDS);
}
