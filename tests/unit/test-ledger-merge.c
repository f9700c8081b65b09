// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random histories of 2 to 5 ledgers: writes, splits, restarts of writers, rows that are sent,
 * lost, doubled and late. Beside them runs a model that has no contexts: per ledger and row the set
 * of all writes it has heard of, and per write the set of those that it knew. What stands in a row
 * must be exactly those writes of the set that no other one of it knew; a member is gone if one of
 * these is a removal. In the end all have the same rows.
 *
 * The seed is printed; TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/ledger-desk.h"
#include "ledger/ledger_row.h"
#include "tests/lib/rounds.h"
#include "util/random.h"

#define HISTORIES    10000u
#define STEPS	     60u
#define LEDGERS	     5u
#define KEYS	     6u
#define WRITES_MAX   64u /* of a row in a history: bits of a set */
#define MAILS	     12u
#define INSTANCES    3u /* of a manager: fewer writers than a context has room for */

/* Writes of one row. */
typedef uint64_t writes;

struct write {
	struct ledger_dot dot;
	writes past; /* that it knew */
	bool removed;
};

struct mail {
	uint8_t *bytes;
	size_t len;
	unsigned key;
	writes heard;
};

struct world {
	unsigned n;
	struct ledger *l[LEDGERS];
	struct ledger_writer self[LEDGERS];
	unsigned half[LEDGERS];
	writes heard[LEDGERS][KEYS];
	struct ledger_key keys[KEYS];
	struct write log[KEYS][WRITES_MAX];
	unsigned n_log[KEYS];
	struct mail mails[MAILS];
};

static uint64_t dice;

static unsigned roll(unsigned n)
{
	return (unsigned)((random_next(&dice) >> 32) % n);
}

static void open_world(struct world *w)
{
	static const enum ledger_table tables[KEYS] = { LEDGER_MEMBER, LEDGER_MEMBER, LEDGER_MARK,
							LEDGER_HEALTH, LEDGER_SEED, LEDGER_CONFIG };

	*w = (struct world){ .n = 2 + roll(LEDGERS - 1) };
	for (unsigned i = 0; i < w->n; i++) {
		w->l[i] = ledger_new();
		w->self[i] = (struct ledger_writer){ 1 + roll(3) + 10 * i, 1 };
	}
	for (unsigned k = 0; k < KEYS; k++)
		w->keys[k] = table_key(tables[k], k);
}

static void close_world(struct world *w)
{
	for (unsigned i = 0; i < w->n; i++)
		ledger_free(w->l[i]);
	for (unsigned i = 0; i < MAILS; i++)
		free(w->mails[i].bytes);
}

/* ---- the model ------------------------------------------------------------------------------- */

static bool is_later(const struct write *a, const struct write *b)
{
	return a->dot.number > b->dot.number ||
	       (a->dot.number == b->dot.number &&
		ledger_writer_compare(&a->dot.by, &b->dot.by) > 0);
}

/* Of these the one that a table keeps which keeps one. */
static writes latest(const struct world *w, unsigned key, writes of)
{
	unsigned best = WRITES_MAX;

	for (unsigned i = 0; i < w->n_log[key]; i++) {
		if ((of >> i & 1) &&
		    (best == WRITES_MAX || is_later(&w->log[key][i], &w->log[key][best])))
			best = i;
	}
	return best < WRITES_MAX ? (writes)1 << best : 0;
}

/* Those that no other write of the set knew. */
static writes standing(const struct world *w, unsigned key, writes heard)
{
	writes past = 0;

	for (unsigned i = 0; i < w->n_log[key]; i++) {
		if (heard >> i & 1)
			past |= w->log[key][i].past;
	}
	return ledger_table(w->keys[key].table)->keeps_one ? latest(w, key, heard & ~past)
							   : heard & ~past;
}

