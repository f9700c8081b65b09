// SPDX-License-Identifier: BSD-2-Clause
/* The record types there are, by attribute. */
#include "sa/impl.h"
#include "util/mem.h"

static const struct sa_type *const types[] = {
	[SA_CLASS_PORT_INFO] = &sa_class_port_info,
	[SA_INFORM_INFO] = &sa_inform_info,
	[SA_NODE_RECORD] = &sa_node_record,
	[SA_PORT_INFO_RECORD] = &sa_port_info_record,
	[SA_SL2VL_RECORD] = &sa_sl2vl_record,
	[SA_SWITCH_INFO_RECORD] = &sa_switch_info_record,
	[SA_LFT_RECORD] = &sa_lft_record,
	[SA_MFT_RECORD] = &sa_mft_record,
	[SA_SM_INFO_RECORD] = &sa_sm_info_record,
	[SA_LINK_RECORD] = &sa_link_record,
	[SA_GUID_INFO_RECORD] = &sa_guid_info_record,
	[SA_SERVICE_RECORD] = &sa_service_record,
	[SA_PKEY_TABLE_RECORD] = &sa_pkey_table_record,
	[SA_VLARB_RECORD] = &sa_vlarb_record,
	[SA_PATH_RECORD] = &sa_path_record,
	[SA_MC_MEMBER_RECORD] = &sa_mc_member_record,
	[SA_MULTI_PATH_RECORD] = &sa_multi_path_record,
	[SA_INFORM_INFO_RECORD] = &sa_inform_info_record,
};

const struct sa_type *sa_type_find(uint16_t attr)
{
	return attr < ARRAY_SIZE(types) ? types[attr] : NULL;
}
