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
#include "sm/trust/violations.h"
#include "sm/sm.h"
#include "util/log.h"

void traps_new(struct sm *sm, const struct sm_paths *paths);
void traps_free(struct sm *sm);
/* Acts upon suppressed traps that are due by sm->now, and logs storms. */
void traps_tick(struct sm *sm);
mono_t traps_next(const struct sm *sm); /* MONO_NEVER: nothing waits */
/* Takes `mad`, MAD_SIZE bytes, class SMI, method Trap, any sender. Ignored unless MASTER. */
void traps_receive(struct sm *sm, const struct transport_addr *from, const uint8_t *mad);

/* Logs that `p` violates a rule and raises an event. `text` names its place. */
void traps_tell_offence(struct sm *sm, const struct port *p, enum log_id id,
			enum violation_kind kind, const char *text);
/*
 * Is one more accusation by this port logged? A switch names traffic that it has stopped, but a
 * host may invent offenders: after a few it is named itself.
 */
bool traps_may_accuse(struct sm *sm, const struct port *p);
