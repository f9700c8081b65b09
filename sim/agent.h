// SPDX-License-Identifier: BSD-2-Clause
/*
 * The MAD layer of a port, behaving like the Linux kernel's: programs open agents on it.
 *
 *   request out    its TID gets the agent's number in the upper half; resent until it is answered
 *                  or
 *                  the tries are used up, then it comes back
 *   response in    to the agent whose number its TID has, if that waits for it; else dropped
 *   request in     to the agent of its queue pair, or class, version and method; a Get or Set that
 *                  no agent takes is answered with "unsupported"
 *   RMPP           rmpp.c, for agents that want it
 *
 * Not here: sending and arriving (forward.c, gmp.c), which programs may read it (transport.c,
 * serve/).
 */
#pragma once

#include "sim/sim.h"

struct agent;

struct agent_spec {
	/* 0, 1: QP0 and QP1 by class; above: a queue pair of the program's own */
	uint32_t qp;
	bool any;           /* set if it takes all MADs that no other agent of the port takes */
	uint8_t mgmt_class; /* 0: of no class, it sends requests only */
	uint8_t class_version;
	bool rmpp;           /* set if the layer segments and reassembles long messages */
	uint64_t methods[2]; /* requests it takes, a bit per method; none: it sends requests only */
	/*
	 * Receives a MAD or message (TRANSPORT_MAD), or a request that ended without an answer
	 * (-ETIMEDOUT; -ECONNABORTED: the peer stopped our segments). TIDs are those on the wire.
	 * `ev` is valid during the call, its `whole` is the callee's; the callee must not call the
	 * simulator.
	 */
	void (*deliver)(void *owner, struct transport_event *ev);
	void *owner;
};

/*
 * 0: *ret is the new agent, the caller's to close. -ENODEV: no such port (CA and router ports 1..n,
 * switches 0). -EINVAL: another agent takes one of these requests. -EBUSY: its queue pair is taken.
 */
int agent_open(struct sim *sim, int node, unsigned port, const struct agent_spec *spec,
	       struct agent **ret);
/* Ends requests under way without calling back. NULL is fine; returns NULL. */
struct agent *agent_close(struct agent *a);

/*
 * Sends a message of `length` bytes (24..256; more only with RMPP flags by an agent with `rmpp`).
 * Requests with a timeout come back once, answered or not; `retries` more tries are made without an
 * answer, or without an acknowledgement of segments. 0, -EINVAL (malformed, or its TID is under
 * way), -EMSGSIZE, -ENOMEM.
 */
int agent_send(struct agent *a, const struct transport_addr *to, const uint8_t *mad, size_t length,
	       unsigned timeout_ms, unsigned retries);

/* Sets or clears IsSM of an end port; the port tells the fabric. -ENODEV: no such port. */
int agent_port_issm(struct sim *sim, int node, unsigned port, bool on);
