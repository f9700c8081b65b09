// SPDX-License-Identifier: BSD-2-Clause
/* Congestion control of a simulated fabric: settings, keys, devices that disappoint, logs. */
#include "tests/unit/congestion-world.h"

#include "ib/notices.h"
#include "ib/records.h"
#include "sm/trust/violations.h"

#define KEY 0xC0FFEE

/* Two leaves with two hosts each under two spines. */
static int setup(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 2, 2, 1);
	struct world *w = world_new(net);

	w->conf->cc_sw_cong_setting_control_map = 0x1F;
	w->conf->cc_sw_cong_setting_victim_mask.bytes[31] = 0x06;
	w->conf->cc_sw_cong_setting_credit_mask.bytes[30] = 0x80;
	w->conf->cc_sw_cong_setting_threshold = 0x0F;
	w->conf->cc_sw_cong_setting_packet_size = 8;
	w->conf->cc_sw_cong_setting_credit_starvation_threshold = 5;
	w->conf->cc_sw_cong_setting_credit_starvation_return_delay =
		(struct conf_cct_entry){ 1, 300 };
	w->conf->cc_sw_cong_setting_marking_rate = 700;
	w->conf->cc_ca_cong_setting_port_control = 1;
	w->conf->cc_ca_cong_setting_control_map = 0x0009;
	w->conf->cc_ca_cong_setting_ccti_timer.values[3] = 151;
	w->conf->cc_ca_cong_setting_ccti_increase.values[3] = 2;
	w->conf->cc_ca_cong_setting_trigger_threshold.values[3] = 4;
	w->conf->cc_ca_cong_setting_ccti_min.values[0] = 1;
	w->conf->cc_cct.n = 65;
	for (unsigned i = 0; i < 65; i++)
		w->conf->cc_cct.entries[i] = (struct conf_cct_entry){ i % 4, (uint16_t)(i * 3) };
	*state = w;
	return 0;
}

/* ---- settings -------------------------------------------------------------------------------- */

static void off_sends_nothing(void **state)
{
	struct world *w = *state;

	w->conf->congestion_control = false;
	w->conf->cc_key_enable = 2;
	w->conf->cc_key = KEY;
	bring_up(w);
	assert_int_equal(sm_state(w->rig->sms[0].sm), SM_MASTER);
	assert_int_equal(n_gets(w) + n_sets(w), 0);
	assert_false(status_of(w, 0).on);
}

static void switches_get_all_fields(void **state)
{
	struct world *w = *state;
	uint8_t at[CC_DATA_SIZE];

	bring_up(w);
	read_cell(w, "leaf1", CC_ATTR_SWITCH, 0, at);
	assert_int_equal(ib_bits_get(at, CCS_VICTIM_MASK + 255 - 1, 1), 1);
	assert_int_equal(ib_bits_get(at, CCS_VICTIM_MASK + 255 - 2, 1), 1);
	assert_int_equal(ib_bits_get(at, CCS_VICTIM_MASK + 255 - 3, 1), 0);
	assert_int_equal(ib_bits_get(at, CCS_CREDIT_MASK + 255 - 15, 1), 1);
	assert_int_equal(ib_get(at, CCS_THRESHOLD), 15);
	assert_int_equal(ib_get(at, CCS_PACKET_SIZE), 8);
	assert_int_equal(ib_get(at, CCS_CREDIT_THRESHOLD), 5);
	assert_int_equal(ib_get(at, CCS_RETURN_SHIFT), 1);
	assert_int_equal(ib_get(at, CCS_RETURN_MULTIPLIER), 300);
	assert_int_equal(ib_get(at, CCS_MARKING_RATE), 700);
}

