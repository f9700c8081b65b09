// SPDX-License-Identifier: BSD-2-Clause
/*
 * Congestion control on the wire (IBA annex A10): class 0x21, version 2. The CC_Key is where SMPs
 * have their M_Key; attributes begin at byte 64, but CongestionLog, which begins at byte 32.
 */
#pragma once

#include "ib/layout.h"
#include "ib/mad.h"

#define CC_CLASS_VERSION 2
#define CC_DATA		 64 /* byte where an attribute begins */
#define CC_DATA_SIZE	 192
#define CC_LOG		 32 /* byte where CongestionLog begins */
#define CC_SLS		 16
#define CC_BLOCK_ENTRIES 64 /* entries of a block of the control table */
#define CC_BLOCK_PORTS	 32 /* ports of a block of SwitchPortCongestionSetting */

enum cc_attr {
	CC_ATTR_CLASS_PORT_INFO = 0x0001,
	CC_ATTR_NOTICE = 0x0002,
	CC_ATTR_INFO = 0x0011,
	CC_ATTR_KEY_INFO = 0x0012,
	CC_ATTR_LOG = 0x0013,
	CC_ATTR_SWITCH = 0x0014,
	CC_ATTR_SWITCH_PORT = 0x0015,
	CC_ATTR_CA = 0x0016,
	CC_ATTR_TABLE = 0x0017,
	CC_ATTR_TIME = 0x0018,
};

#define CC_CAP_CREDIT 0x0001 /* CongestionInfo: the switch detects credit starvation */

#define CC_INFO_LIST(F) F(CCI, CAPS, 16) F(CCI, BLOCKS, 8)
IB_LAYOUT_ENUM(CCI, CC_INFO_LIST)

#define CC_KEY_INFO_LIST(F)                                                                        \
	F(CCK, KEY, 64) F(CCK, PROTECT, 1) F(CCK, RSV0, 15) F(CCK, LEASE, 16) F(CCK, VIOLATIONS, 16)
IB_LAYOUT_ENUM(CCK, CC_KEY_INFO_LIST)

#define CC_SWITCH_LIST(F)                                                                          \
	F(CCS, CONTROL_MAP, 32) F(CCS, VICTIM_MASK, 256) F(CCS, CREDIT_MASK, 256)                  \
	F(CCS, THRESHOLD, 4) F(CCS, RSV0, 4) F(CCS, PACKET_SIZE, 8) F(CCS, CREDIT_THRESHOLD, 4)    \
	F(CCS, RSV1, 12) F(CCS, RETURN_SHIFT, 2) F(CCS, RETURN_MULTIPLIER, 14)                     \
	F(CCS, MARKING_RATE, 16)
IB_LAYOUT_ENUM(CCS, CC_SWITCH_LIST)

/* Bits of Control_Map. */
enum cc_switch_part {
	CC_PART_VICTIM = 1,
	CC_PART_CREDIT = 2,
	CC_PART_THRESHOLD = 4, /* threshold and packet size */
	CC_PART_STARVATION = 8, /* threshold and return delay */
	CC_PART_RATE = 16,
};

/* One of the 32 ports of a block of SwitchPortCongestionSetting. */
#define CC_PORT_LIST(F)                                                                            \
	F(CCP, VALID, 1) F(CCP, TYPE, 1) F(CCP, RSV0, 2) F(CCP, THRESHOLD, 4)                      \
	F(CCP, PACKET_SIZE, 8) F(CCP, PARAMETER, 16)
IB_LAYOUT_ENUM(CCP, CC_PORT_LIST)

/* Head of CACongestionSetting; 16 entries of CC_SL_LIST follow. */
#define CC_CA_LIST(F) F(CCA, PORT_CONTROL, 16) F(CCA, CONTROL_MAP, 16)
IB_LAYOUT_ENUM(CCA, CC_CA_LIST)
#define CC_SL_LIST(F)                                                                              \
	F(CCL, TIMER, 16) F(CCL, INCREASE, 8) F(CCL, TRIGGER, 8) F(CCL, MIN, 8) F(CCL, RSV0, 24)
IB_LAYOUT_ENUM(CCL, CC_SL_LIST)

