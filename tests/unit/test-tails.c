// SPDX-License-Identifier: BSD-2-Clause
/*
 * A switch that hangs on one other, and those that hang on it: fabrics of a shape stay of it, their
 * engines route them, and what was there before keeps its paths and VLs.
 */
#include "route/core/tails.h"

#include <stdio.h>

#include "tests/unit/lanes-cases.h"
#include "route/shape/recognise.h"

#define TAIL_GUID UINT64_C(0x0004000000000000)
#define TAIL_HOST UINT64_C(0x0005000000000000)

/* `length` switches in a row, each by `cables` on the one before it, the first on switch `on`. */
struct graft {
	uint32_t on;
	unsigned length, cables;
	unsigned hosts; /* of each */
	uint8_t vls;	/* of these cables; 0: as the others */
	bool asides;	/* each has an aggregation node */
	uint32_t also;	/* the first has a cable to this switch + 1, too; 0: it has none */
};

static void copy_fabric(struct topo_builder *b, const struct topo *t, unsigned more_ports)
{
	for (uint32_t s = 0; s < t->n_switches; s++) {
		struct topo_switch sw = t->switches[s];

		sw.n_ports = (uint8_t)(sw.n_ports + more_ports);
		topo_add_switch(b, &sw);
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
			if (topo_port(t, s, p)->sw != TOPO_NONE)
				topo_add_link(b, sw.guid, (uint8_t)p,
					      t->switches[topo_port(t, s, p)->sw].guid,
					      topo_port(t, s, p)->port);
	}
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		topo_add_host(b, &t->hosts[h]);
		topo_add_host_link(b, t->hosts[h].guid, t->switches[t->hosts[h].sw].guid,
				   t->hosts[h].sw_port);
	}
}

/* The switch, its cables to `on`, which begin at `port` there, and its end ports. */
static void add_tail(struct topo_builder *b, const struct graft *g, unsigned number, guid_t on,
		     uint8_t port, lid_t lid)
{
	guid_t guid = TAIL_GUID + number;

	topo_add_switch(b, &(struct topo_switch){
		.guid = guid, .n_ports = 40, .lid = lid++, .lft_cap = 49152,
	});
	for (uint8_t c = 0; c < g->cables; c++) {
		topo_add_link(b, guid, (uint8_t)(1 + c), on, (uint8_t)(port + c));
		if (g->vls)
			topo_set_port(b, guid, (uint8_t)(1 + c),
				      (struct topo_port_facts){ .vls = g->vls });
	}
	for (uint8_t h = 0; h < g->hosts + g->asides; h++) {
		topo_add_host(b, &(struct topo_host){
			.guid = TAIL_HOST + 100 * number + h, .lid = lid++, .node_port = 1,
			.aside = h == g->hosts,
		});
		topo_add_host_link(b, TAIL_HOST + 100 * number + h, guid, (uint8_t)(20 + h));
	}
}

static struct topo *graft(const struct topo *t, const struct graft *g)
{
	struct topo_builder *b = topo_builder_new();
	guid_t on = t->switches[g->on].guid;
	uint8_t port = (uint8_t)(t->switches[g->on].n_ports + 1);
	lid_t lid = (lid_t)(t->max_lid + 10);

	copy_fabric(b, t, g->cables + 1);
	for (unsigned i = 0; i < g->length; i++) {
		add_tail(b, g, i, on, port, lid);
		lid = (lid_t)(lid + g->hosts + g->asides + 1);
		on = TAIL_GUID + i;
		port = 10;
	}
	if (g->also)
		topo_add_link(b, TAIL_GUID, 19, t->switches[g->also - 1].guid,
			      t->switches[g->also - 1].n_ports + g->cables + 1u);
	return topo_build(b);
}

static const struct graft plain = { .on = 3, .length = 1, .cables = 1, .hosts = 1 };
static const struct graft chain = {
	.on = 5, .length = 3, .cables = 2, .hosts = 3, .asides = true,
};

struct shaped {
	const char *name; /* of the shape, as auto says it */
	struct topo *(*make)(void);
	const char *engines[4];
};

static struct topo *torus(void)
{
	return topogen_torus((unsigned[]){ 5, 5, 1 }, 2, NULL);
}

