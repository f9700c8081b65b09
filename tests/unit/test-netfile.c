// SPDX-License-Identifier: BSD-2-Clause
/* netfile.c, netfile-parse.c: both dialects, the way back, every complaint with its place. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ib/attrs.h"
#include "sim/netfile/netfile.h"
#include "tests/lib/scratch.h"
#include "util/mem.h"

static const char ibsim_text[] =
	"# two switches, three hosts, a router\n"
	"vendid=0x2c9\n"
	"devid=0xb924\n"
	"sysimgguid=0x77\n"
	"switchguid=0x5000\n"
	"Switch 4 \"S1\" # \"spine of rack 1\" enhanced port 0 lid 5 lmc 0\n"
	"[1] \"H1\" # \"H1 HCA-1\" lid 4 4xQDR\n"
	"[2] \"R1\"[1]\n"
	"[3] \"S2\"[1] w=1 s=7 e=3\n"
	"\n"
	"Switch 4 \"S2\"\n"
	"[1] \"S1\"[3] w=1 s=7 e=3\n"
	"[2] \"H3\" w=1 s=1 e=1\n"
	"\n"
	"caguid=0x6000\n"
	"Hca 2 \"H1\" # \"H1 HCA-1\"\n"
	"[1](6001) \"S1\"[1] # lid 4 lmc 1 \"spine of rack 1\" lid 5 4xQDR\n"
	"\n"
	"rtguid=0x7000\n"
	"Rt 2 \"R1\"\n"
	"[1] \"S1\"[2]\n"
	"\n"
	"Ca 1 \"H3\"\n"
	"[1] \"S2\"[2] w=1 s=1 e=1\n";

/* What ibnetdiscover prints of it. */
static const char ibnetdiscover_text[] =
	"#\n"
	"#\n"
	"# Initiated from node 0000000000005000 port 0000000000005000\n"
	"\n"
	"vendid=0x0\n"
	"devid=0xb924\n"
	"sysimgguid=0x5001\n"
	"switchguid=0x5001(5001)\n"
	"Switch\t4 \"S-0000000000005001\"\t\t# \"S2\" base port 0 lid 0 lmc 0\n"
	"[1]\t\"S-0000000000005000\"[3]\t\t# \"spine of rack 1\" lid 5 1xEDR\n"
	"[2]\t\"H-0000000000006003\"[1](6004) \t\t# \"H3\" lid 0 1xFDR\n"
	"\n"
	"vendid=0x2c9\n"
	"devid=0xb924\n"
	"sysimgguid=0x77\n"
	"switchguid=0x5000(5000)\n"
	"Switch\t4 \"S-0000000000005000\"\t\t# \"spine of rack 1\" enhanced port 0 lid 5 lmc 0\n"
	"[1]\t\"H-0000000000006000\"[1](6001) \t\t# \"H1 HCA-1\" lid 4 4xQDR\n"
	"[2]\t\"R-0000000000007000\"[1](7001) \t\t# \"R1\" lid 0 4xSDR\n"
	"[3]\t\"S-0000000000005001\"[1]\t\t# \"S2\" lid 0 1xEDR\n"
	"\n"
	"vendid=0x0\n"
	"devid=0xb924\n"
	"sysimgguid=0x6003\n"
	"caguid=0x6003\n"
	"Ca\t1 \"H-0000000000006003\"\t\t# \"H3\"\n"
	"[1](6004) \t\"S-0000000000005001\"[2]\t\t# lid 0 lmc 0 \"S2\" lid 0 1xFDR\n"
	"\n"
	"vendid=0x0\n"
	"devid=0xb924\n"
	"sysimgguid=0x6000\n"
	"caguid=0x6000\n"
	"Ca\t2 \"H-0000000000006000\"\t\t# \"H1 HCA-1\"\n"
	"[1](6001) \t\"S-0000000000005000\"[1]\t\t# lid 4 lmc 1 \"spine of rack 1\" lid 5 4xQDR\n"
	"\n"
	"vendid=0x0\n"
	"devid=0xb924\n"
	"sysimgguid=0x7000\n"
	"rtguid=0x7000\n"
	"Rt\t2 \"R-0000000000007000\"\t\t# \"R1\"\n"
	"[1](7001) \t\"S-0000000000005000\"[2]\t\t# lid 0 lmc 0 \"spine of rack 1\" lid 5 4xSDR\n";

