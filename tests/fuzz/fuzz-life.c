// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lives of large fabrics: up to 50 events on some 1,000 to 18,000 nodes, each routed as the daemon
 * does.
 *
 * The other fuzzer of routing (fuzz-route.c) knows everything but size: repairs, shared pages and
 * judgements of what is different begin where its fabrics end. Radixes are no powers of two, tables
 * stand around the limits of pages. Cables, hosts and switches go and come back, one or many at a
 * time, LIDs move, hosts change places. What must hold after every event: nothing that cables
 * connect is lost, nothing goes round, what promises it is free of deadlock, the judge in a hurry
 * says what the judge from scratch says, entries lead out of ports that are there, tables from
 * before are what they were, trees of groups are trees.
 *
 * The input is two bytes for fabric and engine, two for options, then four for each event; those
 * that are not there come from what is. FUZZ_LARGE=1: also fabrics that take their time, and 50
 * events instead of 8.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "route/proof/check.h"
#include "route/proof/cdg.h"
#include "route/mcast/mcast.h"
#include "route/proof/transition.h"
#include "route/select/keep_tables.h"
#include "tests/lib/topocut.h"
#include "util/mem.h"
#include "util/random.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);
extern const unsigned fuzz_runs;
const unsigned fuzz_runs = 4; /* replay.c */

#define EVENTS	     8
#define EVENTS_LARGE 50
#define GROUPS	   3
#define MEMBERS	   40

/*
 * Words of topogen_words(). Tables of one page, of 63 to 65, around 1 MiB and 32 MiB are among
 * them.
 */
static const char *const fabrics[] = {
	"fat-tree2 15 1 3 1",
	"fat-tree2 1 2 60 1",
	"fat-tree2 24 15 12 1",
	"fat-tree2 33 25 20 1",
	"fat-tree2 40 20 20 1",
	"fat-tree2 42 21 33 1",
	"fat-tree2 54 18 36 2",
	"fat-tree2 65 32 32 1",
	"fat-tree2 128 8 16 1",
	"fat-tree2 254 10 9 1",
	"fat-tree2 35 20 15 3",
	"tree3 15 8 12 7 9 1 1",
	"tree3 12 5 24 6 4 2 1",
	"tree3 20 9 11 10 11 1 2",
	"fat-tree3 20",
	"torus 9 7 5 4",
	"dragonfly 15 10 8",
	"hyperx 15 9 12",
	"random 300 6 7",
	"dragonfly+ 7 6 5 40 3",
	/* FUZZ_LARGE */
	"fat-tree3 24",
	"fat-tree3 30",
	"fat-tree3 36",
	"fat-tree3 40",
	"tree3 24 25 15 14 13 1 1",
	"fat-tree2 254 64 40 1",
	"torus 16 15 8 4",
	"hyperx 33 24 8",
	"dragonfly 33 16 8",
	"random 1500 8 4",
};
#define N_SMALL 20

static const struct asked {
	const char *name;
	bool acyclic;
	bool large; /* fast enough there */
} asked[] = {
	{ "minhop", false, true },    { "updn", true, true },	  { "ftree", true, true },
	{ "dnup", true, true },	      { "auto", true, true },	  { "sssp", false, true },
	{ "dfsssp", true, false },    { "columns", false, true }, { "dor", false, true },
	{ "dragonfly", true, false }, { "hyperx", true, false },
};

struct bytes {
	const uint8_t *at, *end;
	uint64_t random;
};

struct life {
	struct bytes bytes;
	const struct asked *asked;
	struct topo *whole; /* LIDs and places of hosts change in it */
	struct topocut *cut;
	uint32_t *cables, n_cables;
	lid_t next_lid;
	bool full;   /* every judgement from scratch */
	bool settle; /* as the daemon does when there is time */
	struct routes *routes;
	struct mcast_tree *trees[GROUPS];
};

