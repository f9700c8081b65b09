// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables that share pages are what copies would be, at every size around pages, words and limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route/core/renumber.h"
#include "route/core/routes.h"
#include "util/mem.h"
#include "util/random.h"

#define PAGE 4096u
/* 32 MiB: larger ones must share some pages, or are copied (routes.c) */
#define PAGES_SHARED_MIN 8192u

/* So many switches of which nothing is known, but for those of `lost`, a bit each. */
static struct topo *bare_topo_without(uint32_t n_switches, uint64_t lost)
{
	struct topo_builder *b = topo_builder_new();

	for (uint32_t i = 0; i < n_switches; i++)
		if (i >= 64 || !(lost >> i & 1))
			topo_add_switch(b, &(struct topo_switch){
				.guid = 1 + i, .n_ports = 1, .lid = (lid_t)(1 + i) });
	return topo_build(b);
}

/* Tables ask for their number alone. */
static struct topo *bare_topo(uint32_t n_switches)
{
	return bare_topo_without(n_switches, 0);
}

struct size {
	uint32_t n_switches, row_size;
};

/* As few switches as can be: rows are multiples of 64, and there are 49,151 LIDs. */
static struct size size_of_pages(uint32_t pages)
{
	uint32_t n = 1;

	while (pages % n || pages / n * 64 > 49152)
		n++;
	return (struct size){ .n_switches = 64 * n, .row_size = pages / n * 64 };
}

static void fill(struct routes *r, uint64_t seed)
{
	size_t size = (size_t)r->topo->n_switches * r->row_size;

	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t word = random_next(&seed);

		memcpy(r->lft + i, &word, 8);
	}
}

static void assert_rows(const struct routes *r, const uint8_t *rows)
{
	assert_memory_equal(r->lft, rows, (size_t)r->topo->n_switches * r->row_size);
}

static void write_some(struct routes *r, uint8_t *rows, uint64_t seed)
{
	uint32_t n = r->topo->n_switches;

	for (unsigned i = 0; i < 20; i++) {
		uint32_t sw = i ? (uint32_t)(random_next(&seed) % n) : n - 1;
		lid_t lid = i ? (lid_t)(random_next(&seed) % r->row_size) : r->top;
		uint8_t port = (uint8_t)random_next(&seed);

		routes_write(r, sw, lid, port);
		rows[(size_t)sw * r->row_size + lid] = port;
	}
}

/*
 * Derived from one another, some written entry by entry, some directly, and from what was let go.
 */
static void assert_derived_are_copies(struct size s)
{
	struct topo *t = bare_topo(s.n_switches);
	struct routes *r = routes_new(t, "minhop", (lid_t)(s.row_size - 1)), *next;
	size_t size = (size_t)s.n_switches * s.row_size;
	uint8_t *rows;

	assert_int_equal(r->row_size, s.row_size);
	fill(r, size);
	rows = xmemdup(r->lft, size);
	for (unsigned turn = 0; turn < 8; turn++) {
		if (turn == 5)
			routes_settle(r);
		next = routes_derive(t, r);
		assert_rows(next, rows);
		write_some(next, rows, size + turn);
		if (turn % 3 == 1) {
			routes_touch(next);
			next->lft[size - 1] = rows[size - 1] = (uint8_t)turn;
			next->lft[0] = rows[0] = (uint8_t)turn;
		}
		routes_unref(r);
		r = next;
		assert_rows(r, rows);
	}
	routes_unref(r);
	free(rows);
	topo_unref(t);
}

/* `rows` without that of `gap`. */
static void assert_rows_without(const struct routes *r, const uint8_t *rows, uint32_t gap)
{
	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		assert_memory_equal(routes_row(r, s),
				    rows + (size_t)(s < gap ? s : s + 1) * r->row_size,
				    r->row_size);
}

