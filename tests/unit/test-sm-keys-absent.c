// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hosts that are away while M_Keys change more often than the ring of keys goes back. The standby
 * never met them with the keys that they have; when it is master, and they come back, it opens
 * them: what the master knew of them is in its files.
 */
#include "locked-managers.h"
#include "fabric/store.h"
#include "sm/rows/key_absent.h"
#include "ledger/ledger.h"
#include "sm/base/lids.h"
#include "sm/channel/channel.h"
#include "sm/ledger/settle.h"

/* Where the host was. */
static int leaf;
static unsigned leaf_port;

static int away(struct world *w)
{
	return sim_find(w->rig->sim, "h3");
}

static struct sim_m_key key_of_away(struct world *w)
{
	struct sim_m_key has;

	assert_true(sim_port_m_key(w->rig->sim, away(w), 1, &has));
	return has;
}

static struct sm *start_again(struct world *w, unsigned which)
{
	int at = rig_start(w->rig, which == ACTIVE ? "h0" : "h11", 1, w->conf[which],
			   w->dir[which]);

	assert_true(at >= 0);
	return sm_of(w, (unsigned)at);
}

/* The standby has nothing on its disk, and starts anew when the host is gone. */
static struct sm *lose_the_standby_and_its_disk(struct world *w)
{
	rig_kill(w->rig, SPARE);
	scratch_remove(w->dir[SPARE]);
	scratch_folder(w->dir[SPARE]);
	free(w->conf[SPARE]->partition_config_file);
	w->conf[SPARE]->partition_config_file = xasprintf("%s/partitions.conf", w->dir[SPARE]);
	scratch_open_partitions(w->conf[SPARE]->partition_config_file);
	sim_set_own_port_open(w->rig->sim, true);
	return start_again(w, SPARE);
}

static void rotate(struct world *w, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
		attend(w, 4, 5 * MONO_S);
	}
}

static void change_shared_key(struct world *w, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		lock_options(w, ACTIVE);
		w->conf[ACTIVE]->m_key_per_port = false;
		w->conf[ACTIVE]->m_key = 0xaaaa + i;
		reload(w, ACTIVE);
		attend(w, 4, 20 * MONO_S);
	}
}

static void plug_back(struct world *w)
{
	assert_int_equal(sim_plug(w->rig->sim, away(w), 1, leaf, leaf_port), 0);
}

static void expect_opened(struct world *w, const struct sm *spare)
{
	struct keys_seen keys;

	assert_int_equal(sm_state(spare), SM_MASTER);
	plug_back(w);
	attend(w, 4, 100 * MONO_S);
	assert_true(key_of_away(w).key == keys_wanted(spare, key_of_away(w).guid));
	keys = look(w);
	assert_int_equal(keys.n_open, 0);
	assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
}

/* The master dies; `spare` opens the host that was away. */
static void take_over(struct world *w, const struct sm *spare)
{
	rig_kill(w->rig, ACTIVE);
	attend(w, 4, 60 * MONO_S);
	expect_opened(w, spare);
}

static void unplug_for(struct world *w, mono_t t)
{
	sim_watch_keys(w->rig->sim, 2);
	assert_true(sim_peer(w->rig->sim, away(w), 1, &leaf, &leaf_port));
	assert_int_equal(sim_unplug(w->rig->sim, away(w), 1), 0);
	attend(w, 4, t);
}

static void unplug(struct world *w)
{
	unplug_for(w, 20 * MONO_S);
}

static bool spare_knows(struct world *w, const struct sm *spare)
{
	uint64_t key;

	return store_mkey(spare->store, key_of_away(w).guid, &key) && key == key_of_away(w).key;
}

static void a_host_is_opened_after_many_rotations(void **state)
{
	struct world *w = *state;
	struct sm *spare;

	start_locked(w);
	unplug(w);
	spare = lose_the_standby_and_its_disk(w);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(sm_state(spare), SM_STANDBY);
	assert_true(spare_knows(w, spare));
	rotate(w, 20);
	take_over(w, spare);
}

