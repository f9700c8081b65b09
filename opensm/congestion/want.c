// SPDX-License-Identifier: BSD-2-Clause
#include "congestion/want.h"

#include <assert.h>
#include <string.h>

#include "congestion/numbers.h"
#include "ib/records.h"
#include "util/mem.h"

/* ---- switches -------------------------------------------------------------------------------- */

/* What is written of the setting: a switch without credit starvation gets none of it. */
static unsigned parts_of(const struct conf *c, const struct cc_device *d)
{
	unsigned parts = cc_switch_parts(c);

	if (!(d->caps & CC_CAP_CREDIT))
		parts &= ~(unsigned)(CC_PART_CREDIT | CC_PART_STARVATION);
	return parts;
}

/* Bit n of a mask of ports is port n; the highest comes first. */
static unsigned bit_of(unsigned num)
{
	return CCS_VICTIM_MASK + 255 - num;
}

static const struct cc_link *link_of(const struct cc_device *d, unsigned num)
{
	static const struct cc_link unknown;

	return d->links && num && num <= d->n_ports ? &d->links[num] : &unknown;
}

static void fill_victims(const struct conf *c, const struct cc_device *d, uint8_t *ret)
{
	memcpy(ib_at(ret, CCS_VICTIM_MASK), c->cc_sw_cong_setting_victim_mask.bytes, 32);
	for (unsigned num = 1; cc_victims_are_hosts(c) && num <= d->n_ports; num++)
		ib_bits_put(ret, bit_of(num), 1, link_of(d, num)->to_host);
}

static void fill_switch(const struct conf *c, const struct cc_device *d, unsigned parts,
			uint8_t *ret)
{
	const struct conf_cct_entry *delay = &c->cc_sw_cong_setting_credit_starvation_return_delay;
	struct cc_marking m = cc_marking(c, d->own.rate);

	ib_put(ret, CCS_CONTROL_MAP, parts);
	fill_victims(c, d, ret);
	memcpy(ib_at(ret, CCS_CREDIT_MASK), c->cc_sw_cong_setting_credit_mask.bytes, 32);
	ib_put(ret, CCS_THRESHOLD, m.threshold);
	ib_put(ret, CCS_PACKET_SIZE, m.packet_size);
	ib_put(ret, CCS_CREDIT_THRESHOLD, c->cc_sw_cong_setting_credit_starvation_threshold);
	ib_put(ret, CCS_RETURN_SHIFT, delay->shift);
	ib_put(ret, CCS_RETURN_MULTIPLIER, delay->multiplier);
	ib_put(ret, CCS_MARKING_RATE, m.rate);
}

/* Fields of the setting that are compared whole, and the part that each belongs to. */
static const struct {
	uint16_t offset, end;
	enum cc_switch_part part;
} switch_fields[] = {
	{ CCS_CREDIT_MASK, CCS_THRESHOLD, CC_PART_CREDIT },
	{ CCS_THRESHOLD, CCS_CREDIT_THRESHOLD, CC_PART_THRESHOLD },
	{ CCS_CREDIT_THRESHOLD, CCS_MARKING_RATE, CC_PART_STARVATION },
	{ CCS_MARKING_RATE, CCS_BITS, CC_PART_RATE },
};

/* A port that was not up yet may be a victim. */
static bool victims_are_met(const struct conf *c, const struct cc_device *d, const uint8_t *want,
			    const uint8_t *have)
{
	bool by_link = cc_victims_are_hosts(c);

	for (unsigned num = 0; num < 256; num++) {
		if (by_link && num && num <= d->n_ports && !link_of(d, num)->rate)
			continue;
		if (ib_bits_get(want, bit_of(num), 1) != ib_bits_get(have, bit_of(num), 1))
			return false;
	}
	return true;
}

