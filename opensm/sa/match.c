// SPDX-License-Identifier: BSD-2-Clause
/* The component mask: does a row hold what the request named? (15.4.1.) */
#include <string.h>

#include "sa/impl.h"
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

bool sa_match(const struct sa_type *type, const struct sa_request *rq, const uint8_t *row,
	      uint64_t done)
{
	unsigned n = type->n_head + type->n_body;
	uint64_t left = rq->mask & ~done;

	if (n < 64)
		left &= (1ull << n) - 1;
	for (; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		bool head = i < type->n_head;
		const struct ib_field *f = head ? &type->head[i] : &type->body[i - type->n_head];
		size_t at = head ? 0 : type->head_len;

		if (!is_reserved(f) && !same(row + at, rq->data + at, f))
			return false;
	}
	return true;
}
