// SPDX-License-Identifier: BSD-2-Clause
/*
 * General MADs: which get there (state, partition, Q_Key, global route), where (queue
 * pairs, agents, the performance agent), and what their addresses say on arrival.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim/agent.h"
#include "tests/unit/sim-probe.h"

struct fixture {
	struct netfile *net;
	struct sim *sim;
	struct probe sm;          /* h0 */
	struct transport *client; /* h3, on the other leaf */
	int h3;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->net = gen_tree(2, 2, 1, 1);
	f->sim = sim_new(f->net, 1);
	f->sm = probe_open(f->sim, "h0", 1);
	f->h3 = sim_find(f->sim, "h3");
	probe_bring_up(&f->sm);
	f->client = sim_attach(f->sim, "h3", 1);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	probe_close(&f->sm);
	sim_free(f->sim);
	netfile_free(f->net);
	free(f);
	return 0;
}

static void run(struct fixture *f)
{
	sim_advance(f->sim, sim_now(f->sim) + MONO_MS);
}

static struct transport_addr to_node(struct fixture *f, const char *id)
{
	return (struct transport_addr){ .lid = probe_lid_of(sim_find(f->sim, id)),
					.qp = 1,
					.qkey = MAD_QP1_QKEY };
}

static int ask(struct transport *tr, const struct transport_addr *to, uint8_t class, uint16_t attr)
{
	struct smp_head head = { .method = MAD_GET, .attr = attr, .tid = 9 };
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, &head, NULL);
	ib_put(mad, SMP_CLASS, class);
	return transport_send(tr, to, mad, MAD_SIZE, 100);
}

/* The SM has got the client's question; its event. */
static bool arrives(struct fixture *f, struct transport_addr to, struct transport_event *ret)
{
	assert_int_equal(ask(f->client, &to, MAD_CLASS_SA, 0x11), 0);
	run(f);
	return transport_receive(f->sm.tr, ret);
}

static void question_and_answer_name_their_ends(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = to_node(f, "h0");
	struct transport_event ev;

	to.sl = 3;
	assert_true(arrives(f, to, &ev));
	assert_int_equal(ev.from.lid, probe_lid_of(f->h3));
	assert_int_equal(ev.from.qp, 1);
	assert_int_equal(ev.from.sl, 3);
	assert_int_equal(ev.from.pkey_index, 0);
	assert_int_equal(ev.from.qkey, 0); /* as with the kernel: the answering side knows it */
	assert_false(ev.from.global);
	to = ev.from;
	to.qkey = MAD_QP1_QKEY;
	ib_put(ev.mad, SMP_METHOD, MAD_GET_RESP);
	assert_int_equal(transport_send(f->sm.tr, &to, ev.mad, MAD_SIZE, 0), 0);
	run(f);
	assert_int_equal(transport_receive(f->client, &ev), 1);
	assert_int_equal(ib_get(ev.mad, SMP_METHOD), MAD_GET_RESP);
	assert_int_equal(ib_get(ev.mad, SMP_TID), 9);
	assert_int_equal(ev.from.lid, 1);
}

static void queue_pair_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct transport *own = sim_attach_qp(f->sim, "h3", 1, 0x123);
	struct transport_addr to = to_node(f, "h0");
	struct transport_event ev;

	assert_non_null(own);
	assert_null(sim_attach_qp(f->sim, "h3", 1, 0x123));
	assert_null(sim_attach(f->sim, "h3", 1));
	assert_int_equal(ask(own, &to, MAD_CLASS_SA, 0x11), 0);
	run(f);
	assert_int_equal(transport_receive(f->sm.tr, &ev), 1);
	assert_int_equal(ev.from.qp, 0x123);
	to = ev.from;
	ib_put(ev.mad, SMP_METHOD, MAD_GET_RESP);
	transport_send(f->sm.tr, &to, ev.mad, MAD_SIZE, 0);
	run(f);
	assert_int_equal(transport_receive(f->client, &ev), 0);
	assert_int_equal(transport_receive(own, &ev), 1);
	transport_close(own);
}

