// SPDX-License-Identifier: BSD-2-Clause
/*
 * A switch that was put in the place of another one, on its cables, has its seat (topo/topo.h): it
 * is numbered where that one was. Engines deal out paths by the order of switches: with a seat of
 * its own, by its GUID, a new spine would get other destinations than the old one had, and with it
 * all that come after it in the order.
 *
 *   ROUTED --not there any more--> LOST --it, or another one on its cables--> ROUTED, same seat
 *                                   '--SEATS_LOST others went after it--> forgotten
 *
 * A manager that starts knows no seats: it keeps the tables that it finds.
 */
#pragma once

#include "topo/topo.h"

/* Switches that went, of which the cables are known. */
#define SEATS_LOST 64

struct seats;
struct seats *seats_new(void);
struct seats *seats_free(struct seats *s); /* NULL is fine; returns NULL */

/* Takes the next picture of the fabric; returns it with the seats. The caller owns it. */
struct topo *seats_give(struct seats *s, struct topo *now);
