// SPDX-License-Identifier: BSD-2-Clause
/*
 * SMP attributes: identifiers and layouts (IBA vol. 1 release 1.5, chapter 14.2.5).
 * An SMP carries SMP_DATA_SIZE bytes of attribute; every layout here starts at its first byte.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ib/codes.h"
#include "ib/layout.h"
#include "util/types.h"

#define SMP_DATA_SIZE 64

enum ib_attr {
	IB_ATTR_CLASS_PORT_INFO = 0x0001,
	IB_ATTR_NOTICE = 0x0002,
	IB_ATTR_NODE_DESC = 0x0010,
	IB_ATTR_NODE_INFO = 0x0011,
	IB_ATTR_SWITCH_INFO = 0x0012,
	IB_ATTR_GUID_INFO = 0x0014,
	IB_ATTR_PORT_INFO = 0x0015,
	IB_ATTR_PKEY_TABLE = 0x0016,
	IB_ATTR_SL2VL = 0x0017,
	IB_ATTR_VLARB = 0x0018,
	IB_ATTR_LFT = 0x0019,
	IB_ATTR_MFT = 0x001B,
	IB_ATTR_SM_INFO = 0x0020,
	IB_ATTR_PORT_STATE_TABLE = 0x0034, /* IBA 1.3 and later; man/reference/sweep.md 13 */
	IB_ATTR_MLNX_EXT_PORT_INFO = 0xFF90,
};

/* PortInfo:CapabilityMask (14.2.5.6, table 160); bit numbers. */
enum ib_cap_bit {
	IB_CAP_IS_SM = 1,
	IB_CAP_SL_MAPPING = 6,
	IB_CAP_SM_DISABLED = 10,
	IB_CAP_EXTENDED_SPEEDS = 14,
	IB_CAP_CAPMASK2 = 15,
	IB_CAP_CLIENT_REREGISTER = 25,
	IB_CAP_MULTICAST_FDB_TOP = 30,
};

/* PortInfo:CapabilityMask2; bit numbers, valid only with IB_CAP_CAPMASK2. */
enum ib_cap2_bit {
	IB_CAP2_PORT_STATE_TABLE = 3,
	IB_CAP2_EXTENDED_SPEEDS2 = 11,
	IB_CAP2_XDR = 12,
};

#define IB_CAP(bit) (1u << (bit))

/* PortInfo attribute modifier: the SM understands extended speeds (14.2.5.6). */
#define PI_MOD_EXTENDED_SPEEDS 0x80000000u

#define NODE_INFO_LIST(F)                                                                          \
	F(NI, BASE_VERSION, 8) F(NI, CLASS_VERSION, 8) F(NI, NODE_TYPE, 8) F(NI, NUM_PORTS, 8)    \
	F(NI, SYSTEM_IMAGE_GUID, 64) F(NI, NODE_GUID, 64) F(NI, PORT_GUID, 64)                    \
	F(NI, PARTITION_CAP, 16) F(NI, DEVICE_ID, 16) F(NI, REVISION, 32)                         \
	F(NI, LOCAL_PORT, 8) F(NI, VENDOR_ID, 24)
IB_LAYOUT_ENUM(NI, NODE_INFO_LIST)

/*
 * SwitchPortStateTable: 4 bits for each port, port 0 first, 128 ports a block
 * (man/reference/sweep.md 13). Attribute modifier: bit 0 is the block, PST_MOD_DEFER says that the
 * reader knows PST_ACTIVE_DEFER: without it such a port is shown as ACTIVE. Other states are enum
 * ib_port_state.
 */
#define PST_PORTS	   128u
#define PST_BLOCKS	   2u
#define PST_STATE(port)	   (4u * (port)) /* from the first block on */
#define PST_STATE_W	   4u
#define PST_MOD_DEFER	   0x8000u
/* A link that was ACTIVE trains again, and holds its packets until then (IBA vol. 1, 7.2). */
#define PST_ACTIVE_DEFER   5u

#define SWITCH_INFO_LIST(F)                                                                        \
	F(SI, LINEAR_FDB_CAP, 16) F(SI, RANDOM_FDB_CAP, 16) F(SI, MULTICAST_FDB_CAP, 16)          \
	F(SI, LINEAR_FDB_TOP, 16) F(SI, DEFAULT_PORT, 8) F(SI, DEFAULT_MCAST_PRIMARY, 8)          \
	F(SI, DEFAULT_MCAST_NOT_PRIMARY, 8) F(SI, LIFE_TIME, 5) F(SI, PORT_STATE_CHANGE, 1)       \
	F(SI, OPTIMIZED_SL2VL, 2) F(SI, LIDS_PER_PORT, 16) F(SI, PARTITION_ENF_CAP, 16)           \
	F(SI, INBOUND_ENF_CAP, 1) F(SI, OUTBOUND_ENF_CAP, 1) F(SI, FILTER_RAW_IN_CAP, 1)          \
	F(SI, FILTER_RAW_OUT_CAP, 1) F(SI, ENHANCED_PORT0, 1) F(SI, RSV1, 3) F(SI, RSV2, 8)       \
	F(SI, MULTICAST_FDB_TOP, 16)
IB_LAYOUT_ENUM(SI, SWITCH_INFO_LIST)

