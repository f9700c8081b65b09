// SPDX-License-Identifier: BSD-2-Clause
/* Patches by hand: each rule on the smallest fabric that needs it, and what is left alone. */
#include "route/patch/patch_internal.h"
#include "tests/unit/patch-desk.h"

/* Switch s has LID 100 + s; its port 8 has an end port with LID 1 + s. */
#define HOST_PORT 8
#define TOP	  120

struct cable {
	uint8_t a, a_port, b, b_port;
};

static void add_switch(struct topo_builder *b, uint32_t s, uint8_t n_ports, bool has_host)
{
	topo_add_switch(b, &(struct topo_switch){ .guid = s + 1,
						  .n_ports = n_ports,
						  .lid = (lid_t)(100 + s),
						  .lft_cap = 1024 });
	if (!has_host)
		return;
	topo_add_host(b, &(struct topo_host){ .guid = 1000 + s,
					      .node_guid = 1000 + s,
					      .node_port = 1,
					      .lid = (lid_t)(1 + s) });
	topo_add_host_link(b, 1000 + s, s + 1, HOST_PORT);
}

/* `hosts`: a bit by switch. */
static struct topo *fabric(uint32_t n, unsigned hosts, const struct cable *cables, size_t n_cables)
{
	struct topo_builder *b = topo_builder_new();

	for (uint32_t s = 0; s < n; s++)
		add_switch(b, s, HOST_PORT, hosts >> s & 1);
	for (size_t i = 0; i < n_cables; i++)
		topo_add_link(b, cables[i].a + 1u, cables[i].a_port, cables[i].b + 1u,
			      cables[i].b_port);
	return topo_build(b);
}
#define FABRIC(n, hosts, ...)                                                                      \
	fabric(n, hosts, (const struct cable[]){ __VA_ARGS__ },                                    \
	       sizeof((const struct cable[]){ __VA_ARGS__ }) / sizeof(struct cable))

/* Tables with nothing in them. Takes over the reference of `t`. */
static struct routes *bare(struct topo *t)
{
	struct routes *r = routes_new(t, "hand", TOP);

	topo_unref(t);
	return r;
}

/* A column: the ports of switches 0, 1, ... for the LID. */
static void set(struct routes *r, lid_t lid, const char *ports)
{
	for (uint32_t s = 0; ports[s]; s++)
		if (ports[s] != '-')
			routes_row(r, s)[lid] = (uint8_t)(ports[s] - '0');
}

static uint32_t entry(const struct patch_desk *d, uint32_t sw, uint8_t port)
{
	return d->topo->switches[sw].first_port + port;
}

/* The cable at this port dies. */
static struct patch *lose(struct patch_desk *d, uint32_t sw, uint8_t port)
{
	const uint32_t dead = entry(d, sw, port);

	return patch_make(d->ground, d->now, &dead, 1, NULL);
}

static void assert_entry(const struct patch_entry *e, uint32_t sw, lid_t lid, uint8_t was,
			 uint8_t now, enum patch_how how)
{
	assert_int_equal(e->sw, sw);
	assert_int_equal(e->lid, lid);
	assert_int_equal(e->was, was);
	assert_int_equal(e->now, now);
	assert_int_equal(e->how, how);
}

static void another_cable_to_the_same_switch(void **state)
{
	struct routes *r = bare(FABRIC(2, 3, { 0, 1, 1, 1 }, { 0, 2, 1, 2 }));
	struct patch_desk d;
	struct patch *p;

	(void)state;
	set(r, 1, "81");
	set(r, 2, "18");
	d = desk_new(r);
	p = lose(&d, 0, 1);
	assert_int_equal(p->n, 2);
	assert_entry(&p->entries[0], 0, 2, 1, 2, PATCH_BESIDE);
	assert_entry(&p->entries[1], 1, 1, 1, 2, PATCH_BESIDE);
	assert_int_equal(p->counts[PATCH_BESIDE], 2);
	assert_int_equal(routes_port(p->routes, 1, 1), 2);
	assert_int_equal(routes_port(d.now, 1, 1), 1);
	assert_true(patch_ground_is_dead(d.ground, entry(&d, 0, 1)));
	assert_true(patch_ground_is_dead(d.ground, entry(&d, 1, 1)));
	assert_false(patch_ground_is_dead(d.ground, entry(&d, 1, 2)));
	patch_free(p);
	desk_done(&d);
}