/* Head of a block of CongestionControlTable; 64 entries of CC_ENTRY_LIST follow. */
#define CC_TABLE_LIST(F) F(CCT, LIMIT, 16) F(CCT, RSV0, 16)
IB_LAYOUT_ENUM(CCT, CC_TABLE_LIST)
#define CC_ENTRY_LIST(F) F(CCE, SHIFT, 2) F(CCE, MULTIPLIER, 14)
IB_LAYOUT_ENUM(CCE, CC_ENTRY_LIST)

/* CongestionLog of a switch; 15 entries of CC_SWITCH_EVENT_LIST follow. */
#define CC_SWITCH_LOG_LIST(F)                                                                      \
	F(CSL, TYPE, 8) F(CSL, FLAGS, 8) F(CSL, EVENTS, 16) F(CSL, TIME, 32) F(CSL, PORTS, 256)
IB_LAYOUT_ENUM(CSL, CC_SWITCH_LOG_LIST)
#define CC_SWITCH_EVENT_LIST(F)                                                                    \
	F(CSE, SLID, 16) F(CSE, DLID, 16) F(CSE, SL, 4) F(CSE, RSV0, 28) F(CSE, TIME, 32)
IB_LAYOUT_ENUM(CSE, CC_SWITCH_EVENT_LIST)
#define CC_SWITCH_EVENTS 15
#define CC_LOG_SWITCH	 1 /* value of TYPE */
#define CC_LOG_CA	 2

/* CongestionLog of a CA; 13 entries of CC_CA_EVENT_LIST follow. */
#define CC_CA_LOG_LIST(F)                                                                          \
	F(CAL, TYPE, 8) F(CAL, FLAGS, 8) F(CAL, EVENTS, 16) F(CAL, SLS, 16) F(CAL, RSV0, 16)    \
	F(CAL, TIME, 32)
IB_LAYOUT_ENUM(CAL, CC_CA_LOG_LIST)
#define CC_CA_EVENT_LIST(F)                                                                        \
	F(CAE, QP, 24) F(CAE, SL, 4) F(CAE, SERVICE, 4) F(CAE, REMOTE_QP, 24) F(CAE, RSV0, 8)      \
	F(CAE, LOCAL_LID, 16) F(CAE, REMOTE_LID, 16) F(CAE, TIME, 32)
IB_LAYOUT_ENUM(CAE, CC_CA_EVENT_LIST)
#define CC_CA_EVENTS 13

/*
 * Notice of the class, trap 0 (CC_KeyViolation): a MAD from LID, QP, GID with a wrong KEY. As in
 * traps 256 to 258 the details begin at byte 10, and each field is aligned to its size.
 */
#define CC_NOTICE_KEY_LIST(F)                                                                      \
	F(CKV, RSV1, 80) F(CKV, LID, 16) F(CKV, METHOD, 8) F(CKV, RSV2, 8) F(CKV, ATTR, 16)        \
	F(CKV, MOD, 32) F(CKV, RSV3, 8) F(CKV, QP, 24) F(CKV, KEY, 64) F(CKV, GID, 128)            \
	F(CKV, RSV4, 128)
IB_LAYOUT_ENUM(CKV, CC_NOTICE_KEY_LIST)
#define CC_TRAP_KEY 0

_Static_assert(CKV_BYTES == 64, "13.4.8.2");
_Static_assert(CCI_BYTES == 3 && CCK_BYTES == 14 && CCS_BYTES == 76, "A10.4.3.3, 4, 6");
_Static_assert(CCP_BYTES * CC_BLOCK_PORTS <= CC_DATA_SIZE, "A10.4.3.7");
_Static_assert(CCA_BYTES == 4 && CCL_BYTES == 8 && CCT_BYTES == 4, "A10.4.3.8, 9");
_Static_assert(CSL_BYTES + CC_SWITCH_EVENTS * CSE_BYTES <= MAD_SIZE - CC_LOG, "A10.4.3.5");
_Static_assert(CAL_BYTES + CC_CA_EVENTS * CAE_BYTES <= MAD_SIZE - CC_LOG, "A10.4.3.5");
