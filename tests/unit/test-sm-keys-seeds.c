// SPDX-License-Identifier: BSD-2-Clause
/*
 * Managers that make M_Keys from seeds of their own: ports have keys of the one that was master
 * last, and each manager reaches them.
 */
#include "locked-managers.h"
#include "ledger/ledger.h"
#include "sm/rows/key_seeds.h"

/* Times that ports were asked with a wrong key. */
static unsigned n_refused(struct world *w)
{
	uint8_t ni[SMP_DATA_SIZE], info[SMP_DATA_SIZE];
	unsigned n = 0;

	for (int i = 0; sim_read(w->rig->sim, i, IB_ATTR_NODE_INFO, 0, ni) == 0; i++) {
		unsigned port = ib_get(ni, NI_NODE_TYPE) == IB_NODE_SWITCH ? 0 : 1;

		assert_int_equal(sim_read(w->rig->sim, i, IB_ATTR_PORT_INFO, port, info), 0);
		n += ib_get(info, PI_M_KEY_VIOLATIONS);
	}
	return n;
}

/* Each has a seed of its own, and knows that of the other one; ports have keys of the master's. */
static void start_with_two_seeds(struct world *w)
{
	start_open(w);
	w->conf[SPARE]->m_key = 0x5eed2;
	reload(w, SPARE);
	lock_options(w, ACTIVE);
	w->conf[ACTIVE]->m_key = 0x5eed1;
	reload(w, ACTIVE);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(look(w).n_open, 0);
}

static bool has_seed_in_force(struct world *w, unsigned manager, unsigned whose)
{
	struct key_ring *own = key_ring_new();
	struct key_seed seed;
	bool has;

	key_seed_of_number(w->conf[whose]->m_key, &seed);
	key_ring_use(own, &seed);
	has = key_ring_is_alike(own, keys_known(sm_of(w, manager)));
	key_ring_unref(own);
	return has;
}

/* The process of a standby, or of one that was master; its number. */
static unsigned start_again(struct world *w, unsigned which)
{
	int at = rig_start(w->rig, which == ACTIVE ? "h0" : "h11", 1, w->conf[which],
			   w->dir[which]);

	assert_true(at >= 0);
	return (unsigned)at;
}

static void run_until_swept(struct world *w, unsigned manager)
{
	mono_t until = sim_now(w->rig->sim) + 60 * MONO_S;

	while (!sm_of(w, manager)->first_sweep_done)
		assert_true(rig_step(w->rig, until));
}

/*
 * Its file has the master's seed in front. Its own one comes into force when it has met all ports
 * as master.
 */
static void a_standby_that_starts_anew_goes_by_the_seed_in_force(void **state)
{
	struct world *w = *state;
	struct keys_seen before, after;
	struct sm_keys keys;
	unsigned spare, n;

	start_with_two_seeds(w);
	rig_kill(w->rig, SPARE);
	rig_kill(w->rig, ACTIVE);
	sim_set_own_port_open(w->rig->sim, false);
	n = n_refused(w);
	before = look(w);
	spare = start_again(w, SPARE);
	run_until_swept(w, spare);
	assert_int_equal(n_refused(w), n);
	after = look(w);
	assert_int_equal(n_changed(&before, &after), 0);
	attend(w, 4, 60 * MONO_S);
	assert_true(has_seed_in_force(w, spare, SPARE));
	sm_keys(sm_of(w, spare), &keys);
	assert_int_equal(keys.n_right, keys.n_ports);
	assert_int_equal(keys.n_ports, after.n);
}

/* It was master when it ended; its own port shows that the other one was that since. */
static void the_seed_that_a_port_shows_is_followed(void **state)
{
	struct world *w = *state;
	struct keys_seen before, after;
	unsigned active, n;

	start_with_two_seeds(w);
	before = look(w);
	fail_over(w);
	attend(w, 4, 60 * MONO_S);
	after = look(w);
	assert_int_equal(n_changed(&before, &after), after.n);
	rig_kill(w->rig, SPARE);
	n = n_refused(w);
	active = start_again(w, ACTIVE);
	run_until_swept(w, active);
	assert_int_equal(n_refused(w), n);
}

