// SPDX-License-Identifier: BSD-2-Clause
/* The file of tenants: what it looks like, and what comes of it after any fault. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/tenants/tenants_file.h"
#include "tests/lib/scratch.h"
#include "tests/unit/tenants-desk.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/mem.h"

#define LIFE_MAX 16

/* A table at first, then entries behind it; what the table was at each place. */
struct life {
	char *text;
	size_t len;
	size_t ends[LIFE_MAX];	/* where text is whole */
	char *tables[LIFE_MAX]; /* tenants_text() there */
	size_t n;
};

static void life_stop(struct life *life, const struct tenants *t)
{
	size_t len;

	life->ends[life->n] = life->len;
	life->tables[life->n++] = tenants_text(t, &len);
}

static void life_add(struct life *life, const char *text, size_t len)
{
	life->text = xrealloc(life->text, life->len + len + 1, 1);
	memcpy(life->text + life->len, text, len + 1);
	life->len += len;
}

static void life_ask(struct life *life, struct tenants *t, const char *words)
{
	struct tenant_request rq = request_of(words);
	struct tenant_entry e = { 0 };
	_cleanup_free_ char *text = NULL;
	char why[200];
	uint64_t chain;
	size_t len;

	assert_int_equal(tenants_judge(t, NULL, &rq, 1700000000, &e, why, sizeof(why)),
			 TENANT_FINE);
	chain = tenants_chain_after(t, &e);
	text = tenants_entry_text(&e, chain, &len);
	assert_int_equal(strlen(text), len);
	tenants_play(t, &e, chain);
	life_add(life, text, len);
	life_stop(life, t);
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
	_tenants_ t = tenants_new(0x123456789abcdef0);
	struct life life = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len;

	ask(t, NULL, "add 5 a b=l c@0");
	ask(t, NULL, "create 7ffe name=q\"\\ mtu=5");
	ask(t, NULL, "add 100 10@0 ipoib=0 sl=3");
	text = tenants_text(t, &len);
	life_add(&life, text, len);
	life_stop(&life, t);
	life_ask(&life, t, "add 5 d e=l rate=16");
	life_ask(&life, t, "remove 5 a b");
	life_ask(&life, t, "add 100 c@0");
	life_ask(&life, t, "delete 7ffe");
	life_ask(&life, t, "set 6 a c@0 f=l name=six");
	return life;
}

static void the_file_can_be_read_by_people(void **state)
{
	struct life life = a_life();

	assert_string_equal(life.text,
			    "opensm-tenants 1 lineage 0x123456789abcdef0 generation 3 time "
			    "1700000000 chain 0xf95bb8fd7dba91f4\n"
			    "0x0005 generation 1 ipoib true mtu 4 rate 2 sl 0 name "
			    "\"api_pkey_0x5\"\n"
			    "+0x000000000000000a=full\n"
			    "+0x000000000000000b=limited\n"
			    "+0x000000000000000c=full,index0\n"
			    "0x0100 generation 3 ipoib false mtu 4 rate 2 sl 3 name "
			    "\"api_pkey_0x100\"\n"
			    "+0x0000000000000010=full,index0\n"
			    "0x7ffe generation 2 ipoib true mtu 5 rate 2 sl 0 name \"q\\\"\\\\\"\n"
			    "end 0x9b57ff5c55dd28c9\n"
			    "4 1700000000 0x0005 ipoib true mtu 4 rate 16 sl 0 name "
			    "\"api_pkey_0x5\" +0x000000000000000d=full +0x000000000000000e=limited "
			    "chain 0x523fe8da0a0ee84d\n"
			    "5 1700000000 0x0005 -0x000000000000000a -0x000000000000000b chain "
			    "0x8b7f2eb4351253a4\n"
			    "6 1700000000 0x0005 +0x000000000000000c=full 0x0100 "
			    "+0x000000000000000c=full,index0 chain 0x8a9dac6fc6fc4ba8\n"
			    "7 1700000000 0x7ffe gone chain 0xcf0b8836302881bf\n"
			    "8 1700000000 0x0006 ipoib true mtu 4 rate 2 sl 0 name \"six\" 0x0100 "
			    "+0x000000000000000c=full 0x0006 +0x000000000000000a=full "
			    "+0x000000000000000c=full,index0 +0x000000000000000f=limited chain "
			    "0x59e3db3366733b65\n");
	life_done(&life);
}

