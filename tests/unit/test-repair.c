// SPDX-License-Identifier: BSD-2-Clause
/*
 * After a lost cable or switch: distances are those of a computation from scratch, entries lead
 * nearer, few of them change.
 */
#include "dump/tree_order.h"
#include "route/core/renumber.h"
#include "route/proof/transition.h"
#include "route/select/keep_tables.h"
#include "route/tree/tree.h"
#include "tests/lib/rounds.h"
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
	d = r->places ? tree_distances(&order, g, NULL, n, 1, NULL) : distances_new(g, 1, NULL);
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
	for (unsigned number = 0; number < test_rounds(20); number++) {
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

/* ---- switches -------------------------------------------------------------------------------- */

/* Were these derived from those of before, or computed anew? */
static bool is_repair(const struct routes *r, const struct routes *before)
{
	size_t n;
	struct routes_entry *changes = routes_changes(before, r, &n);

	free(changes);
	return changes;
}

static struct routes *numbered_as(const struct routes *r, const struct topo *t)
{
	struct renumbering m = renumbering_of(r->topo, t);
	struct routes *ret = routes_renumber(r, &m);

	renumbering_done(&m);
	return ret;
}

/* Returns in how many of two steps, lost and back, tables were repaired. */
static unsigned lose_switch(const char *engine, const struct topo *whole, uint32_t sw)
{
	struct topocut *cut = topocut_new(whole);
	struct routes *first = updown_with(engine, whole, NULL, NULL, 1), *lost, *last;
	struct topo *without, *bare;
	unsigned n_repaired;

	cut->switches[sw] = true;
	without = topocut_apply(whole, cut);
	bare = topo_with_bare(without, whole);
	assert_int_equal(bare->n_switches, whole->n_switches);
	lost = updown_with(engine, bare, first, NULL, 1);
	n_repaired = is_repair(lost, first);
	/* as they are when the switch is not known any more; and then it comes back */
	routes_unref(first);
	first = numbered_as(lost, without);
	assert_repaired(first, lost);
	assert_int_equal(first->topo->n_switches + 1, whole->n_switches);
	routes_unref(lost);
	lost = numbered_as(first, bare);
	last = updown_with(engine, whole, lost, NULL, 1);
	assert_repaired(last, lost);
	n_repaired += is_repair(last, lost);
	routes_unref(first);
	routes_unref(lost);
	routes_unref(last);
	topo_unref(without);
	topo_unref(bare);
	topocut_free(cut);
	return n_repaired;
}

/* Up and down as well, also for the switch at the apex and those above it alone. */
static void a_switch_costs_a_repair(void **state)
{
	struct topo *trees[] = { topogen_fat_tree3(6, NULL), topogen_fat_tree2(12, 6, 4, 1, NULL) };

	for (unsigned i = 0; i < ARRAY_SIZE(trees); i++) {
		for (unsigned e = 0; e < ARRAY_SIZE(engines); e++) {
			uint32_t n = 0, n_repaired = 0;

			for (uint32_t s = e % TEST_THINNED; s < trees[i]->n_switches;
			     s += test_stride(1), n += 2)
				n_repaired += lose_switch(engines[e], trees[i], s);
			print_message("# %s: %u of %u\n", engines[e], n_repaired, n);
			assert_int_equal(n_repaired, n);
		}
		topo_unref(trees[i]);
	}
}

/* Without end ports, next to the switch that is the highest of all. */
static uint32_t find_root(const struct routes *r, const uint32_t *hosts)
{
	const struct topo *t = r->topo;

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; !hosts[s] && p <= t->switches[s].n_ports; p++)
			if (topo_behind(t, s, p) != TOPO_NONE && !r->places[topo_behind(t, s, p)])
				return s;
	fail_msg("no such switch");
	return 0;
}

