// SPDX-License-Identifier: BSD-2-Clause
/*
 * The counters, in the order of files.md 7: name, its text in files and logs, its field of
 * PortCounters (16.1.3.5) in libibmad with its bits, or of PortCountersExtended (16.1.4.11).
 */
#pragma once

#define PERF_ERROR_LIST(F)                                                                         \
	F(SYMBOL, "symbol_err_cnt", IB_PC_ERR_SYM_F, 16)                                           \
	F(LINK_RECOVER, "link_err_recover", IB_PC_LINK_RECOVERS_F, 8)                              \
	F(LINK_DOWNED, "link_downed", IB_PC_LINK_DOWNED_F, 8)                                      \
	F(RCV, "rcv_err", IB_PC_ERR_RCV_F, 16)                                                     \
	F(RCV_REM_PHYS, "rcv_rem_phys_err", IB_PC_ERR_PHYSRCV_F, 16)                               \
	F(RCV_SWITCH_RELAY, "rcv_switch_relay_err", IB_PC_ERR_SWITCH_REL_F, 16)                    \
	F(XMIT_DISCARDS, "xmit_discards", IB_PC_XMT_DISCARDS_F, 16)                                \
	F(XMIT_CONSTRAINT, "xmit_constraint_err", IB_PC_ERR_XMTCONSTR_F, 8)                        \
	F(RCV_CONSTRAINT, "rcv_constraint_err", IB_PC_ERR_RCVCONSTR_F, 8)                          \
	F(LINK_INTEGRITY, "link_integrity_err", IB_PC_ERR_LOCALINTEG_F, 4)                         \
	F(BUFFER_OVERRUN, "buf_overrun_err", IB_PC_ERR_EXCESS_OVR_F, 4)                            \
	F(VL15_DROPPED, "vl15_dropped", IB_PC_VL15_DROPPED_F, 16)                                  \
	F(XMIT_WAIT, "xmit_wait", IB_PC_XMT_WAIT_F, 32)

/* *_DATA in units of 4 octets, as on the wire; the last four only where a port has 64 bits. */
#define PERF_DATA_LIST(F)                                                                          \
	F(XMIT_DATA, "xmit_data", IB_PC_XMT_BYTES_F, IB_PC_EXT_XMT_BYTES_F)                        \
	F(RCV_DATA, "rcv_data", IB_PC_RCV_BYTES_F, IB_PC_EXT_RCV_BYTES_F)                          \
	F(XMIT_PKTS, "xmit_pkts", IB_PC_XMT_PKTS_F, IB_PC_EXT_XMT_PKTS_F)                          \
	F(RCV_PKTS, "rcv_pkts", IB_PC_RCV_PKTS_F, IB_PC_EXT_RCV_PKTS_F)                            \
	F(UNICAST_XMIT_PKTS, "unicast_xmit_pkts", IB_NO_FIELD, IB_PC_EXT_XMT_UPKTS_F)              \
	F(UNICAST_RCV_PKTS, "unicast_rcv_pkts", IB_NO_FIELD, IB_PC_EXT_RCV_UPKTS_F)                \
	F(MULTICAST_XMIT_PKTS, "multicast_xmit_pkts", IB_NO_FIELD, IB_PC_EXT_XMT_MPKTS_F)          \
	F(MULTICAST_RCV_PKTS, "multicast_rcv_pkts", IB_NO_FIELD, IB_PC_EXT_RCV_MPKTS_F)

#define PERF_KIND_(NAME, text, field, other) PERF_##NAME,
enum perf_error { PERF_ERROR_LIST(PERF_KIND_) PERF_ERRORS };
enum perf_data { PERF_DATA_LIST(PERF_KIND_) PERF_DATA };
