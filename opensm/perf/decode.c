// SPDX-License-Identifier: BSD-2-Clause
/* PerfMgt attributes through libibmad: one row per counter names its fields. */
#include "perf/decode.h"

#include <infiniband/mad.h>
#include <string.h>

#define LID_LAST	   0xBFFF
/* Every counter of PortCounters (16.1.3.5). */
#define SELECT_ALL	   0xFFFF
#define SELECT2_ALL	   0x01

static const struct {
	enum MAD_FIELDS field;
	uint8_t width; /* bits */
} error_rows[PERF_ERRORS] = {
#define ROW(NAME, text, field, width) { field, width },
	PERF_ERROR_LIST(ROW)
#undef ROW
};

#define BASIC_DATA PERF_UNICAST_XMIT_PKTS /* the first that PortCounters does not have */
#define BASIC_BITS 32

static const struct {
	enum MAD_FIELDS basic, extended;
} data_rows[PERF_DATA] = {
#define ROW(NAME, text, basic, extended) { basic, extended },
	PERF_DATA_LIST(ROW)
#undef ROW
};

/* libibmad takes what it reads from as non-const. */
static uint64_t field_of(const uint8_t *data, enum MAD_FIELDS field)
{
	return mad_get_field((uint8_t *)data, 0, field);
}

void perf_encode_get(uint8_t *data, uint8_t port)
{
	mad_set_field(data, 0, IB_PC_PORT_SELECT_F, port);
}

void perf_encode_clear(uint8_t *data, uint8_t port)
{
	mad_set_field(data, 0, IB_PC_PORT_SELECT_F, port);
	mad_set_field(data, 0, IB_PC_COUNTER_SELECT_F, SELECT_ALL);
	mad_set_field(data, 0, IB_PC_COUNTER_SELECT2_F, SELECT2_ALL);
}

uint16_t perf_decode_caps(const uint8_t *data)
{
	return (uint16_t)field_of(data, IB_CPI_CAPMASK_F);
}

bool perf_decode_redirection(const uint8_t *data, struct perf_redirection *ret)
{
	struct perf_redirection to = {
		.lid = (uint16_t)field_of(data, IB_CPI_REDIRECT_LID_F),
		.qp = (uint32_t)field_of(data, IB_CPI_REDIRECT_QP_F),
		.qkey = (uint32_t)field_of(data, IB_CPI_REDIRECT_QKEY_F),
		.pkey = (uint16_t)field_of(data, IB_CPI_REDIRECT_PKEY_F),
		.sl = (uint8_t)field_of(data, IB_CPI_REDIRECT_SL_F),
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
		ret_errors[i] = field_of(data, error_rows[i].field);
	if (!xmit_wait)
		ret_errors[PERF_XMIT_WAIT] = 0; /* the field is not a counter here */
	memset(ret_data, 0, PERF_DATA * sizeof(*ret_data));
	for (unsigned i = 0; i < BASIC_DATA; i++)
		ret_data[i] = field_of(data, data_rows[i].basic);
}

void perf_decode_extended(const uint8_t *data, bool with_kinds, uint64_t ret_data[PERF_DATA])
{
	memset(ret_data, 0, PERF_DATA * sizeof(*ret_data));
	for (unsigned i = 0; i < PERF_DATA; i++)
		if (with_kinds || i < BASIC_DATA)
			ret_data[i] = mad_get_field64((uint8_t *)data, 0, data_rows[i].extended);
}

/*
 * Three quarters of the range of the field: a counter stops at its end, and later events are lost.
 */
static bool is_full(uint64_t value, unsigned width)
{
	return value >= 3ull << (width - 2);
}

bool perf_nearly_full(const uint64_t errors[PERF_ERRORS], const uint64_t data[PERF_DATA],
		      bool extended)
{
	for (unsigned i = 0; i < PERF_ERRORS; i++)
		if (is_full(errors[i], error_rows[i].width))
			return true;
	for (unsigned i = 0; i < BASIC_DATA && !extended; i++)
		if (is_full(data[i], BASIC_BITS))
			return true;
	return false;
}
