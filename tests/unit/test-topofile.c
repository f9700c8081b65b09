// SPDX-License-Identifier: BSD-2-Clause
/* Fabrics as text: what ibnetdiscover and OpenSM write, and what they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/topogen.h"
#include "topo/topofile.h"
#include "util/mem.h"

static struct topofile *read_text(const char *text, struct conf_report *r)
{
	return topofile_read_text("f", text, strlen(text), r);
}

/* Read without a finding. */
static struct topofile *read_clean(const char *text)
{
	struct conf_report r = { 0 };
	struct topofile *f = read_text(text, &r);

	conf_report_print(&r, stderr);
	assert_int_equal(r.n, 0);
	assert_non_null(f);
	return f;
}

static char *written(const struct topofile *f)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	topofile_write(f, out);
	fclose(out);
	return text;
}

/* The first finding; the file is refused. */
static void assert_refused(const char *text, const char *expected)
{
	struct conf_report r = { 0 };
	struct topofile *f = read_text(text, &r);
	char *said = NULL;
	size_t len;
	FILE *out = open_memstream(&said, &len);

	conf_report_print(&r, out);
	fclose(out);
	if (!strstr(said, expected))
		fail_msg("\"%s\" is not in: %s", expected, said);
	assert_null(f);
	conf_report_clear(&r);
	free(said);
}

#define LEAF                                                                                      \
	"vendid=0x2c9\ndevid=0xb924\nsysimgguid=0x2001\nswitchguid=0x2000(2002)\n"                \
	"Switch\t4 \"S-0000000000002000\"\t\t# \"leaf \"lid 7\"\" enhanced port 0 lid 11 lmc 0\n" \
	"[1]\t\"H-0000000000001000\"[2](1002) \t\t# \"h \" lid 3\" lid 50 4xEDR\n"
#define SPINE                                                                                      \
	"switchguid=0x3000(3000)\nSwitch\t36 \"S-0000000000003000\"\t\t# \"\" base port 0 lid 2 "  \
	"lmc 0\n"
#define HOST                                                                                      \
	"caguid=0x1000\nCa\t2 \"H-0000000000001000\"\t\t# \"h\"\n"                                \
	"[2](1002) \t\"S-0000000000002000\"[1]\t\t# lid 48 lmc 2 \"leaf\" lid 11 4xEDR\n"

static void a_file_becomes_a_fabric(void **state)
{
	struct topofile *f = read_clean("#\n# Topology file: generated\n\n" LEAF
		"[3]\t\"S-0000000000003000\"[7]\t\t# \"spine\" lid 2 4xEDR s=1 w=2 v=3\n"
		"[2][ext 12]\t\"S-0000000000003000\"[8][ext 3]\t\t# \"spine\" lid 2 4xEDR\n\n"
		SPINE "[7]\t\"S-0000000000002000\"[3]\n[8]\t\"S-0000000000002000\"[2]\n" HOST);
	struct topo *t = topofile_topo(f, 5);

	assert_int_equal(t->n_switches, 2);
	assert_int_equal(t->n_hosts, 1);
	assert_int_equal(t->switches[0].guid, 0x2000);
	assert_int_equal(t->switches[0].sysimg_guid, 0x2001);
	assert_int_equal(t->switches[0].lid, 11);
	assert_int_equal(t->switches[1].n_ports, 36);
	assert_int_equal(topo_port(t, 0, 3)->sw, 1);
	assert_int_equal(topo_port(t, 0, 3)->port, 7);
	assert_int_equal(topo_port(t, 0, 3)->vls, 4);
	assert_int_equal(topo_port(t, 0, 2)->port, 8);
	assert_int_equal(topo_port(t, 0, 2)->vls, 5);
	assert_int_equal(t->hosts[0].guid, 0x1002);
	assert_int_equal(t->hosts[0].node_guid, 0x1000);
	assert_int_equal(t->hosts[0].lid, 48);
	assert_int_equal(t->hosts[0].lmc, 2);
	assert_int_equal(t->hosts[0].sw_port, 1);
	assert_string_equal(topofile_name(f, 0x2000), "leaf \"lid 7\"");
	assert_null(topofile_name(f, 0x1002));
	assert_true(f->nodes[0].enhanced0);
	topo_unref(t);
	topofile_free(f);
}

