// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attributes of performance management (IBA 16.1): counters of one port, as they stand in the 192
 * octets behind the first 64 of the MAD. ClassPortInfo is in records.h.
 */
#pragma once

#include "ib/layout.h"

enum pm_attr {
	PM_CLASS_PORT_INFO = 0x0001,
	PM_PORT_COUNTERS = 0x0012,
	PM_PORT_RCV_ERROR_DETAILS = 0x0015,
	PM_PORT_XMIT_DISCARD_DETAILS = 0x0016,
	PM_PORT_COUNTERS_EXT = 0x001D,
	PM_PORT_EXT_SPEEDS = 0x001F,
};

/* CapabilityMask of ClassPortInfo (16.1.3.1). */
enum pm_cap {
	PM_CAP_ALL_PORTS = 0x0100,
	PM_CAP_EXT_WIDTH = 0x0200,
	PM_CAP_EXT_WIDTH_NOIETF = 0x0400, /* without unicast and multicast counters */
	PM_CAP_XMIT_WAIT = 0x1000,
	PM_CAP_RS_FEC = 0x4000,
	PM_CAP_QP1_DROPPED = 0x8000,
};
#define PM_CAP2_EXT_ERRORS 0x02u /* bit of CapabilityMask2: error counters of 64 bits */

#define PM_SELECT_ALL_PORTS 0xFFu

/* 16.1.3.5 */
#define PORT_COUNTERS_LIST(F)                                                                      \
	F(PC, RSV0, 8)                                                                             \
	F(PC, PORT_SELECT, 8) F(PC, COUNTER_SELECT, 16) F(PC, SYMBOL_ERRORS, 16)                   \
		F(PC, LINK_RECOVERIES, 8) F(PC, LINK_DOWNED, 8) F(PC, RCV_ERRORS, 16)              \
		F(PC, RCV_REMOTE_ERRORS, 16) F(PC, RCV_RELAY_ERRORS, 16) F(PC, XMIT_DISCARDS, 16)  \
		F(PC, XMIT_CONSTRAINTS, 8) F(PC, RCV_CONSTRAINTS, 8) F(PC, COUNTER_SELECT2, 8)     \
		F(PC, LINK_INTEGRITY, 4) F(PC, BUFFER_OVERRUNS, 4) F(PC, QP1_DROPPED, 16)          \
		F(PC, VL15_DROPPED, 16) F(PC, XMIT_DATA, 32) F(PC, RCV_DATA, 32)                   \
		F(PC, XMIT_PACKETS, 32) F(PC, RCV_PACKETS, 32) F(PC, XMIT_WAIT, 32)
IB_LAYOUT_ENUM(PC, PORT_COUNTERS_LIST)

/* 16.1.4.11; the fields from SYMBOL_ERRORS on exist if CapabilityMask2 has PM_CAP2_EXT_ERRORS. */
#define PORT_COUNTERS_EXT_LIST(F)                                                                  \
	F(PCX, RSV0, 8)                                                                            \
	F(PCX, PORT_SELECT, 8) F(PCX, COUNTER_SELECT, 16) F(PCX, COUNTER_SELECT2, 32)              \
		F(PCX, XMIT_DATA, 64) F(PCX, RCV_DATA, 64) F(PCX, XMIT_PACKETS, 64)                \
		F(PCX, RCV_PACKETS, 64) F(PCX, UNICAST_XMIT, 64) F(PCX, UNICAST_RCV, 64)           \
		F(PCX, MULTICAST_XMIT, 64) F(PCX, MULTICAST_RCV, 64) F(PCX, SYMBOL_ERRORS, 64)     \
		F(PCX, LINK_RECOVERIES, 64) F(PCX, LINK_DOWNED, 64) F(PCX, RCV_ERRORS, 64)         \
		F(PCX, RCV_REMOTE_ERRORS, 64) F(PCX, RCV_RELAY_ERRORS, 64)                         \
		F(PCX, XMIT_DISCARDS, 64) F(PCX, XMIT_CONSTRAINTS, 64) F(PCX, RCV_CONSTRAINTS, 64) \
		F(PCX, LINK_INTEGRITY, 64) F(PCX, BUFFER_OVERRUNS, 64) F(PCX, VL15_DROPPED, 64)    \
		F(PCX, XMIT_WAIT, 64) F(PCX, QP1_DROPPED, 64)
IB_LAYOUT_ENUM(PCX, PORT_COUNTERS_EXT_LIST)

/* 16.1.4.1: details of PortRcvErrors */
#define RCV_ERROR_DETAILS_LIST(F)                                                                  \
	F(PRE, RSV0, 8)                                                                            \
	F(PRE, PORT_SELECT, 8) F(PRE, COUNTER_SELECT, 16) F(PRE, LOCAL_PHYSICAL, 16)               \
		F(PRE, MALFORMED, 16) F(PRE, BUFFER_OVERRUN, 16) F(PRE, DLID_MAPPING, 16)          \
		F(PRE, VL_MAPPING, 16) F(PRE, LOOPING, 16)
IB_LAYOUT_ENUM(PRE, RCV_ERROR_DETAILS_LIST)

/* 16.1.4.2: details of PortXmitDiscards */
#define XMIT_DISCARD_DETAILS_LIST(F)                                                               \
	F(PXD, RSV0, 8)                                                                            \
	F(PXD, PORT_SELECT, 8) F(PXD, COUNTER_SELECT, 16) F(PXD, INACTIVE, 16)                     \
		F(PXD, NEIGHBOR_MTU, 16) F(PXD, LIFETIME, 16) F(PXD, HOQ_LIFETIME, 16)
IB_LAYOUT_ENUM(PXD, XMIT_DISCARD_DETAILS_LIST)

/*
 * 16.1.4.13: FEC. Three fields have a counter for each of 12 lanes. With RS-FEC those of CORRECTED
 * count symbols instead of blocks, and the blocks of the port stand at the end.
 */
#define PM_LANES 12u
#define EXT_SPEEDS_LIST(F)                                                                         \
	F(PES, RSV0, 8)                                                                            \
	F(PES, PORT_SELECT, 8) F(PES, RSV1, 48) F(PES, COUNTER_SELECT, 64)                         \
		F(PES, SYNC_ERRORS, 16) F(PES, UNKNOWN_BLOCKS, 16) F(PES, DETECTED, 192)           \
		F(PES, CORRECTED, 384) F(PES, UNCORRECTABLE, 384) F(PES, PORT_CORRECTED, 32)       \
		F(PES, PORT_UNCORRECTABLE, 32)
IB_LAYOUT_ENUM(PES, EXT_SPEEDS_LIST)

_Static_assert(PC_BYTES == 44 && PCX_BYTES == 184 && PRE_BYTES == 16 && PXD_BYTES == 12 &&
		       PES_BYTES == 148,
	       "16.1.3.5, 16.1.4");
