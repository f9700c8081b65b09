// SPDX-License-Identifier: BSD-2-Clause
/* The topology records: what they show, how they are found, what is hidden from which port. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric_internal.h"
#include "sa/base/sa_internal.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"

/* LIDs of "tree 2 2 1": h0 1, h1 2 (on leaf1), h2 3, h3 4 (on leaf2), then the switches. */
#define SMALL "tree 2 2 1"

static const uint16_t full_b[] = { 0x8002 }, both[] = { 0xFFFF, 0x8002 };

/* ---- ClassPortInfo ---- */

static void class_port_info_shows_what_we_can(void **state)
{
	_desk_ d = desk_new(SMALL);
	const uint8_t *r = desk_record(desk_get(d, SA_CLASS_PORT_INFO, 0), 0);

	assert_int_equal(ib_get(r, CPI_BASE_VERSION), 1);
	assert_int_equal(ib_get(r, CPI_CLASS_VERSION), 2);
	assert_int_equal(ib_get(r, CPI_CAP_MASK), 0x2602);
	assert_int_equal(ib_get(r, CPI_CAP_MASK2), 0x2B5E8);
	assert_int_equal(ib_get(r, CPI_RESP_TIME), 16);
	assert_int_equal(ib_get(r, CPI_REDIRECT_QP), 1);
	assert_int_equal(ib_get(r, CPI_REDIRECT_QKEY), 0x80010000);
	assert_int_equal(ib_get(r, CPI_TRAP_QKEY), 0x80010000);
}

static void class_port_info_follows_the_configuration(void **state)
{
	_desk_ d = desk_new(SMALL);
	const uint8_t *r;

	desk_conf(d, "disable_multicast", "TRUE");
	desk_conf(d, "use_mfttop", "FALSE");
	desk_conf(d, "qos", "TRUE"); /* no policy yet: nothing is promised */
	desk_conf(d, "transaction_timeout", "300");
	r = desk_record(desk_get(d, SA_CLASS_PORT_INFO, 0), 0);
	assert_int_equal(ib_get(r, CPI_CAP_MASK), 0x2402);
	assert_int_equal(ib_get(r, CPI_CAP_MASK2), 0x2B5E0);
	assert_int_equal(ib_get(r, CPI_RESP_TIME), 17);
}

static void class_port_info_has_no_table(void **state)
{
	_desk_ d = desk_new(SMALL);

	assert_int_equal(desk_table(d, SA_CLASS_PORT_INFO, 0)->status, SA_REQ_INVALID);
	assert_int_equal(desk_set(d, SA_CLASS_PORT_INFO, 0)->status, MAD_STATUS_BAD_METHOD_ATTR);
}

/* ---- NodeRecord ---- */

#define NODE_COMP(n) (1ull << (n))
enum { NR_TYPE_C = 4, NR_NODE_GUID_C = 7, NR_PORT_GUID_C = 8, NR_DESC_C = 14 };
#define NODE_INFO(r) ((r) + NR_BYTES)
#define NODE_DESC(r) ((char *)(r) + NR_BYTES + NI_BYTES)

static void a_node_has_a_record_per_port_that_owns_a_lid(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a;
	const uint8_t *r;

	ib_put(NODE_INFO(desk_blank(d)), NI_NODE_TYPE, IB_NODE_SWITCH);
	a = desk_table(d, SA_NODE_RECORD, NODE_COMP(NR_TYPE_C));
	assert_int_equal(a->n, 3);
	r = desk_record(a, 0);
	assert_int_equal(ib_get(r, NR_LID), desk_lid(d, "leaf1"));
	assert_int_equal(ib_get(NODE_INFO(r), NI_LOCAL_PORT), 0);
	assert_int_equal(ib_get(NODE_INFO(r), NI_NODE_GUID), ib_get(NODE_INFO(r), NI_PORT_GUID));
	assert_int_equal(ib_get(NODE_INFO(r), NI_NUM_PORTS), desk_node(d, "leaf1")->n_ports);
}

static void a_node_is_found_by_guid_and_by_description(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint8_t *r = desk_blank(d);
	const struct desk_message *a;

	ib_put(NODE_INFO(r), NI_PORT_GUID, desk_end(d, "h2")->guid);
	a = desk_get(d, SA_NODE_RECORD, NODE_COMP(NR_PORT_GUID_C));
	assert_int_equal(ib_get(desk_record(a, 0), NR_LID), 3);

	ib_put(NODE_INFO(desk_blank(d)), NI_NODE_GUID, desk_node(d, "h3")->guid);
	a = desk_get(d, SA_NODE_RECORD, NODE_COMP(NR_NODE_GUID_C));
	assert_int_equal(ib_get(desk_record(a, 0), NR_LID), 4);

	memcpy(NODE_DESC(desk_blank(d)), "leaf2\0rubbish", 13);
	a = desk_get(d, SA_NODE_RECORD, NODE_COMP(NR_DESC_C));
	assert_int_equal(ib_get(desk_record(a, 0), NR_LID), desk_lid(d, "leaf2"));

	memcpy(NODE_DESC(desk_blank(d)), "leaf", 4);
	assert_int_equal(desk_get(d, SA_NODE_RECORD, NODE_COMP(NR_DESC_C))->status, SA_NO_RECORDS);
}

