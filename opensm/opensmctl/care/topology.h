// SPDX-License-Identifier: BSD-2-Clause
/* topology save FILE [--csv], topology diff [--json], topology accept FINDING|all. */
#pragma once

#include "opensmctl/ctl.h"

/* argv[0] is one of these words. */
bool topology_is_meant(int argc, char **argv);
/* Then: the command. Returns the exit code. */
int topology_as_meant(struct ctl *c, int argc, char **argv);
