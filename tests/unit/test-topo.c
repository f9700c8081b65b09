// SPDX-License-Identifier: BSD-2-Clause
/* The builder: order of calls means nothing, contradictions end the same way, lookups find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/topogen.h"
#include "topo/topo.h"
#include "util/mem.h"

static void add_switch(struct topo_builder *b, guid_t guid, uint8_t n_ports, lid_t lid)
{
	topo_add_switch(b, &(struct topo_switch){
		.guid = guid, .sysimg_guid = guid, .n_ports = n_ports, .lid = lid,
		.lft_cap = 0xC000,
	});
}

static void add_host(struct topo_builder *b, guid_t guid, lid_t lid, uint8_t lmc)
{
	topo_add_host(b, &(struct topo_host){
		.guid = guid, .node_guid = guid, .node_port = 2, .lid = lid, .lmc = lmc,
	});
}

static void assert_same_topo(const struct topo *a, const struct topo *b)
{
	assert_int_equal(a->n_switches, b->n_switches);
	assert_int_equal(a->n_hosts, b->n_hosts);
	assert_int_equal(a->max_lid, b->max_lid);
	for (uint32_t s = 0; s < a->n_switches; s++) {
		assert_int_equal(a->switches[s].guid, b->switches[s].guid);
		assert_int_equal(a->switches[s].lid, b->switches[s].lid);
		for (unsigned p = 0; p <= a->switches[s].n_ports; p++) {
			const struct topo_port *x = topo_port(a, s, p), *y = topo_port(b, s, p);

			assert_int_equal(x->sw, y->sw);
			assert_int_equal(x->host, y->host);
			assert_int_equal(x->port, y->port);
		}
	}
	for (uint32_t h = 0; h < a->n_hosts; h++) {
		assert_int_equal(a->hosts[h].guid, b->hosts[h].guid);
		assert_int_equal(a->hosts[h].sw, b->hosts[h].sw);
		assert_int_equal(a->hosts[h].sw_port, b->hosts[h].sw_port);
	}
}

static void nothing_is_a_topo_too(void **state)
{
	struct topo *t = topo_build(topo_builder_new());

	assert_int_equal(t->n_switches, 0);
	assert_int_equal(topo_n_entries(t), 0);
	assert_int_equal(t->n_hosts, 0);
	assert_int_equal(t->max_lid, 0);
	assert_int_equal(topo_find_switch(t, 1), TOPO_NONE);
	assert_int_equal(topo_find_host(t, 1), TOPO_NONE);
	topo_unref(t);
}

static void order_of_calls_means_nothing(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct topogen forward = { .seed = seed, .damage = 0.1, .random_guids = true };
		struct topogen backward = forward;
		struct topo *a, *b;

		backward.reversed = true;
		print_message("# seed %llu\n", (unsigned long long)seed);
		a = topogen_random(40, 5, 4, &forward);
		b = topogen_random(40, 5, 4, &backward);
		assert_same_topo(a, b);
		topo_unref(a);
		topo_unref(b);
	}
}

static void numbers_follow_guids(void **state)
{
	struct topo_builder *b = topo_builder_new();
	struct topo *t;

	add_switch(b, 30, 4, 3);
	add_switch(b, 10, 4, 1);
	add_switch(b, 20, 4, 2);
	t = topo_build(b);
	assert_int_equal(topo_find_switch(t, 10), 0);
	assert_int_equal(topo_find_switch(t, 20), 1);
	assert_int_equal(topo_find_switch(t, 30), 2);
	assert_int_equal(topo_find_switch(t, 25), TOPO_NONE);
	assert_int_equal(topo_find_switch(t, 31), TOPO_NONE);
	assert_int_equal(t->switches[2].lid, 3);
	topo_unref(t);
}

static void a_link_is_seen_from_both_ends(void **state)
{
	struct topo_builder *b = topo_builder_new();
	struct topo *t;

	add_switch(b, 1, 8, 1);
	add_switch(b, 2, 8, 2);
	topo_add_link(b, 2, 7, 1, 3);
	topo_add_link(b, 1, 3, 2, 7); /* the same cable, reported from the other end */
	t = topo_build(b);
	assert_int_equal(topo_port(t, 0, 3)->sw, 1);
	assert_int_equal(topo_port(t, 0, 3)->port, 7);
	assert_int_equal(topo_port(t, 1, 7)->sw, 0);
	assert_int_equal(topo_port(t, 1, 7)->port, 3);
	assert_int_equal(topo_port(t, 1, 3)->sw, TOPO_NONE);
	topo_unref(t);
}