static void any_lid_of_a_range_finds_the_node(void **state)
{
	_desk_ d = desk_new_lmc(SMALL, 2);
	lid_t base = desk_lid(d, "h1");
	const struct desk_message *a;

	ib_put(desk_blank(d), NR_LID, base + 3);
	a = desk_get(d, SA_NODE_RECORD, SA_COMP(NR_LID));
	assert_int_equal(a->status, 0);
	assert_int_equal(ib_get(desk_record(a, 0), NR_LID), base);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 7);
}

static void two_criteria_must_both_hold(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint8_t *r = desk_blank(d);

	ib_put(r, NR_LID, 3);
	ib_put(NODE_INFO(r), NI_PORT_GUID, desk_end(d, "h1")->guid);
	assert_int_equal(
		desk_get(d, SA_NODE_RECORD, SA_COMP(NR_LID) | NODE_COMP(NR_PORT_GUID_C))->status,
		SA_NO_RECORDS);
}

static void nodes_of_other_partitions_are_not_shown(void **state)
{
	_desk_ d = desk_new(SMALL);

	desk_keys(d, "h3", 1, full_b);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 6);
	ib_put(desk_blank(d), NR_LID, 4);
	assert_int_equal(desk_get(d, SA_NODE_RECORD, SA_COMP(NR_LID))->status, SA_NO_RECORDS);
	d->from = "h3";
	desk_blank(d);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 1);
	desk_keys(d, "h1", 2, both);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 2);
}

/* ---- PortInfoRecord ---- */

#define PORT_INFO(r)	((r) + PIR_BYTES)
#define PORT_COMP(n)	(1ull << (n))
#define PIR_MATCH_MASKS 0x80000000u
enum { PIR_M_KEY_C = 3, PIR_BASE_LID_C = 5, PIR_CAP_MASK_C = 7, PIR_CAP_MASK2_C = 53 };

static void a_switch_has_a_record_per_port_with_the_lid_of_port_0(void **state)
{
	_desk_ d = desk_new(SMALL);
	lid_t leaf = desk_lid(d, "leaf1");
	const struct desk_message *a;

	ib_put(desk_blank(d), PIR_LID, leaf);
	a = desk_table(d, SA_PORT_INFO_RECORD, SA_COMP(PIR_LID));
	assert_int_equal(a->n, desk_node(d, "leaf1")->n_ports + 1);
	assert_int_equal(a->stride, 72);
	for (unsigned i = 0; i < a->n; i++) {
		assert_int_equal(ib_get(desk_record(a, i), PIR_LID), leaf);
		assert_int_equal(ib_get(desk_record(a, i), PIR_PORT_NUM), i);
	}
}

static void one_port_is_asked_for(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint64_t mask = SA_COMP(PIR_LID) | SA_COMP(PIR_PORT_NUM);
	uint8_t *r = desk_blank(d);

	ib_put(r, PIR_LID, desk_lid(d, "leaf1"));
	ib_put(r, PIR_PORT_NUM, 2);
	assert_int_equal(
		ib_get(desk_record(desk_get(d, SA_PORT_INFO_RECORD, mask), 0), PIR_PORT_NUM), 2);
	ib_put(r, PIR_PORT_NUM, 200);
	assert_int_equal(desk_get(d, SA_PORT_INFO_RECORD, mask)->status, SA_NO_RECORDS);
	ib_put(r, PIR_LID, 1);
	ib_put(r, PIR_PORT_NUM, 0);
	assert_int_equal(desk_get(d, SA_PORT_INFO_RECORD, mask)->status, SA_NO_RECORDS);
	ib_put(r, PIR_PORT_NUM, 1);
	assert_int_equal(desk_get(d, SA_PORT_INFO_RECORD, mask)->status, 0);
}

static void a_port_number_alone_is_looked_for_everywhere(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a;

	ib_put(desk_blank(d), PIR_PORT_NUM, 0);
	a = desk_table(d, SA_PORT_INFO_RECORD, SA_COMP(PIR_PORT_NUM));
	assert_int_equal(a->n, 3); /* the switches */
	ib_put(desk_blank(d), PIR_PORT_NUM, 1);
	a = desk_table(d, SA_PORT_INFO_RECORD, SA_COMP(PIR_PORT_NUM));
	assert_int_equal(a->n, 7);
}