/* They stay when their lender is let go, and what is derived from them does when they are. */
static void assert_borrowed_hold(uint32_t gap)
{
	struct size s = size_of_pages(PAGES_SHARED_MIN / 4 + 3);
	struct topo *t = bare_topo(s.n_switches), *less = bare_topo(s.n_switches - 1);
	struct routes *r = routes_new_unset(t, "minhop", (lid_t)(s.row_size - 1)), *lender, *next;
	uint32_t last = s.n_switches - 2;
	uint8_t *rows;
	size_t mark;

	fill(r, gap);
	rows = xmemdup(r->lft, (size_t)s.n_switches * s.row_size);
	assert_null(routes_borrow(less, r, gap));
	lender = routes_derive(t, r);
	routes_unref(r);
	write_some(lender, rows, gap);
	r = routes_borrow(less, lender, gap);
	assert_ptr_equal(r->lft, lender->lft);
	/* the mapping that this one leaves has other numbers than `r` */
	next = routes_derive(t, lender);
	routes_write(next, last + 1, 2, (uint8_t)~routes_port(next, last + 1, 2));
	routes_stand_for(next, lender, r);
	routes_unref(next);
	routes_unref(lender);
	assert_rows_without(r, rows, gap);
	next = routes_derive(less, r);
	assert_true(routes_are_same(r, next));
	assert_null(routes_borrow(less, next, gap));
	mark = routes_mark(next);
	routes_write(next, last, 1, (uint8_t)~routes_port(next, last, 1));
	routes_rewind(next, mark);
	assert_rows_without(next, rows, gap);
	rows[(size_t)(last < gap ? last : last + 1) * s.row_size + 1] ^= 0xFF;
	routes_write(next, last, 1, (uint8_t)~routes_port(next, last, 1));
	assert_false(routes_are_same(r, next));
	routes_unref(r);
	assert_rows_without(next, rows, gap);
	r = routes_derive(less, next);
	routes_touch(next);
	assert_true(routes_are_same(r, next));
	routes_unref(next);
	assert_rows_without(r, rows, gap);
	routes_unref(r);
	free(rows);
	topo_unref(less);
	topo_unref(t);
}

static void rows_without_a_switch_are_borrowed(void **state)
{
	uint32_t n = size_of_pages(PAGES_SHARED_MIN / 4 + 3).n_switches;

	(void)state;
	assert_borrowed_hold(0);
	assert_borrowed_hold(n / 2);
	assert_borrowed_hold(n - 1);
}

/* Another entry in each row; `rows` are by GUID. */
static void change_each(struct routes *r, uint8_t *rows, uint64_t seed)
{
	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		uint8_t *row = rows + (r->topo->switches[s].guid - 1) * r->row_size;
		lid_t lid = (lid_t)(random_next(&seed) % r->row_size);

		row[lid] = (uint8_t)random_next(&seed);
		routes_write(r, s, lid, row[lid]);
	}
}

/* Tables as keep_tables.c makes them where switches go or come: former ones go in between. */
static struct routes *step_to(struct routes *r, struct topo *t, uint8_t *rows, uint64_t seed)
{
	struct routes *d = routes_derive(r->topo, r), *ret;
	struct renumbering m;

	change_each(d, rows, seed);
	routes_unref(r);
	m = renumbering_of(d->topo, t);
	ret = routes_renumber(d, &m);
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (m.from[s] == TOPO_NONE)
			memset(rows + (t->switches[s].guid - 1) * ret->row_size, LFT_NO_PORT,
			       ret->row_size);
	for (uint32_t s = 0; s < d->topo->n_switches; s++)
		for (unsigned lid = 0; lid < d->row_size &&
				       topo_find_switch(t, d->topo->switches[s].guid) == TOPO_NONE;
		     lid++)
			routes_write(d, s, (lid_t)lid, LFT_NO_PORT);
	routes_unref(d);
	renumbering_done(&m);
	return ret;
}

