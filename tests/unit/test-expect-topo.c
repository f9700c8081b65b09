// SPDX-License-Identifier: BSD-2-Clause
/* ibdm's .topo: how systems are called, what is compared, and what is refused at which place. */
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

static void assert_lines(struct expect *want, const char *have, const char *lines)
{
	struct expect *y = read_clean(have), *x = expect_resolve(want, y);
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

static void assert_files(const char *want, const char *lines)
{
	assert_lines(read_clean(want), NET, lines);
}

static void systems_are_known_by_their_names(void **state)
{
	const char *want = "# by hand\n\nMSB leaf1\n"
			   "  P1 -> HCA h1 P1\n\tP2 -4x-50G-> HCA h1 U2/P1 # the second\n"
			   "  P3 -4X-> MSB7800 leaf2 P7\n  P4 -> MSB7800 leaf2 U1/P8\n\n"
			   "MSB7800 leaf2 CFG: leaf=R\n  P7 -> MSB leaf1 P3\n";

	assert_files(want, "");
	assert_files("A leaf1\nP1 -> H h1 HCA-1/P1\nP2 -> H h1 mlx5_1/P1\nP3 -> B leaf2 P7\n"
		     "P4 -> B leaf2 P8\n",
		     "");
}

/* As ibdiagnet calls systems: by their system image GUIDs, or node GUIDs. */
static void systems_are_known_by_guids_in_their_names(void **state)
{
	assert_files("DEV0 S0000000000000020\n  U1/P1 -4x-50G-> DEV1 S0000000000000010 U1/P1\n"
		     "  U1/P2 -> DEV1 S0000000000000012 U1/P1\n\n"
		     "DEV0 S0000000000000030\n  U1/P7 -> DEV0 S0000000000000020 U1/P3\n"
		     "  U1/P8 -> DEV0 S0000000000000020 U1/P4\n",
		     "");
}

static void causes_are_named(void **state)
{
	assert_files("A leaf1\nP1 -> H h1 U2/P1\nP2 -> H h1 P1\nP3 -> B leaf2 P7\n"
		     "P4 -> B leaf2 P8\n",
		     "h1 HCA-1 (0x0000000000000010): wrong rail: 2 ports exchanged: h1 HCA-1/1 "
		     "(0x0000000000000010) leads to leaf1/1 (0x0000000000000020) instead of "
		     "leaf1/2, h1 HCA-2/1 (0x0000000000000012) leads to leaf1/2 "
		     "(0x0000000000000020) instead of leaf1/1\n");
	assert_files("A leaf1\nP1 -4x-100G-> H h1 P1\nP2 -> H h1 U2/P1\nP3 -> B leaf2 P7\n"
		     "P4 -> B leaf2 P8\n",
		     "leaf1/1 (0x0000000000000020) - h1 HCA-1/1 (0x0000000000000010): degraded: "
		     "4xHDR; expected 4xNDR\n");
	assert_files("A leaf1\nP1 -> H h1 P1\nP2 -> H h1 U2/P1\nP3 -> B leaf2 P7\n"
		     "P4 -> B leaf2 P8\n\nB leaf2\nP9 -> H h9 P1\n",
		     "MF0;leaf2:MSB7800/U1/9 (0x0000000000000030) - h9/1: missing: h9 is not "
		     "found\n");
}

/* Which switch of a chassis it is, only a description knows. */
static void boards_are_nodes_and_that_is_said(void **state)
{
	struct conf_report r = { 0 };
	struct expect *x = read_text("T9 core\n P1 -> H h1 P1\n L1/P2 -> H h2 P1\n"
				     " L2/P1 -> H h3 P1\n\nT9 core2\n"
				     "M/L/U1/P1 -> H h4 U2/P1\n", &r);
	static const char *const names[] = { "core", "core/L1", "core/L2", "core2/M/L", "h1",
					     "h2",   "h3",	"h4/U2" };
	char *said;

	assert_non_null(x);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.errors, 0);
	said = conf_finding_text(&r.findings[0]);
	assert_string_equal(said, "f:3:2: a port of a board, of a system of type T9, whose "
				  "description (T9.ibnl) is not read: it is taken for port 2 of a "
				  "node core/L1, and so are others of this system");
	free(said);
	assert_int_equal(r.findings[1].line, 7);
	assert_int_equal(x->n_nodes, ARRAY_SIZE(names));
	for (uint32_t i = 0; i < x->n_nodes; i++) {
		assert_string_equal(x->nodes[i].name, names[i]);
		assert_int_equal(expect_seek(x, 1, 2, names[i]), i);
	}
	assert_int_equal(expect_seek(x, 1, 2, "MF0;core:T9/L2/U1"), 2);
	assert_int_equal(expect_seek(x, 1, 2, "h4 HCA-2"), 7);
	assert_int_equal(expect_seek(x, 1, 2, "h4"), TOPO_NONE);
	assert_int_equal(expect_seek(x, 1, 2, ""), TOPO_NONE);
	conf_report_clear(&r);
	expect_free(x);
}

/* ---- one cable ------------------------------------------------------------------------------- */

static bool is_there(void *arg, guid_t guid)
{
	return false;
}

