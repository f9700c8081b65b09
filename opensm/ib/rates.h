// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rate codes of Subnet Administration (15.2.5.16): what a code is worth, which comes below it.
 * Codes were given in the order of invention: they compare by bandwidth only.
 */
#pragma once

#include <stdbool.h>

#define IB_RATE_MIN 2  /* 2.5 Gb/s */
#define IB_RATE_MAX 24 /* 1200 Gb/s */

/* Tenths of Gb/s; 0 for a code that is none. Every code has a bandwidth of its own. */
unsigned ib_rate_bandwidth(unsigned rate);
/* Place in order of bandwidth: 1 (2.5 Gb/s) ... 23 (1200 Gb/s); 0 for a code that is none. */
unsigned ib_rate_rank(unsigned rate);
/* The code of that place; 0 for a place out of range. */
unsigned ib_rate_of_rank(unsigned rank);
static inline bool ib_rate_valid(unsigned rate)
{
	return rate >= IB_RATE_MIN && rate <= IB_RATE_MAX;
}
/*
 * The code of a link of `lanes` lanes at `speed` tenths of Gb/s each (ib_link_width(),
 * ib_link_speed()); FDR10 counts as QDR. 0: there is no such link.
 */
unsigned ib_rate_of_link(unsigned lanes, unsigned speed);
