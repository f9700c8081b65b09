// SPDX-License-Identifier: BSD-2-Clause
/*
 * A host that gives its own port a key of its own (security.md 9, row 1): switched off by policy if
 * the port itself refuses every key of the manager. Silent hosts, and hosts in whose name others
 * send traps, stay.
 */
#include "unit/trap-world.h"

#include "sm/trust/violations.h"
#include "sm/sm_internal.h"

#define OUR_M_KEY   0x5ec2e75ec2e7
#define THEIR_M_KEY 0xbad5ec2e7

static void words(char **option, const char *value)
{
	free(*option);
	*option = xstrdup(value);
}

static void harden(struct world *w, const char *policy, unsigned level)
{
	w->conf->m_key = OUR_M_KEY;
	w->conf->m_key_protection_level = (uint8_t)level;
	w->conf->m_key_lease_period = 60;
	words(&w->conf->security_violation_policy, policy);
	assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, NULL), 0);
	run_for(w, 150 * MONO_S); /* the keys have been given long ago */
	w->sm = rig_master(w->rig);
	assert_non_null(w->sm);
}

static uint64_t lockouts(struct world *w, const char *name)
{
	const struct node *n = known(w, name);
	const struct violation_counts *c = n ? violations_of(&n->ports[1]) : NULL;

	return c ? c->n[VIOLATION_LOCKOUT] : 0;
}

static bool is_switched_off(struct world *w, const char *leaf, unsigned num)
{
	uint8_t info[SMP_DATA_SIZE];

	assert_int_equal(sim_read(w->sim, node_of(w, leaf), IB_ATTR_PORT_INFO, num, info), 0);
	return ib_get(info, PI_PHYS_STATE) == IB_PHYS_DISABLED;
}

static void lock(struct world *w, const char *name, unsigned level)
{
	sim_set_m_key(w->sim, node_of(w, name), 1, THEIR_M_KEY, level, 0);
}

/* As h6 could send it: the last SMP from the manager that h5 refused, with the key if it knows. */
static void forge_trap(struct world *w, uint16_t attr, uint32_t mod)
{
	uint8_t notice[SMP_DATA_SIZE];

	notice_of(TRAP_BAD_MKEY, lid_of(w, "h5"), notice);
	ib_put(notice, N256_LID, lid_of(w, "h0"));
	ib_put(notice, N256_METHOD, MAD_GET);
	ib_put(notice, N256_ATTR, attr);
	ib_put(notice, N256_MOD, mod);
	ib_put(notice, N256_M_KEY, OUR_M_KEY);
	send_from_node(w, "h5", notice);
}

static void forge_traps(struct world *w, unsigned seconds)
{
	for (unsigned i = 0; i < seconds * 5; i++) {
		forge_trap(w, i % 2 ? IB_ATTR_NODE_DESC : IB_ATTR_PORT_INFO, i);
		run_for(w, 200 * MONO_MS);
	}
}

/* ---- switched off ---------------------------------------------------------------------------- */

static void a_host_that_locks_its_port_is_switched_off(void **state)
{
	struct world *w = *state;

	harden(w, "isolate", 2);
	listen_for(w, ": its host locked this manager out");
	lock(w, "h5", 2);
	run_for(w, 60 * MONO_S);
	assert_true(w->said);
	assert_true(is_switched_off(w, "leaf2", 2));
	assert_true(is_good(w));
	for (unsigned i = 1; i < N_HOSTS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", i);
		assert_true(i == 5 ||
			    sim_port_state(w->sim, node_of(w, name), 1) == IB_PORT_ACTIVE);
	}
}

/* More than are asked at a time. */
static void all_that_lock_their_ports_are_switched_off(void **state)
{
	struct world *w = *state;

	harden(w, "isolate", 2);
	for (unsigned i = 4; i < N_HOSTS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", i);
		lock(w, name, 2);
	}
	run_for(w, 180 * MONO_S);
	for (unsigned i = 4; i < N_HOSTS; i++) {
		char leaf[8];

		snprintf(leaf, sizeof(leaf), "leaf%u", 1 + i / 4);
		assert_true(is_switched_off(w, leaf, 1 + i % 4));
	}
	assert_true(is_good(w));
}

/* It answers, and hides its key. */
static void so_is_one_that_still_answers(void **state)
{
	struct world *w = *state;

	harden(w, "isolate", 1);
	listen_for(w, ": its host locked this manager out");
	lock(w, "h5", 1);
	sm_request_heavy(w->sm, NULL);
	run_for(w, 60 * MONO_S);
	assert_true(w->said);
	assert_true(is_switched_off(w, "leaf2", 2));
	assert_true(is_good(w));
}

/* ---- not switched off ------------------------------------------------------------------------ */

static void by_default_it_stays(void **state)
{
	struct world *w = *state;

	harden(w, "report", 2);
	listen_for(w, "that is us, its M_Key is not known here");
	lock(w, "h5", 2);
	run_for(w, 60 * MONO_S);
	assert_true(w->said);
	assert_false(is_switched_off(w, "leaf2", 2));
	assert_int_equal(lockouts(w, "h5"), 0);
}

