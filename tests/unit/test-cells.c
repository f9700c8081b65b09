// SPDX-License-Identifier: BSD-2-Clause
/* Interned blocks: references, ids that come back, tables of ports, and what devices make up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric_internal.h"
#include "util/mem.h"

/* Content number `n`. */
static const uint8_t *content(uint32_t n)
{
	static uint8_t payload[SMP_DATA_SIZE];

	memset(payload, 0, sizeof(payload));
	ib_bits_put(payload, 0, 32, n);
	return payload;
}

static void equal_contents_share_an_id(void **state)
{
	struct cells *c = cells_new();
	cell_id a = cells_put(c, content(1)), b = cells_put(c, content(2));

	assert_int_not_equal(a, CELL_UNKNOWN);
	assert_int_not_equal(a, b);
	assert_int_equal(cells_put(c, content(1)), a);
	assert_int_equal(cells_count(c), 2);
	cells_unref(c, a);
	assert_memory_equal(cells_get(c, a), content(1), SMP_DATA_SIZE);
	cells_unref(c, a);
	assert_int_equal(cells_count(c), 1);
	assert_memory_equal(cells_get(c, b), content(2), SMP_DATA_SIZE);
	cells_free(c);
}

static void the_unknown_has_no_content(void **state)
{
	struct cells *c = cells_new();

	assert_null(cells_get(c, CELL_UNKNOWN));
	cells_unref(c, CELL_UNKNOWN);
	cells_free(c);
	assert_null(cells_free(NULL));
}

/* Against an array that counts: many contents come and go, all that are held are found. */
static void contents_come_and_go(void **state)
{
	struct cells *c = cells_new();
	unsigned refs[500] = { 0 }, held = 0;
	cell_id ids[500] = { 0 };
	uint32_t rng = 1;

	for (unsigned i = 0; i < 200000; i++) {
		unsigned n, drop;

		rng = rng * 1664525 + 1013904223;
		n = (rng >> 8) % ARRAY_SIZE(refs);
		drop = rng >> 31;
		if (drop && refs[n]) {
			cells_unref(c, ids[n]);
			held -= !--refs[n];
		} else if (!drop) {
			cell_id id = cells_put(c, content(n));

			if (refs[n]++)
				assert_int_equal(id, ids[n]);
			else
				held++;
			ids[n] = id;
			assert_memory_equal(cells_get(c, id), content(n), SMP_DATA_SIZE);
		}
		assert_int_equal(cells_count(c), held);
	}
	cells_free(c);
}

static void devices_cannot_make_us_keep_everything(void **state)
{
	struct cells *c = cells_new();
	struct cell_table *t = NULL;
	cell_id first = cells_put(c, content(0));

	for (uint32_t i = 1; i < CELLS_MAX; i++)
		assert_int_not_equal(cells_put(c, content(i)), CELL_UNKNOWN);
	assert_int_equal(cells_put(c, content(CELLS_MAX)), CELL_UNKNOWN);
	cell_table_set(c, &t, 3, content(CELLS_MAX));
	assert_null(cell_table_get(c, t, 3));
	assert_int_equal(cells_put(c, content(0)), first);
	cells_unref(c, cells_put(c, content(7)));
	cells_unref(c, cells_put(c, content(7)));
	cell_table_clear(c, &t);
	cells_free(c);
}

static void a_table_knows_what_it_was_told(void **state)
{
	struct cells *c = cells_new();
	struct cell_table *t = NULL;

	assert_null(cell_table_get(c, t, 0));
	cell_table_set(c, &t, 2, content(5));
	assert_null(cell_table_get(c, t, 0));
	assert_memory_equal(cell_table_get(c, t, 2), content(5), SMP_DATA_SIZE);
	assert_null(cell_table_get(c, t, 3));
	cell_table_set(c, &t, 2, content(6));
	cell_table_set(c, &t, 0, content(6));
	assert_int_equal(cells_count(c), 1);
	cell_table_forget(c, t, 2);
	cell_table_forget(c, t, 9);
	cell_table_forget(c, NULL, 0);
	assert_null(cell_table_get(c, t, 2));
	cell_table_clear(c, &t);
	assert_null(t);
	cell_table_clear(c, &t);
	assert_int_equal(cells_count(c), 0);
	cells_free(c);
}

