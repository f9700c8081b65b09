// SPDX-License-Identifier: BSD-2-Clause
/* Follows the entries of unassigned LIDs, column by column. */
#include "route/core/unassigned.h"

#include <string.h>

#include "util/mem.h"

enum path_state { UNSEEN, ON_PATH, ENDS };

static void place_ends(const struct topo_host *ends, uint32_t n, lid_t top, uint32_t *at,
		       uint8_t *ret_port)
{
	for (uint32_t i = 0; i < n; i++)
		TOPO_EACH_LID(&ends[i], lid)
			if (lid <= top) {
				at[lid] = ends[i].sw;
				if (ret_port)
					ret_port[lid] = ends[i].sw_port;
			}
}

uint32_t *unassigned_places(const struct topo *t, lid_t top, uint8_t *ret_port)
{
	uint32_t *at = xmalloc_ones(top + 1u, sizeof(*at));

	for (uint32_t s = 0; s < t->n_switches; s++)
		TOPO_EACH_LID(&t->switches[s], lid)
			if (lid <= top)
				at[lid] = s;
	place_ends(t->hosts, t->n_hosts, top, at, ret_port);
	place_ends(t->asides, t->n_asides, top, at, ret_port);
	return at;
}

uint32_t *unassigned_owners(const struct topo *t, lid_t top)
{
	return unassigned_places(t, top, NULL);
}

static uint32_t next_of(const struct routes *r, uint32_t sw, lid_t lid)
{
	uint8_t port = routes_port(r, sw, lid);

	if (!port || port > r->topo->switches[sw].n_ports)
		return TOPO_NONE;
	return topo_port_loops(topo_port(r->topo, sw, port)) ? sw
							     : topo_port(r->topo, sw, port)->sw;
}

static void open_loops(struct routes *r, lid_t lid, uint8_t *state, uint32_t *path)
{
	uint32_t n = r->topo->n_switches;

	memset(state, UNSEEN, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = i, len = 0;

		while (s != TOPO_NONE && state[s] == UNSEEN) {
			state[s] = ON_PATH;
			path[len++] = s;
			s = next_of(r, s, lid);
		}
		if (s != TOPO_NONE && state[s] == ON_PATH)
			routes_write(r, s, lid, LFT_NO_PORT);
		while (len-- > 0)
			state[path[len]] = ENDS;
	}
}

void unassigned_open_loops(struct routes *r)
{
	uint32_t n = r->topo->n_switches;
	_cleanup_free_ uint32_t *at = unassigned_owners(r->topo, r->top);
	_cleanup_free_ uint8_t *state = xcalloc(n, sizeof(*state));
	_cleanup_free_ uint32_t *path = xcalloc(n, sizeof(*path));

	for (uint32_t lid = 1; lid <= r->top; lid++)
		if (at[lid] == TOPO_NONE)
			open_loops(r, (lid_t)lid, state, path);
}

lid_t unassigned_top(const struct topo *t, const struct routes *previous)
{
	unsigned cap = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		cap = MAX(cap, (unsigned)t->switches[s].lft_cap);
	if (!previous || !cap)
		return t->max_lid;
	return (lid_t)MAX((unsigned)t->max_lid, MIN((unsigned)previous->top, cap - 1));
}

void unassigned_keep(struct routes *r, const struct routes *previous)
{
	_cleanup_free_ uint32_t *at = NULL;

	if (!previous)
		return;
	at = unassigned_owners(r->topo, r->top);
	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		uint32_t was = topo_find_switch(previous->topo, r->topo->switches[s].guid);

		for (unsigned lid = 1; was != TOPO_NONE && lid <= MIN(r->top, previous->top); lid++)
			if (at[lid] == TOPO_NONE)
				routes_row(r, s)[lid] = routes_port(previous, was, (lid_t)lid);
	}
	unassigned_open_loops(r);
}
