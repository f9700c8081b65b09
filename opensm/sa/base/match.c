// SPDX-License-Identifier: BSD-2-Clause
/* The component mask: does a row have the values that the request names? (15.4.1.) */
#include <string.h>

#include "sa/base/sa_internal.h"
#include "util/mem.h"

#define MAX_WIDTH 512 /* bits of the widest field: NodeDescription, ServiceName, tables */

static bool is_reserved(const struct ib_field *f)
{
	return f->name[0] == 'R' && f->name[1] == 'S' && f->name[2] == 'V';
}

static bool same(const uint8_t *a, const uint8_t *b, const struct ib_field *f)
{
	size_t at = f->offset / 8u;

	if (f->width > 64)
		return !memcmp(a + at, b + at, MIN(f->width, MAX_WIDTH) / 8u);
	return ib_bits_get(a, f->offset, f->width) == ib_bits_get(b, f->offset, f->width);
}

bool sa_match(const struct sa_type *type, uint64_t mask, const uint8_t *asked, const uint8_t *row)
{
	unsigned n = type->n_head + type->n_body;

	if (n < 64)
		mask &= (1ull << n) - 1;
	for (; mask; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		bool head = i < type->n_head;
		const struct ib_field *f = head ? &type->head[i] : &type->body[i - type->n_head];
		size_t at = head ? 0 : type->head_len;

		if (!is_reserved(f) && !same(row + at, asked + at, f))
			return false;
	}
	return true;
}
