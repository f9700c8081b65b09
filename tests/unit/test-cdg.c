// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dependency graph against one that is found by walking pair after pair: edge by edge, with any
 * lanes. Multicast trees are refused exactly when a plain search finds a cycle. And the risk of
 * all-to-all, by hand.
 */
#include "route/proof/cdg_internal.h"
#include "route/select/engines.h"
#include "tests/lib/tables.h"
#include "tests/unit/route-desk.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Edges between vertices channel * vls + VL, as a matrix. */
struct slow {
	const struct routes *r;
	const struct topo *t;
	unsigned vls;
	uint32_t n;
	bool *edges; /* edges[from * n + to] */
	uint16_t seen_vls;
};

static struct slow slow_new(const struct routes *r, unsigned vls)
{
	struct slow s = { .r = r, .t = r->topo, .vls = vls };

	for (uint32_t i = 0; i < s.t->n_switches; i++)
		s.n += (s.t->switches[i].n_ports + 1u) * vls;
	s.edges = xcalloc((size_t)s.n * s.n, sizeof(*s.edges));
	return s;
}

/* What leaves `sw` by `out` and came in by `in`; adds the edge. */
static uint32_t step(struct slow *s, uint32_t sw, unsigned in, unsigned out, uint8_t sl,
		     uint32_t last)
{
	unsigned vl = s->vls > 1 ? sl2vl_vl(s->r->lanes, s->t, sw, in, out, sl) : 0;
	uint32_t now = (s->t->switches[sw].first_port + out) * s->vls + vl;

	s->seen_vls |= (uint16_t)(1u << vl);
	if (last != UINT32_MAX)
		s->edges[(size_t)last * s->n + now] = true;
	return now;
}

static void walk(struct slow *s, const struct topo_host *from, const struct topo_host *to,
		 lid_t lid, uint8_t wish)
{
	uint8_t sl = sl2vl_sl(s->r->lanes, from->sw, to->sw, lid, wish);
	uint32_t sw = from->sw, last = UINT32_MAX;
	unsigned in = from->sw_port;

	for (uint32_t steps = 0; steps < 3 * s->t->n_switches; steps++) {
		uint8_t port =
			lid < s->t->switches[sw].lft_cap ? routes_port(s->r, sw, lid) : LFT_NO_PORT;
		const struct topo_port *p;

		if (!port || port > s->t->switches[sw].n_ports)
			return;
		p = topo_port(s->t, sw, port);
		if (p->sw == TOPO_NONE)
			return;
		last = step(s, sw, in, port, sl, last);
		sw = p->sw;
		in = p->port;
	}
}

/*
 * A host that sends to itself counts too: it matters only where the last switch sends it away
 * again.
 */
static void walk_all(struct slow *s)
{
	const struct topo *t = s->t;

	for (uint32_t a = 0; a < t->n_hosts; a++)
		for (uint32_t b = 0; b < t->n_hosts; b++)
			for (unsigned k = 0; k < (1u << t->hosts[b].lmc) * SL2VL_SLS; k++)
				if (t->hosts[a].sw != TOPO_NONE && t->hosts[b].sw != TOPO_NONE)
					walk(s, &t->hosts[a], &t->hosts[b],
					     (lid_t)(t->hosts[b].lid + k / SL2VL_SLS),
					     k % SL2VL_SLS);
}

struct told {
	const struct slow *s;
	uint64_t n;
};

static void assert_edge(void *arg, struct cdg_vertex from, struct cdg_vertex to)
{
	struct told *told = arg;
	const struct slow *s = told->s;

	assert_true(s->edges[((size_t)from.channel * s->vls + from.vl) * s->n +
			     to.channel * s->vls + to.vl]);
	told->n++;
}