static struct topo *big_torus(void)
{
	return topogen_grid("7tx7t", 1, 2, NULL);
}

static struct topo *mesh(void)
{
	return topogen_grid("4x4", 2, 1, NULL);
}

static struct topo *cube(void)
{
	return topogen_grid("2x2x2x2", 2, 2, NULL);
}

static struct topo *hyperx(void)
{
	return topogen_hyperx(4, 3, 2, NULL);
}

static struct topo *dragonfly(void)
{
	return topogen_dragonfly(5, 4, 2, NULL);
}

static struct topo *dragonfly_plus(void)
{
	return topogen_dragonfly_plus(&(struct topogen_plus){
		.groups = 5, .leaves = 3, .spines = 3, .hosts = 4, .parallel = 3,
	}, NULL);
}

static const struct shaped shapes[] = {
	{ "5x5 torus", torus, { "dor", "torus-2QoS", "lash" } },
	{ "7x7 torus", big_torus, { "dor", "torus-2QoS" } },
	{ "4x4 mesh", mesh, { "dor", "torus-2QoS" } },
	{ "hypercube of 4 dimensions (4x4 torus)", cube, { "dor", "hyperx", "torus-2QoS" } },
	{ "4x3 HyperX", hyperx, { "dor", "hyperx", "lash" } },
	{ "dragonfly of 5 groups of 4 switches", dragonfly, { "dragonfly" } },
	{ "dragonfly+ of 5 groups of 6 switches", dragonfly_plus, { "dragonfly" } },
};

#define EACH_ENGINE(s, e)                                                                          \
	for (size_t s = 0; s < ARRAY_SIZE(shapes); s++)                                            \
		for (size_t e = 0; e < ARRAY_SIZE(shapes[s].engines) && shapes[s].engines[e]; e++)

static void shapes_stay_what_they_are(void **state)
{
	for (size_t s = 0; s < ARRAY_SIZE(shapes); s++)
		for (unsigned long_one = 0; long_one < 2; long_one++) {
			_cleanup_(topo_unrefp) struct topo *bare = shapes[s].make();
			_cleanup_(topo_unrefp) struct topo *t =
				graft(bare, long_one ? &chain : &plain);
			_cleanup_(graph_freep) struct graph *g = graph_new(t, NULL);
			_cleanup_(tails_freep) struct tails *tails = NULL;
			_cleanup_(shape_freep) struct shape *shape =
				shape_find_core(g, NULL, &tails);
			char text[SHAPE_STRLEN], want[SHAPE_STRLEN];

			snprintf(want, sizeof(want), "%s, %s", shapes[s].name,
				 long_one ? "3 switches in branches of their own"
					  : "1 switch in a branch of its own");
			assert_string_equal(shape_str(shape, text), want);
			assert_non_null(tails);
			assert_int_equal(tails->n, long_one ? 3 : 1);
		}
}

/* The SL of packets to `lid`, from the end ports of a switch of `t` found by GUID. */
static uint8_t sl_in(const struct routes *r, guid_t from, uint32_t to, lid_t lid)
{
	return sl2vl_sl(r->lanes, topo_find_switch(r->topo, from), to, lid, 0);
}

/* Tables of what is not in the tail, towards what is neither, and VLs. */
static void assert_same_core(const struct routes *with, const struct routes *without)
{
	const struct topo *t = without->topo, *now = with->topo;

	assert_int_equal(with->lanes != NULL, without->lanes != NULL);
	for (uint32_t s = 0; s < t->n_switches; s++) {
		uint32_t at = topo_find_switch(now, t->switches[s].guid);

		for (lid_t lid = 1; lid <= t->max_lid; lid++)
			assert_int_equal(routes_port(with, at, lid), routes_port(without, s, lid));
		for (uint32_t d = 0; d < t->n_switches; d++)
			assert_int_equal(sl_in(with, t->switches[s].guid,
					       topo_find_switch(now, t->switches[d].guid),
					       t->switches[d].lid),
					 sl_in(without, t->switches[s].guid, d,
					       t->switches[d].lid));
	}
}

