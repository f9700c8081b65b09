// SPDX-License-Identifier: BSD-2-Clause
/*
 * A standby takes over with all that hosts registered with the master.
 */
#include "tests/unit/two-managers.h"

#include "util/file.h"

/* MLIDs in an order that is not that of a fresh start: the first group is gone. */
static void register_much(struct world *w, lid_t mlid[4])
{
	uint8_t record[GIR_BYTES];

	for (unsigned i = 1; i < N_HOSTS - 1; i++)
		join_broadcast(w, i);
	join(w, 1, 0);
	for (unsigned g = 1; g < 4; g++)
		mlid[g] = join(w, g, 9 - g);
	assert_int_equal(join(w, 5, 8), mlid[1]);
	assert_int_equal(join(w, 6, 8), mlid[1]);
	membership(w, 1, MAD_SA_DELETE, 0);
	serve(w, 2, 77, 1000);
	serve(w, 3, 78, 0xFFFFFFFF);
	subscribe(w, 4);
	alias(w, 6, MAD_SET, 0x1234567, record);
}

static void check_much(struct world *w, const lid_t mlid[4])
{
	uint8_t record[SVR_BYTES];

	for (unsigned g = 1; g < 4; g++) {
		const struct mgroup *group = group_at(w, SPARE, 9 - g);

		assert_non_null(group);
		assert_int_equal(mgroup_mlid(group), mlid[g]);
		assert_int_equal(mgroup_members(group), g == 1 ? 3 : 1);
	}
	assert_null(group_at(w, SPARE, 0));
	assert_int_equal(reached(w, mlid[1], 1), 1 << 5 | 1 << 6);
	assert_int_equal(reached(w, 0xC000, 1), 0x7FC);
	assert_int_equal(find_service(w, 1, 77, record), 0);
	assert_true(ib_get(record, SVR_LEASE) <= 1000);
	assert_int_equal(find_service(w, 1, 78, record), 0);
	assert_int_equal(ib_get(record, SVR_LEASE), 0xFFFFFFFF);
	alias(w, 6, MAD_GET, 0, record);
	assert_int_equal(ib_get(record, GIR_GUID1), 0x1234567);
	assert_int_equal(sa_stats(sm_sa(sm_of(w, SPARE)))->services, 2);
}

static void check_reports(struct world *w)
{
	assert_int_equal(sim_link_down(w->rig->sim, w->host[8]->node, 1), 0);
	assert_true(attend(w, 4, 5 * MONO_S) > 0);
	assert_int_equal(ib_get(w->host[4]->notice, NT_TRAP), TRAP_GID_OUT_OF_SERVICE);
}

static void what_was_registered_survives(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	run_for(w, 3 * MONO_S);
	fail_over(w);
	assert_int_equal(said("taking over with what was registered", "; 0 records left out"), 1);
	check_much(w, mlid);
	check_reports(w);
}

static void hosts_that_join_again_change_nothing(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	run_for(w, 3 * MONO_S);
	fail_over(w);
	for (unsigned i = 1; i < N_HOSTS - 1; i++)
		join_broadcast(w, i);
	for (unsigned g = 3; g > 0; g--)
		assert_int_equal(join(w, g, 9 - g), mlid[g]);
	check_much(w, mlid);
}

static void a_lease_goes_on_running(void **state)
{
	struct world *w = *state;
	uint8_t record[SVR_BYTES];

	start_both(w);
	serve(w, 2, 5, 60);
	run_for(w, 15 * MONO_S);
	fail_over(w);
	assert_int_equal(find_service(w, 1, 5, record), 0);
	run_for(w, 30 * MONO_S);
	assert_int_equal(find_service(w, 1, 5, record), SA_NO_RECORDS);
}

static void ten_per_cent_lost(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	sim_set_loss(w->rig->sim, 10, 10);
	run_for(w, 60 * MONO_S);
	rig_kill(w->rig, ACTIVE);
	run_for(w, 60 * MONO_S);
	sim_set_loss(w->rig->sim, 0, 0);
	run_for(w, 60 * MONO_S);
	check_much(w, mlid);
}