/* 0 over 1 or 2 to 3. */
static struct topo *diamond(void)
{
	return FABRIC(4, 9, { 0, 1, 1, 1 }, { 0, 2, 2, 1 }, { 1, 2, 3, 1 }, { 2, 2, 3, 2 });
}

static void as_few_hops_by_another_switch(void **state)
{
	struct routes *r = bare(diamond());
	struct patch_desk d;
	struct patch *p;

	(void)state;
	set(r, 4, "1228");
	d = desk_new(r);
	p = lose(&d, 1, 1);
	assert_int_equal(p->n, 1);
	assert_entry(&p->entries[0], 0, 4, 1, 2, PATCH_RULE);
	assert_int_equal(p->routes->top, TOP);
	patch_free(p);
	desk_done(&d);
}

static void a_neighbour_that_does_not_come_back(void **state)
{
	struct routes *r = bare(FABRIC(3, 7, { 0, 1, 1, 1 }, { 1, 2, 2, 2 }, { 2, 1, 0, 2 }));
	struct patch_desk d;
	struct patch *p;

	(void)state;
	set(r, 2, "182");
	d = desk_new(r);
	p = lose(&d, 0, 1);
	assert_int_equal(p->n, 1);
	assert_entry(&p->entries[0], 0, 2, 1, 2, PATCH_NEIGHBOUR);
	patch_free(p);
	desk_done(&d);
}

/* 2 goes by 0, which is cut off from 1: 2 goes another way first, and 0 then by 2. */
static void the_way_back_takes_two_patches(void **state)
{
	struct routes *r = bare(FABRIC(3, 7, { 0, 1, 1, 1 }, { 1, 2, 2, 2 }, { 2, 1, 0, 2 }));
	struct patch_desk d;
	const uint32_t dead[1] = { r->topo->switches[0].first_port + 1 };

	(void)state;
	set(r, 2, "181");
	d = desk_new(r);
	assert_int_equal(desk_patch(&d, dead, 1), 1);
	assert_entry(&d.due[0], 2, 2, 1, 2, PATCH_BACK);
	assert_int_equal(d.waiting, 1);
	assert_entry(&d.waits[0], 0, 2, 1, 1, PATCH_WAITING);
	assert_int_equal(desk_patch(&d, NULL, 0), 0); /* 2 may still send to 0 */
	assert_int_equal(d.waiting, 1);
	desk_apply(&d, 0);
	assert_int_equal(desk_patch(&d, NULL, 0), 1);
	assert_entry(&d.due[0], 0, 2, 1, 2, PATCH_NEIGHBOUR);
	assert_int_equal(d.waiting, 0);
	desk_done(&d);
}

/*
 * Two pods of a leaf (0, 7) and two planes of switches: 1 3 5 and 2 4 6, of which the middle ones
 * have one cable to each pod. Only the far leaf has a choice.
 */
static struct topo *planes(void)
{
	return FABRIC(8, 0x81, { 0, 1, 1, 1 }, { 0, 2, 2, 1 }, { 1, 2, 3, 1 }, { 2, 2, 4, 1 },
		      { 3, 2, 5, 2 }, { 4, 2, 6, 2 }, { 5, 1, 7, 1 }, { 6, 1, 7, 2 });
}

static void packets_are_led_away_three_switches_before(void **state)
{
	struct routes *r = bare(planes());
	struct patch_desk d;
	struct patch *p;

	(void)state;
	set(r, 1, "81111221");
	d = desk_new(r);
	p = lose(&d, 1, 1);
	assert_int_equal(p->n, 1); /* no packet comes to 1, 3 and 5 any more: nothing waits */
	assert_entry(&p->entries[0], 7, 1, 1, 2, PATCH_BACK);
	patch_free(p);
	desk_done(&d);
}

/*
 * A ring 0 1 2 3 with a cable more from 3 to 1. Paths 0-1-2, 1-2-3, 2-3-0; and 3-1, whose cable
 * dies. By 0 it would close the ring.
 */
static struct routes *nearly_a_ring(const char *to_1)
{
	struct routes *r = bare(FABRIC(4, 15, { 0, 1, 1, 2 }, { 1, 1, 2, 2 }, { 2, 1, 3, 2 },
				       { 3, 1, 0, 2 }, { 3, 3, 1, 3 }));

	set(r, 3, "118-");
	set(r, 4, "-118");
	set(r, 1, "8-11");
	set(r, 2, to_1);
	return r;
}

