// SPDX-License-Identifier: BSD-2-Clause
/*
 * After a lost cable: distances are those of a computation from scratch, entries lead nearer, few
 * of them change.
 */
#include "route/tree/tree.h"
#include "tests/lib/topocut.h"
#include "tests/unit/updown-desk.h"
#include "util/random.h"

static const char *const engines[] = { "minhop", "updn", "dnup", "ftree" };

/* Distances say all there is to say about ways: then no entry can be wrong that leads nearer. */
static void assert_repaired(const struct routes *r, const struct routes *before)
{
	uint32_t n = r->topo->n_switches;
	struct graph *g = graph_new(r->topo, NULL);
	struct tree order = { .n = n, .place = r->places, .order = xcalloc(n, sizeof(uint32_t)) };
	struct distances *d;

	for (uint32_t s = 0; r->places && s < n; s++)
		order.order[r->places[s]] = s;
	if (r->places)
		tree_orient(&order, g);
	d = r->places ? tree_distances(&order, g, 1, NULL) : distances_new(g, 1, NULL);
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t to = 0; to < n; to++) {
			uint16_t now = distances_from(d, s)[to], hops = distances_hops(d, now);
			bool down =
				r->downs && r->downs[to * ((n + 63) / 64) + s / 64] >> s % 64 & 1;

			assert_int_equal(r->hops[to * n + s], hops == DISTANCE_NONE ? 0xFF : hops);
			if (r->downs && now != DISTANCE_NONE)
				assert_int_equal(down, (now & DISTANCE_DOWN) != 0);
		}
	if (r->places)
		assert_updown(r);
	else
		assert_minimal(r);
	assert_int_equal(before->top, r->top);
	distances_free(d);
	graph_free(g);
	free(order.order);
}

/* One cable after the other, none of them repaired, until six are gone. */
static void lose_cables(const char *engine, struct topo *whole, uint64_t seed)
{
	struct topocut *cut = topocut_new(whole);
	uint32_t n, *cables = topocut_cables(whole, &n);
	struct routes *r = updown_with(engine, whole, NULL, NULL, 2);

	for (unsigned i = 0; r && n && i < 6; i++) {
		struct routes *next;
		struct topo *t;

		cut->ports[cables[(seed * 31 + i * 17) % n]] = true;
		t = topocut_apply(whole, cut);
		next = updown_with(engine, t, r, NULL, 2);
		if (next)
			assert_repaired(next, r);
		routes_unref(r);
		topo_unref(t);
		r = next;
	}
	routes_unref(r);
	topocut_free(cut);
	free(cables);
	topo_unref(whole);
}

static void distances_are_those_from_scratch(void **state)
{
	for (unsigned number = 0; number < 20; number++) {
		struct topogen o = any_options(number);

		print_message("# seed %u\n", number);
		for (unsigned i = 0; i < ARRAY_SIZE(engines); i++)
			lose_cables(engines[i], any_fabric(number, &o), number);
	}
}

static void trees_are_repaired_as_well(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(engines); i++)
		for (unsigned seed = 0; seed < 3; seed++)
			lose_cables(engines[i], topogen_fat_tree3(6, NULL), seed);
}

/*
 * Tables large enough to share their pages: what was before does not change with what is derived
 * from it.
 */
static void tables_from_before_stay_what_they_are(void **state)
{
	struct topo *whole = topogen_fat_tree3(20, NULL), *t;
	struct topocut *cut = topocut_new(whole);
	uint32_t n, *cables = topocut_cables(whole, &n);
	struct routes *first = updown_with("ftree", whole, NULL, NULL, 2),
		      *last = routes_ref(first);
	size_t size = (size_t)whole->n_switches * first->row_size;
	uint8_t *copy = xmemdup(first->lft, size);

	for (unsigned i = 0; i < 3; i++) {
		struct routes *next;
		uint64_t changed = 0;
		struct route_verdict v;

		cut->ports[cables[i * 777 % n]] = true;
		t = topocut_apply(whole, cut);
		next = updown_with("ftree", t, last, NULL, 2);
		routes_check(next, 2, &v);
		assert_int_equal(v.unreachable, 0);
		assert_false(v.credit_loop);
		for (size_t k = 0; k < size; k++)
			changed += next->lft[k] != last->lft[k];
		assert_in_range(changed, 1, size / 500);
		routes_unref(last);
		last = next;
		topo_unref(t);
	}
	assert_memory_equal(copy, first->lft, size);
	routes_unref(first);
	routes_unref(last);
	free(copy);
	free(cables);
	topocut_free(cut);
	topo_unref(whole);
}

