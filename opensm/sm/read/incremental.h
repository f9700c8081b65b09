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

/* Links at this switch may have changed (trap 128, PortStateChange, a reset table). */
void incremental_switch(struct sm *sm, struct node *n, const char *why);
/* An end port says that it changed (trap 144), or the node behind a switch port must be asked. */
void incremental_port(struct sm *sm, struct port *p, const char *why);

/* Called when a node has gone: a node that was left out because of its GUID is asked again. */
void incremental_guid_free(struct sm *sm);
/* Asks for a sweep that reads nothing: a table is known to differ from what it should hold. */
void incremental_tables(struct sm *sm, const char *why);
/* Steps of the sweep; incremental_settle() returns false if nothing had happened. */
/* `believe_bits`: no PortStateChange means no change since the last reading. */
void incremental_start(struct sm *sm, bool believe_bits);
bool incremental_is_wanted(const struct sm *sm);
/* The time of the next incremental sweep; MONO_NEVER: none is wanted. */
mono_t incremental_next(const struct sm *sm);
void incremental_not_before(struct sm *sm, mono_t at);
/* In this sweep something has changed; in the next one tables are compared, whatever is read. */
void incremental_changed(struct sm *sm);
void incremental_compare_tables(struct sm *sm);
/* In the next sweep, without asking for one: the node behind this switch port is asked. */
void incremental_read_behind(struct port *p);
/* In the next sweep all switches are asked whether something changed, and our own port is read. */
void incremental_read_all(struct sm *sm);
void incremental_feed(struct sm *sm);
bool incremental_busy(const struct sm *sm);
bool incremental_settle(struct sm *sm);
void incremental_ended(struct sm *sm);
/* Called when a heavy sweep begins, which reads everything. */
void incremental_clear(struct sm *sm);
/* Deltas of discovery (fabric/observe.h). A link was down: its cable is still known. */
void incremental_link_out(struct sm *sm, struct port *p, struct port *far);
/* Cable end `p` answered: if it was known as down, its switch is dirty. */
void incremental_met(struct port *p);
/* The port lost its cable: directed routes through it end at the wrong place. */
void incremental_cable_gone(struct sm *sm, struct port *p);
/* A port has a LID that it was not assigned. */
void incremental_other_lid(struct sm *sm);
/* A switch that had to be read does not answer. */
void incremental_lost(struct sm *sm, const struct node *n);
/* Answers contradict each other: the sweep ends unapplied. The caller wants a heavy one. */
void incremental_contradicted(struct sm *sm);
/* In an incremental sweep: does this SwitchInfo say that nothing happened since the last one? */
bool incremental_is_unchanged(const struct sm *sm, const struct node *n,
			      const uint8_t *switch_info);
/*
 * Is `end`, which answered behind `claimant`, known elsewhere and carried over? Then the old place
 * is read first, and the claimant is asked again.
 */
bool incremental_is_in_question(struct sm *sm, struct port *claimant, struct port *end);
/*
 * Does the directed route of a switch lead to it over cables that are up, and by no other switch
 * that has been silent since one of its cables died?
 */
bool incremental_way_holds(const struct sm *sm, const struct node *n);
/*
 * Lays directed routes anew that do not, over cables that are known; by such a switch only where no
 * other leads. O(ports of the fabric).
 */
void incremental_lay_ways(struct sm *sm);
