// SPDX-License-Identifier: BSD-2-Clause
/* The simulator's agents: what they answer, store, refuse. */
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
	int leaf, host;
};

/* h0, h1 on leaf1, h2, h3 on leaf2, two spines; the probe sits on h0. */
static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->net = gen_tree(2, 2, 2, 1);
	f->sim = sim_new(f->net, 1);
	f->p = probe_open(f->sim, "h0", 1);
	f->leaf = sim_find(f->sim, "leaf1");
	f->host = sim_find(f->sim, "h3");
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

static void node_info_names_the_port_it_came_in(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(probe_get(&f->p, f->leaf, IB_ATTR_NODE_INFO, 0), 0);
	assert_int_equal(ib_get(f->p.answer, NI_NODE_TYPE), IB_NODE_SWITCH);
	assert_int_equal(ib_get(f->p.answer, NI_LOCAL_PORT), 1);
	assert_int_equal(ib_get(f->p.answer, NI_NUM_PORTS), 4);
	assert_int_equal(ib_get(f->p.answer, NI_NODE_GUID), sim_node_guid(f->sim, f->leaf));
	assert_int_equal(probe_get(&f->p, f->host, IB_ATTR_NODE_INFO, 0), 0);
	assert_int_equal(ib_get(f->p.answer, NI_PORT_GUID), sim_node_guid(f->sim, f->host) + 1);
}

static void description_is_text_padded_with_zeroes(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(probe_get(&f->p, f->leaf, IB_ATTR_NODE_DESC, 0), 0);
	assert_string_equal((char *)f->p.answer, "leaf1");
	assert_int_equal(f->p.answer[63], 0);
}

static void links_are_in_init_and_port_0_is_active(void **state)
{
	struct fixture *f = *state;

	probe_get(&f->p, f->leaf, IB_ATTR_PORT_INFO, 1);
	assert_int_equal(ib_get(f->p.answer, PI_PORT_STATE), IB_PORT_INIT);
	assert_int_equal(ib_get(f->p.answer, PI_PHYS_STATE), IB_PHYS_LINK_UP);
	assert_int_equal(ib_get(f->p.answer, PI_WIDTH_ACTIVE), 2);
	probe_get(&f->p, f->leaf, IB_ATTR_PORT_INFO, 0);
	assert_int_equal(ib_get(f->p.answer, PI_PORT_STATE), IB_PORT_ACTIVE);
}

static void port_state_goes_one_way(void **state)
{
	struct fixture *f = *state;
	struct probe *p = &f->p;

	assert_int_equal(probe_put_port(p, f->leaf, 1, PI_PORT_STATE, IB_PORT_ACTIVE),
			 MAD_STATUS_BAD_VALUE);
	assert_int_equal(probe_put_port(p, f->leaf, 1, PI_PORT_STATE, IB_PORT_INIT),
			 MAD_STATUS_BAD_VALUE);
	assert_int_equal(sim_port_state(f->sim, f->leaf, 1), IB_PORT_INIT);
	assert_int_equal(probe_put_port(p, f->leaf, 1, PI_PORT_STATE, IB_PORT_ARMED), 0);
	assert_int_equal(probe_put_port(p, f->leaf, 1, PI_PORT_STATE, IB_PORT_ARMED),
			 MAD_STATUS_BAD_VALUE);
	assert_int_equal(probe_put_port(p, f->leaf, 1, PI_PORT_STATE, IB_PORT_ACTIVE), 0);
	assert_int_equal(probe_put_port(p, f->leaf, 1, PI_PORT_STATE, IB_PORT_ACTIVE),
			 MAD_STATUS_BAD_VALUE);
	assert_int_equal(sim_port_state(f->sim, f->leaf, 1), IB_PORT_ACTIVE);
}

static void active_before_the_neighbour_is_armed_is_noticed(void **state)
{
	struct fixture *f = *state;

	probe_put_port(&f->p, f->leaf, 3, PI_PORT_STATE, IB_PORT_ARMED);
	probe_put_port(&f->p, f->leaf, 3, PI_PORT_STATE, IB_PORT_ACTIVE);
	assert_int_equal(sim_early_active(f->sim), 1);
}

