// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two parallel arrays, to which items are appended; a removed item leaves a hole, and holes are
 * removed when they are the majority. Numbers are sorted, so an item is found by bisection.
 */
#include "sa/base/roll.h"

#include "sa/base/sa_internal.h"
#include "util/bisect.h"
#include "util/mem.h"

void roll_clear(struct roll *r)
{
	free(r->ids);
	free(r->items);
	*r = (struct roll){ 0 };
}

uint64_t roll_add(struct roll *r, void *item)
{
	if (r->n == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 16;
		r->ids = xrealloc(r->ids, r->cap, sizeof(*r->ids));
		r->items = xrealloc(r->items, r->cap, sizeof(*r->items));
	}
	r->ids[r->n] = ++r->last_id;
	r->items[r->n++] = item;
	r->live++;
	return r->last_id;
}

/* Index of the first entry whose number is not below `id`. */
static size_t place_of(const struct roll *r, uint64_t id)
{
	return BISECT(i, 0, r->n, r->ids[i] < id);
}

static void sweep_out(struct roll *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (!r->items[i])
			continue;
		r->ids[n] = r->ids[i];
		r->items[n++] = r->items[i];
	}
	r->n = n;
}

void roll_remove(struct roll *r, uint64_t id)
{
	size_t at = place_of(r, id);

	if (at == r->n || r->ids[at] != id || !r->items[at])
		return;
	r->items[at] = NULL;
	r->live--;
	if (r->n > 16 && r->live < r->n / 2)
		sweep_out(r);
}

void *roll_before(const struct roll *r, uint64_t *cursor)
{
	size_t at = *cursor ? place_of(r, *cursor) : r->n;

	while (at-- > 0) {
		if (r->items[at]) {
			*cursor = r->ids[at];
			return r->items[at];
		}
	}
	return NULL;
}

void *roll_next(const struct roll *r, struct sa_query *q)
{
	uint64_t cursor = (uint64_t)q->at[1] << 32 | q->at[0];
	void *item = roll_before(r, &cursor);

	q->at[0] = (uint32_t)cursor;
	q->at[1] = (uint32_t)(cursor >> 32);
	return item;
}
