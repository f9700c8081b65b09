// SPDX-License-Identifier: BSD-2-Clause
/*
 * torus-2QoS: what torus-2QoS.conf says is what is done, around damage too, and multicast fits in.
 */
#include "tests/unit/grid-desk.h"

#include <stdio.h>

#include "conf/lists/torus.h"
#include "route/grid/torus.h"

static void tori_hold_with_as_many_lanes_as_there_are(void **state)
{
	static const struct {
		const char *shape;
		unsigned max_vls, n_vls; /* 0: refused */
		unsigned hosts;
	} rows[] = {
		{ "6tx6tx6t", 8, 8, 1 },    { "5tx5t", 15, 8, 2 },  { "4tx4tx4t", 8, 8, 1 },
		{ "3tx3tx3t", 8, 8, 1 },    { "8tx3", 8, 8, 1 },    { "7t", 8, 8, 2 },
		{ "5tx5t", 7, 4, 1 },	    { "5tx5t", 4, 4, 1 },   { "5tx5t", 3, 2, 1 },
		{ "5tx5t", 2, 2, 1 },	    { "5tx5t", 1, 0, 1 },   { "4x4x3", 1, 1, 1 },
		{ "3tx5x2", 2, 2, 1 },	    { "4tx5tx2", 8, 8, 1 }, { "9tx2", 8, 8, 1 },
		{ "5tx5tx5tx5t", 8, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct topogen o = { .seed = i, .random_guids = i % 2, .random_lids = i % 3 == 0 };
		struct topo *t = topogen_grid(rows[i].shape, rows[i].hosts, 1 + i % 2, &o);
		struct route_job job = { .topo = t, .options.max_vls = rows[i].max_vls };
		struct route_verdict v;
		char why[160];
		struct routes *r = route_by("torus-2QoS", &job, why);

		if (!rows[i].n_vls) {
			assert_null(r);
			topo_unref(t);
			continue;
		}
		if (!r)
			fail_msg("%s: %s", rows[i].shape, why);
		routes_check(r, 1, &v);
		assert_true(holds(&v));
		assert_true(v.minimal);
		assert_int_equal(r->lanes ? r->lanes->n_vls : 1, rows[i].n_vls);
		assert_true(groups_fit(r));
		routes_unref(r);
		topo_unref(t);
	}
}

static struct torus_conf *conf_of(const char *text)
{
	struct conf_report r = { 0 };
	struct torus_conf *conf;

	if (torus_conf_read_text("t", text, strlen(text), &conf, &r) < 0)
		fail_msg("%s: %s", text, r.findings[0].text);
	conf_report_clear(&r);
	return conf;
}

/* Of an orderly 5x4x6 torus: x fastest, GUIDs in order. */
static guid_t guid_at(unsigned x, unsigned y, unsigned z)
{
	return TOPOGEN_SWITCH_GUID + 1 + x + 5 * (y + 4 * z);
}

static void say(char *text, size_t cap, const char *more)
{
	size_t len = strlen(text);

	snprintf(text + len, cap - len, "%s", more);
}

static void say_link(char *text, size_t cap, const char *keyword, guid_t from, guid_t to)
{
	size_t len = strlen(text);

	snprintf(text + len, cap - len, "%s 0x%llx 0x%llx\n", keyword, (unsigned long long)from,
		 (unsigned long long)to);
}

/* Seed at (2,1,3); y needs both links; the dateline makes (0,0,0) the origin, x goes backwards. */
static struct torus_conf *conf_546(const char *more)
{
	char text[800];
	guid_t from = guid_at(2, 1, 3);

	snprintf(text, sizeof(text), "torus 5 4 6\n");
	say_link(text, sizeof(text), "xm_link", from, guid_at(3, 1, 3));
	say_link(text, sizeof(text), "yp_link", from, guid_at(2, 2, 3));
	say_link(text, sizeof(text), "ym_link", from, guid_at(2, 0, 3));
	say_link(text, sizeof(text), "zp_link", from, guid_at(2, 1, 4));
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		 "y_dateline -1\nz_dateline -3\n%s", more);
	return conf_of(text);
}

static void coordinates_are_those_of_the_seed(void **state)
{
	struct topo *t = topogen_grid("5tx4tx6t", 1, 1, NULL);
	struct torus_conf *conf = conf_546("");
	struct route_options o = { .torus = conf };
	struct torus_place *places;

	(void)state;
	assert_int_equal(torus_places(t, &o, &places), 120);
	for (uint32_t i = 0; i < 120; i++) {
		const struct torus_place *p = &places[i];

		assert_int_equal(p->x + 5 * (p->y + 4 * p->z), i);
		assert_int_equal(t->switches[p->sw].guid, guid_at((7 - p->x) % 5, p->y, p->z));
	}
	free(places);
	torus_conf_free(conf);
	topo_unref(t);
}

