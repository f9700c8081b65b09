// SPDX-License-Identifier: BSD-2-Clause
/*
 * SMPs with method Trap, in any state: answered, filtered, forwarded, acted upon.
 *
 *   a trap --repressed--> from its sender? --no--> forged, counted
 *                              '--yes--> too many of this source? --yes--> suppressed
 *                                             '--no--> forwarded, told (news.h)
 */
#pragma once

#include "opensm/transport.h"
#include "sm/sm.h"

struct traps;

void traps_new(struct sm *sm);
void traps_free(struct sm *sm);
/* Suppressed traps that are due by sm->now are handed out, storms are logged. */
void traps_tick(struct sm *sm);
mono_t traps_next(const struct sm *sm); /* MONO_NEVER: nothing waits */
/* `mad`: MAD_SIZE bytes, class SMI, method Trap, of any sender. Ignored unless MASTER. */
void traps_receive(struct sm *sm, const struct transport_addr *from, const uint8_t *mad);
