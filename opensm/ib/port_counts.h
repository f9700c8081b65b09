// SPDX-License-Identifier: BSD-2-Clause
/*
 * Growth of the counters of one port between two readings (IBA 16.1), as reported by the
 * performance manager and judged as the health of a link.
 *
 * A counter that was cleared or wrapped between the readings has no bit in `known` for this
 * interval; a counter that the port does not have never has one. So neither is read as a growth of
 * 0.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum port_count {
	PORT_COUNT_SYMBOL_ERRORS,
	PORT_COUNT_LINK_RECOVERIES,
	PORT_COUNT_LINK_DOWNED,
	PORT_COUNT_RCV_ERRORS,
	PORT_COUNT_RCV_REMOTE_PHYSICAL,
	PORT_COUNT_XMIT_DISCARDS,
	PORT_COUNT_XMIT_WAIT, /* ticks of the port with data to send and no credit */
	PORT_COUNT_XMIT_DATA, /* units of 4 octets */
	PORT_COUNT_RCV_DATA,
	PORT_COUNT_XMIT_PKTS,
	PORT_COUNT_RCV_PKTS,
	PORT_COUNT_FEC_CORRECTED,     /* blocks, or symbols with RS-FEC */
	PORT_COUNT_FEC_UNCORRECTABLE, /* blocks */
	PORT_COUNTS
};

struct port_counts {
	uint32_t known;	      /* bit n: grown[n] is valid */
	/* bit n: the counter stands at its maximum, and grown[n] is a lower bound */
	uint32_t saturated;
	uint32_t wide;	      /* bit n: the counter has 64 bits (PortCountersExtended) */
	/* set if another program cleared some counter since the last reading */
	bool reset;
	uint64_t interval_us; /* between the two readings, > 0 */
	uint64_t grown[PORT_COUNTS];
};

static inline bool port_count_known(const struct port_counts *c, enum port_count n)
{
	return c->known & 1U << n;
}
