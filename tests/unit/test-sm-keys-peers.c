// SPDX-License-Identifier: BSD-2-Clause
/*
 * M_Keys with two managers, of single ports, and one for all: the standby has the seed before a
 * port has a key of it, takes over a locked fabric without a key changed, and finds the epoch when
 * it was away for long.
 */
#include "locked-managers.h"
#include "sm/sweep/sweep.h"
#include "tests/lib/rounds.h"

static void a_takeover_changes_no_key(void **state)
{
	struct world *w = *state;
	struct keys_seen before, after;
	struct sm_keys keys;

	start_locked(w);
	sm_keys(sm_of(w, ACTIVE), &keys);
	assert_int_equal(keys.n_standbys, 1);
	assert_int_equal(keys.n_informed, 1);
	before = look(w);
	fail_over(w);
	attend(w, 4, 60 * MONO_S);
	after = look(w);
	assert_int_equal(n_changed(&before, &after), 0);
	assert_int_equal(after.n_open, 0);
	sm_keys(sm_of(w, SPARE), &keys);
	assert_int_equal(keys.n_right, keys.n_ports);
	assert_int_equal(keys.n_ports, after.n);
}

static void a_rotation_waits_for_the_standby(void **state)
{
	struct world *w = *state;
	struct keys_seen before, after;

	start_locked(w);
	before = look(w);
	assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
	while (epoch_at(w, SPARE) == 1) {
		after = look(w);
		assert_int_equal(n_changed(&before, &after), 0);
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	}
	attend(w, 4, 20 * MONO_S);
	after = look(w);
	assert_int_equal(n_changed(&before, &after), after.n);
	fail_over(w);
	attend(w, 4, 40 * MONO_S);
	before = look(w);
	assert_int_equal(n_changed(&before, &after), 0);
}

/* A session breaks while the standby stores the ring: the next message is answered, too. */
static void a_standby_that_is_storing_says_so(void **state)
{
	struct world *w = *state;
	struct sm_keys keys;
	guid_t guid;

	start_locked(w);
	guid = sm_of(w, SPARE)->tr->port_guid;
	w->rig->disk_time = 20 * MONO_S;
	assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
	run_for(w, 3 * MONO_S);
	spare_tap(w)->channel.cut = true;
	while (channel_is_connected(sm_of(w, ACTIVE), guid))
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	spare_tap(w)->channel.cut = false;
	attend(w, 4, 45 * MONO_S); /* with no reply the master would wait for a minute */
	sm_keys(sm_of(w, ACTIVE), &keys);
	assert_int_equal(keys.n_informed, 1);
	assert_int_equal(epoch_at(w, SPARE), 2);
}

/* Some ports have the next key, others the former one: none is open, and all are met. */
static void a_master_may_die_anywhere_in_a_rotation(void **state)
{
	for (unsigned steps = 0; steps < 60; steps += test_stride(3)) {
		struct world *w = *state;
		struct sm_keys keys;

		start_locked(w);
		sim_watch_keys(w->rig->sim, 2);
		assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
		while (epoch_at(w, ACTIVE) == 1)
			assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
		for (unsigned i = 0; i < steps; i++)
			rig_step(w->rig, sim_now(w->rig->sim) + MONO_S);
		rig_kill(w->rig, ACTIVE);
		attend(w, 4, 100 * MONO_S);
		assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
		sm_keys(sm_of(w, SPARE), &keys);
		assert_int_equal(keys.epoch, 2);
		assert_int_equal(keys.n_ports, look(w).n);
		assert_int_equal(keys.n_right, keys.n_ports);
		assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
		teardown(state);
		setup(state);
	}
}

/* The key of each port is one that this manager has, whatever it takes over. */
static void expect_opened_by(struct world *w, unsigned which)
{
	const struct key_ring *ring = keys_known(sm_of(w, which));
	uint64_t former[KEY_RING_FORMER];
	struct sim_m_key has;

	for (unsigned i = 0; i < sim_n_nodes(w->rig->sim); i++) {
		for (unsigned p = 0; p <= sim_node_ports(w->rig->sim, (int)i); p++) {
			unsigned n;

			if (!sim_port_m_key(w->rig->sim, (int)i, p, &has) || !has.key ||
			    key_ring_key(ring, has.guid) == has.key)
				continue;
			n = key_ring_former(ring, has.guid, former, KEY_RING_FORMER);
			while (n && former[n - 1] != has.key)
				n--;
			assert_int_not_equal(n, 0);
		}
	}
}

