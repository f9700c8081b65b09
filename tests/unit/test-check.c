// SPDX-License-Identifier: BSD-2-Clause
/* The judge against hand-made tables and against a slow judge that follows every pair by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "route/proof/check.h"
#include "route/proof/cdg.h"
#include "route/core/engine.h"
#include "route/select/engines.h"
#include "tests/lib/tables.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static struct routes *routed(const struct topo *t)
{
	struct route_job job = { .topo = t, .threads = 1 };
	char why[128];
	struct routes *r = route_engine_find("minhop")->compute(&job, why, sizeof(why));

	assert_non_null(r);
	return r;
}

/* ---- the slow judge ---------------------------------------------------------------------- */

struct slow {
	const struct routes *r;
	const struct topo *t;
	uint32_t n;            /* channels: ports of all switches */
	unsigned vls;
	uint32_t *load;
	bool *follows;         /* (n * vls) squared */
	struct route_verdict v;
	uint64_t hops;
};

static uint32_t channel(const struct slow *s, uint32_t sw, unsigned port)
{
	return s->t->switches[sw].first_port + port;
}

/*
 * Ends at 4 * switches steps: by then it has gone round. Adds dependencies on SL `sl`, not loads.
 */
static int trace(struct slow *s, const struct topo_host *from, const struct topo_host *to,
		 lid_t lid, uint8_t sl, uint32_t *path)
{
	uint32_t last = TOPO_NONE, sw = from->sw;
	unsigned in = from->sw_port;
	int hops = 0;

	for (uint32_t steps = 0; steps < 4 * s->t->n_switches; steps++) {
		uint8_t port = routes_port(s->r, sw, lid);
		uint32_t now;

		if (lid >= s->t->switches[sw].lft_cap)
			return -1;
		if (sw == to->sw && port == to->sw_port)
			return hops;
		if (!port || port > s->t->switches[sw].n_ports ||
		    topo_port(s->t, sw, port)->sw == TOPO_NONE)
			return -1;
		path[hops++] = channel(s, sw, port);
		now = channel(s, sw, port) * s->vls +
		      (s->vls > 1 ? sl2vl_vl(s->r->lanes, s->t, sw, in, port, sl) : 0);
		if (last != TOPO_NONE)
			s->follows[(size_t)last * s->n * s->vls + now] = true;
		last = now;
		in = topo_port(s->t, sw, port)->port;
		sw = topo_port(s->t, sw, port)->sw;
	}
	return -2;
}

static uint32_t slow_distance(const struct topo *t, uint32_t from, uint32_t to)
{
	_cleanup_free_ uint32_t *dist = xcalloc(t->n_switches, sizeof(*dist));

	memset(dist, 0xFF, t->n_switches * sizeof(*dist));
	dist[from] = 0;
	for (uint32_t round = 0; round < t->n_switches; round++)
		for (uint32_t s = 0; s < t->n_switches; s++)
			for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
				uint32_t v = topo_port(t, s, p)->sw;

				if (v != TOPO_NONE && dist[s] != UINT32_MAX)
					dist[v] = MIN(dist[v], dist[s] + 1);
			}
	return dist[to];
}

static void slow_pair(struct slow *s, const struct topo_host *from, const struct topo_host *to,
		      lid_t lid)
{
	_cleanup_free_ uint32_t *path = xcalloc(4u * s->t->n_switches + 1, sizeof(*path));
	int hops = 0;

	for (unsigned wish = 0; wish < (s->vls > 1 ? SL2VL_SLS : 1u); wish++)
		hops = trace(s, from, to, lid,
			     sl2vl_sl(s->r->lanes, from->sw, to->sw, lid, (uint8_t)wish), path);
	s->v.pairs++;
	s->v.unreachable += hops < 0;
	s->v.looping += hops == -2;
	if (hops < 0) {
		bool cut = slow_distance(s->t, from->sw, to->sw) == UINT32_MAX;

		s->v.cut += cut;
		s->v.lost += !cut;
		return;
	}
	s->hops += (unsigned)hops;
	s->v.max_hops = MAX(s->v.max_hops, (unsigned)hops);
	s->v.detours += slow_distance(s->t, from->sw, to->sw) != (unsigned)hops;
	for (int i = 0; i < hops; i++)
		s->load[path[i]]++;
}

