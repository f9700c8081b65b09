// SPDX-License-Identifier: BSD-2-Clause
/* The fabric beside the one that was meant; without an expected topology there is no sample. */
#include "metrics/metrics_internal.h"

void metrics_take_topology(struct metrics *m, const struct sm *sm)
{
	struct sm_expected e;

	sm_expected(sm, &e);
	m->expected.is_wanted = e.path;
	m->expected.in_force = e.in_force && !e.refused;
	m->expected.compared = e.drift;
	m->expected.cables = e.cables;
	m->expected.held = e.held;
	m->expected.spared = e.spared;
	for (unsigned i = 0; e.drift && i < EXPECT_KINDS; i++)
		m->expected.n[i] = e.drift->of_kind[i];
}

void metrics_topology(const struct metrics *m, struct metrics_text *t)
{
	if (!m->expected.is_wanted)
		return;
	metric_gauge(t, "opensm_expected_topology_in_force",
		     "1: the file of the expected topology is used, 0: it was refused, or faulty",
		     m->expected.in_force);
	metric_gauge(t, "opensm_expected_cables", "Cables of the expected topology",
		     m->expected.cables);
	metric_family(t, "opensm_unexpected_links", METRIC_GAUGE,
		      "Links that enforce means: held in INIT, or in use as the last way");
	metric_labelled(t, "state", "held", m->expected.held);
	metric_labelled(t, "state", "spared", m->expected.spared);
	if (!m->expected.compared)
		return;
	metric_family(t, "opensm_topology_findings", METRIC_GAUGE,
		      "Differences from the expected topology, by cause (opensmctl topology diff)");
	for (unsigned i = 0; i < EXPECT_KINDS; i++)
		metric_worded(t, "cause", expect_kind_name(i), m->expected.n[i]);
}
