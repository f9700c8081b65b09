// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records of Subnet Administration, and the SA header (IBA vol. 1 chapter 15.2).
 *
 * A record's list is in order of the specification: row n is bit n of the component mask, reserved
 * rows included (PR_PKEY_C is the number of the bit, SA_COMP(PR_PKEY) the bit). Records that wrap
 * an SMP attribute (NodeRecord ...) list their head only; the attribute follows at P_BYTES, its
 * fields in the order of ib/attrs.h behind the head's.
 */
#pragma once

#include "ib/attrs.h"
#include "ib/layout.h"
#include "ib/mad.h"
#include "ib/notices.h"

enum sa_attr {
	SA_CLASS_PORT_INFO = 0x0001,
	SA_NOTICE = 0x0002,
	SA_INFORM_INFO = 0x0003,
	SA_NODE_RECORD = 0x0011,
	SA_PORT_INFO_RECORD = 0x0012,
	SA_SL2VL_RECORD = 0x0013,
	SA_SWITCH_INFO_RECORD = 0x0014,
	SA_LFT_RECORD = 0x0015,
	SA_MFT_RECORD = 0x0017,
	SA_SM_INFO_RECORD = 0x0018,
	SA_LINK_RECORD = 0x0020,
	SA_GUID_INFO_RECORD = 0x0030,
	SA_SERVICE_RECORD = 0x0031,
	SA_PKEY_TABLE_RECORD = 0x0033,
	SA_PATH_RECORD = 0x0035,
	SA_VLARB_RECORD = 0x0036,
	SA_MC_MEMBER_RECORD = 0x0038,
	SA_MULTI_PATH_RECORD = 0x003A,
	SA_INFORM_INFO_RECORD = 0x00F3,
};

/* Status of SA responses (15.2.2, table 185). */
enum sa_status {
	SA_OK = 0,
	SA_NO_RESOURCES = 0x0100,
	SA_REQ_INVALID = 0x0200,
	SA_NO_RECORDS = 0x0300,
	SA_TOO_MANY_RECORDS = 0x0400,
	SA_REQ_INVALID_GID = 0x0500,
	SA_REQ_INSUFFICIENT_COMPONENTS = 0x0600,
	SA_REQ_DENIED = 0x0700,
};

/* Selectors of MTU, rate and packet life time (15.2.5.16). */
enum sa_selector { SA_GREATER = 0, SA_LESS = 1, SA_EXACT = 2, SA_BEST = 3 };

#define SA_COMP(FIELD)	   (1ull << FIELD##_C)
#define SA_HAS(mask, FIELD) (((mask) >> FIELD##_C) & 1)

/* Common MAD header, RMPP header, SA header: 56 bytes, then data. */
#define SA_HEADER_LIST(F)                                                                          \
	F(SAH, BASE_VERSION, 8) F(SAH, CLASS, 8) F(SAH, CLASS_VERSION, 8) F(SAH, METHOD, 8)       \
	F(SAH, STATUS, 16) F(SAH, CLASS_SPECIFIC, 16) F(SAH, TID, 64) F(SAH, ATTR_ID, 16)         \
	F(SAH, RSV1, 16) F(SAH, ATTR_MOD, 32) F(SAH, RMPP_VERSION, 8) F(SAH, RMPP_TYPE, 8)        \
	F(SAH, RMPP_RESP_TIME, 5) F(SAH, RMPP_FLAGS, 3) F(SAH, RMPP_STATUS, 8)                    \
	F(SAH, RMPP_SEGMENT, 32) F(SAH, RMPP_LENGTH, 32) F(SAH, SM_KEY, 64)                       \
	F(SAH, ATTR_OFFSET, 16) F(SAH, RSV2, 16) F(SAH, COMP_MASK, 64)
IB_LAYOUT_ENUM(SAH, SA_HEADER_LIST)
#define SA_DATA	     56
#define SA_DATA_SIZE (MAD_SIZE - SA_DATA)
#define RMPP_ACTIVE  1u
#define RMPP_FIRST   2u
#define RMPP_LAST    4u

