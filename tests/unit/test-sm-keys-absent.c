// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hosts that are away while M_Keys change more often than the ring of keys goes back. The standby
 * never met them with the keys that they have; when it is master, and they come back, it opens
 * them: what the master knew of them is in its files.
 */
#include <sys/stat.h>

#include "locked-managers.h"
#include "fabric/store.h"
#include "keys/key_lines.h"
#include "sm/base/news.h"
#include "sm/channel/channel.h"

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

static void expect_opened(struct world *w, const struct sm *spare)
{
	struct keys_seen keys;

	assert_int_equal(sm_state(spare), SM_MASTER);
	assert_int_equal(sim_plug(w->rig->sim, away(w), 1, leaf, leaf_port), 0);
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

/* The master sends the line before the standby, which met the host, has seen that it went. */
static void a_standby_that_met_the_host_takes_its_line(void **state)
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

/* A line is told to no log. */
static void no_key_is_in_the_log(void **state)
{
	struct world *w = *state;
	char hex[20];

	a_host_is_opened_after_many_rotations(state);
	snprintf(hex, sizeof(hex), "%016lx", (unsigned long)key_of_away(w).key);
	assert_int_equal(said(hex, ""), 0);
}

/* What a host needs to know to pass for a standby is what every distribution knows. */
static void well_known_keys_keep_lines_at_home(void **state)
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

/* Reads the file itself: the standby may have the line in memory only. */
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

static void a_disk_fault_of_the_standby_is_told_and_tried_again(void **state)
{
	struct world *w = *state;
	char path[SCRATCH_PATH + 32];
	struct sm *spare;

	start_locked(w);
	unplug(w);
	seen.n = 0;
	spare = lose_the_standby_and_its_disk(w);
	snprintf(path, sizeof(path), "%s/guid2mkey", w->dir[SPARE]);
	assert_int_equal(mkdir(path, 0700), 0);
	attend(w, 4, 120 * MONO_S);
	assert_int_equal(sm_state(spare), SM_STANDBY);
	assert_int_equal(said("cannot store M_Keys of hosts that are off", ""), 1);
	assert_int_equal(rmdir(path), 0);
	attend(w, 4, 30 * MONO_S);
	assert_true(has_line_on_disk(w));
}

/* When the standby answers, the file has the line: each moment before is a crash without loss. */
static void a_line_is_on_the_disk_before_it_counts(void **state)
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
	assert_false(line_peers_is_with(sm_of(w, ACTIVE), guid));
	while (!line_peers_is_with(sm_of(w, ACTIVE), guid))
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	assert_true(has_line_on_disk(w));
}

/* The former master comes back without its disk, and has the greater priority. */
static void a_greater_manager_waits_for_lines(void **state)
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

static unsigned n_messages;
static size_t last_len;

static void count_message(struct sm *sm, void *arg, struct channel_message *m)
{
	const uint8_t stored = 1;

	n_messages++;
	last_len = m->len;
	channel_reply(sm, &m->ticket, &stored, sizeof(stored));
}

/* A host that comes back is no line any more; one that goes is sent alone. */
static void only_what_changed_is_sent(void **state)
{
	struct world *w = *state;

	start_locked(w);
	channel_register(sm_of(w, SPARE), CHANNEL_LINES, count_message, NULL);
	n_messages = 0;
	sim_power(w->rig->sim, sim_find(w->rig->sim, "h5"), false);
	sim_power(w->rig->sim, sim_find(w->rig->sim, "h7"), false);
	attend(w, 4, 30 * MONO_S);
	assert_in_range(n_messages, 1, 2);
	n_messages = 0;
	unplug(w);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(n_messages, 1);
	assert_int_equal(last_len, 26);
	for (unsigned i = 0; i < 6; i++) {
		sm_request_heavy(sm_of(w, ACTIVE), NULL);
		attend(w, 4, 20 * MONO_S);
	}
	assert_int_equal(n_messages, 1);
	assert_int_equal(sim_plug(w->rig->sim, away(w), 1, leaf, leaf_port), 0);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(n_messages, 1);
	assert_int_equal(sim_unplug(w->rig->sim, away(w), 1), 0);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(n_messages, 2);
	assert_int_equal(last_len, 26);
}

/* The channel breaks while the standby writes, and the lines are sent anew. */
static void the_latest_message_is_answered(void **state)
{
	struct world *w = *state;
	guid_t guid;

	start_locked(w);
	guid = sm_of(w, SPARE)->tr->port_guid;
	attend(w, 4, 30 * MONO_S);
	w->rig->disk_time = 20 * MONO_S;
	unplug_for(w, 3 * MONO_S);
	assert_false(line_peers_is_with(sm_of(w, ACTIVE), guid));
	spare_tap(w)->channel.cut = true;
	while (channel_is_connected(sm_of(w, ACTIVE), guid))
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	spare_tap(w)->channel.cut = false;
	attend(w, 4, 45 * MONO_S); /* with no reply the master would wait for a minute */
	assert_true(line_peers_is_with(sm_of(w, ACTIVE), guid));
}

