// SPDX-License-Identifier: BSD-2-Clause
/* What agent.c and rmpp.c know of an agent, and of MADs; for the simulator's own files. */
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
	struct rmpp_table *sessions; /* of rmpp.c; NULL: never any */
	struct event
		*pending[PENDING_BUCKETS]; /* EV_TIMEOUT events, in the queue at the same time */
};

/* Does this method go to the requester (bit 7, and TrapRepress)? */
static inline bool mad_is_response(const uint8_t *mad)
{
	unsigned method = (unsigned)ib_get(mad, SMP_METHOD);

	return (method & MAD_RESPONSE_BIT) || method == MAD_TRAP_REPRESS;
}

/* One MAD of `a` (at most MAD_SIZE bytes) into the fabric. */
void agent_emit(struct agent *a, const struct transport_addr *to, const uint8_t *mad,
		size_t length);
/* Hands over what came: `length` bytes in `whole` (taken; NULL: ev->mad). Takes ev. */
void agent_accept(struct agent *a, struct event *ev, uint8_t *whole, size_t length);
/*
 * Waits for an answer to `mad`, for ever if timeout_ms is 0. -EINVAL: such a request is under way.
 */
int agent_expect(struct agent *a, const struct transport_addr *to, const uint8_t *mad,
		 unsigned timeout_ms, unsigned retries);
/* Waits so long from now, once; nothing if no agent waits for `mad`. */
void agent_wait(struct agent *a, const uint8_t *mad, unsigned timeout_ms);
/* The answer to `mad` is not waited for any more. */
void agent_forget(struct agent *a, const uint8_t *mad);
