// SPDX-License-Identifier: BSD-2-Clause
/*
 * The automatic engine: whatever the fabric, its tables hold, by the judge and by walking every
 * pair. And the engines of our own that it chooses from.
 */
#include "tests/unit/route-desk.h"

#include <stdio.h>

#include "route/select/engines.h"
#include "route/select/choose.h"
#include "tests/lib/tables.h"

static struct routes *run(const char *engine, const struct route_job *job)
{
	char why[200] = "";

	return route_engine_run(route_engine_find(engine), job, why, sizeof(why));
}

static struct routes *automatic(const struct topo *t, const struct routes *previous)
{
	struct routes *r =
		run("auto", &(struct route_job){ .topo = t, .previous = previous, .threads = 1 });

	assert_non_null(r);
	assert_string_equal(r->engine, "auto");
	assert_true(r->note[0]);
	return r;
}

/* ---- a witness that shares nothing with the judge -------------------------------------------- */

/* What waits for what: (channel, VL) after (channel, VL), as lists. */
struct waits {
	const struct topo *t;
	uint32_t n; /* vertices */
	uint32_t (*edges)[2];
	size_t n_edges, cap;
	bool *seen; /* n * n would be too much: by (vertex, port then, VL then) */
};

#define VLS SL2VL_VLS_MAX

static void note(struct waits *w, uint32_t from, uint32_t to, size_t key)
{
	if (w->seen[key])
		return;
	w->seen[key] = true;
	GROW(w->edges, w->n_edges + 1, w->cap);
	w->edges[w->n_edges][0] = from;
	w->edges[w->n_edges++][1] = to;
}

/* One packet from host to LID; false: it does not arrive. */
static bool walk(struct waits *w, const struct routes *r, uint32_t from, uint32_t to, lid_t lid)
{
	const struct topo *t = w->t;
	uint32_t s = t->hosts[from].sw, held = TOPO_NONE;
	uint8_t in = t->hosts[from].sw_port;
	uint8_t sl = sl2vl_sl(r->lanes, s, t->hosts[to].sw, lid, 0);

	for (unsigned hops = 0; hops < 300; hops++) {
		uint8_t out = routes_port(r, s, lid), vl;
		const struct topo_port *port;
		uint32_t channel;

		if (!out || out > t->switches[s].n_ports)
			return false;
		port = topo_port(t, s, out);
		if (port->host == to)
			return true;
		if (port->sw == TOPO_NONE)
			return false;
		vl = r->lanes ? sl2vl_vl(r->lanes, t, s, in, out, sl) : 0;
		assert_in_range(vl, 0, port->vls - 1u);
		channel = (t->switches[s].first_port + out) * VLS + vl;
		if (held != TOPO_NONE)
			note(w, held, channel, ((size_t)held * 64 + out) * VLS + vl);
		held = channel;
		s = port->sw;
		in = port->port;
	}
	return false;
}

/* Takes away channels that wait for none, until none is left; those left wait in a cycle. */
static bool is_acyclic(const struct waits *w)
{
	uint32_t *out = xcalloc(w->n, sizeof(*out)), left;
	bool *gone = xcalloc(MAX(w->n_edges, 1u), sizeof(*gone));
	size_t taken = 0, before;

	for (size_t i = 0; i < w->n_edges; i++)
		out[w->edges[i][0]]++;
	do {
		before = taken;
		for (size_t i = w->n_edges; i-- > 0;) {
			if (gone[i] || out[w->edges[i][1]])
				continue;
			gone[i] = true;
			out[w->edges[i][0]]--;
			taken++;
		}
	} while (taken > before);
	left = (uint32_t)(w->n_edges - taken);
	free(out);
	free(gone);
	return !left;
}

static uint32_t *parts_of(const struct topo *t)
{
	uint32_t *part = xcalloc(MAX(t->n_switches, 1u), sizeof(*part));
	bool changed = true;

	for (uint32_t s = 0; s < t->n_switches; s++)
		part[s] = s;
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < t->n_switches; s++)
			for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
				uint32_t v = topo_port(t, s, p)->sw;

				if (v != TOPO_NONE && part[v] < part[s]) {
					part[s] = part[v];
					changed = true;
				}
			}
	}
	return part;
}

