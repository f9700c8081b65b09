// SPDX-License-Identifier: BSD-2-Clause
/* Partitions at run time: what requests come to, and what the table is afterwards. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "conf/tenants/tenants.h"
#include "tests/unit/tenants-desk.h"
#include "util/mem.h"

/* --- Making and unmaking -------------------------------------------------------------------- */

static void add_makes_a_partition(void **state)
{
	_tenants_ t = tenants_new();

	assert_string_equal(ask(t, NULL, "add 5 b a"), "5=api_pkey_0x5,i4:2:0 a b");
	assert_int_equal(tenants_generation(t), 1);
	assert_int_equal(tenants_members(t), 2);
	assert_string_equal(table_words(t), "5=api_pkey_0x5,i4:2:0(1) a b");
}

static void create_of_the_same_is_fine(void **state)
{
	_tenants_ t = tenants_new();

	assert_string_equal(ask(t, NULL, "create 5 mtu=5 name=red"), "5=red,i5:2:0");
	assert_string_equal(ask(t, NULL, "create 5 mtu=5 name=red"), "");
	assert_string_equal(ask(t, NULL, "create 5"), "");
	assert_string_equal(ask(t, NULL, "create 5 mtu=4"),
			    "exists: partition 0x0005 (red) is there with another MTU");
	assert_int_equal(tenants_generation(t), 1);
}

static void removal_of_the_last_member_deletes(void **state)
{
	_tenants_ t = tenants_new();

	ask(t, NULL, "add 5 a b");
	assert_string_equal(ask(t, NULL, "remove 5 a c"), "5-a");
	assert_string_equal(ask(t, NULL, "remove 5 b"), "5-");
	assert_null(tenants_find(t, 5));
	assert_string_equal(ask(t, NULL, "remove 5 b"), "");
	ask(t, NULL, "add 5 a");
	assert_string_equal(ask(t, NULL, "remove 5 a keep"), "5-a");
	assert_string_equal(ask(t, NULL, "remove 5 a"), "");
	assert_non_null(tenants_find(t, 5));
	assert_string_equal(ask(t, NULL, "delete 5"), "5-");
	assert_string_equal(ask(t, NULL, "delete 5"), "unknown: there is no partition 0x0005");
}

static void set_makes_members_exactly_these(void **state)
{
	_tenants_ t = tenants_new();

	ask(t, NULL, "set 5 a c d");
	assert_string_equal(ask(t, NULL, "set 5 b c=l e"), "5-a b c=l -d e");
	assert_string_equal(table_words(t), "5=api_pkey_0x5,i4:2:0(2) b c=l e");
	assert_string_equal(ask(t, NULL, "set 5"), "5-b -c -e");
	assert_string_equal(table_words(t), "5=api_pkey_0x5,i4:2:0(3)");
}

/* --- Index 0 -------------------------------------------------------------------------------- */

static void index0_of_a_port_is_of_one_partition(void **state)
{
	_tenants_ t = tenants_new();

	ask(t, NULL, "add 5 a@0 b@0");
	ask(t, NULL, "add 6 b=l");
	assert_string_equal(ask(t, NULL, "add 6 a@0 b@0"), "5 a b 6 a@0 b@0");
	assert_string_equal(table_words(t),
			    "5=api_pkey_0x5,i4:2:0(3) a b; 6=api_pkey_0x6,i4:2:0(3) a@0 b@0");
	assert_string_equal(ask(t, NULL, "add 6 a@0"), "");
	assert_string_equal(ask(t, NULL, "add 6 a"), "6 a");
}

/* --- Values and the file -------------------------------------------------------------------- */

#define FILE_TEXT                                                                                  \
	"Default=0x7fff, ipoib, api : ALL=limited, SELF=full;\n"                                   \
	"red=0x1, ipoib, mtu=5, api : 0x10=full;\n"                                                \
	"blue=0x2, ipoib : 0x11=full;\n"                                                           \
	"grey=0x3, api : ;\n"

static struct partitions *file_of(const char *text, const struct conf *c)
{
	struct conf_report r = { 0 };
	struct partitions *p = NULL;

