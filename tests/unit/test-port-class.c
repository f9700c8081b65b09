// SPDX-License-Identifier: BSD-2-Clause
/*
 * VLs by port class: graphs of diameter two need two VLs and no service level, damaged ones three;
 * and the proof sees every SL2VL entry that is not as it should be.
 */
#include "tests/unit/route-desk.h"

#include "route/mcast/mcast.h"
#include "route/proof/cdg.h"
#include "route/select/choose.h"
#include "route/vl/port_class.h"
#include "tests/lib/rounds.h"
#include "tests/lib/topocut.h"
#include "tests/unit/lanes-desk.h"
#include "util/random.h"

#define GROUPS 8

static struct routes *choose(const char *list, const struct topo *t, unsigned max_vls,
			     const struct routes *previous, struct route_choice *ret)
{
	const struct route_chain chain = { .list = list };
	const struct route_job job = {
		.topo = t, .previous = previous, .threads = 2, .options = { .max_vls = max_vls },
	};

	return route_choose(&chain, &job, ret);
}

static void assert_by_class(const struct routes *r, unsigned n_vls)
{
	assert_non_null(r->lanes);
	assert_int_equal(r->lanes->by, SL2VL_BY_NOTHING);
	assert_int_equal(r->lanes->n_vls, n_vls);
	assert_non_null(strstr(r->note, n_vls == 2 ? "2 VLs by port class, no SL by path"
						   : "3 VLs by port class, no SL by path"));
	assert_int_equal(lanes_desk_check(r).stuck, 0);
	assert_int_equal(lanes_desk_check(r).lost, 0);
	assert_minimal(r);
}

static void diameter_two_needs_two_vls(void **state)
{
	static const char *const lists[] = { "auto", "minhop,no_fallback", "sssp,no_fallback" };
	_cleanup_(topo_unrefp) struct topo *t = topogen_slim_fly(5, 2, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct route_choice choice;
		_cleanup_(routes_unrefp) struct routes *r = choose(lists[i], t, 0, NULL, &choice);

		assert_non_null(r);
		assert_false(choice.verdict.credit_loop);
		assert_int_equal(choice.verdict.n_vls, 2);
		assert_int_equal(choice.verdict.n_sls, 1);
		assert_by_class(r, 2);
	}
}

static void one_vl_is_not_enough(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_slim_fly(5, 1, NULL);
	struct route_choice choice;

	assert_null(choose("minhop,no_fallback", t, 1, NULL, &choice));
	assert_non_null(strstr(choice.why, "credit loop"));
	assert_non_null(strstr(choice.refused, "2 or 3 VLs by port class may end that (here: 1)"));
	/* Three are not too few for what no VL by class helps. */
	topo_unref(t);
	t = topogen_torus((unsigned[]){ 5, 5, 1 }, 1, NULL);
	assert_null(choose("minhop,no_fallback", t, 3, NULL, &choice));
	assert_null(strstr(choice.refused, "by port class"));
}

/* VLs that tables do not need are not given to them. */
static void tables_without_a_cycle_stay_on_one(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_fat_tree2(6, 3, 3, 1, NULL);
	struct route_choice choice;
	_cleanup_(routes_unrefp) struct routes *r = choose("minhop", t, 0, NULL, &choice);

	assert_null(r->lanes);
	assert_string_equal(r->note, "");
}

/* A rule that does not hold leaves no trace. */
static void a_torus_stays_as_it_was(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_torus((unsigned[]){ 6, 6, 1 }, 2, NULL);
	struct route_job job = { .topo = t, .threads = 1 };
	_cleanup_(routes_unrefp) struct routes *r = route(t, NULL), *same = route(t, NULL);
	struct route_verdict v, plain;

	routes_check(same, 1, &plain);
	port_class_check(route_engine_find("minhop"), &job, NULL, r, &v);
	assert_true(v.credit_loop);
	assert_memory_equal(&v, &plain, sizeof(v));
	assert_null(r->lanes);
	assert_string_equal(r->note, "");
	assert_same_tables(r, same);
}

