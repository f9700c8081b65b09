// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is said about partitions.conf, to the letter and to the column: an administrator that reads
 * it should need nothing else. What texts mean: test-partitions.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/partitions/partitions.h"
#include "util/mem.h"

#define NAME "partitions.conf"

#define NU    "; the file is not used"
#define EMPTY                                                                                      \
	"1:1: warning: empty: no partition is defined; expected NAME=PKEY, FLAGS : PORTS ; as "    \
	"without a file "                                                                          \
	"every port is a full member of the default partition 0x7fff\n"
#define PORTS "expected a port GUID, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, SELF or NONE"

/* The whole report, a line each without the name of the file. */
static const struct {
	const char *text, *report;
} findings[] = {
	{ "A=1:SELF;", "" },
	/* headers */
	{ "A=1 SELF;\nB=2:SELF;",
	  "1:1: error: \"A=1 SELF\" is no definition; expected NAME=PKEY, FLAGS : PORTS ;" NU
	  "\n" },
	{ " foo\nB=zz:SELF;",
	  "1:2: error: \"foo\" is no definition; expected NAME=PKEY, FLAGS : PORTS ; with the ':' "
	  "on "
	  "this line" NU "\n2:3: error: \"zz\"; expected a P_Key of 0x0001-0x7fff" NU "\n" },
	{ "A=1,\n ipoib : SELF;\n",
	  "1:1: error: \"A=1,\" is no definition; expected NAME=PKEY, FLAGS : PORTS ; with the ':' "
	  "on "
	  "this line" NU "\n2:2: warning: partition \"ipoib\" has no P_Key and gets 0x0001, which "
	  "may change with the file; write NAME=0x0001 to keep it\n" },
	{ "A=1:SELF;mgid=ff12::1;", "1:10: error: \"mgid=ff12::1\" is no definition; expected "
				    "NAME=PKEY, FLAGS : PORTS ; (mgid= "
				    "belongs behind the ':')" NU "\n" },
	{ "A=0x10000:SELF;\nB=:SELF;\nC=-1:SELF;\n7up:SELF;",
	  "1:3: error: \"0x10000\"; expected a P_Key of 0x0001-0x7fff" NU "\n"
	  "2:3: error: no P_Key after \"=\"; expected a P_Key of 0x0001-0x7fff" NU "\n"
	  "3:3: error: \"-1\"; expected a P_Key of 0x0001-0x7fff" NU "\n"
	  "4:1: error: \"7up\"; expected a P_Key of 0x0001-0x7fff" NU "\n" },
	{ "A=010:SELF;", "1:3: warning: \"010\" is read as octal; did you mean 0x010?\n" },
	{ "A:SELF;", "1:1: warning: partition \"A\" has no P_Key and gets 0x0001, which may change "
		     "with the file; write NAME=0x0001 to keep it\n" },
	{ "A=1:SELF=full;\nA=1:SELF;\nB=0x8001:SELF;\nC=0x7fff:SELF;",
	  "2:1: note: partition \"A\" (0x0001) is defined in line 1; what follows is added to it\n"
	  "3:3: note: bit 15 of 0x8001 says full member, and is no part of the number of a "
	  "partition; it is 0x0001\n"
	  "3:1: error: P_Key 0x0001 is partition \"A\" already, in line 1: as \"B\" its members "
	  "would be merged with those; expected another P_Key, or the same name" NU "\n"
	  "4:1: warning: P_Key 0x7fff is partition \"Default\"; what follows is added to it, the "
	  "name "
	  "\"C\" is not used\n" },
	{ "Default=0x7fff, ipoib: ALL;\nA=1: ALL_CAS, ALL_SWITCHES;\nB=2: ALL, SELF=full;\n"
	  "C=3: 0x11=full, ALL;\nD=4: 0x11, 0x12=both;\n",
	  "1: warning: no member of partition \"Default\" (0x7fff) is full: limited members cannot "
	  "talk to each other, only to the subnet manager, whose own port is always full here; "
	  "write =full behind those that serve the others, or ALL=full\n"
	  "2: warning: no member of partition \"A\" (0x0001) is full: limited members cannot talk "
	  "to each other; write =full behind those that serve the others, or ALL=full\n"
	  "4: warning: no member of partition \"C\" (0x0003) is full: limited members cannot talk "
	  "to each other; write =full behind those that serve the others, or ALL=full\n" },
	{ "abcdefghijklmnopqrstuvwxyz0123456789=1:SELF;",
	  "1:1: warning: the name has more than 31 characters; uses "
	  "\"abcdefghijklmnopqrstuvwxyz01234\"\n" },
	{ "A=1:;",
	  "1: warning: partition \"A\" (0x0001) has no ports; neither it nor its multicast "
	  "groups are made\n" },
	{ "A=1:SELF", "1: note: no ';' behind this definition, which is the last one\n" },
	{ "A=1:SELF; ;", "1:11: warning: a ';' that ends nothing; it is ignored\n" },
	{ "A=1,sl=3:SELF;", "1:1: note: sl=3: qos is off; uses SL 0\n" },
	/* flags */
	{ "A=1, ip, s=2:SELF;", "1:6: warning: \"ip\" is read as ipoib; write the whole word\n"
				"1:10: warning: \"s\" is read as scope; write the whole word\n" },
	{ "A=1, indx, Ipoib, x=3:SELF;",
	  "1:6: warning: \"indx\" is no flag of a partition (did you mean indx0?); it is ignored\n"
	  "1:12: warning: \"Ipoib\" is no flag of a partition (did you mean ipoib?); it is "
	  "ignored\n"
	  "1:19: warning: \"x\" is no flag of a partition; it is ignored\n" },
	{ "A=1, ap, api=1:SELF;",
	  "1:6: warning: \"ap\" is no flag of a partition (did you mean api?); it is ignored\n"
	  "1:14: warning: api takes no value; it is ignored\n" },
	{ "A=1,,ipoib=1,sl:SELF;", "1:5: warning: no flag after the comma; the comma is ignored\n"
				   "1:12: warning: ipoib takes no value; it is ignored\n"
				   "1:14: warning: sl has no value; the flag is ignored\n" },
	{ "A=1, mtu=6, rate=56, mtu=0, rate=27:SELF;",
	  "1:10: error: \"6\" is no mtu; expected 256, 512, 1024, 2048, 4096 or a code of 1-5" NU
	  "\n"
	  "1:18: error: \"56\" is no rate; expected 2.5G, 5G, 10G ... 2400G or a code of 2-26" NU
	  "\n1:26: error: \"0\" is no mtu; expected 256, 512, 1024, 2048, 4096 or a code of 1-5" NU
	  "\n1:34: error: \"27\" is no rate; expected 2.5G, 5G, 10G ... 2400G or a code of 2-26" NU
	  "\n" },
	{ "A=1, rate=25:SELF;",
	  "1:11: note: rate 25 is the code of 1600 Gb/s; for 25 Gb/s write 25G\n" },
	{ "A=1, rate=26:SELF;", "" },
	{ "A=1, rate=10:SELF;",
	  "1:11: note: rate 10 is the code of 120 Gb/s; for 10 Gb/s write 10G\n" },
	{ "A=1, scope=0, TClass=256, sl=16, FlowLabel=0x100000, Q_Key=x:SELF;",
	  "1:12: warning: \"0\" is no scope; expected 1-15; the flag is ignored\n"
	  "1:22: warning: \"256\" is no TClass; expected 0-255; the flag is ignored\n"
	  "1:30: warning: \"16\" is no sl; expected 0-15; the flag is ignored\n"
	  "1:44: warning: \"0x100000\" is no FlowLabel; expected 0-1048575; the flag is ignored\n"
	  "1:60: warning: \"x\" is no Q_Key; expected 0-4294967295; the flag is ignored\n" },
	{ "A=1, defmember=max, defmember:SELF;",
	  "1:16: warning: \"max\"; expected full, limited or both; the flag is ignored\n"
	  "1:21: warning: no membership after \"=\"; expected full, limited or both; the flag is "
	  "ignored\n" },
	/* ports */
	{ "A=1: all, 0x1=Full,\n\t0 ;\nB=2:0x12g,=full;",
	  "1:6: error: \"all\" is no port; " PORTS " (did you mean ALL?)" NU "\n"
	  "1:15: warning: \"Full\"; expected full, limited or both; the port is limited\n"
	  "2:2: error: \"0\" is no port; " PORTS NU "\n"
	  "3:5: error: \"0x12g\" is no port; " PORTS NU "\n"
	  "3:11: error: nothing before \"=\" is no port; " PORTS NU "\n" },
	{ "A=1: 0002c90300a1b2c3, 0002:c903:00a1:b2c3=full, 0x1 0x2;",
	  "1:6: error: \"0002c90300a1b2c3\" is no port; " PORTS
	  " (did you mean 0x0002c90300a1b2c3?)" NU "\n"
	  "1:24: error: \"0002:c903:00a1:b2c3\" is no port; " PORTS
	  " (a GUID is written without colons)" NU "\n"
	  "1:50: error: \"0x1 0x2\" is no port; " PORTS " (is a comma missing?)" NU "\n" },
	{ "A=1: 1002030405060708, SEL=full, N;",
	  "1:6: warning: \"1002030405060708\" is read as decimal; did you mean "
	  "0x1002030405060708?\n"
	  "1:24: warning: \"SEL\" is read as SELF; write the whole word\n"
	  "1:34: warning: \"N\" is read as NONE; write the whole word\n" },
	{ "A=1: 0x1\nB=2: 0x2;\nC=3: x;",
	  "2:1: error: a ':' where ports were expected (is there no ';' behind the definition of "
	  "line 1?)" NU "\n3:6: error: \"x\" is no port; " PORTS NU "\n" },
	{ "A=1: SELF, mgid=1;", "1:12: error: \"mgid\" is no port; " PORTS
				" (mgid= must be the first thing on its line)" NU "\n" },
	/* groups */
	{ "A=1:SELF\n mgid=ff12:401b::1, rate=3 # x\n;",
	  "2:7: warning: \"ff12:401b::1\" needs the broadcast group ff12:401b:8001::ffff:ffff in a "
	  "line above (ipoib makes the one of scope 2); this line is ignored\n" },
	{ "A=1,ipoib:SELF\nmgid=ff12:401b:2::1\nmgid=ff12:401b::1, rate=20\nmgid=ff12:401b::2, "
	  "mtu=5\n;",
	  "2:6: warning: \"ff12:401b:2::1\" has the P_Key of another partition in its third group "
	  "of "
	  "digits; this line is ignored\n"
	  "3:25: note: rate 20 is the code of 50 Gb/s; for 20 Gb/s write 20G\n"
	  "3:6: warning: \"ff12:401b::1\" has another rate than its partition, which an IP group "
	  "cannot; this line is ignored\n"
	  "4:6: warning: \"ff12:401b::2\" has another MTU than its partition, which an IP group "
	  "cannot; this line is ignored\n" },
	{ "A=1:SELF\nmgid=foo\nmgid=fe80::1\nmgid=ff42::1\nmgid=ff12:a01b::1\nmgid=\nmgid=ff12::2, "
	  "mtu=9, ALL\n;",
	  "2:6: warning: \"foo\" is no IPv6 address; expected ff12:401b::1 or so; this line is "
	  "ignored\n"
	  "3:6: warning: \"fe80::1\" is no multicast address; expected one that begins with ff; "
	  "this "
	  "line is ignored\n"
	  "4:6: warning: \"ff42::1\" has reserved flags; expected ff0 or ff1 at its beginning; "
	  "this "
	  "line is ignored\n"
	  "5:6: warning: \"ff12:a01b::1\" is of a kind (a01b) that cannot be link-local; this line "
	  "is "
	  "ignored\n"
	  "6:6: warning: no address after \"mgid=\"; expected ff12:401b::1 or so; this line is "
	  "ignored\n"
	  "7:19: warning: \"9\" is no mtu; expected 256, 512, 1024, 2048, 4096 or a code of 1-5; "
	  "this "
	  "line is ignored\n"
	  "7:22: warning: \"ALL\" is no flag of a multicast group; it is ignored\n" },
	{ "A=1,ipoib:SELF\nmgid=ff12:401b::ffff:ffff\n;A,ipoib:;",
	  "2:6: note: group ff12:401b:8001::ffff:ffff is already defined in line 1; this line is "
	  "ignored\n"
	  "3:2: note: partition \"A\" (0x0001) is defined in line 1; what follows is added to it\n"
	  "3:2: note: ipoib: group ff12:401b:8001::ffff:ffff is already defined in line 1, with "
	  "the values "
	  "of "
	  "that line\n" },
	/* files */
	{ "A=1:SELF;\r\nB=2:SELF;\r\n",
	  "1: note: line ends are those of DOS (CR LF); the CR is ignored\n" },
	{ "", EMPTY },
	{ "# nothing\n\n ;\n", "3:2: warning: a ';' that ends nothing; it is ignored\n" EMPTY },
};

