// SPDX-License-Identifier: BSD-2-Clause
/* Counters as the performance manager would have them of all ports with a cable. */
#pragma once

#include <string.h>

#include "metrics/metrics_internal.h"

static inline void metrics_counted(struct metrics *m, const struct fabric *f)
{
	struct perf_port ports[256];
	uint64_t drawn = 88172645463325252u;

	FABRIC_EACH_NODE(f, n) {
		const struct perf_node counted = { .n_ports = n->n_ports, .ports = ports };

		memset(ports, 0, sizeof(ports));
		for (unsigned i = 1; i <= n->n_ports && i < ARRAY_SIZE(ports); i++) {
			ports[i].valid = n->ports[i].peer != NULL;
			ports[i].extended = true;
			ports[i].errors[PERF_XMIT_WAIT] = drawn >> 40;
			for (unsigned d = 0; d < PERF_DATA; d++) {
				drawn ^= drawn << 13;
				drawn ^= drawn >> 7;
				drawn ^= drawn << 17;
				ports[i].data[d] = drawn >> 20;
			}
		}
		metrics_take_node(m, n, &counted);
	}
}
