// SPDX-License-Identifier: BSD-2-Clause
/*
 * A host that breaks rules, with raw MADs: it is named once and counted, switched off if that is
 * the policy and a counter agrees, and nothing else changes.
 */
#include "fabric/fabric_internal.h"
#include "unit/trap-world.h"

#include "sm/trust/violations.h"
#include "sm/sm_internal.h"

#define OUR_M_KEY 0x5ec2e75ec2e7

static void words(char **option, const char *value)
{
	free(*option);
	*option = xstrdup(value);
}

/* Keys as in a hardened subnet. */
static void harden(struct world *w, const char *policy)
{
	w->conf->m_key = OUR_M_KEY;
	w->conf->m_key_protection_level = 2;
	w->conf->security_violation_threshold = 10;
	words(&w->conf->security_violation_policy, policy);
}

static struct port *port_of(struct world *w, const char *name, unsigned num)
{
	return &((struct node *)known(w, name))->ports[num];
}

static uint64_t counted(struct world *w, const char *name, enum violation_kind kind)
{
	const struct violation_counts *c = violations_of(port_of(w, name, 1));

	return c ? c->n[kind] : 0;
}

static unsigned phys_state(struct world *w, const char *name, unsigned num)
{
	uint8_t info[SMP_DATA_SIZE];

	assert_int_equal(sim_read(w->sim, node_of(w, name), IB_ATTR_PORT_INFO, num, info), 0);
	return (unsigned)ib_get(info, PI_PHYS_STATE);
}

static bool is_on(struct world *w, const char *name)
{
	return sim_port_state(w->sim, node_of(w, name), 1) == IB_PORT_ACTIVE;
}

/* Set(PortInfo) with a wrong key from h5 to its switch, along a directed route. */
static void try_key(struct world *w, uint64_t key)
{
	const struct smp_head head = { .method = MAD_SET,
				       .attr = IB_ATTR_PORT_INFO,
				       .mod = 1,
				       .m_key = key,
				       .tid = ++w->tid };
	const struct transport_addr to = { .lid = LID_PERMISSIVE };
	const struct dr_path path = { .length = 1, .hop = { 0, 1 } };
	uint8_t mad[MAD_SIZE], info[SMP_DATA_SIZE] = { 0 };

	smp_build_dr(mad, &head, &path, info);
	assert_int_equal(transport_send(host(w, 5), &to, mad, sizeof(mad), PATIENCE), 0);
}

static void try_keys(struct world *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		try_key(w, 0xbad0000 + i);
		run_for(w, 100 * MONO_MS);
	}
}

/* ---- named, counted ------------------------------------------------------------------------- */

static void a_flood_of_wrong_keys_is_one_line_and_a_count(void **state)
{
	struct world *w = *state;
	uint64_t before;
	unsigned isolated;

	harden(w, "report");
	start(w);
	before = sim_fingerprint(w->sim);
	listen_for(w, "with another M_Key from 'h5' port 1");
	try_keys(w, 300);
	run_for(w, 30 * MONO_S);
	assert_true(w->said);
	assert_in_range(w->lines, 1, 4); /* that, and that it is a storm */
	assert_in_range(counted(w, "h5", VIOLATION_M_KEY), 100, 300);
	assert_int_equal(violations_total(w->sm)->n[VIOLATION_M_KEY],
			 counted(w, "h5", VIOLATION_M_KEY));
	assert_int_equal(violations_ports(w->sm, &isolated), 1);
	assert_int_equal(isolated, 0);
	assert_int_equal(sim_fingerprint(w->sim), before);
	assert_true(is_good(w));
}

static void the_same_is_said_again_after_a_quiet_hour(void **state)
{
	struct world *w = *state;

	harden(w, "report");
	start(w);
	try_keys(w, 2);
	listen_for(w, "from 'h5' port 1");
	run_for(w, 1800 * MONO_S);
	try_keys(w, 2);
	assert_false(w->said);
	run_for(w, 3700 * MONO_S);
	try_keys(w, 2);
	assert_true(w->said);
}

