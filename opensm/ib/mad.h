// SPDX-License-Identifier: BSD-2-Clause
/*
 * MAD and SMP headers (IBA chapters 13.4 and 14.2.1), directed routes, status in words.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ib/attrs.h"
#include "ib/layout.h"
#include "util/types.h"

#define MAD_SIZE 256

enum mad_class {
	MAD_CLASS_SMI_LID = 0x01,
	MAD_CLASS_SA = 0x03,
	MAD_CLASS_PERF = 0x04,
	MAD_CLASS_CC = 0x21,
	MAD_CLASS_SMI_DR = 0x81,
};

enum mad_method {
	MAD_GET = 0x01,
	MAD_SET = 0x02,
	MAD_SEND = 0x03,
	MAD_TRAP = 0x05,
	MAD_REPORT = 0x06,
	MAD_TRAP_REPRESS = 0x07,
	MAD_SA_GET_TABLE = 0x12,
	MAD_SA_GET_TRACE_TABLE = 0x13,
	MAD_SA_GET_MULTI = 0x14,
	MAD_SA_DELETE = 0x15,
	MAD_GET_RESP = 0x81,
	MAD_REPORT_RESP = 0x86,
};

#define MAD_RESPONSE_BIT 0x80

/* Q_Key of QP1 (IBA 10.2.5). */
#define MAD_QP1_QKEY 0x80010000u

/* Status field of a response without the direction bit (13.4.7): 0 is success. */
enum mad_status {
	MAD_STATUS_BUSY = 0x0001,
	MAD_STATUS_REDIRECT = 0x0002,
	MAD_STATUS_BAD_VERSION = 0x0004,
	MAD_STATUS_BAD_METHOD = 0x0008,
	MAD_STATUS_BAD_METHOD_ATTR = 0x000C,
	MAD_STATUS_BAD_VALUE = 0x001C,
};

#define SMP_LIST(F)                                                                                \
	F(SMP, BASE_VERSION, 8)                                                                    \
	F(SMP, CLASS, 8) F(SMP, CLASS_VERSION, 8) F(SMP, METHOD, 8) F(SMP, DIRECTION, 1)           \
		F(SMP, STATUS, 15) F(SMP, HOP_POINTER, 8) F(SMP, HOP_COUNT, 8) F(SMP, TID, 64)     \
			F(SMP, ATTR_ID, 16) F(SMP, RSV1, 16) F(SMP, ATTR_MOD, 32)                  \
				F(SMP, M_KEY, 64) F(SMP, DR_SLID, 16) F(SMP, DR_DLID, 16)
IB_LAYOUT_ENUM(SMP, SMP_LIST)

#define SMP_DATA	 64  /* byte offset of the attribute */
#define SMP_INITIAL_PATH 128 /* 64 bytes; entry 0 is unused */
#define SMP_RETURN_PATH	 192

/* The common header (13.4.3) up to AttributeModifier: the bytes of a lost request that return. */
#define MAD_HEADER_BYTES 24

_Static_assert(SMP_BYTES == 36, "SMP header of 14.2.1.2");

/* A directed route: out of port hop[1], then hop[2] ... hop[length]; length 0 is our own port. */
struct dr_path {
	uint8_t length; /* 0..IB_MAX_HOPS */
	uint8_t hop[IB_MAX_HOPS + 1];
};

/* Appends a hop through `port` to `path`. 0, or -E2BIG beyond 63 hops. */
int dr_path_extend(const struct dr_path *path, uint8_t port, struct dr_path *ret);

/* "0,1,18" as infiniband-diags take it after -D. Returns `ret`. */
#define DR_PATH_STRLEN 256
char *dr_path_str(const struct dr_path *path, char ret[DR_PATH_STRLEN]);

/* The fields that distinguish SMP requests. */
struct smp_head {
	uint8_t method;
	uint16_t attr;
	uint32_t mod;
	uint64_t m_key;
	uint64_t tid;
};

/* Fills all 256 bytes: a directed-route request with `data` (SMP_DATA_SIZE bytes; NULL: zeroes). */
void smp_build_dr(uint8_t mad[MAD_SIZE], const struct smp_head *head, const struct dr_path *path,
		  const uint8_t *data);
/* Fills all 256 bytes: a LID-routed request with `data` (SMP_DATA_SIZE bytes; NULL: zeroes). */
void smp_build_lid(uint8_t mad[MAD_SIZE], const struct smp_head *head, const uint8_t *data);
/*
 * Turns the request in `mad` into its response in place: method (a Trap becomes TrapRepress),
 * direction, status; data as given, NULL leaves that of the request.
 */
void smp_make_response(uint8_t mad[MAD_SIZE], uint16_t status, const uint8_t *data);

static inline const uint8_t *smp_data(const uint8_t *mad)
{
	return mad + SMP_DATA;
}

const char *mad_method_name(unsigned method);
/* "ok", "invalid field", "unsupported method or attribute" ... */
const char *mad_status_name(unsigned status);