static void the_m_key_is_for_the_trusted(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint64_t mask = SA_COMP(PIR_LID);
	uint8_t *r = desk_blank(d);
	uint64_t key;

	ib_put(r, PIR_LID, 2);
	key = ib_get(PORT_INFO(desk_record(desk_get(d, SA_PORT_INFO_RECORD, mask), 0)), PI_M_KEY);
	assert_int_equal(key, 0);
	d->sm_key = d->conf->sa_key;
	key = ib_get(PORT_INFO(desk_record(desk_get(d, SA_PORT_INFO_RECORD, mask), 0)), PI_M_KEY);
	assert_int_not_equal(key, 0);
	/* No request finds it by asking whether it has a given value. */
	ib_put(PORT_INFO(r), PI_M_KEY, key);
	assert_int_equal(desk_get(d, SA_PORT_INFO_RECORD, mask | PORT_COMP(PIR_M_KEY_C))->status,
			 0);
	d->sm_key = 0;
	assert_int_equal(desk_get(d, SA_PORT_INFO_RECORD, mask | PORT_COMP(PIR_M_KEY_C))->status,
			 SA_NO_RECORDS);
}

static void capability_bits_are_looked_for(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint64_t mask = PORT_COMP(PIR_CAP_MASK_C);
	const struct desk_message *a;

	ib_put(PORT_INFO(desk_blank(d)), PI_CAP_MASK, IB_CAP(IB_CAP_IS_SM));
	assert_int_equal(desk_table(d, SA_PORT_INFO_RECORD, mask)->n, 0);
	d->mod = PIR_MATCH_MASKS;
	a = desk_table(d, SA_PORT_INFO_RECORD, mask);
	assert_int_equal(a->n, 1);
	assert_int_equal(ib_get(desk_record(a, 0), PIR_LID), 1);
	assert_int_equal(ib_get(a->mad, SAH_ATTR_MOD), PIR_MATCH_MASKS);
	d->mod = 0;
	ib_put(PORT_INFO(d->record), PI_CAP_MASK, ib_get(desk_end(d, "h0")->info, PI_CAP_MASK));
	assert_int_equal(desk_table(d, SA_PORT_INFO_RECORD, mask)->n, 1);
}

static void second_capability_mask_too(void **state)
{
	_desk_ d = desk_new(SMALL);

	ib_put(desk_end(d, "h2")->info, PI_CAP_MASK2, 0x30);
	desk_publish(d);
	ib_put(PORT_INFO(desk_blank(d)), PI_CAP_MASK2, 0x20);
	assert_int_equal(desk_table(d, SA_PORT_INFO_RECORD, PORT_COMP(PIR_CAP_MASK2_C))->n, 0);
	d->mod = PIR_MATCH_MASKS;
	assert_int_equal(desk_table(d, SA_PORT_INFO_RECORD, PORT_COMP(PIR_CAP_MASK2_C))->n, 1);
}

static void a_port_is_found_by_the_lid_in_port_info(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint8_t *r = desk_blank(d);
	const struct desk_message *a;

	ib_put(PORT_INFO(r), PI_LID, 3);
	a = desk_table(d, SA_PORT_INFO_RECORD, PORT_COMP(PIR_BASE_LID_C));
	assert_int_equal(a->n, 1);
	assert_int_equal(ib_get(desk_record(a, 0), PIR_LID), 3);
	r = desk_blank(d);
	ib_put(r, PIR_LID, 4); /* as the peer takes it */
	a = desk_table(d, SA_PORT_INFO_RECORD, PORT_COMP(PIR_BASE_LID_C));
	assert_int_equal(a->n, 1);
	assert_int_equal(ib_get(desk_record(a, 0), PIR_LID), 4);
}

#define QDR 4

static void readers_of_old_are_told_qdr(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint64_t mask = SA_COMP(PIR_LID);
	uint8_t *r = desk_blank(d);
	const uint8_t *a;

	ib_put(desk_end(d, "h1")->info, PI_SPEED_EXT_ACTIVE, 2);
	desk_publish(d);
	ib_put(r, PIR_LID, 2);
	a = desk_record(desk_get(d, SA_PORT_INFO_RECORD, mask), 0);
	assert_int_equal(ib_get(PORT_INFO(a), PI_SPEED_ACTIVE), 1 | QDR);
	assert_int_equal(ib_get(PORT_INFO(a), PI_SPEED_ENABLED), 1 | QDR);
	assert_int_equal(ib_get(PORT_INFO(a), PI_SPEED_SUPPORTED), 1 | QDR);
	assert_int_equal(ib_get(PORT_INFO(a), PI_SPEED_EXT_ACTIVE), 2);
	assert_int_equal(ib_get(a, PIR_OPTIONS), 0);

	ib_put(r, PIR_OPTIONS, 0x80);
	a = desk_record(desk_get(d, SA_PORT_INFO_RECORD, mask), 0);
	assert_int_equal(ib_get(PORT_INFO(a), PI_SPEED_ACTIVE), 1 | QDR);
	assert_int_equal(ib_get(a, PIR_OPTIONS), 0);

	a = desk_record(desk_get(d, SA_PORT_INFO_RECORD, mask | SA_COMP(PIR_OPTIONS)), 0);
	assert_int_equal(ib_get(PORT_INFO(a), PI_SPEED_ACTIVE), 1);
	assert_int_equal(ib_get(a, PIR_OPTIONS), 0x80);
}