static void assert_same_edges(const struct slow *s, const struct cdg *g)
{
	struct told told = { .s = s };

	uint64_t n_fast = 0, n_slow = 0;

	assert_int_equal(g->n_vls, s->vls);
	for (size_t i = 0; i < (size_t)s->n * s->n; i++)
		n_slow += s->edges[i];
	for (size_t to = 0; to < s->n; to++)
		for (unsigned bit = 0; bit < g->n_in * 64 * g->words; bit++)
			if (g->into[to * g->n_in * g->words + bit / 64] >> bit % 64 & 1) {
				size_t from =
					cdg_from(g, to, bit / 64 / g->words, bit % (64 * g->words));

				assert_true(s->edges[from * s->n + to]);
				n_fast++;
			}
	assert_int_equal(n_fast, n_slow);
	cdg_each_edge(g, assert_edge, &told);
	assert_int_equal(told.n, n_slow);
}

/* ---- any fabric, tables, lanes -------------------------------------------------------------- */

static struct topo *small_fabric(unsigned seed)
{
	struct topogen o = { .seed = seed,
			     .damage = seed % 4 * 0.08,
			     .random_lids = seed & 1,
			     .lmc = seed % 7 == 0 };

	switch (seed % 4) {
	case 0:
		return topogen_torus((unsigned[]){ 3 + seed % 3, 2 + seed % 2, 1 }, 1 + seed % 2,
				     &o);
	case 1: return topogen_grid("4tx4", 1, 1, &o);
	case 2: return topogen_random(6 + seed % 6, 3, 2, &o);
	}
	return topogen_dragonfly(4, 2, 1, &o);
}

static struct routes *tables(const struct topo *t, bool up_and_down)
{
	struct route_job job = { .topo = t, .threads = 1 };
	char why[256] = "";
	struct routes *r =
		route_engine_find(up_and_down ? "updn" : "minhop")->compute(&job, why, sizeof(why));

	assert_non_null(r);
	return r;
}

/* Schemes of every kind; few paths have another SL than 0, so that one too many is noticed. */
static struct sl2vl *few_lanes(const struct routes *r, unsigned seed)
{
	static const enum sl2vl_by bys[] = { SL2VL_BY_SWITCHES, SL2VL_BY_SWITCH_LID, SL2VL_BY_LID,
					     SL2VL_BY_NOTHING };
	const struct topo *t = r->topo;
	unsigned classes = seed % 3 ? 2 + seed / 3 % 5 : 1;
	struct sl2vl *l = sl2vl_new(t, 2 + seed % 3, bys[seed / 2 % 4], r->row_size, classes);
	uint64_t random = seed;
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	l->sl_mask = l->by == SL2VL_BY_NOTHING ? 0 : seed % 5 ? 15 : 7;
	for (size_t i = 0; i < sl2vl_n_sl(l); i++)
		l->sl[i] =
			next_random(&random) % 6 ? 0 : (uint8_t)(next_random(&random) & l->sl_mask);
	if (classes == 1)
		return l;
	l->class_of = xcalloc(n, 1);
	for (uint32_t i = 0; i < n; i++)
		l->class_of[i] = (uint8_t)(next_random(&random) % classes);
	for (size_t i = 0; i < (size_t)classes * classes * SL2VL_SLS; i++)
		l->vl[i] = (uint8_t)(next_random(&random) % l->n_vls);
	return l;
}

static void spoil(struct routes *r, uint64_t *random, unsigned percent)
{
	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		for (unsigned lid = 0; lid <= r->top; lid++)
			if (next_random(random) % 100 < percent)
				routes_row(r, s)[lid] =
					(uint8_t)(next_random(random) %
						  (r->topo->switches[s].n_ports + 2u));
}

static void assert_depends(const struct routes *r, unsigned threads)
{
	struct cdg *g = cdg_of(r, threads);
	struct slow s = slow_new(r, g->n_vls);

	walk_all(&s);
	assert_same_edges(&s, g);
	assert_true(!s.seen_vls || cdg_vls(g) == s.seen_vls);
	cdg_free(g);
	free(s.edges);
}

