// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dead port first: when a cable between switches dies, its entries in forwarding tables are
 * given other ports at once (route/patch/patch.h). Routing follows, from the patched tables.
 *
 *                 tables come into force
 *   NO GROUND --------------------------> MAKING (a job) --ended--> READY <-----------------.
 *       ^                                    |                        | a cable dies         |
 *       |        other tables in force       |                        v                      |
 *       '------------------------------------'<------------------- PATCHING: Sets under way -'
 *
 * That a link is down is known from PortInfo that a sweep reads. If a sweep is computing or
 * writing, or is not due at once, the ports of a switch that reports a change are read here.
 */
#pragma once

#include "sm/sm.h"

struct multicast_mended;
struct node;
struct port;

/* `mended`: what became of multicast trees around dead cables. */
void patching_new(struct sm *sm, const struct multicast_mended *(*mended)(const struct sm *sm));
/* The link at `p` is down, as PortInfo said; its cable is still known. */
void patching_link_down(struct sm *sm, const struct port *p);
/*
 * Links of switch `n` may have changed: reads them, unless a sweep does so at once, or nothing says
 * that they have (`in_turn`).
 */
void patching_look(struct sm *sm, struct node *n, bool in_turn);
/* Patches what has died since the last call. */
void patching_feed(struct sm *sm);
mono_t patching_next(const struct sm *sm);
/*
 * Are Sets of a patch about to be answered? New tables wait for them, a moment: they are written in
 * an order that begins with what switches hold.
 */
bool patching_busy(const struct sm *sm);
void patching_node_goes(struct sm *sm, struct node *n);
void patching_free(struct sm *sm);