static void extended_speeds_count_only_where_the_node_has_them(void **state)
{
	_desk_ d = desk_new(SMALL);
	struct port *p = desk_end(d, "h1");

	ib_put(p->info, PI_SPEED_EXT_ACTIVE, 2);
	ib_put(p->info, PI_CAP_MASK, 0);
	desk_publish(d);
	ib_put(desk_blank(d), PIR_LID, 2);
	assert_int_equal(ib_get(PORT_INFO(desk_record(
					desk_get(d, SA_PORT_INFO_RECORD, SA_COMP(PIR_LID)), 0)),
				PI_SPEED_ACTIVE),
			 1);
}

/* ---- LinkRecord ---- */

static void every_cable_has_two_records(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a = desk_table(d, SA_LINK_RECORD, 0);

	assert_int_equal(a->n, 2 * (4 + 2));
	assert_int_equal(a->stride, 8);
}

static void links_are_found_by_either_end(void **state)
{
	_desk_ d = desk_new_lmc(SMALL, 1);
	lid_t leaf = desk_lid(d, "leaf1"), host = desk_lid(d, "h0");
	uint8_t *r = desk_blank(d);
	const struct desk_message *a;

	ib_put(r, LKR_FROM_LID, host + 1);
	a = desk_table(d, SA_LINK_RECORD, SA_COMP(LKR_FROM_LID));
	assert_int_equal(a->n, 1);
	assert_int_equal(ib_get(desk_record(a, 0), LKR_FROM_LID), host);
	assert_int_equal(ib_get(desk_record(a, 0), LKR_FROM_PORT), 1);
	assert_int_equal(ib_get(desk_record(a, 0), LKR_TO_LID), leaf);

	ib_put(r, LKR_TO_LID, host + 1);
	a = desk_table(d, SA_LINK_RECORD, SA_COMP(LKR_TO_LID));
	assert_int_equal(a->n, 1);
	assert_int_equal(ib_get(desk_record(a, 0), LKR_FROM_LID), leaf);

	ib_put(r, LKR_FROM_LID, leaf);
	a = desk_table(d, SA_LINK_RECORD, SA_COMP(LKR_FROM_LID));
	assert_int_equal(a->n, 3);
	a = desk_get(d, SA_LINK_RECORD, SA_COMP(LKR_FROM_LID) | SA_COMP(LKR_TO_LID));
	assert_int_equal(a->n, 1);
	assert_int_equal(desk_get(d, SA_LINK_RECORD, SA_COMP(LKR_FROM_LID))->status,
			 SA_TOO_MANY_RECORDS);
}

static void a_link_is_shown_to_those_who_see_both_ends(void **state)
{
	_desk_ d = desk_new(SMALL);

	desk_keys(d, "h3", 1, full_b);
	assert_int_equal(desk_table(d, SA_LINK_RECORD, 0)->n, 2 * (3 + 2));
	d->from = "h3"; /* its own cable, at both ends of which its P_Key is */
	assert_int_equal(desk_table(d, SA_LINK_RECORD, 0)->n, 2);
}

/* ---- SwitchInfoRecord, SMInfoRecord ---- */

static void switches_show_their_switch_info(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a = desk_table(d, SA_SWITCH_INFO_RECORD, 0);

	assert_int_equal(a->n, 3);
	assert_int_equal(a->stride, 24);
	assert_int_equal(ib_get(desk_record(a, 0) + SIR_BYTES, SI_MULTICAST_FDB_CAP), 1024);
	ib_put(desk_blank(d), SIR_LID, 1);
	assert_int_equal(desk_table(d, SA_SWITCH_INFO_RECORD, SA_COMP(SIR_LID))->n, 0);
}

static void the_subnet_manager_shows_itself_without_its_key(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a = desk_get(d, SA_SM_INFO_RECORD, 0);
	const uint8_t *r = desk_record(a, 0);

	assert_int_equal(a->stride, 32);
	assert_int_equal(ib_get(r, SMR_LID), 1);
	assert_int_equal(ib_get(r + SMR_BYTES, SMI_GUID), desk_end(d, "h0")->guid);
	assert_int_equal(ib_get(r + SMR_BYTES, SMI_SM_KEY), 0);
	assert_int_equal(ib_get(r + SMR_BYTES, SMI_ACT_COUNT), 7);
	assert_int_equal(ib_get(r + SMR_BYTES, SMI_PRIORITY), 5);
	assert_int_equal(ib_get(r + SMR_BYTES, SMI_STATE), 3);
	ib_put(desk_blank(d), SMR_LID, 2);
	assert_int_equal(desk_get(d, SA_SM_INFO_RECORD, SA_COMP(SMR_LID))->status, SA_NO_RECORDS);
}

