// SPDX-License-Identifier: BSD-2-Clause
/*
 * qos-policy.conf: what is said about faults, to the column; what the documented examples come to;
 * and that the rule found by rows is the one that a comparison rule by rule finds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/qos/qos_policy.h"
#include "tests/unit/qos-examples.h"
#include "util/mem.h"

#define NAME	 "qos-policy.conf"
#define _policy_ _cleanup_(qos_policy_unrefp) struct qos_policy *

static struct qos_policy *parse(const char *text)
{
	struct conf_report r = { 0 };
	struct qos_policy *p = NULL;
	int e = qos_policy_parse(text, strlen(text), NAME, &r, &p);

	if (e < 0)
		conf_report_print(&r, stderr);
	assert_int_equal(e, 0);
	conf_report_clear(&r);
	return p;
}

static unsigned draw(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 8) % n;
}

/* ---- faults --------------------------------------------------------------------------------- */

#define LEVEL	"qos-levels qos-level\nname: default\nsl: 0\nend-qos-level end-qos-levels\n"
#define RULE(s) LEVEL "qos-match-rules qos-match-rule\n" s "end-qos-match-rule end-qos-match-rules"
#define GROUP(s) LEVEL "port-groups port-group\n" s "end-port-group end-port-groups"
#define ULP(s)	"qos-ulps\ndefault: 0\n" s "\nend-qos-ulps\n"
#define IN_GROUP                                                                                   \
	"name:, use:, port-guid:, port-name:, pkey:, partition:, node-type:, or end-port-group"