static struct netfile *parse(const char *text)
{
	char err[200] = "";
	struct netfile *net = netfile_parse(text, strlen(text), err, sizeof(err));

	if (!net)
		fail_msg("%s", err);
	return net;
}

static char *text_of(const struct netfile *net)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	netfile_write(net, f);
	fclose(f);
	return text;
}

static const struct netfile_node *node_with(const struct netfile *net, guid_t guid)
{
	for (size_t i = 0; i < net->n_nodes; i++)
		if (net->nodes[i].guid == guid)
			return &net->nodes[i];
	fail_msg("no node 0x%llx", (unsigned long long)guid);
	return NULL;
}

static unsigned lanes(const struct netfile_port *port)
{
	return port->width ? port->width : 4;
}

static unsigned speed(const struct netfile_port *port)
{
	return port->speed ? port->speed : 25;
}

static void assert_same_port(const struct netfile *a, const struct netfile_port *pa,
			     const struct netfile *b, const struct netfile_port *pb)
{
	assert_int_equal(pa->lid, pb->lid);
	assert_int_equal(pa->lmc, pb->lmc);
	assert_int_equal(pa->guid, pb->guid);
	assert_int_equal(pa->peer_node < 0, pb->peer_node < 0);
	if (pa->peer_node < 0)
		return;
	assert_int_equal(a->nodes[pa->peer_node].guid, b->nodes[pb->peer_node].guid);
	assert_int_equal(pa->peer_port, pb->peer_port);
	assert_int_equal(lanes(pa), lanes(pb));
	assert_int_equal(speed(pa), speed(pb));
}

static void assert_same_node(const struct netfile_node *a, const struct netfile_node *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->nports, b->nports);
	assert_int_equal(a->enhanced_port0, b->enhanced_port0);
	assert_int_equal(a->sysimg_guid, b->sysimg_guid);
	assert_int_equal(a->vendor_id, b->vendor_id);
	assert_int_equal(a->device_id, b->device_id);
	assert_string_equal(a->desc, b->desc);
}

/* All but ids and order. */
static void assert_same_fabric(const struct netfile *a, const struct netfile *b)
{
	assert_int_equal(a->n_nodes, b->n_nodes);
	for (size_t i = 0; i < a->n_nodes; i++) {
		const struct netfile_node *mine = &a->nodes[i], *theirs = node_with(b, mine->guid);

		assert_same_node(mine, theirs);
		for (unsigned p = 0; p <= mine->nports; p++)
			assert_same_port(a, &mine->ports[p], b, &theirs->ports[p]);
	}
}

static void both_dialects_describe_the_same_fabric(void **state)
{
	_cleanup_(netfile_freep) struct netfile *ours = parse(ibsim_text);
	_cleanup_(netfile_freep) struct netfile *theirs = parse(ibnetdiscover_text);

	assert_int_equal(ours->n_nodes, 5);
	assert_same_fabric(ours, theirs);
}

static void facts_are_where_they_belong(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = parse(ibsim_text);
	const struct netfile_node *s1 = &net->nodes[netfile_find(net, "S1")];
	const struct netfile_node *h1 = &net->nodes[netfile_find(net, "H1 HCA-1")];

	assert_int_equal(s1->type, IB_NODE_SWITCH);
	assert_int_equal(s1->guid, 0x5000);
	assert_int_equal(s1->sysimg_guid, 0x77);
	assert_int_equal(s1->vendor_id, 0x2c9);
	assert_int_equal(s1->device_id, 0xb924);
	assert_string_equal(s1->desc, "spine of rack 1");
	assert_true(s1->enhanced_port0);
	assert_int_equal(s1->ports[0].lid, 5);
	assert_int_equal(s1->ports[4].peer_node, -1);
	assert_int_equal(s1->ports[3].width, 1);
	assert_int_equal(s1->ports[3].speed, 250);
	assert_int_equal(s1->ports[3].guid, 0);
	assert_string_equal(h1->id, "H1");
	assert_int_equal(h1->vendor_id, 0); /* vendid is for one node, devid stays */
	assert_int_equal(h1->device_id, 0xb924);
	assert_int_equal(h1->sysimg_guid, 0x6000);
	assert_int_equal(h1->ports[1].guid, 0x6001);
	assert_int_equal(h1->ports[1].lid, 4);
	assert_int_equal(h1->ports[1].lmc, 1);
	assert_int_equal(h1->ports[1].width, 4);
	assert_int_equal(h1->ports[1].speed, 100);
	assert_ptr_equal(&net->nodes[h1->ports[1].peer_node], s1);
	assert_int_equal(netfile_find(net, "nobody"), -1);
}

