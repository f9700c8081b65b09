// SPDX-License-Identifier: BSD-2-Clause
/* cc_profile and cc_sw_port_cong_setting: what ports get by the rate of their links. */
#include "tests/unit/congestion-world.h"

#define EDR 250
#define HDR 500
#define NDR 1000

static void set_speed(struct netfile *net, const char *name, unsigned num, uint16_t speed)
{
	int n = netfile_find(net, name);
	struct netfile_port *p;

	assert_true(n >= 0);
	p = &net->nodes[n].ports[num];
	p->speed = speed;
	net->nodes[p->peer_node].ports[p->peer_port].speed = speed;
}

/* leaf1: port 1 h0 at EDR, 2 h1 at HDR, 3 spine1 at NDR; leaf2: hosts and spine at SDR. */
static int setup(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 2, 1, 1);
	struct world *w;

	set_speed(net, "h0", 1, EDR);
	set_speed(net, "h1", 1, HDR);
	set_speed(net, "leaf1", 3, NDR);
	w = world_new(net);
	w->conf->cc_log_interval = 0;
	*state = w;
	return 0;
}

static void set(struct conf *c, enum conf_id id, const char *text)
{
	static const struct conf_place nowhere;
	struct conf_report r = { 0 };

	assert_int_equal(conf_set(c, id, text, &nowhere, &r), 0);
	conf_report_clear(&r);
}

static void bring_up_with(struct world *w, const char *profile)
{
	set(w->conf, CONF_ID_cc_profile, profile);
	bring_up(w);
	assert_int_equal(status_of(w, 0).ports[CC_SETTLED], 7);
	assert_int_equal(status_of(w, 0).refused + status_of(w, 0).rounded, 0);
}

struct port_setting {
	unsigned valid, type, threshold, packet_size, parameter;
};

static struct port_setting setting_of(const struct world *w, const char *name, unsigned num)
{
	uint8_t at[CC_DATA_SIZE];
	const uint8_t *p = at + num % CC_BLOCK_PORTS * CCP_BYTES;

	read_cell(w, name, CC_ATTR_SWITCH_PORT, num / CC_BLOCK_PORTS, at);
	return (struct port_setting){ (unsigned)ib_get(p, CCP_VALID), (unsigned)ib_get(p, CCP_TYPE),
				      (unsigned)ib_get(p, CCP_THRESHOLD),
				      (unsigned)ib_get(p, CCP_PACKET_SIZE),
				      (unsigned)ib_get(p, CCP_PARAMETER) };
}

static void expect(struct port_setting s, unsigned threshold, unsigned size, unsigned parameter)
{
	assert_int_equal(s.valid, 1);
	assert_int_equal(s.threshold, threshold);
	assert_int_equal(s.packet_size, size);
	assert_int_equal(s.parameter, parameter);
}

static unsigned timer_of(const struct world *w, const char *name, unsigned sl)
{
	uint8_t at[CC_DATA_SIZE];

	read_cell(w, name, CC_ATTR_CA, 0, at);
	return (unsigned)ib_get(at + CCA_BYTES + (size_t)sl * CCL_BYTES, CCL_TIMER);
}