/* The whole report, a line each without the name of the file. */
static const struct {
	const char *text, *report;
} findings[] = {
	{ "", "1:0: error: found no default level, expected a qos-level with \"name: default\" or "
	      "a line \"default : SL\" in qos-ulps\n" },
	{ LEVEL, "" },
	{ LEVEL "foo bar", "5:1: error: found \"foo bar\", expected port-groups, qos-ulps, "
			   "qos-levels, qos-match-rules or qos-setup\n" },
	{ LEVEL "port-groups end-port-groups",
	  "5:1: error: found an empty section port-groups, expected a port-group in it\n" },
	{ LEVEL "port-groups port-group\n name : a\n",
	  "7:1: error: found the end of the file, expected " IN_GROUP "\n"
	  "5:1: error: found no end of this section, expected end-port-groups\n" },
	{ GROUP("use: x\n"), "5:13: error: found no name: in this port-group, expected one\n" },
	{ GROUP("name: a\nname: b\n"),
	  "7:1: error: found a second name: in a port-group, expected one\n" },
	{ GROUP("name: a\nport-guid 5\n"),
	  "7:1: error: found \"5\" after port-guid, expected ':'\n" },
	{ GROUP("name: a\ncolour: 5\n"), "7:1: error: found \"colour: 5\", expected " IN_GROUP
					  "\n" },
	{ GROUP("name: a\nport-guid: 1-x\n"), "7:14: error: found \"x\", expected a number\n" },
	{ GROUP("name: a\nport-name: \"h 1/P1\", h2/3\n"),
	  "7:12: error: \"h2/3\" is no name of a port, expected NODE/Pn: the description of a "
	  "node, and a port number from 1 on\n" },
	{ GROUP("name: a\nport-name: h/P0\n"),
	  "7:12: error: \"h/P0\" is no name of a port, expected NODE/Pn: the description of a "
	  "node, and a port number from 1 on\n" },
	{ GROUP("name: \"a\n"), "6:7: error: found an opening quote, expected a closing one on the "
				 "same line\n" },
	{ GROUP("name: a, b\n"), "6:7: error: found several names, expected one; write a comma "
				 "that belongs to it in double quotes\n" },
	{ GROUP("name: a\nnode-type: ca, gpu\n"),
	  "7:16: error: found \"gpu\", expected ca, switch, router, all or self\n" },
	{ GROUP("name: a\npkey: 0x10000\n"),
	  "7:7: error: \"0x10000\" is out of range, expected 0 to 65535 (0xffff)\n" },
	{ RULE("qos-level-name: gold\n"),
	  "6:17: error: \"gold\" is no level, expected the name: of a qos-level\n" },
	{ RULE("qos-level-name: DEFAULT\nsource: s\ndestination: d\n"),
	  "7:9: error: \"s\" is no port group, expected the name: of a port-group\n"
	  "8:14: error: \"d\" is no port group, expected the name: of a port-group\n" },
	{ RULE("qos-class: 1\n"), "5:17: error: found no qos-level-name: in this qos-match-rule, "
				  "expected one\n" },
	{ RULE("qos-class: 5000\nqos-level-name: default\n"),
	  "5:17: warning: qos-class: of this rule goes beyond 4095, the highest that a request can "
	  "carry\n" },
	{ "qos-levels qos-level\nname: default\nsl: 16\nmtu-limit: 6\nrate-limit: 1\n"
	  "end-qos-level end-qos-levels",
	  "3:5: error: \"16\" is out of range, expected 0 to 15 (0xf)\n"
	  "4:12: error: \"6\" is out of range, expected 1 to 5 (0x5)\n"
	  "5:13: error: \"1\" is out of range, expected 2 to 26 (0x1a)\n" },
	{ "qos-levels qos-level\nname: default\nsl: 1\npath-bits: 1,4-5\n"
	  "end-qos-level end-qos-levels",
	  "1:0: warning: path-bits: of this level is not applied; hosts are told of the paths to "
	  "all LIDs of a port\n" },
	{ "qos-levels qos-level\nname: default\nend-qos-level end-qos-levels",
	  "1:12: error: found no sl: in this qos-level, expected one\n" },
	{ ULP("ipoib 5"), "3:7: error: found \"5\", expected ':' and an SL\n" },
	{ ULP("rds, : 2"), "3:6: error: found \": 2\", expected ':' or \", port-num\"\n" },
	{ ULP("srp : 1"), "3:5: error: found \": 1\", expected \", target-port-guid\"\n" },
	{ ULP("sdp : 16"), "3:7: error: \"16\" is out of range, expected 0 to 15 (0xf)\n" },
	{ ULP("sdp, port-num 65536 : 1"),
	  "3:15: error: \"65536\" is out of range, expected 0 to 65535 (0xffff)\n" },
	{ ULP("any, pkey 010 : 1"),
	  "3:11: warning: \"010\" is read as octal, 8; did you mean 0x010?\n" },
	{ ULP("any, pkey 0x7ff0-0x8010, 0x8001-0x8003 : 1"),
	  "3:11: warning: \"0x7ff0-0x8010\": bit 15 says full member, and does not count: this is "
	  "0x0010 to 0x7ff0\n" },
	{ ULP("nfs : 1"), "3:1: error: found \"nfs : 1\", expected default, any, ipoib, sdp, srp, "
			  "rds, iser or end-qos-ulps\n" },
	{ ULP("default: 1"), "3:1: warning: a second default; that of line 2 does not count\n" },
	{ LEVEL ULP(""), "6:1: warning: the default of qos-ulps does not count: the level "
			 "\"default\" of line 1 does\n" },
	{ "qos-ulps\ndefault: 0\r\nend-qos-ulps",
	  "2:0: note: line ends are those of DOS (CR LF); the CR is ignored\n" },
	{ LEVEL "qos-setup sl2vl-tables sl2vl-scope\ngroup: g\nsl2vl-table: 0,1,2\n"
		"end-sl2vl-scope end-sl2vl-tables end-qos-setup",
	  "7:14: error: found 3 numbers in sl2vl-table, expected 16: the VL of each SL\n"
	  "5:1: warning: the 1 tables of qos-setup are not applied; qos_*vlarb_* and qos_*sl2vl of "
	  "opensm.conf set up VLs\n" },
	{ LEVEL "qos-setup vlarb-tables vlarb-scope\nvlarb-high: 0:4, 1\n"
		"end-vlarb-scope end-vlarb-tables",
	  "6:18: error: found \"1\", expected VL:WEIGHT\n"
	  "5:24: error: found no ports of this vlarb-scope, expected group: or across:\n"
	  "5:1: error: found no end of this qos-setup, expected end-qos-setup\n"
	  "5:1: warning: the 1 tables of qos-setup are not applied; qos_*vlarb_* and qos_*sl2vl of "
	  "opensm.conf set up VLs\n" },
};

static char *report_text(const struct conf_report *r)
{
	static const char *const severities[] = { "note", "warning", "error" };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < r->n; i++)
		fprintf(out, "%u:%u: %s: %s\n", r->findings[i].line, r->findings[i].column,
			severities[r->findings[i].severity], r->findings[i].text);
	fclose(out);
	return text;
}

