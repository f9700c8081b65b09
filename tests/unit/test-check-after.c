// SPDX-License-Identifier: BSD-2-Clause
/*
 * Judging what is different comes to what judging all of it comes to, whatever happened in between.
 */
#include "route/proof/check.h"

#include "tests/unit/lanes-desk.h"
#include "route/proof/cdg_internal.h"
#include "route/proof/check_internal.h"
#include "route/select/engines.h"
#include "tests/lib/topocut.h"
#include "tests/unit/route-desk.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void assert_same(const struct route_verdict *a, const struct route_verdict *b)
{
	assert_int_equal(a->pairs, b->pairs);
	assert_int_equal(a->unreachable, b->unreachable);
	assert_int_equal(a->cut, b->cut);
	assert_int_equal(a->lost, b->lost);
	assert_int_equal(a->looping, b->looping);
	assert_int_equal(a->switch_unreachable, b->switch_unreachable);
	assert_int_equal(a->credit_loop, b->credit_loop);
	assert_int_equal(a->cycle_channels, b->cycle_channels);
	assert_int_equal(a->n_vls, b->n_vls);
	assert_int_equal(a->n_sls, b->n_sls);
	assert_int_equal(a->max_hops, b->max_hops);
	assert_float_equal(a->avg_hops, b->avg_hops, 1e-9);
	assert_int_equal(a->detours, b->detours);
	assert_int_equal(a->minimal, b->minimal);
	assert_int_equal(a->max_load, b->max_load);
	assert_int_equal(a->min_load, b->min_load);
	assert_float_equal(a->avg_load, b->avg_load, 1e-6);
	assert_int_equal(a->lost_example.to, b->lost_example.to);
	assert_int_equal(a->lost_example.from, b->lost_example.from);
}

/* `n` entries of any switch lead elsewhere. */
static void turn_entries(struct routes *r, uint64_t *random, unsigned n)
{
	const struct topo *t = r->topo;

	while (n-- && t->n_switches && r->top) {
		uint32_t s = (uint32_t)(next_random(random) % t->n_switches);
		lid_t lid = (lid_t)(1 + next_random(random) % r->top);
		unsigned p = (unsigned)(1 + next_random(random) % t->switches[s].n_ports);

		if (topo_port(t, s, p)->sw != TOPO_NONE)
			routes_write(r, s, lid, (uint8_t)p);
	}
}

static void set_lanes(struct routes *r, unsigned number)
{
	if (number % 3 != 1)
		return;
	r->lanes = sl2vl_new(r->topo, 2, SL2VL_BY_LID, r->row_size, 1);
	for (unsigned lid = 0; lid < r->row_size; lid++)
		r->lanes->sl[lid] = (uint8_t)(lid / 7 % 2);
	r->lanes->sl_mask = number % 2 ? 1 : 15;
}

/* Routes of `t` with the rows of others: ways that are longer than need be now. */
static struct routes *carried(const struct topo *t, struct routes *from)
{
	struct routes *r = routes_new(t, "carried", from->top);

	assert_int_equal(r->row_size, from->row_size);
	for (uint32_t s = 0; s < t->n_switches; s++)
		memcpy(routes_row(r, s), routes_row(from, s), r->row_size);
	routes_unref(from);
	return r;
}

/* The next tables: of the engine; or with all cables there again, still those of before. */
static struct routes *next_routes(const struct topo *now, struct routes *last, unsigned number,
				  unsigned step)
{
	if (now->max_lid != last->top || step % 3 != 2 || number % 2)
		return route(now, last);
	return carried(now, routes_ref(last));
}

/*
 * One fabric, and what befalls it: a cable goes, another, comes back, entries turn. Returns how
 * often it was short.
 */