static void what_closes_a_cycle_is_refused(void **state)
{
	struct patch_desk d = desk_new(nearly_a_ring("18-3"));
	struct patch *p = lose(&d, 1, 3);

	(void)state;
	assert_int_equal(p->n, 1);
	assert_null(p->routes);
	assert_entry(&p->entries[0], 3, 2, 3, 3, PATCH_WAITING);
	assert_int_equal(p->counts[PATCH_WAITING], 1);
	patch_free(p);
	desk_done(&d);
}

static void on_a_vl_of_its_own_it_closes_none(void **state)
{
	struct routes *r = nearly_a_ring("18-3");
	struct patch_desk d;
	struct patch *p;

	(void)state;
	r->lanes = sl2vl_new(r->topo, 2, SL2VL_BY_LID, r->row_size, 1);
	r->lanes->sl[2] = 1;
	d = desk_new(r);
	p = lose(&d, 1, 3);
	assert_int_equal(p->n, 1);
	assert_entry(&p->entries[0], 3, 2, 3, 1, PATCH_NEIGHBOUR);
	assert_int_equal(p->routes->lanes->sl[2], 1);
	patch_free(p);
	desk_done(&d);
}

/* The SL is that of the pair: of the sources only 3 sends to LID 2 that way, on VL 1. */
static void only_vls_of_packets_that_pass_count(void **state)
{
	for (unsigned sl_of_3 = 0; sl_of_3 < 2; sl_of_3++) {
		struct routes *r = nearly_a_ring("18-3");
		struct patch_desk d;
		struct patch *p;

		(void)state;
		r->lanes = sl2vl_new(r->topo, 2, SL2VL_BY_SWITCHES, r->row_size, 1);
		r->lanes->sl[3 * 4 + 1] = (uint8_t)sl_of_3;
		d = desk_new(r);
		p = lose(&d, 1, 3);
		assert_int_equal(p->counts[PATCH_NEIGHBOUR], sl_of_3);
		assert_int_equal(p->counts[PATCH_WAITING], !sl_of_3);
		patch_free(p);
		desk_done(&d);
	}
}

/* A dependency that would close a cycle only over the cable that died closes none. */
static void dead_cables_do_not_count(void **state)
{
	struct patch_desk d = desk_new(nearly_a_ring("18-3"));
	const uint32_t dead[2] = { entry(&d, 3, 3), entry(&d, 2, 1) };
	struct patch *p = patch_make(d.ground, d.now, dead, 2, NULL);

	(void)state;
	assert_int_equal(routes_port(p->routes, 3, 2), 1);
	patch_free(p);
	desk_done(&d);
}

/* A ring that is closed already: the administrator allowed that. */
static void tables_with_a_cycle_are_patched(void **state)
{
	struct routes *r = nearly_a_ring("18-3");
	struct patch_desk d;
	struct patch *p;

	(void)state;
	set(r, 102, "--11"); /* packets to switches close no ring */
	set(r, 2, "18-1");
	set(r, 5, "----");
	d = desk_new(r);
	assert_false(d.safe);
	p = lose(&d, 2, 1);
	assert_true(p->counts[PATCH_NEIGHBOUR] + p->counts[PATCH_BACK] > 0);
	patch_free(p);
	desk_done(&d);
}

/* 0 and 1 with four switches in between. */
static void moved_entries_are_spread(void **state)
{
	struct routes *r =
		bare(FABRIC(7, 0x3, { 0, 1, 2, 1 }, { 0, 2, 3, 1 }, { 0, 3, 4, 1 }, { 0, 4, 5, 1 },
			    { 0, 5, 6, 1 }, { 1, 1, 2, 2 }, { 1, 2, 3, 2 }, { 1, 3, 4, 2 },
			    { 1, 4, 5, 2 }, { 1, 5, 6, 2 }));
	unsigned times[9] = { 0 };
	struct patch_desk d;
	struct patch *p;

	(void)state;
	((struct topo_host *)r->topo->hosts)[1].lid = 8;
	((struct topo_host *)r->topo->hosts)[1].lmc = 3;
	for (lid_t lid = 8; lid < 16; lid++)
		set(r, lid, "1822222");
	d = desk_new(r);
	p = lose(&d, 0, 1);
	assert_int_equal(p->counts[PATCH_RULE], 8);
	for (size_t i = 0; i < p->n; i++)
		times[p->entries[i].now]++;
	for (unsigned port = 2; port <= 5; port++)
		assert_int_equal(times[port], 2);
	patch_free(p);
	desk_done(&d);
}

