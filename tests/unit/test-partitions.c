// SPDX-License-Identifier: BSD-2-Clause
/*
 * partitions.conf: what texts mean, and what is said about them where. Numbers of paragraphs are
 * those of partitions-conf.md.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/lists/lists.h"
#include "conf/partitions/partitions.h"
#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/mem.h"

#define NAME	     "partitions.conf"
#define _partitions_ _cleanup_(partitions_unrefp) struct partitions *
#define _conf_	     _cleanup_(conf_unrefp) struct conf *
#define EVERYBODY    "Default=7fff: ALL=limited SELF=full"

static int parse(const char *text, const struct conf *c, struct conf_report *r,
		 struct partitions **ret)
{
	return partitions_parse(text, strlen(text), NAME, c, r, ret);
}

/* A text without errors. */
static struct partitions *partitions_of(const char *text, const struct conf *c)
{
	struct conf_report r = { 0 };
	struct partitions *p = NULL;

	if (parse(text, c, &r, &p) < 0)
		fail_msg("%s: %u: %s", text, r.findings[0].line, r.findings[0].text);
	conf_report_clear(&r);
	return p;
}

/* --- In words ------------------------------------------------------------------------------- */

static void print_item(FILE *out, const struct partition_item *item)
{
	static const char *const names[] = { "",    "ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS",
					     "SELF" };

	fprintf(out, " %s", names[item->ports]);
	if (item->ports == PARTITION_GUID)
		fprintf(out, "%llx", (unsigned long long)item->guid);
	fprintf(out, "=%s%s", partition_member_name(item->member), item->indx0 ? "@0" : "");
}

/* "NAME=KEY: PORT=MEMBER ...; ..." */
static char *partitions_words(const struct partitions *p)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < p->n; i++) {
		fprintf(out, "%s%s=%x", i ? "; " : "", p->list[i].name, p->list[i].pkey);
		if (p->list[i].sl)
			fprintf(out, " sl %u", p->list[i].sl);
		fputc(':', out);
		for (size_t k = 0; k < p->list[i].n_items; k++)
			print_item(out, &p->list[i].items[k]);
	}
	fclose(out);
	return text;
}

/* "MGID KEY qQKEY mMTU rRATE", and what is not 0; "; " between. */
static char *groups_words(const struct partitions *p)
{
	char *text = NULL, mgid[INET6_ADDRSTRLEN];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < p->n_groups; i++) {
		const struct partition_group *g = &p->groups[i];

		assert_int_equal(p->list[g->partition].pkey | PKEY_FULL, g->pkey);
		assert_int_equal(g->mgid[1] & 0xF, g->scope);
		assert_int_equal(g->hop, g->scope == 2 ? 0 : 255);
		fprintf(out, "%s%s %x q%x m%u r%u", i ? "; " : "",
			inet_ntop(AF_INET6, g->mgid, mgid, sizeof(mgid)), g->pkey, g->qkey, g->mtu,
			g->rate);
		if (g->sl || g->tclass || g->flow)
			fprintf(out, " sl%u t%u f%x", g->sl, g->tclass, g->flow);
	}
	fclose(out);
	return text;
}

struct meaning {
	const char *text, *words;
};

static void check_partitions(const struct meaning *rows, size_t n, const struct conf *c)
{
	for (size_t i = 0; i < n; i++) {
		_partitions_ p = partitions_of(rows[i].text, c);
		_cleanup_free_ char *words = partitions_words(p);

		if (strcmp(words, rows[i].words) != 0)
			fail_msg("%s\nmeans    %s\nexpected %s", rows[i].text, words,
				 rows[i].words);
	}
}

static void check_groups(const struct meaning *rows, size_t n, const struct conf *c)
{
	for (size_t i = 0; i < n; i++) {
		_partitions_ p = partitions_of(rows[i].text, c);
		_cleanup_free_ char *words = groups_words(p);

		if (strcmp(words, rows[i].words) != 0)
			fail_msg("%s\nmakes    %s\nexpected %s", rows[i].text, words,
				 rows[i].words);
	}
}

/* --- Syntax --------------------------------------------------------------------------------- */

#define A_ALL "A=1: ALL=limited; " EVERYBODY

