// SPDX-License-Identifier: BSD-2-Clause
/*
 * Our own port: every directed route begins there.
 *
 *             a sweep asks NodeInfo or PortInfo of it in vain
 *   ANSWERS ---------------------------------------------------> SILENT
 *      ^                                                           |
 *      '----- a sweep that reads everything is answered by it -----'
 *
 * SILENT (firmware hangs, or a port with an M_Key that is not known here): the fabric stays what it
 * was when it was read last. Nothing is read, nothing is taken out, nothing is written; hosts are
 * answered as before, and the state of the election stays. Our port is asked after
 * PORT_SILENT_FIRST, then ever more rarely, at last every PORT_SILENT_INTERVAL, whatever else asks
 * for a sweep; what was asked for meanwhile is part of the heavy sweep that finds it again.
 */
#pragma once

#include <stdbool.h>

#include "util/mono.h"

struct own_port;
struct sm;
struct sm_paths;

void own_port_new(struct sm *sm, const struct sm_paths *paths);
void own_port_free(struct sm *sm);
/* Our own port did not answer this attribute: the answers of this sweep do not count. */
void own_port_silent(struct sm *sm, const char *attr);
/* Reading has ended: false if our own port was not part of it, and nothing of it may count. */
bool own_port_was_read(struct sm *sm);
bool own_port_is_silent(const struct own_port *o);
/* While it is silent it is not asked before this time. */
mono_t own_port_next(const struct own_port *o);
/*
 * A sweep has ended. Where GMPs of this port leave by another device than SMPs, that device must
 * have the same LIDs: it follows a moment late, so what two ends of sweeps in a row find is said.
 */
void own_port_compare_devices(struct sm *sm);
/* Something changed that may make it answer: it is asked at once. */
void own_port_ask_now(struct own_port *o, mono_t now);
