// SPDX-License-Identifier: BSD-2-Clause
/*
 * What other subnet managers, or senders in their name, may tell us: which Sets of SMInfo
 * are legal, which are obeyed, and what a HANDOVER leads to.
 */
#include "tests/unit/elect-desk.h"

/* ---- what is legal ---- */

static struct world *world_in(enum sm_state state)
{
	switch (state) {
	case SM_NOT_ACTIVE:
		return as_not_active();
	case SM_DISCOVERING:
		return as_discovering();
	case SM_STANDBY:
		return as_standby();
	case SM_MASTER:
		return as_master();
	}
	return NULL;
}

/* The table of handover.md 2, word by word. */
static bool is_legal(enum sm_state own, unsigned mod, enum sm_state sender)
{
	switch (mod) {
	case SMI_HANDOVER:
		return sender == SM_MASTER && own != SM_NOT_ACTIVE;
	case SMI_ACKNOWLEDGE:
		return sender == SM_STANDBY && own == SM_STANDBY;
	case SMI_DISABLE:
	case SMI_DISCOVER:
		return sender == SM_MASTER && own == SM_STANDBY;
	case SMI_STANDBY:
		return sender == SM_MASTER && own == SM_NOT_ACTIVE;
	default:
		return false;
	}
}

static void sets_are_judged_by_the_table_and_answered_with_the_old_state(void **state)
{
	for (enum sm_state own = SM_NOT_ACTIVE; own <= SM_MASTER; own++) {
		for (unsigned i = 0; i < 7 * 4; i++) {
			unsigned mod = i / 4, sender = i % 4;
			struct world *w = world_in(own);
			struct puppet *p = w->n ? &w->puppets[0] : puppet(w, "h1", 1, SM_STANDBY);

			p->state = (uint8_t)sender;
			send_set(w, p, mod, &to_h0);
			for (unsigned ms = 0; ms < 300 && p->status == NOT_SENT; ms++)
				run(w, MONO_MS);
			if (p->status != (is_legal(own, mod, sender) ? 0 : ILLEGAL) ||
			    p->seen != own)
				fail_msg("%s, modifier %u, sender %s: status 0x%x, state %u",
					 sm_state_name(own), mod, sm_state_name(sender), p->status,
					 p->seen);
			world_free(w);
		}
	}
}

static void a_wrong_key_is_refused_and_reported_with_its_place(void **state)
{
	struct world *w = as_standby();
	struct puppet *p = &w->puppets[0];

	p->key = 0x77;
	forget_said();
	send_set(w, p, SMI_DISABLE, NULL);
	run(w, 50 * MONO_MS);
	assert_int_equal(p->status, ILLEGAL);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	assert_int_equal(count_said("refused: it has another SM_Key", "'leaf1' port 2"), 1);
	assert_int_equal(count_said("0x77", "") + count_said("SM_Key 0x", ""), 0);
	world_free(w);
}

static void nobody_but_the_master_takes_a_standby_out_of_duty(void **state)
{
	static const unsigned mods[] = { SMI_DISABLE, SMI_DISCOVER, SMI_HANDOVER };
	struct world *w = as_standby();
	struct puppet *liar = puppet(w, "h2", 15, SM_MASTER);

	for (size_t i = 0; i < ARRAY_SIZE(mods); i++) {
		liar->status = 0;
		send_set(w, liar, mods[i], NULL);
		run(w, 5 * MONO_MS);
		assert_int_equal(liar->status, ILLEGAL);
		assert_int_not_equal(sm_state(w->sm), SM_NOT_ACTIVE);
		assert_int_not_equal(sm_state(w->sm), SM_MASTER);
	}
	world_free(w);
}

/* The name of the master, and the LID of another port. */
static void a_name_must_fit_the_lid_it_comes_from(void **state)
{
	struct world *w = as_standby();
	struct puppet *liar = puppet(w, "h2", 15, SM_MASTER), forged = *liar;
	struct transport name = { .port_guid = w->puppets[0].tr->port_guid };
	struct smp_head head = {
		.method = MAD_SET, .attr = IB_ATTR_SM_INFO, .mod = SMI_DISABLE, .tid = 77
	};
	struct transport_addr to = { 0 };
	uint8_t mad[MAD_SIZE], info[SMP_DATA_SIZE];

	forged.tr = &name;
	fill(&forged, info);
	smp_build_lid(mad, &head, info);
	to.lid = sim_port_lid(w->rig->sim, sim_find(w->rig->sim, "h0"), 1);
	transport_send(liar->tr, &to, mad, MAD_SIZE, 500);
	run(w, 50 * MONO_MS);
	assert_int_equal(liar->status, ILLEGAL);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	assert_int_equal(count_said("its LID is not that of the port", "'leaf1' port 3"), 1);
	world_free(w);
}

