// SPDX-License-Identifier: BSD-2-Clause
/* Counters per attribute and method. Private to mad/; read through mad_counts() and mad_sent(). */
#pragma once

#include "mad/mad.h"

/* Most rows: peers choose what they ask, and so what we answer. The last row counts all others. */
#define COUNT_ROWS	 64u
#define COUNT_OTHER_ATTR 0xFFFF

struct counts {
	struct mad_count row[COUNT_ROWS];
	unsigned n;
	uint64_t sent[256]; /* by method */
};

/* Index of the row of `attr` and `method`, made if new. */
unsigned counts_row(struct counts *c, uint16_t attr, uint8_t method);
void counts_sent(struct counts *c, unsigned row, uint8_t method, bool retry);
/* Takes back counts_sent() for a request that was not sent. */
void counts_unsent(struct counts *c, unsigned row, uint8_t method, bool retry);
void counts_end(struct counts *c, unsigned row, enum mad_end end);
