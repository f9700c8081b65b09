// SPDX-License-Identifier: BSD-2-Clause
/* The file of former builds: what it looks like, and what counts of it after any fault. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/tenants/tenants_import.h"
#include "tests/lib/scratch.h"
#include "tests/unit/tenants-desk.h"
#include "tests/unit/tenants-text.h"

#define LIFE_MAX 16

/* The text of a file: a table, and entries behind it; the table at each place. */
struct life {
	char *text;
	size_t len;
	size_t ends[LIFE_MAX];	/* where text is whole */
	char *tables[LIFE_MAX]; /* table_text() there */
	size_t n;
};

static void life_add(struct life *life, const struct tenants *t, const char *text)
{
	size_t len = strlen(text);

	life->text = xrealloc(life->text, life->len + len + 1, 1);
	memcpy(life->text + life->len, text, len + 1);
	life->len += len;
	life->ends[life->n] = life->len;
	life->tables[life->n++] = table_text(t);
}

static void life_ask(struct life *life, struct tenants *t, const char *words)
{
	struct tenant_request rq = request_of(words);
	struct tenant_entry e = { 0 };
	_cleanup_free_ char *line = NULL;
	char why[200];

	assert_int_equal(tenants_judge(t, NULL, &rq, 1700000000, &e, why, sizeof(why)),
			 TENANT_FINE);
	line = entry_line(&e);
	tenants_play(t, &e);
	life_add(life, t, line);
	tenant_entry_clear(&e);
	free(rq.members);
}

static void life_done(struct life *life)
{
	for (size_t i = 0; i < life->n; i++)
		free(life->tables[i]);
	free(life->text);
}

static struct life a_life(void)
{
	_tenants_ t = tenants_new();
	struct life life = { 0 };
	_cleanup_free_ char *text = NULL;

	ask(t, NULL, "add 5 a b=l c@0");
	ask(t, NULL, "create 7ffe name=q\"\\ mtu=5");
	ask(t, NULL, "add 100 10@0 ipoib=0 sl=3");
	text = table_text(t);
	life_add(&life, t, text);
	life_ask(&life, t, "add 5 d e=l rate=16");
	life_ask(&life, t, "remove 5 a b");
	life_ask(&life, t, "add 100 c@0");
	life_ask(&life, t, "delete 7ffe");
	life_ask(&life, t, "set 6 a c@0 f=l name=six");
	return life;
}

/* A file as a build of 2026-11 wrote it. */
static const char former[] =
	"opensm-tenants 1 lineage 0x123456789abcdef0 generation 3 time 1700000000 chain "
	"0xf95bb8fd7dba91f4\n"
	"0x0005 generation 1 ipoib true mtu 4 rate 2 sl 0 name \"api_pkey_0x5\"\n"
	"+0x000000000000000a=full\n"
	"+0x000000000000000b=limited\n"
	"+0x000000000000000c=full,index0\n"
	"0x0100 generation 3 ipoib false mtu 4 rate 2 sl 3 name \"api_pkey_0x100\"\n"
	"+0x0000000000000010=full,index0\n"
	"0x7ffe generation 2 ipoib true mtu 5 rate 2 sl 0 name \"q\\\"\\\\\"\n"
	"end 0x9b57ff5c55dd28c9\n"
	"4 1700000000 0x0005 ipoib true mtu 4 rate 16 sl 0 name \"api_pkey_0x5\" "
	"+0x000000000000000d=full +0x000000000000000e=limited chain 0x523fe8da0a0ee84d\n"
	"5 1700000000 0x0005 -0x000000000000000a -0x000000000000000b chain 0x8b7f2eb4351253a4\n"
	"6 1700000000 0x0005 +0x000000000000000c=full 0x0100 +0x000000000000000c=full,index0 chain "
	"0x8a9dac6fc6fc4ba8\n"
	"7 1700000000 0x7ffe gone chain 0xcf0b8836302881bf\n"
	"8 1700000000 0x0006 ipoib true mtu 4 rate 2 sl 0 name \"six\" 0x0100 "
	"+0x000000000000000c=full 0x0006 +0x000000000000000a=full +0x000000000000000c=full,index0 "
	"+0x000000000000000f=limited chain 0x59e3db3366733b65\n";

/* `*ret` NULL: it was refused. Checks that findings are as they are to be. */
static struct tenants *import(const char *text, size_t len, size_t *ret_warnings)
{
	_cleanup_free_ char *exact = xmemdup(text, len); /* for ASan */
	struct conf_report r = { 0 };
	struct tenants *t = NULL;
	int e = tenants_import_text(exact, len, "tenants", &r, &t);

	assert_true(e == 0 || e == -EBADMSG);
	assert_int_equal(r.errors, e ? 1 : 0);
	assert_int_equal(t != NULL, e == 0);
	*ret_warnings = r.n - r.errors;
	for (size_t i = 0; i < r.n; i++)
		assert_true(r.findings[i].line > 0);
	conf_report_clear(&r);
	return t;
}

static void assert_table(const struct tenants *t, const char *text)
{
	_cleanup_free_ char *is = table_text(t);

	assert_string_equal(is, text);
}

static void a_former_file_is_read(void **state)
{
	struct life life = a_life();
	size_t warnings;
	_tenants_ t = import(former, strlen(former), &warnings);

	assert_int_equal(warnings, 0);
	assert_table(t, life.tables[life.n - 1]);
	life_done(&life);
}

