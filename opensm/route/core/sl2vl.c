// SPDX-License-Identifier: BSD-2-Clause
/* The container of a VL scheme. Which path gets which VL is decided by engines. */
#include "route/core/sl2vl.h"

#include <assert.h>
#include <string.h>

/* Rows of `sl`, and entries of each. */
static size_t n_rows(const struct sl2vl *l)
{
	return l->by == SL2VL_BY_NOTHING ? 0 : l->by == SL2VL_BY_LID ? 1 : l->n_switches;
}

static size_t row_width(const struct sl2vl *l)
{
	return l->by == SL2VL_BY_SWITCHES ? l->n_switches : l->row_size;
}

size_t sl2vl_n_sl(const struct sl2vl *l)
{
	return n_rows(l) * row_width(l);
}

struct sl2vl *sl2vl_new(const struct topo *t, unsigned n_vls, enum sl2vl_by by, uint32_t row_size,
			unsigned n_classes)
{
	struct sl2vl *l = xcalloc(1, sizeof(*l));

	l->n_vls = (uint8_t)n_vls;
	l->by = by;
	l->n_switches = t->n_switches;
	l->row_size = row_size;
	l->n_classes = n_classes;
	l->sl_mask = by == SL2VL_BY_NOTHING ? 0 : SL2VL_SLS - 1;
	if (by != SL2VL_BY_NOTHING)
		l->sl = xcalloc(MAX(sl2vl_n_sl(l), 1u), sizeof(*l->sl));
	l->vl = xcalloc((size_t)n_classes * n_classes * SL2VL_SLS, sizeof(*l->vl));
	for (size_t i = 0; i < (size_t)n_classes * n_classes * SL2VL_SLS; i++)
		l->vl[i] = (uint8_t)(i % SL2VL_SLS % n_vls);
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
		l->host_vl[sl] = (uint8_t)(sl % n_vls);
	return l;
}

void sl2vl_set_classes(struct sl2vl *l, const struct topo *t,
		       unsigned (*class_of)(const void *arg, uint32_t sw, uint32_t peer),
		       const void *arg)
{
	assert(l && !l->class_of);
	l->class_of = xcalloc(topo_n_entries(t), sizeof(*l->class_of));
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t peer = topo_port(t, s, p)->sw;

			if (peer != TOPO_NONE)
				l->class_of[t->switches[s].first_port + p] =
					(uint8_t)class_of(arg, s, peer);
		}
}

struct sl2vl *sl2vl_copy(const struct topo *t, const struct sl2vl *l, uint32_t row_size)
{
	struct sl2vl *ret = sl2vl_new(t, l->n_vls, l->by, row_size, l->n_classes);
	size_t old = row_width(l), new = row_width(ret);

	ret->n_needed = l->n_needed;
	ret->sl_mask = l->sl_mask;
	ret->n_levels = l->n_levels;
	ret->mcast_mask_zero = l->mcast_mask_zero;
	for (size_t i = 0; i < n_rows(l); i++)
		memcpy(ret->sl + i * new, l->sl + i * old, MIN(old, new));
	if (l->class_of)
		ret->class_of = xmemdup(l->class_of, topo_n_entries(t));
	memcpy(ret->vl, l->vl, (size_t)l->n_classes * l->n_classes * SL2VL_SLS);
	memcpy(ret->host_vl, l->host_vl, sizeof(ret->host_vl));
	return ret;
}

/* ---- levels --------------------------------------------------------------------------------- */

static bool sl_is_vl(const struct sl2vl *l)
{
	if (l->n_classes != 1 || l->sl_mask != SL2VL_SLS - 1)
		return false;
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
		if (l->vl[sl] != sl % l->n_vls || l->host_vl[sl] != sl % l->n_vls)
			return false;
	return true;
}

/* Do bits of an SL above sl_mask, which has the lowest ones, choose nothing yet? */
static bool upper_bits_are_free(const struct sl2vl *l)
{
	if (l->sl_mask & (l->sl_mask + 1))
		return false;
	for (size_t i = 0; i < (size_t)l->n_classes * l->n_classes * SL2VL_SLS; i++)
		if (l->vl[i] != l->vl[i - i % SL2VL_SLS + (i & l->sl_mask)])
			return false;
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
		if (l->host_vl[sl] != l->host_vl[sl & l->sl_mask])
			return false;
	return true;
}