static void set_down_retrains_both_ends(void **state)
{
	struct fixture *f = *state;
	int spine = sim_find(f->sim, "spine1");

	probe_put(&f->p, spine, IB_ATTR_SWITCH_INFO, 0, SI_PORT_STATE_CHANGE, 1);
	probe_put_port(&f->p, f->leaf, 3, PI_PORT_STATE, IB_PORT_ARMED);
	probe_put_port(&f->p, f->leaf, 3, PI_PORT_STATE, IB_PORT_DOWN);
	assert_int_equal(sim_port_state(f->sim, f->leaf, 3), IB_PORT_DOWN);
	assert_int_equal(sim_port_state(f->sim, spine, 1), IB_PORT_DOWN);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	assert_int_equal(sim_port_state(f->sim, f->leaf, 3), IB_PORT_INIT);
	assert_int_equal(sim_port_state(f->sim, spine, 1), IB_PORT_INIT);
	probe_get(&f->p, spine, IB_ATTR_SWITCH_INFO, 0);
	assert_int_equal(ib_get(f->p.answer, SI_PORT_STATE_CHANGE), 1);
}

static void disabled_port_stays_down_until_it_polls(void **state)
{
	struct fixture *f = *state;
	struct probe *p = &f->p;

	probe_get_port(p, f->leaf, 3);
	ib_put(p->answer, PI_PORT_STATE, IB_PORT_DOWN);
	ib_put(p->answer, PI_PHYS_STATE, IB_PHYS_DISABLED);
	assert_int_equal(probe_set(p, f->leaf, IB_ATTR_PORT_INFO, 3), 0);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	assert_int_equal(sim_port_state(f->sim, f->leaf, 3), IB_PORT_DOWN);
	probe_get(p, f->leaf, IB_ATTR_PORT_INFO, 3);
	assert_int_equal(ib_get(p->answer, PI_PHYS_STATE), IB_PHYS_DISABLED);
	ib_put(p->answer, PI_PORT_STATE, IB_PORT_DOWN);
	ib_put(p->answer, PI_PHYS_STATE, IB_PHYS_POLLING);
	assert_int_equal(probe_set(p, f->leaf, IB_ATTR_PORT_INFO, 3), 0);
	sim_advance(f->sim, sim_now(f->sim) + MONO_S);
	assert_int_equal(sim_port_state(f->sim, f->leaf, 3), IB_PORT_INIT);
}

static void set_of_lid(struct fixture *f, unsigned lid, unsigned lmc, int expect)
{
	probe_get_port(&f->p, f->host, 0);
	ib_put(f->p.answer, PI_LID, lid);
	ib_put(f->p.answer, PI_LMC, lmc);
	assert_int_equal(probe_set(&f->p, f->host, IB_ATTR_PORT_INFO, 0), expect);
}

static void lids_must_be_unicast_and_aligned(void **state)
{
	struct fixture *f = *state;

	set_of_lid(f, 0, 0, MAD_STATUS_BAD_VALUE);
	set_of_lid(f, 0xC000, 0, MAD_STATUS_BAD_VALUE);
	set_of_lid(f, 5, 1, MAD_STATUS_BAD_VALUE);
	set_of_lid(f, 0xBFFF, 0, 0);
	set_of_lid(f, 4, 2, 0);
	assert_int_equal(sim_port_lid(f->sim, f->host, 1), 4);
}

static void base_port_0_has_no_lmc(void **state)
{
	struct fixture *f = *state;

	probe_get_port(&f->p, f->leaf, 0);
	ib_put(f->p.answer, PI_LID, 8);
	ib_put(f->p.answer, PI_LMC, 1);
	assert_int_equal(probe_set(&f->p, f->leaf, IB_ATTR_PORT_INFO, 0), MAD_STATUS_BAD_VALUE);
	ib_put(f->p.answer, PI_LMC, 0);
	assert_int_equal(probe_set(&f->p, f->leaf, IB_ATTR_PORT_INFO, 0), 0);
}

static void mtu_and_vls_stay_within_the_caps(void **state)
{
	struct fixture *f = *state;
	struct probe *p = &f->p;

	sim_set_caps(f->sim, -1, IB_MTU_2048, 3);
	assert_int_equal(probe_put_port(p, f->leaf, 3, PI_NEIGHBOR_MTU, 0), MAD_STATUS_BAD_VALUE);
	probe_get_port(p, f->leaf, 3);
	ib_put(p->answer, PI_NEIGHBOR_MTU, IB_MTU_4096);
	assert_int_equal(probe_set(p, f->leaf, IB_ATTR_PORT_INFO, 3), MAD_STATUS_BAD_VALUE);
	ib_put(p->answer, PI_NEIGHBOR_MTU, IB_MTU_1024);
	ib_put(p->answer, PI_OPER_VLS, 4);
	assert_int_equal(probe_set(p, f->leaf, IB_ATTR_PORT_INFO, 3), MAD_STATUS_BAD_VALUE);
	ib_put(p->answer, PI_OPER_VLS, 3);
	assert_int_equal(probe_set(p, f->leaf, IB_ATTR_PORT_INFO, 3), 0);
	assert_int_equal(ib_get(p->answer, PI_OPER_VLS), 3);
	assert_int_equal(ib_get(p->answer, PI_NEIGHBOR_MTU), IB_MTU_1024);
}

