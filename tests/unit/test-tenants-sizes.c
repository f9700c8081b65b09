// SPDX-License-Identifier: BSD-2-Clause
/* Tables of all sizes up to their bounds, and what is beyond. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/tenants/tenants_import.h"
#include "tests/unit/tenants-desk.h"
#include "tests/unit/tenants-text.h"
#include "util/mem.h"

static const struct partitions *file; /* NULL: none */

/* Judged and played; `ret_text` (may be NULL): the line of its entry. */
static enum tenant_fault ask_for(struct tenants *t, const struct tenant_request *rq,
				 char **ret_text)
{
	struct tenant_entry e = { 0 };
	char why[300];
	enum tenant_fault fault = tenants_judge(t, file, rq, 9, &e, why, sizeof(why));

	if (!fault && e.n_rows) {
		if (ret_text)
			*ret_text = entry_line(&e);
		tenants_play(t, &e);
	}
	tenant_entry_clear(&e);
	return fault;
}

static void check_text(const struct tenants *t)
{
	_cleanup_free_ char *text = table_text(t), *again = NULL;
	struct conf_report r = { 0 };
	_tenants_ read = NULL;

	assert_int_equal(tenants_import_text(text, strlen(text), "tenants", &r, &read), 0);
	assert_int_equal(r.n, 0);
	again = table_text(read);
	assert_string_equal(again, text);
}

/* The n-th P_Key, in an order that is neither that of P_Keys nor that of partitions. */
static uint16_t pkey_of(unsigned n)
{
	return (uint16_t)(1 + n * 12347u % TENANT_PARTITIONS_MAX);
}

/* --- Partitions ----------------------------------------------------------------------------- */

static enum tenant_fault add_one(struct tenants *t, uint16_t pkey, guid_t guid, bool ipoib)
{
	struct tenant_member m = { .guid = guid, .full = true };
	struct tenant_request rq = { .action = TENANT_ADD, .pkey = pkey, .has = TENANT_IPOIB };

	rq.fields.ipoib = ipoib;
	rq.members = &m;
	rq.n_members = 1;
	return ask_for(t, &rq, NULL);
}

static void check_order(const struct tenants *t, const struct conf *c, unsigned n)
{
	_partitions_ joined = tenants_join(t, NULL, c);
	size_t n_rights;
	const struct tenant_right *rights = tenants_of_port(t, 0xabc, &n_rights);

	assert_int_equal(joined->n, n + 1);
	assert_int_equal(n_rights, n);
	for (unsigned i = 1; i < joined->n; i++)
		assert_true(partition_order(joined->list[i - 1].pkey) <
			    partition_order(joined->list[i].pkey));
	for (unsigned i = 1; i < n; i++)
		assert_true(partition_order(rights[i - 1].pkey) < partition_order(rights[i].pkey));
	for (unsigned i = 0; i < n; i++) {
		assert_non_null(tenants_find(t, pkey_of(i)));
		assert_int_equal(tenants_at(t, i)->n_members, 1);
	}
	assert_null(tenants_at(t, n));
	assert_int_equal(tenants_members(t), n);
}

/* All of them with one port. */
static void partitions_of_any_number(void **state)
{
	static const unsigned sizes[] = { 0, 1, 31, 32, 33, 255, 256, TENANT_PARTITIONS_MAX };
	_conf_ c = conf_new();

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		_tenants_ t = tenants_new();
		struct tenant_request gone = { .action = TENANT_DELETE };

		for (unsigned k = 0; k < sizes[i]; k++)
			assert_int_equal(add_one(t, pkey_of(k), 0xabc, false), TENANT_FINE);
		check_order(t, c, sizes[i]);
		check_text(t);
		for (unsigned k = 0; k < sizes[i]; k++) {
			gone.pkey = pkey_of(sizes[i] - 1 - k);
			assert_int_equal(ask_for(t, &gone, NULL), TENANT_FINE);
		}
		assert_null(tenants_at(t, 0));
		assert_int_equal(tenants_members(t), 0);
		assert_int_equal(tenants_each_port(t, &(size_t){ 0 }), 0);
	}
}

