// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cables as rows of the ledger, in a fabric that is locked with M_Keys of single ports: a manager
 * that lost some of its file neighbors has them of its own ledger, or of another manager, and
 * reaches the switches behind locked ones at once.
 */
#include "locked-managers.h"
#include "fabric/store.h"
#include "ledger/ledger.h"
#include "sm/base/key_epoch.h"
#include "sm/ledger/settle.h"
#include "util/file.h"

static char *path_of(struct world *w, unsigned which, const char *name)
{
	return xasprintf("%s/%s", w->dir[which], name);
}

enum loss {
	LOSE_HALF, /* every other line of the file */
	LOSE_ALL,
	LOSE_FAR_LEAF, /* those of leaf2 */
	LOSSES,
};

static bool is_lost(enum loss loss, const char *line, unsigned n, const char *far_leaf)
{
	return loss == LOSE_ALL || (loss == LOSE_HALF && n % 2) ||
	       (loss == LOSE_FAR_LEAF && strstr(line, far_leaf));
}

static void lose_cables(struct world *w, unsigned which, enum loss loss)
{
	uint8_t ni[SMP_DATA_SIZE];
	char far_leaf[20];
	_cleanup_free_ char *path = path_of(w, which, "neighbors"), *text = NULL;
	size_t len;
	unsigned n = 0;
	FILE *out;

	assert_int_equal(sim_read(w->rig->sim, sim_find(w->rig->sim, "leaf2"), IB_ATTR_NODE_INFO, 0,
				  ni),
			 0);
	snprintf(far_leaf, sizeof(far_leaf), "%016lx", (unsigned long)ib_get(ni, NI_NODE_GUID));
	assert_int_equal(file_read(path, 1 << 20, &text, &len), 0);
	out = fopen(path, "w");
	assert_non_null(out);
	for (char *at = text, *line; (line = strsep(&at, "\n"));) {
		if (*line && !is_lost(loss, line, n++, far_leaf))
			fprintf(out, "%s\n\n", line);
	}
	assert_int_equal(fclose(out), 0);
}

static void lose(struct world *w, unsigned which, const char *name)
{
	_cleanup_free_ char *path = path_of(w, which, name);

	assert_int_equal(unlink(path), 0);
}

static struct sm *start_again(struct world *w, unsigned which)
{
	int at = rig_start(w->rig, which == ACTIVE ? "h0" : "h11", 1, w->conf[which],
			   w->dir[which]);

	assert_true(at >= 0);
	return sm_of(w, (unsigned)at);
}

/* Both stop: the fabric is locked, and is all there. */
static void stop_both(struct world *w)
{
	start_locked(w);
	attend(w, 4, 30 * MONO_S);
	rig_kill(w->rig, ACTIVE);
	rig_kill(w->rig, SPARE);
	for (unsigned i = 0; i < 2; i++) {
		lock_options(w, i);
		w->conf[i]->sweep_interval = 0; /* no sweep comes by itself */
	}
	sim_set_own_port_open(w->rig->sim, true);
	sim_watch_keys(w->rig->sim, 2);
}

/* All ports are met, and none of them because its lease ended. */
static void expect_all_are_met(struct world *w, const struct sm *sm, mono_t within)
{
	mono_t until = sim_now(w->rig->sim) + within;
	struct sm_keys keys;

	do {
		assert_true(rig_step(w->rig, until));
		sm_keys(sm, &keys);
	} while (sm_state(sm) != SM_MASTER || keys.n_ports < N_PORTS || rig_sweeping(w->rig));
	if (getenv("LOUD"))
		fprintf(stderr, "met after %.1f s\n",
			(double)(sim_now(w->rig->sim) + within - until) / (double)MONO_S);
	assert_int_equal(keys.n_right, N_PORTS);
	assert_int_equal(look(w).n_open, 0);
	assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
}

static size_t n_cables(const struct sm *sm)
{
	return ledger_rows_there(settle_ledger(sm), LEDGER_CABLE);
}

/* 12 hosts at 4 switches, and the cables between these: each is one row. */
static void each_cable_is_a_row(void **state)
{
	struct world *w = *state;

	start_locked(w);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(n_cables(sm_of(w, ACTIVE)),
			 store_count(sm_of(w, ACTIVE)->store, STORE_NEIGHBORS) / 2);
	assert_in_range(n_cables(sm_of(w, ACTIVE)), N_HOSTS, 4 * N_HOSTS);
	assert_int_equal(n_cables(sm_of(w, SPARE)), n_cables(sm_of(w, ACTIVE)));
}

static void a_manager_has_cables_of_its_ledger(void **state)
{
	for (enum loss loss = 0; loss < LOSSES; loss++) {
		struct world *w = *state;

		stop_both(w);
		lose_cables(w, ACTIVE, loss);
		expect_all_are_met(w, start_again(w, ACTIVE), 5 * MONO_S);
		teardown(state);
		setup(state);
	}
}

