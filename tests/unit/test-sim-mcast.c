// SPDX-License-Identifier: BSD-2-Clause
/* The simulator's eye on multicast: tables by hand, good and bad. */
#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/sim-probe.h"

#define MLID  0xC005
#define BLOCK 0

struct fixture {
	struct netfile *net;
	struct sim *sim;
	struct probe p;
	int leaf1, leaf2, spine1, spine2;
	unsigned heard[16];
};

/*
 * h0, h1 on leaf1, h2, h3 on leaf2; leaf ports 3, 4 lead to spine1, spine2, whose port i leads to
 * leaf i.
 */
static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->net = gen_tree(2, 2, 2, 1);
	f->sim = sim_new(f->net, 1);
	f->p = probe_open(f->sim, "h0", 1);
	f->leaf1 = sim_find(f->sim, "leaf1");
	f->leaf2 = sim_find(f->sim, "leaf2");
	f->spine1 = sim_find(f->sim, "spine1");
	f->spine2 = sim_find(f->sim, "spine2");
	probe_bring_up(&f->p);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	probe_close(&f->p);
	sim_free(f->sim);
	netfile_free(f->net);
	free(f);
	return 0;
}

/* Row of MLID at a switch, written by SMP. */
static void row(struct fixture *f, int sw, unsigned mask)
{
	memset(f->p.answer, 0, SMP_DATA_SIZE);
	ib_bits_put(f->p.answer, (MLID - 0xC000) * 16, 16, mask);
	assert_int_equal(probe_set(&f->p, sw, IB_ATTR_MFT, BLOCK), 0);
}

static void hear(void *arg, int node, unsigned port)
{
	struct fixture *f = arg;

	f->heard[node]++;
}

static int sent_by(struct fixture *f, const char *node, unsigned port)
{
	memset(f->heard, 0, sizeof(f->heard));
	return sim_mcast_reach(f->sim, MLID, sim_find(f->sim, node), port, hear, f);
}

static unsigned heard_by(const struct fixture *f, const char *node)
{
	return f->heard[sim_find(f->sim, node)];
}

static void never(const struct fixture *f)
{
	assert_int_equal(sim_mcast_loops_ever(f->sim), 0);
	assert_int_equal(sim_mcast_twice_ever(f->sim), 0);
}

static unsigned faults(const struct fixture *f)
{
	struct sim_verdict v;

	sim_check_all(f->sim, &v);
	assert_int_equal(v.mcast_loops_ever, sim_mcast_loops_ever(f->sim));
	assert_true(!sim_verdict_good(&v) || !v.mcast_faults);
	return v.mcast_faults;
}

static void a_tree_reaches_its_ports(void **state)
{
	struct fixture *f = *state;

	row(f, f->leaf1, 1 << 1 | 1 << 3 | 1);
	row(f, f->spine1, 1 << 1 | 1 << 2);
	row(f, f->leaf2, 1 << 2 | 1 << 3);
	assert_int_equal(sent_by(f, "h0", 1), 2); /* not back to itself */
	assert_int_equal(heard_by(f, "h3"), 1);
	assert_int_equal(heard_by(f, "leaf1"), 1);
	assert_int_equal(sent_by(f, "h1", 1), 3); /* no member, but the switch does not ask */
	assert_int_equal(sent_by(f, "leaf1", 0), 2);
	assert_int_equal(heard_by(f, "leaf1"), 0);
	never(f);
	assert_int_equal(faults(f), 0);
}

static void questions_without_an_answer(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sim_mcast_reach(f->sim, MLID, 99, 1, NULL, NULL), -EINVAL);
	assert_int_equal(sim_mcast_reach(f->sim, MLID, f->leaf1, 1, NULL, NULL), -EINVAL);
	assert_int_equal(sim_mcast_reach(f->sim, 0xBFFF, 0, 1, NULL, NULL), -EINVAL);
	assert_int_equal(sent_by(f, "h0", 1), 0);
}

