// SPDX-License-Identifier: BSD-2-Clause
/*
 * Subnet managers that are not to be obeyed, and commands in the name of one that is: nothing is
 * handed to them, we never stand by for them, and their place is in the log, once.
 */
#include "tests/unit/elect-desk.h"

#define SECRET 0x5ec2e75ec2e7

/* h1 is the rogue, h4 is listed. */
static struct world *guarded(const char *policy, bool listed)
{
	struct world *w = world_new();
	char guids[40];

	if (listed) {
		snprintf(guids, sizeof(guids), "0x%llx, 0x%llx",
			 (unsigned long long)sim_node_guid(w->rig->sim,
							   sim_find(w->rig->sim, "h0")) +
				 1,
			 (unsigned long long)sim_node_guid(w->rig->sim,
							   sim_find(w->rig->sim, "h4")) +
				 1);
		w->conf->allowed_sm_guids = xstrdup(guids);
	} else {
		w->conf->sm_key = SECRET;
	}
	free(w->conf->security_violation_policy);
	w->conf->security_violation_policy = xstrdup(policy);
	start(w);
	run(w, 15 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	return w;
}

static unsigned rogue_link(struct world *w)
{
	uint8_t info[SMP_DATA_SIZE];

	assert_int_equal(
		sim_read(w->rig->sim, sim_find(w->rig->sim, "leaf1"), IB_ATTR_PORT_INFO, 2, info),
		0);
	return (unsigned)ib_get(info, PI_PHYS_STATE);
}

/* Every command in every state that it may claim, by LID and along a directed route. */
static void try_commands(struct world *w, struct puppet *p, enum sm_state ours)
{
	for (unsigned mod = 0; mod <= SMI_DISCOVER; mod++) {
		for (unsigned state = 0; state < 8; state++) {
			p->state = (uint8_t)(state % 4);
			send_set(w, p, mod, state < 4 ? NULL : &to_h0);
			run(w, 300 * MONO_MS);
			assert_int_equal(sm_state(w->sm), ours);
			assert_true(p->status != 0);
		}
	}
}

static void a_rogue_with_any_key_and_any_command_gets_nothing(void **state)
{
	static const uint64_t keys[] = { 0, 1, 0x123456789abcdef };

	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++) {
		struct world *w = guarded("report", false);
		struct puppet *p = puppet(w, "h1", 15, SM_MASTER);

		p->key = keys[i];
		p->takes = true;
		run(w, 60 * MONO_S);
		assert_int_equal(sm_state(w->sm), SM_MASTER);
		assert_int_equal(elect_polled(w->sm), 0);
		try_commands(w, p, SM_MASTER);
		rig_stop(w->rig, 0);
		assert_int_equal(p->handed, 0);
		world_free(w);
	}
}

/* It has heard our SM_Key; its GUID is not listed. */
static void our_key_from_a_guid_that_is_not_listed_is_worth_nothing(void **state)
{
	struct world *w = guarded("report", true);
	struct puppet *p = puppet(w, "h1", 15, SM_MASTER);

	p->takes = true;
	run(w, 60 * MONO_S);
	assert_int_equal(count_said("is not in allowed_sm_guids", "behind 'leaf1' port 2"), 1);
	assert_int_equal(elect_polled(w->sm), 0);
	try_commands(w, p, SM_MASTER);
	assert_int_equal(p->handed, 0);
	world_free(w);
}