/* Walks the path; returns which datelines between the last coordinate and 0 it crosses. */
static unsigned crossed(const struct routes *r, const struct torus_place *of, uint32_t from,
			uint32_t host)
{
	unsigned ret = 0;

	while (from != r->topo->hosts[host].sw) {
		uint8_t port = routes_port(r, from, r->topo->hosts[host].lid);
		uint32_t to = topo_port(r->topo, from, port)->sw;
		const uint16_t a[] = { of[from].x, of[from].y, of[from].z };
		const uint16_t b[] = { of[to].x, of[to].y, of[to].z };

		for (unsigned d = 0; d < 3; d++)
			ret |= (unsigned)(a[d] + 1 < b[d] || b[d] + 1 < a[d]) << d;
		from = to;
	}
	return ret;
}

static void service_levels_are_datelines_crossed(void **state)
{
	struct topo *t = topogen_grid("5tx4tx6t", 1, 1, NULL);
	struct torus_conf *conf = conf_546("");
	struct route_job job = { .topo = t, .options.torus = conf };
	struct torus_place *places, of[120];
	char why[160];
	struct routes *r = route_by("torus-2QoS", &job, why);

	(void)state;
	assert_non_null(r);
	assert_int_equal(torus_places(t, &job.options, &places), 120);
	for (uint32_t i = 0; i < 120; i++)
		of[places[i].sw] = places[i];
	for (uint32_t s = 0; s < 120; s++)
		for (uint32_t h = 0; h < 120; h++) {
			uint32_t to = t->hosts[h].sw;

			assert_int_equal(sl2vl_sl(r->lanes, s, to, t->hosts[h].lid, 0),
					 crossed(r, of, s, h));
			assert_int_equal(sl2vl_sl(r->lanes, s, to, t->hosts[h].lid, 15) & 8, 8);
		}
	assert_int_equal(r->lanes->sl_mask, 7);
	assert_int_equal(r->lanes->host_vl[7], 0);
	assert_int_equal(r->lanes->host_vl[8], 1);
	free(places);
	routes_unref(r);
	torus_conf_free(conf);
	topo_unref(t);
}

/* SL of a pair of switches by GUID; 255: one is not there. */
static uint8_t sl_of(const struct routes *r, guid_t from, guid_t to)
{
	uint32_t s = topo_find_switch(r->topo, from), d = topo_find_switch(r->topo, to);

	return s == TOPO_NONE || d == TOPO_NONE ? UINT8_MAX : sl2vl_sl(r->lanes, s, d, 0, 0);
}

/* Seeds at two corners that do not share a switch; both mean the same coordinates. */
static struct torus_conf *conf_two_seeds(void)
{
	char text[1000] = "torus 5 4 6\n";

	say_link(text, sizeof(text), "xp_link", guid_at(0, 0, 0), guid_at(1, 0, 0));
	say_link(text, sizeof(text), "yp_link", guid_at(0, 0, 0), guid_at(0, 1, 0));
	say_link(text, sizeof(text), "zp_link", guid_at(0, 0, 0), guid_at(0, 0, 1));
	say(text, sizeof(text), "next_seed\n");
	say_link(text, sizeof(text), "xp_link", guid_at(2, 2, 3), guid_at(3, 2, 3));
	say_link(text, sizeof(text), "yp_link", guid_at(2, 2, 3), guid_at(2, 3, 3));
	say_link(text, sizeof(text), "zp_link", guid_at(2, 2, 3), guid_at(2, 2, 4));
	say(text, sizeof(text), "x_dateline -2\ny_dateline -2\nz_dateline -3\n");
	return conf_of(text);
}

