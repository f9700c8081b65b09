// SPDX-License-Identifier: BSD-2-Clause
/* Counters per attribute and method. */
#include "mad/count.h"

#include <assert.h>

unsigned counts_row(struct counts *c, uint16_t attr, uint8_t method)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->row[i].attr == attr && c->row[i].method == method)
			return i;
	if (c->n == COUNT_ROWS)
		return COUNT_ROWS - 1;
	if (c->n == COUNT_ROWS - 1) {
		attr = COUNT_OTHER_ATTR;
		method = 0;
	}
	c->row[c->n] = (struct mad_count){ .attr = attr, .method = method };
	return c->n++;
}

void counts_sent(struct counts *c, unsigned row, uint8_t method, bool retry)
{
	c->row[row].sent++;
	if (retry)
		c->row[row].retries++;
	c->sent[method]++;
}

void counts_unsent(struct counts *c, unsigned row, uint8_t method, bool retry)
{
	assert(c->row[row].sent > 0 && c->sent[method] > 0);
	c->row[row].sent--;
	if (retry)
		c->row[row].retries--;
	c->sent[method]--;
}

void counts_end(struct counts *c, unsigned row, enum mad_end end)
{
	switch (end) {
	case MAD_END_ANSWERED:
		c->row[row].answered++;
		break;
	case MAD_END_BAD_STATUS:
		c->row[row].bad_status++;
		break;
	case MAD_END_TIMEOUT:
		c->row[row].timeouts++;
		break;
	case MAD_END_CANCELLED:
		break;
	}
}
