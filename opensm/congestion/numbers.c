// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables of cc_profile. They begin with the row of 40 Gb/s, whose numbers are those published
 * for QDR; other rows have as many marks per second, and as many packets per step back.
 */
#include "congestion/numbers.h"

#include <assert.h>
#include <string.h>

#include "ib/cc.h"
#include "util/mem.h"

#define PACKET_SIZE 8	   /* 512 bytes: smaller packets are not marked */
#define TRIGGER	    16	   /* a host logs a flow that has come to this entry of its table */
#define MULTIPLIER_MAX 16383u
#define SHIFT_MAX	   3u
#define EIGHTHS		   8u
#define GENTLE_MAX	   (32 * EIGHTHS) /* a host has 1/33 of its link at least */

/* For links of this rate and more; tenths of Gb/s. */
static const struct row {
	uint16_t rate;
	uint16_t timer; /* of hosts, in 1.024 us */
	struct {
		uint8_t threshold;
		uint16_t rate;
	} gentle, incast;
} rows[] = {
	{ 0, 600, { 8, 2 }, { 15, 0 } },	 /* SDR 4x and slower */
	{ 200, 300, { 8, 4 }, { 15, 0 } },	 /* DDR 4x */
	{ 400, 150, { 8, 8 }, { 15, 0 } },	 /* QDR 4x */
	{ 560, 107, { 9, 11 }, { 15, 0 } },	 /* FDR 4x */
	{ 1000, 60, { 10, 20 }, { 15, 1 } },	 /* EDR 4x */
	{ 2000, 30, { 11, 40 }, { 15, 4 } },	 /* HDR 4x */
	{ 4000, 15, { 12, 80 }, { 15, 9 } },	 /* NDR 4x */
	{ 8000, 8, { 13, 160 }, { 15, 19 } }, /* XDR 4x and faster */
};

static const struct row *row_of(unsigned rate)
{
	size_t i = ARRAY_SIZE(rows) - 1;

	while (i && rows[i].rate > rate)
		i--;
	return &rows[i];
}

enum cc_profile cc_profile_of(const struct conf *c)
{
	if (strcmp(c->cc_profile, "gentle") == 0)
		return CC_PROFILE_GENTLE;
	return strcmp(c->cc_profile, "incast") == 0 ? CC_PROFILE_INCAST : CC_PROFILE_OFF;
}

/* ---- switches -------------------------------------------------------------------------------- */

static struct cc_marking marking_of_profile(enum cc_profile profile, unsigned rate)
{
	const struct row *row = row_of(rate);

	switch (profile) {
	case CC_PROFILE_GENTLE:
		return (struct cc_marking){ row->gentle.threshold, PACKET_SIZE, row->gentle.rate };
	case CC_PROFILE_INCAST:
		return (struct cc_marking){ row->incast.threshold, PACKET_SIZE, row->incast.rate };
	case CC_PROFILE_OFF:
		break;
	}
	return (struct cc_marking){ 0 };
}

struct cc_marking cc_marking(const struct conf *c, unsigned rate)
{
	struct cc_marking m = marking_of_profile(cc_profile_of(c), rate);

	if (c->cc_sw_cong_setting_threshold)
		m.threshold = c->cc_sw_cong_setting_threshold;
	if (c->cc_sw_cong_setting_packet_size)
		m.packet_size = c->cc_sw_cong_setting_packet_size;
	if (c->cc_sw_cong_setting_marking_rate)
		m.rate = c->cc_sw_cong_setting_marking_rate;
	return m;
}

unsigned cc_switch_parts(const struct conf *c)
{
	if (c->cc_sw_cong_setting_control_map || cc_profile_of(c) == CC_PROFILE_OFF)
		return c->cc_sw_cong_setting_control_map;
	return CC_PART_VICTIM | CC_PART_THRESHOLD | CC_PART_RATE;
}

bool cc_victims_are_hosts(const struct conf *c)
{
	static const struct conf_mask256 none;

	return cc_profile_of(c) != CC_PROFILE_OFF &&
	       memcmp(&c->cc_sw_cong_setting_victim_mask, &none, sizeof(none)) == 0;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

struct cc_slowing cc_slowing(const struct conf *c, unsigned rate, unsigned sl)
{
	struct cc_slowing s = { 0 };

	assert(sl < CC_SLS);
	if (cc_profile_of(c) != CC_PROFILE_OFF)
		s = (struct cc_slowing){ row_of(rate)->timer, 1, TRIGGER, 0 };
	if (c->cc_ca_cong_setting_ccti_timer.values[sl])
		s.timer = c->cc_ca_cong_setting_ccti_timer.values[sl];
	if (c->cc_ca_cong_setting_ccti_increase.values[sl])
		s.increase = (uint8_t)c->cc_ca_cong_setting_ccti_increase.values[sl];
	if (c->cc_ca_cong_setting_trigger_threshold.values[sl])
		s.trigger = (uint8_t)c->cc_ca_cong_setting_trigger_threshold.values[sl];
	s.min = (uint8_t)c->cc_ca_cong_setting_ccti_min.values[sl];
	return s;
}

unsigned cc_host_sls(const struct conf *c)
{
	unsigned sls = c->cc_ca_cong_setting_control_map;

	if (!sls && cc_profile_of(c) != CC_PROFILE_OFF)
		sls = CC_ALL_SLS;
	return sls | c->cc_no_throttle_sls;
}

/* ---- the control table ----------------------------------------------------------------------- */

unsigned cc_table_entries(const struct conf *c, unsigned room)
{
	if (c->cc_cct.n || cc_profile_of(c) == CC_PROFILE_OFF)
		return MIN(c->cc_cct.n, room);
	return MIN((unsigned)CONF_CCT_MAX, room);
}

/* 2^(top * i / last) in eighths: straight lines between powers of two. */
static unsigned power(unsigned top, unsigned i, unsigned last)
{
	unsigned whole = top * i / last, rest = top * i % last;

	return (EIGHTHS << whole) + ((EIGHTHS << whole) * rest + last / 2) / last;
}

/* As exact as the entry can have it; `delay` in eighths of the time of a packet. */
static struct conf_cct_entry entry_of(unsigned delay)
{
	unsigned shift = SHIFT_MAX;

	while (shift && delay > MULTIPLIER_MAX) {
		shift--;
		delay /= 2;
	}
	return (struct conf_cct_entry){ .shift = (uint8_t)shift,
					.multiplier = (uint16_t)MIN(delay, MULTIPLIER_MAX) };
}

struct conf_cct_entry cc_table_entry(const struct conf *c, unsigned i, unsigned n, unsigned incast)
{
	unsigned top = 0;

	assert(i < n && n <= CONF_CCT_MAX);
	if (c->cc_cct.n)
		return c->cc_cct.entries[i];
	while (1u << top < incast && top < 14)
		top++;
	switch (cc_profile_of(c)) {
	case CC_PROFILE_GENTLE:
		return entry_of(i * GENTLE_MAX / MAX(1u, n - 1));
	case CC_PROFILE_INCAST:
		return entry_of(power(top, i, MAX(1u, n - 1)) - EIGHTHS);
	case CC_PROFILE_OFF:
		break;
	}
	return (struct conf_cct_entry){ 0 };
}
