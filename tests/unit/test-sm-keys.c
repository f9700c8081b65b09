// SPDX-License-Identifier: BSD-2-Clause
/*
 * M_Keys of single ports where no scenario goes (tests/scenario/keys*.scn have the rest): which
 * keys are tried, what they cost, what stays in memory.
 */
#include <sys/mman.h>
#include <sys/random.h>

#include "keys-desk.h"
#include "sm/base/keys.h"

static bool is_expected(const struct sm *sm, uint64_t key, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		if (keys_expected(sm, sm->tr->port_guid, i) == key)
			return true;
	}
	return false;
}

/* Our own port may have been silent when the right key was tried: it is tried again. */
static void likely_keys_of_our_port_are_tried_again(void **state)
{
	struct desk *d = *state;
	struct sm *sm;
	guid_t guid;
	unsigned n;

	start(d);
	sm = sm_of(d);
	guid = sm->tr->port_guid;
	n = keys_n_expected(sm, guid);
	for (unsigned i = 0; i < n; i++)
		assert_true(is_expected(sm, keys_expected(sm, guid, i), n, 2 * n + 2));
	/* and between them all epochs to come that are looked for */
	for (uint32_t ahead = 1; ahead <= 4096; ahead *= 2)
		assert_true(is_expected(sm, key_ring_key_ahead(keys_ring(sm), guid, ahead), n,
					n + 12 * n + 8190));
}

/* With another ring other keys are likely, and the first of them is tried first. */
static void another_ring_is_tried_from_its_first_key_on(void **state)
{
	struct desk *d = *state;
	struct key_ring *ring;
	struct sm *sm;

	start(d);
	sm = sm_of(d);
	ring = key_ring_copy(keys_known(sm));
	assert_true(key_ring_turn(ring));
	for (unsigned i = 0; i < 6; i++)
		keys_doubt(sm, sm->fabric->own_port, sm->fabric->own_port->m_key);
	keys_use(sm, ring);
	keys_doubt(sm, sm->fabric->own_port, sm->fabric->own_port->m_key);
	assert_true(sm->fabric->own_port->m_key == keys_wanted(sm, sm->tr->port_guid));
}

/* Of an open fabric: keys come with the PortInfo that each port is written anyway. */
static void keys_cost_no_smp(void **state)
{
	struct desk *d = *state;
	uint64_t asked[2], sets[2];

	for (unsigned i = 0; i < 2; i++) {
		_cleanup_(netfile_freep) struct netfile *net = gen_tree(3, 6, 3, 1);

		rig_free(d->rig);
		d->rig = rig_new(sim_new(net, 7));
		change_options(d);
		d->conf->m_key_per_port = i;
		d->conf->m_key = i ? SEED : 0;
		d->conf->m_key_protection_level = i ? 2 : 0;
		assert_int_equal(rig_start(d->rig, "h0", 0, d->conf, NULL), 0);
		run_for(d, 5 * MONO_S);
		asked[i] = sim_gets(d->rig->sim);
		sets[i] = sim_sets(d->rig->sim);
	}
	assert_int_equal(asked[0], asked[1]);
	assert_int_equal(sets[0], sets[1]);
	assert_keys(d, SEED, 1);
}

static struct rig *large_rig(void)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(36, 18, 18, 1);

	return rig_new(sim_new(net, 7));
}

/* No port can have a key that is neither in force nor in guid2mkey. */
static void a_rotation_waits_until_the_last_one_is_written(void **state)
{
	struct desk *d = *state;
	struct sm_keys keys;

	rig_free(d->rig);
	d->rig = large_rig();
	start(d);
	for (unsigned epoch = 2; epoch < 5; epoch++) {
		struct key_ring *ring = ring_of(SEED, epoch);

		assert_int_equal(sm_rotate_keys(sm_of(d)), 0);
		while (sm_keys(sm_of(d), &keys), keys.changing) {
			assert_int_equal(sm_rotate_keys(sm_of(d)), -EBUSY);
			rig_step(d->rig, sim_now(d->rig->sim) + MONO_S);
		}
		assert_int_equal(n_wrong(d, ring), 0);
		key_ring_unref(ring);
	}
}

/* A host that is silent on purpose sees the keys that are tried on it: none is another port's. */
static void a_silent_port_is_told_no_other_key(void **state)
{
	struct desk *d = *state;
	struct key_ring *ring = ring_of(SEED, 1);
	guid_t guid, own = 0;
	unsigned port;
	int node;

	start(d);
	for (unsigned i = 0; end_port(d, i, &node, &port, &guid); i++)
		own = node == host(d, 3) ? guid : own;
	for (unsigned nth = 0; nth < 200; nth++) {
		uint64_t at_it = keys_expected(sm_of(d), own, nth);
		uint64_t at_stranger = keys_expected(sm_of(d), 0, nth);

		assert_true(at_it != SEED && at_stranger != SEED);
		for (unsigned i = 0; end_port(d, i, &node, &port, &guid); i++) {
			assert_true(at_stranger != key_ring_key(ring, guid));
			assert_true(guid == own || at_it != key_ring_key(ring, guid));
		}
	}
	key_ring_unref(ring);
}

