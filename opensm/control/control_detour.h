// SPDX-License-Identifier: BSD-2-Clause
/*
 * Estimated load of cables if others were missing, before tables are computed: packets that used a
 * missing cable take, from the switch before it, a shortest path of the remaining cables, each time
 * by the cable with the least load. An engine may distribute them differently, by its own rules.
 * Present loads are exact: pairs of (sender, receiver) of hosts.
 */
#pragma once

#include "route/core/routes.h"

struct detour_peak {
	uint32_t pairs;
	/*
	 * port of the cable with the greatest load, by index in topo->ports; cables to switches on
	 * one cable alone (stubs, topo.h) do not count; TOPO_NONE: no cable has load
	 */
	uint32_t at;
};

struct detour {
	struct detour_peak now, after;
	uint64_t moved; /* pairs that use a missing cable now, and have another path */
};

/*
 * Selects the cables of this port (0: all of the switch), as entries of topo->ports from both ends;
 * `hosts`: cables to hosts, too. One flag for each entry, to be freed. NULL: no such switch or
 * port.
 */
bool *detour_missing(const struct topo *t, guid_t sw, unsigned port, bool hosts);
/* Computes both peaks. O(switches * hosts). */
void detour_of(const struct routes *r, const bool *missing, struct detour *ret);
