// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which end port belongs behind which switch port (security.md 7): guid_location_policy.
 *
 * A NodeInfo is what a host says of itself. So the first place of a port GUID is believed, and a
 * claim to it from another place only when the first place has been free for a while:
 *
 *   met -> HOME --link down, or another host is there--> GONE --guid_location_hold_time--> free
 *            |                                             |
 *            '--- the same GUID answers at another port ---'
 *                    report: told once, and it moves
 *                    hold:   left out (its link stays in INIT) until the first place is free
 *
 * In the same way a port behind which a host was met leads to no switch, however long ago that was:
 * a host that says it is one would attract routes. That is the administrator's to allow.
 *
 * Whatever the policy, no known switch makes room for a host that says its GUID: that is held.
 *
 * With an expected topology (expected/) the rule is strict: the home of a port that is in it is the
 * place that it has there, however long that has been free.
 *
 * Homes are known from the start of this process on, as standby too; with hold, that of a port GUID
 * which was not met yet is where the file neighbors has it. That a port had a host is in no file.
 */
#pragma once

#include "fabric/fabric.h"
#include "sm/sm.h"

/* A question to a machine above: where an end port belongs, by its NodeInfo. False: anywhere. */
typedef bool identity_expected_fn(const struct sm *sm, const uint8_t *node_info, guid_t *ret_switch,
				  uint8_t *ret_port);
void identity_new(struct sm *sm, identity_expected_fn *expected);
void identity_free(struct sm *sm);
/*
 * Judges a NodeInfo that arrived through port `a`, before it is acted upon. True: the node behind
 * `a` is left out now.
 */
bool identity_holds(struct sm *sm, struct port *a, const uint8_t *node_info);
/* Called when end port `b` is behind `a`, and takes part. */
void identity_met(struct sm *sm, struct port *a, struct port *b);
/* Called before the node is freed. */
void identity_node_goes(struct sm *sm, struct node *n);
/* Checks the claims that are due. */
void identity_tick(struct sm *sm);
mono_t identity_next(const struct sm *sm);
/* Is the node behind a switch port left out for its identity? */
static inline bool identity_is_held(const struct port *p)
{
	return p->quarantined && p->identity.held;
}