static void a_seed_file_of_another_user_is_not_read(void **state)
{
	struct desk *d = *state;
	FILE *file;

	if (geteuid())
		skip();
	change_options(d);
	d->conf->m_key_seed_file = xasprintf("%s/seed", d->dir);
	file = fopen(d->conf->m_key_seed_file, "w");
	assert_non_null(file);
	fputs("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n", file);
	fclose(file);
	assert_int_equal(chmod(d->conf->m_key_seed_file, 0600), 0);
	assert_int_equal(chown(d->conf->m_key_seed_file, 12345, 12345), 0);
	snprintf(d->want, sizeof(d->want), "it is neither root's nor");
	start(d);
	assert_int_equal(d->n_told, 1);
	assert_int_equal(FIELD(d, host(d, 1), 1, M_KEY), 0);
}

/* A sanitizer has a heap of its own, which keeps what was freed. */
#ifndef __SANITIZE_ADDRESS__

/* Hexadecimal digits of the seed, which this test does not write itself. */
static bool are_digits_of(const char *at, const struct key_seed *seed)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < KEY_SEED_BYTES; i++) {
		if (at[2 * i] != digits[seed->bytes[i] >> 4] ||
		    at[2 * i + 1] != digits[seed->bytes[i] & 15])
			return false;
	}
	return true;
}

/* How often the text of the seed is in the heap. */
static unsigned copies_in_heap(const struct key_seed *seed)
{
	FILE *maps = fopen("/proc/self/maps", "re"), *mem = fopen("/proc/self/mem", "re");
	unsigned long from = 0, to = 0;
	char line[256], *heap;
	unsigned n = 0;

	assert_true(maps && mem);
	while (fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[heap]"))
			assert_int_equal(sscanf(line, "%lx-%lx", &from, &to), 2);
	}
	fclose(maps);
	heap = mmap(NULL, to - from + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	assert_true(heap != MAP_FAILED);
	setvbuf(mem, NULL, _IONBF, 0);
	assert_int_equal(fseek(mem, (long)from, SEEK_SET), 0);
	assert_int_equal(fread(heap, 1, to - from, mem), to - from);
	fclose(mem);
	for (unsigned long at = 0; at + 2 * KEY_SEED_BYTES <= to - from; at++)
		n += are_digits_of(heap + at, seed);
	munmap(heap, to - from + 1);
	return n;
}

static void no_text_of_seeds_stays_in_memory(void **state)
{
	struct desk *d = *state;
	_cleanup_free_ char *path = xasprintf("%s/ring", d->dir);
	struct key_ring *ring = key_ring_new();
	struct key_seed seeds[KEY_RING_SEEDS];
	size_t len;
	char *text;

	for (unsigned i = 0; i < KEY_RING_SEEDS; i++) {
		assert_int_equal(getrandom(&seeds[i], sizeof(seeds[i]), 0), sizeof(seeds[i]));
		assert_true(key_ring_use(ring, &seeds[i]));
	}
	text = key_ring_text(ring, &len);
	assert_int_equal(copies_in_heap(&seeds[0]), 1);
	free_wiped(text, len);
	assert_int_equal(keys_store(path, ring), 0);
	for (unsigned i = 0; i < KEY_RING_SEEDS; i++)
		assert_int_equal(copies_in_heap(&seeds[i]), 0);
	key_ring_unref(ring);
}

#endif

/*
 * While a new seed is stored behind the one in force, our own port shows the next epoch of that:
 * another manager has rotated. It is not forgotten when the file is written.
 */
static void an_epoch_shown_while_a_seed_is_stored_counts(void **state)
{
	struct desk *d = *state;
	_cleanup_(conf_unrefp) struct conf *other = NULL;
	struct sm *sm;
	uint64_t shown;

	start(d);
	sm = sm_of(d);
	d->rig->disk_time = 2 * MONO_S;
	other = conf_copy(d->conf);
	other->m_key = OTHER;
	sm_reload(sm, other, sm->files);
	run_for(d, 500 * MONO_MS);
	shown = key_ring_key_ahead(keys_known(sm), sm->tr->port_guid, 1);
	keys_shown(sm, sm->tr->port_guid, shown);
	assert_int_equal(key_ring_epoch(keys_known(sm)), 2);
	run_for(d, 2200 * MONO_MS);
	assert_int_equal(key_ring_epoch(keys_known(sm)), 2);
	assert_true(key_ring_key(keys_known(sm), sm->tr->port_guid) == shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(likely_keys_of_our_port_are_tried_again),
		TEST(another_ring_is_tried_from_its_first_key_on),
		TEST(keys_cost_no_smp),
		TEST(a_rotation_waits_until_the_last_one_is_written),
		TEST(a_silent_port_is_told_no_other_key),
		TEST(a_seed_file_of_another_user_is_not_read),
#ifndef __SANITIZE_ADDRESS__
		TEST(no_text_of_seeds_stays_in_memory),
#endif
		TEST(an_epoch_shown_while_a_seed_is_stored_counts),
	};

	return cmocka_run_group_tests_name("sm-keys", tests, NULL, NULL);
}