/* 1, 2 */
static const struct meaning syntax[] = {
	{ "A=1:ALL;", A_ALL },
	{ "\t A = 0x1 : \t ALL , ; ", A_ALL },
	{ "A=1: ALL", A_ALL },
	{ "A=1: ALL\n;\n", A_ALL },
	{ "A=1:\n\n ALL\n ;", A_ALL },
	{ "A=1 : ALL # one; two : three\n;", A_ALL },
	{ "# A=2 : ALL ;\nA=1:ALL;#", A_ALL },
	{ ";A=1:ALL;;\n;", A_ALL },
	{ "A=1:ALL;\r\n# x\r\n", A_ALL },
	{ "\xEF\xBB\xBF"
	  "A=1:ALL;",
	  A_ALL },
	{ "A=1 : 0x10, 0x11\n 0x12,\n 19 ;",
	  "A=1: 10=limited 11=limited 12=limited 13=limited; " EVERYBODY },
	{ "A=1:ALL;B=2:ALL=full ; C=3 : SELF",
	  "A=1: ALL=limited; B=2: ALL=full; C=3: SELF=limited; " EVERYBODY },
	{ "Foo 5=1:ALL;", "Foo 5=1: ALL=limited; " EVERYBODY },
	{ "0x20 : ALL ;", "0020=20: ALL=limited; " EVERYBODY },
	{ "=0x20 : ALL ;", "0020=20: ALL=limited; " EVERYBODY },
	{ "5x=0x20 : ALL ;", "5x=20: ALL=limited; " EVERYBODY },
	{ "A=0x8001 : ALL ;", A_ALL },
	{ "A=1, : ALL,,ALL ;", "A=1: ALL=limited ALL=limited; " EVERYBODY },
	{ "A=1 : NONE, ALL=full, NONE=full ;", "A=1: ALL=full; " EVERYBODY },
	{ "Default : ALL=full ;", "Default=7fff: ALL=limited SELF=full ALL=full" },
	{ "Default=0x7fff : ALL=full ;", "Default=7fff: ALL=limited SELF=full ALL=full" },
	{ "Other=0xffff : ALL=full ;", "Default=7fff: ALL=limited SELF=full ALL=full" },
	{ "abcdefghijklmnopqrstuvwxyz0123456789=1:ALL;",
	  "abcdefghijklmnopqrstuvwxyz01234=1: ALL=limited; " EVERYBODY },
};

static void texts_mean_partitions(void **state)
{
	_conf_ c = conf_new();

	check_partitions(syntax, ARRAY_SIZE(syntax), c);
}

/* 3, 4 */
static const struct meaning members[] = {
	{ "A=1 : ALL_CAS=full, ALL_SWITCHES=limited, ALL_ROUTERS=both, SELF ;",
	  "A=1: ALL_CAS=full ALL_SWITCHES=limited ALL_ROUTERS=both SELF=limited; " EVERYBODY },
	{ "A=1 : A=f, AL, ALL_=b, ALL_C=fu, ALL_S=l, ALL_R=lim, S, SE, N ;",
	  "A=1: ALL=full ALL=limited ALL_CAS=both ALL_CAS=full ALL_SWITCHES=limited "
	  "ALL_ROUTERS=limited SELF=limited SELF=limited; " EVERYBODY },
	{ "A=1, defmember=full : 0x1, 0x2=limited ;", "A=1: 1=full 2=limited; " EVERYBODY },
	{ "A=1, d=b : 0x1, 0x2 ;", "A=1: 1=both 2=both; " EVERYBODY },
	{ "A=1, defmember=full, defmember=nonsense : 0x1 ;", "A=1: 1=full; " EVERYBODY },
	{ "A=1, defmember=full : 0x1=nonsense, 0x2= ;", "A=1: 1=limited 2=limited; " EVERYBODY },
	{ "A=1, indx0 : 0x1 ;\nA : 0x1=full ;", "A=1: 1=limited@0 1=full; " EVERYBODY },
	{ "A=1, ind, unknown=5, ip=3 : 0x1 ;", "A=1: 1=limited; " EVERYBODY },
};

static void ports_have_memberships(void **state)
{
	_conf_ c = conf_new();

	check_partitions(members, ARRAY_SIZE(members), c);
}