static void our_own_guid_is_nobody(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", 15, SM_MASTER);
	struct transport *real = p->tr, name = { .port_guid = w->rig->sms[0].tr->port_guid };
	struct smp_head head = {
		.method = MAD_SET, .attr = IB_ATTR_SM_INFO, .mod = SMI_HANDOVER, .tid = 77
	};
	struct transport_addr to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE], info[SMP_DATA_SIZE];

	p->tr = &name;
	fill(p, info);
	p->tr = real;
	smp_build_dr(mad, &head, &to_h0, info);
	transport_send(p->tr, &to, mad, MAD_SIZE, 500);
	p->mute = false;
	run(w, 2 * MONO_MS);
	assert_int_equal(p->status, ILLEGAL);
	world_free(w);
}

static void a_flood_of_sets_is_answered_busy(void **state)
{
	struct world *w = as_standby();
	unsigned busy = 0;

	for (unsigned i = 0; i < 100; i++) {
		w->puppets[0].state = SM_STANDBY;
		send_set(w, &w->puppets[0], SMI_ACKNOWLEDGE, NULL);
		run(w, 200);
		busy += w->puppets[0].status == MAD_STATUS_BUSY;
	}
	assert_in_range(busy, 80, 95);
	world_free(w);
}

/* ---- what is obeyed ---- */

static void disable_and_standby_by_the_master(void **state)
{
	struct world *w = as_not_active();
	struct puppet *p = &w->puppets[0];
	unsigned asked = p->asked;

	run(w, 60 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_NOT_ACTIVE);
	assert_int_equal(p->asked, asked);
	send_set(w, p, SMI_STANDBY, NULL);
	run(w, 10 * MONO_S);
	assert_int_equal(p->status, 0);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	assert_true(p->asked > asked);
	p->mute = true;
	assert_true(becomes(w, SM_MASTER, 10 * MONO_S));
	world_free(w);
}

static void who_says_standby_must_be_a_master(void **state)
{
	struct world *w = as_not_active();
	struct puppet *liar = puppet(w, "h2", 15, SM_MASTER);

	send_set(w, liar, SMI_STANDBY, NULL);
	liar->mute = true;
	run(w, 5 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_NOT_ACTIVE);
	world_free(w);
}

