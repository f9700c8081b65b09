// SPDX-License-Identifier: BSD-2-Clause
/* Turns rows by source into rows by destination, in squares of 64 switches that fit in a cache. */
#include "route/core/graph.h"

#include <endian.h>
#include <string.h>

#include "route/core/simd.h"
#include "util/mem.h"

#define TILE 64

typedef uint8_t simd_u8 __attribute__((vector_size(16), aligned(1), may_alias));

/* What 64 switches have to 64 others. */
struct tile {
	uint8_t hops[TILE][TILE];   /* by source */
	uint8_t turned[TILE][TILE]; /* by destination */
	uint64_t downs[TILE];	    /* by source, then by destination */
};

/* Swaps what is above the diagonal of 2x2 squares of `step` bits with what is below. */
static inline __attribute__((always_inline)) void swap(uint64_t *a, uint64_t *b, unsigned step,
						       uint64_t low)
{
	uint64_t both = (*a >> step ^ *b) & low;

	*b ^= both;
	*a ^= both << step;
}

/* Eight times eight bytes. */
static void turn_bytes(const uint8_t *from, uint8_t *to)
{
	uint64_t x[8];

	for (unsigned i = 0; i < 8; i++) {
		memcpy(&x[i], from + (size_t)i * TILE, sizeof(x[i]));
		x[i] = le64toh(x[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		swap(&x[i], &x[i + 4], 32, UINT64_C(0x00000000FFFFFFFF));
	for (unsigned i = 0; i < 4; i++)
		swap(&x[i / 2 * 4 + i % 2], &x[i / 2 * 4 + i % 2 + 2], 16,
		     UINT64_C(0x0000FFFF0000FFFF));
	for (unsigned i = 0; i < 8; i += 2)
		swap(&x[i], &x[i + 1], 8, UINT64_C(0x00FF00FF00FF00FF));
	for (unsigned i = 0; i < 8; i++) {
		x[i] = htole64(x[i]);
		memcpy(to + (size_t)i * TILE, &x[i], sizeof(x[i]));
	}
}

static void turn_bits(uint64_t *x)
{
	uint64_t low = UINT64_C(0x00000000FFFFFFFF);

	for (unsigned step = 32; step; step /= 2, low ^= low << step)
		for (unsigned i = 0; i < TILE; i = ((i | step) + 1) & ~step)
			swap(&x[i], &x[i | step], step, low);
}

/* Of eight bytes that are 0 or 1 the lowest bits, in their order. */
static uint64_t gather(const uint8_t *bytes)
{
	uint64_t x;

	memcpy(&x, bytes, sizeof(x));
	return le64toh(x) * UINT64_C(0x0102040810204080) >> 56;
}

/* One source: hops as bytes; which are by ways down, as bits. */
static inline __attribute__((always_inline)) void
narrow(const struct distances *d, const uint16_t *row, uint8_t *hops, uint64_t *downs)
{
	for (unsigned x = 0; x < TILE; x += SIMD_LANES) {
		simd_u16 there = *(const simd_u16 *)(row + x), far = there & d->mask;
		simd_u16 none = (simd_u16)(there == DISTANCE_NONE), most = (simd_u16)(far > 0xFE);

		far = (far & ~most) | (most & 0xFE) | none;
		*(simd_u8 *)(hops + x) = __builtin_convertvector(far & 0xFF, simd_u8);
	}
	if (!downs)
		return;
	for (unsigned x = 0; x < TILE; x += SIMD_LANES) {
		simd_u16 there = *(const simd_u16 *)(row + x);
		simd_u16 down = (simd_u16)((there & (uint16_t)(~d->mask & DISTANCE_DOWN)) != 0) &
				(simd_u16)(there != DISTANCE_NONE);
		uint8_t bytes[SIMD_LANES];

		*(simd_u8 *)bytes = __builtin_convertvector(down & 1, simd_u8);
		*downs |= (gather(bytes) | gather(bytes + 8) << 8) << x;
	}
}

SIMD_CLONES
static void fill_tile(const struct distances *d, uint32_t from, uint32_t to, bool has_downs,
		      struct tile *t)
{
	const uint32_t n_from = MIN(TILE, d->n - from), n_to = MIN(TILE, d->n - to);
	uint16_t row[TILE] = { 0 };

	memset(t->downs, 0, sizeof(t->downs));
	for (uint32_t s = 0; s < n_from; s++) {
		memcpy(row, distances_from(d, from + s) + to, n_to * sizeof(*row));
		narrow(d, row, t->hops[s], has_downs ? &t->downs[s] : NULL);
	}
	for (unsigned s = 0; s < TILE; s += 8)
		for (unsigned k = 0; k < TILE; k += 8)
			turn_bytes(&t->hops[s][k], &t->turned[k][s]);
	if (has_downs)
		turn_bits(t->downs);
}

void hops_by_target(const struct distances *d, unsigned threads, uint8_t *hops, uint64_t *downs)
{
	size_t words = (d->n + 63) / 64;

#pragma omp parallel for num_threads(threads) schedule(static)
	for (uint32_t to = 0; to < d->n; to += TILE) {
		struct tile t = { .hops = { { 0 } } };

		for (uint32_t from = 0; from < d->n; from += TILE) {
			uint32_t n_to = MIN(TILE, d->n - to), n_from = MIN(TILE, d->n - from);

			fill_tile(d, from, to, downs, &t);
			for (uint32_t k = 0; k < n_to; k++) {
				memcpy(hops + (size_t)(to + k) * d->n + from, t.turned[k], n_from);
				if (downs)
					downs[(to + k) * words + from / TILE] = t.downs[k];
			}
		}
	}
}