static void faults_are_told_by_line_and_column(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(findings); i++) {
		struct conf_report r = { 0 };
		_policy_ p = NULL;
		_cleanup_free_ char *text = NULL;
		int e = qos_policy_parse(findings[i].text, strlen(findings[i].text), NAME, &r, &p);

		text = report_text(&r);
		if (strcmp(text, findings[i].report) != 0)
			fail_msg("of\n%s\n---\n%s---\nexpected\n%s", findings[i].text, text,
				 findings[i].report);
		assert_int_equal(e, r.errors ? -EINVAL : 0);
		assert_true((p != NULL) == !r.errors);
		conf_report_clear(&r);
	}
}

static void limits_hold(void **state)
{
	struct conf_report r = { 0 };
	_policy_ p = NULL;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	fputs("qos-ulps\ndefault: 0\n", out);
	for (unsigned i = 0; i <= QOS_RULES_MAX; i++)
		fprintf(out, "any, service-id %u : 1\n", i);
	fputs("end-qos-ulps\n", out);
	fclose(out);
	assert_int_equal(qos_policy_parse(text, len, NAME, &r, &p), -EINVAL);
	assert_int_equal(r.findings[0].line, QOS_RULES_MAX + 3);
	free(text);
	conf_report_clear(&r);
}

/* Ranges of many rules that cross each other everywhere: too many different rows. */
static void memory_is_bounded(void **state)
{
	struct conf_report r = { 0 };
	_policy_ p = NULL;
	char *text = NULL;
	unsigned seed = 1;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	fputs("qos-ulps\ndefault: 0\n", out);
	for (unsigned i = 0; i < QOS_RULES_MAX; i++) {
		fprintf(out, "any, service-id %u", i);
		for (unsigned k = 1; k < 60; k++)
			fprintf(out, ",%u-%u", k * 100000000 + draw(&seed, 10000000),
				k * 100000000 + draw(&seed, 10000000));
		fputs(" : 1\n", out);
	}
	fputs("end-qos-ulps\n", out);
	fclose(out);
	assert_int_equal(qos_policy_parse(text, len, NAME, &r, &p), -EINVAL);
	assert_non_null(strstr(r.findings[0].text, "need too much memory"));
	free(text);
	conf_report_clear(&r);
}

/* ---- what it means -------------------------------------------------------------------------- */

/* A request from one port to another, as a test writes it down. */
struct ask {
	struct qos_request rq;
	struct qos_port src, dst;
};

static const struct qos_port plain = { .guid = 1, .name = "", .num = 1, .n_ports = 1,
				       .type = QOS_TYPE_CA };

static uint32_t rule_from(const struct qos_policy *p, const struct ask *a, uint32_t from)
{
	_cleanup_free_ uint64_t *src = xcalloc(2 * p->words, sizeof(*src));
	_cleanup_free_ uint64_t *dst = xcalloc(2 * p->words, sizeof(*dst));
	struct qos_asked asked = qos_policy_ask(p, &a->rq);
	const struct qos_ends ends = { { src, NULL }, { dst, NULL } };

	qos_policy_port(p, &a->src, src);
	qos_policy_port(p, &a->dst, dst);
	return qos_policy_match(p, &asked, &ends, from);
}

static unsigned sl_of(const struct qos_policy *p, const struct ask *a)
{
	return qos_policy_level(p, rule_from(p, a, 0))->sl;
}

static unsigned sl_by_service(const struct qos_policy *p, uint64_t service)
{
	return sl_of(p, &(struct ask){ { .has_service = true, .service = service }, plain, plain });
}

static unsigned sl_by_pkey(const struct qos_policy *p, uint16_t pkey)
{
	return sl_of(p, &(struct ask){ { .has_pkey = true, .pkey = pkey }, plain, plain });
}

static unsigned sl_by_ends(const struct qos_policy *p, guid_t src, guid_t dst)
{
	struct ask a = { { 0 }, plain, plain };

	a.src.guid = src;
	a.dst.guid = dst;
	return sl_of(p, &a);
}