/* Its disk is of before, and has no ledger; the other one has all. */
static void a_greater_manager_has_cables_of_its_standby(void **state)
{
	for (enum loss loss = 0; loss < LOSSES; loss++) {
		struct world *w = *state;
		struct sm *sm;

		stop_both(w);
		lose_cables(w, ACTIVE, loss);
		lose(w, ACTIVE, "ledger.db");
		sm = start_again(w, ACTIVE);
		start_again(w, SPARE);
		expect_all_are_met(w, sm, 5 * MONO_S);
		teardown(state);
		setup(state);
	}
}

/* The standby begins to rule before it is back. */
static void a_greater_manager_that_is_late_has_cables_of_the_other(void **state)
{
	struct world *w = *state;
	struct sm *sm;

	stop_both(w);
	lose_cables(w, ACTIVE, LOSE_ALL);
	lose(w, ACTIVE, "ledger.db");
	start_again(w, SPARE);
	attend(w, 4, 20 * MONO_S);
	sm = start_again(w, ACTIVE);
	expect_all_are_met(w, sm, 5 * MONO_S);
}

/* A host is met wherever it is. */
static void start_with_one_key(struct world *w)
{
	sim_set_own_port_open(w->rig->sim, true);
	for (unsigned i = 0; i < 2; i++) {
		lock_options(w, i);
		w->conf[i]->m_key_per_port = false;
		w->conf[i]->m_key = 0xaaaa;
	}
	start_both(w);
	attend(w, 4, 30 * MONO_S);
}

/* What a cable was in before is not known any more: the row is another, or gone. */
static void a_cable_that_moved_is_one_row(void **state)
{
	struct world *w = *state;
	int a = sim_find(w->rig->sim, "h3"), b = sim_find(w->rig->sim, "h9"), leaf[2];
	unsigned port[2];
	size_t n;

	start_with_one_key(w);
	n = n_cables(sm_of(w, ACTIVE));
	assert_true(sim_peer(w->rig->sim, a, 1, &leaf[0], &port[0]));
	assert_true(sim_peer(w->rig->sim, b, 1, &leaf[1], &port[1]));
	assert_int_equal(sim_unplug(w->rig->sim, a, 1), 0);
	assert_int_equal(sim_unplug(w->rig->sim, b, 1), 0);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(n_cables(sm_of(w, ACTIVE)), n);
	assert_int_equal(sim_plug(w->rig->sim, a, 1, leaf[1], port[1]), 0);
	attend(w, 4, 100 * MONO_S);
	/* That of b is of the same switch port as that of a now. */
	assert_int_equal(n_cables(sm_of(w, ACTIVE)), n - 1);
	assert_int_equal(n_cables(sm_of(w, SPARE)), n - 1);
	assert_int_equal(sim_plug(w->rig->sim, b, 1, leaf[0], port[0]), 0);
	attend(w, 4, 100 * MONO_S);
	assert_int_equal(n_cables(sm_of(w, ACTIVE)), n);
}

/* Cables of leaf1, with the host of the active manager, to both spines. */
static void cut_off_active(struct world *w, bool apart)
{
	int leaf = sim_find(w->rig->sim, "leaf1"), peer;
	unsigned peer_port;

	for (unsigned port = 1; port <= sim_node_ports(w->rig->sim, leaf); port++) {
		if (!sim_peer(w->rig->sim, leaf, port, &peer, &peer_port) ||
		    !sim_node_is_switch(w->rig->sim, peer))
			continue;
		if (apart)
			sim_link_down(w->rig->sim, leaf, port);
		else
			sim_link_up(w->rig->sim, leaf, port);
	}
}

static bool is_one_subnet(struct world *w)
{
	struct sm_keys keys = { 0 };

	if (rig_count(w->rig, SM_MASTER) != 1 || rig_count(w->rig, SM_STANDBY) != 1 ||
	    rig_sweeping(w->rig))
		return false;
	sm_keys(rig_master(w->rig), &keys);
	return keys.n_right == look(w).n;
}

static void rotate(struct world *w, unsigned who, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		assert_int_equal(sm_rotate_keys(sm_of(w, who)), 0);
		attend(w, 4, 5 * MONO_S);
	}
}

/*
 * Two parts, each with a manager that rotates keys so often, grow together again. It takes a few
 * seconds; before managers told each other their epochs it took a minute, or had no end.
 */
static void grow_together(struct world *w, unsigned active_rotates, unsigned spare_rotates)
{
	mono_t until;

	start_locked(w);
	cut_off_active(w, true);
	until = sim_now(w->rig->sim) + 120 * MONO_S;
	while (rig_count(w->rig, SM_MASTER) != 2 || rig_sweeping(w->rig))
		assert_true(rig_step(w->rig, until));
	attend(w, 4, 20 * MONO_S);
	rotate(w, ACTIVE, active_rotates);
	rotate(w, SPARE, spare_rotates);
	cut_off_active(w, false);
	until = sim_now(w->rig->sim) + 20 * MONO_S;
	while (!is_one_subnet(w))
		assert_true(rig_step(w->rig, until));
	assert_int_equal(look(w).n_open, 0);
}

static void a_part_with_later_keys_is_opened_soon(void **state)
{
	grow_together(*state, 0, 6);
}

static void a_part_with_earlier_keys_is_opened_soon(void **state)
{
	grow_together(*state, 6, 0);
}

