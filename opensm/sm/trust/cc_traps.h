// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traps of congestion control: a device tells of MADs of that class with a wrong CC_Key. The sender
 * of these is counted, and named once an hour, as that of packets with wrong keys is (traps 256 to
 * 259). Listened to only where CC_Keys are given (cc_key_enable 2).
 *
 * A source LID is what the device has seen in a packet that any host may forge: no port is switched
 * off for it.
 */
#pragma once

#include "opensm/transport.h"
#include "sm/sm.h"

/* Takes a MAD of class 0x21 with method Trap, from any sender; ignored unless MASTER. */
void cc_traps_receive(struct sm *sm, const struct transport_event *ev);
