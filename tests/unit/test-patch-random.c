// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sequences of losses on all kinds of fabrics and engines: entries of patches arrive one at a time,
 * in random order, and some later than the next loss. PATCH_SEQUENCES: how many; PATCH_SEED: the
 * first one.
 */
#include <stdio.h>

#include "tests/unit/patch-desk.h"

static const char *const engines[] = { "minhop",    "updn",   "dnup",	 "ftree", "dor",
				       "lash",	    "sssp",   "dfsssp",	 "nue",	  "torus-2QoS",
				       "dragonfly", "hyperx", "columns", "auto" };

static struct topo *fabric(unsigned kind, unsigned number)
{
	struct topogen o = any_options(number);

	o.asides = number % 11 == 5;
	switch (kind) {
	case 0:
		return topogen_random(3 + number % 40, 2 + number % 4, 3, &o);
	case 1:
		return topogen_fat_tree3(4 + number % 2 * 2, &o);
	case 2:
		return topogen_fat_tree2(2 + number % 7, 1 + number % 4, 3, 1 + number % 3, &o);
	case 3:
		return topogen_torus((unsigned[]){ 3 + number % 3, 2 + number % 4, 1 + number % 3 },
				     2, &o);
	case 4:
		return topogen_dragonfly(4 + number % 4, 2 + number % 3, 2, &o);
	case 5:
		return topogen_hyperx(3 + number % 3, 3, 2, &o);
	case 6:
		return topogen_slim_fly(5, 1, &o);
	case 7:
		return topogen_torus((unsigned[]){ 3 + number % 6, 1, 1 }, 2, &o);
	}
	return topogen_dragonfly_plus(&(struct topogen_plus){ 3, 2, 2, 2, 1 + number % 2 }, &o);
}
#define KINDS 9

/* Tables that hold; NULL: the engine has none. */
static struct routes *tables(const struct topo *t, const char *engine)
{
	struct route_job job = { .topo = t, .threads = 1, .options.nue_max_num_vls = 2 };
	char why[256] = "";
	struct routes *r = route_engine_run(route_engine_find(engine), &job, why, sizeof(why));
	struct route_verdict v;

	if (!r)
		return NULL;
	routes_check(r, 1, &v);
	return v.lost || v.looping ? routes_unref(r) : r;
}

struct totals {
	unsigned sequences, cyclic, calls, again;
	size_t changes, waiting, looked, better, better_back, better_live;
};

/*
 * Draws the cables that die next, among those that are alive: one, up to a few, or all of a switch.
 * Returns the number of entries written to `ret`.
 */
static size_t choose_dead(const struct patch_desk *d, uint32_t *ret, uint64_t *seed)
{
	const struct topo *t = d->topo;
	uint32_t n_entries = topo_n_entries(t);
	unsigned kind = (unsigned)(random_next(seed) % 5), n = 0;
	uint32_t sw = (uint32_t)(random_next(seed) % t->n_switches);

	if (kind == 4) {
		for (unsigned p = 1; p <= t->switches[sw].n_ports; p++) {
			uint32_t e = t->switches[sw].first_port + p;

			if (t->ports[e].sw != TOPO_NONE && !d->dead[e])
				ret[n++] = e;
		}
		return n;
	}
	for (unsigned i = 0; i < 40 && n <= kind; i++) {
		uint32_t e = (uint32_t)(random_next(seed) % n_entries);

		if (t->ports[e].sw != TOPO_NONE && !d->dead[e])
			ret[n++] = e;
	}
	return n;
}

/* Where packets to the LID from this switch end. */
static uint32_t end_of(const struct patch_desk *d, uint32_t sw, lid_t lid)
{
	uint32_t next;

	while ((next = desk_next(d, sw, lid)) != TOPO_NONE)
		sw = next;
	return sw;
}

/* A switch whose packets to the LID do not arrive: the engine had no path, or an entry waits. */
static void check_lost(const struct patch_desk *d, const struct routes *first, uint32_t sw,
		       lid_t lid)
{
	uint32_t end = end_of(d, sw, lid);

	if (routes_port(first, end, lid) == LFT_NO_PORT)
		return;
	for (uint32_t i = 0; i < d->waiting; i++)
		if (d->waits[i].sw == end && d->waits[i].lid == lid)
			return;
	fail_msg("packets from switch %u to LID %u end at %u, and nothing waits there", sw, lid,
		 end);
}

/* At rest what does not arrive waits, or is cut off; and nothing waits without packets. */
static void check_rest(const struct patch_desk *d, const struct routes *first)
{
	uint32_t n = d->topo->n_switches;
	uint8_t *ends = xmalloc(n + 1);
	struct routes *r = desk_tables(d);
	struct graph *g = graph_new(r->topo, NULL);
	uint32_t *part = graph_parts(g);

	for (uint32_t lid = 1; lid <= d->now->top; lid++) {
		if (d->at[lid] == TOPO_NONE)
			continue;
		desk_walk(d, (lid_t)lid, ends);
		for (uint32_t s = 0; s < n; s++)
			if (d->sends[s] && ends[s] != DESK_ARRIVES && part[s] == part[d->at[lid]])
				check_lost(d, first, s, (lid_t)lid);
	}
	for (uint32_t i = 0; i < d->waiting; i++) {
		bool used = false;

		assert_int_equal(part[d->waits[i].sw], part[d->at[d->waits[i].lid]]);
		for (uint32_t s = 0; s < n && !used; s++)
			used = d->sends[s] && end_of(d, s, d->waits[i].lid) == d->waits[i].sw;
		assert_true(used);
	}
	if (d->safe)
		assert_true(desk_is_acyclic(d));
	FREE_ALL(part, ends);
	graph_free(g);
	routes_unref(r);
}