/* Leaves on a ring of five switches without end ports: two cables more than a Slim Fly. */
static void ports_from_leaves_are_of_class_0(void **state)
{
	struct topo_builder *b = topo_builder_new();
	_cleanup_(topo_unrefp) struct topo *t = NULL;
	struct route_choice choice;
	struct routes *r;

	for (unsigned i = 0; i < 5; i++) {
		topo_add_switch(b, &(struct topo_switch){ .guid = 100 + i, .n_ports = 4,
							  .lid = (lid_t)(10 + i), .lft_cap = 64 });
		topo_add_switch(b, &(struct topo_switch){ .guid = 200 + i, .n_ports = 4,
							  .lid = (lid_t)(20 + i), .lft_cap = 64 });
		topo_add_host(b, &(struct topo_host){ .guid = 300 + i, .node_guid = 300 + i,
						      .node_port = 1, .lid = (lid_t)(30 + i) });
		topo_add_host_link(b, 300 + i, 200 + i, 1);
		topo_add_link(b, 200 + i, 2, 100 + i, 1);
		topo_add_link(b, 100 + i, 2, 100 + (i + 1) % 5, 3);
	}
	t = topo_build(b);
	r = choose("minhop,no_fallback", t, 0, NULL, &choice);
	assert_non_null(r);
	assert_by_class(r, 2);
	assert_int_equal(r->lanes->class_of[t->switches[topo_find_switch(t, 100)].first_port + 1],
			 0);
	routes_unref(r);
}

/* A caller that wants no figures of tables with a credit loop gets the same tables. */
static void a_try_comes_to_the_same(void **state)
{
	for (unsigned i = 0; i < 3; i++) {
		_cleanup_(topo_unrefp) struct topo *t =
			i == 0	 ? topogen_slim_fly(5, 6, NULL)
			: i == 1 ? topogen_torus((unsigned[]){ 6, 6, 1 }, 8, NULL)
				 : topogen_random(60, 4, 5, NULL);
		struct route_job job = { .topo = t, .threads = 1 };
		_cleanup_(routes_unrefp) struct routes *a = route(t, NULL), *b = route(t, NULL);
		struct route_verdict v, tried;

		port_class_check(route_engine_find("minhop"), &job, NULL, a, &v);
		port_class_try(route_engine_find("minhop"), &job, b, &tried);
		assert_int_equal(v.credit_loop, tried.credit_loop);
		assert_int_equal(i != 0, v.credit_loop);
		assert_int_equal(!a->lanes, !b->lanes);
		assert_same_tables(a, b);
		if (!v.credit_loop)
			assert_memory_equal(&v, &tried, sizeof(v));
	}
}

/* ---- damage -------------------------------------------------------------------------------- */

static struct topo *damaged(const struct topo *whole, unsigned n, uint64_t seed)
{
	struct topocut *c = topocut_new(whole);
	uint32_t n_cables, *cables = topocut_cables(whole, &n_cables);
	struct topo *t;

	for (unsigned i = 0; i < n; i++) {
		uint32_t k = (uint32_t)(random_next(&seed) % n_cables);

		c->ports[cables[k]] = true;
		cables[k] = cables[--n_cables];
	}
	t = topocut_apply(whole, c);
	topocut_free(c);
	free(cables);
	return t;
}

/* Entries move so that paths of three cables climb; they are shortest all the same. */
static void three_vls_serve_a_damaged_one(void **state)
{
	_cleanup_(topo_unrefp) struct topo *whole = topogen_slim_fly(5, 3, NULL);
	unsigned on[4] = { 0 };

	for (unsigned seed = 1; seed <= test_rounds(20); seed++) {
		_cleanup_(topo_unrefp) struct topo *t = damaged(whole, 6, seed);
		struct route_choice choice;
		struct routes *r = choose("minhop,no_fallback", t, 0, NULL, &choice), *again;

		on[r ? r->lanes->n_vls : 0]++;
		if (!r)
			continue;
		assert_by_class(r, r->lanes->n_vls);
		again = choose("minhop,no_fallback", t, 0, r, &choice);
		assert_same_tables(r, again);
		assert_memory_equal(r->lanes->class_of, again->lanes->class_of, topo_n_entries(t));
		routes_unref(again);
		routes_unref(r);
	}
	print_message("# none %u, two VLs %u, three %u\n", on[0], on[2], on[3]);
	assert_true(on[2] && on[3] && on[0] < test_rounds(10));
}

