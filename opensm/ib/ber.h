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

/* Bits per second of `lanes` lanes at `speed` tenths of Gb/s each (codes.h). 0: no such link. */
uint64_t ber_link_bits(unsigned lanes, unsigned speed);

/* Errors per bit, counted in `us` microseconds at `bits` per second; 0 where either is 0. */
double ber_of(uint64_t errors, uint64_t bits, uint64_t us);
/* Errors that a link with this rate is expected to have in `us`. */
double ber_errors(double ber, uint64_t bits, uint64_t us);
/*
 * Microseconds in which a link with this rate has one error, on average: 1 / (ber * bits). An
 * earlier count of errors says nothing about `ber`. UINT64_MAX: for ever, as where `bits` is 0.
 */
uint64_t ber_observe_us(double ber, uint64_t bits);
/* Microseconds without an error that prove a rate below `ber` with 95 %: 3 / (ber * bits). */
uint64_t ber_sure_us(double ber, uint64_t bits);
/* The rate that `us` without an error prove the link to be below with 95 %; 1 where `us` is 0. */
double ber_proven(uint64_t bits, uint64_t us);

/*
 * Errors of one link in a window that moves: of the last one to two times that are needed to be
 * sure of BER_WATCHED. A cable that went bad after a good month shows within hours.
 */
#define BER_WATCHED 1e-15
struct ber_watch {
	uint64_t bits; /* per second; with another rate it begins anew */
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
