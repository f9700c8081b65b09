// SPDX-License-Identifier: BSD-2-Clause
#include "congestion/want.h"

#include <assert.h>
#include <string.h>

#include "ib/records.h"
#include "util/mem.h"

/* ---- switches -------------------------------------------------------------------------------- */

/* What is written of the setting: a switch without credit starvation gets none of it. */
static unsigned parts_of(const struct conf *c, const struct cc_device *d)
{
	unsigned parts = c->cc_sw_cong_setting_control_map;

	if (!(d->caps & CC_CAP_CREDIT))
		parts &= ~(unsigned)(CC_PART_CREDIT | CC_PART_STARVATION);
	return parts;
}

static void fill_switch(const struct conf *c, unsigned parts, uint8_t *ret)
{
	const struct conf_cct_entry *delay = &c->cc_sw_cong_setting_credit_starvation_return_delay;

	ib_put(ret, CCS_CONTROL_MAP, parts);
	memcpy(ib_at(ret, CCS_VICTIM_MASK), c->cc_sw_cong_setting_victim_mask.bytes, 32);
	memcpy(ib_at(ret, CCS_CREDIT_MASK), c->cc_sw_cong_setting_credit_mask.bytes, 32);
	ib_put(ret, CCS_THRESHOLD, c->cc_sw_cong_setting_threshold);
	ib_put(ret, CCS_PACKET_SIZE, c->cc_sw_cong_setting_packet_size);
	ib_put(ret, CCS_CREDIT_THRESHOLD, c->cc_sw_cong_setting_credit_starvation_threshold);
	ib_put(ret, CCS_RETURN_SHIFT, delay->shift);
	ib_put(ret, CCS_RETURN_MULTIPLIER, delay->multiplier);
	ib_put(ret, CCS_MARKING_RATE, c->cc_sw_cong_setting_marking_rate);
}

/* Fields of the setting, and the part that each belongs to. */
static const struct {
	uint16_t offset, end;
	enum cc_switch_part part;
} switch_fields[] = {
	{ CCS_VICTIM_MASK, CCS_CREDIT_MASK, CC_PART_VICTIM },
	{ CCS_CREDIT_MASK, CCS_THRESHOLD, CC_PART_CREDIT },
	{ CCS_THRESHOLD, CCS_CREDIT_THRESHOLD, CC_PART_THRESHOLD },
	{ CCS_CREDIT_THRESHOLD, CCS_MARKING_RATE, CC_PART_STARVATION },
	{ CCS_MARKING_RATE, CCS_BITS, CC_PART_RATE },
};

