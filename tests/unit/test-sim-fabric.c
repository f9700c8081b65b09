// SPDX-License-Identifier: BSD-2-Clause
/* The simulator's fabric: transport contract, forwarding, faults, traps, oracle, generators. */
#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/sim-probe.h"

struct fixture {
	struct netfile *net;
	struct sim *sim;
	struct probe p;
	int leaf1, leaf2, spine1, h3;
};

/*
 * h0, h1 on leaf1, h2, h3 on leaf2, two spines; the probe sits on h0. Leaf ports 3, 4 lead to the
 * spines.
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
	f->h3 = sim_find(f->sim, "h3");
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

/* ---- transport ---- */

static void request_without_answer_comes_back_once(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = { .lid = LID_PERMISSIVE };
	struct smp_head head = { .method = MAD_GET,
				 .attr = IB_ATTR_NODE_INFO,
				 .tid = 0xAAAABBBB12345678ull };
	struct dr_path nowhere = { .length = 1, .hop = { 0, 7 } };
	struct transport_event ev;
	uint8_t mad[MAD_SIZE];

	smp_build_dr(mad, &head, &nowhere, NULL);
	assert_int_equal(transport_send(f->p.tr, &to, mad, MAD_SIZE, 200), 0);
	/* TID under way */
	assert_int_equal(transport_send(f->p.tr, &to, mad, MAD_SIZE, 200), -EINVAL);
	sim_advance(f->sim, 199 * MONO_MS);
	assert_int_equal(transport_receive(f->p.tr, &ev), 0);
	sim_advance(f->sim, 200 * MONO_MS);
	assert_int_equal(transport_receive(f->p.tr, &ev), 1);
	assert_int_equal(ev.kind, TRANSPORT_RETURNED);
	assert_int_equal(ev.error, -ETIMEDOUT);
	assert_int_equal(ib_get(ev.mad, SMP_TID), 0x12345678);
	assert_int_equal(transport_receive(f->p.tr, &ev), 0);
	assert_int_equal(sim_next(f->sim), MONO_NEVER);
}

static void directed_route_fills_the_way_back(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = { .lid = LID_PERMISSIVE };
	struct smp_head head = { .method = MAD_GET, .attr = IB_ATTR_NODE_INFO, .tid = 1 };
	struct dr_path path = { .length = 3, .hop = { 0, 1, 3, 2 } };
	struct transport_event ev;
	uint8_t mad[MAD_SIZE];

	smp_build_dr(mad, &head, &path, NULL);
	transport_send(f->p.tr, &to, mad, MAD_SIZE, 200);
	assert_true(probe_receive(&f->p, &ev));
	assert_int_equal(ib_get(ev.mad, SMP_DIRECTION), 1);
	assert_int_equal(ib_get(ev.mad, SMP_HOP_POINTER), 0);
	assert_int_equal(ev.mad[SMP_RETURN_PATH + 1], 1); /* leaf1 port 1 */
	assert_int_equal(ev.mad[SMP_RETURN_PATH + 2], 1); /* spine1 port 1 */
	assert_int_equal(ev.mad[SMP_RETURN_PATH + 3], 3); /* leaf2 port 3 */
	assert_int_equal(ib_get(ev.mad + SMP_DATA, NI_NODE_GUID), sim_node_guid(f->sim, f->leaf2));
}

static void adapters_do_not_forward(void **state)
{
	struct fixture *f = *state;
	struct dr_path through_h1 = { .length = 3, .hop = { 0, 1, 2, 1 } };
	struct dr_path wrong_port = { .length = 1, .hop = { 0, 2 } };

	assert_int_equal(probe_dr(&f->p, &through_h1, MAD_GET, IB_ATTR_NODE_INFO, 0),
			 PROBE_TIMEOUT);
	assert_int_equal(probe_dr(&f->p, &wrong_port, MAD_GET, IB_ATTR_NODE_INFO, 0),
			 PROBE_TIMEOUT);
}

