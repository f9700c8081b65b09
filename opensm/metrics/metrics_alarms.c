// SPDX-License-Identifier: BSD-2-Clause
/* Families of alarms: how many there are of each kind, and a series for each of the severest. */
#include <stdio.h>

#include "metrics/metrics_internal.h"
#include "sm/alarms/alarms.h"
#include "util/mem.h"

/* Labels of one alarm; kinds that are left out of the series are counted all the same. */
struct metrics_alarm {
	enum alarm_kind kind;
	struct alarm_end at;
	char object[ALARM_OBJECT_STRLEN];
};

void metrics_take_alarms(struct metrics *m, struct sm *sm)
{
	const struct alarm *a;
	size_t cap = 0;

	if (!(m->groups & METRICS_BIT(METRICS_ALARMS)))
		return;
	for (unsigned i = 0; (a = sm_alarm_at(sm, i)); i++) {
		m->n_alarms_of[a->kind]++;
		m->n_alarms_listed++;
		if (m->n_alarms == METRIC_ALARMS)
			continue;
		GROW(m->alarms, m->n_alarms + 1, cap);
		m->alarms[m->n_alarms] = (struct metrics_alarm){ .kind = a->kind, .at = a->at };
		snprintf(m->alarms[m->n_alarms++].object, ALARM_OBJECT_STRLEN, "%s", a->object);
	}
	for (enum alarm_class c = 0; c < ALARM_CLASSES; c++)
		m->n_alarms_in_all += sm_alarms(sm, c);
}

static void label_kind(struct metrics_text *t, enum alarm_kind kind)
{
	metric_sample(t, "");
	metric_label(t, "class", alarm_class_name(alarm_rows[kind].class));
	metric_label(t, "kind", alarm_rows[kind].name);
}

static void put_alarm(struct metrics_text *t, const struct metrics_alarm *a)
{
	label_kind(t, a->kind);
	metric_label(t, "object", a->object);
	if (a->at.node)
		metric_label_guid(t, "node_guid", a->at.node);
	if (a->at.node && a->at.port)
		metric_label_number(t, "port", a->at.port);
	metric_count(t, 1);
}

void metrics_alarms(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_alarms", METRIC_GAUGE,
		      "Alarms by class and kind (opensmctl alarms): fault, something is not "
		      "served; degraded, served worse than it could be; planned, taken out by an "
		      "administrator");
	for (enum alarm_kind k = 0; k < ALARM_KINDS; k++) {
		if (alarm_rows[k].class == ALARM_NO_ALARM)
			continue;
		label_kind(t, k);
		metric_count(t, m->n_alarms_of[k]);
	}
	metric_gauge(t, "opensm_alarms_not_listed",
		     "Alarms that are not among those by kind: there are too many",
		     m->n_alarms_in_all - MIN(m->n_alarms_in_all, m->n_alarms_listed));
	metric_family(t, "opensm_alarm_info", METRIC_GAUGE,
		      "1 for each alarm, the 1000 severest ones at most");
	for (size_t i = 0; i < m->n_alarms; i++)
		put_alarm(t, &m->alarms[i]);
}
