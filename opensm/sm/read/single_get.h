// SPDX-License-Identifier: BSD-2-Clause
/* Gets that an administrator asks for; sm_smp_get() in sm.h. */
#pragma once

#include "sm/sm.h"

struct single_gets;

void single_gets_new(struct sm *sm, const struct sm_paths *paths);
/* Ends requests under way. */
void single_gets_end(struct sm *sm);