static void every_pair_arrives(const struct routes *r)
{
	const struct topo *t = r->topo;
	struct waits w = { .t = t };
	uint32_t *part = parts_of(t);

	for (uint32_t s = 0; s < t->n_switches; s++)
		w.n = MAX(w.n, (t->switches[s].first_port + t->switches[s].n_ports + 1u) * VLS);
	w.seen = xcalloc((size_t)MAX(w.n, 1u) * 64 * VLS, 1);
	for (uint32_t a = 0; a < t->n_hosts; a++)
		for (uint32_t b = 0; b < t->n_hosts; b++) {
			if (a == b || t->hosts[a].sw == TOPO_NONE || t->hosts[b].sw == TOPO_NONE)
				continue;
			for (unsigned k = 0; k < 1u << t->hosts[b].lmc; k++)
				assert_int_equal(walk(&w, r, a, b, (lid_t)(t->hosts[b].lid + k)),
						 part[t->hosts[a].sw] == part[t->hosts[b].sw]);
		}
	assert_true(is_acyclic(&w));
	free(w.edges);
	free(w.seen);
	free(part);
}

static void holds(const struct routes *r)
{
	struct route_verdict v;

	routes_check(r, 1, &v);
	assert_null(route_fault(&v));
}

/* ---- fabrics --------------------------------------------------------------------------------- */

static void any_fabric_holds(void **state)
{
	for (unsigned i = 0; i < 30; i++) {
		struct topogen o = any_options(i);
		struct topo *t = any_fabric(i, &o);
		struct routes *r = automatic(t, NULL);

		holds(r);
		every_pair_arrives(r);
		routes_unref(r);
		topo_unref(t);
	}
	(void)state;
}

/* Switch LIDs lead to port 0 of their switch, from everywhere. */
static void switches_are_reached(void **state)
{
	static const char *const engines[] = { "auto", "dragonfly", "hyperx" };

	for (unsigned i = 0; i < 30; i++) {
		struct topogen o = any_options(i);
		struct topo *t = any_fabric(i, &o);

		for (size_t e = 0; e < ARRAY_SIZE(engines); e++) {
			struct routes *r =
				run(engines[e], &(struct route_job){ .topo = t, .threads = 1 });
			uint32_t *part = r ? parts_of(t) : NULL;

			for (uint32_t from = 0; r && from < t->n_switches; from++)
				for (uint32_t to = 0; to < t->n_switches; to++) {
					uint32_t s = from, hops = 0;

					if (part[from] != part[to])
						continue;
					while (s != to && hops++ < t->n_switches)
						s = topo_port(
							    t, s,
							    routes_port(r, s, t->switches[to].lid))
							    ->sw;
					assert_int_equal(s, to);
					assert_int_equal(routes_port(r, to, t->switches[to].lid),
							 0);
				}
			free(part);
			routes_unref(r);
		}
		topo_unref(t);
	}
	(void)state;
}

static struct topo *dragonfly_of(const struct topogen *o)
{
	return topogen_dragonfly(17, 8, 1, o);
}

static struct topo *hyperx_of(const struct topogen *o)
{
	return topogen_hyperx_n((unsigned[]){ 5, 4, 3 }, 3, 1, o);
}

/* Whole ones: two lanes and one, no service levels, shortest paths. */
static void own_engines_need_no_service_levels(void **state)
{
	struct topo *t = dragonfly_of(NULL);
	struct routes *r = run("dragonfly", &(struct route_job){ .topo = t, .threads = 2 });

	assert_non_null(r->lanes);
	assert_int_equal(r->lanes->n_vls, 2);
	assert_int_equal(r->lanes->by, SL2VL_BY_NOTHING);
	assert_minimal(r);
	every_pair_arrives(r);
	routes_unref(r);
	topo_unref(t);
	t = hyperx_of(NULL);
	r = run("hyperx", &(struct route_job){ .topo = t, .threads = 2 });
	assert_null(r->lanes);
	assert_minimal(r);
	every_pair_arrives(r);
	routes_unref(r);
	topo_unref(t);
	(void)state;
}