static void require_(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

#define require(X) require_(X, #X)

static unsigned next(struct bytes *b)
{
	return b->at < b->end ? *b->at++ : (unsigned)(random_next(&b->random) & 0xFF);
}

static unsigned next16(struct bytes *b)
{
	unsigned high = next(b);

	return high << 8 | next(b);
}

static struct topo *fabric_of(const char *text, uint8_t lmc)
{
	const struct topogen o = { .seed = 1, .lmc = lmc };
	_cleanup_free_ char *copy = xstrdup(text);
	char *words[10], *at = NULL;
	int n = 0;

	for (char *w = strtok_r(copy, " ", &at); w; w = strtok_r(NULL, " ", &at))
		words[n++] = w;
	return topogen_words(n, words, &o);
}

/* ---- events -------------------------------------------------------------------------------- */

static void toggle_cable(struct life *l, unsigned x)
{
	if (l->n_cables)
		l->cut->ports[l->cables[x % l->n_cables]] ^= true;
}

/* All cables of a switch to others but one, or to one other. */
static void cut_off(struct life *l, unsigned x, unsigned y)
{
	const struct topo *t = l->whole;
	uint32_t s = x % t->n_switches, kept = 1 + y % MAX(t->switches[s].n_ports, 1u);

	for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
		if (topo_port(t, s, p)->sw != TOPO_NONE && p != kept)
			l->cut->ports[t->switches[s].first_port + p] ^= true;
}

static void move_lid(struct life *l, unsigned x, unsigned y)
{
	struct topo_host *h = &l->whole->hosts[x % l->whole->n_hosts],
			 *other = &l->whole->hosts[y % l->whole->n_hosts];
	struct topo_switch *s = &l->whole->switches[x % l->whole->n_switches];
	lid_t kept = h->lid;

	if (y % 3 == 0) {
		h->lid = other->lid;
		other->lid = kept;
	} else if (l->next_lid < 0xBFFF - (1 << h->lmc)) {
		lid_t fresh = (lid_t)((l->next_lid + (1u << h->lmc) - 1) >> h->lmc << h->lmc);

		l->next_lid = (lid_t)(fresh + (1u << h->lmc));
		if (y % 3 == 1)
			h->lid = fresh;
		else
			s->lid = fresh;
	}
}

/* Two hosts change places. */
static void swap_hosts(struct life *l, unsigned x, unsigned y)
{
	uint32_t a = x % l->whole->n_hosts, b = (x + 1 + y) % l->whole->n_hosts;
	struct topo_host *h = &l->whole->hosts[a], *g = &l->whole->hosts[b], kept = *h;

	if (a == b || h->sw == TOPO_NONE || g->sw == TOPO_NONE)
		return;
	h->sw = g->sw;
	h->sw_port = g->sw_port;
	g->sw = kept.sw;
	g->sw_port = kept.sw_port;
	l->whole->ports[l->whole->switches[h->sw].first_port + h->sw_port].host = a;
	l->whole->ports[l->whole->switches[g->sw].first_port + g->sw_port].host = b;
}

static void mend_all(struct life *l)
{
	struct topocut *c = topocut_new(l->whole);

	topocut_free(l->cut);
	l->cut = c;
}

static void happen(struct life *l)
{
	unsigned op = next(&l->bytes), x = next16(&l->bytes), y = next(&l->bytes);

	switch (op % 16) {
	case 6: l->cut->hosts[x % l->whole->n_hosts] ^= true; break;
	case 7: l->cut->switches[x % l->whole->n_switches] ^= true; break;
	case 8: move_lid(l, x, y); break;
	case 9: swap_hosts(l, x, y); break;
	case 10:
		for (unsigned i = 0; i <= y % 20; i++)
			toggle_cable(l, x + i * (1 + y / 20));
		break;
	case 11: cut_off(l, x, y); break;
	case 12:
		for (unsigned i = 0; i <= y; i++)
			l->cut->hosts[(x + i) % l->whole->n_hosts] ^= true;
		break;
	case 13: mend_all(l); break;
	default: toggle_cable(l, x); break;
	}
}

/* ---- what must hold ------------------------------------------------------------------------ */

static void require_entries(const struct routes *r)
{
	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		for (unsigned lid = 0; lid <= r->top; lid++) {
			uint8_t port = routes_port(r, s, (lid_t)lid);

			require(port == LFT_NO_PORT || port <= r->topo->switches[s].n_ports);
		}
}

static void require_same_verdict(const struct route_verdict *a, const struct route_verdict *b)
{
	require(a->pairs == b->pairs && a->unreachable == b->unreachable && a->cut == b->cut);
	require(a->lost == b->lost && a->looping == b->looping && a->credit_loop == b->credit_loop);
	require(a->detours == b->detours && a->switch_unreachable == b->switch_unreachable);
	require(a->max_load == b->max_load && a->min_load == b->min_load &&
		a->max_hops == b->max_hops);
}

static void require_proof(const struct life *l, const struct routes *r, const struct keep_report *w)
{
	const struct route_verdict *v = &w->choice.verdict;
	struct route_verdict fresh;

	require(!v->lost && !v->looping);
	require(!v->credit_loop || w->choice.unsafe);
	require(!l->asked->acyclic || !v->credit_loop);
	require_entries(r);
	if (!l->full)
		return;
	routes_check(r, 1, &fresh);
	require_same_verdict(v, &fresh);
}

static void require_tree(const struct mcast_tree *tree, const struct topo *t)
{
	for (uint32_t i = 0; i < tree->n_rows; i++) {
		const struct mcast_row *row = &tree->rows[i];

		require(row->sw < t->n_switches && t->switches[row->sw].guid == row->guid);
		require(row->up == MCAST_NONE || row->up < tree->n_rows);
		require(row->up == MCAST_NONE ||
			topo_port(t, row->sw, row->up_port)->sw == tree->rows[row->up].sw);
	}
}

static void plan_groups(struct life *l)
{
	const struct topo *t = l->routes->topo;
	struct mcast_params params = { .topo = t, .routes = l->routes };
	_cleanup_(mcast_planner_freep) struct mcast_planner *planner = mcast_planner_new(&params);

	for (unsigned i = 0; i < GROUPS; i++) {
		struct mcast_member members[MEMBERS];
		struct mcast_job job = { .mlid = (lid_t)(MLID_MIN + i), .members = members,
					 .previous = l->trees[i] };
		uint64_t state = i;
		struct mcast_tree *tree;

		for (; t->n_hosts && job.n_members < MEMBERS; job.n_members++) {
			const struct topo_host *h = &t->hosts[random_next(&state) % t->n_hosts];

			members[job.n_members] = (struct mcast_member){ h->sw, h->sw_port, true };
		}
		job.may_replan = i == 1;
		tree = mcast_plan(planner, &job);
		mcast_tree_unref(l->trees[i]);
		l->trees[i] = tree;
		require_tree(tree, t);
	}
}

/* ---- all of it ----------------------------------------------------------------------------- */

static uint64_t sum_of(const struct routes *r)
{
	uint64_t sum = 0;

	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		for (uint32_t i = 0; i < r->row_size; i += 8) {
			uint64_t word;

			memcpy(&word, routes_row(r, s) + i, 8);
			sum = (sum ^ word) * UINT64_C(0x100000001B3);
		}
	return sum;
}

static void route(struct life *l)
{
	_cleanup_(topo_unrefp) struct topo *t = topocut_apply(l->whole, l->cut);
	struct route_chain chain = { .list = l->asked->name, .allow_unsafe = !l->asked->acyclic };
	struct route_job job = { .topo = t, .previous = l->routes, .threads = 1 };
	uint64_t before = l->routes ? sum_of(l->routes) : 0;
	struct keep_report w;
	struct routes *r = keep_tables(&chain, &job, false, &w);

	require(r);
	require_proof(l, r, &w);
	if (l->routes && r != l->routes) {
		require(sum_of(l->routes) == before);
		transition_free(transition_find(l->routes, r));
	}
	if (getenv("LOUD"))
		fprintf(stderr, "%s by %s: %s, refused %s\n", r->engine, r->by, w.note,
			w.choice.refused);
	routes_unref(l->routes);
	l->routes = r;
	if (l->settle)
		routes_settle(r);
	plan_groups(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct life l = { .bytes = { input, input + len, 0 } };
	bool large = getenv("FUZZ_LARGE");
	unsigned kind, engine, flags, n;

	for (size_t i = 0; i < len; i++)
		l.bytes.random = (l.bytes.random ^ input[i]) * UINT64_C(0x100000001B3);
	kind = next(&l.bytes) % (large ? ARRAY_SIZE(fabrics) : N_SMALL);
	engine = next(&l.bytes);
	flags = next(&l.bytes);
	n = 1 + next(&l.bytes) % (large ? EVENTS_LARGE : EVENTS);
	l.asked = &asked[engine % ARRAY_SIZE(asked)];
	if (kind >= N_SMALL && !l.asked->large)
		l.asked = &asked[engine % 5];
	l.whole = fabric_of(fabrics[kind], flags >> 4 == 15 ? 1 : 0);
	l.cut = topocut_new(l.whole);
	l.cables = topocut_cables(l.whole, &l.n_cables);
	l.next_lid = (lid_t)(l.whole->max_lid + 1 + (flags >> 2 & 3) * 64);
	l.settle = flags & 1;
	l.full = flags & 2;
	if (getenv("LOUD"))
		fprintf(stderr, "%s, %s, %u events, flags %u\n", fabrics[kind], l.asked->name, n,
			flags);
	route(&l);
	for (unsigned i = 0; i < n; i++) {
		happen(&l);
		l.full = flags & 2 || i + 1 == n;
		route(&l);
	}
	for (unsigned i = 0; i < GROUPS; i++)
		mcast_tree_unref(l.trees[i]);
	routes_unref(l.routes);
	topocut_free(l.cut);
	free(l.cables);
	topo_unref(l.whole);
	return 0;
}