/* A channel is on a cycle if it reaches itself. */
static void slow_cycles(struct slow *s)
{
	uint32_t n = s->n * s->vls;

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; s->follows[(size_t)i * n + k] && j < n; j++)
				s->follows[(size_t)i * n + j] |= s->follows[(size_t)k * n + j];
	for (uint32_t i = 0; i < n; i++)
		s->v.cycle_channels += s->follows[(size_t)i * n + i];
	s->v.credit_loop = s->v.cycle_channels;
}

static void slow_judge(const struct routes *r, struct route_verdict *ret)
{
	const struct topo *t = r->topo;
	struct slow s = { .r = r, .t = t, .v = { .min_load = UINT32_MAX } };
	_cleanup_free_ bool *stub = NULL;
	bool told_apart = r->lanes && (r->lanes->class_of || r->lanes->by != SL2VL_BY_NOTHING);

	s.vls = told_apart ? r->lanes->n_vls : 1;
	for (uint32_t i = 0; i < t->n_switches; i++)
		s.n += t->switches[i].n_ports + 1u;
	s.load = xcalloc(s.n, sizeof(*s.load));
	s.follows = xcalloc((size_t)s.n * s.vls * s.n * s.vls, sizeof(*s.follows));
	for (uint32_t a = 0; a < t->n_hosts; a++)
		for (uint32_t b = 0; b < t->n_hosts; b++)
			for (unsigned k = 0; a != b && k < 1u << t->hosts[b].lmc; k++)
				slow_pair(&s, &t->hosts[a], &t->hosts[b],
					  (lid_t)(t->hosts[b].lid + k));
	slow_cycles(&s);
	stub = topo_find_stubs(t);
	for (uint32_t i = 0; i < s.n; i++)
		if (t->ports[i].sw != TOPO_NONE && !stub[t->ports[i].sw] &&
		    !stub[topo_switch_with(t, i)]) {
			s.v.max_load = MAX(s.v.max_load, s.load[i]);
			s.v.min_load = MIN(s.v.min_load, s.load[i]);
		}
	if (s.v.pairs > s.v.unreachable)
		s.v.avg_hops = (double)s.hops / (double)(s.v.pairs - s.v.unreachable);
	free(s.load);
	free(s.follows);
	*ret = s.v;
}

static void assert_same_verdict(const struct routes *r, unsigned threads)
{
	struct route_verdict v, slow;

	routes_check(r, threads, &v);
	slow_judge(r, &slow);
	assert_int_equal(v.pairs, slow.pairs);
	assert_int_equal(v.unreachable, slow.unreachable);
	assert_int_equal(v.looping, slow.looping);
	assert_int_equal(v.credit_loop, slow.credit_loop);
	assert_int_equal(v.cycle_channels, slow.cycle_channels);
	assert_int_equal(v.max_hops, slow.max_hops);
	assert_int_equal(v.cut, slow.cut);
	assert_int_equal(v.lost, slow.lost);
	assert_int_equal(v.detours, slow.detours);
	assert_int_equal(v.minimal, !slow.detours);
	assert_int_equal(v.max_load, slow.max_load);
	if (slow.min_load != UINT32_MAX)
		assert_int_equal(v.min_load, slow.min_load);
	assert_float_equal(v.avg_hops, slow.avg_hops, 1e-9);
	for (uint32_t n = 0; n < r->topo->n_hosts; n++)
		assert_true(v.credit_loop ||
			    (!routes_loop_to(r, threads, n, CHECK_EACH) &&
			     !routes_loop_to(r, threads, n, CHECK_ONE_PER_SWITCH)));
	if (!v.cut)
		assert_int_equal(routes_loop_to(r, threads, r->topo->n_hosts, CHECK_EACH),
				 v.credit_loop);
}

/* Overwrites a share of the entries by ports that may or may not exist. */
static void spoil(struct routes *r, uint64_t *random, unsigned percent)
{
	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		unsigned range = r->topo->switches[s].n_ports + 2u;

		for (unsigned lid = 0; lid <= r->top; lid++)
			if (next_random(random) % 100 < percent)
				routes_row(r, s)[lid] = (uint8_t)(next_random(random) % range);
	}
}

