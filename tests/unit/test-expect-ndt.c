// SPDX-License-Identifier: BSD-2-Clause
/* UFM's NDT: names and ports as UFM writes them, columns in any order, faults, and back. */
#include "tests/unit/expect-reading.h"

#include <stdlib.h>

#include "util/mem.h"

/* leaf1 has h1's two HCAs at ports 1 and 2, and leaf 2 at ports 3 and 4. */
#define NET                                                                                        \
	"sysimgguid=0x20\nswitchguid=0x20\nSwitch\t4 \"S-0000000000000020\"\t# \"leaf1\"\n"        \
	"[1]\t\"H-0000000000000010\"[1](11)\t# \"h1 HCA-1\" lid 1 4xHDR\n"                         \
	"[2]\t\"H-0000000000000012\"[1](13)\t# \"h1 HCA-2\" lid 2 4xHDR\n"                         \
	"[3]\t\"S-0000000000000030\"[7]\t# \"MF0;leaf2:MSB7800/U1\" lid 4 4xHDR\n"                 \
	"[4]\t\"S-0000000000000030\"[8]\t# \"MF0;leaf2:MSB7800/U1\" lid 4 4xHDR\n"                 \
	"switchguid=0x30\nSwitch\t9 \"S-0000000000000030\"\t# \"MF0;leaf2:MSB7800/U1\"\n"          \
	"[7]\t\"S-0000000000000020\"[3]\t# \"leaf1\" lid 3 4xHDR\n"                                \
	"[8]\t\"S-0000000000000020\"[4]\t# \"leaf1\" lid 3 4xHDR\n"                                \
	"sysimgguid=0x10\ncaguid=0x10\nCa\t1 \"H-0000000000000010\"\t# \"h1 HCA-1\"\n"             \
	"[1](11)\t\"S-0000000000000020\"[1]\t# lid 1 lmc 0 \"leaf1\" lid 3 4xHDR\n"                \
	"sysimgguid=0x12\ncaguid=0x12\nCa\t1 \"H-0000000000000012\"\t# \"h1 HCA-2\"\n"             \
	"[1](13)\t\"S-0000000000000020\"[2]\t# lid 2 lmc 0 \"leaf1\" lid 3 4xHDR\n"

#define HEAD "StartDev,StartPort,EndDev,EndPort,State\n"

/* Read without an error; `notes` are expected. */
static struct expect *read_noted(const char *text, unsigned notes)
{
	struct conf_report r = { 0 };
	struct expect *x = read_text(text, &r);

	conf_report_print(&r, stderr);
	assert_int_equal(r.n, notes);
	assert_int_equal(r.errors + r.warnings, 0);
	assert_non_null(x);
	conf_report_clear(&r);
	return x;
}

/* What differs between the file and NET, or another net. */
static void assert_compared(struct expect *want, const char *net, const char *lines)
{
	struct expect *y = read_clean(net), *x = expect_resolve(want, y);
	struct expect_report *r = expect_compare(x, y);
	char *said = NULL;
	size_t len;
	FILE *out = open_memstream(&said, &len);

	for (uint32_t i = 0; i < r->n_findings; i++) {
		char *line = expect_finding_str(r, &r->findings[i]);

		fprintf(out, "%s\n", line);
		free(line);
	}
	fclose(out);
	assert_string_equal(said, lines);
	free(said);
	expect_report_free(r);
	expect_free(x);
	expect_free(y);
}