	assert_int_equal(partitions_parse(text, strlen(text), "/etc/p.conf", c, &r, &p), 0);
	conf_report_clear(&r);
	return p;
}

/* Asked one after the other, of an empty table at first. */
static const struct {
	const char *request, *answer;
} answers[] = {
	/* values */
	{ "add 0 a", "invalid: 0x0000 is no P_Key of a partition; expected 0x0001-0x7fff" },
	{ "add 8005 a", "invalid: 0x8005 is no P_Key of a partition; expected 0x0001-0x7fff" },
	{ "add 5 0", "invalid: GUID 0 is of no port; expected a port GUID" },
	{ "add 5 a a=l", "invalid: GUID 0x000000000000000a is named twice with different "
			 "memberships; expected one of them" },
	{ "set 5 a@0 b a", "invalid: GUID 0x000000000000000a is named twice with different "
			   "memberships; expected one of them" },
	{ "create 5 mtu=6", "invalid: 6 is no MTU code; expected 1-5" },
	{ "create 5 mtu=0", "invalid: 0 is no MTU code; expected 1-5" },
	{ "create 5 rate=1", "invalid: 1 is no rate code; expected 2-26" },
	{ "create 5 rate=27", "invalid: 27 is no rate code; expected 2-26" },
	{ "create 5 sl=16", "invalid: 16 is no service level; expected 0-15" },
	{ "create 5 name=a\tb", "invalid: the name of partition 0x0005 has a character that cannot "
				"be printed; expected at most 31 of printable ASCII" },
	{ "create 5 a", "invalid: the request has members; expected none where a partition is "
			"created empty, deleted or configured" },
	{ "add 5 b a b", "5=api_pkey_0x5,i4:2:0 a b" },
	{ "remove 5 a a=l b", "5-" },
	{ "create 5 mtu=1 rate=24 sl=15 ipoib=0 name=x\"y\\", "5=x\"y\\,-1:24:15" },
	{ "configure 5 name=", "5=api_pkey_0x5,-1:24:15" },
	{ "configure 5 mtu=1", "" },
	{ "add 5 ipoib=1 a", "5=api_pkey_0x5,i1:24:15 a" },
	{ "configure 6 mtu=1", "unknown: there is no partition 0x0006" },
	{ "remove 6 a", "" },
	/* generations */
	{ "add 5 if=3 b", "overtaken: partition 0x0005 has generation 5; expected 3, so it was "
			  "changed since" },
	{ "add 5 if=5 b", "5 b" },
	{ "add 6 if=6 b", "overtaken: partition 0x0006 has generation 0; expected 6, so it was "
			  "changed since" },
	{ "add 6 if=0 b", "6=api_pkey_0x6,i4:2:0 b" },
	/* the file */
	{ "add 2 a",
	  "read only: partition 0x0002 is defined in /etc/p.conf:3 without flag \"api\"; "
	  "expected that flag, or a P_Key that is not in the file" },
	{ "remove 2 a", "read only: partition 0x0002 is defined in /etc/p.conf:3 without flag "
			"\"api\"; expected that flag, or a P_Key that is not in the file" },
	{ "create 1", "" },
	{ "create 1 mtu=5 ipoib=1 name=red", "" },
	{ "create 1 mtu=4", "exists: partition 0x0001 (red) is there with another MTU" },
	{ "configure 1 mtu=5", "" },
	{ "configure 1 mtu=4 name=x",
	  "read only: name, MTU of partition 0x0001: expected what /etc/p.conf:2 has for it, where "
	  "alone it can be changed" },
	{ "add 1 ipoib=1 a", "1=red,i5:3:0 a" },
	{ "add 1 ipoib=0 b", "read only: ip_over_ib of partition 0x0001: expected what "
			     "/etc/p.conf:2 has for it, where alone it can be changed" },
	{ "delete 1", "1-" },
	{ "delete 1", "" },
	{ "delete 2",
	  "read only: partition 0x0002 is defined in /etc/p.conf:3 without flag \"api\"; "
	  "expected that flag, or a P_Key that is not in the file" },
	{ "add 3 a", "3=grey,-4:3:0 a" },
	{ "remove 3 a", "3-" },
	/* the default partition */
	{ "add 7fff a", "7fff=Default,i4:3:0 a" },
	{ "remove 7fff a", "7fff-a" },
	{ "delete 7fff", "read only: 0x7fff is the default partition, which is never deleted" },
};