static void agrees_with_the_slow_judge(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct topogen o = {
			.seed = seed, .damage = seed % 4 * 0.1, .lmc = seed % 5 == 0,
			.random_lids = true, .random_guids = true,
		};
		struct topo *t = topogen_random(4 + (unsigned)seed % 9, 3, 3, &o);
		struct routes *r = routed(t);
		uint64_t random = seed;

		print_message("# seed %llu\n", (unsigned long long)seed);
		assert_same_verdict(r, 1 + (unsigned)seed % 3);
		spoil(r, &random, (unsigned)(seed % 3) * 15 + 2);
		assert_same_verdict(r, 2);
		routes_unref(r);
		topo_unref(t);
	}
}

/* Any scheme at all. */
static struct sl2vl *any_lanes(const struct topo *t, unsigned number, uint32_t row_size)
{
	static const enum sl2vl_by bys[] = { SL2VL_BY_NOTHING, SL2VL_BY_LID, SL2VL_BY_SWITCHES,
					     SL2VL_BY_SWITCH_LID };
	unsigned classes = 1 + number / 4 % 3, vls = 2 + number % 2;
	struct sl2vl *l = sl2vl_new(t, vls, bys[number % 4], row_size, classes);
	uint64_t random = number;
	size_t n_sl = l->by == SL2VL_BY_LID ? row_size :
		      l->by == SL2VL_BY_SWITCHES ? (size_t)t->n_switches * t->n_switches :
		      l->by == SL2VL_BY_SWITCH_LID ? (size_t)t->n_switches * row_size : 0;
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	l->sl_mask = l->by == SL2VL_BY_NOTHING ? 0 : number % 3 == 0 ? 3 : 15;
	for (size_t i = 0; i < n_sl; i++)
		l->sl[i] = (uint8_t)(next_random(&random) % SL2VL_SLS & l->sl_mask);
	if (classes == 1)
		return l;
	l->class_of = xcalloc(n, 1);
	for (uint32_t i = 0; i < n; i++)
		l->class_of[i] = (uint8_t)(next_random(&random) % classes);
	for (size_t i = 0; i < (size_t)classes * classes * SL2VL_SLS; i++)
		l->vl[i] = (uint8_t)(i % SL2VL_SLS ? l->vl[i - i % 2] : next_random(&random) % vls);
	return l;
}

static void agrees_with_the_slow_judge_about_lanes(void **state)
{
	unsigned loops = 0, all = 0;

	for (unsigned seed = 1; seed <= 48; seed++) {
		struct topogen o = { .seed = seed, .damage = seed % 4 * 0.1, .random_lids = true };
		struct topo *t = seed % 3 ? topogen_random(4 + seed % 5, 3, 2, &o) :
					    topogen_torus((unsigned[]){ 5, 1, 1 }, 2, &o);
		struct routes *r = routed(t);
		uint64_t random = seed;
		struct route_verdict v;

		print_message("# seed %u\n", seed);
		r->lanes = any_lanes(t, seed, r->row_size);
		assert_same_verdict(r, 1 + seed % 2);
		routes_check(r, 1, &v);
		loops += v.credit_loop;
		all++;
		spoil(r, &random, seed % 3 * 15);
		assert_same_verdict(r, 2);
		routes_unref(r);
		topo_unref(t);
	}
	assert_in_range(loops, 1, all - 1); /* else nothing was tried */
}

/* ---- by hand ----------------------------------------------------------------------------- */

/* Ring of n switches: host i has LID i + 1 on port 1, port 2 leads clockwise, port 3 back. */
static struct topo *ring(unsigned n)
{
	struct topo_builder *b = topo_builder_new();

	for (unsigned i = 0; i < n; i++) {
		topo_add_switch(b, &(struct topo_switch){
			.guid = 1 + i, .n_ports = 3, .lid = (lid_t)(100 + i), .lft_cap = 0xC000,
		});
		topo_add_host(b, &(struct topo_host){ .guid = 1000 + i, .lid = (lid_t)(1 + i) });
		topo_add_host_link(b, 1000 + i, 1 + i, 1);
		topo_add_link(b, 1 + i, 2, 1 + (i + 1) % n, 3);
	}
	return topo_build(b);
}

