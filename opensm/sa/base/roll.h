// SPDX-License-Identifier: BSD-2-Clause
/*
 * Registrations in order of arrival, read newest first (services, subscriptions).
 *
 * An item gets a number when it comes. Readers remember the number of the last one they saw, so
 * that a query may rest between two items while others come and go. Owns no item.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sa_query;

/* To be zero-initialised; roll_clear() frees the memory. */
struct roll {
	uint64_t *ids; /* ascending */
	void **items;  /* NULL: removed */
	size_t n, cap, live;
	uint64_t last_id;
};

void roll_clear(struct roll *r);
/* Adds `item` as the newest. Returns its number, from 1 on, never used twice. */
uint64_t roll_add(struct roll *r, void *item);
/* Removes an item; an unknown number is fine. O(log n), sometimes O(n). */
void roll_remove(struct roll *r, uint64_t id);
/* The newest item older than *cursor (0: the newest of all); moves *cursor to it. NULL: none. */
void *roll_before(const struct roll *r, uint64_t *cursor);
/* Loops over the items, newest first; the item may be removed meanwhile. */
#define ROLL_EACH(r, item) for (uint64_t cursor_ = 0; ((item) = roll_before((r), &cursor_));)
/* roll_before() with the cursor of a query, in q->at[0..1]: for next() of a record type. */
void *roll_next(const struct roll *r, struct sa_query *q);
