// SPDX-License-Identifier: BSD-2-Clause
/*
 * MTU and rate values as subnet administration compares them (sa.md 4.1, 4.3). The codes themselves
 * are in ib/rates.c.
 */
#include "ib/rates.h"
#include "sa/path.h"
#include "util/mem.h"

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

/* ---- what a path record asks for ------------------------------------------------------------ */

uint16_t path_wish_check(const struct path_wish *w)
{
	if (w->mtu.given && !sa_mtu_valid(w->mtu.value))
		return SA_REQ_INVALID;
	if (w->rate.given && !sa_rate_valid(w->rate.value))
		return SA_REQ_INVALID;
	return 0;
}

/* Codes that count up, as of MTU and life time: "exactly" is met by more, and answered as asked. */
static bool select_code(const struct path_select *s, uint8_t *code)
{
	if (!s->given)
		return true;
	switch ((enum sa_selector)s->selector) {
	case SA_GREATER:
		return *code > s->value;
	case SA_LESS:
		if (!s->value)
			return false;
		*code = MIN(*code, s->value - 1);
		return true;
	case SA_EXACT:
		if (*code < s->value)
			return false;
		*code = s->value;
		return true;
	case SA_BEST:
		return true;
	}
	return true;
}

bool path_select_mtu(const struct path_select *s, uint8_t *mtu)
{
	uint8_t code = *mtu;

	if (!select_code(s, &code) || !sa_mtu_valid(code))
		return false;
	*mtu = code;
	return true;
}

bool path_select_life(const struct path_select *s, uint8_t *life)
{
	return select_code(s, life);
}

bool path_select_rate(const struct path_select *s, uint8_t *rate)
{
	unsigned below;

	if (!s->given)
		return *rate != 0;
	switch ((enum sa_selector)s->selector) {
	case SA_GREATER:
		return sa_rate_compare(*rate, s->value) > 0;
	case SA_LESS:
		below = sa_rate_below(s->value);
		if (sa_rate_compare(*rate, below) > 0)
			*rate = (uint8_t)below;
		return below != 0;
	case SA_EXACT:
		return *rate == s->value;
	case SA_BEST:
		return *rate != 0;
	}
	return true;
}

static bool fits(const struct path_select *s, int difference)
{
	if (!s->given)
		return true;
	switch ((enum sa_selector)s->selector) {
	case SA_GREATER:
		return difference > 0;
	case SA_LESS:
		return difference < 0;
	case SA_EXACT:
		return difference == 0;
	case SA_BEST:
		return true;
	}
	return true;
}

bool path_select_fixed(const struct path_select *s, unsigned value)
{
	return fits(s, (int)value - s->value);
}

bool path_select_fixed_rate(const struct path_select *s, unsigned rate)
{
	return fits(s, sa_rate_compare(rate, s->value));
}
