// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bytes of rows (their form: ledger_row.h). Rows of this process are read without looking twice;
 * those that come from anywhere pass ledger_row_unpack(), which takes exactly what
 * ledger_row_pack() writes.
 */
#include "ledger/ledger_row.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "util/bisect.h"
#include "util/hash.h"

#define WRITER_BYTES 12u
#define HEAD_BYTES   2u /* table, length of the key */

/* Of an entry: 2 + n: n bytes follow. */
enum { WHAT_KNOWN, WHAT_REMOVED, WHAT_BYTES };

/* ---- numbers --------------------------------------------------------------------------------- */

static unsigned varint_bytes(uint64_t v)
{
	unsigned n = 1;

	while (v >>= 7)
		n++;
	return n;
}

static uint8_t *put_varint(uint8_t *to, uint64_t v)
{
	for (unsigned n = varint_bytes(v); n > 1; n--)
		*to++ = (uint8_t)(0x80 | v >> 7 * (n - 1));
	*to++ = v & 0x7F;
	return to;
}

static uint8_t *put_be(uint8_t *to, uint64_t v, unsigned bytes)
{
	for (unsigned i = bytes; i > 0; i--)
		*to++ = (uint8_t)(v >> 8 * (i - 1));
	return to;
}

static uint64_t get_varint(const uint8_t **at)
{
	uint64_t v = 0;

	while (**at & 0x80)
		v = v << 7 | (*(*at)++ & 0x7F);
	return v << 7 | *(*at)++;
}

static uint64_t get_be(const uint8_t **at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | *(*at)++;
	return v;
}

int ledger_writer_compare(const struct ledger_writer *a, const struct ledger_writer *b)
{
	return COMPARE(a->guid, b->guid) ?: COMPARE(a->instance, b->instance);
}

/* ---- entries --------------------------------------------------------------------------------- */

struct ledger_entries ledger_entries_of(const struct ledger_row *row)
{
	struct ledger_entries e = { .at = row->state };

	e.floor = get_varint(&e.at);
	e.left = (unsigned)get_varint(&e.at);
	return e;
}

bool ledger_entries_next(struct ledger_entries *e, struct ledger_entry *ret)
{
	struct ledger_value v = { 0 };
	uint64_t what;

	if (!e->left)
		return false;
	e->left--;
	v.dot.by.guid = get_be(&e->at, 8);
	v.dot.by.instance = (uint32_t)get_be(&e->at, 4);
	v.dot.number = get_varint(&e->at);
	what = get_varint(&e->at);
	if (what != WHAT_KNOWN)
		v.at = (int64_t)get_varint(&e->at);
	v.removed = what == WHAT_REMOVED;
	if (what >= WHAT_BYTES) {
		v.len = (uint32_t)(what - WHAT_BYTES);
		v.bytes = e->at;
		e->at += v.len;
	}
	*ret = (struct ledger_entry){ v, what != WHAT_KNOWN };
	return true;
}

static uint64_t what_of(const struct ledger_entry *e)
{
	if (!e->stands)
		return WHAT_KNOWN;
	return e->value.removed ? WHAT_REMOVED : WHAT_BYTES + (uint64_t)e->value.len;
}

static size_t entry_bytes(const struct ledger_entry *e)
{
	return WRITER_BYTES + varint_bytes(e->value.dot.number) + varint_bytes(what_of(e)) +
	       (e->stands ? varint_bytes((uint64_t)e->value.at) + e->value.len : 0);
}