/* The master sends the row before the standby, which met the host, has seen that it went. */
static void a_standby_that_met_the_host_takes_its_row(void **state)
{
	struct world *w = *state;
	const struct sm *spare;

	start_locked(w);
	spare = sm_of(w, SPARE);
	rotate(w, 1);
	unplug(w);
	assert_true(spare_knows(w, spare));
	rotate(w, 20);
	take_over(w, spare);
}

static uint64_t row_of(const struct sm *sm, guid_t guid)
{
	struct ledger_key key = { .table = LEDGER_EPOCH, .len = 8 };
	struct ledger_value v;

	ib_bits_put(key.bytes, 0, 64, guid);
	return ledger_get(settle_ledger(sm), &key, &v) ? ib_bits_get(v.bytes, 0, 64) : 0;
}

/* The master and its standby both have the key that the host has, in file and ledger. */
static void expect_known(struct world *w)
{
	uint64_t key = 0;

	assert_true(store_mkey(sm_of(w, ACTIVE)->store, key_of_away(w).guid, &key));
	assert_true(key == key_of_away(w).key);
	assert_true(row_of(sm_of(w, ACTIVE), key_of_away(w).guid) == key);
	assert_true(row_of(sm_of(w, SPARE), key_of_away(w).guid) == key);
}

/*
 * The link of the host is up, and it answers nothing: it keeps its place in the picture for a
 * while. Keys that it was not given, as they are to be tried on it, are not taken for its key.
 */
static void a_silent_host_is_given_no_key_it_has_not_taken(void **state)
{
	struct world *w = *state;

	start_locked(w);
	sim_watch_keys(w->rig->sim, 2);
	sim_set_silent(w->rig->sim, away(w), SIM_SILENT, 0);
	attend(w, 4, 20 * MONO_S);
	for (unsigned i = 0; i < 20; i++) {
		rotate(w, 1);
		expect_known(w);
	}
	sim_set_silent(w->rig->sim, away(w), SIM_ANSWERS, 0);
	attend(w, 4, 60 * MONO_S);
	assert_true(key_of_away(w).key == keys_wanted(sm_of(w, ACTIVE), key_of_away(w).guid));
	assert_int_equal(look(w).n_open, 0);
	assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
	assert_int_equal(row_of(sm_of(w, ACTIVE), key_of_away(w).guid), 0);
}

/*
 * Other keys have come into force since the host was asked last, and another key than its own is
 * to be tried on it: guid2mkey keeps the one that it has.
 */
static void a_key_that_is_to_be_tried_is_not_known(void **state)
{
	struct world *w = *state;
	uint64_t key = 0;
	struct sm *sm;
	struct port *p;

	start_locked(w);
	rotate(w, 2);
	sm = sm_of(w, ACTIVE);
	p = fabric_find_port(sm->fabric, key_of_away(w).guid);
	assert_non_null(p);
	assert_true(absent_key_is_here(sm, p->guid));
	for (unsigned i = 0; i < 10 && p->m_key == key_of_away(w).key; i++)
		keys_doubt(sm, p, p->m_key);
	assert_true(p->m_key != key_of_away(w).key);
	observe_mkeys_renewed(p);
	assert_false(absent_key_is_here(sm, p->guid));
	lids_save(sm);
	assert_true(store_mkey(sm->store, p->guid, &key));
	assert_true(key == key_of_away(w).key);
}

/* As the master does. */
static void write_row(struct world *w, guid_t guid, uint64_t m_key)
{
	struct settle_edit e = { .key = { .table = LEDGER_EPOCH, .len = 8 }, .len = 8 };
	uint8_t bytes[8];

	ib_bits_put(e.key.bytes, 0, 64, guid);
	ib_bits_put(bytes, 0, 64, m_key);
	e.number = settle_next_number(sm_of(w, ACTIVE), LEDGER_EPOCH);
	e.bytes = bytes;
	settle_commit(sm_of(w, ACTIVE), &e, 1, NULL, NULL);
}