/* dor and torus-2QoS: whatever hangs there, paths go by places alone. */
static void paths_between_others_are_what_they_were(void **state)
{
	EACH_ENGINE(s, e) {
		_cleanup_(topo_unrefp) struct topo *bare = shapes[s].make();
		_cleanup_(topo_unrefp) struct topo *t = graft(bare, &chain);
		_cleanup_(routes_unrefp) struct routes *a = NULL, *b = NULL;

		if (!route_engine_find(shapes[s].engines[e])->exact ||
		    !strcmp(shapes[s].name, "4x3 HyperX"))
			continue;
		a = lanes_route(shapes[s].engines[e], t, NULL);
		b = lanes_route(shapes[s].engines[e], bare, NULL);
		assert_same_core(a, b);
	}
}

static void engines_of_the_shape_route_it(void **state)
{
	EACH_ENGINE(s, e)
		for (unsigned long_one = 0; long_one < 2; long_one++) {
			_cleanup_(topo_unrefp) struct topo *bare = shapes[s].make();
			_cleanup_(topo_unrefp) struct topo *t =
				graft(bare, long_one ? &chain : &plain);
			_cleanup_(routes_unrefp) struct routes *a = NULL, *b = NULL;

			print_message("# %s %s\n", shapes[s].name, shapes[s].engines[e]);
			a = lanes_route(shapes[s].engines[e], t, NULL);
			b = lanes_route(shapes[s].engines[e], bare, NULL);
			assert_string_equal(a->engine, shapes[s].engines[e]);
			assert_holds(a);
			assert_string_equal(a->note, b->note);
			assert_int_equal(a->lanes ? a->lanes->n_vls : 1,
					 b->lanes ? b->lanes->n_vls : 1);
		}
}

/* ---- inside ---------------------------------------------------------------------------------- */

/* From a switch outside to the tail, VLs and paths are those to where it hangs, and back. */
static void a_tail_is_reached_as_its_switch_is(void **state)
{
	EACH_ENGINE(s, e) {
		_cleanup_(topo_unrefp) struct topo *bare = shapes[s].make();
		_cleanup_(topo_unrefp) struct topo *t = graft(bare, &chain);
		_cleanup_(routes_unrefp) struct routes *r =
			lanes_route(shapes[s].engines[e], t, NULL);
		uint32_t root = topo_find_switch(t, bare->switches[chain.on].guid);
		uint32_t tail = topo_find_switch(t, TAIL_GUID + 1);
		lid_t lid = t->switches[tail].lid, there = t->switches[root].lid;

		for (uint32_t u = 0; u < t->n_switches; u++) {
			guid_t guid = t->switches[u].guid;

			if (guid >= TAIL_GUID || u == root)
				continue;
			assert_int_equal(routes_port(r, u, lid), routes_port(r, u, there));
			assert_int_equal(sl_in(r, guid, tail, lid), sl_in(r, guid, root, there));
			assert_int_equal(sl_in(r, TAIL_GUID + 1, u, t->switches[u].lid),
					 sl_in(r, t->switches[root].guid, u, t->switches[u].lid));
		}
	}
}

static void cables_of_a_tail_take_turns(void **state)
{
	_cleanup_(topo_unrefp) struct topo *bare = torus(), *t = graft(bare, &chain);
	_cleanup_(routes_unrefp) struct routes *r = lanes_route("dor", t, NULL);
	uint32_t tail = topo_find_switch(t, TAIL_GUID + 1), used[3] = { 0 };

	for (uint32_t h = 0; h < t->n_hosts; h++) {
		uint8_t port = routes_port(r, tail, t->hosts[h].lid);

		if (t->switches[t->hosts[h].sw].guid < TAIL_GUID)
			used[port]++;
	}
	assert_int_equal(used[1] + used[2], bare->n_hosts);
	assert_in_range(used[1], bare->n_hosts * 2 / 5, bare->n_hosts * 3 / 5);
}

static void aggregation_nodes_in_a_tail_are_reached(void **state)
{
	_cleanup_(topo_unrefp) struct topo *bare = torus(), *t = graft(bare, &chain);
	_cleanup_(routes_unrefp) struct routes *r = lanes_route("dor", t, NULL);

	assert_int_equal(t->n_asides, 3);
	for (uint32_t i = 0; i < t->n_asides; i++) {
		const struct topo_host *aside = &t->asides[i];
		uint32_t at = topo_find_switch(t, bare->switches[0].guid);

		for (unsigned hops = 0; at != aside->sw && hops < 10; hops++)
			at = topo_behind(t, at, routes_port(r, at, aside->lid));
		assert_int_equal(at, aside->sw);
		assert_int_equal(routes_port(r, at, aside->lid), aside->sw_port);
	}
}

