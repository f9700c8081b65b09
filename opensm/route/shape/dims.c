// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds breaks by looking for them: from a random choice one break after the other is moved while
 * that leaves no more combinations of paths without a VL. What counts is only which VLs a path's
 * part in one dimension rules out, so combinations are counted by sets of VLs, never path by path.
 * On a ring of 6 a path passes at most two switches; three such dimensions fit in 5 VLs where
 * datelines need 8.
 */
#include "route/shape/dims.h"

#include <string.h>

#include "util/mem.h"

#define LANES_SOUGHT 8     /* datelines in three dimensions need no more */
#define MOVES	     4000  /* tried per number of VLs */

struct grid *dims_find(const struct graph *g)
{
	char why[80];
	struct grid *grid = grid_find(g, why, sizeof(why));
	uint32_t n_cut;

	return grid ? grid : grid_find_hyperx(g, &n_cut);
}

/* ---- breaks ---------------------------------------------------------------------------------- */

struct search {
	const struct grid *grid;
	unsigned n_lanes;
	uint16_t where[GRID_DIMS][LANES_SOUGHT];
	uint32_t random;
};

/* Switches that a path passes on a ring at most, between its ends. */
static unsigned most_passed(const struct grid *grid, unsigned d)
{
	return grid->wraps[d] && grid->size[d] > 3 ? grid->size[d] / 2u - 1 : 0;
}

static uint32_t draw(struct search *s, uint32_t below)
{
	s->random = s->random * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)s->random * below >> 32);
}

/* VLs that break the ring among the switches that a path passes from `first` on. */
static unsigned ruled_out(const struct search *s, unsigned d, unsigned first)
{
	unsigned n = most_passed(s->grid, d), size = s->grid->size[d], lanes = 0;

	for (unsigned k = 0; k < s->n_lanes; k++)
		if ((s->where[d][k] + size - first) % size < n)
			lanes |= 1u << k;
	return lanes;
}

/* Combinations of paths that no VL takes. There are no more than places in the grid. */
static uint64_t count_homeless(const struct search *s)
{
	uint64_t with[1u << LANES_SOUGHT] = { 1 }, next[1u << LANES_SOUGHT];
	unsigned all = (1u << s->n_lanes) - 1;

	for (unsigned d = 0; d < s->grid->n_dims; d++) {
		unsigned size = s->grid->size[d];

		if (!most_passed(s->grid, d))
			continue;
		memset(next, 0, sizeof(next));
		for (unsigned first = 0; first < size; first++) {
			unsigned out = ruled_out(s, d, first);

			for (unsigned lanes = 0; lanes <= all; lanes++)
				next[lanes | out] += with[lanes];
		}
		memcpy(with, next, sizeof(with));
	}
	return with[all];
}

static bool find_breaks(struct search *s)
{
	unsigned rings[GRID_DIMS], n_rings = 0;
	uint64_t homeless;

	for (unsigned d = 0; d < s->grid->n_dims; d++) {
		if (!most_passed(s->grid, d))
			continue;
		rings[n_rings++] = d;
		for (unsigned k = 0; k < s->n_lanes; k++)
			s->where[d][k] = (uint16_t)draw(s, s->grid->size[d]);
	}
	homeless = count_homeless(s);
	for (unsigned i = 0; i < MOVES && homeless && n_rings; i++) {
		uint16_t *moved = &s->where[rings[draw(s, n_rings)]][0], was;
		unsigned k = draw(s, s->n_lanes),
			 d = (unsigned)((moved - s->where[0]) / LANES_SOUGHT);
		uint64_t now;

		was = moved[k];
		moved[k] = (uint16_t)draw(s, s->grid->size[d]);
		now = count_homeless(s);
		if (now > homeless)
			moved[k] = was;
		else
			homeless = now;
	}
	return !homeless;
}

void dims_breaks_find(const struct grid *grid, unsigned most, struct dims_breaks *ret)
{
	struct search s = { .grid = grid, .random = 1 };
	bool found = false;

	*ret = (struct dims_breaks){ 0 };
	while (!found && s.n_lanes < MIN(most, (unsigned)LANES_SOUGHT)) {
		s.n_lanes++;
		found = find_breaks(&s);
	}
	if (!found)
		return;
	ret->n_lanes = s.n_lanes;
	for (unsigned d = 0; d < grid->n_dims; d++) {
		if (!most_passed(grid, d))
			continue;
		ret->at[d] = xcalloc(grid->size[d], sizeof(*ret->at[d]));
		for (unsigned k = 0; k < s.n_lanes; k++)
			ret->at[d][s.where[d][k]] |= (uint16_t)(1u << k);
	}
}

void dims_breaks_done(struct dims_breaks *b)
{
	for (unsigned d = 0; d < GRID_DIMS; d++)
		free(b->at[d]);
	*b = (struct dims_breaks){ 0 };
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* The dimension of a cable, and whether coordinates rise along it; -1: it is not of the grid. */
static int along(const struct grid *grid, uint32_t u, uint32_t v, bool *ret_up)
{
	const uint16_t *a = grid_at(grid, u), *b = grid_at(grid, v);
	int dim = -1;

	for (unsigned d = 0; d < grid->n_dims; d++) {
		if (a[d] == b[d])
			continue;
		if (dim >= 0)
			return -1;
		dim = (int)d;
		*ret_up = grid->wraps[d] ? b[d] == (a[d] + 1u) % grid->size[d] : b[d] > a[d];
	}
	return dim;
}

uint16_t dims_turn(const struct grid *grid, const struct dims_breaks *b, uint32_t u, uint32_t v,
		   uint32_t w)
{
	uint16_t all = (uint16_t)((1u << b->n_lanes) - 1);
	bool up = false, then_up = false;
	int dim = along(grid, u, v, &up), then = along(grid, v, w, &then_up);

	if (dim < 0 || then < 0 || dim > then || (dim == then && up != then_up))
		return 0;
	if (dim < then || !b->at[dim])
		/* On a ring of 3 or less no path passes a switch. With damage it may. */
		return dim == then && grid->wraps[dim] ? 0 : all;
	return (uint16_t)(all & ~b->at[dim][grid_at(grid, v)[dim]]);
}
