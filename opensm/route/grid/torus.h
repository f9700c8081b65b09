// SPDX-License-Identifier: BSD-2-Clause
/*
 * torus-2QoS: a torus or mesh of up to three dimensions where torus-2QoS.conf says it is, or where
 * its cables say.
 */
#pragma once

#include "route/core/engine.h"
#include "route/shape/grid.h"

/* Coordinates as the configuration counts them. */
struct torus_place {
	uint32_t sw;
	uint16_t x, y, z;
};

/*
 * The torus of `g`: with a configuration its coordinates and dimensions in its order, those of one
 * switch left out (`axis[d]`: 0 x, 1 y, 2 z); without, as the cables are. NULL and why. The caller
 * frees.
 */
struct grid *torus_find(const struct graph *g, const struct torus_conf *conf,
			uint8_t axis[GRID_DIMS], char *why, size_t why_len);

/* All switches for opensm-torus.dump, x fastest; how many, 0: no torus. The caller frees `ret`. */
uint32_t torus_places(const struct topo *t, const struct route_options *options,
		      struct torus_place **ret);
