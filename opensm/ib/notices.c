// SPDX-License-Identifier: BSD-2-Clause
/* What traps mean, in words. */
#include "ib/notices.h"

#include "util/mem.h"

static const struct {
	unsigned trap;
	const char *name;
} names[] = {
	{ TRAP_GID_IN_SERVICE, "GID in service" },	     /* 15.2.5.8 */
	{ TRAP_GID_OUT_OF_SERVICE, "GID out of service" },
	{ TRAP_MGID_CREATED, "multicast group created" },
	{ TRAP_MGID_DESTROYED, "multicast group deleted" },
	{ TRAP_LINK_STATE, "link state changed" },	     /* 14.2.5.1 */
	{ TRAP_LINK_INTEGRITY, "too many link errors" },
	{ TRAP_BUFFER_OVERRUN, "buffer overrun" },
	{ TRAP_FLOW_CONTROL, "no flow control updates" },
	{ TRAP_LOCAL_CHANGE, "port changed" },
	{ TRAP_SYSIMG_GUID, "SystemImageGUID changed" },
	{ TRAP_BAD_MKEY, "wrong M_Key" },
	{ TRAP_BAD_PKEY, "wrong P_Key" },
	{ TRAP_BAD_QKEY, "wrong Q_Key" },
	{ TRAP_SWITCH_BAD_PKEY, "wrong P_Key at a switch" },
};

const char *ib_trap_name(unsigned trap)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].trap == trap)
			return names[i].name;
	}
	return "unknown trap";
}
