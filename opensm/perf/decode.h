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

/* What a port is able to do, by ClassPortInfo. */
struct perf_caps {
	bool known;
	uint16_t mask;	/* enum pm_cap */
	uint32_t mask2; /* PM_CAP2_* */
};

/* Data counters of 64 bits. */
static inline bool perf_has_extended(const struct perf_caps *c)
{
	return c->mask & (PM_CAP_EXT_WIDTH | PM_CAP_EXT_WIDTH_NOIETF);
}

/* Errors of 64 bits too: PortCountersExtended has all there is. */
static inline bool perf_has_wide(const struct perf_caps *c)
{
	return perf_has_extended(c) && c->mask2 & PM_CAP2_EXT_ERRORS;
}

/* Of a port that was not asked, XmitWait is taken for a counter, as by the peer. */
static inline bool perf_has_xmit_wait(const struct perf_caps *c)
{
	return !c->known || c->mask & PM_CAP_XMIT_WAIT;
}

/* Where a port wants its queries sent to. */
struct perf_redirection {
	uint16_t lid; /* 0: none */
	uint16_t pkey;
	uint32_t qp, qkey;
	uint8_t sl;
};

struct perf_fec {
	uint64_t corrected;	/* blocks; symbols with RS-FEC */
	uint64_t uncorrectable; /* blocks */
	bool nearly_full;	/* some field is, */
	bool at_end;		/* or shows its greatest value */
};

/* Reasons of PortRcvErrors and of PortXmitDiscards, in the order of their attributes. */
#define PERF_RCV_DETAILS  6
#define PERF_XMIT_DETAILS 4
#define PERF_DETAILS	  (PERF_RCV_DETAILS + PERF_XMIT_DETAILS)

/* Which port a Get of counters is about. */
void perf_encode_get(uint8_t *data, uint8_t port);
/* A Set of PortCounters that zeroes the counters of `select` (perf_nearly_full()). */
void perf_encode_clear(uint8_t *data, uint8_t port, uint32_t select);
/* A Set of PortExtendedSpeedsCounters that zeroes all. */
void perf_encode_clear_fec(uint8_t *data, uint8_t port);
struct perf_caps perf_decode_caps(const uint8_t *data);
/* False: it redirects to a GID, or nowhere. */
bool perf_decode_redirection(const uint8_t *data, struct perf_redirection *ret);
/* Basic counters; `ret_data` has only the four that PortCounters knows. */
void perf_decode_basic(const uint8_t *data, bool xmit_wait, uint64_t ret_errors[PERF_ERRORS],
		       uint64_t ret_data[PERF_DATA]);
void perf_decode_extended(const uint8_t *data, bool with_kinds, uint64_t ret_data[PERF_DATA]);
void perf_decode_wide(const uint8_t *data, bool xmit_wait, uint64_t ret_errors[PERF_ERRORS]);
struct perf_fec perf_decode_fec(const uint8_t *data, bool rs_fec);
/* `n` counters of 16 bits, of either attribute. */
void perf_decode_details(const uint8_t *data, unsigned n, uint16_t *ret);

/* Bits of a `select`. */
uint32_t perf_error_bit(enum perf_error e);
uint32_t perf_data_bit(enum perf_data d); /* of the four of PortCounters */
/*
 * The counters of PortCounters that have come near the end of their fields: it is time to clear
 * these. `extended`: data counters do not matter.
 */
uint32_t perf_nearly_full(const uint64_t errors[PERF_ERRORS], const uint64_t data[PERF_DATA],
			  bool extended);
/* A field of PortCounters at its end: what came after is not known. */
bool perf_error_at_end(enum perf_error e, uint64_t value);
bool perf_data_at_end(uint64_t value);
