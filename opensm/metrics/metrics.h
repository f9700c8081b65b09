// SPDX-License-Identifier: BSD-2-Clause
/*
 * Metrics of the manager and of the fabric, in the names of opensm_* and, where they
 * mean the same, of infiniband_exporter.
 *
 *   metrics_take()     main thread: numbers are copied, the view of the SA is held on to; short
 *   metrics_render()   any thread: the text; work that grows with the fabric is done here
 *   metrics_free()     main thread
 */
#pragma once

#include <stdio.h>

#include "api/daemon_api.h"
#include "conf/metrics_groups.h"
#include "metrics/metrics_tally.h"

struct metrics;

/* Takes a snapshot, never NULL. `groups`: of enum metrics_group, a bit each. */
struct metrics *metrics_take(const struct daemon_api *api, const struct metrics_tally *tally,
			     uint32_t groups);
/* Writes the text. */
void metrics_render(const struct metrics *m, bool openmetrics, FILE *out);
struct metrics *metrics_free(struct metrics *m);
