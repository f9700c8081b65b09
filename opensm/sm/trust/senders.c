// SPDX-License-Identifier: BSD-2-Clause
/* The table of senders; see senders.h. */
#include "sm/trust/senders.h"

#include <assert.h>

static unsigned count_now(const struct senders *s, const struct sender *row, mono_t now)
{
	return now - row->since > s->window ? 0 : row->n;
}

/* The row of this sender; a new sender gets the row with the fewest events. */
static struct sender *row_of(struct senders *s, uint64_t id, mono_t now)
{
	struct sender *least = &s->rows[0];

	for (unsigned i = 0; i < SENDERS_MAX; i++) {
		struct sender *row = &s->rows[i];

		if (row->id == id)
			return row;
		if (count_now(s, row, now) < count_now(s, least, now))
			least = row;
	}
	*least = (struct sender){ .id = id, .since = now };
	return least;
}

struct sender *senders_count(struct senders *s, uint64_t id, mono_t now)
{
	struct sender *row = row_of(s, id, now);

	assert(id);
	if (now - row->since > s->window) {
		row->since = now;
		row->n = 0;
	}
	row->n++;
	return row;
}
