// SPDX-License-Identifier: BSD-2-Clause
/*
 * Switches and limits on the way of a packet between two end ports, by the forwarding tables.
 *
 * A path_map is an extract of a view for that question: eight bytes per port, so that the
 * map of 11,664 hosts fits a cache. It is made with the view, and ends with it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "view/view.h"

/* Most switches on a path; more is a loop, as every host is at most 63 hops from us. */
#define PATH_SWITCHES_MAX 128
#define PATH_NO_WAY	  UINT8_MAX /* value of path_way.n: there is no path */

/* Ports that own a LID, in the order of the view. */
struct path_ends {
	const uint32_t *ports;
	uint32_t n;
};

struct path_way {
	uint8_t mtu;  /* enum ib_mtu: least MTUCap of all ports passed */
	uint8_t rate; /* SA rate code of the slowest port */
	uint8_t n;    /* number of switches passed */
};

struct path_map *path_map_new(const struct view *v);
struct path_map *path_map_free(struct path_map *m);
struct path_ends path_map_ends(const struct path_map *m);
/* The router port with the lowest GUID; VIEW_NONE: no router. */
uint32_t path_map_router(const struct path_map *m);

struct path_ask {
	uint32_t src, dst; /* end ports */
	lid_t slid, dlid;  /* slid: of src; dlid: of dst */
};

/*
 * Follows the tables from `src` by `dlid`, and back. False: the way there does not lead to `dst`
 * (missing entry, loop, link down, another port), or a port on it has no valid MTU; ret_back->n is
 * PATH_NO_WAY if the same holds for the way back. From a port to itself no table is used. Switch
 * port 0 counts with its own PortInfo (sa.md 4.3); an unknown rate of it is no limit.
 */
bool path_walk(const struct view *v, const struct path_ask *ask, struct path_way *ret_there,
	       struct path_way *ret_back);
/*
 * Follows the way there; `ret_ports`: ports left by, from the source and each switch (ret->n + 1).
 */
bool path_trace(const struct view *v, uint32_t src, lid_t dlid, uint32_t dst, struct path_way *ret,
		uint32_t ret_ports[static PATH_SWITCHES_MAX + 1]);
