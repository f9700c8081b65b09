// SPDX-License-Identifier: BSD-2-Clause
/* Congestion control: how many ports are set up, what that took, and marks. */
#include "metrics/metrics_internal.h"

void metrics_take_congestion(struct metrics *m, const struct daemon_api *api)
{
	if (api->cc)
		cc_status(api->cc, &m->congestion);
}

static void put_ports(struct metrics_text *t, const struct cc_status *st)
{
	static const char *const names[CC_STATES] = {
		[CC_QUEUED] = "waiting",	   [CC_ASKED] = "asked",
		[CC_SETTLED] = "settled",	   [CC_SILENT] = "silent",
		[CC_UNSUPPORTED] = "unsupported",
	};

	metric_family(t, "opensm_congestion_ports", METRIC_GAUGE,
		      "Ports by how far congestion control is set up");
	for (unsigned i = 0; i < CC_STATES; i++)
		metric_labelled(t, "state", names[i], st->ports[i]);
}

void metrics_congestion(const struct metrics *m, struct metrics_text *t)
{
	const struct cc_status *st = &m->congestion;

	metric_gauge(t, "opensm_congestion_control", "Congestion control is on", st->on);
	if (!st->on)
		return;
	put_ports(t, st);
	metric_gauge(t, "opensm_congestion_ports_differing",
		     "Ports that store another setting than they were given, or refuse one",
		     st->rounded + st->refused);
	metric_gauge(t, "opensm_congestion_key_violations",
		     "Wrong CC_Keys that devices have met, as they tell it",
		     (double)st->violations);
	metric_counter(t, "opensm_congestion_gets_total", "Congestion control: Gets",
		       (double)st->n_gets);
	metric_counter(t, "opensm_congestion_sets_total", "Congestion control: Sets",
		       (double)st->n_sets);
	metric_counter(t, "opensm_congestion_timeouts_total",
		       "Of both: without an answer", (double)st->timeouts);
	metric_gauge(t, "opensm_congestion_marks",
		     "Events in congestion logs of switches, since these are read",
		     (double)st->marks);
}
