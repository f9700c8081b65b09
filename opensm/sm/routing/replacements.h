// SPDX-License-Identifier: BSD-2-Clause
/*
 * A switch that was put in the place of another one, on its cables, has its order GUID
 * (topo/topo.h): it is numbered where that one was. Engines deal out paths by the order of
 * switches: by its own GUID a new spine would get other destinations than the old one had, and with
 * it all that come after it in the order.
 *
 *   ROUTED --not there any more--> LOST --it, or another one on its cables--> ROUTED, same order
 *                                   '--REPLACEMENTS_LOST others went after it--> forgotten
 *
 * A manager that starts knows no replacements: it keeps the tables that it finds.
 */
#pragma once

#include "topo/topo.h"

/* Switches that went, of which the cables are known. */
#define REPLACEMENTS_LOST 64

struct replacements;
struct replacements *replacements_new(void);
struct replacements *replacements_free(struct replacements *s); /* NULL is fine; returns NULL */

/* Takes the next picture of the fabric; returns it with the order GUIDs. The caller owns it. */
struct topo *replacements_order(struct replacements *s, struct topo *now);
