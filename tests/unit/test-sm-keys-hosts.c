// SPDX-License-Identifier: BSD-2-Clause
/*
 * M_Keys of single ports, and hosts that are up to no good: what a host says of its own key, or
 * does not say, changes nothing of others.
 */
#include "keys-desk.h"
#include "fabric/store.h"
#include "util/file.h"

static guid_t guid_of(struct desk *d, int node)
{
	unsigned port;
	guid_t guid;
	int at;

	for (unsigned i = 0; end_port(d, i, &at, &port, &guid); i++) {
		if (at == node)
			return guid;
	}
	fail_msg("no such node");
	return 0;
}

static uint64_t key_of(struct desk *d, int node, unsigned epoch)
{
	struct key_ring *ring = ring_of(SEED, epoch);
	uint64_t key = key_ring_key(ring, guid_of(d, node));

	key_ring_unref(ring);
	return key;
}

/* The epoch that is on the disk. */
static unsigned stored_epoch(struct desk *d)
{
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;
	_cleanup_free_ char *text = NULL;
	char path[SCRATCH_PATH + 32];
	size_t len;

	snprintf(path, sizeof(path), "%s/m_key_ring", d->dir);
	assert_int_equal(file_read(path, KEY_RING_TEXT, &text, &len), 0);
	assert_int_equal(key_ring_read(text, len, &ring), 0);
	return key_ring_epoch(ring);
}

/* ---- epochs to come -------------------------------------------------------------------------- */

static bool is_tried(struct desk *d, int node, uint64_t key)
{
	for (unsigned nth = 0; nth < 200; nth++) {
		if (keys_expected(sm_of(d), guid_of(d, node), nth) == key)
			return true;
	}
	return false;
}

static void no_host_is_sent_a_key_to_come(void **state)
{
	struct desk *d = *state;
	int leaf;

	start(d);
	leaf = sim_find(d->rig->sim, "leaf1");
	for (unsigned epoch = 2; epoch < 8; epoch++) {
		assert_false(is_tried(d, host(d, 3), key_of(d, host(d, 3), epoch)));
		assert_true(is_tried(d, leaf, key_of(d, leaf, epoch)));
		assert_true(is_tried(d, host(d, 0), key_of(d, host(d, 0), epoch)));
	}
}

/* However it came by the key. */
static void no_host_turns_the_epoch(void **state)
{
	struct desk *d = *state;

	start(d);
	for (unsigned epoch = 2; epoch < 8; epoch++) {
		sim_set_m_key(d->rig->sim, host(d, 3), 1, key_of(d, host(d, 3), epoch), 0, 0);
		sim_set_cap_mask(d->rig->sim, host(d, 3), 1u << 31, 0);
		run_for(d, 10 * MONO_S);
		sm_request_heavy(sm_of(d), NULL);
		run_for(d, 10 * MONO_S);
		assert_keys(d, SEED, 1);
	}
	assert_int_equal(stored_epoch(d), 1);
}

/* Another manager has rotated keys of switches: ports have these when they are on the disk. */
static void a_found_epoch_is_stored_first(void **state)
{
	struct desk *d = *state;
	int leaf;
	mono_t until;

	start(d);
	leaf = sim_find(d->rig->sim, "leaf1");
	sim_set_m_key(d->rig->sim, leaf, 0, key_of(d, leaf, 4), 0, 0);
	sm_request_heavy(sm_of(d), NULL);
	until = sim_now(d->rig->sim) + 20 * MONO_S;
	while (rig_step(d->rig, until)) {
		for (unsigned i = 0; i < 6; i++) {
			if (FIELD(d, host(d, i), 1, M_KEY) == key_of(d, host(d, i), 4))
				assert_int_equal(stored_epoch(d), 4);
		}
	}
	assert_keys(d, SEED, 4);
	assert_int_equal(stored_epoch(d), 4);
}

/*
 * While cables are moved a question goes elsewhere than it was sent, and its answer is taken for
 * that of the node behind this port. The lease never ends: a manager on the host asks with its key.
 */