/* ---- tables ---- */

static void forwarding_tables_go_up_to_their_top(void **state)
{
	_desk_ d = desk_new("single 70"); /* 71 LIDs: two blocks */
	const struct desk_message *a = desk_table(d, SA_LFT_RECORD, 0);
	const uint8_t *table;

	assert_int_equal(a->n, 2);
	assert_int_equal(ib_get(desk_record(a, 1), LFR_BLOCK), 1);
	table = desk_record(a, 0) + LFR_TABLE / 8;
	assert_int_equal(table[0], LFT_NO_PORT);
	assert_int_equal(table[1], 1);
	ib_put(desk_blank(d), LFR_BLOCK, 2);
	assert_int_equal(desk_table(d, SA_LFT_RECORD, SA_COMP(LFR_BLOCK))->n, 0);
	ib_put(desk_blank(d), LFR_BLOCK, 1);
	assert_int_equal(desk_table(d, SA_LFT_RECORD, SA_COMP(LFR_BLOCK))->n, 1);
	ib_put(desk_blank(d), LFR_LID, 1);
	assert_int_equal(desk_table(d, SA_LFT_RECORD, SA_COMP(LFR_LID))->n, 0);
}

static void a_switch_shows_the_table_it_holds_not_the_one_it_should(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint8_t held[LFT_BLOCK_LIDS];

	memset(held, 9, sizeof(held));
	lft_have_set(&desk_node(d, "leaf1")->lft, 0, held);
	ib_put(desk_blank(d), LFR_LID, desk_lid(d, "leaf1"));
	assert_memory_equal(desk_record(desk_get(d, SA_LFT_RECORD, SA_COMP(LFR_LID)), 0) +
				    LFR_TABLE / 8,
			    held, sizeof(held));
}

static void multicast_tables_show_the_blocks_in_use(void **state)
{
	_desk_ d = desk_new(SMALL);
	struct mft_cell cell = { 0 };
	const struct desk_message *a;

	assert_int_equal(desk_table(d, SA_MFT_RECORD, 0)->n, 0);
	mft_have_set(&desk_node(d, "leaf1")->mft, 3, 0, &cell);
	assert_int_equal(desk_table(d, SA_MFT_RECORD, 0)->n, 0);
	cell.mask[5] = 0x000C;
	mft_have_set(&desk_node(d, "leaf1")->mft, 1, 0, &cell);
	a = desk_table(d, SA_MFT_RECORD, 0);
	assert_int_equal(a->n, 2);
	assert_int_equal(ib_get(desk_record(a, 1), MFR_BLOCK), 1);
	assert_int_equal(ib_get(desk_record(a, 1), MFR_LID), desk_lid(d, "leaf1"));
	assert_int_equal(ib_bits_get(desk_record(a, 1), MFR_TABLE + 5 * 16, 16), 0x000C);
	ib_put(desk_blank(d), MFR_BLOCK, 1);
	assert_int_equal(desk_table(d, SA_MFT_RECORD, SA_COMP(MFR_BLOCK))->n, 1);
	ib_put(d->record, MFR_POSITION, 1);
	assert_int_equal(desk_table(d, SA_MFT_RECORD, SA_COMP(MFR_POSITION))->n, 0);
}

static void sl_to_vl_is_read_from_the_device(void **state)
{
	_desk_ d = desk_new(SMALL);
	unsigned ports = desk_node(d, "leaf1")->n_ports + 1;
	uint8_t *r = desk_blank(d);
	const struct desk_message *a;

	ib_put(r, SLR_LID, desk_lid(d, "leaf1"));
	ib_put(r, SLR_IN_PORT, 1);
	ib_put(r, SLR_OUT_PORT, 2);
	a = desk_get(d, SA_SL2VL_RECORD,
		     SA_COMP(SLR_LID) | SA_COMP(SLR_IN_PORT) | SA_COMP(SLR_OUT_PORT));
	assert_int_equal(d->cells_asked, 1);
	assert_int_equal(a->stride, 16);
	assert_int_equal(ib_get(desk_record(a, 0), SLR_IN_PORT), 1);
	assert_int_equal(ib_get(desk_record(a, 0), SLR_OUT_PORT), 2);
	assert_int_equal(ib_get(desk_record(a, 0), SLR_TABLE), 0x0202020202020202);
	a = desk_table(d, SA_SL2VL_RECORD, SA_COMP(SLR_LID));
	assert_int_equal(a->n, ports * ports);
	ib_put(r, SLR_LID, 1);
	a = desk_table(d, SA_SL2VL_RECORD, SA_COMP(SLR_LID));
	assert_int_equal(a->n, 1);
	assert_int_equal(ib_get(desk_record(a, 0), SLR_OUT_PORT), 0);
}