static void hosts_get_settings_and_all_blocks(void **state)
{
	struct world *w = *state;
	uint8_t at[CC_DATA_SIZE];

	bring_up(w);
	read_cell(w, "h3", CC_ATTR_CA, 0, at);
	assert_int_equal(ib_get(at, CCA_PORT_CONTROL), 1);
	assert_int_equal(ib_bits_get(at + CCA_BYTES + 3 * CCL_BYTES, CCL_TIMER, 16), 151);
	assert_int_equal(ib_bits_get(at + CCA_BYTES + 3 * CCL_BYTES, CCL_INCREASE, 8), 2);
	assert_int_equal(ib_bits_get(at + CCA_BYTES + 3 * CCL_BYTES, CCL_TRIGGER, 8), 4);
	assert_int_equal(ib_bits_get(at + CCA_BYTES, CCL_MIN, 8), 1);
	read_cell(w, "h3", CC_ATTR_TABLE, 0, at);
	assert_int_equal(ib_get(at, CCT_LIMIT), 64);
	assert_int_equal(ib_bits_get(at + CCT_BYTES + 63 * CCE_BYTES, CCE_MULTIPLIER, 14), 189);
	read_cell(w, "h3", CC_ATTR_TABLE, 1, at);
	assert_int_equal(ib_get(at, CCT_LIMIT), 64);
	assert_int_equal(ib_bits_get(at + CCT_BYTES, CCE_MULTIPLIER, 14), 192);
	assert_int_equal(ib_bits_get(at + CCT_BYTES + CCE_BYTES, CCE_MULTIPLIER, 14), 0);
}

static void a_table_of_one_entry_has_one(void **state)
{
	struct world *w = *state;
	uint8_t at[CC_DATA_SIZE];

	w->conf->cc_cct.n = 1;
	w->conf->cc_cct.entries[0].multiplier = 9;
	bring_up(w);
	read_cell(w, "h3", CC_ATTR_TABLE, 0, at);
	assert_int_equal(ib_get(at, CCT_LIMIT), 0);
	assert_int_equal(ib_bits_get(at + CCT_BYTES, CCE_MULTIPLIER, 14), 9);
}

static void a_short_table_of_a_device_is_not_overrun(void **state)
{
	struct world *w = *state;
	uint8_t at[CC_DATA_SIZE];

	sim_set_cc_blocks(sim_of(w), node(w, "h3"), 1);
	bring_up(w);
	read_cell(w, "h3", CC_ATTR_TABLE, 0, at);
	assert_int_equal(ib_get(at, CCT_LIMIT), 63);
	assert_int_equal(status_of(w, 0).cut, 1);
	assert_int_equal(status_of(w, 0).refused, 0);
}

/* 4 switches, 4 hosts: Get and Set of a setting each, CongestionInfo, two blocks for hosts. */
static void each_cell_is_read_and_written_once(void **state)
{
	struct world *w = *state;

	w->conf->cc_log_interval = 0;
	bring_up(w);
	assert_int_equal(status_of(w, 0).ports[CC_SETTLED], 8);
	assert_int_equal(n_sets(w), 4 + 4 * 3);
	assert_int_equal(status_of(w, 0).n_sets, n_sets(w));
	assert_int_equal(status_of(w, 0).timeouts, 0);
}

static void a_heavy_sweep_reads_and_sets_nothing(void **state)
{
	struct world *w = *state;
	uint64_t before;

	bring_up(w);
	before = n_gets(w);
	assert_int_equal(sweep_sets(w), 0);
	assert_true(n_gets(w) >= before + 4 + 4 * 3);
}

static void what_another_changed_is_written_again(void **state)
{
	struct world *w = *state;
	uint8_t at[CC_DATA_SIZE];

	bring_up(w);
	sim_reboot(sim_of(w), node(w, "h3"), MONO_S);
	run_for(w, 60 * MONO_S);
	read_cell(w, "h3", CC_ATTR_TABLE, 0, at);
	assert_int_equal(ib_get(at, CCT_LIMIT), 64);
}

