// SPDX-License-Identifier: BSD-2-Clause
/*
 * What scenarios (keys-absent.scn, keys-cables.scn) cannot see of M_Keys of hosts that are away,
 * and of cables as rows: which key is tried next, rows that are late or wrong, too many.
 */
#include "locked-managers.h"
#include "fabric/store.h"
#include "ledger/ledger.h"
#include "sm/base/key_epoch.h"
#include "sm/base/lids.h"
#include "sm/ledger/settle.h"
#include "sm/rows/key_absent.h"

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
	int at =
		rig_start(w->rig, which == ACTIVE ? "h0" : "h11", 1, w->conf[which], w->dir[which]);

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

static void unplug(struct world *w)
{
	assert_int_equal(sim_unplug(w->rig->sim, away(w), 1), 0);
	attend(w, 4, 20 * MONO_S);
}

static bool spare_knows(struct world *w, const struct sm *spare)
{
	uint64_t key;

	return store_mkey(spare->store, key_of_away(w).guid, &key) && key == key_of_away(w).key;
}

static uint64_t row_of(const struct sm *sm, guid_t guid)
{
	struct ledger_key key = { .table = LEDGER_EPOCH, .len = 8 };
	struct ledger_value v;

	ib_bits_put(key.bytes, 0, 64, guid);
	return ledger_get(settle_ledger(sm), &key, &v) ? ib_bits_get(v.bytes, 0, 64) : 0;
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

/* ---- epochs that others tell, cables of rows ------------------------------------------------- */

/* SMInfo of a manager of ours that is so many epochs ahead. */
static bool is_believed(struct world *w, uint64_t ahead)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	key_epoch_put(sm_of(w, ACTIVE), info);
	ib_put(info, SMX_EPOCH, ib_get(info, SMX_EPOCH) + ahead);
	return key_epoch_told(sm_of(w, ACTIVE), info);
}

static uint32_t epoch_of(struct world *w)
{
	return key_ring_epoch(keys_known(sm_of(w, ACTIVE)));
}

static void a_later_epoch_that_is_told_comes_into_force(void **state)
{
	struct world *w = *state;
	uint32_t before;

	start_locked(w);
	before = epoch_of(w);
	assert_false(is_believed(w, 0));
	assert_false(is_believed(w, 4097));
	assert_true(is_believed(w, 3));
	assert_false(is_believed(w, 3));
	assert_int_equal(epoch_of(w), before);
	/* A rotation is refused until that is in force: it would count on from the old one. */
	assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), -EBUSY);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(epoch_of(w), before + 3);
	assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(epoch_of(w), before + 4);
	assert_int_equal(look(w).n_open, 0);
}

/* Another ring that comes into force meanwhile does not hide it. */
static void a_later_epoch_is_not_lost_to_another_ring(void **state)
{
	struct world *w = *state;
	struct sm *sm;

	start_locked(w);
	sm = sm_of(w, ACTIVE);
	assert_true(is_believed(w, 3));
	keys_use(sm, key_ring_copy(keys_known(sm)));
	assert_non_null(keys_later(sm));
	attend(w, 4, 30 * MONO_S);
	assert_null(keys_later(sm));
	assert_int_equal(look(w).n_open, 0);
}

/* Of a switch to another one. */
static struct port *port_to_switch(const struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
			if (n->ports[i].peer && node_is_switch(n->ports[i].peer->node))
				return &n->ports[i];
		}
	}
	return NULL;
}

/* A switch that is at neither end of the cable at `p`; NULL: there is none. */
static const struct node *third_switch(const struct sm *sm, const struct port *p)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (node_is_switch(n) && n != p->node && n != p->peer->node)
			return n;
	}
	fail();
	return NULL;
}

/*
 * A cable seemed to lead to other nodes for a while, and leads to the first one again, which this
 * standby does not remember. A row has it.
 */
static void a_standby_recalls_the_cable_of_a_row(void **state)
{
	struct world *w = *state;
	const struct port *far;
	struct port *p;
	struct sm *sm;

	start_locked(w);
	attend(w, 4, 20 * MONO_S);
	sm = sm_of(w, SPARE);
	p = port_to_switch(sm);
	assert_non_null(p);
	far = p->peer;
	for (uint8_t port = 200; port < 204; port++)
		store_set_neighbor(sm->store, p->node->guid, p->num, 0x999000 + port, port);
	store_set_neighbor(sm->store, p->node->guid, p->num, third_switch(sm, p)->guid, 200);
	observe_cable_gone(p);
	incremental_port(sm, p, "test");
	attend(w, 4, 60 * MONO_S);
	assert_ptr_equal(p->peer, far);
}

/* A host is silent for a moment, just when the standby looks at everything. */
static void a_standby_asks_again_where_it_met_silence(void **state)
{
	struct world *w = *state;
	int host = sim_find(w->rig->sim, "h3");
	const struct port *p;
	struct sim_m_key has;

	start_locked(w);
	attend(w, 4, 20 * MONO_S);
	assert_true(sim_port_m_key(w->rig->sim, host, 1, &has));
	p = fabric_find_port(sm_of(w, SPARE)->fabric, has.guid);
	assert_non_null(p);
	sim_set_silent(w->rig->sim, host, SIM_SILENT, 0);
	sm_request_heavy(sm_of(w, SPARE), NULL);
	attend(w, 4, 4 * MONO_S);
	assert_int_not_equal(p->node->misses, 0);
	sim_set_silent(w->rig->sim, host, SIM_ANSWERS, 0);
	attend(w, 4, 40 * MONO_S);
	assert_int_equal(p->node->misses, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(a_key_that_is_to_be_tried_is_not_known),
		TEST(a_row_is_tried_first_on_a_silent_host),
		TEST(a_cable_that_cannot_be_keeps_no_key_back),
		TEST(a_late_row_hides_no_key_that_is_seen),
		TEST(a_host_that_is_many_crowds_out_no_other),
		TEST(too_many_absent_ports_are_told),
		TEST(a_later_epoch_that_is_told_comes_into_force),
		TEST(a_later_epoch_is_not_lost_to_another_ring),
		TEST(a_standby_recalls_the_cable_of_a_row),
		TEST(a_standby_asks_again_where_it_met_silence),
	};

	return cmocka_run_group_tests_name("sm-keys-absent", tests, NULL, NULL);
}