/* The tree of all groups leads from the tail into the core. */
static void groups_reach_a_tail(void **state)
{
	_cleanup_(topo_unrefp) struct topo *bare = torus(), *t = graft(bare, &chain);
	_cleanup_(routes_unrefp) struct routes *r = lanes_route("torus-2QoS", t, NULL);

	assert_non_null(r->master_tree);
	for (uint32_t s = 0; s < t->n_switches; s++) {
		uint32_t at = s;

		for (unsigned hops = 0; r->master_tree[at] && hops < 20; hops++)
			at = topo_behind(t, at, r->master_tree[at]);
		assert_int_not_equal(at, TOPO_NONE);
		assert_int_equal(r->master_tree[at], 0);
	}
}

/* ---- what changes ---------------------------------------------------------------------------- */

static uint32_t count_changes(const struct routes *now, const struct routes *was)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < was->topo->n_switches; s++) {
		uint32_t at = topo_find_switch(now->topo, was->topo->switches[s].guid);

		for (lid_t lid = 1; at != TOPO_NONE && lid <= was->topo->max_lid; lid++)
			n += routes_port(now, at, lid) != routes_port(was, s, lid);
	}
	return n;
}

/*
 * It comes, goes, comes again: nothing but entries of its own LIDs. Engines that go by load may
 * move others, and the few cables that spines of a dragonfly+ have to a group are balanced anew for
 * the host on a spine.
 */
static void a_tail_that_comes_moves_nothing(void **state)
{
	EACH_ENGINE(s, e) {
		const char *engine = shapes[s].engines[e];
		_cleanup_(topo_unrefp) struct topo *bare = shapes[s].make();
		_cleanup_(topo_unrefp) struct topo *t = graft(bare, &plain);
		_cleanup_(routes_unrefp) struct routes *a = lanes_route(engine, bare, NULL);
		_cleanup_(routes_unrefp) struct routes *b = lanes_route(engine, t, a);
		_cleanup_(routes_unrefp) struct routes *c = lanes_route(engine, bare, b);
		_cleanup_(routes_unrefp) struct routes *d = lanes_route(engine, t, c);

		print_message("# %s %s\n", shapes[s].name, engine);
		assert_holds(b);
		assert_holds(c);
		if (shapes[s].make == dragonfly_plus || route_engine_find(engine)->by_load)
			continue;
		assert_int_equal(count_changes(b, a), 0);
		assert_int_equal(count_changes(c, b), 0);
		assert_int_equal(count_changes(d, c), 0);
	}
}

/* With a cable to a second switch it is no tail: what the engine then says is no worse for it. */
static void a_second_neighbour_is_no_tail(void **state)
{
	_cleanup_(topo_unrefp) struct topo *bare = torus();
	_cleanup_(topo_unrefp) struct topo *one = graft(bare, &plain);
	_cleanup_(topo_unrefp) struct topo *two = graft(bare, &(struct graft){
		.on = 3, .length = 1, .cables = 1, .hosts = 1, .also = 12,
	});
	_cleanup_(routes_unrefp) struct routes *a = lanes_route("auto", one, NULL);
	_cleanup_(routes_unrefp) struct routes *b = lanes_route("auto", two, a);
	_cleanup_(routes_unrefp) struct routes *c = lanes_route("auto", one, b);

	assert_null(tails_find(two, NULL, TAILS_ALL));
	assert_holds(a);
	assert_holds(b);
	assert_holds(c);
}

/* ---- which switches -------------------------------------------------------------------------- */

static void parts_without_a_cycle_have_no_tails(void **state)
{
	_cleanup_(topo_unrefp) struct topo *line = topogen_grid("5", 2, 1, NULL);
	_cleanup_(topo_unrefp) struct topo *ring = topogen_grid("5t", 2, 1, NULL);
	_cleanup_(topo_unrefp) struct topo *pair = topogen_grid("2", 2, 2, NULL);

	assert_null(tails_find(line, NULL, TAILS_ALL));
	assert_null(tails_find(ring, NULL, TAILS_ALL));
	assert_null(tails_find(pair, NULL, TAILS_ALL));
}