/* Standby of the others, on host 5, with a seed of its own; its number. */
static unsigned start_third(struct world *w, struct conf **conf)
{
	int at;

	w->host[5] = client_free(w->host[5]);
	*conf = conf_copy(w->conf[SPARE]);
	(*conf)->m_key = 0x5eed3;
	(*conf)->sm_priority = 0;
	at = rig_start(w->rig, "h5", 1, *conf, NULL);
	assert_true(at >= 0);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, at)), SM_STANDBY);
	return (unsigned)at;
}

static void give_priority(struct world *w, unsigned manager)
{
	struct conf *c = conf_copy(w->conf[manager]);

	conf_unref(w->conf[manager]);
	w->conf[manager] = c;
	c->sm_priority = 9;
	reload(w, manager);
}

static void run_until_keys_change(struct world *w)
{
	struct keys_seen before = look(w), after = before;

	while (!n_changed(&before, &after)) {
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 100 * MONO_S));
		after = look(w);
	}
}

/*
 * A standby that ports were locked against could not even ask its own port for the new master. One
 * that polls the former master learns after a while that there is another.
 */
static void a_seed_waits_for_all_managers_to_know(void **state)
{
	struct world *w = *state;
	struct conf *conf;
	unsigned third;

	w->conf[SPARE]->sminfo_polling_timeout = 30000;
	start_with_two_seeds(w);
	third = start_third(w, &conf);
	give_priority(w, SPARE);
	run_until_keys_change(w);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_STANDBY);
	assert_true(has_seed_in_force(w, ACTIVE, SPARE));
	assert_true(has_seed_in_force(w, third, SPARE));
	conf_unref(conf);
}

/* It has just handed over, and is about to register with the new master. */
static void a_rotation_waits_for_a_manager_that_is_not_connected(void **state)
{
	struct world *w = *state;
	unsigned epoch;

	start_locked(w);
	epoch = epoch_at(w, ACTIVE);
	give_priority(w, SPARE);
	while (sm_rotate_keys(sm_of(w, SPARE)) < 0)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	assert_int_equal(epoch_at(w, ACTIVE), epoch);
	run_until_keys_change(w);
	assert_int_equal(epoch_at(w, ACTIVE), epoch + 1);
}

static void rotate(struct world *w, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		attend(w, 4, 30 * MONO_S);
		assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
	}
	attend(w, 4, 30 * MONO_S);
}

/* It has a key of some epochs ago. Before it answers nothing can be read. */
static void keys_of_the_next_switch_are_tried_in_one_sweep(void **state)
{
	struct world *w = *state;
	int leaf = sim_find(w->rig->sim, "leaf1");
	struct sim_m_key old;
	unsigned active;

	start_locked(w);
	rig_kill(w->rig, SPARE);
	assert_true(sim_port_m_key(w->rig->sim, leaf, 0, &old));
	rotate(w, 3);
	rig_kill(w->rig, ACTIVE);
	sim_set_m_key(w->rig->sim, leaf, 0, old.key, 2, 0);
	seen.n = 0;
	active = start_again(w, ACTIVE);
	run_until_swept(w, active);
	assert_int_equal(said("the node next to our own port does not answer", ""), 0);
}

static guid_t guid_of(struct world *w, const char *node)
{
	uint8_t ni[SMP_DATA_SIZE];

	assert_int_equal(sim_read(w->rig->sim, sim_find(w->rig->sim, node), IB_ATTR_NODE_INFO, 0,
				  ni),
			 0);
	return ib_get(ni, NI_PORT_GUID);
}

/* A switch that shows a key of another seed says what is likely on others, and what is not. */
static void the_seed_of_one_switch_is_tried_on_others(void **state)
{
	struct world *w = *state;
	struct key_ring *other = key_ring_new();
	guid_t shown, asked;
	struct key_seed seed;
	uint64_t likely;

	start_with_two_seeds(w);
	rotate(w, 3);
	shown = guid_of(w, "spine1");
	asked = guid_of(w, "h5");
	key_seed_of_number(w->conf[SPARE]->m_key, &seed);
	key_ring_use(other, &seed);
	likely = keys_likely(sm_of(w, ACTIVE));
	assert_int_not_equal(keys_expected(sm_of(w, ACTIVE), asked, 1), key_ring_key(other, asked));
	keys_shown(sm_of(w, ACTIVE), shown, key_ring_key(other, shown));
	assert_int_equal(keys_expected(sm_of(w, ACTIVE), asked, 1), key_ring_key(other, asked));
	assert_int_not_equal(keys_likely(sm_of(w, ACTIVE)), likely);
	assert_true(key_ring_epoch(keys_known(sm_of(w, ACTIVE))) == 4);
	keys_use(sm_of(w, ACTIVE), key_ring_copy(keys_known(sm_of(w, ACTIVE))));
	assert_int_not_equal(keys_expected(sm_of(w, ACTIVE), asked, 1), key_ring_key(other, asked));
	key_ring_unref(other);
}

