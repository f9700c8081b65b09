// SPDX-License-Identifier: BSD-2-Clause
/* SL2VL and VL arbitration as sync/ writes them: devices that refuse, forget, lie, or have less. */
#include "sync-desk.h"

#include "plan/qos.h"

static struct qos_plan plan;

/* The differ, with qos_* as the configuration of the desk says now. */
static const struct sync_outcome *run(struct desk *d)
{
	const struct plan p = { .conf = d->conf, .qos = &plan, .sm_lid = desk_host(d, 0)->lid };

	qos_plan_make(d->conf, NULL, &plan);
	d->ended = false;
	sync_start(d->sync, &p);
	while (!d->ended)
		desk_step(d);
	return &d->outcome;
}

static struct desk *desk_with(const char *sl2vl)
{
	struct desk *d = desk_new(3);

	d->conf->qos = true;
	d->conf->qos_sl2vl = xstrdup(sl2vl);
	return d;
}

static int leaf(const struct desk *d)
{
	return sim_find(d->sim, "leaf1");
}

static unsigned vl_at(const struct desk *d, int node, unsigned in, unsigned out, unsigned sl)
{
	uint8_t row[SMP_DATA_SIZE];

	assert_int_equal(sim_read(d->sim, node, IB_ATTR_SL2VL, in << 8 | out, row), 0);
	return (unsigned)ib_bits_get(row, sl * 4, 4);
}

static uint64_t rows(const struct desk *d)
{
	return sim_count(d->sim, IB_ATTR_SL2VL, MAD_SET);
}

static void every_row_is_written_once(void **state)
{
	struct desk *d = desk_with("7,6,5,4,3,2,1,0");
	uint64_t sets;

	assert_int_equal(run(d)->refused, 0);
	/* Leaves have four ports that are up, the spine two; hosts one row. */
	assert_int_equal(rows(d), 2 * 4 * 5 + 2 * 3 + N_HOSTS);
	for (unsigned in = 0; in <= 4; in++)
		assert_int_equal(vl_at(d, leaf(d), in, 1, 0), 7);
	desk_observe(d);
	sets = sim_sets(d->sim);
	run(d);
	assert_int_equal(sim_sets(d->sim), sets);
	desk_free(d);
}

static void assert_mapped_before_active(void *arg)
{
	const struct desk *d = arg;

	for (unsigned out = 1; out <= 4; out++) {
		if (sim_port_state(d->sim, leaf(d), out) == IB_PORT_ACTIVE)
			assert_int_equal(vl_at(d, leaf(d), 0, out, 0), 7);
	}
}

/*
 * A link between switches is ARMED before SL2VL tables are written; it becomes ACTIVE only when
 * they are.
 */
static void ports_that_were_armed_ahead_wait_for_their_rows(void **state)
{
	struct desk *d = desk_with("7,6,5,4,3,2,1,0");
	const struct plan p = {
		.conf = d->conf, .sm_lid = desk_host(d, 0)->lid, .arms_ahead = true
	};
	uint64_t armed;

	d->ended = false;
	sync_start_ahead(d->sync, &p);
	while (!d->ended)
		desk_step(d);
	assert_int_equal(sim_port_state(d->sim, leaf(d), 4), IB_PORT_ARMED);
	assert_int_equal(rows(d), 0);
	armed = sim_count(d->sim, IB_ATTR_PORT_INFO, MAD_SET);
	d->watch = assert_mapped_before_active;
	d->watch_arg = d;
	assert_int_equal(run(d)->refused, 0);
	assert_int_equal(sim_port_state(d->sim, leaf(d), 1), IB_PORT_ACTIVE);
	assert_true(sim_count(d->sim, IB_ATTR_PORT_INFO, MAD_SET) > armed);
	desk_free(d);
}

