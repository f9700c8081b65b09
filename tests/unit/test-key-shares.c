// SPDX-License-Identifier: BSD-2-Clause
/* Which lines of absent ports are kept when there are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "keys/key_shares.h"

/* GUIDs: of the manager, of real switches and hosts, and of all that one host with root claims. */
enum { OWN = 0x10000000, LEAF, LEAF_2, DEAD_LEAF, HOST = 0x20000000, FALSE_SWITCH = 1 };

#define ROOM  1000
#define LINES 8192

struct case_of {
	struct key_line lines[LINES];
	struct key_cable cables[64];
	struct key_map map;
	size_t n;
	bool keep[LINES];
};

static void add(struct case_of *c, guid_t guid, uint8_t port, guid_t far, uint8_t far_port)
{
	assert_true(c->n < LINES);
	c->lines[c->n++] = (struct key_line){ .guid = guid, .key = 1, .far = far, .port = port,
					      .far_port = far_port };
}

static void join(struct case_of *c, guid_t guid, uint8_t port, guid_t far, uint8_t far_port)
{
	assert_true(c->map.n < sizeof(c->cables) / sizeof(c->cables[0]));
	c->cables[c->map.n++] = (struct key_cable){ guid, far, port, far_port };
}

/* OWN - LEAF/1, LEAF/36 - LEAF_2/36, LEAF_2/35 - DEAD_LEAF/1, which is off. 20 hosts are, too. */
static struct case_of *new_case(void)
{
	struct case_of *c = xcalloc(1, sizeof(*c));

	c->map = (struct key_map){ .own = OWN, .cables = c->cables };
	join(c, OWN, 1, LEAF, 1);
	join(c, LEAF, 36, LEAF_2, 36);
	add(c, DEAD_LEAF, 1, LEAF_2, 35);
	for (uint8_t i = 0; i < 10; i++) {
		add(c, HOST + i, 1, LEAF_2, (uint8_t)(i + 1));
		add(c, DEAD_LEAF, (uint8_t)(i + 2), HOST + 100 + i, 1);
		add(c, HOST + 100 + i, 1, DEAD_LEAF, (uint8_t)(i + 2));
	}
	return c;
}

/* A false switch that was there with hosts at its ports 2 and on; they are off. */
static void add_false_hosts(struct case_of *c, guid_t at, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		guid_t host = 0x1000 * at + i + 1;

		add(c, at, (uint8_t)(i + 2), host, 1);
		add(c, host, 1, at, (uint8_t)(i + 2));
	}
}

static size_t shares(struct case_of *c)
{
	return key_shares(c->lines, c->n, &c->map, ROOM, c->keep);
}

static size_t count_kept(const struct case_of *c, guid_t from, guid_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->keep[i] && c->lines[i].guid >= from && c->lines[i].guid < to;
	return n;
}

#define REAL_LINES 31 /* of new_case() */

static void assert_real_are_kept(struct case_of *c)
{
	size_t kept = shares(c);

	assert_in_range(kept, ROOM / 2, ROOM);
	assert_int_equal(count_kept(c, 0, UINT64_MAX), kept);
	assert_int_equal(count_kept(c, OWN, UINT64_MAX), REAL_LINES);
}

/* Behind LEAF/2 the host claims a switch, and behind that many more, all with small GUIDs. */
static void a_host_that_is_many_switches_crowds_out_no_other(void **state)
{
	struct case_of *c = new_case();

	join(c, LEAF, 2, FALSE_SWITCH, 1);
	for (guid_t sw = 2; sw < 30; sw++) {
		add(c, sw, 1, FALSE_SWITCH, (uint8_t)sw);
		add_false_hosts(c, sw, 120);
	}
	assert_real_are_kept(c);
	free(c);
}

/* The same, and the switches are one behind the other: the tree is as deep as it is large. */
static void a_long_row_of_switches_crowds_out_no_other(void **state)
{
	struct case_of *c = new_case();

	add(c, FALSE_SWITCH, 1, LEAF, 2);
	for (guid_t sw = 2; sw < 3000; sw++) {
		add(c, sw - 1, 2, sw, 1);
		add(c, sw, 1, sw - 1, 2);
	}
	assert_real_are_kept(c);
	free(c);
}