static void cables_are_those_of_the_fabric(void **state)
{
	assert_compared(read_clean(HEAD "leaf1,Port 1,h1 HCA-1,Port 1,Active\n"
					"leaf1,Port 2,h1 HCA-2,Port 1,\n"
					"leaf1,3,MF0;leaf2:MSB7800/U1,P7,active\n"
					"leaf2,Port 8,leaf1,Port 4,Active\n"),
			NET, "");
	/* Both ends have a line, and the second one is moved. */
	assert_compared(read_clean(HEAD "leaf1,Port 1,h1/HCA-1,Port 1,Active\n"
					"h1,Port 1,leaf1,Port 1,Active\n"
					"leaf1,Port 2,h1/mlx5_1,Port 1,Active\n"
					"leaf1,Port 3,leaf2,Port 7,Active\n"
					"leaf1,Port 4,leaf2,Port 9,Active\n"),
			NET,
			"leaf1/4 (0x0000000000000020) - MF0;leaf2:MSB7800/U1/9 "
			"(0x0000000000000030): moved: leaf1/4 leads to port 8 instead of 9\n");
}

/* As UFM exports it: a byte order mark, CR LF, more columns, quotes; an empty row of a table. */
static void columns_are_found_by_their_names(void **state)
{
	const char *text =
		"\xEF\xBB\xBF"
		"rack #,U height,#Fields:StartDev,StartPort,StartDeviceLocation,"
		"EndDev,EndPort,EndDeviceLocation,State,Domain\r\n"
		"A1,12,leaf1,Port 1,,h1 HCA-1,Port 1,\"row \"\"1\"\", left\",Active,In-Scope\r\n"
		",,,,,,,,,\r\n"
		"# by hand\r\n\r\n"
		"A1,12,\"leaf1\",\"Port 2\",,\"h1 HCA-2\" , HCA-2/1,,Active,In-Scope\r\n"
		",,leaf1,Port 3,,leaf2,Port 4/1,,No-discover,\r\n"
		",,leaf1,Port 4,,leaf2,Port 4/2\r\n";
	struct conf_report r = { 0 };
	struct expect *x = read_text(text, &r);
	char *said;

	conf_report_print(&r, stderr);
	assert_non_null(x);
	assert_int_equal(r.n, 3); /* the mark, CR LF, and: */
	said = conf_finding_text(&r.findings[2]);
	assert_string_equal(said, "f:1: columns not used: \"rack #\", \"U height\", "
				  "\"StartDeviceLocation\", \"EndDeviceLocation\", \"Domain\"");
	free(said);
	conf_report_clear(&r);
	assert_int_equal(expect_count_cables(x), 3);
	expect_free(x);
	assert_compared(read_clean("EndPort,end_dev,START PORT,StartDev\n"
				   "1,h1,1,leaf1\n1,h1/U2,2,leaf1\n7,leaf2,3,leaf1\n"
				   "8,leaf2,4,leaf1\n"),
			NET, "");
}

static void boards_of_a_chassis_are_nodes(void **state)
{
	static const char *const names[] = { "a, \"b\"", "core 1/L01", "core 1/L02", "core 1/L03",
					     "h1" };
	struct expect *x =
		read_clean(HEAD "core 1/L01,Port 5,h1,1,\ncore 1,L02/P5,\"a, \"\"b\"\"\",1,\n"
				"core 1/L03/P7,,MF0;core 1:CS7500/L01/U1,6,\n");

	assert_int_equal(x->n_nodes, ARRAY_SIZE(names));
	for (uint32_t i = 0; i < x->n_nodes; i++)
		assert_string_equal(x->nodes[i].name, names[i]);
	assert_int_equal(expect_seek(x, 1, 2, "MF0;core 1:CS7500/L02/U1"), 2);
	assert_int_equal(x->ports[x->nodes[1].first_port].number, 5);
	assert_int_equal(x->ports[x->nodes[3].first_port].number, 7);
	expect_free(x);
}

/* ---- and back -------------------------------------------------------------------------------- */

static char *written(const struct expect *x)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	expect_write(x, EXPECT_NDT, 1000, out);
	fclose(out);
	return text;
}