/* Its setting and two blocks; no other port is asked anything. */
static void a_port_that_came_back_is_read_alone(void **state)
{
	struct world *w = *state;
	uint64_t read, written;

	w->conf->cc_log_interval = 0;
	bring_up(w);
	run_for(w, 60 * MONO_S);
	read = n_gets(w);
	written = n_sets(w);
	assert_int_equal(sim_link_flap(sim_of(w), node(w, "h3"), 1, 2 * MONO_S), 0);
	run_for(w, 60 * MONO_S);
	assert_int_equal(n_gets(w) - read, 4);
	assert_int_equal(n_sets(w) - written, 0);
}

static void a_change_of_options_sets_what_differs(void **state)
{
	struct world *w = *state;
	_cleanup_(conf_unrefp) struct conf *other = conf_copy(w->conf);
	uint64_t before;
	uint8_t at[CC_DATA_SIZE];

	bring_up(w);
	before = n_sets(w);
	other->cc_sw_cong_setting_marking_rate = 1;
	reload(w, other);
	assert_int_equal(n_sets(w) - before, 4);
	read_cell(w, "leaf2", CC_ATTR_SWITCH, 0, at);
	assert_int_equal(ib_get(at, CCS_MARKING_RATE), 1);
}

static void service_levels_can_be_spared(void **state)
{
	struct world *w = *state;
	_cleanup_(conf_unrefp) struct conf *other = conf_copy(w->conf);
	uint8_t at[CC_DATA_SIZE];

	bring_up(w);
	other->cc_no_throttle_sls = 1 << 3;
	reload(w, other);
	read_cell(w, "h2", CC_ATTR_CA, 0, at);
	assert_int_equal(ib_bits_get(at + CCA_BYTES + 3 * CCL_BYTES, CCL_INCREASE, 8), 0);
	assert_int_equal(ib_bits_get(at + CCA_BYTES, CCL_MIN, 8), 1);
}

/* ---- devices that disappoint ----------------------------------------------------------------- */

static void a_device_that_rounds_is_written_once(void **state)
{
	struct world *w = *state;

	sim_set_cc(sim_of(w), node(w, "leaf1"), SIM_CC_ROUNDS);
	sim_set_cc(sim_of(w), node(w, "h3"), SIM_CC_ROUNDS);
	bring_up(w);
	assert_int_equal(status_of(w, 0).rounded, 2);
	assert_int_equal(sweep_sets(w), 0);
	assert_int_equal(status_of(w, 0).rounded, 2);
}

static void a_device_that_refuses_is_written_once(void **state)
{
	struct world *w = *state;

	sim_set_cc(sim_of(w), node(w, "leaf1"), SIM_CC_REFUSES);
	sim_set_cc(sim_of(w), node(w, "h3"), SIM_CC_REFUSES);
	bring_up(w);
	assert_int_equal(status_of(w, 0).refused, 2);
	assert_int_equal(status_of(w, 0).ports[CC_SETTLED], 8);
	assert_int_equal(sweep_sets(w), 0);
}

static void a_silent_device_costs_four_timeouts_once(void **state)
{
	struct world *w = *state;

	sim_set_cc(sim_of(w), node(w, "h3"), SIM_CC_SILENT);
	bring_up(w);
	assert_int_equal(status_of(w, 0).timeouts, 4);
	assert_int_equal(status_of(w, 0).ports[CC_SILENT], 1);
	assert_int_equal(status_of(w, 0).ports[CC_SETTLED], 7);
	sweep_sets(w);
	assert_int_equal(status_of(w, 0).timeouts, 4);
	sim_set_cc(sim_of(w), node(w, "h3"), SIM_CC_ANSWERS);
	sim_reboot(sim_of(w), node(w, "h3"), MONO_S);
	run_for(w, 60 * MONO_S);
	assert_int_equal(status_of(w, 0).ports[CC_SETTLED], 8);
	assert_int_equal(status_of(w, 0).timeouts, 4);
}

