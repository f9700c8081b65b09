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
#include "sm/base/alarm_kinds.h"
#include "sm/sm.h"

/* From the mildest to the worst: of cables that could be the last way, the mildest is spared. */
enum out_reason {
	OUT_COMPLAINS,	/* its ports have sent too many traps 129 to 131 (complaints.c) */
	OUT_FLAPS,	/* its link came and went too often (flaps.c) */
	OUT_HEALTH,	/* its health is bad (health/sick.h) */
	OUT_DRAINED,	/* an administrator drained it (marks/marks.h) */
	OUT_ISOLATED,	/* an administrator isolated it: its link is not ACTIVE either */
	OUT_UNEXPECTED, /* the expected topology does not have it (expected/expected.h) */
	OUT_RETURNS,	/* its link was taken down, and is not ACTIVE at both ends yet */
	OUT_STUCK,	/* its link stays in INIT or ARMED */
	OUT_REASONS
};

/* A question to a machine above: the SL of a packet to this LID. */
typedef uint8_t out_of_use_path_sl_fn(const struct sm *sm, lid_t lid);

void out_of_use_new(struct sm *sm, out_of_use_path_sl_fn *path_sl);
void out_of_use_free(struct sm *sm);

/* ---- reasons --------------------------------------------------------------------------------- */

/*
 * Gives the cable of `p` a reason, from the next out_of_use_settle() on. `forced`: also if it is
 * the last way to something. False: no cable is known there, or it is the manager's own link, which
 * is always used.
 */
bool out_of_use_give(struct sm *sm, struct port *p, enum out_reason reason, bool forced);
/* Takes the reason from the cable of `p`. False: nothing is recorded against a cable there. */
bool out_of_use_take(struct sm *sm, struct port *p, enum out_reason reason);
/*
 * No cable has this reason any more; those that still have it are given it anew before
 * out_of_use_settle(). OUT_ISOLATED: no switch is isolated either. Reasons with the column `judged`
 * (bad_cable.h) stay on cables of which no end knows the other, until they are back.
 */
void out_of_use_take_all(struct sm *sm, enum out_reason reason);
/*
 * Isolates a switch as a whole: it is treated as one that takes no tables. No effect on the switch
 * that leads to the manager.
 */
void out_of_use_give_switch(struct sm *sm, struct node *n, bool forced);
bool out_of_use_has(const struct port *p, enum out_reason reason);
/* Has an administrator taken all cables of this switch to other switches out of service? */
bool out_of_use_switch_is_ordered(const struct node *n);

/* ---- findings of this machine ---------------------------------------------------------------- */

/*
 * Called when PortInfo of a port was read whose link state was `before` (enum ib_port_state),
 * before the cable that was pulled is forgotten.
 */
void out_of_use_link_seen(struct sm *sm, struct port *p, unsigned before);
/* Called when the port's own node has sent trap 129, 130 or 131 about it. */
void out_of_use_complaint(struct sm *sm, struct port *p, unsigned trap);
/* After a sweep: PORT_STUCK_AFTER heavy sweeps or more left the port in INIT or ARMED. */
void out_of_use_stuck(struct sm *sm, struct port *p);

/*
 * Switches the switch port `p` off, once no sweep runs, as the host behind it broke rules; `why`:
 * "120 SMPs with a wrong M_Key in 60 s". No effect on a cable between switches, on the manager's
 * own link, and on a port that is off or about to be.
 */
#define SWITCHED_OFF_WHY 96
void out_of_use_switch_off(struct sm *sm, struct port *p, const char *why);
/* Was the port switched off by out_of_use_switch_off(), and not enabled since? */
bool out_of_use_is_switched_off(const struct port *p);

/* ---- as decided last ------------------------------------------------------------------------- */

bool out_of_use_is(const struct port *p);	 /* its cable is left out */
bool out_of_use_is_spared(const struct port *p); /* it would be, and is the last way */
/* Its link was taken down a moment ago, and its ends do not know each other yet. */
bool out_of_use_trains(const struct sm *sm, const struct port *p);
/* Its cable is left out, no table leads over it, and its link is not above INIT. */
bool out_of_use_is_down(const struct port *p);
/*
 * The number of cables between switches that were taken down and return: they are routed over when
 * both ends are ACTIVE, so no table leads over them before.
 */
unsigned out_of_use_returning(const struct sm *sm);
/* Is it still unknown of some cable, since the last sweep, whether tables lead over it? */
bool out_of_use_is_looking(const struct sm *sm);
/* The number of cables with a record: of falls, complaints, reasons, a switched-off port. */
unsigned out_of_use_cables(const struct sm *sm);
/* The switch next to the manager: our own, or the one that our port is on. NULL: none is known. */
const struct node *out_of_use_first_switch(const struct fabric *f);
/* The end of a cable that is asked: a switch, the one that is reached without the cable. */
struct port *out_of_use_near_end(struct port *p);

/* ---- what is not served (unserved.c) --------------------------------------------------------- */

/* `p`: the port; NULL: node `n` as a whole. Of a cable one of its ends. */
typedef void unserved_fn(void *arg, enum alarm_kind kind, const struct node *n,
			 const struct port *p);
/* Calls `found` for all that is not served, several times for an object with several faults. */
void unserved_each(const struct sm *sm, unserved_fn *found, void *arg);

/* Falls of a link that came and went lately, and is not held for it now. */
struct out_of_use_falls {
	const struct port *port; /* one end; NULL: none is known now */
	unsigned falls;		 /* within the last 2 minutes, or in the hold before */
	bool probation;		 /* set if it was held before */
};
/* The n-th cable with a record (from 0), zeroed unless it flaps; false: there are no more. */
bool out_of_use_falls_at(const struct sm *sm, unsigned n, struct out_of_use_falls *ret);

/* ---- the machine ----------------------------------------------------------------------------- */

/*
 * Called after discovery of any kind and before the snapshot for routing: decides which cables are
 * left out and held from now on. True: routes have to be computed anew, as something changed. A
 * second call has no effect; routing_start() calls it in any case.
 */
bool out_of_use_settle(struct sm *sm);
void out_of_use_node_goes(struct sm *sm, struct node *n); /* before it is freed */
void out_of_use_state_changed(struct sm *sm);
/* Logs the line about links left out if it has changed, and switches babbling ports off. */
void out_of_use_sweep_ended(struct sm *sm);
void out_of_use_tick(struct sm *sm);
mono_t out_of_use_next(const struct sm *sm);
