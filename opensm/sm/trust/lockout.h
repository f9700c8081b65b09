// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hosts that locked the manager out of their own port (security.md 9, row 1): the port has a key
 * that this manager does not know. Looked into with security_violation_policy isolate only.
 *
 *                                      .---------- silence, or an answer that shows the key
 *                                      v                  |
 *   it refused a key of ours --> COOLS <---- ASKED --refused--> the next key
 *                                  ^                                   |
 *                                  '-- told, VIOLATION_LOCKOUT <-- every key, ROUNDS times
 *
 * Silence is no proof: a host that is off, boots or hangs is silent, too. Nor is a trap, which any
 * host can send in the name of another one. A refusal counts if it names the number that was drawn
 * for this question, which only the devices along its cable have seen; or if the port answers the
 * question along the cable, and hides its key.
 */
#pragma once

#include "fabric/fabric.h"
#include "sm/sm.h"

/* Called for trap 256 of host port `p` that names an SMP of ours. */
void lockout_trap(struct sm *sm, struct port *p, const uint8_t *notice);
/* Called when the port answered with its key hidden. */
void lockout_hidden(struct sm *sm, struct port *p);
/* Discards the keys that ports showed before this manager becomes MASTER again. */
void lockout_state_leaves(struct sm *sm, enum sm_state next);
void lockout_tick(struct sm *sm);
mono_t lockout_next(const struct sm *sm);