/* A spine that takes PortInfo, and does not answer for its rows. */
static void an_armed_port_without_its_rows_is_not_made_active(void **state)
{
	struct desk *d = desk_with("1,1");
	const struct plan p = {
		.conf = d->conf, .sm_lid = desk_host(d, 0)->lid, .arms_ahead = true
	};
	int spine = sim_find(d->sim, "spine1");

	d->ended = false;
	sync_start_ahead(d->sync, &p);
	while (!d->ended)
		desk_step(d);
	assert_int_equal(sim_port_state(d->sim, spine, 1), IB_PORT_ARMED);
	sim_set_silent(d->sim, spine, SIM_SILENT_SET, IB_ATTR_SL2VL);
	run(d);
	assert_int_equal(sim_port_state(d->sim, leaf(d), 1), IB_PORT_ACTIVE);
	assert_int_equal(sim_port_state(d->sim, spine, 1), IB_PORT_ARMED);
	desk_free(d);
}

static void what_is_refused_is_given_up_until_it_changes(void **state)
{
	struct desk *d = desk_with("1,1");
	uint64_t before;

	sim_set_refuse(d->sim, leaf(d), IB_ATTR_SL2VL, MAD_STATUS_BAD_VALUE);
	assert_int_equal(run(d)->unkept_tables, 4); /* each port out is told once */
	assert_int_equal(d->outcome.unkept_attr, IB_ATTR_SL2VL);
	assert_true(d->outcome.refused > 0);
	before = rows(d);
	for (unsigned i = 0; i < 3; i++)
		run(d);
	assert_int_equal(rows(d), before);
	assert_int_equal(d->outcome.refused, 0);
	/* And its ports come up all the same. */
	assert_int_equal(sim_port_state(d->sim, leaf(d), 1), IB_PORT_ACTIVE);
	sim_set_refuse(d->sim, leaf(d), IB_ATTR_SL2VL, 0);
	free(d->conf->qos_sl2vl);
	d->conf->qos_sl2vl = xstrdup("2,2");
	run(d);
	assert_int_equal(vl_at(d, leaf(d), 1, 2, 0), 2);
	desk_free(d);
}

static void refusals_are_silent_if_so_wanted(void **state)
{
	struct desk *d = desk_with("1,1");

	d->conf->suppress_sl2vl_mad_status_errors = true;
	sim_set_refuse(d->sim, leaf(d), IB_ATTR_SL2VL, MAD_STATUS_BAD_VALUE);
	run(d);
	assert_int_equal(d->outcome.unkept_tables + d->outcome.refused, 0);
	sim_set_refuse(d->sim, leaf(d), IB_ATTR_VLARB, MAD_STATUS_BAD_VALUE);
	free(d->conf->qos_vlarb_low);
	d->conf->qos_vlarb_low = xstrdup("1:1");
	for (unsigned i = 0; i < 3; i++)
		run(d); /* one block of a port each time */
	assert_true(d->outcome.unkept_tables > 0);
	assert_int_equal(d->outcome.unkept_attr, IB_ATTR_VLARB);
	desk_free(d);
}

static void who_cannot_map_is_not_asked(void **state)
{
	struct desk *d = desk_with("1,1");
	uint64_t before;

	sim_set_cap_mask(d->sim, leaf(d), 0, IB_CAP(IB_CAP_SL_MAPPING));
	desk_observe(d);
	run(d);
	assert_int_equal(rows(d), 4 * 5 + 2 * 3 + N_HOSTS);
	before = rows(d);
	run(d);
	assert_int_equal(rows(d), before);
	desk_free(d);
}

static void with_one_lane_there_is_nothing_to_share(void **state)
{
	struct desk *d = desk_with("1,1");

	sim_set_caps(d->sim, -1, IB_MTU_2048, 1);
	desk_observe(d);
	run(d);
	assert_int_equal(sim_count(d->sim, IB_ATTR_VLARB, MAD_SET), 0);
	assert_int_equal(vl_at(d, leaf(d), 1, 2, 0), 0);
	desk_free(d);
}