/* Its firmware was busy when the manager came; its link never goes down. */
static void a_silent_device_is_asked_again_now_and_then(void **state)
{
	struct world *w = *state;
	uint8_t cell[CC_DATA_SIZE];

	sim_set_cc(sim_of(w), node(w, "h3"), SIM_CC_SILENT);
	bring_up(w);
	assert_int_equal(status_of(w, 0).timeouts, 4);
	run_for(w, 6 * 3600 * MONO_S); /* after 5, 15, 35, 75, 155, 235, 315 minutes */
	assert_in_range(status_of(w, 0).timeouts, 4 + 6, 4 + 8);
	assert_int_equal(status_of(w, 0).ports[CC_SILENT], 1);
	sim_set_cc(sim_of(w), node(w, "h3"), SIM_CC_ANSWERS);
	run_for(w, 2 * 3600 * MONO_S);
	assert_int_equal(status_of(w, 0).ports[CC_SETTLED], 8);
	read_cell(w, "h3", CC_ATTR_CA, 0, cell);
	assert_int_equal(ib_get(cell, CCA_PORT_CONTROL), 1);
}

/* A wrong key is as silence: one key of those it may have is tried at a time, until one fits. */
static void a_device_that_gets_its_key_back_is_found(void **state)
{
	struct world *w = *state;

	w->conf->cc_key_enable = 2;
	w->conf->cc_key = KEY;
	set_key(w, "h3", 0xBAD);
	bring_up(w);
	assert_int_equal(status_of(w, 0).ports[CC_SILENT], 1);
	set_key(w, "h3", KEY);
	run_for(w, 700 * MONO_S);
	assert_int_equal(status_of(w, 0).ports[CC_SETTLED], 8);
	assert_int_equal(status_of(w, 0).wrong_key, 0);
}

/* Of many silent ports no more are asked in a second than of few. */
static void silent_devices_are_not_asked_all_at_once(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(8, 8, 4, 1);
	struct world *w = world_new(net);
	uint64_t before;

	for (unsigned i = 0; i < sim_n_nodes(sim_of(w)); i++)
		sim_set_cc(sim_of(w), (int)i, SIM_CC_SILENT);
	bring_up(w);
	assert_int_equal(status_of(w, 0).ports[CC_SILENT], sim_n_nodes(sim_of(w)));
	run_for(w, 240 * MONO_S);
	before = n_gets(w);
	for (unsigned i = 0; i < 120; i++) {
		run_for(w, MONO_S);
		assert_in_range(n_gets(w) - before, 0, 2 * 16);
		before = n_gets(w);
	}
	assert_true(status_of(w, 0).timeouts >= 5 * sim_n_nodes(sim_of(w)));
	teardown((void **)&w);
}

static void a_device_without_the_class_is_asked_once(void **state)
{
	struct world *w = *state;
	uint64_t before;

	for (unsigned i = 0; i < sim_n_nodes(sim_of(w)); i++)
		sim_set_cc(sim_of(w), (int)i, SIM_CC_ABSENT);
	bring_up(w);
	assert_int_equal(status_of(w, 0).ports[CC_UNSUPPORTED], 8);
	before = n_gets(w);
	assert_int_equal(sweep_sets(w), 0);
	assert_int_equal(n_gets(w), before);
	assert_int_equal(before, 8);
}

static void loss_delays_and_nothing_else(void **state)
{
	struct world *w = *state;

	bring_up(w);
	sim_set_loss(sim_of(w), 10, 10);
	sim_reboot(sim_of(w), node(w, "leaf1"), MONO_S);
	run_for(w, 120 * MONO_S);
	sim_set_loss(sim_of(w), 0, 0);
	run_for(w, 60 * MONO_S);
	assert_int_equal(status_of(w, 0).outstanding, 0);
	assert_int_equal(status_of(w, 0).ports[CC_QUEUED] + status_of(w, 0).ports[CC_ASKED], 0);
}

