// SPDX-License-Identifier: BSD-2-Clause
/* Alias GUIDs as sync/ writes them: at once, in runs, again after a reboot, and never entry 0. */
#include "fabric/fabric_internal.h"
#include "sync-desk.h"

#define HOST  4
#define ALIAS 0x0014050000000001ull

static const guid_t none[GUID_BLOCK];

/* Block `block` of the host, as the device has it. */
static void held(struct desk *d, unsigned block, guid_t ret[GUID_BLOCK])
{
	uint8_t payload[SMP_DATA_SIZE];

	assert_int_equal(
		sim_read(d->sim, desk_host_index(d, HOST), IB_ATTR_GUID_INFO, block, payload), 0);
	for (unsigned i = 0; i < GUID_BLOCK; i++)
		ret[i] = ib_bits_get(payload, i * 64, 64);
}

static void assert_held(struct desk *d, unsigned block, unsigned entry, guid_t guid)
{
	guid_t guids[GUID_BLOCK];

	held(d, block, guids);
	assert_int_equal(guids[entry], guid);
	held(d, 0, guids);
	assert_int_equal(guids[0], desk_host(d, HOST)->guid);
}

static void want(struct desk *d, unsigned block, unsigned entry, guid_t guid)
{
	guid_t guids[GUID_BLOCK] = { 0 };

	guids[entry] = guid;
	sync_want_guids(d->sync, desk_host(d, HOST)->guid, block, guids);
}

static uint64_t guid_sets(const struct desk *d)
{
	return sim_count(d->sim, IB_ATTR_GUID_INFO, MAD_SET);
}

/* A fabric that is up. */
static struct desk *desk_up(void)
{
	struct desk *d = desk_new(1);

	desk_run(d);
	desk_observe(d);
	return d;
}

static void what_is_wanted_of_a_port_is_written_at_once(void **state)
{
	struct desk *d = desk_up();

	want(d, 0, 2, ALIAS);
	want(d, 1, 0, ALIAS + 1);
	desk_run_for(d, 100 * MONO_MS);
	assert_held(d, 0, 2, ALIAS);
	assert_held(d, 1, 0, ALIAS + 1);
	assert_int_equal(guid_sets(d), 2);
	assert_int_equal(sim_count(d->sim, IB_ATTR_GUID_INFO, MAD_GET), 0);
	assert_int_equal(d->unsettled, 0);
	desk_run(d);
	want(d, 0, 2, ALIAS);
	desk_run_for(d, 100 * MONO_MS);
	assert_int_equal(guid_sets(d), 2);
	desk_free(d);
}

static void it_comes_again_after_a_reboot(void **state)
{
	struct desk *d = desk_up();

	want(d, 0, 2, ALIAS);
	desk_run_for(d, 100 * MONO_MS);
	sim_reboot(d->sim, desk_host_index(d, HOST), 10 * MONO_MS);
	desk_run_for(d, 100 * MONO_MS);
	desk_observe(d);
	assert_held(d, 0, 2, 0);
	desk_run(d);
	assert_held(d, 0, 2, ALIAS);
	desk_free(d);
}

/* The host is gone for so long that it is forgotten. */
static void it_waits_for_a_port_that_is_not_there(void **state)
{
	struct desk *d = desk_up();
	guid_t guid = desk_host(d, HOST)->guid;
	guid_t guids[GUID_BLOCK] = { 0, ALIAS };
	struct node *n = d->nodes[desk_host_index(d, HOST)];

	sync_forget(d->sync, n);
	fabric_remove_node(d->fabric, n);
	sync_want_guids(d->sync, guid, 0, guids);
	desk_run_for(d, 100 * MONO_MS);
	assert_int_equal(guid_sets(d), 0);
	desk_add_node(d, desk_host_index(d, HOST));
	desk_connect(d);
	desk_find_paths(d);
	desk_observe(d);
	desk_run(d);
	assert_held(d, 0, 1, ALIAS);
	desk_free(d);
}

static void aliases_are_taken_away(void **state)
{
	struct desk *d = desk_up();

	want(d, 0, 2, ALIAS);
	desk_run_for(d, 100 * MONO_MS);
	sync_want_guids(d->sync, desk_host(d, HOST)->guid, 0, none);
	desk_run_for(d, 100 * MONO_MS);
	assert_held(d, 0, 2, 0);
	desk_free(d);
}

static void what_is_not_wanted_any_more_is_left_alone(void **state)
{
	struct desk *d = desk_up();

	want(d, 0, 2, ALIAS);
	desk_run_for(d, 100 * MONO_MS);
	sync_want_guids(d->sync, desk_host(d, HOST)->guid, 0, NULL);
	sync_want_guids(d->sync, desk_host(d, HOST)->guid, 3, NULL);
	sync_want_guids(d->sync, 0x1234, 0, NULL);
	fabric_forget_cells(d->fabric, desk_host(d, HOST));
	desk_run(d);
	assert_held(d, 0, 2, ALIAS);
	assert_int_equal(guid_sets(d), 1);
	desk_free(d);
}

/* Two of the same block never travel together: the later one might arrive first. */
static void the_last_word_counts(void **state)
{
	struct desk *d = desk_up();

	for (unsigned i = 0; i < 20; i++)
		want(d, 0, 3, ALIAS + i);
	desk_run_for(d, 100 * MONO_MS);
	assert_held(d, 0, 3, ALIAS + 19);
	assert_int_equal(guid_sets(d), 2);
	desk_free(d);
}