static void attend_opened(struct world *w, mono_t t)
{
	mono_t until = sim_now(w->rig->sim) + t;
	struct transport_event ev;

	do {
		while (client_receive(w->host[4], &ev))
			free(ev.whole);
		expect_opened_by(w, SPARE);
	} while (rig_step(w->rig, until));
}

/* The master dies before its standby is sent the keys to come, and is there again at once. */
static void die_and_come_back(struct world *w, unsigned steps)
{
	struct sm_keys keys;

	spare_tap(w)->channel.cut = true;
	for (unsigned i = 0; i < steps; i++) {
		expect_opened_by(w, SPARE);
		rig_step(w->rig, sim_now(w->rig->sim) + MONO_S / 8);
	}
	rig_kill(w->rig, ACTIVE);
	spare_tap(w)->channel.cut = false;
	assert_true(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]) >= 0);
	attend_opened(w, 100 * MONO_S);
	assert_int_equal(rig_count(w->rig, SM_MASTER), 1);
	sm_keys(rig_master(w->rig), &keys);
	assert_int_equal(keys.n_informed, 1);
	assert_int_equal(keys.n_ports, look(w).n);
	assert_int_equal(keys.n_right, keys.n_ports);
	assert_int_equal(look(w).n_open, 0);
	assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
}

static void keys_that_no_standby_has_come_into_force_at_no_start(void **state)
{
	for (unsigned steps = 0; steps < 24; steps += test_stride(1)) {
		struct world *w = *state;

		start_locked(w);
		sim_watch_keys(w->rig->sim, 2);
		assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
		die_and_come_back(w, steps);
		teardown(state);
		setup(state);
	}
}

static void nor_do_keys_of_a_new_seed(void **state)
{
	for (unsigned steps = 0; steps < 24; steps += test_stride(1)) {
		struct world *w = *state;

		start_locked(w);
		sim_watch_keys(w->rig->sim, 2);
		lock_options(w, ACTIVE);
		w->conf[ACTIVE]->m_key = 0x5eed3;
		reload(w, ACTIVE);
		die_and_come_back(w, steps);
		teardown(state);
		setup(state);
	}
}

/* The former master comes back when keys were rotated often, and takes over by its priority. */
static void a_manager_that_was_away_finds_the_epoch(void **state)
{
	struct world *w = *state;
	struct keys_seen keys;
	struct sm_keys status;

	start_locked(w);
	fail_over(w);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(sm_rotate_keys(sm_of(w, SPARE)), 0);
		attend(w, 4, 5 * MONO_S);
	}
	assert_int_equal(epoch_at(w, SPARE), 21);
	assert_true(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]) >= 0);
	attend(w, 4, 120 * MONO_S);
	assert_int_equal(rig_count(w->rig, SM_MASTER), 1);
	assert_int_equal(rig_count(w->rig, SM_STANDBY), 1);
	keys = look(w);
	assert_int_equal(keys.n_open, 0);
	rig_kill(w->rig, SPARE);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(rig_count(w->rig, SM_MASTER), 1);
	assert_int_equal(look(w).n_open, 0);
	/* and once more when it starts again: keys that were retired do not come back */
	rig_kill(w->rig, (unsigned)rig_find(w->rig, "h0"));
	assert_true(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]) >= 0);
	attend(w, 4, 60 * MONO_S);
	sm_keys(rig_master(w->rig), &status);
	assert_int_equal(status.epoch, 21);
	sim_reboot(w->rig->sim, w->host[3]->node, MONO_S);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(look(w).n_open, 0);
}

static unsigned violations_of_all(struct world *w)
{
	struct sim_m_key has;
	unsigned n = 0;

	for (unsigned i = 0; i < sim_n_nodes(w->rig->sim); i++)
		for (unsigned p = 0; p <= sim_node_ports(w->rig->sim, (int)i); p++)
			if (sim_port_m_key(w->rig->sim, (int)i, p, &has))
				n += has.violations;
	return n;
}

