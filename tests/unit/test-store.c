// SPDX-License-Identifier: BSD-2-Clause
/* guid2lid, guid2mkey, neighbors: what is written is read back, what was damaged is survived. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fabric/store.h"
#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/mem.h"

/* A folder of its own for every test. */
struct folder {
	char path[SCRATCH_PATH];
	struct store *store;
	struct store_findings findings;
};

static int setup(void **state)
{
	struct folder *f = xcalloc(1, sizeof(*f));

	scratch_folder(f->path);
	f->store = store_new(f->path, false);
	*state = f;
	return 0;
}

static char *path_of(const struct folder *f, const char *name)
{
	return xasprintf("%s/%s", f->path, name);
}

static int teardown(void **state)
{
	static const char *const names[] = {
		"guid2lid", "guid2lid.bad", "guid2mkey", "guid2mkey.bad",
		"neighbors", "neighbors.bad",
	};
	struct folder *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = path_of(f, names[i]);

		unlink(path);
		rmdir(path);
	}
	assert_int_equal(rmdir(f->path), 0); /* nothing else was left behind */
	store_findings_clear(&f->findings);
	store_free(f->store);
	free(f);
	return 0;
}

static void put_bytes(const struct folder *f, const char *name, const void *text, size_t len)
{
	_cleanup_free_ char *path = path_of(f, name);
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	fclose(out);
}

static void put(const struct folder *f, const char *name, const char *text)
{
	put_bytes(f, name, text, strlen(text));
}

static void assert_file(const struct folder *f, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_of(f, name), *have = NULL;

	assert_int_equal(file_read(path, 1 << 20, &have, NULL), 0);
	assert_string_equal(have, text);
}

static bool exists(const struct folder *f, const char *name)
{
	_cleanup_free_ char *path = path_of(f, name);

	return access(path, F_OK) == 0;
}

static void read_file(struct folder *f, enum store_file which)
{
	store_findings_clear(&f->findings);
	assert_int_equal(store_read(f->store, which, &f->findings), 0);
}

/* Returns whether there was anything to write. */
static bool save(struct folder *f)
{
	struct store_image *image = store_image_new(f->store);

	if (!image)
		return false;
	assert_int_equal(store_image_write(image), 0);
	store_image_free(image);
	return true;
}

static void assert_finding(const struct folder *f, size_t i, const char *part)
{
	assert_true(i < f->findings.n);
	if (!strstr(f->findings.text[i], part))
		fail_msg("'%s' lacks '%s'", f->findings.text[i], part);
}

static void assert_lids(const struct folder *f, guid_t guid, lid_t want_min, lid_t want_max)
{
	lid_t min, max;

	assert_true(store_lids(f->store, guid, &min, &max));
	assert_int_equal(min, want_min);
	assert_int_equal(max, want_max);
}

/* Writing */

static void records_have_the_peers_format(void **state)
{
	struct folder *f = *state;

	store_set_lids(f->store, 0x200000, 2, 2);
	store_set_lids(f->store, 0x100004, 12, 15);
	store_set_mkey(f->store, 0x100004, 0xABCD);
	store_set_neighbor(f->store, 0x200000, 12, 0x100004, 1);
	assert_true(save(f));
	assert_file(f, "guid2lid", "0x0000000000100004 0x000c 0x000f\n\n"
				   "0x0000000000200000 0x0002 0x0002\n\n");
	assert_file(f, "guid2mkey", "0x0000000000100004 0x000000000000abcd\n\n");
	assert_file(f, "neighbors", "0x0000000000100004:1 0x0000000000200000:12\n\n"
				    "0x0000000000200000:12 0x0000000000100004:1\n\n");
}

static void what_is_written_is_read_back(void **state)
{
	struct folder *f = *state;
	struct store *other = store_new(f->path, true);
	uint64_t key;
	guid_t peer;
	uint8_t port;

	for (unsigned i = 1; i <= 500; i++) {
		store_set_lids(f->store, i * 0x10001ull, i * 4, i * 4 + 3);
		store_set_mkey(f->store, i * 0x10001ull, i - 1);
		store_set_neighbor(f->store, 0x200000 + i / 200, i % 200 + 1, i * 0x10001ull, 1);
	}
	assert_true(save(f));
	for (unsigned i = 0; i < STORE_FILES; i++)
		assert_int_equal(store_read(other, i, &f->findings), 0);
	assert_int_equal(f->findings.n, 0);
	assert_int_equal(store_count(other, STORE_LIDS), 500);
	assert_int_equal(store_count(other, STORE_MKEYS), 500);
	assert_int_equal(store_count(other, STORE_NEIGHBORS), 1000);
	assert_true(store_mkey(other, 0x10001, &key));
	assert_int_equal(key, 0);
	assert_true(store_neighbor(other, 0x200001, 5, &peer, &port));
	assert_int_equal(peer, 204 * 0x10001ull);
	assert_int_equal(port, 1);
	assert_null(store_image_new(other)); /* nothing to write: it is the same */
	store_free(other);
}