static unsigned live(unsigned number)
{
	struct topogen o = any_options(number);
	struct topo *t = (o.asides = number & 4, any_fabric(number, &o));
	struct routes *last = route(t, NULL);
	struct route_verdict v, whole;
	uint64_t random = number;
	unsigned n_short = 0;

	set_lanes(last, number);
	routes_check_after(NULL, last, 1, &v);
	routes_check(last, 1, &whole);
	assert_same(&v, &whole);
	for (unsigned step = 0; step < 6; step++) {
		struct routes *r;
		struct topo *now;

		o.without_link = step % 3 == 2 ? 0 : (uint32_t)(1 + next_random(&random) % 40);
		o.without_host = step % 2 ? 0 : (uint32_t)(1 + next_random(&random) % 8);
		o.without_aside = step % 3 ? 0 : 1 + step;
		now = any_fabric(number, &o);
		r = next_routes(now, last, number, step);
		set_lanes(r, number);
		if (step > 2)
			turn_entries(r, &random, step - 2);
		n_short += routes_check_after(last, r, 2, &v);
		routes_check(r, 1, &whole);
		assert_same(&v, &whole);
		routes_unref(last);
		topo_unref(t);
		last = r;
		t = now;
	}
	routes_unref(last);
	topo_unref(t);
	return n_short;
}

static unsigned runs = 36;

static void what_is_different_comes_to_the_whole(void **state)
{
	unsigned n_short = 0;

	for (unsigned number = 1; number <= runs; number++) {
		print_message("# number %u\n", number);
		n_short += live(number);
	}
	print_message("# %u of %u were short\n", n_short, runs * 6);
	assert_true(n_short > runs);
}

/* Judges both ways; true if it was the short way. */
static bool judged_alike(const struct routes *last, const struct routes *r,
			 struct route_verdict *ret)
{
	struct route_verdict whole;
	bool is_short = routes_check_after(last, r, 1, ret);

	routes_check(r, 1, &whole);
	assert_same(ret, &whole);
	return is_short;
}

/*
 * Three switches: a cable is gone, comes back unused, is used, and then is gone round although it
 * is there.
 */
static void ways_become_longer_and_shorter(void **state)
{
	for (unsigned k = 1; k <= 3; k++) {
		struct topo *t = topogen_torus((unsigned[]){ 3, 1, 1 }, 2, NULL);
		struct topo *without = topogen_torus((unsigned[]){ 3, 1, 1 }, 2,
						     &(struct topogen){ .without_link = k });
		struct routes *gone = route(without, NULL), *unused = carried(t, routes_ref(gone));
		struct routes *used = route(t, NULL), *round = carried(t, routes_ref(gone));
		struct route_verdict v;

		assert_false(judged_alike(NULL, gone, &v));
		assert_true(v.minimal);
		assert_true(judged_alike(gone, unused, &v));
		assert_int_equal(v.detours, 2 * 2 * 2);
		assert_true(judged_alike(unused, used, &v));
		assert_true(v.minimal);
		assert_true(judged_alike(used, round, &v));
		assert_int_equal(v.detours, 2 * 2 * 2);
		routes_unref(gone);
		routes_unref(unused);
		routes_unref(used);
		routes_unref(round);
		topo_unref(without);
		topo_unref(t);
	}
}

/*
 * One host goes, comes back, another goes; cables as well; one comes whose LID is higher than any
 * was.
 */
static void hosts_come_and_go(void **state)
{
	const struct topogen lives[] = {
		{ .without_host = 3 },
		{ .seed = 0 },
		{ .without_host = 5, .without_link = 7 },
		{ .without_host = 2 },
		{ .without_link = 9 },
		{ .without_host = 16 },
		{ .without_host = 1, .without_link = 9 },
		{ .service_on = 1 },
		{ .without_host = 4 },
	};

	for (unsigned k = 0; k < 3; k++) {
		struct topo *t = k == 2 ? topogen_torus((unsigned[]){ 4, 3, 1 }, k, NULL)
					: topogen_fat_tree3(4 + 2 * k, NULL);
		struct routes *last = route(t, NULL);
		struct route_verdict v;
		unsigned n_short = 0;

		assert_false(routes_check_after(NULL, last, 1, &v));
		topo_unref(t);
		for (unsigned i = 0; i < ARRAY_SIZE(lives); i++) {
			struct routes *r;

			t = k == 2 ? topogen_torus((unsigned[]){ 4, 3, 1 }, k, &lives[i])
				   : topogen_fat_tree3(4 + 2 * k, &lives[i]);
			r = route(t, last);
			n_short += judged_alike(last, r, &v);
			routes_unref(last);
			topo_unref(t);
			last = r;
		}
		print_message("# %u of %zu were short\n", n_short, ARRAY_SIZE(lives));
		assert_true(k == 2 || n_short >= 4);
		routes_unref(last);
	}
}