static void sm_info_goes_to_the_manager_on_that_port(void **state)
{
	struct fixture *f = *state;
	struct probe other = probe_open(f->sim, "h3", 1);
	struct transport_addr to = { .lid = LID_PERMISSIVE };
	struct smp_head head = { .method = MAD_GET, .attr = IB_ATTR_SM_INFO, .tid = 77 };
	struct transport_event ev;
	uint8_t mad[MAD_SIZE], payload[SMP_DATA_SIZE] = { 0x42 };

	transport_set_issm(other.tr, true);
	probe_get(&f->p, f->h3, IB_ATTR_PORT_INFO, 0);
	assert_true(ib_get(f->p.answer, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM));
	smp_build_dr(mad, &head, &f->p.paths[f->h3], NULL);
	transport_send(f->p.tr, &to, mad, MAD_SIZE, 200);
	assert_true(probe_receive(&other, &ev));
	assert_int_equal(ib_get(ev.mad, SMP_METHOD), MAD_GET);
	smp_make_response(ev.mad, 0, payload);
	assert_int_equal(transport_send(other.tr, &ev.from, ev.mad, MAD_SIZE, 0), 0);
	assert_int_equal(probe_wait(&f->p, 77), 0);
	assert_int_equal(f->p.answer[0], 0x42);
	probe_close(&other);
	assert_int_equal(probe_get(&f->p, f->h3, IB_ATTR_SM_INFO, 0), MAD_STATUS_BAD_METHOD_ATTR);
}

/* ---- LID routing ---- */

static void lid_routing_needs_tables_and_states(void **state)
{
	struct fixture *f = *state;
	lid_t lid = probe_lid_of(f->h3);

	probe_set_lids(&f->p);
	assert_int_equal(probe_lid(&f->p, lid, MAD_GET, IB_ATTR_NODE_INFO, 0), PROBE_TIMEOUT);
	probe_set_lfts(&f->p);
	assert_int_equal(probe_lid(&f->p, lid, MAD_GET, IB_ATTR_NODE_INFO, 0), PROBE_TIMEOUT);
	probe_set_state(&f->p, IB_PORT_ARMED);
	assert_int_equal(probe_lid(&f->p, lid, MAD_GET, IB_ATTR_NODE_INFO, 0), 0);
	assert_int_equal(ib_get(f->p.answer, NI_NODE_GUID), sim_node_guid(f->sim, f->h3));
	assert_int_equal(probe_lid(&f->p, 0x300, MAD_GET, IB_ATTR_NODE_INFO, 0), PROBE_TIMEOUT);
}

static void linear_top_cuts_the_table(void **state)
{
	struct fixture *f = *state;
	lid_t lid = probe_lid_of(f->h3);

	probe_bring_up(&f->p);
	probe_put(&f->p, f->leaf1, IB_ATTR_SWITCH_INFO, 0, SI_LINEAR_FDB_TOP, lid - 1);
	assert_int_equal(probe_lid(&f->p, lid, MAD_GET, IB_ATTR_NODE_INFO, 0), PROBE_TIMEOUT);
}

/* ---- faults ---- */

static unsigned timeouts_of_100(struct fixture *f)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 100; i++)
		n += probe_get(&f->p, f->h3, IB_ATTR_NODE_INFO, 0) == PROBE_TIMEOUT;
	return n;
}

static void loss_loses_its_share(void **state)
{
	struct fixture *f = *state;
	unsigned n;

	assert_int_equal(timeouts_of_100(f), 0);
	sim_set_loss(f->sim, 20, 0);
	n = timeouts_of_100(f);
	assert_in_range(n, 5, 40);
	sim_set_loss(f->sim, 0, 100);
	assert_int_equal(timeouts_of_100(f), 100);
	assert_int_equal(sim_count(f->sim, IB_ATTR_NODE_INFO, MAD_GET), 300);
}

static void lost_response_means_done_all_the_same(void **state)
{
	struct fixture *f = *state;

	sim_set_loss(f->sim, 0, 100);
	memset(f->p.answer, 3, SMP_DATA_SIZE);
	assert_int_equal(probe_set(&f->p, f->leaf1, IB_ATTR_LFT, 0), PROBE_TIMEOUT);
	assert_int_equal(sim_lft(f->sim, f->leaf1, 5), 3);
}

