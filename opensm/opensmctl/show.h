// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of commands about the subnet. */
#pragma once

#include "opensmctl/talk/ctl.h"

/* qos_policy.c: qos policy, and the rule that applies to a path */
extern const struct ctl_command qos_commands[];
void qos_print_decision(struct json_object *doc);
/* topology_meant.c: topology save FILE, diff, accept FINDING|all, import FILE. */
extern const struct ctl_command topology_commands[];