/* As STANDBY of a true master. */
static void a_rogue_wakes_no_standby(void **state)
{
	struct world *w = as_standby();
	struct puppet *rogue = puppet(w, "h2", 15, SM_MASTER);

	rogue->key = 0x77;
	run(w, 20 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	assert_int_equal(elect_polled(w->sm), w->puppets[0].tr->port_guid);
	for (unsigned mod = 0; mod <= SMI_DISCOVER; mod++) {
		send_set(w, rogue, mod, NULL);
		run(w, 300 * MONO_MS);
		assert_int_equal(sm_state(w->sm), SM_STANDBY);
		assert_true(rogue->status != 0);
	}
	world_free(w);
}

/* What it says of itself is its own affair: it is named once, not once per priority. */
static void a_rogue_that_changes_its_mind_is_one_line(void **state)
{
	struct world *w = guarded("report", false);
	struct puppet *p = puppet(w, "h1", 15, SM_MASTER);

	p->key = 0x77;
	for (unsigned i = 0; i < 40; i++) {
		p->priority = (uint8_t)(i % 16);
		p->state = (uint8_t)(i % 4);
		sm_request_heavy(w->sm, NULL);
		run(w, 3 * MONO_S);
	}
	assert_int_equal(count_said("has another SM_Key", "behind 'leaf1' port 2"), 1);
	assert_true(p->asked > 20);
	assert_int_equal(rogue_link(w), IB_PHYS_LINK_UP);
	world_free(w);
}

/* With M_Keys a question may have had a wrong one: no SM_Key is shown to that. */
static void a_manager_that_hides_its_key_once_is_no_rogue(void **state)
{
	struct world *w = world_new();
	struct puppet *p;

	w->conf->sm_key = SECRET;
	w->conf->m_key = 0x1122;
	w->conf->m_key_protection_level = 1;
	start(w);
	run(w, 15 * MONO_S);
	p = puppet(w, "h1", 1, SM_STANDBY);
	p->key = SECRET;
	run(w, 30 * MONO_S);
	assert_int_equal(count_said("another subnet manager is here, of priority 1",
				    "behind 'leaf1' port 2"),
			 1);
	p->key = 0;
	sm_request_heavy(w->sm, NULL);
	for (unsigned i = 0, asked = p->asked; p->asked == asked && i < 1000; i++)
		run(w, 10 * MONO_MS);
	p->key = SECRET;
	run(w, 30 * MONO_S);
	assert_int_equal(count_said("has another SM_Key", "behind 'leaf1' port 2"), 0);
	p->key = 0;
	for (unsigned i = 0; i < 20; i++) {
		sm_request_heavy(w->sm, NULL);
		run(w, 3 * MONO_S);
	}
	assert_int_equal(count_said("has another SM_Key", "behind 'leaf1' port 2"), 1);
	world_free(w);
}

static void a_rogue_is_switched_off_by_policy(void **state)
{
	for (unsigned listed = 0; listed < 2; listed++) {
		struct world *w = guarded("isolate", listed);
		struct puppet *p = puppet(w, "h1", 15, SM_MASTER);

		p->key = OUR_KEY;
		run(w, 60 * MONO_S);
		assert_int_equal(rogue_link(w), IB_PHYS_DISABLED);
		assert_int_equal(
			count_said("switched off at 'leaf1' port 2", "security_violation_policy"),
			1);
		assert_int_equal(sm_state(w->sm), SM_MASTER);
		world_free(w);
	}
}

/* A manager that is listed and has a wrong key is a slip of its administrator. */
static void a_listed_manager_with_a_wrong_key_stays(void **state)
{
	struct world *w = guarded("isolate", true);
	struct puppet *p = puppet(w, "h4", 15, SM_MASTER);
	int h4 = sim_find(w->rig->sim, "h4");

	p->key = 0x77;
	run(w, 60 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	assert_int_equal(sim_port_state(w->rig->sim, h4, 1), IB_PORT_ACTIVE);
	world_free(w);
}

static void a_true_manager_is_never_switched_off(void **state)
{
	struct world *w = guarded("isolate", true);
	int h4 = sim_find(w->rig->sim, "h4");

	puppet(w, "h4", 1, SM_STANDBY);
	run(w, 60 * MONO_S);
	assert_int_equal(sim_port_state(w->rig->sim, h4, 1), IB_PORT_ACTIVE);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	world_free(w);
}

/* ---- M_Key of requests to us ---- */

/* Get or Set of SMInfo from h1 with this M_Key. 0: silence; 1: answered; 2: with our SM_Key. */
static unsigned ask_us(struct world *w, struct transport *tr, unsigned method, uint64_t key)
{
	const struct smp_head head = { .method = method,
				       .attr = IB_ATTR_SM_INFO,
				       .mod = method == MAD_SET ? SMI_HANDOVER : 0,
				       .m_key = key,
				       .tid = 0x4711 };
	struct transport_addr to = { .lid = sim_port_lid(w->rig->sim, sim_find(w->rig->sim, "h0"),
							 1) };
	uint8_t mad[MAD_SIZE], info[SMP_DATA_SIZE] = { 0 };
	struct transport_event ev;
	unsigned answers = 0;

	ib_put(info, SMI_SM_KEY, SECRET);
	smp_build_lid(mad, &head, info);
	assert_int_equal(transport_send(tr, &to, mad, MAD_SIZE, 200), 0);
	run(w, 300 * MONO_MS);
	while (transport_receive(tr, &ev) > 0) {
		if (ev.kind != TRANSPORT_MAD || ib_get(ev.mad, SMP_METHOD) != MAD_GET_RESP)
			continue;
		answers = ib_get(smp_data(ev.mad), SMI_SM_KEY) == SECRET ? 2 : 1;
	}
	return answers;
}

/* The table of 14.2.4, with a key that is shown. */
static void requests_with_a_wrong_m_key_meet_silence(void **state)
{
	static const struct {
		unsigned get, set;
	} wrong[] = { { 2, 0 }, { 1, 0 }, { 0, 0 }, { 0, 0 } };

	for (unsigned level = 0; level < ARRAY_SIZE(wrong); level++) {
		struct world *w = world_new();
		struct transport *tr;

		w->conf->sm_key = SECRET;
		w->conf->sm_key_shown = true;
		w->conf->m_key = 0xabc;
		w->conf->m_key_protection_level = (uint8_t)level;
		start(w);
		run(w, 15 * MONO_S);
		tr = sim_attach(w->rig->sim, "h1", 0);
		assert_int_equal(ask_us(w, tr, MAD_GET, 0xabc), 2);
		assert_int_equal(ask_us(w, tr, MAD_SET, 0xabc), 2);
		assert_int_equal(ask_us(w, tr, MAD_GET, 0xabd), wrong[level].get);
		assert_int_equal(ask_us(w, tr, MAD_SET, 0xabd), wrong[level].set);
		assert_int_equal(ask_us(w, tr, MAD_SET, 0), wrong[level].set);
		assert_int_equal(sm_state(w->sm), SM_MASTER);
		transport_close(tr);
		world_free(w);
	}
}

/* Then m_key is a seed: the key is that of our own port. */
static void the_key_of_our_port_counts_where_each_has_its_own(void **state)
{
	struct world *w = world_new();
	uint8_t info[SMP_DATA_SIZE];
	struct transport *tr;
	uint64_t key;

	w->conf->sm_key = SECRET;
	w->conf->sm_key_shown = true;
	w->conf->m_key = 0xabc;
	w->conf->m_key_per_port = true;
	w->conf->m_key_protection_level = 2;
	start(w);
	run(w, 15 * MONO_S);
	assert_int_equal(
		sim_read(w->rig->sim, sim_find(w->rig->sim, "h0"), IB_ATTR_PORT_INFO, 1, info), 0);
	key = ib_get(info, PI_M_KEY);
	assert_true(key != 0 && key != 0xabc);
	tr = sim_attach(w->rig->sim, "h1", 0);
	assert_int_equal(ask_us(w, tr, MAD_GET, key), 2);
	assert_int_equal(ask_us(w, tr, MAD_SET, key), 2);
	assert_int_equal(ask_us(w, tr, MAD_GET, 0xabc), 0);
	assert_int_equal(ask_us(w, tr, MAD_SET, 0xabc), 0);
	assert_int_equal(ask_us(w, tr, MAD_SET, 0), 0);
	transport_close(tr);
	world_free(w);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rogue_with_any_key_and_any_command_gets_nothing),
		cmocka_unit_test(our_key_from_a_guid_that_is_not_listed_is_worth_nothing),
		cmocka_unit_test(a_rogue_wakes_no_standby),
		cmocka_unit_test(a_manager_that_hides_its_key_once_is_no_rogue),
		cmocka_unit_test(a_rogue_that_changes_its_mind_is_one_line),
		cmocka_unit_test(a_rogue_is_switched_off_by_policy),
		cmocka_unit_test(a_listed_manager_with_a_wrong_key_stays),
		cmocka_unit_test(a_true_manager_is_never_switched_off),
		cmocka_unit_test(requests_with_a_wrong_m_key_meet_silence),
		cmocka_unit_test(the_key_of_our_port_counts_where_each_has_its_own),
	};

	log_set_sink(on_log, NULL);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