static void guids_are_numbered_as_ibsim_does(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net =
		parse("Switch 1 \"a\"\nSwitch 1 \"b\"\nCa 2 \"c\"\nCa 1 \"d\"\ncaguid=0x50\nCa 1 "
		      "\"e\"\n");
	static const guid_t guids[] = { 0x200000, 0x200001, 0x100000, 0x100003, 0x50 };

	for (size_t i = 0; i < ARRAY_SIZE(guids); i++)
		assert_int_equal(net->nodes[i].guid, guids[i]);
	assert_int_equal(net->nodes[2].ports[2].guid, 0x100002);
}

static void a_description_may_hold_quotes_and_loses_controls(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net =
		parse("Switch 1 \"a\" # \"x \"y\" \x1b[0m\" base port 0 lid 3 lmc 0\nCa 1 \"b\" # "
		      "\"\"\n");

	assert_string_equal(net->nodes[0].desc, "x \"y\"  [0m");
	assert_int_equal(net->nodes[0].ports[0].lid, 3);
	assert_string_equal(net->nodes[1].desc, "b");
}

static void comments_and_carriage_returns_are_passed_over(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net =
		parse("# top\r\nSwitch 2 \"a\" # plain comment\r\n# inside\r\n[1] \"a\"[2] # x\r\n"
		      "[2] \"a\"[1]\r\n\r\nChassis 1 (guid 0x8)\n");

	assert_int_equal(net->n_nodes, 1);
	assert_int_equal(net->nodes[0].ports[1].peer_port, 2);
}

static void an_empty_text_is_an_empty_fabric(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = parse("");

	assert_int_equal(net->n_nodes, 0);
}

static void a_missing_port_number_is_one(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net =
		parse("Ca 1 \"a\"\n[1] \"b\"\n\nCa 1 \"b\"\n[1] \"a\"\n");

	assert_int_equal(net->nodes[0].ports[1].peer_port, 1);
}

static void defaults_are_for_the_nodes_that_follow(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net =
		parse("Switch 4 \"a\"\n[1] \"a\"[2]\n[2] \"a\"[1]\n\nwidth=8\nspeed=2\nextspeed=4\n"
		      "Switch 4 \"b\"\n[1] \"b\"[2]\n[2] \"b\"[1] # \"b\" lid 0 2xNDR\n[3] "
		      "\"b\"[4] w=1 e=0\n"
		      "[4] \"b\"[3]\n");
	const struct netfile_port *a = net->nodes[0].ports, *b = net->nodes[1].ports;

	assert_int_equal(a[1].width, 0);
	assert_int_equal(a[1].speed, 0);
	assert_int_equal(b[1].width, 12);
	assert_int_equal(b[1].speed, 500);
	assert_int_equal(b[2].width, 2);
	assert_int_equal(b[2].speed, 1000);
	assert_int_equal(b[3].width, 1);
	assert_int_equal(b[3].speed, 50);
}

