// SPDX-License-Identifier: BSD-2-Clause
/* Two pictures of a fabric: each cause by its line, and files that are not understood. */
#include "tests/unit/expect-desk.h"
#include "tests/unit/expect-reading.h"

/* All lines. The caller frees. */
static char *lines_of(const struct expect *want, const struct expect *have)
{
	struct expect_report *r = expect_compare(want, have);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < r->n_findings; i++) {
		char *line = expect_finding_str(r, &r->findings[i]);

		fprintf(out, "%s\n", line);
		free(line);
	}
	fclose(out);
	expect_report_free(r);
	return text;
}

static void assert_lines(const struct world *want, const struct world *have, const char *lines)
{
	struct expect *x = world_picture(want), *y = world_picture(have);
	char *said = lines_of(x, y);

	assert_string_equal(said, lines);
	free(said);
	expect_free(x);
	expect_free(y);
}

/* Two spines (0, 1), two leaves (2, 3), h1 (4) and h2 on leaf1, h3 and h4 on leaf2, d1 (8). */
static struct world small(void)
{
	return world_tree(2, 2, 2, 1);
}

static void rename_node(struct world *w, unsigned node, const char *name)
{
	snprintf(w->nodes[node].name, sizeof(w->nodes[node].name), "%s", name);
}

static void equal_pictures_give_nothing(void **state)
{
	struct world w = small();

	assert_lines(&w, &w, "");
}

static void a_cable_is_missing(void **state)
{
	struct world w = small(), v = w;

	world_at(&v, 2, 4)->gone = true;
	assert_lines(&w, &v,
		     "spine1/1 (0x0000000000000200) - leaf1/4 (0x0000000000000202): "
		     "missing: no cable between them\n");
	v = w;
	world_at(&v, 4, 1)->gone = true;
	assert_lines(&w, &v,
		     "leaf1/1 (0x0000000000000202) - h1/1 (0x0000000000000104): "
		     "missing: h1 is not found\n");
}

/* A leaf without uplinks is one line, with its hosts. */
static void a_leaf_is_missing(void **state)
{
	struct world w = small(), v = w;

	world_at(&v, 2, 4)->gone = true;
	world_at(&v, 2, 5)->gone = true;
	assert_lines(&w, &v,
		     "leaf1 (0x0000000000000202): missing node: it is not found, nor are 2 nodes "
		     "behind it; 2 cables are missing: "
		     "spine1/1 (0x0000000000000200), spine2/1 (0x0000000000000201)\n");
}

static void a_cable_is_extra(void **state)
{
	struct world w = small(), v = w;

	world_cable(&v, 2, 6, 3, 6);
	assert_lines(&w, &v,
		     "leaf1/6 (0x0000000000000202) - leaf2/6 (0x0000000000000203): extra: no "
		     "cable is expected there\n");
}

/* Ports for management of the fabric (FNM) need not be listed; a cable at a listed one is extra. */
static void a_link_inside_a_system_is_not_extra(void **state)
{
	struct world w = small(), v = w;

	v.nodes[2].system = v.nodes[3].system = 0x500;
	world_cable(&v, 2, 6, 3, 6);
	assert_lines(&w, &v, "");
	v.nodes[3].system = 0x501;
	assert_lines(&w, &v,
		     "leaf1/6 (0x0000000000000202) - leaf2/6 (0x0000000000000203): extra: no "
		     "cable is expected there\n");
}

static void a_cable_is_moved(void **state)
{
	struct world w = small(), v = w;

	world_at(&v, 4, 1)->end[1].port = 6;
	assert_lines(&w, &v,
		     "h1/1 (0x0000000000000104) - leaf1/1 (0x0000000000000202): moved: h1/1 "
		     "leads to port 6 instead of 1\n");
	v = w;
	world_at(&v, 4, 1)->end[1] = (struct world_end){ 3, 6 };
	assert_lines(&w, &v,
		     "h1/1 (0x0000000000000104) - leaf1/1 (0x0000000000000202): moved: h1/1 "
		     "leads to leaf2/6 (0x0000000000000203)\n");
}

static void exchange(struct world_cable *a, struct world_cable *b)
{
	struct world_end end = a->end[1];

	a->end[1] = b->end[1];
	b->end[1] = end;
}

static void two_cables_are_swapped(void **state)
{
	struct world w = small(), v = w;

	exchange(world_at(&v, 4, 1), world_at(&v, 6, 1));
	assert_lines(
		&w, &v,
		"h1/1 (0x0000000000000104) - leaf1/1 (0x0000000000000202), h3/1 "
		"(0x0000000000000106) - leaf2/1 (0x0000000000000203): two cables swapped: h1/1 "
		"leads to leaf2/1, h3/1 leads to leaf1/1\n");
}