/* The standby has turned its seed, over and over again, whenever the master has learnt of it. */
static void turn_seed_of_standby(struct world *w, struct key_ring *ring)
{
	assert_true(key_ring_turn(ring));
	assert_true(key_seeds_write(sm_of(w, SPARE), ring, SEEDS_KNOWN, NULL, NULL));
}

static void a_standby_that_turns_its_seed_changes_no_key(void **state)
{
	struct world *w = *state;
	struct key_ring *ring = key_ring_new();
	struct keys_seen before, after;
	struct key_seed seed;
	uint64_t n_sets, mark;
	unsigned n = 0;
	mono_t end;

	start_with_two_seeds(w);
	attend(w, 4, 60 * MONO_S);
	end = sim_now(w->rig->sim) + 20 * MONO_S;
	before = look(w);
	n_sets = sim_sets(w->rig->sim);
	key_seed_of_number(w->conf[SPARE]->m_key, &seed);
	key_ring_use(ring, &seed);
	turn_seed_of_standby(w, ring);
	mark = key_ring_mark(keys_known(sm_of(w, ACTIVE)));
	while (rig_step(w->rig, end)) {
		if (key_ring_mark(keys_known(sm_of(w, ACTIVE))) == mark)
			continue;
		mark = key_ring_mark(keys_known(sm_of(w, ACTIVE)));
		if (++n < 20)
			turn_seed_of_standby(w, ring);
	}
	assert_int_equal(n, 20); /* each one is known to the master */
	after = look(w);
	assert_int_equal(n_changed(&before, &after), 0);
	assert_int_equal(sim_sets(w->rig->sim), n_sets);
	assert_true(has_seed_in_force(w, ACTIVE, ACTIVE));
	assert_true(has_seed_in_force(w, SPARE, ACTIVE));
	key_ring_unref(ring);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct key_ring *ring_of_rows(struct world *w, unsigned which, bool *ret_in_force)
{
	return key_seeds_ring(sm_of(w, which), ret_in_force);
}

/* Both have the seed in force in the same row, and what is known behind it. */
static void rows_of_all_managers_are_the_same_ring(void **state)
{
	struct world *w = *state;

	start_with_two_seeds(w);
	rotate(w, 2);
	for (unsigned which = 0; which < 2; which++) {
		bool in_force;
		_cleanup_(key_ring_unrefp) struct key_ring *ring =
			ring_of_rows(w, which, &in_force);

		assert_true(in_force);
		assert_true(key_ring_is_alike(ring, keys_known(sm_of(w, ACTIVE))));
		assert_int_equal(key_ring_epoch(ring), 3);
	}
	assert_true(ledger_rows_there(settle_ledger(sm_of(w, SPARE)), LEDGER_SEED) >= 2);
}

/* A seed that a manager merely knows comes behind the one in force, though written later. */
static void a_seed_that_is_known_is_not_in_force(void **state)
{
	struct world *w = *state;
	_cleanup_(key_ring_unrefp) struct key_ring *known = key_ring_new(), *ring = NULL;
	struct key_seed seed;
	bool in_force;

	start_locked(w);
	key_seed_of_number(0x4711, &seed);
	key_ring_use(known, &seed);
	assert_false(key_seeds_have(sm_of(w, SPARE), known));
	assert_true(key_seeds_write(sm_of(w, SPARE), known, SEEDS_KNOWN, NULL, NULL));
	attend(w, 4, 20 * MONO_S);
	assert_true(key_seeds_have(sm_of(w, ACTIVE), known));
	ring = ring_of_rows(w, ACTIVE, &in_force);
	assert_true(in_force);
	assert_false(key_ring_is_alike(ring, known));
	assert_false(key_seeds_write(sm_of(w, SPARE), known, SEEDS_KNOWN, NULL, NULL));
	assert_true(key_seeds_write(sm_of(w, ACTIVE), known, SEEDS_IN_FORCE, NULL, NULL));
	attend(w, 4, 5 * MONO_S);
	assert_false(key_seeds_write(sm_of(w, ACTIVE), known, SEEDS_IN_FORCE, NULL, NULL));
	key_ring_unref(take(ring));
	ring = ring_of_rows(w, ACTIVE, &in_force);
	assert_true(key_ring_is_alike(ring, known));
}

/* Rows are not kept to the eight that a ring has: a seed that comes back goes on in its epoch. */
static void a_seed_of_long_ago_goes_on_in_its_epoch(void **state)
{
	struct world *w = *state;

	start_with_two_seeds(w);
	rotate(w, 2);
	for (unsigned i = 0; i < KEY_RING_SEEDS + 2; i++) {
		lock_options(w, ACTIVE);
		w->conf[ACTIVE]->m_key = 0x1000 + i;
		reload(w, ACTIVE);
		attend(w, 4, 30 * MONO_S);
	}
	assert_in_range(ledger_rows_there(settle_ledger(sm_of(w, SPARE)), LEDGER_SEED),
			KEY_RING_SEEDS + 3, KEY_RING_SEEDS + 8);
	assert_int_equal(epoch_at(w, ACTIVE), 1);
	lock_options(w, ACTIVE);
	w->conf[ACTIVE]->m_key = 0x5eed1;
	reload(w, ACTIVE);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(epoch_at(w, ACTIVE), 3);
	assert_int_equal(look(w).n_open, 0);
}

static void lose(struct world *w, unsigned which, const char *name)
{
	char path[SCRATCH_PATH + 32];

	snprintf(path, sizeof(path), "%s/%s", w->dir[which], name);
	assert_int_equal(unlink(path), 0);
}

/* Its file is lost, and its ledger has the seed: no key is changed, and no lease has to end. */
static void a_ring_without_a_file_is_that_of_the_rows(void **state)
{
	struct world *w = *state;
	struct keys_seen before, after;
	unsigned active;
	mono_t end;

	start_locked(w);
	rotate(w, 2);
	rig_kill(w->rig, SPARE);
	rig_kill(w->rig, ACTIVE);
	lose(w, ACTIVE, "m_key_ring");
	sim_watch_keys(w->rig->sim, 2);
	before = look(w);
	active = start_again(w, ACTIVE);
	end = sim_now(w->rig->sim) + 60 * MONO_S;
	do {
		after = look(w);
		assert_int_equal(n_changed(&before, &after), 0);
	} while (rig_step(w->rig, end));
	assert_int_equal(sm_state(sm_of(w, active)), SM_MASTER);
	assert_int_equal(epoch_at(w, active), 3);
	assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
}

/* A file of a build before it, and no ledger: its seeds become rows, in their order. */
static void a_file_of_before_becomes_rows(void **state)
{
	struct world *w = *state;
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;
	struct keys_seen before, after;
	unsigned active;
	bool in_force;

	start_with_two_seeds(w);
	rotate(w, 2);
	rig_kill(w->rig, SPARE);
	rig_kill(w->rig, ACTIVE);
	lose(w, ACTIVE, "ledger.db");
	before = look(w);
	active = start_again(w, ACTIVE);
	attend(w, 4, 120 * MONO_S);
	after = look(w);
	assert_int_equal(n_changed(&before, &after), 0);
	ring = ring_of_rows(w, active, &in_force);
	assert_true(in_force);
	assert_true(key_ring_mark(ring) == key_ring_mark(keys_known(sm_of(w, active))));
}

/* An empty manager reads keys (level 0), rules, and has drawn a seed before it meets the other. */
static void a_seed_that_was_drawn_in_ignorance_passes(void **state)
{
	struct world *w = *state;
	struct keys_seen before, after;
	unsigned active;

	start_locked(w);
	rotate(w, 1);
	for (unsigned i = 0; i < 2; i++) {
		lock_options(w, i);
		w->conf[i]->m_key_protection_level = 0;
		reload(w, i);
	}
	attend(w, 4, 30 * MONO_S);
	rig_kill(w->rig, ACTIVE);
	scratch_remove(w->dir[ACTIVE]);
	scratch_folder(w->dir[ACTIVE]);
	free(w->conf[ACTIVE]->partition_config_file);
	w->conf[ACTIVE]->partition_config_file = xasprintf("%s/partitions.conf", w->dir[ACTIVE]);
	scratch_open_partitions(w->conf[ACTIVE]->partition_config_file);
	sim_set_own_port_open(w->rig->sim, true);
	before = look(w);
	active = start_again(w, ACTIVE);
	attend(w, 4, 120 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, active)), SM_MASTER);
	after = look(w);
	assert_int_equal(n_changed(&before, &after), 0);
	assert_int_equal(epoch_at(w, active), 2);
}

