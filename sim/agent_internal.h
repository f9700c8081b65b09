// SPDX-License-Identifier: BSD-2-Clause
/* Internals of agents for agent.c and rmpp.c. */
#pragma once

#include "sim/agent.h"
#include "sim/sim_internal.h"

#define PENDING_BUCKETS 128u /* thousands of hosts have agents */

struct rmpp_table;

struct agent {
	struct agent *next; /* on the same port */
	struct sim *sim;
	struct link *link;
	struct agent_spec spec;
	uint32_t number;
	struct rmpp_table *sessions; /* sessions of rmpp.c; NULL: there were none yet */
	struct event
		*pending[PENDING_BUCKETS]; /* EV_TIMEOUT events, in the queue at the same time */
};

/* Does this method belong to a response (bit 7, and TrapRepress)? */
static inline bool mad_is_response(const uint8_t *mad)
{
	unsigned method = (unsigned)ib_get(mad, SMP_METHOD);

	return (method & MAD_RESPONSE_BIT) || method == MAD_TRAP_REPRESS;
}

/* Sends one MAD of `a` (at most MAD_SIZE bytes) into the fabric. */
void agent_emit(struct agent *a, const struct transport_addr *to, const uint8_t *mad,
		size_t length);
/* Delivers `length` bytes in `whole` (taken; NULL: ev->mad). Takes ev. */
void agent_accept(struct agent *a, struct event *ev, uint8_t *whole, size_t length);
/*
 * Waits for an answer to `mad`, endlessly if timeout_ms is 0. -EINVAL: such a request is under way.
 */
int agent_expect(struct agent *a, const struct transport_addr *to, const uint8_t *mad,
		 unsigned timeout_ms, unsigned retries);
/* Restarts the timeout of `mad`, without further tries; no effect if no agent waits for it. */
void agent_wait(struct agent *a, const uint8_t *mad, unsigned timeout_ms);
/* Ends the wait for an answer to `mad`. */
void agent_forget(struct agent *a, const uint8_t *mad);
