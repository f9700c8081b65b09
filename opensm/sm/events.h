// SPDX-License-Identifier: BSD-2-Clause
/*
 * Raising events (struct sm_event in sm/sm.h). Each of these does nothing when nobody listens.
 */
#pragma once

#include "sm/impl.h"

/* A kind that says all there is to say: SA_DUMPED, PORT_DOWN. */
void event_plain(struct sm *sm, enum sm_event_kind kind);
void event_state(struct sm *sm, enum sm_state from, enum sm_state to);
/* SWEEP_START, DISCOVERED, SUBNET_UP or SWEEP_DONE of the running sweep, of this kind. `through`: for DONE. */
void event_sweep(struct sm *sm, enum sm_event_kind event, const char *kind, bool through);
/* sm->routes are about to be written. */
void event_routes(struct sm *sm, bool reroute);
/* A Set was answered: block `value` of a forwarding table, or its top. A hook of sync/. */
void event_table(void *sm, const struct node *n, bool top, unsigned value);
/* Reading has settled: tells of what came since the last time, and of links and managers that went. */
void event_picture(struct sm *sm);
/* The link at `p` was out, even if it is up again by now. */
void event_link_out(struct sm *sm, struct port *p);
/* Before a node is removed. */
void event_node_gone(struct sm *sm, struct node *n);
/* A trap that was believed; `p` sent it. `notice`: as SMPs carry it, SMP_DATA_SIZE bytes. */
void event_trap(struct sm *sm, const struct port *p, const uint8_t *notice, const char *name);
/* What another manager is may have changed. */
void event_manager(struct sm *sm, struct remote_sm *r);
