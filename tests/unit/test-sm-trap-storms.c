// SPDX-License-Identifier: BSD-2-Clause
/*
 * No storm of traps keeps a real change from being seen to, or fills the log (testing.md 5.1, 6.8).
 */
#include "trap-world.h"

#define STORM_STEP (100 * MONO_US) /* 10,000 traps a second */

enum storm { QUIET, ONE_SAME, ONE_VARYING, ALL_VARYING, THE_SWITCH };

static void one_of_the_storm(struct world *w, enum storm storm, unsigned i)
{
	uint8_t notice[SMP_DATA_SIZE];
	unsigned from = 5;
	char name[8];

	if (storm == QUIET)
		return;
	if (storm == ALL_VARYING)
		from = 1 + i % (N_HOSTS - 1);
	snprintf(name, sizeof(name), "h%u", from);
	if (storm == THE_SWITCH) {
		notice_of(TRAP_LINK_STATE, lid_of(w, "leaf3"), notice);
		ib_put(notice, NT_COUNT, i);
		send_as(w, w->host[0], ++w->tid, 0, notice);
		return;
	}
	notice_of(storm == ONE_SAME ? TRAP_LINK_STATE : every_trap[i % ARRAY_SIZE(every_trap)],
		  lid_of(w, name), notice);
	if (storm != ONE_SAME)
		ib_bits_put(notice, 40 * 8, 64, i * 0x9E3779B97F4A7C15u);
	send_as(w, host(w, from), storm == ONE_SAME ? 7 : ++w->tid, 0, notice);
}

static void blow(struct world *w, enum storm storm, mono_t t)
{
	static unsigned i;

	for (mono_t end = sim_now(w->sim) + t; sim_now(w->sim) < end; i++) {
		one_of_the_storm(w, storm, i);
		run_for(w, STORM_STEP);
	}
}

/* Takes a cable between a leaf and a spine out; time until each host reaches each again. */
static mono_t time_to_heal(struct world *w, enum storm storm, int leaf, unsigned port)
{
	mono_t from = sim_now(w->sim);

	sim_link_down(w->sim, leaf, port);
	blow(w, storm, STORM_STEP);
	assert_false(is_good(w));
	while (!is_good(w) && sim_now(w->sim) < from + 60 * MONO_S)
		blow(w, storm, STORM_STEP);
	return sim_now(w->sim) - from;
}

#define CUTS 4u

/*
 * Another cable each time: one that comes and goes is held. The storm has raged for a while before
 * the first cut, and goes on.
 */
static void cut_and_mend(struct world *w, enum storm storm, mono_t ret[CUTS])
{
	static const char *const leaves[CUTS] = { "leaf1", "leaf2", "leaf3", "leaf4" };

	if (storm == THE_SWITCH)
		w->host[0] = sim_attach(w->sim, "leaf3", 0);
	blow(w, storm, 2 * MONO_S);
	for (unsigned i = 0; i < CUTS; i++) {
		int leaf = node_of(w, leaves[i]);

		ret[i] = time_to_heal(w, storm, leaf, 6);
		sim_link_up(w->sim, leaf, 6);
		blow(w, storm, MONO_S + i * 137 * MONO_MS);
		assert_true(is_good(w));
	}
}

static void measure_calm(mono_t ret[CUTS])
{
	void *calm;

	open_world(&calm);
	start(calm);
	cut_and_mend(calm, QUIET, ret);
	close_world(&calm);
}

static uint64_t received(struct world *w)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < SM_TRAP_KINDS; k++)
		sum += sm_trap_stats(w->sm)->received[k];
	return sum;
}

/* What is done about a cut takes no more than twice the time that it takes in calm weather. */
static void survive(struct world *w, enum storm storm)
{
	mono_t calm[CUTS], stormy[CUTS];

	measure_calm(calm);
	log_set_sink(on_line, w);
	start(w);
	listen_for(w, NULL);
	cut_and_mend(w, storm, stormy);
	print_message("%llu traps, %u lines;", (unsigned long long)received(w), w->lines);
	for (unsigned i = 0; i < CUTS; i++) {
		print_message(" %lld us (calm %lld)", (long long)stormy[i], (long long)calm[i]);
		assert_true(stormy[i] <= 2 * calm[i]);
	}
	print_message("\n");
	assert_true(received(w) > 60000);
	/* of seven seconds in which four links came and went; six are of the health of links */
	assert_in_range(w->lines, 1, 90);
	assert_in_range(sm_trap_stats(w->sm)->sources, 1, 30);
	blow(w, QUIET, 30 * MONO_S);
	assert_int_equal(sm_trap_stats(w->sm)->storms, 0);
	assert_true(sm_stats(w->sm)->up);
	assert_true(is_good(w));
}

static void a_storm_of_one_host_all_the_same(void **state)
{
	survive(*state, ONE_SAME);
}

static void a_storm_of_one_host_ever_different(void **state)
{
	survive(*state, ONE_VARYING);
}

static void a_storm_of_all_hosts(void **state)
{
	survive(*state, ALL_VARYING);
}

static void a_storm_of_the_switch_itself(void **state)
{
	survive(*state, THE_SWITCH);
}

/* Nothing but the storm: it is said by name and place, and its end with a number. */
static void a_storm_is_said_once(void **state)
{
	struct world *w = *state;

	start(w);
	listen_for(w, "'h5' port 1 (0x000000000010000a), LID ");
	blow(w, ONE_VARYING, 500 * MONO_MS);
	assert_true(w->said);
	assert_int_equal(sm_trap_stats(w->sm)->storms, 1);
	listen_for(w, "sends more traps than are listened to");
	blow(w, ONE_VARYING, 5 * MONO_S);
	assert_false(w->said);
	listen_for(w, "its storm of traps is over after 5 s: 54");
	blow(w, QUIET, 15 * MONO_S);
	assert_true(w->said);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_storm_of_one_host_all_the_same),
		TEST(a_storm_of_one_host_ever_different),
		TEST(a_storm_of_all_hosts),
		TEST(a_storm_of_the_switch_itself),
		TEST(a_storm_is_said_once),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("sm-trap-storms", tests, NULL, NULL);
}
