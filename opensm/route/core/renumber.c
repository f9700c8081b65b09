// SPDX-License-Identifier: BSD-2-Clause
/* Copies in runs: where one switch is missing, there are two of them. Knows no engine. */
#include "route/core/renumber.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

struct renumbering renumbering_of(const struct topo *was, const struct topo *now)
{
	struct renumbering m = {
		.was = was, .now = now, .from = topo_match_switches(now, was),
		.runs = xcalloc(now->n_switches + 1u, sizeof(*m.runs)),
	};

	for (uint32_t s = 0; s < now->n_switches; s++) {
		struct renumber_run *last = m.n_runs ? &m.runs[m.n_runs - 1] : NULL;
		uint32_t from = m.from[s];

		if (last && from == (last->from == TOPO_NONE ? TOPO_NONE : last->from + last->n))
			last->n++;
		else
			m.runs[m.n_runs++] = (struct renumber_run){ s, 1, from };
	}
	return m;
}

void renumbering_done(struct renumbering *m)
{
	FREE_ALL(m->from, m->runs);
}

static void copy_runs(const struct renumbering *m, uint8_t *to, const uint8_t *values, size_t size,
		      uint8_t none)
{
	for (uint32_t i = 0; i < m->n_runs; i++) {
		const struct renumber_run *run = &m->runs[i];

		if (run->from == TOPO_NONE)
			memset(to + run->first * size, none, run->n * size);
		else
			memmove(to + run->first * size, values + run->from * size, run->n * size);
	}
}

void *renumber_switches(const struct renumbering *m, const void *values, size_t size)
{
	uint8_t *ret = xmalloc(m->now->n_switches * size + 1);

	copy_runs(m, ret, values, size, 0);
	return ret;
}

void *renumber_entries(const struct renumbering *m, const void *values, size_t size)
{
	uint8_t *ret = xcalloc(topo_n_entries(m->now) + 1u, size);

	for (uint32_t s = 0; s < m->now->n_switches; s++) {
		const struct topo_switch *to = &m->now->switches[s], *from;

		if (m->from[s] == TOPO_NONE)
			continue;
		from = &m->was->switches[m->from[s]];
		memcpy(ret + to->first_port * size,
		       (const uint8_t *)values + from->first_port * size,
		       (MIN(to->n_ports, from->n_ports) + 1u) * size);
	}
	return ret;
}

static void *move_pairs(const struct renumbering *m, uint8_t *ret, const void *values, size_t size,
			uint8_t none)
{
	uint32_t n = m->now->n_switches;

	for (uint32_t a = 0; a < n; a++) {
		uint8_t *row = ret + (size_t)a * n * size;

		if (m->from[a] == TOPO_NONE)
			memset(row, none, n * size);
		else
			copy_runs(m, row, (const uint8_t *)values +
				  (size_t)m->from[a] * m->was->n_switches * size, size, none);
	}
	return ret;
}

void *renumber_pairs(const struct renumbering *m, const void *values, size_t size, uint8_t none)
{
	uint32_t n = m->now->n_switches;

	return move_pairs(m, xmalloc((size_t)n * n * size + 1), values, size, none);
}

void *renumber_own_pairs(const struct renumbering *m, void *values, size_t size, uint8_t none)
{
	bool falls = true; /* each number: what is moved is never where something waits to be */
	void *ret;

	for (uint32_t s = 0; s < m->now->n_switches && falls; s++)
		falls = m->from[s] != TOPO_NONE && (!s || m->from[s] > m->from[s - 1]);
	if (falls)
		return move_pairs(m, values, values, size, none);
	ret = renumber_pairs(m, values, size, none);
	free(values);
	return ret;
}

/* `n` bits of `bits` from `at` on, at most 64. */
static uint64_t bits_at(const uint64_t *bits, uint32_t at, uint32_t n)
{
	uint64_t low = bits[at / 64] >> at % 64;

	if (at % 64 + n > 64)
		low |= bits[at / 64 + 1] << (64 - at % 64);
	return n < 64 ? low & ((UINT64_C(1) << n) - 1) : low;
}

static void move_bits(const struct renumbering *m, uint64_t *to, const uint64_t *bits)
{
	for (uint32_t i = 0; i < m->n_runs; i++) {
		const struct renumber_run *run = &m->runs[i];

		for (uint32_t k = 0, n; run->from != TOPO_NONE && k < run->n; k += n) {
			n = MIN(run->n - k, 64 - (run->first + k) % 64);
			to[(run->first + k) / 64] |= bits_at(bits, run->from + k, n)
						     << (run->first + k) % 64;
		}
	}
}

static uint64_t *move_downs(const struct renumbering *m, const uint64_t *downs)
{
	size_t words = (m->now->n_switches + 63) / 64, old = (m->was->n_switches + 63) / 64;
	uint64_t *ret = xcalloc(m->now->n_switches * words + 1, sizeof(*ret));

	for (uint32_t a = 0; a < m->now->n_switches; a++)
		if (m->from[a] != TOPO_NONE)
			move_bits(m, ret + a * words, downs + m->from[a] * old);
	return ret;
}

/* Switches that were not there come last. */
static uint32_t *move_places(const struct renumbering *m, const uint32_t *places)
{
	uint32_t n = m->now->n_switches, most = MAX(m->was->n_switches, n), place = 0;
	_cleanup_free_ uint32_t *at = xmalloc_ones(most, sizeof(*at));
	uint32_t *ret = xmalloc((n + 1) * sizeof(*ret));

	for (uint32_t s = 0; s < n; s++)
		if (m->from[s] != TOPO_NONE)
			at[places[m->from[s]]] = s;
	for (uint32_t i = 0; i < most; i++)
		if (at[i] != TOPO_NONE)
			ret[at[i]] = place++;
	for (uint32_t s = 0; s < n; s++)
		if (m->from[s] == TOPO_NONE)
			ret[s] = place++;
	return ret;
}

/* Where one switch is left out, the rows may stay where they are. */
static struct routes *renumber_rows(const struct routes *r, const struct renumbering *m)
{
	struct routes *ret = NULL;

	if (m->n_runs && m->n_runs <= 2 && m->runs[0].from != TOPO_NONE &&
	    m->was->n_switches == m->now->n_switches + 1)
		ret = routes_borrow(m->now, r, m->runs[0].from ? 0 : m->runs[0].n);
	if (ret)
		return ret;
	ret = routes_new_unset(m->now, r->engine, r->top);
	for (uint32_t s = 0; s < m->now->n_switches; s++)
		if (m->from[s] == TOPO_NONE)
			memset(routes_row(ret, s), LFT_NO_PORT, ret->row_size);
		else
			memcpy(routes_row(ret, s), routes_row(r, m->from[s]), ret->row_size);
	return ret;
}

struct routes *routes_renumber(const struct routes *r, const struct renumbering *m)
{
	struct routes *ret = renumber_rows(r, m);

	assert(r->topo == m->was && !r->lanes && !r->master_tree);
	memcpy(ret->by, r->by, sizeof(ret->by));
	memcpy(ret->note, r->note, sizeof(ret->note));
	ret->compared_load = r->compared_load;
	ret->options = r->options;
	ret->expected_load = r->expected_load;
	ret->balanced_load = r->balanced_load;
	ret->dealt = r->dealt;
	ret->hops = r->hops ? renumber_pairs(m, r->hops, sizeof(*r->hops), UINT8_MAX) : NULL;
	ret->downs = r->downs ? move_downs(m, r->downs) : NULL;
	ret->places = r->places ? move_places(m, r->places) : NULL;
	return ret;
}
