// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where in the table of one port its keys go (partitions-conf.md 7; the rules are in pkey.h). Knows
 * neither partitions nor ports.
 */
#include <string.h>

#include "plan/pkey_private.h"
#include "util/mem.h"

/* What counts as the same key: without allow_both_pkeys the two forms do. */
static uint16_t name_of(const struct place *p, uint16_t key)
{
	return p->allow_both ? key : (uint16_t)(key & PKEY_BASE);
}

static void where_fill(struct place *p, struct where *w, struct pkey_table table)
{
	w->round++;
	for (size_t i = 0; i < table.n && i < p->capacity; i++) {
		uint16_t name = name_of(p, table.keys[i]);

		if (!(name & PKEY_BASE) || (w->rounds[name] == w->round && w->at[name]))
			continue;
		w->rounds[name] = w->round;
		w->at[name] = (uint16_t)i;
	}
}

/* Index of the key in the table; 0: not there, or at index 0, which is no place to stay. */
static size_t where_is(const struct place *p, const struct where *w, uint16_t key)
{
	uint16_t name = name_of(p, key);

	return w->rounds[name] == w->round ? w->at[name] : 0;
}

static void put(struct place *p, size_t at, uint16_t key)
{
	p->table[at] = key;
	p->highest = MAX(p->highest, at);
}

static void drop(struct place *p, uint16_t key)
{
	GROW(p->dropped, p->n_dropped + 1, p->dropped_cap);
	p->dropped[p->n_dropped++] = key;
}

/* 0: the table is full. */
static size_t find_place(struct place *p, uint16_t key)
{
	size_t remembered = where_is(p, &p->memory, key);

	if (remembered && !p->table[remembered])
		return remembered;
	if (p->highest + 1 < p->capacity)
		return p->highest + 1;
	while (p->hole < p->capacity && p->table[p->hole])
		p->hole++;
	return p->hole < p->capacity ? p->hole : 0;
}

/* Index of the default key in one form or the other; `capacity`: it is not there. */
static size_t find_default(const struct place *p)
{
	size_t at = 0;

	while (at < p->capacity && (p->table[at] & PKEY_BASE) != PKEY_DEFAULT)
		at++;
	return at;
}

/*
 * A table that is full is not without the default key: that takes the place of the key at the
 * highest index, or of its own limited form.
 */
static void place_default(struct place *p, uint16_t key)
{
	size_t at = find_default(p);

	if (at == p->capacity)
		at--;
	else if (p->table[at] > key)
		return drop(p, key);
	drop(p, p->table[at]);
	p->table[at] = key;
}

static void place_new(struct place *p, uint16_t key)
{
	size_t at = find_place(p, key);

	if (at)
		put(p, at, key);
	else if ((key & PKEY_BASE) == PKEY_DEFAULT)
		place_default(p, key);
	else
		drop(p, key);
}

/* Keys that stay where they are; what remains of `wants` is new. */
static size_t place_known(struct place *p, struct pkey_wants *wants)
{
	size_t kept = 0;

	for (size_t i = 0; i < wants->n; i++) {
		uint16_t key = wants->keys[i];
		size_t at = where_is(p, &p->have, key);

		if (key == wants->owner0)
			continue;
		if (at)
			put(p, at, key);
		else
			wants->keys[kept++] = key;
	}
	return kept;
}

/* What is remembered next time: this table, and what was known of its holes. */
static void remember(struct place *p, struct pkey_table memory)
{
	size_t n = MIN((size_t)memory.n, p->capacity);

	p->n_memory = p->highest + 1; /* at least n */
	GROW(p->memory_after, p->n_memory, p->memory_cap);
	for (size_t i = 0; i < p->n_memory; i++)
		p->memory_after[i] = p->table[i] || i >= n ? p->table[i] : memory.keys[i];
}

void place_keys(struct place *p, struct pkey_wants *wants, uint16_t capacity,
		struct pkey_table have, struct pkey_table memory)
{
	p->capacity = capacity;
	p->n_dropped = 0;
	p->highest = 0;
	p->hole = 1;
	p->n_memory = 0;
	GROW(p->table, (size_t)capacity + 1, p->table_cap);
	memset(p->table, 0, ((size_t)capacity + 1) * sizeof(*p->table));
	if (!capacity) {
		for (size_t i = 0; i < wants->n; i++)
			drop(p, wants->keys[i]);
		return;
	}
	where_fill(p, &p->have, have);
	where_fill(p, &p->memory, memory);
	p->table[0] = wants->owner0;
	wants->n = place_known(p, wants);
	if (memory.n)
		p->highest = MAX(p->highest, MIN((size_t)memory.n, p->capacity) - 1);
	for (size_t i = 0; i < wants->n; i++)
		place_new(p, wants->keys[i]);
	remember(p, memory);
}

void place_clear(struct place *p)
{
	free(p->table);
	free(p->memory_after);
	free(p->dropped);
}