/* A HyperX on as many lanes as there are, one or two; no service levels. */
static void hyperx_holds(const struct topo *t, unsigned vls)
{
	struct routes *r = run("hyperx", &(struct route_job){
		.topo = t, .threads = 1, .options.max_vls = vls });

	assert_non_null(r);
	holds(r);
	assert_in_range(r->lanes ? r->lanes->n_vls : 1, 1, vls);
	assert_int_equal(r->lanes ? r->lanes->by : SL2VL_BY_NOTHING, SL2VL_BY_NOTHING);
	routes_unref(r);
}

/* One cable, whichever it is. */
static void one_cable_less_holds(void **state)
{
	for (uint32_t link = 0; link < 400; link += 17) {
		struct topogen o = { .without_link = link + 1 };
		struct topo *t = hyperx_of(&o);
		struct routes *r;

		hyperx_holds(t, 1);
		hyperx_holds(t, 2);
		topo_unref(t);
		if (link >= 17 * 28)
			continue;
		t = dragonfly_of(&o); /* local cables come first */
		r = run("dragonfly", &(struct route_job){ .topo = t, .threads = 1 });
		assert_int_equal(r->lanes->n_vls, 2);
		holds(r);
		routes_unref(r);
		topo_unref(t);
	}
	(void)state;
}

/*
 * Pairs of groups without a cable, switches that miss some of their group: three lanes, still no
 * service levels.
 */
static void damaged_dragonflies_hold(void **state)
{
	unsigned third = 0;

	for (unsigned seed = 1; seed <= 14; seed++) {
		struct topogen o = { .seed = seed, .damage = 0.02, .random_guids = true };
		struct topo *t = dragonfly_of(&o);
		struct routes *r = run("dragonfly", &(struct route_job){ .topo = t, .threads = 1 });
		struct route_verdict v;

		holds(r);
		routes_check(r, 1, &v);
		assert_in_range(v.n_vls, 2, 3);
		assert_int_equal(r->lanes->by, SL2VL_BY_NOTHING);
		third += v.n_vls == 3;
		if (seed < 4)
			every_pair_arrives(r);
		routes_unref(r);
		topo_unref(t);
	}
	assert_true(third);
	(void)state;
}

/* Leaves and spines: one lane while no group must be crossed, and never service levels. */
static void dragonfly_plus_holds(void **state)
{
	struct topogen_plus plus = {
		.groups = 9, .leaves = 4, .spines = 4, .hosts = 2, .parallel = 2
	};

	for (unsigned seed = 0; seed < 8; seed++) {
		struct topogen o = { .seed = seed,
				     .damage = seed * 0.005,
				     .random_guids = seed & 1 };
		struct topo *t = topogen_dragonfly_plus(&plus, &o);
		struct routes *r = run("dragonfly", &(struct route_job){ .topo = t, .threads = 1 });

		assert_non_null(r);
		holds(r);
		if (!seed)
			assert_null(r->lanes);
		assert_int_equal(r->lanes ? r->lanes->by : SL2VL_BY_NOTHING, SL2VL_BY_NOTHING);
		every_pair_arrives(r);
		routes_unref(r);
		topo_unref(t);
	}
	(void)state;
}

/* A whole switch less: some packets must turn early. */
static void one_switch_less_holds(void **state)
{
	for (uint32_t sw = 0; sw < 60; sw += 3) {
		struct topogen o = { .without_switch = sw + 1 };
		struct topo *t = hyperx_of(&o);

		hyperx_holds(t, 2);
		topo_unref(t);
	}
	(void)state;
}

/* Cables at random: rows are walked round, and turned into early. */
static void damaged_hyperx_hold(void **state)
{
	for (unsigned seed = 1; seed <= 12; seed++) {
		struct topogen o = { .seed = seed, .damage = 0.03, .random_guids = true };
		struct topo *t = topogen_hyperx(8, 7, 1, &o);

		hyperx_holds(t, 1);
		hyperx_holds(t, 2);
		topo_unref(t);
	}
	(void)state;
}