/* Entries for end ports that changed although they still led nearer. */
static uint32_t count_needless(const struct routes *now, const struct routes *before)
{
	const struct topo *t = now->topo;
	uint32_t n = t->n_switches, count = 0;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		for (uint32_t s = 0; s < n; s++) {
			const uint8_t *hops = now->hops + (size_t)t->hosts[h].sw * n;
			uint8_t port = routes_port(before, s, t->hosts[h].lid);
			uint32_t next = topo_behind(t, s, port);

			count += port != routes_port(now, s, t->hosts[h].lid) &&
				 next != TOPO_NONE && hops[next] + 1 == hops[s];
		}
	return count;
}

/*
 * A switch that the switches above it, and with them those of all pods, reached the highest one by:
 * another one takes its part, and the order stays what it was but for that.
 */
static void a_switch_next_to_the_apex_costs_what_it_must(void **state)
{
	struct topo *whole = topogen_fat_tree3(16, NULL), *without, *bare;
	struct routes *first = updown_with("updn", whole, NULL, NULL, 1), *lost, *known, *last;
	struct topocut *cut = topocut_new(whole);
	uint32_t *hosts = topo_count_hosts(whole);

	cut->switches[find_root(first, hosts)] = true;
	without = topocut_apply(whole, cut);
	bare = topo_with_bare(without, whole);
	lost = updown_with("updn", bare, first, NULL, 1);
	known = numbered_as(lost, without);
	assert_repaired(known, lost);
	assert_true(is_repair(lost, first));
	assert_int_equal(count_needless(lost, first), 0);
	last = updown_with("updn", whole, lost, NULL, 1);
	assert_repaired(last, lost);
	assert_true(is_repair(last, lost));
	assert_int_equal(count_needless(last, lost), 0);
	assert_memory_equal(first->places, last->places,
			    whole->n_switches * sizeof(*last->places));
	routes_unref(first);
	routes_unref(lost);
	routes_unref(known);
	routes_unref(last);
	topo_unref(without);
	topo_unref(bare);
	topo_unref(whole);
	topocut_free(cut);
	free(hosts);
}

/* ---- cables ---------------------------------------------------------------------------------- */

/* Hops between all switches with end ports. */
static uint64_t leaf_hops(const struct routes *r)
{
	_cleanup_free_ uint32_t *hosts = topo_count_hosts(r->topo);
	uint32_t n = r->topo->n_switches;
	uint64_t sum = 0;

	for (uint32_t s = 0; s < n; s++)
		for (uint32_t to = 0; to < n; to++)
			if (hosts[s] && hosts[to])
				sum += r->hops[to * n + s];
	return sum;
}

/* Are they as good as from scratch, and derived from those of before? */
static bool is_good_repair(const char *engine, const struct routes *r, const struct routes *before,
			   const struct route_options *o)
{
	struct routes *fresh = updown_with(engine, r->topo, NULL, o, 1);
	struct route_verdict v, anew;

	assert_repaired(r, before);
	routes_check(r, 1, &v);
	routes_check(fresh, 1, &anew);
	assert_int_equal(v.unreachable, 0);
	assert_int_equal(v.switch_unreachable, 0);
	assert_false(v.credit_loop);
	assert_int_equal(leaf_hops(r), leaf_hops(fresh));
	assert_true(v.max_load <= 1.2 * anew.max_load); /* before anything is balanced */
	routes_unref(fresh);
	return is_repair(r, before);
}

/* Returns in how many of two steps, lost and back, tables were repaired. */
static unsigned lose_cable(const char *engine, const struct topo *whole, uint32_t end,
			   const struct route_options *o)
{
	struct topocut *cut = topocut_new(whole);
	struct routes *first = updown_with(engine, whole, NULL, o, 1), *lost, *last;
	struct topo *t;
	unsigned n_repaired;

	cut->ports[end] = true;
	t = topocut_apply(whole, cut);
	lost = updown_with(engine, t, first, o, 1);
	last = updown_with(engine, whole, lost, o, 1);
	n_repaired = is_good_repair(engine, lost, first, o);
	n_repaired += is_good_repair(engine, last, lost, o);
	routes_unref(first);
	routes_unref(lost);
	routes_unref(last);
	topo_unref(t);
	topocut_free(cut);
	return n_repaired;
}

