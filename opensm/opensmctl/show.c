// SPDX-License-Identifier: BSD-2-Clause
/* Commands about the subnet. */
#include "opensmctl/ctl.h"

const struct ctl_command show_commands[] = {
	{ 0 },
};