static void duplicates_answer_once(void **state)
{
	struct fixture *f = *state;
	struct transport_event ev;

	sim_set_duplicates(f->sim, 100);
	assert_int_equal(probe_get(&f->p, f->h3, IB_ATTR_NODE_INFO, 0), 0);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	assert_int_equal(transport_receive(f->p.tr, &ev), 0);
}

static void delay_takes_time(void **state)
{
	struct fixture *f = *state;

	sim_set_sma_time(f->sim, 0);
	sim_set_delay(f->sim, 10 * MONO_MS, 0);
	assert_int_equal(probe_get(&f->p, f->leaf2, IB_ATTR_NODE_INFO, 0), 0);
	assert_int_equal(sim_now(f->sim), 60 * MONO_MS); /* three hops there, three back */
}

static void silence_can_be_partial(void **state)
{
	struct fixture *f = *state;

	sim_set_silent(f->sim, f->leaf1, SIM_SILENT_SET, IB_ATTR_LFT);
	assert_int_equal(probe_get(&f->p, f->leaf1, IB_ATTR_LFT, 0), 0);
	assert_int_equal(probe_set(&f->p, f->leaf1, IB_ATTR_LFT, 0), PROBE_TIMEOUT);
	sim_set_silent(f->sim, f->leaf1, SIM_SILENT, 0);
	assert_int_equal(probe_get(&f->p, f->leaf1, IB_ATTR_NODE_INFO, 0), PROBE_TIMEOUT);
	assert_int_equal(probe_get(&f->p, f->h3, IB_ATTR_NODE_INFO, 0), 0); /* still forwards */
}

static void refusal_has_a_status(void **state)
{
	struct fixture *f = *state;

	sim_set_refuse(f->sim, f->leaf1, IB_ATTR_LFT, MAD_STATUS_BUSY);
	assert_int_equal(probe_set(&f->p, f->leaf1, IB_ATTR_LFT, 0), MAD_STATUS_BUSY);
	assert_int_equal(sim_lft(f->sim, f->leaf1, 0), LFT_NO_PORT);
}

static void full_agent_drops(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = { .lid = LID_PERMISSIVE };
	struct smp_head head = { .method = MAD_GET, .attr = IB_ATTR_NODE_INFO };
	struct transport_event ev;
	uint8_t mad[MAD_SIZE];
	unsigned answered = 0;

	probe_paths(&f->p);
	sim_set_sma_time(f->sim, MONO_MS);
	sim_set_sma_queue(f->sim, 4);
	for (head.tid = 1; head.tid <= 10; head.tid++) {
		smp_build_dr(mad, &head, &f->p.paths[f->leaf1], NULL);
		transport_send(f->p.tr, &to, mad, MAD_SIZE, 200);
	}
	while (probe_receive(&f->p, &ev))
		answered += ev.kind == TRANSPORT_MAD;
	assert_int_equal(answered, 4);
}

static void cut_and_mended_link_starts_again(void **state)
{
	struct fixture *f = *state;

	probe_bring_up(&f->p);
	assert_int_equal(sim_link_down(f->sim, f->leaf1, 3), 0);
	assert_int_equal(sim_port_state(f->sim, f->leaf1, 3), IB_PORT_DOWN);
	assert_int_equal(sim_port_state(f->sim, f->spine1, 1), IB_PORT_DOWN);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	assert_int_equal(sim_port_state(f->sim, f->leaf1, 3), IB_PORT_DOWN);
	sim_link_up(f->sim, f->spine1, 1); /* from the other end */
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	assert_int_equal(sim_port_state(f->sim, f->leaf1, 3), IB_PORT_INIT);
	assert_int_equal(sim_link_down(f->sim, f->leaf1, 99), -EINVAL);
}

static void moved_cable_leads_elsewhere(void **state)
{
	struct fixture *f = *state;
	int peer;
	unsigned port;

	sim_unplug(f->sim, f->leaf2, 1);
	assert_int_equal(sim_move(f->sim, f->h3, 1, f->leaf2, 1), 0);
	assert_true(sim_peer(f->sim, f->h3, 1, &peer, &port));
	assert_int_equal(peer, f->leaf2);
	assert_int_equal(port, 1);
	assert_false(sim_peer(f->sim, f->leaf2, 2, &peer, &port));
	sim_advance(f->sim, MONO_S);
	assert_int_equal(sim_port_state(f->sim, f->h3, 1), IB_PORT_INIT);
	assert_int_equal(sim_move(f->sim, f->h3, 1, f->leaf1, 1), -EINVAL); /* taken */
}