static const struct complaint {
	const char *text, *err;
} complaints[] = {
	{ "Switch 1 \"a\"\nfoo\n",
	  "2:1: found 'foo', expected Switch, Ca, Rt, a port, a key=value or a comment" },
	{ "Switch x \"a\"\n", "1:8: found 'x \"a\"', expected a number" },
	{ "Switch 255 \"a\"\n", "1:8: 255 is too large, expected at most 254" },
	{ "Switch 0 \"a\"\n", "1:8: 0 ports, expected 1 to 254" },
	{ "Switch 1\n", "1:9: the line ends, expected an \"id\"" },
	{ "Switch 1 \"a\n", "1:10: found '\"a', expected an id that ends in a quote" },
	{ "Switch 1 \"\"\n", "1:11: id of 0 characters, expected 1 to 64" },
	{ "Switch 1 \"a@b\"\n", "1:12: character 0x40, which ids may not contain" },
	{ "Switch 1 \"a \"\n", "1:12: blank at the end of an id" },
	{ "Switch 1 \"a\" b\n", "1:14: found 'b', expected the end of the line" },
	{ "Ca 1 \"a\"\nCa 1 \"a\"\n", "2:7: a second node 'a', expected a new id" },
	{ "Ca 1 \"a\"\ncaguid=0x100000\nCa 1 \"b\"\n", "3:7: a second node with GUID 0x100000" },
	{ "Switch 1 \"a\" # \"a\" base port 0 lid 49152 lmc 0\n",
	  "1:36: 49152 is too large, expected at most 49151" },
	{ "Ca 1 \"a\"\n[1] \"a\"[1] # lid 1 lmc 8\n", "2:24: 8 is too large, expected at most 7" },
	{ "[1] \"a\"[1]\n",
	  "1:1: found '[1] \"a\"[1]', expected Switch, Ca or Rt before its ports" },
	{ "Ca 1 \"a\"\n\n[1] \"a\"\n",
	  "3:1: found '[1] \"a\"', expected Switch, Ca or Rt before its ports" },
	{ "Ca 1 \"a\"\n[0] \"a\"\n", "2:1: port 0 has no cable, expected 1 to 1" },
	{ "Ca 1 \"a\"\n[2] \"a\"\n", "2:2: 2 is too large, expected at most 1" },
	{ "Ca 1 \"a\"\n[1 \"a\"\n", "2:3: found ' \"a\"', expected ]" },
	{ "Ca 1 \"a\"\n[1](xyz) \"a\"\n", "2:5: found 'xyz) \"a\"', expected a number" },
	{ "Ca 1 \"a\"\n[1] \"a\"\n[1] \"a\"\n", "3:1: port 1 of 'a' is described twice" },
	{ "Ca 1 \"a\"\n[1](5) \"b\"[1]\n\nCa 1 \"b\"\n[1](5) \"a\"[1]\n",
	  "5:1: a second port with GUID 0x5" },
	{ "Ca 1 \"a\"\n[1] \"b\"\n", "2:6: no node 'b' is described" },
	{ "Ca 1 \"a\"\n[1] \"a\"[2]\n", "2:6: port 2 of 'a', which has 1" },
	{ "Ca 1 \"a\"\n[1] \"b\"\n\nCa 1 \"b\"\n",
	  "2:6: 'b' does not describe port 1, expected a cable to 'a'[1]" },
	{ "Ca 1 \"a\"\n[1] \"b\"\n\nCa 1 \"b\"\n[1] \"b\"\n",
	  "2:6: port 1 of 'b' leads to 'b'[1], expected to 'a'[1]" },
	{ "Ca 1 \"a\"\n[1] \"a\" # \"a\" lid 1 3xQDR\n",
	  "2:21: 3 lanes, expected 1, 2, 4, 8 or 12" },
	{ "Ca 1 \"a\"\n[1] \"a\" # \"a\" lid 1 4xODR\n",
	  "2:23: found 'ODR', expected SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR" },
	{ "Ca 1 \"a\"\n[1] \"a\" w=32\n", "2:11: 32 is too large, expected at most 31" },
	{ "Ca 1 \"a\"\n[1] \"a\" x=3\n", "2:9: found 'x=3', expected the end of the line" },
	{ "vendid 7\n", "1:8: found '7', expected =" },
	{ "vendid=0x1000000\n", "1:8: 0x1000000 is too large, expected at most 16777215" },
	{ "caguid=+1\n",
	  "1:8: found '+1', expected an absolute GUID: relative ones are not understood" },
	{ "switchguid=0xffffffffffffffff\nSwitch 1 \"a\"\nSwitch 1 \"b\"\n",
	  "3:11: no GUID is left for 'b'" },
	{ "caguid=0x1(zz)\n", "1:12: found 'zz)', expected a number" },
	{ "module \"x\"\n",
	  "1:1: found 'module \"x\"', expected Switch, Ca, Rt, a port, a key=value or a comment" },
};

static void mistakes_are_named_with_their_place(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(complaints); i++) {
		const struct complaint *c = &complaints[i];
		char err[200] = "";

		if (netfile_parse(c->text, strlen(c->text), err, sizeof(err)))
			fail_msg("accepted: %s", c->text);
		assert_string_equal(err, c->err);
	}
}

static void a_short_error_buffer_is_enough(void **state)
{
	char err[4] = "abc";

	assert_null(netfile_parse("foo", 3, err, 1));
	assert_string_equal(err, "");
	assert_null(netfile_parse("foo", 3, err, sizeof(err)));
	assert_string_equal(err, "1:1");
}