/* What guid2mkey has from the time when it was master is not tried first: each is a timeout. */
static void a_standby_of_long_takes_over_without_wrong_keys(void **state)
{
	struct world *w = *state;
	unsigned before;

	start_locked(w);
	fail_over(w);
	attend(w, 4, 60 * MONO_S);
	assert_true(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]) >= 0);
	attend(w, 4, 60 * MONO_S);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(sm_rotate_keys(rig_master(w->rig)), 0);
		attend(w, 4, 5 * MONO_S);
	}
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	before = violations_of_all(w);
	rig_kill(w->rig, (unsigned)rig_find(w->rig, "h0"));
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(rig_count(w->rig, SM_MASTER), 1);
	assert_in_range(violations_of_all(w) - before, 0, 2);
}

static guid_t port_guid_of(struct world *w, const char *host)
{
	uint8_t ni[SMP_DATA_SIZE];

	assert_int_equal(sim_read(w->rig->sim, sim_find(w->rig->sim, host), IB_ATTR_NODE_INFO, 0,
				  ni), 0);
	return ib_get(ni, NI_PORT_GUID);
}

/*
 * The standby looks at the whole fabric in its own time: long after a rotation each port is asked
 * with the key that it has, not with the one that it had at the last look.
 */
static void a_standby_looks_with_the_keys_of_the_last_rotation(void **state)
{
	struct world *w = *state;
	unsigned before, looks;

	start_locked(w);
	attend(w, 4, 240 * MONO_S);
	assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
	attend(w, 4, 60 * MONO_S);
	before = violations_of_all(w);
	looks = sm_of(w, SPARE)->sweep_no;
	attend(w, 4, 400 * MONO_S);
	assert_true(sm_of(w, SPARE)->sweep_no > looks);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	assert_int_equal(violations_of_all(w), before);
}

/* A port may have the very key that was to be tried next when another manager hands over. */
static void a_handover_passes_over_no_key(void **state)
{
	struct world *w = *state;
	unsigned n_tried = 0;
	struct sm *sm;
	struct port *p;

	start_locked(w);
	sm = sm_of(w, ACTIVE);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(sm_rotate_keys(sm), 0);
		attend(w, 4, 20 * MONO_S);
	}
	keys_ruled(sm);
	p = fabric_find_port(sm->fabric, port_guid_of(w, "h5"));
	assert_non_null(p);
	while (n_tried < 3) {
		uint64_t first = keys_expected(sm, p->guid, 0), key;

		keys_doubt(sm, p, p->m_key);
		key = p->m_key;
		if (key == first)
			continue;
		n_tried++;
		keys_ruled(sm);
		keys_ruled(sm);
		assert_true(p->m_key == first);
		keys_doubt(sm, p, p->m_key);
		assert_true(p->m_key == key);
	}
}

/* All ports but those of the standby and of the switch next to it have another key now. */
static void change_keys_far_away(struct world *w)
{
	int own = sim_find(w->rig->sim, "h11"), near;
	struct sim_m_key has;
	unsigned port;

	assert_true(sim_peer(w->rig->sim, own, 1, &near, &port));
	for (int i = 0; i < (int)sim_n_nodes(w->rig->sim); i++) {
		for (unsigned p = 0; p <= sim_node_ports(w->rig->sim, i); p++)
			if (i != own && i != near && sim_port_m_key(w->rig->sim, i, p, &has))
				sim_set_m_key(w->rig->sim, i, p, has.key + 1, 2, 0);
	}
}

/* What the standby still had to look at is not asked with keys of before: each is a timeout. */
static void a_lost_master_ends_what_its_standby_looks_at(void **state)
{
	struct world *w = *state;
	struct sm *spare;
	unsigned before;

	w->conf[SPARE]->max_wire_smps = w->conf[SPARE]->max_wire_smps2 = 1;
	start_locked(w);
	spare = sm_of(w, SPARE);
	rig_kill(w->rig, SPARE);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE + 1);
	spare = sm_of(w, SPARE + 1);
	while (strcmp(sweep_step_name(spare), "reading tables"))
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	assert_int_equal(spare->sweep, SWEEP_WATCH);
	change_keys_far_away(w);
	rig_kill(w->rig, ACTIVE);
	while (sm_state(spare) == SM_STANDBY)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	assert_int_equal(spare->sweep, SWEEP_WATCH);
	before = violations_of_all(w);
	while (spare->sweep == SWEEP_WATCH)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	/* a question on its way, repeated, and polls; not all tables of all ports, which are 100 */
	assert_in_range(violations_of_all(w) - before, 0, 30);
}

