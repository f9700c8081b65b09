// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routes, topos and what goes with them as bytes: the same again, and so is what engines make of
 * them next.
 */
#include "route/io/routes_pack.h"

#include "route/select/keep_tables.h"
#include "tests/lib/rounds.h"
#include "tests/lib/topocut.h"
#include "tests/unit/route-desk.h"
#include "topo/topo_pack.h"
#include "util/random.h"

static const char *const engines[] = { "auto", "minhop",    "updn",   "dnup",	"ftree",
				       "lash", "sssp",	    "dfsssp", "nue",	"torus-2QoS",
				       "dor",  "dragonfly", "hyperx", "columns" };

static void assert_same_array(const void *a, const void *b, size_t n)
{
	assert_int_equal(!a, !b);
	if (a && n)
		assert_memory_equal(a, b, n);
}

static void assert_same_lanes(const struct sl2vl *a, const struct sl2vl *b, const struct topo *t)
{
	const struct topo_switch *last = &t->switches[t->n_switches - 1];

	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->n_vls, b->n_vls);
	assert_int_equal(a->n_needed, b->n_needed);
	assert_int_equal(a->sl_mask, b->sl_mask);
	assert_int_equal(a->mcast_mask_zero, b->mcast_mask_zero);
	assert_int_equal(a->by, b->by);
	assert_int_equal(a->n_classes, b->n_classes);
	assert_int_equal(a->row_size, b->row_size);
	assert_same_array(a->sl, b->sl, sl2vl_n_sl(a));
	assert_same_array(a->class_of, b->class_of, last->first_port + last->n_ports + 1u);
	assert_same_array(a->vl, b->vl, (size_t)a->n_classes * a->n_classes * SL2VL_SLS);
	assert_memory_equal(a->host_vl, b->host_vl, sizeof(a->host_vl));
}

static void assert_same_routes(const struct routes *a, const struct routes *b)
{
	size_t n = a->topo->n_switches;
	char text[2][ROUTE_VERDICT_STRLEN];

	assert_string_equal(a->engine, b->engine);
	assert_string_equal(a->by, b->by);
	assert_string_equal(a->note, b->note);
	assert_same_tables(a, b);
	assert_int_equal(a->options, b->options);
	assert_int_equal(a->compared_load, b->compared_load);
	assert_int_equal(a->expected_load, b->expected_load);
	assert_int_equal(a->balanced_load, b->balanced_load);
	assert_same_array(a->hops, b->hops, n * n);
	assert_same_array(a->places, b->places, n * sizeof(*a->places));
	assert_same_array(a->downs, b->downs, n * ((n + 63) / 64) * sizeof(*a->downs));
	assert_same_array(a->master_tree, b->master_tree, n);
	assert_int_equal(!a->judged, !b->judged);
	if (a->judged)
		assert_string_equal(route_verdict_str(a->judged, text[0]),
				    route_verdict_str(b->judged, text[1]));
	assert_same_lanes(a->lanes, b->lanes, a->topo);
}

static struct routes *weigh(const char *engine, const struct topo *t, const struct routes *previous)
{
	const struct route_chain chain = { .list = engine };
	struct keep_report weighed;

	return keep_tables(&chain,
			   &(struct route_job){ .topo = t, .previous = previous, .threads = 1 },
			   false, &weighed);
}

/* There and back. */
static struct routes *carried(const struct routes *r, const struct routes *before)
{
	struct pack p = { 0 };
	struct routes *ret;

	routes_pack(r, before, &p);
	{
		struct unpack u = { .at = p.bytes, .left = p.n };

		ret = routes_unpack(&u, r->topo, before);
		assert_false(u.bad);
		assert_int_equal(u.left, 0);
	}
	free(p.bytes);
	assert_non_null(ret);
	return ret;
}

static void carry_rest(const struct routes *before, const struct routes *r)
{
	struct transition *t = transition_find(before, r), *t2;
	struct cdg *g = cdg_of(r, 1), *g2;
	struct pack p = { 0 };
	struct unpack u;

	transition_pack(t, r, &p);
	cdg_pack(g, &p);
	u = (struct unpack){ .at = p.bytes, .left = p.n };
	t2 = transition_unpack(&u, r);
	g2 = cdg_unpack(&u, r);
	assert_false(u.bad);
	assert_int_equal(u.left, 0);
	assert_int_equal(!t, !t2);
	if (t) {
		assert_int_equal(t->n_lids, t2->n_lids);
		assert_int_equal(t->n_epochs, t2->n_epochs);
		assert_memory_equal(t->drain, t2->drain, t->top + 1u);
		assert_memory_equal(t->epochs, t2->epochs,
				    (size_t)r->topo->n_switches * t->n_blocks);
	}
	assert_int_equal(cdg_on_cycles(g), cdg_on_cycles(g2));
	assert_int_equal(cdg_vls(g), cdg_vls(g2));
	transition_free(t);
	transition_free(t2);
	cdg_free(g);
	cdg_free(g2);
	free(p.bytes);
}

