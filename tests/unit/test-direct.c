// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events on direct networks: which entries stay and which leave (nexthop_assign.h), that what a
 * grid becomes is judged for what it is, and that the graph of a check is what a new one finds.
 */
#include "route/core/nexthop_assign.h"
#include "route/proof/cdg_internal.h"
#include "route/select/keep_tables.h"
#include "tests/lib/rounds.h"
#include "tests/lib/topocut.h"
#include "tests/unit/route-desk.h"
#include "util/random.h"

/* ---- destinations dealt out ------------------------------------------------------------------ */

struct dealing {
	struct topo *t;
	struct graph *g;
	struct distances *d;
	uint32_t *first, *same; /* `same`: every switch is what it was */
	struct nexthop_goal *goals;
};

static void find_shortest(const void *arg, uint32_t to, struct path_dag *w)
{
	path_dag_find(w, ((const struct dealing *)arg)->d, to);
}

static uint32_t a_tenth_more(uint32_t mean)
{
	return mean + mean / 10;
}

static struct dealing dealing_new(struct topo *t)
{
	struct dealing d = { .t = t, .g = graph_new(t, NULL) };
	uint32_t n = 0;

	d.d = distances_new(d.g, 1, NULL);
	d.first = xcalloc(t->n_switches + 1u, sizeof(*d.first));
	d.same = xcalloc(t->n_switches, sizeof(*d.same));
	d.goals = xcalloc(t->n_hosts, sizeof(*d.goals));
	for (uint32_t s = 0; s < t->n_switches; s++) {
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t h = topo_port(t, s, p)->host;

			if (h != TOPO_NONE)
				d.goals[n] = (struct nexthop_goal){
					.lid = t->hosts[h].lid, .port = (uint8_t)p, .turn = n,
				};
			n += h != TOPO_NONE;
		}
		d.first[s + 1] = n;
		d.same[s] = s;
	}
	return d;
}

static void dealing_done(struct dealing *d)
{
	distances_free(d->d);
	graph_free(d->g);
	topo_unref(d->t);
	free(d->first);
	free(d->same);
	free(d->goals);
}

static bool has_hosts(const struct dealing *d, uint32_t s)
{
	return d->first[s] < d->first[s + 1];
}

/*
 * The goal `unknown` has no former entries; UINT32_MAX: all have. *ret_most: of channels that
 * leave switches with end ports.
 */
static struct routes *deal(const struct dealing *d, const struct routes *previous, uint32_t unknown,
			   uint32_t *ret_most)
{
	struct routes *r = routes_new(d->t, "dealt", d->t->max_lid);
	uint32_t *load = xcalloc(topo_n_entries(d->t), sizeof(*load));

	for (uint32_t i = 0; i < d->first[d->t->n_switches]; i++)
		d->goals[i].known = previous && i != unknown;
	nexthop_assign(&(struct nexthop_job){
		.graph = d->g, .find = find_shortest, .arg = d, .first = d->first,
		.goals = d->goals, .previous = previous, .previous_sw = d->same,
		.limit = a_tenth_more, .threads = 2,
	}, r, load);
	*ret_most = 0;
	for (uint32_t i = 0; i < topo_n_entries(d->t); i++)
		if (has_hosts(d, topo_switch_with(d->t, i)))
			*ret_most = MAX(*ret_most, load[i]);
	free(load);
	return r;
}

/* All that goes up takes the first spine. */
static void crowd(const struct dealing *d, struct routes *r)
{
	for (uint32_t s = 0; s < d->t->n_switches; s++)
		for (uint32_t i = 0; i < d->first[d->t->n_switches]; i++) {
			uint32_t up = d->g->first[s];

			if (has_hosts(d, s) &&
			    (i < d->first[s] || i >= d->first[s + 1]))
				routes_row(r, s)[d->goals[i].lid] =
					d->g->ports[d->g->groups[up].first_port];
		}
}