/*
 * Four switches in a ring, LIDs 1 to 4, and hosts from 5 on; without the cable behind switch
 * `without`.
 */
static struct topo *ring_with(unsigned n_hosts, unsigned without)
{
	struct topo_builder *b = topo_builder_new();

	for (unsigned i = 0; i < 4; i++)
		topo_add_switch(b, &(struct topo_switch){ .guid = 0x20 + i,
							  .n_ports = 8,
							  .lid = (lid_t)(1 + i),
							  .lft_cap = LID_MAX_UCAST + 1u });
	for (unsigned i = 0; i < 4; i++)
		if (i != without)
			topo_add_link(b, 0x20 + i, 1, 0x20 + (i + 1) % 4, 2);
	for (unsigned i = 0; i < n_hosts; i++) {
		topo_add_host(b, &(struct topo_host){ .guid = 0x100 + i,
						      .node_guid = 0x100 + i,
						      .node_port = 1,
						      .lid = (lid_t)(5 + i) });
		topo_add_host_link(b, 0x100 + i, 0x20 + i % 4, (uint8_t)(3 + i / 4));
	}
	return topo_build(b);
}

static void a_host_comes_with_the_highest_lid(void **state)
{
	for (unsigned without = 0; without < 4; without++) {
		struct topo *t = ring_with(5, 4), *more = ring_with(6, without);
		struct routes *last = route(t, NULL), *r = route(more, last);
		struct route_verdict v;

		assert_false(routes_check_after(NULL, last, 1, &v));
		assert_int_equal(more->max_lid, t->max_lid + 1);
		assert_true(judged_alike(last, r, &v));
		routes_unref(last);
		routes_unref(r);
		topo_unref(t);
		topo_unref(more);
	}
}

/*
 * Six switches of so many ports in a ring, of two hosts each. Neighbours have two cables, at ports
 * that are 64 apart if there are so many; those of a bit in `without` are missing.
 */
static struct topo *wide_ring(unsigned ports, unsigned without)
{
	struct topo_builder *b = topo_builder_new();
	unsigned apart = ports > 66 ? 64 : 2;

	for (unsigned s = 0; s < 6; s++)
		topo_add_switch(b, &(struct topo_switch){
			.guid = 0x20 + s, .n_ports = (uint8_t)ports, .lid = (lid_t)(1 + s),
			.lft_cap = LID_MAX_UCAST + 1u,
		});
	for (unsigned c = 0; c < 12; c++)
		if (!(without >> c & 1))
			topo_add_link(b, 0x20 + c / 2, (uint8_t)(ports - c % 2 * apart),
				      0x20 + (c / 2 + 1) % 6, (uint8_t)(ports - 1 - c % 2 * apart));
	for (unsigned h = 0; h < 12; h++) {
		topo_add_host(b, &(struct topo_host){
			.guid = 0x100 + h, .node_guid = 0x100 + h, .node_port = 1,
			.lid = (lid_t)(7 + h),
		});
		topo_add_host_link(b, 0x100 + h, 0x20 + h / 2, (uint8_t)(30 + h % 2));
	}
	return topo_build(b);
}

/*
 * Masks of ports have a word for 64 of them. A ring whose cables come and go can block itself now
 * and cannot then; the witness knows no masks.
 */