/* The copy that was whole counts, not the one that was being made. */
static void the_master_dies_while_it_is_copied(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	run_for(w, 3 * MONO_S);
	join(w, 7, 100);
	wait_for_question(w, SA_SERVICE_RECORD);
	fail_over(w);
	check_much(w, mlid);
}

static void tables_of_many_segments(void **state)
{
	struct world *w = *state;
	uint8_t record[SVR_BYTES];
	lid_t mlid[60];

	start_both(w);
	for (unsigned i = 0; i < 200; i++)
		serve(w, 1 + i % 10, 1000 + i, 0xFFFFFFFF);
	for (unsigned i = 0; i < 60; i++)
		mlid[i] = join(w, 1 + i % 10, i);
	run_for(w, 5 * MONO_S);
	fail_over(w);
	for (unsigned i = 0; i < 60; i++)
		assert_int_equal(mgroup_mlid(group_at(w, SPARE, i)), mlid[i]);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(find_service(w, 1, 1000 + i, record), 0);
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
	mgid_of(3, mgid);
	q = client_join(w->host[1], MAD_SET, mgid, MC_FULL, record);
	ib_put(record, MCM_PKEY, 0x8001);
	assert_int_equal(ask(w, 1, &q, answer, sizeof(answer)), 0);
	run_for(w, 3 * MONO_S);
	fail_over(w);
	assert_non_null(group_at(w, SPARE, 3));
	assert_int_equal(mgroup_members(group_at(w, SPARE, 3)), 1);
}

/* A standby that was master once: what it knew then is not what is. */
static void an_earlier_life_is_forgotten(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	join(w, 3, 50);
	run_for(w, 3 * MONO_S);
	fail_over(w);
	assert_non_null(group_at(w, SPARE, 50));
	w->rig->n_sms = 2;
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], NULL), 2);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, 2)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	join(w, 4, 51);
	run_for(w, 5 * MONO_S);
	rig_kill(w->rig, 2);
	run_for(w, 20 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_non_null(group_at(w, SPARE, 51));
}

/* A greater manager comes and is given the mastership: it has seen to a copy before. */
static void who_is_handed_over_to_has_a_copy(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	w->conf[SPARE]->sm_priority = 9;
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 3 * MONO_S);
	register_much(w, mlid);
	run_for(w, 3 * MONO_S);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE);
	attend(w, 4, 20 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_int_equal(said("taking over with what was registered", "; 0 records left out"), 1);
	check_much(w, mlid);
}

/* Two that are greater come at once. */
static void start_successors(struct world *w, uint64_t sa_key)
{
	_cleanup_(conf_unrefp) struct conf *lower = conf_copy(w->conf[SPARE]);

	w->conf[SPARE]->sm_priority = 9;
	lower->sm_priority = 8;
	w->conf[SPARE]->sa_key = lower->sa_key = sa_key;
	w->host[9] = client_free(w->host[9]);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE);
	assert_int_equal(rig_start(w->rig, "h9", 1, lower, NULL), SPARE + 1);
	attend(w, 4, 20 * MONO_S);
}

/* The greatest gets the fabric when it has its copy; the other one is never in between. */
static void of_two_successors_the_greater_gets_it(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 3 * MONO_S);
	register_much(w, mlid);
	start_successors(w, w->conf[ACTIVE]->sa_key);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_int_equal(said("Entering MASTER", ""), 2);
	assert_int_equal(said("taking over with what was registered", "; 0 records left out"), 1);
}

/*
 * Neither is one of ours, as far as it shows: the time for one of them does not start anew with the
 * other.
 */
static void two_strange_successors_are_not_waited_for(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 3 * MONO_S);
	register_much(w, mlid);
	start_successors(w, 77);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
}

/*
 * A manager that ends in order and hands over does not call its file complete: hosts register with
 * the next one.
 */
