// SPDX-License-Identifier: BSD-2-Clause
#include "sm/rows/key_seeds.h"

#include <assert.h>
#include <string.h>

#include "ib/layout.h"
#include "sm/ledger/edits.h"
#include "sm/sm_internal.h"
#include "util/bisect.h"
#include "util/mem.h"

#define EPOCH_AT   KEY_SEED_BYTES
#define TURN_AT	   KEY_SEED_SENT
#define SEED_BYTES (KEY_SEED_SENT + 8)
#define IN_FORCE   UINT64_MAX /* in place of a number: this seed is in force */

/* ---- bytes ----------------------------------------------------------------------------------- */

struct seed_row {
	uint64_t turn;
	struct ledger_dot dot;
	uint8_t sent[KEY_SEED_SENT]; /* the seed as key_ring_at() writes it */
};

static uint32_t epoch_of(const uint8_t sent[KEY_SEED_SENT])
{
	return (uint32_t)ib_bits_get(sent + EPOCH_AT, 0, 32);
}

/* The key of a seed's row. A key for all ports has another row than the seed of equal bytes. */
static struct ledger_key key_of(const uint8_t sent[KEY_SEED_SENT])
{
	static const char *const labels[] = { "row of a key", "row of a seed" };
	const char *label = labels[epoch_of(sent) != 0];
	struct ledger_key key = { .table = LEDGER_SEED, .len = 8 };
	struct key_seed seed;

	memcpy(seed.bytes, sent, KEY_SEED_BYTES);
	ib_bits_put(key.bytes, 0, 64, key_digest(&seed, label, strlen(label)));
	explicit_bzero(&seed, sizeof(seed));
	return key;
}

/* Reads a row. False: it is removed, or of another version. */
static bool read_row(const struct ledger_row *row, struct seed_row *ret)
{
	struct ledger_value v = ledger_row_value(row);

	if (v.removed || v.len < SEED_BYTES)
		return false;
	ret->dot = v.dot;
	ret->turn = ib_bits_get(v.bytes + TURN_AT, 0, 64);
	memcpy(ret->sent, v.bytes, KEY_SEED_SENT);
	return true;
}

/* ---- rows as a ring -------------------------------------------------------------------------- */

static int latest_first(const void *va, const void *vb)
{
	const struct seed_row *a = *(const struct seed_row *const *)va;
	const struct seed_row *b = *(const struct seed_row *const *)vb;

	return COMPARE(b->turn, a->turn) ?: COMPARE(b->dot.number, a->dot.number)
	       ?: COMPARE(b->dot.by.guid, a->dot.by.guid)
	       ?: COMPARE(b->dot.by.instance, a->dot.by.instance)
	       ?: memcmp(b->sent, a->sent, KEY_SEED_SENT);
}

static size_t read_rows(const struct sm *sm, struct seed_row *rows)
{
	const struct ledger_row *row;
	size_t n = 0;

	for (size_t pos = 0; (row = ledger_next(settle_ledger(sm), LEDGER_SEED, &pos));)
		n += read_row(row, &rows[n]) ? 1 : 0;
	return n;
}

/*
 * A ring of the seeds in all rows, except those written by `not_by` (0: no exception). Sorts
 * pointers, as qsort() may copy.
 */
static struct key_ring *make_ring(const struct sm *sm, guid_t not_by, bool *ret_in_force)
{
	size_t n = ledger_rows(settle_ledger(sm), LEDGER_SEED) + 1;
	struct seed_row *rows = xcalloc(n, sizeof(*rows));
	const struct seed_row **sorted = xcalloc(n, sizeof(*sorted));
	struct key_ring *ring = key_ring_new();
	size_t n_rows = read_rows(sm, rows);

	for (size_t i = 0; i < n_rows; i++)
		sorted[i] = &rows[i];
	SORT(sorted, n_rows, latest_first);
	for (size_t i = 0; i < n_rows; i++) {
		if (!not_by || sorted[i]->dot.by.guid != not_by)
			key_ring_take(ring, sorted[i]->sent);
	}
	*ret_in_force = n_rows && sorted[0]->turn;
	free(sorted);
	free_wiped(rows, n * sizeof(*rows));
	return ring;
}

struct key_ring *key_seeds_ring(const struct sm *sm, bool *ret_in_force)
{
	return make_ring(sm, 0, ret_in_force);
}

struct key_ring *key_seeds_of_others(const struct sm *sm)
{
	bool in_force;

	return make_ring(sm, sm->tr->port_guid, &in_force);
}

/* Finds the row of a seed. False: there is none. */
static bool find_row(const struct sm *sm, const uint8_t sent[KEY_SEED_SENT], struct seed_row *ret)
{
	const struct ledger_key key = key_of(sent);
	const struct ledger_row *row = ledger_find(settle_ledger(sm), &key);

	return row && read_row(row, ret);
}