static void assert_same_topo(const struct topo *a, const struct topo *b)
{
	assert_int_equal(a->n_switches, b->n_switches);
	assert_int_equal(a->n_hosts, b->n_hosts);
	for (uint32_t s = 0; s < a->n_switches; s++) {
		assert_int_equal(a->switches[s].guid, b->switches[s].guid);
		assert_int_equal(a->switches[s].lid, b->switches[s].lid);
		assert_int_equal(a->switches[s].n_ports, b->switches[s].n_ports);
		for (unsigned i = 1; i <= a->switches[s].n_ports; i++) {
			const struct topo_port *p = topo_port(a, s, i), *q = topo_port(b, s, i);

			assert_int_equal(p->sw, q->sw);
			assert_int_equal(p->host, q->host);
			assert_int_equal(p->port, q->port);
		}
	}
	for (uint32_t h = 0; h < a->n_hosts; h++) {
		assert_int_equal(a->hosts[h].guid, b->hosts[h].guid);
		assert_int_equal(a->hosts[h].lid, b->hosts[h].lid);
		assert_int_equal(a->hosts[h].lmc, b->hosts[h].lmc);
	}
}

static void what_is_written_reads_back(void **state)
{
	for (unsigned seed = 1; seed <= 12; seed++) {
		struct topogen o = {
			.seed = seed, .damage = 0.1, .random_lids = seed & 1, .lmc = seed % 3
		};
		struct topo *t = seed % 2 ? topogen_fat_tree3(4, &o) : topogen_random(9, 4, 3, &o),
			    *back;
		struct topofile *f = topofile_from_topo(t), *again;
		char *first = written(f), *second;

		again = read_clean(first);
		second = written(again);
		assert_string_equal(first, second);
		back = topofile_topo(again, 0);
		assert_same_topo(t, back);
		topo_unref(back);
		topo_unref(t);
		topofile_free(f);
		topofile_free(again);
		free(first);
		free(second);
	}
}

static void one_end_is_enough(void **state)
{
	struct conf_report r = { 0 };
	struct topofile *f = read_text(LEAF, &r), *g;
	struct topo *t;

	/* The host has no section at all: its cable is left out, and that is said. */
	assert_non_null(f);
	assert_int_equal(r.warnings, 1);
	assert_int_equal(r.findings[0].line, 6);
	g = read_text(LEAF "caguid=0x1000\nCa\t2 \"H-0000000000001000\"\t\t# \"h\"\n", &r);
	assert_non_null(g);
	assert_int_equal(r.warnings, 2);
	t = topofile_topo(g, 0);
	assert_int_equal(t->n_hosts, 1);
	assert_int_equal(t->hosts[0].guid, 0x1002);
	assert_int_equal(t->hosts[0].lid, 50);
	assert_int_equal(t->hosts[0].sw, 0);
	topo_unref(t);
	topofile_free(f);
	topofile_free(g);
	conf_report_clear(&r);
}

/*
 * As people write them for ibsim, with the GUIDs that ibsim gives (seen with its console's Dump).
 */