static unsigned judge(const struct expect *x, const char *a, uint8_t p, const char *b, uint8_t q)
{
	struct expect_question question = {
		.end = { { .node = 1, .name = a, .port = p }, { .node = 2, .name = b, .port = q } },
		.is_there = is_there,
	};

	for (unsigned i = 0; i < 2; i++)
		question.end[i].at = expect_seek(x, question.end[i].node, 0,
						 question.end[i].name);
	return expect_judge(x, &question);
}

static void single_cables_are_judged_by_name(void **state)
{
	struct expect *x = read_clean("A leaf1\nP1 -> H h1 P1\nP2 -> H h2 U2/P1\n");
	const struct expect_seen end = { .at = 0, .name = "h1", .port = 1 };
	guid_t sw;
	uint8_t port;

	assert_int_equal(judge(x, "leaf1", 1, "h1 HCA-1", 1), 0);
	assert_int_equal(judge(x, "h2 mlx5_1", 1, "MF0;leaf1:A/U1", 2), 0);
	assert_int_equal(judge(x, "leaf1", 1, "h2 HCA-2", 1), EXPECT_FLAW_LINK);
	assert_int_equal(judge(x, "leaf1", 1, "other", 1), EXPECT_FLAW_LINK);
	assert_int_equal(judge(x, "other", 1, "one", 1), EXPECT_FLAW_LINK);
	/* No GUID is known of the switch. */
	assert_false(expect_home(x, &end, &sw, &port));
	expect_free(x);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void assert_refused(const char *text, const char *expected)
{
	struct conf_report r = { 0 };
	struct expect *x = expect_read_topo("f", text, strlen(text), &r);
	char *said = r.n ? conf_finding_text(&r.findings[0]) : xstrdup("nothing");

	if (x || !r.errors || !strstr(said, expected))
		fail_msg("\"%s\" is not in: %s, or it is used: %s", expected, said, text);
	free(said);
	conf_report_clear(&r);
}

static void faults_are_named_by_place(void **state)
{
	assert_refused("", "f: no cable in it; expected blocks of SYSTEM-TYPE SYSTEM-NAME");
	assert_refused("A leaf1\n\n", "f: no cable in it");
	assert_refused("P1 -> H h1 P1\n", "f:1:1: \"P1\"; expected a line SYSTEM-TYPE SYSTEM-NAME "
					  "before the cables of it");
	assert_refused("A leaf1\n\n  P1 -> H h1 P1\n", "f:3:3: \"P1\"; expected a line");
	assert_refused("A\n", "f:1:2: the line ends; expected the name of a system");
	assert_refused("A leaf1 leaf2\n", "f:1:9: \"leaf2\"; expected CFG: or the end");
	assert_refused("A leaf1\nP0 -> H h1 P1\n", "f:2:1: \"P0\"; expected a port: Pn or BOARD");
	assert_refused("A leaf1\n4XP1 -> H h1 P1\n", "f:2:1: \"4XP1\"; expected a port");
	assert_refused("A leaf1\nP1 -> H h1 P255\n", "f:2:12: \"P255\"; expected a port");
	assert_refused("A leaf1\nP1 -> H h1\n", "f:2:11: the line ends; expected PORT ->");
	assert_refused("A leaf1\nP1 -4x-7G-> H h1 P1\n", "f:2:4: \"-4x-7G->\"; expected Gb/s");
	assert_refused("A leaf1\nP1 -0x-> H h1 P1\n", "f:2:4: \"-0x->\"; expected lanes");
	assert_refused("A leaf1\nP1 -4x-10G-4x-10G-4x-10G-4x-> H h1 P1\n", "expected an arrow");
	assert_refused("A leaf1\nP1 -> H h1 P1 more\n", "f:2:15: \"more\"; expected the end");
	assert_refused("A leaf1\nP1 -> A leaf1 P1\n", "f:2:15: \"P1\"; expected another port");
	assert_refused("A leaf1\nP1 -> H h1 P1\n\nH h1\nP1 -> A leaf1 P2\n",
		       "f:5:1: port 1 of h1 leads to port 2 of leaf1; expected port 1 of leaf1, as "
		       "in line 2");
}

static void kinds_are_told_apart(void **state)
{
	const char *csv = "0x1,1,0x2,1,Any,Active\n", *topo = "\n# x\nA l\n\nB m\nP1 -> A l P1\n";

	assert_true(expect_text_is_topo(topo, strlen(topo)));
	assert_false(expect_text_is_topo(NET, strlen(NET)));
	assert_false(expect_text_is_topo(csv, strlen(csv)));
	assert_false(expect_text_is_csv(topo, strlen(topo)));
	assert_false(expect_text_is_topo("A l\n", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(systems_are_known_by_their_names),
		cmocka_unit_test(systems_are_known_by_guids_in_their_names),
		cmocka_unit_test(causes_are_named),
		cmocka_unit_test(boards_are_nodes_and_that_is_said),
		cmocka_unit_test(single_cables_are_judged_by_name),
		cmocka_unit_test(faults_are_named_by_place),
		cmocka_unit_test(kinds_are_told_apart),
	};

	return cmocka_run_group_tests_name("expect-topo", tests, NULL, NULL);
}
