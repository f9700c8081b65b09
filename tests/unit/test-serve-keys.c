// SPDX-License-Identifier: BSD-2-Clause
/* Do the files of managers open all ports? Judged after each Set of a served fabric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "keys/key_ring.h"
#include "ledger/store.h"
#include "sim/serve/control.h"
#include "tests/lib/scratch.h"
#include "tests/unit/sim-probe.h"
#include "util/str.h"

#define UNKNOWN 0x5678

struct fixture {
	struct netfile *net;
	struct control c;
	struct probe p;
	struct key_ring *ring;
	char a[SCRATCH_PATH], b[SCRATCH_PATH];
	int leaf, host;
	guid_t guid;
};

static char *path_of(const char *folder, const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

/* As a manager stores it: under another name, then renamed. NULL: the file goes. */
static void put(const char *folder, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_of(folder, name), *new = path_of(folder, "new");
	FILE *f;

	if (!text) {
		unlink(path);
		return;
	}
	f = fopen(new, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(rename(new, path), 0);
}

static void put_ring(const char *folder, const struct key_ring *ring)
{
	size_t len;
	_cleanup_free_ char *text = key_ring_text(ring, &len);

	put(folder, "m_key_ring", text);
}

static int setup(void **state)
{
	static const struct key_seed seed = { { 1, 2, 3 } };
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct sim_m_key has;

	f->net = gen_tree(2, 2, 1, 1);
	f->c.sim = sim_new(f->net, 1);
	f->p = probe_open(f->c.sim, "h0", 1);
	f->leaf = sim_find(f->c.sim, "leaf2");
	f->host = sim_find(f->c.sim, "h3");
	assert_true(sim_port_m_key(f->c.sim, f->host, 1, &has));
	f->guid = has.guid;
	f->ring = key_ring_new();
	key_ring_use(f->ring, &seed);
	scratch_folder(f->a);
	scratch_folder(f->b);
	put_ring(f->a, f->ring);
	put_ring(f->b, f->ring);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	key_files_free(f->c.key_files);
	key_ring_unref(f->ring);
	probe_close(&f->p);
	sim_free(f->c.sim);
	netfile_free(f->net);
	scratch_remove(f->a);
	scratch_remove(f->b);
	free(f);
	return 0;
}

static void follow(struct fixture *f, const char *folders)
{
	_cleanup_free_ char *line = xasprintf("key-files %s", folders);

	assert_int_equal(control_line(&f->c, line), 0);
}

/* One Set of PortInfo, as a manager does it that knows the present key. */
static void give(struct fixture *f, int node, uint64_t key, unsigned protect)
{
	probe_get_port(&f->p, node, 0);
	ib_put(f->p.answer, PI_LID, probe_lid_of(node));
	ib_put(f->p.answer, PI_MASTER_SM_LID, 1);
	ib_put(f->p.answer, PI_M_KEY, key);
	ib_put(f->p.answer, PI_M_KEY_PROTECT, protect);
	assert_int_equal(probe_set(&f->p, node, IB_ATTR_PORT_INFO, 0), 0);
	f->p.m_key = key;
}

static void assert_locked_out(struct fixture *f, unsigned n)
{
	assert_int_equal(key_files_locked_out(f->c.key_files), n);
}

static void keys_that_the_files_have_open_a_port(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *stored = xasprintf("0x%016llx 0x%016x\n\n0x%016llx 0x%016x\n\n",
						(unsigned long long)f->guid, 0xABCD, 1ULL, 2);

	follow(f, f->a);
	give(f, f->host, key_ring_key(f->ring, f->guid), 2);
	give(f, f->host, 0, 0);
	assert_true(key_ring_turn(f->ring));
	put_ring(f->a, f->ring);
	give(f, f->host, key_ring_key(f->ring, f->guid), 2);
	give(f, f->host, key_ring_key_ahead(f->ring, f->guid, 0), 2);
	put(f->a, "guid2mkey", stored);
	give(f, f->host, 0xABCD, 2);
	assert_locked_out(f, 0);
}

/* It went away in a rotation, in which its manager died, and was away for 20 more. */
static void the_key_behind_a_stored_one_opens_a_port(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *stored =
		xasprintf("0x%016llx 0x%016llx\n\n", (unsigned long long)f->guid,
			  (unsigned long long)key_ring_key(f->ring, f->guid));

	follow(f, f->a);
	put(f->a, "guid2mkey", stored);
	assert_true(key_ring_turn(f->ring));
	put_ring(f->a, f->ring);
	give(f, f->host, key_ring_key(f->ring, f->guid), 2);
	f->p.m_key = 0;
	for (unsigned i = 0; i < 20; i++)
		assert_true(key_ring_turn(f->ring));
	put_ring(f->a, f->ring);
	give(f, f->leaf, 0, 0);
	assert_locked_out(f, 0);
	put(f->a, "guid2mkey", NULL);
	give(f, f->leaf, 0, 0);
	assert_locked_out(f, 1);
}

/* A manager that writes a key before it has stored it. */
static void a_key_that_is_not_stored_yet_is_found_at_its_set(void **state)
{
	struct fixture *f = *state;

	follow(f, f->a);
	assert_true(key_ring_turn(f->ring));
	give(f, f->host, key_ring_key(f->ring, f->guid), 2);
	assert_locked_out(f, 1);
	/* Too late for a manager that was killed in between. */
	put_ring(f->a, f->ring);
	give(f, f->leaf, 0, 0);
	assert_locked_out(f, 1);
	f->p.m_key = key_ring_key(f->ring, f->guid);
	give(f, f->host, UNKNOWN, 2);
	assert_locked_out(f, 2);
	give(f, f->host, UNKNOWN, 2);
	assert_locked_out(f, 2);
}

static void the_standby_must_have_it_too(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *both = xasprintf("%s %s", f->a, f->b);

	follow(f, both);
	assert_true(key_ring_turn(f->ring));
	put_ring(f->a, f->ring);
	give(f, f->host, key_ring_key(f->ring, f->guid), 2);
	assert_locked_out(f, 1);
	follow(f, f->a);
	assert_locked_out(f, 1);
}

/* A ring without the seed of a port that is not touched. */
static void a_file_that_forgets_a_port_is_found_at_the_next_set_of_any(void **state)
{
	struct fixture *f = *state;

	follow(f, f->a);
	give(f, f->host, key_ring_key(f->ring, f->guid), 2);
	f->p.m_key = 0;
	put(f->a, "m_key_ring", "damaged\n");
	assert_locked_out(f, 0);
	give(f, f->leaf, 0, 0);
	assert_locked_out(f, 1);
	put_ring(f->a, f->ring);
	give(f, f->leaf, 0, 0);
	put(f->a, "m_key_ring", NULL);
	give(f, f->leaf, 0, 0);
	assert_locked_out(f, 2);
}

/* The row of a seed, as sm/rows/key_seeds.h has it. */
static void put_row(const char *folder, const struct key_ring *ring)
{
	_cleanup_free_ char *path = path_of(folder, LEDGER_FILE);
	_cleanup_(ledger_store_closep) struct ledger_store *store = NULL;
	_cleanup_(ledger_freep) struct ledger *l = ledger_new();
	struct ledger_key key = { .table = LEDGER_SEED, .len = 8 };
	uint8_t value[KEY_SEED_SENT + 8] = { 0 }, *packed;
	struct ledger_value v = { .dot = { 1, { 1, 1 } }, .len = sizeof(value), .bytes = value };
	char aside[LEDGER_ASIDE_MAX];
	struct ledger_row *row;
	bool fresh;

	assert_true(key_ring_at(ring, 0, value));
	row = ledger_prepare(l, NULL, &key, &v);
	packed = xcalloc(1, ledger_row_bytes(row));
	ledger_row_pack(row, packed);
	assert_int_equal(ledger_store_open(path, &store, &fresh, aside), 0);
	assert_int_equal(ledger_store_write(store, packed, ledger_row_bytes(row), NULL), 0);
	free(packed);
	ledger_row_free(row);
}

/* A standby has stored the row of the next epoch, and is about to write its file. */
static void a_row_of_the_ledger_opens_a_port(void **state)
{
	struct fixture *f = *state;

	follow(f, f->a);
	assert_true(key_ring_turn(f->ring));
	put_row(f->a, f->ring);
	give(f, f->host, key_ring_key(f->ring, f->guid), 2);
	assert_locked_out(f, 0);
	assert_true(key_ring_turn(f->ring));
	give(f, f->host, key_ring_key(f->ring, f->guid), 2);
	assert_locked_out(f, 1);
}

static void a_key_that_all_may_read_locks_no_one_out(void **state)
{
	struct fixture *f = *state;

	follow(f, f->a);
	give(f, f->host, UNKNOWN, 0);
	assert_locked_out(f, 0);
	give(f, f->host, UNKNOWN, 1);
	assert_locked_out(f, 1);
}

static char *keys_said(const struct control *c)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	control_keys(c, out);
	fclose(out);
	return text;
}

