// SPDX-License-Identifier: BSD-2-Clause
/*
 * PerfMgt attributes as libibmad knows them: one row per counter says which of its fields it is.
 * Not here: what is done with them.
 */
#include "perf/decode.h"

#include <infiniband/mad.h>
#include <string.h>

#include "util/mem.h"

#define LID_LAST	   0xBFFF
/* Every counter of PortCounters (16.1.3.5). */
#define SELECT_ALL	   0xFFFF
#define SELECT2_ALL	   0x01

struct row {
	enum MAD_FIELDS field;
	uint8_t width; /* bits */
};

static const struct row error_rows[PERF_ERRORS] = {
	[PERF_SYMBOL] = { IB_PC_ERR_SYM_F, 16 },
	[PERF_LINK_RECOVER] = { IB_PC_LINK_RECOVERS_F, 8 },
	[PERF_LINK_DOWNED] = { IB_PC_LINK_DOWNED_F, 8 },
	[PERF_RCV] = { IB_PC_ERR_RCV_F, 16 },
	[PERF_RCV_REM_PHYS] = { IB_PC_ERR_PHYSRCV_F, 16 },
	[PERF_RCV_SWITCH_RELAY] = { IB_PC_ERR_SWITCH_REL_F, 16 },
	[PERF_XMIT_DISCARDS] = { IB_PC_XMT_DISCARDS_F, 16 },
	[PERF_XMIT_CONSTRAINT] = { IB_PC_ERR_XMTCONSTR_F, 8 },
	[PERF_RCV_CONSTRAINT] = { IB_PC_ERR_RCVCONSTR_F, 8 },
	[PERF_LINK_INTEGRITY] = { IB_PC_ERR_LOCALINTEG_F, 4 },
	[PERF_BUFFER_OVERRUN] = { IB_PC_ERR_EXCESS_OVR_F, 4 },
	[PERF_VL15_DROPPED] = { IB_PC_VL15_DROPPED_F, 16 },
	[PERF_XMIT_WAIT] = { IB_PC_XMT_WAIT_F, 32 },
};

static const struct row data_rows[] = {
	[PERF_XMIT_DATA] = { IB_PC_XMT_BYTES_F, 32 },
	[PERF_RCV_DATA] = { IB_PC_RCV_BYTES_F, 32 },
	[PERF_XMIT_PKTS] = { IB_PC_XMT_PKTS_F, 32 },
	[PERF_RCV_PKTS] = { IB_PC_RCV_PKTS_F, 32 },
};

static const enum MAD_FIELDS extended_fields[PERF_DATA] = {
	[PERF_XMIT_DATA] = IB_PC_EXT_XMT_BYTES_F,
	[PERF_RCV_DATA] = IB_PC_EXT_RCV_BYTES_F,
	[PERF_XMIT_PKTS] = IB_PC_EXT_XMT_PKTS_F,
	[PERF_RCV_PKTS] = IB_PC_EXT_RCV_PKTS_F,
	[PERF_UNICAST_XMIT_PKTS] = IB_PC_EXT_XMT_UPKTS_F,
	[PERF_UNICAST_RCV_PKTS] = IB_PC_EXT_RCV_UPKTS_F,
	[PERF_MULTICAST_XMIT_PKTS] = IB_PC_EXT_XMT_MPKTS_F,
	[PERF_MULTICAST_RCV_PKTS] = IB_PC_EXT_RCV_MPKTS_F,
};

/* libibmad takes what it reads from as non-const. */
static uint64_t get(const uint8_t *data, enum MAD_FIELDS field)
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
	return (uint16_t)get(data, IB_CPI_CAPMASK_F);
}

bool perf_decode_redirection(const uint8_t *data, struct perf_redirection *ret)
{
	struct perf_redirection to = {
		.lid = (uint16_t)get(data, IB_CPI_REDIRECT_LID_F),
		.qp = (uint32_t)get(data, IB_CPI_REDIRECT_QP_F),
		.qkey = (uint32_t)get(data, IB_CPI_REDIRECT_QKEY_F),
		.pkey = (uint16_t)get(data, IB_CPI_REDIRECT_PKEY_F),
		.sl = (uint8_t)get(data, IB_CPI_REDIRECT_SL_F),
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
		ret_errors[i] = get(data, error_rows[i].field);
	if (!xmit_wait)
		ret_errors[PERF_XMIT_WAIT] = 0; /* whatever stands there was not counted */
	memset(ret_data, 0, PERF_DATA * sizeof(*ret_data));
	for (unsigned i = 0; i < ARRAY_SIZE(data_rows); i++)
		ret_data[i] = get(data, data_rows[i].field);
}

void perf_decode_extended(const uint8_t *data, bool with_kinds, uint64_t ret_data[PERF_DATA])
{
	memset(ret_data, 0, PERF_DATA * sizeof(*ret_data));
	for (unsigned i = 0; i < PERF_DATA; i++)
		if (with_kinds || i < PERF_UNICAST_XMIT_PKTS)
			ret_data[i] = mad_get_field64((uint8_t *)data, 0, extended_fields[i]);
}

/* Three quarters of what the field can show: a counter stays at its end, and what comes then is lost. */
static bool is_full(uint64_t value, unsigned width)
{
	return value >= 3ull << (width - 2);
}

bool perf_nearly_full(const uint64_t errors[PERF_ERRORS], const uint64_t data[PERF_DATA], bool extended)
{
	for (unsigned i = 0; i < PERF_ERRORS; i++)
		if (is_full(errors[i], error_rows[i].width))
			return true;
	for (unsigned i = 0; i < ARRAY_SIZE(data_rows) && !extended; i++)
		if (is_full(data[i], data_rows[i].width))
			return true;
	return false;
}