/* 4: the P_Key of a partition that has none, and partitions defined twice */
static const struct meaning keys[] = {
	{ "A : 0x1 ; B : 0x2 ;", "A=1: 1=limited; B=2: 2=limited; " EVERYBODY },
	{ "A=0 : 0x1 ; B=0x8000 : 0x2 ;", "A=1: 1=limited; B=2: 2=limited; " EVERYBODY },
	{ "A : 0x1 ; A : 0x2 ;", "A=1: 1=limited 2=limited; " EVERYBODY },
	{ "A=5 : 0x1 ; A : 0x2 ;", "A=5: 1=limited 2=limited; " EVERYBODY },
	{ " : 0x1 ; : 0x2 ;", "0001=1: 1=limited; 0002=2: 2=limited; " EVERYBODY },
	/* No port is put into a partition that another line names. */
	{ "A : 0x1 ; B=1 : 0x2 ;", "B=1: 2=limited; A=2: 1=limited; " EVERYBODY },
	{ "A : 0x1 ; C=2 :; B=1 : 0x2 ;", "B=1: 2=limited; A=3: 1=limited; " EVERYBODY },
	{ "A=1 : 0x1 ; A=2 : 0x2 ; A : 0x3 ;",
	  "A=1: 1=limited 3=limited; A=2: 2=limited; " EVERYBODY },
	/* 5.4 */
	{ "A=1 : ; B=2 : NONE ; C=3, ipoib :\n mgid=ff12:401b::1\n;", EVERYBODY },
	/* 7: low byte, then high byte */
	{ "A=0x0001 : SELF ; B=0x0100 : SELF ; C=0x0201 : SELF ; D=0x7ffe : SELF ;",
	  "B=100: SELF=limited; A=1: SELF=limited; C=201: SELF=limited; D=7ffe: "
	  "SELF=limited; " EVERYBODY },
};

static void partitions_have_keys(void **state)
{
	_conf_ c = conf_new();

	check_partitions(keys, ARRAY_SIZE(keys), c);
}

static void the_sl_is_that_of_the_last_header_while_qos_is_on(void **state)
{
	static const struct meaning on[] = {
		{ "A=1, sl=3 : SELF ;", "A=1 sl 3: SELF=limited; " EVERYBODY },
		{ "A=1, sl=3 : SELF ; A : SELF ;", "A=1: SELF=limited SELF=limited; " EVERYBODY },
		{ "A=1, sl=3, sl=16, sl=x : SELF ;", "A=1 sl 3: SELF=limited; " EVERYBODY },
		{ "Default, sl=15 : ;", "Default=7fff sl 15: ALL=limited SELF=full" },
	};
	static const struct meaning off[] = {
		{ "A=1, sl=3 : SELF ;", "A=1: SELF=limited; " EVERYBODY },
	};
	_conf_ c = conf_new();

	check_partitions(off, ARRAY_SIZE(off), c);
	c->qos = true;
	check_partitions(on, ARRAY_SIZE(on), c);
}

/* --- Groups --------------------------------------------------------------------------------- */

#define IPV4  "ff12:401b:8001::ffff:ffff 8001 qb1b m4 r3"
#define IPOIB "A=1, ipoib : SELF\n"

