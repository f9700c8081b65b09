// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which request is due next. Members know their place (x->due_place, 1 is the top), 0: not in the
 * heap.
 */
#include "mad/due.h"

#include <assert.h>

#include "util/mem.h"

static bool earlier(const struct mad_xact *a, const struct mad_xact *b)
{
	return a->due != b->due ? a->due < b->due : a->seq < b->seq;
}

static void place_at(struct due *d, size_t place, struct mad_xact *x)
{
	d->heap[place - 1] = x;
	x->due_place = place;
}

/* `x` belongs at `place` or above it; those above move down. */
static void sift_up(struct due *d, size_t place, struct mad_xact *x)
{
	for (; place > 1 && earlier(x, d->heap[place / 2 - 1]); place /= 2)
		place_at(d, place, d->heap[place / 2 - 1]);
	place_at(d, place, x);
}

static void sift_down(struct due *d, size_t place, struct mad_xact *x)
{
	for (size_t child = 2 * place; child <= d->n; place = child, child = 2 * place) {
		if (child < d->n && earlier(d->heap[child], d->heap[child - 1]))
			child++;
		if (!earlier(d->heap[child - 1], x))
			break;
		place_at(d, place, d->heap[child - 1]);
	}
	place_at(d, place, x);
}

struct mad_xact *due_first(const struct due *d)
{
	return d->n ? d->heap[0] : NULL;
}

void due_set(struct due *d, struct mad_xact *x, mono_t at)
{
	due_remove(d, x);
	x->due = at;
	GROW(d->heap, d->n + 1, d->cap);
	d->n++;
	sift_up(d, d->n, x);
}

void due_remove(struct due *d, struct mad_xact *x)
{
	size_t place = x->due_place;
	struct mad_xact *last;

	if (!place)
		return;
	assert(place <= d->n && d->heap[place - 1] == x);
	x->due_place = 0;
	last = d->heap[--d->n];
	if (last == x)
		return;
	if (place > 1 && earlier(last, d->heap[place / 2 - 1]))
		sift_up(d, place, last);
	else
		sift_down(d, place, last);
}

void due_clear(struct due *d)
{
	free(d->heap);
	*d = (struct due){ 0 };
}