static void a_host_is_not_lost_by_a_wrong_cable(void **state)
{
	struct desk *d = *state;
	guid_t leaf, peer = 0;
	uint8_t port = 0;
	unsigned n;

	d->conf->m_key_lease_period = 0;
	start(d);
	n = sm_fabric(sm_of(d))->n_nodes;
	assert_true(store_neighbor_of(sm_of(d)->store, guid_of(d, host(d, 5)), &leaf, &port));
	sim_link_down(d->rig->sim, host(d, 5), 1);
	run_for(d, 30 * MONO_S);
	assert_int_equal(sm_fabric(sm_of(d))->n_nodes, n - 1);
	store_set_neighbor(sm_of(d)->store, leaf, port, 0xabcdef, 1);
	assert_true(store_neighbor(sm_of(d)->store, leaf, port, &peer, &(uint8_t){ 0 }));
	assert_int_equal(peer, 0xabcdef);
	sim_link_up(d->rig->sim, host(d, 5), 1);
	run_for(d, 100 * MONO_S);
	assert_int_equal(sm_fabric(sm_of(d))->n_nodes, n);
}

/* It was met elsewhere meanwhile: its keys are tried where it was before, too. */
static void a_host_that_is_plugged_back_is_met(void **state)
{
	struct desk *d = *state;
	guid_t leaf, own;
	uint8_t port = 0;
	unsigned n;

	d->conf->m_key_lease_period = 0;
	start(d);
	n = sm_fabric(sm_of(d))->n_nodes;
	own = guid_of(d, host(d, 5));
	assert_true(store_neighbor_of(sm_of(d)->store, own, &leaf, &port));
	sim_link_down(d->rig->sim, host(d, 5), 1);
	run_for(d, 30 * MONO_S);
	store_set_neighbor(sm_of(d)->store, 0xabcdef, 9, own, 1);
	assert_false(store_neighbor(sm_of(d)->store, leaf, port, &(guid_t){ 0 }, &(uint8_t){ 0 }));
	sim_link_up(d->rig->sim, host(d, 5), 1);
	run_for(d, 100 * MONO_S);
	assert_int_equal(sm_fabric(sm_of(d))->n_nodes, n);
}

/* ---- silence --------------------------------------------------------------------------------- */

/* Their links go and come, and nothing answers: so often within `t` a leaf is open for Gets. */
static unsigned n_opened_by_flaps(struct desk *d, mono_t t)
{
	struct sim *sim = d->rig->sim;
	int leaf = sim_find(sim, "leaf2");
	mono_t until = sim_now(sim) + t;
	unsigned n = 0;
	bool open = false;

	for (unsigned i = 0; sim_now(sim) < until; i++) {
		mono_t round = sim_now(sim) + 60 * MONO_S;

		assert_int_equal(sim_link_flap(sim, host(d, i % 2 ? 3 : 5), 1, MONO_S), 0);
		while (rig_step(d->rig, round)) {
			bool now_open = FIELD(d, leaf, 0, M_KEY_PROTECT) < 2;

			n += now_open && !open;
			open = now_open;
		}
	}
	assert_false(open);
	return n;
}

static void be_silent(struct desk *d, unsigned i)
{
	sim_ignore(d->rig->sim, host(d, i), true);
	sim_set_silent(d->rig->sim, host(d, i), SIM_SILENT, 0);
}

/* guid_location_policy hold: no switch can be behind these ports. */
static void hosts_that_were_met_open_no_switch(void **state)
{
	struct desk *d = *state;

	free(d->conf->guid_location_policy);
	d->conf->guid_location_policy = xstrdup("hold");
	start(d);
	be_silent(d, 3);
	be_silent(d, 5);
	assert_int_equal(n_opened_by_flaps(d, 600 * MONO_S), 0);
	rig_kill(d->rig, 0); /* the next process knows it of the file neighbors */
	start(d);
	assert_int_equal(n_opened_by_flaps(d, 600 * MONO_S), 0);
}

static void a_port_opens_its_switch_once_an_hour(void **state)
{
	struct desk *d = *state;

	be_silent(d, 3);
	be_silent(d, 5);
	start(d);
	run_for(d, 100 * MONO_S);
	assert_int_equal(n_opened_by_flaps(d, 3000 * MONO_S), 0);
	assert_int_equal(n_opened_by_flaps(d, 1200 * MONO_S), 1);
}