static void a_listed_manager_stays(void **state)
{
	struct world *w = *state;
	char guids[64];

	snprintf(guids, sizeof(guids), "0x%016llx",
		 (unsigned long long)(sim_node_guid(w->sim, node_of(w, "h5")) + 1));
	words(&w->conf->allowed_sm_guids, guids);
	harden(w, "isolate", 2);
	listen_for(w, "it is not switched off: allowed_sm_guids lists it");
	lock(w, "h5", 2);
	run_for(w, 60 * MONO_S);
	assert_true(w->said);
	assert_false(is_switched_off(w, "leaf2", 2));
}

static void our_own_port_stays(void **state)
{
	struct world *w = *state;
	unsigned num;
	int leaf;

	harden(w, "isolate", 2);
	assert_true(sim_peer(w->sim, node_of(w, "h0"), 1, &leaf, &num));
	lock(w, "h0", 2);
	run_for(w, 60 * MONO_S);
	assert_false(is_switched_off(w, "leaf1", num));
}

static void a_silent_host_stays_whatever_is_said_of_it(void **state)
{
	struct world *w = *state;

	harden(w, "isolate", 2);
	sim_set_silent(w->sim, node_of(w, "h5"), SIM_SILENT, 0);
	forge_traps(w, 60);
	run_for(w, 60 * MONO_S);
	assert_false(is_switched_off(w, "leaf2", 2));
	assert_int_equal(violations_total(w->sm)->n[VIOLATION_LOCKOUT], 0);
}

/* No trap of it arrives: for the manager it is a silent host. */
static void a_locked_host_without_traps_stays(void **state)
{
	struct world *w = *state;

	harden(w, "isolate", 2);
	sim_set_trap_loss(w->sim, 100);
	lock(w, "h5", 2);
	run_for(w, 120 * MONO_S);
	assert_false(is_switched_off(w, "leaf2", 2));
	assert_int_equal(violations_total(w->sm)->n[VIOLATION_LOCKOUT], 0);
}

static uint64_t port_info_gets(struct world *w)
{
	const struct mad_count *rows;
	uint64_t asked = 0;
	unsigned n;

	rows = mad_counts(sm_mad(w->sm), &n);
	for (unsigned i = 0; i < n; i++) {
		if (rows[i].method == MAD_GET && rows[i].attr == IB_ATTR_PORT_INFO)
			asked += rows[i].sent;
	}
	return asked;
}

static void a_good_host_stays_and_is_not_asked_trap_by_trap(void **state)
{
	struct world *w = *state;
	uint64_t before;

	harden(w, "isolate", 2);
	before = port_info_gets(w);
	forge_traps(w, 60);
	assert_in_range(port_info_gets(w) - before, 1, 5);
	assert_false(is_switched_off(w, "leaf2", 2));
	assert_int_equal(violations_total(w->sm)->n[VIOLATION_LOCKOUT], 0);
}

/* A key of ours from before, as after a rotation that it missed. */
static void a_host_with_a_former_key_gets_the_new_one(void **state)
{
	struct world *w = *state;
	uint64_t former;

	w->conf->m_key_per_port = true;
	harden(w, "isolate", 2);
	former = known(w, "h5")->ports[1].m_key;
	assert_int_equal(sm_rotate_keys(w->sm), 0);
	run_for(w, 180 * MONO_S);
	assert_int_not_equal(known(w, "h5")->ports[1].m_key, former);
	sim_set_m_key(w->sim, node_of(w, "h5"), 1, former, 2, 0);
	run_for(w, 180 * MONO_S);
	assert_false(is_switched_off(w, "leaf2", 2));
	assert_int_equal(violations_total(w->sm)->n[VIOLATION_LOCKOUT], 0);
	assert_int_not_equal(known(w, "h5")->ports[1].m_key, former);
}

/* Its key is the one of another subnet, and never was one of ours. */
static void a_host_that_came_with_a_foreign_key_stays(void **state)
{
	struct world *w = *state;

	lock(w, "h5", 1);
	harden(w, "isolate", 1);
	sm_request_heavy(w->sm, NULL);
	run_for(w, 60 * MONO_S);
	assert_false(is_switched_off(w, "leaf2", 2));
	assert_int_equal(violations_total(w->sm)->n[VIOLATION_LOCKOUT], 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_host_that_locks_its_port_is_switched_off),
		TEST(all_that_lock_their_ports_are_switched_off),
		TEST(so_is_one_that_still_answers),
		TEST(by_default_it_stays),
		TEST(a_listed_manager_stays),
		TEST(our_own_port_stays),
		TEST(a_silent_host_stays_whatever_is_said_of_it),
		TEST(a_locked_host_without_traps_stays),
		TEST(a_good_host_stays_and_is_not_asked_trap_by_trap),
		TEST(a_host_with_a_former_key_gets_the_new_one),
		TEST(a_host_that_came_with_a_foreign_key_stays),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