static void documented_ulps(void **state)
{
	_policy_ p = parse(qos_example_ulps);

	(void)state;
	assert_int_equal(p->n_rules, 10);
	assert_int_equal(sl_by_service(p, 0x10000 + 30000), 0);
	assert_int_equal(sl_by_service(p, 0x10000 + 10000), 0);
	assert_int_equal(sl_by_service(p, 0x10000 + 9999), 1);
	assert_int_equal(sl_by_service(p, 0x1FFFF), 1);
	assert_int_equal(sl_by_service(p, 0x20000), 0);
	assert_int_equal(sl_by_service(p, 0x10648CA), 2);
	assert_int_equal(sl_by_service(p, 0x6234), 2);
	assert_int_equal(sl_by_pkey(p, 0x8001), 0);
	assert_int_equal(sl_by_pkey(p, 0xFFFF), 4);
	assert_int_equal(sl_by_pkey(p, 0x8ABC), 2);
	assert_int_equal(sl_by_ends(p, 1, 0x1234), 5);
	assert_int_equal(sl_by_ends(p, 1, 0xABC), 6);
	assert_int_equal(sl_by_ends(p, 1, 0xFFFFF), 6);
	assert_int_equal(sl_by_ends(p, 0xABC, 1), 0);
}

static void documented_short(void **state)
{
	_policy_ p = parse(qos_example_short);
	_policy_ q = parse(qos_example_minimal);

	(void)state;
	assert_int_equal(sl_by_service(p, 0x1060CBC), 3);
	assert_int_equal(sl_by_service(p, 0x1060000 + 900), 4);
	assert_int_equal(sl_by_ends(p, 7, 0x1234), 6);
	assert_int_equal(sl_by_service(p, 5), 0);
	assert_int_equal(q->n_rules, 0);
	assert_int_equal(sl_by_service(q, 5), 0);
	assert_string_equal(qos_policy_level(q, QOS_NO_RULE)->name, "DEFAULT");
}

static void documented_groups(const struct qos_policy *p)
{
	struct qos_port port = plain;

	assert_int_equal(p->n_groups, 4);
	assert_string_equal(p->groups[1].name, "VirtualServers");
	assert_string_equal(p->groups[0].use, "SRP Targets");
	port.name = "vs2 HCA-1";
	assert_true(qos_group_has(&p->groups[1], &port));
	port.num = 2;
	assert_false(qos_group_has(&p->groups[1], &port));
	assert_true(qos_group_has(&p->groups[3], &port));
	port.type = QOS_TYPE_SWITCH;
	assert_false(qos_group_has(&p->groups[3], &port));
	port.is_self = true;
	assert_true(qos_group_has(&p->groups[3], &port));
	assert_true(qos_policy_has_pkeys(p) == false || qos_policy_pkey(p, 0x1234));
}

static void documented_full(void **state)
{
	_policy_ p = parse(qos_example_full);
	struct ask a = { { .has_class = true, .class = 8 }, plain, plain };
	const struct qos_level *l = qos_policy_level(p, rule_from(p, &a, 0));

	(void)state;
	documented_groups(p);
	assert_int_equal(p->n_rules, 4);
	assert_string_equal(l->name, "WholeSet");
	assert_int_equal(l->sl, 1);
	assert_int_equal(l->mtu, 4);
	assert_int_equal(l->rate, 5);
	assert_int_equal(l->life, 8);
	assert_true(qos_ranges_have(&l->pkeys, 0x1234));
	a.rq.class = 10;
	assert_int_equal(rule_from(p, &a, 0), QOS_NO_RULE);
	a.dst.guid = 0x10000000000006;
	a.rq = (struct qos_request){ .has_service = true, .service = 0x10000000000FFF };
	assert_int_equal(rule_from(p, &a, 0), 1);
	a.src.guid = 0x1000000000FFFF;
	a.rq.service++;
	assert_int_equal(rule_from(p, &a, 0), 2);
	a.src.guid = 5;
	a.src.name = "vs1 HCA-1";
	a.rq = (struct qos_request){ true, true, true, 0x10000, 7, 0x8F80 };
	assert_int_equal(rule_from(p, &a, 0), 0);
	assert_int_equal(rule_from(p, &a, 1), 3);
	assert_int_equal(rule_from(p, &a, 4), QOS_NO_RULE);
}

static void both_ends_must_match(void **state)
{
	_policy_ p = parse(ULP("any, source-target-port-guid 5-7 : 3\n"
			       "any, source-port-guid 5 : 1\n"
			       "any, target-port-guid 5 : 2"));

	(void)state;
	assert_int_equal(sl_by_ends(p, 5, 7), 3);
	assert_int_equal(sl_by_ends(p, 5, 8), 1);
	assert_int_equal(sl_by_ends(p, 8, 5), 2);
	assert_int_equal(sl_by_ends(p, 8, 7), 0);
}

