// SPDX-License-Identifier: BSD-2-Clause
/* --release: a run that takes the M_Keys, and CC_Keys, from all ports and ends. */
#pragma once

#include <stdbool.h>

#include "congestion/congestion.h"
#include "sm/sm.h"

/* It cannot be done, and stdout and the log say why. */
bool release_is_refused(const struct sm *sm, mono_t since_start);
/* CC_Keys are to be taken, and that has not come to its end. */
bool release_waits(const struct sm *sm, const struct cc *cc);
/* The run has come to its end. True: no port has a key; stdout and the log say how many. */
bool release_is_done(const struct sm *sm, const struct cc *cc);