static void only_active_links_carry_data(void **state)
{
	struct fixture *f = *state;
	int leaf2 = sim_find(f->sim, "leaf2");
	struct transport_event ev;

	assert_true(arrives(f, to_node(f, "h0"), &ev));
	sim_link_down(f->sim, leaf2, 3);
	sim_link_up(f->sim, leaf2, 3);
	run(f);
	assert_int_equal(ask(f->client,
			     &(struct transport_addr){ .lid = 1, .qp = 1, .qkey = MAD_QP1_QKEY }, 3,
			     0x11),
			 -EINVAL);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S); /* trained: INIT */
	while (transport_receive(f->sm.tr, &ev))
		; /* traps */
	assert_int_equal(transport_receive(f->client, &ev), 1);
	assert_int_equal(ev.kind, TRANSPORT_RETURNED);
	assert_false(arrives(f, to_node(f, "h0"), &ev));
	probe_set_state(&f->sm, IB_PORT_ARMED);
	probe_set_state(&f->sm, IB_PORT_ACTIVE);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	while (transport_receive(f->sm.tr, &ev) || transport_receive(f->client, &ev))
		;
	assert_true(arrives(f, to_node(f, "h0"), &ev));
}

static void set_pkeys(struct fixture *f, const char *node, uint16_t first, uint16_t second)
{
	memset(f->sm.answer, 0, SMP_DATA_SIZE);
	ib_bits_put(f->sm.answer, 0, 16, first);
	ib_bits_put(f->sm.answer, 16, 16, second);
	assert_int_equal(probe_set(&f->sm, sim_find(f->sim, node), IB_ATTR_PKEY_TABLE, 0), 0);
}

static void partitions_are_kept_apart(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = to_node(f, "h0");
	struct transport_event ev;

	set_pkeys(f, "h3", 0x7FFF, 0x8123);
	assert_true(arrives(f, to, &ev)); /* limited to full */
	assert_int_equal(ev.from.pkey_index, 0);
	to.pkey_index = 1;
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	transport_receive(f->client, &ev);
	assert_false(arrives(f, to, &ev)); /* not ours */
	set_pkeys(f, "h0", 0xFFFF, 0x0123);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	transport_receive(f->client, &ev);
	assert_true(arrives(f, to, &ev));
	assert_int_equal(ev.from.pkey_index, 1);
	set_pkeys(f, "h3", 0x7FFF, 0x0123);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	transport_receive(f->client, &ev);
	assert_false(arrives(f, to, &ev)); /* limited to limited */
	to.pkey_index = 5;
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	transport_receive(f->client, &ev);
	assert_false(arrives(f, to, &ev)); /* an empty entry */
}

static void q_key_of_qp1(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = to_node(f, "h0");

	to.qkey = 0;
	assert_int_equal(ask(f->client, &to, MAD_CLASS_SA, 0x11), -EINVAL);
}

static void global_route_arrives_turned_round(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = to_node(f, "h0");
	struct transport_event ev;
	uint8_t gid[16];

	assert_true(sim_port_gid(f->sim, sim_find(f->sim, "h0"), 1, 0, to.grh.gid));
	assert_true(sim_port_gid(f->sim, f->h3, 1, 0, gid));
	to.global = true;
	to.grh.hop_limit = 7;
	to.grh.traffic_class = 5;
	to.grh.flow_label = 0x12345;
	assert_true(arrives(f, to, &ev));
	assert_true(ev.from.global);
	assert_memory_equal(ev.from.grh.gid, gid, 16);
	assert_int_equal(ev.from.grh.gid_index, 0);
	assert_int_equal(ev.from.grh.hop_limit, 7);
	assert_int_equal(ev.from.grh.traffic_class, 5);
	assert_int_equal(ev.from.grh.flow_label, 0x12345);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	transport_receive(f->client, &ev);
	to.grh.gid[15] ^= 1;
	assert_false(arrives(f, to, &ev)); /* the GID of another port */
}

