// SPDX-License-Identifier: BSD-2-Clause
/* Families of sweeps, of the routes that they wrote, and of patches of these routes. */
#include <stdio.h>

#include "metrics/metrics_internal.h"
#include "util/mem.h"

static void render_durations(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_sweep_duration_seconds", METRIC_HISTOGRAM, "How long sweeps took");
	for (unsigned k = SWEEP_LIGHT; k < SWEEP_KINDS; k++) {
		const struct metrics_sweep *s = &m->tally.sweeps[k];
		uint64_t below = 0;

		for (unsigned i = 0; i <= METRIC_BUCKETS; i++) {
			char le[20] = "+Inf";

			below += s->bucket[i];
			if (i < METRIC_BUCKETS)
				snprintf(le, sizeof(le), "%g", metric_bucket_ms[i] / 1000.0);
			metric_sample(t, "_bucket");
			metric_label(t, "kind", sweep_kind_name(k));
			metric_label(t, "le", le);
			metric_count(t, below);
		}
		metric_sample(t, "_sum");
		metric_label(t, "kind", sweep_kind_name(k));
		metric_value(t, (double)s->ms / 1000);
		metric_sample(t, "_count");
		metric_label(t, "kind", sweep_kind_name(k));
		metric_count(t, s->ended);
	}
}

/* A sample for each kind of sweep: the uint64_t at `offset` of struct metrics_sweep. */
static void render_by_kind(const struct metrics *m, struct metrics_text *t, const char *name,
			   enum metric_type type, const char *help, size_t offset)
{
	metric_family(t, name, type, help);
	for (unsigned k = SWEEP_LIGHT; k < SWEEP_KINDS; k++) {
		const char *at = (const char *)&m->tally.sweeps[k] + offset;

		metric_labelled(t, "kind", sweep_kind_name(k), *(const uint64_t *)at);
	}
}

static void render_differences(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_table_differences_total", METRIC_COUNTER,
		      "Blocks of tables of devices that were found changed by another, by table");
	for (unsigned i = 0; i < SM_TABLES; i++) {
		uint16_t attr = i == SM_TABLE_LFT ? IB_ATTR_LFT : port_tables[i].attr;

		metric_labelled(t, "table", ib_attr_name(attr), m->stats.tables_changed[i]);
	}
}

void metrics_sweeps(const struct metrics *m, struct metrics_text *t)
{
	render_by_kind(m, t, "opensm_sweeps_total", METRIC_COUNTER, "Sweeps that ended",
		       offsetof(struct metrics_sweep, ended));
	render_by_kind(m, t, "opensm_sweeps_with_errors_total", METRIC_COUNTER,
		       "Sweeps in which a node did not answer or refused a Set",
		       offsetof(struct metrics_sweep, failed));
	render_by_kind(m, t, "opensm_last_sweep_timestamp_seconds", METRIC_GAUGE,
		       "When the last one ended; 0: none has",
		       offsetof(struct metrics_sweep, last));
	render_durations(m, t);
	metric_gauge(t, "opensm_last_sweep_errors",
		     "Errors of the last sweep that set up the subnet", m->stats.last_errors);
	render_differences(m, t);
	metric_counter(t, "opensm_state_changes_total", "Changes of its state",
		       (double)m->tally.state_changes);
	metric_family(t, "opensm_node_changes_total", METRIC_COUNTER, "Nodes that came or went");
	metric_labelled(t, "change", "came", m->tally.nodes_came);
	metric_sample(t, "");
	metric_label(t, "change", "went");
	metric_count(t, m->tally.nodes_went);
	metric_family(t, "opensm_link_changes_total", METRIC_COUNTER,
		      "Links that came up or went down");
	metric_labelled(t, "change", "up", m->tally.links_up);
	metric_sample(t, "");
	metric_label(t, "change", "down");
	metric_count(t, m->tally.links_down);
}

static void render_deaths(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_routing_died_total", METRIC_COUNTER,
		      "Computations of a routing engine that crashed, hung, or returned invalid "
		      "tables, by cause");
	for (unsigned i = 0; i < m->n_deaths; i++) {
		metric_sample(t, "");
		metric_label(t, "engine", m->deaths[i].engine);
		metric_label(t, "cause", m->deaths[i].cause);
		metric_count(t, m->deaths[i].n);
	}
}

static void render_patch_durations(const struct metrics_patches *p, struct metrics_text *t)
{
	uint64_t below = 0;

	metric_family(
		t, "opensm_patch_seconds", METRIC_HISTOGRAM,
		"From the news that cables were lost to the last table that leads around them");
	for (unsigned i = 0; i <= METRIC_PATCH_BUCKETS; i++) {
		char le[20] = "+Inf";

		below += p->bucket[i];
		if (i < METRIC_PATCH_BUCKETS)
			snprintf(le, sizeof(le), "%g", metric_patch_bucket_us[i] / 1e6);
		metric_sample(t, "_bucket");
		metric_label(t, "le", le);
		metric_count(t, below);
	}
	metric_sample(t, "_sum");
	metric_value(t, (double)p->us / 1e6);
	metric_sample(t, "_count");
	metric_count(t, p->n);
}

static void render_patches(const struct metrics *m, struct metrics_text *t)
{
	const struct metrics_patches *p = &m->tally.patches;

	metric_counter(t, "opensm_patches_total",
		       "Patches of the routes around cables that were lost", (double)p->n);
	metric_counter(t, "opensm_patch_cables_total", "Cables that these patches lead around",
		       (double)p->cables);
	render_patch_durations(p, t);
	metric_family(t, "opensm_patch_destinations_total", METRIC_COUNTER,
		      "Table entries that led into lost cables, by their new way; waiting: none "
		      "was found until routes were computed");
	for (unsigned how = 0; how < PATCH_HOWS; how++)
		metric_labelled(t, "how", patch_how_name(how), p->destinations[how]);
	metric_counter(t, "opensm_patch_groups_total",
		       "Multicast groups whose trees were joined again", (double)p->groups);
	metric_counter(t, "opensm_patch_branches_waiting_total",
		       "Branches of multicast trees that waited for new trees",
		       (double)p->branches_waiting);
}

void metrics_routing(const struct metrics *m, struct metrics_text *t)
{
	render_deaths(m, t);
	metric_gauge(t, "opensm_routing_has_process",
		     "1: routes are computed in a process of their own; 0: none could be started, "
		     "tables in force stay",
		     m->routing_has_process);
	metric_counter(t, "opensm_routings_total", "Routes that were computed and written",
		       (double)m->tally.routings);
	metric_gauge(t, "opensm_routing_seconds", "How long the last computation of routes took",
		     m->tally.routing_ms / 1000.0);
	metric_gauge(t, "opensm_routing_unreachable_pairs",
		     "Pairs of end ports that the routes in force leave without a path",
		     m->tally.unreachable);
	metric_gauge(t, "opensm_routing_lanes",
		     "VLs that the routes in force need to be free of deadlock", m->tally.lanes);
	metric_counter(t, "opensm_table_blocks_written_total",
		       "Blocks of forwarding tables that were written",
		       (double)m->tally.table_blocks);
	render_patches(m, t);
	metric_family(t, "opensm_routing_info", METRIC_GAUGE,
		      "Engine that made the routes in force");
	if (!m->tally.engine[0])
		return;
	metric_labelled(t, "engine", m->tally.engine, 1);
}