/* A row with the key of a silent host reaches the standby, which then asks with that key. */
static void a_row_is_tried_first_on_a_silent_host(void **state)
{
	struct world *w = *state;
	struct port *p;

	start_locked(w);
	rotate(w, 1);
	sim_set_silent(w->rig->sim, away(w), SIM_SILENT, 0);
	attend(w, 4, 20 * MONO_S);
	p = fabric_find_port(sm_of(w, SPARE)->fabric, key_of_away(w).guid);
	assert_non_null(p);
	for (unsigned i = 0; i < 5; i++)
		keys_doubt(sm_of(w, SPARE), p, p->m_key);
	write_row(w, p->guid, 0x1234);
	attend(w, 4, 5 * MONO_S);
	assert_true(row_of(sm_of(w, SPARE), p->guid) == 0x1234);
	assert_true(p->m_key == 0x1234);
}

/*
 * The host was away for rotations, and is back: the master opens it with the key of then. The row
 * that ends tells the standby, which asks it with the key that it has now, when it is told of the
 * link, and when it looks at everything.
 */
static void a_host_that_is_back_is_asked_with_its_new_key(void **state)
{
	struct world *w = *state;
	uint64_t wanted;
	unsigned before;

	start_locked(w);
	unplug(w);
	rotate(w, 2);
	wanted = keys_wanted(sm_of(w, ACTIVE), key_of_away(w).guid);
	plug_back(w);
	while (key_of_away(w).key != wanted)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	before = key_of_away(w).violations;
	attend(w, 4, 400 * MONO_S);
	assert_true(key_of_away(w).key == wanted);
	assert_int_equal(key_of_away(w).violations, before);
}

/* With one key for all ports, too: the ring has eight. */
static void and_after_many_keys_for_all_ports(void **state)
{
	struct world *w = *state;
	struct sm *spare;

	start_locked(w);
	unplug(w);
	spare = lose_the_standby_and_its_disk(w);
	attend(w, 4, 60 * MONO_S);
	change_shared_key(w, 10);
	take_over(w, spare);
}

/* A key is told to no log. */
static void no_key_is_in_the_log(void **state)
{
	struct world *w = *state;
	char hex[20];

	a_host_is_opened_after_many_rotations(state);
	snprintf(hex, sizeof(hex), "%016lx", (unsigned long)key_of_away(w).key);
	assert_int_equal(said(hex, ""), 0);
}

/* What a host needs to know to pass for a standby is what every distribution knows. */
static void well_known_keys_keep_rows_at_home(void **state)
{
	struct world *w = *state;
	struct sm *spare;

	for (unsigned i = 0; i < 2; i++) {
		lock_options(w, i);
		w->conf[i]->sm_key = 1;
		w->conf[i]->m_key_protection_level = 0;
	}
	sim_set_own_port_open(w->rig->sim, true);
	start_both(w);
	attend(w, 4, 60 * MONO_S);
	assert_true(key_of_away(w).key != 0);
	unplug(w);
	spare = lose_the_standby_and_its_disk(w);
	attend(w, 4, 120 * MONO_S);
	assert_int_equal(sm_state(spare), SM_STANDBY);
	assert_false(spare_knows(w, spare));
}

static bool has_line_on_disk(struct world *w)
{
	struct store *s = store_new(w->dir[SPARE], false);
	struct store_findings findings = { 0 };
	uint64_t key;
	bool has;

	store_read(s, STORE_MKEYS, &findings);
	has = store_mkey(s, key_of_away(w).guid, &key) && key == key_of_away(w).key;
	store_findings_clear(&findings);
	store_free(s);
	return has;
}

