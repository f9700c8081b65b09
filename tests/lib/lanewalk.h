// SPDX-License-Identifier: BSD-2-Clause
/*
 * The proof on the devices: paths with the SL that subnet administration gave them, walked through
 * the forwarding and SL2VL tables that simulated devices hold, and which channel waits for which on
 * the way.
 *
 * A channel is a port that sends, and a VL. A packet that holds one waits for the next. A cycle of
 * those is a deadlock that may happen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"
#include "util/mem.h"

struct lanewalk;

struct lanewalk *lanewalk_new(struct sim *sim);
struct lanewalk *lanewalk_free(struct lanewalk *w);
FREEP(lanewalk_free, struct lanewalk)
/*
 * A packet from the host port with LID `slid` to LID `dlid`. False: it does not arrive, or is
 * thrown away on a lane that a cable does not have.
 */
bool lanewalk_add(struct lanewalk *w, lid_t slid, lid_t dlid, unsigned sl);
/* Of all packets so far. */
bool lanewalk_has_cycle(const struct lanewalk *w);
/* VLs that they used between switches, a bit each. */
uint16_t lanewalk_vls(const struct lanewalk *w);
