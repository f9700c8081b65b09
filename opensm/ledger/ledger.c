// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of all tables in memory: one small hash table (open addressing) for each table and bucket,
 * so that a bucket is walked alone, and the sums that digests are made of. A row is one block of
 * memory, packed (ledger_row.h); merging puts another block in its place.
 */
#include "ledger/ledger.h"

#include <assert.h>
#include <string.h>

#include "ledger/ledger_row.h"

#define PLACES_MIN 4u
#define BUCKET_BITS 8u

_Static_assert(LEDGER_BUCKETS == 1u << BUCKET_BITS, "a bucket is the lower bits of a hash");

struct bucket {
	struct ledger_row **places; /* NULL: free */
	uint32_t cap, n;	    /* `cap`: a power of two */
	uint64_t hash;		    /* sum of ledger_row_hash() */
};

struct table {
	struct bucket buckets[LEDGER_BUCKETS];
	uint64_t hash;
	size_t rows, there;
};

struct ledger {
	struct table tables[LEDGER_TABLES];
	uint64_t numbers[LEDGER_CLOCKS];
};

struct ledger *ledger_new(void)
{
	return xcalloc(1, sizeof(struct ledger));
}

static void free_bucket(struct bucket *b)
{
	for (uint32_t i = 0; i < b->cap; i++)
		ledger_row_free(b->places[i]);
	free(b->places);
}

struct ledger *ledger_free(struct ledger *l)
{
	if (!l)
		return NULL;
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		for (unsigned i = 0; i < LEDGER_BUCKETS; i++)
			free_bucket(&l->tables[t].buckets[i]);
	}
	free(l);
	return NULL;
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool is_key(const struct ledger_key *key)
{
	return key && (unsigned)key->table < LEDGER_TABLES &&
	       ledger_table_is_key(key->table, key->bytes, key->len);
}

static unsigned bucket_of(uint64_t hash)
{
	return hash & (LEDGER_BUCKETS - 1);
}

unsigned ledger_bucket_of(const struct ledger_key *key)
{
	assert(is_key(key));
	return bucket_of(ledger_key_hash(key));
}

static bool has_key(const struct ledger_row *row, const struct ledger_key *key)
{
	return row->key.len == key->len && !memcmp(row->key.bytes, key->bytes, key->len);
}

/* Where the row with the key is, or the free place that it would get. There is a free one. */
static uint32_t place_of(const struct bucket *b, const struct ledger_key *key, uint64_t hash)
{
	uint32_t i = (uint32_t)(hash >> BUCKET_BITS) & (b->cap - 1);

	while (b->places[i] && !has_key(b->places[i], key))
		i = (i + 1) & (b->cap - 1);
	return i;
}

static void put_row(struct bucket *b, struct ledger_row *row)
{
	b->places[place_of(b, &row->key, ledger_key_hash(&row->key))] = row;
}

/* Puts all rows into `cap` new places. */
static void move_rows(struct bucket *b, uint32_t cap)
{
	struct bucket old = *b;

	b->cap = cap;
	b->places = xcalloc(cap, sizeof(struct ledger_row *));
	for (uint32_t i = 0; i < old.cap; i++) {
		if (old.places[i])
			put_row(b, old.places[i]);
	}
	free(old.places);
}

/* Seven of eight places are used at most. */
static uint32_t cap_for(uint32_t n)
{
	uint32_t cap = PLACES_MIN;

	while (n > cap - cap / 8 || n == cap)
		cap *= 2;
	return cap;
}

/* ---- looking --------------------------------------------------------------------------------- */

const struct ledger_row *ledger_find(const struct ledger *l, const struct ledger_key *key)
{
	const struct bucket *b;
	uint64_t hash;

	assert(l && is_key(key));
	hash = ledger_key_hash(key);
	b = &l->tables[key->table].buckets[bucket_of(hash)];
	return b->cap ? b->places[place_of(b, key, hash)] : NULL;
}

bool ledger_get(const struct ledger *l, const struct ledger_key *key, struct ledger_value *ret)
{
	const struct ledger_row *row = ledger_find(l, key);
	struct ledger_value v;

	if (!row)
		return false;
	v = ledger_row_value(row);
	if (v.removed)
		return false;
	*ret = v;
	return true;
}

const struct ledger_row *ledger_next_in(const struct ledger *l, enum ledger_table table,
					unsigned bucket, size_t *pos)
{
	const struct bucket *b;

	assert(l && (unsigned)table < LEDGER_TABLES && bucket < LEDGER_BUCKETS);
	b = &l->tables[table].buckets[bucket];
	while (*pos < b->cap) {
		const struct ledger_row *row = b->places[(*pos)++];

		if (row)
			return row;
	}
	return NULL;
}

/* `*pos`: the place within the bucket, then the bucket in the lower bits. */
const struct ledger_row *ledger_next(const struct ledger *l, enum ledger_table table, size_t *pos)
{
	unsigned bucket = bucket_of(*pos);
	size_t place = *pos >> BUCKET_BITS;

	for (; bucket < LEDGER_BUCKETS; bucket++, place = 0) {
		const struct ledger_row *row = ledger_next_in(l, table, bucket, &place);

		if (row) {
			*pos = place << BUCKET_BITS | bucket;
			return row;
		}
	}
	*pos = SIZE_MAX;
	return NULL;
}

static const struct table *table_of(const struct ledger *l, enum ledger_table table)
{
	assert(l && (unsigned)table < LEDGER_TABLES);
	return &l->tables[table];
}

