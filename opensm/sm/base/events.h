// SPDX-License-Identifier: BSD-2-Clause
/* Raising events (struct sm_event in sm/sm.h). Each of these does nothing without a listener. */
#pragma once

#include "sm/sm_internal.h"

struct health_end;
struct link_mark;

/* A kind that says all there is to say: SA_DUMPED, PORT_DOWN. */
void event_plain(struct sm *sm, enum sm_event_kind kind);
void event_state(struct sm *sm, enum sm_state from, enum sm_state to);
/* A Set was answered: block `value` of a forwarding table, or its top. A hook of sync/. */
void event_table(void *sm, const struct node *n, bool top, unsigned value);
/*
 * Reading has settled: tells of what came since the last time, and of links and managers that went.
 */
void event_picture(struct sm *sm);
/* The link at `p` was out, even if it is up again by now. */
void event_link_out(struct sm *sm, struct port *p);
/* Before a node is removed. */
void event_node_gone(struct sm *sm, struct node *n);
/* A trap that was believed; `p` sent it. `notice`: as SMPs carry it, SMP_DATA_SIZE bytes. */
void event_trap(struct sm *sm, const struct port *p, const uint8_t *notice, const char *name);
/* A port does what it may not do, as the log says in `text`; `what`: a word for programs. */
void event_security(struct sm *sm, const char *what, guid_t port_guid, lid_t lid, const char *text);
/* The fabric is not as it was meant (expected/), or is again. */
void event_drift(struct sm *sm, bool begins, const char *cause, const char *text);
/* A link is not in order (health/), or is again: `what` was done, `text` as the log has it. */
void event_health(struct sm *sm, const char *what, const struct health_end end[2],
		  const char *text);
/* A mark of an administrator: `what` becomes of it; `text` as the log has it. */
void event_mark(struct sm *sm, const char *what, const struct link_mark *m, const char *text);
/* An event that its maker has filled in, but for the time. */
void event_raise(struct sm *sm, struct sm_event *e);
