// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where in the table of one port its keys go (partitions-conf.md 7; the rules are in pkey.h). Knows
 * neither partitions nor ports.
 */
#include <assert.h>
#include <string.h>

#include "plan/pkey_internal.h"
#include "util/mem.h"

/* The name of a key: without allow_both_pkeys its two forms have the same. */
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

/* Index of the key in the table; 0: not there, or at index 0, where a key cannot stay. */
static size_t where_is(const struct place *p, const struct where *w, uint16_t key)
{
	uint16_t name = name_of(p, key);

	return w->rounds[name] == w->round ? w->at[name] : 0;
}

static void place_at(struct place *p, size_t at, uint16_t key)
{
	p->table[at] = key;
	p->highest = MAX(p->highest, at);
}

static void drop_key(struct place *p, uint16_t key)
{
	GROW(p->dropped, p->n_dropped + 1, p->dropped_cap);
	p->dropped[p->n_dropped++] = key;
}

/* 0: the table is full. */
static size_t find_place(struct place *p, uint16_t key)
{
	size_t remembered = p->is_still ? 0 : where_is(p, &p->memory, key);

	if (remembered && !p->table[remembered])
		return remembered;
	if (!p->is_still && p->highest + 1 < p->capacity)
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
 * A full table must have the default key: it takes the place of the key at the highest index, or of
 * its own limited form.
 */
static void place_default(struct place *p, uint16_t key)
{
	size_t at = find_default(p);

	if (at == p->capacity)
		at--;
	else if (p->table[at] > key)
		return drop_key(p, key);
	drop_key(p, p->table[at]);
	p->table[at] = key;
}

static void place_new(struct place *p, uint16_t key)
{
	size_t at = find_place(p, key);

	if (at)
		place_at(p, at, key);
	else if ((key & PKEY_BASE) == PKEY_DEFAULT)
		place_default(p, key);
	else
		drop_key(p, key);
}

/* True: the port shall have key number `i` in the other form, too. */
static bool wants_both(const struct pkey_wants *wants, size_t i)
{
	uint16_t other = wants->keys[i] ^ PKEY_FULL;

	return (i && wants->keys[i - 1] == other) ||
	       (i + 1 < wants->n && wants->keys[i + 1] == other);
}

/* Index of key number `i` in `w`; 0: none that it can keep. */
static size_t known_place(const struct place *p, const struct where *w,
			  const struct pkey_wants *wants, size_t i)
{
	size_t at = where_is(p, w, wants->keys[i]);

	/* With allow_both_pkeys, too, a change of membership is not one of the index. */
	if (!at && p->is_still && !wants_both(wants, i))
		at = where_is(p, w, wants->keys[i] ^ PKEY_FULL);
	return at;
}

/*
 * Places the keys that keep the index which they have in `w`, if it is free and they have none in
 * `unless` (NULL: whatever they have). The others remain in `wants`.
 */
static void place_known(struct place *p, const struct where *w, const struct where *unless,
			struct pkey_wants *wants)
{
	_cleanup_free_ size_t *places = xcalloc(wants->n + 1, sizeof(*places));
	size_t kept = 0;

	for (size_t i = 0; i < wants->n; i++) {
		size_t at = known_place(p, w, wants, i);

		if (!at || p->table[at] || (unless && known_place(p, unless, wants, i)))
			continue;
		places[i] = at;
		place_at(p, at, wants->keys[i]);
	}
	for (size_t i = 0; i < wants->n; i++)
		if (!places[i])
			wants->keys[kept++] = wants->keys[i];
	wants->n = kept;
}

/* Keys that were given and have not reached the table yet go before those that it holds. */
static void place_still(struct place *p, struct pkey_wants *wants)
{
	place_known(p, &p->memory, &p->have, wants);
	place_known(p, &p->have, NULL, wants);
	place_known(p, &p->memory, NULL, wants);
}

static void place_owner0(struct place *p, struct pkey_wants *wants)
{
	size_t kept = 0;

	p->table[0] = wants->owner0;
	for (size_t i = 0; i < wants->n; i++)
		if (wants->keys[i] != wants->owner0)
			wants->keys[kept++] = wants->keys[i];
	wants->n = kept;
}

/* Memory for the next plan: this table, and former keys in its holes. */
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
	p->is_still = wants->is_still;
	p->n_dropped = 0;
	p->highest = 0;
	p->hole = 1;
	p->n_memory = 0;
	GROW(p->table, (size_t)capacity + 1, p->table_cap);
	memset(p->table, 0, ((size_t)capacity + 1) * sizeof(*p->table));
	if (!capacity) {
		for (size_t i = 0; i < wants->n; i++)
			drop_key(p, wants->keys[i]);
		return;
	}
	where_fill(p, &p->have, have);
	where_fill(p, &p->memory, memory);
	place_owner0(p, wants);
	if (p->is_still) {
		place_still(p, wants);
		memory.n = 0; /* nothing but the table itself is remembered */
	} else {
		place_known(p, &p->have, NULL, wants);
	}
	if (memory.n)
		p->highest = MAX(p->highest, MIN((size_t)memory.n, p->capacity) - 1);
	for (size_t i = 0; i < wants->n; i++)
		place_new(p, wants->keys[i]);
	remember(p, memory);
}

/* ---- the switch port ------------------------------------------------------------------------ */

/* Index of the key in the table before, whose forms count as one; `capacity`: none. */
static size_t peer_place(const struct where *w, uint16_t key, size_t capacity)
{
	uint16_t base = key & PKEY_BASE;

	return w->rounds[base] == w->round && w->at[base] < capacity ? w->at[base] : capacity;
}

static void peer_fill(struct where *w, struct pkey_table before)
{
	w->round++;
	for (uint16_t i = 0; i < before.n; i++) {
		uint16_t base = before.keys[i] & PKEY_BASE;

		if (!base || w->rounds[base] == w->round)
			continue;
		w->rounds[base] = w->round;
		w->at[base] = i;
	}
}

size_t place_peer(struct place *p, uint16_t *keys, size_t n, uint16_t capacity,
		  struct pkey_table before)
{
	_cleanup_free_ uint16_t *wanted = xmemdup(keys, n * sizeof(*keys));
	size_t hole = 0, end = 0;

	assert(n <= capacity);
	peer_fill(&p->memory, before);
	memset(keys, 0, capacity * sizeof(*keys));
	for (size_t i = 0; i < n; i++) {
		size_t at = peer_place(&p->memory, wanted[i], capacity);

		if (at == capacity)
			continue;
		keys[at] = wanted[i];
		end = MAX(end, at + 1);
		wanted[i] = 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (!wanted[i])
			continue;
		while (keys[hole])
			hole++;
		keys[hole] = wanted[i];
		end = MAX(end, hole + 1);
	}
	return end;
}

void place_clear(struct place *p)
{
	free(p->table);
	free(p->memory_after);
	free(p->dropped);
}
