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

/* Called when our own port did not answer this attribute: answers of this sweep are discarded. */
void own_port_silent(struct sm *sm, const char *attr);
/* Called when reading has ended. False: our own port did not answer, and answers are discarded. */
bool own_port_was_read(struct sm *sm);
bool own_port_is_silent(const struct own_port *o);
/* The time before which a silent own port is not asked. */
mono_t own_port_next(const struct own_port *o);
/*
 * Called after a sweep. Where GMPs leave by another device than SMPs, that device must have the
 * same LIDs; it follows a moment late, so a difference is logged if two sweeps in a row find it.
 */
void own_port_compare_devices(struct sm *sm);
/* Called when something changed that may make the port answer: it is asked at once. */
void own_port_ask_now(struct own_port *o, mono_t now);
