// SPDX-License-Identifier: BSD-2-Clause
/* Families of the fabric as far as they are known without a view. */
#include "metrics/metrics_internal.h"

/* Writes metrics that only a master has. */
static void render_whole(const struct metrics *m, struct metrics_text *t)
{
	if (m->state != SM_MASTER)
		return;
	metric_gauge(t, "opensm_seconds_since_whole",
		     "How long the subnet has not been as it should be: a sweep with errors, a "
		     "silent node, a port that is not active, a change not served; 0: it is",
		     (double)MAX(m->whole_age, m->unserved.age) / MONO_S);
}

void metrics_subnet(const struct metrics *m, struct metrics_text *t)
{
	metric_gauge(t, "opensm_priority", "Its priority, 0 to 15", m->priority);
	metric_family(t, "opensm_nodes", METRIC_GAUGE, "Nodes that are known");
	for (unsigned type = IB_NODE_CA; type <= IB_NODE_ROUTER; type++) {
		metric_labelled(t, "type", ib_node_row(type)->word, m->nodes[type]);
	}
	metric_gauge(t, "opensm_own_port_answers",
		     "The port of the subnet manager itself answers; 0: no sweep is possible",
		     m->own_answers);
	metric_gauge(t, "opensm_oldest_unserved_change_seconds",
		     "Age of the oldest change that no sweep has served; 0: none",
		     (double)m->unserved.age / MONO_S);
	metric_gauge(t, "opensm_convergence_stuck",
		     "That change is older than is usual on a fabric of this size, and nothing "
		     "moves",
		     m->unserved.stuck);
	render_whole(m, t);
	metric_gauge(t, "opensm_silent_nodes", "Nodes that do not answer", m->stats.silent_nodes);
	metric_gauge(t, "opensm_ports_pending", "Ports that should be active and are not",
		     m->stats.ports_pending);
	metric_family(t, "opensm_ports_left_out", METRIC_GAUGE,
		      "Ports that are not served as they should be, by reason: kinds of alarms");
	for (enum alarm_kind k = 0; k < ALARM_KINDS; k++)
		if (m->reasons[k])
			metric_labelled(t, "reason", alarm_rows[k].name, m->reasons[k]);
	metric_gauge(t, "opensm_partitions", "Partitions in force", m->n_partitions);
	metric_family(t, "opensm_foreign_sms", METRIC_GAUGE,
		      "Other subnet managers, by whether they are believed");
	metric_labelled(t, "trusted", "true", m->managers.trusted);
	metric_sample(t, "");
	metric_label(t, "trusted", "false");
	metric_count(t, m->managers.others);
}