/* The report without the name of the file in front of each line. */
static char *report_words(const struct conf_report *r)
{
	char *text = NULL, *plain = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	conf_report_print(r, out);
	fclose(out);
	out = open_memstream(&plain, &len);
	for (char *rest = text, *line; (line = strsep(&rest, "\n")) && *line;) {
		assert_memory_equal(line, NAME ":", strlen(NAME ":"));
		line += strlen(NAME);
		fprintf(out, "%s\n", line[1] == ' ' ? line : line + 1);
	}
	fclose(out);
	free(text);
	return plain;
}

static void findings_say_what_where_and_what_now(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();

	for (unsigned i = 0; i < ARRAY_SIZE(findings); i++) {
		_cleanup_free_ char *words = NULL;
		struct conf_report r = { 0 };
		_cleanup_(partitions_unrefp) struct partitions *p = NULL;
		int e = partitions_parse(findings[i].text, strlen(findings[i].text), NAME, c, &r,
					 &p);

		words = report_words(&r);
		if (strcmp(words, findings[i].report) != 0)
			fail_msg("%s\n--- says\n%s--- expected\n%s", findings[i].text, words,
				 findings[i].report);
		assert_int_equal(e, r.errors ? -EINVAL : 0);
		assert_int_equal(p != NULL, e == 0);
		conf_report_clear(&r);
	}
}

static void findings_about_a_first_reading_are_not_told(void **state)
{
	static const char text[] = "A:SELF;\nB=1:SELF;\nC=2:x;\n";
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct partitions *p = NULL;
	struct conf_report r = { 0 };

	conf_report_add(&r, CONF_WARNING, "other", 1, 1, "was there before");
	assert_int_equal(partitions_parse(text, strlen(text), NAME, c, &r, &p), -EINVAL);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.errors, 1);
	assert_int_equal(r.warnings, 2);
	assert_string_equal(r.findings[0].file, "other");
	assert_int_equal(r.findings[1].line, 1);
	assert_int_equal(r.findings[2].line, 3);
	conf_report_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_say_what_where_and_what_now),
		cmocka_unit_test(findings_about_a_first_reading_are_not_told),
	};

	return cmocka_run_group_tests_name("partitions-findings", tests, NULL, NULL);
}
