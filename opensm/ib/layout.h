// SPDX-License-Identifier: BSD-2-Clause
/*
 * Wire layouts, each defined by a list of fields in the order of the specification.
 *
 * IB_LAYOUT_ENUM(PREFIX, LIST) turns LIST(F), where each row is F(PREFIX, NAME, bits), into
 * constants: PREFIX_NAME is the bit offset (the sum of the widths before), PREFIX_NAME_W the width.
 * ib_get(p, PI_LID) and ib_put(p, PI_LID, v) then read and write network bit order anywhere in the
 * tree without a packed struct, a cast or an ntohs. Names starting with RSV are reserved.
 *
 * IB_LAYOUT_ROWS() makes an array of the same list, for printing, matching and the size check.
 */
#pragma once

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ib_field {
	const char *name;
	uint16_t offset; /* bits from the start */
	/* bits; ib_get() and ib_put() take up to 64, wider ones are bytes (GIDs, text) */
	uint16_t width;
};

#define IB_LAYOUT_FIELD_(P, NAME, BITS)                                                            \
	P##_##NAME, P##_##NAME##_END_ = P##_##NAME + (BITS) - 1, /* next row starts behind */
#define IB_LAYOUT_WIDTH_(P, NAME, BITS) P##_##NAME##_W = (BITS),
#define IB_LAYOUT_ROW_(P, NAME, BITS) { #NAME, P##_##NAME, (BITS) },

#define IB_LAYOUT_ENUM(P, LIST)                                                                    \
	enum { LIST(IB_LAYOUT_FIELD_) P##_BITS };                                                  \
	enum { LIST(IB_LAYOUT_WIDTH_) P##_BYTES = (P##_BITS + 7) / 8 };
/* Position in the list, which is the bit of the component mask in records: PREFIX_NAME_C. */
#define IB_LAYOUT_INDEX_(P, NAME, BITS) P##_##NAME##_C,
#define IB_LAYOUT_INDEX(P, LIST) enum { LIST(IB_LAYOUT_INDEX_) P##_COMPONENTS };
#define IB_LAYOUT_ROWS(LIST) { LIST(IB_LAYOUT_ROW_) }
#define IB_LAYOUT_ONE_(P, NAME, BITS) +1
#define IB_LAYOUT_COUNT(LIST) (0 LIST(IB_LAYOUT_ONE_))

/* Fields of whole words, known at compile time, take one load or store. */
#define IB_IS_WORD_(offset, width, bits) ((width) == (bits) && (offset) % 8 == 0)

/* The field of `width` bits at bit `offset` of `p`, most significant bit first. */
static inline uint64_t ib_bits_get(const uint8_t *p, unsigned offset, unsigned width)
{
	unsigned first = offset / 8, last = (offset + width - 1) / 8,
		 down = 7 - (offset + width - 1) % 8;
	uint64_t v = p[first] & (0xFFu >> (offset % 8));

	if (IB_IS_WORD_(offset, width, 64)) {
		memcpy(&v, p + first, sizeof(v));
		return be64toh(v);
	}
	for (unsigned i = first + 1; i <= last; i++)
		/* at most 64 significant bits: fields wider than 57 are byte aligned */
		v = v << 8 | p[i];
	return v >> down;
}

/* Stores the low `width` bits of `v`; neighbouring bits are kept. */
static inline void ib_bits_put(uint8_t *p, unsigned offset, unsigned width, uint64_t v)
{
	unsigned first = offset / 8, last = (offset + width - 1) / 8,
		 down = 7 - (offset + width - 1) % 8;
	uint64_t mask = (width == 64 ? ~0ull : (1ull << width) - 1) << down;

	if (IB_IS_WORD_(offset, width, 64)) {
		v = htobe64(v);
		memcpy(p + first, &v, sizeof(v));
		return;
	}
	if (IB_IS_WORD_(offset, width, 16)) {
		p[first] = (uint8_t)(v >> 8);
		p[last] = (uint8_t)v;
		return;
	}
	v = v << down & mask;
	for (unsigned i = last + 1; i-- > first;) {
		p[i] = (uint8_t)((p[i] & ~mask) | (v & 0xFF));
		v >>= 8;
		mask >>= 8;
	}
}

/* Bytes of a field that starts at a byte: GIDs, names. */
#define ib_at(p, FIELD) ((p) + (FIELD) / 8)

#define ib_get(p, FIELD) ib_bits_get((p), (FIELD), FIELD##_W)
#define ib_put(p, FIELD, v) ib_bits_put((p), (FIELD), FIELD##_W, (v))