/* Nodes that have the same name, or none, or one that would be read as another. */
#define ODD_NET                                                                                    \
	"switchguid=0x20\nSwitch\t9 \"S-0000000000000020\"\t# \"leaf, 1\"\n"                       \
	"[1]\t\"H-0000000000000010\"[1](11)\t# \"MT4123\" lid 1 4xHDR\n"                           \
	"[2]\t\"H-0000000000000012\"[1](13)\t# \"MT4123\" lid 2 4xHDR\n"                           \
	"[3]\t\"H-0000000000000014\"[1](15)\t# \"\" lid 3 4xHDR\n"                                 \
	"[4]\t\"H-0000000000000016\"[1](17)\t# \"h1\" lid 4 4xHDR\n"                               \
	"[5]\t\"H-0000000000000018\"[1](19)\t# \"h1 HCA-1\" lid 5 4xHDR\n"                         \
	"[6]\t\"H-000000000000001a\"[1](1b)\t# \"#7 mlx5_1\" lid 6 4xHDR\n"                        \
	"sysimgguid=0x10\ncaguid=0x10\nCa\t1 \"H-0000000000000010\"\t# \"MT4123\"\n"               \
	"[1](11)\t\"S-0000000000000020\"[1]\t# lid 1 lmc 0 \"leaf, 1\" lid 9 4xHDR\n"              \
	"sysimgguid=0x10\ncaguid=0x12\nCa\t1 \"H-0000000000000012\"\t# \"MT4123\"\n"               \
	"[1](13)\t\"S-0000000000000020\"[2]\t# lid 2 lmc 0 \"leaf, 1\" lid 9 4xHDR\n"              \
	"caguid=0x14\nCa\t1 \"H-0000000000000014\"\t# \"\"\n"                                      \
	"[1](15)\t\"S-0000000000000020\"[3]\t# lid 3 lmc 0 \"leaf, 1\" lid 9 4xHDR\n"              \
	"caguid=0x16\nCa\t1 \"H-0000000000000016\"\t# \"h1\"\n"                                    \
	"[1](17)\t\"S-0000000000000020\"[4]\t# lid 4 lmc 0 \"leaf, 1\" lid 9 4xHDR\n"              \
	"caguid=0x18\nCa\t1 \"H-0000000000000018\"\t# \"h1 HCA-1\"\n"                              \
	"[1](19)\t\"S-0000000000000020\"[5]\t# lid 5 lmc 0 \"leaf, 1\" lid 9 4xHDR\n"              \
	"caguid=0x1a\nCa\t1 \"H-000000000000001a\"\t# \"#7 mlx5_1\"\n"                             \
	"[1](1b)\t\"S-0000000000000020\"[6]\t# lid 6 lmc 0 \"leaf, 1\" lid 9 4xHDR\n"

static void what_is_written_is_read_again(void **state)
{
	static const char *const nets[] = { NET, ODD_NET };

	for (unsigned i = 0; i < ARRAY_SIZE(nets); i++) {
		struct expect *x = read_clean(nets[i]), *again, *there;
		char *text = written(x), *second;

		assert_true(expect_text_is_ndt(text, strlen(text)));
		again = read_clean(text);
		assert_int_equal(expect_count_cables(again), expect_count_cables(x));
		there = expect_resolve(again, x);
		second = written(there);
		assert_string_equal(second, text);
		expect_free(there);
		assert_compared(read_clean(text), nets[i], "");
		free(text);
		free(second);
		expect_free(x);
	}
}

