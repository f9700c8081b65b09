// SPDX-License-Identifier: BSD-2-Clause
/*
 * PerfMgt attributes (IBA 16.1), through libibmad. Its header and ours use the same names for other
 * things: this one needs neither. `data` is what follows the first 64 bytes of the MAD, 192 bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "perf/kinds.h"

#define PERF_DATA_OFFSET 64

enum perf_attr {
	PERF_CLASS_PORT_INFO = 0x0001,
	PERF_PORT_COUNTERS = 0x0012,
	PERF_PORT_COUNTERS_EXT = 0x001D,
};

/* CapabilityMask of PerfMgt's ClassPortInfo (16.1.3.1). */
enum perf_cap {
	PERF_CAP_EXT_WIDTH = 0x0200,
	PERF_CAP_EXT_WIDTH_NOIETF = 0x0400, /* without unicast and multicast counters */
	PERF_CAP_XMIT_WAIT = 0x1000,
};

/* Where a port wants its queries sent to. */
struct perf_redirection {
	uint16_t lid; /* 0: none */
	uint16_t pkey;
	uint32_t qp, qkey;
	uint8_t sl;
};

/* Which port a Get of counters is about. */
void perf_encode_get(uint8_t *data, uint8_t port);
/* A Set of PortCounters that zeroes all it counts. */
void perf_encode_clear(uint8_t *data, uint8_t port);
uint16_t perf_decode_caps(const uint8_t *data);
/* False: it redirects to a GID, or nowhere. */
bool perf_decode_redirection(const uint8_t *data, struct perf_redirection *ret);
/* Basic counters; `ret_data` has only the four that PortCounters knows. */
void perf_decode_basic(const uint8_t *data, bool xmit_wait, uint64_t ret_errors[PERF_ERRORS],
		       uint64_t ret_data[PERF_DATA]);
void perf_decode_extended(const uint8_t *data, bool with_kinds, uint64_t ret_data[PERF_DATA]);
/*
 * Some counter has come near the end of its field: it is time to clear them. `extended`: data
 * counters do not matter.
 */
bool perf_nearly_full(const uint64_t errors[PERF_ERRORS], const uint64_t data[PERF_DATA],
		      bool extended);