/* The options keep its m_key, and nothing keeps the seeds that the master has behind that. */
static void what_is_not_on_the_disk_is_not_said_to_be_stored(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *no_folder = xasprintf("%s/partitions.conf/none", w->dir[SPARE]);
	struct sm_keys keys;

	for (unsigned i = 0; i < 2; i++) {
		lock_options(w, i);
		w->conf[i]->m_key_per_port = false;
		w->conf[i]->m_key = 0xaaaa;
	}
	sim_set_own_port_open(w->rig->sim, true);
	assert_true(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]) >= 0);
	attend(w, 4, 20 * MONO_S);
	assert_true(rig_start(w->rig, "h11", 1, w->conf[SPARE], no_folder) >= 0);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	assert_int_equal(key_ring_mark(keys_known(sm_of(w, SPARE))),
			 key_ring_mark(keys_known(sm_of(w, ACTIVE))));
	sm_keys(sm_of(w, ACTIVE), &keys);
	assert_int_equal(keys.n_standbys, 1);
	assert_int_equal(keys.n_informed, 0);
	assert_int_equal(said("this standby cannot store what is changed", ""), 1);
}

/* ---- a take-over amidst a rotation ---------------------------------------------------------- */

/* Of the sweep that runs. */
static bool met_all_ports(const struct sm *sm)
{
	unsigned n = 0;

	FABRIC_EACH_NODE(sm->fabric, node) {
		for (unsigned i = 0; i <= node->n_ports; i++) {
			const struct port *p = &node->ports[i];

			if (!port_is_end(p) || (!i && !node_is_switch(node)))
				continue;
			if (!p->known || p->seen != sm->sweep_no)
				return false;
			n++;
		}
	}
	return n == N_PORTS;
}