static void reregister_is_counted_and_reads_as_zero(void **state)
{
	struct fixture *f = *state;

	probe_get_port(&f->p, f->host, 0);
	ib_put(f->p.answer, PI_LID, 9);
	ib_put(f->p.answer, PI_CLIENT_REREGISTER, 1);
	assert_int_equal(probe_set(&f->p, f->host, IB_ATTR_PORT_INFO, 0), 0);
	assert_int_equal(ib_get(f->p.answer, PI_CLIENT_REREGISTER), 0);
	assert_int_equal(sim_reregistered(f->sim, f->host, 1), 1);
}

static void read_only_fields_are_kept(void **state)
{
	struct fixture *f = *state;
	uint32_t caps;

	probe_get_port(&f->p, f->host, 0);
	caps = (uint32_t)ib_get(f->p.answer, PI_CAP_MASK);
	ib_put(f->p.answer, PI_LID, 9);
	ib_put(f->p.answer, PI_CAP_MASK, 0);
	ib_put(f->p.answer, PI_WIDTH_SUPPORTED, 0);
	assert_int_equal(probe_set(&f->p, f->host, IB_ATTR_PORT_INFO, 0), 0);
	assert_int_equal(ib_get(f->p.answer, PI_CAP_MASK), caps);
	assert_int_equal(ib_get(f->p.answer, PI_WIDTH_SUPPORTED), 3);
}

static void quirk_forgets_what_ibsim_forgets(void **state)
{
	struct fixture *f = *state;
	struct probe *p = &f->p;

	sim_quirk_no_store(f->sim, f->leaf);
	probe_get_port(p, f->leaf, 3);
	ib_put(p->answer, PI_OVERRUN_ERRORS, 8);
	ib_put(p->answer, PI_HOQ_LIFE, 18);
	ib_put(p->answer, PI_VL_STALL_COUNT, 7);
	assert_int_equal(probe_set(p, f->leaf, IB_ATTR_PORT_INFO, 3), 0);
	assert_int_equal(ib_get(p->answer, PI_OVERRUN_ERRORS), 0);
	assert_int_equal(ib_get(p->answer, PI_VL_STALL_COUNT), 0);
	assert_int_equal(ib_get(p->answer, PI_HOQ_LIFE), 18);
}

static void port_state_change_is_cleared_by_writing_one(void **state)
{
	struct fixture *f = *state;
	struct probe *p = &f->p;

	probe_get(p, f->leaf, IB_ATTR_SWITCH_INFO, 0);
	/* links came up at power-on */
	assert_int_equal(ib_get(p->answer, SI_PORT_STATE_CHANGE), 1);
	probe_put(p, f->leaf, IB_ATTR_SWITCH_INFO, 0, SI_PORT_STATE_CHANGE, 0);
	assert_int_equal(ib_get(p->answer, SI_PORT_STATE_CHANGE), 1);
	probe_put(p, f->leaf, IB_ATTR_SWITCH_INFO, 0, SI_PORT_STATE_CHANGE, 1);
	assert_int_equal(ib_get(p->answer, SI_PORT_STATE_CHANGE), 0);
}

