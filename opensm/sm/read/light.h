// SPDX-License-Identifier: BSD-2-Clause
/*
 * The light sweep: asks whether anything has changed (light.c), and audits tables (audit.c).
 * Between light sweeps: the port state poll (state_poll.c).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/mono.h"

struct sm;
struct sm_paths;

void light_start(struct sm *sm);
bool light_busy(const struct sm *sm);
/*
 * Called when all answers have arrived: if nothing had changed and all answered, what was written
 * reached the right devices.
 */
void light_settle(struct sm *sm);
/*
 * Asks some nodes for their descriptions, and some for tables, in turn: in a light sweep, and after
 * a heavy sweep if all sweeps are heavy.
 */
void light_audit(struct sm *sm);

/*
 * The port state poll, a machine of its own: as MASTER, while no sweep reads the fabric, asks each
 * switch once in port_state_poll_interval for the states of its ports, and tells NEWS_SWITCH where
 * they are not those of the picture.
 *
 *   OFF --MASTER, first sweep done, picture holds--> WAITING --due--> some switches are asked
 *    ^--a sweep reads, our own port is silent ...------'  ^------------------'
 */
void state_poll_tick(struct sm *sm);
mono_t state_poll_next(const struct sm *sm);

/* Counts since the start. Its Gets are none of a sweep's, though they may be sent during one. */
struct state_poll_stats {
	uint64_t asked;	  /* Gets sent, without repetitions */
	uint64_t answered; /* Gets answered, with any status */
	uint64_t found;	  /* changes found: ports by SwitchPortStateTable, switches by SwitchInfo */
};
const struct state_poll_stats *state_poll_stats_of(const struct sm *sm);