/* 6 */
static const struct meaning groups[] = {
	{ "A=1 : SELF ;", "" },
	{ "Default : ALL ;", "" },
	{ IPOIB ";", IPV4 },
	{ IPOIB ";A, ipoib, mtu=5 : ;", IPV4 },
	{ "A=1, ipoib, rate=7, mtu=5, Q_Key=0x1234, TClass=7, FlowLabel=0x55 : SELF ;",
	  "ff12:401b:8001::ffff:ffff 8001 q1234 m5 r7 sl0 t7 f55" },
	{ "A=1, ipoib, scope=5 : SELF ;", IPV4 },
	{ "A=1, scope=2 : SELF\nmgid=ff12:401b::ffff:ffff\n;", IPV4 },
	/* inherited, but for the traffic class */
	{ "A=1, ipoib, Q_Key=9, TClass=7, FlowLabel=5 : SELF\n mgid=ff12:401b::1\n mgid = "
	  "ff12:601b::16, TClass=3, Q_Key=8, FlowLabel=6\n;",
	  "ff12:401b:8001::ffff:ffff 8001 q9 m4 r3 sl0 t7 f5; ff12:401b:8001::1 8001 q9 m4 r3 sl0 "
	  "t0 f5; ff12:601b:8001::16 8001 q8 m4 r3 sl0 t3 f6" },
	/* P_Key of the MGID */
	{ IPOIB "mgid=ff12:401b:8001::1\nmgid=ff12:401b:1::2\nmgid=ff12:401b:8002::3\n;",
	  IPV4 "; ff12:401b:8001::1 8001 qb1b m4 r3" },
	{ IPOIB "mgid=ff12:401b:ffff::ffff:ffff,rate=3\n;", IPV4 },
	{ "A=1:SELF\nmgid=ff12:401b:ffff::ffff:ffff\nmgid=ff12:401b:ffff::1\n;", IPV4 },
	/* rate and MTU of IP groups */
	{ IPOIB "mgid=ff12:401b::1, rate=3, mtu=4\nmgid=ff12:401b::2, rate=7\n"
		"mgid=ff12:401b::3, mtu=5\n;",
	  IPV4 "; ff12:401b:8001::1 8001 qb1b m4 r3" },
	/* other groups: their own rate, MTU, no Q_Key of IPoIB */
	{ "A=1:SELF\nmgid=ff12::5, rate=7, mtu=5\n;", "ff12::5 8001 q0 m5 r7" },
	/* scopes */
	{ "A=1:SELF\nmgid=ff18::2\n;", "ff12::2 8001 q0 m4 r3" },
	{ "A=1:SELF\nmgid=ff12::2, scope=14, scope=5\n;",
	  "ff15::2 8001 q0 m4 r3; ff1e::2 8001 q0 m4 r3" },
	{ "A=1,scope=8:SELF\nmgid=ff12::2, scope=5\nmgid=ff12::3\n;",
	  "ff15::2 8001 q0 m4 r3; ff18::2 8001 q0 m4 r3; ff18::3 8001 q0 m4 r3" },
	{ "A=1, ipoib, scope=5, scope=2 : SELF\nmgid=ff12:401b::1\n;",
	  IPV4 "; ff12:401b:8001::1 8001 qb1b m4 r3" },
	{ "A=1, scope=5 : SELF\nmgid=ff12:401b::ffff:ffff\nmgid=ff12:401b::1\n;",
	  "ff15:401b:8001::ffff:ffff 8001 qb1b m4 r3; ff15:401b:8001::1 8001 qb1b m4 r3" },
	{ "A=1:SELF\nmgid=ff12::2, scope=0, scope=16\n;", "ff12::2 8001 q0 m4 r3" },
	/* what cannot be is left out, the rest stays */
	{ "A=1:SELF\nmgid=ff12:401b::1\nmgid=ff12:601b::1\nmgid=fe80::1\nmgid=\nmgid=x,rate=3\n"
	  "mgid=ff42::1\nmgid=ff12:a01b::1\nmgid=ff12::9,mtu=6\nmgid=ff12::8,rate=1\n"
	  "mgid=ff15:a01b::1, scope=5\nmgid=ff02::4\n;",
	  "ff15:a01b::1 8001 q0 m4 r3; ff02::4 8001 q0 m4 r3" },
	{ IPOIB "mgid=ff12:401b::1, x\n mgid=ff12:401b::1, y\n;",
	  IPV4 "; ff12:401b:8001::1 8001 qb1b m4 r3" },
	/* the line ends at ';', and need not have flags */
	{ IPOIB "mgid=ff12:401b::1; B=2, ipoib : SELF ;",
	  IPV4 "; ff12:401b:8001::1 8001 qb1b m4 r3; ff12:401b:8002::ffff:ffff 8002 qb1b m4 r3" },
	{ "A=1, ipoib : mgid=ff12:401b::1\n SELF\n mgid=ff12:401b::2 # x\n ALL;",
	  IPV4 "; ff12:401b:8001::1 8001 qb1b m4 r3; ff12:401b:8001::2 8001 qb1b m4 r3" },
};

static void definitions_make_groups(void **state)
{
	_conf_ c = conf_new();

	check_groups(groups, ARRAY_SIZE(groups), c);
}

static void without_validation_groups_may_be_anything(void **state)
{
	static const struct meaning rows[] = {
		{ "A=1:SELF\nmgid=ff12:401b::1\nmgid=ff42::1\nmgid=ff12:a01b::1\nmgid=fe80::1\n;",
		  "ff12:401b:8001::1 8001 qb1b m4 r3; ff42::1 8001 q0 m4 r3; "
		  "ff12:a01b::1 8001 q0 m4 r3" },
	};
	_conf_ c = conf_new();

	c->ipoib_mcgroup_creation_validation = false;
	check_groups(rows, ARRAY_SIZE(rows), c);
}

