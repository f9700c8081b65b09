// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host ports whose PortInfo says what cannot be (security.md 9, row 14): lower MTU, width or speed
 * than the link has would draw down what others share. Joins of such a port are refused anyway;
 * here it is named.
 *
 * Only what contradicts itself, the other end of the cable or an earlier answer is seen: a port
 * that has said a small MTU from the first is an old adapter, as far as anyone can tell.
 */
#pragma once

#include "fabric/fabric.h"
#include "sm/sm.h"

/*
 * Called when the port has answered PortInfo in this sweep: counts and logs impossible values once.
 * `before`: its former answer, if its link was up since; else NULL.
 */
void capability_read(struct sm *sm, struct port *p, const uint8_t *before);
