// SPDX-License-Identifier: BSD-2-Clause
/*
 * Distances between all switches.
 *
 * Unweighted: breadth first for 512 destinations at a time. A bit per destination says "reaches it
 * already"; one round ORs the rows of the neighbours, so a round costs one pass over the graph for
 * all 512. Blocks of destinations are independent: they are the parallel unit.
 *
 * Weighted: a bucket search (weights are bytes: 256 buckets in a ring are enough) per destination,
 * over the cables in reverse.
 */
#include "route/core/graph.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

#define WORDS 8
#define BLOCK (64 * WORDS)
#define FEW_WORDS 2
#define FEW (64 * FEW_WORDS)
#define RING 256
#define DISTANCE_MAX (DISTANCE_NONE - 1)

struct bits {
	uint64_t w[WORDS];
};

static void write_level(uint16_t *row, const struct bits *found, uint16_t level)
{
	for (unsigned i = 0; i < WORDS; i++)
		for (uint64_t left = found->w[i]; left; left &= left - 1)
			row[64 * i + (unsigned)__builtin_ctzll(left)] = level;
}

/* The targets that `u` reaches one hop later and did not reach before. False: none. */
static inline __attribute__((always_inline)) bool advance(const struct graph *g, uint32_t u,
							  const struct bits *front,
							  struct bits *seen, struct bits *ret,
							  unsigned words)
{
	struct bits found = { { 0 } };
	uint64_t any = 0;

	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
		for (unsigned w = 0; w < words; w++)
			found.w[w] |= front[g->groups[i].to].w[w];
	for (unsigned w = 0; w < words; w++) {
		found.w[w] &= ~seen->w[w];
		seen->w[w] |= found.w[w];
		any |= found.w[w];
	}
	*ret = found;
	return any;
}

/* Destinations base .. base + n - 1, or those of a list; `n` <= BLOCK. */
static void search_block(const struct graph *g, struct distances *d, const uint32_t *targets,
			 uint32_t base, uint32_t n)
{
	_cleanup_free_ struct bits *seen = xalloc_aligned64(g->n * sizeof(*seen));
	_cleanup_free_ struct bits *front = xalloc_aligned64(g->n * sizeof(*front));
	_cleanup_free_ struct bits *next = xalloc_aligned64(g->n * sizeof(*next));
	bool more = true;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = targets ? targets[base + i] : base + i;

		front[to].w[i / 64] = seen[to].w[i / 64] = UINT64_C(1) << i % 64;
		d->rows[(size_t)to * d->n + base + i] = 0;
	}
	for (uint32_t level = 1; more && level <= DISTANCE_MAX; level++) {
		more = false;
		for (uint32_t u = 0; u < g->n; u++) {
			if (!(n <= FEW ? advance(g, u, front, &seen[u], &next[u], FEW_WORDS)
				       : advance(g, u, front, &seen[u], &next[u], WORDS)))
				continue;
			more = true;
			write_level(d->rows + (size_t)u * d->n + base, &next[u], (uint16_t)level);
		}
		struct bits *swap = front;

		front = next;
		next = swap;
	}
}

/* Per group of the graph: what its cables cost in the other direction. The caller frees. */
static uint8_t *weights_back(const struct graph *g)
{
	uint8_t *ret = xcalloc(g->first[g->n], sizeof(*ret));

	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			const struct graph_group *back = graph_edge(g, g->groups[i].to, u);

			assert(back); /* topo has both ends of each cable */
			ret[i] = back->weight;
		}
	return ret;
}

/* Buckets are lists through `next`; a switch found again cheaper is simply entered again. */
struct buckets {
	uint32_t head[RING];
	struct entry {
		uint32_t sw, next;
	} *entries;
	size_t n, cap;
	size_t waiting;
};

static void enter_bucket(struct buckets *b, uint32_t sw, uint32_t distance)
{
	APPEND(b->entries, b->n, b->cap) =
		(struct entry){ .sw = sw, .next = b->head[distance % RING] };
	b->head[distance % RING] = (uint32_t)b->n - 1;
	b->waiting++;
}

static void search_weighted(const struct graph *g, const uint8_t *back, struct distances *d,
			    uint32_t to, struct buckets *b)
{
	uint16_t *column = d->rows + to;

	memset(b->head, 0xFF, sizeof(b->head));
	b->n = b->waiting = 0;
	column[(size_t)to * d->n] = 0;
	enter_bucket(b, to, 0);
	for (uint32_t now = 0; b->waiting && now <= DISTANCE_MAX; now++) {
		uint32_t at = b->head[now % RING];

		b->head[now % RING] = UINT32_MAX;
		for (; at != UINT32_MAX; at = b->entries[at].next) {
			uint32_t v = b->entries[at].sw;

			b->waiting--;
			if (column[(size_t)v * d->n] != now)
				continue;
			for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
				uint32_t from = g->groups[i].to, far = now + back[i];
				uint16_t *known = &column[(size_t)from * d->n];

				if (far >= *known)
					continue;
				*known = (uint16_t)far;
				enter_bucket(b, from, far);
			}
		}
	}
}

static void all_weighted(const struct graph *g, struct distances *d, unsigned threads,
			 const atomic_bool *cancelled)
{
	_cleanup_free_ uint8_t *back = weights_back(g);

#pragma omp parallel num_threads(threads)
	{
		struct buckets b = { .n = 0 };

#pragma omp for schedule(dynamic, 8)
		for (uint32_t to = 0; to < g->n; to++)
			if (!is_cancelled(cancelled))
				search_weighted(g, back, d, to, &b);
		free(b.entries);
	}
}

struct distances *distances_to(const struct graph *g, const uint32_t *targets, uint32_t n,
			       unsigned threads, const atomic_bool *cancelled)
{
	struct distances *d = xcalloc(1, sizeof(*d));

	assert(g && threads > 0 && !(targets && g->weighted));
	d->n = n;
	d->mask = UINT16_MAX;
	d->rows = xmalloc_ones((size_t)g->n * n, sizeof(*d->rows));
	if (g->weighted) {
		all_weighted(g, d, threads, cancelled);
	} else {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
		for (uint32_t base = 0; base < n; base += BLOCK)
			if (!is_cancelled(cancelled))
				search_block(g, d, targets, base, MIN(BLOCK, n - base));
	}
	return is_cancelled(cancelled) ? distances_free(d) : d;
}

struct distances *distances_new(const struct graph *g, unsigned threads,
				const atomic_bool *cancelled)
{
	return distances_to(g, NULL, g->n, threads, cancelled);
}

struct distances *distances_free(struct distances *d)
{
	if (!d)
		return NULL;
	FREE_ALL(d->rows, d);
	return NULL;
}