/* Rows of tables that stand in switches stay while the VLs hold. */
static void classes_outlive_a_cable(void **state)
{
	_cleanup_(topo_unrefp) struct topo *whole = topogen_slim_fly(5, 3, NULL);
	struct route_choice choice;
	struct routes *r = choose("auto", whole, 0, NULL, &choice);

	for (unsigned i = 1; i <= 8; i++) {
		_cleanup_(topo_unrefp) struct topo *t = damaged(whole, i % 4, i / 4);
		struct routes *next = choose("auto", t, 0, r, &choice);

		assert_string_equal(next->by, r->by);
		assert_by_class(next, r->lanes->n_vls);
		for (uint32_t s = 0; s < t->n_switches; s++)
			for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
				if (topo_port(t, s, p)->sw != TOPO_NONE &&
				    topo_port(r->topo, s, p)->sw != TOPO_NONE)
					assert_int_equal(sl2vl_vl(next->lanes, t, s, p, 1, 0),
							 sl2vl_vl(r->lanes, r->topo, s, p, 1, 0));
		routes_unref(r);
		r = next;
	}
	routes_unref(r);
}

/* ---- mutations ----------------------------------------------------------------------------- */

static bool proof_sees_a_cycle(const struct routes *r)
{
	struct route_verdict v;

	routes_check(r, 1, &v);
	return v.credit_loop;
}

/* A class of its own for one port, of the same VLs. Returns it. */
static unsigned own_class(struct sl2vl *l, uint32_t entry)
{
	unsigned was = l->class_of[entry], n = l->n_classes + 1;
	uint8_t *vl = xcalloc((size_t)n * n * SL2VL_SLS, 1);

	for (unsigned in = 0; in < n; in++)
		for (unsigned out = 0; out < n; out++) {
			unsigned from = in == n - 1 ? was : in, to = out == n - 1 ? was : out;

			memcpy(&vl[(in * n + out) * SL2VL_SLS],
			       &l->vl[(from * l->n_classes + to) * SL2VL_SLS], SL2VL_SLS);
		}
	free(l->vl);
	l->vl = vl;
	l->n_classes = n;
	l->class_of[entry] = (uint8_t)(n - 1);
	return n - 1;
}

/* One entry of the SL2VL table of a switch, as a device could have it. */
static void set_entry(struct routes *r, uint32_t sw, unsigned in, unsigned out, uint8_t sl,
		      uint8_t vl)
{
	uint32_t first = r->topo->switches[sw].first_port;
	unsigned from = own_class(r->lanes, first + in), to = own_class(r->lanes, first + out);

	r->lanes->vl[(from * r->lanes->n_classes + to) * SL2VL_SLS + sl] = vl;
}

/*
 * A ring of five has diameter two. The entries of one direction are set to VL 0 one after the
 * other, for one SL alone: the last one closes the cycle, and not before.
 */