static void huge_inputs_are_refused(void **state)
{
	size_t n = NETFILE_MAX_PORTS / 255 + 2;
	_cleanup_free_ char *text = NULL;
	char err[200];
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "Switch 254 \"%zu\"\n", i);
	fclose(f);
	assert_null(netfile_parse(text, len, err, sizeof(err)));
	assert_non_null(strstr(err, "more than 2097152 ports"));
	assert_null(netfile_parse(text, (size_t)NETFILE_MAX_BYTES + 1, err, sizeof(err)));
	assert_non_null(strstr(err, "bytes, expected at most"));
}

static void a_long_line_is_refused(void **state)
{
	char text[2000], err[200];

	memset(text, ' ', sizeof(text));
	text[0] = '#';
	assert_null(netfile_parse(text, sizeof(text), err, sizeof(err)));
	assert_string_equal(err, "1:1024: the line goes on, expected at most 1023 characters");
}

static void cables_need_two_free_ports(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = netfile_new();
	int a = netfile_add(net, IB_NODE_SWITCH, "a", 3, 0),
	    b = netfile_add(net, IB_NODE_CA, "b", 1, 9);

	assert_int_equal(netfile_link(net, a, 1, b, 1), 0);
	assert_int_equal(net->nodes[b].ports[1].peer_node, a);
	assert_int_equal(net->nodes[b].ports[1].peer_port, 1);
	assert_int_equal(netfile_link(net, a, 2, b, 1), -EBUSY);
	assert_int_equal(netfile_link(net, a, 1, a, 2), -EBUSY);
	assert_int_equal(netfile_link(net, a, 0, a, 2), -EINVAL);
	assert_int_equal(netfile_link(net, a, 4, a, 2), -EINVAL);
	assert_int_equal(netfile_link(net, a, 2, 2, 1), -EINVAL);
	assert_int_equal(netfile_link(net, a, 2, -1, 1), -EINVAL);
	assert_int_equal(netfile_link(net, a, 2, a, 3), 0);
	assert_int_equal(net->nodes[b].ports[1].guid, 10);
}

static void set_random_port(struct netfile_port *port, unsigned *seed)
{
	static const uint16_t speeds[] = { 25, 50, 100, 103, 140, 250, 500, 1000 };
	static const uint8_t widths[] = { 1, 2, 4, 8, 12 };

	if (rand_r(seed) % 3) {
		port->speed = speeds[(unsigned)rand_r(seed) % ARRAY_SIZE(speeds)];
		port->width = widths[(unsigned)rand_r(seed) % ARRAY_SIZE(widths)];
	}
	port->silent = rand_r(seed) % 5 == 0;
	if (rand_r(seed) % 5 == 0 && port->width > 1) {
		port->cable_width = 1;
		port->cable_speed = 25;
	}
}

static void set_random_node(struct netfile_node *node, unsigned *seed)
{
	node->vendor_id = (uint32_t)rand_r(seed) & 0xFFFFFF;
	node->device_id = (uint16_t)rand_r(seed);
	node->silent = rand_r(seed) % 4 == 0;
	node->sysimg_guid = rand_r(seed) % 2 ? node->guid : (guid_t)rand_r(seed) << 32;
	if (rand_r(seed) % 2) {
		int number = rand_r(seed);

		snprintf(node->desc, sizeof(node->desc), "\"q\" %d%c", number,
			 '!' + rand_r(seed) % 90);
	}
	if (node->type != IB_NODE_SWITCH)
		return;
	node->enhanced_port0 = rand_r(seed) % 2;
	node->ports[0].lid = (lid_t)(rand_r(seed) % 0xC000);
	node->ports[0].lmc = (uint8_t)(rand_r(seed) % 8);
}

static void set_random_lid(struct netfile_node *node, uint8_t number, unsigned *seed)
{
	if (node->type == IB_NODE_SWITCH)
		return;
	node->ports[number].lid = (lid_t)(rand_r(seed) % 0xC000);
	node->ports[number].lmc = (uint8_t)(rand_r(seed) % 8);
	node->ports[number].guid = (guid_t)rand_r(seed) << 33 | node->guid << 8 | number;
}

static struct netfile *random_net(unsigned *seed)
{
	struct netfile *net = netfile_new();
	unsigned n = 1 + (unsigned)rand_r(seed) % 20;