static void switches_of_all_sizes_are_judged_alike(void **state)
{
	static const uint8_t sizes[] = { 61, 62, 63, 64, 65, 66, 67, 127, 128, 129, 191, 192, 254 };
	unsigned n_loops = 0;
	uint64_t random = 7;

	for (unsigned i = 0; i < ARRAY_SIZE(sizes) * 2; i++) {
		struct topo *t = wide_ring(sizes[i / 2], 3), *now;
		struct routes *last = route(t, NULL), *r;
		struct route_verdict v;
		unsigned n_short = 0, without = 3;

		set_lanes(last, i);
		assert_false(judged_alike(NULL, last, &v));
		for (unsigned step = 0; step < 20; step++) {
			without ^= 1u << next_random(&random) % 12;
			now = wide_ring(sizes[i / 2], without);
			r = route(now, last);
			set_lanes(r, i);
			turn_entries(r, &random, step % 8 / 6);
			n_short += judged_alike(last, r, &v);
			if (!v.lost && !v.looping)
				assert_int_equal(v.credit_loop, lanes_desk_check(r).stuck > 0);
			n_loops += v.credit_loop;
			routes_unref(last);
			topo_unref(t);
			last = r;
			t = now;
		}
		assert_true(n_short > 1);
		routes_unref(last);
		topo_unref(t);
	}
	print_message("# %u with a loop\n", n_loops);
	assert_true(n_loops > 30);
}

/* Two pods of an agg and every other leaf of eight, two cores; all cables at the highest ports. */
static struct topo *wide_pods(unsigned ports)
{
	struct topo_builder *b = topo_builder_new();

	for (unsigned s = 0; s < 12; s++)
		topo_add_switch(b, &(struct topo_switch){
			.guid = 0x20 + s, .n_ports = (uint8_t)ports, .lid = (lid_t)(1 + s),
			.lft_cap = LID_MAX_UCAST + 1u,
		});
	for (unsigned l = 0; l < 8; l++) {
		topo_add_link(b, 0x20 + l, (uint8_t)ports, 0x28 + l % 2, (uint8_t)(ports - l / 2));
		topo_add_host(b, &(struct topo_host){
			.guid = 0x100 + l, .node_guid = 0x100 + l, .node_port = 1,
			.lid = (lid_t)(13 + l),
		});
		topo_add_host_link(b, 0x100 + l, 0x20 + l, 1);
	}
	for (unsigned c = 0; c < 4; c++)
		topo_add_link(b, 0x28 + c % 2, (uint8_t)(ports - 4 - c / 2), 0x2A + c / 2,
			      (uint8_t)(ports - c % 2));
	return topo_build(b);
}

/* What came to an agg from above for one LID is not taken for what comes to it for the next. */
static void up_and_down_by_high_ports_is_no_loop(void **state)
{
	for (unsigned ports = 60; ports < 255; ports += ports % 64 > 2 && ports % 64 < 60 ? 7 : 1) {
		struct topo *t = wide_pods(ports);
		struct routes *r = route(t, NULL);
		struct route_verdict v;

		assert_false(judged_alike(NULL, r, &v));
		assert_false(v.credit_loop);
		assert_true(v.minimal);
		routes_unref(r);
		topo_unref(t);
	}
}

/* Every switch sends the LIDs of `n` end ports by its last port that leads nearer. */
static void write_last(struct routes *r, const struct distances *d, unsigned n)
{
	const struct topo *t = r->topo;

	for (uint32_t h = 0; h < MIN(t->n_hosts, n); h++)
		for (uint32_t s = 0; s < t->n_switches; s++)
			for (unsigned p = t->switches[s].n_ports; p > 0; p--) {
				uint32_t next = topo_port(t, s, p)->sw, to = t->hosts[h].sw;

				if (next == TOPO_NONE ||
				    distances_from(d, next)[to] >= distances_from(d, s)[to])
					continue;
				routes_write(r, s, t->hosts[h].lid, (uint8_t)p);
				break;
			}
}