static void nothing_changed_writes_nothing(void **state)
{
	struct folder *f = *state;

	store_set_lids(f->store, 0x1, 1, 1);
	assert_true(save(f));
	store_set_lids(f->store, 0x1, 1, 1);
	assert_false(save(f));
	store_drop_lids(f->store, 0x7);
	assert_false(save(f));
	store_drop_lids(f->store, 0x1);
	assert_true(save(f));
	assert_file(f, "guid2lid", "");
	assert_false(exists(f, "guid2mkey"));
}

static void missing_file_is_empty_and_will_be_made(void **state)
{
	struct folder *f = *state;

	read_file(f, STORE_MKEYS);
	assert_int_equal(f->findings.n, 0);
	assert_int_equal(store_count(f->store, STORE_MKEYS), 0);
	assert_true(save(f));
	assert_file(f, "guid2mkey", "");
}

static void keys_are_not_for_others_to_read(void **state)
{
	struct folder *f = *state;
	_cleanup_free_ char *path = path_of(f, "guid2mkey");
	struct stat st;

	store_set_mkey(f->store, 1, 2);
	save(f);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
}

static void missing_folder_is_made(void **state)
{
	struct folder *f = *state;
	_cleanup_free_ char *dir = xasprintf("%s/a/b", f->path);
	_cleanup_free_ char *file = xasprintf("%s/guid2lid", dir);
	_cleanup_free_ char *above = xasprintf("%s/a", f->path);
	_cleanup_(store_freep) struct store *s = store_new(dir, false);
	struct store_image *image;

	store_set_lids(s, 1, 1, 1);
	image = store_image_new(s);
	assert_int_equal(store_image_write(image), 0);
	store_image_free(image);
	assert_int_equal(unlink(file) | rmdir(dir) | rmdir(above), 0);
}

static void failed_write_is_tried_again(void **state)
{
	struct folder *f = *state;
	_cleanup_free_ char *path = path_of(f, "guid2lid");
	struct store_image *image;

	assert_int_equal(mkdir(path, 0700), 0); /* a folder where the file should go */
	store_set_lids(f->store, 1, 1, 1);
	store_set_mkey(f->store, 1, 1);
	image = store_image_new(f->store);
	assert_true(store_image_write(image) < 0);
	assert_null(store_image_new(f->store));
	store_image_failed(f->store, image);
	store_image_free(image);
	assert_true(exists(f, "guid2mkey")); /* the other one was written */
	assert_int_equal(rmdir(path), 0);
	assert_true(save(f));
	assert_file(f, "guid2lid", "0x0000000000000001 0x0001 0x0001\n\n");
}

/* Cables */

static void cable_that_moves_leaves_nothing_behind(void **state)
{
	struct folder *f = *state;
	guid_t peer;
	uint8_t port;

	store_set_neighbor(f->store, 0xA, 1, 0xB, 2);
	store_set_neighbor(f->store, 0xA, 1, 0xC, 3);
	assert_false(store_neighbor(f->store, 0xB, 2, &peer, &port));
	assert_true(store_neighbor(f->store, 0xC, 3, &peer, &port));
	assert_int_equal(peer, 0xA);
	assert_int_equal(store_n_neighbors(f->store, 0xA), 1);
	assert_int_equal(store_n_neighbors(f->store, 0xB), 0);
	assert_true(store_only_neighbor(f->store, 0xA, &peer, &port));
	assert_int_equal(peer, 0xC);
	assert_int_equal(port, 3);
	assert_false(store_only_neighbor(f->store, 0xB, &peer, &port));
	assert_int_equal(store_count(f->store, STORE_NEIGHBORS), 2);
	assert_int_equal(store_former_neighbor(f->store, 0xA, 1, 0), 0xB);
	store_set_neighbor(f->store, 0xD, 4, 0xC, 3); /* that is where it is */
	assert_false(store_neighbor(f->store, 0xA, 1, &peer, &port));
	assert_int_equal(store_former_neighbor(f->store, 0xA, 1, 0), 0xC);
	assert_int_equal(store_former_neighbor(f->store, 0xA, 1, 1), 0xB);
	assert_int_equal(store_former_neighbor(f->store, 0xD, 4, 0), 0);
	assert_int_equal(store_former_neighbor(f->store, 0xE, 4, 0), 0);
	store_set_neighbor(f->store, 0xA, 1, 0xC, 3);
	save(f);
	store_set_neighbor(f->store, 0xC, 3, 0xA, 1); /* the same cable from its other end */
	assert_false(save(f));
	store_set_neighbor(f->store, 0xA, 2, 0xB, 1);
	assert_int_equal(store_n_neighbors(f->store, 0xA), 2);
	assert_false(store_only_neighbor(f->store, 0xA, &peer, &port));
	assert_true(store_only_neighbor(f->store, 0xB, &peer, &port));
}

