// SPDX-License-Identifier: BSD-2-Clause
/*
 * GUID to pointer: linear probing in a power-of-two table that is at most 3/4 full; removal moves
 * the followers back, so there are no tombstones. Owns no values.
 */
#include "util/guidmap.h"

#include <assert.h>

#include "util/mem.h"

#define FIRST_SLOTS 16

struct slot {
	guid_t key; /* 0: free */
	void *value;
};

struct guidmap {
	struct slot *slots;
	size_t n_slots; /* power of two */
	size_t count;
};

struct guidmap *guidmap_new(void)
{
	struct guidmap *m = xcalloc(1, sizeof(*m));

	m->n_slots = FIRST_SLOTS;
	m->slots = xcalloc(m->n_slots, sizeof(*m->slots));
	return m;
}

struct guidmap *guidmap_free(struct guidmap *m)
{
	if (m)
		free(m->slots);
	free(m);
	return NULL;
}

/* The place of `key` in an empty table. GUIDs of one vendor differ in few bits, which are mixed. */
static size_t home(const struct guidmap *m, guid_t key)
{
	key ^= key >> 32;
	key *= 0x9E3779B97F4A7C15ull;
	key ^= key >> 29;
	key *= 0xBF58476D1CE4E5B9ull;
	key ^= key >> 32;
	return key & (m->n_slots - 1);
}

/* The slot of `key`, or the free one where it belongs. */
static struct slot *probe(const struct guidmap *m, guid_t key)
{
	size_t i = home(m, key);

	assert(m->count < m->n_slots); /* some slot is free, so this ends */
	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & (m->n_slots - 1);
	return &m->slots[i];
}

static void grow_slots(struct guidmap *m)
{
	struct slot *old = m->slots;
	size_t n_old = m->n_slots;

	m->n_slots *= 2;
	m->slots = xcalloc(m->n_slots, sizeof(*m->slots));
	for (size_t i = 0; i < n_old; i++)
		if (old[i].key)
			*probe(m, old[i].key) = old[i];
	free(old);
}

void *guidmap_get(const struct guidmap *m, guid_t key)
{
	return key ? probe(m, key)->value : NULL;
}

void *guidmap_put(struct guidmap *m, guid_t key, void *value)
{
	struct slot *slot;
	void *previous;

	assert(key != 0);
	slot = probe(m, key);
	if (!slot->key) {
		if ((m->count + 1) * 4 > m->n_slots * 3) {
			grow_slots(m);
			slot = probe(m, key);
		}
		m->count++;
	}
	previous = slot->value;
	*slot = (struct slot){ .key = key, .value = value };
	return previous;
}

/* Closes the gap at `gap`: entries pushed behind it by a collision move back. */
static void close_gap(struct guidmap *m, size_t gap)
{
	size_t mask = m->n_slots - 1;

	for (size_t i = (gap + 1) & mask; m->slots[i].key; i = (i + 1) & mask) {
		size_t wanted = home(m, m->slots[i].key);

		if (((i - wanted) & mask) < ((i - gap) & mask))
			continue; /* its home lies behind the gap */
		m->slots[gap] = m->slots[i];
		gap = i;
	}
	m->slots[gap] = (struct slot){ 0 };
}

void *guidmap_remove(struct guidmap *m, guid_t key)
{
	struct slot *slot;
	void *value;

	if (!key)
		return NULL;
	slot = probe(m, key);
	if (!slot->key)
		return NULL;
	value = slot->value;
	m->count--;
	close_gap(m, (size_t)(slot - m->slots));
	return value;
}

size_t guidmap_count(const struct guidmap *m)
{
	return m->count;
}

bool guidmap_next(const struct guidmap *m, size_t *pos, guid_t *ret_key, void **ret_value)
{
	for (; *pos < m->n_slots; (*pos)++) {
		const struct slot *slot = &m->slots[*pos];

		if (!slot->key)
			continue;
		if (ret_key)
			*ret_key = slot->key;
		if (ret_value)
			*ret_value = slot->value;
		(*pos)++;
		return true;
	}
	return false;
}