#define PORT_INFO_LIST(F)                                                                          \
	F(PI, M_KEY, 64) F(PI, GID_PREFIX, 64) F(PI, LID, 16) F(PI, MASTER_SM_LID, 16)            \
	F(PI, CAP_MASK, 32) F(PI, DIAG_CODE, 16) F(PI, M_KEY_LEASE, 16) F(PI, LOCAL_PORT, 8)      \
	F(PI, WIDTH_ENABLED, 8) F(PI, WIDTH_SUPPORTED, 8) F(PI, WIDTH_ACTIVE, 8)                  \
	F(PI, SPEED_SUPPORTED, 4) F(PI, PORT_STATE, 4) F(PI, PHYS_STATE, 4)                       \
	F(PI, LINK_DOWN_DEFAULT, 4) F(PI, M_KEY_PROTECT, 2) F(PI, RSV1, 3) F(PI, LMC, 3)          \
	F(PI, SPEED_ACTIVE, 4) F(PI, SPEED_ENABLED, 4) F(PI, NEIGHBOR_MTU, 4)                     \
	F(PI, MASTER_SM_SL, 4) F(PI, VL_CAP, 4) F(PI, INIT_TYPE, 4) F(PI, VL_HIGH_LIMIT, 8)       \
	F(PI, VLARB_HIGH_CAP, 8) F(PI, VLARB_LOW_CAP, 8) F(PI, INIT_TYPE_REPLY, 4)                \
	F(PI, MTU_CAP, 4) F(PI, VL_STALL_COUNT, 3) F(PI, HOQ_LIFE, 5) F(PI, OPER_VLS, 4)          \
	F(PI, PART_ENF_IN, 1) F(PI, PART_ENF_OUT, 1) F(PI, FILTER_RAW_IN, 1)                      \
	F(PI, FILTER_RAW_OUT, 1) F(PI, M_KEY_VIOLATIONS, 16) F(PI, P_KEY_VIOLATIONS, 16)          \
	F(PI, Q_KEY_VIOLATIONS, 16) F(PI, GUID_CAP, 8) F(PI, CLIENT_REREGISTER, 1)                \
	F(PI, MCAST_PKEY_TRAP_SUPPRESS, 2) F(PI, SUBNET_TIMEOUT, 5) F(PI, RSV2, 3)                \
	F(PI, RESP_TIME, 5) F(PI, LOCAL_PHY_ERRORS, 4) F(PI, OVERRUN_ERRORS, 4)                   \
	F(PI, MAX_CREDIT_HINT, 16) F(PI, RSV3, 8) F(PI, ROUND_TRIP_LATENCY, 24)                   \
	F(PI, CAP_MASK2, 16) F(PI, SPEED_EXT_ACTIVE, 4) F(PI, SPEED_EXT_SUPPORTED, 4)             \
	F(PI, RSV4, 3) F(PI, SPEED_EXT_ENABLED, 5)
IB_LAYOUT_ENUM(PI, PORT_INFO_LIST)
/* Fields defined since XDR inside RSV3, which stays one component of a PortInfoRecord. */
enum {
	PI_SPEED_EXT2_ACTIVE = PI_RSV3 + 1,
	PI_SPEED_EXT2_SUPPORTED = PI_RSV3 + 3,
	PI_SPEED_EXT2_ENABLED = PI_RSV3 + 5,
};
enum { PI_SPEED_EXT2_ACTIVE_W = 2, PI_SPEED_EXT2_SUPPORTED_W = 2, PI_SPEED_EXT2_ENABLED_W = 3 };

#define SM_INFO_LIST(F)                                                                            \
	F(SMI, GUID, 64)                                                                           \
	F(SMI, SM_KEY, 64) F(SMI, ACT_COUNT, 32) F(SMI, PRIORITY, 4) F(SMI, STATE, 4)
IB_LAYOUT_ENUM(SMI, SM_INFO_LIST)
/* Extension of SMInfo by us in reserved data of the SMP (sm/elect/elect_proof.c). */
#define SM_INFO_PROOF_LIST(F)                                                                      \
	F(SMX, INFO, 168) F(SMX, RSV, 24) F(SMX, NONCE, 64) F(SMX, SEED, 32) F(SMX, EPOCH, 32)     \
	F(SMX, PROOF, 128)
IB_LAYOUT_ENUM(SMX, SM_INFO_PROOF_LIST)

/* MLNX ExtendedPortInfo: FDR10 on and off. */
#define EXT_PORT_INFO_LIST(F)                                                                      \
	F(EPI, RSV0, 24) F(EPI, STATE_CHANGE_ENABLE, 8) F(EPI, RSV1, 24)                          \
	F(EPI, SPEED_SUPPORTED, 8) F(EPI, RSV2, 24) F(EPI, SPEED_ENABLED, 8) F(EPI, RSV3, 24)     \
	F(EPI, SPEED_ACTIVE, 8)
IB_LAYOUT_ENUM(EPI, EXT_PORT_INFO_LIST)
#define EPI_SPEED_FDR10 0x01

_Static_assert(NI_BYTES == 40 && SI_BYTES == 20 && PI_BYTES == 64 && SMI_BYTES == 21,
	       "layout sizes of chapter 14.2.5");
_Static_assert(EPI_BYTES == 16, "used part of ExtendedPortInfo");

/* The field list of an attribute as rows, for printing and comparing; NULL: it has no layout. */
const struct ib_field *ib_attr_fields(uint16_t attr, size_t *ret_n);
const char *ib_attr_name(uint16_t attr);