/* The port of a host: it is the end of no other cable then, and these are free of it. */
static void a_host_has_its_last_cable_only(void **state)
{
	struct folder *f = *state;
	guid_t peer;
	uint8_t port;

	store_set_neighbor(f->store, 0xA, 1, 0xB, 2);
	store_set_neighbor(f->store, 0xA, 2, 0xB, 3);
	store_set_neighbor(f->store, 0xC, 5, 0xB, 4);
	save(f);
	store_set_only_neighbor(f->store, 0xA, 3, 0xD, 9);
	assert_int_equal(store_n_neighbors(f->store, 0xA), 1);
	assert_true(store_neighbor(f->store, 0xA, 3, &peer, &port));
	assert_int_equal(peer, 0xD);
	assert_int_equal(store_n_neighbors(f->store, 0xB), 1);
	assert_int_equal(store_former_neighbor(f->store, 0xB, 2, 0), 0xA);
	assert_true(save(f));
	store_set_only_neighbor(f->store, 0xA, 3, 0xD, 9);
	assert_false(save(f));
}

static void unknown_guids_have_no_neighbor(void **state)
{
	struct folder *f = *state;
	guid_t peer = 0;
	uint8_t port = 0;

	assert_false(store_neighbor(f->store, 0, 1, &peer, &port));
	assert_false(store_neighbor(f->store, 5, 255, &peer, &port));
	store_set_neighbor(f->store, 5, 1, 6, 254);
	assert_false(store_neighbor(f->store, 5, 255, &peer, &port));
	assert_true(store_neighbor(f->store, 6, 254, &peer, &port));
}

static void cables_that_do_not_lead_back_are_dropped(void **state)
{
	struct folder *f = *state;

	put(f, "neighbors", "0x000000000000000a:1 0x000000000000000b:2\n\n"
			    "0x000000000000000b:2 0x000000000000000c:3\n\n"
			    "0x000000000000000c:3 0x000000000000000b:2\n\n"
			    "0x000000000000000d:4 0x000000000000000e:5\n\n");
	read_file(f, STORE_NEIGHBORS);
	assert_int_equal(store_count(f->store, STORE_NEIGHBORS), 2);
	assert_int_equal(f->findings.n, 3); /* two cables, and where the original is */
	save(f);
	assert_file(f, "neighbors", "0x000000000000000b:2 0x000000000000000c:3\n\n"
				    "0x000000000000000c:3 0x000000000000000b:2\n\n");
}

/* Damage */

struct damage {
	const char *line, *finding;
};