static void a_part_that_rotated_less_often_is_opened_soon(void **state)
{
	grow_together(*state, 6, 3);
}

static void a_part_that_rotated_more_often_is_opened_soon(void **state)
{
	grow_together(*state, 2, 4);
}

static void parts_that_rotated_alike_grow_together_soon(void **state)
{
	grow_together(*state, 3, 3);
}

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

/*
 * A host that misses a rotation, as it is silent, and for so long that all likely keys of it were
 * tried in vain: once it answers, it is met before the lease of its key ends.
 */
static void a_host_that_was_silent_is_met_within_its_lease(void **state)
{
	struct world *w = *state;
	struct keys_seen before, now;
	int host;

	start_locked(w);
	for (unsigned i = 0; i < 2; i++) {
		struct conf *c = conf_copy(w->conf[i]);

		c->m_key_lease_period = 60;
		conf_unref(w->conf[i]);
		w->conf[i] = c;
		reload(w, i);
	}
	attend(w, 4, 90 * MONO_S);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
		attend(w, 4, 5 * MONO_S);
	}
	host = sim_find(w->rig->sim, "h2");
	before = look(w);
	assert_int_equal(sm_rotate_keys(sm_of(w, ACTIVE)), 0);
	now = before;
	for (unsigned ms = 0; ms < 20000 && n_changed(&before, &now) < now.n; ms++) {
		attend(w, 4, MONO_MS);
		now = look(w);
	}
	assert_int_equal(n_changed(&before, &now), now.n);
	sim_set_silent(w->rig->sim, host, SIM_SILENT, 0);
	rig_kill(w->rig, ACTIVE);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(sm_rotate_keys(sm_of(w, SPARE)), 0);
	attend(w, 4, 10 * MONO_S);
	assert_true(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]) >= 0);
	attend(w, 4, 60 * MONO_S);
	sim_watch_keys(w->rig->sim, 2);
	sim_set_silent(w->rig->sim, host, SIM_ANSWERS, 0);
	attend(w, 4, 90 * MONO_S);
	assert_int_equal(sim_keys_watched(w->rig->sim)->opened, 0);
	assert_int_equal(look(w).n_open, 0);
}

/* Replaces `host` by a host with another GUID, on the same cable. */
static guid_t replace_host(struct world *w, const char *host, guid_t guid)
{
	int node = sim_find(w->rig->sim, host);
	struct sim_m_key has;

	sim_power(w->rig->sim, node, false);
	sim_set_guid(w->rig->sim, node, guid);
	sim_reboot(w->rig->sim, node, 1 * MONO_S);
	assert_true(sim_port_m_key(w->rig->sim, node, 1, &has));
	return has.guid;
}

/*
 * Traps get lost: the master finds the new host by looking at its switches, and tells no standby of
 * the link. The cable is a row, and the standby looks there, with the right key.
 */
static void a_standby_looks_where_a_row_has_another_cable(void **state)
{
	struct world *w = *state;
	struct sim_m_key has;
	const struct port *p;
	unsigned before;
	guid_t guid;

	start_locked(w);
	sim_set_trap_loss(w->rig->sim, 100);
	guid = replace_host(w, "h3", 0x777000);
	assert_null(fabric_find_port(sm_of(w, SPARE)->fabric, guid));
	attend(w, 4, 40 * MONO_S);
	p = fabric_find_port(sm_of(w, ACTIVE)->fabric, guid);
	assert_true(p && p->known);
	p = fabric_find_port(sm_of(w, SPARE)->fabric, guid);
	assert_true(p && p->known && p->peer);
	assert_true(sim_port_m_key(w->rig->sim, sim_find(w->rig->sim, "h3"), 1, &has));
	before = has.violations;
	attend(w, 4, 400 * MONO_S);
	assert_true(sim_port_m_key(w->rig->sim, sim_find(w->rig->sim, "h3"), 1, &has));
	assert_int_equal(has.violations, before);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
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
		TEST(each_cable_is_a_row),
		TEST(a_manager_has_cables_of_its_ledger),
		TEST(a_greater_manager_has_cables_of_its_standby),
		TEST(a_greater_manager_that_is_late_has_cables_of_the_other),
		TEST(a_cable_that_moved_is_one_row),
		TEST(a_part_with_later_keys_is_opened_soon),
		TEST(a_part_with_earlier_keys_is_opened_soon),
		TEST(a_part_that_rotated_less_often_is_opened_soon),
		TEST(a_part_that_rotated_more_often_is_opened_soon),
		TEST(parts_that_rotated_alike_grow_together_soon),
		TEST(a_later_epoch_that_is_told_comes_into_force),
		TEST(a_later_epoch_is_not_lost_to_another_ring),
		TEST(a_host_that_was_silent_is_met_within_its_lease),
		TEST(a_standby_looks_where_a_row_has_another_cable),
		TEST(a_standby_recalls_the_cable_of_a_row),
		TEST(a_standby_asks_again_where_it_met_silence),
	};

	return cmocka_run_group_tests_name("sm-keys-cables", tests, NULL, NULL);
}