/* A corner of a mesh that has lost a cable is at its place still. */
static void a_switch_with_many_hosts_comes_last(void **state)
{
	_cleanup_(topo_unrefp) struct topo *whole = topogen_grid(
		"4x4", 4, 1, &(struct topogen){ .without_link = 1 });
	_cleanup_(topo_unrefp) struct topo *t =
		graft(whole, &(struct graft){ .on = 10, .length = 1, .cables = 1, .hosts = 1 });
	_cleanup_(tails_freep) struct tails *stubs = tails_find(t, NULL, TAILS_STUBS);
	_cleanup_(routes_unrefp) struct routes *r = lanes_route("auto", t, NULL);

	assert_non_null(stubs);
	assert_int_equal(stubs->n, 1);
	assert_non_null(strstr(r->note, "4x4 mesh, 1 cable missing, 1 switch in a branch"));
}

static void a_core_has_all_end_ports(void **state)
{
	_cleanup_(topo_unrefp) struct topo *bare = torus(), *t = graft(bare, &chain);
	_cleanup_(tails_freep) struct tails *tails = tails_find(t, NULL, TAILS_ALL);
	const struct topo *core = tails->core;

	assert_int_equal(core->n_switches, bare->n_switches);
	assert_int_equal(core->n_hosts, bare->n_hosts + 9);
	assert_int_equal(core->n_asides, 0);
	for (uint32_t h = 0; h < core->n_hosts; h++) {
		const struct topo_host *host = &core->hosts[h];
		bool was_in_tail = host->guid >= TAIL_HOST;

		assert_int_equal(host->gathered, was_in_tail);
		assert_true(topo_end_at(core, host->sw, host->sw_port) == host);
		if (was_in_tail)
			assert_true(core->switches[host->sw].guid ==
				    bare->switches[chain.on].guid);
	}
	for (uint32_t s = 0; s < bare->n_switches; s++)
		for (unsigned p = 1; p <= bare->switches[s].n_ports; p++)
			assert_int_equal(topo_port(core, s, p)->sw, topo_port(bare, s, p)->sw);
}

static void a_switch_has_ports_for_so_many(void **state)
{
	_cleanup_(topo_unrefp) struct topo *bare = topogen_grid("5t", 120, 1, NULL);
	_cleanup_(topo_unrefp) struct topo *t = graft(bare, &(struct graft){
		.on = 0, .length = 8, .cables = 1, .hosts = 18,
	});

	assert_null(tails_find(t, NULL, TAILS_ALL));
}

/* An engine may use VLs that every cable has, also those of a tail. */
static void cables_of_tails_have_vls_too(void **state)
{
	_cleanup_(topo_unrefp) struct topo *bare = torus();
	struct graft g = plain;
	char why[256] = "";

	g.vls = 1;
	{
		_cleanup_(topo_unrefp) struct topo *t = graft(bare, &g);
		_cleanup_(routes_unrefp) struct routes *r = lanes_run(
			"torus-2QoS", &(struct route_job){ .topo = t, .threads = 1 }, why);

		assert_null(r);
		assert_non_null(strstr(why, "needs 2 VLs"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_stay_what_they_are),
		cmocka_unit_test(engines_of_the_shape_route_it),
		cmocka_unit_test(paths_between_others_are_what_they_were),
		cmocka_unit_test(a_tail_is_reached_as_its_switch_is),
		cmocka_unit_test(cables_of_a_tail_take_turns),
		cmocka_unit_test(aggregation_nodes_in_a_tail_are_reached),
		cmocka_unit_test(groups_reach_a_tail),
		cmocka_unit_test(a_tail_that_comes_moves_nothing),
		cmocka_unit_test(a_second_neighbour_is_no_tail),
		cmocka_unit_test(parts_without_a_cycle_have_no_tails),
		cmocka_unit_test(a_switch_with_many_hosts_comes_last),
		cmocka_unit_test(a_core_has_all_end_ports),
		cmocka_unit_test(a_switch_has_ports_for_so_many),
		cmocka_unit_test(cables_of_tails_have_vls_too),
	};

	return cmocka_run_group_tests_name("tails", tests, NULL, NULL);
}