/* Looking at each of many would take longer than all; what follows looks at few again. */
static void many_writes_are_checked_anew(void **state)
{
	struct topo *t = topogen_fat_tree3(8, NULL);
	_cleanup_(graph_freep) struct graph *g = graph_new(t, NULL);
	struct distances *d = distances_new(g, 1, NULL);
	struct routes *r = route(t, NULL);
	static const unsigned n_lids[] = { 100, 101, 102 };

	for (unsigned i = 0; i < ARRAY_SIZE(n_lids); i++) {
		struct route_verdict v, whole;
		size_t mark;

		if (!i)
			routes_check_after(NULL, r, 1, &v);
		mark = routes_mark(r);
		write_last(r, d, n_lids[i]);
		assert_true(routes_mark(r) > mark);
		assert_int_equal(routes_check_since(r, mark, 1, &v), i > 0);
		routes_check(r, 1, &whole);
		assert_same(&v, &whole);
		assert_non_null(routes_judged_load(r));
	}
	distances_free(d);
	routes_unref(r);
	topo_unref(t);
}

/* ---- several VLs ---------------------------------------------------------------------------- */

/* The kept graph, on as many VLs or more, has every dependency of the tables and no other. */
static void assert_graph_is_exact(const struct routes *r)
{
	const struct cdg *kept = r->cache->proof->j.dependencies;
	struct route_verdict v;
	struct cdg *whole;

	routes_check_graph(r, 1, &v, &whole);
	assert_true(kept->n_vls >= whole->n_vls && kept->n_in >= whole->n_in);
	assert_int_equal(kept->words, 1);
	for (uint32_t c = 0; c < kept->n_ports; c++)
		for (unsigned vl = 0; vl < kept->n_vls; vl++)
			for (unsigned a = 0; a < kept->n_in; a++) {
				bool both = vl < whole->n_vls && a < whole->n_in;
				size_t at = (c * kept->n_vls + vl) * kept->n_in + a;
				size_t there = (c * whole->n_vls + vl) * whole->n_in + a;

				assert_int_equal(kept->into[at], both ? whole->into[there] : 0);
			}
	cdg_free(whole);
}

/* All LIDs are sent on VL 0 but that of the last host. */
static void set_lane_of_last(struct routes *r, lid_t lid)
{
	r->lanes = sl2vl_new(r->topo, 2, SL2VL_BY_LID, r->row_size, 1);
	r->lanes->sl[lid] = 1;
}

/* Nothing is sent on a VL any more, and then something is again. */
static void a_vl_goes_with_the_host_that_had_it(void **state)
{
	struct topo *with = ring_with(12, 3), *without = ring_with(11, 3);
	struct routes *r[] = { route(with, NULL), route(without, NULL), route(with, NULL) };
	struct route_verdict v;

	for (unsigned i = 0; i < ARRAY_SIZE(r); i++) {
		set_lane_of_last(r[i], with->max_lid);
		assert_int_equal(judged_alike(i ? r[i - 1] : NULL, r[i], &v), i > 0);
		assert_int_equal(v.n_vls, i == 1 ? 1 : 2);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(r); i++)
		routes_unref(r[i]);
	topo_unref(with);
	topo_unref(without);
}

struct vl_life {
	const char *engine;
	struct topo *whole;
	struct topocut *cut;
	struct routes *last;
	uint64_t random;
	unsigned n_spoiled; /* entries, after each event */
};

static struct routes *run_engine(const struct vl_life *l, const struct topo *t)
{
	const struct route_job job = { .topo = t, .previous = l->last, .threads = 1 };
	char why[200];
	struct routes *r =
		route_engine_run(route_engine_find(l->engine), &job, why, sizeof(why));

	assert_non_null(r);
	return r;
}

/* A cable goes or comes back. Returns whether that was short. */
static bool cable_event(struct vl_life *l, uint32_t cable)
{
	struct topo *t;
	struct route_verdict v;
	struct routes *r;
	bool is_short;

	l->cut->ports[cable] ^= true;
	t = topocut_apply(l->whole, l->cut);
	r = run_engine(l, t);
	if (r->judged) { /* by the engine, by what differs */
		routes_check(r, 1, &v);
		assert_same(r->judged, &v);
	}
	turn_entries(r, &l->random, l->n_spoiled);
	is_short = (r->judged && !l->n_spoiled) || judged_alike(l->last, r, &v);
	if (r->cache->proof && r->lanes)
		assert_graph_is_exact(r);
	assert_true(l->n_spoiled || r->cache->proof);
	routes_unref(l->last);
	topo_unref(t);
	l->last = r;
	return is_short;
}