#define CPI_LIST(F)                                                                                \
	F(CPI, BASE_VERSION, 8)                                                                    \
	F(CPI, CLASS_VERSION, 8) F(CPI, CAP_MASK, 16) F(CPI, CAP_MASK2, 27) F(CPI, RESP_TIME, 5)   \
		F(CPI, REDIRECT_GID, 128) F(CPI, REDIRECT_TCLASS, 8) F(CPI, REDIRECT_SL, 4) F(     \
			CPI, REDIRECT_FLOW, 20) F(CPI, REDIRECT_LID, 16) F(CPI, REDIRECT_PKEY, 16) \
			F(CPI, RSV1, 8) F(CPI, REDIRECT_QP, 24) F(CPI, REDIRECT_QKEY, 32)          \
				F(CPI, TRAP_GID, 128) F(CPI, TRAP_TCLASS, 8) F(CPI, TRAP_SL, 4)    \
					F(CPI, TRAP_FLOW, 20) F(CPI, TRAP_LID, 16)                 \
						F(CPI, TRAP_PKEY, 16) F(CPI, TRAP_HOP, 8)          \
							F(CPI, TRAP_QP, 24) F(CPI, TRAP_QKEY, 32)
IB_LAYOUT_ENUM(CPI, CPI_LIST)

/* Heads of records that wrap an SMP attribute. */
#define NODE_RECORD_LIST(F) F(NR, LID, 16) F(NR, RSV1, 16)
IB_LAYOUT_ENUM(NR, NODE_RECORD_LIST) /* NodeInfo, then NodeDescription (64 bytes) */
IB_LAYOUT_INDEX(NR, NODE_RECORD_LIST)

#define PORT_INFO_RECORD_LIST(F) F(PIR, LID, 16) F(PIR, PORT_NUM, 8) F(PIR, OPTIONS, 8)
IB_LAYOUT_ENUM(PIR, PORT_INFO_RECORD_LIST)
IB_LAYOUT_INDEX(PIR, PORT_INFO_RECORD_LIST)

#define SWITCH_INFO_RECORD_LIST(F) F(SIR, LID, 16) F(SIR, RSV1, 16)
IB_LAYOUT_ENUM(SIR, SWITCH_INFO_RECORD_LIST)
IB_LAYOUT_INDEX(SIR, SWITCH_INFO_RECORD_LIST)

#define SM_INFO_RECORD_LIST(F) F(SMR, LID, 16) F(SMR, RSV1, 16)
IB_LAYOUT_ENUM(SMR, SM_INFO_RECORD_LIST)
IB_LAYOUT_INDEX(SMR, SM_INFO_RECORD_LIST)

#define LINK_RECORD_LIST(F)                                                                        \
	F(LKR, FROM_LID, 16) F(LKR, FROM_PORT, 8) F(LKR, TO_PORT, 8) F(LKR, TO_LID, 16)
IB_LAYOUT_ENUM(LKR, LINK_RECORD_LIST)
IB_LAYOUT_INDEX(LKR, LINK_RECORD_LIST)

#define LFT_RECORD_LIST(F) F(LFR, LID, 16) F(LFR, BLOCK, 16) F(LFR, RSV1, 32) F(LFR, TABLE, 512)
IB_LAYOUT_ENUM(LFR, LFT_RECORD_LIST)
IB_LAYOUT_INDEX(LFR, LFT_RECORD_LIST)

#define MFT_RECORD_LIST(F)                                                                         \
	F(MFR, LID, 16) F(MFR, POSITION, 4) F(MFR, RSV1, 3) F(MFR, BLOCK, 9) F(MFR, RSV2, 32)     \
	F(MFR, TABLE, 512)
IB_LAYOUT_ENUM(MFR, MFT_RECORD_LIST)
IB_LAYOUT_INDEX(MFR, MFT_RECORD_LIST)

#define SL2VL_RECORD_LIST(F)                                                                       \
	F(SLR, LID, 16) F(SLR, IN_PORT, 8) F(SLR, OUT_PORT, 8) F(SLR, RSV1, 32) F(SLR, TABLE, 64)
IB_LAYOUT_ENUM(SLR, SL2VL_RECORD_LIST)
IB_LAYOUT_INDEX(SLR, SL2VL_RECORD_LIST)

#define VLARB_RECORD_LIST(F)                                                                       \
	F(VAR, LID, 16) F(VAR, PORT, 8) F(VAR, BLOCK, 8) F(VAR, RSV1, 32) F(VAR, TABLE, 512)