static void what_has_no_guid_gets_one(void **state)
{
	struct topofile *f =
		read_clean("Switch 4 \"S0\"\n[1] \"h0\"[1]\n[2] \"h1\"[2]\n[3] \"S1\"[3]\n\n"
			   "Switch 4 \"S1\" # \"far away\"\n[3] \"S0\"[3]\n\n"
			   "Hca 2 \"h0\"\n[1] \"S0\"[1]\n\nHca 2 \"h1\"\n[2] \"S0\"[2]\n\n"
			   "caguid=0x7000\nHca 1 \"h2\"\n\nHca 1 \"h3\"\n");
	struct topo *t = topofile_topo(f, 0);

	assert_int_equal(t->n_switches, 2);
	assert_string_equal(topofile_name(f, 0x200000), "S0");
	assert_string_equal(topofile_name(f, 0x200001), "far away");
	assert_string_equal(topofile_name(f, 0x100000), "h0");
	assert_string_equal(topofile_name(f, 0x100003), "h1");
	assert_string_equal(topofile_name(f, 0x7000), "h2");
	assert_string_equal(topofile_name(f, 0x7002), "h3");
	assert_int_equal(t->n_hosts, 2);
	assert_int_equal(t->hosts[0].guid, 0x100001);
	assert_int_equal(t->hosts[1].guid, 0x100005);
	topo_unref(t);
	topofile_free(f);
	assert_refused("Switch 4 \"S0\"\n\nswitchguid=0x200000\nSwitch 4 \"S1\"\n",
		       "0x0000000000200000");
}

/* ibnetdiscover >file 2>&1 */
static void messages_of_tools_are_skipped_and_told(void **state)
{
	static const char text[] = "ibwarn: [77] mad_rpc: _do_madrpc failed; dport (Lid 4)\n"
				   "src/query_smp.c:228; Timeout\n" LEAF
				   "bad status 110\n" HOST;
	struct conf_report r = { 0 };
	struct topofile *f = topofile_read_text("f", text, strlen(text), &r);

	assert_non_null(f);
	assert_int_equal(f->n_nodes, 2);
	assert_int_equal(r.errors, 0);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.findings[1].line, 2);
	assert_non_null(strstr(r.findings[0].text, "\"ibwarn: [77]"));
	topofile_free(f);
	conf_report_clear(&r);
	assert_refused("src/query_smp.c:228; Timeout\n", "no node");
}

static void faults_give_no_fabric(void **state)
{
	assert_refused("", "no node");
	assert_refused("what is this\n",
		       "f:1:1: error: \"what is this\"; expected a line of ibnetdiscover");
	assert_refused("[1]\t\"S-1\"[1]\n", "f:1:1: error");
	assert_refused("Switch\t255 \"S-0000000000002000\"\n", "f:1:8: error");
	assert_refused("Switch\t4 S-0000000000002000\n", "between quotes");
	assert_refused("switchguid=0xg\n" LEAF, "f:1:12: error: \"0xg\"; expected a GUID");
	assert_refused(LEAF LEAF, "a second time");
	assert_refused(LEAF "[1]\t\"H-0000000000001000\"[1](1001)\n" HOST, "says something else");
	assert_refused(LEAF "[5]\t\"H-0000000000001000\"[1](1001)\n" HOST, "port 5");
	assert_refused(LEAF "[2]\t\"H-0000000000001000\"[2](1002)\n" HOST, "leads to port 1");
	assert_refused(LEAF "[0]\t\"H-0000000000001000\"[2](1002)\n" HOST, "[PORT]");
	assert_refused(LEAF "[2]\t\"H-0000000000001000\"\n" HOST, "at the other end");
	assert_refused("switchguid=0x5\nSwitch\t4 \"a\"\nswitchguid=0x5\nSwitch\t4 \"b\"\n",
		       "in line 2 already");
	assert_refused(LEAF "[2]\t\"x\"[1]\n[3]\t\"y\"[1]\ncaguid=0x1\nCa\t1 "
			    "\"x\"\n[1](7)\t\"S-0000000000002000\"[2]\n"
			    "caguid=0x2\nCa\t1 \"y\"\n[1](7)\t\"S-0000000000002000\"[3]\n",
		       "port GUID 0x0000000000000007");
}