static bool is_dot(const struct ledger_dot *a, const struct ledger_dot *b)
{
	return a->number == b->number && a->by.guid == b->by.guid &&
	       a->by.instance == b->by.instance;
}

static void check_absent(const struct world *w, unsigned key, writes up)
{
	for (unsigned i = 0; i < w->n_log[key]; i++) {
		if (up >> i & 1)
			assert_true(w->log[key][i].removed);
	}
}

/* A removal that no other write knew is in force at members; what is in force stands. */
static void check_value(const struct world *w, unsigned key, const struct ledger_value *v,
			writes up)
{
	bool is_up = false;

	for (unsigned i = 0; i < w->n_log[key]; i++) {
		const struct write *it = &w->log[key][i];

		if (!(up >> i & 1))
			continue;
		if (it->removed && w->keys[key].table == LEDGER_MEMBER)
			assert_true(v->removed);
		is_up |= is_dot(&it->dot, &v->dot);
	}
	assert_true(is_up);
}

static void check_row(const struct world *w, unsigned i, unsigned key)
{
	const struct ledger_row *row = ledger_find(w->l[i], &w->keys[key]);
	writes up = standing(w, key, w->heard[i][key]);
	struct ledger_value v;

	if (!row) {
		check_absent(w, key, up);
		return;
	}
	v = ledger_row_value(row);
	assert_int_equal(ledger_row_n_values(row), __builtin_popcountll(up));
	check_value(w, key, &v, up);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static struct ledger_value drawn_value(enum ledger_table table, struct ledger_dot d)
{
	static const uint8_t bytes[][9] = { { 1, [8] = 1 }, { 2, [8] = 0 }, { 2, [8] = 9 }, { 1 } };
	const uint8_t *it = bytes[roll(ARRAY_SIZE(bytes))];

	if (roll(3) == 0)
		return removed_at(d);
	return value_of(d, it, table == LEDGER_MEMBER ? 1 : 9);
}

static void write_one(struct world *w, unsigned i, unsigned key, uint64_t number)
{
	struct ledger_dot d = { number, w->self[i] };
	struct ledger_value v = drawn_value(w->keys[key].table, d);
	unsigned n = w->n_log[key];

	if (n == WRITES_MAX)
		return;
	w->n_log[key]++;
	w->log[key][n] = (struct write){ d, w->heard[i][key], v.removed };
	w->heard[i][key] |= (writes)1 << n;
	assert_int_equal(write_row(w->l[i], w->keys[key], v), LEDGER_OTHER);
	assert_int_equal(ledger_row_n_values(ledger_find(w->l[i], &w->keys[key])), 1);
	check_row(w, i, key);
}

/* One change may write two rows with the same number. */
static void change(struct world *w, unsigned i)
{
	unsigned key = roll(KEYS);
	uint64_t number = ledger_number(w->l[i], w->keys[key].table) + 1 + roll(2) * roll(5);

	if (key < 2 && roll(4) == 0)
		write_one(w, i, 1 - key, number);
	write_one(w, i, key, number);
}

static void receive(struct world *w, unsigned i, unsigned key, const struct ledger_row *row,
		    writes heard)
{
	enum ledger_table table = w->keys[key].table;
	uint64_t before = ledger_digest(w->l[i], table).hash;
	const struct ledger_row *here = ledger_find(w->l[i], &w->keys[key]);
	struct ledger_value v = here ? ledger_row_value(here) : (struct ledger_value){ 0 };
	struct ledger_dot was = v.dot;
	bool lacks = ledger_lacks(w->l[i], row);
	enum ledger_merged merged = ledger_merge(w->l[i], row);

	assert_int_equal(lacks, merged != LEDGER_SAME);
	assert_int_equal(lacks, ledger_digest(w->l[i], table).hash != before);
	assert_int_equal(ledger_merge(w->l[i], row), LEDGER_SAME);
	w->heard[i][key] |= heard;
	check_row(w, i, key);
	here = ledger_find(w->l[i], &w->keys[key]);
	if (here) {
		v = ledger_row_value(here);
		assert_int_equal(merged == LEDGER_OTHER, !is_dot(&v.dot, &was));
	}
}

static void deliver(struct world *w, struct mail *m, unsigned to)
{
	_cleanup_(ledger_row_freep) struct ledger_row *row = NULL;

	assert_int_equal(ledger_row_unpack(m->bytes, m->len, &row), m->len);
	receive(w, to, m->key, row, m->heard);
}

/* Between two of one half; lost, at once, or late, then perhaps more than once. */
static void send_row(struct world *w, unsigned from, unsigned to)
{
	struct mail *m = &w->mails[roll(MAILS)];
	unsigned key = roll(KEYS);
	const struct ledger_row *row = ledger_find(w->l[from], &w->keys[key]);

	if (!row || from == to || w->half[from] != w->half[to])
		return;
	free(m->bytes);
	*m = (struct mail){ .key = key, .heard = w->heard[from][key] };
	m->bytes = packed(row, &m->len);
	if (roll(2))
		deliver(w, m, to);
}

static void deliver_late(struct world *w)
{
	struct mail *m = &w->mails[roll(MAILS)];

	if (m->bytes)
		deliver(w, m, roll(w->n));
}

static void split(struct world *w)
{
	bool whole = roll(2);

	for (unsigned i = 0; i < w->n; i++)
		w->half[i] = whole ? 0 : roll(2);
}

static void restart(struct world *w, unsigned i)
{
	if (w->self[i].instance < INSTANCES)
		w->self[i].instance++;
}

static void send_all(struct world *w, unsigned from, unsigned to)
{
	for (unsigned k = 0; k < KEYS; k++) {
		const struct ledger_row *row = ledger_find(w->l[from], &w->keys[k]);

		if (row)
			receive(w, to, k, row, w->heard[from][k]);
	}
}

/*
 * Through the first one: all to it, then it to all. Twice: what a short
 * context makes of a row, the others have to hear of.
 */
static void exchange_all(struct world *w)
{
	for (unsigned i = 0; i < 4 * w->n; i++) {
		if (i / w->n % 2)
			send_all(w, 0, i % w->n);
		else
			send_all(w, i % w->n, 0);
	}
}

static void step(struct world *w)
{
	switch (roll(16)) {
	case 0:
		split(w);
		break;
	case 1:
		restart(w, roll(w->n));
		break;
	case 2:
	case 3:
		deliver_late(w);
		break;
	case 5:
	case 6:
	case 7:
		change(w, roll(w->n));
		break;
	default:
		send_row(w, roll(w->n), roll(w->n));
		break;
	}
}

/* ---- laws ------------------------------------------------------------------------------------ */

/* What a new ledger comes to that takes these rows (some NULL) in this order; to be freed. */
static uint8_t *joined(const struct ledger_row *const rows[4], size_t *ret_len)
{
	_cleanup_(ledger_freep) struct ledger *l = ledger_new();
	const struct ledger_key *key = NULL;

	for (unsigned i = 0; i < 4; i++) {
		if (rows[i]) {
			ledger_merge(l, rows[i]);
			key = ledger_row_key(rows[i]);
		}
	}
	*ret_len = 0;
	return key ? packed(ledger_find(l, key), ret_len) : NULL;
}

static void assert_same(const struct ledger_row *const one[4],
			const struct ledger_row *const two[4])
{
	size_t len, other_len;
	_cleanup_free_ uint8_t *bytes = joined(one, &len), *other = joined(two, &other_len);

	assert_int_equal(len, other_len);
	if (len)
		assert_memory_equal(bytes, other, len);
}

/* (a + b) + c and a + (b + c): the second by a ledger of its own. */
static void check_laws(const struct world *w)
{
	const struct ledger_key *key = &w->keys[roll(KEYS)];
	const struct ledger_row *a = ledger_find(w->l[0], key), *b = ledger_find(w->l[1], key),
				*c = ledger_find(w->l[w->n - 1], key);
	_cleanup_(ledger_freep) struct ledger *bc = ledger_new();

	if (!a || !b || !c)
		return;
	ledger_merge(bc, b);
	ledger_merge(bc, c);
	assert_same((const struct ledger_row *[]){ a, b, c, NULL },
		    (const struct ledger_row *[]){ a, ledger_find(bc, key), NULL, NULL });
	assert_same((const struct ledger_row *[]){ a, b, NULL, NULL },
		    (const struct ledger_row *[]){ b, a, NULL, NULL });
	assert_same((const struct ledger_row *[]){ a, b, c, NULL },
		    (const struct ledger_row *[]){ c, a, b, a });
	assert_same((const struct ledger_row *[]){ a, a, NULL, NULL },
		    (const struct ledger_row *[]){ a, NULL, NULL, NULL });
}

static void check_all_equal(const struct world *w)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		enum ledger_table table = (enum ledger_table)t;
		struct ledger_digest first = ledger_digest(w->l[0], table);
		uint64_t buckets[LEDGER_BUCKETS], other[LEDGER_BUCKETS];

		ledger_buckets(w->l[0], table, buckets);
		for (unsigned i = 1; i < w->n; i++) {
			struct ledger_digest d = ledger_digest(w->l[i], table);

			ledger_buckets(w->l[i], table, other);
			assert_memory_equal(buckets, other, sizeof(other));
			assert_memory_equal(&first, &d, sizeof(d));
			assert_int_equal(ledger_rows_there(w->l[0], table),
					 ledger_rows_there(w->l[i], table));
		}
	}
}