static void groups_are_no_more_than_multicast_lids(void **state)
{
	_conf_ c = conf_new();
	_tenants_ t = tenants_new();
	_partitions_ joined = NULL;
	unsigned n = 0;

	/* One is that of the default partition. */
	for (; n < PARTITION_GROUPS_MAX - 1; n++)
		assert_int_equal(add_one(t, pkey_of(n), 1, true), TENANT_FINE);
	assert_int_equal(add_one(t, pkey_of(n), 1, true), TENANT_TOO_MANY);
	assert_null(tenants_find(t, pkey_of(n)));
	assert_int_equal(add_one(t, pkey_of(n), 1, false), TENANT_FINE);
	joined = tenants_join(t, NULL, c);
	assert_int_equal(joined->n_groups, PARTITION_GROUPS_MAX);
	assert_int_equal(joined->n, PARTITION_GROUPS_MAX + 1);
	assert_int_equal(add_one(t, pkey_of(0), 1, false), TENANT_FINE);
	assert_int_equal(add_one(t, pkey_of(n), 1, true), TENANT_FINE);
}

static struct partitions *file_of(const char *text, const struct conf *c)
{
	struct conf_report r = { 0 };
	struct partitions *p = NULL;

	assert_int_equal(partitions_parse(text, strlen(text), "p", c, &r, &p), 0);
	conf_report_clear(&r);
	return p;
}

static void groups_of_the_file_count_once(void **state)
{
	_conf_ c = conf_new();
	_partitions_ small = file_of("Default=0x7fff : ALL=full; one=0x1, ipoib, api : ;", c);
	_partitions_ large = file_of("Default=0x7fff, ipoib : ALL; one=0x1, ipoib, api : ;", c);
	_partitions_ joined = NULL;
	_tenants_ t = tenants_new();
	struct tenant_request faster = { .action = TENANT_CONFIGURE, .pkey = pkey_of(9) };

	file = small;
	for (unsigned n = 0; n < PARTITION_GROUPS_MAX; n++)
		assert_int_equal(add_one(t, pkey_of(n), 1, true), TENANT_FINE);
	assert_int_equal(pkey_of(0), 1); /* in the file as well */
	assert_int_equal(add_one(t, pkey_of(PARTITION_GROUPS_MAX), 1, true), TENANT_TOO_MANY);
	/* One that has its group keeps it. */
	faster.has = TENANT_RATE;
	faster.fields.rate = 16;
	assert_int_equal(ask_for(t, &faster, NULL), TENANT_FINE);
	joined = tenants_join(t, large, c);
	assert_int_equal(joined->n_groups, PARTITION_GROUPS_MAX);
	file = NULL;
}

/* --- Members -------------------------------------------------------------------------------- */

static struct tenant_member *members_of(size_t n, uint64_t first, uint64_t stride)
{
	struct tenant_member *m = xcalloc(n + 1, sizeof(*m));

	for (size_t i = 0; i < n; i++) /* from behind */
		m[n - 1 - i] = (struct tenant_member){ first + i * stride, i % 3, i % 5 == 0 };
	return m;
}

static void check_replay(struct tenants *t, const struct tenant_request *rq)
{
	_cleanup_free_ char *text = table_text(t), *line = NULL, *both = NULL, *after = NULL,
			    *again = NULL;
	struct conf_report r = { 0 };
	_tenants_ read = NULL;

	assert_int_equal(ask_for(t, rq, &line), TENANT_FINE);
	both = xasprintf("%s%s", text, line);
	assert_int_equal(tenants_import_text(both, strlen(both), "tenants", &r, &read), 0);
	assert_int_equal(r.n, 0);
	after = table_text(t);
	again = table_text(read);
	assert_string_equal(after, again);
}