/* --- Parsing -------------------------------------------------------------------------------- */

struct parsed {
	int e;
	struct tenants *t;
	size_t good;
	struct conf_report report;
};

static struct parsed parsed_of(const char *text, size_t len)
{
	struct parsed p = { 0 };
	_cleanup_free_ char *exact = xmemdup(text, len); /* for ASan */

	p.e = tenants_parse(exact, len, "tenants", &p.report, &p.t, &p.good);
	assert_true(p.e == 0 || p.e == -EBADMSG);
	assert_int_equal(p.report.errors, p.e ? 1 : 0);
	assert_true(p.good <= len);
	return p;
}

static void parsed_done(struct parsed *p)
{
	tenants_free(p->t);
	conf_report_clear(&p->report);
}

/* The number of the stop that has this table; LIFE_MAX: none. */
static size_t stop_of(const struct life *life, const struct tenants *t)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	text = tenants_text(t, &len);
	for (size_t i = 0; i < life->n; i++)
		if (strcmp(text, life->tables[i]) == 0)
			return i;
	return LIFE_MAX;
}

static void what_is_cut_anywhere_is_the_last_whole_table(void **state)
{
	struct life life = a_life();

	for (size_t len = 0; len <= life.len; len++) {
		struct parsed p = parsed_of(life.text, len);
		size_t stop = 0;

		while (stop < life.n && life.ends[stop] <= len)
			stop++;
		if (!stop) {
			assert_int_equal(p.e, -EBADMSG);
			assert_null(p.t);
		} else {
			assert_int_equal(p.e, 0);
			assert_int_equal(stop_of(&life, p.t), stop - 1);
			assert_int_equal(p.good, life.ends[stop - 1]);
			assert_int_equal(p.report.warnings, p.good < len ? 1 : 0);
		}
		parsed_done(&p);
	}
	life_done(&life);
}

/* As a file system leaves it that had the size on the disk and not the bytes. */
static void zero_bytes_at_the_end_are_cut_off(void **state)
{
	struct life life = a_life();

	for (size_t len = life.ends[0]; len <= life.len; len++) {
		_cleanup_free_ char *text = xcalloc(life.len + 100, 1);
		struct parsed p;
		size_t stop = 0;
		bool is_whole_line = life.text[len] == '\n';

		memcpy(text, life.text, len);
		p = parsed_of(text, life.len + 100);
		while (stop < life.n && life.ends[stop] <= len)
			stop++;
		assert_int_equal(p.e, is_whole_line ? -EBADMSG : 0);
		assert_int_equal(stop_of(&life, p.t), stop - 1);
		assert_int_equal(p.good, life.ends[stop - 1]);
		parsed_done(&p);
	}
	life_done(&life);
}

/* Every byte, each of its bits and some other values: an error, or nothing is lost. */
static void no_changed_byte_goes_unseen(void **state)
{
	struct life life = a_life();

	for (size_t at = 0; at < life.len; at++)
		for (unsigned turn = 0; turn < 12; turn++) {
			static const char others[] = { '\0', '\n', ' ', '0' };
			char was = life.text[at];
			struct parsed p;

			life.text[at] = turn < 8 ? (char)(was ^ 1 << turn) : others[turn - 8];
			p = parsed_of(life.text, life.len);
			if (life.text[at] != was && !p.e)
				fail_msg("byte %zu, 0x%02x for 0x%02x", at, life.text[at], was);
			if (p.t)
				assert_true(stop_of(&life, p.t) < life.n);
			assert_true(!p.e || p.report.findings[0].line);
			parsed_done(&p);
			life.text[at] = was;
		}
	life_done(&life);
}

