// SPDX-License-Identifier: BSD-2-Clause
/*
 * Contents in chunks that never move, found by a hash with open addressing; ids without references
 * are chained and given out again.
 */
#include "fabric/fabric_internal.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

#define CHUNK 256u

struct row {
	uint32_t refs; /* 0: free */
	uint32_t next; /* free: the next free id */
	uint32_t hash;
	uint8_t payload[SMP_DATA_SIZE];
};

struct cells {
	struct row **chunks; /* id i is row i % CHUNK of chunk i / CHUNK; row 0 is not used */
	uint32_t n_chunks;
	uint32_t n_ids; /* given out so far, 0 included */
	uint32_t free;	/* first of the chain; 0: none */
	uint32_t held;
	uint32_t *slots; /* ids; 0: empty */
	uint32_t n_slots;
};

struct cells *cells_new(void)
{
	struct cells *c = xcalloc(1, sizeof(*c));

	c->n_ids = 1;
	return c;
}

struct cells *cells_free(struct cells *c)
{
	if (!c)
		return NULL;
	for (uint32_t i = 0; i < c->n_chunks; i++)
		free(c->chunks[i]);
	free(c->chunks);
	free(c->slots);
	free(c);
	return NULL;
}

static struct row *row_of(const struct cells *c, cell_id id)
{
	return &c->chunks[id / CHUNK][id % CHUNK];
}

static uint32_t hash_of(const uint8_t *payload)
{
	uint64_t h = 0x9E3779B97F4A7C15ull, word;

	for (unsigned i = 0; i < SMP_DATA_SIZE; i += sizeof(word)) {
		memcpy(&word, payload + i, sizeof(word));
		h = (h ^ word) * 0xBF58476D1CE4E5B9ull;
		h ^= h >> 29;
	}
	return (uint32_t)(h ^ h >> 32);
}

/* The slot that holds this content, or the empty one where it belongs. */
static uint32_t find_slot(const struct cells *c, const uint8_t *payload, uint32_t hash)
{
	uint32_t at = hash & (c->n_slots - 1);

	assert(c->held < c->n_slots); /* some slot is free, so this ends */
	while (c->slots[at]) {
		const struct row *r = row_of(c, c->slots[at]);

		if (r->hash == hash && !memcmp(r->payload, payload, SMP_DATA_SIZE))
			break;
		at = (at + 1) & (c->n_slots - 1);
	}
	return at;
}

/* At most half of the slots are taken. */
static void make_room(struct cells *c)
{
	uint32_t *old = c->slots, n_old = c->n_slots;

	if (c->held * 2 < n_old)
		return;
	c->n_slots = n_old ? n_old * 2 : 64;
	c->slots = xcalloc(c->n_slots, sizeof(*c->slots));
	for (uint32_t i = 0; i < n_old; i++) {
		if (old[i]) {
			const struct row *r = row_of(c, old[i]);

			c->slots[find_slot(c, r->payload, r->hash)] = old[i];
		}
	}
	free(old);
}

static cell_id take_id(struct cells *c)
{
	cell_id id = c->free;

	if (id) {
		c->free = row_of(c, id)->next;
		return id;
	}
	id = c->n_ids++;
	if (id / CHUNK == c->n_chunks) {
		c->chunks = xrealloc(c->chunks, c->n_chunks + 1u, sizeof(*c->chunks));
		c->chunks[c->n_chunks++] = xcalloc(CHUNK, sizeof(struct row));
	}
	return id;
}

cell_id cells_put(struct cells *c, const uint8_t payload[SMP_DATA_SIZE])
{
	uint32_t hash = hash_of(payload), at;
	struct row *r;

	make_room(c);
	at = find_slot(c, payload, hash);
	if (c->slots[at]) {
		row_of(c, c->slots[at])->refs++;
		return c->slots[at];
	}
	if (c->held >= CELLS_MAX)
		return CELL_UNKNOWN;
	c->slots[at] = take_id(c);
	c->held++;
	r = row_of(c, c->slots[at]);
	r->refs = 1;
	r->hash = hash;
	memcpy(r->payload, payload, SMP_DATA_SIZE);
	return c->slots[at];
}