/* People and tools find the key in guid2mkey of the standby, too. */
static void a_row_is_in_the_file_of_the_standby(void **state)
{
	struct world *w = *state;

	start_locked(w);
	unplug(w);
	lose_the_standby_and_its_disk(w);
	attend(w, 4, 60 * MONO_S);
	assert_true(has_line_on_disk(w));
}

static void lose_file(struct world *w, unsigned which, const char *name)
{
	char path[SCRATCH_PATH + 32];

	snprintf(path, sizeof(path), "%s/%s", w->dir[which], name);
	assert_int_equal(unlink(path), 0);
}

/* When the standby answers, its disk has the row: each moment before is a crash without loss. */
static void a_row_is_on_the_disk_before_it_counts(void **state)
{
	struct world *w = *state;
	struct sm *spare;
	guid_t guid;

	start_locked(w);
	unplug(w);
	w->rig->disk_time = 3 * MONO_S;
	spare = lose_the_standby_and_its_disk(w);
	guid = spare->tr->port_guid;
	while (channel_is_connected(sm_of(w, ACTIVE), guid)) /* the one that is gone */
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	while (!channel_is_connected(sm_of(w, ACTIVE), guid))
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	assert_false(settle_has_all(sm_of(w, ACTIVE), guid));
	while (!settle_has_all(sm_of(w, ACTIVE), guid))
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	rig_kill(w->rig, w->rig->n_sms - 1);
	lose_file(w, SPARE, "guid2mkey");
	assert_true(spare_knows(w, start_again(w, SPARE)));
}

/* The former master comes back without its disk, and has the greater priority. */
static void a_greater_manager_waits_for_rows(void **state)
{
	struct world *w = *state;
	struct sm *former;

	start_locked(w);
	fail_over(w);
	attend(w, 4, 60 * MONO_S);
	unplug(w);
	scratch_remove(w->dir[ACTIVE]);
	scratch_folder(w->dir[ACTIVE]);
	free(w->conf[ACTIVE]->partition_config_file);
	w->conf[ACTIVE]->partition_config_file = xasprintf("%s/partitions.conf", w->dir[ACTIVE]);
	scratch_open_partitions(w->conf[ACTIVE]->partition_config_file);
	former = start_again(w, ACTIVE);
	for (unsigned i = 0; i < 100000 && sm_state(former) != SM_MASTER; i++)
		rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S);
	assert_int_equal(sm_state(former), SM_MASTER);
	assert_true(spare_knows(w, former));
	rig_kill(w->rig, SPARE);
	attend(w, 4, 60 * MONO_S);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(sm_rotate_keys(former), 0);
		attend(w, 4, 5 * MONO_S);
	}
	expect_opened(w, former);
}

static uint64_t number(struct world *w, enum ledger_table table)
{
	return ledger_number(settle_ledger(sm_of(w, ACTIVE)), table);
}

/* A host that goes is a row, one that comes back is none; nothing is written in between. */
static void only_what_changes_is_written(void **state)
{
	struct world *w = *state;
	uint64_t before;

	start_locked(w);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(ledger_rows_there(settle_ledger(sm_of(w, ACTIVE)), LEDGER_EPOCH), 0);
	before = number(w, LEDGER_EPOCH);
	unplug(w);
	assert_int_equal(number(w, LEDGER_EPOCH), before + 1);
	assert_true(row_of(sm_of(w, ACTIVE), key_of_away(w).guid) == key_of_away(w).key);
	assert_true(row_of(sm_of(w, SPARE), key_of_away(w).guid) == key_of_away(w).key);
	before = number(w, LEDGER_CABLE);
	for (unsigned i = 0; i < 6; i++) {
		sm_request_heavy(sm_of(w, ACTIVE), NULL);
		attend(w, 4, 20 * MONO_S);
	}
	assert_int_equal(number(w, LEDGER_CABLE), before);
	assert_int_equal(ledger_rows_there(settle_ledger(sm_of(w, ACTIVE)), LEDGER_EPOCH), 1);
	plug_back(w);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(ledger_rows_there(settle_ledger(sm_of(w, ACTIVE)), LEDGER_EPOCH), 0);
	assert_int_equal(ledger_rows_there(settle_ledger(sm_of(w, SPARE)), LEDGER_EPOCH), 0);
	assert_int_equal(number(w, LEDGER_CABLE), before);
}

