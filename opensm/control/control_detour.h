// SPDX-License-Identifier: BSD-2-Clause
/*
 * What load cables would have if some were not there, before any table is computed: packets that
 * lead over the missing ones take, from where they meet one, a shortest path of what is left, each
 * time by the cable with the least load. That is an estimate: an engine may spread them otherwise,
 * and obeys rules of its own. Loads of now are exact: pairs of (sender, receiver) of hosts.
 */
#pragma once

#include "route/core/routes.h"

struct detour_peak {
	uint32_t pairs;
	/* entry of topo->ports, of no stub (topo.h); TOPO_NONE: no such cable has load */
	uint32_t at;
};

struct detour {
	struct detour_peak now, after;
	uint64_t moved; /* pairs that lead over a missing cable now, and have another way */
};

/*
 * The cables of this port (0: all of the switch), as entries of topo->ports from both ends;
 * `hosts`: those to hosts too. One for each entry, to be freed. NULL: no such switch or port.
 */
bool *detour_missing(const struct topo *t, guid_t sw, unsigned port, bool hosts);
/* Takes O(switches * hosts). */
void detour_of(const struct routes *r, const bool *missing, struct detour *ret);