static void the_window_is_kept(void **state)
{
	struct world *w = *state;
	const struct cc_place place = { 0 };

	w->conf->cc_max_outstanding_mads = 2;
	for (unsigned i = 0; i < sim_n_nodes(sim_of(w)); i++)
		sim_set_cc(sim_of(w), (int)i, SIM_CC_SILENT);
	start(w, "h0", w->conf);
	for (unsigned i = 0; i < 100; i++) {
		run_for(w, MONO_S / 10);
		assert_true(status_of(w, 0).outstanding <= 2);
	}
	assert_true(status_of(w, 0).timeouts > 0);
	cc_dispatch(w->cc[0], &place);
	assert_int_equal(status_of(w, 0).outstanding, 0);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void keys_are_left_alone_unless_asked_for(void **state)
{
	struct world *w = *state;

	w->conf->cc_key = KEY;
	set_key(w, "leaf2", KEY);
	bring_up(w);
	assert_int_equal(status_of(w, 0).ports[CC_SETTLED], 8);
	assert_int_equal(key_of(w, "leaf2").key, KEY);
	assert_int_equal(key_of(w, "leaf2").violations, 0);
	assert_int_equal(key_of(w, "h3").key, 0);
}

static void devices_get_the_key_with_protection_and_lease(void **state)
{
	struct world *w = *state;

	w->conf->cc_key_enable = 2;
	w->conf->cc_key = KEY;
	bring_up(w);
	assert_int_equal(key_of(w, "h3").key, KEY);
	assert_int_equal(key_of(w, "leaf1").key, KEY);
	assert_true(key_of(w, "leaf1").protect);
	assert_int_equal(key_of(w, "leaf1").lease, 60);
	assert_int_equal(key_of(w, "leaf1").violations, 0);
	assert_int_equal(status_of(w, 0).with_key, 8);
	assert_int_equal(status_of(w, 0).wrong_key, 0);
	assert_int_equal(sweep_sets(w), 0);
}

static void with_m_key_per_port_each_has_its_own(void **state)
{
	struct world *w = *state;

	w->conf->cc_key_enable = 2;
	w->conf->m_key = 77;
	w->conf->m_key_per_port = true;
	bring_up(w);
	assert_int_equal(status_of(w, 0).with_key, 8);
	assert_int_equal(status_of(w, 0).wrong_key, 0);
	assert_true(key_of(w, "h3").key && key_of(w, "h3").key != key_of(w, "h2").key);
}

static void another_key_of_a_device_is_said_and_costs_four_timeouts(void **state)
{
	struct world *w = *state;

	w->conf->cc_key_enable = 2;
	w->conf->cc_key = KEY;
	set_key(w, "h3", 0xBAD);
	bring_up(w);
	assert_int_equal(status_of(w, 0).ports[CC_SILENT], 1);
	assert_int_equal(status_of(w, 0).timeouts, 4);
	assert_int_equal(status_of(w, 0).wrong_key, 1);
	assert_int_equal(key_of(w, "h3").key, 0xBAD);
}

static void keys_are_taken_away(void **state)
{
	struct world *w = *state;
	_cleanup_(conf_unrefp) struct conf *other = NULL;

	w->conf->cc_key_enable = 2;
	w->conf->cc_key = KEY;
	other = conf_copy(w->conf);
	bring_up(w);
	other->cc_key_enable = 1;
	reload(w, other);
	assert_int_equal(key_of(w, "h3").key, 0);
	assert_int_equal(key_of(w, "leaf1").key, 0);
	assert_int_equal(status_of(w, 0).wrong_key, 0);
	assert_int_equal(status_of(w, 0).timeouts, 0);
}

/* But for where traps go, once for each device. */
static void a_standby_takes_over_without_a_set_of_a_setting(void **state)
{
	struct world *w = *state;
	uint64_t before;

	w->conf->cc_key_enable = 2;
	w->conf->cc_key = KEY;
	bring_up(w);
	start(w, "h2", w->conf);
	run_for(w, 30 * MONO_S);
	assert_int_equal(status_of(w, 1).n_gets, 0);
	before = n_sets(w);
	rig_kill(w->rig, 0);
	run_for(w, 240 * MONO_S);
	assert_int_equal(sm_state(w->rig->sms[1].sm), SM_MASTER);
	assert_int_equal(n_sets(w), before + 8);
	assert_int_equal(status_of(w, 1).ports[CC_SETTLED], 8);
	assert_int_equal(key_of(w, "h3").violations, 0);
}

/* ---- traps ----------------------------------------------------------------------------------- */

static lid_t lid_of(const struct world *w, const char *name)
{
	int n = node(w, name);

	return sim_port_lid(sim_of(w), n, sim_node_is_switch(sim_of(w), n) ? 0 : 1);
}

static lid_t traps_to(const struct world *w, const char *name)
{
	uint8_t at[CC_DATA_SIZE];

	read_cell(w, name, CC_ATTR_CLASS_PORT_INFO, 0, at);
	return (lid_t)ib_get(at, CPI_TRAP_LID);
}

static uint64_t violations_by(const struct world *w, const char *name, enum violation_kind kind)
{
	struct sm *sm = rig_master(w->rig);
	const struct violation_counts *c = violations_of(fabric_find_port(
		sm_fabric(sm), sim_node_guid(sim_of(w), node(w, name)) + 1));

	return c ? c->n[kind] : 0;
}

static void send_cc(struct transport *tr, lid_t lid, uint8_t method, uint16_t attr,
		    const uint8_t *notice)
{
	const struct transport_addr to = { .lid = lid, .qp = 1, .qkey = MAD_QP1_QKEY };
	uint8_t mad[MAD_SIZE] = { 0 };

	ib_put(mad, SMP_BASE_VERSION, 1);
	ib_put(mad, SMP_CLASS, MAD_CLASS_CC);
	ib_put(mad, SMP_CLASS_VERSION, CC_CLASS_VERSION);
	ib_put(mad, SMP_METHOD, method);
	ib_put(mad, SMP_TID, 77);
	ib_put(mad, SMP_ATTR_ID, attr);
	ib_put(mad, SMP_M_KEY, KEY + 1);
	if (notice)
		memcpy(mad + CC_DATA, notice, CKV_BYTES);
	assert_int_equal(transport_send(tr, &to, mad, MAD_SIZE, 0), 0);
}

static void a_wrong_key_is_counted_against_its_sender(void **state)
{
	struct world *w = *state;
	struct transport *tr;

	w->conf->cc_key_enable = 2;
	w->conf->cc_key = KEY;
	bring_up(w);
	assert_int_equal(traps_to(w, "leaf1"), lid_of(w, "h0"));
	assert_int_equal(traps_to(w, "h3"), lid_of(w, "h0"));
	tr = sim_attach(sim_of(w), "h2", 1);
	for (unsigned i = 0; i < 5; i++) {
		send_cc(tr, lid_of(w, i % 2 ? "h3" : "leaf1"), MAD_SET, CC_ATTR_CA, NULL);
		run_for(w, MONO_S);
	}
	assert_int_equal(violations_by(w, "h2", VIOLATION_CC_KEY), 5);
	assert_int_equal(violations_by(w, "h3", VIOLATION_CC_KEY), 0);
	assert_int_equal(violations_total(rig_master(w->rig))->n[VIOLATION_CC_KEY], 5);
	transport_close(tr);
}

static void a_trap_in_the_name_of_another_device_is_forged(void **state)
{
	struct world *w = *state;
	uint8_t notice[CKV_BYTES] = { 0 };
	struct transport *tr;

	w->conf->cc_key_enable = 2;
	w->conf->cc_key = KEY;
	bring_up(w);
	tr = sim_attach(sim_of(w), "h2", 1);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_ISSUER_LID, lid_of(w, "leaf1"));
	ib_put(notice, CKV_LID, lid_of(w, "h3"));
	send_cc(tr, lid_of(w, "h0"), MAD_TRAP, CC_ATTR_NOTICE, notice);
	run_for(w, MONO_S);
	assert_int_equal(violations_by(w, "h3", VIOLATION_CC_KEY), 0);
	assert_int_equal(violations_by(w, "h2", VIOLATION_TRAP), 1);
	/* Our own wrong keys are no offence. */
	ib_put(notice, NT_ISSUER_LID, lid_of(w, "h2"));
	ib_put(notice, CKV_LID, lid_of(w, "h0"));
	send_cc(tr, lid_of(w, "h0"), MAD_TRAP, CC_ATTR_NOTICE, notice);
	run_for(w, MONO_S);
	assert_int_equal(violations_total(rig_master(w->rig))->n[VIOLATION_CC_KEY], 0);
	transport_close(tr);
}

