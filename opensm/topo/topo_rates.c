// SPDX-License-Identifier: BSD-2-Clause
/* At which rates cables between switches run, one beside the other. */
#include <stdlib.h>

#include "topo/topo.h"
#include "util/bisect.h"

/* Rate of the cable at a port, in 100 Mb/s; 0 if unknown or if no switch is at its other end. */
static uint16_t rate_at(const struct topo *t, uint32_t entry)
{
	return t->ports[entry].sw == TOPO_NONE ? 0 : t->ports[entry].rate;
}

/* The only rate that is known, 0 without any; false: there are several. */
static bool has_one_rate(const struct topo *t, uint32_t n, uint16_t *ret)
{
	*ret = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint16_t rate = rate_at(t, i);

		*ret = *ret ? *ret : rate;
		if (rate && rate != *ret)
			return false;
	}
	return true;
}

static int by_rate(const void *va, const void *vb)
{
	const uint16_t *a = va, *b = vb;

	return COMPARE(*a, *b);
}

static uint16_t find_median(const struct topo *t, uint32_t n_entries)
{
	_cleanup_free_ uint16_t *rates = xcalloc(n_entries, sizeof(*rates));
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_entries; i++)
		if (rate_at(t, i))
			rates[n++] = rate_at(t, i);
	qsort(rates, n, sizeof(*rates), by_rate);
	return rates[n / 2];
}

void topo_set_paces(struct topo *t)
{
	uint32_t n = topo_n_entries(t);

	free(t->paces);
	t->paces = NULL;
	if (has_one_rate(t, n, &t->median_rate))
		return;
	t->paces = xcalloc(n, sizeof(*t->paces));
	t->median_rate = find_median(t, n);
	for (uint32_t i = 0; i < n; i++) {
		uint16_t rate = rate_at(t, i);

		t->paces[i] = rate ? MAX(TOPO_PACE * t->median_rate / rate, 1u) : TOPO_PACE;
	}
}