/* The lines of one kind do not share their ports. */
static void lines_have_ports_of_their_own(void **state)
{
	_policy_ p = parse(ULP("any, target-port-guid 5 : 1\nany, target-port-guid 6 : 2"));

	(void)state;
	assert_int_equal(sl_by_ends(p, 1, 5), 1);
	assert_int_equal(sl_by_ends(p, 1, 6), 2);
}

static void whole_range_of_guids(void **state)
{
	_policy_ p = parse(ULP("any, target-port-guid 0xffffffffffffffff-0x10 : 1"));

	(void)state;
	assert_int_equal(sl_by_ends(p, 1, 0xF), 0);
	assert_int_equal(sl_by_ends(p, 1, 0x10), 1);
	assert_int_equal(sl_by_ends(p, 1, UINT64_MAX), 1);
}

static unsigned sl_by_name(const struct qos_policy *p, const char *name, unsigned num)
{
	struct ask a = { { 0 }, plain, plain };

	a.src.name = name;
	a.src.num = (uint8_t)num;
	a.src.n_ports = 2;
	return sl_of(p, &a);
}

static void names_have_ranges(void **state)
{
	_policy_ p = parse(LEVEL "port-groups port-group\nname: g\n"
				 "port-name: node[2-12]x/P1, \"lit[1]/P1\", "
				 "a[1-2]b[3-4]/p2, h[1-3]/P1\n"
				 "end-port-group end-port-groups "
				 "qos-levels qos-level\nname: l\nsl: 1\n"
				 "end-qos-level end-qos-levels "
				 "qos-match-rules qos-match-rule\nsource: G\nqos-level-name: L\n"
				 "end-qos-match-rule end-qos-match-rules");

	(void)state;
	assert_int_equal(sl_by_name(p, "node2x", 1), 1);
	assert_int_equal(sl_by_name(p, "node007x", 1), 1);
	assert_int_equal(sl_by_name(p, "node12x", 1), 1);
	assert_int_equal(sl_by_name(p, "node[2-12]x", 1), 1);
	assert_int_equal(sl_by_name(p, "node1x", 1), 0);
	assert_int_equal(sl_by_name(p, "node13x", 1), 0);
	assert_int_equal(sl_by_name(p, "node2x", 2), 0);
	assert_int_equal(sl_by_name(p, "node2", 1), 0);
	assert_int_equal(sl_by_name(p, "lit[1]", 1), 1);
	assert_int_equal(sl_by_name(p, "a2b3", 2), 1);
	assert_int_equal(sl_by_name(p, "a3b3", 2), 0);
	assert_int_equal(sl_by_name(p, "h3", 1), 1);
	assert_int_equal(sl_by_name(p, "h0", 1), 0);
	assert_int_equal(sl_by_name(p, "h33", 1), 0);
	assert_int_equal(sl_by_name(p, "h", 1), 0);
	assert_int_equal(sl_by_name(p, "a2b3", 0), 1); /* a switch, by any of its ports */
}

static void groups_by_pkey(void **state)
{
	_policy_ p = parse(qos_example_full);
	_policy_ none = parse(qos_example_ulps);
	_policy_ used = parse(RULE("source: g\nqos-level-name: default\n")
			      "\nport-groups port-group\n"
			      "name: g\npkey: 0x8010-0x8020\npartition: Blue\nend-port-group "
			      "end-port-groups");
	_cleanup_free_ uint64_t *row = xcalloc(2 * used->words, sizeof(*row));

	(void)state;
	assert_true(qos_policy_has_pkeys(p));
	assert_false(qos_policy_has_pkeys(none));
	assert_null(qos_policy_pkey(none, 1));
	assert_int_equal(qos_policy_pkey(used, 0x10)[0], 1);
	assert_int_equal(qos_policy_pkey(used, 0x8020)[0], 1);
	assert_int_equal(qos_policy_pkey(used, 0x21)[0], 0);
	assert_false(qos_policy_partition(used, "blue", row));
	assert_true(qos_policy_partition(used, "Blue", row));
	assert_int_equal(row[0], 1);
}

/* ---- rows against rule by rule -------------------------------------------------------------- */

static void print_range(FILE *out, unsigned *seed, const char *word)
{
	unsigned n = 1 + draw(seed, 3);

	fprintf(out, "%s: ", word);
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "%s%u-%u", i ? "," : "", draw(seed, 40), draw(seed, 40));
	fputc('\n', out);
}