static void a_line_that_is_gone_or_twice_is_seen(void **state)
{
	struct life life = a_life();

	for (size_t i = 1; i < life.n; i++) {
		size_t from = life.ends[i - 1], to = life.ends[i];
		_cleanup_free_ char *without = xasprintf("%.*s%s", (int)from, life.text,
							 life.text + to),
				    *twice = xasprintf("%.*s%s", (int)to, life.text,
						       life.text + from);
		struct parsed a = parsed_of(without, strlen(without)),
			      b = parsed_of(twice, strlen(twice));

		assert_int_equal(a.e, to == life.len ? 0 : -EBADMSG);
		assert_int_equal(stop_of(&life, a.t), i - 1);
		assert_int_equal(b.e, -EBADMSG);
		assert_int_equal(stop_of(&life, b.t), i);
		parsed_done(&a);
		parsed_done(&b);
	}
	life_done(&life);
}

/* --- Findings ------------------------------------------------------------------------------- */

/* What is put in the place of some text of the life, and the finding. */
static const struct {
	const char *was, *is, *finding;
} findings[] = {
	{ "opensm-tenants 1 lineage 0x123456789abcdef0 generation 3", "opensm 3",
	  "tenants:1:7: \" 3 time 1700000000 chain 0xf95bb8fd7dba91f4\"; expected "
	  "\"opensm-tenants 1 lineage \"; nothing of it is used" },
	{ "0x0005 generation 1", "0x0005 generation 9",
	  "tenants:2:19: \"9 ipoib true mtu 4 rate 2 sl 0 name \"api_pkey_0x5\"\"; expected a "
	  "smaller number, without zeros before it; nothing of it is used" },
	{ "+0x000000000000000a=full", "+0x000000000000000A=full",
	  "tenants:3:19: \"A=full\"; expected 16 digits 0-9a-f; nothing of it is used" },
	{ "b=limited\n", "a=limited\n",
	  "tenants:4:1: a GUID that is not above the one before; expected members in their "
	  "order; nothing of it is used" },
	{ "a=full\n", "d=full\n",
	  "tenants:4:1: a GUID that is not above the one before; expected members in their "
	  "order; nothing of it is used" },
	{ "\n0x0100 ", "\n0x0004 ",
	  "tenants:6:1: a P_Key that is not above the one before; expected partitions in their "
	  "order; nothing of it is used" },
	{ "sl 3", "sl 2",
	  "tenants:9:1: the digest is 0x9b57ff5c55dd28c9; expected 0xd5d1022d4b366ec4 of what "
	  "stands above; nothing of it is used" },
	{ "0x0005 generation 1", "0x0005 generation 0",
	  "tenants:2:1: generation 0; expected one above 0; nothing of it is used" },
	{ "0x0005 generation 1 ipoib true mtu 4 rate 2 sl 0 name \"api_pkey_0x5\"\n", "",
	  "tenants:2:1: a member before any partition; expected a partition; nothing of it is "
	  "used" },
	{ "end 0x9b57ff5c55dd28c9\n", "",
	  "tenants:9:1: \"4 1700000000 0x0005 ipoib true mtu 4 rate 16 sl 0 name "
	  "\"api_pkey_0...\"; "
	  "expected \"0x\"; nothing of it is used" },
	{ "\"q\\\"", "\"q\\a\"",
	  "tenants:8:58: \"a\"\\\\\"\"; expected a name of 1 to 31 printable characters in quotes; "
	  "nothing of it is used" },
	{ "mtu 4 rate 16", "mtu 04 rate 16",
	  "tenants:10:37: \"4 rate 16 sl 0 name \"api_pkey_0x5\" +0x000000000000000d=full "
	  "+0x000...\"; expected a smaller number, without zeros before it; the lines above "
	  "are used" },
	{ "d=full +", "d=full 0x0005 +",
	  "tenants:10:102: \" +0x000000000000000e=limited chain 0x523fe8da0a0ee84d\"; expected "
	  "another P_Key than before; the lines above are used" },
	{ "\n4 ", "\n5 ",
	  "tenants:10:1: the change has generation 5; expected 4; the lines above are used" },
	{ "rate 16", "rate 17",
	  "tenants:10:1: change 4 does not follow from those above: it has chain value "
	  "0x523fe8da0a0ee84d; expected 0xad147db1ac428cc6; the lines above are used" },
	{ "gone chain", "gone  chain",
	  "tenants:13:26: \" chain 0xcf0b8836302881bf\"; expected ipoib, gone, a member or "
	  "chain; the lines above are used" },
};