static void switches_and_what_is_set_aside_are_reached(void **state)
{
	struct topo *t = topogen_fat_tree2(3, 3, 2, 1, &(struct topogen){ .asides = true });
	struct patch_desk d = desk_new(route(t, NULL));
	uint64_t seed = 1;

	(void)state;
	for (unsigned p = 1; p <= t->switches[0].n_ports; p++) {
		const uint32_t dead = t->switches[0].first_port + p;
		uint8_t ends[16];

		if (t->ports[dead].sw == TOPO_NONE || d.dead[dead])
			continue;
		desk_patch(&d, &dead, 1);
		do
			desk_apply_some(&d, SIZE_MAX, &seed);
		while (desk_patch(&d, NULL, 0));
		assert_int_equal(d.waiting, 0);
		for (uint32_t i = 0; i < t->n_asides; i++) {
			desk_walk(&d, t->asides[i].lid, ends);
			for (uint32_t s = 0; s < t->n_switches; s++)
				assert_int_equal(ends[s], DESK_ARRIVES);
		}
		break;
	}
	topo_unref(t);
	desk_done(&d);
}

/* A switch of each size: the cable at its last port but one dies, the last one goes on. */
static void switches_of_any_size(void **state)
{
	static const uint8_t sizes[] = { 2, 9, 32, 33, 63, 64, 65, 127, 128, 254 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint8_t n = sizes[i];
		struct topo_builder *b = topo_builder_new();
		struct routes *r;
		struct patch_desk d;
		struct patch *p;

		add_switch(b, 0, n, false);
		add_switch(b, 1, n, false);
		topo_add_link(b, 1, (uint8_t)(n - 1), 2, (uint8_t)(n - 1));
		topo_add_link(b, 1, n, 2, n);
		r = bare(topo_build(b));
		((struct topo_switch *)r->topo->switches)[1].lid = (lid_t)(62 + i % 4);
		routes_row(r, 0)[62 + i % 4] = (uint8_t)(n - 1);
		routes_row(r, 1)[62 + i % 4] = 0;
		d = desk_new(r);
		p = lose(&d, 0, (uint8_t)(n - 1));
		assert_int_equal(p->n, 1);
		assert_entry(&p->entries[0], 0, (lid_t)(62 + i % 4), (uint8_t)(n - 1), n,
			     PATCH_BESIDE);
		patch_free(p);
		desk_done(&d);
	}
}

/* The last cable of a switch: nothing waits, as no engine has a way either. */
static void what_is_cut_off_does_not_wait(void **state)
{
	struct routes *r = bare(FABRIC(2, 3, { 0, 1, 1, 1 }));
	struct patch_desk d;
	struct patch *p;

	(void)state;
	set(r, 1, "81");
	set(r, 2, "18");
	set(r, 100, "01");
	d = desk_new(r);
	p = lose(&d, 0, 1);
	assert_int_equal(p->n, 0);
	assert_null(p->routes);
	patch_free(p);
	desk_done(&d);
}

/* Entries of LIDs without an owner, to end ports, and to no port. */
static void other_entries_stay(void **state)
{
	struct routes *r = bare(diamond());
	struct patch_desk d;
	struct patch *p;

	(void)state;
	set(r, 4, "2228");
	set(r, 1, "811-");
	set(r, 77, "1222");
	d = desk_new(r);
	p = lose(&d, 0, 1);
	assert_int_equal(routes_port(d.now, 0, 77), 1);
	for (size_t i = 0; i < p->n; i++)
		assert_int_not_equal(p->entries[i].lid, 77);
	assert_int_equal(p->counts[PATCH_WAITING], 0); /* no packet to LID 1 comes to switch 1 */
	patch_free(p);
	desk_done(&d);
}

/* A switch dies cable by cable, each told by one end, some twice. */
static void a_switch_dies_bit_by_bit(void **state)
{
	struct topo *t = topogen_fat_tree2(4, 4, 2, 1, NULL);
	struct patch_desk d = desk_new(route(t, NULL));
	uint32_t spine = 0;
	uint64_t seed = 7;
	uint8_t ends[16];

	(void)state;
	while (d.sends[spine])
		spine++;
	for (unsigned p = 1; p <= t->switches[spine].n_ports; p++) {
		uint32_t one = t->switches[spine].first_port + p, dead[2] = { one, one };

		if (t->ports[one].sw == TOPO_NONE)
			continue;
		if (p % 2)
			dead[1] = topo_peer(t, one);
		desk_patch(&d, dead, 2);
		desk_apply_some(&d, SIZE_MAX, &seed);
	}
	while (desk_patch(&d, NULL, 0))
		desk_apply_some(&d, SIZE_MAX, &seed);
	assert_int_equal(d.waiting, 0);
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		desk_walk(&d, t->hosts[h].lid, ends);
		for (uint32_t s = 0; s < t->n_switches; s++)
			assert_true(!d.sends[s] || ends[s] == DESK_ARRIVES);
	}
	assert_true(desk_is_acyclic(&d));
	topo_unref(t);
	desk_done(&d);
}