/* Entries of pairs whose old path is still there. */
static void assert_others_stay(const struct routes *before, const struct routes *after)
{
	const struct topo *t = after->topo;
	uint32_t kept = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (uint32_t h = 0; h < t->n_hosts; h++) {
			uint32_t at = topo_find_switch(before->topo, t->switches[s].guid), hops = 0;
			bool whole = true;

			if (t->hosts[h].sw == TOPO_NONE)
				continue;

			for (uint32_t end = topo_find_switch(before->topo,
							     t->switches[t->hosts[h].sw].guid);
			     whole && at != end && hops < 100; hops++) {
				uint8_t port = routes_port(before, at, t->hosts[h].lid);
				uint32_t now = topo_find_switch(t, before->topo->switches[at].guid);

				whole = now != TOPO_NONE &&
					topo_port(t, now, port)->sw != TOPO_NONE;
				at = topo_port(before->topo, at, port)->sw;
			}
			if (!whole)
				continue;
			kept++;
			assert_int_equal(
				routes_port(after, s, t->hosts[h].lid),
				routes_port(before,
					    topo_find_switch(before->topo, t->switches[s].guid),
					    t->hosts[h].lid));
		}
	assert_true(kept > t->n_switches * t->n_hosts / 2);
}

/*
 * One switch or some cables out of a torus: proved, the same service levels, and what need not move
 * does not.
 */
static void damage_changes_no_service_level(void **state)
{
	struct torus_conf *conf = conf_two_seeds();
	struct topo *whole = topogen_grid("5tx4tx6t", 1, 1, NULL);
	struct route_job job = { .topo = whole, .options.torus = conf };
	char why[160];
	struct routes *before = route_by("torus-2QoS", &job, why);
	unsigned n = 0;

	(void)state;
	assert_non_null(before);
	for (unsigned seed = 0; seed < 18; seed++) {
		struct topogen o = { .seed = seed, .damage = seed % 3 == 2 ? 0.01 : 0 };
		struct topo *t;
		struct route_verdict v;
		struct routes *after;

		o.without_switch = seed % 3 != 2 ? 1 + seed * 4 : 0;
		o.without_link = seed % 3 == 1 ? 1 + seed * 9 : 0;
		t = topogen_grid("5tx4tx6t", 1, 1, &o);
		job = (struct route_job){ .topo = t, .previous = before, .options.torus = conf };
		after = route_by("torus-2QoS", &job, why);
		if (!after) {
			assert_true(strstr(why, "cut in two") || strstr(why, "no seed"));
			topo_unref(t);
			continue;
		}
		n++;
		routes_check(after, 1, &v);
		assert_true(holds(&v));
		for (uint32_t s = 0; s < t->n_switches; s++)
			for (uint32_t d = 0; d < t->n_switches; d++)
				assert_int_equal(
					sl2vl_sl(after->lanes, s, d, 0, 0),
					sl_of(before, t->switches[s].guid, t->switches[d].guid));
		assert_others_stay(before, after);
		assert_non_null(after->master_tree);
		assert_true(groups_fit(after));
		routes_unref(after);
		topo_unref(t);
	}
	assert_true(n >= 15);
	routes_unref(before);
	torus_conf_free(conf);
	topo_unref(whole);
}

/* How many of 10 are routed; `wrong` counts tables that do not hold. */
static unsigned route_damaged(const char *shape, double cables, unsigned n_switches,
			      unsigned *wrong)
{
	unsigned n = 0;

	for (unsigned seed = 1; seed <= 10; seed++) {
		struct topogen o = { .seed = seed, .random_guids = true, .damage = cables };
		struct topo *t = damaged_grid(shape, 1, &o, n_switches);
		struct route_job job = { .topo = t };
		struct route_verdict v;
		char why[160], text[ROUTE_VERDICT_STRLEN];
		struct routes *r = route_by("torus-2QoS", &job, why);

		if (r) {
			routes_check(r, 1, &v);
			n += holds(&v);
			*wrong += !holds(&v);
			if (!holds(&v) && getenv("GRID_WHY"))
				print_message("%s seed %u: %s\n", shape, seed,
					      route_verdict_str(&v, text));
			if (holds(&v) && r->master_tree)
				assert_true(groups_fit(r));
			/* Only where both kinds of damage come together may there be no tree. */
			assert_true(r->master_tree || (n_switches && cables > 0));
		}
		routes_unref(r);
		topo_unref(t);
	}
	if (getenv("GRID_WHY"))
		print_message("%s %g %u: %u, %u wrong\n", shape, cables, n_switches, n, *wrong);
	return n;
}