/* Bits of an SL that a path needs; SL2VL_SLS: all of them, as no other will do. */
static unsigned path_bits(const struct sl2vl *l)
{
	unsigned bits = 0, sls = l->n_vls;

	if (!sl_is_vl(l)) {
		if (!upper_bits_are_free(l))
			return SL2VL_SLS;
		sls = l->sl_mask + 1u;
	}
	while (1u << bits < sls)
		bits++;
	return bits;
}

static void copy_row(const struct sl2vl *l, uint8_t row[SL2VL_SLS], unsigned bits, unsigned levels)
{
	uint8_t own[SL2VL_SLS];

	memcpy(own, row, sizeof(own));
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++) {
		uint8_t vl = own[sl & ((1u << bits) - 1)];

		row[sl] = vl == SL2VL_VL_DROP
				  ? vl
				  : (uint8_t)(vl + MIN(sl >> bits, levels - 1) * l->n_vls);
	}
}

unsigned sl2vl_add_levels(struct sl2vl *l, unsigned levels, unsigned vls)
{
	unsigned bits, fit;

	assert(l && l->n_vls);
	if (l->n_levels > 1 || l->by == SL2VL_BY_NOTHING || levels < 2)
		return MAX(l->n_levels, 1u);
	bits = path_bits(l);
	fit = bits == SL2VL_SLS ? 1 : MIN((unsigned)SL2VL_SLS >> bits, MIN(levels, vls / l->n_vls));
	if (fit < 2)
		return 1;
	/* What an SL beyond the VLs stood for, it stands for in its place. */
	for (size_t i = 0, n = sl_is_vl(l) ? sl2vl_n_sl(l) : 0; i < n; i++)
		if (l->sl[i] >= l->n_vls)
			l->sl[i] = (uint8_t)(l->sl[i] % l->n_vls);
	for (size_t i = 0; i < (size_t)l->n_classes * l->n_classes; i++)
		copy_row(l, &l->vl[i * SL2VL_SLS], bits, fit);
	copy_row(l, l->host_vl, bits, fit);
	l->sl_mask = (uint8_t)((1u << bits) - 1);
	l->n_levels = (uint8_t)fit;
	l->n_needed = (uint8_t)(l->n_needed * fit);
	l->n_vls = (uint8_t)(l->n_vls * fit);
	return fit;
}

uint8_t sl2vl_level_sl(const struct sl2vl *l, unsigned level)
{
	unsigned bits = (unsigned)__builtin_popcount(l->sl_mask);

	return l->n_levels > 1 ? (uint8_t)(MIN(level, l->n_levels - 1u) << bits) : 0;
}

bool sl2vl_drops(const struct sl2vl *l, uint16_t mask)
{
	for (size_t i = 0; l && i < (size_t)l->n_classes * l->n_classes * SL2VL_SLS; i++)
		if (l->vl[i] == SL2VL_VL_DROP && mask >> i % SL2VL_SLS & 1)
			return true;
	return false;
}

struct sl2vl *sl2vl_free(struct sl2vl *l)
{
	if (!l)
		return NULL;
	FREE_ALL(l->sl, l->class_of, l->vl, l);
	return NULL;
}

uint8_t sl2vl_sl(const struct sl2vl *l, uint32_t src, uint32_t dst, lid_t lid, uint8_t wish)
{
	size_t row, column;
	uint8_t sl = 0;

	if (!l || l->by == SL2VL_BY_NOTHING)
		return wish;
	row = l->by == SL2VL_BY_LID ? 0 : src;
	column = l->by == SL2VL_BY_SWITCHES ? dst : lid;
	if (row < n_rows(l) && column < row_width(l))
		sl = l->sl[row * row_width(l) + column];
	return (uint8_t)((sl & l->sl_mask) | (wish & ~l->sl_mask));
}

unsigned sl2vl_available(const struct topo *t)
{
	unsigned least = SL2VL_VLS_MAX;

	assert(t);
	for (uint32_t e = 0; e < topo_n_entries(t); e++)
		if (t->ports[e].sw != TOPO_NONE)
			least = MIN(least, MAX((unsigned)t->ports[e].vls, 1u));
	return least;
}