static void others_decline(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 4, 5, 1 }, 1, NULL);
	struct route_job job = { .topo = t, .threads = 1 };
	char why[200];

	assert_null(route_engine_run(route_engine_find("dragonfly"), &job, why, sizeof(why)));
	assert_non_null(strstr(why, "no dragonfly"));
	assert_null(route_engine_run(route_engine_find("hyperx"), &job, why, sizeof(why)));
	assert_non_null(strstr(why, "no HyperX"));
	topo_unref(t);
	t = dragonfly_of(NULL);
	job = (struct route_job){ .topo = t, .threads = 1, .options.max_vls = 1 };
	assert_null(route_engine_run(route_engine_find("dragonfly"), &job, why, sizeof(why)));
	assert_string_equal(why, "needs 2 VLs, every cable has 1");
	topo_unref(t);
	(void)state;
}

/* One lane is enough for everything, if need be. */
static void one_lane_always_holds(void **state)
{
	for (unsigned i = 0; i < 24; i++) {
		struct topogen o = any_options(i);
		struct topo *t = any_fabric(i, &o);
		struct route_job job = { .topo = t, .threads = 1, .options.max_vls = 1 };
		struct routes *r = run("auto", &job);

		assert_null(r->lanes);
		holds(r);
		every_pair_arrives(r);
		routes_unref(r);
		topo_unref(t);
	}
	(void)state;
}

/* The same fabric again changes nothing; one cable less changes little. */
static void tables_stay(void **state)
{
	for (unsigned i = 0; i < 12; i++) {
		struct topogen o = { .seed = i };
		struct topo *t = any_fabric(i, &o), *less;
		struct routes *first = automatic(t, NULL), *again = automatic(t, first), *after;
		uint64_t changed = 0;

		assert_same_tables(first, again);
		o.without_link = 1 + i;
		less = any_fabric(i, &o);
		after = automatic(less, first);
		holds(after);
		for (size_t k = 0; k < (size_t)t->n_switches * first->row_size; k++)
			changed += first->lft[k] != after->lft[k];
		if (getenv("SHOW"))
			printf("%u: %llu of %zu: %s\n", i, (unsigned long long)changed,
			       (size_t)t->n_switches * first->top, after->note);
		routes_unref(first);
		routes_unref(again);
		routes_unref(after);
		topo_unref(t);
		topo_unref(less);
	}
	(void)state;
}

/* ---- trees as good as they can be ------------------------------------------------------------ */

/*
 * Where every host of a leaf has a cable up for itself no shift need meet another flow, from the
 * last leaf to the first either; load below that of a host's own cable is not worth that, nor
 * bandwidth where cables are cut.
 */
static void hosts_with_a_cable_up_for_each_meet_nothing_in_shifts(void **state)
{
	static const unsigned rows[][4] = {
		{ 6, 8, 5, 1 }, { 7, 9, 6, 1 }, { 20, 19, 10, 1 },
		{ 6, 7, 5, 1 }, { 11, 9, 6, 1 }, { 17, 7, 11, 2 },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const unsigned *row = rows[i];
		struct topo *t = topogen_fat_tree2(row[0], row[1], row[2], row[3], NULL);
		struct routes *r = automatic(t, NULL);

		print_message("# %u leaves of %u\n", row[0], row[2]);
		assert_int_equal(tables_shift_congestion(r, 0), 1);
		routes_unref(r);
		topo_unref(t);
	}
	(void)state;
}

static void load_below_that_of_a_host_costs_no_bandwidth(void **state)
{
	struct topogen o = { .damage = 0.1, .seed = 3 };
	struct topo *t = topogen_fat_tree2(20, 19, 10, 1, &o);
	struct routes *r = automatic(t, NULL);

	assert_true(tables_permutations(r, 100, 1) > .77);
	routes_unref(r);
	topo_unref(t);
	(void)state;
}