static void every_edge_is_one_that_a_pair_makes(void **state)
{
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct topo *t = small_fabric(seed);
		struct routes *r = tables(t, seed % 3 == 0);
		uint64_t random = seed;

		print_message("# seed %u\n", seed);
		assert_depends(r, 1);
		r->lanes = few_lanes(r, seed);
		assert_depends(r, 1 + seed % 2);
		spoil(r, &random, 1 + seed % 3 * 6);
		assert_depends(r, 1 + seed % 2);
		routes_unref(r);
		topo_unref(t);
	}
}

/* ---- order ---------------------------------------------------------------------------------- */

static void assert_in_order(const struct cdg *g)
{
	for (size_t to = 0; to < (size_t)g->n_ports * g->n_vls; to++)
		for (unsigned port = 0; port < 64; port++)
			if (g->into[to] >> port & 1)
				assert_true(cdg_allows(g, cdg_from(g, to, 0, port), to));
}

/* What comes in by some port of a switch leaves by another one. */
static struct cdg_added_bits any_edge(struct cdg *g, uint64_t *random)
{
	const struct topo *t = g->topo;
	uint32_t s = (uint32_t)(next_random(random) % t->n_switches);
	unsigned in = 1 + (unsigned)(next_random(random) % t->switches[s].n_ports),
		 out = 1 + (unsigned)(next_random(random) % t->switches[s].n_ports);
	struct cdg_added_bits ret = { .mask = &g->into[t->switches[s].first_port + out] };

	if (in != out && topo_port(t, s, in)->sw != TOPO_NONE &&
	    topo_port(t, s, out)->sw != TOPO_NONE)
		ret.bits = UINT64_C(1) << in;
	*ret.mask |= ret.bits;
	return ret;
}

/* Edges, some at a time, until they close a cycle. Returns how often they did not. */
static unsigned add_until_cyclic(struct cdg *g, uint64_t *random)
{
	struct cdg_added_bits edges[8];
	unsigned rounds = 0;

	for (bool acyclic = true; acyclic && rounds < 1000; rounds += acyclic) {
		struct cdg_added added = { .all = edges, .n = 1 + rounds % 8 };

		for (size_t k = 0; k < added.n; k++)
			edges[k] = any_edge(g, random);
		acyclic = cdg_is_still_acyclic(g, &added);
		assert_int_equal(acyclic, !cdg_on_cycles(g));
		if (acyclic)
			assert_in_order(g);
	}
	return rounds;
}

static void an_order_is_mended_until_edges_close_a_cycle(void **state)
{
	unsigned rounds = 0;

	for (unsigned seed = 1; seed <= 40; seed++) {
		struct topo *t = small_fabric(seed);
		struct cdg *g = cdg_new(t, NULL);
		uint64_t random = seed;

		print_message("# seed %u\n", seed);
		assert_true(cdg_is_acyclic(g));
		if (seed % 4 == 0) /* as if it had been mended often */
			g->lowest = 2 * g->n_ports;
		rounds += add_until_cyclic(g, &random);
		cdg_free(g);
		topo_unref(t);
	}
	assert_true(rounds > 200);
}

/* ---- trees ---------------------------------------------------------------------------------- */

/* Grows from a random switch by random cables; ends now and then before it has all. */
static struct mcast_tree *any_tree(const struct topo *t, uint64_t *random)
{
	struct mcast_tree *tree = xcalloc(1, sizeof(*tree) + t->n_switches * sizeof(tree->rows[0]));
	_cleanup_free_ bool *in = xcalloc(t->n_switches, sizeof(*in));

	tree->refs = 1;
	tree->n_rows = t->n_switches;
	for (uint32_t s = 0; s < t->n_switches; s++) {
		tree->rows[s] = (struct mcast_row){ .sw = s, .guid = t->switches[s].guid };
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
			if (topo_port(t, s, p)->host != TOPO_NONE)
				tree->rows[s].mask[0] |= UINT64_C(1) << p;
	}
	in[next_random(random) % t->n_switches] = true;
	for (unsigned tries = 0; tries < 40 * t->n_switches; tries++) {
		uint32_t s = (uint32_t)(next_random(random) % t->n_switches);
		unsigned port = 1 + (unsigned)(next_random(random) % t->switches[s].n_ports);
		const struct topo_port *p = topo_port(t, s, port);

		if (!in[s] || p->sw == TOPO_NONE || in[p->sw])
			continue;
		in[p->sw] = true;
		tree->rows[s].mask[0] |= UINT64_C(1) << port;
		tree->rows[p->sw].mask[0] |= UINT64_C(1) << p->port;
		if (next_random(random) % 12 == 0)
			break;
	}
	return tree;
}