static void requests_are_answered(void **state)
{
	_conf_ c = conf_new();
	_partitions_ file = file_of(FILE_TEXT, c);
	_tenants_ t = tenants_new();

	for (unsigned i = 0; i < ARRAY_SIZE(answers); i++) {
		const char *is = ask(t, file, answers[i].request);

		if (strcmp(is, answers[i].answer) != 0)
			fail_msg("%s: %s; expected %s", answers[i].request, is, answers[i].answer);
	}
}

/* The flag went, and a reload drops no members: they can still be taken away, not changed. */
static void what_is_left_without_the_flag_may_go(void **state)
{
	_conf_ c = conf_new();
	_partitions_ file = file_of(FILE_TEXT, c);
	_tenants_ t = tenants_new();

	ask(t, NULL, "add 2 a b c");
	assert_memory_equal(ask(t, file, "add 2 d"), "read only", 9);
	assert_memory_equal(ask(t, file, "set 2 a"), "read only", 9);
	assert_memory_equal(ask(t, file, "configure 2 mtu=5"), "read only", 9);
	assert_string_equal(ask(t, file, "remove 2 a"), "2-a");
	assert_string_equal(ask(t, file, "delete 2"), "2-");
	assert_memory_equal(ask(t, file, "delete 2"), "read only", 9);
	assert_memory_equal(ask(t, file, "remove 2 b"), "read only", 9);
}

static void without_a_file_the_default_partition_stays(void **state)
{
	_conf_ c = conf_new();
	_partitions_ builtin = partitions_builtin(c);
	_tenants_ t = tenants_new();

	assert_string_equal(ask(t, NULL, "add 7fff a"),
			    "read only: 0x7fff is the default partition: all ports are members; "
			    "expected another P_Key, or a line for it with flag \"api\" in "
			    "partitions.conf");
	assert_string_equal(ask(t, builtin, "remove 7fff a"), ask(t, NULL, "remove 7fff a"));
}

/* --- With the file -------------------------------------------------------------------------- */

static const char *joined_words(const struct partitions *p)
{
	char *text = desk_text();
	FILE *out = fmemopen(text, DESK_TEXT, "w");

	for (size_t i = 0; i < p->n; i++)
		fprintf(out, "%x=%s%s/%zu:%u ", p->list[i].pkey, p->list[i].name,
			p->list[i].api ? "+" : "", p->list[i].n_items, p->list[i].sl);
	for (size_t i = 0; i < p->n_groups; i++) {
		const struct partition_group *g = &p->groups[i];

		assert_int_equal(p->list[g->partition].pkey | PKEY_FULL, g->pkey);
		assert_ptr_equal(partitions_find_broadcast(p, g->pkey), g);
		assert_int_equal(g->qkey, 0x0b1b);
		fprintf(out, "(%x %u:%u:%u)", g->pkey, g->mtu, g->rate, g->sl);
	}
	fclose(out);
	return text;
}

static void table_and_file_are_joined(void **state)
{
	_conf_ c = conf_new();
	_partitions_ file = file_of(FILE_TEXT, c);
	_tenants_ t = tenants_new();
	_partitions_ empty = tenants_join(t, file, c);
	_partitions_ full = NULL;
	_partitions_ ruled = NULL;

	assert_true(partitions_equal(empty, file));
	ask(t, file, "add 100 a mtu=5 rate=16 sl=3");
	ask(t, file, "add 101 a ipoib=0");
	ask(t, file, "add 1 a");
	full = tenants_join(t, file, c);
	assert_string_equal(joined_words(full),
			    "100=api_pkey_0x100+/0:0 1=red+/1:0 101=api_pkey_0x101+/0:0 "
			    "2=blue/1:0 3=grey+/0:0 7fff=Default+/4:0 "
			    "(ffff 4:3:0)(8001 5:3:0)(8002 4:3:0)(8100 5:16:0)");
	assert_int_equal(full->groups[3].mgid[4], 0x81);
	assert_int_equal(full->groups[3].life, c->subnet_timeout);
	c->qos = true;
	ruled = tenants_join(t, file, c);
	assert_int_equal(ruled->groups[3].sl, 3);
	assert_int_equal(ruled->list[0].sl, 3);
}