static void random_histories_come_to_the_same_rows(void **state)
{
	static struct world w;

	for (unsigned h = 0; h < test_rounds(HISTORIES); h++) {
		open_world(&w);
		for (unsigned i = 0; i < STEPS; i++)
			step(&w);
		check_laws(&w);
		exchange_all(&w);
		check_all_equal(&w);
		close_world(&w);
	}
}

/*
 * Many writers, so that contexts lose some of them: which value stands may then depend on the order
 * of messages, but not whether all have the same in the end, nor whether there is one.
 */
static void crowds_come_to_the_same_row(void **state)
{
	enum { N = 5 };
	struct ledger_key key = table_key(LEDGER_MEMBER, 1);

	for (unsigned h = 0; h < 50; h++) {
		struct ledger *l[N];

		for (unsigned i = 0; i < N; i++)
			l[i] = ledger_new();
		for (unsigned i = 0; i < 400; i++) {
			struct ledger *it = l[roll(N)];
			struct ledger_dot d = dot(ledger_number(it, LEDGER_MEMBER) + 1, i);

			write_row(it, key, drawn_value(LEDGER_MEMBER, d));
			if (roll(3) == 0)
				merge_all(l[roll(N)], it);
		}
		for (unsigned i = 0; i < 2 * N * N; i++)
			merge_all(l[i % N], l[i / N % N]);
		for (unsigned i = 0; i < N; i++) {
			assert_int_equal(ledger_digest(l[i], LEDGER_MEMBER).hash,
					 ledger_digest(l[0], LEDGER_MEMBER).hash);
			assert_in_range(ledger_row_n_values(ledger_find(l[i], &key)), 1, 255);
		}
		for (unsigned i = 0; i < N; i++)
			ledger_free(l[i]);
	}
}

int main(void)
{
	const char *seed = getenv("TEST_SEED");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories_come_to_the_same_rows),
		cmocka_unit_test(crowds_come_to_the_same_row),
	};

	dice = seed ? strtoull(seed, NULL, 0) : 0x1ED6E7;
	print_message("# TEST_SEED=0x%llx\n", (unsigned long long)dice);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