/* A few hosts more than ports up, fewer leaves than ports: turns go round from the last leaf. */
static void few_hosts_more_than_ports_up_are_dealt_out_evenly(void **state)
{
	static const struct {
		unsigned leaves, spines, hosts, load;
	} rows[] = { { 17, 25, 28, 504 }, { 16, 10, 12, 216 } };

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct topo *t = topogen_fat_tree2(rows[i].leaves, rows[i].spines, rows[i].hosts, 1,
						   NULL);
		struct routes *r = automatic(t, NULL);
		struct route_verdict v;

		routes_check(r, 1, &v);
		assert_int_equal(v.max_load, rows[i].load);
		routes_unref(r);
		topo_unref(t);
	}
	(void)state;
}

/* ---- little and hostile ---------------------------------------------------------------------- */

static void nothing_to_route(void **state)
{
	struct topo *t = topo_build(topo_builder_new());
	struct routes *r = automatic(t, NULL);

	holds(r);
	routes_unref(r);
	topo_unref(t);
	(void)state;
}

static void add_switch(struct topo_builder *b, guid_t guid, lid_t lid, lid_t cap)
{
	topo_add_switch(b, &(struct topo_switch){
		.guid = guid, .sysimg_guid = guid, .n_ports = 8, .lid = lid, .lft_cap = cap });
}

static void add_host(struct topo_builder *b, guid_t guid, lid_t lid, guid_t sw, uint8_t port)
{
	topo_add_host(b, &(struct topo_host){
				 .guid = guid, .node_guid = guid, .node_port = 1, .lid = lid });
	if (sw)
		topo_add_host_link(b, guid, sw, port);
}

/* Loop cables, parallel cables, no LID, no switch, tables too small. */
static void hostile_fabric(void **state)
{
	struct topo_builder *b = topo_builder_new();
	struct topo *t;
	struct routes *r;

	add_switch(b, 1, 1, 1024);
	add_switch(b, 2, 0, 1024);
	add_switch(b, 3, 3, 4);
	add_switch(b, 4, 4, 0);
	add_switch(b, 5, 5, 1024);
	add_host(b, 101, 10, 1, 1);
	add_host(b, 102, 0, 2, 1);
	add_host(b, 103, 12, 3, 1);
	add_host(b, 104, 13, 0, 0);
	topo_add_link(b, 1, 2, 1, 3);
	topo_add_link(b, 1, 4, 2, 4);
	topo_add_link(b, 1, 5, 2, 5);
	topo_add_link(b, 2, 6, 3, 6);
	topo_add_link(b, 3, 7, 4, 7);
	topo_add_link(b, 4, 2, 1, 8);
	t = topo_build(b);
	r = automatic(t, NULL);
	holds(r);
	assert_in_range(routes_port(r, topo_find_switch(t, 2), 10), 4, 5);
	assert_int_equal(routes_port(r, topo_find_switch(t, 1), 10), 1);
	routes_unref(r);
	topo_unref(t);
	(void)state;
}

static void cancelled(void **state)
{
	atomic_bool stop = true;
	struct topo *t = dragonfly_of(NULL);
	char why[200];

	assert_null(
		route_engine_run(route_engine_find("auto"),
				 &(struct route_job){ .topo = t, .threads = 1, .cancelled = &stop },
				 why, sizeof(why)));
	assert_string_equal(why, "cancelled");
	topo_unref(t);
	(void)state;
}

/* Whose engine goes first and alone after a small fault, and what running connections keep. */
static void a_small_fault_asks_the_engine_of_before(void **state)
{
	struct topogen o = { .damage = 0.04, .seed = 3 };
	struct topo *t = topogen_fat_tree3(8, &o), *less;
	struct routes *r = automatic(t, NULL), *after;

	assert_true(r->by[0] && r->compared_load);
	o.without_link = 30;
	less = topogen_fat_tree3(8, &o);
	after = automatic(less, r);
	assert_string_equal(after->by, r->by);
	every_pair_arrives(after);
	routes_unref(r);
	routes_unref(after);
	topo_unref(t);
	topo_unref(less);
}