static void who_hands_over_has_no_last_word(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *path = xasprintf("%s/opensm-sa.state", w->dir[ACTIVE]), *text = NULL;

	start_both(w);
	join(w, 1, 1);
	run_for(w, 5 * MONO_S);
	rig_stop(w->rig, ACTIVE);
	assert_int_equal(file_read(path, 1u << 20, &text, NULL), 0);
	assert_non_null(strstr(text, "MC Group"));
	assert_null(strstr(text, "# complete"));
}

static void a_standby_writes_no_dump(void **state)
{
	struct world *w = *state;
	char path[128];
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	run_for(w, 20 * MONO_S);
	snprintf(path, sizeof(path), "%s/opensm-sa.dump", w->dir[SPARE]);
	assert_int_not_equal(access(path, F_OK), 0);
	fail_over(w);
	assert_int_equal(access(path, F_OK), 0);
}

/* ---- cost ----------------------------------------------------------------------------------- */

/* While nothing changes, a round is one question. */
static void tables_are_asked_for_when_something_changed(void **state)
{
	struct world *w = *state;
	uint64_t before;
	mono_t at;

	start_both(w);
	join(w, 1, 1);
	run_for(w, 5 * MONO_S);
	before = sa_stats(sm_sa(sm_of(w, ACTIVE)))->requests;
	at = replica_copied_at(sm_of(w, SPARE));
	run_for(w, 30 * MONO_S);
	assert_int_equal(replica_copied_at(sm_of(w, SPARE)), at);
	assert_in_range(sa_stats(sm_sa(sm_of(w, ACTIVE)))->requests - before, 25, 35);
	join(w, 1, 2);
	run_for(w, MONO_S);
	assert_true(replica_copied_at(sm_of(w, SPARE)) > at);
	assert_true(replica_is_subscribed(sm_of(w, SPARE)));
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

/*
 * SMInfo of the standby and its trap got lost on the way to the master, and no sweep comes: that it
 * asks for managers will do.
 */
static void a_standby_makes_itself_known(void **state)
{
	struct world *w = *state;
	struct sm_manager m;

	w->conf[ACTIVE]->sweep_interval = 0;
	w->tap[ACTIVE].deaf = true;
	start_both(w);
	assert_false(sm_manager_at(sm_of(w, ACTIVE), 0, &m) && m.known);
	w->tap[ACTIVE].deaf = false;
	run_for(w, 20 * MONO_S);
	assert_true(sm_manager_at(sm_of(w, ACTIVE), 0, &m) && m.known && !m.trust);
	assert_true(replica_master_is_ours(sm_of(w, SPARE)));
	assert_int_equal(said("a copy of what is registered", "this master"), 1);
}

/* However much happens, the standby stays one that the master knows. */
static void unrest_makes_no_strangers(void **state)
{
	struct world *w = *state;

	start_both(w);
	for (unsigned i = 0; i < 20; i++) {
		sim_link_flap(w->rig->sim, w->host[1 + i % 10]->node, 1, 50 * MONO_MS);
		run_for(w, 3 * MONO_S);
		assert_true(replica_master_is_ours(sm_of(w, SPARE)));
		assert_int_equal(said("does not know us", ""), 0);
	}
	assert_int_equal(said("a copy of what is registered", "this master"), 1);
}

/* ---- masters that are not ours -------------------------------------------------------------- */

/* A master that does not see us as a manager answers as to any client: as the peer would. */
static void a_foreign_master_is_copied_too(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	w->conf[ACTIVE]->ignore_other_sm = true;
	start_both(w);
	register_much(w, mlid);
	run_for(w, 15 * MONO_S);
	assert_false(replica_master_is_ours(sm_of(w, SPARE)));
	assert_int_equal(said("this foreign master is kept", ""), 1);
	assert_int_equal(managers(w), 1);
	fail_over(w);
	check_much(w, mlid);
	check_reports(w);
}

/*
 * Whichever of the two is first, and though the first one does not hear of the other at once:
 * neither log calls a manager of ours a foreign one.
 */
static void our_own_master_is_never_called_foreign(void **state)
{
	static const mono_t delays[] = { 0,	       5 * MONO_MS, 50 * MONO_MS, 300 * MONO_MS,
					 1 * MONO_S, 3 * MONO_S,  20 * MONO_S };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(delays); i++) {
		void *fresh;
		struct world *w;

		setup(&fresh);
		w = fresh;
		assert_int_equal(rig_start(w->rig, i % 2 ? "h11" : "h0", 1, w->conf[ACTIVE],
					   w->dir[ACTIVE]),
				 ACTIVE);
		run_for(w, delays[i / 2]);
		assert_int_equal(rig_start(w->rig, i % 2 ? "h0" : "h11", 1, w->conf[SPARE],
					   w->dir[SPARE]),
				 SPARE);
		w->tap[ACTIVE].deaf = true;
		run_for(w, 2 * MONO_S);
		w->tap[ACTIVE].deaf = false;
		run_for(w, 60 * MONO_S);
		assert_int_equal(said("registered with this master is kept", ""), 1);
		assert_int_equal(said("foreign", ""), 0);
		teardown(&fresh);
	}
}

