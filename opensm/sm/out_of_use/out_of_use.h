// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links that are not to be used: cable x reason. A machine that finds a link unfit gives its cable
 * a reason; a row of reasons.c says what follows from that reason. All the rest is the same for
 * all of them:
 *
 *   IN USE --a reason--> is it the last way to something? --yes--> SPARED: used all the same
 *                                 | no
 *                                 v
 *                                OUT: not routed over
 *                                 | of reasons that take the link down: no table leads over it,
 *                                 | no packet is sent over it (take_down.c)
 *                                 v
 *                                DOWN: told to train, held in INIT
 *
 *   no reason any more: OUT --> IN USE;  DOWN --> armed, and routed over when both ends are ACTIVE
 *
 * A reason sets port->out.avoided, which leaves the cable out of routing, and some of them
 * port->out.held, which leaves it out of ARM and ACTIVE as well.
 */
#pragma once

#include "fabric/fabric.h"
#include "sm/sm.h"

struct out_of_use;

/* From the mildest to the worst: of cables that could be the last way, the mildest is spared. */
enum out_reason {
	OUT_COMPLAINS,	/* its ports have sent too many traps 129 to 131 (complaints.c) */
	OUT_FLAPS,	/* its link came and went too often (flaps.c) */
	OUT_HEALTH,	/* its health is bad (health/sick.h) */
	OUT_DRAINED,	/* an administrator asks for it (marks/marks.h), */
	OUT_ISOLATED,	/* and that its link is not ACTIVE either */
	OUT_UNEXPECTED, /* the expected topology does not have it (expected/expected.h) */
	OUT_RETURNS,	/* its link was taken down, and is not ACTIVE at both ends yet */
	OUT_STUCK,	/* its link stays in INIT or ARMED */
	OUT_REASONS
};

/* The service level of a packet to this LID: a question to a machine above. */
typedef uint8_t out_of_use_path_sl_fn(const struct sm *sm, lid_t lid);

void out_of_use_new(struct sm *sm, out_of_use_path_sl_fn *path_sl);
void out_of_use_free(struct sm *sm);

/* ---- reasons --------------------------------------------------------------------------------- */

/*
 * The cable of `p` has this reason from the next out_of_use_settle() on. `forced`: it is left out
 * also as the last way to something. False: nothing is known of a cable there, or it is the
 * manager's own link, which is always used.
 */
bool out_of_use_give(struct sm *sm, struct port *p, enum out_reason reason, bool forced);
/* The cable of `p` has this reason no more. False: nothing is on record against a cable there. */
bool out_of_use_take(struct sm *sm, struct port *p, enum out_reason reason);
/*
 * No cable has this reason any more; those that still have it are given it anew before
 * out_of_use_settle(). OUT_ISOLATED: no switch is isolated either. Reasons with the column `judged`
 * (bad_cable.h) stay on cables of which no end knows the other, until they are back.
 */
void out_of_use_take_all(struct sm *sm, enum out_reason reason);
/*
 * The switch as a whole is isolated: it is treated as one that takes no tables. Nothing for the
 * switch that leads to the manager.
 */
void out_of_use_give_switch(struct sm *sm, struct node *n, bool forced);
bool out_of_use_has(const struct port *p, enum out_reason reason);

/* ---- findings of this machine ---------------------------------------------------------------- */

/*
 * PortInfo of a port was read, its link was `before`, enum ib_port_state. Called before the cable
 * is forgotten that was pulled.
 */
void out_of_use_link_seen(struct sm *sm, struct port *p, unsigned before);
/* The port's own node has sent trap 129, 130 or 131 about it. */
void out_of_use_complaint(struct sm *sm, struct port *p, unsigned trap);
/* A sweep ended, and the port was left in INIT or ARMED by PORT_STUCK_AFTER heavy ones or more. */
void out_of_use_stuck(struct sm *sm, struct port *p);

/*
 * The switch port `p` is switched off when no sweep runs, and stays so: the host behind it broke
 * rules, as `why` says ("120 SMPs with a wrong M_Key in 60 s"). Nothing for a cable between
 * switches, for the manager's own link, and for what is off or about to be.
 */
#define SWITCHED_OFF_WHY 96
void out_of_use_switch_off(struct sm *sm, struct port *p, const char *why);
/* The port was switched off by out_of_use_switch_off(), and not enabled since. */
bool out_of_use_is_switched_off(const struct port *p);

/* ---- as decided last ------------------------------------------------------------------------- */

bool out_of_use_is(const struct port *p);	 /* its cable is left out */
bool out_of_use_is_spared(const struct port *p); /* it would be, and is the last way */
/* Its link was taken down a moment ago, and its ends do not know each other yet. */
bool out_of_use_trains(const struct sm *sm, const struct port *p);
/* Its cable is left out, no table leads over it, and its link is not above INIT. */
bool out_of_use_is_down(const struct port *p);
/*
 * Cables between switches that were taken down and are waited for: they are routed over when both
 * ends are ACTIVE, so that no table leads over them before.
 */
unsigned out_of_use_returning(const struct sm *sm);
/* Since the last sweep it was not yet seen of all cables whether tables lead over them. */
bool out_of_use_is_looking(const struct sm *sm);
/* Cables that anything is on record of: falls, complaints, reasons, a port that is switched off. */
unsigned out_of_use_cables(const struct sm *sm);
/* The switch that leads to us: our own, or the one that our own port is on. NULL: none is known. */
const struct node *out_of_use_first_switch(const struct fabric *f);
/* The end of a cable that is asked: a switch, the one that is reached without the cable. */
struct port *out_of_use_near_end(struct port *p);

/* ---- the machine ----------------------------------------------------------------------------- */

/*
 * After discovery of any kind and before the snapshot that is routed on: which cables are left out
 * and held from now on. True: something changed, routes have to be computed anew. Does nothing when
 * called again; routing_start() calls it in any case.
 */
bool out_of_use_settle(struct sm *sm);
void out_of_use_node_goes(struct sm *sm, struct node *n); /* before it is freed */
void out_of_use_state_changed(struct sm *sm);
/* The line on what is left out is logged if it has changed, ports that babble are switched off. */
void out_of_use_sweep_ended(struct sm *sm);
void out_of_use_tick(struct sm *sm);
mono_t out_of_use_next(const struct sm *sm);