/* Every cable between switches, those next to the roots and the apex as well. */
static void a_cable_costs_a_repair(void **state)
{
	const struct route_options none = { .n_order = 0 };
	struct topo *trees[] = { topogen_fat_tree3(6, NULL), topogen_fat_tree2(12, 6, 4, 1, NULL),
				 topogen_fat_tree2(8, 4, 6, 2, NULL) };

	for (unsigned i = 0; i < ARRAY_SIZE(trees); i++) {
		uint32_t n, *cables = topocut_cables(trees[i], &n), *roots;
		uint32_t n_tops = updn_roots(trees[i], &none, &roots);
		guid_t *tops = xcalloc(n_tops, sizeof(*tops));

		for (uint32_t k = 0; k < n_tops; k++)
			tops[k] = trees[i]->switches[roots[k]].guid;
		for (unsigned e = 0; e < 2 * ARRAY_SIZE(engines); e++) {
			struct route_options o = {
				.roots = { .guids = tops, .n = e % 2 * n_tops, .given = e % 2 },
			};
			uint32_t lost = 0, n_repaired = 0;

			/* each of them with roots that are told or with those that are found */
			for (uint32_t c = e % 2; c < n; c += test_stride(2), lost += 2)
				n_repaired += lose_cable(engines[e / 2], trees[i], cables[c], &o);
			print_message("# tree %u, %s\n", i, engines[e / 2]);
			assert_int_equal(n_repaired, lost);
		}
		free(roots);
		free(tops);
		free(cables);
		topo_unref(trees[i]);
	}
}

static struct routes *keep(const char *list, const struct topo *t, const struct routes *before)
{
	struct keep_report report;
	struct route_verdict v;
	struct routes *r = keep_tables(&(struct route_chain){ .list = list }, &(struct route_job){
		.topo = t, .previous = before, .threads = 1,
	}, false, &report);

	assert_non_null(r);
	assert_true(topo_is_same(r->topo, t));
	routes_check(r, 1, &v);
	assert_int_equal(v.pairs, r->judged->pairs);
	assert_int_equal(v.unreachable, r->judged->unreachable);
	assert_int_equal(v.lost, 0);
	assert_int_equal(v.switch_unreachable, r->judged->switch_unreachable);
	assert_false(v.credit_loop || r->judged->credit_loop);
	assert_int_equal(v.max_load, r->judged->max_load);
	assert_int_equal(v.min_load, r->judged->min_load);
	assert_int_equal(v.detours, r->judged->detours);
	assert_int_equal(v.max_hops, r->judged->max_hops);
	return r;
}

/* The order of writing is the same whether journals tell what differs, or all rows are compared. */
static void assert_same_order(const struct routes *before, struct routes *r)
{
	struct transition *a = transition_find(before, r), *b;
	struct routes *alike = atomic_exchange(&r->cache->alike, NULL);
	struct routes *copy = routes_derive(r->topo, r);

	routes_touch(copy);
	b = transition_find(before, copy);
	assert_int_equal(!a, !b);
	if (a) {
		size_t n = (size_t)r->topo->n_switches * a->n_blocks;

		assert_int_equal(a->n_epochs, b->n_epochs);
		assert_int_equal(a->n_lids, b->n_lids);
		assert_memory_equal(a->epochs, b->epochs, n * sizeof(*a->epochs));
		assert_memory_equal(a->drain, b->drain, a->top + 1u);
	}
	transition_free(a);
	transition_free(b);
	routes_unref(copy);
	r->cache->alike = alike;
}

/*
 * Tables without a switch keep those with the numbers of all, for when it comes back: the same
 * bytes come of it as without them.
 */
