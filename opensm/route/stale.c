// SPDX-License-Identifier: BSD-2-Clause
/* Walks the columns that belong to nobody. */
#include "route/stale.h"

#include <string.h>

#include "util/mem.h"

enum fate { UNSEEN, ON_THE_WAY, ENDS };

static void note_owner(bool *owned, lid_t top, lid_t base, uint8_t lmc)
{
	for (uint32_t lid = base; base && lid < base + (1u << lmc) && lid <= top; lid++)
		owned[lid] = true;
}

/* LIDs that are routed. The caller frees. */
static bool *find_owned(const struct routes *r)
{
	bool *owned = xcalloc(r->top + 1u, sizeof(*owned));
	const struct topo *t = r->topo;

	owned[0] = true;
	for (uint32_t s = 0; s < t->n_switches; s++)
		note_owner(owned, r->top, t->switches[s].lid, t->switches[s].lmc);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE)
			note_owner(owned, r->top, t->hosts[h].lid, t->hosts[h].lmc);
	return owned;
}

static uint32_t next_of(const struct routes *r, uint32_t sw, lid_t lid)
{
	uint8_t port = routes_port(r, sw, lid);

	if (!port || port > r->topo->switches[sw].n_ports)
		return TOPO_NONE;
	return topo_port_loops(topo_port(r->topo, sw, port)) ? sw : topo_port(r->topo, sw, port)->sw;
}

static void open_loops(struct routes *r, lid_t lid, uint8_t *fate, uint32_t *path)
{
	uint32_t n = r->topo->n_switches;

	memset(fate, UNSEEN, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = i, len = 0;

		while (s != TOPO_NONE && fate[s] == UNSEEN) {
			fate[s] = ON_THE_WAY;
			path[len++] = s;
			s = next_of(r, s, lid);
		}
		if (s != TOPO_NONE && fate[s] == ON_THE_WAY)
			routes_row(r, s)[lid] = LFT_NO_PORT;
		while (len-- > 0)
			fate[path[len]] = ENDS;
	}
}

void stale_open_loops(struct routes *r)
{
	uint32_t n = r->topo->n_switches;
	_cleanup_free_ bool *owned = find_owned(r);
	_cleanup_free_ uint8_t *fate = xcalloc(n, sizeof(*fate));
	_cleanup_free_ uint32_t *path = xcalloc(n, sizeof(*path));

	for (uint32_t lid = 1; lid <= r->top; lid++)
		if (!owned[lid])
			open_loops(r, (lid_t)lid, fate, path);
}

lid_t stale_top(const struct topo *t, const struct routes *previous)
{
	unsigned cap = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		cap = MAX(cap, (unsigned)t->switches[s].lft_cap);
	if (!previous || !cap)
		return t->max_lid;
	return (lid_t)MAX((unsigned)t->max_lid, MIN((unsigned)previous->top, cap - 1));
}

void stale_keep(struct routes *r, const struct routes *previous)
{
	_cleanup_free_ bool *owned = NULL;

	if (!previous)
		return;
	owned = find_owned(r);
	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		uint32_t was = topo_find_switch(previous->topo, r->topo->switches[s].guid);

		for (unsigned lid = 1; was != TOPO_NONE && lid <= MIN(r->top, previous->top); lid++)
			if (!owned[lid])
				routes_row(r, s)[lid] = routes_port(previous, was, (lid_t)lid);
	}
	stale_open_loops(r);
}