static void switches_go_and_come_in_any_order(void **state)
{
	static const uint64_t lost[] = { 2, 2, 6, 4, 0, 1, 0, 1, 9, 0, UINT64_C(1) << 63, 8, 0 };
	struct size s = { 64, 64 * 257 }; /* more than FILE_MIN */
	struct topo *t = bare_topo(s.n_switches);
	struct routes *r = routes_new_unset(t, "minhop", (lid_t)(s.row_size - 1));
	uint8_t *rows;

	(void)state;
	fill(r, 1);
	rows = xmemdup(r->lft, (size_t)s.n_switches * s.row_size);
	topo_unref(t);
	for (unsigned i = 0; i < ARRAY_SIZE(lost); i++) {
		t = bare_topo_without(s.n_switches, lost[i]);
		r = step_to(r, t, rows, i + 1);
		for (uint32_t k = 0; k < t->n_switches; k++)
			assert_memory_equal(routes_row(r, k),
					    rows + (t->switches[k].guid - 1) * s.row_size,
					    s.row_size);
		topo_unref(t);
	}
	routes_unref(r);
	free(rows);
}

static void tables_of_every_size_derive(void **state)
{
	/* A page, words of 64 pages, FILE_MIN, FILE_PART; one more and one less of each. */
	static const uint32_t around[] = { 1, 2, 64, 128, 256, 320, 512, 1024, 1088 };

	for (unsigned i = 0; i < ARRAY_SIZE(around); i++)
		for (uint32_t pages = around[i] - (around[i] > 1); pages <= around[i] + 1; pages++)
			assert_derived_are_copies(size_of_pages(pages));
}

static void large_tables_derive(void **state)
{
	static const uint32_t pages[] = { 4096, 6400, PAGES_SHARED_MIN - 64, PAGES_SHARED_MIN,
					  PAGES_SHARED_MIN + 64 };

	for (unsigned i = 0; i < ARRAY_SIZE(pages); i++)
		assert_derived_are_copies(size_of_pages(pages[i]));
}

/* The last page is there in part only. */
static void sizes_need_not_be_whole_pages(void **state)
{
	static const struct size sizes[] = {
		{ 1, 64 },	    { 63, 64 },		 { 65, 64 },
		{ 63, 4096 + 64 },  { 255, 4096 + 64 },	 { 257, 4096 + 64 },
		{ 513, 8192 - 64 }, { 720, 16384 + 64 }, { 1367, 24576 - 64 },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
		assert_derived_are_copies(sizes[i]);
}

/* All pages are its own then, and no others: bits stand for pages that are there. */
static void touched_are_the_pages_that_are_there(void **state)
{
	for (uint32_t pages = 256; pages <= 400; pages++) {
		struct size s = size_of_pages(pages);
		struct topo *t = bare_topo(s.n_switches);
		struct routes *r = routes_new(t, "minhop", (lid_t)(s.row_size - 1)),
			      *next = routes_derive(t, r);
		uint32_t n = 0;

		assert_non_null(next->written);
		routes_touch(next);
		for (uint32_t i = 0; i < (pages + 63) / 64; i++)
			n += (uint32_t)__builtin_popcountll(next->written[i]);
		assert_int_equal(n, pages);
		routes_unref(r);
		routes_unref(next);
		topo_unref(t);
	}
}

/* However often it was written, a change says what the entry was first and what it is now. */
static void a_change_says_both_ports(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = bare_topo(3);
	_cleanup_(routes_unrefp) struct routes *before = routes_new(t, "minhop", 20), *now = NULL;
	_cleanup_free_ struct routes_entry *changes = NULL;
	size_t n = 0;

	routes_write(before, 1, 7, 3);
	now = routes_derive(t, before);
	routes_write(now, 1, 7, 4);
	routes_write(now, 1, 8, 2);
	routes_write(now, 1, 7, 5);
	routes_write(now, 1, 8, LFT_NO_PORT);
	changes = routes_changes(before, now, &n);
	assert_non_null(changes);
	assert_int_equal(n, 1);
	assert_int_equal(changes[0].lid, 7);
	assert_int_equal(changes[0].port, 3);
	assert_int_equal(changes[0].now, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_every_size_derive),
		cmocka_unit_test(rows_without_a_switch_are_borrowed),
		cmocka_unit_test(switches_go_and_come_in_any_order),
		cmocka_unit_test(large_tables_derive),
		cmocka_unit_test(sizes_need_not_be_whole_pages),
		cmocka_unit_test(touched_are_the_pages_that_are_there),
		cmocka_unit_test(a_change_says_both_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