/* Takes `whole`. Two cables at most are missing. Returns how many events of 12 were short. */
static unsigned live_on_vls(const char *engine, struct topo *whole, unsigned n_spoiled)
{
	struct vl_life l = {
		.engine = engine, .whole = whole, .cut = topocut_new(whole),
		.random = 12 + n_spoiled, .n_spoiled = n_spoiled,
	};
	uint32_t n, *cables = topocut_cables(whole, &n), down[2] = { TOPO_NONE, TOPO_NONE };
	struct route_verdict v;
	unsigned n_short = 0;

	l.last = run_engine(&l, whole);
	routes_check_after(NULL, l.last, 1, &v);
	for (unsigned i = 0; i < 12; i++) {
		uint32_t *slot = &down[next_random(&l.random) % 2], cable = *slot;

		if (cable == TOPO_NONE)
			cable = cables[next_random(&l.random) % n];
		*slot = *slot == TOPO_NONE && !l.cut->ports[cable] ? cable : TOPO_NONE;
		n_short += cable_event(&l, cable);
	}
	print_message("# %s: %u of 12 were short\n", engine, n_short);
	routes_unref(l.last);
	topocut_free(l.cut);
	free(cables);
	topo_unref(whole);
	return n_short;
}

static const unsigned large[] = { 7, 4, 4 }, small[] = { 5, 4, 1 };

/* Some of hyperx are not: VLs come or go. */
static void on_several_vls_too(void **state)
{
	assert_int_equal(live_on_vls("torus-2QoS", topogen_torus(large, 2, NULL), 0), 12);
	assert_int_equal(live_on_vls("dor", topogen_torus(large, 2, NULL), 0), 12);
	assert_int_equal(live_on_vls("dfsssp", topogen_torus(small, 2, NULL), 0), 12);
	assert_int_equal(live_on_vls("lash", topogen_torus(small, 2, NULL), 0), 12);
	assert_int_equal(live_on_vls("nue", topogen_torus(small, 2, NULL), 0), 12);
	assert_int_equal(live_on_vls("dragonfly", topogen_dragonfly(9, 4, 2, NULL), 0), 12);
	assert_true(live_on_vls("hyperx", topogen_hyperx(5, 4, 3, NULL), 0) >= 6);
}

/* Entries that lead anywhere: pairs are lost, paths go round, credits loop, or nothing is wrong. */
static void faults_are_seen_on_several_vls(void **state)
{
	for (unsigned n = 1; n <= 3; n += 2) {
		live_on_vls("torus-2QoS", topogen_torus((unsigned[]){ 5, 4, 3 }, 1, NULL), n);
		live_on_vls("dor", topogen_torus((unsigned[]){ 7, 3, 3 }, 1, NULL), n);
		live_on_vls("nue", topogen_torus(small, 1, NULL), n);
		live_on_vls("dragonfly", topogen_dragonfly(5, 4, 1, NULL), n);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_different_comes_to_the_whole),
		cmocka_unit_test(ways_become_longer_and_shorter),
		cmocka_unit_test(many_writes_are_checked_anew),
		cmocka_unit_test(hosts_come_and_go),
		cmocka_unit_test(a_host_comes_with_the_highest_lid),
		cmocka_unit_test(switches_of_all_sizes_are_judged_alike),
		cmocka_unit_test(up_and_down_by_high_ports_is_no_loop),
		cmocka_unit_test(on_several_vls_too),
		cmocka_unit_test(a_vl_goes_with_the_host_that_had_it),
		cmocka_unit_test(faults_are_seen_on_several_vls),
	};

	if (argc > 1)
		runs = (unsigned)atoi(argv[1]);
	return cmocka_run_group_tests_name("check-after", tests, NULL, NULL);
}
