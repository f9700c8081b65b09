// SPDX-License-Identifier: BSD-2-Clause
/* The performance manager beside the subnet manager: the fabric whose counters are read. */
#pragma once

#include "perf/perf.h"
#include "sm/sm.h"

/* None while we are not MASTER. `sm` NULL: no port is open. `realtime`: seconds since 1970. */
struct perf_place counters_place(struct sm *sm, mono_t now, int64_t realtime);