/* Delay of an entry, in eighths of the time of a packet. */
static unsigned delay_of(const struct world *w, const char *name, unsigned i)
{
	uint8_t at[CC_DATA_SIZE];
	const uint8_t *e = at + CCT_BYTES + (size_t)(i % CC_BLOCK_ENTRIES) * CCE_BYTES;

	read_cell(w, name, CC_ATTR_TABLE, i / CC_BLOCK_ENTRIES, at);
	return (unsigned)(ib_get(e, CCE_MULTIPLIER) * 8 >> ib_get(e, CCE_SHIFT));
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void each_port_has_the_row_of_its_link(void **state)
{
	struct world *w = *state;

	bring_up_with(w, "gentle");
	expect(setting_of(w, "leaf1", 1), 10, 8, 20);
	expect(setting_of(w, "leaf1", 2), 11, 8, 40);
	expect(setting_of(w, "leaf1", 3), 12, 8, 80);
	expect(setting_of(w, "leaf2", 1), 8, 8, 2);
	expect(setting_of(w, "spine1", 1), 12, 8, 80);
	expect(setting_of(w, "spine1", 2), 8, 8, 2);
	assert_int_equal(setting_of(w, "leaf1", 0).valid, 0);
	assert_int_equal(timer_of(w, "h0", 0), 60);
	assert_int_equal(timer_of(w, "h1", 15), 30);
	assert_int_equal(timer_of(w, "h3", 0), 600);
}

/* Its switch as a whole has the row of its fastest link, and ports with hosts mark as victims. */
static void switches_have_the_row_of_their_fastest_link(void **state)
{
	struct world *w = *state;
	uint8_t at[CC_DATA_SIZE];

	bring_up_with(w, "incast");
	read_cell(w, "leaf1", CC_ATTR_SWITCH, 0, at);
	assert_int_equal(ib_get(at, CCS_THRESHOLD), 15);
	assert_int_equal(ib_get(at, CCS_PACKET_SIZE), 8);
	assert_int_equal(ib_get(at, CCS_MARKING_RATE), 9);
	assert_int_equal(ib_bits_get(at, CCS_VICTIM_MASK + 248, 8), 0x06);
	read_cell(w, "spine1", CC_ATTR_SWITCH, 0, at);
	assert_int_equal(ib_bits_get(at, CCS_VICTIM_MASK + 248, 8), 0);
}

/* Four hosts: to the share of a fourth. */
static void the_table_of_incast_ends_at_the_share_of_all_hosts(void **state)
{
	struct world *w = *state;

	bring_up_with(w, "incast");
	assert_int_equal(delay_of(w, "h3", 0), 0);
	assert_int_equal(delay_of(w, "h3", 127), 3 * 8);
	for (unsigned i = 1; i < 128; i++)
		assert_true(delay_of(w, "h3", i) >= delay_of(w, "h3", i - 1));
}

static void a_short_table_of_a_device_has_the_whole_range(void **state)
{
	struct world *w = *state;
	uint8_t at[CC_DATA_SIZE];

	sim_set_cc_blocks(sim_of(w), node(w, "h3"), 1);
	bring_up_with(w, "gentle");
	read_cell(w, "h3", CC_ATTR_TABLE, 0, at);
	assert_int_equal(ib_get(at, CCT_LIMIT), 63);
	assert_int_equal(delay_of(w, "h3", 63), 32 * 8);
	assert_int_equal(delay_of(w, "h2", 127), 32 * 8);
	assert_int_equal(status_of(w, 0).cut, 0);
}

static void single_options_count_more(void **state)
{
	struct world *w = *state;

	w->conf->cc_sw_cong_setting_threshold = 3;
	w->conf->cc_ca_cong_setting_ccti_timer.values[2] = 77;
	w->conf->cc_cct.n = 2;
	w->conf->cc_cct.entries[1] = (struct conf_cct_entry){ 0, 5 };
	set(w->conf, CONF_ID_cc_sw_port_cong_setting, "all=1:2:3,ndr=4:5:6,hosts=off");
	bring_up_with(w, "incast");
	expect(setting_of(w, "leaf1", 3), 4, 5, 6);
	expect(setting_of(w, "spine1", 2), 1, 2, 3);
	assert_int_equal(setting_of(w, "leaf1", 1).valid, 0);
	assert_int_equal(timer_of(w, "h0", 2), 77);
	assert_int_equal(timer_of(w, "h0", 3), 60);
	assert_int_equal(delay_of(w, "h0", 1), 5 * 8);
}

static void spared_levels_are_not_slowed_down(void **state)
{
	struct world *w = *state;
	uint8_t at[CC_DATA_SIZE];

	w->conf->cc_no_throttle_sls = 1 << 4;
	bring_up_with(w, "incast");
	assert_int_equal(timer_of(w, "h0", 4), 0);
	assert_int_equal(timer_of(w, "h0", 5), 60);
	read_cell(w, "h0", CC_ATTR_CA, 0, at);
	assert_int_equal(ib_get(at + CCA_BYTES + 4 * CCL_BYTES, CCL_INCREASE), 0);
	assert_int_equal(ib_get(at + CCA_BYTES + 5 * CCL_BYTES, CCL_INCREASE), 1);
	assert_int_equal(ib_get(at + CCA_BYTES + 5 * CCL_BYTES, CCL_TRIGGER), 16);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void without_a_profile_ports_are_not_asked(void **state)
{
	struct world *w = *state;

	w->conf->cc_sw_cong_setting_control_map = 4;
	w->conf->cc_sw_cong_setting_threshold = 1;
	bring_up(w);
	/* CongestionInfo of each, and in both sweeps one setting, of hosts a block of a table. */
	assert_int_equal(n_gets(w), 7 + 2 * (3 + 4 * 2));
	assert_int_equal(n_sets(w), 3);
}

static void ports_are_read_and_written_once(void **state)
{
	struct world *w = *state;

	set(w->conf, CONF_ID_cc_sw_port_cong_setting, "all=15:8:0");
	bring_up(w);
	assert_int_equal(n_sets(w), 3);
	expect(setting_of(w, "leaf2", 2), 15, 8, 0);
	assert_int_equal(sweep_sets(w), 0);
	rig_kill(w->rig, 0);
	start(w, "h2", w->conf);
	run_for(w, 240 * MONO_S);
	assert_int_equal(sm_state(w->rig->sms[1].sm), SM_MASTER);
	assert_int_equal(n_sets(w), 3);
}

static void off_takes_settings_of_ports_away(void **state)
{
	struct world *w = *state;
	_cleanup_(conf_unrefp) struct conf *other = NULL;

	set(w->conf, CONF_ID_cc_sw_port_cong_setting, "all=15:8:0");
	other = conf_copy(w->conf);
	bring_up(w);
	set(other, CONF_ID_cc_sw_port_cong_setting, "all=off");
	reload(w, other);
	assert_int_equal(setting_of(w, "leaf2", 2).valid, 0);
	assert_int_equal(n_sets(w), 6);
}

static void a_switch_without_settings_of_ports_is_written_once(void **state)
{
	struct world *w = *state;
	uint8_t at[CC_DATA_SIZE];

	sim_set_cc(sim_of(w), node(w, "leaf1"), SIM_CC_PLAIN);
	set(w->conf, CONF_ID_cc_profile, "incast");
	bring_up(w);
	assert_int_equal(status_of(w, 0).refused, 1);
	read_cell(w, "leaf1", CC_ATTR_SWITCH, 0, at);
	assert_int_equal(ib_get(at, CCS_THRESHOLD), 15);
	assert_int_equal(sweep_sets(w), 0);
}

static void a_switch_that_rounds_is_written_once(void **state)
{
	struct world *w = *state;

	sim_set_cc(sim_of(w), node(w, "leaf1"), SIM_CC_ROUNDS);
	set(w->conf, CONF_ID_cc_sw_port_cong_setting, "all=15:8:0");
	bring_up(w);
	assert_int_equal(status_of(w, 0).rounded, 1);
	assert_int_equal(sweep_sets(w), 0);
}

static void credits_are_delayed_where_asked_for(void **state)
{
	struct world *w = *state;

	set(w->conf, CONF_ID_cc_sw_port_cong_setting, "switches=credit:5:1:300");
	bring_up(w);
	expect(setting_of(w, "leaf1", 3), 5, 0, 1 << 14 | 300);
	assert_int_equal(setting_of(w, "leaf1", 3).type, 1);
	assert_int_equal(setting_of(w, "leaf1", 1).valid, 0);
}

/* A host that restarts changes nothing at its switch; nor does a takeover while it is away. */
static void a_host_that_goes_and_comes_changes_no_switch(void **state)
{
	struct world *w = *state;
	uint64_t before;

	bring_up_with(w, "gentle");
	before = n_sets(w);
	assert_int_equal(sim_link_down(sim_of(w), node(w, "h3"), 1), 0);
	run_for(w, 60 * MONO_S);
	rig_kill(w->rig, 0);
	start(w, "h2", w->conf);
	run_for(w, 240 * MONO_S);
	assert_int_equal(sm_state(w->rig->sms[1].sm), SM_MASTER);
	assert_int_equal(sim_link_up(sim_of(w), node(w, "h3"), 1), 0);
	run_for(w, 120 * MONO_S);
	assert_int_equal(status_of(w, 1).ports[CC_SETTLED], 7);
	assert_int_equal(n_sets(w), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(each_port_has_the_row_of_its_link),
		T(switches_have_the_row_of_their_fastest_link),
		T(the_table_of_incast_ends_at_the_share_of_all_hosts),
		T(a_short_table_of_a_device_has_the_whole_range),
		T(single_options_count_more),
		T(spared_levels_are_not_slowed_down),
		T(without_a_profile_ports_are_not_asked),
		T(ports_are_read_and_written_once),
		T(off_takes_settings_of_ports_away),
		T(a_switch_without_settings_of_ports_is_written_once),
		T(a_switch_that_rounds_is_written_once),
		T(credits_are_delayed_where_asked_for),
		T(a_host_that_goes_and_comes_changes_no_switch),
	};

	return cmocka_run_group_tests_name("congestion-profile", tests, NULL, NULL);
}