size_t ledger_rows(const struct ledger *l, enum ledger_table table)
{
	return table_of(l, table)->rows;
}

size_t ledger_rows_there(const struct ledger *l, enum ledger_table table)
{
	return table_of(l, table)->there;
}

uint64_t ledger_number(const struct ledger *l, enum ledger_table table)
{
	return l->numbers[ledger_table(table)->clock];
}

/* ---- comparing ------------------------------------------------------------------------------- */

struct ledger_digest ledger_digest(const struct ledger *l, enum ledger_table table)
{
	const struct table *t = table_of(l, table);

	return (struct ledger_digest){ t->hash, t->rows };
}

void ledger_buckets(const struct ledger *l, enum ledger_table table, uint64_t ret[LEDGER_BUCKETS])
{
	const struct table *t = table_of(l, table);

	for (unsigned i = 0; i < LEDGER_BUCKETS; i++)
		ret[i] = t->buckets[i].hash;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The writes that the row knows; of none (NULL) no write. */
static struct ledger_entries known_of(const struct ledger_row *row)
{
	return row ? ledger_entries_of(row) : (struct ledger_entries){ 0 };
}

static bool is_value(const struct ledger_key *key, const struct ledger_value *v)
{
	const struct ledger_table_row *table = ledger_table(key->table);

	if (v->removed)
		return !v->len;
	return v->len <= table->value_max && (v->bytes || !v->len) &&
	       table->is_value(v->bytes, v->len);
}

struct ledger_row *ledger_prepare(const struct ledger *l, const struct ledger_row *before,
				  const struct ledger_key *key, const struct ledger_value *value)
{
	struct ledger_value v = *value;
	struct ledger_state state;

	assert(l && is_key(key) && v.dot.by.instance && is_value(key, &v));
	assert(v.dot.number && v.dot.number <= INT64_MAX);
	assert(!before || (before->key.table == key->table && has_key(before, key)));
	v.at = MAX(v.at, 0);
	if (!before)
		before = ledger_find(l, key);
	ledger_state_write(&state, known_of(before), &v, key->table);
	return ledger_row_new(key, &state);
}

/* The join of what is here and of `row`; NULL: all of that was known. */
static struct ledger_row *joined(const struct ledger *l, const struct ledger_row *here,
				 const struct ledger_row *row)
{
	_cleanup_(ledger_row_freep) struct ledger_row *join = NULL;
	struct ledger_state state;

	if (here && ledger_row_equal(here, row))
		return NULL;
	ledger_state_join(&state, known_of(here), ledger_entries_of(row),
			  row->key.table);
	if (!state.n)
		return NULL;
	join = ledger_row_new(&row->key, &state);
	return here && ledger_row_equal(here, join) ? NULL : take(join);
}

struct ledger_row *ledger_joined(const struct ledger *l, const struct ledger_row *row)
{
	assert(l && row);
	return joined(l, ledger_find(l, &row->key), row);
}

bool ledger_lacks(const struct ledger *l, const struct ledger_row *row)
{
	_cleanup_(ledger_row_freep) struct ledger_row *join = ledger_joined(l, row);

	return join;
}

/* A row comes into the sums, or goes. */
static void count_row(struct table *t, struct bucket *b, const struct ledger_row *row, bool comes)
{
	uint64_t hash = ledger_row_hash(row);
	bool is_there = !ledger_row_value(row).removed;

	b->hash += comes ? hash : -hash;
	t->hash += comes ? hash : -hash;
	t->rows += comes ? 1 : (size_t)-1;
	if (is_there)
		t->there += comes ? 1 : (size_t)-1;
}

/* Puts `row` in the place of the one with its key, if there is one; takes it over. */
static void replace(struct ledger *l, struct ledger_row *row)
{
	struct table *t = &l->tables[row->key.table];
	struct bucket *b = &t->buckets[ledger_bucket_of(&row->key)];
	uint64_t *number = &l->numbers[ledger_table(row->key.table)->clock];
	struct ledger_row **place;

	if (cap_for(b->n + 1) > b->cap)
		move_rows(b, cap_for(b->n + 1));
	place = &b->places[place_of(b, &row->key, ledger_key_hash(&row->key))];
	if (*place)
		count_row(t, b, *place, false);
	else
		b->n++;
	ledger_row_free(*place);
	*place = row;
	count_row(t, b, row, true);
	*number = MAX(*number, ledger_row_number(row));
}

static bool is_same_value(const struct ledger_value *a, const struct ledger_value *b)
{
	return a->dot.number == b->dot.number &&
	       !ledger_writer_compare(&a->dot.by, &b->dot.by) && a->removed == b->removed &&
	       a->len == b->len && (!a->len || !memcmp(a->bytes, b->bytes, a->len));
}

enum ledger_merged ledger_merge(struct ledger *l, const struct ledger_row *row)
{
	const struct ledger_row *here;
	enum ledger_merged merged = LEDGER_OTHER;
	struct ledger_row *join;

	assert(l && row);
	here = ledger_find(l, &row->key);
	join = joined(l, here, row);
	if (!join)
		return LEDGER_SAME;
	if (here) {
		struct ledger_value before = ledger_row_value(here), after = ledger_row_value(join);

		if (is_same_value(&before, &after))
			merged = LEDGER_LEARNT;
	}
	replace(l, join);
	return merged;
}