/* A manager that shows no more than what every distribution knows is not sent a seed. */
static void expect_no_seed_sent(struct world *w, uint64_t sm_key, uint64_t sa_key, char *allowed)
{
	struct sm_keys keys;
	char path[SCRATCH_PATH + 32];

	for (unsigned i = 0; i < 2; i++) {
		lock_options(w, i);
		w->conf[i]->sm_key = sm_key;
		w->conf[i]->sa_key = sa_key;
		w->conf[i]->allowed_sm_guids = allowed ? xstrdup(allowed) : NULL;
	}
	seen.n = 0;
	sim_set_own_port_open(w->rig->sim, true);
	w->conf[ACTIVE]->m_key_protection_level = w->conf[SPARE]->m_key_protection_level = 0;
	start_both(w);
	attend(w, 4, 60 * MONO_S);
	sm_keys(sm_of(w, ACTIVE), &keys);
	assert_int_equal(keys.n_informed, 0);
	assert_int_equal(said("is not sent the seeds of M_Keys", ""), 1);
	snprintf(path, sizeof(path), "%s/m_key_ring", w->dir[SPARE]);
	/* the one that the standby drew itself */
	assert_int_equal(access(path, R_OK), 0);
	assert_true(key_ring_mark(keys_known(sm_of(w, SPARE))) !=
		    key_ring_mark(keys_known(sm_of(w, ACTIVE))));
}

static void well_known_keys_keep_the_seed_at_home(void **state)
{
	expect_no_seed_sent(*state, 1, 1, NULL);
}

static void half_a_secret_keeps_the_seed_at_home(void **state)
{
	static const uint64_t pairs[][2] = {
		{ 0x515, 1 }, { 0x515, 0 }, { 1, 0x5a5 }, { 0, 0x5a5 }
	};

	for (unsigned i = 0; i < ARRAY_SIZE(pairs); i++) {
		expect_no_seed_sent(*state, pairs[i][0], pairs[i][1], NULL);
		teardown(state);
		setup(state);
	}
}

/* A host can claim the GUID of a standby that is off. */
static void a_listed_guid_keeps_the_seed_at_home(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *both = xasprintf("0x%016lx,0x%016lx",
					      (unsigned long)port_guid_of(w, "h0"),
					      (unsigned long)port_guid_of(w, "h11"));

	expect_no_seed_sent(w, 1, 1, both);
}

/*
 * Started on a fabric that is locked with other keys, and no manager of the master's: nothing is
 * taken over, no key is sent, and that is told.
 */
static void expect_left_out(struct world *w, unsigned level, const char *told)
{
	struct keys_seen before, after;
	struct sm_keys keys;

	seen.n = 0;
	sim_set_own_port_open(w->rig->sim, true);
	w->conf[ACTIVE]->m_key_protection_level = level;
	assert_true(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]) >= 0);
	attend(w, 4, 20 * MONO_S);
	before = look(w);
	assert_true(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]) >= 0);
	attend(w, 4, 120 * MONO_S);
	assert_int_equal(rig_count(w->rig, SM_MASTER), 1);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_DISCOVERING);
	assert_true(said("nothing is changed", told) > 0);
	sm_keys(sm_of(w, ACTIVE), &keys);
	assert_int_equal(keys.n_informed, 0);
	after = look(w);
	assert_int_equal(n_changed(&before, &after), 0);
}

