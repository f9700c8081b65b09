// SPDX-License-Identifier: BSD-2-Clause
/* Rails and planes of the fabric; without rails there is no sample. */
#include "metrics/metrics_internal.h"

#include <string.h>

void metrics_take_rails(struct metrics *m, const struct sm *sm)
{
	const struct rails *r = sm_rails(sm);

	if (!r)
		return;
	m->rails.n = r->n;
	m->rails.planes = r->planes;
	m->rails.wrong = r->wrong;
	m->rails.crossing = r->crossing;
	memcpy(m->rails.of, r->of, sizeof(m->rails.of));
}

void metrics_rails(const struct metrics *m, struct metrics_text *t)
{
	if (!m->rails.n)
		return;
	metric_gauge(t, "opensm_rails", "Rails that hosts have adapters on (opensmctl status)",
		     m->rails.n);
	metric_gauge(t, "opensm_rail_planes", "Groups of rails that share spines",
		     m->rails.planes);
	metric_family(t, "opensm_rail_end_ports", METRIC_GAUGE, "End ports of each rail");
	for (unsigned i = 0; i < m->rails.n; i++) {
		metric_sample(t, "");
		metric_label_number(t, "number", i);
		metric_label(t, "rail", m->rails.of[i].name);
		metric_count(t, m->rails.of[i].ports);
	}
	metric_gauge(t, "opensm_rail_wrong_end_ports", "End ports on a leaf of another rail",
		     m->rails.wrong);
	metric_gauge(t, "opensm_rail_wrong_cables",
		     "Cables from a leaf to a spine of another plane", m->rails.crossing);
}