/* Everything clockwise. */
static struct routes *clockwise(const struct topo *t)
{
	struct routes *r = routes_new(t, "hand", t->max_lid);

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (uint32_t d = 0; d < t->n_switches; d++) {
			routes_row(r, s)[1 + d] = d == s ? 1 : 2;
			routes_row(r, s)[100 + d] = d == s ? 0 : 2;
		}
	return r;
}

static void a_ring_driven_one_way_is_a_credit_loop(void **state)
{
	struct topo *t = ring(5);
	struct routes *r = clockwise(t);
	struct route_verdict v;

	routes_check(r, 1, &v);
	assert_int_equal(v.pairs, 20);
	assert_int_equal(v.unreachable, 0);
	assert_int_equal(v.switch_unreachable, 0);
	assert_true(v.credit_loop);
	assert_int_equal(v.cycle_channels, 5);
	assert_false(v.minimal);
	assert_int_equal(v.max_hops, 4);
	assert_int_equal(v.max_load, 1 + 2 + 3 + 4);
	assert_int_equal(v.min_load, 0); /* counter-clockwise */
	assert_same_verdict(r, 1);
	routes_unref(r);
	topo_unref(t);
}

/* Each step of a cycle waits for the next: leads to the switch where the next leaves. */
static void assert_cycle(const struct topo *t, const struct route_cycle *c)
{
	assert_true(c->n > 1);
	for (uint32_t i = 0; i < c->n; i++)
		assert_int_equal(topo_port(t, c->steps[i].sw, c->steps[i].port)->sw,
				 c->steps[(i + 1) % c->n].sw);
}

static void a_cycle_is_told_in_the_direction_of_packets(void **state)
{
	struct topo *t = ring(5);
	struct routes *r = clockwise(t);
	struct cdg *g = cdg_of(r, 1);
	struct route_cycle c;

	assert_false(cdg_is_acyclic(g));
	assert_true(cdg_cycle(g, &c));
	assert_int_equal(c.n, 5);
	assert_cycle(t, &c);
	for (uint32_t i = 0; i < c.n; i++)
		assert_int_equal(c.steps[i].port, 2);
	route_cycle_done(&c);
	cdg_free(g);
	routes_unref(r);
	topo_unref(t);
}

/* VL 1 out of switch 0 for what comes in by port 3; the switches behind it know nothing of that. */
static void a_lane_by_port_class_changes_at_every_switch(void **state)
{
	struct topo *t = ring(5);
	struct routes *r = clockwise(t);
	struct sl2vl *l = sl2vl_new(t, 2, SL2VL_BY_NOTHING, r->row_size, 3);
	struct route_verdict v;

	l->class_of = xcalloc(20, 1);
	for (unsigned i = 0; i < 20; i++) /* class 1: ports 3 of switch 0; class 2: ports 1 */
		l->class_of[i] = i % 4 == 1 ? 2 : 0;
	l->class_of[t->switches[0].first_port + 3] = 1;
	for (unsigned i = 0; i < 9 * SL2VL_SLS; i++)
		l->vl[i] = i / SL2VL_SLS / 3 == 1; /* in by class 1 */
	r->lanes = l;
	routes_check(r, 1, &v);
	assert_true(v.credit_loop); /* a packet that passed is on VL 0 again one switch later */
	assert_int_equal(v.n_vls, 2);
	assert_same_verdict(r, 1);
	routes_unref(r);
	topo_unref(t);
}

/*
 * SL 0: not through switch 0. SL 1: through it, but not through switch 2. SL 2: the one that is
 * left.
 */
static void an_sl_per_path_opens_a_ring(void **state)
{
	struct topo *t = ring(5);
	struct routes *r = clockwise(t);
	struct sl2vl *l = sl2vl_new(t, 3, SL2VL_BY_SWITCHES, r->row_size, 1);
	struct route_verdict v;

	r->lanes = l;
	for (uint32_t s = 0; s < 5; s++)
		for (uint32_t d = 0; d < 5; d++)
			l->sl[s * 5 + d] = d && d < s;
	l->sl[4 * 5 + 3] = 2;
	routes_check(r, 1, &v);
	assert_false(v.credit_loop);
	assert_int_equal(v.n_vls, 3);
	assert_int_equal(v.n_sls, 3);
	l->sl[4 * 5 + 3] = 1;
	routes_check(r, 1, &v);
	assert_true(v.credit_loop);
	assert_int_equal(v.cycle_channels, 5);
	assert_int_equal(v.n_vls, 2);
	routes_unref(r);
	topo_unref(t);
}

