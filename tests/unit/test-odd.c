// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every engine on every cluster of gen-odd.c, as a file that the planner reads: tables that hold,
 * or a refusal with a reason, and which of them is a table here. A table that holds is walked pair
 * by pair besides (lanes-desk.h).
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/gen/gen.h"
#include "offline/plan.h"
#include "plan/route_lists.h"
#include "route/select/choose.h"
#include "tests/unit/lanes-desk.h"
#include "route/select/engines.h"
#include "util/mem.h"

static const char *const engines[] = { "auto",	     "minhop", "updn",	    "dnup",   "ftree",
				       "dor",	     "lash",   "sssp",	    "dfsssp", "nue",
				       "torus-2QoS", "hyperx", "dragonfly", "columns" };

/*
 * One letter for each engine above. H: holds; R: refused by the judge, for a credit loop; D:
 * declines. auto minhop updn dnup ftree dor lash sssp dfsssp nue torus-2QoS hyperx dragonfly
 * columns
 */
static const struct {
	const char *cluster, *expected;
} cases[] = {
	{ "odd-mixed", "HRHHHHHRHHDDDR" },
	{ "odd-island", "HHHHHHHHHHDDDH" },
	{ "odd-director", "HRHHHHHHHHDDDH" },
	{ "odd-grown", "HHHHHHHRHHDDDR" },
	{ "odd-rails", "HHHHHHHHHHDDDH" },
	{ "odd-tail", "HRHHDRHRHHDDDR" },
	{ "odd-planes", "HRHHDHHRHHDDHR" },
	{ "odd-swapped", "HHHHHHHHHHDDDH" },
	{ "odd-plus", "HHHHDHHHHHDDHH" },
	{ "odd-torus", "HRHHDHHRHHHDDR" },
	{ "odd-sizes", "HHHHHHHHHHDDDH" },
	{ "odd-pods", "HHHHHHHHHHDDDH" },
};

static void read_cluster(const char *name, struct plan_world *ret)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_odd(name);
	int fd = memfd_create(name, 0);
	struct plan_args args = { .threads = 1 };
	char path[32];
	FILE *f;

	assert_non_null(net);
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	f = fdopen(fd, "w");
	netfile_write(net, f);
	fflush(f);
	args.fabric = path;
	assert_int_equal(plan_read(&args, ret), 0);
	fclose(f);
}

static char try_engine(const struct topo *t, const struct route_options *options,
		       const char *engine)
{
	struct route_job job = { .topo = t, .options = *options, .threads = 1 };
	char why[200] = "";
	struct routes *r = route_engine_run(route_engine_find(engine), &job, why, sizeof(why));
	struct route_verdict v;
	struct lanes_desk witness;

	if (!r) {
		assert_true(why[0]);
		return 'D';
	}
	routes_check(r, 1, &v);
	witness = lanes_desk_check(r);
	routes_unref(r);
	assert_int_equal(v.lost + v.cut + v.switch_unreachable, 0);
	assert_int_equal(witness.lost, 0);
	assert_int_equal(v.credit_loop, witness.stuck > 0);
	assert_true(witness.paths > 10000);
	return route_fault(&v) ? 'R' : 'H';
}

static void every_engine_holds_or_says_why_not(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct route_options options;
		char found[ARRAY_SIZE(engines) + 1] = "";
		struct plan_world w;

		read_cluster(cases[i].cluster, &w);
		options = route_lists_options(w.conf, w.files);
		for (size_t e = 0; e < ARRAY_SIZE(engines); e++)
			found[e] = try_engine(w.topo, &options, engines[e]);
		plan_world_clear(&w);
		if (strcmp(found, cases[i].expected))
			print_message("%s: %s\n", cases[i].cluster, found);
		assert_string_equal(found, cases[i].expected);
	}
}

static void no_cluster_is_left_out(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(gen_odd_name(i), cases[i].cluster);
	assert_null(gen_odd_name(ARRAY_SIZE(cases)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_holds_or_says_why_not),
		cmocka_unit_test(no_cluster_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