static void the_sl_of_an_mgid_line_counts_without_qos(void **state)
{
	static const char text[] = "A=1,ipoib,sl=3:SELF\nmgid=ff12:401b::1, sl=4\nmgid=ff12::1\n;";
	static const struct meaning off[] = {
		{ text,
		  IPV4 "; ff12:401b:8001::1 8001 qb1b m4 r3 sl4 t0 f0; ff12::1 8001 q0 m4 r3" },
	};
	static const struct meaning on[] = {
		{ text, IPV4 " sl3 t0 f0; ff12:401b:8001::1 8001 qb1b m4 r3 sl4 t0 f0; "
			     "ff12::1 8001 q0 m4 r3 sl3 t0 f0" },
	};
	_conf_ c = conf_new();

	check_groups(off, ARRAY_SIZE(off), c);
	c->qos = true;
	check_groups(on, ARRAY_SIZE(on), c);
}

static void groups_live_as_long_as_the_subnet_timeout(void **state)
{
	_conf_ c = conf_new();
	_partitions_ p = NULL;

	c->subnet_timeout = 17;
	p = partitions_of(IPOIB "mgid=ff12::1\n;", c);
	assert_int_equal(p->groups[0].life, 17);
	assert_int_equal(p->groups[1].life, 17);
}

static const struct {
	const char *text;
	unsigned mtu, rate;
} values[] = {
	{ "mtu=256", 1, 3 },
	{ "mtu=0x200", 2, 3 },
	{ "mtu=1024", 3, 3 },
	{ "mtu=2048", 4, 3 },
	{ "mtu=4096", 5, 3 },
	{ "mtu=1", 1, 3 },
	{ "m=5", 5, 3 },
	{ "rate=2.5G", 4, 2 },
	{ "rate=5Gb", 4, 5 },
	{ "rate=10 Gb/s", 4, 3 },
	{ "rate=14g", 4, 11 },
	{ "rate=20GBPS", 4, 6 },
	{ "rate=25G", 4, 15 },
	{ "rate=28G", 4, 19 },
	{ "rate=30G", 4, 4 },
	{ "rate=40G", 4, 7 },
	{ "rate=50G", 4, 20 },
	{ "rate=56G", 4, 12 },
	{ "rate=60G", 4, 8 },
	{ "rate=80G", 4, 9 },
	{ "rate=100G", 4, 16 },
	{ "rate=112G", 4, 13 },
	{ "rate=120G", 4, 10 },
	{ "rate=168G", 4, 14 },
	{ "rate=200Gbit/s", 4, 17 },
	{ "rate=300G", 4, 18 },
	{ "rate=400G", 4, 21 },
	{ "rate=600G", 4, 22 },
	{ "rate=800G", 4, 23 },
	{ "rate=1200G", 4, 24 },
	{ "rate=25", 4, 25 },
	{ "rate=26", 4, 26 },
	{ "rate=1600G", 4, 25 },
	{ "rate=2400G", 4, 26 },
	{ "rate=2", 4, 2 },
	{ "rate=10", 4, 10 },
	{ "r=0x18", 4, 24 },
};

static void mtu_and_rate_are_codes_or_what_people_say(void **state)
{
	_conf_ c = conf_new();

	for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
		_cleanup_free_ char *text = xasprintf("A=1,ipoib,%s:SELF;", values[i].text);
		_partitions_ p = partitions_of(text, c);

		if (p->groups[0].mtu != values[i].mtu || p->groups[0].rate != values[i].rate)
			fail_msg("%s: MTU %u, rate %u", values[i].text, p->groups[0].mtu,
				 p->groups[0].rate);
	}
}

static void there_are_only_so_many_groups(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct conf_report r = { 0 };
	_partitions_ p = NULL;
	_conf_ c = conf_new();

	fputs("A=1:SELF\n", out);
	for (unsigned i = 0; i < PARTITION_GROUPS_MAX + 5; i++)
		fprintf(out, "mgid=ff12::1:%x\n", i);
	fclose(out);
	assert_int_equal(parse(text, c, &r, &p), 0);
	assert_int_equal(p->n_groups, PARTITION_GROUPS_MAX);
	assert_int_equal(r.warnings, 5);
	conf_report_clear(&r);
	free(text);
}

/* --- Files ---------------------------------------------------------------------------------- */