static void performance_agents_count(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = to_node(f, "leaf2");
	struct transport_event ev;
	struct smp_head head = { .method = MAD_GET, .attr = 0x12, .tid = 4 };
	uint8_t mad[MAD_SIZE];

	sim_count_errors(f->sim, sim_find(f->sim, "leaf2"), 1, SIM_SYMBOL_ERRORS, 70000);
	sim_count_errors(f->sim, sim_find(f->sim, "leaf2"), 2, SIM_LINK_DOWNED, 3);
	smp_build_lid(mad, &head, NULL);
	ib_put(mad, SMP_CLASS, MAD_CLASS_PERF);
	mad[SMP_DATA + 1] = 0xFF; /* all ports */
	assert_int_equal(transport_send(f->client, &to, mad, MAD_SIZE, 100), 0);
	run(f);
	assert_int_equal(transport_receive(f->client, &ev), 1);
	assert_int_equal(ib_get(ev.mad, SMP_STATUS), 0);
	assert_int_equal(ib_bits_get(ev.mad + SMP_DATA, 32, 16), 0xFFFF); /* it stays at its end */
	assert_int_equal(ev.mad[SMP_DATA + 7], 3);
	ib_put(mad, SMP_METHOD, MAD_SET);
	ib_bits_put(mad + SMP_DATA, 16, 16, 1); /* symbol errors only */
	assert_int_equal(transport_send(f->client, &to, mad, MAD_SIZE, 100), 0);
	run(f);
	assert_int_equal(transport_receive(f->client, &ev), 1);
	assert_int_equal(ib_bits_get(ev.mad + SMP_DATA, 32, 16), 0);
	assert_int_equal(ev.mad[SMP_DATA + 7], 3);
	mad[SMP_DATA + 1] = 77;
	assert_int_equal(transport_send(f->client, &to, mad, MAD_SIZE, 100), 0);
	run(f);
	assert_int_equal(transport_receive(f->client, &ev), 1);
	assert_int_equal(ib_get(ev.mad, SMP_STATUS), MAD_STATUS_BAD_VALUE);
}

static void nobody_there_is_a_timeout(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = to_node(f, "h1");
	struct transport_event ev;

	assert_int_equal(ask(f->client, &to, MAD_CLASS_SA, 0x11), 0);
	sim_advance(f->sim, sim_now(f->sim) + 99 * MONO_MS);
	assert_int_equal(transport_receive(f->client, &ev), 0);
	run(f);
	assert_int_equal(transport_receive(f->client, &ev), 1);
	assert_int_equal(ev.kind, TRANSPORT_RETURNED);
	assert_int_equal(ev.from.lid, to.lid);
}

static void answer_to_set_down_gets_through(void **state)
{
	struct fixture *f = *state;

	probe_get_port(&f->sm, f->h3, 1);
	ib_put(f->sm.answer, PI_PORT_STATE, IB_PORT_DOWN);
	assert_int_equal(probe_set(&f->sm, f->h3, IB_ATTR_PORT_INFO, 1), 0);
	assert_int_equal(sim_port_state(f->sim, f->h3, 1), IB_PORT_DOWN);
	assert_int_equal(probe_get(&f->sm, f->h3, IB_ATTR_NODE_INFO, 0), PROBE_TIMEOUT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(question_and_answer_name_their_ends),
		TEST(queue_pair_of_its_own),
		TEST(only_active_links_carry_data),
		TEST(partitions_are_kept_apart),
		TEST(q_key_of_qp1),
		TEST(global_route_arrives_turned_round),
		TEST(performance_agents_count),
		TEST(nobody_there_is_a_timeout),
		TEST(answer_to_set_down_gets_through),
	};

	return cmocka_run_group_tests_name("gmp", tests, NULL, NULL);
}
