// SPDX-License-Identifier: BSD-2-Clause
/*
 * PerfMgt attributes (IBA 16.1, ib/pm.h) as counters. `data` is what follows the first 64 bytes of
 * the MAD, 192 bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "perf/kinds.h"

#define PERF_DATA_OFFSET 64

/* The abilities of a port, from ClassPortInfo. */
struct perf_caps {
	bool known;
	uint16_t mask;	/* enum pm_cap */
	uint32_t mask2; /* PM_CAP2_* */
};

/* Has the port data counters of 64 bits? */
static inline bool perf_has_extended(const struct perf_caps *c)
{
	return c->mask & (PM_CAP_EXT_WIDTH | PM_CAP_EXT_WIDTH_NOIETF);
}

/* Has the port error counters of 64 bits, too, so that PortCountersExtended has everything? */
static inline bool perf_has_wide(const struct perf_caps *c)
{
	return perf_has_extended(c) && c->mask2 & PM_CAP2_EXT_ERRORS;
}

/* Has the port XmitWait? A port that was not asked is assumed to have it. */
static inline bool perf_has_xmit_wait(const struct perf_caps *c)
{
	return !c->known || c->mask & PM_CAP_XMIT_WAIT;
}

/* The address that a port redirects its queries to. */
struct perf_redirection {
	uint16_t lid; /* 0: no redirection */
	uint16_t pkey;
	uint32_t qp, qkey;
	uint8_t sl;
};

struct perf_fec {
	uint64_t corrected;	/* blocks; symbols with RS-FEC */
	uint64_t uncorrectable; /* blocks */
	bool nearly_full;	/* set if some field is nearly full */
	bool at_end;		/* set if some field shows its greatest value */
};

/* Numbers of the details of PortRcvErrors and PortXmitDiscards, in attribute order. */
#define PERF_RCV_DETAILS  6
#define PERF_XMIT_DETAILS 4
#define PERF_DETAILS	  (PERF_RCV_DETAILS + PERF_XMIT_DETAILS)

/* Writes the port number for a Get of counters. */
void perf_encode_get(uint8_t *data, uint8_t port);
/* A Set of PortCounters that zeroes the counters of `select` (perf_nearly_full()). */
void perf_encode_clear(uint8_t *data, uint8_t port, uint32_t select);
/* A Set of PortExtendedSpeedsCounters that zeroes all. */
void perf_encode_clear_fec(uint8_t *data, uint8_t port);
struct perf_caps perf_decode_caps(const uint8_t *data);
/* Reads the redirection. False: to a GID, or nowhere. */
bool perf_decode_redirection(const uint8_t *data, struct perf_redirection *ret);
/* Reads PortCounters; `ret_data`: only the four counters that it has. */
void perf_decode_basic(const uint8_t *data, bool xmit_wait, uint64_t ret_errors[PERF_ERRORS],
		       uint64_t ret_data[PERF_DATA]);
void perf_decode_extended(const uint8_t *data, bool with_kinds, uint64_t ret_data[PERF_DATA]);
void perf_decode_wide(const uint8_t *data, bool xmit_wait, uint64_t ret_errors[PERF_ERRORS]);
struct perf_fec perf_decode_fec(const uint8_t *data, bool rs_fec);
/* Reads `n` counters of 16 bits of either attribute. */
void perf_decode_details(const uint8_t *data, unsigned n, uint16_t *ret);

/* Bits of a `select` of PortCounters. */
uint32_t perf_error_bit(enum perf_error e);
uint32_t perf_data_bit(enum perf_data d); /* for the four counters of PortCounters */
/*
 * The counters of PortCounters, as bits, that are nearly full and should be cleared. `extended`:
 * data counters do not matter.
 */
uint32_t perf_nearly_full(const uint64_t errors[PERF_ERRORS], const uint64_t data[PERF_DATA],
			  bool extended);
/* Is the field of PortCounters at its greatest value, so that later events are lost? */
bool perf_error_at_end(enum perf_error e, uint64_t value);
bool perf_data_at_end(uint64_t value);
