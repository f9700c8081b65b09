// SPDX-License-Identifier: BSD-2-Clause
/* A grid seen otherwise: dimensions in another order, turned round, together; and its name. */
#include "route/shape/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

static const uint16_t round_of[] = { 0, 1, 3, 2 }; /* (0,0) (1,0) (1,1) (0,1) */

static uint16_t coordinate(const struct grid *grid, const struct grid_view_dim *v,
			   const uint16_t *p)
{
	unsigned size = v->first == v->second ? grid->size[v->first] : 4;
	bool wraps = v->first == v->second ? grid->wraps[v->first] : true;
	unsigned c = v->first == v->second ? p[v->first] : round_of[p[v->first] + 2 * p[v->second]];

	if (!wraps)
		return (uint16_t)(v->flip ? size - 1 - c : c);
	return (uint16_t)(((v->flip ? size - c : c) + v->shift) % size);
}

struct grid *grid_view(const struct grid *grid, const struct grid_view_dim *dims, unsigned n_dims)
{
	struct grid *to = xcalloc(1, sizeof(*to));
	uint32_t n_places = grid->n + grid->n_missing;

	to->n = grid->n;
	to->n_missing = grid->n_missing;
	to->n_cut = grid->n_cut;
	to->n_dims = n_dims;
	for (unsigned d = 0; d < n_dims; d++) {
		bool folds = dims[d].first != dims[d].second;

		to->size[d] = folds ? 4 : grid->size[dims[d].first];
		to->wraps[d] = folds || grid->wraps[dims[d].first];
	}
	ARENA_ARRAY(&to->memory, to->at, (size_t)to->n * n_dims);
	ARENA_ONES(&to->memory, to->switch_at, n_places);
	for (uint32_t s = 0; s < to->n; s++) {
		uint16_t *at = to->at + (size_t)s * n_dims;

		for (unsigned d = 0; d < n_dims; d++)
			at[d] = coordinate(grid, &dims[d], grid_at(grid, s));
		to->switch_at[grid_index(to, at)] = s;
	}
	return to;
}

struct grid *grid_fold(const struct grid *grid)
{
	struct grid_view_dim dims[GRID_DIMS] = { 0 };
	unsigned n = 0, open = GRID_DIMS;

	for (unsigned d = 0; d < grid->n_dims; d++) {
		if (grid->size[d] == 2 && open < GRID_DIMS) {
			dims[open].second = (uint8_t)d;
			open = GRID_DIMS;
			continue;
		}
		if (grid->size[d] == 2)
			open = n;
		dims[n].first = (uint8_t)d;
		dims[n++].second = (uint8_t)d;
	}
	return grid_view(grid, dims, n);
}

static void __attribute__((format(printf, 3, 4))) say(char *ret, size_t *at, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(ret + *at, GRID_STRLEN - *at, fmt, ap);
	va_end(ap);
	*at = MIN(*at + (size_t)MAX(n, 0), (size_t)GRID_STRLEN - 1);
}

static void say_shape(const struct grid *grid, char *ret, size_t *at)
{
	unsigned n_rings = 0;

	for (unsigned d = 0; d < grid->n_dims; d++)
		n_rings += grid->wraps[d];
	if (grid->n_dims == 1) {
		say(ret, at, "%s of %u", n_rings ? "ring" : "line", grid->size[0]);
		return;
	}
	for (unsigned d = 0; d < grid->n_dims; d++)
		say(ret, at, "%s%u%s", d ? "x" : "", grid->size[d],
		    grid->wraps[d] && n_rings < grid->n_dims ? "(ring)" : "");
	say(ret, at, " %s", n_rings == grid->n_dims ? "torus" : n_rings ? "grid" : "mesh");
}

char *grid_str(const struct grid *grid, char ret[GRID_STRLEN])
{
	_cleanup_(grid_freep) struct grid *folded = grid_fold(grid);
	unsigned cube = 0, twos = 0, rest = 0, lines = 0;
	size_t at = 0;

	ret[0] = '\0';
	for (unsigned d = 0; d < grid->n_dims; d++) {
		if (grid->size[d] == 2) {
			twos++;
			cube++;
			continue;
		}
		if (!grid->wraps[d])
			lines++;
		if (grid->wraps[d] && grid->size[d] == 4)
			cube += 2;
		else
			rest++;
	}
	if (!rest && cube > 2) {
		say(ret, &at, "hypercube of %u dimensions", cube);
		if (cube == 4 || cube == 6)
			say(ret, &at, " (%s torus)", cube == 4 ? "4x4" : "4x4x4");
	} else {
		say_shape(twos % 2 || lines ? grid : folded, ret, &at);
	}
	if (grid->n_missing)
		say(ret, &at, ", %u switch%s missing", grid->n_missing,
		    grid->n_missing == 1 ? "" : "es");
	if (grid->n_cut)
		say(ret, &at, ", %u cable%s missing", grid->n_cut, grid->n_cut == 1 ? "" : "s");
	return ret;
}
