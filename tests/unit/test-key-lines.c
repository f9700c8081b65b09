// SPDX-License-Identifier: BSD-2-Clause
/* M_Keys of ports that are absent: which lines are later than others, and their text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "keys/key_lines.h"

static const struct key_map no_map;

static struct key_line line(guid_t guid, uint8_t port, uint64_t key)
{
	return (struct key_line){ .guid = guid, .key = key, .far = 0x5000000, .port = port,
				  .far_port = 7 };
}

/* Which lines are later than `after`; their GUIDs, in order. */
static size_t later(const struct key_lines *l, uint64_t after, guid_t ret[8])
{
	size_t len, n;
	uint8_t *text = key_lines_text(l, after, &len);

	n = text ? key_lines_check(text, len) : 0;
	assert_in_range(n, 0, 8);
	assert_int_equal(len, n * KEY_LINE_BYTES);
	for (size_t i = 0; i < n; i++)
		ret[i] = key_lines_at(text, i).guid;
	free_wiped(text, len);
	return n;
}

static void only_what_changed_is_later(void **state)
{
	_cleanup_(key_lines_freep) struct key_lines *l = key_lines_new();
	struct key_line first[] = { line(3, 1, 0x33), line(1, 1, 0x11), line(2, 1, 0x22) };
	struct key_line next[] = { line(2, 1, 0x99), line(3, 1, 0x33), line(4, 1, 0x44) };
	guid_t guids[8];
	uint64_t version;

	assert_int_equal(key_lines_version(l), 0);
	assert_int_equal(key_lines_renew(l, first, 3, &no_map), 0);
	version = key_lines_version(l);
	assert_int_equal(later(l, 0, guids), 3);
	assert_int_equal(guids[0], 1);
	assert_int_equal(later(l, version, guids), 0);
	assert_int_equal(key_lines_renew(l, next, 3, &no_map), 0);
	assert_int_equal(later(l, version, guids), 2);
	assert_int_equal(guids[0], 2);
	assert_int_equal(guids[1], 4);
	assert_int_equal(later(l, 0, guids), 3);
}

static void the_same_lines_are_no_new_version(void **state)
{
	_cleanup_(key_lines_freep) struct key_lines *l = key_lines_new();
	struct key_line lines[] = { line(1, 1, 0x11), line(1, 2, 0x11), line(2, 1, 0x22) };
	struct key_line turned[] = { lines[2], lines[1], lines[0] };
	uint64_t version;

	key_lines_renew(l, lines, 3, &no_map);
	version = key_lines_version(l);
	key_lines_renew(l, turned, 3, &no_map);
	assert_int_equal(key_lines_version(l), version);
	key_lines_renew(l, lines, 2, &no_map); /* one is back */
	assert_int_equal(key_lines_version(l), version);
	assert_int_equal(key_lines_count(l), 2);
	key_lines_renew(l, NULL, 0, &no_map);
	assert_int_equal(key_lines_version(l), version);
	key_lines_renew(l, lines, 2, &no_map); /* away again */
	assert_int_equal(key_lines_version(l), version + 1);
}

static void a_moved_cable_is_a_change(void **state)
{
	_cleanup_(key_lines_freep) struct key_lines *l = key_lines_new();
	struct key_line at = line(1, 1, 0x11);
	guid_t guids[8];

	key_lines_renew(l, &at, 1, &no_map);
	at.far_port++;
	key_lines_renew(l, &at, 1, &no_map);
	assert_int_equal(later(l, 1, guids), 1);
}

/* A standby that is sent one line of a port may forget other cables of it. */
static void lines_of_a_port_go_together(void **state)
{
	_cleanup_(key_lines_freep) struct key_lines *l = key_lines_new();
	struct key_line lines[] = { line(1, 1, 0x11), line(2, 1, 0x22), line(2, 2, 0x22),
				    line(2, 3, 0x22), line(3, 1, 0x33) };
	guid_t guids[8];

	key_lines_renew(l, lines, 5, &no_map);
	lines[2].far_port++;
	key_lines_renew(l, lines, 5, &no_map);
	assert_int_equal(later(l, 1, guids), 3);
	assert_int_equal(guids[0], 2);
	assert_int_equal(guids[2], 2);
	key_lines_renew(l, lines, 5, &no_map);
	assert_int_equal(key_lines_version(l), 2);
	assert_int_equal(later(l, 1, guids), 3);
}

