// SPDX-License-Identifier: BSD-2-Clause
/* torus-2QoS: a torus or mesh of up to 3 dimensions, as torus-2QoS.conf says, or its cables. */
#pragma once

#include "route/core/engine.h"

/* Coordinates of a switch as they are in the configuration. */
struct torus_place {
	uint32_t sw;
	uint16_t x, y, z;
};

/*
 * All switches for opensm-torus.dump, x varies fastest. Returns their number; 0: no torus. The
 * caller frees `ret`.
 */
uint32_t torus_places(const struct topo *t, const struct route_options *options,
		      struct torus_place **ret);