static void damage_is_gone_around_or_refused(void **state)
{
	static const struct {
		const char *shape;
		double cables;
		unsigned switches, least; /* of 10 must be routed */
	} rows[] = {
		{ "5tx5tx5t", 0.005, 0, 9 }, { "5tx5tx5t", 0, 1, 10 }, { "6tx6t", 0.02, 0, 9 },
		{ "8tx8t", 0, 1, 10 },	     { "4tx4tx4t", 0, 1, 10 }, { "3tx7tx4t", 0.01, 1, 6 },
		{ "9tx3t", 0.03, 1, 3 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned wrong = 0,
			 n = route_damaged(rows[i].shape, rows[i].cables, rows[i].switches, &wrong);

		if (n < rows[i].least)
			fail_msg("%s: only %u of 10", rows[i].shape, n);
		assert_int_equal(wrong, 0);
	}
}

/* Switches next to each other in the last dimension, as many as there may be. */
static void a_column_of_missing_switches_is_gone_around(void **state)
{
	struct topo *whole = topogen_grid("5tx5tx6t", 1, 1, NULL);

	(void)state;
	for (unsigned n = 1; n < 6; n++) {
		struct topocut *cut = topocut_new(whole);
		struct topo *t;
		struct route_job job;
		struct route_verdict v;
		struct routes *r;
		char why[160];

		for (unsigned z = 0; z < n; z++)
			cut->switches[2 + 5 * 3 + 25 * ((z + 2) % 6)] = true;
		t = topocut_apply(whole, cut);
		job = (struct route_job){ .topo = t };
		r = route_by("torus-2QoS", &job, why);
		if (!r)
			fail_msg("%u missing: %s", n, why);
		routes_check(r, 1, &v);
		assert_true(holds(&v));
		routes_unref(r);
		topocut_free(cut);
		topo_unref(t);
	}
	topo_unref(whole);
}

static void what_does_not_fit_the_configuration_is_told(void **state)
{
	static const struct {
		const char *shape, *conf, *why;
	} rows[] = {
		{ "5tx5tx5t", "torus 5 5 6",
		  "torus_config says z is 6 (ring), the cables are a 5x5x5 torus" },
		{ "5tx5t", "torus 5 5m 1", "says y is 5, the cables" },
		{ "5tx5tx5t", "torus 5 5 1", "fewer dimensions" },
		{ "5tx6t", "torus 5 6 1\nxp_link 0x77 0x78", "no seed" },
		{ "5tx6t", "torus 5 6 1\nxp_link 0x2000000000001 0x2000000000006",
		  "x is no dimension of 5 (ring)" },
		{ "5tx6t", "torus 5 6 1\nzp_link 0x2000000000001 0x2000000000006",
		  "z has a link and only one" },
		{ "5tx5t",
		  "torus 5 5 1\nx_dateline 1\nnext_seed\nyp_link 0x2000000000001 0x2000000000002\n"
		  "xp_link 0x2000000000001 0x2000000000003",
		  "no seed" },
		{ "5tx5tx5t", "torus 5 5 5\nxp_link 0x2000000000001 0x2000000000002",
		  "line 2 of torus_config leaves open what y is" },
		{ "4tx4t",
		  "torus 4 4 1\nxp_link 0x2000000000001 0x2000000000002\n"
		  "yp_link 0x2000000000001 0x2000000000005",
		  "a ring of 4 needs both its links" },
		{ "6tx5t",
		  "torus 6 5 1\nxp_link 0x2000000000001 0x2000000000002\n"
		  "xm_link 0x2000000000001 0x2000000000002",
		  "plus and minus of x go the same way" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct topo *t = topogen_grid(rows[i].shape, 1, 1, NULL);
		struct torus_conf *conf = conf_of(rows[i].conf);
		struct route_job job = { .topo = t, .options.torus = conf };
		char why[160];

		assert_null(route_by("torus-2QoS", &job, why));
		if (!strstr(why, rows[i].why))
			fail_msg("\"%s\" is not in \"%s\"", rows[i].why, why);
		torus_conf_free(conf);
		topo_unref(t);
	}
}

static void other_fabrics_are_refused(void **state)
{
	struct topo *all[] = { topogen_fat_tree3(4, NULL), topogen_dragonfly(9, 4, 2, NULL),
			       topogen_random(30, 4, 2, NULL), topogen_grid("1", 3, 1, NULL) };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct route_job job = { .topo = all[i] };
		char why[160];

		assert_null(route_by("torus-2QoS", &job, why));
		assert_non_null(strstr(why, "no torus: "));
		topo_unref(all[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tori_hold_with_as_many_lanes_as_there_are),
		cmocka_unit_test(coordinates_are_those_of_the_seed),
		cmocka_unit_test(service_levels_are_datelines_crossed),
		cmocka_unit_test(damage_changes_no_service_level),
		cmocka_unit_test(damage_is_gone_around_or_refused),
		cmocka_unit_test(a_column_of_missing_switches_is_gone_around),
		cmocka_unit_test(what_does_not_fit_the_configuration_is_told),
		cmocka_unit_test(other_fabrics_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