/* Large enough to be moved in more than one part, no part like another. */
static void settling_shows_nowhere(void **state)
{
	struct topo *t = topogen_fat_tree3(28, NULL);
	struct routes *r = routes_new(t, "minhop", t->max_lid), *next, *last;
	size_t size = (size_t)t->n_switches * r->row_size;
	uint64_t random = 1;
	uint8_t *copy;

	for (size_t i = 0; i < size; i++)
		r->lft[i] = (uint8_t)random_next(&random);
	copy = xmemdup(r->lft, size);
	routes_settle(r);
	routes_settle(r);
	assert_memory_equal(copy, r->lft, size);
	next = routes_derive(t, r);
	routes_write(next, 700, 5, 77);
	last = routes_derive(t, next);
	routes_write(last, 3, t->max_lid, 78);
	assert_memory_equal(copy, r->lft, size);
	copy[700u * r->row_size + 5] = 77;
	assert_memory_equal(copy, next->lft, size);
	copy[3u * r->row_size + t->max_lid] = 78;
	assert_memory_equal(copy, last->lft, size);
	routes_unref(r);
	routes_unref(next);
	assert_memory_equal(copy, last->lft, size);
	routes_unref(last);
	free(copy);
	topo_unref(t);
}

/* The port of `sw` that leads to `peer`. */
static uint8_t port_to(const struct topo *t, uint32_t sw, uint32_t peer)
{
	for (unsigned p = 1; p <= t->switches[sw].n_ports; p++)
		if (topo_port(t, sw, p)->sw == peer)
			return (uint8_t)p;
	return 0;
}

/*
 * Of `radix` leaves only every `step`th, from the `first` on, has a cable to the second spine. The
 * one that the first spine uses goes: few of the neighbours of that spine are ways then, and they
 * lie regularly.
 */
static void lose_one_of_few_ways(uint32_t radix, uint32_t step, uint32_t first)
{
	struct topo *whole = topogen_fat_tree2(radix, 2, 1, 1, NULL), *before, *after;
	struct topocut *cut = topocut_new(whole);
	uint32_t spine = radix, to = radix + 1, leaf;
	struct routes *r, *next;

	for (leaf = 0; leaf < radix; leaf++)
		cut->ports[whole->switches[to].first_port + port_to(whole, to, leaf)] =
			leaf % step != first;
	before = topocut_apply(whole, cut);
	r = updown_with("minhop", before, NULL, NULL, 1);
	leaf = topo_port(before, spine, routes_port(r, spine, before->switches[to].lid))->sw;
	cut->ports[whole->switches[to].first_port + port_to(whole, to, leaf)] = true;
	after = topocut_apply(whole, cut);
	next = updown_with("minhop", after, r, NULL, 1);
	assert_repaired(next, r);
	routes_unref(r);
	routes_unref(next);
	topo_unref(before);
	topo_unref(after);
	topo_unref(whole);
	topocut_free(cut);
}

static void a_way_is_found_whatever_the_radix(void **state)
{
	static const uint32_t steps[] = { 2, 3, 5, 7, 11, 13 };

	for (uint32_t radix = 1; radix < LFT_NO_PORT; radix++)
		for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
			if (radix % steps[i])
				continue;
			print_message("# radix %u, every %u\n", radix, steps[i]);
			lose_one_of_few_ways(radix, steps[i], 0);
			lose_one_of_few_ways(radix, steps[i], steps[i] - 1);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_those_from_scratch),
		cmocka_unit_test(trees_are_repaired_as_well),
		cmocka_unit_test(tables_from_before_stay_what_they_are),
		cmocka_unit_test(settling_shows_nowhere),
		cmocka_unit_test(a_way_is_found_whatever_the_radix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