/* A switch may have taken the place of a host. */
static void a_port_of_a_host_opens_its_switch_once_an_hour(void **state)
{
	struct desk *d = *state;

	start(d);
	be_silent(d, 3);
	be_silent(d, 5);
	assert_int_equal(n_opened_by_flaps(d, 3000 * MONO_S), 1);
	assert_int_equal(n_opened_by_flaps(d, 1200 * MONO_S), 1);
}

/* ---- leases ---------------------------------------------------------------------------------- */

/* A Set of h5 with a wrong key, which makes the lease of h3 run. */
static void try_a_key(struct desk *d, struct transport *tr)
{
	const struct smp_head head = {
		.method = MAD_SET, .attr = IB_ATTR_PORT_INFO, .mod = 1, .m_key = 0xbad
	};
	const struct transport_addr to = { .lid = sim_port_lid(d->rig->sim, host(d, 3), 1) };
	const uint8_t nothing[SMP_DATA_SIZE] = { 0 };
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, &head, nothing);
	assert_int_equal(transport_send(tr, &to, mad, sizeof(mad), 0), 0);
	run_for(d, 50 * MONO_MS);
}

/* No sweep is due: each wrong key is answered by a Get, and many by one in a second. */
static void a_lease_that_runs_is_stopped_at_once(void **state)
{
	struct desk *d = *state;
	struct sim *sim = d->rig->sim;
	struct transport *tr;
	uint64_t asked;

	d->conf->m_key_lease_period = 60;
	d->conf->sweep_interval = 3600;
	d->conf->port_state_poll_interval = 0; /* all Gets are counted */
	start(d);
	tr = sim_attach(sim, "h5", 0);
	sim_watch_keys(sim, 2);
	for (unsigned i = 0; i < 5; i++) {
		try_a_key(d, tr); /* a light sweep follows, and none within a minute */
		run_for(d, 10 * MONO_S);
		try_a_key(d, tr);
		run_for(d, 70 * MONO_S);
	}
	assert_int_equal(sim_keys_watched(sim)->opened, 0);
	assert_true(sim_keys_watched(sim)->looks > 0);
	try_a_key(d, tr);
	run_for(d, 20 * MONO_S);
	asked = sim_gets(sim);
	for (unsigned i = 0; i < 18; i++)
		try_a_key(d, tr);
	assert_in_range(sim_gets(sim) - asked, 1, 2);
	transport_close(tr);
}

/* Ports have other keys than the manager knows: that is no cause to ask them again and again. */
static void wrong_keys_of_our_own_are_not_repeated(void **state)
{
	struct desk *d = *state;
	uint64_t asked;

	d->conf->m_key_lease_period = 60;
	d->conf->sweep_interval = 3600;
	start(d);
	for (unsigned i = 1; i < 6; i++)
		sim_set_m_key(d->rig->sim, host(d, i), 1, 0xbad0 + i, 2, 0);
	asked = sim_count(d->rig->sim, IB_ATTR_NODE_DESC, MAD_GET);
	sm_request_heavy(sm_of(d), NULL);
	run_for(d, 60 * MONO_S);
	asked = sim_count(d->rig->sim, IB_ATTR_NODE_DESC, MAD_GET) - asked;
	print_message("%u questions\n", (unsigned)asked);
	assert_in_range(asked, 0, 10);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(no_host_is_sent_a_key_to_come),
		TEST(no_host_turns_the_epoch),
		TEST(a_found_epoch_is_stored_first),
		TEST(a_host_is_not_lost_by_a_wrong_cable),
		TEST(a_host_that_is_plugged_back_is_met),
		TEST(hosts_that_were_met_open_no_switch),
		TEST(a_port_opens_its_switch_once_an_hour),
		TEST(a_port_of_a_host_opens_its_switch_once_an_hour),
		TEST(a_lease_that_runs_is_stopped_at_once),
		TEST(wrong_keys_of_our_own_are_not_repeated),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("sm-keys-hosts", tests, NULL, NULL);
}