/* Both rows and arbitration of a port that trained anew are written again, and of no other. */
static void a_port_that_came_back_is_told_again(void **state)
{
	struct desk *d = desk_with("3,3");
	uint64_t before;

	run(d);
	desk_observe(d);
	before = rows(d);
	sim_link_flap(d->sim, leaf(d), 1, 10 * MONO_MS);
	desk_run_for(d, 100 * MONO_MS);
	desk_observe(d);
	run(d);
	assert_int_equal(rows(d), before + 5 + 1);
	desk_free(d);
}

static void wildcards(struct desk *d, unsigned expected)
{
	for (unsigned i = 0; i < sim_n_nodes(d->sim); i++)
		sim_set_optimized_sl2vl(d->sim, (int)i, sim_node_is_switch(d->sim, (int)i));
	desk_observe(d);
	run(d);
	assert_int_equal(rows(d), expected + N_HOSTS);
	for (unsigned in = 0; in <= 4; in++)
		assert_int_equal(vl_at(d, leaf(d), in, 2, 0), 6);
}

static void alike_everywhere_is_one_set(void **state)
{
	struct desk *d = desk_with("6,5");
	uint64_t before;

	wildcards(d, 3);
	/* Live ports, and another table: still one Set, because it is right everywhere. */
	desk_observe(d);
	free(d->conf->qos_sl2vl);
	d->conf->qos_sl2vl = xstrdup("4,4");
	before = rows(d);
	run(d);
	assert_int_equal(rows(d), before + 3 + N_HOSTS);
	assert_int_equal(vl_at(d, leaf(d), 3, 1, 1), 4);
	desk_free(d);
}

/*
 * A host with fewer lanes: the row of its port is masked. On a switch that carries nothing it comes
 * second.
 */
static void exceptions_follow_what_is_common(void **state)
{
	struct desk *d = desk_with("6,5");

	sim_set_caps(d->sim, desk_host_index(d, 0), IB_MTU_2048, 2);
	wildcards(d, 3 + 1);
	assert_int_equal(vl_at(d, leaf(d), 2, 1, 0), 0);
	assert_int_equal(vl_at(d, leaf(d), 2, 1, 1), 1);
	desk_free(d);
}

static void lost_wildcards_are_sent_again(void **state)
{
	for (unsigned seed = 1; seed < 20; seed++) {
		struct desk *d = desk_with("6,5");

		sim_set_loss(d->sim, 10, 10);
		sim_set_caps(d->sim, desk_host_index(d, 0), IB_MTU_2048, 2);
		for (unsigned i = 0; i < sim_n_nodes(d->sim); i++)
			sim_set_optimized_sl2vl(d->sim, (int)i, sim_node_is_switch(d->sim, (int)i));
		desk_observe(d);
		for (unsigned i = 0; i < 8; i++) {
			run(d);
			desk_observe(d);
		}
		for (unsigned in = 0; in <= 4; in++) {
			assert_int_equal(vl_at(d, leaf(d), in, 1, 0), 0);
			assert_int_equal(vl_at(d, leaf(d), in, 2, 0), 6);
		}
		desk_free(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_written_once),
		cmocka_unit_test(ports_that_were_armed_ahead_wait_for_their_rows),
		cmocka_unit_test(an_armed_port_without_its_rows_is_not_made_active),
		cmocka_unit_test(what_is_refused_is_given_up_until_it_changes),
		cmocka_unit_test(refusals_are_silent_if_so_wanted),
		cmocka_unit_test(who_cannot_map_is_not_asked),
		cmocka_unit_test(with_one_lane_there_is_nothing_to_share),
		cmocka_unit_test(a_port_that_came_back_is_told_again),
		cmocka_unit_test(alike_everywhere_is_one_set),
		cmocka_unit_test(exceptions_follow_what_is_common),
		cmocka_unit_test(lost_wildcards_are_sent_again),
	};

	return cmocka_run_group_tests_name("sync-slvl", tests, NULL, NULL);
}
