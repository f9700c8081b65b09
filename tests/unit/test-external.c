// SPDX-License-Identifier: BSD-2-Clause
/* Engines from outside: what they are shown, what they may write, what becomes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route/proof/check.h"
#include "route/select/external.h"
#include "tests/lib/topogen.h"
#include "route/select/engines.h"
#include "util/mem.h"

/* Copies tables that are known to be good. */
static int copy_tables(void *arg, const struct opensm_topology *t, struct opensm_tables *ret,
		       char *why, size_t why_len)
{
	const struct routes *good = arg;

	for (uint32_t sw = 0; sw < t->n_switches; sw++)
		memcpy(ret->rows + sw * ret->row_size, routes_row(good, sw), good->row_size);
	return 0;
}

static struct routes *minhop(const struct topo *t)
{
	char why[160];
	struct routes *r = route_engine_find("minhop")->compute(
		&(struct route_job){ .topo = t, .threads = 1 }, why, sizeof(why));

	assert_non_null(r);
	return r;
}

static struct routes *run(const struct topo *t,
			  int (*fn)(void *, const struct opensm_topology *, struct opensm_tables *,
				    char *, size_t),
			  void *arg, char *why, size_t why_len)
{
	const struct opensm_routing_engine engine = { .api = OPENSM_ROUTING_API,
						      .size = sizeof(engine),
						      .name = "mine",
						      .compute = fn,
						      .arg = arg };
	struct route_engine e = external_engine(&engine);

	return route_engine_run(&e, &(struct route_job){ .topo = t, .threads = 1 }, why, why_len);
}

static void good_tables_stay_as_they_are(void **state)
{
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct routes *good = minhop(t), *r;
	struct route_verdict v;
	char why[160];

	r = run(t, copy_tables, good, why, sizeof(why));
	assert_non_null(r);
	assert_string_equal(r->engine, "mine");
	assert_int_equal(r->top, good->top);
	assert_memory_equal(r->lft, good->lft, (size_t)t->n_switches * r->row_size);
	routes_check(r, 1, &v);
	assert_int_equal(v.unreachable, 0);
	routes_unref(r);
	routes_unref(good);
	topo_unref(t);
}

/* The same, from tables of other numbers; levels say whose row it is. */
static int copy_by_guid(void *arg, const struct opensm_topology *t, struct opensm_tables *ret,
			char *why, size_t why_len)
{
	const struct routes *good = arg;

	for (uint32_t sw = 0; sw < t->n_switches; sw++) {
		uint32_t at = topo_find_switch(good->topo, t->switches[sw].guid);

		assert_true(!sw || t->switches[sw].guid > t->switches[sw - 1].guid);
		memcpy(ret->rows + sw * ret->row_size, routes_row(good, at), good->row_size);
		ret->levels[sw * ret->row_size + t->max_lid] = (uint8_t)(at % 3);
	}
	ret->lanes = 3;
	return 0;
}

/* It is told that numbers go by GUID, whatever order GUIDs are. */
static void switches_are_shown_by_guid(void **state)
{
	struct topo *plain = topogen_fat_tree3(4, NULL), *t;
	guid_t *order = xcalloc(plain->n_switches, sizeof(*order));
	struct routes *good, *r;
	char why[160];

	for (uint32_t s = 0; s < plain->n_switches; s++)
		order[s] = plain->switches[s].guid;
	order[2] = plain->switches[plain->n_switches - 1].guid + 1;
	t = topo_with_order(plain, order);
	assert_int_equal(topo_find_switch(t, plain->switches[2].guid), t->n_switches - 1);
	good = minhop(t);
	r = run(t, copy_by_guid, good, why, sizeof(why));
	assert_non_null(r);
	assert_memory_equal(r->lft, good->lft, (size_t)t->n_switches * r->row_size);
	for (uint32_t s = 0; s < t->n_switches; s++)
		assert_int_equal(sl2vl_sl(r->lanes, s, 0, t->max_lid, 7), s % 3);
	routes_unref(r);
	routes_unref(good);
	topo_unref(t);
	topo_unref(plain);
	free(order);
}

static int with_levels(void *arg, const struct opensm_topology *t, struct opensm_tables *ret,
		       char *why, size_t why_len)
{
	const unsigned *lanes_and_level = arg;

	for (uint32_t sw = 0; sw < t->n_switches; sw++)
		ret->levels[sw * ret->row_size + t->max_lid] = (uint8_t)lanes_and_level[1];
	ret->lanes = lanes_and_level[0];
	return 0;
}