static void a_manager_without_keys_stays_out(void **state)
{
	static const char *const told[] = { "is asked for the keys", "is asked for the keys",
					    "sm_key or sa_key is 0 or 1", "is drawn at random here",
					    "is asked for the keys", "is asked for the keys" };

	for (unsigned i = 0; i < 2 * ARRAY_SIZE(told); i++) {
		struct world *w = *state;
		struct conf *spare, *from;

		lock_options(w, ACTIVE);
		lock_options(w, SPARE);
		spare = w->conf[SPARE];
		if (i / 2 == 0)
			spare->sa_key = 0x5a6;
		else if (i / 2 == 1)
			spare->sm_key = 0x516;
		else if (i / 2 == 2)
			spare->sm_key = spare->sa_key = 1;
		else if (i / 2 == 3)
			spare->randomize_sa_key = true;
		from = i / 2 == 4 ? w->conf[ACTIVE] : spare;
		if (i / 2 >= 4) /* the other one is in no list of this one */
			from->allowed_sm_guids = xasprintf("0x%016lx", (unsigned long)
				port_guid_of(w, from == spare ? "h11" : "h0"));
		expect_left_out(w, 1 + i % 2, told[i / 2]);
		assert_int_equal(said("not in allowed_sm_guids", "are not asked for") > 0,
				 i / 2 == 5);
		teardown(state);
		setup(state);
	}
}

static void another_seed_at_the_standby_is_told(void **state)
{
	struct world *w = *state;

	lock_options(w, SPARE);
	w->conf[SPARE]->m_key = 0x1234;
	lock_options(w, ACTIVE);
	sim_set_own_port_open(w->rig->sim, true);
	w->conf[ACTIVE]->m_key_protection_level = w->conf[SPARE]->m_key_protection_level = 0;
	start_both(w);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(said("another seed than the options here name", ""), 1);
}

/*
 * Both have seen the open fabric when one of them locks it, with a seed of its own. The other one
 * reads no port any more, not even where the master is: the driver of its port tells that.
 */
static void two_seeds_at_the_start_are_one(void **state)
{
	struct world *w = *state;
	struct keys_seen before, after;
	struct sm_keys keys;

	lock_options(w, ACTIVE);
	lock_options(w, SPARE);
	w->conf[ACTIVE]->m_key = 0xaaaa;
	w->conf[SPARE]->m_key = 0xbbbb;
	assert_true(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]) >= 0);
	assert_true(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]) >= 0);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	sm_keys(sm_of(w, ACTIVE), &keys);
	assert_int_equal(keys.n_informed, 1);
	sim_watch_keys(w->rig->sim, 2);
	before = look(w);
	fail_over(w);
	attend(w, 4, 60 * MONO_S);
	after = look(w);
	assert_int_equal(n_changed(&before, &after), after.n);
	sm_keys(sm_of(w, SPARE), &keys);
	assert_int_equal(keys.n_right, keys.n_ports);
	assert_int_equal(keys.n_ports, after.n);
	assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
}

static bool knows_all_seeds_of(struct world *w, unsigned which, unsigned other)
{
	_cleanup_(key_ring_unrefp) struct key_ring *ring =
		key_ring_copy(keys_known(sm_of(w, which)));

	return !key_ring_merge(ring, keys_known(sm_of(w, other)));
}

/* Should a subnet fall apart, each half is locked with keys of its manager's own seed. */
static void managers_learn_the_seeds_of_each_other(void **state)
{
	struct world *w = *state;
	struct keys_seen before, after;

	start_open(w);
	w->conf[SPARE]->m_key = 0x5eed2;
	reload(w, SPARE);
	lock_options(w, ACTIVE);
	w->conf[ACTIVE]->m_key = 0x5eed1;
	reload(w, ACTIVE);
	attend(w, 4, 60 * MONO_S);
	before = look(w);
	attend(w, 4, 60 * MONO_S);
	assert_true(knows_all_seeds_of(w, SPARE, ACTIVE));
	assert_true(knows_all_seeds_of(w, ACTIVE, SPARE));
	after = look(w);
	assert_int_equal(n_changed(&before, &after), 0);
}

/* One key for all ports: the standby has another one in its options. */
static void share_key(struct world *w, unsigned which, uint64_t m_key)
{
	lock_options(w, which);
	w->conf[which]->m_key_per_port = false;
	w->conf[which]->m_key = m_key;
}