	for (unsigned i = 0; i < n; i++) {
		uint8_t type = (uint8_t)(1 + rand_r(seed) % 3);
		char id[20];

		snprintf(id, sizeof(id), "%c %u", 'A' + rand_r(seed) % 26, i);
		netfile_add(net, type, id, (uint8_t)(1 + rand_r(seed) % 40), 0);
		set_random_node(&net->nodes[i], seed);
	}
	for (unsigned i = 0; i < n * 10; i++) {
		int a = rand_r(seed) % (int)n, b = rand_r(seed) % (int)n;
		uint8_t ap = (uint8_t)(1 + rand_r(seed) % 40),
			bp = (uint8_t)(1 + rand_r(seed) % 40);

		if (netfile_link(net, a, ap, b, bp) < 0)
			continue;
		set_random_port(&net->nodes[a].ports[ap], seed);
		set_random_port(&net->nodes[b].ports[bp], seed);
		set_random_lid(&net->nodes[a], ap, seed);
		set_random_lid(&net->nodes[b], bp, seed);
	}
	return net;
}

static void assert_equal_nets(const struct netfile *a, const struct netfile *b)
{
	assert_same_fabric(a, b);
	for (size_t i = 0; i < a->n_nodes; i++) {
		const struct netfile_node *na = &a->nodes[i], *nb = &b->nodes[i];

		assert_string_equal(na->id, nb->id);
		assert_int_equal(na->guid, nb->guid);
		assert_int_equal(na->silent, nb->silent);
		for (unsigned p = 0; p <= na->nports; p++) {
			assert_int_equal(na->ports[p].peer_node, nb->ports[p].peer_node);
			assert_int_equal(na->ports[p].width, nb->ports[p].width);
			assert_int_equal(na->ports[p].speed, nb->ports[p].speed);
			assert_int_equal(na->ports[p].silent, nb->ports[p].silent);
			assert_int_equal(na->ports[p].cable_width, nb->ports[p].cable_width);
			assert_int_equal(na->ports[p].cable_speed, nb->ports[p].cable_speed);
		}
	}
}

static void what_is_written_reads_back_equal(void **state)
{
	for (unsigned round = 0; round < 300; round++) {
		unsigned seed = 1000 + round;
		_cleanup_(netfile_freep) struct netfile *net = random_net(&seed), *again = NULL;
		_cleanup_free_ char *text = text_of(net), *second = NULL;

		if (round % 100 == 0)
			print_message("# seed %u\n", 1000 + round);
		again = parse(text);
		assert_equal_nets(net, again);
		second = text_of(again);
		assert_string_equal(text, second);
	}
}

/* Starts ibsim on the file and tells it to quit: the exit status says whether it could read it. */
static void ibsim_reads_what_is_written(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = parse(ibsim_text);
	_cleanup_free_ char *command = NULL;
	_cleanup_free_ char *path = scratch_file("");
	FILE *f;

	if (system("command -v ibsim >/dev/null 2>&1") != 0)
		skip();
	f = fopen(path, "w");
	assert_non_null(f);
	netfile_write(net, f);
	fclose(f);
	command = xasprintf("echo Quit | IBSIM_SOCKNAME=test-netfile-%d timeout 60 ibsim -s %s "
			    ">%s.out 2>&1 && grep -q 'Network simulator ready' %s.out && "
			    "! grep -q 'cannot parse speed' %s.out",
			    (int)getpid(), path, path, path, path);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_dialects_describe_the_same_fabric),
		cmocka_unit_test(facts_are_where_they_belong),
		cmocka_unit_test(guids_are_numbered_as_ibsim_does),
		cmocka_unit_test(a_description_may_hold_quotes_and_loses_controls),
		cmocka_unit_test(comments_and_carriage_returns_are_passed_over),
		cmocka_unit_test(an_empty_text_is_an_empty_fabric),
		cmocka_unit_test(a_missing_port_number_is_one),
		cmocka_unit_test(defaults_are_for_the_nodes_that_follow),
		cmocka_unit_test(mistakes_are_named_with_their_place),
		cmocka_unit_test(a_short_error_buffer_is_enough),
		cmocka_unit_test(huge_inputs_are_refused),
		cmocka_unit_test(a_long_line_is_refused),
		cmocka_unit_test(cables_need_two_free_ports),
		cmocka_unit_test(what_is_written_reads_back_equal),
		cmocka_unit_test(ibsim_reads_what_is_written),
	};

	return cmocka_run_group_tests_name("netfile", tests, NULL, NULL);
}
