// SPDX-License-Identifier: BSD-2-Clause
/* What every engine with lanes must stand: any fabric, broken ones, strange ones, threads. */
#pragma once

#include <inttypes.h>

#include "tests/unit/lanes-desk.h"
#include "route/select/engines.h"
#include "tests/unit/route-desk.h"

static inline struct routes *lanes_run(const char *engine, const struct route_job *job,
				       char why[256])
{
	return route_engine_run(route_engine_find(engine), job, why, 256);
}

static inline struct routes *lanes_route(const char *engine, const struct topo *t,
					 const struct routes *previous)
{
	struct route_job job = { .topo = t, .previous = previous, .threads = 2 };
	char why[256] = "";
	struct routes *r = lanes_run(engine, &job, why);

	if (!r)
		print_message("%s: %s\n", engine, why);
	assert_non_null(r);
	return r;
}

static inline void assert_same_lanes(const struct sl2vl *a, const struct sl2vl *b)
{
	assert_int_equal(a != NULL, b != NULL);
	if (!a)
		return;
	assert_int_equal(a->n_vls, b->n_vls);
	assert_int_equal(sl2vl_n_sl(a), sl2vl_n_sl(b));
	assert_int_equal(a->n_classes, b->n_classes);
	assert_memory_equal(a->sl, b->sl, sl2vl_n_sl(a));
}

/* Both opinions: every LID that can be reached is, shortest, and no cycle of VLs. */
static inline void assert_holds(const struct routes *r)
{
	struct lanes_desk d = lanes_desk_check(r);
	struct route_verdict v;

	routes_check(r, 1, &v);
	assert_int_equal(v.lost, 0);
	assert_int_equal(v.looping, 0);
	assert_true(v.minimal);
	assert_false(v.credit_loop);
	assert_int_equal(d.stuck, 0);
	if (!v.cut)
		assert_int_equal(d.lost, 0);
	if (!v.cut)
		assert_int_equal(v.switch_unreachable, 0);
}

/* An empty fabric, hosts alone, one switch, no LIDs yet, loop cables, islands, small tables. */
static inline struct topo *strange_fabric(unsigned number)
{
	_cleanup_(topo_builder_freep) struct topo_builder *b = topo_builder_new();
	unsigned n = number < 2 ? 0 : number;

	for (unsigned s = 0; s < n; s++)
		topo_add_switch(b, &(struct topo_switch){
			.guid = 100 + s, .n_ports = 8, .lid = (lid_t)(number == 4 ? 0 : 100 + s),
			.lft_cap = (lid_t)(number == 5 && s == 2 ? 4 : 1024),
		});
	for (unsigned h = 0; h < number; h++) {
		topo_add_host(b, &(struct topo_host){
					 .guid = 1 + h,
					 .node_guid = 1 + h,
					 .node_port = 1,
					 .lmc = number == 6 ? 1 : 0,
					 .lid = (lid_t)(number == 4 ? 0
								    : (number == 6 ? 2 * (1 + h)
										   : 1 + h)),
				 });
		if (n && !(number == 3 && h == 1))
			topo_add_host_link(b, 1 + h, 100 + h % n, 1);
	}
	for (unsigned s = 1; s < n; s++)
		if (number != 7 || s % 3)
			topo_add_link(b, 100 + s - 1, 2, 100 + s, 3);
	if (n > 2) {
		topo_add_link(b, 100, 4, 100, 5);
		topo_add_link(b, 100, 6, 100 + n - 1, 6);
		topo_add_link(b, 100, 7, 100 + n - 1, 7);
	}
	return topo_build(take(b));
}

static inline void strange_fabrics_are_routed(const char *engine)
{
	for (unsigned number = 0; number < 10; number++) {
		struct topo *t = strange_fabric(number);
		struct routes *r = lanes_route(engine, t, NULL);
		struct route_verdict v;

		print_message("# strange %u\n", number);
		routes_check(r, 1, &v);
		assert_int_equal(v.looping, 0);
		/*
		 * A table that is too small is no fault, even where there is a way around it.
		 */
		if (number != 5)
			assert_int_equal(v.lost, 0);
		routes_unref(r);
		topo_unref(t);
	}
}