IB_LAYOUT_ENUM(VAR, VLARB_RECORD_LIST)
IB_LAYOUT_INDEX(VAR, VLARB_RECORD_LIST)

#define PKEY_TABLE_RECORD_LIST(F)                                                                  \
	F(PKR, LID, 16) F(PKR, BLOCK, 16) F(PKR, PORT, 8) F(PKR, RSV1, 24) F(PKR, TABLE, 512)
IB_LAYOUT_ENUM(PKR, PKEY_TABLE_RECORD_LIST)
IB_LAYOUT_INDEX(PKR, PKEY_TABLE_RECORD_LIST)

#define GUID_INFO_RECORD_LIST(F)                                                                   \
	F(GIR, LID, 16) F(GIR, BLOCK, 8) F(GIR, RSV1, 8) F(GIR, RSV2, 32) F(GIR, GUID0, 64)       \
	F(GIR, GUID1, 64) F(GIR, GUID2, 64) F(GIR, GUID3, 64) F(GIR, GUID4, 64) F(GIR, GUID5, 64) \
	F(GIR, GUID6, 64) F(GIR, GUID7, 64)
IB_LAYOUT_ENUM(GIR, GUID_INFO_RECORD_LIST)
IB_LAYOUT_INDEX(GIR, GUID_INFO_RECORD_LIST)

#define PATH_RECORD_LIST(F)                                                                        \
	F(PR, SERVICE_ID_MSB, 8) F(PR, SERVICE_ID_LSB, 56) F(PR, DGID, 128) F(PR, SGID, 128)      \
	F(PR, DLID, 16) F(PR, SLID, 16) F(PR, RAW, 1) F(PR, RSV1, 3) F(PR, FLOW, 20)              \
	F(PR, HOP, 8) F(PR, TCLASS, 8) F(PR, REVERSIBLE, 1) F(PR, NUMB_PATH, 7) F(PR, PKEY, 16)   \
	F(PR, QOS_CLASS, 12) F(PR, SL, 4) F(PR, MTU_SEL, 2) F(PR, MTU, 6) F(PR, RATE_SEL, 2)      \
	F(PR, RATE, 6) F(PR, LIFE_SEL, 2) F(PR, LIFE, 6) F(PR, PREFERENCE, 8) F(PR, RSV2, 48)
IB_LAYOUT_ENUM(PR, PATH_RECORD_LIST)
IB_LAYOUT_INDEX(PR, PATH_RECORD_LIST)
#define PR_HAS(mask, FIELD) SA_HAS(mask, FIELD)

#define MULTI_PATH_LIST(F)                                                                         \
	F(MPR, RAW, 1) F(MPR, RSV1, 3) F(MPR, FLOW, 20) F(MPR, HOP, 8) F(MPR, TCLASS, 8)          \
	F(MPR, REVERSIBLE, 1) F(MPR, NUMB_PATH, 7) F(MPR, PKEY, 16) F(MPR, QOS_CLASS, 12)         \
	F(MPR, SL, 4) F(MPR, MTU_SEL, 2) F(MPR, MTU, 6) F(MPR, RATE_SEL, 2) F(MPR, RATE, 6)       \
	F(MPR, LIFE_SEL, 2) F(MPR, LIFE, 6) F(MPR, SERVICE_ID_MSB, 8) F(MPR, INDEPENDENCE, 8)     \
	F(MPR, SGID_COUNT, 8) F(MPR, DGID_COUNT, 8) F(MPR, SERVICE_ID_LSB, 56)
IB_LAYOUT_ENUM(MPR, MULTI_PATH_LIST) /* the GIDs follow: sources, then destinations */
/* Bit 18 is a reserved component without bytes: the order of the list gives bits up to 17 only. */
IB_LAYOUT_INDEX(MPR_ROW, MULTI_PATH_LIST)
#define MPR_C(FIELD) (FIELD <= MPR_INDEPENDENCE ? FIELD##_C : FIELD##_C + 1)
#define MPR_HAS(mask, FIELD) (((mask) >> MPR_C(FIELD)) & 1)