static void loopback_plug_sees_itself(void **state)
{
	struct fixture *f = *state;
	struct dr_path path = { .length = 2, .hop = { 0, 1, 2 } };

	sim_unplug(f->sim, f->leaf1, 2);
	assert_int_equal(sim_plug(f->sim, f->leaf1, 2, f->leaf1, 2), 0);
	sim_advance(f->sim, MONO_S);
	assert_int_equal(probe_dr(&f->p, &path, MAD_GET, IB_ATTR_NODE_INFO, 0), 0);
	assert_int_equal(ib_get(f->p.answer, NI_NODE_GUID), sim_node_guid(f->sim, f->leaf1));
	assert_int_equal(ib_get(f->p.answer, NI_LOCAL_PORT), 2);
}

static void reboot_forgets_everything(void **state)
{
	struct fixture *f = *state;

	probe_bring_up(&f->p);
	sim_reboot(f->sim, f->spine1, 100 * MONO_MS);
	assert_int_equal(sim_port_state(f->sim, f->leaf1, 3), IB_PORT_DOWN);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	assert_int_equal(sim_port_state(f->sim, f->leaf1, 3), IB_PORT_INIT);
	assert_int_equal(sim_port_lid(f->sim, f->spine1, 0), 0);
	assert_int_equal(sim_lft(f->sim, f->spine1, 1), LFT_NO_PORT);
	assert_int_equal(sim_port_lid(f->sim, f->leaf1, 0), probe_lid_of(f->leaf1));
}

static void armed_port_becomes_active_by_data(void **state)
{
	struct fixture *f = *state;

	sim_set_auto_active(f->sim, 50 * MONO_US);
	probe_set_lids(&f->p);
	probe_set_state(&f->p, IB_PORT_ARMED);
	probe_put_port(&f->p, f->leaf1, 3, PI_PORT_STATE, IB_PORT_ACTIVE);
	sim_advance(f->sim, sim_now(f->sim) + MONO_MS);
	assert_int_equal(sim_port_state(f->sim, f->spine1, 1), IB_PORT_ACTIVE);
	assert_int_equal(probe_put_port(&f->p, f->spine1, 1, PI_PORT_STATE, IB_PORT_ACTIVE),
			 MAD_STATUS_BAD_VALUE);
}

/* ---- traps ---- */

static bool wait_trap(struct probe *p, unsigned number, struct transport_event *ret)
{
	while (probe_receive(p, ret))
		if (ib_get(ret->mad, SMP_METHOD) == MAD_TRAP &&
		    ib_bits_get(ret->mad + SMP_DATA, 32, 16) == number)
			return true;
	return false;
}

static void link_change_is_told_until_repressed(void **state)
{
	struct fixture *f = *state;
	struct transport_event ev;

	probe_bring_up(&f->p);
	sim_link_down(f->sim, f->leaf1, 2);
	assert_true(wait_trap(&f->p, 128, &ev));
	assert_int_equal(ev.from.lid, probe_lid_of(f->leaf1));
	assert_int_equal(ib_bits_get(ev.mad + SMP_DATA, 80, 16), probe_lid_of(f->leaf1));
	assert_true(wait_trap(&f->p, 128, &ev)); /* again */
	smp_make_response(ev.mad, 0, NULL);
	assert_int_equal(transport_send(f->p.tr, &ev.from, ev.mad, MAD_SIZE, 0), 0);
	assert_false(wait_trap(&f->p, 128, &ev));
	assert_int_equal(sim_count(f->sim, IB_ATTR_NOTICE, MAD_TRAP), 2);
}

