// SPDX-License-Identifier: BSD-2-Clause
/* Gets that an administrator asks for; sm_smp_get() in sm.h. */
#pragma once

#include "sm/sm.h"

/* Ends requests under way. */
