// SPDX-License-Identifier: BSD-2-Clause
/* Links that are not in order, and links that are out of service. */
#include "metrics/metrics_internal.h"
#include "sm/out_of_use/out_of_use.h"

void metrics_take_links(struct metrics *m, const struct sm *sm)
{
	struct mark_shown s;

	for (enum sick_state i = 0; i < SICK_STATES; i++)
		m->n_sick[i] = sm_sick_links(sm, i);
	for (unsigned i = 0; sm_mark_at(sm, i, &s); i++)
		m->n_marks[s.mark->kind][s.state]++;
	m->n_returning = sm_state(sm) == SM_MASTER ? out_of_use_returning(sm) : 0;
}

static void put_marks(const struct metrics *m, struct metrics_text *t)
{
	for (enum mark_kind k = 0; k < MARK_KINDS; k++) {
		for (enum mark_state s = 0; s < MARK_STATES; s++) {
			metric_sample(t, "");
			metric_label(t, "kind", mark_kind_name(k));
			metric_label(t, "state", sm_mark_state_name(s));
			metric_count(t, m->n_marks[k][s]);
		}
	}
}

void metrics_links(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_links_marked", METRIC_GAUGE,
		      "Links and switches taken out of service by an administrator, by how far "
		      "that is (opensmctl marks)");
	put_marks(m, t);
	metric_gauge(t, "opensm_links_returning",
		     "Links that were isolated, and train before they are routed over again",
		     m->n_returning);
	metric_family(t, "opensm_links_unhealthy", METRIC_GAUGE,
		      "Links with findings (opensmctl health), by what is done about them");
	for (enum sick_state s = SICK_REPORTED; s < SICK_STATES; s++)
		metric_labelled(t, "state", sm_sick_state_name(s), m->n_sick[s]);
}