/* What an engine may repair of its own, and what it may not. */
static void options_are_forgotten_with_entries_that_no_engine_makes(void **state)
{
	struct routes *r = bare(diamond()), *q = bare(diamond());
	struct patch_desk d, e;
	struct patch *p;

	(void)state;
	set(r, 4, "1228");
	set(q, 1, "8112");
	r->options = q->options = 5;
	d = desk_new(r);
	p = lose(&d, 0, 1);
	assert_int_equal(p->routes->options, 5);
	patch_free(p);
	desk_done(&d);
	e = desk_new(q);
	p = lose(&e, 0, 1);
	assert_true(p->counts[PATCH_NEIGHBOUR] > 0);
	assert_int_equal(p->routes->options, 0);
	patch_free(p);
	desk_done(&e);
}

/* With few steps for a call all is patched in the end, by several calls. */
static void a_call_ends_and_the_next_goes_on(void **state)
{
	for (unsigned trials = 0; trials < 2; trials++) {
		struct topo *t = topogen_hyperx(5, 5, 2, NULL);
		struct patch_desk d = desk_new(route(t, NULL));
		uint32_t dead = t->switches[3].first_port + 1;
		unsigned calls = 1;
		struct patch *p;

		(void)state;
		while (t->ports[dead].sw == TOPO_NONE)
			dead++;
		if (trials)
			d.ground->most_trials = 3;
		else
			d.ground->most_walks = 3;
		p = patch_make(d.ground, d.now, &dead, 1, NULL);
		assert_true(p->unfinished);
		assert_true(p->counts[PATCH_WAITING] > 0);
		while (p->unfinished && calls < 100) {
			if (p->routes) {
				routes_unref(d.now);
				d.now = routes_ref(p->routes);
			}
			patch_free(p);
			p = patch_make(d.ground, d.now, NULL, 0, NULL);
			calls++;
		}
		assert_in_range(calls, 2, 99);
		assert_int_equal(p->counts[PATCH_WAITING], 0);
		patch_free(p);
		desk_done(&d);
		topo_unref(t);
	}
}

static void names_and_sizes(void **state)
{
	struct routes *r = bare(diamond());
	struct patch_ground *g = patch_ground_new(r);

	(void)state;
	assert_string_equal(patch_how_name(PATCH_BESIDE), "beside");
	assert_string_equal(patch_how_name(PATCH_WAITING), "waiting");
	assert_ptr_equal(patch_ground_routes(g), r);
	assert_in_range(patch_ground_bytes(g), 1000, 100000);
	patch_ground_free(g);
	assert_null(patch_ground_free(NULL));
	assert_null(patch_free(NULL));
	routes_unref(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_cable_to_the_same_switch),
		cmocka_unit_test(as_few_hops_by_another_switch),
		cmocka_unit_test(a_neighbour_that_does_not_come_back),
		cmocka_unit_test(the_way_back_takes_two_patches),
		cmocka_unit_test(packets_are_led_away_three_switches_before),
		cmocka_unit_test(what_closes_a_cycle_is_refused),
		cmocka_unit_test(on_a_vl_of_its_own_it_closes_none),
		cmocka_unit_test(only_vls_of_packets_that_pass_count),
		cmocka_unit_test(dead_cables_do_not_count),
		cmocka_unit_test(tables_with_a_cycle_are_patched),
		cmocka_unit_test(moved_entries_are_spread),
		cmocka_unit_test(switches_and_what_is_set_aside_are_reached),
		cmocka_unit_test(switches_of_any_size),
		cmocka_unit_test(what_is_cut_off_does_not_wait),
		cmocka_unit_test(other_entries_stay),
		cmocka_unit_test(a_switch_dies_bit_by_bit),
		cmocka_unit_test(options_are_forgotten_with_entries_that_no_engine_makes),
		cmocka_unit_test(a_call_ends_and_the_next_goes_on),
		cmocka_unit_test(names_and_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