static void one_bad_line_is_all_that_is_lost(struct folder *f, enum store_file which,
					     const struct damage *d)
{
	static const char *const first[] = { "0x0000000000000001 0x0001 0x0001\n\n",
					     "0x0000000000000001 0x0000000000000001\n\n",
					     "0x000000000000000a:1 0x000000000000000b:2\n\n" };
	static const char *const last[] = { "0x0000000000000002 0x0004 0x0007\n\n",
					    "0x0000000000000002 0x0000000000000002\n\n",
					    "0x000000000000000b:2 0x000000000000000a:1\n\n" };
	_cleanup_free_ char *text = xasprintf("%s%s\n\n%s", first[which], d->line, last[which]);
	_cleanup_free_ char *bad = xasprintf("%s.bad", store_file_name(which));
	_cleanup_free_ char *bad_path = path_of(f, bad), *where = NULL;

	put(f, store_file_name(which), text);
	read_file(f, which);
	if (store_count(f->store, which) != 2 || f->findings.n != 2)
		fail_msg("'%s': %zu records, %zu findings", d->line, store_count(f->store, which),
			 f->findings.n);
	where = xasprintf("%s:3: ", store_file_name(which));
	assert_finding(f, 0, where);
	assert_finding(f, 0, d->finding);
	assert_finding(f, 1, ".bad");
	assert_file(f, bad, text);
	assert_int_equal(unlink(bad_path), 0);
	assert_true(save(f)); /* without the line */
	read_file(f, which);
	assert_int_equal(f->findings.n, 0);
	assert_int_equal(store_count(f->store, which), 2);
}

