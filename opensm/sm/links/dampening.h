// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links that come and go, ports that complain too much or do not come up. Sets port->avoided, which
 * leaves a cable out of routing, and port->held, out of ARM and ACTIVE as well; what is held is
 * said once, and when it is let go.
 *
 *   WATCHED --falls too often--> HELD --quiet for its time--> PROBATION --quiet--> WATCHED
 *                                  ^                             |
 *                                  '--- one fall: twice as long--'
 */
#pragma once

#include "fabric/fabric.h"
#include "sm/sm.h"

struct dampening;

void dampening_new(struct sm *sm, const struct sm_paths *paths);
void dampening_free(struct sm *sm);
/*
 * PortInfo of a port was read, its link was `before`, enum ib_port_state. Called before the cable
 * is forgotten that has come out. Counts; what comes of it is decided by dampening_settle().
 */
void dampening_link_seen(struct sm *sm, struct port *p, unsigned before);
/* A trap 129..131 that the port's own node sent about it. */
void dampening_complaint(struct sm *sm, struct port *p, unsigned trap);
/*
 * The switch port `p` is switched off when no sweep runs, and stays so: the host behind it broke
 * rules, as `why` says ("120 SMPs with a wrong M_Key in 60 s"). Nothing for a cable between
 * switches, for that of our own port, and for what is off or about to be.
 */
#define ISOLATED_FOR_STRLEN 96
void dampening_isolate(struct sm *sm, struct port *p, const char *why);
/* The port was switched off by dampening_isolate(), and not enabled since. */
bool dampening_is_isolated(const struct port *p);
/*
 * A mark of an administrator (marks.h): the cable is not routed over, or not to be ACTIVE either.
 * One more reason to leave the cable out, beside those above.
 */
enum cable_mark { CABLE_UNMARKED, CABLE_DRAINED, CABLE_ISOLATED };
/* All marks are taken back; those that hold are given anew, before dampening_settle(). */
void dampening_unmark(struct sm *sm);
/* `forced`: also if it is the last way. Nothing for our own link, and without a cable. */
void dampening_mark(struct sm *sm, struct port *p, enum cable_mark mark, bool forced);
/* The switch as a whole is isolated: it counts as one that takes no tables. */
void dampening_mark_switch(struct sm *sm, struct node *n, bool forced);
/*
 * The health of its link is too bad (sick.h): as CABLE_ISOLATED, and beside any mark, until it is
 * told otherwise. False: nothing is known of a cable there, or it is our own.
 */
bool dampening_set_unhealthy(struct sm *sm, struct port *p, bool unhealthy);
/*
 * The expected topology (expected/) does not have the cable: it is held. As with marks all is taken
 * back, and given anew before dampening_settle().
 */
void dampening_unrefuse(struct sm *sm);
/*
 * `forced`: also if it is the last way, to what is not expected either. False: the manager's own
 * link, or no cable: nothing is refused.
 */
bool dampening_refuse(struct sm *sm, struct port *p, bool forced);
/* The switch that leads to us: our own, or the one that our own port is on. NULL: none is known. */
const struct node *dampening_first_switch(const struct fabric *f);
/* As decided last: the cable is left out; it would be, and is the last way. */
bool dampening_is_out(const struct port *p);
bool dampening_is_spared(const struct port *p);
/*
 * A cable between switches that was isolated trains first: it is armed, and routed over when both
 * ends are ACTIVE, so that no table leads over it before. Returns how many are waited for.
 */
unsigned dampening_returning(const struct sm *sm);
/* A sweep ended, and the port was left in INIT or ARMED by PORT_STUCK_AFTER heavy ones or more. */
void dampening_stuck(struct sm *sm, struct port *p);
/*
 * After discovery of any kind and before the snapshot that is routed on: which cables are held and
 * avoided from now on. True: something changed, routes have to be computed anew. Does nothing when
 * called again; routing_start() calls it in any case.
 */
bool dampening_settle(struct sm *sm);
void dampening_forget(struct sm *sm, struct node *n); /* before it is freed */
void dampening_tick(struct sm *sm);
mono_t dampening_next(const struct sm *sm);
/* Cables with something on record: falls, complaints, that they are stuck or switched off. */
unsigned dampening_cables(const struct sm *sm);
/* A sweep ended: the line is logged if it has changed, ports that babble are switched off. */
void dampening_sweep_ended(struct sm *sm);