static uint8_t *put_entry(uint8_t *to, const struct ledger_entry *e)
{
	to = put_be(to, e->value.dot.by.guid, 8);
	to = put_be(to, e->value.dot.by.instance, 4);
	to = put_varint(to, e->value.dot.number);
	to = put_varint(to, what_of(e));
	if (e->stands)
		to = put_varint(to, (uint64_t)e->value.at);
	if (e->stands && e->value.len)
		memcpy(to, e->value.bytes, e->value.len);
	return to + (e->stands ? e->value.len : 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct ledger_row *row_of(const struct ledger_key *key, size_t size)
{
	struct ledger_row *row = xmalloc(sizeof(*row) + size);

	*row = (struct ledger_row){ .key = { .table = key->table, .len = key->len },
				    .size = (uint32_t)size };
	memcpy(row->key.bytes, key->bytes, key->len); /* zeros behind it */
	return row;
}

struct ledger_row *ledger_row_new(const struct ledger_key *key, const struct ledger_state *state)
{
	size_t size = varint_bytes(state->floor) + varint_bytes(state->n);
	struct ledger_row *row;
	uint8_t *to;

	for (unsigned i = 0; i < state->n; i++)
		size += entry_bytes(&state->entries[i]);
	row = row_of(key, size);
	to = put_varint(put_varint(row->state, state->floor), state->n);
	for (unsigned i = 0; i < state->n; i++)
		to = put_entry(to, &state->entries[i]);
	assert(to == row->state + size);
	return row;
}

struct ledger_row *ledger_row_free(struct ledger_row *row)
{
	if (row && ledger_table(row->key.table)->secret)
		free_wiped(row, sizeof(*row) + row->size);
	else
		free(row);
	return NULL;
}

const struct ledger_key *ledger_row_key(const struct ledger_row *row)
{
	assert(row);
	return &row->key;
}

struct ledger_value ledger_row_value(const struct ledger_row *row)
{
	const struct ledger_table_row *table = ledger_table(row->key.table);
	struct ledger_entries entries = ledger_entries_of(row);
	struct ledger_entry e, best = { 0 };

	while (ledger_entries_next(&entries, &e)) {
		if (e.stands && (!best.stands || table->prefer(&e.value, &best.value) < 0))
			best = e;
	}
	return best.value;
}

unsigned ledger_row_n_values(const struct ledger_row *row)
{
	struct ledger_value v;
	unsigned n = 0;

	while (ledger_row_value_at(row, n, &v))
		n++;
	return n;
}

bool ledger_row_value_at(const struct ledger_row *row, unsigned n, struct ledger_value *ret)
{
	struct ledger_entries entries = ledger_entries_of(row);
	struct ledger_entry e;

	assert(row && ret);
	while (ledger_entries_next(&entries, &e)) {
		if (!e.stands || n-- > 0)
			continue;
		*ret = e.value;
		return true;
	}
	return false;
}

bool ledger_row_equal(const struct ledger_row *a, const struct ledger_row *b)
{
	return a->size == b->size && !memcmp(a->state, b->state, a->size);
}

uint64_t ledger_row_number(const struct ledger_row *row)
{
	struct ledger_entries entries = ledger_entries_of(row);
	uint64_t number = entries.floor;
	struct ledger_entry e;

	while (ledger_entries_next(&entries, &e))
		number = MAX(number, e.value.dot.number);
	return number;
}

/* ---- digests --------------------------------------------------------------------------------- */

/* Sums of such numbers are as good as the numbers: FNV-1a alone leaves neighbours related. */
static uint64_t scatter(uint64_t h)
{
	h = (h ^ h >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	h = (h ^ h >> 27) * UINT64_C(0x94D049BB133111EB);
	return h ^ h >> 31;
}

static uint64_t hash_key(const struct ledger_key *key)
{
	const uint8_t head[HEAD_BYTES] = { (uint8_t)key->table, key->len };

	return hash_bytes(hash_bytes(HASH_START, head, sizeof(head)), key->bytes, key->len);
}

uint64_t ledger_key_hash(const struct ledger_key *key)
{
	return scatter(hash_key(key));
}

/* A write has one value: equal dots, equal values. */
static uint64_t hash_dots(uint64_t h, const struct ledger_row *row)
{
	struct ledger_entries entries = ledger_entries_of(row);
	uint8_t bytes[WRITER_BYTES + 8 + 1];
	struct ledger_entry e;

	h = hash_bytes(h, bytes, (size_t)(put_be(bytes, entries.floor, 8) - bytes));
	while (ledger_entries_next(&entries, &e)) {
		uint8_t *to = put_be(bytes, e.value.dot.by.guid, 8);

		to = put_be(put_be(to, e.value.dot.by.instance, 4), e.value.dot.number, 8);
		*to++ = (uint8_t)MIN(what_of(&e), (uint64_t)WHAT_BYTES);
		h = hash_bytes(h, bytes, sizeof(bytes));
	}
	return h;
}

uint64_t ledger_row_hash(const struct ledger_row *row)
{
	uint64_t h = hash_key(&row->key);

	if (ledger_table(row->key.table)->secret)
		return scatter(hash_dots(h, row));
	return scatter(hash_bytes(h, row->state, row->size));
}

/* ---- packing --------------------------------------------------------------------------------- */

size_t ledger_row_bytes(const struct ledger_row *row)
{
	return HEAD_BYTES + row->key.len + row->size;
}

void ledger_row_pack(const struct ledger_row *row, uint8_t *to)
{
	*to++ = (uint8_t)row->key.table;
	*to++ = row->key.len;
	memcpy(to, row->key.bytes, row->key.len);
	memcpy(to + row->key.len, row->state, row->size);
}

/* Bytes of others; once `bad`, all that is read is 0. */
struct reader {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static const uint8_t *take_bytes(struct reader *r, uint64_t n)
{
	const uint8_t *at = r->at;

	if (r->bad || n > r->left) {
		r->bad = true;
		return NULL;
	}
	r->at += n;
	r->left -= (size_t)n;
	return at;
}

static uint64_t take_be(struct reader *r, unsigned bytes)
{
	const uint8_t *at = take_bytes(r, bytes);

	return at ? get_be(&at, bytes) : 0;
}

/* Up to INT64_MAX, which takes 9 bytes; the first may not be a zero in front. */
static uint64_t take_varint(struct reader *r)
{
	uint64_t v = 0;
	const uint8_t *at;

	for (unsigned i = 0; i < 9 && (at = take_bytes(r, 1)); i++) {
		if (i == 0 && *at == 0x80)
			break;
		v = v << 7 | (*at & 0x7F);
		if (*at < 0x80)
			return v;
	}
	r->bad = true;
	return 0;
}

static bool read_key(struct reader *r, struct ledger_key *ret)
{
	uint64_t table = take_be(r, 1), len = take_be(r, 1);
	const uint8_t *bytes = take_bytes(r, len);

	if (!bytes || table >= LEDGER_TABLES ||
	    !ledger_table_is_key((enum ledger_table)table, bytes, len))
		return false;
	*ret = (struct ledger_key){ .table = (enum ledger_table)table, .len = (uint8_t)len };
	memcpy(ret->bytes, bytes, len);
	return true;
}

static bool read_value(struct reader *r, const struct ledger_table_row *table, uint64_t what)
{
	const uint8_t *bytes;
	uint64_t len;

	take_varint(r); /* when */
	if (what == WHAT_REMOVED)
		return !r->bad;
	len = what - WHAT_BYTES;
	bytes = len <= table->value_max ? take_bytes(r, len) : NULL;
	return bytes && table->is_value(bytes, len);
}

/* What was read of a state so far. */
struct seen {
	struct ledger_writer by;
	uint64_t floor;
	uint64_t greatest; /* number */
	/*
	 * All entries with that number stand; of a table that keeps one value, the last of them
	 * does.
	 */
	bool stands;
};

static void note_number(struct seen *s, const struct ledger_table_row *table, uint64_t number,
			bool stands)
{
	if (number < s->greatest)
		return;
	s->stands = stands && (number > s->greatest || table->keeps_one || s->stands);
	s->greatest = number;
}

static bool read_entry(struct reader *r, const struct ledger_table_row *table, struct seen *s)
{
	guid_t guid = take_be(r, 8);
	struct ledger_writer by = { guid, (uint32_t)take_be(r, 4) };
	uint64_t number = take_varint(r), what = take_varint(r);

	if (r->bad || !by.instance || number <= s->floor ||
	    ledger_writer_compare(&s->by, &by) >= 0)
		return false;
	s->by = by;
	note_number(s, table, number, what != WHAT_KNOWN);
	return what == WHAT_KNOWN || read_value(r, table, what);
}

/* Is there a state in front? */
static bool read_state(struct reader *r, const struct ledger_table_row *table)
{
	struct seen s = { .floor = take_varint(r) };
	uint64_t n = take_varint(r);

	if (r->bad || n < 1 || n > LEDGER_WRITERS_MAX)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (!read_entry(r, table, &s))
			return false;
	}
	return s.stands;
}

ssize_t ledger_row_unpack(const uint8_t *from, size_t len, struct ledger_row **ret)
{
	struct reader r = { .at = from, .left = len };
	const uint8_t *state;
	struct ledger_key key;

	assert((from || !len) && ret);
	if (!read_key(&r, &key))
		return -EBADMSG;
	state = r.at;
	if (!read_state(&r, ledger_table(key.table)))
		return -EBADMSG;
	*ret = row_of(&key, (size_t)(r.at - state));
	memcpy((*ret)->state, state, (*ret)->size);
	return r.at - from;
}