static void the_file_of_a_rhel_administrator_works_as_it_stands(void **state)
{
	const char *top = getenv("abs_top_srcdir");
	_cleanup_free_ char *path = xasprintf("%s/tests/fuzz/corpus/partitions/rhel.conf",
					      top ? top : "."),
			    *words = NULL;
	struct conf_report r = { 0 };
	_partitions_ p = NULL;
	_conf_ c = conf_new();

	assert_int_equal(partitions_read(path, c, &r, &p), 0);
	assert_int_equal(r.errors, 0);
	assert_int_equal(r.warnings, 0);
	words = partitions_words(p);
	assert_string_equal(
		words, "ib0_2=2: ALL=full ALL_SWITCHES=full ALL=full ALL_SWITCHES=full; "
		       "Default=7fff: ALL=limited SELF=full ALL=full ALL_SWITCHES=full ALL=full "
		       "ALL_SWITCHES=full");
	assert_int_equal(p->n_groups, 18);
	assert_int_equal(p->groups[0].rate, 3);
	assert_int_equal(p->groups[17].rate, 7);
	assert_int_equal(p->groups[17].pkey, 0x8002);
	conf_report_clear(&r);
}

static void a_faulty_file_leaves_the_old_partitions_alone(void **state)
{
	static const char faulty[] = "A=1:SELF;B=x:SELF;";
	_cleanup_free_ char *path = scratch_file(faulty);
	struct conf_report r = { 0 };
	_conf_ c = conf_new();
	_partitions_ p = partitions_of("A=1:SELF;", c);
	struct partitions *old = p;

	assert_int_equal(partitions_read(path, c, &r, &p), -EINVAL);
	assert_ptr_equal(p, old);
	assert_int_equal(r.errors, 1);
	assert_string_equal(r.findings[0].file, path);
	unlink(path);
	assert_int_equal(partitions_read(path, c, &r, &p), -ENOENT);
	assert_int_equal(r.n, 1);
	assert_int_equal(partitions_read("/", c, &r, &p), -EISDIR);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.errors, 2);
	assert_int_equal(partitions_parse("A=1:SELF;\0", 10, NAME, c, &r, &p), -EINVAL);
	assert_int_equal(r.errors, 3);
	assert_ptr_equal(p, old);
	conf_report_clear(&r);
}

static void the_text_of_a_good_file_means_the_same_again(void **state)
{
	static const char text[] = "# x\r\nA : SELF ; B=1,ipoib : 0x5\n mgid=ff12:401b::1";
	size_t len;
	_conf_ c = conf_new();
	_partitions_ p = partitions_of(text, c);
	_partitions_ again = NULL;
	struct conf_report r = { 0 };

	assert_memory_equal(partitions_text(p, &len), text, strlen(text));
	assert_int_equal(len, strlen(text));
	assert_int_equal(partitions_parse(p->text, len, PARTITIONS_GOOD_FILE, c, &r, &again), 0);
	assert_true(partitions_equal(p, again));
	assert_int_equal(p->origin, PARTITIONS_FILE);
	conf_report_clear(&r);
}

static void a_check_of_the_configuration_reads_the_partitions(void **state)
{
	_cleanup_free_ char *path = scratch_file("oops");
	struct conf_report r = { 0 };
	struct conf_place at = { 0 };
	_conf_ c = conf_new();

	assert_int_equal(conf_set(c, CONF_ID_partition_config_file, path, &at, &r), 0);
	conf_lists_check(c, &r);
	assert_int_equal(r.errors, 1);
	assert_string_equal(r.findings[0].file, path);
	conf_report_clear(&r);
}

/* --- The rest ------------------------------------------------------------------------------- */

static void without_a_file_everybody_is_full(void **state)
{
	_conf_ c = conf_new();
	_partitions_ p = partitions_builtin(c);
	_cleanup_free_ char *words = partitions_words(p), *made = groups_words(p);
	size_t len = 1;

	assert_string_equal(words, "Default=7fff: ALL=full");
	assert_string_equal(made, "ff12:401b:ffff::ffff:ffff ffff qb1b m4 r3");
	assert_int_equal(p->groups[0].life, 18);
	assert_null(partitions_text(p, &len));
	assert_int_equal(len, 0);
	assert_int_equal(p->origin, PARTITIONS_BUILTIN);
}