static void rails_of_a_host_are_exchanged(void **state)
{
	struct world w = small(), v = w;

	exchange(world_at(&v, 8, 1), world_at(&v, 8, 2));
	assert_lines(
		&w, &v,
		"d1 (0x0000000000000108): wrong rail: 2 ports exchanged: d1/1 "
		"(0x0000000000000108) leads to leaf2/3 (0x0000000000000203) instead of leaf1/3, "
		"d1/2 (0x0000000000000108) leads to leaf1/3 (0x0000000000000202) instead of "
		"leaf2/3\n");
}

/* Two CAs of one host, by their names. */
static void rails_of_two_cas_are_exchanged(void **state)
{
	struct world w = small(), v;

	rename_node(&w, 4, "n7 mlx5_0");
	rename_node(&w, 6, "n7 mlx5_1");
	v = w;
	exchange(world_at(&v, 4, 1), world_at(&v, 6, 1));
	assert_lines(
		&w, &v,
		"n7 mlx5_0 (0x0000000000000104): wrong rail: 2 ports exchanged: n7 mlx5_0/1 "
		"(0x0000000000000104) leads to leaf2/1 (0x0000000000000203) instead of leaf1/1, "
		"n7 mlx5_1/1 (0x0000000000000106) leads to leaf1/1 (0x0000000000000202) instead "
		"of leaf2/1\n");
}

static void a_run_of_ports_is_shifted(void **state)
{
	struct world w = small(), v = w;

	for (unsigned port = 5; port; port--)
		world_at(&v, 2, port)->end[port < 4].port++;
	assert_lines(&w, &v,
		     "leaf1/1-5 (0x0000000000000202): shifted: 5 cables are one port higher, "
		     "the first to h1/1 (0x0000000000000104) in port 2 instead of 1\n");
}

/* The last one is where the first was. */
static void a_run_of_ports_is_shifted_around(void **state)
{
	struct world w = small(), v = w;

	exchange(world_at(&v, 4, 1), world_at(&v, 5, 1));
	exchange(world_at(&v, 4, 1), world_at(&v, 8, 1));
	assert_lines(&w, &v,
		     "leaf1/1-3 (0x0000000000000202): shifted: 3 cables are one port lower, "
		     "the first to h2/1 (0x0000000000000105) in port 1 instead of 2\n");
}

static void devices_are_replaced(void **state)
{
	struct world w = small(), v = w;

	v.nodes[4].guid = 0x999;
	assert_lines(&w, &v,
		     "h1 (0x0000000000000104): replaced HCA: in its place is h1 "
		     "(0x0000000000000999)\n");
	rename_node(&v, 4, "new");
	v.nodes[3].guid = 0x99A;
	v.nodes[3].name[0] = '\0';
	assert_lines(&w, &v,
		     "h1 (0x0000000000000104): replaced HCA: in its place is new "
		     "(0x0000000000000999)\nleaf2 (0x0000000000000203): replaced switch: in "
		     "its place is leaf2 (0x000000000000099a)\n");
}

static void two_switches_are_swapped(void **state)
{
	struct world w = small(), v = w;

	v.nodes[0].guid = 0x201;
	v.nodes[1].guid = 0x200;
	rename_node(&v, 0, "spine2");
	rename_node(&v, 1, "spine1");
	assert_lines(&w, &v,
		     "spine1 (0x0000000000000200), spine2 (0x0000000000000201): swapped "
		     "nodes: each has the cables of the other\n");
}

static void a_cable_is_slow(void **state)
{
	struct world w = small(), v = w;

	world_at(&v, 4, 1)->slow = true;
	assert_lines(&w, &v,
		     "leaf1/1 (0x0000000000000202) - h1/1 (0x0000000000000104): degraded: "
		     "2xNDR; expected 4xNDR\n");
	assert_lines(&v, &w, "");
}

/* What both ends support is more, whatever the file says. */
static void a_cable_is_slower_than_its_ends(void **state)
{
	struct world w = small();
	struct expect *x = world_picture(&w), *y = world_picture(&w);
	char *said;

	for (uint32_t i = 0; i < y->n_ports; i++)
		y->ports[i].best = (struct expect_rate){ 4, i < 2 ? 2000 : 1000 };
	said = lines_of(x, y);
	assert_string_equal(said, "");
	free(said);
	y->ports[y->ports[0].peer].best.speed = 2000;
	said = lines_of(x, y);
	assert_string_equal(said, "leaf1/1 (0x0000000000000202) - h1/1 (0x0000000000000104): "
				  "degraded: 4xNDR; both ends support 4xXDR\n");
	free(said);
	expect_free(x);
	expect_free(y);
}

