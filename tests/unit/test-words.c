// SPDX-License-Identifier: BSD-2-Clause
/* ib/words.c and fabric/words.c: numbers and places as people read them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "fabric/fabric_internal.h"
#include "fabric/words.h"
#include "ib/words.h"
#include "util/mem.h"

static void assert_mgid(const char *mgid, const char *words)
{
	char text[IB_MGID_STRLEN];
	uint8_t bytes[16];

	assert_int_equal(inet_pton(AF_INET6, mgid, bytes), 1);
	assert_string_equal(ib_mgid_words(bytes, text), words);
}

static void groups_of_ip_are_named(void **state)
{
	assert_mgid("ff12:401b:ffff::ffff:ffff",
		    "IPv4 broadcast group of partition 0x7fff (ff12:401b:ffff::ffff:ffff)");
	assert_mgid("ff12:401b:ffff::1",
		    "IPv4 group 224.0.0.1 (all hosts) of partition 0x7fff (ff12:401b:ffff::1)");
	assert_mgid("ff12:401b:8002::fff:1234",
		    "IPv4 group 239.255.18.52 of partition 0x0002 (ff12:401b:8002::fff:1234)");
	assert_mgid("ff12:601b:ffff::1:ff12:3456",
		    "IPv6 group ff02::1:ff12:3456 (solicited node) of partition 0x7fff "
		    "(ff12:601b:ffff::1:ff12:3456)");
	assert_mgid("ff15:601b:8001::fb",
		    "IPv6 group ff05::fb (mDNS) of partition 0x0001 (ff15:601b:8001::fb)");
	assert_mgid("ff12:401b:ffff::101",
		    "IPv4 group 224.0.1.1 (NTP) of partition 0x7fff (ff12:401b:ffff::101)");
}

static void other_groups_are_their_address(void **state)
{
	assert_mgid("ff12:a01b:fe80::1", "ff12:a01b:fe80::1");
	assert_mgid("fe80::2:c903:0:1", "fe80::2:c903:0:1");
	/* No IPv4 group: bits that the mapping leaves 0 are set. */
	assert_mgid("ff12:401b:ffff:1::1", "ff12:401b:ffff:1::1");
	assert_mgid("ff12:401b:ffff::f000:1", "ff12:401b:ffff::f000:1");
}

static void numbers_nobody_named_are_shown(void **state)
{
	char text[IB_WORD_STRLEN];

	assert_string_equal(ib_attr_words(0x15, text), "PortInfo");
	assert_string_equal(ib_attr_words(0x1234, text), "attribute 0x1234");
	assert_string_equal(sa_attr_words(0x35, text), "PathRecord");
	assert_string_equal(sa_attr_words(0x7777, text), "attribute 0x7777");
	assert_string_equal(ib_method_words(2, text), "Set");
	assert_string_equal(ib_method_words(0x33, text), "method 0x0033");
	assert_string_equal(mad_status_words(0x1C, text), "invalid field");
	assert_string_equal(mad_status_words(0x4500, text), "status 0x4500");
	assert_string_equal(sa_status_words(0x0300, text), "no records");
	assert_string_equal(sa_status_words(0x7F00, text), "status 0x7f00");
}

/* ---- places --------------------------------------------------------------------------------- */

static struct node *add_node(struct fabric *f, unsigned type, guid_t guid, const char *desc)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };
	struct node *n;

	ib_put(info, NI_NODE_TYPE, type);
	ib_put(info, NI_NUM_PORTS, 8);
	ib_put(info, NI_NODE_GUID, guid);
	ib_put(info, NI_PORT_GUID, guid);
	ib_put(info, NI_LOCAL_PORT, 1);
	n = fabric_add_node(f, info);
	assert_non_null(n);
	snprintf(n->desc, sizeof(n->desc), "%s", desc);
	return n;
}

static void a_port_is_written_with_all_that_finds_it(void **state)
{
	struct fabric *f = fabric_new();
	struct node *host = add_node(f, IB_NODE_CA, 0x2c90000000a1, "h3");
	struct node *leaf = add_node(f, IB_NODE_SWITCH, 0x2c90000000b2, "leaf1");
	char text[PLACE_STRLEN];

	assert_string_equal(fabric_place_str(&host->ports[1], text),
			    "'h3' port 1 (0x00002c90000000a1)");
	host->ports[1].lid = 7;
	leaf->ports[0].lid = 3;
	fabric_connect(&host->ports[1], &leaf->ports[5]);
	assert_string_equal(fabric_place_str(&host->ports[1], text),
			    "'h3' port 1 (0x00002c90000000a1), LID 7, behind 'leaf1' port 5");
	assert_string_equal(fabric_place_str(&leaf->ports[5], text),
			    "'leaf1' port 5 (0x00002c90000000b2), LID 3, cabled to 'h3' port 1");
	assert_string_equal(fabric_place_str(&leaf->ports[0], text),
			    "'leaf1' (0x00002c90000000b2), LID 3");
	assert_string_equal(fabric_place_str(NULL, text), "an unknown port");
	fabric_free(f);
}

static void the_name_of_the_map_is_used(void **state)
{
	struct fabric *f = fabric_new();
	struct node *host = add_node(f, IB_NODE_CA, 0x2c90000000a1, "MT4123 HCA");
	char text[PORT_STRLEN], name[100];

	node_set_alias(host, "rack7-n3");
	assert_string_equal(fabric_port_str(&host->ports[1], text),
			    "'rack7-n3' port 1 (0x00002c90000000a1)");
	assert_string_equal(fabric_node_str(host, text), "'rack7-n3' (0x00002c90000000a1)");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	node_set_alias(host, name);
	assert_non_null(
		strstr(fabric_port_str(&host->ports[1], text), "xxx' port 1 (0x00002c90000000a1)"));
	node_set_alias(host, NULL);
	assert_string_equal(node_name(host), "MT4123 HCA");
	fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_ip_are_named),
		cmocka_unit_test(other_groups_are_their_address),
		cmocka_unit_test(numbers_nobody_named_are_shown),
		cmocka_unit_test(a_port_is_written_with_all_that_finds_it),
		cmocka_unit_test(the_name_of_the_map_is_used),
	};

	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
