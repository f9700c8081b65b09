// SPDX-License-Identifier: BSD-2-Clause
/* Scalars of the field, always in host order: LIDs and GUIDs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint16_t lid_t;
typedef uint64_t guid_t;

#define LID_MIN_UCAST ((lid_t)0x0001)
#define LID_MAX_UCAST ((lid_t)0xBFFF)
#define LID_PERMISSIVE ((lid_t)0xFFFF)

/* LFT entry of a LID without a route. */
#define LFT_NO_PORT ((uint8_t)0xFF)
#define LFT_BLOCK_LIDS 64

/* IBA limits: 254 external ports per switch, 63 hops on a directed route. */
#define IB_MAX_PORTS 254
#define IB_MAX_HOPS 63

static inline bool lid_is_unicast(unsigned lid)
{
	return lid >= LID_MIN_UCAST && lid <= LID_MAX_UCAST;
}