#define MC_MEMBER_LIST(F)                                                                          \
	F(MCM, MGID, 128) F(MCM, PORT_GID, 128) F(MCM, QKEY, 32) F(MCM, MLID, 16)                 \
	F(MCM, MTU_SEL, 2) F(MCM, MTU, 6) F(MCM, TCLASS, 8) F(MCM, PKEY, 16) F(MCM, RATE_SEL, 2)  \
	F(MCM, RATE, 6) F(MCM, LIFE_SEL, 2) F(MCM, LIFE, 6) F(MCM, SL, 4) F(MCM, FLOW, 20)        \
	F(MCM, HOP, 8) F(MCM, SCOPE, 4) F(MCM, JOIN_STATE, 4) F(MCM, PROXY_JOIN, 1)               \
	F(MCM, RSV1, 23) F(MCM, RSV2, 32)
IB_LAYOUT_ENUM(MCM, MC_MEMBER_LIST)
IB_LAYOUT_INDEX(MCM, MC_MEMBER_LIST)

/* JoinState bits (15.2.5.17). */
enum mc_join {
	MC_FULL = 1,
	MC_NON_MEMBER = 2,
	MC_SEND_ONLY_NON_MEMBER = 4,
	MC_SEND_ONLY_FULL = 8,
};

#define SERVICE_RECORD_LIST(F)                                                                     \
	F(SVR, ID, 64) F(SVR, GID, 128) F(SVR, PKEY, 16) F(SVR, RSV1, 16) F(SVR, LEASE, 32)       \
	F(SVR, KEY, 128) F(SVR, NAME, 512)                                                         \
	F(SVR, DATA8_0, 8) F(SVR, DATA8_1, 8) F(SVR, DATA8_2, 8) F(SVR, DATA8_3, 8)               \
	F(SVR, DATA8_4, 8) F(SVR, DATA8_5, 8) F(SVR, DATA8_6, 8) F(SVR, DATA8_7, 8)               \
	F(SVR, DATA8_8, 8) F(SVR, DATA8_9, 8) F(SVR, DATA8_10, 8) F(SVR, DATA8_11, 8)             \
	F(SVR, DATA8_12, 8) F(SVR, DATA8_13, 8) F(SVR, DATA8_14, 8) F(SVR, DATA8_15, 8)           \
	F(SVR, DATA16_0, 16) F(SVR, DATA16_1, 16) F(SVR, DATA16_2, 16) F(SVR, DATA16_3, 16)       \
	F(SVR, DATA16_4, 16) F(SVR, DATA16_5, 16) F(SVR, DATA16_6, 16) F(SVR, DATA16_7, 16)       \
	F(SVR, DATA32_0, 32) F(SVR, DATA32_1, 32) F(SVR, DATA32_2, 32) F(SVR, DATA32_3, 32)       \
	F(SVR, DATA64_0, 64) F(SVR, DATA64_1, 64)
IB_LAYOUT_ENUM(SVR, SERVICE_RECORD_LIST)
IB_LAYOUT_INDEX(SVR, SERVICE_RECORD_LIST)

/* InformInfo (13.4.8.3). */
#define INFORM_INFO_LIST(F)                                                                        \
	F(INF, GID, 128) F(INF, LID_BEGIN, 16) F(INF, LID_END, 16) F(INF, RSV1, 16)               \
	F(INF, IS_GENERIC, 8) F(INF, SUBSCRIBE, 8) F(INF, TYPE, 16) F(INF, TRAP, 16)              \
	F(INF, QPN, 24) F(INF, RSV2, 3) F(INF, RESP_TIME, 5) F(INF, RSV3, 8) F(INF, PRODUCER, 24)
IB_LAYOUT_ENUM(INF, INFORM_INFO_LIST)

#define INFORM_INFO_RECORD_LIST(F)                                                                 \
	F(IIR, SUBSCRIBER_GID, 128) F(IIR, ENUM, 16) F(IIR, RSV1, 48)
IB_LAYOUT_ENUM(IIR, INFORM_INFO_RECORD_LIST) /* InformInfo, then 4 bytes of padding */
IB_LAYOUT_INDEX(IIR, INFORM_INFO_RECORD_LIST)

/*
 * Reserved bytes of an InformInfoRecord (SubscriberGID, InformInfo) between managers of ours, see
 * sa/sa.h: the address to which Reports are sent. GID_PATH: they have a GRH.
 */