static void entries_leave_a_channel_that_carries_too_much_and_no_other(void **state)
{
	struct dealing d = dealing_new(topogen_fat_tree2(8, 4, 4, 1, NULL));
	uint32_t n = d.first[d.t->n_switches], fair, most;
	struct routes *r = deal(&d, NULL, UINT32_MAX, &fair), *after;

	for (uint32_t unknown = 0; unknown < n; unknown += 5) {
		after = deal(&d, r, unknown, &most);
		assert_true(most <= fair * 11 / 10);
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t s = 0; s < d.t->n_switches && i != unknown; s++)
				assert_int_equal(routes_port(after, s, d.goals[i].lid),
						 routes_port(r, s, d.goals[i].lid));
		routes_unref(after);
	}
	crowd(&d, r);
	/* Where no entry must change, none does. */
	after = deal(&d, r, UINT32_MAX, &most);
	assert_same_tables(after, r);
	assert_int_equal(most, 4 * fair);
	routes_unref(after);
	after = deal(&d, r, 0, &most);
	assert_true(most < 5 * fair / 2);
	routes_unref(after);
	routes_unref(r);
	dealing_done(&d);
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct routes *keep(const char *engine, const struct topo *t, const struct routes *previous)
{
	struct keep_report report;
	struct route_job job = { .topo = t, .previous = previous, .threads = 1 };
	struct routes *r = keep_tables(&(struct route_chain){ .list = engine }, &job, false,
				       &report);

	assert_non_null(r);
	return r;
}

/* Ports in whose packets leave by `channel` on `vl` and came on VL `from`; ports of one word. */
static uint64_t *into_of(const struct cdg *g, uint32_t channel, unsigned vl, unsigned from)
{
	return &g->into[((channel * g->n_vls + vl) * g->n_in + from) * g->words];
}

/*
 * On one VL a proof's graph may have those of former paths, too, and goes on having them on VL 0
 * when there are more VLs (`exact` is false); it may have room for more VLs.
 */
static void assert_graph_is_right(const struct routes *r, bool exact)
{
	struct cdg *left = cdg_of(r, 1), *again;
	struct route_verdict v;

	routes_check_graph(r, 1, &v, &again);
	assert_memory_equal(&v, r->judged, sizeof(v));
	assert_null(route_fault(&v));
	assert_true(left->n_vls >= again->n_vls && left->n_in >= again->n_in);
	assert_int_equal(left->vls, again->vls);
	for (uint32_t c = 0; c < again->n_ports; c++)
		for (unsigned vl = 0; vl < again->n_vls; vl++)
			for (unsigned k = 0; k < again->n_in; k++) {
				uint64_t has = *into_of(left, c, vl, k);
				uint64_t must = *into_of(again, c, vl, k);

				assert_int_equal(must & ~has, 0);
				assert_true(has == must ||
					    (r->cache->proof && !exact && !vl && !k));
			}
	cdg_free(left);
	cdg_free(again);
}

/* One to four cables at a time, out and back in any order. */
static void live(const char *engine, struct topo *whole, unsigned events, uint64_t seed)
{
	struct routes *fresh = keep(engine, whole, NULL), *r = routes_ref(fresh), *next;
	struct topocut *cut = topocut_new(whole);
	uint32_t n, *cables = topocut_cables(whole, &n), out[4], n_out = 0;
	bool exact = true;

	for (unsigned i = 0; i < events || n_out; i++) {
		bool back = i >= events || n_out == 4 || (n_out && random_next(&seed) % 2);
		uint32_t at = back ? (uint32_t)(random_next(&seed) % n_out) : n_out;
		struct topo *t;

		if (!back)
			out[n_out++] = cables[random_next(&seed) % n];
		cut->ports[out[at]] = !back;
		if (back)
			out[at] = out[--n_out];
		for (uint32_t k = 0; k < n_out; k++)
			cut->ports[out[k]] = true; /* was drawn twice */
		t = topocut_apply(whole, cut);
		next = keep(engine, t, r);
		exact &= next->lanes && r->lanes;
		assert_graph_is_right(next, exact);
		routes_unref(r);
		topo_unref(t);
		r = next;
	}
	if (!strcmp(r->by, "dor") || !strcmp(engine, "dor") || !strcmp(engine, "torus-2QoS"))
		assert_same_tables(r, fresh);
	routes_unref(r);
	routes_unref(fresh);
	topocut_free(cut);
	free(cables);
	topo_unref(whole);
}