static void damaged_guid2lid_loses_the_line_alone(void **state)
{
	static const struct damage damages[] = {
		{ "0x0000000000000003 0x0009 0x0008", "no range" },
		{ "0x0000000000000003 0x0000 0x0008", "no range" },
		{ "0x0000000000000003 0xc000 0xc000", "two LIDs" },
		{ "0x0000000000000003 0x0008 0xffff", "two LIDs" },
		{ "0x0000000000000003 0x0008 0x10008", "two LIDs" },
		{ "0x0000000000000003 0x0008 -1", "two LIDs" },
		{ "0x0000000000000003 0x0008", "two LIDs" },
		{ "0x0000000000000003", "two LIDs" },
		{ "0x0000000000000003 0x0008 0x0008 0x0008", "expected GUID" },
		{ "0x0000000000000000 0x0008 0x0008", "expected GUID" },
		{ "0x00000000000000003x 0x0008 0x0008", "expected GUID" },
		{ "0x10000000000000003 0x0008 0x0008", "expected GUID" },
		{ "# comment", "expected GUID" },
		{ "foo", "expected GUID" },
		{ " 0x0000000000000003 0x0008 0x0008", "blank" },
		{ "\t", "blank" },
		{ "0x0000000000000001 0x0008 0x0008", "twice" },
		{ "0x0000000000000003 0x0001 0x0002", "earlier" },
		{ "\x1b[2J\xff\x01", "expected GUID" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++)
		one_bad_line_is_all_that_is_lost(*state, STORE_LIDS, &damages[i]);
}

/* The file keeps a key that the port no longer has, until the new one is known. */
static void a_former_key_is_known_as_that(void **state)
{
	struct folder *f = *state;
	uint64_t key = 0;

	store_set_mkey_former(f->store, 7);
	assert_false(store_mkey_is_former(f->store, 7));
	store_set_mkey(f->store, 7, 0x1234);
	assert_false(store_mkey_is_former(f->store, 7));
	store_set_mkey_former(f->store, 7);
	assert_true(store_mkey_is_former(f->store, 7));
	assert_true(store_mkey(f->store, 7, &key));
	assert_true(key == 0x1234);
	store_set_mkey(f->store, 7, 0x1234);
	assert_false(store_mkey_is_former(f->store, 7));
}

static void damaged_guid2mkey_loses_the_line_alone(void **state)
{
	static const struct damage damages[] = {
		{ "0x0000000000000003", "expected GUID, M_Key" },
		{ "0x0000000000000003 0x1 0x2", "expected GUID, M_Key" },
		{ "0x0000000000000003 key", "expected GUID, M_Key" },
		{ "0x0000000000000003 0x10000000000000000", "expected GUID, M_Key" },
		{ "0x0000000000000001 0x5", "twice" },
		{ "0x0 0x5", "expected GUID, M_Key" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++)
		one_bad_line_is_all_that_is_lost(*state, STORE_MKEYS, &damages[i]);
}

static void damaged_neighbors_loses_the_line_alone(void **state)
{
	static const struct damage damages[] = {
		{ "0x0000000000000003:1", "expected GUID:PORT" },
		{ "0x0000000000000003 0x0000000000000004", "expected GUID:PORT" },
		{ "0x0000000000000003:0 0x0000000000000004:1", "expected GUID:PORT" },
		{ "0x0000000000000003:1 0x0000000000000004:256", "expected GUID:PORT" },
		{ "0x0000000000000003:1 0x0000000000000004:", "expected GUID:PORT" },
		{ "0x0000000000000003:1 0x0000000000000004:0x1", "expected GUID:PORT" },
		{ "0x0:1 0x0000000000000004:1", "expected GUID:PORT" },
		{ "0x000000000000000a:1 0x0000000000000004:1", "twice" },
		{ "0x0000000000000003:1 0x0000000000000004:1", "not back" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++)
		one_bad_line_is_all_that_is_lost(*state, STORE_NEIGHBORS, &damages[i]);
}

static void cut_off_line_is_not_believed(void **state)
{
	struct folder *f = *state;

	put(f, "guid2mkey", "0x0000000000000001 0x0000000000000001\n\n0x0000000000000002 0x12");
	read_file(f, STORE_MKEYS);
	assert_int_equal(store_count(f->store, STORE_MKEYS), 1);
	assert_finding(f, 0, "guid2mkey:3: last line is cut off");
}

static void carriage_returns_are_tolerated(void **state)
{
	struct folder *f = *state;

	put(f, "guid2lid", "0x0000000000000001 0x0001 0x0001\r\n\r\n"
			   "0x0000000000000002 0x0002 0x0002\r\n\r\n");
	read_file(f, STORE_LIDS);
	assert_lids(f, 2, 2, 2);
	assert_int_equal(f->findings.n, 1);
	assert_false(exists(f, "guid2lid.bad")); /* nothing was lost */
	save(f);
	assert_file(f, "guid2lid", "0x0000000000000001 0x0001 0x0001\n\n"
				   "0x0000000000000002 0x0002 0x0002\n\n");
}

static void missing_empty_lines_swallow_nothing(void **state)
{
	struct folder *f = *state;

	put(f, "guid2lid", "0x0000000000000001 0x0001 0x0001\n0x0000000000000002 0x0002 0x0002\n"
			   "0x0000000000000003 0x0003 0x0003\n");
	read_file(f, STORE_LIDS);
	assert_int_equal(store_count(f->store, STORE_LIDS), 3);
	assert_int_equal(f->findings.n, 1);
	assert_finding(f, 0, "guid2lid:2: no empty line");
}

static void short_key_is_understood_and_rewritten(void **state)
{
	struct folder *f = *state;

	put(f, "guid2lid", "0x100001 0x5 0x5\n\n");
	read_file(f, STORE_LIDS);
	assert_lids(f, 0x100001, 5, 5);
	assert_finding(f, 0, "0x0000000000100001");
	save(f);
	assert_file(f, "guid2lid", "0x0000000000100001 0x0005 0x0005\n\n");
}

static void nul_bytes_and_endless_lines_are_survived(void **state)
{
	static const char nul[] = "0x0000000000000001 0x0001\0 0x0001\n\n";
	static const char good[] = "0x0000000000000002 0x0002 0x0002\n\n";
	struct folder *f = *state;
	_cleanup_free_ char *text = xcalloc(1, 200000);
	size_t len = 100000;

	memset(text, 'x', len);
	text[len++] = '\n';
	memcpy(text + len, nul, sizeof(nul) - 1);
	len += sizeof(nul) - 1;
	memcpy(text + len, good, sizeof(good) - 1);
	len += sizeof(good) - 1;
	put_bytes(f, "guid2lid", text, len);
	read_file(f, STORE_LIDS);
	assert_int_equal(store_count(f->store, STORE_LIDS), 1);
	assert_finding(f, 0, "guid2lid:1: line of 100000 bytes");
	assert_finding(f, 2, "guid2lid:2: NUL byte");
}

static void findings_are_limited(void **state)
{
	struct folder *f = *state;
	_cleanup_free_ char *text = xcalloc(1, 20001);

	for (unsigned i = 0; i < 10000; i++)
		memcpy(text + 2 * i, "#\n", 2);
	put(f, "guid2lid", text);
	read_file(f, STORE_LIDS);
	assert_int_equal(f->findings.n, STORE_FINDINGS_MAX);
	/* One per line, that none is empty, and where the original is. */
	assert_int_equal(f->findings.more, 10002 - STORE_FINDINGS_MAX);
}

static void original_is_kept_aside_once(void **state)
{
	struct folder *f = *state;

	put(f, "guid2lid", "first\n");
	read_file(f, STORE_LIDS);
	put(f, "guid2lid", "second\n");
	read_file(f, STORE_LIDS);
	assert_file(f, "guid2lid.bad", "first\n");
}

static void folder_in_place_of_the_file_is_an_error(void **state)
{
	struct folder *f = *state;
	_cleanup_free_ char *path = path_of(f, "guid2lid");

	assert_int_equal(mkdir(path, 0700), 0);
	store_set_lids(f->store, 1, 1, 1);
	assert_int_equal(store_read(f->store, STORE_LIDS, &f->findings), -EISDIR);
	assert_int_equal(store_count(f->store, STORE_LIDS), 0);
	assert_finding(f, 0, "not readable");
}

static void reading_replaces_what_was_there(void **state)
{
	struct folder *f = *state;
	lid_t min, max;

	put(f, "guid2lid", "0x0000000000000001 0x0001 0x0001\n\n");
	store_set_lids(f->store, 2, 1, 1);
	read_file(f, STORE_LIDS);
	assert_lids(f, 1, 1, 1);
	assert_false(store_lids(f->store, 2, &min, &max));
	assert_false(save(f));
}

static void every_prefix_of_a_file_reads_as_its_whole_lines(void **state)
{
	static const char text[] = "0x0000000000000001 0x0001 0x0001\n\n"
				   "0x0000000000000002 0x0004 0x0007\n\n"
				   "0x0000000000000003 0x0008 0x000b\n\n";
	struct folder *f = *state;

	for (size_t len = 0; len < sizeof(text); len++) {
		size_t lines = 0;

		for (size_t i = 0; i < len; i++)
			lines += text[i] == '\n' && i > 0 && text[i - 1] != '\n';
		put_bytes(f, "guid2lid", text, len);
		read_file(f, STORE_LIDS);
		assert_int_equal(store_count(f->store, STORE_LIDS), lines);
	}
}

#define store_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#ifndef __SANITIZE_ADDRESS__
/* Of the text in the heap, in use or given back. A sanitizer has a heap of another kind. */
static unsigned n_in_heap(const char *text)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], *from = NULL, *to = NULL;
	unsigned n = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[heap]"))
			assert_int_equal(sscanf(line, "%p-%p", (void **)&from, (void **)&to), 2);
	}
	fclose(maps);
	for (char *at = from; at && (at = memmem(at, (size_t)(to - at), text, strlen(text))); at++)
		n++;
	return n;
}