/* Set, crossed with others, set again, removed. */
static void members_of_any_number(void **state)
{
	static const size_t sizes[] = { 1, 31, 32, 33, 255, 256, TENANT_REQUEST_MAX };

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		_tenants_ t = tenants_new();
		_cleanup_free_ struct tenant_member *even = members_of(sizes[i], 2, 2),
						    *all = members_of(sizes[i], 1, 1);
		struct tenant_request rq = { .action = TENANT_ADD, .pkey = 5, .members = even };
		size_t n_common = sizes[i] / 2, n;

		rq.n_members = sizes[i];
		check_replay(t, &rq);
		assert_int_equal(tenants_find(t, 5)->n_members, sizes[i]);
		rq.members = all;
		check_replay(t, &rq);
		assert_int_equal(tenants_members(t), 2 * sizes[i] - n_common);
		check_text(t);
		rq.action = TENANT_SET;
		check_replay(t, &rq);
		assert_int_equal(tenants_members(t), sizes[i]);
		assert_non_null(tenants_of_port(t, 1, &n));
		assert_null(tenants_of_port(t, 2 * sizes[i], &n));
		rq.pkey = 6;
		check_replay(t, &rq); /* index 0 changes hands */
		rq.action = TENANT_REMOVE;
		check_replay(t, &rq);
		assert_null(tenants_find(t, 6));
		assert_int_equal(tenants_members(t), sizes[i]);
	}
}

static void a_request_beyond_the_bound_is_refused(void **state)
{
	_tenants_ t = tenants_new();
	_cleanup_free_ struct tenant_member *m = members_of(TENANT_REQUEST_MAX + 1, 1, 1);
	struct tenant_request rq = { .action = TENANT_SET, .pkey = 5, .members = m };

	rq.n_members = TENANT_REQUEST_MAX + 1;
	assert_int_equal(ask_for(t, &rq, NULL), TENANT_TOO_MANY);
	assert_int_equal(tenants_generation(t), 0);
	rq.n_members--;
	assert_int_equal(ask_for(t, &rq, NULL), TENANT_FINE);
}

/* 62 requests of the largest size, and a bit. */
static void all_members_beyond_the_bound_are_refused(void **state)
{
	_tenants_ t = tenants_new();
	struct tenant_request rq = { .action = TENANT_ADD };
	size_t left = TENANT_MEMBERS_MAX % TENANT_REQUEST_MAX;

	for (rq.pkey = 1; tenants_members(t) < TENANT_MEMBERS_MAX - left; rq.pkey++) {
		rq.members = members_of(TENANT_REQUEST_MAX, 1, 1);
		rq.n_members = TENANT_REQUEST_MAX;
		assert_int_equal(ask_for(t, &rq, NULL), TENANT_FINE);
		free(rq.members);
	}
	rq.members = members_of(left + 1, 1, 1);
	rq.n_members = left + 1;
	assert_int_equal(ask_for(t, &rq, NULL), TENANT_TOO_MANY);
	rq.n_members = left;
	assert_int_equal(ask_for(t, &rq, NULL), TENANT_FINE);
	assert_int_equal(tenants_members(t), TENANT_MEMBERS_MAX);
	rq.members[0].full ^= true; /* of those that are there */
	assert_int_equal(ask_for(t, &rq, NULL), TENANT_FINE);
	assert_int_equal(add_one(t, 0x7ffe, 1, false), TENANT_TOO_MANY);
	free(rq.members);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(partitions_of_any_number),
		cmocka_unit_test(groups_are_no_more_than_multicast_lids),
		cmocka_unit_test(groups_of_the_file_count_once),
		cmocka_unit_test(members_of_any_number),
		cmocka_unit_test(a_request_beyond_the_bound_is_refused),
		cmocka_unit_test(all_members_beyond_the_bound_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