/* Entries pushed behind an emptied slot move up, so that searches still find them. */
static void close_gap(struct cells *c, uint32_t gap)
{
	uint32_t mask = c->n_slots - 1;

	for (uint32_t at = (gap + 1) & mask; c->slots[at]; at = (at + 1) & mask) {
		uint32_t home = row_of(c, c->slots[at])->hash & mask;

		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		c->slots[gap] = c->slots[at];
		gap = at;
	}
	c->slots[gap] = 0;
}

void cells_unref(struct cells *c, cell_id id)
{
	struct row *r;

	assert(id == CELL_UNKNOWN || row_of(c, id)->refs > 0);
	if (!id)
		return;
	r = row_of(c, id);
	if (--r->refs)
		return;
	close_gap(c, find_slot(c, r->payload, r->hash));
	r->next = c->free;
	c->free = id;
	c->held--;
}

const uint8_t *cells_get(const struct cells *c, cell_id id)
{
	return id ? row_of(c, id)->payload : NULL;
}

size_t cells_count(const struct cells *c)
{
	return c->held;
}

const uint8_t *cell_table_get(const struct cells *c, const struct cell_table *t, unsigned block)
{
	return cells_get(c, cell_table_id(t, block));
}

void cell_table_grow(struct cell_table **t, unsigned n)
{
	unsigned before = *t ? (*t)->n : 0;

	assert(t && n >= 1 && n <= UINT16_MAX);
	if (n <= before)
		return;
	*t = xrealloc(*t, 1, sizeof(**t) + n * sizeof((*t)->have[0]));
	if (!before)
		memset(*t, 0, sizeof(**t));
	memset((*t)->have + before, 0, (n - before) * sizeof((*t)->have[0]));
	(*t)->n = (uint16_t)n;
}

void cell_table_set(struct cells *c, struct cell_table **t, unsigned block,
		    const uint8_t payload[SMP_DATA_SIZE])
{
	cell_id id = cells_put(c, payload);

	assert(t && block < UINT16_MAX);
	cell_table_grow(t, block + 1);
	cells_unref(c, cell_table_id(*t, block));
	(*t)->have[block] = id | ((*t)->have[block] & CELL_OUT);
}

void cell_table_forget(struct cells *c, struct cell_table *t, unsigned block)
{
	if (!t || block >= t->n)
		return;
	cells_unref(c, cell_table_id(t, block));
	t->have[block] &= CELL_OUT;
}

void cell_table_send(struct cell_table *t, unsigned block)
{
	assert(t && block < t->n && !cell_table_is_out(t, block));
	t->have[block] |= CELL_OUT;
	t->n_out++;
	t->unproven = true;
}

void cell_table_send_many(struct cell_table **t, unsigned n)
{
	cell_table_grow(t, n);
	(*t)->unproven = true;
}

void cell_table_back(struct cell_table *t, unsigned block)
{
	assert(cell_table_is_out(t, block) && t->n_out);
	t->have[block] &= ~CELL_OUT;
	t->n_out--;
}

void cell_table_free(struct cells *c, struct cell_table **t)
{
	for (unsigned i = 0; *t && i < (*t)->n; i++)
		cell_table_forget(c, *t, i);
	free(*t);
	*t = NULL;
}

/* A new table that knows of Sets on the wire only. */
static void keep_out(const struct cell_table *t, struct cell_table **ret)
{
	*ret = NULL;
	cell_table_grow(ret, t->n);
	for (unsigned i = 0; i < t->n; i++)
		(*ret)->have[i] = t->have[i] & CELL_OUT;
	(*ret)->n_out = t->n_out;
	(*ret)->unproven = t->unproven;
}

void cell_table_clear(struct cells *c, struct cell_table **t)
{
	struct cell_table *without_counts;

	if (!*t || !(*t)->n_out) {
		cell_table_free(c, t);
		return;
	}
	keep_out(*t, &without_counts);
	cell_table_free(c, t);
	*t = without_counts;
}