static void a_want_may_go_while_its_set_is_out(void **state)
{
	struct desk *d = desk_up();

	want(d, 0, 3, ALIAS);
	sync_want_guids(d->sync, desk_host(d, HOST)->guid, 0, NULL);
	desk_run_for(d, 100 * MONO_MS);
	want(d, 0, 3, ALIAS + 1);
	sync_forget(d->sync, desk_host(d, HOST)->node);
	desk_run_for(d, 100 * MONO_MS);
	desk_run(d);
	assert_held(d, 0, 3, ALIAS + 1);
	desk_free(d);
}

static void a_running_run_takes_it_along(void **state)
{
	struct desk *d = desk_new(1);
	const struct plan p = { .conf = d->conf, .sm_lid = desk_host(d, 0)->lid };

	sync_start(d->sync, &p);
	while (sim_port_state(d->sim, desk_host_index(d, HOST), 1) != IB_PORT_ACTIVE)
		desk_step(d);
	assert_false(d->ended);
	want(d, 0, 2, ALIAS);
	while (!d->ended)
		desk_step(d);
	assert_held(d, 0, 2, ALIAS);
	desk_free(d);
}

static void change_mind(void *arg)
{
	static guid_t next = ALIAS;

	want(arg, 0, 2, next++);
}

/* A host that wants something else all the time gets it later, and holds up no other. */
static void a_run_ends_whatever_is_wanted(void **state)
{
	struct desk *d = desk_up();
	const struct plan p = { .conf = d->conf, .sm_lid = desk_host(d, 0)->lid };
	unsigned steps = 0;

	d->watch = change_mind;
	d->watch_arg = d;
	desk_step(d);
	d->ended = false;
	sync_start(d->sync, &p);
	while (!d->ended && steps++ < 1000)
		desk_step(d);
	assert_true(d->ended);
	d->watch = NULL;
	want(d, 0, 2, ALIAS);
	desk_run_for(d, 100 * MONO_MS);
	assert_held(d, 0, 2, ALIAS);
	assert_int_equal(d->unsettled, 0);
	desk_free(d);
}

static void what_is_lost_asks_for_a_run(void **state)
{
	struct desk *d = desk_up();

	sim_set_silent(d->sim, desk_host_index(d, HOST), SIM_SILENT_SET, IB_ATTR_GUID_INFO);
	want(d, 0, 2, ALIAS);
	desk_run_for(d, MONO_S);
	assert_int_equal(d->unsettled, 1);
	sim_set_silent(d->sim, desk_host_index(d, HOST), SIM_ANSWERS, 0);
	desk_observe(d);
	desk_run(d);
	assert_held(d, 0, 2, ALIAS);
	desk_free(d);
}

static void who_refuses_is_asked_again_when_the_want_changes(void **state)
{
	struct desk *d = desk_up();
	unsigned unkept = 0;

	sim_set_refuse(d->sim, desk_host_index(d, HOST), IB_ATTR_GUID_INFO, MAD_STATUS_BAD_VALUE);
	want(d, 0, 2, ALIAS);
	desk_run_for(d, 100 * MONO_MS);
	for (unsigned i = 0; i < 5; i++)
		unkept += desk_run(d)->unkept_tables;
	assert_int_equal(unkept, 1);
	assert_int_equal(guid_sets(d), 3);
	sim_set_refuse(d->sim, desk_host_index(d, HOST), 0, 0);
	want(d, 0, 2, ALIAS + 1);
	desk_run_for(d, 100 * MONO_MS);
	assert_held(d, 0, 2, ALIAS + 1);
	desk_free(d);
}

static void blocks_beyond_the_capacity_are_not_written(void **state)
{
	struct desk *d = desk_up();
	unsigned cap = ib_get(desk_host(d, HOST)->info, PI_GUID_CAP);

	want(d, cap / GUID_BLOCK, 0, ALIAS);
	want(d, 31, 7, ALIAS);
	want(d, 32, 0, ALIAS);
	want(d, UINT32_MAX, 0, ALIAS);
	desk_run_for(d, 100 * MONO_MS);
	desk_run(d);
	assert_int_equal(guid_sets(d), 0);
	assert_int_equal(d->outcome.unkept_tables, 0);
	desk_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wanted_of_a_port_is_written_at_once),
		cmocka_unit_test(it_comes_again_after_a_reboot),
		cmocka_unit_test(it_waits_for_a_port_that_is_not_there),
		cmocka_unit_test(aliases_are_taken_away),
		cmocka_unit_test(what_is_not_wanted_any_more_is_left_alone),
		cmocka_unit_test(the_last_word_counts),
		cmocka_unit_test(a_want_may_go_while_its_set_is_out),
		cmocka_unit_test(a_running_run_takes_it_along),
		cmocka_unit_test(a_run_ends_whatever_is_wanted),
		cmocka_unit_test(what_is_lost_asks_for_a_run),
		cmocka_unit_test(who_refuses_is_asked_again_when_the_want_changes),
		cmocka_unit_test(blocks_beyond_the_capacity_are_not_written),
	};

	return cmocka_run_group_tests_name("sync-guids", tests, NULL, NULL);
}