#define INFORM_WAY_LIST(F)                                                                         \
	F(IIW, SUBSCRIBER_GID, 128) F(IIW, ENUM, 16) F(IIW, LID, 16) F(IIW, PKEY, 16)             \
	F(IIW, SL, 4) F(IIW, GID_PATH, 1) F(IIW, RSV1, 3) F(IIW, TCLASS, 8)                       \
	F(IIW, INFORM, 288) F(IIW, FLOW, 20) F(IIW, RSV2, 4) F(IIW, HOP, 8)
IB_LAYOUT_ENUM(IIW, INFORM_WAY_LIST)

/*
 * The data (64 bytes at SVR_DATA8_0) of a manager's ServiceRecord, see sa/sa.h. Each digest is that
 * of one group of settings (sm/answers/replica_config.c); 0: not known. EPOCH differs between two
 * terms of a master. CHANNEL: the version of its channel (sm/channel/channel.h); 0: it has none.
 * TENANTS: the generation of its table of partitions made at run time. RSV3 is garbled by
 * libumad2sim.
 */
#define MANAGER_CONFIG_LIST(F)                                                                     \
	F(SMC, LAYOUT, 8) F(SMC, STATE, 8) F(SMC, CHANNEL, 8) F(SMC, RSV1, 8) F(SMC, DIGEST0, 32) \
	F(SMC, DIGEST1, 32) F(SMC, DIGEST2, 32) F(SMC, DIGEST3, 32) F(SMC, DIGEST4, 32)           \
	F(SMC, DIGEST5, 32) F(SMC, DIGEST6, 32) F(SMC, DIGEST7, 32) F(SMC, TENANTS, 64)           \
	F(SMC, EPOCH, 32) F(SMC, VERSION, 64) F(SMC, RSV3, 64)
IB_LAYOUT_ENUM(SMC, MANAGER_CONFIG_LIST)
#define SMC_DIGESTS 8

/*
 * A part of a message between managers of ours, and its answer, at SA_DATA; up to
 * CHANNEL_PART_BYTES of the message follow (sm/channel/channel_internal.h). TAG authenticates all
 * bytes before and behind it.
 */
#define CHANNEL_PART_LIST(F)                                                                       \
	F(CHP, VERSION, 8) F(CHP, KIND, 8) F(CHP, STREAM, 8) F(CHP, REASON, 8)                     \
	F(CHP, SESSION, 32) F(CHP, SERIAL, 32) F(CHP, LENGTH, 32) F(CHP, OFFSET, 32)               \
	F(CHP, TAG, 128)
IB_LAYOUT_ENUM(CHP, CHANNEL_PART_LIST)

/*
 * Data of parts by which managers authenticate: port GUID and life of the sender, its nonce, and
 * the nonce that it answers.
 */
#define CHANNEL_MEETING_LIST(F)                                                                    \
	F(CHM, GUID, 64) F(CHM, LIFE, 64) F(CHM, NONCE, 128) F(CHM, ANSWERED, 128)
IB_LAYOUT_ENUM(CHM, CHANNEL_MEETING_LIST)
/* libumad2sim garbles bytes from 224 on of a MAD: they are not used. */
#define CHANNEL_PART_BYTES 128
/* Not an attribute of chapter 15.2.5; sent only to managers. */
#define SA_CHANNEL	   0xFF4D

_Static_assert(SAH_BYTES == SA_DATA && CPI_BYTES == 72 && PR_BYTES == 64 && MPR_BYTES == 24 &&
		       MCM_BYTES == 56 && SVR_BYTES == 176 && INF_BYTES == 36 &&
		       IIR_BYTES == 24 && GIR_BYTES == 72 && LKR_BYTES == 6 &&
		       LFR_BYTES == 72 && MFR_BYTES == 72 && SLR_BYTES == 16 && VAR_BYTES == 72 &&
		       PKR_BYTES == 72 && IIW_BYTES == 64 && SMC_BYTES == 64 && CHP_BYTES == 36 &&
		       CHM_BYTES == 48 &&
		       SVR_DATA8_0 + SMC_VERSION == SVR_DATA64_0,
	       "record sizes of chapter 15.2.5");

const char *
sa_attr_name(uint16_t attr); /* "PathRecord"; "attribute 0x1234" never: NULL if unknown */
const char *
sa_status_name(unsigned status); /* "no records"; as mad_status_name() for common codes */