static void a_foreign_master_is_asked_seldom(void **state)
{
	struct world *w = *state;
	uint64_t before;

	w->conf[ACTIVE]->ignore_other_sm = true;
	start_both(w);
	run_for(w, 30 * MONO_S);
	before = sa_stats(sm_sa(sm_of(w, ACTIVE)))->requests;
	run_for(w, 100 * MONO_S);
	assert_in_range(sa_stats(sm_sa(sm_of(w, ACTIVE)))->requests - before, 30, 70);
}

/* Another sa_key, and an sm_key that cannot be proved: that is said once. */
static void a_master_with_another_sa_key_is_a_foreign_one(void **state)
{
	struct world *w = *state;

	w->conf[SPARE]->sa_key = 99;
	start_both(w);
	run_for(w, 120 * MONO_S);
	assert_int_equal(said("cannot be copied whole", "another sa_key"), 1);
	assert_true(sa_stats(sm_sa(sm_of(w, ACTIVE)))->key_guesses > 0);
	fail_over(w);
}

/* The same with one that can: we are dropped, say so once, and go on standing by. */
static void a_master_that_does_not_answer(void **state)
{
	struct world *w = *state;

	w->conf[SPARE]->sm_key = w->conf[ACTIVE]->sm_key = 0x515;
	w->conf[SPARE]->sa_key = 99;
	start_both(w);
	run_for(w, 120 * MONO_S);
	assert_int_equal(said("cannot be copied", "sa_key"), 1);
	assert_int_equal(said("keys are tried out there", "a subnet manager is there"), 1);
	fail_over(w);
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
		TEST(what_was_registered_survives),
		TEST(hosts_that_join_again_change_nothing),
		TEST(a_lease_goes_on_running),
		TEST(ten_per_cent_lost),
		TEST(the_master_dies_while_it_is_copied),
		TEST(tables_of_many_segments),
		TEST(other_partitions_are_copied),
		TEST(an_earlier_life_is_forgotten),
		TEST(who_is_handed_over_to_has_a_copy),
		TEST(of_two_successors_the_greater_gets_it),
		TEST(two_strange_successors_are_not_waited_for),
		TEST(who_hands_over_has_no_last_word),
		TEST(a_standby_writes_no_dump),
		TEST(tables_are_asked_for_when_something_changed),
		TEST(a_master_that_starts_again_is_asked_anew),
		TEST(a_standby_makes_itself_known),
		TEST(unrest_makes_no_strangers),
		TEST(a_foreign_master_is_copied_too),
		cmocka_unit_test(our_own_master_is_never_called_foreign),
		TEST(a_foreign_master_is_asked_seldom),
		TEST(a_master_with_another_sa_key_is_a_foreign_one),
		TEST(a_master_that_does_not_answer),
		TEST(a_drawn_key_is_said_to_be_in_the_way),
	};

	return cmocka_run_group_tests_name("sm-replica", tests, NULL, NULL);
}
