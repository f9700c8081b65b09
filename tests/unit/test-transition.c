// SPDX-License-Identifier: BSD-2-Clause
/* From one set of tables to another: a triangle by hand, then whatever happens to fabrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route/core/engine.h"
#include "route/select/engines.h"
#include "route/proof/transition.h"
#include "tests/lib/topocut.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

static void add_triangle_switch(struct topo_builder *b, guid_t g)
{
	const struct topo_switch sw = { .guid = g, .n_ports = 3, .lid = g, .lft_cap = 1024 };

	topo_add_switch(b, &sw);
}

/* Switches 1, 2, 3 in a triangle: port 1 leads to the next one, port 2 to the one before. */
static struct topo *triangle(void)
{
	struct topo_builder *b = topo_builder_new();

	for (guid_t g = 1; g <= 3; g++)
		add_triangle_switch(b, g);
	topo_add_link(b, 1, 1, 2, 2);
	topo_add_link(b, 2, 1, 3, 2);
	topo_add_link(b, 3, 1, 1, 2);
	return topo_build(b);
}

/* The triangle, of which the cable between 1 and 2 is left out, or switch 2 with its cables. */
static struct topo *left_out(bool whole_switch)
{
	struct topo_builder *b = topo_builder_new();

	add_triangle_switch(b, 1);
	add_triangle_switch(b, 3);
	topo_add_link(b, 3, 1, 1, 2);
	topo_leave_out(b, 1, 1, 2);
	if (whole_switch) {
		topo_leave_out(b, 3, 2, 2);
		return topo_build(b);
	}
	add_triangle_switch(b, 2);
	topo_leave_out(b, 2, 2, 1);
	topo_add_link(b, 2, 1, 3, 2);
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

/* Epochs of switches 1, 2, 3 as digits; nothing is ever drained for a single LID. */
static unsigned order(uint8_t old_2, uint8_t old_3, uint8_t new_2, uint8_t new_3)
{
	_cleanup_(topo_unrefp) struct topo *t = triangle();
	_cleanup_(routes_unrefp) struct routes *old = routes_to_1(t, old_2, old_3);
	_cleanup_(routes_unrefp) struct routes *new = routes_to_1(t, new_2, new_3);
	_cleanup_(transition_freep) struct transition *found = transition_find(old, new);

	if (!found)
		return 0;
	assert_int_equal(found->n_lids, 0);
	return transition_epoch(found, 0, 0) * 100 + transition_epoch(found, 1, 0) * 10 +
	       transition_epoch(found, 2, 0);
}

static void nothing_changed(void **state)
{
	assert_int_equal(order(2, 1, 2, 1), 0);
}

/* 2 went straight to 1 and 3 over 2; now 3 goes straight, first, and then 2 over 3. */
static void turned_round(void **state)
{
	assert_int_equal(order(2, 2, 1, 1), 10);
}

/* 3 went over 2 and goes straight now: 2 never points at 3. */
static void shortened(void **state)
{
	assert_int_equal(order(2, 2, 2, 1), 0);
}

/* An entry that led nowhere cannot be part of a loop with itself. */
static void filled_in(void **state)
{
	assert_int_equal(order(LFT_NO_PORT, 1, 1, 1), 0);
}

/* Two LIDs of one block turn round in opposite directions: one of them is drained. */
static void opposite_orders(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = triangle();
	_cleanup_(routes_unrefp) struct routes *old = routes_to_1(t, 2, 2);
	_cleanup_(routes_unrefp) struct routes *new = routes_to_1(t, 1, 1);
	struct transition *found;

	routes_row(old, 1)[3] = 1; /* 2 and 3 to LID 3, which stands for switch 1 as well */
	routes_row(old, 2)[3] = 1;
	routes_row(new, 1)[3] = 2;
	routes_row(new, 2)[3] = 2;
	found = transition_find(old, new);
	assert_non_null(found);
	assert_int_equal(found->n_lids, 1);
	assert_int_equal(found->drain[1], 0);
	assert_int_equal(found->drain[3], 1);
	transition_free(found);
}

/* The cable that the loop would need is gone: every order is good. */
static void a_cable_that_is_gone_is_a_dead_end(void **state)
{
	_cleanup_(topo_unrefp) struct topo *whole = triangle();
	struct topocut *cut = topocut_new(whole);
	_cleanup_(routes_unrefp) struct routes *old = routes_to_1(whole, 2, 2), *new = NULL;
	struct topo *t;

	cut->ports[whole->switches[1].first_port + 1] = true; /* between 2 and 3 */
	t = topocut_apply(whole, cut);
	new = routes_to_1(t, 1, 1);
	assert_null(transition_find(old, new));
	topocut_free(cut);
	topo_unref(t);
}

/* A LID goes round by port 1, and out by port 3: of switch `was` before, of switch 1 now. */
static struct transition *out_at_1(struct topo *old_topo, struct topo *new_topo, guid_t was)
{
	_cleanup_(routes_unrefp) struct routes *old = routes_new(old_topo, "hand", 3);
	_cleanup_(routes_unrefp) struct routes *new = routes_new(new_topo, "hand", 3);