static void a_host_knows_its_switch(void **state)
{
	struct topo_builder *b = topo_builder_new();
	struct topo *t;

	topo_add_host_link(b, 100, 1, 5);
	add_host(b, 100, 8, 2);
	add_host(b, 101, 40, 0);
	add_switch(b, 1, 8, 1);
	t = topo_build(b);
	assert_int_equal(t->hosts[0].sw, 0);
	assert_int_equal(t->hosts[0].sw_port, 5);
	assert_int_equal(topo_port(t, 0, 5)->host, 0);
	assert_int_equal(topo_port(t, 0, 5)->port, 2);
	assert_int_equal(t->hosts[1].sw, TOPO_NONE);
	assert_int_equal(topo_find_host(t, 101), 1);
	topo_unref(t);
}

static void highest_lid_includes_the_lmc_range(void **state)
{
	struct topo_builder *b = topo_builder_new();
	struct topo *t;

	add_switch(b, 1, 8, 20);
	add_host(b, 100, 16, 3);
	t = topo_build(b);
	assert_int_equal(t->max_lid, 23);
	topo_unref(t);
}

static void senseless_cables_are_dropped(void **state)
{
	struct topo_builder *b = topo_builder_new();
	struct topo *t;

	add_switch(b, 1, 4, 1);
	add_switch(b, 2, 4, 2);
	add_host(b, 100, 8, 0);
	topo_add_link(b, 1, 1, 1, 2);       /* loop cable */
	topo_add_link(b, 1, 3, 99, 1);      /* 99 is unknown */
	topo_add_link(b, 1, 5, 2, 1);       /* no such port */
	topo_add_link(b, 1, 0, 2, 1);       /* port 0 has no cable */
	topo_add_host_link(b, 100, 99, 1);
	topo_add_host_link(b, 100, 1, 5);
	t = topo_build(b);
	for (uint32_t s = 0; s < 2; s++)
		for (unsigned p = 0; p <= 4; p++) {
			assert_int_equal(topo_port(t, s, p)->sw, TOPO_NONE);
			assert_int_equal(topo_port(t, s, p)->host, TOPO_NONE);
		}
	assert_int_equal(t->hosts[0].sw, TOPO_NONE);
	for (unsigned p = 1; p <= 4; p++)
		assert_int_equal(topo_port_loops(topo_port(t, 0, p)), p <= 2);
	topo_unref(t);
}

/* Two cables in port 1 of switch 1, one switch twice, one host on two ports. */
static struct topo *build_contradiction(bool reversed)
{
	struct topo_builder *b = topo_builder_new();

	for (unsigned i = 0; i < 6; i++) {
		switch (reversed ? 5 - i : i) {
		case 0: topo_add_link(b, 1, 1, 3, 1); break;
		case 1: topo_add_link(b, 2, 1, 1, 1); break;
		case 2: add_switch(b, 1, 4, 7); break;
		case 3: add_switch(b, 1, 4, 5); break;
		case 4: topo_add_host_link(b, 100, 3, 2); break;
		case 5: topo_add_host_link(b, 100, 2, 2); break;
		}
	}
	add_switch(b, 2, 4, 2);
	add_switch(b, 3, 4, 3);
	add_host(b, 100, 8, 0);
	return topo_build(b);
}

static void contradictions_end_the_same_way(void **state)
{
	struct topo *a = build_contradiction(false), *b = build_contradiction(true);

	assert_same_topo(a, b);
	assert_int_equal(a->n_switches, 3);
	assert_int_equal(a->switches[0].lid, 5);
	assert_int_equal(topo_port(a, 0, 1)->sw, 1);
	assert_int_equal(topo_port(a, 2, 1)->sw, TOPO_NONE);
	assert_int_equal(a->hosts[0].sw, 1);
	topo_unref(a);
	topo_unref(b);
}

static void references_keep_it_alive(void **state)
{
	struct topo *t = topogen_fat_tree2(2, 2, 1, 1, NULL);
	const struct topo *shared = topo_ref(t);

	assert_null(topo_unref(t));
	assert_int_equal(shared->n_switches, 4);
	topo_unref(shared);
	assert_null(topo_unref(NULL));
	assert_null(topo_builder_free(NULL));
}

/* As a topo has it that was built with such switches. */
/* Switch 9 has the order GUID of switch 2, which is there as well or not. */
static struct topo *with_order_of_2(bool has_2)
{
	struct topo_builder *b = topo_builder_new();

	for (guid_t g = 1; g <= 4; g++)
		if (g != 2 || has_2)
			add_switch(b, g, 4, (lid_t)g);
	topo_add_switch(b, &(struct topo_switch){
		.guid = 9, .order_guid = 2, .n_ports = 4, .lid = 9, .lft_cap = 0xC000,
	});
	topo_add_link(b, 9, 1, 1, 3);
	topo_add_link(b, 9, 2, 4, 2);
	add_host(b, 7, 20, 0);
	topo_add_host_link(b, 7, 9, 4);
	return topo_build(b);
}

