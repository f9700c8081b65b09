// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bit error rates: how many errors per bit, and how long a link must be watched before a number
 * says anything. A link of 400 Gb/s carries 1e14 bits in 250 s: a reading after a second neither
 * proves nor refutes a rate of 1e-14.
 *
 * The bits of a link are those of its data rate, width by speed; from FDR on what is signalled is
 * 3 to 6 % more.
 */
#pragma once

#include <stdint.h>

/*
 * Bits per second of `lanes` lanes at `speed` tenths of Gb/s each (codes.h). 0: there is no such
 * link.
 */
uint64_t ber_link_bits(unsigned lanes, unsigned speed);

/* Errors per bit, counted in `us` microseconds at `bits` per second; 0 where either is 0. */
double ber_of(uint64_t errors, uint64_t bits, uint64_t us);
/* Number of errors expected in `us` on a link with this rate. */
double ber_errors(double ber, uint64_t bits, uint64_t us);
/*
 * Average microseconds between two errors of a link with this rate: 1 / (ber * bits). An error
 * count of less time says nothing about `ber`. UINT64_MAX: endless, also if `bits` is 0.
 */
uint64_t ber_observe_us(double ber, uint64_t bits);
/*
 * Microseconds without an error that prove a rate below `ber` with 95 % confidence: 3 / (ber *
 * bits).
 */
uint64_t ber_sure_us(double ber, uint64_t bits);
/*
 * The rate that `us` without an error prove not to be reached, with 95 % confidence; 1 if `us` is
 * 0.
 */
double ber_proven(uint64_t bits, uint64_t us);

/*
 * Errors of one link in a moving window of one to two times the time that BER_WATCHED needs to be
 * proved. A cable that degrades after a good month shows within hours.
 */
#define BER_WATCHED 1e-15
struct ber_watch {
	uint64_t bits; /* bits per second; counts restart if it changes */
	struct {
		uint64_t errors, us;
	} now, before;
};

void ber_watch_add(struct ber_watch *w, uint64_t errors, uint64_t bits, uint64_t us);
static inline uint64_t ber_watch_errors(const struct ber_watch *w)
{
	return w->now.errors + w->before.errors;
}
static inline uint64_t ber_watch_us(const struct ber_watch *w)
{
	return w->now.us + w->before.us;
}