static bool switch_is_met(const struct conf *c, const struct cc_device *d, const uint8_t *want,
			  const uint8_t *have)
{
	unsigned parts = (unsigned)ib_get(want, CCS_CONTROL_MAP);

	if (parts & CC_PART_VICTIM && !victims_are_met(c, d, want, have))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(switch_fields); i++) {
		size_t at = switch_fields[i].offset / 8, len = switch_fields[i].end / 8 - at;

		if (parts & switch_fields[i].part && memcmp(want + at, have + at, len) != 0)
			return false;
	}
	return true;
}

/* ---- ports of switches ----------------------------------------------------------------------- */

bool cc_uses_links(const struct conf *c)
{
	return cc_profile_of(c) != CC_PROFILE_OFF || c->cc_sw_port_cong_setting.n;
}

static bool is_meant(const struct conf_cc_port *item, const struct cc_link *link)
{
	switch (item->where) {
	case CONF_CC_ALL:
		return true;
	case CONF_CC_HOSTS:
		return link->rate && link->to_host;
	case CONF_CC_SWITCHES:
		return link->rate && !link->to_host;
	}
	return link->rate && link->speed == item->where;
}

/* What the options say of a port; NULL: nothing. */
static const struct conf_cc_port *item_of(const struct conf *c, const struct cc_link *link)
{
	unsigned i = c->cc_sw_port_cong_setting.n;

	while (i && !is_meant(&c->cc_sw_port_cong_setting.items[i - 1], link))
		i--;
	return i ? &c->cc_sw_port_cong_setting.items[i - 1] : NULL;
}

static struct conf_cc_port setting_of(const struct conf *c, const struct cc_link *link)
{
	const struct conf_cc_port *item = item_of(c, link);
	struct cc_marking m = cc_marking(c, link->rate);

	if (item)
		return *item;
	if (!link->rate || cc_profile_of(c) == CC_PROFILE_OFF)
		return (struct conf_cc_port){ .kind = CONF_CC_OFF };
	return (struct conf_cc_port){ .kind = CONF_CC_MARKS,
				      .threshold = m.threshold,
				      .packet_size = m.packet_size,
				      .parameter = m.rate };
}

/* Credits are delayed only by a switch that knows how. */
static void fill_port(const struct conf *c, const struct cc_device *d, unsigned num, uint8_t *ret)
{
	struct conf_cc_port s = setting_of(c, link_of(d, num));

	if (s.kind == CONF_CC_OFF || (s.kind == CONF_CC_CREDIT && !(d->caps & CC_CAP_CREDIT)))
		return;
	ib_put(ret, CCP_VALID, 1);
	ib_put(ret, CCP_TYPE, s.kind == CONF_CC_CREDIT);
	ib_put(ret, CCP_THRESHOLD, s.threshold);
	ib_put(ret, CCP_PACKET_SIZE, s.packet_size);
	ib_put(ret, CCP_PARAMETER, s.parameter);
}

/* Port 0 has no link, and the setting of the switch. */
static void fill_ports(const struct conf *c, const struct cc_device *d, unsigned block,
		       uint8_t *ret)
{
	for (unsigned i = 0; i < CC_BLOCK_PORTS; i++) {
		unsigned num = block * CC_BLOCK_PORTS + i;

		if (num && num <= d->n_ports)
			fill_port(c, d, num, ret + (size_t)i * CCP_BYTES);
	}
}

