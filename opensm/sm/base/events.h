// SPDX-License-Identifier: BSD-2-Clause
/*
 * Raising events (struct sm_event in sm/sm.h). Each of these does nothing without a listener, but
 * links and nodes that came or went are also noted for the log (changes.h).
 */
#pragma once

#include "sm/sm_internal.h"

struct health_end;
struct link_mark;
struct patch_tally;

/* Raises an event without further fields: SA_DUMPED, PORT_DOWN. */
void event_plain(struct sm *sm, enum sm_event_kind kind);
void event_state(struct sm *sm, enum sm_state from, enum sm_state to);
/* A hook of sync/: a Set of block `value` of a forwarding table, or of its top, was answered. */
void event_table(void *sm, const struct node *n, bool top, unsigned value);
/*
 * Called when reading has settled: raises events for what appeared since the last call, and for
 * links and managers that are gone.
 */
void event_picture(struct sm *sm);
/* Called when the link at `p` was down, even if it is up again. */
void event_link_out(struct sm *sm, struct port *p);
/* Called before a node is removed. */
void event_node_gone(struct sm *sm, struct node *n);
/* Raises the event of a trap that was believed. `p`: its sender. `notice`: SMP_DATA_SIZE bytes. */
void event_trap(struct sm *sm, const struct port *p, const uint8_t *notice, const char *name);
/* A port violates a rule, as the log says in `text`; `what`: a word for programs. */
void event_security(struct sm *sm, const char *what, guid_t port_guid, lid_t lid, const char *text);
/* The fabric begins or ceases to differ from the expected one (expected/). */
void event_drift(struct sm *sm, bool begins, const char *cause, const char *text);
/* A link is unhealthy (health/), or healthy again: `what` was done, `text` as logged. */
void event_health(struct sm *sm, const char *what, const struct health_end end[2],
		  const char *text);
/* Raises the event of an administrator's mark: `what` happened to it; `text` as logged. */
void event_mark(struct sm *sm, const char *what, const struct link_mark *m, const char *text);
/* An alarm begins or ends. */
void event_alarm(struct sm *sm, const struct alarm *a, bool begins);
/*
 * Cables died, and the last Set of what was moved off them was answered. `guid`, `port`: the ends
 * of one of them. `text`: as logged (patch_text()).
 */
void event_patch(struct sm *sm, const guid_t guid[2], const uint8_t port[2],
		 const struct patch_tally *tally, const char *text);
/* Raises an event that the caller has filled in except for the time. */
void event_raise(struct sm *sm, struct sm_event *e);
