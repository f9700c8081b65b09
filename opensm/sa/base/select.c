// SPDX-License-Identifier: BSD-2-Clause
/*
 * MTU and rate values as subnet administration compares them (sa.md 4.1, 4.3). The codes themselves
 * are in ib/codes.c.
 */
#include "ib/codes.h"
#include "sa/path/path.h"
#include "util/mem.h"

#define NO_RATE_LIMIT 63
#define RATE_300_GBS  18

bool sa_mtu_valid(unsigned mtu)
{
	return ib_mtu_bytes(mtu) != 0;
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

unsigned sa_rate_for_clients(const struct conf *conf, unsigned rate)
{
	unsigned limit = conf->max_rate_enum;

	if (conf->use_original_extended_sa_rates_only && limit > RATE_300_GBS)
		limit = RATE_300_GBS;
	while (limit != NO_RATE_LIMIT && rate > limit)
		rate = sa_rate_below(rate);
	return rate;
}

bool sa_selector_holds(unsigned selector, int order)
{
	switch ((enum sa_selector)selector) {
	case SA_GREATER:
		return order > 0;
	case SA_LESS:
		return order < 0;
	case SA_EXACT:
		return order == 0;
	case SA_BEST:
		return true;
	}
	return false;
}

/* ---- selectors of a path record ------------------------------------------------------------- */

uint16_t path_wish_check(const struct path_wish *w)
{
	if (w->half_service)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (w->mtu.given && !sa_mtu_valid(w->mtu.value))
		return SA_REQ_INVALID;
	if (w->rate.given && !ib_rate_valid(w->rate.value))
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

/* Less than 1 is none, as the peer has it: 0 is the life time of a port to itself. */
bool path_select_life(const struct path_select *s, uint8_t *life)
{
	if (s->given && s->selector == SA_LESS && s->value == 1 && *life)
		return false;
	return select_code(s, life);
}

/* By order of bandwidth; "exactly" is met by no more. */
bool path_select_rate(const struct path_select *s, uint8_t *rate)
{
	struct path_select by_rank = { .given = true, .selector = s->selector };
	uint8_t rank = (uint8_t)ib_rate_rank(*rate);

	if (!s->given)
		return *rate != 0;
	if (s->selector == SA_EXACT)
		return *rate == s->value;
	by_rank.value = (uint8_t)ib_rate_rank(s->value);
	if (!select_code(&by_rank, &rank) || !rank)
		return false;
	*rate = (uint8_t)ib_rate_of_rank(rank);
	return true;
}

bool path_select_fixed(const struct path_select *s, unsigned value)
{
	return !s->given || sa_selector_holds(s->selector, (int)value - s->value);
}

bool path_select_fixed_rate(const struct path_select *s, unsigned rate)
{
	return !s->given || sa_selector_holds(s->selector, sa_rate_compare(rate, s->value));
}
