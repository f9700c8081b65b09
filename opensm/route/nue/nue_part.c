// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cuts in two, again and again: of two switches far apart, each takes the switches nearer to it.
 * Destinations near to each other want the same turns, so that each VL needs few.
 */
#include "route/nue/nue_layer.h"

#include <assert.h>

#include "util/bisect.h"
#include "util/mem.h"

struct member {
	uint32_t sw;
	int32_t key; /* nearer to one end, or to the other */
};

struct piece {
	uint32_t first, n;
	unsigned part, n_parts;
};

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return COMPARE(x->key, y->key) ?: COMPARE(x->sw, y->sw);
}

static uint32_t farthest_member(const struct nue_net *net, uint32_t from,
				const struct member *members, uint32_t n)
{
	const uint16_t *far = distances_from(net->distances, from);
	uint32_t best = 0;

	for (uint32_t i = 1; i < n; i++)
		if (far[members[i].sw] > far[members[best].sw])
			best = i;
	return members[best].sw;
}

static uint64_t weight_of(const struct nue_net *net, uint32_t sw)
{
	return 1 + (uint64_t)(net->first_lid[sw + 1] - net->first_lid[sw]);
}

/* Splits off the first half; returns how many members it has. */
static uint32_t cut_piece(const struct nue_net *net, struct member *members,
			  const struct piece *piece)
{
	unsigned half = piece->n_parts / 2;
	uint32_t a = farthest_member(net, members[0].sw, members, piece->n);
	uint32_t b = farthest_member(net, a, members, piece->n), n = 0;
	const uint16_t *to_a = distances_from(net->distances, a),
		       *to_b = distances_from(net->distances, b);
	uint64_t sum = 0, taken = 0;

	for (uint32_t i = 0; i < piece->n; i++) {
		members[i].key = (int32_t)to_a[members[i].sw] - (int32_t)to_b[members[i].sw];
		sum += weight_of(net, members[i].sw);
	}
	SORT(members, piece->n, by_key);
	while (n < piece->n &&
	       (taken + weight_of(net, members[n].sw) / 2) * piece->n_parts < sum * half)
		taken += weight_of(net, members[n++].sw);
	return n;
}

void nue_part(const struct nue_net *net, const bool *is_target, unsigned n_parts, uint8_t *ret)
{
	_cleanup_free_ struct member *members = xcalloc(net->n + 1u, sizeof(*members));
	struct piece stack[SL2VL_VLS_MAX + 1];
	unsigned depth = 0;
	uint32_t n = 0;

	for (uint32_t s = 0; s < net->n; s++) {
		ret[s] = 0;
		if (is_target[s])
			members[n++].sw = s;
	}
	assert(n_parts > 0 && n_parts <= SL2VL_VLS_MAX);
	stack[depth++] = (struct piece){ .n = n, .n_parts = n_parts };
	while (depth > 0) {
		struct piece piece = stack[--depth];
		uint32_t left;

		if (piece.n_parts == 1 || !piece.n) {
			for (uint32_t i = 0; i < piece.n; i++)
				ret[members[piece.first + i].sw] = (uint8_t)piece.part;
			continue;
		}
		left = cut_piece(net, members + piece.first, &piece);
		stack[depth++] = (struct piece){ piece.first, left, piece.part, piece.n_parts / 2 };
		stack[depth++] = (struct piece){
			piece.first + left, piece.n - left, piece.part + piece.n_parts / 2,
			piece.n_parts - piece.n_parts / 2,
		};
	}
}