	for (uint32_t sw = 0; sw < old_topo->n_switches; sw++)
		routes_row(old, sw)[1] = 1;
	for (uint32_t sw = 0; sw < new_topo->n_switches; sw++)
		routes_row(new, sw)[1] = 1;
	routes_row(old, topo_find_switch(old_topo, was))[1] = 3;
	routes_row(new, topo_find_switch(new_topo, 1))[1] = 3;
	return transition_find(old, new);
}

/*
 * Round the triangle to 2, and out there; now round to 1. The old entry of 1 leads over a cable
 * that is drained and carries packets: 1 comes first, or what 2 sends round comes back to it.
 */
static void a_cable_that_is_left_out_carries_packets(void **state)
{
	_cleanup_(topo_unrefp) struct topo *whole = triangle(), *drained = left_out(false);
	_cleanup_(transition_freep) struct transition *t = out_at_1(whole, drained, 2);

	assert_non_null(t);
	assert_int_equal(t->n_lids, 0);
	assert_true(transition_epoch(t, 0, 0) < transition_epoch(t, 1, 0));
}

/* It was left out before as well, and entries of a LID without a way were kept. */
static void a_cable_that_was_left_out_before_carries_packets(void **state)
{
	_cleanup_(topo_unrefp) struct topo *drained = left_out(false);
	_cleanup_(transition_freep) struct transition *t = out_at_1(drained, drained, 2);

	assert_non_null(t);
	assert_int_equal(t->n_lids, 0);
	assert_true(transition_epoch(t, 0, 0) < transition_epoch(t, 1, 0));
}

/* The same over switch 2, which is isolated and has the table of before. */
static void a_switch_that_is_left_out_passes_packets_on(void **state)
{
	_cleanup_(topo_unrefp) struct topo *whole = triangle(), *isolated = left_out(true);
	_cleanup_(transition_freep) struct transition *t = out_at_1(whole, isolated, 3);

	assert_non_null(t);
	assert_int_equal(t->n_lids, 0);
	assert_true(transition_epoch(t, 0, 0) < transition_epoch(t, 1, 0));
}

/* ---- whatever the order within an epoch, nothing ever loops -------------------------------- */

#define SWITCHES_MOST 256

/* Tables half way. */
struct halfway {
	const struct routes *old, *new;
	const struct transition *tr;
	struct routes *now; /* rows of new->topo */
	uint32_t *to;	    /* behind(), of each switch and port */
	bool written;
};

static uint8_t old_entry(const struct halfway *w, uint32_t sw, lid_t lid)
{
	uint32_t o = topo_find_switch(w->old->topo, w->new->topo->switches[sw].guid);

	return o == TOPO_NONE ? LFT_NO_PORT : routes_port(w->old, o, lid);
}

/*
 * Cables that came back carry nothing until all tables are written: only then they are activated.
 */
static uint32_t behind(const struct halfway *w, uint32_t sw, uint8_t port)
{
	const struct topo *t = w->new->topo, *before = w->old->topo;
	uint32_t o = topo_find_switch(before, t->switches[sw].guid), next;

	if (!port || port > t->switches[sw].n_ports)
		return TOPO_NONE;
	next = topo_port(t, sw, port)->sw;
	if (w->written || next == TOPO_NONE)
		return next;
	if (o == TOPO_NONE || port > before->switches[o].n_ports)
		return TOPO_NONE;
	o = topo_port(before, o, port)->sw;
	return o != TOPO_NONE && before->switches[o].guid == t->switches[next].guid ? next
										     : TOPO_NONE;
}

static void look_behind(struct halfway *w)
{
	for (uint32_t sw = 0; sw < w->new->topo->n_switches; sw++)
		for (unsigned port = 0; port <= UINT8_MAX; port++)
			w->to[sw << 8 | port] = behind(w, sw, (uint8_t)port);
}

/* `passed`: the start from which a way came by first; ways of starts before have an end. */
static void assert_no_loop(const struct halfway *w, uint32_t block)
{
	uint32_t n = w->new->topo->n_switches, first = block * LFT_BLOCK_LIDS;
	uint32_t end = MIN(first + LFT_BLOCK_LIDS, w->new->top + 1u), passed[SWITCHES_MOST];
	const uint8_t *rows[SWITCHES_MOST];

	for (uint32_t sw = 0; sw < n; sw++)
		rows[sw] = routes_row(w->now, sw);
	for (uint32_t lid = first; lid < end; lid++) {
		memset(passed, 0, n * sizeof(*passed));
		for (uint32_t start = 0; start < n; start++) {
			uint32_t sw = start;

			for (; sw != TOPO_NONE && !passed[sw]; sw = w->to[sw << 8 | rows[sw][lid]])
				passed[sw] = start + 1;
			assert_true(sw == TOPO_NONE || passed[sw] <= start);
		}
	}
}

static bool differs(const struct halfway *w, uint32_t sw, uint32_t block)
{
	uint32_t first = block * LFT_BLOCK_LIDS;

	return memcmp(routes_row(w->now, sw) + first, routes_row(w->new, sw) + first,
		      LFT_BLOCK_LIDS);
}

static void write_block(const struct halfway *w, uint32_t sw, uint32_t block)
{
	uint32_t first = block * LFT_BLOCK_LIDS;

	memcpy(routes_row(w->now, sw) + first, routes_row(w->new, sw) + first, LFT_BLOCK_LIDS);
}

static void drain(const struct halfway *w, uint32_t sw, uint32_t block)
{
	for (uint32_t lid = block * LFT_BLOCK_LIDS; lid < (block + 1) * LFT_BLOCK_LIDS; lid++)
		if (w->tr && lid <= w->tr->top && w->tr->drain[lid] &&
		    routes_row(w->now, sw)[lid] != routes_row(w->new, sw)[lid])
			routes_row(w->now, sw)[lid] = LFT_NO_PORT;
}

static void write_shuffled(const struct halfway *w, uint32_t block, uint32_t *sws, uint32_t n,
			   unsigned *random)
{
	for (; n; n--) {
		uint32_t at = (*random = *random * 1103515245 + 12345) / 65536 % n;

		write_block(w, sws[at], block);
		sws[at] = sws[n - 1];
		assert_no_loop(w, block);
	}
}

/* Every subset of up to 10 switches; of more, one random order. */
static void write_epoch(const struct halfway *w, uint32_t block, unsigned epoch, unsigned *random)
{
	uint32_t n = 0, sws[SWITCHES_MOST];
	uint8_t before[10][LFT_BLOCK_LIDS];

	for (uint32_t sw = 0; sw < w->new->topo->n_switches; sw++)
		if (differs(w, sw, block) &&
		    (w->tr ? transition_epoch(w->tr, sw, block) : 0) == epoch)
			sws[n++] = sw;
	if (n > 10) {
		write_shuffled(w, block, sws, n, random);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		memcpy(before[i], routes_row(w->now, sws[i]) + block * LFT_BLOCK_LIDS,
		       LFT_BLOCK_LIDS);
	for (uint32_t set = 0; set < 1u << n; set++) {
		for (uint32_t i = 0; i < n; i++)
			if (set >> i & 1)
				write_block(w, sws[i], block);
			else
				memcpy(routes_row(w->now, sws[i]) + block * LFT_BLOCK_LIDS,
				       before[i], LFT_BLOCK_LIDS);
		assert_no_loop(w, block);
	}
}

static void assert_safe(const struct routes *old, const struct routes *new, unsigned seed)
{
	_cleanup_(transition_freep) struct transition *tr = transition_find(old, new);
	_cleanup_(routes_unrefp) struct routes *now = routes_new(new->topo, "halfway", new->top);
	struct halfway w = { .old = old, .new = new, .tr = tr, .now = now };
	uint32_t blocks = new->row_size / LFT_BLOCK_LIDS;

	assert_in_range(new->topo->n_switches, 1, SWITCHES_MOST);
	w.to = xcalloc(new->topo->n_switches << 8, sizeof(*w.to));
	look_behind(&w);
	for (uint32_t sw = 0; sw < new->topo->n_switches; sw++)
		for (uint32_t lid = 0; lid < new->row_size; lid++)
			routes_row(now, sw)[lid] = old_entry(&w, sw, (lid_t)lid);
	for (uint32_t block = 0; block < blocks; block++) {
		assert_no_loop(&w, block);
		for (uint32_t sw = 0; sw < new->topo->n_switches; sw++) {
			drain(&w, sw, block);
			assert_no_loop(&w, block);
		}
		for (unsigned epoch = 0; epoch < (tr ? tr->n_epochs : 1); epoch++)
			write_epoch(&w, block, epoch, &seed);
		for (uint32_t sw = 0; sw < new->topo->n_switches; sw++)
			assert_false(differs(&w, sw, block));
	}
	w.written = true;
	look_behind(&w);
	for (uint32_t block = 0; block < blocks; block++)
		assert_no_loop(&w, block);
	free(w.to);
}

static struct topo *any_fabric(unsigned number)
{
	const struct topogen o = { .seed = number };

	switch (number % 4) {
	case 0: return topogen_random(4 + number % 13, 3 + number % 3, 3, &o);
	case 1: return topogen_fat_tree3(4, &o);
	case 2: return topogen_torus((unsigned[]){ 3 + number % 3, 3, 1 + number % 2 }, 2, &o);
	}
	return topogen_dragonfly(4, 3, 2, &o);
}

static struct routes *route(const struct topo *t, const struct routes *previous)
{
	const struct route_job job = { .topo = t, .previous = previous, .threads = 1 };
	char why[128];

	return route_engine_find("minhop")->compute(&job, why, sizeof(why));
}

/* Cuts, repairs, switches that leave and return; with memory and without. */
static void damage_never_loops(void **state)
{
	for (unsigned number = 0; number < 48; number++) {
		struct topo *whole = any_fabric(number);
		struct topocut *cut = topocut_new(whole);
		struct routes *r = route(whole, NULL);
		unsigned random = number, n;
		uint32_t *cables = topocut_cables(whole, &n);

		print_message("# seed %u\n", number);
		for (unsigned i = 0; i < 12 && n; i++) {
			unsigned draw = (random = random * 1103515245 + 12345) / 65536;
			struct routes *next;
			struct topo *t;

			if (draw % 5)
				cut->ports[cables[draw / 8 % n]] ^= true;
			else
				cut->switches[draw / 8 % whole->n_switches] ^= true;
			t = topocut_apply(whole, cut);
			next = route(t, draw & 1 ? r : NULL);
			assert_safe(r, next, draw);
			routes_unref(r);
			topo_unref(t);
			r = next;
		}
		routes_unref(r);
		topocut_free(cut);
		topo_unref(whole);
		free(cables);
	}
}

/* Every LID belongs to another port afterwards. */
static void lids_that_change_owners_never_loop(void **state)
{
	for (unsigned number = 0; number < 12; number++) {
		struct topogen o = { .seed = number, .random_lids = true };
		struct topo *t = topogen_fat_tree3(4, NULL), *other = topogen_fat_tree3(4, &o);
		struct routes *old = route(t, NULL), *new = route(other, old);

		print_message("# seed %u\n", number);
		assert_safe(old, new, number);
		routes_unref(old);
		routes_unref(new);
		topo_unref(t);
		topo_unref(other);
	}
}

/* A leaf of the 1,024-host tree loses an uplink: two epochs, nothing drained. */
static void a_lost_uplink_needs_no_drain(void **state)
{
	struct topo *whole = topogen_fat_tree3(16, NULL), *t;
	struct topocut *cut = topocut_new(whole);
	struct routes *old = route(whole, NULL), *new;
	struct transition *tr;

	cut->ports[whole->switches[0].first_port + 9] = true; /* ports 1..8: hosts */
	t = topocut_apply(whole, cut);
	new = route(t, old);
	tr = transition_find(old, new);
	assert_non_null(tr);
	assert_int_equal(tr->n_lids, 0);
	assert_int_equal(tr->n_epochs, 2);
	transition_free(tr);
	routes_unref(old);
	routes_unref(new);
	topocut_free(cut);
	topo_unref(whole);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changed),
		cmocka_unit_test(turned_round),
		cmocka_unit_test(shortened),
		cmocka_unit_test(filled_in),
		cmocka_unit_test(opposite_orders),
		cmocka_unit_test(a_cable_that_is_gone_is_a_dead_end),
		cmocka_unit_test(a_cable_that_is_left_out_carries_packets),
		cmocka_unit_test(a_cable_that_was_left_out_before_carries_packets),
		cmocka_unit_test(a_switch_that_is_left_out_passes_packets_on),
		cmocka_unit_test(damage_never_loops),
		cmocka_unit_test(lids_that_change_owners_never_loop),
		cmocka_unit_test(a_lost_uplink_needs_no_drain),
	};

	return cmocka_run_group_tests_name("transition", tests, NULL, NULL);
}