static struct topo *carried_topo(const struct topo *t, const struct topo *before)
{
	struct pack p = { 0 };
	struct unpack u;
	struct topo *ret;

	topo_pack(t, before, &p);
	u = (struct unpack){ .at = p.bytes, .left = p.n };
	ret = topo_unpack(&u, before);
	assert_non_null(ret);
	assert_int_equal(u.left, 0);
	assert_true(topo_is_same(t, ret));
	free(p.bytes);
	return ret;
}

/*
 * What befalls a fabric, whose host of the highest LID comes later. `a` stays here, `b` comes from
 * bytes each time.
 */
static unsigned walk(const char *engine, const struct topo *whole, unsigned steps, uint64_t seed)
{
	struct topocut *cut = topocut_new(whole);
	struct routes *a, *b;
	struct topo *at_first;
	unsigned done = 0;

	cut->hosts[topocut_top_host(whole)] = true;
	at_first = topocut_apply(whole, cut);
	a = weigh(engine, at_first, NULL);
	b = a ? carried(a, NULL) : NULL;
	topo_unref(at_first);
	for (unsigned i = 0; i < steps && a; i++) {
		struct routes *next, *made, *back;
		struct topo *t, *u;

		topocut_event(cut, whole, &seed);
		t = topocut_apply(whole, cut);
		u = carried_topo(t, i % 2 ? b->topo : NULL);
		next = weigh(engine, t, a);
		made = weigh(engine, u, b);
		assert_int_equal(!next, !made);
		if (next) {
			back = carried(made, b);
			assert_same_routes(next, back);
			assert_same_routes(made, back);
			carry_rest(b, back);
			routes_unref(a);
			routes_unref(b);
			a = routes_ref(next);
			b = back;
			done++;
		}
		routes_unref(next);
		routes_unref(made);
		topo_unref(t);
		topo_unref(u);
	}
	routes_unref(a);
	routes_unref(b);
	topocut_free(cut);
	return done;
}

static void every_engine_goes_on_from_bytes_as_from_its_own(void **state)
{
	unsigned done[ARRAY_SIZE(engines)] = { 0 };

	for (unsigned number = 0; number < 8; number += test_stride(1)) {
		struct topogen o = any_options(number);
		struct topo *t;

		o.switches_first = number % 3;
		t = any_fabric(number, &o);

		for (unsigned e = 0; e < ARRAY_SIZE(engines); e++)
			done[e] += walk(engines[e], t, number % 6 == 3 ? 5 : 2, number);
		topo_unref(t);
	}
	for (unsigned e = 0; e < ARRAY_SIZE(engines); e++)
		if (!done[e] && strcmp(engines[e], "dragonfly") && strcmp(engines[e], "hyperx") &&
		    strcmp(engines[e], "torus-2QoS"))
			fail_msg("%s routed nothing", engines[e]);
}

static void many_events_come_to_the_same(void **state)
{
	struct topo *tree =
		topogen_fat_tree3(8, &(struct topogen){ .seed = 3, .switches_first = true });
	struct topo *torus =
		topogen_torus((unsigned[]){ 4, 4, 4 }, 2, &(struct topogen){ .seed = 4 });
	struct topo *random = topogen_random(60, 4, 2, &(struct topogen){ .seed = 5 });

	assert_int_equal(walk("auto", tree, 8, 1), 8);
	assert_int_equal(walk("minhop", tree, 8, 2), 8);
	assert_int_equal(walk("auto", torus, 8, 3), 8);
	/* It shrinks, and paths that stay need fewer lanes than before. */
	assert_int_equal(walk("dfsssp", random, test_rounds(60), 2), test_rounds(60));
	topo_unref(random);
	topo_unref(tree);
	topo_unref(torus);
}

/* Tables of more than a megabyte are mapped (routes.c), those that are derived in part. */
static void large_tables_come_to_the_same(void **state)
{
	struct topo *t = topogen_fat_tree3(20, &(struct topogen){ .seed = 5 });

	assert_true((uint64_t)t->n_switches * t->max_lid > 1u << 20);
	assert_int_equal(walk("auto", t, 2, 7), 2);
	topo_unref(t);
}

