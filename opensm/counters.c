// SPDX-License-Identifier: BSD-2-Clause
/* What perf/ may not ask sm/ itself, it is told here. */
#include "counters.h"

static uint8_t path_sl(const void *sm, lid_t lid)
{
	return sm_path_sl(sm, lid);
}

static struct perf_place place_of(struct sm *sm, mono_t now, int64_t realtime)
{
	struct perf_place place = { .now = now, .realtime = realtime };

	if (!sm || sm_state(sm) != SM_MASTER)
		return place;
	place.fabric = sm_fabric(sm);
	place.mad = sm_gmp_engine(sm);
	place.names = conf_files_names(sm_files(sm));
	place.sl_to = path_sl;
	place.sl_arg = sm;
	return place;
}

void counters_dispatch(struct perf *p, struct sm *sm, mono_t now, int64_t realtime)
{
	const struct perf_place place = place_of(sm, now, realtime);

	perf_dispatch(p, &place);
}

void counters_receive(struct perf *p, struct sm *sm, struct transport_event *ev, mono_t now,
		      int64_t realtime)
{
	const struct perf_place place = place_of(sm, now, realtime);

	perf_receive(p, ev, &place);
}
