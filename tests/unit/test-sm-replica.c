// SPDX-License-Identifier: BSD-2-Clause
/*
 * A standby and what hosts registered with the master (tests/scenario/registered.scn): one moment
 * of a copy, partitions, keys.
 */
#include "tests/unit/two-managers.h"

/* The copy that was whole counts, not the one that was being made. */
static void the_master_dies_while_it_is_copied(void **state)
{
	struct world *w = *state;
	uint8_t record[SVR_BYTES];
	lid_t mlid;

	start_both(w);
	mlid = join(w, 1, 8);
	serve(w, 2, 77, 1000);
	run_for(w, 3 * MONO_S);
	join(w, 7, 100);
	wait_for_question(w, SA_SERVICE_RECORD);
	fail_over(w);
	assert_int_equal(mgroup_mlid(group_at(w, SPARE, 8)), mlid);
	assert_int_equal(find_service(w, 1, 77, record), 0);
}

/* Groups and services of a partition that the standby is not in. */
static void other_partitions_are_copied(void **state)
{
	struct world *w = *state;
	uint8_t mgid[16], record[MCM_BYTES], answer[MCM_BYTES] = { 0 };
	struct question q;

	for (unsigned i = 0; i < 2; i++) {
		FILE *f = fopen(w->conf[i]->partition_config_file, "w");

		fprintf(f,
			"Default=0x7fff, ipoib: ALL=full;\nA=0x1: 0x%016llx=full, "
			"0x%016llx=full;\n",
			(unsigned long long)w->host[1]->guid, (unsigned long long)w->host[2]->guid);
		fclose(f);
	}
	start_both(w);
	client_mgid(3, mgid);
	q = client_join(w->host[1], MAD_SET, mgid, MC_FULL, record);
	ib_put(record, MCM_PKEY, 0x8001);
	assert_int_equal(ask(w, 1, &q, answer, sizeof(answer)), 0);
	run_for(w, 3 * MONO_S);
	fail_over(w);
	assert_non_null(group_at(w, SPARE, 3));
	assert_int_equal(mgroup_members(group_at(w, SPARE, 3)), 1);
}

/*
 * The same master in another life knows nothing of our subscriptions, and its numbers mean
 * something else.
 */
static void a_master_that_starts_again_is_asked_anew(void **state)
{
	struct world *w = *state;
	mono_t at;

	w->conf[SPARE]->polling_retry_number = 20;
	start_both(w);
	join(w, 1, 1);
	run_for(w, 5 * MONO_S);
	at = replica_copied_at(sm_of(w, SPARE));
	rig_kill(w->rig, ACTIVE);
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), 2);
	run_for(w, 10 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, 2)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	assert_true(replica_copied_at(sm_of(w, SPARE)) > at);
	assert_true(replica_is_subscribed(sm_of(w, SPARE)));
	assert_int_equal(sa_stats(sm_sa(sm_of(w, 2)))->subscriptions, 6);
}

/* It holds one record of a manager, our own one. */
static void a_foreign_master_knows_one_manager(void **state)
{
	struct world *w = *state;

	w->conf[ACTIVE]->ignore_other_sm = true;
	start_both(w);
	run_for(w, 15 * MONO_S);
	assert_false(replica_master_is_ours(sm_of(w, SPARE)));
	assert_int_equal(managers(w), 1);
}

/* A key that was drawn is no other manager's: nothing is asked, and the reason is said. */
static void a_drawn_key_is_said_to_be_in_the_way(void **state)
{
	struct world *w = *state;
	const struct question q = { .method = MAD_GET, .attr = SA_CLASS_PORT_INFO, .data = "" };
	uint64_t keys[2];

	w->conf[SPARE]->randomize_sa_key = true;
	start_both(w);
	run_for(w, 120 * MONO_S);
	assert_int_equal(said("cannot be copied", "drawn at random here"), 1);
	assert_int_equal(sa_stats(sm_sa(sm_of(w, ACTIVE)))->key_guesses, 0);
	keys[0] = sm_sa_key(sm_of(w, ACTIVE));
	keys[1] = sm_sa_key(sm_of(w, SPARE));
	assert_int_equal(keys[0], 1);
	assert_true(keys[1] > 1 && keys[1] != UINT64_MAX);
	fail_over(w);
	w->host[1]->sm_key = keys[0]; /* of the option, which does not count now */
	assert_int_equal(ask(w, 1, &q, NULL, 0), -ETIMEDOUT);
	w->host[1]->sm_key = keys[1];
	assert_int_equal(ask(w, 1, &q, NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_master_dies_while_it_is_copied),
		TEST(other_partitions_are_copied),
		TEST(a_master_that_starts_again_is_asked_anew),
		TEST(a_foreign_master_knows_one_manager),
		TEST(a_drawn_key_is_said_to_be_in_the_way),
	};

	return cmocka_run_group_tests_name("sm-replica", tests, NULL, NULL);
}
