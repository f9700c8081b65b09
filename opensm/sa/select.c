// SPDX-License-Identifier: BSD-2-Clause
/*
 * MTU and rate values as subnet administration compares them (sa.md 4.1, 4.3). The codes themselves
 * are in ib/rates.c.
 */
#include "ib/rates.h"
#include "sa/impl.h"

#define NO_RATE_LIMIT 63
#define RATE_300_GBS  18

bool sa_mtu_valid(unsigned mtu)
{
	return mtu >= IB_MTU_256 && mtu <= IB_MTU_4096;
}

bool sa_rate_valid(unsigned rate)
{
	return ib_rate_valid(rate);
}

unsigned sa_rate_bandwidth(unsigned rate)
{
	return ib_rate_bandwidth(rate);
}

int sa_rate_compare(unsigned a, unsigned b)
{
	return (int)ib_rate_rank(a) - (int)ib_rate_rank(b);
}

unsigned sa_rate_below(unsigned rate)
{
	unsigned rank = ib_rate_rank(rate);

	return rank ? ib_rate_of_rank(rank - 1) : 0;
}

unsigned sa_rate_of(const uint8_t *port_info, uint32_t node_cap_mask, bool fdr10)
{
	return ib_rate_of_link(ib_link_width(port_info),
			       ib_link_speed(port_info, node_cap_mask, fdr10));
}

unsigned sa_rate_for_clients(const struct conf *conf, unsigned rate)
{
	unsigned limit = conf->max_rate_enum;

	if (conf->use_original_extended_sa_rates_only && limit > RATE_300_GBS)
		limit = RATE_300_GBS;
	while (limit != NO_RATE_LIMIT && rate > limit)
		rate = sa_rate_below(rate);
	return rate;
}