static void nobody_answers_five_times_and_it_ends(void **state)
{
	struct fixture *f = *state;
	struct transport_event ev;
	unsigned n = 0;

	probe_bring_up(&f->p);
	sim_set_desc(f->sim, f->h3, "renamed");
	while (wait_trap(&f->p, 144, &ev))
		n++;
	assert_int_equal(n, 5);
	/* NodeDescription changed */
	assert_int_equal(ib_bits_get(ev.mad + SMP_DATA, 20 * 8, 16), 1);
}

static void unprogrammed_fabric_is_mute(void **state)
{
	struct fixture *f = *state;
	struct transport_event ev;

	sim_link_down(f->sim, f->leaf1, 2);
	assert_false(wait_trap(&f->p, 128, &ev));
}

static void bad_m_key_is_reported(void **state)
{
	struct fixture *f = *state;
	struct transport_event ev;

	probe_bring_up(&f->p);
	sim_set_m_key(f->sim, f->h3, 1, 0x99, 2, 0);
	assert_int_equal(probe_get(&f->p, f->h3, IB_ATTR_NODE_DESC, 0), PROBE_TIMEOUT);
	assert_true(wait_trap(&f->p, 256, &ev));
	assert_int_equal(ib_bits_get(ev.mad + SMP_DATA, 18 * 8, 16), IB_ATTR_NODE_DESC);
}

/* ---- oracle ---- */

static void plain_bring_up_is_good(void **state)
{
	struct fixture *f = *state;
	struct sim_verdict v;

	sim_check_all(f->sim, &v);
	assert_false(sim_verdict_good(&v));
	assert_int_equal(v.lids_missing, 8);
	assert_int_equal(v.ports_not_active, 16);
	probe_bring_up(&f->p);
	sim_check_all(f->sim, &v);
	assert_string_equal(v.first, "");
	assert_true(sim_verdict_good(&v));
	assert_int_equal(v.end_ports, 8);
	assert_int_equal(v.pairs, 56);
}

static void wrong_entry_is_unreachable(void **state)
{
	struct fixture *f = *state;
	struct sim_verdict v;

	probe_bring_up(&f->p);
	probe_get(&f->p, f->leaf2, IB_ATTR_LFT, 0);
	f->p.answer[probe_lid_of(f->h3)] = LFT_NO_PORT;
	probe_set(&f->p, f->leaf2, IB_ATTR_LFT, 0);
	sim_check_all(f->sim, &v);
	assert_int_equal(v.unreachable, 7);
	assert_int_equal(v.looping, 0);
}

static void loop_is_seen_at_once_and_in_the_end(void **state)
{
	struct fixture *f = *state;
	struct sim_verdict v;

	probe_bring_up(&f->p);
	assert_int_equal(sim_loops_ever(f->sim), 0);
	probe_get(&f->p, f->leaf2, IB_ATTR_LFT, 0);
	f->p.answer[probe_lid_of(f->h3)] = 3; /* back to spine1 */
	probe_set(&f->p, f->leaf2, IB_ATTR_LFT, 0);
	assert_int_equal(sim_loops_ever(f->sim), 1);
	sim_check_all(f->sim, &v);
	assert_true(v.looping > 0);
	assert_int_equal(v.unreachable, 7);
	assert_false(sim_verdict_good(&v));
}

static void loop_closed_by_a_port_is_seen(void **state)
{
	struct fixture *f = *state;

	probe_set_lids(&f->p);
	probe_set_lfts(&f->p);
	probe_get(&f->p, f->leaf2, IB_ATTR_LFT, 0);
	f->p.answer[probe_lid_of(f->h3)] = 3;
	probe_set(&f->p, f->leaf2, IB_ATTR_LFT, 0);
	probe_set_state(&f->p, IB_PORT_ARMED);
	assert_int_equal(sim_loops_ever(f->sim), 0);
	probe_set_state(&f->p, IB_PORT_ACTIVE);
	assert_int_equal(sim_loops_ever(f->sim), 1);
}

static void duplicate_lids_are_found(void **state)
{
	struct fixture *f = *state;
	struct sim_verdict v;

	probe_bring_up(&f->p);
	sim_set_lid(f->sim, f->h3, 1, 1, 0, 1);
	sim_check_all(f->sim, &v);
	assert_int_equal(v.lids_duplicate, 1);
}