static void levels_become_lanes(void **state)
{
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct routes *r;
	char why[160];

	r = run(t, with_levels, (unsigned[]){ 3, 5 }, why, sizeof(why));
	assert_non_null(r);
	assert_int_equal(r->lanes->n_vls, 3);
	assert_int_equal(sl2vl_sl(r->lanes, 1, 0, t->max_lid, 7), 5);
	assert_int_equal(sl2vl_sl(r->lanes, 1, 0, 1, 7), 0);
	assert_int_equal(sl2vl_vl(r->lanes, t, 0, 1, 2, 5), 2);
	routes_unref(r);
	assert_null(run(t, with_levels, (unsigned[]){ 9, 0 }, why, sizeof(why)));
	assert_string_equal(why, "it wants 9 VLs, and there are 8");
	assert_null(run(t, with_levels, (unsigned[]){ 2, 16 }, why, sizeof(why)));
	assert_string_equal(why, "service level 16 is beyond 15");
	topo_unref(t);
}

/* What is written about LIDs of no port, and about one's own, does not matter. */
static int scribble(void *arg, const struct opensm_topology *t, struct opensm_tables *ret,
		    char *why, size_t why_len)
{
	copy_tables(arg, t, ret, why, why_len);
	for (uint32_t sw = 0; sw < t->n_switches; sw++) {
		ret->rows[sw * ret->row_size] = 77;
		ret->rows[sw * ret->row_size + t->max_lid + 1] = 77;
		ret->rows[sw * ret->row_size + t->switches[sw].lid] = 77;
	}
	return 0;
}

static void entries_of_nobody_are_tidied(void **state)
{
	struct topo *t = topogen_fat_tree2(2, 3, 3, 1, &(struct topogen){ .seed = 1 });
	struct routes *good = minhop(t), *r;
	char why[160];

	assert_true(t->max_lid + 1u < good->row_size);
	r = run(t, scribble, good, why, sizeof(why));
	assert_non_null(r);
	assert_memory_equal(r->lft, good->lft, (size_t)t->n_switches * r->row_size);
	routes_unref(r);
	routes_unref(good);
	topo_unref(t);
}

/* `arg`: the port that the first switch uses for everything. */
static int all_one_way(void *arg, const struct opensm_topology *t, struct opensm_tables *ret,
		       char *why, size_t why_len)
{
	memset(ret->rows, *(uint8_t *)arg, ret->row_size);
	return 0;
}

static void an_entry_that_leads_nowhere_is_refused(void **state)
{
	struct topo *t = topogen_fat_tree2(2, 3, 3, 1, &(struct topogen){ .seed = 1 });
	uint8_t ports[] = { 0, 254, (uint8_t)(t->switches[0].n_ports + 1) };
	char why[160];

	for (unsigned i = 0; i < ARRAY_SIZE(ports); i++) {
		assert_null(run(t, all_one_way, &ports[i], why, sizeof(why)));
		assert_non_null(strstr(why, "where nothing is"));
	}
	topo_unref(t);
}

static int decline(void *arg, const struct opensm_topology *t, struct opensm_tables *ret, char *why,
		   size_t why_len)
{
	memset(why, 'x', why_len);
	memcpy(why, "no\x1b[31m\nring", 12);
	return -3;
}

static int decline_silently(void *arg, const struct opensm_topology *t, struct opensm_tables *ret,
			    char *why, size_t why_len)
{
	return 42;
}

static void one_that_declines_says_why(void **state)
{
	struct topo *t = topogen_fat_tree2(2, 3, 3, 1, &(struct topogen){ .seed = 1 });
	char why[60];

	assert_null(run(t, decline, NULL, why, sizeof(why)));
	assert_int_equal(strncmp(why, "no [31m ring", 12), 0);
	assert_int_equal(strlen(why), sizeof(why) - 1);
	assert_null(run(t, decline_silently, NULL, why, sizeof(why)));
	assert_string_equal(why, "it returned 42");
	topo_unref(t);
}