/* What a tree by hand needs: rows of all switches, one mask each. */
static struct mcast_tree *tree_of(const struct topo *t, const uint64_t *masks)
{
	struct mcast_tree *tree = xcalloc(1, sizeof(*tree) + t->n_switches * sizeof(tree->rows[0]));

	tree->refs = 1;
	tree->n_rows = t->n_switches;
	for (uint32_t s = 0; s < t->n_switches; s++)
		tree->rows[s] = (struct mcast_row){
			.sw = s, .guid = t->switches[s].guid, .mask = { masks[s] },
		};
	return tree;
}

/* Unicast goes up and down a line; a group over the seam of the ring closes the circle. */
static void a_tree_can_close_a_circle(void **state)
{
	struct topo *t = ring(5);
	struct routes *r = clockwise(t);
	struct mcast_tree *over = tree_of(t, (uint64_t[]){ 0xE, 0xA, 0, 0x6, 0xE });
	struct mcast_tree *along = tree_of(t, (uint64_t[]){ 0x6, 0xE, 0xE, 0xE, 0xA });
	struct cdg *g;
	struct route_cycle c;

	for (uint32_t s = 0; s < 5; s++)
		for (uint32_t d = 0; d < s; d++)
			routes_row(r, s)[1 + d] = 3;
	g = cdg_of(r, 1);
	assert_true(cdg_is_acyclic(g));
	assert_true(cdg_add_tree(g, along, 0));
	assert_false(cdg_add_tree(g, over, 0));
	assert_true(cdg_is_acyclic(g)); /* as if it had not been asked */
	assert_true(cdg_add_tree(g, along, 0));
	assert_true(
		tables_check_trees(r, (const struct mcast_tree *const[]){ along }, 1, NULL, NULL));
	assert_false(tables_check_trees(r, (const struct mcast_tree *const[]){ along, over }, 2,
					NULL, &c));
	assert_cycle(t, &c);
	route_cycle_done(&c);
	cdg_free(g);
	free(over);
	free(along);
	routes_unref(r);
	topo_unref(t);
}

static void a_lost_pair_is_told(void **state)
{
	struct topo *t = ring(4);
	struct routes *r = clockwise(t);
	struct route_verdict v;

	routes_row(r, 1)[1 + 2] = LFT_NO_PORT;
	routes_check(r, 1, &v);
	assert_int_equal(v.lost, 3);
	assert_int_equal(v.cut, 0);
	assert_int_equal(v.lost_example.to, 3);
	assert_int_equal(v.lost_example.from, 0);
	assert_int_equal(v.lost_example.end, 1);
	assert_false(v.lost_example.loops);
	t->switches[2].lft_cap = 3; /* LIDs 0..2: there is no room for LID 3 where it is */
	routes_check(r, 1, &v);
	assert_int_equal(v.cut, 3 + 1); /* and LID 4 from the switch itself */
	assert_int_equal(v.lost, 2);    /* LID 4 the way that leads through it */
	routes_unref(r);
	topo_unref(t);
}

static void a_ring_cut_open_is_none(void **state)
{
	struct topo *t = ring(5);
	struct routes *r = clockwise(t);
	struct route_verdict v;

	for (uint32_t s = 0; s < 5; s++) /* no route uses the cable between 4 and 0 */
		for (uint32_t d = 0; d < 5; d++)
			if (d < s)
				routes_row(r, s)[1 + d] = 3;
	routes_check(r, 1, &v);
	assert_int_equal(v.unreachable, 0);
	assert_false(v.credit_loop);
	assert_int_equal(v.cycle_channels, 0);
	assert_int_equal(v.max_load, 6);
	routes_unref(r);
	topo_unref(t);
}

static void a_forwarding_loop_is_found(void **state)
{
	struct topo *t = ring(4);
	struct routes *r = clockwise(t);
	struct route_verdict v;

	routes_row(r, 0)[1 + 2] = 3; /* for host 2: switch 0 sends back to switch 3 ... */
	routes_check(r, 1, &v);      /* ... which sends to switch 0 */
	assert_int_equal(v.pairs, 12);
	assert_int_equal(v.unreachable, 2);
	assert_int_equal(v.looping, 2);
	assert_true(v.credit_loop);
	assert_same_verdict(r, 1);
	routes_unref(r);
	topo_unref(t);
}