/* Its switches are gone from the port for others: nothing says any more where they were. */
static void switches_that_no_cable_joins_come_last(void **state)
{
	struct case_of *c = new_case();

	for (guid_t sw = 2; sw < 30; sw++)
		add_false_hosts(c, sw, 120);
	assert_real_are_kept(c);
	free(c);
}

/* Several hosts do it: each has the share of its cable. */
static void each_cable_has_the_same_share(void **state)
{
	struct case_of *c = new_case();
	size_t first, second;

	for (guid_t sw = 2; sw < 4; sw++) {
		join(c, LEAF, (uint8_t)sw, 0x1000000 + sw, 1);
		for (unsigned i = 2; i < 200 * sw; i++)
			add(c, 0x1000 * sw + i, 1, 0x1000000 + sw, (uint8_t)i);
	}
	c->n = MIN(c->n, (size_t)LINES);
	for (size_t i = 0; i < 700; i++)
		add(c, 0x4000 + i, 1, 0x1000003, (uint8_t)i);
	shares(c);
	first = count_kept(c, 0x2000, 0x3000);
	second = count_kept(c, 0x3000, 0x5000);
	assert_int_equal(count_kept(c, OWN, UINT64_MAX), REAL_LINES);
	assert_int_equal(first, 398); /* all: it wants less than its share */
	assert_int_equal(second, ROOM - REAL_LINES - first);
	free(c);
}

/* A standby that has some cables of a switch only may take it for a host. */
static void a_switch_is_kept_whole_or_not_at_all(void **state)
{
	struct case_of *c = new_case();

	for (guid_t sw = 2; sw < 30; sw++) {
		add(c, sw, 1, LEAF, (uint8_t)sw);
		add_false_hosts(c, sw, 60);
	}
	assert_in_range(shares(c), ROOM / 2, ROOM);
	for (guid_t sw = 2; sw < 30; sw++) {
		size_t n = count_kept(c, sw, sw + 1);

		assert_true(n == 0 || n == 61);
	}
	free(c);
}

static void lines_without_a_cable_come_last(void **state)
{
	struct case_of *c = new_case();

	for (guid_t guid = 1; guid < 2 * ROOM; guid++)
		add(c, guid, 0, 0, 0);
	assert_int_equal(shares(c), ROOM);
	assert_int_equal(count_kept(c, OWN, UINT64_MAX), REAL_LINES);
	assert_int_equal(count_kept(c, 1, 1 + ROOM - REAL_LINES), ROOM - REAL_LINES);
	free(c);
}

/* A table gives them in any order; lines that come and go with it would be sent again and again. */
static void the_order_of_lines_changes_nothing(void **state)
{
	struct case_of *a = new_case(), *b = new_case();

	join(a, LEAF, 2, FALSE_SWITCH, 1);
	add_false_hosts(a, FALSE_SWITCH, 250);
	for (size_t i = 0; i < 900; i++)
		add(a, 0x40000 + i, 1, FALSE_SWITCH, 0);
	b->map = (struct key_map){ .own = OWN, .cables = a->cables, .n = a->map.n };
	b->n = a->n;
	for (size_t i = 0; i < a->n; i++)
		b->lines[a->n - 1 - i] = a->lines[i];
	assert_int_equal(shares(a), shares(b));
	for (size_t i = 0; i < a->n; i++)
		assert_int_equal(a->keep[i], b->keep[a->n - 1 - i]);
	free(a);
	free(b);
}

static void without_a_map_all_are_kept_that_fit(void **state)
{
	struct case_of *c = new_case();

	c->map = (struct key_map){ 0 };
	assert_int_equal(shares(c), REAL_LINES);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_that_is_many_switches_crowds_out_no_other),
		cmocka_unit_test(a_long_row_of_switches_crowds_out_no_other),
		cmocka_unit_test(switches_that_no_cable_joins_come_last),
		cmocka_unit_test(each_cable_has_the_same_share),
		cmocka_unit_test(a_switch_is_kept_whole_or_not_at_all),
		cmocka_unit_test(lines_without_a_cable_come_last),
		cmocka_unit_test(the_order_of_lines_changes_nothing),
		cmocka_unit_test(without_a_map_all_are_kept_that_fit),
	};

	return cmocka_run_group_tests_name("key-shares", tests, NULL, NULL);
}
