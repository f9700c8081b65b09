// SPDX-License-Identifier: BSD-2-Clause
/* What two instances may not share, for they would fight over it: the port, the log, the folders. */
#pragma once

#include "launch/instance.h"

/* A warning for each pair of neighbours in something that should be each one's own. All have been placed. */
void clash_find(struct instance *const *items, size_t n, struct conf_report *r);
