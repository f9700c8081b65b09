// SPDX-License-Identifier: BSD-2-Clause
/* --verify: packets that SL2VL tables drop, and what members of multicast groups get. */
#include "tests/unit/route-desk.h"

#include <inttypes.h>
#include <stdio.h>

#include "offline/base/lanefile.h"
#include "offline/verify.h"

/* Two hosts on each of three leaves (switches 0 to 2), two spines (3 and 4). */
struct desk {
	struct verify v;
	struct topo *t;
	char text[4096];
};

static struct desk *desk_new(void)
{
	static const struct verify_args args = { .mcast_sl = 0 };
	struct desk *d = xcalloc(1, sizeof(*d));

	d->v.args = &args;
	d->t = topogen_fat_tree2(3, 2, 2, 1, NULL);
	d->v.topo = d->t;
	d->v.routes = route(d->t, NULL);
	d->v.tables = tablefile_new();
	return d;
}

static void desk_free(struct desk *d)
{
	verify_clear(&d->v);
	free(d);
}

static unsigned port_to(const struct topo *t, uint32_t sw, uint32_t peer)
{
	for (unsigned p = 1; p <= t->switches[sw].n_ports; p++)
		if (topo_port(t, sw, p)->sw == peer)
			return p;
	return 0;
}

/*
 * A row of group 0xC005: to the end ports of `sw`, if `hosts`, and to two switches (TOPO_NONE: no
 * more).
 */
static void add_row(struct desk *d, uint32_t sw, bool hosts, uint32_t a, uint32_t b)
{
	char *at = d->text + strlen(d->text), *end = d->text + sizeof(d->text);

	at += snprintf(at, (size_t)(end - at),
		       "\nSwitch 0x%016" PRIx64 "\nLID    : Out Port(s)\n0xC005 :",
		       d->t->switches[sw].guid);
	for (unsigned p = 1; hosts && p <= d->t->switches[sw].n_ports; p++)
		if (topo_port(d->t, sw, p)->host != TOPO_NONE)
			at += snprintf(at, (size_t)(end - at), " 0x%03X ", p);
	if (a != TOPO_NONE)
		at += snprintf(at, (size_t)(end - at), " 0x%03X ", port_to(d->t, sw, a));
	if (b != TOPO_NONE)
		at += snprintf(at, (size_t)(end - at), " 0x%03X ", port_to(d->t, sw, b));
	snprintf(at, (size_t)(end - at), "\n");
}

/* The group that does not hold; NULL: it does. */
static const struct verify_group *judged(struct desk *d)
{
	struct conf_report report = { 0 };

	tablefile_read(d->v.tables, "groups", d->text, strlen(d->text), &report);
	assert_int_equal(report.n, 0);
	d->v.n_trees = tablefile_trees(d->v.tables, d->t, &d->v.trees, &d->v.mlids);
	assert_int_equal(d->v.n_trees, 1);
	verify_find_groups(&d->v);
	assert_in_range(d->v.n_groups, 0, 1);
	return d->v.n_groups ? &d->v.groups[0] : NULL;
}

static void a_tree_holds(void **state)
{
	struct desk *d = desk_new();

	add_row(d, 0, true, 3, TOPO_NONE);
	add_row(d, 1, true, 3, TOPO_NONE);
	add_row(d, 3, false, 0, 1);
	assert_null(judged(d));
	assert_true(verify_holds(&d->v));
	desk_free(d);
}

/* A port that only sends is in rows one way. */
static void a_branch_of_one_that_only_sends_holds(void **state)
{
	struct desk *d = desk_new();

	add_row(d, 0, true, 3, TOPO_NONE);
	add_row(d, 1, true, 3, TOPO_NONE);
	add_row(d, 2, false, 3, TOPO_NONE);
	add_row(d, 3, false, 0, 1);
	assert_null(judged(d));
	desk_free(d);
}