static void the_last_entry_of_a_cycle_is_seen(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_torus((unsigned[]){ 5, 1, 1 }, 1, NULL);
	struct route_choice choice;
	_cleanup_(routes_unrefp) struct routes *r =
		choose("minhop,no_fallback", t, 0, NULL, &choice);
	uint32_t from = 0, sw = topo_port(t, 0, 2)->sw;

	assert_by_class(r, 2);
	for (unsigned i = 0; i < 5; i++) {
		unsigned in = topo_port(t, from, 2)->port;
		unsigned out = topo_port(t, sw, 2)->sw == from ? 3 : 2;

		if (topo_port(t, from, 2)->sw != sw)
			in = topo_port(t, from, 3)->port;
		assert_false(proof_sees_a_cycle(r));
		set_entry(r, sw, in, out, 5, 0);
		from = sw;
		sw = topo_port(t, sw, out)->sw;
	}
	assert_true(proof_sees_a_cycle(r));
	set_entry(r, sw, topo_port(t, from, 2)->sw == sw ? topo_port(t, from, 2)->port
							  : topo_port(t, from, 3)->port,
		  topo_port(t, sw, 2)->sw == from ? 3 : 2, 5, 1);
	assert_false(proof_sees_a_cycle(r));
}

/* Ports of a Slim Fly go to another class one by one: the proof agrees with a plain search. */
static void the_proof_agrees_with_a_plain_search(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_slim_fly(5, 1, NULL);
	struct route_choice choice;
	_cleanup_(routes_unrefp) struct routes *r =
		choose("minhop,no_fallback", t, 0, NULL, &choice);
	unsigned closed = 0, open = 0;
	uint64_t seed = 7;

	for (unsigned i = 0; i < 400; i++) {
		uint32_t sw = (uint32_t)(random_next(&seed) % t->n_switches);
		unsigned port = 1 + (unsigned)(random_next(&seed) % t->switches[sw].n_ports);
		bool cycle;

		r->lanes->class_of[t->switches[sw].first_port + port] ^= 1;
		if (i % 4)
			continue;
		cycle = proof_sees_a_cycle(r);
		assert_int_equal(cycle, lanes_desk_check(r).stuck != 0);
		closed += cycle;
		open += !cycle;
	}
	print_message("# %u closed, %u open\n", closed, open);
	assert_true(closed && open);
}

/* ---- multicast ----------------------------------------------------------------------------- */

static void groups_fit_beside(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_slim_fly(5, 2, NULL);
	struct route_choice choice;
	_cleanup_(routes_unrefp) struct routes *r = choose("auto", t, 0, NULL, &choice);
	_cleanup_(cdg_freep) struct cdg *all = cdg_of(r, 1);
	struct mcast_planner *p = mcast_planner_new(
		&(struct mcast_params){ .topo = t, .routes = r, .depends = cdg_of(r, 1) });

	assert_by_class(r, 2);
	for (unsigned g = 0; g < GROUPS; g++) {
		struct mcast_member members[100];
		struct mcast_tree *tree;
		unsigned n = 0;

		for (uint32_t h = g; h < t->n_hosts; h += 1 + g)
			members[n++] = (struct mcast_member){ .sw = t->hosts[h].sw,
							      .port = t->hosts[h].sw_port,
							      .receive = true };
		tree = mcast_plan(p, &(struct mcast_job){ .mlid = (lid_t)(MLID_MIN + g),
							  .members = members, .n_members = n });
		assert_false(tree->unproved);
		assert_int_equal(tree->n_left_out, 0);
		cdg_force_tree(all, tree, 0);
		mcast_tree_unref(tree);
	}
	assert_true(cdg_is_acyclic(all));
	assert_int_equal(cdg_vls(all), 3);
	mcast_planner_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diameter_two_needs_two_vls),
		cmocka_unit_test(one_vl_is_not_enough),
		cmocka_unit_test(tables_without_a_cycle_stay_on_one),
		cmocka_unit_test(a_torus_stays_as_it_was),
		cmocka_unit_test(ports_from_leaves_are_of_class_0),
		cmocka_unit_test(a_try_comes_to_the_same),
		cmocka_unit_test(three_vls_serve_a_damaged_one),
		cmocka_unit_test(classes_outlive_a_cable),
		cmocka_unit_test(the_last_entry_of_a_cycle_is_seen),
		cmocka_unit_test(the_proof_agrees_with_a_plain_search),
		cmocka_unit_test(groups_fit_beside),
	};

	return cmocka_run_group_tests_name("port-class", tests, NULL, NULL);
}
