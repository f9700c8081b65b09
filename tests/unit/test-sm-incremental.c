// SPDX-License-Identifier: BSD-2-Clause
/*
 * Campaigns of random faults (tests/lib/campaign.h): once everything is mended the subnet is whole,
 * what the master thinks is so, a full heavy sweep has nothing left to do, and a manager that knows
 * nothing comes to the same picture.
 *
 *   test-sm-incremental SEED [N [MIX]]    other lives; LOUD=1 shows the log, SHRINK=1 leaves out
 *                                         the faults that a failure does not need
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/lib/campaign.h"
#include "tests/lib/rounds.h"

static int lives_from(unsigned seed, const char *mix, unsigned n)
{
	const struct campaign c = { "tests/unit/test-sm-incremental", seed, n, mix };

	return campaign_run(&c, 1, NULL);
}

static int lives(const char *mix, unsigned n)
{
	return lives_from(1, mix, test_rounds(n));
}

static void a_heavy_sweep_finds_nothing_after_changes_of_cables(void **state)
{
	static const char mix[] = "links,reboots,power,cables,silence,traps,jobs,lmc,enhanced,"
				  "dual,groups,names";
	static const char worn[] = "links,reboots,power,cables,silence,traps,jobs,lmc,enhanced,"
				   "dual,groups,names,wear";

	/* Seed 28: a host is silent just when it is to be written to. */
	assert_int_equal(lives_from(28, mix, 1), 0);
	assert_int_equal(lives(worn, 29), 0);
	/* Multicast trees were chosen beside others than those that stand now. */
	assert_int_equal(lives_from(74, mix, 1), 0);
}

/* The new process finds tables that grew with the changes, made by any manager, and writes none. */
static void a_new_process_changes_no_table(void **state)
{
	assert_int_equal(lives("links,reboots,power,traps,jobs,enhanced,dual,hitless,wear", 20),
			 0);
	assert_int_equal(lives("links,reboots,power,traps,jobs,enhanced,dual,hitless,engines", 45),
			 0);
}

/*
 * Switches get what is meant for them, in order. (Cables that are moved while Sets are on their
 * way, and switches that forward without answering, still make LIDs loop for a moment in one life
 * of twenty: the mixes with `cables` and `silence` are for by hand.)
 */
static void nothing_ever_goes_round(void **state)
{
	/*
	 * Seed 52: switches that waited for one that was dead hold older tables than those that
	 * were meant last.
	 */
	assert_int_equal(lives_from(52, "links,reboots,power,traps,jobs,enhanced,dual,loops", 1),
			 0);
	assert_int_equal(lives("links,reboots,power,traps,jobs,enhanced,dual,loops,wear", 59), 0);
}

static void nor_after_anything_at_all(void **state)
{
	assert_int_equal(lives("all,-managers,-splits,-loops,-hitless", 25), 0);
	/* The switch next to a manager rested: keys that were not sent passed for wrong ones. */
	assert_int_equal(lives_from(32, "all,-splits,-loops,-hitless,-wear", 1), 0);
	/* Questions to ports of silent managers filled a window of one: no other left, for ever. */
	assert_int_equal(lives_from(21093, "all,-splits,-loops,-hitless", 1), 0);
	/* Ports were looked at in turn just when better tables were there, three times in a row. */
	assert_int_equal(lives_from(96, "wear", 1), 0);
	/*
	 * The manager gets another partitions.conf right after its start, while it still asks other
	 * managers what changed: it must not take P_Keys of its first file for lost tenants'.
	 */
	assert_int_equal(lives_from(21085, "all,-splits,-loops,-hitless", 1), 0);
}

static void managers_ask_with_the_keys_that_ports_have(void **state)
{
	static const char all[] = "all,-splits,-loops,-hitless";

	/* A host was another one, and the standby was not told of its link. */
	assert_int_equal(lives_from(351, all, 1), 0);
	/* A manager that was cut off has a silent host in its picture of before. */
	assert_int_equal(lives_from(469, all, 1), 0);
	/* A cable led elsewhere while the standby looked; its way to the master led over it. */
	assert_int_equal(lives_from(30164, all, 1), 0);
	assert_int_equal(lives_from(30298, all, 1), 0);
	/* A standby met a host with the key of before, and the master gave it another one. */
	assert_int_equal(lives_from(461, "keys,managers,splits,cables,links,reboots,power", 1), 0);
}