static void a_circle_is_seen_at_the_set_that_closes_it(void **state)
{
	struct fixture *f = *state;

	row(f, f->leaf1, 1 << 3 | 1 << 4);
	row(f, f->spine1, 1 << 1 | 1 << 2);
	row(f, f->spine2, 1 << 1 | 1 << 2);
	never(f);
	row(f, f->leaf2, 1 << 3 | 1 << 4);
	assert_int_equal(sim_mcast_loops_ever(f->sim), 1);
	assert_int_equal(faults(f), 1);
	row(f, f->leaf2, 0);
	assert_int_equal(faults(f), 0);
	sim_watch_loops(f->sim, true);
	never(f);
}

/* Two ways one way: nothing goes round, but what leaf1 sends comes twice. */
static void two_ways_deliver_twice(void **state)
{
	struct fixture *f = *state;

	row(f, f->leaf1, 1 << 3 | 1 << 4);
	row(f, f->leaf2, 1 << 2);
	row(f, f->spine1, 1 << 2);
	never(f);
	row(f, f->spine2, 1 << 2);
	assert_int_equal(sim_mcast_loops_ever(f->sim), 0);
	assert_int_equal(sim_mcast_twice_ever(f->sim), 1);
	assert_int_equal(sent_by(f, "h0", 1), 2);
	assert_int_equal(heard_by(f, "h3"), 2);
	assert_int_equal(faults(f), 1);
}

/* Cables form a circle, but from wherever a packet starts it comes once: nothing is wrong. */
static void a_circle_of_dead_ends_is_fine(void **state)
{
	struct fixture *f = *state;

	row(f, f->leaf1, 1 << 3 | 1 << 4);
	row(f, f->leaf2, 1 << 3 | 1 << 4);
	never(f);
	assert_int_equal(faults(f), 0);
}

static void a_cable_that_is_down_closes_nothing(void **state)
{
	struct fixture *f = *state;

	sim_link_down(f->sim, f->spine2, 2);
	row(f, f->leaf1, 1 << 3 | 1 << 4);
	row(f, f->spine1, 1 << 1 | 1 << 2);
	row(f, f->spine2, 1 << 1 | 1 << 2);
	row(f, f->leaf2, 1 << 3 | 1 << 4);
	never(f);
	sim_link_up(f->sim, f->spine2, 2);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	never(f);
	probe_paths(&f->p);
	probe_set_state(&f->p, IB_PORT_ARMED);
	probe_set_state(&f->p, IB_PORT_ACTIVE);
	assert_true(sim_mcast_loops_ever(f->sim) > 0);
}

static void set_top(struct fixture *f, int sw, unsigned top)
{
	probe_get(&f->p, sw, IB_ATTR_SWITCH_INFO, 0);
	ib_put(f->p.answer, SI_MULTICAST_FDB_TOP, top);
	ib_put(f->p.answer, SI_PORT_STATE_CHANGE, 0);
	assert_int_equal(probe_set(&f->p, sw, IB_ATTR_SWITCH_INFO, 0), 0);
}

/* What stands above the top does not count until the top is raised. */
static void the_top_switches_rows_on(void **state)
{
	struct fixture *f = *state;

	set_top(f, f->leaf2, MLID - 1);
	row(f, f->leaf1, 1 << 1 | 1 << 3 | 1 << 4);
	row(f, f->spine1, 1 << 1 | 1 << 2);
	row(f, f->spine2, 1 << 1 | 1 << 2);
	row(f, f->leaf2, 1 << 2 | 1 << 3 | 1 << 4);
	never(f);
	assert_int_equal(sent_by(f, "h0", 1), 0);
	set_top(f, f->leaf2, MLID);
	assert_int_equal(sim_mcast_loops_ever(f->sim), 1);
	set_top(f, f->leaf2, 0xBFFF);
	assert_int_equal(faults(f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_tree_reaches_its_ports, setup, teardown),
		cmocka_unit_test_setup_teardown(questions_without_an_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(a_circle_is_seen_at_the_set_that_closes_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(two_ways_deliver_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(a_circle_of_dead_ends_is_fine, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cable_that_is_down_closes_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_top_switches_rows_on, setup, teardown),
	};

	return cmocka_run_group_tests_name("sim-mcast", tests, NULL, NULL);
}
