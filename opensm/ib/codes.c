// SPDX-License-Identifier: BSD-2-Clause
/* The rows of codes.h, and the few questions that are asked of them. */
#include "ib/codes.h"

#include <string.h>
#include <strings.h>

#include "ib/attrs.h"
#include "util/mem.h"

/* ---- node types and port states -------------------------------------------------------------- */

static const struct ib_node_row node_rows[] = {
	[0] = { "UNKNOWN", "", "**", "??", "", "", "", '?' },
	[IB_NODE_CA] = { "Channel Adapter", "ca", "CA", "CA", "Ca", "caguid", "CA", 'H' },
	[IB_NODE_SWITCH] = { "Switch", "switch", "SW", "SW", "Switch", "switchguid", "SWITCH",
			     'S' },
	[IB_NODE_ROUTER] = { "Router", "router", "Rt", "RT", "Rt", "rtguid", "ROUTER", 'R' },
};

const struct ib_node_row *ib_node_row(unsigned type)
{
	return &node_rows[type < ARRAY_SIZE(node_rows) ? type : 0];
}

static const struct ib_state_row port_states[] = {
	[IB_PORT_NO_CHANGE] = { "Unknown", "", "???", "NOP" },
	[IB_PORT_DOWN] = { "Down", "down", "DWN", "DOWN" },
	[IB_PORT_INIT] = { "Init", "init", "INI", "INIT" },
	[IB_PORT_ARMED] = { "Armed", "armed", "ARM", "ARMED" },
	[IB_PORT_ACTIVE] = { "Active", "active", "ACT", "ACTIVE" },
};

static const struct ib_state_row phys_states[] = {
	[IB_PHYS_NO_CHANGE] = { "Unknown", "", NULL, "NOP" },
	[IB_PHYS_SLEEP] = { "Sleep", "sleep", NULL, "Sleep" },
	[IB_PHYS_POLLING] = { "Polling", "polling", NULL, "Polling" },
	[IB_PHYS_DISABLED] = { "Disabled", "disabled", NULL, "Disabled" },
	[IB_PHYS_TRAINING] = { "Training", "training", NULL, "PortConfigurationTraining" },
	[IB_PHYS_LINK_UP] = { "LinkUp", "link_up", NULL, "LinkUp" },
	[IB_PHYS_ERROR_RECOVERY] = { "LinkErrorRecovery", "error_recovery", NULL,
				     "LinkErrorRecovery" },
};

const struct ib_state_row *ib_port_state_row(unsigned state)
{
	return &port_states[state < ARRAY_SIZE(port_states) ? state : 0];
}

const struct ib_state_row *ib_phys_state_row(unsigned state)
{
	return &phys_states[state < ARRAY_SIZE(phys_states) ? state : 0];
}

/* ---- MTUs and VLs ---------------------------------------------------------------------------- */

unsigned ib_mtu_bytes(unsigned code)
{
	return code >= IB_MTU_256 && code <= IB_MTU_4096 ? 128u << code : 0;
}

unsigned ib_data_vls(unsigned code)
{
	static const uint8_t vls[IB_VLS_CODE_MAX + 1] = { 0, 1, 2, 4, 8, 15 };

	return code <= IB_VLS_CODE_MAX ? vls[code] : 0;
}

unsigned ib_vls_code(unsigned vls)
{
	unsigned code = IB_VLS_CODE_MAX;

	while (code && ib_data_vls(code) > vls)
		code--;
	return code;
}

/* ---- widths ---------------------------------------------------------------------------------- */

const struct ib_width ib_widths[IB_WIDTHS] = {
	{ 1, 0x01, "1x" }, { 2, 0x10, "2x" },	{ 4, 0x02, "4x" },
	{ 8, 0x04, "8x" }, { 12, 0x08, "12x" },
};

const struct ib_width *ib_width_of(unsigned lanes)
{
	for (size_t i = 0; i < IB_WIDTHS; i++)
		if (ib_widths[i].lanes == lanes)
			return &ib_widths[i];
	return NULL;
}