/* Of every beginning of the file what stands in whole lines counts. */
static void a_file_that_ends_early_counts_up_to_there(void **state)
{
	struct life life = a_life();
	size_t head = (size_t)(strchr(life.text, '\n') - life.text), stop = 0, warnings;

	for (size_t len = 0; len <= life.len; len++) {
		_tenants_ t = import(life.text, len, &warnings);

		if (len <= head) {
			assert_null(t);
			continue;
		}
		while (stop < life.n && life.ends[stop] <= len)
			stop++;
		assert_non_null(t);
		assert_int_equal(warnings, !(stop && life.ends[stop - 1] == len));
		if (stop)
			assert_table(t, life.tables[stop - 1]);
		else
			assert_true(tenants_members(t) <= 4);
	}
	assert_int_equal(stop, life.n);
	life_done(&life);
}

/* A changed byte is another value, or the end of what counts: never anything out of range. */
static void any_changed_byte_is_survived(void **state)
{
	static const char bytes[] = { '\0', '\n', ' ', '0', '9', 'f', '"', '+', '\x80' };
	size_t len = strlen(former), warnings, damaged = 0;
	char text[sizeof(former)];

	for (size_t i = 0; i < len; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++) {
			const struct tenant_partition *p;
			_tenants_ t = NULL;

			memcpy(text, former, sizeof(former));
			text[i] = bytes[k];
			t = import(text, len, &warnings);
			damaged += !t || warnings;
			for (size_t n = 0; t && (p = tenants_at(t, n)); n++) {
				assert_in_range(p->pkey, 1, PKEY_BASE);
				assert_true(tenants_fields_are_fine(p->fields.mtu, p->fields.rate,
								    p->fields.sl));
				assert_in_range(strlen(p->fields.name), 1, PARTITION_NAME_MAX);
			}
		}
	}
	assert_true(damaged > len);
}

static void assert_counts(const char *line, bool counts)
{
	_cleanup_free_ char *text =
		xasprintf("opensm-tenants 1 lineage 0x0 generation 9 time 0 chain 0x0\n"
			  "0x0005 generation 1 ipoib true mtu 4 rate 2 sl 0 name \"five\"\n"
			  "end 0x0\n"
			  "%s\n",
			  line);
	size_t warnings;
	_tenants_ t = import(text, strlen(text), &warnings);

	assert_non_null(t);
	if (warnings == (counts ? 0u : 1u) && tenants_generation(t) == (counts ? 10 : 9))
		return;
	fail_msg("%s: %zu warnings, generation %" PRIu64, line, warnings,
		 tenants_generation(t));
}

static void bounds_are_kept(void **state)
{
	assert_counts("10 0 0x0005 +0x1=full chain 0x0", true);
	assert_counts("10 0 0x7fff +0xffffffffffffffff=limited,index0 chain 0x0", true);
	assert_counts("10 0 0x0005 ipoib false mtu 1 rate 26 sl 15 name \"~\" chain 0x0", true);
	assert_counts("9 0 0x0005 +0x1=full chain 0x0", false);
	assert_counts("10 0 0x0000 +0x1=full chain 0x0", false);
	assert_counts("10 0 0x8000 +0x1=full chain 0x0", false);
	assert_counts("10 0 0x0005 +0x0=full chain 0x0", false);
	assert_counts("10 0 0x0005 +0x10000000000000000=full chain 0x0", false);
	assert_counts("10 0 0x0005 +0x1=half chain 0x0", false);
	assert_counts("10 0 +0x1=full chain 0x0", false);
	assert_counts("10 0 0x0005 chain 0x0", false);
	assert_counts("10 0 0x0005 +0x1=full", false);
	assert_counts("18446744073709551616 0 0x0005 +0x1=full chain 0x0", false);
	assert_counts("10 0 0x0005 ipoib true mtu 6 rate 2 sl 0 name \"x\" chain 0x0", false);
	assert_counts("10 0 0x0005 ipoib true mtu 0 rate 2 sl 0 name \"x\" chain 0x0", false);
	assert_counts("10 0 0x0005 ipoib true mtu 4 rate 27 sl 0 name \"x\" chain 0x0", false);
	assert_counts("10 0 0x0005 ipoib true mtu 4 rate 2 sl 16 name \"x\" chain 0x0", false);
	assert_counts("10 0 0x0005 ipoib true mtu 4 rate 2 sl 0 name \"\" chain 0x0", false);
	assert_counts("10 0 0x0005 ipoib true mtu 4 rate 2 sl 0 name "
		      "\"12345678901234567890123456789012\" chain 0x0",
		      false);
}

static void a_file_of_something_else_is_refused(void **state)
{
	size_t warnings;

	assert_null(import("", 0, &warnings));
	assert_null(import("opensm-tenants 2 lineage 0x0 generation 0 time 0\n", 49, &warnings));
	assert_null(import("Default=0x7fff: ALL=full;\n", 26, &warnings));
}

static void a_file_that_is_not_there_is_no_fault(void **state)
{
	char dir[SCRATCH_PATH], path[SCRATCH_PATH + 16];
	struct conf_report r = { 0 };
	struct tenants *t = NULL;

	scratch_folder(dir);
	snprintf(path, sizeof(path), "%s/tenants", dir);
	assert_int_equal(tenants_import(path, &r, &t), -ENOENT);
	assert_int_equal(r.n, 0);
	assert_null(t);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_former_file_is_read),
		cmocka_unit_test(a_file_that_ends_early_counts_up_to_there),
		cmocka_unit_test(any_changed_byte_is_survived),
		cmocka_unit_test(bounds_are_kept),
		cmocka_unit_test(a_file_of_something_else_is_refused),
		cmocka_unit_test(a_file_that_is_not_there_is_no_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