static void too_many_are_cut(void **state)
{
	_cleanup_(key_lines_freep) struct key_lines *l = key_lines_new();
	size_t n = KEY_LINES_MAX + 5, len;
	_cleanup_free_ struct key_line *lines = xcalloc(n, sizeof(*lines));
	uint8_t *text;

	for (size_t i = 0; i < n; i++)
		lines[i] = line(n - i, 1, i + 1);
	assert_int_equal(key_lines_renew(l, lines, n, &no_map), 5);
	assert_int_equal(key_lines_count(l), KEY_LINES_MAX);
	text = key_lines_text(l, 0, &len);
	assert_int_equal(key_lines_check(text, len), KEY_LINES_MAX);
	free_wiped(text, len);
}

static bool has(const uint8_t *text, size_t len, guid_t guid)
{
	for (size_t i = 0; i < len / KEY_LINE_BYTES; i++)
		if (key_lines_at(text, i).guid == guid)
			return true;
	return false;
}

/*
 * A host with root comes as one host after the other, all with small GUIDs: others that are away
 * keep their lines, whatever GUIDs they have, and nothing is sent anew for it.
 */
static void a_host_that_is_many_crowds_out_no_other(void **state)
{
	_cleanup_(key_lines_freep) struct key_lines *l = key_lines_new();
	size_t others = 100, bare = 10, n = KEY_LINES_MAX + 5 + others + bare, len;
	_cleanup_free_ struct key_line *lines = xcalloc(n, sizeof(*lines));
	uint8_t *text;

	for (size_t i = 0; i < n; i++)
		lines[i] = line(i + 1, 1, 1);
	for (size_t i = 0; i < others; i++) {
		lines[i] = line(UINT64_MAX - i, 1, 2);
		lines[i].far = 0x6000000 + i / 36;
		lines[i].far_port = (uint8_t)(1 + i % 36);
	}
	for (size_t i = others; i < others + bare; i++)
		lines[i] = (struct key_line){ .guid = i + 1, .key = 3 };
	assert_int_equal(key_lines_renew(l, lines, n, &no_map), n - KEY_LINES_MAX);
	assert_int_equal(key_lines_count(l), KEY_LINES_MAX);
	text = key_lines_text(l, 0, &len);
	assert_int_equal(key_lines_check(text, len), KEY_LINES_MAX);
	for (size_t i = 0; i < others; i++)
		assert_true(has(text, len, UINT64_MAX - i));
	for (size_t i = others; i < others + bare; i++)
		assert_false(has(text, len, i + 1));
	assert_true(has(text, len, others + bare + 1));
	assert_false(has(text, len, n));
	free_wiped(text, len);
	key_lines_renew(l, lines, n, &no_map);
	assert_int_equal(key_lines_version(l), 1);
}

/*
 * The same host comes as switches, each with hosts behind it: those are lines of their own at far
 * ends of their own. The map says that all of them are behind one port of a switch.
 */
static void a_host_that_is_many_switches_crowds_out_no_other(void **state)
{
	_cleanup_(key_lines_freep) struct key_lines *l = key_lines_new();
	const struct key_cable cables[] = { { 0xa00, 0xb00, 1, 1 }, { 0xb00, 0xc00, 2, 1 } };
	const struct key_map map = { .own = 0xa00, .cables = cables, .n = 2 };
	size_t others = 100, n = 2 * KEY_LINES_MAX, len;
	_cleanup_free_ struct key_line *lines = xcalloc(n, sizeof(*lines));
	uint8_t *text;

	for (size_t i = 0; i < n; i++) {
		lines[i] = line(0x10000 + i, 1, 1);
		lines[i].far = i % 256 ? 0x10000 + i / 256 * 256 : 0xc00;
		lines[i].far_port = (uint8_t)(1 + i % 254);
	}
	for (size_t i = 0; i < others; i++) {
		lines[i] = line(UINT64_MAX - i, 1, 2);
		lines[i].far = 0xb00;
		lines[i].far_port = (uint8_t)(3 + i);
	}
	assert_int_equal(key_lines_renew(l, lines, n, &map), n - KEY_LINES_MAX);
	text = key_lines_text(l, 0, &len);
	assert_int_equal(key_lines_check(text, len), KEY_LINES_MAX);
	for (size_t i = 0; i < others; i++)
		assert_true(has(text, len, UINT64_MAX - i));
	free_wiped(text, len);
}

