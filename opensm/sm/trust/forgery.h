// SPDX-License-Identifier: BSD-2-Clause
/*
 * Answers that were not asked for: counted by their sender, and the sender named once.
 *
 *   an answer that mad/ refused --> its sender has sent FORGERY_MANY of them? --> one event
 *
 * One may be a fault of firmware, and is a line at level VERBOSE. Many are a program on that host:
 * one record names its port and switch port, and none more for FORGERY_QUIET.
 */
#pragma once

#include "opensm/transport.h"
#include "sm/sm.h"

#define FORGERY_MANY   100u
#define FORGERY_WINDOW (600 * MONO_S) /* time within which they must arrive */
#define FORGERY_QUIET  (3600 * MONO_S)

/* A hook of the MAD engine (mad_stray_fn); `sm`: struct sm. */
void forgery_arrived(void *sm, enum mad_stray why, const struct transport_addr *from,
		     const uint8_t *mad, mono_t now);