static void uses_are_kept(void **state)
{
	const char *text =
		HEAD "h1,Port 1,leaf1,Port 1,Disabled\nh2,Port 1,leaf1,Port 2,No-discover\n"
		     "h3,Port 1,leaf1,Port 3,Active\n";
	struct expect *x = read_clean(text), *y = read_clean(NET), *z = expect_resolve(x, y);
	char *said = written(z);

	/* h1 is found, and so is leaf1: they have the names of NET, in the order of GUIDs */
	assert_non_null(strstr(said, "h1 HCA-1,Port 1,leaf1,Port 1,Disabled\n"));
	assert_non_null(strstr(said, "leaf1,Port 2,h2,Port 1,No-discover\n"));
	assert_non_null(strstr(said, "leaf1,Port 3,h3,Port 1,Active\n"));
	free(said);
	expect_free(z);
	expect_free(y);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void assert_refused(const char *text, const char *expected)
{
	struct conf_report r = { 0 };
	struct expect *x = read_text(text, &r);
	char *said = NULL;
	size_t len;
	FILE *out = open_memstream(&said, &len);

	conf_report_print(&r, out);
	fclose(out);
	if (x || !r.errors || !strstr(said, expected))
		fail_msg("\"%s\" is not in: %s, or it is used: %s", expected, said, text);
	free(said);
	conf_report_clear(&r);
}

static void faults_are_named_by_place(void **state)
{
	assert_refused(HEAD, "f: error: no cable in it; expected a header with StartDev");
	assert_refused("StartDev,StartPort,EndDev\na,1,b,1\n",
		       "f:1:1: error: no column EndPort; expected a header");
	assert_refused("StartDev,StartDev,EndDev,EndPort,StartPort\n",
		       "f:1:10: error: \"StartDev\"; expected each column once");
	assert_refused(HEAD "a,1,b\n", "f:2:6: error: the line ends, or the field is empty; "
				       "expected a port");
	assert_refused(HEAD "a,1,,1\n", "f:2:5: error: the line ends, or the field is empty; "
					"expected the name of a device");
	assert_refused(HEAD "a,Port 0,b,1\n", "f:2:3: error: \"Port 0\"; expected a port");
	assert_refused(HEAD "a,Port 4/3,b,1\n", "f:2:3: error: \"Port 4/3\"; expected a port");
	assert_refused(HEAD "a,Port 1/1/1,b,1\n", "f:2:3: error: \"Port 1/1/1\"; expected a port");
	assert_refused(HEAD "a,Blade 2_Port 1/1/9,b,1\n",
		       "f:2:3: error: \"Blade 2_Port 1/1/9\"; expected");
	assert_refused(HEAD "a,255,b,1\n", "f:2:3: error: \"255\"; expected a port");
	assert_refused(HEAD "a,1,b,1,broken\n", "f:2:9: error: \"broken\"; expected a State");
	assert_refused(HEAD "a,1,\"b,1,\n",
		       "f:2:5: error: \"\"b,1,\"; expected a quote at the end");
	assert_refused(HEAD "a,1,\"b\"c,1,\n", "expected a comma, or the end of the line");
	assert_refused(HEAD "a,1,a,1,\n", "f:2:5: error: \"a\"; expected another port than that");
	assert_refused(HEAD "a,1,b,1,\nb,1,c,1,\n",
		       "f:3:1: error: port 1 of b leads to port 1 of c; "
		       "expected port 1 of a, as in line 2");
	assert_refused(HEAD "a,1,b,1,\nb,1,a,1,Disabled\n",
		       "f:3:1: error: the cable at port 1 of a has another state; expected that of "
		       "line 2");
}

static void kinds_are_told_apart(void **state)
{
	const char *csv = "0x1,1,0x2,1,Any,Active\n";

	assert_int_equal(expect_text_format(HEAD, strlen(HEAD)), EXPECT_NDT);
	assert_int_equal(expect_text_format("# x\n" HEAD, strlen(HEAD) + 4), EXPECT_NDT);
	assert_int_equal(expect_text_format(csv, strlen(csv)), EXPECT_CSV);
	assert_int_equal(expect_text_format(NET, strlen(NET)), EXPECT_NETDISCOVER);
	assert_int_equal(expect_text_format("", 0), EXPECT_NETDISCOVER);
	expect_free(read_noted("rack,StartDev,StartPort,EndDev,EndPort\n,a,1,b,1\n", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cables_are_those_of_the_fabric),
		cmocka_unit_test(columns_are_found_by_their_names),
		cmocka_unit_test(boards_of_a_chassis_are_nodes),
		cmocka_unit_test(what_is_written_is_read_again),
		cmocka_unit_test(uses_are_kept),
		cmocka_unit_test(faults_are_named_by_place),
		cmocka_unit_test(kinds_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
