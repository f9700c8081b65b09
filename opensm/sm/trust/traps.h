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

struct traps;

void traps_new(struct sm *sm, const struct sm_paths *paths);
void traps_free(struct sm *sm);
/* Suppressed traps that are due by sm->now are handed out, storms are logged. */
void traps_tick(struct sm *sm);
mono_t traps_next(const struct sm *sm); /* MONO_NEVER: nothing waits */
/* `mad`: MAD_SIZE bytes, class SMI, method Trap, of any sender. Ignored unless MASTER. */
void traps_receive(struct sm *sm, const struct transport_addr *from, const uint8_t *mad);

/* `p` breaks rules: for the log, and for those that monitor. `text` names its place. */
void traps_tell_offence(struct sm *sm, const struct port *p, enum log_id id,
			enum violation_kind kind, const char *text);
/*
 * Is one more accusation of this port told? A switch names what it has stopped; a host may invent
 * offenders, so that after a few it is named itself.
 */
bool traps_may_accuse(struct sm *sm, const struct port *p);
