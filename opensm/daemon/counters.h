// SPDX-License-Identifier: BSD-2-Clause
/*
 * The performance manager and congestion control beside the subnet manager: the fabric whose
 * counters are read, and whose ports are set up.
 */
#pragma once

#include "congestion/congestion.h"
#include "perf/perf.h"
#include "sm/sm.h"

/*
 * Place of the performance manager; empty unless this manager is MASTER. `sm` NULL: no port is
 * open. `realtime`: seconds since 1970.
 */
struct perf_place counters_place(struct sm *sm, mono_t now, int64_t realtime);
struct cc_place congestion_place(struct sm *sm, mono_t now);
/* Call cc_dispatch() and cc_receive() with congestion_place(). */
void congestion_dispatch(struct cc *cc, struct sm *sm, mono_t now);
void congestion_receive(struct cc *cc, struct sm *sm, struct transport_event *ev, mono_t now);
/* Tells congestion control of an event, if that is the end of a sweep, except a light one. */
void congestion_note(struct cc *cc, const struct sm_event *event);