/* The groups stay, so IPoIB of the manager's host does. */
static void without_a_file_hosts_may_be_limited(void **state)
{
	struct conf_report r = { 0 };
	struct conf_place at = { 0 };
	_conf_ c = conf_new();

	assert_int_equal(conf_set(c, CONF_ID_default_membership, "none", &at, &r), -EINVAL);
	assert_int_equal(conf_set(c, CONF_ID_default_membership, "limited", &at, &r), 0);
	{
		_partitions_ p = partitions_builtin(c);
		_partitions_ empty = NULL;
		_cleanup_free_ char *words = partitions_words(p), *made = groups_words(p);

		assert_string_equal(words, EVERYBODY);
		assert_string_equal(made, "ff12:401b:ffff::ffff:ffff ffff qb1b m4 r3");
		assert_int_equal(p->origin, PARTITIONS_BUILTIN);
		assert_int_equal(partitions_parse("# none\n", 7, "f", c, &r, &empty), 0);
		assert_true(partitions_equal(p, empty));
		assert_non_null(strstr(r.findings[r.n - 1].text, "a limited member"));
	}
	conf_report_clear(&r);
}

static void with_a_faulty_one_everybody_is_limited(void **state)
{
	_conf_ c = conf_new();
	_partitions_ p = partitions_limited(c);
	_cleanup_free_ char *words = partitions_words(p);

	assert_string_equal(words, EVERYBODY);
	assert_int_equal(p->n_groups, 0);
	assert_int_equal(p->origin, PARTITIONS_LIMITED);
}

static void partitions_are_found_by_key_and_by_name(void **state)
{
	_conf_ c = conf_new();
	_partitions_ p = partitions_of("A=0x0100:SELF;B=1:SELF;C x=0x7f01:SELF;C x=9:SELF;", c);

	for (size_t i = 0; i < p->n; i++) {
		assert_ptr_equal(partitions_find(p, p->list[i].pkey), &p->list[i]);
		assert_ptr_equal(partitions_find(p, p->list[i].pkey | PKEY_FULL), &p->list[i]);
	}
	assert_null(partitions_find(p, 2));
	assert_null(partitions_find(p, 0));
	assert_string_equal(partitions_find(p, 0x7f01)->name, "C x");
	for (unsigned key = 0; key <= PKEY_BASE; key++)
		assert_int_equal(partition_pkey(partition_order((uint16_t)key)), key);
}

/* Pairs of texts that differ in one thing, or in nothing that counts. */
static const struct {
	const char *a, *b;
	bool equal;
} pairs[] = {
	{ "A=1:SELF;", "# x\n\nA = 0x1 : SELF", true },
	{ "A=1,ipoib:SELF;", "A=1,ipoib,mtu=2048,rate=10G:SELF;", true },
	{ "A=1:SELF;", "B=1:SELF;", false },
	{ "A=1:SELF;", "A=2:SELF;", false },
	{ "A=1:SELF;", "A=1:ALL;", false },
	{ "A=1:SELF;", "A=1:SELF=full;", false },
	{ "A=1:SELF;", "A=1,indx0:SELF;", false },
	{ "A=1:SELF;", "A=1:SELF,SELF;", false },
	{ "A=1:SELF;", "A=1,ipoib:SELF;", false },
	{ "A=1:1;", "A=1:2;", false },
	{ "A=1:1;", "A=1,api:1;", false },
	{ "A=1,api:1;A=1:2;", "A=1:1;\nA=1,api:2;", true },
	{ "A=1,ipoib:SELF;", "A=1,ipoib,mtu=5:SELF;", false },
	{ "A=1,ipoib:SELF;", "A=1,ipoib,TClass=5:SELF;", false },
	{ "A=1,indx0:1;B=2,indx0:1;", "B=2,indx0:1;A=1,indx0:1;", false },
};

static void what_says_the_same_is_equal(void **state)
{
	_conf_ c = conf_new();

	for (unsigned i = 0; i < ARRAY_SIZE(pairs); i++) {
		_partitions_ a = partitions_of(pairs[i].a, c);
		_partitions_ b = partitions_of(pairs[i].b, c);

		if (partitions_equal(a, b) != pairs[i].equal)
			fail_msg("%s and %s", pairs[i].a, pairs[i].b);
	}
}

