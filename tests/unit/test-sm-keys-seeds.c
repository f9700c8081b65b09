// SPDX-License-Identifier: BSD-2-Clause
/*
 * What scenarios (keys-managers.scn, keys-seeds.scn) cannot see of M_Keys with two managers: which
 * seeds are in force, and which key is tried next.
 */
#include "locked-managers.h"
#include "sm/rows/key_seeds.h"
#include "sm/sweep/sweep.h"

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

static guid_t guid_of(struct world *w, const char *node)
{
	uint8_t ni[SMP_DATA_SIZE];

	assert_int_equal(
		sim_read(w->rig->sim, sim_find(w->rig->sim, node), IB_ATTR_NODE_INFO, 0, ni), 0);
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
	ring = key_seeds_ring(sm_of(w, ACTIVE), &in_force);
	assert_true(in_force);
	assert_false(key_ring_is_alike(ring, known));
	assert_false(key_seeds_write(sm_of(w, SPARE), known, SEEDS_KNOWN, NULL, NULL));
	assert_true(key_seeds_write(sm_of(w, ACTIVE), known, SEEDS_IN_FORCE, NULL, NULL));
	attend(w, 4, 5 * MONO_S);
	assert_false(key_seeds_write(sm_of(w, ACTIVE), known, SEEDS_IN_FORCE, NULL, NULL));
	key_ring_unref(take(ring));
	ring = key_seeds_ring(sm_of(w, ACTIVE), &in_force);
	assert_true(key_ring_is_alike(ring, known));
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

/* ---- which key is tried next ----------------------------------------------------------------- */

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
	p = fabric_find_port(sm->fabric, guid_of(w, "h5"));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_rotation_waits_for_a_manager_that_is_not_connected),
		TEST(the_seed_of_one_switch_is_tried_on_others),
		TEST(a_standby_that_turns_its_seed_changes_no_key),
		TEST(a_seed_that_is_known_is_not_in_force),
		TEST(a_surprised_master_meets_all_ports_before_it_gives_a_key),
		TEST(a_handover_passes_over_no_key),
		TEST(a_lost_master_ends_what_its_standby_looks_at),
	};

	return cmocka_run_group_tests_name("sm-keys-seeds", tests, NULL, NULL);
}