/*
 * Each port has a key of its own and tells nothing without it, and keys are rotated all the time.
 * Cables lead elsewhere, hosts are away for rotations, managers are killed and stand still.
 */
static void keys_of_single_ports_are_found_again(void **state)
{
	static const char mix[] = "keys,links,reboots,power,cables,silence,traps,jobs,lmc,enhanced,"
				  "dual,groups,names";
	static const char worn[] = "keys,links,reboots,power,cables,silence,traps,jobs,lmc,"
				   "enhanced,dual,groups,names,wear";

	assert_int_equal(lives(worn, 8), 0);
	/* One of two ports of a host was unplugged for good, and its key stayed in doubt. */
	assert_int_equal(lives_from(31131, mix, 1), 0);
	assert_int_equal(lives("keys,managers", 8), 0);
	/* A cable led elsewhere, and the switch behind it was known by another way. */
	assert_int_equal(lives_from(19, "keys,splits,cables,links", 3), 0);
	/* The key of its own port came into force while a manager had tried half of the others. */
	assert_int_equal(lives_from(5004, "keys,managers", 1), 0);
	/* So did that of a switch that was not known. */
	assert_int_equal(lives_from(7018, "keys,managers,splits,cables,links,reboots,power", 1), 0);
	/* A switch that shows itself answered to a key that is not its own: no Set was obeyed. */
	assert_int_equal(lives_from(7328, "keys,managers,splits,cables,links,reboots,power", 1), 0);
	/* A standby that had the epoch already went by guid2mkey, of the time before. */
	assert_int_equal(lives_from(110, "keys,managers,splits,cables,links,reboots,power", 1), 0);
	/* Managers that make keys from seeds of their own send these to each other. */
	assert_int_equal(lives_from(101, "keys,managers,seeds", test_rounds(15)), 0);
	/* A question went elsewhere while cables were moved: a wrong node was known there. */
	assert_int_equal(lives_from(9064, "keys,managers,splits,cables,links,reboots,power", 1), 0);
	/* A master rotated when it was alone: no other one had the key of its own port to come. */
	assert_int_equal(lives_from(9048, "keys,managers,splits,cables,links,reboots,power", 1), 0);
	assert_int_equal(lives_from(9134, "keys,managers,splits,cables,links,reboots,power", 1), 0);
	/* The other one had never met it: its lease did not end, as it asked its port itself. */
	assert_int_equal(lives_from(9059, "keys,managers,splits,cables,links,reboots,power", 1), 0);
	/* Routes led over a cable that had been moved, and behind which keys were not known yet. */
	assert_int_equal(lives_from(9040, "keys,managers,splits,cables,links,reboots,power", 1), 0);
	/* Switches of the other part were forgotten as nodes, and had keys of epochs to come. */
	assert_int_equal(lives_from(9185, "keys,managers,splits,cables,links,reboots,power", 1), 0);
	/* A manager that stood still gave its own port a key; the others look for that key. */
	assert_int_equal(lives_from(9154, "keys,managers,seeds", 1), 0);
	/* The key of such a port was to be tried next when its manager handed over. */
	assert_int_equal(lives_from(20159, "keys,managers,seeds", 1), 0);
	/* Two masters wrote tables in turn, and heavy sweeps that came since count as a look. */
	assert_int_equal(lives_from(555, "keys,managers,splits,cables,links,reboots,power,wear", 1),
			 0);
	/* Parts of the fabric rotate their keys each by itself, and grow together. */
	assert_int_equal(lives_from(1, "keys,splits,managers", 4), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_heavy_sweep_finds_nothing_after_changes_of_cables),
		cmocka_unit_test(a_new_process_changes_no_table),
		cmocka_unit_test(nothing_ever_goes_round),
		cmocka_unit_test(nor_after_anything_at_all),
		cmocka_unit_test(managers_ask_with_the_keys_that_ports_have),
		cmocka_unit_test(keys_of_single_ports_are_found_again),
	};
	const struct campaign by_hand = { "tests/unit/test-sm-incremental", 1, 100, "all" };

	if (argc > 1)
		return campaign_run(&by_hand, argc, argv) != 0;
	return cmocka_run_group_tests_name("sm-incremental", tests, NULL, NULL);
}