static void findings_say_where(void **state)
{
	struct life life = a_life();

	for (unsigned i = 0; i < ARRAY_SIZE(findings); i++) {
		char *at = strstr(life.text, findings[i].was);
		_cleanup_free_ char *text = xasprintf("%.*s%s%s", (int)(at - life.text), life.text,
						      findings[i].is, at + strlen(findings[i].was));
		struct parsed p = parsed_of(text, strlen(text));
		_cleanup_free_ char *is = conf_finding_text(&p.report.findings[0]);

		assert_int_equal(p.e, -EBADMSG);
		*strstr(is, ", and partitions cannot be changed until the file is repaired, or "
			    "removed to start without it") = '\0';
		assert_string_equal(is, findings[i].finding);
		parsed_done(&p);
	}
	life_done(&life);
}

/* Its digest is right: another manager's mistake, not the disk's. */
static void two_claims_to_index0_are_refused(void **state)
{
	struct life life = a_life();
	char *end = strstr(life.text, "end 0x"), *port = strstr(life.text, "10=full,index0");
	_cleanup_free_ char *text = NULL;
	struct parsed p;

	memcpy(port, "0c", 2); /* index 0 of that port is of P_Key 5 */
	text = xasprintf("%.*send 0x%016" PRIx64 "\n", (int)(end - life.text), life.text,
			 hash_bytes(HASH_START, life.text, (size_t)(end - life.text)));
	p = parsed_of(text, strlen(text));
	assert_int_equal(p.e, -EBADMSG);
	assert_null(p.t);
	assert_non_null(strstr(p.report.findings[0].text, "a port with two P_Keys at index 0; "
							  "expected one; nothing of it is used"));
	parsed_done(&p);
	life_done(&life);
}

/* --- On the disk ---------------------------------------------------------------------------- */