static void traps_are_asked_for_with_keys_alone(void **state)
{
	struct world *w = *state;

	bring_up(w);
	assert_int_equal(traps_to(w, "leaf1"), 0);
}

/* ---- logs ------------------------------------------------------------------------------------ */

static void logs_name_flows_and_ports(void **state)
{
	struct world *w = *state;
	lid_t from, to;
	const struct cc_port *p;

	bring_up(w);
	from = sim_port_lid(sim_of(w), node(w, "h1"), 1);
	to = sim_port_lid(sim_of(w), node(w, "h3"), 1);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(sim_cc_mark(sim_of(w), node(w, "leaf1"), 2, from, to), 0);
	assert_int_equal(sim_cc_mark(sim_of(w), node(w, "h1"), 1, from, to), 0);
	run_for(w, 130 * MONO_S);
	p = cc_port_of_lid(w->cc[0], sim_port_lid(sim_of(w), node(w, "leaf1"), 0));
	assert_non_null(p);
	assert_int_equal(p->marks, 3);
	assert_int_equal(p->marked[0], 1 << 2);
	assert_int_equal(p->n_flows, 1);
	assert_int_equal(p->flows[0].events, 3);
	assert_int_equal(p->flows[0].from, from);
	assert_int_equal(p->flows[0].to, to);
	p = cc_port_of_lid(w->cc[0], from);
	assert_non_null(p);
	assert_int_equal(p->marks, 1);
	assert_int_equal(status_of(w, 0).marks, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(off_sends_nothing),
		T(switches_get_all_fields),
		T(hosts_get_settings_and_all_blocks),
		T(a_table_of_one_entry_has_one),
		T(a_short_table_of_a_device_is_not_overrun),
		T(each_cell_is_read_and_written_once),
		T(a_heavy_sweep_reads_and_sets_nothing),
		T(what_another_changed_is_written_again),
		T(a_port_that_came_back_is_read_alone),
		T(a_change_of_options_sets_what_differs),
		T(service_levels_can_be_spared),
		T(a_device_that_rounds_is_written_once),
		T(a_device_that_refuses_is_written_once),
		T(a_silent_device_costs_four_timeouts_once),
		T(a_silent_device_is_asked_again_now_and_then),
		T(a_device_that_gets_its_key_back_is_found),
		T(silent_devices_are_not_asked_all_at_once),
		T(a_device_without_the_class_is_asked_once),
		T(loss_delays_and_nothing_else),
		T(the_window_is_kept),
		T(keys_are_left_alone_unless_asked_for),
		T(devices_get_the_key_with_protection_and_lease),
		T(with_m_key_per_port_each_has_its_own),
		T(another_key_of_a_device_is_said_and_costs_four_timeouts),
		T(keys_are_taken_away),
		T(a_standby_takes_over_without_a_set_of_a_setting),
		T(a_wrong_key_is_counted_against_its_sender),
		T(a_trap_in_the_name_of_another_device_is_forged),
		T(traps_are_asked_for_with_keys_alone),
		T(logs_name_flows_and_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
