// SPDX-License-Identifier: BSD-2-Clause
/* Which LIDs have to be drained between two sets of tables: a triangle of switches by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "route/transition.h"
#include "util/mem.h"

/* Switches 1, 2, 3 in a triangle: port 1 leads to the next one, port 2 to the one before. */
static struct topo *triangle(void)
{
	struct topo_builder *b = topo_builder_new();

	for (guid_t g = 1; g <= 3; g++) {
		const struct topo_switch sw = {
			.guid = g, .n_ports = 3, .lid = g, .lft_cap = 1024
		};

		topo_add_switch(b, &sw);
	}
	topo_add_link(b, 1, 1, 2, 2);
	topo_add_link(b, 2, 1, 3, 2);
	topo_add_link(b, 3, 1, 1, 2);
	return topo_build(b);
}

/* Routes of LID 1 (switch 1 itself) with these ports on switches 2 and 3. */
static struct routes *routes_to_1(const struct topo *t, uint8_t on_2, uint8_t on_3)
{
	struct routes *r = routes_new(t, "hand", 3);

	routes_row(r, 0)[1] = 0;
	routes_row(r, 1)[1] = on_2;
	routes_row(r, 2)[1] = on_3;
	return r;
}

static unsigned drained(uint8_t old_2, uint8_t old_3, uint8_t new_2, uint8_t new_3)
{
	_cleanup_(topo_unrefp) struct topo *t = triangle();
	_cleanup_(routes_unrefp) struct routes *old = routes_to_1(t, old_2, old_3);
	_cleanup_(routes_unrefp) struct routes *new = routes_to_1(t, new_2, new_3);
	_cleanup_(transition_freep) struct transition *found = transition_find(old, new);

	if (!found)
		return 0;
	assert_int_equal(found->drain[1], 1);
	assert_int_equal(found->drain[2], 0);
	return found->n_lids;
}

static void nothing_changed(void **state)
{
	assert_int_equal(drained(2, 1, 2, 1), 0);
}

/* 2 went straight to 1 and 3 over 2; now 3 goes straight and 2 over 3: in between 2 -> 3 -> 2. */
static void turned_round(void **state)
{
	assert_int_equal(drained(2, 2, 1, 1), 1);
}

/* 3 went over 2 and goes straight now: 2 never points at 3. */
static void shortened(void **state)
{
	assert_int_equal(drained(2, 2, 2, 1), 0);
}

/* An entry that led nowhere cannot be part of a loop with itself. */
static void filled_in(void **state)
{
	assert_int_equal(drained(LFT_NO_PORT, 1, 1, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changed),
		cmocka_unit_test(turned_round),
		cmocka_unit_test(shortened),
		cmocka_unit_test(filled_in),
	};

	return cmocka_run_group_tests_name("transition", tests, NULL, NULL);
}