static void a_hole_cuts_all_behind_it(void **state)
{
	struct topo *t = ring(4);
	struct routes *r = clockwise(t);
	struct route_verdict v;

	routes_row(r, 1)[1 + 2] = LFT_NO_PORT;
	routes_check(r, 1, &v);
	assert_int_equal(v.unreachable, 3); /* switches 1, 0 and 3 */
	assert_int_equal(v.looping, 0);
	routes_unref(r);
	topo_unref(t);
}

static void wrong_port_at_the_last_switch_is_no_arrival(void **state)
{
	struct topo *t = ring(4);
	struct routes *r = clockwise(t);
	struct route_verdict v;

	routes_row(r, 2)[1 + 2] = 0;
	routes_check(r, 1, &v);
	assert_int_equal(v.unreachable, 3);
	routes_row(r, 2)[1 + 2] = 1;
	routes_row(r, 3)[1 + 2] = 1; /* into another host */
	routes_check(r, 1, &v);
	assert_int_equal(v.unreachable, 1);
	routes_unref(r);
	topo_unref(t);
}

static void entries_beyond_the_table_of_a_switch_do_not_exist(void **state)
{
	struct topo *t = ring(4);
	struct routes *r = clockwise(t);
	struct route_verdict v;

	t->switches[1].lft_cap = 3; /* LIDs 0..2 */
	routes_check(r, 1, &v);
	assert_int_equal(v.unreachable, 3 + 2); /* to host 2: all; to host 3: from 1 and 0 */
	routes_unref(r);
	topo_unref(t);
}

static void what_lies_above_the_tables_is_not_reached(void **state)
{
	struct topo *t = ring(4);
	struct routes *r = clockwise(t);
	struct route_verdict v;

	r->top = 3; /* no host 3, no switch */
	routes_check(r, 1, &v);
	assert_int_equal(v.pairs, 12);
	assert_int_equal(v.unreachable, 3);
	assert_int_equal(v.switch_unreachable, 16);
	routes_unref(r);
	topo_unref(t);
}

static void switch_lids_are_judged_apart(void **state)
{
	struct topo *t = ring(4);
	struct routes *r = clockwise(t);
	struct route_verdict v;

	routes_row(r, 1)[100 + 2] = LFT_NO_PORT;
	routes_check(r, 1, &v);
	assert_int_equal(v.unreachable, 0);
	assert_int_equal(v.switch_unreachable, 3);
	routes_unref(r);
	topo_unref(t);
}

static void pieces_that_are_apart_are_counted(void **state)
{
	struct topogen o = { .damage = 1.0 };
	struct topo *t = topogen_fat_tree2(3, 2, 2, 1, &o);
	struct routes *r = routed(t);
	struct route_verdict v;

	routes_check(r, 1, &v);
	assert_int_equal(v.pairs, 30);
	assert_int_equal(v.unreachable, 24);
	assert_int_equal(v.looping, 0);
	assert_int_equal(v.switch_unreachable, 20);
	routes_unref(r);
	topo_unref(t);
}

static void no_switch_is_no_question(void **state)
{
	struct topo_builder *b = topo_builder_new();
	struct route_verdict v;
	struct routes *r;
	struct topo *t;

	topo_add_host(b, &(struct topo_host){ .guid = 1, .lid = 1 });
	topo_add_host(b, &(struct topo_host){ .guid = 2, .lid = 2 });
	t = topo_build(b);
	r = routed(t);
	routes_check(r, 2, &v);
	assert_int_equal(v.pairs, 0);
	assert_int_equal(v.unreachable, 0);
	assert_false(v.credit_loop);
	assert_float_equal(tables_bisections(r, 3, 1), 0, 1e-9);
	routes_unref(r);
	topo_unref(t);
}