static void names_of_their_own(void **state)
{
	struct topofile *f =
		read_clean("switchguid=0x20\nSwitch\t4 \"sw\"\t# \"sw\"\n[1]\t\"h 1\"[1]\n"
			   "caguid=0x10\nHca\t1 \"h 1\"\n[1](11)\t\"sw\"[1]\n");
	struct topo *t = topofile_topo(f, 0);

	assert_int_equal(t->n_hosts, 1);
	assert_int_equal(t->hosts[0].guid, 0x11);
	assert_int_equal(t->hosts[0].lid, 0);
	assert_int_equal(t->hosts[0].sw, 0);
	topo_unref(t);
	topofile_free(f);
}

static void lines_of_ports(void **state)
{
	struct topofile *f = read_clean("CA    58  1 0x000000000010000f 4x HDR - SW    11  2 "
					"0x0000000000200003 ( 'h ' - ' 7' - 'leaf4' )\n"
					"SW    11  2 0x0000000000200003 4x HDR - CA    58  1 "
					"0x000000000010000f ( 'leaf4' - 'h7' )\n"
					"SW    11  3 0x0000000000200003 4x SDR                     "
					"                   'leaf4'\n");
	struct topo *t = topofile_topo(f, 0);

	assert_int_equal(t->n_switches, 1);
	assert_int_equal(t->switches[0].lid, 11);
	assert_int_equal(t->hosts[0].lid, 58);
	assert_int_equal(t->hosts[0].guid, 0x10000f);
	assert_int_equal(t->hosts[0].sw_port, 2);
	assert_true(f->lmc_unknown);
	assert_string_equal(f->ports[0].speed, "HDR");
	topo_unref(t);
	topofile_free(f);
}

#define LST_HOST(NAME)                                                                             \
	" CA-SM Ports:02 SystemGUID:0000000000001001 NodeGUID:0000000000001000 "                   \
	"PortGUID:0000000000001002 "                                                               \
	"VenID:0002C9 DevID:6274 Rev:000000A1 {" NAME "} LID:0030 PN:02 }"
#define LST_SWITCH                                                                                 \
	" SW Ports:24 SystemGUID:0000000000002000 NodeGUID:0000000000002000 "                      \
	"PortGUID:0000000000002000 "                                                               \
	"VenID:000002C9 DevID:B9240000 Rev:000000A1 {S1} LID:000B PN:11 }"

static void the_list_of_opensm(void **state)
{
	struct topofile *f = read_clean("{" LST_HOST(
		"h} LID:0001 PN:01 }") " {" LST_SWITCH " PHY=4x LOG=ACT SPD=25\n"
				       "{" LST_SWITCH
				       " {" LST_HOST("other") " PHY=4x LOG=ACT SPD=25\n");
	struct topo *t = topofile_topo(f, 0);

	assert_int_equal(t->n_switches, 1);
	assert_int_equal(t->switches[0].n_ports, 0x24);
	assert_int_equal(t->switches[0].lid, 11);
	assert_int_equal(t->hosts[0].lid, 0x30);
	assert_int_equal(t->hosts[0].node_guid, 0x1000);
	assert_int_equal(t->hosts[0].sw_port, 0x11);
	assert_string_equal(topofile_name(f, 0x1000), "h} LID:0001 PN:01 }");
	assert_string_equal(f->ports[0].speed, "EDR");
	topo_unref(t);
	topofile_free(f);
	assert_refused("{ CA-SM Ports:02\n", "f:1:1");
}

static void files_that_cannot_be_read(void **state)
{
	struct conf_report r = { 0 };

	assert_null(topofile_read("/nonexistent/file", &r));
	assert_int_equal(r.errors, 1);
	assert_null(topofile_read("/", &r));
	assert_int_equal(r.errors, 2);
	conf_report_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_becomes_a_fabric),
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(one_end_is_enough),
		cmocka_unit_test(what_has_no_guid_gets_one),
		cmocka_unit_test(messages_of_tools_are_skipped_and_told),
		cmocka_unit_test(faults_give_no_fabric),
		cmocka_unit_test(names_of_their_own),
		cmocka_unit_test(lines_of_ports),
		cmocka_unit_test(the_list_of_opensm),
		cmocka_unit_test(files_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