static void vl_arbitration_is_read_as_far_as_there_is_one(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint8_t *r = desk_blank(d);
	const struct desk_message *a;

	ib_put(r, VAR_LID, 2);
	a = desk_table(d, SA_VLARB_RECORD, SA_COMP(VAR_LID));
	assert_int_equal(a->n, 4);
	assert_int_equal(d->cells_asked, 2); /* capacity 8: blocks 1 and 3 */
	assert_int_equal(ib_get(desk_record(a, 0), VAR_BLOCK), 1);
	assert_int_equal(desk_record(a, 0)[VAR_TABLE / 8], 1);
	assert_int_equal(desk_record(a, 1)[VAR_TABLE / 8], 0);
	ib_put(r, VAR_BLOCK, 3);
	ib_put(r, VAR_PORT, 1);
	a = desk_get(d, SA_VLARB_RECORD, SA_COMP(VAR_LID) | SA_COMP(VAR_PORT) | SA_COMP(VAR_BLOCK));
	assert_int_equal(ib_get(desk_record(a, 0), VAR_BLOCK), 3);
	ib_put(r, VAR_BLOCK, 0);
	assert_int_equal(desk_table(d, SA_VLARB_RECORD, SA_COMP(VAR_BLOCK))->n, 0);
	ib_put(r, VAR_BLOCK, 5);
	assert_int_equal(desk_table(d, SA_VLARB_RECORD, SA_COMP(VAR_BLOCK))->n, 0);
}

static void p_key_tables_are_for_the_trusted(void **state)
{
	_desk_ d = desk_new(SMALL);
	struct port *p = desk_end(d, "h1");
	uint8_t block[SMP_DATA_SIZE] = { 0xFF, 0xFF, 0x80, 0x02 };
	uint8_t *r = desk_blank(d);
	const struct desk_message *a;

	ib_put(r, PKR_LID, 2);
	assert_int_equal(desk_table(d, SA_PKEY_TABLE_RECORD, SA_COMP(PKR_LID))->status,
			 SA_REQ_INVALID);
	d->sm_key = d->conf->sa_key;
	cell_table_set(d->fabric->cells, &p->tables[TABLE_PKEYS], 0, block);
	a = desk_table(d, SA_PKEY_TABLE_RECORD, SA_COMP(PKR_LID));
	assert_int_equal(a->n, 2);	     /* 64 keys */
	assert_int_equal(d->cells_asked, 1); /* the unknown one */
	assert_int_equal(ib_get(desk_record(a, 0), PKR_PORT), 1);
	assert_memory_equal(desk_record(a, 0) + PKR_TABLE / 8, block, sizeof(block));
	assert_int_equal(ib_get(desk_record(a, 1), PKR_BLOCK), 0x0100); /* as saquery reads it */
	assert_int_equal(desk_record(a, 1)[PKR_TABLE / 8], 1);
	ib_put(r, PKR_BLOCK, 1);
	a = desk_table(d, SA_PKEY_TABLE_RECORD, SA_COMP(PKR_LID) | SA_COMP(PKR_BLOCK));
	assert_int_equal(a->n, 1);
	assert_int_equal(ib_get(desk_record(a, 0), PKR_BLOCK), 0x0100);
}

static void switch_ports_have_p_key_tables_of_their_own(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint8_t *r = desk_blank(d);
	const struct desk_message *a;

	d->sm_key = d->conf->sa_key;
	ib_put(r, PKR_LID, desk_lid(d, "leaf1"));
	ib_put(r, PKR_PORT, 3);
	a = desk_table(d, SA_PKEY_TABLE_RECORD, SA_COMP(PKR_LID) | SA_COMP(PKR_PORT));
	assert_int_equal(a->n, 1);
	assert_int_equal(ib_get(desk_record(a, 0), PKR_PORT), 3);
}

static bool nobody_answers(struct desk *d, const struct sa_cell_address *at,
			   uint8_t payload[SMP_DATA_SIZE])
{
	return false;
}

static void a_device_that_does_not_answer_leaves_a_gap(void **state)
{
	_desk_ d = desk_new(SMALL);

	d->cell = nobody_answers;
	ib_put(desk_blank(d), SLR_LID, 2);
	assert_int_equal(desk_table(d, SA_SL2VL_RECORD, SA_COMP(SLR_LID))->n, 0);
	assert_int_equal(d->cells_asked, 1);
}

static void tables_of_devices_are_read_so_often_and_no_more(void **state)
{
	_desk_ d = desk_new(SMALL);

	d->sa->limits.cells = 10;
	assert_int_equal(desk_table(d, SA_SL2VL_RECORD, 0)->status, SA_NO_RESOURCES);
	assert_int_equal(d->cells_asked, 10);
}