/* "PKEY@LINE" of partitions with flag api */
static void what_may_change_at_run_time_is_marked(void **state)
{
	_conf_ c = conf_new();
	_partitions_ p = partitions_of("Default=0x7fff, ipoib, api : ALL=full;\n"
				       "A=1:SELF;\n# B\nB=2,api:;\nC=3:;\nD=4:1;A=1,api:;D=4:2;",
				       c);
	char text[100] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	for (size_t i = 0; i < p->n; i++)
		fprintf(out, "%x%s@%u ", p->list[i].pkey, p->list[i].api ? "+" : "",
			p->list[i].line);
	fclose(out);
	assert_string_equal(text, "1+@2 2+@4 4@6 7fff+@1 ");
	assert_string_equal(p->file, NAME);
	assert_int_equal(partitions_find(p, 2)->n_items, 0);
}

static void the_broadcast_group_is_found(void **state)
{
	_conf_ c = conf_new();
	_partitions_ p =
		partitions_of("A=1,ipoib,mtu=4096:SELF;B=2:SELF;B=2:mgid=ff12:401b::1\n;", c);
	const struct partition_group *g = partitions_find_broadcast(p, 1);
	struct partition_group made = partitions_broadcast(c, 1, 5, 3, 0);

	assert_non_null(g);
	assert_memory_equal(g->mgid, made.mgid, 16);
	assert_int_equal(g->mtu, 5);
	assert_int_equal(g->qkey, made.qkey);
	assert_int_equal(g->pkey, made.pkey);
	assert_int_equal(g->life, made.life);
	assert_ptr_equal(partitions_find_broadcast(p, 0x8001), g);
	assert_null(partitions_find_broadcast(p, 2));
	assert_null(partitions_find_broadcast(p, PKEY_DEFAULT));
}

static void the_last_reference_frees(void **state)
{
	_conf_ c = conf_new();
	_partitions_ p = partitions_builtin(c);
	struct partitions *other = partitions_ref(p);

	assert_null(partitions_unref(other));
	assert_int_equal(p->n, 1); /* still there, or ASan complains */
	assert_null(partitions_unref(NULL));
	assert_null(partitions_ref(NULL));
}

static void every_p_key_can_be_given_away(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct conf_report r = { 0 };
	_partitions_ p = NULL;
	_conf_ c = conf_new();

	for (unsigned i = 1; i < PKEY_DEFAULT; i++)
		fprintf(out, "=%u:SELF;\n", i);
	fflush(out);
	p = partitions_of(text, c);
	assert_int_equal(p->n, PKEY_DEFAULT);
	fputs("one more : SELF ;", out);
	fclose(out);
	assert_int_equal(parse(text, c, &r, &p), -EINVAL);
	assert_int_equal(r.errors, 1);
	assert_int_equal(r.findings[r.n - 1].line, PKEY_DEFAULT);
	conf_report_clear(&r);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_mean_partitions),
		cmocka_unit_test(ports_have_memberships),
		cmocka_unit_test(partitions_have_keys),
		cmocka_unit_test(the_sl_is_that_of_the_last_header_while_qos_is_on),
		cmocka_unit_test(definitions_make_groups),
		cmocka_unit_test(without_validation_groups_may_be_anything),
		cmocka_unit_test(the_sl_of_an_mgid_line_counts_without_qos),
		cmocka_unit_test(groups_live_as_long_as_the_subnet_timeout),
		cmocka_unit_test(mtu_and_rate_are_codes_or_what_people_say),
		cmocka_unit_test(there_are_only_so_many_groups),
		cmocka_unit_test(the_file_of_a_rhel_administrator_works_as_it_stands),
		cmocka_unit_test(a_faulty_file_leaves_the_old_partitions_alone),
		cmocka_unit_test(the_text_of_a_good_file_means_the_same_again),
		cmocka_unit_test(a_check_of_the_configuration_reads_the_partitions),
		cmocka_unit_test(without_a_file_everybody_is_full),
		cmocka_unit_test(without_a_file_hosts_may_be_limited),
		cmocka_unit_test(with_a_faulty_one_everybody_is_limited),
		cmocka_unit_test(partitions_are_found_by_key_and_by_name),
		cmocka_unit_test(what_says_the_same_is_equal),
		cmocka_unit_test(what_may_change_at_run_time_is_marked),
		cmocka_unit_test(the_broadcast_group_is_found),
		cmocka_unit_test(the_last_reference_frees),
		cmocka_unit_test(every_p_key_can_be_given_away),
	};

	return cmocka_run_group_tests_name("partitions", tests, NULL, NULL);
}