void key_seeds_raise(const struct sm *sm, struct key_ring *ring)
{
	uint8_t sent[KEY_SEED_SENT];
	struct seed_row row;

	for (unsigned i = 0; key_ring_at(ring, i, sent); i++) {
		if (find_row(sm, sent, &row))
			key_ring_take(ring, row.sent);
	}
	explicit_bzero(sent, sizeof(sent));
	explicit_bzero(&row, sizeof(row));
}

/* ---- a ring as rows -------------------------------------------------------------------------- */

struct seed_edits {
	struct edits rows;
	uint64_t number, last_turn;
	bool is_first; /* set if rows have the seed in force as such */
};

static uint64_t greatest_turn(const struct sm *sm)
{
	const struct ledger_row *row;
	uint64_t turn = 0;

	for (size_t pos = 0; (row = ledger_next(settle_ledger(sm), LEDGER_SEED, &pos));) {
		struct seed_row r;

		if (read_row(row, &r))
			turn = MAX(turn, r.turn);
		explicit_bzero(&r, sizeof(r));
	}
	return turn;
}

static void add_edit(struct seed_edits *e, const struct ledger_key *key, const uint8_t *sent,
		     uint64_t turn)
{
	uint8_t bytes[SEED_BYTES] = { 0 };

	memcpy(bytes, sent, KEY_SEED_SENT);
	ib_bits_put(bytes + TURN_AT, 0, 64, turn);
	edits_put(&e->rows, key, e->number, bytes, sizeof(bytes));
	explicit_bzero(bytes, sizeof(bytes));
	e->last_turn = MAX(e->last_turn, turn);
}

/*
 * Writes the row of a seed; `turn`: its number if it has no row yet; IN_FORCE: greater than all
 * others.
 */
static void edit_seed(const struct sm *sm, struct seed_edits *e, const uint8_t *sent, uint64_t turn)
{
	bool is_in_force = turn == IN_FORCE;
	const struct ledger_key key = key_of(sent);
	struct seed_row has;
	bool is_there = find_row(sm, sent, &has);

	if (!is_there || epoch_of(has.sent) < epoch_of(sent) ||
	    (is_in_force && (!e->is_first || has.turn != e->last_turn))) {
		if (is_in_force)
			turn = e->last_turn + 1;
		else if (is_there)
			turn = has.turn;
		add_edit(e, &key, sent, turn);
	}
	explicit_bzero(&has, sizeof(has));
}

/* Edits former seeds first, as the turn of the one in force is greater than those of all others. */
static void edit_seeds(const struct sm *sm, const struct key_ring *ring, enum key_seeds_use use,
		       struct seed_edits *e)
{
	uint8_t sent[KEY_SEED_SENT];

	for (unsigned i = KEY_RING_SEEDS; i-- > 0;) {
		uint64_t turn = use == SEEDS_KNOWN ? 0 : i ? KEY_RING_SEEDS - i : IN_FORCE;

		if (key_ring_at(ring, i, sent))
			edit_seed(sm, e, sent, turn);
	}
	explicit_bzero(sent, sizeof(sent));
}

static bool begins_like(const struct sm *sm, const struct key_ring *ring)
{
	bool in_force;
	_cleanup_(key_ring_unrefp) struct key_ring *rows = key_seeds_ring(sm, &in_force);

	return in_force && key_ring_is_alike(rows, ring);
}

uint64_t key_seeds_number(const struct sm *sm)
{
	const struct ledger_row *row;
	uint64_t number = 0;

	for (size_t pos = 0; (row = ledger_next(settle_ledger(sm), LEDGER_SEED, &pos));)
		number = MAX(number, ledger_row_value(row).dot.number);
	return number;
}

bool key_seeds_have(const struct sm *sm, const struct key_ring *ring)
{
	uint8_t sent[KEY_SEED_SENT];
	struct seed_row row;
	bool has = key_ring_at(ring, 0, sent) && find_row(sm, sent, &row);

	explicit_bzero(sent, sizeof(sent));
	explicit_bzero(&row, sizeof(row));
	return has;
}

bool key_seeds_write(struct sm *sm, const struct key_ring *ring, enum key_seeds_use use,
		     settle_done_fn *done, void *arg)
{
	struct seed_edits e = { .number = settle_next_number(sm, LEDGER_SEED),
				.last_turn = greatest_turn(sm) };
	bool differs;

	assert(!key_ring_is_empty(ring));
	e.is_first = begins_like(sm, ring);
	edit_seeds(sm, ring, use, &e);
	differs = e.rows.n > 0;
	if (differs)
		edits_commit(sm, &e.rows, done, arg);
	edits_clear(&e.rows);
	return differs;
}