static void mkey_notice(struct world *w, const char *to, const uint8_t *path, unsigned hops,
			uint8_t notice[SMP_DATA_SIZE])
{
	notice_of(TRAP_BAD_MKEY, lid_of(w, to), notice);
	ib_put(notice, N256_LID, LID_PERMISSIVE);
	ib_put(notice, N256_METHOD, MAD_SET);
	ib_put(notice, N256_ATTR, IB_ATTR_PORT_INFO);
	ib_put(notice, N256_M_KEY, ++w->tid);
	ib_put(notice, N256_DIRECTED, 1);
	ib_put(notice, N256_HOPS, hops);
	memcpy(notice + SMP_DATA_SIZE - 30, path, hops);
}

/* Its sender wrote as far as the first switch: what it invented ends at the host itself. */
static void an_invented_way_back_ends_at_the_host_that_invented_it(void **state)
{
	struct world *w = *state;
	const uint8_t path[] = { 1, 3, 1, 2 }; /* leaf2 got it by port 2, from h5 */
	uint8_t notice[SMP_DATA_SIZE];

	start(w);
	mkey_notice(w, "leaf2", path, sizeof(path), notice);
	send_from_node(w, "leaf2", notice);
	assert_int_equal(counted(w, "h5", VIOLATION_M_KEY), 1);
	assert_int_equal(violations_total(w->sm)->n[VIOLATION_M_KEY], 1);
}

static void a_way_back_that_leads_nowhere_accuses_no_port(void **state)
{
	struct world *w = *state;
	const uint8_t path[] = { 200, 0, 255 };
	uint8_t notice[SMP_DATA_SIZE];
	unsigned isolated;

	start(w);
	for (unsigned hops = 1; hops <= sizeof(path); hops++) {
		mkey_notice(w, "leaf2", path, hops, notice);
		send_from_node(w, "leaf2", notice);
	}
	mkey_notice(w, "leaf2", path, 3, notice);
	ib_put(notice, N256_HOPS, 63);
	send_from_node(w, "leaf2", notice);
	assert_int_equal(violations_ports(w->sm, &isolated), 0);
	assert_true(is_good(w));
}

static void pkey_notice(struct world *w, const char *leaf, unsigned port, const char *liar,
			uint8_t notice[SMP_DATA_SIZE])
{
	notice_of(TRAP_SWITCH_BAD_PKEY, lid_of(w, leaf), notice);
	ib_put(notice, N259_LID1, lid_of(w, liar));
	ib_put(notice, N259_P_KEY, 0x8124);
	ib_put(notice, N259_QP1, ++w->tid & 0xFFFF);
	ib_put(notice, N259_PORT, port);
	ib_put(notice, N259_SWITCH_LID, lid_of(w, leaf));
}

/* The source LID of a packet is what its sender wrote: the switch port that stopped it counts. */
static void the_port_that_stopped_a_packet_names_its_sender(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];

	start(w);
	pkey_notice(w, "leaf2", 2, "h9", notice);
	send_from_node(w, "leaf2", notice);
	assert_int_equal(counted(w, "h5", VIOLATION_P_KEY), 1);
	assert_int_equal(counted(w, "h9", VIOLATION_P_KEY), 0);
}

/* 257: the packet came to the sender of the trap; 259: the switch that sends it stopped it. */
static void traps_about_keys_of_others_are_refused_and_held_against_their_sender(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];
	uint32_t light;

	w->conf->sweep_interval = 0;
	start(w);
	light = sm_stats(w->sm)->light_sweeps;
	notice_of(TRAP_BAD_PKEY, lid_of(w, "h5"), notice);
	ib_put(notice, N257_LID1, lid_of(w, "h6"));
	ib_put(notice, N257_LID2, lid_of(w, "h7"));
	listen_for(w, "is about another port");
	send_from_host(w, 5, notice);
	assert_true(w->said);
	assert_int_equal(w->lines, 1);
	pkey_notice(w, "leaf2", 2, "h9", notice);
	ib_put(notice, N259_SWITCH_LID, lid_of(w, "leaf1"));
	send_from_node(w, "leaf2", notice);
	pkey_notice(w, "leaf2", 77, "h9", notice);
	send_from_node(w, "leaf2", notice);
	notice_of(TRAP_SWITCH_BAD_PKEY, lid_of(w, "h5"), notice);
	ib_put(notice, N259_LID1, lid_of(w, "h6"));
	send_from_host(w, 5, notice);
	run_for(w, 10 * MONO_S);
	assert_int_equal(sm_trap_stats(w->sm)->forged, 4);
	assert_int_equal(violations_total(w->sm)->n[VIOLATION_P_KEY], 0);
	assert_int_equal(counted(w, "h5", VIOLATION_TRAP), 2);
	assert_int_equal(counted(w, "h6", VIOLATION_P_KEY), 0);
	assert_int_equal(sm_stats(w->sm)->light_sweeps, light);
}

