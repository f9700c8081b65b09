// SPDX-License-Identifier: BSD-2-Clause
/*
 * Notices (IBA 13.4.8.2) and the details of each trap (14.2.5.1, 15.2).
 *
 * Every layout starts at the first byte of the Notice, so that one pointer serves all of them. SMPs
 * carry the first 64 bytes; the layouts of details end there. Notices are claims of their senders,
 * and may be false.
 */
#pragma once

#include "ib/layout.h"

#define NOTICE_LIST(F)                                                                             \
	F(NT, IS_GENERIC, 1) F(NT, TYPE, 7) F(NT, PRODUCER, 24) F(NT, TRAP, 16)                   \
	F(NT, ISSUER_LID, 16) F(NT, TOGGLE, 1) F(NT, COUNT, 15) F(NT, DETAILS, 432)               \
	F(NT, ISSUER_GID, 128)
IB_LAYOUT_ENUM(NT, NOTICE_LIST)

/* Table 122, 123 of 13.4.9: TrapNumber of generic notices. */
enum ib_trap {
	TRAP_GID_IN_SERVICE = 64,
	TRAP_GID_OUT_OF_SERVICE = 65,
	TRAP_MGID_CREATED = 66,
	TRAP_MGID_DESTROYED = 67,
	TRAP_LINK_STATE = 128,
	TRAP_LINK_INTEGRITY = 129,
	TRAP_BUFFER_OVERRUN = 130,
	TRAP_FLOW_CONTROL = 131,
	TRAP_LOCAL_CHANGE = 144,
	TRAP_SYSIMG_GUID = 145,
	TRAP_BAD_MKEY = 256,
	TRAP_BAD_PKEY = 257,
	TRAP_BAD_QKEY = 258,
	TRAP_SWITCH_BAD_PKEY = 259,
};

/* 64 to 67: of subnet administration. */
#define NOTICE_GID_LIST(F) F(N64, RSV1, 128) F(N64, GID, 128) F(N64, RSV2, 256)
IB_LAYOUT_ENUM(N64, NOTICE_GID_LIST)
#define NOTICE_GID (N64_GID / 8) /* byte offset */

/* 128: links of this switch changed. */
#define NOTICE_LINK_LIST(F) F(N128, RSV1, 80) F(N128, LID, 16) F(N128, RSV2, 416)
IB_LAYOUT_ENUM(N128, NOTICE_LINK_LIST)

/* 129 to 131: link integrity, buffer overrun, flow control watchdog. */
#define NOTICE_ERRORS_LIST(F)                                                                      \
	F(N129, RSV1, 96) F(N129, LID, 16) F(N129, PORT, 8) F(N129, RSV2, 392)
IB_LAYOUT_ENUM(N129, NOTICE_ERRORS_LIST)

/* 144: CapabilityMask, or one of N144_CHANGES. */
#define NOTICE_LOCAL_LIST(F)                                                                       \
	F(N144, RSV1, 96) F(N144, LID, 16) F(N144, RSV2, 15) F(N144, OTHER_CHANGES, 1)            \
	F(N144, CAP_MASK, 32) F(N144, CHANGES, 16) F(N144, CAP_MASK2, 16) F(N144, RSV3, 320)
IB_LAYOUT_ENUM(N144, NOTICE_LOCAL_LIST)
enum n144_change {
	N144_NODE_DESC = 0x0001,
	N144_WIDTH_ENABLED = 0x0002,
	N144_SPEED_ENABLED = 0x0004,
	N144_SM_PRIORITY = 0x0008,
	N144_HIERARCHY = 0x0010,
	N144_CAP_MASK_2 = 0x0020,
};

/* 145 */
#define NOTICE_IMAGE_LIST(F)                                                                       \
	F(N145, RSV1, 96) F(N145, LID, 16) F(N145, RSV2, 16) F(N145, GUID, 64) F(N145, RSV3, 320)
IB_LAYOUT_ENUM(N145, NOTICE_IMAGE_LIST)

/* 256: an SMP with a wrong M_Key; PATH is the last part of its return path, HOPS entries of it. */
#define NOTICE_MKEY_LIST(F)                                                                        \
	F(N256, RSV1, 96)                                                                          \
	F(N256, LID, 16) F(N256, DR_SLID, 16) F(N256, METHOD, 8) F(N256, RSV2, 8)                  \
		F(N256, ATTR, 16) F(N256, MOD, 32) F(N256, M_KEY, 64) F(N256, RSV3, 8)             \
			F(N256, DIRECTED, 1) F(N256, TRUNCATED, 1) F(N256, HOPS, 6)                \
				F(N256, PATH, 240)
IB_LAYOUT_ENUM(N256, NOTICE_MKEY_LIST)

/* 257 and 258: a packet from LID1, QP1 to LID2, QP2 with a wrong P_Key or Q_Key. */
#define NOTICE_KEY_LIST(F)                                                                         \
	F(N257, RSV1, 96) F(N257, LID1, 16) F(N257, LID2, 16) F(N257, KEY, 32) F(N257, SL, 4)     \
	F(N257, RSV2, 4) F(N257, QP1, 24) F(N257, RSV3, 8) F(N257, QP2, 24) F(N257, GID1, 128)    \
	F(N257, GID2, 128) F(N257, RSV4, 32)
IB_LAYOUT_ENUM(N257, NOTICE_KEY_LIST)

/*
 * 259: a wrong P_Key found by a switch at an external port; VALID has a bit for each valid field.
 */
#define NOTICE_SWITCH_KEY_LIST(F)                                                                  \
	F(N259, RSV1, 80)                                                                          \
	F(N259, VALID, 16) F(N259, LID1, 16) F(N259, LID2, 16) F(N259, P_KEY, 16) F(N259, SL, 4)   \
		F(N259, RSV2, 4) F(N259, QP1, 24) F(N259, RSV3, 8) F(N259, QP2, 24)                \
			F(N259, GID1, 128) F(N259, GID2, 128) F(N259, SWITCH_LID, 16)              \
				F(N259, PORT, 8) F(N259, RSV4, 24)
IB_LAYOUT_ENUM(N259, NOTICE_SWITCH_KEY_LIST)

/* Common fields of all notices with details about a LID: 129 to 131, 144, 145. */
_Static_assert((int)N129_LID == (int)N144_LID && (int)N144_LID == (int)N145_LID,
	       "the LID of the details");
_Static_assert(NT_BYTES == 80 && N64_BYTES == 64 && N128_BYTES == 64 && N129_BYTES == 64 &&
		       N144_BYTES == 64 && N145_BYTES == 64 && N256_BYTES == 64 &&
		       N257_BYTES == 64 && N259_BYTES == 64,
	       "sizes of 13.4.8.2");

/* "link state changed", for generic traps; "unknown trap" for undefined numbers. */
const char *ib_trap_name(unsigned trap);
