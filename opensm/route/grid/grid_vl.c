// SPDX-License-Identifier: BSD-2-Clause
/*
 * How many VLs a grid needs, and which VL a hop takes.
 *
 * A cycle of channels that wait for each other lies in one ring, because dimensions come in
 * order. Rings:
 *
 *   3      no path has two hops; nothing waits within the ring.
 *   4      the opposite switch is reached upwards from every second switch and downwards from the
 *          others, so one channel in two never waits for the next one.
 *   5, 6   entering the ring on VL 0, going on in it on VL 1 (the switch knows by the port in). Of
 *          5, the second hop is the last. Of 6, paths of three hops up begin at two switches of
 *          three only (down likewise), so one pair of channels in three is no step from VL 1 to
 *          VL 1.
 *   7...   a bit of the service level says whether the path crosses the dateline, between the last
 *          coordinate and 0, and is the VL, for the whole way along the ring. VL 0 is never used on
 *          the dateline, and VL 1, for paths of half a ring at most, never opposite to it.
 */
#include "route/grid/grid_vl.h"

#include <stdio.h>

bool grid_needs_bit(const struct grid *grid, unsigned d)
{
	return grid->wraps[d] && grid->size[d] > 6;
}

unsigned grid_ring_vls(const struct grid *grid)
{
	for (unsigned d = 0; d < grid->n_dims; d++)
		if (grid->wraps[d] && grid->size[d] > 4)
			return 2;
	return 1;
}

unsigned grid_vls_needed(const struct grid *grid, unsigned max_vls, char *why, size_t why_len)
{
	unsigned rings = grid_ring_vls(grid), n = 0;
	char text[GRID_STRLEN];

	for (unsigned d = 0; d < grid->n_dims; d++)
		n += grid_needs_bit(grid, d);
	if (n > GRID_SL_BITS) {
		snprintf(why, why_len,
			 "%u rings of 7 and more need as many bits of a service level, which has 4",
			 n);
		return 0;
	}
	if (rings > max_vls) {
		snprintf(why, why_len, "a %s needs %u VLs, there %s %u", grid_str(grid, text),
			 rings, max_vls == 1 ? "is" : "are", max_vls);
		return 0;
	}
	return grid->n_missing && 2 * rings <= max_vls ? 2 * rings : rings;
}

unsigned grid_vl(const struct grid_vl_plan *l, unsigned in, unsigned out, unsigned sl)
{
	const struct grid *grid = l->grid;
	unsigned dim = out - 1, vl = 0;

	if (l->bit_of[dim] != GRID_NO_BIT)
		vl = sl >> l->bit_of[dim] & 1;
	else if (grid->wraps[dim] && grid->size[dim] > 4)
		vl = in == out;
	return in > out && l->turns ? vl + l->rings : vl;
}

unsigned grid_set_vl(const struct grid_vl_plan *l, unsigned in, unsigned out, unsigned sl)
{
	unsigned set = l->n_sets > 1 ? (sl >> l->set_bit) % l->n_sets : 0;

	return set * grid_vls(l) + grid_vl(l, in, out, sl);
}

unsigned grid_dateline_vls(const struct grid *grid, unsigned max_vls, char *why,
			   size_t why_len)
{
	unsigned n_rings = 0, least;

	for (unsigned d = 0; d < grid->n_dims; d++)
		n_rings += grid->wraps[d];
	least = (n_rings ? 2 : 1) * (grid->n_missing ? 2 : 1);
	if (n_rings > 3) {
		snprintf(why, why_len, "%u rings, at most 3 can have a dateline", n_rings);
		return 0;
	}
	if (least > max_vls) {
		snprintf(why, why_len, "needs %u VLs%s, there %s %u", least,
			 grid->n_missing ? " to go around a missing switch" : "",
			 max_vls == 1 ? "is" : "are", max_vls);
		return 0;
	}
	return max_vls >= 8 ? 8 : max_vls >= 4 ? 4 : max_vls >= 2 ? 2 : 1;
}
