// SPDX-License-Identifier: BSD-2-Clause
/* --release: a run that removes the M_Keys, and CC_Keys, from all ports and ends. */
#pragma once

#include <stdbool.h>

#include "congestion/congestion.h"
#include "sm/sm.h"

/* Is the release impossible? True: stdout and the log say why. */
bool release_is_refused(const struct sm *sm, mono_t since_start);
/* Is the removal of CC_Keys still under way? */
bool release_waits(const struct sm *sm, const struct cc *cc);
/* Ends the run. True: no port has a key left; stdout and the log say how many have none. */
bool release_is_done(const struct sm *sm, const struct cc *cc);