/* The picture is the topo, to the last cable. */
static int compare(void *arg, const struct opensm_topology *t, struct opensm_tables *ret, char *why,
		   size_t why_len)
{
	const struct topo *topo = arg;

	assert_int_equal(t->size, sizeof(*t));
	assert_int_equal(t->n_switches, topo->n_switches);
	assert_int_equal(t->n_hosts, topo->n_hosts);
	assert_int_equal(t->max_lid, topo->max_lid);
	for (uint32_t i = 0; i < t->n_switches; i++) {
		const struct opensm_topo_switch *sw = &t->switches[i];

		assert_int_equal(sw->guid, topo->switches[i].guid);
		assert_int_equal(sw->lid, topo->switches[i].lid);
		assert_int_equal(sw->table_size, topo->switches[i].lft_cap);
		for (unsigned p = 1; p <= sw->n_ports; p++) {
			const struct topo_port *there = topo_port(topo, i, p);
			const struct opensm_topo_port *here = &t->ports[sw->first_port + p];

			assert_int_equal(here->peer_switch, there->sw);
			assert_int_equal(here->peer_host, there->host);
			assert_int_equal(here->peer_port, there->port);
		}
	}
	for (uint32_t i = 0; i < t->n_hosts; i++) {
		assert_int_equal(t->hosts[i].port_guid, topo->hosts[i].guid);
		assert_int_equal(t->hosts[i].lid, topo->hosts[i].lid);
		assert_int_equal(t->hosts[i].lmc, topo->hosts[i].lmc);
		assert_int_equal(t->hosts[i].at_switch, topo->hosts[i].sw);
		assert_int_equal(t->hosts[i].at_port, topo->hosts[i].sw_port);
	}
	assert_int_equal(ret->rows[ret->row_size * t->n_switches - 1], OPENSM_NO_PORT);
	assert_false(t->cancelled(t));
	return 1;
}

static void the_picture_is_the_fabric(void **state)
{
	struct topo *t =
		topogen_dragonfly(5, 3, 2, &(struct topogen){ .seed = 5, .damage = 0.1, .lmc = 2 });
	char why[60];

	assert_null(run(t, compare, t, why, sizeof(why)));
	topo_unref(t);
}

static int ask_cancelled(void *arg, const struct opensm_topology *t, struct opensm_tables *ret,
			 char *why, size_t why_len)
{
	assert_true(t->cancelled(t));
	return 0;
}

static void who_is_cancelled_can_see_it(void **state)
{
	struct topo *t = topogen_fat_tree2(2, 3, 3, 1, &(struct topogen){ .seed = 1 });
	const struct opensm_routing_engine engine = { OPENSM_ROUTING_API, sizeof(engine), "mine",
						      ask_cancelled, NULL };
	struct route_engine e = external_engine(&engine);
	atomic_bool cancelled = true;
	char why[60];

	assert_null(route_engine_run(
		&e, &(struct route_job){ .topo = t, .threads = 1, .cancelled = &cancelled }, why,
		sizeof(why)));
	assert_string_equal(why, "cancelled");
	topo_unref(t);
}

static void a_fabric_without_switches(void **state)
{
	struct topo *t = topo_build(topo_builder_new());
	char why[60];

	assert_null(run(t, decline_silently, NULL, why, sizeof(why)));
	topo_unref(t);
}

static void names(void **state)
{
	assert_true(external_name_is_good("mine"));
	assert_true(external_name_is_good("torus-2_x"));
	assert_true(external_name_is_good("abcdefghijklmnopqrstuvwxyz01234"));
	assert_false(external_name_is_good("abcdefghijklmnopqrstuvwxyz012345"));
	assert_false(external_name_is_good("no_fallback"));
	assert_false(external_name_is_good("a,b"));
	assert_false(external_name_is_good("a b"));
	assert_false(external_name_is_good(""));
	assert_false(external_name_is_good(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_tables_stay_as_they_are),
		cmocka_unit_test(switches_are_shown_by_guid),
		cmocka_unit_test(levels_become_lanes),
		cmocka_unit_test(entries_of_nobody_are_tidied),
		cmocka_unit_test(an_entry_that_leads_nowhere_is_refused),
		cmocka_unit_test(one_that_declines_says_why),
		cmocka_unit_test(the_picture_is_the_fabric),
		cmocka_unit_test(who_is_cancelled_can_see_it),
		cmocka_unit_test(a_fabric_without_switches),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
