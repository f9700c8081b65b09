// SPDX-License-Identifier: BSD-2-Clause
/*
 * SMP attributes in words and rows: names, field lists, link speed and width.
 * What an SM writes to them, and why, is not known here.
 */
#include "ib/attrs.h"

#include "util/mem.h"

static const struct ib_field node_info[] = IB_LAYOUT_ROWS(NODE_INFO_LIST);
static const struct ib_field switch_info[] = IB_LAYOUT_ROWS(SWITCH_INFO_LIST);
static const struct ib_field port_info[] = IB_LAYOUT_ROWS(PORT_INFO_LIST);
static const struct ib_field sm_info[] = IB_LAYOUT_ROWS(SM_INFO_LIST);
static const struct ib_field ext_port_info[] = IB_LAYOUT_ROWS(EXT_PORT_INFO_LIST);

struct attr_row {
	uint16_t attr;
	const char *name;
	const struct ib_field *fields;
	size_t n_fields;
};

#define FIELDS(rows) .fields = (rows), .n_fields = ARRAY_SIZE(rows)

static const struct attr_row attr_rows[] = {
	{ .attr = IB_ATTR_CLASS_PORT_INFO, .name = "ClassPortInfo" }, /* 13.4.8.1 */
	{ .attr = IB_ATTR_NOTICE, .name = "Notice" }, /* 13.4.8.2 */
	{ .attr = IB_ATTR_NODE_DESC, .name = "NodeDescription" }, /* 14.2.5.2 */
	{ .attr = IB_ATTR_NODE_INFO, .name = "NodeInfo", FIELDS(node_info) }, /* 14.2.5.3 */
	{ .attr = IB_ATTR_SWITCH_INFO, .name = "SwitchInfo", FIELDS(switch_info) }, /* 14.2.5.4 */
	{ .attr = IB_ATTR_GUID_INFO, .name = "GUIDInfo" }, /* 14.2.5.5 */
	{ .attr = IB_ATTR_PORT_INFO, .name = "PortInfo", FIELDS(port_info) }, /* 14.2.5.6 */
	{ .attr = IB_ATTR_PKEY_TABLE, .name = "P_KeyTable" }, /* 14.2.5.7 */
	{ .attr = IB_ATTR_SL2VL, .name = "SLtoVLMappingTable" }, /* 14.2.5.8 */
	{ .attr = IB_ATTR_VLARB, .name = "VLArbitrationTable" }, /* 14.2.5.9 */
	{ .attr = IB_ATTR_LFT, .name = "LinearForwardingTable" }, /* 14.2.5.10 */
	{ .attr = IB_ATTR_MFT, .name = "MulticastForwardingTable" }, /* 14.2.5.12 */
	{ .attr = IB_ATTR_SM_INFO, .name = "SMInfo", FIELDS(sm_info) }, /* 14.2.5.13 */
	/* NVIDIA, vendor specific */
	{ .attr = IB_ATTR_MLNX_EXT_PORT_INFO, .name = "ExtendedPortInfo", FIELDS(ext_port_info) },
};

static const struct attr_row *find_row(uint16_t attr)
{
	for (size_t i = 0; i < ARRAY_SIZE(attr_rows); i++)
		if (attr_rows[i].attr == attr)
			return &attr_rows[i];
	return NULL;
}

const struct ib_field *ib_attr_fields(uint16_t attr, size_t *ret_n)
{
	const struct attr_row *row = find_row(attr);

	if (!row || !row->fields)
		return NULL;
	*ret_n = row->n_fields;
	return row->fields;
}

const char *ib_attr_name(uint16_t attr)
{
	const struct attr_row *row = find_row(attr);

	return row ? row->name : "unknown attribute";
}

const char *ib_port_state_name(unsigned state)
{
	static const char *const names[] = {
		[IB_PORT_NO_CHANGE] = "NoChange", [IB_PORT_DOWN] = "Down",
		[IB_PORT_INIT] = "Init",          [IB_PORT_ARMED] = "Armed",
		[IB_PORT_ACTIVE] = "Active",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "invalid";
}

const char *ib_node_type_name(unsigned type)
{
	static const char *const names[] = {
		[IB_NODE_CA] = "Channel Adapter",
		[IB_NODE_SWITCH] = "Switch",
		[IB_NODE_ROUTER] = "Router",
	};

	return type >= IB_NODE_CA && type < ARRAY_SIZE(names) ? names[type] : "invalid";
}

unsigned ib_mtu_bytes(unsigned code)
{
	if (code < IB_MTU_256 || code > IB_MTU_4096)
		return 0;
	return 128u << code;
}

unsigned ib_link_speed(const uint8_t *pi, uint32_t node_cap_mask, bool fdr10)
{
	unsigned extended = (unsigned)ib_get(pi, PI_SPEED_EXT_ACTIVE);

	if (!(node_cap_mask & IB_CAP(IB_CAP_EXTENDED_SPEEDS)))
		extended = 0;
	switch (extended) { /* LinkSpeedExtActive, 14.2.5.6: one bit */
	case 1:
		return 140; /* FDR */
	case 2:
		return 250; /* EDR */
	case 4:
		return 500; /* HDR */
	case 8:
		return 1000; /* NDR */
	}
	switch (ib_get(pi, PI_SPEED_ACTIVE)) { /* LinkSpeedActive */
	case 1:
		return 25; /* SDR */
	case 2:
		return 50; /* DDR */
	case 4:
		return fdr10 ? 103 : 100; /* QDR */
	}
	return 0;
}

unsigned ib_link_width(const uint8_t *pi)
{
	switch (ib_get(pi, PI_WIDTH_ACTIVE)) { /* LinkWidthActive, 14.2.5.6: one bit */
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	}
	return 0;
}