static void a_group_cut_in_two_is_told(void **state)
{
	struct desk *d = desk_new();
	const struct verify_group *g;

	add_row(d, 0, true, 3, TOPO_NONE);
	add_row(d, 1, true, 3, TOPO_NONE);
	g = judged(d);
	assert_non_null(g);
	assert_int_equal(g->mlid, 0xC005);
	assert_int_equal(g->pairs, 12);
	assert_int_equal(g->lost, 8);
	assert_int_equal(g->from->sw, 0);
	assert_int_equal(g->to->sw, 1);
	assert_int_equal(g->end, 3);
	assert_int_equal(g->round, TOPO_NONE);
	assert_false(verify_holds(&d->v));
	desk_free(d);
}

static void an_edge_one_way_only_is_told(void **state)
{
	struct desk *d = desk_new();
	const struct verify_group *g;

	add_row(d, 0, true, 3, TOPO_NONE);
	add_row(d, 1, true, 3, TOPO_NONE);
	add_row(d, 3, false, 1, TOPO_NONE);
	g = judged(d);
	assert_non_null(g);
	assert_int_equal(g->lost, 4);
	assert_int_equal(g->from->sw, 1);
	assert_int_equal(g->to->sw, 0);
	desk_free(d);
}

static void a_ring_is_told(void **state)
{
	struct desk *d = desk_new();
	const struct verify_group *g;

	add_row(d, 0, true, 3, 4);
	add_row(d, 1, true, 3, 4);
	add_row(d, 3, false, 0, 1);
	add_row(d, 4, false, 0, 1);
	g = judged(d);
	assert_non_null(g);
	assert_int_equal(g->lost, 0);
	assert_int_not_equal(g->round, TOPO_NONE);
	assert_false(verify_holds(&d->v));
	desk_free(d);
}

/*
 * All paths are on SL 1; spine 3 has another row than the other switches for what goes from leaf 0
 * to leaf 1.
 */
static void judge_lanes(struct desk *d, const char *normal, const char *odd, bool has_sls)
{
	const struct topo *t = d->t;
	struct conf_report report = { 0 };
	_cleanup_free_ char *sls = NULL, *sl2vl = NULL;
	struct lanefile_text text[2];
	size_t len[2];
	FILE *a = open_memstream(&sls, &len[0]), *b = open_memstream(&sl2vl, &len[1]);

	for (uint32_t s = 0; s < t->n_switches; s++) {
		for (uint32_t h = 0; h < t->n_hosts; h++)
			fprintf(a, "0x%016" PRIx64 " %u 1\n", t->switches[s].guid, t->hosts[h].lid);
		for (unsigned in = 0; in <= t->switches[s].n_ports; in++)
			for (unsigned out = 1; out <= t->switches[s].n_ports; out++)
				fprintf(b, "0x%016" PRIx64 " %u %u %s\n", t->switches[s].guid, in,
					out,
					s == 3 && in == port_to(t, 3, 0) && out == port_to(t, 3, 1)
						? odd
						: normal);
	}
	fclose(a);
	fclose(b);
	text[0] = (struct lanefile_text){ .path = "sls", .text = sls, .len = len[0] };
	text[1] = (struct lanefile_text){ .path = "sl2vl", .text = sl2vl, .len = len[1] };
	d->v.routes->lanes =
		lanefile_read(d->v.routes, has_sls ? &text[0] : NULL, &text[1], &report);
	assert_int_equal(report.n, 0);
	assert_non_null(d->v.routes->lanes);
	assert_int_equal(d->v.routes->lanes->n_vls, 1);
	verify_find_dropped(&d->v);
}