struct copy {
	uint32_t sw, last;
	unsigned in;
};

/* Each copy by itself: in a tree none comes by twice. */
static void flood(struct slow *s, const struct mcast_tree *tree, uint8_t sl, struct copy first)
{
	struct copy *queue = xcalloc(s->t->n_switches + 1u, sizeof(*queue));
	unsigned n = 0;

	queue[n++] = first;
	for (unsigned i = 0; i < n; i++)
		for (unsigned p = 1; p <= s->t->switches[queue[i].sw].n_ports; p++) {
			const struct topo_port *to = topo_port(s->t, queue[i].sw, p);

			if (p == queue[i].in || to->sw == TOPO_NONE ||
			    !(tree->rows[queue[i].sw].mask[0] >> p & 1))
				continue;
			assert_true(n <= s->t->n_switches);
			queue[n++] = (struct copy){
				.sw = to->sw, .in = to->port,
				.last = step(s, queue[i].sw, queue[i].in, p, sl, queue[i].last),
			};
		}
	free(queue);
}

static void slow_add(struct slow *s, const struct mcast_tree *tree, uint8_t sl)
{
	for (uint32_t sw = 0; sw < s->t->n_switches; sw++)
		for (unsigned p = 0; p <= s->t->switches[sw].n_ports; p++)
			if (!p || topo_port(s->t, sw, p)->host != TOPO_NONE)
				flood(s, tree, sl,
				      (struct copy){ .sw = sw, .in = p, .last = UINT32_MAX });
}

/*
 * Takes away channels that wait for none, until none is left, or only those that wait for each
 * other.
 */
static bool slow_acyclic(const struct slow *s)
{
	bool *gone = xcalloc(s->n, sizeof(*gone)), changed = true;
	uint32_t left = s->n;

	while (changed) {
		changed = false;
		for (uint32_t v = 0; v < s->n; v++) {
			bool waits = gone[v];

			for (uint32_t w = 0; !waits && w < s->n; w++)
				waits = s->edges[(size_t)v * s->n + w] && !gone[w];
			if (waits)
				continue;
			gone[v] = changed = true;
			left--;
		}
	}
	free(gone);
	return !left;
}

/* The same, from the last row to the first: as by GUID where switches replaced others. */
static struct mcast_tree *backwards(const struct mcast_tree *tree)
{
	uint32_t n = tree->n_rows;
	struct mcast_tree *ret = xmemdup(tree, sizeof(*tree) + n * sizeof(tree->rows[0]));

	for (uint32_t i = 0; i < n; i++)
		ret->rows[i] = tree->rows[n - 1 - i];
	return ret;
}

/* One tree; true: it was taken. */
static bool try_tree(struct slow *s, struct cdg *g, uint64_t *random)
{
	size_t size = (size_t)s->n * s->n * sizeof(*s->edges);
	struct mcast_tree *tree = any_tree(s->t, random), *other = backwards(tree);
	uint8_t sl = (uint8_t)(next_random(random) % SL2VL_SLS);
	bool *before = xmemdup(s->edges, size);
	bool acyclic;

	slow_add(s, tree, sl);
	acyclic = slow_acyclic(s);
	if (!acyclic)
		memcpy(s->edges, before, size);
	assert_int_equal(cdg_add_tree(g, next_random(random) % 2 ? tree : other, sl), acyclic);
	assert_same_edges(s, g);
	free(before);
	free(other);
	free(tree);
	return acyclic;
}