static void unknown_things_are_refused(void **state)
{
	struct fixture *f = *state;
	struct probe *p = &f->p;

	assert_int_equal(probe_get(p, f->leaf, 0x0033, 0), MAD_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(probe_get(p, f->host, IB_ATTR_SWITCH_INFO, 0), MAD_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(probe_get(p, f->host, IB_ATTR_SM_INFO, 0), MAD_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(probe_get(p, f->leaf, IB_ATTR_PORT_INFO, 5), MAD_STATUS_BAD_VALUE);
	assert_int_equal(probe_get(p, f->leaf, IB_ATTR_LFT, 0x300), MAD_STATUS_BAD_VALUE);
	assert_int_equal(probe_set(p, f->leaf, IB_ATTR_NODE_INFO, 0), MAD_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(probe_dr(p, &p->paths[f->leaf], 0x04, IB_ATTR_NODE_INFO, 0),
			 MAD_STATUS_BAD_METHOD);
}

static void tables_read_back(void **state)
{
	static const struct {
		uint16_t attr;
		uint32_t mod;
	} tables[] = {
		{ IB_ATTR_LFT, 0 },	    { IB_ATTR_LFT, 7 },
		{ IB_ATTR_MFT, 3 },	    { IB_ATTR_PKEY_TABLE, 0x20000 },
		{ IB_ATTR_VLARB, 0x10002 }, { IB_ATTR_VLARB, 0x30002 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		memset(f->p.answer, (int)(i + 1), SMP_DATA_SIZE);
		assert_int_equal(probe_set(&f->p, f->leaf, tables[i].attr, tables[i].mod), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		assert_int_equal(probe_get(&f->p, f->leaf, tables[i].attr, tables[i].mod), 0);
		assert_int_equal(f->p.answer[5], i + 1);
	}
}

static void lft_ends_at_the_capacity(void **state)
{
	struct fixture *f = *state;
	struct probe *p = &f->p;

	sim_set_linear_cap(f->sim, f->leaf, 128);
	assert_int_equal(probe_get(p, f->leaf, IB_ATTR_LFT, 1), 0);
	assert_int_equal(p->answer[0], LFT_NO_PORT);
	assert_int_equal(probe_set(p, f->leaf, IB_ATTR_LFT, 2), MAD_STATUS_BAD_VALUE);
	assert_int_equal(probe_put(p, f->leaf, IB_ATTR_SWITCH_INFO, 0, SI_LINEAR_FDB_TOP, 128),
			 MAD_STATUS_BAD_VALUE);
	assert_int_equal(probe_put(p, f->leaf, IB_ATTR_SWITCH_INFO, 0, SI_LINEAR_FDB_TOP, 127), 0);
}

static void optimized_sl2vl_writes_all_rows(void **state)
{
	struct fixture *f = *state;
	struct probe *p = &f->p;

	memset(p->answer, 0x33, SMP_DATA_SIZE);
	assert_int_equal(probe_set(p, f->leaf, IB_ATTR_SL2VL, 0x30000), MAD_STATUS_BAD_VALUE);
	sim_set_optimized_sl2vl(f->sim, f->leaf, true);
	assert_int_equal(probe_set(p, f->leaf, IB_ATTR_SL2VL, 0x30000), 0);
	assert_int_equal(probe_get(p, f->leaf, IB_ATTR_SL2VL, 0x0204), 0);
	assert_int_equal(p->answer[7], 0x33);
	assert_int_equal(p->answer[8], 0);
}

static void alias_guids_are_stored_and_the_first_is_burnt_in(void **state)
{
	struct fixture *f = *state;

	memset(f->p.answer, 0x11, SMP_DATA_SIZE);
	assert_int_equal(probe_set(&f->p, f->host, IB_ATTR_GUID_INFO, 0), 0);
	assert_int_equal(probe_get(&f->p, f->host, IB_ATTR_GUID_INFO, 0), 0);
	assert_int_equal(ib_bits_get(f->p.answer, 0, 64), sim_node_guid(f->sim, f->host) + 1);
	assert_int_equal(ib_bits_get(f->p.answer, 64, 64), 0x1111111111111111ull);
	assert_int_equal(probe_get(&f->p, f->host, IB_ATTR_GUID_INFO, 16), MAD_STATUS_BAD_VALUE);
}

static void m_key_hides_and_protects(void **state)
{
	struct fixture *f = *state;
	struct probe *p = &f->p;

	sim_set_m_key(f->sim, f->host, 1, 0x1234, 1, 0);
	assert_int_equal(probe_get(p, f->host, IB_ATTR_PORT_INFO, 0), 0);
	assert_int_equal(ib_get(p->answer, PI_M_KEY), 0);
	ib_put(p->answer, PI_LID, 3);
	assert_int_equal(probe_set(p, f->host, IB_ATTR_PORT_INFO, 0), PROBE_TIMEOUT);
	sim_set_m_key(f->sim, f->host, 1, 0x1234, 2, 0);
	assert_int_equal(probe_get(p, f->host, IB_ATTR_NODE_INFO, 0), PROBE_TIMEOUT);
	p->m_key = 0x1234;
	assert_int_equal(probe_get(p, f->host, IB_ATTR_PORT_INFO, 0), 0);
	assert_int_equal(ib_get(p->answer, PI_M_KEY), 0x1234);
	assert_int_equal(ib_get(p->answer, PI_M_KEY_VIOLATIONS), 2);
}

static void m_key_lease_runs_out(void **state)
{
	struct fixture *f = *state;

	sim_set_m_key(f->sim, f->host, 1, 0x1234, 3, 5);
	assert_int_equal(probe_get(&f->p, f->host, IB_ATTR_PORT_INFO, 0), PROBE_TIMEOUT);
	sim_advance(f->sim, sim_now(f->sim) + 6 * MONO_S);
	assert_int_equal(probe_get(&f->p, f->host, IB_ATTR_PORT_INFO, 0), 0);
	assert_int_equal(ib_get(f->p.answer, PI_M_KEY), 0x1234);
}

static void extended_speeds_answer_those_who_ask(void **state)
{
	struct netfile *net = gen_speed(gen_single(2), 1000, 4);
	struct sim *sim = sim_new(net, 1);
	struct probe p = probe_open(sim, "h0", 1);

	probe_get(&p, sim_find(sim, "leaf1"), IB_ATTR_PORT_INFO, 1);
	assert_int_equal(ib_get(p.answer, PI_SPEED_EXT_ACTIVE), 0);
	probe_get(&p, sim_find(sim, "leaf1"), IB_ATTR_PORT_INFO, 1 | PI_MOD_EXTENDED_SPEEDS);
	assert_int_equal(ib_get(p.answer, PI_SPEED_EXT_ACTIVE), 8);
	assert_int_equal(ib_get(p.answer, PI_SPEED_ACTIVE), 4);
	probe_close(&p);
	sim_free(sim);
	netfile_free(net);
}

/* Byte 56 of PortInfo has a meaning where CapabilityMask2 says so. */
static void xdr_is_an_active_speed(void **state)
{
	struct netfile *net = gen_speed(gen_single(2), 2000, 4);
	struct sim *sim = sim_new(net, 1);
	struct probe p = probe_open(sim, "h0", 1);

	probe_get(&p, sim_find(sim, "leaf1"), IB_ATTR_PORT_INFO, PI_MOD_EXTENDED_SPEEDS);
	assert_int_equal(ib_speed_sets(p.answer), IB_SPEED_EXTENDED2);
	probe_get(&p, sim_find(sim, "leaf1"), IB_ATTR_PORT_INFO, 1);
	assert_int_equal(ib_link_speed(p.answer, IB_SPEED_EXTENDED2, false), 100);
	probe_get(&p, sim_find(sim, "leaf1"), IB_ATTR_PORT_INFO, 1 | PI_MOD_EXTENDED_SPEEDS);
	assert_int_equal(ib_link_speed(p.answer, IB_SPEED_EXTENDED2, false), 2000);
	assert_int_equal(ib_get(p.answer, PI_SPEED_EXT_ACTIVE), 8);
	probe_close(&p);
	sim_free(sim);
	netfile_free(net);
}

static void fdr10_shows_in_the_vendors_attribute(void **state)
{
	struct netfile *net = gen_speed(gen_single(2), 103, 4);
	struct sim *sim = sim_new(net, 1);
	struct probe p = probe_open(sim, "h0", 1);

	assert_int_equal(probe_get(&p, sim_find(sim, "leaf1"), IB_ATTR_MLNX_EXT_PORT_INFO, 1), 0);
	assert_int_equal(ib_get(p.answer, EPI_SPEED_ACTIVE), EPI_SPEED_FDR10);
	probe_close(&p);
	sim_free(sim);
	netfile_free(net);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(node_info_names_the_port_it_came_in),
		T(description_is_text_padded_with_zeroes),
		T(links_are_in_init_and_port_0_is_active),
		T(port_state_goes_one_way),
		T(active_before_the_neighbour_is_armed_is_noticed),
		T(set_down_retrains_both_ends),
		T(disabled_port_stays_down_until_it_polls),
		T(lids_must_be_unicast_and_aligned),
		T(base_port_0_has_no_lmc),
		T(mtu_and_vls_stay_within_the_caps),
		T(reregister_is_counted_and_reads_as_zero),
		T(read_only_fields_are_kept),
		T(quirk_forgets_what_ibsim_forgets),
		T(port_state_change_is_cleared_by_writing_one),
		T(unknown_things_are_refused),
		T(tables_read_back),
		T(lft_ends_at_the_capacity),
		T(optimized_sl2vl_writes_all_rows),
		T(alias_guids_are_stored_and_the_first_is_burnt_in),
		T(m_key_hides_and_protects),
		T(m_key_lease_runs_out),
		cmocka_unit_test(extended_speeds_answer_those_who_ask),
		cmocka_unit_test(xdr_is_an_active_speed),
		cmocka_unit_test(fdr10_shows_in_the_vendors_attribute),
	};

	return cmocka_run_group_tests_name("sim agent", tests, NULL, NULL);
}
