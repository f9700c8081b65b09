// SPDX-License-Identifier: BSD-2-Clause
/*
 * randomize_sm_key: an SM_Key that is drawn once, is the same after a restart, and that no other
 * manager has.
 */
#include "tests/unit/trap-world.h"

#include <sys/stat.h>
#include <unistd.h>

#include "sm/base/drawn_key.h"
#include "sm/elect/elect.h"
#include "sm/sm_internal.h"
#include "tests/lib/scratch.h"
#include "util/file.h"

static char dir[SCRATCH_PATH];

static char *key_file(void)
{
	return xasprintf("%s/sm_key", dir);
}

/* A manager on h0 with the folder; the key that it goes by. */
static uint64_t key_after_start(struct world *w)
{
	int n = rig_find(w->rig, "h0");

	if (n >= 0)
		rig_kill(w->rig, (unsigned)n);
	n = rig_start(w->rig, "h0", 0, w->conf, dir);
	assert_true(n >= 0);
	run_for(w, 15 * MONO_S);
	w->sm = w->rig->sms[n].sm;
	return sm_sm_key(w->sm);
}

static uint64_t open_drawing(struct world *w)
{
	scratch_folder(dir);
	w->conf->randomize_sm_key = true;
	return key_after_start(w);
}

static void a_drawn_key_is_the_same_after_a_restart(void **state)
{
	struct world *w = *state;
	uint64_t key = open_drawing(w);
	_cleanup_free_ char *there = key_file(), *text = NULL;
	struct stat st;
	size_t len;

	assert_true(key > 1);
	assert_int_equal(stat(there, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(file_read(there, 100, &text, &len), 0);
	assert_int_equal(strtoull(text, NULL, 0), key);
	assert_int_equal(key_after_start(w), key);
	w->conf->randomize_sm_key = false;
	assert_int_equal(access(there, F_OK), 0);
	assert_int_equal(key_after_start(w), w->conf->sm_key);
}

static void write_text(const char *text)
{
	_cleanup_free_ char *path = key_file();
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void a_file_that_is_damaged_or_open_to_others_is_set_aside(void **state)
{
	static const char *const texts[] = { "", "0x1\n", "0x0\n", "key\n", "0x12345678 9\n",
					     ("0x00000000000000000000000000000000000000000000000"
					      "000000000000000000000001234\n") };
	struct world *w = *state;
	uint64_t key = open_drawing(w), next;
	_cleanup_free_ char *path = key_file(), *bad = xasprintf("%s.bad", path);

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		write_text(texts[i]);
		listen_for(w, "the drawn SM_Key cannot be used");
		next = key_after_start(w);
		assert_true(w->said);
		assert_true(next > 1);
		assert_int_not_equal(next, key);
		assert_int_equal(access(bad, F_OK), 0);
		assert_int_equal(key_after_start(w), next);
		key = next;
	}
	assert_int_equal(chmod(path, 0644), 0);
	listen_for(w, "others than its owner may read it");
	assert_int_not_equal(key_after_start(w), key);
	assert_true(w->said);
}

/* The manager of every distribution, with the highest priority. */
static void a_manager_with_the_key_of_all_is_a_stranger(void **state)
{
	struct world *w = *state;
	_cleanup_(conf_unrefp) struct conf *other = conf_new();

	open_drawing(w);
	listen_for(w, "has another SM_Key");
	other->sm_priority = 15;
	other->sweep_interval = 10;
	assert_true(rig_start(w->rig, "h5", 0, other, NULL) >= 0);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	assert_true(w->said);
}

/* As its sm_key: an administrator has read the file. */
static void a_manager_that_was_given_the_key_is_believed(void **state)
{
	struct world *w = *state;
	_cleanup_(conf_unrefp) struct conf *other = conf_new();

	other->sm_key = open_drawing(w);
	other->sm_priority = 15;
	other->sweep_interval = 10;
	assert_true(rig_start(w->rig, "h5", 0, other, NULL) >= 0);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_drawn_key_is_the_same_after_a_restart),
		TEST(a_file_that_is_damaged_or_open_to_others_is_set_aside),
		TEST(a_manager_with_the_key_of_all_is_a_stranger),
		TEST(a_manager_that_was_given_the_key_is_believed),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
