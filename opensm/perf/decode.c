// SPDX-License-Identifier: BSD-2-Clause
/* PerfMgt attributes: one row per counter names its fields. */
#include "perf/decode.h"

#include <assert.h>
#include <string.h>

#include "ib/records.h"
#include "util/mem.h"

#define LID_LAST	   0xBFFF
#define BASIC_DATA	   PERF_UNICAST_XMIT_PKTS /* the first that PortCounters does not have */
#define BASIC_BITS	   32
/* Bits of CounterSelect: errors up to VL15Dropped, data; then CounterSelect2 (16.1.3.5). */
#define SELECT_DATA	   12
#define SELECT2		   16
#define FEC_BITS	   32

struct row {
	uint16_t basic, width, extended;
};
#define ROW(NAME, text, pc, pcx) { pc, pc##_W, pcx },
static const struct row error_rows[PERF_ERRORS] = { PERF_ERROR_LIST(ROW) };
static const struct row data_rows[PERF_DATA] = { PERF_DATA_LIST(ROW) };
#undef ROW

_Static_assert(PERF_XMIT_WAIT == SELECT_DATA, "the only one of CounterSelect2 comes last");

void perf_encode_get(uint8_t *data, uint8_t port)
{
	ib_put(data, PC_PORT_SELECT, port);
}

void perf_encode_clear(uint8_t *data, uint8_t port, uint32_t select)
{
	ib_put(data, PC_PORT_SELECT, port);
	ib_put(data, PC_COUNTER_SELECT, select);
	ib_put(data, PC_COUNTER_SELECT2, select >> SELECT2);
}

void perf_encode_clear_fec(uint8_t *data, uint8_t port)
{
	ib_put(data, PES_PORT_SELECT, port);
	ib_put(data, PES_COUNTER_SELECT, UINT64_MAX);
}

struct perf_caps perf_decode_caps(const uint8_t *data)
{
	return (struct perf_caps){
		.known = true,
		.mask = (uint16_t)ib_get(data, CPI_CAP_MASK),
		.mask2 = (uint32_t)ib_get(data, CPI_CAP_MASK2),
	};
}

bool perf_decode_redirection(const uint8_t *data, struct perf_redirection *ret)
{
	struct perf_redirection to = {
		.lid = (uint16_t)ib_get(data, CPI_REDIRECT_LID),
		.qp = (uint32_t)ib_get(data, CPI_REDIRECT_QP),
		.qkey = (uint32_t)ib_get(data, CPI_REDIRECT_QKEY),
		.pkey = (uint16_t)ib_get(data, CPI_REDIRECT_PKEY),
		.sl = (uint8_t)ib_get(data, CPI_REDIRECT_SL),
	};

	if (!to.lid || to.lid > LID_LAST || !to.qp)
		return false;
	*ret = to;
	return true;
}

void perf_decode_basic(const uint8_t *data, bool xmit_wait, uint64_t ret_errors[PERF_ERRORS],
		       uint64_t ret_data[PERF_DATA])
{
	for (unsigned i = 0; i < PERF_ERRORS; i++)
		ret_errors[i] = ib_bits_get(data, error_rows[i].basic, error_rows[i].width);
	if (!xmit_wait)
		ret_errors[PERF_XMIT_WAIT] = 0; /* the field is not a counter here */
	memset(ret_data, 0, PERF_DATA * sizeof(*ret_data));
	for (unsigned i = 0; i < BASIC_DATA; i++)
		ret_data[i] = ib_bits_get(data, data_rows[i].basic, data_rows[i].width);
}

void perf_decode_extended(const uint8_t *data, bool with_kinds, uint64_t ret_data[PERF_DATA])
{
	memset(ret_data, 0, PERF_DATA * sizeof(*ret_data));
	for (unsigned i = 0; i < PERF_DATA; i++)
		if (with_kinds || i < BASIC_DATA)
			ret_data[i] = ib_bits_get(data, data_rows[i].extended, 64);
}

void perf_decode_wide(const uint8_t *data, bool xmit_wait, uint64_t ret_errors[PERF_ERRORS])
{
	for (unsigned i = 0; i < PERF_ERRORS; i++)
		ret_errors[i] = ib_bits_get(data, error_rows[i].extended, 64);
	if (!xmit_wait)
		ret_errors[PERF_XMIT_WAIT] = 0;
}

/*
 * Three quarters of the range of the field: a counter stops at its end, and later events are lost.
 */
static bool is_full(uint64_t value, unsigned width)
{
	return value >= 3ull << (width - 2);
}

static bool is_at_end(uint64_t value, unsigned width)
{
	return value >= (1ull << width) - 1;
}

static uint64_t add_fec(struct perf_fec *fec, const uint8_t *data, unsigned offset)
{
	uint64_t v = ib_bits_get(data, offset, FEC_BITS);

	if (is_full(v, FEC_BITS))
		fec->nearly_full = true;
	if (is_at_end(v, FEC_BITS))
		fec->at_end = true;
	return v;
}

/* Fields of lanes that are not there, and of the port without RS-FEC, are 0. */
struct perf_fec perf_decode_fec(const uint8_t *data, bool rs_fec)
{
	struct perf_fec fec = { 0 };

	for (unsigned i = 0; i < PM_LANES; i++) {
		fec.corrected += add_fec(&fec, data, PES_CORRECTED + i * FEC_BITS);
		fec.uncorrectable += add_fec(&fec, data, PES_UNCORRECTABLE + i * FEC_BITS);
	}
	if (rs_fec)
		fec.uncorrectable += add_fec(&fec, data, PES_PORT_UNCORRECTABLE);
	return fec;
}

void perf_decode_details(const uint8_t *data, unsigned n, uint16_t *ret)
{
	assert(n <= PERF_RCV_DETAILS);
	for (unsigned i = 0; i < n; i++)
		ret[i] = (uint16_t)ib_bits_get(data, PRE_LOCAL_PHYSICAL + i * 16, 16);
}

uint32_t perf_error_bit(enum perf_error e)
{
	return 1u << (e < SELECT_DATA ? (unsigned)e : SELECT2);
}

uint32_t perf_data_bit(enum perf_data d)
{
	assert(d < BASIC_DATA);
	return 1u << (SELECT_DATA + d);
}

uint32_t perf_nearly_full(const uint64_t errors[PERF_ERRORS], const uint64_t data[PERF_DATA],
			  bool extended)
{
	uint32_t select = 0;

	for (unsigned i = 0; i < PERF_ERRORS; i++)
		if (is_full(errors[i], error_rows[i].width))
			select |= perf_error_bit(i);
	for (unsigned i = 0; i < BASIC_DATA && !extended; i++)
		if (is_full(data[i], BASIC_BITS))
			select |= perf_data_bit(i);
	return select;
}

bool perf_error_at_end(enum perf_error e, uint64_t value)
{
	return is_at_end(value, error_rows[e].width);
}

bool perf_data_at_end(uint64_t value)
{
	return is_at_end(value, BASIC_BITS);
}