/* sm_inactive: no picture of the fabric, no route but the LID in our own port. */
static void an_inactive_one_is_woken_by_the_master(void **state)
{
	struct world *w = world_new();
	struct conf *lazy = conf_copy(w->conf);
	struct puppet *p;
	int sm;

	w->conf->sm_priority = 9;
	lazy->sm_inactive = true;
	rig_start(w->rig, "h3", 0, w->conf, NULL);
	run(w, 15 * MONO_S);
	sm = rig_start(w->rig, "h0", 0, lazy, NULL);
	w->sm = w->rig->sms[sm].sm;
	run(w, 5 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_NOT_ACTIVE);
	/* The master itself sends no such Set: another program at its port does. */
	rig_kill(w->rig, 0);
	p = puppet(w, "h3", 9, SM_MASTER);
	send_set(w, p, SMI_STANDBY, NULL);
	run(w, 10 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	assert_true(p->asked > 5);
	conf_unref(lazy);
	world_free(w);
}

static void discover_by_the_master_looks_round_and_stands_by(void **state)
{
	struct world *w = as_standby();
	uint64_t asked = sim_gets(w->rig->sim);

	send_set(w, &w->puppets[0], SMI_DISCOVER, NULL);
	run(w, 2 * MONO_S);
	assert_int_equal(w->puppets[0].status, 0);
	assert_true(sim_gets(w->rig->sim) > asked + 20);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	world_free(w);
}

/* ---- HANDOVER to us ---- */

static void a_handover_is_taken_when_its_sender_has_stepped_down(void **state)
{
	struct world *w = as_standby();
	struct puppet *p = &w->puppets[0];

	send_set(w, p, SMI_HANDOVER, &to_h0);
	p->state = SM_NOT_ACTIVE;
	assert_true(becomes(w, SM_MASTER, MONO_S));
	world_free(w);
}

static void a_sender_that_is_slow_to_step_down_is_believed(void **state)
{
	struct world *w = as_standby();
	struct puppet *p = &w->puppets[0];

	send_set(w, p, SMI_HANDOVER, &to_h0);
	p->steps_down = sim_now(w->rig->sim) + 100 * MONO_MS;
	assert_true(becomes(w, SM_MASTER, MONO_S));
	world_free(w);
}

static void a_sender_that_dies_is_believed(void **state)
{
	struct world *w = as_standby();

	send_set(w, &w->puppets[0], SMI_HANDOVER, &to_h0);
	run(w, 200);
	w->puppets[0].mute = true;
	assert_true(becomes(w, SM_MASTER, MONO_S));
	world_free(w);
}

static void a_handover_in_the_name_of_a_master_that_stays_is_not_obeyed(void **state)
{
	struct world *w = as_standby();

	for (unsigned i = 0; i < 20; i++) {
		send_set(w, &w->puppets[0], SMI_HANDOVER, &to_h0);
		run(w, 300 * MONO_MS);
		assert_int_equal(sm_state(w->sm), SM_STANDBY);
	}
	assert_true(count_said("which is MASTER still", "nothing is taken over"));
	world_free(w);
}

static void a_lower_master_hands_over_and_that_is_that(void **state)
{
	struct world *w = as_standby();
	struct puppet *p = &w->puppets[0];

	p->priority = 1;
	run(w, 3 * POLL_EVERY);
	assert_true(p->traps > 0);
	send_set(w, p, SMI_HANDOVER, &to_h0);
	run(w, 2 * MONO_MS);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	world_free(w);
}

static void a_handover_while_discovering_ends_as_master(void **state)
{
	struct world *w = as_discovering();
	struct puppet *p = &w->puppets[0];

	p->state = SM_MASTER;
	p->priority = 1;
	run(w, 300 * MONO_MS);
	send_set(w, p, SMI_HANDOVER, &to_h0);
	p->state = SM_STANDBY;
	sim_set_sma_time(w->rig->sim, 5);
	assert_true(becomes(w, SM_MASTER, 3 * MONO_S));
	run(w, 5 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	world_free(w);
}

/* Forged: the master it names is there, greater, and stays MASTER. */
static void a_forged_handover_while_discovering_makes_no_second_master(void **state)
{
	struct world *w = as_discovering();
	struct puppet *p = &w->puppets[0];

	p->state = SM_MASTER;
	for (unsigned i = 0; i < 10; i++) {
		send_set(w, p, SMI_HANDOVER, &to_h0);
		run(w, 100 * MONO_MS);
		assert_int_not_equal(sm_state(w->sm), SM_MASTER);
	}
	sim_set_sma_time(w->rig->sim, 5);
	run(w, 10 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	assert_int_equal(sim_sets(w->rig->sim), 10); /* the forged ones */
	world_free(w);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sets_are_judged_by_the_table_and_answered_with_the_old_state),
		TEST(a_wrong_key_is_refused_and_reported_with_its_place),
		TEST(nobody_but_the_master_takes_a_standby_out_of_duty),
		TEST(a_name_must_fit_the_lid_it_comes_from),
		TEST(our_own_guid_is_nobody),
		TEST(a_flood_of_sets_is_answered_busy),
		TEST(disable_and_standby_by_the_master),
		TEST(who_says_standby_must_be_a_master),
		TEST(an_inactive_one_is_woken_by_the_master),
		TEST(discover_by_the_master_looks_round_and_stands_by),
		TEST(a_handover_is_taken_when_its_sender_has_stepped_down),
		TEST(a_sender_that_is_slow_to_step_down_is_believed),
		TEST(a_sender_that_dies_is_believed),
		TEST(a_handover_in_the_name_of_a_master_that_stays_is_not_obeyed),
		TEST(a_lower_master_hands_over_and_that_is_that),
		TEST(a_handover_while_discovering_ends_as_master),
		TEST(a_forged_handover_while_discovering_makes_no_second_master),
	};

	log_set_sink(on_log, NULL);
	return cmocka_run_group_tests_name("sm-elect", tests, NULL, NULL);
}