static void print_random(FILE *out, unsigned *seed, unsigned n_rules)
{
	fputs(LEVEL "port-groups\n", out);
	for (unsigned i = 0; i < 8; i++) {
		fprintf(out, "port-group\nname: g%u\n", i);
		print_range(out, seed, "port-guid");
		if (draw(seed, 4) == 0)
			fprintf(out, "port-name: n[%u-%u]/P1, n%u/P1\n", draw(seed, 9),
				draw(seed, 9), draw(seed, 9));
		if (draw(seed, 8) == 0)
			fputs(draw(seed, 2) ? "node-type: switch\n" : "node-type: self\n", out);
		fputs("end-port-group\n", out);
	}
	fputs("end-port-groups\nqos-match-rules\n", out);
	for (unsigned i = 0; i < n_rules; i++) {
		fputs("qos-match-rule\nqos-level-name: default\n", out);
		if (draw(seed, 2))
			print_range(out, seed, "service-id");
		if (draw(seed, 3) == 0)
			print_range(out, seed, "qos-class");
		if (draw(seed, 3) == 0)
			print_range(out, seed, "pkey");
		if (draw(seed, 2))
			fprintf(out, "source: g%u, g%u\n", draw(seed, 8), draw(seed, 8));
		if (draw(seed, 2))
			fprintf(out, "destination: g%u\n", draw(seed, 8));
		fputs("end-qos-match-rule\n", out);
	}
	fputs("end-qos-match-rules\n", out);
}

static bool is_in(const struct qos_policy *p, const struct qos_list *groups,
		  const struct qos_port *port)
{
	bool found = !groups->n;

	for (size_t i = 0; i < groups->n; i++)
		found = found || qos_group_has(&p->groups[groups->items[i]], port);
	return found;
}

static bool allows(const struct qos_ranges *r, bool has, uint64_t value)
{
	return !r->n || (has && qos_ranges_have(r, value));
}

static uint32_t rule_by_rule(const struct qos_policy *p, const struct ask *a)
{
	for (uint32_t i = 0; i < p->n_rules; i++) {
		const struct qos_rule *r = &p->rules[i];

		if (allows(&r->services, a->rq.has_service, a->rq.service) &&
		    allows(&r->classes, a->rq.has_class, a->rq.class) &&
		    allows(&r->pkeys, a->rq.has_pkey, a->rq.pkey & 0x7FFF) &&
		    is_in(p, &r->sources, &a->src) && is_in(p, &r->destinations, &a->dst))
			return i;
	}
	return QOS_NO_RULE;
}

static struct qos_port random_port(unsigned *seed)
{
	static const char *const names[] = { "n1", "n3", "n5", "n08", "x" };

	return (struct qos_port){
		.guid = draw(seed, 45),
		.name = names[draw(seed, ARRAY_SIZE(names))],
		.num = (uint8_t)draw(seed, 3),
		.n_ports = 2,
		.type = 1u << draw(seed, 3),
		.is_self = draw(seed, 5) == 0,
	};
}

static void rows_agree_with_rules(void **state)
{
	unsigned seed = 20261127;

	(void)state;
	for (unsigned turn = 0; turn < 40; turn++) {
		unsigned was = seed;
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);
		_policy_ p = NULL;

		print_random(out, &seed, 1 + draw(&seed, 150));
		fclose(out);
		p = parse(text);
		for (unsigned i = 0; i < 500; i++) {
			const struct ask a = {
				{ draw(&seed, 2), draw(&seed, 2), draw(&seed, 2), draw(&seed, 45),
				  (uint16_t)draw(&seed, 45), (uint16_t)(draw(&seed, 45) | 0x8000) },
				random_port(&seed),
				random_port(&seed),
			};

			if (rule_from(p, &a, 0) != rule_by_rule(p, &a))
				fail_msg("seed %u, request %u:\n%s", was, i, text);
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_are_told_by_line_and_column),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(documented_ulps),
		cmocka_unit_test(documented_short),
		cmocka_unit_test(documented_full),
		cmocka_unit_test(both_ends_must_match),
		cmocka_unit_test(lines_have_ports_of_their_own),
		cmocka_unit_test(whole_range_of_guids),
		cmocka_unit_test(names_have_ranges),
		cmocka_unit_test(groups_by_pkey),
		cmocka_unit_test(rows_agree_with_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