static void start_shared(struct world *w)
{
	sim_set_own_port_open(w->rig->sim, true);
	share_key(w, ACTIVE, 0);
	share_key(w, SPARE, 0x1234);
	w->conf[ACTIVE]->m_key_protection_level = 0;
	start_both(w);
	attend(w, 4, 30 * MONO_S);
	share_key(w, ACTIVE, 0xaaaa);
	reload(w, ACTIVE);
	attend(w, 4, 60 * MONO_S);
	sim_watch_keys(w->rig->sim, 2);
	assert_int_equal(look(w).n_open, 0);
	assert_int_equal(look(w).key[0], 0xaaaa);
}

static void expect_all_are_met(struct world *w)
{
	struct sm_keys keys;

	attend(w, 4, 100 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	sm_keys(sm_of(w, SPARE), &keys);
	assert_false(keys.per_port);
	assert_int_equal(keys.n_ports, look(w).n);
	assert_int_equal(keys.n_right, keys.n_ports);
	assert_int_equal(look(w).key[0], 0x1234);
	assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
}

static void a_standby_is_sent_the_key_of_all_ports(void **state)
{
	struct world *w = *state;
	struct sm_keys keys;

	seen.n = 0;
	start_shared(w);
	sm_keys(sm_of(w, ACTIVE), &keys);
	assert_int_equal(keys.n_informed, 1);
	assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), -ENOKEY);
	assert_int_equal(said("another m_key than the options here name", ""), 1);
	rig_kill(w->rig, ACTIVE);
	expect_all_are_met(w);
}

static void a_new_key_of_all_ports_waits_for_the_standby(void **state)
{
	struct world *w = *state;
	uint64_t has;

	start_shared(w);
	has = key_ring_mark(keys_known(sm_of(w, SPARE)));
	share_key(w, ACTIVE, 0xbbbb);
	reload(w, ACTIVE);
	while (key_ring_mark(keys_known(sm_of(w, SPARE))) == has) {
		for (unsigned i = 0; i < N_PORTS; i++)
			assert_int_equal(look(w).key[i], 0xaaaa);
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	}
	attend(w, 4, 30 * MONO_S);
	for (unsigned i = 0; i < N_PORTS; i++)
		assert_int_equal(look(w).key[i], 0xbbbb);
}

static void a_master_may_die_anywhere_in_a_change_of_m_key(void **state)
{
	for (unsigned steps = 0; steps < 120; steps += test_stride(4)) {
		struct world *w = *state;

		start_shared(w);
		share_key(w, ACTIVE, 0xbbbb);
		reload(w, ACTIVE);
		for (unsigned i = 0; i < steps; i++)
			rig_step(w->rig, sim_now(w->rig->sim) + MONO_S);
		rig_kill(w->rig, ACTIVE);
		expect_all_are_met(w);
		teardown(state);
		setup(state);
	}
}

static void nor_does_a_new_key_of_all_ports(void **state)
{
	for (unsigned steps = 0; steps < 24; steps += test_stride(1)) {
		struct world *w = *state;

		start_shared(w);
		share_key(w, ACTIVE, 0xbbbb);
		reload(w, ACTIVE);
		die_and_come_back(w, steps);
		teardown(state);
		setup(state);
	}
}

/* From one key for all to a key for each, and back. */
static void both_kinds_of_keys_follow_each_other(void **state)
{
	struct world *w = *state;
	struct keys_seen keys;

	start_shared(w);
	lock_options(w, ACTIVE);
	reload(w, ACTIVE);
	attend(w, 4, 60 * MONO_S);
	keys = look(w);
	assert_int_equal(keys.n_open, 0);
	assert_true(keys.key[0] != 0xaaaa && keys.key[0] != keys.key[1]);
	share_key(w, ACTIVE, 0xcccc);
	reload(w, ACTIVE);
	attend(w, 4, 60 * MONO_S);
	for (unsigned i = 0; i < N_PORTS; i++)
		assert_int_equal(look(w).key[i], 0xcccc);
	rig_kill(w->rig, ACTIVE);
	expect_all_are_met(w);
}