static void silent_host_is_left_out(void **state)
{
	struct fixture *f = *state;
	struct sim_verdict v;

	probe_bring_up(&f->p);
	sim_set_lid(f->sim, f->h3, 1, 0, 0, 0);
	sim_set_silent(f->sim, f->h3, SIM_SILENT, 0);
	sim_check_all(f->sim, &v);
	assert_true(sim_verdict_good(&v));
	assert_int_equal(v.end_ports, 7);
}

static void back_to_back_is_a_fabric(void **state)
{
	struct netfile *net = gen_pair();
	struct sim *sim = sim_new(net, 1);
	struct probe p = probe_open(sim, "h0", 1);
	struct sim_verdict v;

	probe_bring_up(&p);
	sim_check_all(sim, &v);
	assert_true(sim_verdict_good(&v));
	assert_int_equal(v.pairs, 2);
	probe_close(&p);
	sim_free(sim);
	netfile_free(net);
}

/* h0 has a port in each. */
static const char two_fabrics[] = "Switch 2 \"sa\"\n[1] \"h0\"[1]\n[2] \"h1\"[1]\n\n"
				  "Switch 2 \"sb\"\n[1] \"h0\"[2]\n[2] \"h2\"[1]\n\n"
				  "Hca 2 \"h0\"\n[1] \"sa\"[1]\n[2] \"sb\"[1]\n\n"
				  "Hca 1 \"h1\"\n[1] \"sa\"[2]\n\nHca 1 \"h2\"\n[1] \"sb\"[2]\n";

static void two_fabrics_on_one_adapter_are_judged_each_for_itself(void **state)
{
	char err[256];
	struct netfile *net = netfile_parse(two_fabrics, strlen(two_fabrics), err, sizeof(err));
	struct sim *sim = sim_new(net, 1);
	struct probe a = probe_open(sim, "h1", 1), b;
	struct sim_verdict v;

	probe_bring_up(&a);
	sim_check_all(sim, &v);
	assert_true(sim_verdict_good(&v));
	assert_int_equal(v.end_ports, 3);
	b = probe_open(sim, "h2", 1);
	sim_check_all(sim, &v);
	assert_false(sim_verdict_good(&v));
	probe_bring_up(&b);
	sim_check_all(sim, &v);
	assert_true(sim_verdict_good(&v));
	assert_int_equal(v.end_ports, 6);
	assert_int_equal(v.pairs, 12);
	probe_close(&a);
	probe_close(&b);
	sim_free(sim);
	netfile_free(net);
}

/* ---- determinism, generators ---- */

static uint64_t noisy_run(uint64_t seed)
{
	struct netfile *net = gen_tree(3, 3, 2, 2);
	struct sim *sim = sim_new(net, seed);
	struct probe p = probe_open(sim, "h0", 1);
	uint64_t result;

	sim_set_loss(sim, 10, 10);
	sim_set_delay(sim, 5, 100);
	sim_set_reorder(sim, 5, MONO_MS);
	probe_bring_up(&p);
	result = sim_fingerprint(sim) ^ (uint64_t)sim_now(sim);
	probe_close(&p);
	sim_free(sim);
	netfile_free(net);
	return result;
}

static void same_seed_same_bytes(void **state)
{
	assert_int_equal(noisy_run(7), noisy_run(7));
	assert_int_not_equal(noisy_run(7), noisy_run(8));
}