static void nodes_are_unknown(void **state)
{
	struct world w = small(), v = w;
	unsigned sw, host;

	world_cable(&v, world_node(&v, EXPECT_CA, "new", 1, 1), 1, 2, 6);
	assert_lines(&w, &v,
		     "new1 (0x0000000000000109): unknown node: a CA, at leaf1/6 "
		     "(0x0000000000000202)\n");
	/* in place of a host that is still found by its other port */
	v = w;
	world_at(&v, 8, 1)->gone = true;
	world_cable(&v, world_node(&v, EXPECT_CA, "new", 1, 1), 1, 2, 3);
	assert_lines(&w, &v,
		     "new1 (0x0000000000000109): unknown node: a CA, at leaf1/3 "
		     "(0x0000000000000202); expected there: d1/1 (0x0000000000000108)\n");
	v = w;
	sw = world_node(&v, EXPECT_SWITCH, "new", 1, 8);
	host = world_node(&v, EXPECT_CA, "new", 2, 1);
	world_cable(&v, sw, 1, 0, 3);
	world_cable(&v, sw, 2, 1, 3);
	world_cable(&v, host, 1, sw, 3);
	assert_lines(&w, &v,
		     "new1 (0x0000000000000209): unknown node: a switch with 1 nodes behind "
		     "it, at spine1/3 (0x0000000000000200), spine2/3 (0x0000000000000201)\n");
}

static void a_guid_is_there_twice(void **state)
{
	struct world w = small(), v = w;
	unsigned host = world_node(&v, EXPECT_CA, "h", 1, 1);

	v.nodes[host].guid = v.nodes[4].guid;
	world_cable(&v, host, 1, 3, 6);
	assert_lines(&w, &v,
		     "h1 (0x0000000000000104): duplicate GUID: 2 nodes have it, at leaf1/1 "
		     "(0x0000000000000202) and leaf2/6 (0x0000000000000203)\n");
}

static void a_type_changes(void **state)
{
	struct world w = small(), v = w;

	v.nodes[4].type = EXPECT_ROUTER;
	assert_lines(&w, &v,
		     "h1 (0x0000000000000104): type changed: it is a router; expected a "
		     "CA\n");
}

/* --- CSV ------------------------------------------------------------------------------------ */

static void assert_files(const char *want, const char *have, const char *lines)
{
	struct expect *x = read_clean(want), *y = read_clean(have);
	char *said;

	x = expect_resolve(x, y);
	said = lines_of(x, y);
	assert_string_equal(said, lines);
	free(said);
	expect_free(x);
	expect_free(y);
}

#define NET                                                                                        \
	"switchguid=0x20\nSwitch\t4 \"S-0000000000000020\"\t# \"leaf1\"\n"                         \
	"[1]\t\"H-0000000000000010\"[1](11)\t# \"h1\" lid 1 4xNDR\n"                               \
	"[2]\t\"H-0000000000000010\"[2](12)\t# \"h1\" lid 2 4xNDR\n"                               \
	"caguid=0x10\nCa\t2 \"H-0000000000000010\"\t# \"h1\"\n"                                    \
	"[1](11)\t\"S-0000000000000020\"[1]\t# lid 1 lmc 0 \"leaf1\" lid 3 4xNDR\n"                \
	"[2](12)\t\"S-0000000000000020\"[2]\t# lid 2 lmc 0 \"leaf1\" lid 3 4xNDR\n"

/* One direction or both; the second port by its own GUID; words in any spelling. */
static void csv_is_compared_with_ibnetdiscover(void **state)
{
	assert_files("# made by hand\n\n0x20,1,0x10,1,Any,Active\n0x10,1,0x20,1,Any,active\n"
		     " 0x20 , 2 , 0x10 , 2 , Any , ACTIVE \n",
		     NET, "");
	assert_files("0x20,1,0x11,1,Any,Active\n0x20,2,0x12,1,Any,Active\n", NET, "");
	assert_files("0x20,1,0x10,1,Any,Active\n0x20,2,0x12,1,Any,Active\n", NET, "");
	assert_files(
		"0x20,1,0x10,2,Any,Active\n0x20,2,0x10,1,Any,Active\n", NET,
		"h1 (0x0000000000000010): wrong rail: 2 ports exchanged: h1/1 "
		"(0x0000000000000010) leads to leaf1/1 (0x0000000000000020) instead of leaf1/2, "
		"h1/2 (0x0000000000000010) leads to leaf1/2 (0x0000000000000020) instead of "
		"leaf1/1\n");
}

