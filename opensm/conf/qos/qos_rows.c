// SPDX-License-Identifier: BSD-2-Clause
/* Rows of bits, each stored once and known by its number. */
#include "conf/qos/qos_rows.h"

#include <assert.h>
#include <string.h>

#include "util/hash.h"
#include "util/mem.h"

#define NO_ROW UINT32_MAX

struct qos_rows {
	unsigned words;
	uint64_t *rows;
	size_t n, cap;
	/* hash table of row numbers, or NO_ROW; a power of two, at least half of it free */
	uint32_t *places;
	size_t n_places;
};

struct qos_rows *qos_rows_new(unsigned words)
{
	struct qos_rows *r = xcalloc(1, sizeof(*r));

	assert(words);
	r->words = words;
	return r;
}

struct qos_rows *qos_rows_free(struct qos_rows *r)
{
	if (!r)
		return NULL;
	free(r->rows);
	free(r->places);
	free(r);
	return NULL;
}

const uint64_t *qos_rows_at(const struct qos_rows *r, uint32_t number)
{
	assert(number < r->n);
	return &r->rows[(size_t)number * r->words];
}

size_t qos_rows_bytes(const struct qos_rows *r)
{
	return r->n * r->words * sizeof(*r->rows);
}

/* The slot of a row, or the free slot for it. */
static uint32_t *find_place(const struct qos_rows *r, const uint64_t *row)
{
	size_t bytes = r->words * sizeof(*row);
	size_t at = hash_fold(hash_bytes(HASH_START, row, bytes)) & (r->n_places - 1);

	while (r->places[at] != NO_ROW && memcmp(qos_rows_at(r, r->places[at]), row, bytes) != 0)
		at = (at + 1) & (r->n_places - 1);
	return &r->places[at];
}

static void grow_places(struct qos_rows *r)
{
	r->n_places = MAX(r->n_places * 2, 16u);
	free(r->places);
	r->places = xmalloc(r->n_places * sizeof(*r->places));
	memset(r->places, 0xFF, r->n_places * sizeof(*r->places));
	for (uint32_t i = 0; i < r->n; i++)
		*find_place(r, qos_rows_at(r, i)) = i;
}

uint32_t qos_rows_put(struct qos_rows *r, const uint64_t *row)
{
	uint32_t *place;

	if (2 * (r->n + 1) > r->n_places)
		grow_places(r);
	place = find_place(r, row);
	if (*place != NO_ROW)
		return *place;
	GROW(r->rows, (r->n + 1) * r->words, r->cap);
	memcpy(&r->rows[r->n * r->words], row, r->words * sizeof(*row));
	*place = (uint32_t)r->n++;
	return *place;
}
