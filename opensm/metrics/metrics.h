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

#include "api/daemon_api.h"
#include "metrics/metrics_tally.h"

struct metrics;

/* Takes a snapshot, never NULL. `per_port`: with samples for each port of the fabric. */
struct metrics *metrics_take(const struct daemon_api *api, const struct metrics_tally *tally,
			     bool per_port);
/* The text, freed by the caller. */
char *metrics_render(const struct metrics *m, bool openmetrics, size_t *ret_len);
struct metrics *metrics_free(struct metrics *m);