/* ---- all that could be done ------------------------------------------------------------------ */

/* Do packets arrive with this entry, without a loop or a cycle? It is as it was afterwards. */
static bool would_do(struct patch_desk *d, uint32_t sw, lid_t lid, uint8_t port)
{
	uint8_t *entry = desk_held(d, sw, lid), was = *entry;
	uint32_t at = sw;
	bool ok;

	*entry = port;
	for (uint32_t i = 0; i <= d->topo->n_switches && at != d->at[lid] && at != TOPO_NONE; i++)
		at = desk_next(d, at, lid);
	ok = at == d->at[lid] && *desk_held(d, at, lid) == d->at_port[lid] &&
	     (!d->safe || desk_is_acyclic(d));
	*entry = was;
	return ok;
}

static bool has_way(struct patch_desk *d, uint32_t sw, lid_t lid)
{
	for (unsigned p = 1; p <= d->topo->switches[sw].n_ports; p++)
		if (topo_behind(d->topo, sw, p) != TOPO_NONE && would_do(d, sw, lid, (uint8_t)p))
			return true;
	return false;
}

/*
 * Has a neighbour whose packets do not arrive another way, by which those of the switch could go,
 * too? `works`: or one whose packets do.
 */
static bool has_way_back(struct patch_desk *d, uint32_t sw, lid_t lid, bool works)
{
	for (unsigned p = 1; p <= d->topo->switches[sw].n_ports; p++) {
		uint32_t next = topo_behind(d->topo, sw, p);
		uint8_t *entry = desk_held(d, sw, lid), was = *entry;
		bool found;

		if (next == TOPO_NONE || d->dead[d->topo->switches[sw].first_port + p] ||
		    (!works && end_of(d, next, lid) == d->at[lid]))
			continue;
		*entry = (uint8_t)p;
		found = has_way(d, next, lid);
		*entry = was;
		if (found)
			return true;
	}
	return false;
}

static void count_better(struct patch_desk *d, struct totals *t)
{
	t->waiting += d->waiting;
	for (uint32_t i = 0; i < MIN(d->waiting, 4u); i++) {
		const struct patch_entry *e = &d->waits[i];

		t->looked++;
		if (has_way(d, e->sw, e->lid))
			t->better++;
		else if (has_way_back(d, e->sw, e->lid, false))
			t->better_back++;
		else if (has_way_back(d, e->sw, e->lid, true))
			t->better_live++;
		else
			continue;
		if (getenv("PATCH_TELL"))
			fprintf(stderr, "switch %u LID %u: %zu %zu %zu\n", e->sw, e->lid, t->better,
				t->better_back, t->better_live);
	}
}

/* ---- sequences ------------------------------------------------------------------------------- */

static void to_rest(struct patch_desk *d, struct totals *t, uint64_t *seed)
{
	for (unsigned i = 0; i < 20; i++) {
		desk_apply_some(d, SIZE_MAX, seed);
		if (!desk_patch(d, NULL, 0))
			return;
		t->again++;
	}
	fail_msg("patches do not come to rest");
}

static void run_sequence(struct routes *r, struct totals *t, uint64_t *seed)
{
	struct patch_desk d = desk_new(r);
	struct routes *first = routes_ref(r);
	uint32_t *dead = xcalloc(topo_n_entries(d.topo) + 1u, sizeof(*dead));
	unsigned calls = 1 + (unsigned)(random_next(seed) % 5);

	t->cyclic += !d.safe;
	for (unsigned i = 0; i < calls; i++) {
		size_t n = choose_dead(&d, dead, seed);

		t->changes += desk_patch(&d, dead, n);
		t->calls++;
		if (random_next(seed) % 2) {
			desk_apply_some(&d, random_next(seed) % (d.n_due + 1), seed);
			assert_true(!d.safe || desk_is_acyclic(&d));
			continue;
		}
		to_rest(&d, t, seed);
		check_rest(&d, first);
	}
	to_rest(&d, t, seed);
	check_rest(&d, first);
	count_better(&d, t);
	free(dead);
	routes_unref(first);
	desk_done(&d);
}

static unsigned from_environment(const char *name, unsigned otherwise)
{
	const char *word = getenv(name);

	return word ? (unsigned)strtoul(word, NULL, 10) : otherwise;
}

static void no_loop_at_any_moment(void **state)
{
	unsigned first = from_environment("PATCH_SEED", 1),
		 n = from_environment("PATCH_SEQUENCES", 300);
	struct totals t = { .sequences = 0 };

	(void)state;
	for (unsigned i = first; i < first + n; i++) {
		uint64_t seed = i;
		unsigned kind = (unsigned)(random_next(&seed) % KINDS);
		const char *engine = engines[random_next(&seed) % ARRAY_SIZE(engines)];
		struct topo *topo = fabric(kind, i);
		struct routes *r = tables(topo, engine);

		if (!r)
			r = tables(topo, "updn"); /* the engine does not suit the fabric */
		if (getenv("PATCH_TELL"))
			fprintf(stderr, "seed %u: kind %u, %s%s\n", i, kind, engine,
				r ? "" : " (no tables)");
		if (r)
			run_sequence(r, &t, &seed);
		t.sequences += !!r;
		topo_unref(topo);
	}
	print_message("%u sequences (%u with cycles from the start), %u losses, %zu entries "
		      "changed, %u patches more; %zu wait in the end, of %zu looked at %zu have a "
		      "way, %zu by a neighbour that goes another way, %zu by one whose packets "
		      "arrive\n",
		      t.sequences, t.cyclic, t.calls, t.changes, t.again, t.waiting, t.looked,
		      t.better, t.better_back, t.better_live);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_loop_at_any_moment) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