/* Ports have no key: neither their absence nor a cable is written down. */
static void without_keys_there_are_no_rows(void **state)
{
	struct world *w = *state;

	start_open(w);
	unplug(w);
	for (unsigned which = 0; which < 2; which++) {
		const struct ledger *l = settle_ledger(sm_of(w, which));

		assert_int_equal(ledger_rows(l, LEDGER_EPOCH), 0);
		assert_int_equal(ledger_rows(l, LEDGER_CABLE), 0);
	}
}

/* A neighbors file that was kept names a port that no cable may have. */
static void a_cable_that_cannot_be_keeps_no_key_back(void **state)
{
	struct world *w = *state;
	struct sm *spare;

	start_locked(w);
	unplug(w);
	store_set_only_neighbor(sm_of(w, ACTIVE)->store, key_of_away(w).guid, 1, 0x999, 255);
	spare = lose_the_standby_and_its_disk(w);
	sm_request_heavy(sm_of(w, ACTIVE), NULL);
	attend(w, 4, 60 * MONO_S);
	assert_true(spare_knows(w, spare));
}

/* A row of before, which is late: the host is back, and has the newest key. */
static void a_late_row_hides_no_key_that_is_seen(void **state)
{
	struct world *w = *state;
	guid_t guid;
	uint64_t key = 0;

	start_locked(w);
	guid = key_of_away(w).guid;
	write_row(w, guid, 0x1234);
	attend(w, 4, 5 * MONO_S);
	assert_true(row_of(sm_of(w, SPARE), guid) == 0x1234);
	assert_true(store_mkey(sm_of(w, SPARE)->store, guid, &key));
	assert_true(key == key_of_away(w).key);
	sm_request_heavy(sm_of(w, ACTIVE), NULL);
	attend(w, 4, 20 * MONO_S);
	assert_int_equal(row_of(sm_of(w, SPARE), guid), 0);
}

/* A greater manager is not left to wait for a key that is not needed any more. */
static void a_host_that_is_back_is_waited_for_no_more(void **state)
{
	struct world *w = *state;

	start_locked(w);
	unplug(w);
	assert_true(key_rows_have_keys(sm_of(w, ACTIVE)));
	plug_back(w);
	attend(w, 4, 30 * MONO_S);
	assert_false(key_rows_have_keys(sm_of(w, ACTIVE)));
	assert_true(settle_has_all(sm_of(w, ACTIVE), sm_of(w, SPARE)->tr->port_guid));
}

/* ---- too many -------------------------------------------------------------------------------- */

#define FALSE_GUID 0x666000000000ull

/* The host pretends to be a switch with that many hosts behind it; all of them are gone again. */
static void pretend(struct world *w, unsigned n)
{
	struct store *s = sm_of(w, ACTIVE)->store;
	guid_t leaf_guid = 0;
	uint8_t ni[SMP_DATA_SIZE];
	unsigned port;
	int node;

	assert_true(sim_peer(w->rig->sim, sim_find(w->rig->sim, "h5"), 1, &node, &port));
	assert_int_equal(sim_read(w->rig->sim, node, IB_ATTR_NODE_INFO, 0, ni), 0);
	leaf_guid = ib_get(ni, NI_NODE_GUID);
	store_set_neighbor(s, leaf_guid, (uint8_t)port, FALSE_GUID, 1);
	for (unsigned i = 0; i < n; i++) {
		guid_t at = FALSE_GUID + i / 200 * 0x10000;

		if (i % 200 == 0 && i)
			store_set_neighbor(s, at - 0x10000, 250, at, 1);
		store_set_mkey(s, at + 1 + i % 200, 0xbad);
		store_set_neighbor(s, at, (uint8_t)(2 + i % 200), at + 1 + i % 200, 1);
	}
}