static inline void threads_change_no_byte(const char *engine, unsigned n)
{
	for (unsigned number = 0; number <= n; number++) {
		struct topogen o = number < n ? any_options(number) : (struct topogen){ 0 },
			       backward = o;
		struct topo *t, *same;
		struct routes *first, *second;
		char why[256];

		backward.reversed = true;
		/* Few switches are one thread's work. */
		t = number < n ? any_fabric(number, &o)
			       : topogen_torus((unsigned[]){ 6, 6, 6 }, 1, &o);
		same = number < n ? any_fabric(number, &backward)
				  : topogen_torus((unsigned[]){ 6, 6, 6 }, 1, &backward);
		print_message("# seed %u\n", number);
		first = lanes_run(engine, &(struct route_job){ .topo = t, .threads = 1 }, why);
		second = lanes_run(engine, &(struct route_job){ .topo = same, .threads = 3 }, why);
		assert_non_null(first);
		assert_non_null(second);
		assert_same_tables(first, second);
		assert_same_lanes(first->lanes, second->lanes);
		routes_unref(first);
		routes_unref(second);
		topo_unref(t);
		topo_unref(same);
	}
}

static inline void cancelling_is_heard(const char *engine)
{
	struct topo *t = topogen_torus((unsigned[]){ 4, 4, 2 }, 2, NULL);
	atomic_bool cancelled = true;
	char why[256] = "";

	assert_null(lanes_run(
		engine, &(struct route_job){ .topo = t, .threads = 2, .cancelled = &cancelled },
		why));
	assert_string_equal(why, "cancelled");
	topo_unref(t);
}

/* Paths between end ports that are there before and after, and have another SL. */
static inline uint64_t changed_sls(const struct routes *a, const struct routes *b)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < b->topo->n_switches; s++)
		for (uint32_t h = 0; h < b->topo->n_hosts; h++) {
			const struct topo_host *now = &b->topo->hosts[h];
			uint32_t was = topo_find_host(a->topo, now->guid);
			uint32_t from = topo_find_switch(a->topo, b->topo->switches[s].guid);

			if (was == TOPO_NONE || from == TOPO_NONE || now->sw == s)
				continue;
			n += sl2vl_sl(a->lanes, from, a->topo->hosts[was].sw, now->lid, 0) !=
			     sl2vl_sl(b->lanes, s, now->sw, now->lid, 0);
		}
	return n;
}

static inline void computing_again_changes_nothing(const char *engine)
{
	for (unsigned number = 0; number < 8; number++) {
		struct topogen o = any_options(number);
		struct topo *t = any_fabric(number, &o);
		struct routes *first = lanes_route(engine, t, NULL),
			      *second = lanes_route(engine, t, first);

		print_message("# seed %u\n", number);
		assert_same_tables(first, second);
		assert_same_lanes(first->lanes, second->lanes);
		routes_unref(first);
		routes_unref(second);
		topo_unref(t);
	}
}

/*
 * With one cable or one host more or less: at most `most` of the SLs and `entries` of the entries
 * change.
 */
static inline void little_changes(const char *engine, const unsigned size[3], uint64_t most,
				  uint64_t entries)
{
	for (unsigned number = 0; number < 6; number++) {
		struct topogen less = { .without_link = number < 4 ? 1 + 11 * number : 0,
					.without_host = number < 4 ? 0 : 1 + 7 * number };
		struct topo *t = topogen_torus(size, 2, NULL),
			    *broken = topogen_torus(size, 2, &less);
		struct topo *before = number == 5 ? broken : t, *after = number == 5 ? t : broken;
		struct routes *first = lanes_route(engine, before, NULL);
		struct routes *second = lanes_route(engine, after, first);
		uint64_t changed = 0;

		for (uint32_t s = 0; s < t->n_switches; s++)
			for (uint32_t h = 0; h < broken->n_hosts; h++)
				changed += routes_port(first, s, broken->hosts[h].lid) !=
					   routes_port(second, s, broken->hosts[h].lid);
		print_message("# %u: %" PRIu64 " SLs, %" PRIu64 " entries\n", number,
			      changed_sls(first, second), changed);
		assert_holds(second);
		assert_in_range(changed_sls(first, second), 0, most);
		assert_in_range(changed, number < 4 ? 1 : 0, entries);
		routes_unref(first);
		routes_unref(second);
		topo_unref(t);
		topo_unref(broken);
	}
}
