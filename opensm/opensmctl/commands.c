// SPDX-License-Identifier: BSD-2-Clause
/* Commands about the manager. */
#include "opensmctl/ctl.h"

const struct ctl_command manager_commands[] = {
	{ 0 },
};