const struct ib_width *ib_widest(unsigned bits)
{
	for (size_t i = IB_WIDTHS; i-- > 0;)
		if (ib_widths[i].bit & bits)
			return &ib_widths[i];
	return NULL;
}

unsigned ib_link_width(const uint8_t *pi)
{
	unsigned active = (unsigned)ib_get(pi, PI_WIDTH_ACTIVE);
	const struct ib_width *w = ib_widest(active);

	return w && w->bit == active ? w->lanes : 0;
}

/* ---- speeds ---------------------------------------------------------------------------------- */

const struct ib_speed ib_speeds[IB_SPEEDS] = {
	{ "SDR", 25, { 1 }, "2.5", "2.5 Gbps", 2500, 2000, { 2, 5, 3, 6, 4 } },
	{ "DDR", 50, { 2 }, "5", "5.0 Gbps", 5000, 4000, { 5, 3, 6, 7, 8 } },
	{ "QDR", 100, { 4 }, "10", "10.0 Gbps", 10000, 8000, { 3, 6, 7, 9, 10 } },
	{ "FDR10", 103, { 0 }, "FDR10", "10.0 Gbps (FDR10)", 10312.5, 10000, { 3, 6, 7, 9, 10 } },
	{ "FDR",
	  140,
	  { 0, 1 },
	  "14",
	  "14.0625 Gbps",
	  14062.5,
	  13636.363636,
	  { 11, 19, 12, 13, 14 } },
	{ "EDR", 250, { 0, 2 }, "25", "25.78125 Gbps", 25781.25, 25000, { 15, 20, 16, 17, 18 } },
	{ "HDR", 500, { 0, 4 }, "50", "53.125 Gbps", 53125, 50000, { 20, 16, 17, 21, 22 } },
	{ "NDR", 1000, { 0, 8 }, "100", "106.25 Gbps", 106250, 100000, { 16, 17, 21, 23, 24 } },
	{ "XDR", 2000, { 0, 0, 1 }, "200", "212.5 Gbps", 212500, 200000, { 17, 21, 23, 25, 26 } },
};

const struct ib_speed *ib_speed_of(unsigned tenths)
{
	for (size_t i = 0; i < IB_SPEEDS; i++)
		if (ib_speeds[i].tenths == tenths)
			return &ib_speeds[i];
	return NULL;
}

const struct ib_speed *ib_speed_named(const char *name, size_t len)
{
	for (size_t i = 0; i < IB_SPEEDS; i++)
		if (strlen(ib_speeds[i].name) == len && !strncasecmp(ib_speeds[i].name, name, len))
			return &ib_speeds[i];
	return NULL;
}

enum ib_speed_set ib_speed_sets(const uint8_t *cap)
{
	uint64_t mask = cap ? ib_get(cap, PI_CAP_MASK) : 0;

	if (!(mask & IB_CAP(IB_CAP_EXTENDED_SPEEDS)))
		return IB_SPEED_PLAIN;
	if (!(mask & IB_CAP(IB_CAP_CAPMASK2)) ||
	    !(ib_get(cap, PI_CAP_MASK2) & IB_CAP(IB_CAP2_EXTENDED_SPEEDS2)))
		return IB_SPEED_EXTENDED;
	return IB_SPEED_EXTENDED2;
}

#define SPEED_FIELD(name) { PI_##name, PI_##name##_W }

unsigned ib_speed_bits(const uint8_t *pi, enum ib_speed_set set, enum ib_speed_use use)
{
	static const struct {
		uint16_t offset, width;
	} fields[IB_SPEED_SETS][IB_SPEED_USES] = {
		{ SPEED_FIELD(SPEED_SUPPORTED), SPEED_FIELD(SPEED_ENABLED),
		  SPEED_FIELD(SPEED_ACTIVE) },
		{ SPEED_FIELD(SPEED_EXT_SUPPORTED), SPEED_FIELD(SPEED_EXT_ENABLED),
		  SPEED_FIELD(SPEED_EXT_ACTIVE) },
		{ SPEED_FIELD(SPEED_EXT2_SUPPORTED), SPEED_FIELD(SPEED_EXT2_ENABLED),
		  SPEED_FIELD(SPEED_EXT2_ACTIVE) },
	};

	return (unsigned)ib_bits_get(pi, fields[set][use].offset, fields[set][use].width);
}

