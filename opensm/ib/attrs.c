// SPDX-License-Identifier: BSD-2-Clause
/*
 * SMP attributes in words and rows: names and field lists.
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
	{ .attr = IB_ATTR_PORT_STATE_TABLE, .name = "SwitchPortStateTable" },
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
