// SPDX-License-Identifier: BSD-2-Clause
/*
 * Proof on the devices: follows paths, with the SLs from the SA, through the forwarding and SL2VL
 * tables of simulated devices, and notes which channel waits for which.
 *
 * A channel is a sending port and a VL. A packet that holds one waits for the next. A cycle of
 * channels is a possible deadlock.
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
 * Follows a packet from the host port with LID `slid` to LID `dlid`. False: it does not arrive, or
 * is dropped as a cable does not have its VL.
 */
bool lanewalk_add(struct lanewalk *w, lid_t slid, lid_t dlid, unsigned sl);
/* Have the packets so far a cycle of channels? */
bool lanewalk_has_cycle(const struct lanewalk *w);
/* VLs used between switches by the packets so far, a bit each. */
uint16_t lanewalk_vls(const struct lanewalk *w);
