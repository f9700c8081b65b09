// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/counters.h"

#include "congestion/want.h"
#include "sm/base/keys.h"

static uint8_t path_sl(const void *sm, lid_t lid)
{
	return sm_path_sl(sm, lid);
}

struct perf_place counters_place(struct sm *sm, mono_t now, int64_t realtime)
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

/* The ring for CC_Keys; where they are removed, devices hold those of the seed known last. */
static const struct key_ring *class_keys(const struct sm *sm)
{
	const struct key_ring *known = keys_known(sm);

	if (keys_are_single(sm))
		return keys_ring(sm);
	if (sm_conf(sm)->cc_key_enable != CC_KEY_NONE || key_ring_is_shared(known))
		return NULL;
	return known;
}

struct cc_place congestion_place(struct sm *sm, mono_t now)
{
	struct cc_place place = { .now = now };

	if (!sm || sm_state(sm) != SM_MASTER)
		return place;
	place.fabric = sm_fabric(sm);
	place.mad = sm_gmp_engine(sm);
	place.conf = sm_conf(sm);
	place.keys = class_keys(sm);
	place.sl_to = path_sl;
	place.sl_arg = sm;
	return place;
}

void congestion_dispatch(struct cc *cc, struct sm *sm, mono_t now)
{
	const struct cc_place place = congestion_place(sm, now);

	cc_dispatch(cc, &place);
}

void congestion_receive(struct cc *cc, struct sm *sm, struct transport_event *ev, mono_t now)
{
	const struct cc_place place = congestion_place(sm, now);

	cc_receive(cc, ev, &place);
}

void congestion_note(struct cc *cc, const struct sm_event *event)
{
	if (event->kind == SM_EVENT_SWEEP_DONE && event->sweep.kind != SWEEP_LIGHT)
		cc_sweep_ended(cc, event->sweep.kind == SWEEP_HEAVY);
}
