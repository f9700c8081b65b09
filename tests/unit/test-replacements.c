// SPDX-License-Identifier: BSD-2-Clause
/* A switch on the cables of one that went is numbered as that one was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sm/routing/replacements.h"
#include "tests/lib/topocut.h"
#include "tests/lib/topogen.h"
#include "util/log.h"
#include "util/mem.h"

#define NEW_GUID UINT64_C(0x00020000ffff0000) /* after all others */

/* `t` with another switch for `sw`, as a manager finds it: in the order of GUIDs. */
static struct topo *with_other(const struct topo *t, uint32_t sw, guid_t guid)
{
	struct topo *replaced = topocut_replaced(t, sw, guid, (lid_t)(t->max_lid + 1)), *ret;
	guid_t *own = xcalloc(t->n_switches, sizeof(*own));

	for (uint32_t s = 0; s < t->n_switches; s++)
		own[s] = replaced->switches[s].guid;
	ret = topo_with_order(replaced, own);
	assert_false(ret->is_reordered);
	topo_unref(replaced);
	free(own);
	return ret;
}

/* Drops what came of it. */
static void give(struct replacements *s, struct topo *now)
{
	topo_unref(replacements_order(s, now));
}

static void give_without(struct replacements *s, const struct topo *t, const uint32_t *list,
			 uint32_t n)
{
	struct topocut *cut = topocut_new(t);

	for (uint32_t i = 0; i < n; i++)
		cut->switches[list[i]] = true;
	give(s, topocut_apply(t, cut));
	topocut_free(cut);
}

/* The same numbers, cables and hosts, whatever GUID and LID `sw` has. */
static void assert_same_numbers(const struct topo *a, const struct topo *b, uint32_t sw)
{
	assert_int_equal(a->n_switches, b->n_switches);
	for (uint32_t s = 0; s < a->n_switches; s++) {
		if (s != sw)
			assert_int_equal(a->switches[s].guid, b->switches[s].guid);
		assert_int_equal(topo_find_switch(a, a->switches[s].guid), s);
		for (unsigned p = 1; p <= a->switches[s].n_ports; p++) {
			assert_int_equal(topo_port(a, s, p)->sw, topo_port(b, s, p)->sw);
			assert_int_equal(topo_port(a, s, p)->port, topo_port(b, s, p)->port);
			assert_int_equal(topo_port(a, s, p)->host, topo_port(b, s, p)->host);
		}
	}
	for (uint32_t h = 0; h < a->n_hosts; h++)
		assert_int_equal(a->hosts[h].sw, b->hosts[h].sw);
}

static void one_on_the_same_cables_has_its_order_guid(void **state)
{
	struct topo *whole = topogen_fat_tree3(4, NULL), *now;

	for (uint32_t sw = 0; sw < whole->n_switches; sw++)
		for (unsigned at_once = 0; at_once < 2; at_once++) {
			struct replacements *s = replacements_new();

			give(s, topo_ref(whole));
			if (!at_once)
				give_without(s, whole, &sw, 1);
			now = replacements_order(s, with_other(whole, sw, NEW_GUID));
			assert_int_equal(now->switches[sw].guid, NEW_GUID);
			assert_int_equal(topo_order_guid(&now->switches[sw]),
					 whole->switches[sw].guid);
			assert_same_numbers(now, whole, sw);
			topo_unref(now);
			replacements_free(s);
		}
	topo_unref(whole);
}

static void the_order_guid_stays_while_it_comes_and_goes(void **state)
{
	struct topo *whole = topogen_fat_tree3(4, NULL), *other, *now;
	struct replacements *s = replacements_new();
	uint32_t sw = 7, at;

	other = with_other(whole, sw, NEW_GUID);
	at = topo_find_switch(other, NEW_GUID);
	assert_int_not_equal(at, sw);
	give(s, topo_ref(whole));
	give(s, topo_ref(other));
	for (unsigned i = 0; i < 2; i++) {
		give(s, topo_ref(other));
		give_without(s, other, &at, 1);
	}
	now = replacements_order(s, topo_ref(other));
	assert_same_numbers(now, whole, sw);
	topo_unref(now);
	/* the first one comes back in its place, and then still another one */
	give(s, topo_ref(whole));
	now = replacements_order(s, with_other(whole, sw, NEW_GUID + 1));
	assert_same_numbers(now, whole, sw);
	topo_unref(now);
	topo_unref(other);
	topo_unref(whole);
	replacements_free(s);
}

/* Cables come up one by one. */
static void a_few_cables_will_do(void **state)
{
	struct topo *whole = topogen_fat_tree3(4, NULL), *other, *now;
	struct replacements *s = replacements_new();
	uint32_t sw = 7, at;
	struct topocut *cut;

	other = with_other(whole, sw, NEW_GUID);
	at = topo_find_switch(other, NEW_GUID);
	cut = topocut_new(other);
	for (unsigned p = 1; p < other->switches[at].n_ports; p++)
		cut->ports[other->switches[at].first_port + p] = true;
	give(s, topo_ref(whole));
	now = replacements_order(s, topocut_apply(other, cut));
	assert_int_equal(topo_find_switch(now, NEW_GUID), sw);
	topo_unref(now);
	topocut_free(cut);
	topo_unref(other);
	topo_unref(whole);
	replacements_free(s);
}

static void one_in_another_place_has_its_own_order(void **state)
{
	struct topo *whole = topogen_fat_tree2(8, 4, 4, 1, NULL), *without, *now;
	struct topocut *cut = topocut_new(whole);
	struct replacements *s = replacements_new();
	uint32_t spine = topo_port(whole, 0, 5)->sw;

	assert_int_not_equal(spine, TOPO_NONE);
	cut->switches[spine] = true;
	without = topocut_apply(whole, cut);
	give(s, topo_ref(without)); /* it never was there */
	now = replacements_order(s, with_other(whole, spine, NEW_GUID));
	assert_false(now->is_reordered);
	assert_int_equal(topo_find_switch(now, NEW_GUID), now->n_switches - 1);
	topo_unref(now);
	topo_unref(without);
	topocut_free(cut);
	topo_unref(whole);
	replacements_free(s);
}

/* More than it keeps: the last ones count. */
static void it_forgets_those_that_went_long_ago(void **state)
{
	struct topo *whole = topogen_fat_tree2(100, 4, 1, 1, NULL), *now;
	struct replacements *s = replacements_new();
	uint32_t gone[REPLACEMENTS_LOST + 10];

	for (uint32_t i = 0; i < ARRAY_SIZE(gone); i++)
		gone[i] = i;
	give(s, topo_ref(whole));
	give_without(s, whole, gone, ARRAY_SIZE(gone));
	now = replacements_order(s, with_other(whole, 20, NEW_GUID));
	assert_same_numbers(now, whole, 20);
	topo_unref(now);
	give_without(s, whole, gone, ARRAY_SIZE(gone));
	now = replacements_order(s, with_other(whole, 3, NEW_GUID + 1));
	assert_false(now->is_reordered);
	topo_unref(now);
	topo_unref(whole);
	replacements_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_on_the_same_cables_has_its_order_guid),
		cmocka_unit_test(the_order_guid_stays_while_it_comes_and_goes),
		cmocka_unit_test(a_few_cables_will_do),
		cmocka_unit_test(one_in_another_place_has_its_own_order),
		cmocka_unit_test(it_forgets_those_that_went_long_ago),
	};

	log_set_flags(LOGB_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
