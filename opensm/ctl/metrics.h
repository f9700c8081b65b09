// SPDX-License-Identifier: BSD-2-Clause
/*
 * Metrics: what the manager did and what the fabric is, in the names of opensm_* and, where they mean the same,
 * of infiniband_exporter.
 *
 *   metrics_take()     main thread: numbers are copied, the view of the SA is held on to; short
 *   metrics_render()   any thread: the text; what grows with the fabric is done here
 *   metrics_free()     main thread
 */
#pragma once

#include "ctl/metrics_tally.h"
#include "ctl/scene.h"

struct metrics;

/* Never NULL. `per_port`: with a sample for each port of the fabric. */
struct metrics *metrics_take(const struct scene *scene, const struct metrics_tally *tally,
			     bool per_port);
/* The text, freed by the caller. */
char *metrics_render(const struct metrics *m, bool openmetrics, size_t *ret_len);
struct metrics *metrics_free(struct metrics *m);
