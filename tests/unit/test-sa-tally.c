// SPDX-License-Identifier: BSD-2-Clause
/* Requests counted by their type and answer, from any sender. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/sa-desk.h"
#include "util/mem.h"

static uint64_t counted(const struct desk *d, uint16_t attr, uint8_t method, uint16_t status)
{
	unsigned n;
	const struct sa_count *rows = sa_counts(d->sa, &n);

	for (unsigned i = 0; i < n; i++)
		if (rows[i].attr == attr && rows[i].method == method && rows[i].status == status)
			return rows[i].n;
	return 0;
}

static uint64_t sum(const struct desk *d)
{
	unsigned n;
	const struct sa_count *rows = sa_counts(d->sa, &n);
	uint64_t all = 0;

	assert_true(n <= SA_COUNT_ROWS);
	for (unsigned i = 0; i < n; i++)
		all += rows[i].n;
	return all;
}

static void answers_are_counted_by_status(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	for (unsigned i = 0; i < 3; i++) {
		ib_put(desk_blank(d), NR_LID, 3);
		assert_non_null(desk_get(d, SA_NODE_RECORD, SA_COMP(NR_LID)));
	}
	ib_put(desk_blank(d), NR_LID, 999);
	assert_int_equal(desk_get(d, SA_NODE_RECORD, SA_COMP(NR_LID))->status, SA_NO_RECORDS);
	desk_blank(d);
	assert_non_null(desk_table(d, SA_NODE_RECORD, 0));
	assert_int_equal(counted(d, SA_NODE_RECORD, MAD_GET, 0), 3);
	assert_int_equal(counted(d, SA_NODE_RECORD, MAD_GET, SA_NO_RECORDS), 1);
	assert_int_equal(counted(d, SA_NODE_RECORD, MAD_SA_GET_TABLE, 0), 1);
	assert_int_equal(sum(d), 5);
}

static void silence_has_its_reason(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	unsigned n;

	d->refuse = -5;
	desk_blank(d);
	assert_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	assert_int_equal(counted(d, SA_CLASS_PORT_INFO, MAD_GET, SA_NO_ANSWER), 1);
	assert_string_equal(sa_drop_counts(d->sa, &n)[0].why->text, "the answer cannot be sent");
	assert_int_equal(n, 1);
	assert_int_equal(sa_drop_counts(d->sa, &n)[0].n, 1);
}

/* Attributes that are none are one row, and rows end somewhere. */
static void whoever_asks_whatever(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint64_t asked = 0;
	unsigned n;

	d->deaf = true;
	for (unsigned attr = 0x1000; attr < 0x1400; attr++, asked++) {
		desk_blank(d);
		desk_post(d, MAD_GET, (uint16_t)attr, 0);
	}
	sa_counts(d->sa, &n);
	assert_true(n <= 2);
	for (unsigned method = 1; method < 0x7F; method++)
		for (unsigned attr = SA_NODE_RECORD; attr < SA_NODE_RECORD + 8; attr++, asked++) {
			desk_blank(d);
			desk_post(d, (uint8_t)method, (uint16_t)attr, 0);
		}
	desk_settle(d);
	sa_counts(d->sa, &n);
	assert_true(n <= SA_COUNT_ROWS);
	assert_true(sum(d) > 0 && sum(d) <= asked);
}

static void room_for_multicast(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint32_t used, max;

	sa_mlids(d->sa, &used, &max);
	assert_int_equal(used, 0);
	assert_true(max > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_counted_by_status),
		cmocka_unit_test(silence_has_its_reason),
		cmocka_unit_test(whoever_asks_whatever),
		cmocka_unit_test(room_for_multicast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