/* A manager with an empty cache folder comes to a fabric that is locked. */
static void join_locked(struct world *w, unsigned level)
{
	sim_set_own_port_open(w->rig->sim, true);
	w->conf[ACTIVE]->m_key_protection_level = level;
	assert_true(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]) >= 0);
	attend(w, 4, 20 * MONO_S);
	sim_watch_keys(w->rig->sim, level);
	assert_int_equal(look(w).n_open, level == 2 ? 0 : N_PORTS);
	assert_true(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]) >= 0);
	attend(w, 4, 120 * MONO_S);
}

static void expect_a_standby_that_can_take_over(struct world *w)
{
	struct keys_seen before = look(w), after;
	struct sm_keys keys;

	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	sm_keys(sm_of(w, ACTIVE), &keys);
	assert_int_equal(keys.n_informed, 1);
	fail_over(w);
	attend(w, 4, 60 * MONO_S);
	after = look(w);
	assert_int_equal(n_changed(&before, &after), 0);
	sm_keys(sm_of(w, SPARE), &keys);
	assert_int_equal(keys.n_right, keys.n_ports);
	assert_int_equal(keys.n_ports, after.n);
	assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
}

static void an_empty_standby_is_sent_seeds_and_cables(void **state)
{
	for (unsigned level = 1; level <= 2; level++) {
		struct world *w = *state;

		lock_options(w, ACTIVE);
		lock_options(w, SPARE);
		join_locked(w, level);
		expect_a_standby_that_can_take_over(w);
		teardown(state);
		setup(state);
	}
}

static void an_empty_standby_is_sent_the_key_of_all_ports(void **state)
{
	for (unsigned level = 1; level <= 2; level++) {
		struct world *w = *state;

		share_key(w, ACTIVE, 0xaaaa);
		share_key(w, SPARE, 0x1234);
		join_locked(w, level);
		assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
		assert_int_equal(key_ring_key(keys_known(sm_of(w, SPARE)), 1), 0xaaaa);
		assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
		teardown(state);
		setup(state);
	}
}

/* The master does not leave the fabric to it before it has keys. */
static void an_empty_manager_of_higher_priority_takes_over_with_keys(void **state)
{
	struct world *w = *state;

	seen.n = 0;
	lock_options(w, ACTIVE);
	lock_options(w, SPARE);
	w->conf[SPARE]->sm_priority = 9;
	join_locked(w, 2);
	assert_int_equal(said("it is passed over", ""), 0);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_STANDBY);
	assert_int_equal(look(w).n_open, 0);
	assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(a_takeover_changes_no_key),
		TEST(a_rotation_waits_for_the_standby),
		TEST(a_standby_that_is_storing_says_so),
		TEST(a_master_may_die_anywhere_in_a_rotation),
		TEST(keys_that_no_standby_has_come_into_force_at_no_start),
		TEST(nor_do_keys_of_a_new_seed),
		TEST(nor_does_a_new_key_of_all_ports),
		TEST(a_manager_that_was_away_finds_the_epoch),
		TEST(a_standby_of_long_takes_over_without_wrong_keys),
		TEST(a_standby_looks_with_the_keys_of_the_last_rotation),
		TEST(a_handover_passes_over_no_key),
		TEST(a_lost_master_ends_what_its_standby_looks_at),
		TEST(well_known_keys_keep_the_seed_at_home),
		TEST(half_a_secret_keeps_the_seed_at_home),
		TEST(a_listed_guid_keeps_the_seed_at_home),
		TEST(a_manager_without_keys_stays_out),
		TEST(another_seed_at_the_standby_is_told),
		TEST(two_seeds_at_the_start_are_one),
		TEST(managers_learn_the_seeds_of_each_other),
		TEST(a_standby_is_sent_the_key_of_all_ports),
		TEST(a_new_key_of_all_ports_waits_for_the_standby),
		TEST(a_master_may_die_anywhere_in_a_change_of_m_key),
		TEST(both_kinds_of_keys_follow_each_other),
		TEST(an_empty_standby_is_sent_seeds_and_cables),
		TEST(an_empty_standby_is_sent_the_key_of_all_ports),
		TEST(an_empty_manager_of_higher_priority_takes_over_with_keys),
	};

	return cmocka_run_group_tests_name("sm-keys-peers", tests, NULL, NULL);
}