static bool switch_is_met(const uint8_t *want, const uint8_t *have)
{
	unsigned parts = (unsigned)ib_get(want, CCS_CONTROL_MAP);

	for (size_t i = 0; i < ARRAY_SIZE(switch_fields); i++) {
		size_t at = switch_fields[i].offset / 8, len = switch_fields[i].end / 8 - at;

		if (parts & switch_fields[i].part && memcmp(want + at, have + at, len) != 0)
			return false;
	}
	return true;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static size_t sl_at(unsigned sl)
{
	return CCA_BYTES + (size_t)sl * CCL_BYTES;
}

/* An SL that is never slowed down has an entry of zeros: marks do not move its index. */
static void fill_sl(const struct conf *c, unsigned sl, uint8_t *ret)
{
	if (c->cc_no_throttle_sls >> sl & 1)
		return;
	ib_put(ret, CCL_TIMER, c->cc_ca_cong_setting_ccti_timer.values[sl]);
	ib_put(ret, CCL_INCREASE, c->cc_ca_cong_setting_ccti_increase.values[sl]);
	ib_put(ret, CCL_TRIGGER, c->cc_ca_cong_setting_trigger_threshold.values[sl]);
	ib_put(ret, CCL_MIN, c->cc_ca_cong_setting_ccti_min.values[sl]);
}

static void fill_ca(const struct conf *c, uint8_t *ret)
{
	ib_put(ret, CCA_PORT_CONTROL, c->cc_ca_cong_setting_port_control);
	ib_put(ret, CCA_CONTROL_MAP, c->cc_ca_cong_setting_control_map | c->cc_no_throttle_sls);
	for (unsigned sl = 0; sl < CC_SLS; sl++)
		fill_sl(c, sl, ret + sl_at(sl));
}

static bool ca_is_met(const uint8_t *want, const uint8_t *have)
{
	unsigned sls = (unsigned)ib_get(want, CCA_CONTROL_MAP);

	if (ib_get(want, CCA_PORT_CONTROL) != ib_get(have, CCA_PORT_CONTROL))
		return false;
	for (unsigned sl = 0; sl < CC_SLS; sl++)
		if (sls >> sl & 1 &&
		    memcmp(want + sl_at(sl), have + sl_at(sl), CCL_RSV0 / 8) != 0)
			return false;
	return true;
}

/* ---- the control table ----------------------------------------------------------------------- */

/* Entries that the device has room for; a table without any has one of no delay. */
static unsigned entries_of(const struct conf *c, const struct cc_device *d)
{
	return MAX(1u, MIN(c->cc_cct.n, d->blocks * (unsigned)CC_BLOCK_ENTRIES));
}

bool cc_is_cut(const struct conf *c, const struct cc_device *d)
{
	return !d->is_switch && d->blocks && entries_of(c, d) < c->cc_cct.n;
}

static void fill_table(const struct conf *c, const struct cc_device *d, unsigned block,
		       uint8_t *ret)
{
	unsigned n = entries_of(c, d);

	ib_put(ret, CCT_LIMIT, n - 1);
	for (unsigned i = 0; i < CC_BLOCK_ENTRIES; i++) {
		unsigned at = block * CC_BLOCK_ENTRIES + i;
		uint8_t *entry = ret + CCT_BYTES + (size_t)i * CCE_BYTES;

		if (at >= MIN(n, c->cc_cct.n))
			break;
		ib_put(entry, CCE_SHIFT, c->cc_cct.entries[at].shift);
		ib_put(entry, CCE_MULTIPLIER, c->cc_cct.entries[at].multiplier);
	}
}

/* Entries behind the limit do not count. */
static bool table_is_met(unsigned block, const uint8_t *want, const uint8_t *have)
{
	unsigned n = (unsigned)ib_get(want, CCT_LIMIT) + 1 - block * CC_BLOCK_ENTRIES;

	return ib_get(want, CCT_LIMIT) == ib_get(have, CCT_LIMIT) &&
	       memcmp(want + CCT_BYTES, have + CCT_BYTES,
		      (size_t)MIN(n, (unsigned)CC_BLOCK_ENTRIES) * CCE_BYTES) == 0;
}

/* ---- cells ----------------------------------------------------------------------------------- */

unsigned cc_cells(const struct conf *c, const struct cc_device *d)
{
	if (d->is_switch || !d->blocks)
		return CC_CELL_TABLE;
	return CC_CELL_TABLE + (entries_of(c, d) + CC_BLOCK_ENTRIES - 1) / CC_BLOCK_ENTRIES;
}

enum cc_attr cc_cell_attr(const struct cc_device *d, enum cc_cell cell, uint32_t *ret_mod)
{
	assert(cell < CC_CELLS);
	*ret_mod = cell < CC_CELL_TABLE ? 0 : cell - CC_CELL_TABLE;
	if (cell == CC_CELL_KEY)
		return CC_ATTR_KEY_INFO;
	if (cell == CC_CELL_TRAPS)
		return CC_ATTR_CLASS_PORT_INFO;
	if (cell >= CC_CELL_TABLE)
		return CC_ATTR_TABLE;
	return d->is_switch ? CC_ATTR_SWITCH : CC_ATTR_CA;
}

static bool want_key(const struct conf *c, uint64_t key, uint8_t *ret)
{
	if (c->cc_key_enable == CC_KEY_LEFT || (c->cc_key_enable == CC_KEY_OWN && !key))
		return false;
	if (c->cc_key_enable == CC_KEY_NONE)
		return true;
	ib_put(ret, CCK_KEY, key);
	ib_put(ret, CCK_PROTECT, c->cc_key_protect_bit);
	ib_put(ret, CCK_LEASE, c->cc_key_lease_period);
	return true;
}

/* A key that is given is watched. */
static bool want_traps(const struct conf *c, const struct cc_device *d, uint64_t key, uint8_t *ret)
{
	if (c->cc_key_enable != CC_KEY_OWN || !key || !d->trap_lid)
		return false;
	ib_put(ret, CPI_TRAP_LID, d->trap_lid);
	ib_put(ret, CPI_TRAP_PKEY, 0xFFFF);
	ib_put(ret, CPI_TRAP_QP, 1);
	ib_put(ret, CPI_TRAP_QKEY, MAD_QP1_QKEY);
	return true;
}

static bool traps_are_met(const uint8_t *want, const uint8_t *have)
{
	return ib_get(want, CPI_TRAP_LID) == ib_get(have, CPI_TRAP_LID) &&
	       ib_get(want, CPI_TRAP_QP) == ib_get(have, CPI_TRAP_QP) &&
	       ib_get(want, CPI_TRAP_QKEY) == ib_get(have, CPI_TRAP_QKEY);
}

bool cc_want(const struct conf *c, const struct cc_device *d, enum cc_cell cell, uint64_t key,
	     uint8_t ret[CC_DATA_SIZE])
{
	unsigned parts = parts_of(c, d);

	assert(cell < CC_CELLS);
	memset(ret, 0, CC_DATA_SIZE);
	if (cell == CC_CELL_KEY)
		return want_key(c, key, ret);
	if (cell == CC_CELL_TRAPS)
		return want_traps(c, d, key, ret);
	if (cell >= cc_cells(c, d))
		return false;
	if (cell >= CC_CELL_TABLE)
		fill_table(c, d, cell - CC_CELL_TABLE, ret);
	else if (d->is_switch)
		fill_switch(c, parts, ret);
	else
		fill_ca(c, ret);
	return cell != CC_CELL_SETTING || !d->is_switch || parts;
}

bool cc_is_met(const struct cc_device *d, enum cc_cell cell, const uint8_t want[CC_DATA_SIZE],
	       const uint8_t have[CC_DATA_SIZE])
{
	assert(cell < CC_CELLS);
	if (cell == CC_CELL_KEY)
		return memcmp(want, have, CCK_VIOLATIONS / 8) == 0;
	if (cell == CC_CELL_TRAPS)
		return traps_are_met(want, have);
	if (cell >= CC_CELL_TABLE)
		return table_is_met(cell - CC_CELL_TABLE, want, have);
	return d->is_switch ? switch_is_met(want, have) : ca_is_met(want, have);
}