/* Of an entry that is not valid nothing else counts; a port that was not up yet may have any. */
static bool ports_are_met(const struct conf *c, const struct cc_device *d, unsigned block,
			  const uint8_t *want, const uint8_t *have)
{
	for (unsigned i = 0; i < CC_BLOCK_PORTS; i++) {
		const struct cc_link *link = link_of(d, block * CC_BLOCK_PORTS + i);
		const uint8_t *w = want + (size_t)i * CCP_BYTES, *h = have + (size_t)i * CCP_BYTES;

		if (!link->rate && !item_of(c, link))
			continue;
		if (ib_get(w, CCP_VALID) != ib_get(h, CCP_VALID) ||
		    (ib_get(w, CCP_VALID) && memcmp(w, h, CCP_BYTES) != 0))
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
static void fill_sl(const struct conf *c, const struct cc_device *d, unsigned sl, uint8_t *ret)
{
	struct cc_slowing s = cc_slowing(c, d->own.rate, sl);

	if (c->cc_no_throttle_sls >> sl & 1)
		return;
	ib_put(ret, CCL_TIMER, s.timer);
	ib_put(ret, CCL_INCREASE, s.increase);
	ib_put(ret, CCL_TRIGGER, s.trigger);
	ib_put(ret, CCL_MIN, s.min);
}

static void fill_ca(const struct conf *c, const struct cc_device *d, uint8_t *ret)
{
	ib_put(ret, CCA_PORT_CONTROL, c->cc_ca_cong_setting_port_control);
	ib_put(ret, CCA_CONTROL_MAP, cc_host_sls(c));
	for (unsigned sl = 0; sl < CC_SLS; sl++)
		fill_sl(c, d, sl, ret + sl_at(sl));
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
	return MAX(1u, cc_table_entries(c, d->blocks * (unsigned)CC_BLOCK_ENTRIES));
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
		struct conf_cct_entry value;

		if (at >= n)
			break;
		value = cc_table_entry(c, at, n, d->incast);
		ib_put(entry, CCE_SHIFT, value.shift);
		ib_put(entry, CCE_MULTIPLIER, value.multiplier);
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
	if (d->is_switch)
		return CC_CELL_BLOCK + (cc_uses_links(c) ? 1 + d->n_ports / CC_BLOCK_PORTS : 0);
	if (!d->blocks)
		return CC_CELL_BLOCK;
	return CC_CELL_BLOCK + (entries_of(c, d) + CC_BLOCK_ENTRIES - 1) / CC_BLOCK_ENTRIES;
}

enum cc_attr cc_cell_attr(const struct cc_device *d, enum cc_cell cell, uint32_t *ret_mod)
{
	assert(cell < CC_CELLS);
	*ret_mod = cell < CC_CELL_BLOCK ? 0 : cell - CC_CELL_BLOCK;
	if (cell == CC_CELL_KEY)
		return CC_ATTR_KEY_INFO;
	if (cell == CC_CELL_TRAPS)
		return CC_ATTR_CLASS_PORT_INFO;
	if (cell >= CC_CELL_BLOCK)
		return d->is_switch ? CC_ATTR_SWITCH_PORT : CC_ATTR_TABLE;
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

static void fill_block(const struct conf *c, const struct cc_device *d, unsigned block,
		       uint8_t *ret)
{
	if (d->is_switch)
		fill_ports(c, d, block, ret);
	else
		fill_table(c, d, block, ret);
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
	if (cell >= CC_CELL_BLOCK)
		fill_block(c, d, cell - CC_CELL_BLOCK, ret);
	else if (d->is_switch)
		fill_switch(c, d, parts, ret);
	else
		fill_ca(c, d, ret);
	return cell != CC_CELL_SETTING || !d->is_switch || parts;
}

bool cc_is_met(const struct conf *c, const struct cc_device *d, enum cc_cell cell,
	       const uint8_t want[CC_DATA_SIZE], const uint8_t have[CC_DATA_SIZE])
{
	assert(cell < CC_CELLS);
	if (cell == CC_CELL_KEY)
		return memcmp(want, have, CCK_VIOLATIONS / 8) == 0;
	if (cell == CC_CELL_TRAPS)
		return traps_are_met(want, have);
	if (cell >= CC_CELL_BLOCK && d->is_switch)
		return ports_are_met(c, d, cell - CC_CELL_BLOCK, want, have);
	if (cell >= CC_CELL_BLOCK)
		return table_is_met(cell - CC_CELL_BLOCK, want, have);
	return d->is_switch ? switch_is_met(c, d, want, have) : ca_is_met(want, have);
}
