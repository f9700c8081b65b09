// SPDX-License-Identifier: BSD-2-Clause
#include "ib/ber.h"

#include "ib/codes.h"

#define US_PER_S      1e6
#define BITS_PER_MBIT 1e6
/* -ln(0.05): with this many errors expected, to see none has a chance of 5 %. */
#define SURE	      3.0

uint64_t ber_link_bits(unsigned lanes, unsigned speed)
{
	const struct ib_speed *s = ib_speed_of(speed);

	if (!s || !ib_width_of(lanes))
		return 0;
	return (uint64_t)(s->data * lanes * BITS_PER_MBIT);
}

double ber_of(uint64_t errors, uint64_t bits, uint64_t us)
{
	if (!bits || !us)
		return 0;
	return (double)errors / ((double)bits * (double)us / US_PER_S);
}

double ber_errors(double ber, uint64_t bits, uint64_t us)
{
	return ber * (double)bits * (double)us / US_PER_S;
}

/* Microseconds in which `errors` are expected. */
static uint64_t time_of(double errors, double ber, uint64_t bits)
{
	double us = ber > 0 && bits ? errors / (ber * (double)bits) * US_PER_S : -1;

	/* the greatest double below 2^64 is less than UINT64_MAX */
	return us < 0 || us >= (double)UINT64_MAX ? UINT64_MAX : (uint64_t)us;
}

uint64_t ber_observe_us(double ber, uint64_t bits)
{
	return time_of(1, ber, bits);
}

uint64_t ber_sure_us(double ber, uint64_t bits)
{
	return time_of(SURE, ber, bits);
}

double ber_proven(uint64_t bits, uint64_t us)
{
	double carried = (double)bits * (double)us / US_PER_S;

	return carried <= SURE ? 1 : SURE / carried;
}

void ber_watch_add(struct ber_watch *w, uint64_t errors, uint64_t bits, uint64_t us)
{
	if (w->bits != bits)
		*w = (struct ber_watch){ .bits = bits };
	if (!bits)
		return;
	if (w->now.us >= ber_sure_us(BER_WATCHED, bits)) {
		w->before = w->now;
		w->now.errors = w->now.us = 0;
	}
	w->now.errors += errors;
	w->now.us += us;
}