static void what_goes_to_vl_15_is_lost(void **state)
{
	struct desk *d = desk_new();
	uint32_t lost = 0;

	for (uint32_t h = 0; h < d->t->n_hosts; h++)
		lost += d->t->hosts[h].sw == 1 && routes_port(d->v.routes, 0, d->t->hosts[h].lid) ==
							  port_to(d->t, 0, 3)
				? 2
				: 0;
	assert_int_not_equal(lost, 0);
	judge_lanes(d, "0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00",
		    "0x0f 0x00 0x00 0x00 0x00 0x00 0x00 0x00", true);
	assert_int_equal(d->v.dropped.n, lost);
	assert_int_equal(d->v.dropped.sw, 3);
	assert_int_equal(d->v.dropped.from, 0);
	assert_int_equal(d->v.dropped.sl, 1);
	assert_int_equal(d->v.dropped.in, port_to(d->t, 3, 0));
	assert_int_equal(d->v.dropped.out, port_to(d->t, 3, 1));
	assert_false(verify_holds(&d->v));
	desk_free(d);
}

/* Where no SLs are given one that comes through is enough. */
static void any_sl_that_comes_through_will_do(void **state)
{
	struct desk *d = desk_new();

	judge_lanes(d, "0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00",
		    "0x0f 0xff 0xff 0xff 0xff 0xff 0xff 0xff", false);
	assert_int_equal(d->v.dropped.n, 0);
	desk_free(d);
	d = desk_new();
	judge_lanes(d, "0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00",
		    "0xff 0xff 0xff 0xff 0xff 0xff 0xff 0xff", false);
	assert_int_not_equal(d->v.dropped.n, 0);
	assert_int_equal(d->v.dropped.sl, -1);
	desk_free(d);
}

/* Without SL2VL tables the VL is the SL: what is sent on SL 15 is dropped, and nothing waits. */
static void sl_15_is_dropped(void **state)
{
	struct desk *d = desk_new();
	const struct topo *t = d->t;
	struct conf_report report = { 0 };
	struct lanefile_text sls = { .path = "sls" };
	struct route_verdict verdict;
	_cleanup_free_ char *text = NULL;
	FILE *out = open_memstream(&text, &sls.len);

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (uint32_t h = 0; h < t->n_hosts; h++)
			fprintf(out, "0x%016" PRIx64 " %u 15\n", t->switches[s].guid,
				t->hosts[h].lid);
	fclose(out);
	sls.text = text;
	d->v.routes->lanes = lanefile_read(d->v.routes, &sls, NULL, &report);
	assert_int_equal(report.n, 0);
	verify_find_dropped(&d->v);
	routes_check(d->v.routes, 1, &verdict);
	assert_int_equal(d->v.dropped.n, verdict.pairs);
	assert_int_equal(verdict.n_vls, 0);
	assert_false(verdict.credit_loop);
	desk_free(d);
}

/* Copies from leaf 0 to leaf 1 are dropped by spine 3, the others come through. */
static void copies_that_go_to_vl_15_are_lost(void **state)
{
	struct desk *d = desk_new();
	const struct verify_group *g;

	judge_lanes(d, "0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00",
		    "0xf0 0x00 0x00 0x00 0x00 0x00 0x00 0x00", true);
	add_row(d, 0, true, 3, TOPO_NONE);
	add_row(d, 1, true, 3, TOPO_NONE);
	add_row(d, 3, false, 0, 1);
	g = judged(d);
	assert_non_null(g);
	assert_int_equal(g->pairs, 12);
	assert_int_equal(g->lost, 4);
	assert_int_equal(g->from->sw, 0);
	assert_int_equal(g->to->sw, 1);
	assert_int_equal(g->end, 3);
	assert_int_equal(g->round, TOPO_NONE);
	assert_false(verify_holds(&d->v));
	desk_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_holds),
		cmocka_unit_test(a_branch_of_one_that_only_sends_holds),
		cmocka_unit_test(a_group_cut_in_two_is_told),
		cmocka_unit_test(an_edge_one_way_only_is_told),
		cmocka_unit_test(a_ring_is_told),
		cmocka_unit_test(what_goes_to_vl_15_is_lost),
		cmocka_unit_test(any_sl_that_comes_through_will_do),
		cmocka_unit_test(sl_15_is_dropped),
		cmocka_unit_test(copies_that_go_to_vl_15_are_lost),
	};

	return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