static void tables_that_stay_come_back_as_themselves(void **state)
{
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct routes *r = weigh("auto", t, NULL), *same = carried(r, r);

	assert_ptr_equal(r, same);
	routes_unref(same);
	routes_unref(r);
	topo_unref(t);
}

static void tables_in_a_file_are_what_they_were(void **state)
{
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct routes *r = weigh("auto", t, NULL), *again;
	char *bytes = NULL, why[200];
	size_t n = 0;
	FILE *f = open_memstream(&bytes, &n);

	assert_int_equal(routes_save(r, f), 0);
	fclose(f);
	again = routes_restore(bytes, n, why, sizeof(why));
	assert_non_null(again);
	assert_same_routes(r, again);
	assert_true(topo_is_same(r->topo, again->topo));
	routes_unref(again);
	assert_null(routes_restore(bytes, n / 2, why, sizeof(why)));
	assert_non_null(strstr(why, "damaged"));
	bytes[0] = 'O';
	assert_null(routes_restore(bytes, n, why, sizeof(why)));
	free(bytes);
	routes_unref(r);
	topo_unref(t);
}

/* As tables from files may have it. */
static void a_vl_that_drops_packets_comes_through(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 4, 4, 3 }, 2, &(struct topogen){ .seed = 2 });
	struct routes *r = weigh("minhop", t, NULL), *again;
	char *bytes = NULL, why[200];
	size_t n = 0;
	FILE *f = open_memstream(&bytes, &n);

	sl2vl_free(r->lanes);
	r->lanes = sl2vl_new(t, 2, SL2VL_BY_LID, r->row_size, 1);
	r->lanes->vl[0] = SL2VL_VL_DROP;
	assert_int_equal(routes_save(r, f), 0);
	fclose(f);
	again = routes_restore(bytes, n, why, sizeof(why));
	assert_non_null(again);
	assert_int_equal(again->lanes->vl[0], SL2VL_VL_DROP);
	routes_unref(again);
	free(bytes);
	routes_unref(r);
	topo_unref(t);
}

/* Reads bytes that may be anything: no fault but "bad", and what is taken can be used. */
static void read_anything(const uint8_t *bytes, size_t n, const struct topo *t,
			  const struct routes *before)
{
	struct unpack u = { .at = bytes, .left = n };
	struct topo *topo = topo_unpack(&u, t);
	struct routes *r = u.bad ? NULL : routes_unpack(&u, t, before);
	struct transition *way = u.bad ? NULL : transition_unpack(&u, r);
	struct cdg *g = u.bad || !r ? NULL : cdg_unpack(&u, r);

	for (uint32_t s = 0; r && s < t->n_switches; s++)
		for (uint32_t lid = 0; lid <= r->top; lid++) {
			uint8_t port = routes_port(r, s, (lid_t)lid);

			assert_true(port <= t->switches[s].n_ports || port == LFT_NO_PORT);
		}
	if (g && !u.bad)
		cdg_is_acyclic(g);
	cdg_free(g);
	transition_free(way);
	routes_unref(r);
	topo_unref(topo);
}

static void order_guids_are_carried(void **state)
{
	struct topo *t = topogen_fat_tree3(4, NULL);
	struct topo *other = topocut_replaced(t, 7, UINT64_C(0x00020000ffff0000), 60);
	struct topo *now = carried_topo(other, t);

	assert_true(now->is_reordered);
	assert_int_equal(topo_find_switch(now, other->switches[7].guid), 7);
	topo_unref(now);
	topo_unref(other);
	topo_unref(t);
}

/* An order of writes goes by it: packets are on their way over cables that are left out. */
static void cables_left_out_are_carried(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		struct topo_builder *b = topo_builder_new();
		struct topo *t, *now;

		for (guid_t guid = 1; guid <= 2; guid++)
			topo_add_switch(b, &(struct topo_switch){
				.guid = guid, .n_ports = 2, .lid = (lid_t)guid, .lft_cap = 64,
			});
		topo_add_link(b, 1, 1, 2, 1);
		if (i)
			topo_leave_out(b, 1, 2, 2);
		t = topo_build(b);
		now = carried_topo(t, NULL);
		assert_int_equal(now->leaves_out, i);
		assert_int_equal(t->leaves_out, i);
		topo_unref(now);
		topo_unref(t);
	}
}