static void what_an_event_makes_is_judged_for_what_it_is(void **state)
{
	for (unsigned seed = 1; seed <= test_rounds(3); seed++) {
		live("auto", topogen_torus((unsigned[]){ 5, 4, 3 }, 2, NULL), 8, seed);
		live("auto", topogen_torus((unsigned[]){ 8, 7, 1 }, 2, NULL), 8, seed);
		live("dor", topogen_torus((unsigned[]){ 7, 3, 3 }, 2, NULL), 8, seed);
		live("torus-2QoS", topogen_torus((unsigned[]){ 5, 4, 3 }, 2, NULL), 6, seed);
		live("auto", topogen_dragonfly(9, 4, 2, NULL), 6, seed);
		live("hyperx", topogen_hyperx(5, 4, 3, NULL), 8, seed);
	}
}

/* A single engine, too, is compared with tables from scratch only where it may be behind. */
static void little_more_load_is_left_to_a_quiet_minute(void **state)
{
	struct topo *whole = topogen_dragonfly(33, 8, 4, NULL), *t;
	struct topocut *cut = topocut_new(whole);
	uint32_t n, *cables = topocut_cables(whole, &n), quick = 0;
	struct routes *r = keep("dragonfly", whole, NULL), *after;

	assert_int_equal(r->compared_load, r->judged->max_load);
	for (uint32_t i = 0; i < n; i += n / 8) {
		struct keep_report report;

		cut->ports[cables[i]] = true;
		t = topocut_apply(whole, cut);
		cut->ports[cables[i]] = false;
		after = keep_tables(&(struct route_chain){ .list = "dragonfly" },
				    &(struct route_job){ .topo = t, .previous = r, .threads = 1 },
				    false, &report);
		if (after->judged->max_load > 1.1 * r->compared_load)
			assert_true(report.is_compared);
		quick += !report.is_compared;
		assert_int_equal(after->compared_load, report.is_compared
							       ? after->judged->max_load
							       : r->compared_load);
		routes_unref(after);
		topo_unref(t);
	}
	assert_true(quick > 0);
	routes_unref(r);
	topocut_free(cut);
	free(cables);
	topo_unref(whole);
}

static void a_graph_of_fewer_levels_is_not_used(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 7, 3, 1 }, 1, NULL);
	struct routes *r = keep("dor", t, NULL);
	struct cdg *g;

	assert_non_null(r->cache->proof);
	assert_int_equal(sl2vl_add_levels(r->lanes, 2, 8), 2);
	g = cdg_of(r, 1);
	assert_int_equal(g->n_vls, r->lanes->n_vls);
	cdg_free(g);
	routes_unref(r);
	topo_unref(t);
}

/* ---- what stays where paths are what they were ----------------------------------------------- */

/* NULL: too much is missing for a HyperX. */
static struct routes *compute(const struct topo *t, const struct routes *previous, unsigned threads)
{
	struct route_job job = { .topo = t, .previous = previous, .threads = threads };
	char why[160] = "";

	return route_engine_run(route_engine_find("hyperx"), &job, why, sizeof(why));
}

/* By differences from `previous` as by all of them. Were they enough? */
static bool judge(const struct routes *previous, struct routes *r)
{
	struct route_verdict whole;
	bool quick;

	r->judged = xcalloc(1, sizeof(*r->judged));
	quick = routes_check_after(previous, r, 1, r->judged);
	routes_check(r, 1, &whole);
	whole.n_vls = r->judged->n_vls; /* those of hosts that went may count */
	assert_memory_equal(&whole, r->judged, sizeof(whole));
	return quick;
}

/*
 * Whether loads of a check are at hand or not, and for any threads, the same tables; they hold and
 * are even if those are for which every destination was looked at.
 */
static void assert_is_dealt_well(struct routes *previous, const struct routes *r)
{
	struct routes *now, *all;
	struct route_verdict anew;

	assert_null(routes_judged_load(previous)); /* `r` has it */
	now = compute(r->topo, previous, 3);
	assert_same_tables(now, r);
	previous->dealt = false;
	all = compute(r->topo, previous, 1);
	previous->dealt = true;
	routes_check(all, 1, &anew);
	assert_true(!route_fault(r->judged) || route_fault(&anew));
	assert_true(r->judged->max_load <= anew.max_load * 101 / 100);
	routes_unref(now);
	routes_unref(all);
}

/*
 * Cables, switches and hosts go and come; a switch that is gone is there without cables. Returns
 * after how many events the fabric was a HyperX, and differences were enough for the verdict.
 */