static void a_tree_is_refused_exactly_when_it_closes_a_cycle(void **state)
{
	unsigned taken = 0, all = 0;

	for (unsigned seed = 1; seed <= 40; seed++) {
		struct topo *t = small_fabric(seed);
		struct routes *r = tables(t, true);
		struct cdg *g;
		uint64_t random = seed;
		struct slow s;

		print_message("# seed %u\n", seed);
		if (seed % 4)
			/* up and down: no cycle, whatever the lanes are */
			r->lanes = few_lanes(r, seed);
		g = cdg_of(r, 1);
		s = slow_new(r, g->n_vls);
		walk_all(&s);
		assert_same_edges(&s, g);
		for (unsigned i = 0; i < 6; i++, all++)
			taken += try_tree(&s, g, &random);
		cdg_free(g);
		free(s.edges);
		routes_unref(r);
		topo_unref(t);
	}
	assert_in_range(taken, all / 10, all - all / 10); /* else nothing was tried */
}

/* ---- all to all ----------------------------------------------------------------------------- */

static unsigned slow_risk(const struct routes *r)
{
	const struct topo *t = r->topo;
	uint32_t n = 0, risk = 0;
	bool *sends, *is_sent;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	sends = xcalloc((size_t)n * t->n_hosts, sizeof(*sends));
	is_sent = xcalloc((size_t)n * t->n_hosts, sizeof(*is_sent));
	for (uint32_t a = 0; a < t->n_hosts; a++)
		for (uint32_t b = 0; b < t->n_hosts; b++)
			for (uint32_t sw = t->hosts[a].sw; sw != t->hosts[b].sw;) {
				uint8_t port = routes_port(r, sw, t->hosts[b].lid);
				uint32_t channel = t->switches[sw].first_port + port;

				if (port == LFT_NO_PORT)
					break;
				sends[(size_t)channel * t->n_hosts + a] = true;
				is_sent[(size_t)channel * t->n_hosts + b] = true;
				sw = t->ports[channel].sw;
			}
	for (uint32_t c = 0; c < n; c++) {
		uint32_t from = 0, to = 0;

		for (uint32_t h = 0; h < t->n_hosts; h++) {
			from += sends[(size_t)c * t->n_hosts + h];
			to += is_sent[(size_t)c * t->n_hosts + h];
		}
		risk = MAX(risk, MIN(from, to));
	}
	free(sends);
	free(is_sent);
	return risk;
}

static void risk_of_all_to_all_is_that_of_the_worst_cable(void **state)
{
	/* Three leaves of four hosts on one spine: 4 send up to 8, 8 send down to 4. */
	struct topo *t = topogen_fat_tree2(3, 1, 4, 1, NULL);
	struct routes *r = route(t, NULL);

	assert_int_equal(tables_all_to_all_risk(r), 4);
	routes_unref(r);
	topo_unref(t);
	/* Four spines: each up link has one of the hosts of every other leaf behind it. */
	t = topogen_fat_tree2(3, 4, 4, 1, NULL);
	r = route(t, NULL);
	assert_int_equal(tables_all_to_all_risk(r), slow_risk(r));
	assert_in_range(tables_all_to_all_risk(r), 1, 2);
	routes_unref(r);
	topo_unref(t);
	for (unsigned seed = 1; seed <= 24; seed++) {
		struct topogen o = any_options(seed);

		t = any_fabric(seed, &o);
		r = route(t, NULL);
		print_message("# seed %u\n", seed);
		assert_int_equal(tables_all_to_all_risk(r), slow_risk(r));
		routes_unref(r);
		topo_unref(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_edge_is_one_that_a_pair_makes),
		cmocka_unit_test(an_order_is_mended_until_edges_close_a_cycle),
		cmocka_unit_test(a_tree_is_refused_exactly_when_it_closes_a_cycle),
		cmocka_unit_test(risk_of_all_to_all_is_that_of_the_worst_cable),
	};

	return cmocka_run_group_tests_name("depend", tests, NULL, NULL);
}
