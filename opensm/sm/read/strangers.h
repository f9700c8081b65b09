// SPDX-License-Identifier: BSD-2-Clause
/*
 * New cables between switches that have a key each, and answer none of another (m_key_per_port,
 * level 2).
 *
 * A port behind which no node answers may lead to a host that is silent on purpose: it is asked
 * without a key, as its host would learn one. A switch that is known by another way refuses that,
 * and the cable would stay unknown for ever. So where several switch ports lead to silence, their
 * switches show themselves for a moment: they answer Gets without a key (level 1), and change
 * nothing without it.
 *
 *   silence behind two ports or more --level 1 is written--> these ports are asked again
 *           ^                                                        |
 *           '-- other ports than before      cables are known, or SHOW_TIME is over: level 2
 *
 * Hosts could have this at will. So for a port behind which a host was met, or nothing so far, its
 * switch shows itself once an hour; and not at all for a host's if guid_location_policy hold lets
 * no switch follow a host.
 */
#pragma once

#include "sm/sm.h"

/* Makes the next look like the first. */
void strangers_reset(struct sm *sm);
/* Called after a sweep. */
void strangers_look(struct sm *sm);
void strangers_tick(struct sm *sm);
mono_t strangers_next(const struct sm *sm);