static void a_node_that_left_since_the_view_has_no_tables(void **state)
{
	_desk_ d = desk_new(SMALL);

	ib_put(desk_blank(d), LFR_LID, desk_lid(d, "leaf2"));
	fabric_remove_node(d->fabric, desk_node(d, "leaf2"));
	assert_int_equal(desk_table(d, SA_LFT_RECORD, SA_COMP(LFR_LID))->n, 0);
	assert_int_equal(desk_table(d, SA_VLARB_RECORD, SA_COMP(VAR_LID))->n, 0);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, SA_COMP(NR_LID))->n, 1);
}

/* Which device holds it can be told from each byte. */
static bool guid_of_device(struct desk *d, const struct sa_cell_address *at,
			   uint8_t payload[SMP_DATA_SIZE])
{
	memset(payload, (int)(at->node_guid & 0xFF), SMP_DATA_SIZE);
	return true;
}

static void what_a_lost_node_said_is_not_shown_for_another(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a;
	const uint8_t *record;
	uint8_t h1;

	d->mute = true;
	d->cell = guid_of_device;
	h1 = (uint8_t)desk_node(d, "h1")->guid;
	for (unsigned i = 0; i < d->fabric->n_nodes; i++) {
		struct node *n = d->fabric->nodes[i];

		for (unsigned k = 0; k <= n->n_ports; k++) {
			ib_put(n->ports[k].info, PI_VLARB_LOW_CAP, 8);
			ib_put(n->ports[k].info, PI_VLARB_HIGH_CAP, 0);
		}
	}
	desk_publish(d);
	ib_put(desk_blank(d), VAR_BLOCK, 1);
	desk_post(d, MAD_SA_GET_TABLE, SA_VLARB_RECORD, SA_COMP(VAR_BLOCK));
	assert_int_equal(d->n_cells, 1); /* h0's */
	fabric_remove_node(d->fabric, desk_node(d, "h0"));
	desk_answer_cells(d);
	desk_settle(d);
	while (d->n_cells) {
		desk_answer_cells(d);
		desk_settle(d);
	}
	a = desk_reply(d);
	assert_true(a->n > 0);
	record = desk_record(a, 0);
	assert_int_equal(ib_get(record, VAR_LID), 2);
	assert_int_equal(*ib_at(record, VAR_TABLE), h1);
}

/* ---- the component mask ---- */

/*
 * Fields whose component is not a plain comparison, or whose value is not in the record as asked.
 */
static bool is_special(uint16_t attr, unsigned component)
{
	return (attr == SA_PORT_INFO_RECORD && component == PIR_OPTIONS_C) ||
	       (attr == SA_PKEY_TABLE_RECORD && component == PKR_BLOCK_C);
}

static bool has_record(const struct desk_message *a, const uint8_t *record)
{
	for (unsigned i = 0; i < a->n; i++)
		if (!memcmp(desk_record(a, i), record, a->stride))
			return true;
	return false;
}

static void find_by_each_component(struct desk *d, uint16_t attr, const uint8_t *record)
{
	const struct sa_type *t = sa_type_find(attr);

	for (unsigned c = 0; c < t->n_head + t->n_body; c++) {
		memcpy(desk_blank(d), record, sa_type_stride(t));
		if (!is_special(attr, c))
			assert_true(has_record(desk_table(d, attr, 1ull << c), record));
	}
}

static void every_record_is_found_by_each_of_its_components(void **state)
{
	static const uint16_t attrs[] = {
		SA_NODE_RECORD,	 SA_PORT_INFO_RECORD, SA_SWITCH_INFO_RECORD,
		SA_LINK_RECORD,	 SA_SM_INFO_RECORD,   SA_LFT_RECORD,
		SA_SL2VL_RECORD, SA_VLARB_RECORD,     SA_PKEY_TABLE_RECORD,
	};
	_desk_ d = desk_new("single 3");

	d->sm_key = d->conf->sa_key;
	for (unsigned i = 0; i < ARRAY_SIZE(attrs); i++) {
		const struct desk_message *a;
		_cleanup_free_ uint8_t *all = NULL;
		size_t stride;
		unsigned n;

		desk_blank(d);
		a = desk_table(d, attrs[i], 0);
		n = a->n;
		stride = a->stride;
		assert_true(n);
		all = xmemdup(a->mad + SA_DATA, n * stride);
		for (unsigned k = 0; k < n; k++)
			find_by_each_component(d, attrs[i], all + k * stride);
	}
}

static void a_component_that_differs_leaves_the_record_out(void **state)
{
	_desk_ d = desk_new("single 3");
	const struct sa_type *t = &sa_switch_info_record;
	const struct desk_message *a = desk_get(d, SA_SWITCH_INFO_RECORD, 0);
	_cleanup_free_ uint8_t *record = xmemdup(desk_record(a, 0), a->stride);

	for (unsigned c = 0; c < t->n_head + t->n_body; c++) {
		const struct ib_field *f = c < t->n_head ? &t->head[c] : &t->body[c - t->n_head];
		size_t at = c < t->n_head ? 0 : t->head_len;
		bool reserved = !strncmp(f->name, "RSV", 3);
		uint8_t *r = desk_blank(d);

		memcpy(r, record, sa_type_stride(t));
		ib_bits_put(r + at, f->offset, f->width, ~ib_bits_get(r + at, f->offset, f->width));
		assert_int_equal(desk_table(d, SA_SWITCH_INFO_RECORD, 1ull << c)->n,
				 reserved ? 1 : 0);
	}
}