static void a_cleared_table_knows_of_sets_on_the_wire_only(void **state)
{
	struct cells *c = cells_new();
	struct cell_table *t = NULL;

	cell_table_set(c, &t, 0, content(1));
	cell_table_set(c, &t, 2, content(2));
	cell_table_send(t, 2);
	t->tries = t->unanswered = t->disproofs = 1;
	t->given_up = 7;
	cell_table_clear(c, &t);
	assert_int_equal(cells_count(c), 0);
	assert_int_equal(t->n, 3);
	assert_true(cell_table_is_out(t, 2) && !cell_table_is_out(t, 0));
	assert_true(t->unproven && t->n_out == 1);
	assert_null(cell_table_get(c, t, 0));
	assert_int_equal(t->tries + t->unanswered + t->disproofs + t->given_up, 0);
	cell_table_back(t, 2);
	cell_table_clear(c, &t);
	assert_null(t);
	cells_free(c);
}

static struct node *host(struct fabric *f, unsigned pkeys, unsigned guids)
{
	uint8_t ni[SMP_DATA_SIZE] = { 0 };
	struct node *n;

	ib_put(ni, NI_NODE_TYPE, IB_NODE_CA);
	ib_put(ni, NI_NUM_PORTS, 1);
	ib_put(ni, NI_LOCAL_PORT, 1);
	ib_put(ni, NI_NODE_GUID, 0x10);
	ib_put(ni, NI_PORT_GUID, 0x11);
	ib_put(ni, NI_PARTITION_CAP, pkeys);
	n = fabric_add_node(f, ni);
	ib_put(n->ports[1].info, PI_GUID_CAP, guids);
	n->ports[1].known = true;
	return n;
}

static void a_table_is_known_when_all_of_it_is(void **state)
{
	struct fabric *f = fabric_new();
	struct port *p = &host(f, 40, 0)->ports[1];
	uint8_t payload[SMP_DATA_SIZE] = { 0 };
	uint16_t keys[40];

	assert_int_equal(fabric_pkey_cap(p), 40);
	ib_bits_put(payload, 0, 16, 0xFFFF);
	ib_bits_put(payload, 31 * 16, 16, 0x8001);
	assert_false(fabric_observe_cell(f, p, TABLE_PKEYS, 0, payload));
	assert_int_equal(fabric_pkeys(f, p, keys), 0);
	assert_false(fabric_observe_cell(f, p, TABLE_PKEYS, 1, payload));
	assert_int_equal(fabric_pkeys(f, p, keys), 40);
	assert_int_equal(keys[31], 0x8001);
	assert_int_equal(keys[32], 0xFFFF);
	fabric_forget_cells(f, p);
	assert_int_equal(fabric_pkeys(f, p, keys), 0);
	fabric_free(f);
}

/* Bytes behind the end of a table do not make two tables differ. */
static void entries_beyond_the_capacity_do_not_count(void **state)
{
	struct fabric *f = fabric_new();
	struct port *p = &host(f, 8, 3)->ports[1];
	uint8_t payload[SMP_DATA_SIZE], junk[SMP_DATA_SIZE];

	memset(payload, 0, sizeof(payload));
	memset(junk, 0xA5, sizeof(junk));
	memset(payload, 0xA5, 16);
	assert_false(fabric_observe_cell(f, p, TABLE_PKEYS, 0, payload));
	assert_true(fabric_observe_cell(f, p, TABLE_PKEYS, 0, junk));
	assert_memory_equal(fabric_cell(f, p, TABLE_PKEYS, 0), payload, SMP_DATA_SIZE);
	assert_true(fabric_observe_cell(f, p, TABLE_PKEYS, 1, junk));
	assert_null(fabric_cell(f, p, TABLE_PKEYS, 1));
	memset(payload, 0xA5, 24);
	assert_false(fabric_observe_cell(f, p, TABLE_GUIDS, 0, junk));
	assert_memory_equal(fabric_cell(f, p, TABLE_GUIDS, 0), payload, SMP_DATA_SIZE);
	assert_true(fabric_observe_cell(f, p, TABLE_GUIDS, 1, junk));
	assert_null(fabric_cell(f, p, TABLE_GUIDS, 1));
	fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_contents_share_an_id),
		cmocka_unit_test(the_unknown_has_no_content),
		cmocka_unit_test(contents_come_and_go),
		cmocka_unit_test(devices_cannot_make_us_keep_everything),
		cmocka_unit_test(a_table_knows_what_it_was_told),
		cmocka_unit_test(a_cleared_table_knows_of_sets_on_the_wire_only),
		cmocka_unit_test(a_table_is_known_when_all_of_it_is),
		cmocka_unit_test(entries_beyond_the_capacity_do_not_count),
	};

	return cmocka_run_group_tests_name("cells", tests, NULL, NULL);
}