static unsigned go_through_events(struct topo *whole, unsigned events, uint64_t seed)
{
	struct topocut *cut = topocut_new(whole);
	struct routes *r = compute(whole, NULL, 1), *next;
	unsigned n = 0;

	judge(NULL, r);
	for (unsigned i = 0; i < events; i++) {
		struct topo *rest, *t;

		topocut_event(cut, whole, &seed);
		rest = topocut_apply(whole, cut);
		t = topo_with_bare(rest, whole);
		next = compute(t, r, 1);
		topo_unref(rest);
		topo_unref(t);
		if (!next)
			continue;
		n += judge(r, next);
		assert_is_dealt_well(r, next);
		routes_unref(r);
		r = next;
	}
	routes_unref(r);
	topocut_free(cut);
	topo_unref(whole);
	return n;
}

static void destinations_with_the_paths_of_before_stay(void **state)
{
	unsigned done = 0, n_seeds = test_rounds(24);

	for (unsigned seed = 1; seed <= n_seeds; seed++) {
		uint64_t random = seed;
		unsigned size[3], n = 2 + seed % 2;

		for (unsigned d = 0; d < 3; d++)
			size[d] = 2 + (unsigned)(random_next(&random) % (n == 2 ? 7 : 4));
		done += go_through_events(topogen_hyperx_n(size, n, 1 + seed % 3, &(struct topogen){
			.lmc = seed % 8 == 7, .random_guids = seed & 1, .random_lids = seed & 2,
		}), 12, seed);
	}
	assert_true(done > n_seeds * 12 / 2);
}

/* Of 16 switches in rows of 4; `arg` says which dimension comes first. */
static unsigned class_by_dim(const void *arg, uint32_t sw, uint32_t peer)
{
	return 1 + ((sw / 4 == peer / 4) ^ *(const bool *)arg);
}

/* What goes back to an earlier dimension is on VL `back`. */
static struct sl2vl *scheme_by_dim(const struct routes *r, bool first, uint8_t back)
{
	struct sl2vl *l = sl2vl_new(r->topo, 2, SL2VL_BY_NOTHING, r->row_size, 3);

	sl2vl_set_classes(l, r->topo, class_by_dim, &first);
	memset(l->host_vl, 0, sizeof(l->host_vl));
	for (unsigned i = 0; i < 9; i++)
		memset(&l->vl[i * SL2VL_SLS], i == 7 ? back : 0, SL2VL_SLS); /* class 2 to 1 */
	return l;
}

/* VLs where there was one, and some destinations with paths that need them, or close cycles. */
static void a_scheme_that_comes_is_judged_for_what_it_is(void **state)
{
	unsigned quick = 0, cycles = 0;

	for (uint64_t seed = 1; seed <= 64; seed++) {
		struct topo *t = topogen_hyperx(4, 4, 2, NULL);
		uint64_t random = seed;
		unsigned share = seed % 8;
		struct routes *r = keep("hyperx", t, NULL), *other = route(t, NULL), *now;

		assert_true(!r->lanes && r->cache->proof);
		now = routes_derive(t, r);
		for (uint32_t h = 0; h < t->n_hosts; h++)
			for (uint32_t s = 0, takes = random_next(&random) % 8 < share;
			     takes && s < t->n_switches; s++)
				routes_write(now, s, t->hosts[h].lid,
					     routes_port(other, s, t->hosts[h].lid));
		now->lanes = scheme_by_dim(r, seed / 8 % 2, seed / 16 % 2);
		quick += judge(r, now);
		cycles += now->judged->credit_loop;
		routes_unref(now);
		routes_unref(other);
		routes_unref(r);
		topo_unref(t);
	}
	assert_in_range(quick, 8, 56);
	assert_true(cycles > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_leave_a_channel_that_carries_too_much_and_no_other),
		cmocka_unit_test(what_an_event_makes_is_judged_for_what_it_is),
		cmocka_unit_test(little_more_load_is_left_to_a_quiet_minute),
		cmocka_unit_test(a_graph_of_fewer_levels_is_not_used),
		cmocka_unit_test(destinations_with_the_paths_of_before_stay),
		cmocka_unit_test(a_scheme_that_comes_is_judged_for_what_it_is),
	};

	return cmocka_run_group_tests_name("direct", tests, NULL, NULL);
}