static unsigned count_shown(struct desk *d, uint16_t attr)
{
	desk_blank(d);
	return desk_table(d, attr, 0)->n;
}

/*
 * Switches are limited members: their ports 0 are hidden from a limited host. Ports that face a
 * host are judged like the host, those between switches by the default partition. The trusted see
 * all.
 */
static void ports_of_switches_are_judged_by_what_they_face(void **state)
{
	static const uint16_t limited[] = { 0x7FFF }, member[] = { 0x7FFF, 0x8001 };
	static const char *const most[] = { "leaf1", "leaf2", "spine1", "h0", "h2" };
	_desk_ d = desk_new(SMALL);

	for (size_t i = 0; i < ARRAY_SIZE(most); i++)
		desk_keys(d, most[i], 1, limited);
	desk_keys(d, "h1", 2, member);
	desk_keys(d, "h3", 2, member);
	d->from = "h1";
	/* of h1, of h3, between switches: both ways */
	assert_int_equal(count_shown(d, SA_LINK_RECORD), 8);
	/* both ends of these four cables */
	assert_int_equal(count_shown(d, SA_PORT_INFO_RECORD), 8);
	assert_int_equal(count_shown(d, SA_NODE_RECORD), 2);
	d->from = "h0"; /* h0 itself, its switch port, those between switches */
	assert_int_equal(count_shown(d, SA_PORT_INFO_RECORD), 6);
	d->sm_key = d->conf->sa_key;
	assert_int_equal(count_shown(d, SA_LINK_RECORD), 12);
	assert_int_equal(count_shown(d, SA_PORT_INFO_RECORD), 15);
	assert_int_equal(count_shown(d, SA_NODE_RECORD), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(class_port_info_shows_what_we_can),
		cmocka_unit_test(class_port_info_follows_the_configuration),
		cmocka_unit_test(class_port_info_has_no_table),
		cmocka_unit_test(a_node_has_a_record_per_port_that_owns_a_lid),
		cmocka_unit_test(a_node_is_found_by_guid_and_by_description),
		cmocka_unit_test(any_lid_of_a_range_finds_the_node),
		cmocka_unit_test(two_criteria_must_both_hold),
		cmocka_unit_test(nodes_of_other_partitions_are_not_shown),
		cmocka_unit_test(a_switch_has_a_record_per_port_with_the_lid_of_port_0),
		cmocka_unit_test(one_port_is_asked_for),
		cmocka_unit_test(a_port_number_alone_is_looked_for_everywhere),
		cmocka_unit_test(the_m_key_is_for_the_trusted),
		cmocka_unit_test(ports_of_switches_are_judged_by_what_they_face),
		cmocka_unit_test(capability_bits_are_looked_for),
		cmocka_unit_test(second_capability_mask_too),
		cmocka_unit_test(a_port_is_found_by_the_lid_in_port_info),
		cmocka_unit_test(readers_of_old_are_told_qdr),
		cmocka_unit_test(extended_speeds_count_only_where_the_node_has_them),
		cmocka_unit_test(every_cable_has_two_records),
		cmocka_unit_test(links_are_found_by_either_end),
		cmocka_unit_test(a_link_is_shown_to_those_who_see_both_ends),
		cmocka_unit_test(switches_show_their_switch_info),
		cmocka_unit_test(the_subnet_manager_shows_itself_without_its_key),
		cmocka_unit_test(forwarding_tables_go_up_to_their_top),
		cmocka_unit_test(a_switch_shows_the_table_it_holds_not_the_one_it_should),
		cmocka_unit_test(multicast_tables_show_the_blocks_in_use),
		cmocka_unit_test(sl_to_vl_is_read_from_the_device),
		cmocka_unit_test(vl_arbitration_is_read_as_far_as_there_is_one),
		cmocka_unit_test(p_key_tables_are_for_the_trusted),
		cmocka_unit_test(switch_ports_have_p_key_tables_of_their_own),
		cmocka_unit_test(a_device_that_does_not_answer_leaves_a_gap),
		cmocka_unit_test(tables_of_devices_are_read_so_often_and_no_more),
		cmocka_unit_test(a_node_that_left_since_the_view_has_no_tables),
		cmocka_unit_test(what_a_lost_node_said_is_not_shown_for_another),
		cmocka_unit_test(every_record_is_found_by_each_of_its_components),
		cmocka_unit_test(a_component_that_differs_leaves_the_record_out),
	};

	return cmocka_run_group_tests_name("sa-records", tests, NULL, NULL);
}