static void a_switch_comes_back_to_tables_that_are_there(void **state)
{
	static const char *const lists[] = { "auto", "minhop", "updn" };
	struct topo *whole = topogen_fat_tree3(8, NULL);
	struct topocut *cut = topocut_new(whole);
	struct routes *other = NULL;

	for (uint32_t s = 3; s < whole->n_switches; s += 11)
		for (unsigned i = 0; i < 2 * ARRAY_SIZE(lists); i++) {
			struct routes *first = keep(lists[i / 2], whole, NULL), *lost, *last;
			struct topo *t;

			cut->switches[s] = true;
			t = topocut_apply(whole, cut);
			cut->switches[s] = false;
			lost = keep(lists[i / 2], t, first);
			assert_non_null(lost->cache->alike);
			assert_true(routes_are_alike(lost->cache->alike, first));
			assert_same_order(first, lost);
			if (i % 2)
				routes_unref(atomic_exchange(&lost->cache->alike, NULL));
			last = keep(lists[i / 2], whole, lost);
			assert_null(lost->cache->alike);
			assert_same_order(lost, last);
			print_message("# %u %s %u\n", s, lists[i / 2], i % 2);
			if (other)
				assert_same_tables(other, last);
			routes_unref(other);
			other = i % 2 ? NULL : routes_ref(last);
			routes_unref(first);
			routes_unref(lost);
			routes_unref(last);
			topo_unref(t);
		}
	topocut_free(cut);
	topo_unref(whole);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/* The host with number `from` has the port of the one with number `to`, which is gone. */
static struct topo *move_host(const struct topo *whole, uint32_t from, uint32_t to)
{
	struct topocut *cut = topocut_new(whole);
	const struct topo_host *place = &whole->hosts[to];
	struct topo_host *h;
	struct topo_port *old, *new;
	struct topo *t;
	uint32_t host;

	cut->hosts[to] = true;
	t = topocut_apply(whole, cut);
	host = topo_find_host(t, whole->hosts[from].guid);
	h = &t->hosts[host];
	old = &t->ports[t->switches[h->sw].first_port + h->sw_port];
	new = &t->ports[t->switches[place->sw].first_port + place->sw_port];
	*new = *old;
	*old = (struct topo_port){ .sw = TOPO_NONE, .host = TOPO_NONE };
	h->sw = place->sw;
	h->sw_port = place->sw_port;
	topocut_free(cut);
	return t;
}

/* With its LID. */
static void a_host_that_moved_costs_a_repair(void **state)
{
	struct topo *whole = topogen_fat_tree3(8, NULL);

	for (unsigned i = 0; i < 2 * ARRAY_SIZE(engines); i++) {
		uint32_t from = 3 + i, to = i % 3 ? 5 + i : 100 - i;
		struct topo *t = move_host(whole, from, to);
		struct routes *first = keep(engines[i / 2], whole, NULL), *moved, *back;

		moved = keep(engines[i / 2], t, first);
		back = keep(engines[i / 2], whole, moved);
		assert_true(is_repair(moved, first) && is_repair(back, moved));
		assert_int_equal(moved->judged->unreachable, 0);
		assert_true(moved->judged->max_load <= first->judged->max_load * 1.1);
		routes_unref(first);
		routes_unref(moved);
		routes_unref(back);
		topo_unref(t);
	}
	topo_unref(whole);
}

/* The most loaded channel after a quiet minute. */
static uint32_t settled_load(const char *list, const struct topo *t, const struct routes *r)
{
	const struct route_job job = { .topo = t, .previous = r, .threads = 1 };
	struct keep_report report;
	_cleanup_(routes_unrefp) struct routes *better = keep_tables_balanced(
		&(struct route_chain){ .list = list }, &job, &report);

	return better ? report.choice.verdict.max_load : r->judged->max_load;
}

/*
 * The most loaded channel of updn and ftree without one cable, at the apex or elsewhere, with it
 * again, and after a quiet minute.
 */
static void a_cable_leaves_even_load(void **state)
{
	static const char *const lists[] = { "updn", "ftree" };
	struct topo *whole = topogen_fat_tree3(12, NULL);
	uint32_t n, *cables = topocut_cables(whole, &n);

	for (uint32_t i = 0; i < n; i += 15) {
		struct topocut *cut = topocut_new(whole);
		struct routes *first = keep(lists[i % 2], whole, NULL), *lost, *fresh, *last;
		struct topo *t;

		cut->ports[cables[i]] = true;
		t = topocut_apply(whole, cut);
		lost = keep(lists[i % 2], t, first);
		fresh = keep(lists[i % 2], t, NULL);
		last = keep(lists[i % 2], whole, lost);
		print_message("# %u: %u %u, %u %u\n", i, lost->judged->max_load,
			      fresh->judged->max_load, last->judged->max_load,
			      first->judged->max_load);
		assert_true(lost->judged->max_load <= 1.02 * fresh->judged->max_load);
		assert_true(last->judged->max_load <= 1.1 * first->judged->max_load);
		assert_true(settled_load(lists[i % 2], whole, last) <=
			    1.02 * first->judged->max_load);
		routes_unref(first);
		routes_unref(lost);
		routes_unref(fresh);
		routes_unref(last);
		topo_unref(t);
		topocut_free(cut);
	}
	free(cables);
	topo_unref(whole);
}

/*
 * The most loaded channel carries what it would with tables from scratch: without one switch (2 %),
 * and with all of them once there was a quiet minute; before that little more.
 */
static void a_switch_leaves_even_load(void **state)
{
	struct topo *whole = topogen_fat_tree3(12, NULL);
	struct topocut *cut = topocut_new(whole);
	struct routes *first = keep("minhop", whole, NULL);

	for (uint32_t s = 0; s < whole->n_switches; s += 7) {
		struct routes *lost, *fresh, *last;
		struct topo *t;

		cut->switches[s] = true;
		t = topocut_apply(whole, cut);
		cut->switches[s] = false;
		lost = keep("minhop", t, first);
		fresh = keep("minhop", t, NULL);
		last = keep("minhop", whole, lost);
		print_message("# %u: %u %u, %u %u\n", s, lost->judged->max_load,
			      fresh->judged->max_load, last->judged->max_load,
			      first->judged->max_load);
		assert_true(lost->judged->max_load <= 1.02 * fresh->judged->max_load);
		assert_true(last->judged->max_load <= 1.1 * first->judged->max_load);
		assert_true(settled_load("minhop", whole, last) <= 1.02 * first->judged->max_load);
		routes_unref(lost);
		routes_unref(fresh);
		routes_unref(last);
		topo_unref(t);
	}
	routes_unref(first);
	topocut_free(cut);
	topo_unref(whole);
}

/*
 * Switches, cables and hosts go and come at random: the verdict is what a check of all tables
 * says.
 */
/* Another switch in the place of this one, whether it is there now or not. */
static struct topo *replace(struct topo *whole, uint32_t sw, unsigned turn)
{
	struct topo *ret = topocut_replaced(whole, sw, turn % 2 ? turn : UINT64_MAX - 1 - turn,
					    (lid_t)(whole->max_lid + 1));

	assert_int_equal(topo_find_switch(ret, ret->switches[sw].guid), sw);
	topo_unref(whole);
	return ret;
}

static void verdicts_are_those_from_scratch(void **state)
{
	static const char *const lists[] = { "auto", "minhop", "updn", "ftree updn" };

	for (unsigned number = 0; number < test_rounds(48); number++) {
		const char *list = lists[number % ARRAY_SIZE(lists)];
		struct topogen o = { .seed = number, .random_lids = number & 4 };
		struct topo *whole = number & 8 ? topogen_fat_tree3(4 + number % 3 * 2, &o)
						: topogen_fat_tree2(8, 4, 4, 1 + number % 2, &o);
		struct topocut *cut = topocut_new(whole);
		struct routes *r = keep(list, whole, NULL);
		uint64_t seed = number;

		print_message("# seed %u, %s\n", number, list);
		for (unsigned i = 0; i < 12; i++) {
			uint64_t sw = random_next(&seed) % whole->n_switches;
			struct routes *next;
			struct topo *t;

			if (i % 4 == 3)
				whole = replace(whole, (uint32_t)sw, i / 4);
			if (i % 3)
				cut->switches[sw] = !cut->switches[sw];
			else
				topocut_event(cut, whole, &seed);
			t = topocut_apply(whole, cut);
			next = keep(list, t, r);
			routes_unref(r);
			topo_unref(t);
			r = next;
		}
		routes_unref(r);
		topocut_free(cut);
		topo_unref(whole);
	}
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

/* Three leaves, two spines, and one that has its cables at ports beyond 64. */
static struct topo *with_a_large_spine(void)
{
	struct topo_builder *b = topo_builder_new();

	for (unsigned s = 1; s <= 6; s++)
		topo_add_switch(b, &(struct topo_switch){
			.guid = s, .n_ports = s == 6 ? 80 : 8, .lid = (lid_t)s, .lft_cap = 0xC000,
		});
	for (unsigned leaf = 1; leaf <= 3; leaf++) {
		topo_add_host(b, &(struct topo_host){ .guid = leaf, .lid = (lid_t)(10 + leaf) });
		topo_add_host_link(b, leaf, leaf, 8);
		for (unsigned s = 4; s <= 6; s++)
			topo_add_link(b, leaf, (uint8_t)s, s, (uint8_t)(s == 6 ? 70 + leaf : leaf));
	}
	return topo_build(b);
}

/* The proof without it has one word for the ports of a switch, which is not enough for it. */
static void a_large_switch_is_not_added_to_a_small_proof(void **state)
{
	struct topo *whole = with_a_large_spine(), *without, *bare;
	struct topocut *cut = topocut_new(whole);
	struct routes *r, *as_bare, *last;
	struct route_verdict v, fresh;
	struct renumbering m;

	cut->switches[5] = true;
	without = topocut_apply(whole, cut);
	bare = topo_with_bare(without, whole);
	r = updown_with("minhop", without, NULL, NULL, 1);
	routes_check_after(NULL, r, 1, &v);
	assert_non_null(r->cache->proof);
	as_bare = numbered_as(r, bare);
	m = renumbering_of(without, bare);
	routes_check_renumber(r, as_bare, &m, &v);
	renumbering_done(&m);
	last = updown_with("minhop", whole, as_bare, NULL, 1);
	assert_false(routes_check_after(as_bare, last, 1, &v));
	routes_check(last, 1, &fresh);
	assert_memory_equal(&v, &fresh, sizeof(v));
	for (unsigned k = 0; k < 3; k++)
		routes_unref((struct routes *[]){ r, as_bare, last }[k]);
	for (unsigned k = 0; k < 3; k++)
		topo_unref((struct topo *[]){ whole, without, bare }[k]);
	topocut_free(cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_those_from_scratch),
		cmocka_unit_test(trees_are_repaired_as_well),
		cmocka_unit_test(a_switch_costs_a_repair),
		cmocka_unit_test(a_switch_next_to_the_apex_costs_what_it_must),
		cmocka_unit_test(a_cable_costs_a_repair),
		cmocka_unit_test(a_switch_comes_back_to_tables_that_are_there),
		cmocka_unit_test(a_host_that_moved_costs_a_repair),
		cmocka_unit_test(a_cable_leaves_even_load),
		cmocka_unit_test(a_switch_leaves_even_load),
		cmocka_unit_test(verdicts_are_those_from_scratch),
		cmocka_unit_test(tables_from_before_stay_what_they_are),
		cmocka_unit_test(settling_shows_nowhere),
		cmocka_unit_test(a_large_switch_is_not_added_to_a_small_proof),
		cmocka_unit_test(a_way_is_found_whatever_the_radix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