static void without_a_file_the_built_in_one_is_joined(void **state)
{
	_conf_ c = conf_new();
	_partitions_ builtin = partitions_builtin(c);
	_tenants_ t = tenants_new();
	_partitions_ empty = tenants_join(t, NULL, c);
	_partitions_ one = NULL;

	assert_true(partitions_equal(empty, builtin));
	assert_int_equal(empty->origin, PARTITIONS_BUILTIN);
	ask(t, NULL, "create 5");
	one = tenants_join(t, NULL, c);
	assert_int_equal(one->n, 2);
	assert_int_equal(one->n_groups, 2);
}

/* Several members, and none is full: P_Keys of such partitions, "n: first second". */
static const char *limited_words(const struct tenants *t, const struct partitions *all)
{
	char *text = desk_text();
	uint16_t pkeys[2] = { 0 };
	size_t n = tenants_all_limited(t, all, pkeys, 2);

	snprintf(text, DESK_TEXT, "%zu: %x %x", n, pkeys[0], pkeys[1]);
	assert_int_equal(tenants_all_limited(t, all, NULL, 0), n);
	return text;
}

static void partitions_without_a_full_member_are_found(void **state)
{
	static const struct {
		const char *file, *requests[3], *words;
	} rows[] = {
		{ "Default=0x7fff: ALL;", { NULL }, "1: 7fff 0" },
		{ "Default=0x7fff: ALL, SELF=full; A=1: 0x1, 0x2; B=2: 0x1; C=3: 0x1=full, ALL;",
		  { NULL }, "2: 1 3" },
		{ "A=1: 0x1=both, 0x2; B=2: ALL_CAS=full, 0x2;", { NULL }, "0: 0 0" },
		/* the table counts as if it stood behind the file */
		{ "A=1, api: 0x1, 0x2;", { NULL }, "1: 1 0" },
		{ "A=1, api: 0x1, 0x2;", { "add 1 3" }, "0: 0 0" },
		{ "A=1, api: 0x1=full, 0x2;", { "add 1 1=l" }, "1: 1 0" },
		{ "A=1, api: 0x1;", { "add 1 2=l" }, "1: 1 0" },
		{ "A=1, api: ;", { "add 1 2=l" }, "0: 0 0" },
		{ "A=1, api: ;", { "add 1 2=l 3=l", "add 5 4=l 5=l", "add 6 4=l 5" }, "2: 1 5" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_conf_ c = conf_new();
		_partitions_ file = file_of(rows[i].file, c);
		_partitions_ all = NULL;
		_tenants_ t = tenants_new();

		for (size_t k = 0; k < 3 && rows[i].requests[k]; k++)
			ask(t, file, rows[i].requests[k]);
		all = tenants_join(t, file, c);
		assert_string_equal(limited_words(t, all), rows[i].words);
		if (!rows[i].requests[0])
			assert_string_equal(limited_words(NULL, file), rows[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_makes_a_partition),
		cmocka_unit_test(create_of_the_same_is_fine),
		cmocka_unit_test(removal_of_the_last_member_deletes),
		cmocka_unit_test(set_makes_members_exactly_these),
		cmocka_unit_test(index0_of_a_port_is_of_one_partition),
		cmocka_unit_test(requests_are_answered),
		cmocka_unit_test(what_is_left_without_the_flag_may_go),
		cmocka_unit_test(without_a_file_the_default_partition_stays),
		cmocka_unit_test(table_and_file_are_joined),
		cmocka_unit_test(without_a_file_the_built_in_one_is_joined),
		cmocka_unit_test(partitions_without_a_full_member_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