static void a_file_grows_and_is_replaced(void **state)
{
	struct life life = a_life();
	char folder[SCRATCH_PATH];
	_cleanup_free_ char *path = xasprintf("%s/tenants", scratch_folder(folder));
	struct conf_report r = { 0 };
	struct stat st;
	_tenants_ t = NULL;
	_tenants_ again = NULL;
	size_t len = 0;

	assert_int_equal(tenants_read(path, &r, &t, &len), -ENOENT);
	assert_int_equal(r.n, 0);
	assert_int_equal(tenants_append(path, 0, "x", 1), -ENOENT);
	assert_int_equal(tenants_replace(path, life.text, life.ends[1]), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(tenants_append(path, life.ends[1] + 1, "x", 1), -EIO);
	assert_int_equal(tenants_append(path, life.ends[1], "5 17000", 7), 0);
	assert_int_equal(tenants_read(path, &r, &t, &len), 0);
	assert_int_equal(len, life.ends[1]);
	assert_int_equal(r.warnings, 1);
	assert_int_equal(tenants_append(path, len, life.text + len, life.len - len), 0);
	assert_int_equal(tenants_read(path, &r, &again, &len), 0);
	assert_int_equal(stop_of(&life, again), life.n - 1);
	assert_int_equal(len, life.len);
	conf_report_clear(&r);
	life_done(&life);
}

/* --- What is judged can be read -------------------------------------------------------------- */

static void judged_can_be_read(struct tenants *t, const struct partitions *file, const char *words)
{
	struct tenant_request rq = request_of(words);
	struct tenant_entry e = { 0 }, read = { 0 };
	_cleanup_free_ char *text = NULL, *again = NULL;
	char why[300];
	uint64_t chain, read_chain;
	size_t len;

	assert_int_equal(tenants_judge(t, file, &rq, 5, &e, why, sizeof(why)), TENANT_FINE);
	chain = tenants_chain_after(t, &e);
	text = tenants_entry_text(&e, chain, &len);
	if (tenants_entry_parse(text, len - 1, &read, &read_chain) < 0)
		fail_msg("%s", text);
	assert_true(tenants_follows(t, &read, read_chain, why, sizeof(why)));
	again = tenants_entry_text(&read, read_chain, &len);
	assert_string_equal(again, text);
	tenants_play(t, &read, read_chain);
	tenant_entry_clear(&e);
	tenant_entry_clear(&read);
	free(rq.members);
}

/* partitions.conf has no rule for names. */
static void any_name_of_the_file_can_be_read_again(void **state)
{
	static const char *const names[] = { "r\303\270d", "a\tb", "\177", "", "a\"b\\" };
	struct partition part = { .pkey = 5, .api = true };
	struct partitions file = { .list = &part, .n = 1 };

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		_tenants_ t = tenants_new(1);

		memset(part.name, 0, sizeof(part.name));
		memcpy(part.name, names[i], strlen(names[i]));
		judged_can_be_read(t, &file, "add 5 a");
		judged_can_be_read(t, &file, "set 5 b c");
		judged_can_be_read(t, &file, "delete 5");
	}
	for (unsigned byte = 1; byte < 256; byte++) {
		_tenants_ t = tenants_new(1);

		memset(part.name, 0, sizeof(part.name));
		memset(part.name, (int)byte, 1 + byte % PARTITION_NAME_MAX);
		judged_can_be_read(t, &file, "add 5 a");
	}
}

static void generations_have_an_end(void **state)
{
	struct tenant_row row = { .kind = TENANT_ROW_MEMBER, .pkey = 5, .member = { .guid = 1 } };
	struct tenant_entry last = { TENANT_GENERATION_MAX, 1, &row, 1 }, next = last, e;
	struct tenant_request rq = request_of("add 5 b");
	_tenants_ t = tenants_new(1);
	_tenants_ read = NULL;
	struct conf_report r = { 0 };
	_cleanup_free_ char *text = NULL;
	char why[300];
	size_t len;

	tenants_play(t, &last, 7);
	assert_int_equal(tenants_judge(t, NULL, &rq, 5, &e, why, sizeof(why)), TENANT_TOO_MANY);
	next.generation++;
	assert_false(tenants_follows(t, &next, tenants_chain_after(t, &next), why, sizeof(why)));
	text = tenants_text(t, &len);
	assert_int_equal(tenants_parse(text, len, "t", &r, &read, &len), 0);
	read = tenants_free(read);
	tenants_play(t, &next, 8);
	free(text);
	text = tenants_text(t, &len);
	assert_int_equal(tenants_parse(text, len, "t", &r, &read, &len), -EBADMSG);
	conf_report_clear(&r);
	free(rq.members);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_can_be_read_by_people),
		cmocka_unit_test(what_is_cut_anywhere_is_the_last_whole_table),
		cmocka_unit_test(zero_bytes_at_the_end_are_cut_off),
		cmocka_unit_test(no_changed_byte_goes_unseen),
		cmocka_unit_test(a_line_that_is_gone_or_twice_is_seen),
		cmocka_unit_test(findings_say_where),
		cmocka_unit_test(two_claims_to_index0_are_refused),
		cmocka_unit_test(a_file_grows_and_is_replaced),
		cmocka_unit_test(any_name_of_the_file_can_be_read_again),
		cmocka_unit_test(generations_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
