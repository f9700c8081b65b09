// SPDX-License-Identifier: BSD-2-Clause
/* Two tables: rates in order of bandwidth, and the codes of width times speed (sa.md 4.3). */
#include "ib/rates.h"

#include <stddef.h>
#include <stdint.h>

#include "util/mem.h"

struct rate {
	uint16_t bandwidth; /* tenths of Gb/s */
	uint8_t rank;
};

static const struct rate rates[] = {
	[2] = { 25, 1 },     [5] = { 50, 2 },	  [3] = { 100, 3 },	[11] = { 140, 4 },
	[6] = { 200, 5 },    [15] = { 250, 6 },	  [19] = { 280, 7 },	[4] = { 300, 8 },
	[7] = { 400, 9 },    [20] = { 500, 10 },  [12] = { 560, 11 },	[8] = { 600, 12 },
	[9] = { 800, 13 },   [16] = { 1000, 14 }, [13] = { 1120, 15 },	[10] = { 1200, 16 },
	[14] = { 1680, 17 }, [17] = { 2000, 18 }, [18] = { 3000, 19 },	[21] = { 4000, 20 },
	[22] = { 6000, 21 }, [23] = { 8000, 22 }, [24] = { 12000, 23 },
};

static const uint8_t by_rank[] = {
	0, 2, 5, 3, 11, 6, 15, 19, 4, 7, 20, 12, 8, 9, 16, 13, 10, 14, 17, 18, 21, 22, 23, 24,
};

unsigned ib_rate_bandwidth(unsigned rate)
{
	return rate < ARRAY_SIZE(rates) ? rates[rate].bandwidth : 0;
}

unsigned ib_rate_rank(unsigned rate)
{
	return rate < ARRAY_SIZE(rates) ? rates[rate].rank : 0;
}

unsigned ib_rate_of_rank(unsigned rank)
{
	return rank < ARRAY_SIZE(by_rank) ? by_rank[rank] : 0;
}

/* One generation of links: its speed per lane, and its codes by width. */
struct speed {
	uint16_t lane; /* tenths of Gb/s */
	uint8_t x1, x2, x4, x8, x12;
};

static const struct speed speeds[] = {
	{ 25, 2, 5, 3, 6, 4 },	      /* SDR */
	{ 50, 5, 3, 6, 7, 8 },	      /* DDR */
	{ 100, 3, 6, 7, 9, 10 },      /* QDR */
	{ 103, 3, 6, 7, 9, 10 },      /* FDR10 */
	{ 140, 11, 19, 12, 13, 14 },  /* FDR */
	{ 250, 15, 20, 16, 17, 18 },  /* EDR */
	{ 500, 20, 16, 17, 21, 22 },  /* HDR */
	{ 1000, 16, 17, 21, 23, 24 }, /* NDR */
	{ 2000, 17, 21, 23, 0, 0 },   /* XDR: no code for more than 4 lanes yet */
};

unsigned ib_rate_of_link(unsigned lanes, unsigned speed)
{
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++) {
		const struct speed *s = &speeds[i];

		if (s->lane != speed)
			continue;
		switch (lanes) {
		case 1:
			return s->x1;
		case 2:
			return s->x2;
		case 4:
			return s->x4;
		case 8:
			return s->x8;
		case 12:
			return s->x12;
		}
	}
	return 0;
}
