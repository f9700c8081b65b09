// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sends all Sets. It asks the election each time: a standby sends nothing.
 *
 * Sets of a run (sync.c), commands (sync_command) and multicast tables (mft_cells.c) go through it;
 * nothing else of the daemon submits a Set (tests/check/calls.sh).
 */
#pragma once

#include <stdbool.h>

#include "fabric/fabric.h"
#include "mad/mad.h"

struct smp_sender {
	struct fabric *fabric;
	struct mad_engine *mad;
	bool (*may_write)(void *arg);
	void *arg;
};

/*
 * Queues a Set to the agent that answers for `p`. Used of `what`: attr, mod, payload (64 bytes,
 * copied; NULL: zeroes), path (NULL: the known one), long_timeout, urgent and m_key (0: the key
 * that the agent is assumed to hold).
 * False: nothing may be written now, or no path is known; then `on_done` is not called.
 */
bool smp_set(const struct smp_sender *d, struct port *p, const struct mad_request *what,
	     mad_done_fn on_done, void *owner, void *arg);
/*
 * door_set() without a transaction (no window, repetition or answer), for the last message of a
 * process.
 */
bool smp_set_once(const struct smp_sender *d, struct port *p, const struct mad_request *what);
/* Queues a Get; only the path can fail it. */
bool smp_get(const struct smp_sender *d, struct port *p, const struct mad_request *what,
	     mad_done_fn on_done, void *owner, void *arg);