static void one_thread_and_many_see_the_same(void **state)
{
	struct topogen o = { .seed = 3, .damage = 0.05, .random_lids = true };
	struct topo *t = topogen_fat_tree3(8, &o);
	struct routes *r = routed(t);
	char line[ROUTE_VERDICT_STRLEN], other[ROUTE_VERDICT_STRLEN];
	struct route_verdict a, b;
	uint64_t random = 5;

	spoil(r, &random, 1);
	routes_check(r, 1, &a);
	routes_check(r, 8, &b);
	assert_string_equal(route_verdict_str(&a, line), route_verdict_str(&b, other));
	assert_int_equal(a.lost, b.lost);
	assert_int_equal(a.cut, b.cut);
	assert_int_equal(a.detours, b.detours);
	assert_int_equal(a.lost_example.from, b.lost_example.from);
	assert_int_equal(a.lost_example.to, b.lost_example.to);
	assert_int_equal(a.lost_example.end, b.lost_example.end);
	routes_unref(r);
	topo_unref(t);
}

static void the_line_says_it(void **state)
{
	struct route_verdict v = {
		.pairs = 100, .minimal = true, .avg_hops = 1.5, .max_hops = 3,
		.min_load = 1, .avg_load = 2, .max_load = 3,
	};
	char line[ROUTE_VERDICT_STRLEN];

	assert_string_equal(route_verdict_str(&v, line),
			    "all 100 pairs have a path, no credit loop, 1.50 hops on average and "
			    "3 at most, 1 to 3 paths on a link (2 on average)");
	v.unreachable = 7;
	v.looping = 2;
	v.credit_loop = true;
	v.cycle_channels = 9;
	v.minimal = false;
	assert_string_equal(route_verdict_str(&v, line),
			    "7 of 100 pairs have no path (2 going round), "
			    "credit loops over 9 channels, 1.50 hops on average and 3 at most (not "
			    "minimal), 1 to 3 paths on a link (2 on average)");
}

/* Two leaves, one spine, one cable each: half of all cross pairs share it. */
static void bandwidth_of_a_bottleneck(void **state)
{
	struct topo *t = topogen_fat_tree2(2, 2, 2, 1, NULL), *thin;
	struct routes *r = routed(t);
	double wide = tables_bisections(r, 200, 1);
	double all = tables_permutations(r, 200, 1);

	assert_true(wide > 0.8 && wide <= 1.0);
	assert_float_equal(tables_bisections(r, 200, 1), wide, 0);
	assert_float_equal(tables_permutations(r, 200, 1), all, 0);
	assert_true(all > 0.8 && all <= 1.0);
	assert_int_equal(tables_shift_congestion(r, 0), 1);
	routes_unref(r);
	topo_unref(t);
	thin = topogen_fat_tree2(2, 1, 2, 1, NULL);
	r = routed(thin);
	assert_true(tables_bisections(r, 200, 1) < wide);
	assert_true(tables_permutations(r, 200, 1) < all);
	assert_int_equal(tables_shift_congestion(r, 0), 2);
	routes_unref(r);
	topo_unref(thin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_slow_judge),
		cmocka_unit_test(agrees_with_the_slow_judge_about_lanes),
		cmocka_unit_test(a_ring_driven_one_way_is_a_credit_loop),
		cmocka_unit_test(a_cycle_is_told_in_the_direction_of_packets),
		cmocka_unit_test(a_lane_by_port_class_changes_at_every_switch),
		cmocka_unit_test(an_sl_per_path_opens_a_ring),
		cmocka_unit_test(a_tree_can_close_a_circle),
		cmocka_unit_test(a_lost_pair_is_told),
		cmocka_unit_test(a_ring_cut_open_is_none),
		cmocka_unit_test(a_forwarding_loop_is_found),
		cmocka_unit_test(a_hole_cuts_all_behind_it),
		cmocka_unit_test(wrong_port_at_the_last_switch_is_no_arrival),
		cmocka_unit_test(entries_beyond_the_table_of_a_switch_do_not_exist),
		cmocka_unit_test(what_lies_above_the_tables_is_not_reached),
		cmocka_unit_test(switch_lids_are_judged_apart),
		cmocka_unit_test(pieces_that_are_apart_are_counted),
		cmocka_unit_test(no_switch_is_no_question),
		cmocka_unit_test(one_thread_and_many_see_the_same),
		cmocka_unit_test(the_line_says_it),
		cmocka_unit_test(bandwidth_of_a_bottleneck),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
