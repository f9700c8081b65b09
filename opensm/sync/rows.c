// SPDX-License-Identifier: BSD-2-Clause
/*
 * All that sync/ writes, a row per attribute: how often a device may refuse, when its cell is
 * unknown, how its answer is taken in. "Add an attribute" in CONTRIBUTING.md walks through this
 * table. Outside of it, with the reason:
 *
 *   P_Key, TRIM (pkeys.c)   live ports lose keys before any port gets one, so an unknown table is
 *                           read first: a comparison over two passes, not a want of its own
 *   SL2VL wildcards         one Set for many cells of many ports (14.2.5.8, plan/slvl.h): its
 *                           effect is judged over all of them, and after a refusal rows are
 *                           written singly
 *   PortInfo (link.c)       state is a path (INIT, ARMED, ACTIVE), the write form differs from the
 *                           read form, fields are given up one by one, and a refused Set may have
 *                           been taken (7.2.7)
 *   SwitchInfo              one cell with three wants: PortStateChange and LinearFDBTop in stages
 *                           of their own (lft.c), MulticastFDBTop outside of runs (mft_cells.c)
 *   LFT (lft.c)             the order is that of the transition: drained entries, epochs, blocks
 *                           that must stay as they are
 *   MFT (mft.c)             groups come and go outside of runs; their order is plan/mft_order
 *   commands                effects sent once, kept nowhere: PortStateChange cleared by discovery,
 *                           a port switched off, HANDOVER (sync_command)
 */
#include <assert.h>
#include <stdlib.h>

#include "sync/sync_internal.h"
#include "sync/mft.h"
#include "util/mem.h"

#define LIMITS(otherwise, refused, silent)                                                         \
	.limit = { [VERDICT_OTHERWISE] = (otherwise), [VERDICT_REFUSED] = (refused),              \
		   [VERDICT_SILENT] = (silent) }
#define NOT_ANSWERED   (AFTER(VERDICT_SILENT) | AFTER(VERDICT_CANCELLED))
#define NOT_TAKEN      (NOT_ANSWERED | AFTER(VERDICT_REFUSED))
#define NO_PORT_TABLE  .table = N_PORT_TABLES
#define IS_PORT_TABLE(t)                                                                           \
	.table = (t), .unknown = NOT_ANSWERED, .observe = cells_observe,                           \
	.forget = cells_forget, .tries = cells_tries, .give_up = cells_give_up

#define ARM_ROW(stage)                                                                             \
	{ IB_ATTR_PORT_INFO, stage, NO_PORT_TABLE, LIMITS(1, 3, 0),                                \
	  .unknown = AFTER(VERDICT_SILENT), .observe = link_observe, .forget = link_doubt,         \
	  .tries = link_tries, .give_up = link_note_unstored, .look_into = link_look_into }

static const struct sync_row rows[] = {
	{ IB_ATTR_PKEY_TABLE, ST_TRIM, IS_PORT_TABLE(TABLE_PKEYS), LIMITS(0, 0, 0),
	  .want = pkeys_want, .fill = pkeys_fill, .ended = pkeys_trim_ended }, /* 14.2.5.7 */
	{ IB_ATTR_PKEY_TABLE, ST_IDLE, IS_PORT_TABLE(TABLE_PKEYS), LIMITS(1, 3, 0),
	  .want = pkeys_want, .fill = pkeys_fill,
	  .is_overtaken = pkeys_are_overtaken }, /* 14.2.5.7 */
	{ IB_ATTR_GUID_INFO, ST_IDLE, IS_PORT_TABLE(TABLE_GUIDS), LIMITS(1, 3, 0),
	  .want = guids_want, .fill = guids_fill, .is_overtaken = guids_are_overtaken,
	  .ended = guids_ended }, /* 14.2.5.5 */
	{ IB_ATTR_VLARB, ST_IDLE, IS_PORT_TABLE(TABLE_VLARB), LIMITS(1, 3, 0),
	  .want = shares_want, .fill = shares_fill }, /* 14.2.5.9 */
	{ IB_ATTR_SL2VL, ST_IDLE, IS_PORT_TABLE(TABLE_SL2VL), LIMITS(1, 3, 0),
	  .want = slvl_want, .fill = slvl_fill, .is_quiet = slvl_is_quiet }, /* 14.2.5.8 */
	{ IB_ATTR_LFT, ST_IDLE, NO_PORT_TABLE, LIMITS(0, NODE_LFT_TRIES, NODE_LFT_TRIES),
	  .unknown = NOT_TAKEN, .observe = lft_observe, .forget = lft_forget,
	  .tries = lft_tries, .give_up = lft_give_up }, /* 14.2.5.10 */
	{ IB_ATTR_SWITCH_INFO, ST_CLEAR, NO_PORT_TABLE,
	  .observe = lft_observe_clear }, /* 14.2.5.4 */
	{ IB_ATTR_SWITCH_INFO, ST_IDLE, NO_PORT_TABLE, .observe = lft_observe_top }, /* 14.2.5.4 */
	{ IB_ATTR_MLNX_EXT_PORT_INFO, ST_IDLE, NO_PORT_TABLE, .unknown = NOT_TAKEN,
	  .observe = link_observe_speed, .forget = link_forget_speed }, /* NVIDIA's */
	ARM_ROW(ST_KEYS), /* 14.2.5.6 */
	ARM_ROW(ST_ARM),
	{ IB_ATTR_PORT_INFO, ST_IDLE, NO_PORT_TABLE, .unknown = AFTER(VERDICT_SILENT),
	  .observe = link_observe_state, .forget = link_doubt,
	  .look_into = link_look_into }, /* 14.2.5.6 */
};

const struct sync_row mft_row = {
	IB_ATTR_MFT, ST_IDLE, NO_PORT_TABLE, LIMITS(MFT_TRIES, MFT_TRIES, MFT_TRIES)
}; /* 14.2.5.12; and MulticastFDBTop */

static const struct sync_row *row_in(uint16_t attr, enum stage stage)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].attr == attr && (rows[i].stage == ST_IDLE || rows[i].stage == stage))
			return &rows[i];
	abort(); /* no caller has another attribute */
}

const struct sync_row *sync_row_of(const struct sync *s, uint16_t attr)
{
	return row_in(attr, s->stage);
}

const struct sync_row *sync_plain_row(uint16_t attr)
{
	return row_in(attr, ST_IDLE);
}

enum verdict sync_verdict(const struct mad_result *r, bool as_asked)
{
	switch (r->end) {
	case MAD_END_ANSWERED:
		return as_asked ? VERDICT_STORED : VERDICT_OTHERWISE;
	case MAD_END_BAD_STATUS:
		return VERDICT_REFUSED;
	case MAD_END_TIMEOUT:
		return VERDICT_SILENT;
	case MAD_END_CANCELLED:
		break;
	}
	return VERDICT_CANCELLED;
}

bool sync_tries_are_over(const struct sync_row *row, uint8_t *tries, enum verdict v)
{
	unsigned limit = row->limit[v];
	bool answered = v == VERDICT_STORED || v == VERDICT_OTHERWISE;

	if (answered && limit <= 1)
		*tries = 0;
	else if (limit)
		*tries = (uint8_t)MIN(*tries + 1u, limit);
	return limit && (limit == 1 || *tries == limit);
}