static void generators_have_their_sizes(void **state)
{
	static const struct {
		const char *words[5];
		unsigned n, switches, hosts;
	} rows[] = {
		{ { "fat-tree2", "36" }, 2, 54, 648 },
		{ { "fat-tree3", "16" }, 2, 320, 1024 },
		{ { "tree", "4", "5", "2", "3" }, 5, 6, 20 },
		{ { "rails", "2", "8", "4", "3" }, 5, 11, 64 },
		{ { "planes", "2", "8", "4", "3" }, 5, 20, 64 },
		{ { "torus", "4", "4", "3", "2" }, 5, 48, 96 },
		{ { "mesh", "3", "3", "1", "1" }, 5, 9, 9 },
		{ { "dragonfly", "33", "8", "4" }, 4, 264, 1056 },
		{ { "slim-fly", "5", "3" }, 3, 50, 150 },
		{ { "hypercube", "4", "2" }, 3, 16, 32 },
		{ { "ring", "6", "1" }, 3, 6, 6 },
		{ { "random", "20", "4", "2", "1" }, 5, 20, 40 },
		{ { "single", "7" }, 2, 1, 7 },
		{ { "pair" }, 1, 0, 2 },
	};
	char err[200];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct netfile *net = gen_words(rows[i].n, rows[i].words, err, sizeof(err));
		unsigned switches = 0;

		assert_non_null(net);
		for (size_t n = 0; n < net->n_nodes; n++)
			switches += net->nodes[n].type == IB_NODE_SWITCH;
		assert_int_equal(switches, rows[i].switches);
		assert_int_equal(net->n_nodes - switches, rows[i].hosts);
		netfile_free(net);
	}
	assert_null(gen_words(2, (const char *[]){ "fat-tree2", "7" }, err, sizeof(err)));
	assert_null(gen_words(2, (const char *[]){ "fat-tree9", "7" }, err, sizeof(err)));
	assert_null(gen_words(2, (const char *[]){ "ring", "7" }, err, sizeof(err)));
	assert_null(gen_words(5, (const char *[]){ "rails", "65536", "1", "65536", "1" }, err,
			      sizeof(err)));
	assert_null(gen_words(3, (const char *[]){ "slim-fly", "7", "1" }, err, sizeof(err)));
	assert_null(gen_words(3, (const char *[]){ "slim-fly", "21", "1" }, err, sizeof(err)));
}

static void generated_fabrics_come_up(void **state)
{
	struct netfile *nets[] = {
		gen_fat_tree3(4),	 gen_torus(3, 3, 2, 1), gen_mesh(3, 2, 1, 1),
		gen_dragonfly(5, 2, 1),	 gen_hypercube(3, 1),	gen_ring(5, 1),
		gen_random(10, 4, 1, 3), gen_single(3),	gen_slim_fly(5, 1),
	};

	for (size_t i = 0; i < ARRAY_SIZE(nets); i++) {
		struct sim *sim = sim_new(nets[i], 1);
		struct probe p = probe_open(sim, "h0", 1);
		struct sim_verdict v;

		probe_bring_up(&p);
		sim_check_all(sim, &v);
		assert_string_equal(v.first, "");
		assert_true(sim_verdict_good(&v));
		probe_close(&p);
		sim_free(sim);
		netfile_free(nets[i]);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(request_without_answer_comes_back_once),
		T(directed_route_fills_the_way_back),
		T(adapters_do_not_forward),
		T(sm_info_goes_to_the_manager_on_that_port),
		T(lid_routing_needs_tables_and_states),
		T(linear_top_cuts_the_table),
		T(loss_loses_its_share),
		T(lost_response_means_done_all_the_same),
		T(duplicates_answer_once),
		T(delay_takes_time),
		T(silence_can_be_partial),
		T(refusal_has_a_status),
		T(full_agent_drops),
		T(cut_and_mended_link_starts_again),
		T(moved_cable_leads_elsewhere),
		T(loopback_plug_sees_itself),
		T(reboot_forgets_everything),
		T(armed_port_becomes_active_by_data),
		T(link_change_is_told_until_repressed),
		T(nobody_answers_five_times_and_it_ends),
		T(unprogrammed_fabric_is_mute),
		T(bad_m_key_is_reported),
		T(plain_bring_up_is_good),
		T(wrong_entry_is_unreachable),
		T(loop_is_seen_at_once_and_in_the_end),
		T(loop_closed_by_a_port_is_seen),
		T(duplicate_lids_are_found),
		T(silent_host_is_left_out),
		cmocka_unit_test(back_to_back_is_a_fabric),
		cmocka_unit_test(two_fabrics_on_one_adapter_are_judged_each_for_itself),
		cmocka_unit_test(same_seed_same_bytes),
		cmocka_unit_test(generators_have_their_sizes),
		cmocka_unit_test(generated_fabrics_come_up),
	};

	return cmocka_run_group_tests_name("sim fabric", tests, NULL, NULL);
}