/*
 * The master dies when a part of the ports have the next key. Its standby may have been alone for
 * long, and not know it: whatever it finds, it looks at all ports before one is given a key, and
 * begins no rotation of its own meanwhile.
 */
static void a_surprised_master_meets_all_ports_before_it_gives_a_key(void **state)
{
	struct world *w = *state;
	struct keys_seen before, now;
	struct sm_keys keys;
	struct sm *sm;

	start_locked(w);
	sm = sm_of(w, SPARE);
	before = look(w);
	assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
	do {
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
		now = look(w);
	} while (n_changed(&before, &now) < N_PORTS / 2);
	rig_kill(w->rig, ACTIVE);
	while (sm_state(sm) != SM_MASTER)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 60 * MONO_S));
	before = look(w);
	do {
		assert_int_equal(sm_rotate_keys(sm), -EAGAIN);
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 60 * MONO_S));
		now = look(w);
	} while (!n_changed(&before, &now) && !sm->first_sweep_done);
	assert_int_not_equal(n_changed(&before, &now), 0);
	assert_true(met_all_ports(sm));
	attend(w, 4, 60 * MONO_S);
	sm_keys(sm, &keys);
	assert_int_equal(keys.epoch, 2);
	assert_int_equal(keys.n_right, N_PORTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_standby_that_starts_anew_goes_by_the_seed_in_force),
		TEST(the_seed_that_a_port_shows_is_followed),
		TEST(a_seed_waits_for_all_managers_to_know),
		TEST(a_rotation_waits_for_a_manager_that_is_not_connected),
		TEST(keys_of_the_next_switch_are_tried_in_one_sweep),
		TEST(the_seed_of_one_switch_is_tried_on_others),
		TEST(a_standby_that_turns_its_seed_changes_no_key),
		TEST(rows_of_all_managers_are_the_same_ring),
		TEST(a_seed_that_is_known_is_not_in_force),
		TEST(a_seed_of_long_ago_goes_on_in_its_epoch),
		TEST(a_ring_without_a_file_is_that_of_the_rows),
		TEST(a_file_of_before_becomes_rows),
		TEST(a_seed_that_was_drawn_in_ignorance_passes),
		TEST(what_is_not_on_the_disk_is_not_said_to_be_stored),
		TEST(a_surprised_master_meets_all_ports_before_it_gives_a_key),
	};

	return cmocka_run_group_tests_name("sm-keys-seeds", tests, NULL, NULL);
}