/* What came second is said, with the figures that decided; of tables without a rival nothing. */
static void the_second_is_named(void **state)
{
	struct topogen o = { .seed = 5, .damage = 0.1 };
	struct topo *whole = topogen_fat_tree2(8, 4, 4, 1, NULL),
		    *damaged = topogen_fat_tree2(8, 4, 4, 1, &o);
	struct routes *one = automatic(whole, NULL), *several = automatic(damaged, NULL), *second;
	struct route_measures m;
	char engine[17];
	double bandwidth;
	const char *said = strstr(several->note, "; next best ");

	assert_null(strstr(one->note, "next best"));
	assert_non_null(said);
	assert_int_equal(sscanf(said, "; next best %16[^:]: %lf", engine, &bandwidth), 2);
	assert_string_not_equal(engine, several->by);
	second = run(engine, &(struct route_job){ .topo = damaged, .threads = 1 });
	assert_non_null(second);
	routes_measure(second, 64, 1, &m);
	assert_true(bandwidth > m.bisection - 0.03 && bandwidth < m.bisection + 0.03);
	routes_unref(one);
	routes_unref(several);
	routes_unref(second);
	topo_unref(whole);
	topo_unref(damaged);
}

/*
 * Any graph has service levels by path: sweeps of the same fabric must not move them, nor the note.
 */
static void service_levels_stay_from_sweep_to_sweep(void **state)
{
	struct topogen o = { .seed = 2 };
	struct topo *t = topogen_random(64, 5, 2, &o), *less;
	struct routes *r = automatic(t, NULL), *after;
	unsigned moved = 0;

	assert_string_equal(r->by, "dfsssp");
	assert_non_null(r->lanes);
	assert_in_range(r->lanes->n_needed, 2, r->lanes->n_vls);
	assert_non_null(strstr(r->note, " needed)"));
	for (unsigned sweep = 0; sweep < 2; sweep++) {
		struct routes *next = automatic(t, r);

		assert_same_tables(r, next);
		assert_non_null(strstr(next->note, " needed)"));
		assert_int_equal(next->lanes->n_needed, r->lanes->n_needed);
		assert_int_equal(next->lanes->n_vls, r->lanes->n_vls);
		assert_memory_equal(next->lanes->sl, r->lanes->sl, sl2vl_n_sl(r->lanes));
		routes_unref(r);
		r = next;
	}
	o.without_link = 20;
	less = topogen_random(64, 5, 2, &o);
	after = automatic(less, r);
	assert_true(routes_are_by(after, "dfsssp") && routes_are_by(after, "auto") &&
		    !routes_are_by(after, "nue"));
	assert_int_equal(sl2vl_n_sl(after->lanes), sl2vl_n_sl(r->lanes));
	for (size_t i = 0; i < sl2vl_n_sl(r->lanes); i++)
		moved += after->lanes->sl[i] != r->lanes->sl[i];
	print_message("# %u of %zu\n", moved, sl2vl_n_sl(r->lanes));
	assert_true(moved < sl2vl_n_sl(r->lanes) / 50);
	routes_unref(r);
	routes_unref(after);
	topo_unref(t);
	topo_unref(less);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_fabric_holds),
		cmocka_unit_test(switches_are_reached),
		cmocka_unit_test(own_engines_need_no_service_levels),
		cmocka_unit_test(one_cable_less_holds),
		cmocka_unit_test(damaged_dragonflies_hold),
		cmocka_unit_test(dragonfly_plus_holds),
		cmocka_unit_test(one_switch_less_holds),
		cmocka_unit_test(damaged_hyperx_hold),
		cmocka_unit_test(others_decline),
		cmocka_unit_test(one_lane_always_holds),
		cmocka_unit_test(tables_stay),
		cmocka_unit_test(hosts_with_a_cable_up_for_each_meet_nothing_in_shifts),
		cmocka_unit_test(load_below_that_of_a_host_costs_no_bandwidth),
		cmocka_unit_test(few_hosts_more_than_ports_up_are_dealt_out_evenly),
		cmocka_unit_test(nothing_to_route),
		cmocka_unit_test(hostile_fabric),
		cmocka_unit_test(cancelled),
		cmocka_unit_test(a_small_fault_asks_the_engine_of_before),
		cmocka_unit_test(the_second_is_named),
		cmocka_unit_test(service_levels_stay_from_sweep_to_sweep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