/* A neighbors file that was kept names a port that no line may have. */
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

static void hear_reply(struct sm *sm, void *arg, guid_t peer, enum channel_end end,
		       const uint8_t *bytes, size_t len)
{
	assert_int_equal(end, CHANNEL_REPLIED);
	n_messages++;
}

static void a_damaged_message_is_told_once(void **state)
{
	struct world *w = *state;
	guid_t guid;

	start_locked(w);
	guid = sm_of(w, SPARE)->tr->port_guid;
	n_messages = 0;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(channel_send(sm_of(w, ACTIVE), guid, CHANNEL_LINES, 1, "x", 1,
					      hear_reply, NULL),
				 0);
		attend(w, 4, 10 * MONO_S);
	}
	assert_int_equal(n_messages, 2);
	assert_int_equal(said("M_Keys of hosts that are off cannot be read", ""), 1);
}

/* A line of before, which was late: the host is back, and has the newest key. */
static void a_late_line_hides_no_key_that_is_seen(void **state)
{
	struct world *w = *state;
	_cleanup_(key_lines_freep) struct key_lines *lines = key_lines_new();
	struct key_line late = { .key = 0x1234 };
	uint64_t key = 0;
	uint8_t *text;
	size_t len;

	start_locked(w);
	late.guid = key_of_away(w).guid;
	key_lines_renew(lines, &late, 1, &(struct key_map){ 0 });
	text = key_lines_text(lines, 0, &len);
	n_messages = 0;
	assert_int_equal(channel_send(sm_of(w, ACTIVE), sm_of(w, SPARE)->tr->port_guid,
				      CHANNEL_LINES, 1, text, len, hear_reply, NULL),
			 0);
	free_wiped(text, len);
	attend(w, 4, 5 * MONO_S);
	assert_int_equal(n_messages, 1);
	assert_true(store_mkey(sm_of(w, SPARE)->store, late.guid, &key));
	assert_true(key == key_of_away(w).key);
}

static void (*tell_before)(struct sm *sm, const struct news *n);
static unsigned n_stored;

static void count_news(struct sm *sm, const struct news *n)
{
	n_stored += n->kind == NEWS_STANDBY_STORED;
	tell_before(sm, n);
}

static void listen_to_news(struct sm *sm)
{
	n_stored = 0;
	tell_before = sm->tell;
	sm->tell = count_news;
}

/* A greater manager is not left to wait for lines that do not come any more. */
static void the_last_line_that_goes_is_news(void **state)
{
	struct world *w = *state;

	start_locked(w);
	unplug(w);
	attend(w, 4, 30 * MONO_S);
	assert_true(line_peers_have_lines(sm_of(w, ACTIVE)));
	listen_to_news(sm_of(w, ACTIVE));
	assert_int_equal(sim_plug(w->rig->sim, away(w), 1, leaf, leaf_port), 0);
	attend(w, 4, 30 * MONO_S);
	assert_false(line_peers_have_lines(sm_of(w, ACTIVE)));
	assert_int_equal(n_stored, 1);
}

static void a_standby_that_takes_no_lines_is_news(void **state)
{
	struct world *w = *state;

	start_locked(w);
	channel_register(sm_of(w, SPARE), CHANNEL_LINES, NULL, NULL);
	listen_to_news(sm_of(w, ACTIVE));
	unplug(w);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(n_stored, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(a_host_is_opened_after_many_rotations),
		TEST(a_standby_that_met_the_host_takes_its_line),
		TEST(and_after_many_keys_for_all_ports),
		TEST(no_key_is_in_the_log),
		TEST(well_known_keys_keep_lines_at_home),
		TEST(a_disk_fault_of_the_standby_is_told_and_tried_again),
		TEST(a_line_is_on_the_disk_before_it_counts),
		TEST(a_greater_manager_waits_for_lines),
		TEST(only_what_changed_is_sent),
		TEST(the_latest_message_is_answered),
		TEST(a_cable_that_cannot_be_keeps_no_key_back),
		TEST(a_damaged_message_is_told_once),
		TEST(a_late_line_hides_no_key_that_is_seen),
		TEST(the_last_line_that_goes_is_news),
		TEST(a_standby_that_takes_no_lines_is_news),
	};

	return cmocka_run_group_tests_name("sm-keys-absent", tests, NULL, NULL);
}