static void what_was_found_is_said(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *before = NULL, *behind = NULL, *named = NULL;

	assert_int_equal(control_line(&f->c, "watch-keys 2"), 0);
	assert_true(control_line(&f->c, "key-files not/absolute") < 0);
	follow(f, f->a);
	before = keys_said(&f->c);
	assert_true(str_starts(before, "good\n"));
	give(f, f->host, UNKNOWN, 2);
	behind = keys_said(&f->c);
	assert_true(str_starts(behind, "ports were locked out\n"));
	named = xasprintf("key 0x%016x level 2: not in %s\n", UNKNOWN, f->a);
	assert_non_null(strstr(behind, "\nlocked_out 1\nlocked_out h3 port 1 at "));
	assert_non_null(strstr(behind, named));
	/* Nothing is followed; what was found stays. */
	follow(f, "");
	give(f, f->host, UNKNOWN + 1, 2);
	assert_locked_out(f, 1);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(keys_that_the_files_have_open_a_port),
		CASE(the_key_behind_a_stored_one_opens_a_port),
		CASE(a_key_that_is_not_stored_yet_is_found_at_its_set),
		CASE(the_standby_must_have_it_too),
		CASE(a_file_that_forgets_a_port_is_found_at_the_next_set_of_any),
		CASE(a_row_of_the_ledger_opens_a_port),
		CASE(a_key_that_all_may_read_locks_no_one_out),
		CASE(what_was_found_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