static bool is_kept(const struct sm *sm, size_t max, guid_t guid)
{
	struct absent_keys a;
	bool is_there;

	absent_keys_find(sm, max, &a);
	assert_true(a.n <= max);
	is_there = absent_keys_at(&a, guid);
	absent_keys_clear(&a);
	return is_there;
}

/* All that one host pretends to be is behind one switch port. */
static void a_host_that_is_many_crowds_out_no_other(void **state)
{
	struct world *w = *state;
	struct absent_keys a;
	const struct sm *sm;
	guid_t guid;

	start_locked(w);
	sm = sm_of(w, ACTIVE);
	unplug(w);
	guid = key_of_away(w).guid;
	store_set_mkey(sm_of(w, ACTIVE)->store, UINT64_MAX, 0x77); /* its cable is not known */
	pretend(w, 1000);
	absent_keys_find(sm, 1002, &a);
	assert_int_equal(a.n, 1002);
	assert_int_equal(a.left_out, 0);
	absent_keys_clear(&a);
	for (size_t max = 2; max <= 1002; max += 125)
		assert_true(is_kept(sm, max, guid));
	absent_keys_find(sm, 500, &a);
	assert_int_equal(a.n, 500);
	assert_int_equal(a.left_out, 502);
	for (size_t i = 1; i < a.n; i++)
		assert_true(a.keys[i - 1].guid < a.keys[i].guid);
	absent_keys_clear(&a);
	assert_false(is_kept(sm, 500, UINT64_MAX));
	assert_true(is_kept(sm, 1002, UINT64_MAX));
}

/* Beyond the most that is kept: said once, and the host that is off is among those that are. */
static void too_many_absent_ports_are_told(void **state)
{
	struct world *w = *state;

	start_locked(w);
	unplug(w);
	seen.n = 0;
	pretend(w, 33000);
	for (unsigned i = 0; i < 2; i++) {
		sm_request_heavy(sm_of(w, ACTIVE), NULL);
		attend(w, 4, 60 * MONO_S);
	}
	assert_int_equal(said("keys of more than 32768 ports that are not there", ""), 1);
	assert_int_equal(ledger_rows_there(settle_ledger(sm_of(w, SPARE)), LEDGER_EPOCH), 32768);
	assert_true(row_of(sm_of(w, SPARE), key_of_away(w).guid) == key_of_away(w).key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(a_host_is_opened_after_many_rotations),
		TEST(a_standby_that_met_the_host_takes_its_row),
		TEST(a_silent_host_is_given_no_key_it_has_not_taken),
		TEST(a_key_that_is_to_be_tried_is_not_known),
		TEST(a_row_is_tried_first_on_a_silent_host),
		TEST(a_host_that_is_back_is_asked_with_its_new_key),
		TEST(and_after_many_keys_for_all_ports),
		TEST(no_key_is_in_the_log),
		TEST(well_known_keys_keep_rows_at_home),
		TEST(a_row_is_in_the_file_of_the_standby),
		TEST(a_row_is_on_the_disk_before_it_counts),
		TEST(a_greater_manager_waits_for_rows),
		TEST(only_what_changes_is_written),
		TEST(without_keys_there_are_no_rows),
		TEST(a_cable_that_cannot_be_keeps_no_key_back),
		TEST(a_late_row_hides_no_key_that_is_seen),
		TEST(a_host_that_is_back_is_waited_for_no_more),
		TEST(a_host_that_is_many_crowds_out_no_other),
		TEST(too_many_absent_ports_are_told),
	};

	return cmocka_run_group_tests_name("sm-keys-absent", tests, NULL, NULL);
}