/* It may invent them all: a few are told, then it is named, and the others are only counted. */
static void a_host_that_accuses_many_is_named_itself(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];

	w->conf->sweep_interval = 0;
	start(w);
	listen_for(w, "'h5' port 1");
	notice_of(TRAP_BAD_QKEY, lid_of(w, "h5"), notice);
	for (unsigned i = 1; i < N_HOSTS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", i);
		ib_put(notice, N257_LID1, lid_of(w, name));
		ib_put(notice, N257_LID2, lid_of(w, "h5"));
		run_for(w, 20 * MONO_S);
		send_from_host(w, 5, notice);
		if (i == 9)
			assert_int_equal(w->lines, 8 + 1);
		assert_int_equal(counted(w, name, VIOLATION_Q_KEY), 1);
	}
	assert_int_equal(w->lines, 8 + 1);
	assert_true(w->said);
	listen_for(w, "from 'h6' port 1"); /* a switch is still believed */
	pkey_notice(w, "leaf2", 3, "h6", notice);
	send_from_node(w, "leaf2", notice);
	assert_true(w->said);
}

/* As after its owner has set another key. */
static void a_port_that_refuses_our_key_is_said_once_an_hour(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];

	w->conf->sweep_interval = 0;
	start(w);
	notice_of(TRAP_BAD_MKEY, lid_of(w, "h5"), notice);
	ib_put(notice, N256_LID, lid_of(w, "h0"));
	ib_put(notice, N256_METHOD, MAD_GET);
	for (unsigned hour = 0; hour < 2; hour++) {
		listen_for(w, "that is us, its M_Key is not known here");
		for (unsigned i = 0; i < 10; i++) {
			ib_put(notice, N256_MOD, hour * 100 + i);
			send_from_host(w, 5, notice);
			run_for(w, 10 * MONO_S);
		}
		assert_true(w->said);
		assert_int_equal(w->lines, 1);
		run_for(w, 3600 * MONO_S);
	}
}

static void a_packet_to_a_group_has_no_receiver_in_its_notice(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];

	start(w);
	notice_of(TRAP_BAD_PKEY, lid_of(w, "h5"), notice);
	ib_put(notice, N257_LID1, lid_of(w, "h6"));
	ib_put(notice, N257_LID2, 0xC123);
	send_from_host(w, 5, notice);
	assert_int_equal(sm_trap_stats(w->sm)->forged, 0);
	assert_int_equal(counted(w, "h6", VIOLATION_P_KEY), 1);
}

/* A port that is heard too often is answered once in a second. */
static void a_storm_is_not_answered_trap_by_trap(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];
	uint64_t before;

	start(w);
	before = sm_trap_stats(w->sm)->repressed;
	for (unsigned i = 0; i < 6000; i++) {
		notice_of(TRAP_BAD_PKEY, lid_of(w, "h5"), notice);
		ib_put(notice, N257_KEY, i);
		send_from(w, 5, notice);
		run_for(w, 10 * MONO_MS);
	}
	assert_in_range(sm_trap_stats(w->sm)->repressed - before, 40, 32 + 8 + 60 + 30 + 5);
}

/* ---- switched off --------------------------------------------------------------------------- */

/* As `ibportstate -y KEY -D ... enable` on h6, which is on the same switch. */
static void enable_port(struct world *w, unsigned port)
{
	const struct smp_head head = { .method = MAD_SET,
				       .attr = IB_ATTR_PORT_INFO,
				       .mod = port,
				       .m_key = OUR_M_KEY,
				       .tid = ++w->tid };
	const struct transport_addr to = { .lid = LID_PERMISSIVE };
	const struct dr_path path = { .length = 1, .hop = { 0, 1 } };
	uint8_t mad[MAD_SIZE], info[SMP_DATA_SIZE];

	assert_int_equal(sim_read(w->sim, node_of(w, "leaf2"), IB_ATTR_PORT_INFO, port, info), 0);
	ib_put(info, PI_PORT_STATE, IB_PORT_DOWN);
	ib_put(info, PI_PHYS_STATE, IB_PHYS_POLLING);
	smp_build_dr(mad, &head, &path, info);
	assert_int_equal(transport_send(host(w, 6), &to, mad, sizeof(mad), PATIENCE), 0);
}

