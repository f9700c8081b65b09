// SPDX-License-Identifier: BSD-2-Clause
/*
 * The counters, in the order of files.md 7: name, its text in files and logs, its field of
 * PortCounters (16.1.3.5) and of PortCountersExtended (16.1.4.11).
 */
#pragma once

#include "ib/pm.h"

#define PERF_ERROR_LIST(F)                                                                         \
	F(SYMBOL, "symbol_err_cnt", PC_SYMBOL_ERRORS, PCX_SYMBOL_ERRORS)                           \
	F(LINK_RECOVER, "link_err_recover", PC_LINK_RECOVERIES, PCX_LINK_RECOVERIES)               \
	F(LINK_DOWNED, "link_downed", PC_LINK_DOWNED, PCX_LINK_DOWNED)                             \
	F(RCV, "rcv_err", PC_RCV_ERRORS, PCX_RCV_ERRORS)                                           \
	F(RCV_REM_PHYS, "rcv_rem_phys_err", PC_RCV_REMOTE_ERRORS, PCX_RCV_REMOTE_ERRORS)           \
	F(RCV_SWITCH_RELAY, "rcv_switch_relay_err", PC_RCV_RELAY_ERRORS, PCX_RCV_RELAY_ERRORS)     \
	F(XMIT_DISCARDS, "xmit_discards", PC_XMIT_DISCARDS, PCX_XMIT_DISCARDS)                     \
	F(XMIT_CONSTRAINT, "xmit_constraint_err", PC_XMIT_CONSTRAINTS, PCX_XMIT_CONSTRAINTS)       \
	F(RCV_CONSTRAINT, "rcv_constraint_err", PC_RCV_CONSTRAINTS, PCX_RCV_CONSTRAINTS)           \
	F(LINK_INTEGRITY, "link_integrity_err", PC_LINK_INTEGRITY, PCX_LINK_INTEGRITY)             \
	F(BUFFER_OVERRUN, "buf_overrun_err", PC_BUFFER_OVERRUNS, PCX_BUFFER_OVERRUNS)              \
	F(VL15_DROPPED, "vl15_dropped", PC_VL15_DROPPED, PCX_VL15_DROPPED)                         \
	F(XMIT_WAIT, "xmit_wait", PC_XMIT_WAIT, PCX_XMIT_WAIT)

/* *_DATA in units of 4 octets, as on the wire; the last four only where a port has 64 bits. */
#define PC_NONE	  0
#define PC_NONE_W 0
#define PERF_DATA_LIST(F)                                                                          \
	F(XMIT_DATA, "xmit_data", PC_XMIT_DATA, PCX_XMIT_DATA)                                     \
	F(RCV_DATA, "rcv_data", PC_RCV_DATA, PCX_RCV_DATA)                                         \
	F(XMIT_PKTS, "xmit_pkts", PC_XMIT_PACKETS, PCX_XMIT_PACKETS)                               \
	F(RCV_PKTS, "rcv_pkts", PC_RCV_PACKETS, PCX_RCV_PACKETS)                                   \
	F(UNICAST_XMIT_PKTS, "unicast_xmit_pkts", PC_NONE, PCX_UNICAST_XMIT)                       \
	F(UNICAST_RCV_PKTS, "unicast_rcv_pkts", PC_NONE, PCX_UNICAST_RCV)                          \
	F(MULTICAST_XMIT_PKTS, "multicast_xmit_pkts", PC_NONE, PCX_MULTICAST_XMIT)                 \
	F(MULTICAST_RCV_PKTS, "multicast_rcv_pkts", PC_NONE, PCX_MULTICAST_RCV)

#define PERF_KIND_(NAME, text, field, other) PERF_##NAME,
enum perf_error { PERF_ERROR_LIST(PERF_KIND_) PERF_ERRORS };
enum perf_data { PERF_DATA_LIST(PERF_KIND_) PERF_DATA };