static void keys_do_not_stay_in_memory_as_text(void **state)
{
	struct folder *f = *state;
	uint64_t key;
	_cleanup_free_ char *kept = xstrdup("0x00c0ffee4711");

	assert_true(n_in_heap(kept) > 0);
	for (guid_t guid = 1; guid < 400; guid++)
		store_set_mkey(f->store, guid, 0x1122334455667700 + guid);
	assert_true(save(f));
	assert_int_equal(n_in_heap("0x112233445566"), 0);
	read_file(f, STORE_MKEYS);
	assert_true(store_mkey(f->store, 399, &key));
	assert_int_equal(key, 0x1122334455667700 + 399);
	assert_int_equal(n_in_heap("0x112233445566"), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifndef __SANITIZE_ADDRESS__
		store_test(keys_do_not_stay_in_memory_as_text),
#endif
		store_test(records_have_the_peers_format),
		store_test(what_is_written_is_read_back),
		store_test(nothing_changed_writes_nothing),
		store_test(missing_file_is_empty_and_will_be_made),
		store_test(keys_are_not_for_others_to_read),
		store_test(missing_folder_is_made),
		store_test(failed_write_is_tried_again),
		store_test(cable_that_moves_leaves_nothing_behind),
		store_test(a_host_has_its_last_cable_only),
		store_test(unknown_guids_have_no_neighbor),
		store_test(cables_that_do_not_lead_back_are_dropped),
		store_test(damaged_guid2lid_loses_the_line_alone),
		store_test(a_former_key_is_known_as_that),
		store_test(damaged_guid2mkey_loses_the_line_alone),
		store_test(damaged_neighbors_loses_the_line_alone),
		store_test(cut_off_line_is_not_believed),
		store_test(carriage_returns_are_tolerated),
		store_test(missing_empty_lines_swallow_nothing),
		store_test(short_key_is_understood_and_rewritten),
		store_test(nul_bytes_and_endless_lines_are_survived),
		store_test(findings_are_limited),
		store_test(original_is_kept_aside_once),
		store_test(folder_in_place_of_the_file_is_an_error),
		store_test(reading_replaces_what_was_there),
		store_test(every_prefix_of_a_file_reads_as_its_whole_lines),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