static void a_switch_is_numbered_by_its_order_guid(void **state)
{
	const guid_t alone[] = { 1, 9, 3, 4 }, both[] = { 1, 2, 9, 3, 4 }, own[] = { 1, 9, 3, 4 };
	struct topo *a = with_order_of_2(false), *b = with_order_of_2(true), *bare, *sorted, *again;
	uint32_t *match = topo_match_switches(b, a);

	for (uint32_t s = 0; s < ARRAY_SIZE(both); s++) {
		assert_int_equal(b->switches[s].guid, both[s]);
		assert_int_equal(topo_find_switch(b, both[s]), s);
		assert_int_equal(match[s], topo_find_switch(a, both[s]));
	}
	for (uint32_t s = 0; s < ARRAY_SIZE(alone); s++)
		assert_int_equal(a->switches[s].guid, alone[s]);
	assert_int_equal(topo_find_switch(a, 2), TOPO_NONE);
	assert_int_equal(topo_port(a, 1, 1)->sw, 0);
	assert_int_equal(a->hosts[0].sw, 1);
	bare = topo_with_bare(a, b);
	assert_int_equal(bare->n_switches, 5);
	assert_true(topo_is_bare(bare, 1));
	assert_int_equal(topo_port(bare, 2, 2)->sw, 4);
	/* each by its own GUID, and back */
	sorted = topo_with_order(a, own);
	assert_false(sorted->is_reordered);
	assert_int_equal(topo_find_switch(sorted, 9), 3);
	assert_int_equal(topo_port(sorted, 3, 1)->sw, 0);
	assert_int_equal(topo_port(sorted, 0, 3)->sw, 3);
	assert_int_equal(sorted->hosts[0].sw, 3);
	again = topo_with_order(sorted, (const guid_t[]){ 1, 3, 4, 2 });
	assert_same_topo(again, a);
	topo_unref(bare);
	/* what both have counts once, whatever its order GUID is */
	bare = topo_with_bare(sorted, b);
	assert_int_equal(bare->n_switches, 5);
	assert_int_equal(topo_find_switch(bare, 9), 4);
	topo_unref(again);
	topo_unref(sorted);
	topo_unref(bare);
	topo_unref(a);
	topo_unref(b);
	free(match);
}

static void bare_switches_come_between_the_others(void **state)
{
	struct topo_builder *less = topo_builder_new(), *all = topo_builder_new();
	struct topo *t, *whole, *bare, *same;

	for (guid_t g = 1; g <= 5; g++) {
		if (g % 2 == 0)
			add_switch(less, g, (uint8_t)(3 + g), (lid_t)g);
		add_switch(all, g, (uint8_t)(3 + g), g % 2 ? 0 : (lid_t)g);
	}
	for (unsigned i = 0; i < 2; i++) {
		add_host(i ? all : less, 9, 7, 0);
		topo_add_link(i ? all : less, 2, 1, 4, 2);
		topo_add_host_link(i ? all : less, 9, 4, 5);
	}
	t = topo_build(less);
	whole = topo_build(all);
	bare = topo_with_bare(t, whole);
	assert_same_topo(bare, whole);
	assert_int_equal(topo_n_entries(bare), topo_n_entries(whole));
	same = topo_with_bare(whole, t);
	assert_ptr_equal(same, whole);
	topo_unref(t);
	topo_unref(whole);
	topo_unref(bare);
	topo_unref(same);
}

/* Three switches in a row; one cable moved to another port, and a fourth switch came. */
static void a_cable_was_there_only_in_the_same_ports(void **state)
{
	struct topo_builder *b[2] = { topo_builder_new(), topo_builder_new() };
	struct topo *before, *now;
	uint32_t *match;

	for (guid_t g = 1; g <= 4; g++) {
		if (g > 1)
			add_switch(b[0], g, 4, (lid_t)g);
		add_switch(b[1], g, 4, (lid_t)g);
	}
	topo_add_link(b[0], 2, 1, 3, 1);
	topo_add_link(b[0], 3, 2, 4, 2);
	topo_add_link(b[1], 2, 1, 3, 3);
	topo_add_link(b[1], 3, 2, 4, 2);
	topo_add_link(b[1], 1, 1, 2, 2);
	before = topo_build(b[0]);
	now = topo_build(b[1]);
	match = topo_match_switches(now, before);
	assert_false(topo_had_cable(now, before, match, 0, 1));
	assert_false(topo_had_cable(now, before, match, 1, 1));
	assert_false(topo_had_cable(now, before, match, 1, 2));
	assert_true(topo_had_cable(now, before, match, 2, 2));
	assert_true(topo_had_cable(now, before, match, 3, 2));
	free(match);
	topo_unref(before);
	topo_unref(now);
}

