// SPDX-License-Identifier: BSD-2-Clause
/* At which rates cables between switches run, one beside the other. */
#include "topo/topo.h"

/* Of a cable between switches; 0: not known, or no such cable. */
static uint16_t rate_at(const struct topo *t, uint32_t entry)
{
	return t->ports[entry].sw == TOPO_NONE ? 0 : t->ports[entry].rate;
}

/* Do all rates that are known agree? */
static bool has_one_rate(const struct topo *t, uint32_t n)
{
	uint16_t first = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t rate = rate_at(t, i);

		first = first ? first : rate;
		if (rate && rate != first)
			return false;
	}
	return true;
}

uint16_t topo_median_rate(const struct topo *t)
{
	_cleanup_free_ uint32_t *count = xcalloc(UINT16_MAX + 1u, sizeof(*count));
	uint32_t n = topo_n_entries(t), known = 0, below = 0;
	uint16_t ret = 0;

	for (uint32_t i = 0; i < n; i++)
		count[rate_at(t, i)]++;
	known = n - count[0];
	while (known && below <= known / 2)
		below += count[++ret];
	return ret;
}

uint32_t *topo_find_paces(const struct topo *t)
{
	uint32_t n = topo_n_entries(t), *ret, median;

	if (has_one_rate(t, n))
		return NULL;
	ret = xmalloc(n * sizeof(*ret));
	median = topo_median_rate(t);
	for (uint32_t i = 0; i < n; i++) {
		uint16_t rate = rate_at(t, i);

		ret[i] = rate ? MAX(TOPO_PACE * median / rate, 1u) : TOPO_PACE;
	}
	return ret;
}
