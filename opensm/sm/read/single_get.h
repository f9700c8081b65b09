// SPDX-License-Identifier: BSD-2-Clause
/* Gets that an administrator asks for; sm_smp_get() in sm.h. */
#pragma once

#include "sm/sm.h"

struct single_gets;

struct single_gets *single_gets_new(void);
/* Ends those that are under way. */
void single_gets_free(struct sm *sm);