static void all_lids_of_ports_are_counted(void **state)
{
	struct topo_builder *b = topo_builder_new();
	uint32_t n = 0;
	struct topo *t;

	add_switch(b, 1, 4, 1);
	add_switch(b, 2, 4, 0);
	add_host(b, 8, 8, 2);
	add_host(b, 9, 0, 3);
	t = topo_build(b);
	assert_int_equal(topo_count_lids(t), 5);
	TOPO_EACH_LID(&t->hosts[0], lid)
		assert_int_equal(lid, 8 + n++);
	assert_int_equal(n, 4);
	TOPO_EACH_LID(&t->hosts[1], lid)
		fail();
	topo_unref(t);
}

/*
 * Switches 1 .. leaves hang on two others, with as many `hosts` each; one hangs on one, with `few`,
 * and perhaps another one without hosts hangs on that.
 */
static bool stub_is_found(unsigned leaves, unsigned hosts, unsigned few, bool with_another)
{
	struct topo_builder *b = topo_builder_new();
	_cleanup_free_ bool *stub = NULL;
	unsigned spine = leaves + 1, odd = leaves + 3, n = 0;
	struct topo *t;
	bool ret;

	for (unsigned s = 1; s <= odd + with_another; s++)
		add_switch(b, s, 40, (lid_t)s);
	if (with_another)
		topo_add_link(b, odd, 3, odd + 1, 1);
	for (unsigned l = 1; l <= leaves; l++)
		for (unsigned k = 0; k < 2; k++)
			topo_add_link(b, l, (uint8_t)(1 + k), spine + k, (uint8_t)l);
	topo_add_link(b, odd, 1, spine, 39);
	topo_add_link(b, odd, 2, spine, 40);
	for (unsigned s = 1; s <= odd; s++)
		for (unsigned h = 0; h < (s <= leaves ? hosts : s == odd ? few : 0); h++, n++) {
			add_host(b, 100 + n, (lid_t)(100 + n), 0);
			topo_add_host_link(b, 100 + n, s, (uint8_t)(10 + h));
		}
	t = topo_build(b);
	stub = topo_find_stubs(t);
	for (uint32_t s = 0; s + 1 < odd; s++)
		assert_false(stub[s]);
	ret = stub[odd - 1];
	if (with_another)
		assert_int_equal(stub[odd], ret);
	topo_unref(t);
	return ret;
}

static void a_switch_on_one_other_is_a_stub(void **state)
{
	assert_true(stub_is_found(8, 4, 0, false));
	assert_true(stub_is_found(8, 4, 1, false));
	assert_false(stub_is_found(8, 4, 2, false)); /* a leaf that has lost cables */
	assert_true(stub_is_found(8, 4, 1, true));
	assert_true(stub_is_found(7, 4, 1, false));
	assert_false(stub_is_found(6, 4, 1, false)); /* as many are connected so */
	assert_false(stub_is_found(0, 4, 1, false));
	assert_true(stub_is_found(8, 2, 1, false));
	assert_false(stub_is_found(8, 2, 2, false));
	assert_false(stub_is_found(8, 1, 1, false));
}

static void a_builder_may_be_given_up(void **state)
{
	_cleanup_(topo_builder_freep) struct topo_builder *b = topo_builder_new();

	add_switch(b, 1, 4, 1);
	topo_add_link(b, 1, 1, 2, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_a_topo_too),
		cmocka_unit_test(order_of_calls_means_nothing),
		cmocka_unit_test(numbers_follow_guids),
		cmocka_unit_test(a_link_is_seen_from_both_ends),
		cmocka_unit_test(a_host_knows_its_switch),
		cmocka_unit_test(highest_lid_includes_the_lmc_range),
		cmocka_unit_test(senseless_cables_are_dropped),
		cmocka_unit_test(contradictions_end_the_same_way),
		cmocka_unit_test(references_keep_it_alive),
		cmocka_unit_test(a_switch_is_numbered_by_its_order_guid),
		cmocka_unit_test(bare_switches_come_between_the_others),
		cmocka_unit_test(a_cable_was_there_only_in_the_same_ports),
		cmocka_unit_test(all_lids_of_ports_are_counted),
		cmocka_unit_test(a_switch_on_one_other_is_a_stub),
		cmocka_unit_test(a_builder_may_be_given_up),
	};

	return cmocka_run_group_tests_name("topo", tests, NULL, NULL);
}