static void wrong_keys_isolate_by_policy_and_the_administrator_returns_the_port(void **state)
{
	struct world *w = *state;
	unsigned isolated;

	harden(w, "isolate");
	start(w);
	listen_for(w, "switched off at 'leaf2' port 2");
	try_keys(w, 5);
	run_for(w, 5 * MONO_S);
	assert_true(is_on(w, "h5"));
	try_keys(w, 60);
	run_for(w, 5 * MONO_S);
	assert_true(w->said);
	assert_int_equal(phys_state(w, "leaf2", 2), IB_PHYS_DISABLED);
	assert_false(is_on(w, "h5"));
	for (unsigned i = 1; i < N_HOSTS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", i);
		assert_true(i == 5 || is_on(w, name));
	}
	assert_int_equal(violations_ports(w->sm, &isolated), 1);
	assert_int_equal(isolated, 1);
	assert_true(is_good(w));
	run_for(w, 7200 * MONO_S);
	assert_false(is_on(w, "h5"));
	enable_port(w, 2);
	run_for(w, 20 * MONO_S);
	assert_true(is_on(w, "h5"));
	violations_ports(w->sm, &isolated);
	assert_int_equal(isolated, 0);
	try_keys(w, 60);
	run_for(w, 5 * MONO_S);
	assert_false(is_on(w, "h5"));
}

static void report_switches_nothing_off(void **state)
{
	struct world *w = *state;

	harden(w, "report");
	start(w);
	try_keys(w, 100);
	run_for(w, 5 * MONO_S);
	assert_true(is_on(w, "h5"));
}

/* Anyone can send a trap in the name of a switch: the switch has counted nothing. */
static void accusations_that_no_counter_confirms_switch_nothing_off(void **state)
{
	struct world *w = *state;
	const uint8_t path[] = { 2 };
	uint8_t notice[SMP_DATA_SIZE];

	harden(w, "isolate");
	start(w);
	listen_for(w, "does not agree");
	for (unsigned i = 0; i < 100; i++) {
		mkey_notice(w, "leaf2", path, sizeof(path), notice);
		send_from_node(w, "leaf2", notice);
		pkey_notice(w, "leaf2", 3, "h6", notice);
		send_from_node(w, "leaf2", notice);
		run_for(w, 200 * MONO_MS);
	}
	assert_true(counted(w, "h5", VIOLATION_M_KEY) > 10);
	assert_true(counted(w, "h6", VIOLATION_P_KEY) > 10);
	assert_true(w->said);
	assert_true(is_on(w, "h5"));
	assert_true(is_on(w, "h6"));
	assert_true(is_good(w));
}

/* `num` of `leaf` stops packets, says so and counts. */
static void stop_packets(struct world *w, const char *leaf, unsigned num, unsigned n)
{
	uint8_t notice[SMP_DATA_SIZE];

	for (unsigned i = 0; i < n; i++) {
		sim_count_pkey_violations(w->sim, node_of(w, leaf), num, 1);
		pkey_notice(w, leaf, num, "h9", notice);
		send_from_node(w, leaf, notice);
		run_for(w, 300 * MONO_MS);
	}
}

static void packets_stopped_at_the_own_switch_port_isolate(void **state)
{
	struct world *w = *state;

	harden(w, "isolate");
	start(w);
	stop_packets(w, "leaf2", 2, 9);
	run_for(w, 5 * MONO_S);
	assert_true(is_on(w, "h5"));
	listen_for(w, "packets with a wrong P_Key");
	stop_packets(w, "leaf2", 2, 10);
	run_for(w, 5 * MONO_S);
	assert_false(is_on(w, "h5"));
	assert_true(w->said);
	assert_true(is_on(w, "h9"));
	assert_true(is_good(w));
}

