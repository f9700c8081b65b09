// SPDX-License-Identifier: BSD-2-Clause
/* Attributes and status of Subnet Administration in words. What a record holds is in records.h. */
#include "ib/records.h"

#include "util/mem.h"

static const struct {
	uint16_t attr;
	const char *name;
} attr_names[] = {
	/* 15.2.5, table 188 */
	{ SA_CLASS_PORT_INFO, "ClassPortInfo" },
	{ SA_NOTICE, "Notice" },
	{ SA_INFORM_INFO, "InformInfo" },
	{ SA_NODE_RECORD, "NodeRecord" },
	{ SA_PORT_INFO_RECORD, "PortInfoRecord" },
	{ SA_SL2VL_RECORD, "SLtoVLMappingTableRecord" },
	{ SA_SWITCH_INFO_RECORD, "SwitchInfoRecord" },
	{ SA_LFT_RECORD, "LinearForwardingTableRecord" },
	{ SA_MFT_RECORD, "MulticastForwardingTableRecord" },
	{ SA_SM_INFO_RECORD, "SMInfoRecord" },
	{ SA_LINK_RECORD, "LinkRecord" },
	{ SA_GUID_INFO_RECORD, "GUIDInfoRecord" },
	{ SA_SERVICE_RECORD, "ServiceRecord" },
	{ SA_PKEY_TABLE_RECORD, "P_KeyTableRecord" },
	{ SA_PATH_RECORD, "PathRecord" },
	{ SA_VLARB_RECORD, "VLArbitrationTableRecord" },
	{ SA_MC_MEMBER_RECORD, "MCMemberRecord" },
	{ SA_MULTI_PATH_RECORD, "MultiPathRecord" },
	{ SA_INFORM_INFO_RECORD, "InformInfoRecord" },
};

const char *sa_attr_name(uint16_t attr)
{
	for (size_t i = 0; i < ARRAY_SIZE(attr_names); i++)
		if (attr_names[i].attr == attr)
			return attr_names[i].name;
	return NULL;
}

const char *sa_status_name(unsigned status)
{
	switch (status & 0xFF00) { /* 15.2.2, table 185 */
	case SA_NO_RESOURCES:
		return "no resources";
	case SA_REQ_INVALID:
		return "invalid request";
	case SA_NO_RECORDS:
		return "no records";
	case SA_TOO_MANY_RECORDS:
		return "too many records";
	case SA_REQ_INVALID_GID:
		return "invalid GID";
	case SA_REQ_INSUFFICIENT_COMPONENTS:
		return "insufficient components";
	case SA_REQ_DENIED:
		return "request denied";
	}
	return mad_status_name(status);
}
