// SPDX-License-Identifier: BSD-2-Clause
/* Covers the rows of an SL2VL table that are missing with few Sets. */
#include "plan/slvl.h"

#include <assert.h>

#include "util/mem.h"

/* Rows of one port in, of one port out, or all: every `step`th from `first`. */
struct line {
	size_t first, step, n;
};

static struct line all_rows(const struct slvl_grid *g)
{
	return (struct line){ 0, 1, (size_t)g->n_in * g->n_out };
}

static struct line rows_of_out(const struct slvl_grid *g, unsigned out)
{
	return (struct line){ (size_t)out * g->n_in, 1, g->n_in };
}

static struct line rows_of_in(const struct slvl_grid *g, unsigned in)
{
	return (struct line){ in, g->n_in, g->n_out };
}

static size_t count_missing(const struct slvl_grid *g, struct line line)
{
	size_t n = 0;

	for (size_t i = 0; i < line.n; i++)
		n += g->rows[line.first + i * line.step].missing ? 1 : 0;
	return n;
}

/* The row that all of them are; 0: they differ. */
static uint32_t common_row(const struct slvl_grid *g, struct line line)
{
	uint32_t row = g->rows[line.first].want;

	for (size_t i = 1; i < line.n && row; i++)
		row = g->rows[line.first + i * line.step].want == row ? row : 0;
	return row;
}

/*
 * The row that most need, and of how many; ties go to the first. Where rows are more than 32, it
 * does not pay.
 */
static uint32_t most_common(const struct slvl_grid *g, size_t *ret_n)
{
	struct {
		uint32_t row;
		size_t n;
	} seen[32] = { 0 };
	size_t n_seen = 0, best = 0, at;

	for (size_t i = 0; i < all_rows(g).n; i++) {
		for (at = 0; at < n_seen && seen[at].row != g->rows[i].want; at++)
			;
		if (at == ARRAY_SIZE(seen))
			continue;
		seen[at].row = g->rows[i].want;
		seen[at].n++;
		n_seen = MAX(n_seen, at + 1);
		best = seen[at].n > seen[best].n ? at : best;
	}
	*ret_n = seen[best].n;
	return seen[best].row;
}

/* One Set for all ports, where that is right or does no harm. Returns the number of Sets. */
static size_t set_all(const struct slvl_grid *g, size_t missing, struct slvl_set *ret)
{
	size_t n_external = g->n_out - (g->out[0] == 0), rows = all_rows(g).n, common;
	uint32_t row = most_common(g, &common);
	bool harmless = !g->live && missing == rows && common * 2 >= rows;

	if (n_external <= 1 || missing <= g->n_out || !row || (common < rows && !harmless))
		return 0;
	*ret = (struct slvl_set){ SLVL_ALL_IN | SLVL_ALL_OUT, row };
	return 1;
}

/* Where rows differ by the port in alone. */
static size_t set_by_in(const struct slvl_grid *g, size_t missing, struct slvl_set *ret)
{
	size_t n = 0;

	if (missing <= g->n_in || g->out[0] == 0)
		return 0;
	for (unsigned i = 0; i < g->n_in; i++) {
		struct line line = rows_of_in(g, i);
		uint32_t row = common_row(g, line);

		if (!row)
			return 0;
		if (count_missing(g, line))
			ret[n++] = (struct slvl_set){ SLVL_ALL_OUT | (uint32_t)g->in[i] << 8, row };
	}
	return n;
}

static size_t set_out(const struct slvl_grid *g, unsigned out, bool wildcards, struct slvl_set *ret)
{
	struct line line = rows_of_out(g, out);
	uint32_t row = wildcards ? common_row(g, line) : 0;
	size_t n = 0;

	if (row && count_missing(g, line) > 1) {
		*ret = (struct slvl_set){ SLVL_ALL_IN | g->out[out], row };
		return 1;
	}
	for (unsigned i = 0; i < g->n_in; i++) {
		const struct slvl_row *r = &g->rows[line.first + i];

		if (r->missing)
			ret[n++] = (struct slvl_set){ (uint32_t)g->in[i] << 8 | g->out[out],
						      r->want };
	}
	return n;
}

size_t slvl_sets(const struct slvl_grid *g, bool wildcards, struct slvl_set *ret)
{
	size_t missing = count_missing(g, all_rows(g)), n = 0;

	assert(g->n_in >= 1 && g->n_out >= 1 && g->n_in <= 256 && g->n_out <= 256 && ret);
	if (!missing)
		return 0;
	if (wildcards)
		n = set_all(g, missing, ret);
	if (wildcards && !n)
		n = set_by_in(g, missing, ret);
	if (n)
		return n;
	for (unsigned o = 0; o < g->n_out; o++)
		n += set_out(g, o, wildcards, ret + n);
	return n;
}
