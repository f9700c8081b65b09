// SPDX-License-Identifier: BSD-2-Clause
/*
 * The incremental sweep: changes whose place is known. Each call asks for such a sweep: it reads
 * what is named here, discovers what is behind whatever changed, and leaves all else as it is
 * known.
 *
 *   QUIET --a place is named--> WANTED --1 ms, or the pace of sweeps--> READING --settled--> QUIET
 *                                          the nearest first, level by level |
 *                                                                            '-- contradicted, or
 *                                                                                lost: a heavy
 *                                                                                sweep
 */
#pragma once

#include "fabric/observe.h"
#include "sm/sm.h"

struct incremental;

/* Links at this switch may have changed (trap 128, PortStateChange, a reset table). */
void incremental_switch(struct sm *sm, struct node *n, const char *why);
/* An end port says that it changed (trap 144), or the node behind a switch port must be asked. */
void incremental_port(struct sm *sm, struct port *p, const char *why);

/* A node is gone: one that was left out because of its GUID is asked again. */
void incremental_guid_free(struct sm *sm);
/* Nothing is dirty: a table does not hold what it should, and is known to. */
void incremental_tables(struct sm *sm, const char *why);
/* The sweep itself; incremental_settle() is false if nothing had happened. */
/* `believe_bits`: no PortStateChange means no change since we looked, if as a standby, too. */
void incremental_start(struct sm *sm, bool believe_bits);
bool incremental_is_wanted(const struct sm *sm);
/* When a dirty sweep is due; MONO_NEVER: none is wanted. */
mono_t incremental_next(const struct sm *sm);
void incremental_not_before(struct sm *sm, mono_t at);
/* In this sweep: something is not as it was. In the next: tables are compared, whatever is read. */
void incremental_changed(struct sm *sm);
void incremental_compare_tables(struct sm *sm);
/* In the next, without asking for it: the node behind this port of a switch is asked. */
void incremental_read_behind(struct port *p);
/* In the next: every switch is asked whether something changed, and our own port is read. */
void incremental_read_all(struct sm *sm);
void incremental_new(struct sm *sm, const struct sm_paths *paths);
void incremental_free(struct sm *sm);
void incremental_feed(struct sm *sm);
bool incremental_busy(const struct sm *sm);
bool incremental_settle(struct sm *sm);
void incremental_ended(struct sm *sm);
/* A heavy sweep begins, which reads everything. */
void incremental_clear(struct sm *sm);
/* Deltas of discovery (fabric/observe.h). A link was out: its cable is still known. */
void incremental_link_out(struct sm *sm, struct port *p, struct port *far);
/* Cable end `p` answered: if it was known to be down, its switch has news. */
void incremental_met(struct port *p);
/* The port is connected no more: directed routes through it end at the wrong place. */
void incremental_cable_gone(struct sm *sm, struct port *p);
/* A port has a LID that it was not given. */
void incremental_other_lid(struct sm *sm);
/* A switch that had to be read does not answer. */
void incremental_lost(struct sm *sm, const struct node *n);
/* Answers contradict each other: a dirty sweep ends, unapplied. The caller wants a heavy one. */
void incremental_contradicted(struct sm *sm);
/* In a dirty sweep: this SwitchInfo says that nothing happened since its ports were read. */
bool incremental_is_unchanged(const struct sm *sm, const struct node *n,
			      const uint8_t *switch_info);
/*
 * `end` answered behind `claimant`. True: it is known elsewhere, and was carried over; the old
 * place is read first, then the claimant is asked again.
 */
bool incremental_is_in_question(struct sm *sm, struct port *claimant, struct port *end);