static void csv_says_what_has_to_be_absent(void **state)
{
	assert_files("0x20,1,0x10,1,Any,Active\n0x20,2,0x10,2,Any,Disabled\n", NET,
		     "leaf1/2 (0x0000000000000020) - h1/2 (0x0000000000000010): extra: expected to "
		     "be disabled\n");
	assert_files("0x20,1,0x10,1,Any,Active\n0x20,2,0x10,2,Any,No-Discover\n"
		     "0x20,3,0x99,1,Any,no_discover\n0x20,4,0x98,1,Any,Disable\n",
		     NET, "");
}

static void assert_refused(const char *text, const char *expected)
{
	struct conf_report r = { 0 };
	struct expect *x = expect_read_csv("f", text, strlen(text), &r);
	char *said = r.n ? conf_finding_text(&r.findings[0]) : xstrdup("nothing");

	assert_null(x);
	if (!strstr(said, expected))
		fail_msg("\"%s\" is not in: %s", expected, said);
	free(said);
	conf_report_clear(&r);
}

static void bad_csv_is_named_by_place(void **state)
{
	assert_refused("", "f: no cable in it; expected lines of srcGUID");
	assert_refused("\n0x1,1,0x2,1,Any\n", "f:2:16: the line ends, or the field is empty; "
					      "expected six fields");
	assert_refused("0x1,1,0x2,1,Any,Active,7\n", "f:1:23: \",7\"; expected six fields");
	assert_refused("1,1,0x2,1,Any,Active\n", "f:1:1: \"1\"; expected a GUID");
	assert_refused("0x0,1,0x2,1,Any,Active\n", "f:1:1: \"0x0\"; expected a GUID");
	assert_refused("0x1,1,0x12345678901234567,1,Any,Active\n",
		       "f:1:7: \"0x12345678901234567\"; ");
	assert_refused("0x1,1,,1,Any,Active\n", "f:1:7: the line ends, or the field is empty; "
						"expected a GUID");
	assert_refused("0x1,0,0x2,1,Any,Active\n", "f:1:5: \"0\"; expected the number of a port");
	assert_refused("0x1,1,0x2,255,Any,Active\n",
		       "f:1:11: \"255\"; expected the number of a port");
	assert_refused("0x1,1,0x2,-1,Any,Active\n",
		       "f:1:11: \"-1\"; expected the number of a port");
	assert_refused("0x1,1,0x2,1,,Active\n", "f:1:13: the line ends, or the field is empty; "
						"expected a DeviceType");
	assert_refused("0x1,1,0x2,1,Any,Up\n", "f:1:17: \"Up\"; expected a LinkState");
	assert_refused("0x1,1,0x1,1,Any,Active\n", "f:1:7: \"0x1\"; expected another port");
	assert_refused("0x1,1,0x2,1,Any,Active\n0x2,1,0x3,1,Any,Active\n",
		       "f:2:1: port 1 of 0x0000000000000002 leads to port 1 of 0x0000000000000003; "
		       "expected port 1 of 0x0000000000000001, as in line 1");
	assert_refused("0x1,1,0x2,1,Any,Active\n0x2,1,0x1,1,Any,Disabled\n",
		       "f:2:1: the cable at port 1 of 0x0000000000000001 has another LinkState; "
		       "expected that of line 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_pictures_give_nothing),
		cmocka_unit_test(a_cable_is_missing),
		cmocka_unit_test(a_leaf_is_missing),
		cmocka_unit_test(a_cable_is_extra),
		cmocka_unit_test(a_link_inside_a_system_is_not_extra),
		cmocka_unit_test(a_cable_is_moved),
		cmocka_unit_test(two_cables_are_swapped),
		cmocka_unit_test(rails_of_a_host_are_exchanged),
		cmocka_unit_test(rails_of_two_cas_are_exchanged),
		cmocka_unit_test(a_run_of_ports_is_shifted),
		cmocka_unit_test(a_run_of_ports_is_shifted_around),
		cmocka_unit_test(devices_are_replaced),
		cmocka_unit_test(two_switches_are_swapped),
		cmocka_unit_test(a_cable_is_slow),
		cmocka_unit_test(a_cable_is_slower_than_its_ends),
		cmocka_unit_test(nodes_are_unknown),
		cmocka_unit_test(a_guid_is_there_twice),
		cmocka_unit_test(a_type_changes),
		cmocka_unit_test(csv_is_compared_with_ibnetdiscover),
		cmocka_unit_test(csv_says_what_has_to_be_absent),
		cmocka_unit_test(bad_csv_is_named_by_place),
	};

	return cmocka_run_group_tests_name("expect", tests, NULL, NULL);
}