static void damaged_bytes_are_refused_or_harmless(void **state)
{
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct topo *torus =
		topogen_torus((unsigned[]){ 4, 4, 3 }, 2, &(struct topogen){ .seed = 2 });
	uint64_t seed = 11;

	for (unsigned k = 0; k < 2; k++) {
		const struct topo *of = k ? torus : t;
		struct routes *r = weigh(k ? "nue" : "auto", of, NULL);
		struct cdg *g = cdg_of(r, 1);
		struct pack p = { 0 };

		topo_pack(of, k ? NULL : of, &p);
		routes_pack(r, NULL, &p);
		transition_pack(NULL, r, &p);
		cdg_pack(g, &p);
		for (unsigned i = 0; i < 1000; i++) {
			uint8_t *copy = xmemdup(p.bytes, p.n);
			size_t n = i % 3 ? p.n : random_next(&seed) % p.n;

			for (unsigned j = 0; j <= i % 7; j++)
				copy[random_next(&seed) % p.n] =
					i % 2 ? 0xFF : (uint8_t)random_next(&seed);
			if (i % 5 == 0) /* heads are where it hurts */
				copy[random_next(&seed) % 64] ^= (uint8_t)random_next(&seed);
			read_anything(copy, n, of, r);
			free(copy);
		}
		free(p.bytes);
		cdg_free(g);
		routes_unref(r);
	}
	topo_unref(t);
	topo_unref(torus);
}

/* What routes_unpack() makes of it; NULL: refused. One reference. */
static struct routes *read_back(const struct routes *r, const struct routes *before)
{
	struct pack p = { 0 };
	struct unpack u;
	struct routes *back;

	routes_pack(r, before, &p);
	u = (struct unpack){ .at = p.bytes, .left = p.n };
	back = routes_unpack(&u, r->topo, before);
	assert_int_equal(!back, u.bad);
	free(p.bytes);
	return back;
}

/* In whole tables and in one that changed; where the former ones hold the same it was found. */
static void ports_that_a_switch_has_not_are_refused(void **state)
{
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct routes *r = weigh("minhop", t, NULL), *next = routes_derive(t, r), *back;
	uint8_t port = t->switches[1].n_ports + 1;

	routes_write(next, 1, t->hosts[0].lid, port);
	assert_null(read_back(next, r));
	routes_row(r, 1)[t->hosts[0].lid] = port;
	assert_null(read_back(r, NULL));
	back = read_back(r, r);
	assert_ptr_equal(back, r);
	routes_unref(back);
	routes_touch(next);
	back = read_back(next, r);
	assert_non_null(back);
	routes_unref(back);
	routes_unref(next);
	routes_unref(r);
	topo_unref(t);
}

static void places_beyond_the_order_are_refused(void **state)
{
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct routes *r = weigh("updn", t, NULL);

	assert_non_null(r->places);
	r->places[3] = t->n_switches;
	assert_null(read_back(r, NULL));
	routes_unref(r);
	topo_unref(t);
}

/* Lanes that tell ports apart, and say of none which it is. */
static void classes_without_ports_are_refused(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 4, 4, 3 }, 2, &(struct topogen){ .seed = 2 });
	struct routes *r = weigh("nue", t, NULL), *back;
	struct pack p = { 0 };
	struct unpack u;

	sl2vl_free(r->lanes);
	r->lanes = sl2vl_new(t, 2, SL2VL_BY_LID, r->row_size, 2);
	assert_null(r->lanes->class_of);
	routes_pack(r, NULL, &p);
	u = (struct unpack){ .at = p.bytes, .left = p.n };
	back = routes_unpack(&u, t, NULL);
	assert_null(back);
	assert_true(u.bad);
	free(p.bytes);
	routes_unref(r);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_goes_on_from_bytes_as_from_its_own),
		cmocka_unit_test(many_events_come_to_the_same),
		cmocka_unit_test(large_tables_come_to_the_same),
		cmocka_unit_test(tables_that_stay_come_back_as_themselves),
		cmocka_unit_test(tables_in_a_file_are_what_they_were),
		cmocka_unit_test(a_vl_that_drops_packets_comes_through),
		cmocka_unit_test(classes_without_ports_are_refused),
		cmocka_unit_test(ports_that_a_switch_has_not_are_refused),
		cmocka_unit_test(places_beyond_the_order_are_refused),
		cmocka_unit_test(order_guids_are_carried),
		cmocka_unit_test(cables_left_out_are_carried),
		cmocka_unit_test(damaged_bytes_are_refused_or_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