/* The speed that `pi` names as active in this set; NULL: none, or none that is known. */
static const struct ib_speed *active_in(const uint8_t *pi, enum ib_speed_set set)
{
	unsigned bits = ib_speed_bits(pi, set, IB_SPEED_ACTIVE);

	for (size_t i = 0; bits && i < IB_SPEEDS; i++)
		if (ib_speeds[i].bit[set] == bits)
			return &ib_speeds[i];
	return NULL;
}

enum ib_speed_set ib_speed_active_set(const uint8_t *pi, enum ib_speed_set most)
{
	unsigned set = most;

	while (set > IB_SPEED_PLAIN && !active_in(pi, set))
		set--;
	return set;
}

unsigned ib_link_speed(const uint8_t *pi, enum ib_speed_set most, bool fdr10)
{
	const struct ib_speed *s = active_in(pi, ib_speed_active_set(pi, most));

	return !s ? 0 : s->tenths == IB_SPEED_QDR && fdr10 ? IB_SPEED_FDR10 : s->tenths;
}

/* ---- rates ----------------------------------------------------------------------------------- */

static const struct {
	uint16_t tenths;
	uint8_t rank;
} rates[IB_RATE_MAX + 1] = {
	[2] = { 25, 1 },      [5] = { 50, 2 },	   [3] = { 100, 3 },	 [11] = { 140, 4 },
	[6] = { 200, 5 },     [15] = { 250, 6 },   [19] = { 280, 7 },	 [4] = { 300, 8 },
	[7] = { 400, 9 },     [20] = { 500, 10 },  [12] = { 560, 11 },	 [8] = { 600, 12 },
	[9] = { 800, 13 },    [16] = { 1000, 14 }, [13] = { 1120, 15 },	 [10] = { 1200, 16 },
	[14] = { 1680, 17 },  [17] = { 2000, 18 }, [18] = { 3000, 19 },	 [21] = { 4000, 20 },
	[22] = { 6000, 21 },  [23] = { 8000, 22 }, [24] = { 12000, 23 }, [25] = { 16000, 24 },
	[26] = { 24000, 25 },
};

unsigned ib_rate_bandwidth(unsigned rate)
{
	return rate < ARRAY_SIZE(rates) ? rates[rate].tenths : 0;
}

unsigned ib_rate_rank(unsigned rate)
{
	return rate < ARRAY_SIZE(rates) ? rates[rate].rank : 0;
}

unsigned ib_rate_of_rank(unsigned rank)
{
	unsigned rate = IB_RATE_MAX;

	while (rate && rates[rate].rank != rank)
		rate--;
	return rank ? rate : 0;
}

unsigned ib_rate_of_bandwidth(unsigned tenths)
{
	unsigned rate = IB_RATE_MAX;

	while (rate && rates[rate].tenths != tenths)
		rate--;
	return tenths ? rate : 0;
}

unsigned ib_rate_of_link(unsigned lanes, unsigned speed)
{
	const struct ib_width *w = ib_width_of(lanes);
	const struct ib_speed *s = ib_speed_of(speed);

	return w && s ? s->rate[w - ib_widths] : 0;
}

unsigned ib_data_rate(unsigned lanes, unsigned speed)
{
	const struct ib_speed *s = ib_speed_of(speed);

	return ib_width_of(lanes) && s ? (unsigned)(lanes * s->data / 100) : 0;
}

const struct ib_speed *ib_speed_of_data_rate(unsigned rate, unsigned *ret_lanes)
{
	static const uint8_t lanes[] = { 4, 1, 2, 8, 12 }; /* the usual width first */

	for (size_t w = 0; w < ARRAY_SIZE(lanes); w++)
		for (size_t i = 0; i < IB_SPEEDS; i++)
			if (rate && ib_data_rate(lanes[w], ib_speeds[i].tenths) == rate) {
				*ret_lanes = lanes[w];
				return &ib_speeds[i];
			}
	return NULL;
}