/* A standby that has some cables of a switch only may take it for a host. */
static void a_port_is_cut_as_a_whole(void **state)
{
	_cleanup_(key_lines_freep) struct key_lines *l = key_lines_new();
	size_t n = KEY_LINES_MAX + 2;
	_cleanup_free_ struct key_line *lines = xcalloc(n, sizeof(*lines));

	for (size_t i = 0; i < n; i++)
		lines[i] = line(i + 1, 1, 1);
	for (size_t i = n - 4; i < n; i++)
		lines[i] = line(n, (uint8_t)(n - i), 1);
	assert_int_equal(key_lines_renew(l, lines, n, &no_map), 4);
	assert_int_equal(key_lines_count(l), n - 4);
}

static void assert_equal(const struct key_line *a, const struct key_line *b)
{
	assert_true(a->guid == b->guid && a->key == b->key && a->far == b->far);
	assert_int_equal(a->port, b->port);
	assert_int_equal(a->far_port, b->far_port);
}

static void a_line_goes_there_and_back(void **state)
{
	_cleanup_(key_lines_freep) struct key_lines *l = key_lines_new();
	struct key_line with = { .guid = UINT64_C(0x0102030405060708), .key = 0xa1b2c3d4e5f60718,
				 .far = UINT64_C(0x1112131415161718), .port = 2, .far_port = 254 };
	struct key_line without = { .guid = UINT64_C(0x0102030405060709), .key = 5 }, back;
	struct key_line both[] = { without, with };
	uint8_t *text;
	size_t len;

	key_lines_renew(l, both, 2, &no_map);
	text = key_lines_text(l, 0, &len);
	assert_int_equal(key_lines_check(text, len), 2);
	back = key_lines_at(text, 0);
	assert_equal(&back, &with);
	back = key_lines_at(text, 1);
	assert_equal(&back, &without);
	free_wiped(text, len);
}

static void lines_that_cannot_be_are_no_text(void **state)
{
	const struct key_line bad[] = {
		{ .guid = 0, .key = 1 },
		{ .guid = 1, .key = 0 },
		{ .guid = 1, .key = UINT64_MAX },
		{ .guid = 1, .key = 1, .port = 1 },
		{ .guid = 1, .key = 1, .far_port = 1 },
		{ .guid = 1, .key = 1, .far = 2, .port = 1 },
		{ .guid = 1, .key = 1, .far = 2, .far_port = 1 },
		{ .guid = 1, .key = 1, .far = 2, .port = 255, .far_port = 1 },
		{ .guid = 1, .key = 1, .far = 2, .port = 1, .far_port = 255 },
	};
	uint8_t *text, long_text[KEY_LINE_BYTES + 1] = { 0 };
	struct key_line good = line(1, 1, 1);
	size_t len;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct key_lines *l = key_lines_new();
		struct key_line both[] = { good, bad[i] };

		both[1].guid += bad[i].guid ? 5 : 0;
		key_lines_renew(l, both, 2, &no_map);
		text = key_lines_text(l, 0, &len);
		assert_int_equal(len, 2 * KEY_LINE_BYTES);
		assert_int_equal(key_lines_check(text, len), 0);
		free_wiped(text, len);
		key_lines_free(l);
	}
	memset(long_text, 1, sizeof(long_text));
	assert_int_equal(key_lines_check(long_text, KEY_LINE_BYTES), 1);
	assert_int_equal(key_lines_check(long_text, KEY_LINE_BYTES + 1), 0);
	assert_int_equal(key_lines_check(long_text, KEY_LINE_BYTES - 1), 0);
	assert_int_equal(key_lines_check(long_text, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_changed_is_later),
		cmocka_unit_test(the_same_lines_are_no_new_version),
		cmocka_unit_test(a_moved_cable_is_a_change),
		cmocka_unit_test(lines_of_a_port_go_together),
		cmocka_unit_test(too_many_are_cut),
		cmocka_unit_test(a_host_that_is_many_crowds_out_no_other),
		cmocka_unit_test(a_host_that_is_many_switches_crowds_out_no_other),
		cmocka_unit_test(a_port_is_cut_as_a_whole),
		cmocka_unit_test(a_line_goes_there_and_back),
		cmocka_unit_test(lines_that_cannot_be_are_no_text),
	};

	return cmocka_run_group_tests_name("key-lines", tests, NULL, NULL);
}