/* Nine in a window, and nine in the next: no threshold is reached. */
static void the_window_passes(void **state)
{
	struct world *w = *state;

	harden(w, "isolate");
	w->conf->security_violation_window = 10;
	start(w);
	for (unsigned i = 0; i < 5; i++) {
		stop_packets(w, "leaf2", 2, 9);
		run_for(w, 15 * MONO_S);
	}
	assert_true(is_on(w, "h5"));
}

static void our_own_cable_and_switches_are_never_switched_off(void **state)
{
	struct world *w = *state;
	int far;
	unsigned far_port;

	harden(w, "isolate");
	start(w);
	assert_true(sim_peer(w->sim, node_of(w, "h0"), 1, &far, &far_port));
	stop_packets(w, "leaf1", far_port, 40);
	stop_packets(w, "leaf1", 5, 40); /* to a spine */
	run_for(w, 5 * MONO_S);
	assert_true(is_on(w, "h0"));
	assert_int_equal(sim_port_state(w->sim, node_of(w, "leaf1"), 5), IB_PORT_ACTIVE);
	assert_true(is_good(w));
}

static void a_listed_manager_is_never_switched_off(void **state)
{
	struct world *w = *state;
	char guids[64];

	harden(w, "isolate");
	snprintf(guids, sizeof(guids), "0x%016llx",
		 (unsigned long long)(sim_node_guid(w->sim, node_of(w, "h5")) + 1));
	words(&w->conf->allowed_sm_guids, guids);
	start(w);
	assert_int_equal(port_of(w, "h5", 1)->guid, sim_node_guid(w->sim, node_of(w, "h5")) + 1);
	listen_for(w, "it is not switched off: allowed_sm_guids lists it");
	stop_packets(w, "leaf2", 2, 40);
	run_for(w, 5 * MONO_S);
	assert_true(is_on(w, "h5"));
	assert_true(w->said);
}

/* More ports than there are records: single claims against many make room for each other only. */
static void a_host_that_accuses_all_others_displaces_no_record_that_counts(void **state)
{
	struct world *w = *state;
	uint8_t info[SMP_DATA_SIZE] = { 0 };
	unsigned isolated;

	start(w);
	for (unsigned i = 0; i < 3; i++)
		violation_seen(w->sm, VIOLATION_Q_KEY, port_of(w, "h5", 1), false);
	ib_put(info, NI_NODE_TYPE, IB_NODE_SWITCH);
	ib_put(info, NI_NUM_PORTS, 254);
	for (unsigned s = 0; s < 20; s++) {
		struct node *n;

		ib_put(info, NI_NODE_GUID, 0xabc000 + s);
		ib_put(info, NI_PORT_GUID, 0xabc000 + s);
		n = fabric_add_node(w->sm->fabric, info);
		assert_non_null(n);
		for (unsigned p = 1; p <= 254; p++)
			violation_seen(w->sm, VIOLATION_P_KEY, &n->ports[p], false);
		if (s == 19)
			assert_non_null(violations_of(&n->ports[254]));
	}
	assert_int_equal(violations_ports(w->sm, &isolated), 4096);
	assert_int_equal(counted(w, "h5", VIOLATION_Q_KEY), 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_flood_of_wrong_keys_is_one_line_and_a_count),
		TEST(the_same_is_said_again_after_a_quiet_hour),
		TEST(an_invented_way_back_ends_at_the_host_that_invented_it),
		TEST(a_way_back_that_leads_nowhere_accuses_no_port),
		TEST(the_port_that_stopped_a_packet_names_its_sender),
		TEST(traps_about_keys_of_others_are_refused_and_held_against_their_sender),
		TEST(a_host_that_accuses_many_is_named_itself),
		TEST(a_port_that_refuses_our_key_is_said_once_an_hour),
		TEST(a_packet_to_a_group_has_no_receiver_in_its_notice),
		TEST(a_storm_is_not_answered_trap_by_trap),
		TEST(wrong_keys_isolate_by_policy_and_the_administrator_returns_the_port),
		TEST(report_switches_nothing_off),
		TEST(accusations_that_no_counter_confirms_switch_nothing_off),
		TEST(packets_stopped_at_the_own_switch_port_isolate),
		TEST(the_window_passes),
		TEST(our_own_cable_and_switches_are_never_switched_off),
		TEST(a_listed_manager_is_never_switched_off),
		TEST(a_host_that_accuses_all_others_displaces_no_record_that_counts),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
