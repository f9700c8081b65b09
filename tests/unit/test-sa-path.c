// SPDX-License-Identifier: BSD-2-Clause
/*
 * PathRecord: sa.md 4, and what clients of it ask for. The ways themselves:
 * test-sa-walk.c.
 */
#include "conf/partitions/partitions.h"
#include "tests/unit/path-asking.h"

/* ---- the oracle ----------------------------------------------------------------------------- */

static void a_path_has_the_values_of_its_way(void **state)
{
	_desk_ d = two_leaves();
	const uint8_t *r;

	blank_lids(d, 1, 3);
	r = one(table(d, LIDS));
	assert_int_equal(byte_at(r, PR_MTU_SEL), 0x84);
	assert_int_equal(byte_at(r, PR_RATE_SEL), 0x83);
	assert_int_equal(byte_at(r, PR_LIFE_SEL), 0x92);
	assert_int_equal(byte_at(r, PR_REVERSIBLE), REVERSIBLE);
	assert_int_equal(ib_get(r, PR_SL), 0);
	assert_int_equal(ib_get(r, PR_PKEY), 0xFFFF);
	assert_int_equal(ib_get(r, PR_HOP), 0);
	assert_int_equal(ib_get(r, PR_PREFERENCE), 0);
	assert_int_equal(ib_get(r, PR_SLID), 1);
	assert_int_equal(ib_get(r, PR_DLID), 3);
}

static void gids_and_lids_name_the_same_path(void **state)
{
	_desk_ d = two_leaves();
	uint8_t by_lid[PR_BYTES], gid[16];

	blank_lids(d, 1, 3);
	memcpy(by_lid, one(get(d, LIDS)), PR_BYTES);
	blank_names(d, "h0", "h2");
	assert_memory_equal(one(get(d, GIDS)), by_lid, PR_BYTES);
	desk_gid(d, "h2", gid);
	assert_memory_equal(ib_at(by_lid, PR_DGID), gid, 16);
	desk_gid(d, "h0", gid);
	assert_memory_equal(ib_at(by_lid, PR_SGID), gid, 16);
}

struct oracle {
	uint64_t mask; /* beside the LIDs */
	unsigned at;   /* byte of the record */
	uint8_t asked;
	uint8_t answer;	 /* the byte as answered; 0: no record */
	uint16_t status; /* of an error */
};

static void selectors_answer_as_the_peer_does(void **state)
{
	static const struct oracle rows[] = {
		{ MTU, PR_MTU_SEL, 0x84, 0x84, 0 },
		{ MTU, PR_MTU_SEL, 0x83, 0x83, 0 },
		{ MTU, PR_MTU_SEL, 0x85, 0, 0 },
		{ MTU, PR_MTU_SEL, 0x44, 0x83, 0 },
		{ MTU, PR_MTU_SEL, 0x04, 0, 0 },
		{ MTU, PR_MTU_SEL, 0x03, 0x84, 0 },
		{ MTU, PR_MTU_SEL, 0xC0, 0, SA_REQ_INVALID },
		{ MTU, PR_MTU_SEL, 0x86, 0, SA_REQ_INVALID },
		{ RATE, PR_RATE_SEL, 0x83, 0x83, 0 },
		{ RATE, PR_RATE_SEL, 0x82, 0, 0 },
		{ RATE, PR_RATE_SEL, 0x86, 0, 0 },
		{ RATE, PR_RATE_SEL, 0x03, 0, 0 },
		{ RATE, PR_RATE_SEL, 0x02, 0x83, 0 },
		{ RATE, PR_RATE_SEL, 0x43, 0x85, 0 },
		{ RATE, PR_RATE_SEL, 0x47, 0x83, 0 },
		{ RATE, PR_RATE_SEL, 0xC0, 0, SA_REQ_INVALID },
		{ RATE, PR_RATE_SEL, 0xBF, 0, SA_REQ_INVALID },
		{ LIFE, PR_LIFE_SEL, 0x92, 0x92, 0 },
		{ LIFE, PR_LIFE_SEL, 0x12, 0, 0 },
		{ LIFE, PR_LIFE_SEL, 0x52, 0x91, 0 },
	};
	_desk_ d = two_leaves();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct desk_message *a;

		blank_lids(d, 1, 3);
		d->record[rows[i].at / 8] = rows[i].asked;
		if (rows[i].status) {
			expect_status(d, LIDS | rows[i].mask, rows[i].status);
		} else if (!rows[i].answer) {
			expect_none(d, LIDS | rows[i].mask);
		} else {
			a = table(d, LIDS | rows[i].mask);
			assert_int_equal(byte_at(one(a), rows[i].at), rows[i].answer);
			a = get(d, LIDS | rows[i].mask);
			assert_int_equal(byte_at(one(a), rows[i].at), rows[i].answer);
		}
	}
}

static void half_of_a_selector_is_ignored(void **state)
{
	_desk_ d = two_leaves();

	blank_lids(d, 1, 3);
	d->record[PR_MTU_SEL / 8] = 0x85;
	d->record[PR_RATE_SEL / 8] = 0xBF;
	d->record[PR_LIFE_SEL / 8] = 0x12;
	assert_int_equal(byte_at(one(get(d, LIDS | SA_COMP(PR_MTU))), PR_MTU_SEL), 0x84);
	one(get(d, LIDS | SA_COMP(PR_MTU_SEL) | SA_COMP(PR_RATE_SEL) | SA_COMP(PR_LIFE)));
	one(get(d, LIDS | SA_COMP(PR_RATE) | SA_COMP(PR_LIFE_SEL)));
}

static void no_paths_are_given_to_who_asks_for_none(void **state)
{
	_desk_ d = two_leaves();

	blank_lids(d, 1, 3);
	assert_int_equal(table(d, LIDS | SA_COMP(PR_NUMB_PATH))->n, 0);
	ib_put(d->record, PR_NUMB_PATH, 1);
	ib_put(d->record, PR_REVERSIBLE, 1);
	one(table(d, LIDS | SA_COMP(PR_NUMB_PATH) | SA_COMP(PR_REVERSIBLE)));
}

static void the_p_key_is_echoed_if_both_hold_it(void **state)
{
	_desk_ d = two_leaves();

	blank_lids(d, 1, 3);
	ib_put(d->record, PR_PKEY, 0x7FFF);
	assert_int_equal(ib_get(one(table(d, LIDS | SA_COMP(PR_PKEY))), PR_PKEY), 0x7FFF);
	ib_put(d->record, PR_PKEY, 0x8001);
	expect_none(d, LIDS | SA_COMP(PR_PKEY));
}

static void any_sl_is_accepted_and_echoed(void **state)
{
	_desk_ d = two_leaves();

	blank_lids(d, 1, 3);
	ib_put(d->record, PR_SL, 3);
	assert_int_equal(ib_get(one(table(d, LIDS | SA_COMP(PR_SL))), PR_SL), 3);
}

static void what_is_no_matter_of_a_path_is_not_echoed(void **state)
{
	uint64_t more = SERVICE | SA_COMP(PR_QOS_CLASS) | SA_COMP(PR_TCLASS) | SA_COMP(PR_FLOW) |
			SA_COMP(PR_HOP);
	_desk_ d = two_leaves();
	const uint8_t *r;

	blank_lids(d, 1, 3);
	ib_put(d->record, PR_SERVICE_ID_LSB, 0x106);
	ib_put(d->record, PR_QOS_CLASS, 1);
	ib_put(d->record, PR_TCLASS, 5);
	ib_put(d->record, PR_FLOW, 7);
	ib_put(d->record, PR_HOP, 3);
	r = one(table(d, LIDS | more));
	assert_int_equal(ib_get(r, PR_SERVICE_ID_LSB), 0);
	assert_int_equal(ib_get(r, PR_QOS_CLASS), 0);
	assert_int_equal(ib_get(r, PR_TCLASS), 0);
	assert_int_equal(ib_get(r, PR_FLOW), 0);
	assert_int_equal(ib_get(r, PR_HOP), 0);
}

static void unknown_ends_give_no_record(void **state)
{
	_desk_ d = two_leaves();

	blank_lids(d, 1, 99);
	expect_none(d, LIDS);
	blank_lids(d, 99, 1);
	expect_none(d, LIDS);
	blank_lids(d, 1, 0);
	expect_none(d, LIDS);
	blank_lids(d, 1, LID_PERMISSIVE);
	expect_none(d, LIDS);
	blank_lids(d, 0xC000, 1);
	expect_none(d, LIDS);
	blank_names(d, "h0", "h2");
	ib_at(d->record, PR_DGID)[15] ^= 0x80;
	expect_none(d, GIDS);
	blank_names(d, "h0", "h2");
	ib_at(d->record, PR_SGID)[15] ^= 0x80;
	expect_none(d, GIDS);
	blank_names(d, "h0", "h2");
	ib_at(d->record, PR_SGID)[0] = 0x20; /* another subnet's source */
	expect_none(d, GIDS);
}

static void a_gid_and_a_lid_must_mean_one_port(void **state)
{
	_desk_ d = two_leaves();

	blank_names(d, "h0", "h2");
	ib_put(d->record, PR_SLID, 2);
	expect_status(d, GIDS | SA_COMP(PR_SLID), SA_REQ_INVALID);
	ib_put(d->record, PR_SLID, 1);
	ib_put(d->record, PR_DLID, 4);
	expect_status(d, GIDS | LIDS, SA_REQ_INVALID);
	ib_put(d->record, PR_DLID, 3);
	one(table(d, GIDS | LIDS));
	ib_put(d->record, PR_DLID, 99);
	expect_none(d, GIDS | LIDS);
}

static void half_a_service_id_is_too_little(void **state)
{
	_desk_ d = two_leaves();

	blank_lids(d, 1, 3);
	expect_status(d, LIDS | SA_COMP(PR_SERVICE_ID_MSB), SA_REQ_INSUFFICIENT_COMPONENTS);
	expect_status(d, LIDS | SA_COMP(PR_SERVICE_ID_LSB), SA_REQ_INSUFFICIENT_COMPONENTS);
}

static void a_port_reaches_itself_at_once(void **state)
{
	_desk_ d = two_leaves();
	const uint8_t *r;

	blank_lids(d, 1, 1);
	r = one(table(d, LIDS));
	assert_int_equal(byte_at(r, PR_LIFE_SEL), 0x80);
	assert_int_equal(byte_at(r, PR_MTU_SEL), 0x84);
	assert_int_equal(byte_at(r, PR_REVERSIBLE), REVERSIBLE);
	blank_lids(d, 5, 5);
	assert_int_equal(byte_at(one(table(d, LIDS)), PR_MTU_SEL), 0x83);
}

static void switches_count_with_their_port_0(void **state)
{
	_desk_ d = two_leaves();

	blank_lids(d, 5, 7); /* leaf to spine */
	assert_int_equal(byte_at(one(table(d, LIDS)), PR_MTU_SEL), 0x83);
	blank_lids(d, 5, 6); /* leaf to leaf: the spine's port 0 is not passed */
	desk_node(d, "spine1")->ports[0].info[PI_MTU_CAP / 8] = IB_MTU_256;
	desk_publish(d);
	assert_int_equal(byte_at(one(table(d, LIDS)), PR_MTU_SEL), 0x83);
	blank_lids(d, 1, 6);
	assert_int_equal(byte_at(one(table(d, LIDS)), PR_MTU_SEL), 0x83);
	blank_lids(d, 1, 3);
	assert_int_equal(byte_at(one(table(d, LIDS)), PR_MTU_SEL), 0x84);
}

/* ---- many ----------------------------------------------------------------------------------- */

static void lmc_1_gives_up_to_four_the_diagonal_first(void **state)
{
	static const unsigned want[][2] = { { 0, 0 }, { 1, 1 }, { 0, 1 }, { 1, 0 } };
	_desk_ d = desk_new_lmc("tree 2 2 1", 1);
	unsigned src = desk_lid(d, "h0"), dst = desk_lid(d, "h3");

	for (unsigned n = 1; n <= 5; n++) {
		const struct desk_message *a;

		blank_names(d, "h0", "h3");
		ib_put(d->record, PR_NUMB_PATH, n);
		a = table(d, GIDS | (n < 5 ? SA_COMP(PR_NUMB_PATH) : 0));
		assert_int_equal(a->n, MIN(n, 4));
		for (unsigned i = 0; i < a->n; i++) {
			const uint8_t *r = desk_record(a, i);

			assert_int_equal(ib_get(r, PR_SLID), src + want[i][0]);
			assert_int_equal(ib_get(r, PR_DLID), dst + want[i][1]);
			assert_int_equal(ib_get(r, PR_PREFERENCE), i < 2 ? 0 : 2);
		}
	}
}

static void a_lid_fixes_the_path_bits_of_its_side(void **state)
{
	_desk_ d = desk_new_lmc("tree 2 2 1", 2);
	unsigned src = desk_lid(d, "h0") + 3, dst = desk_lid(d, "h3");
	const struct desk_message *a;

	blank_names(d, "h0", "h3");
	ib_put(d->record, PR_SLID, src);
	a = table(d, SA_COMP(PR_SLID) | SA_COMP(PR_DGID));
	assert_int_equal(a->n, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(ib_get(desk_record(a, i), PR_SLID), src);
		assert_int_equal(ib_get(desk_record(a, i), PR_DLID), dst + i);
		assert_int_equal(ib_get(desk_record(a, i), PR_PREFERENCE), i ? 2 : 0);
	}
	ib_put(d->record, PR_DLID, dst + 1);
	a = table(d, LIDS);
	assert_int_equal(ib_get(one(a), PR_DLID), dst + 1);
	assert_int_equal(ib_get(desk_record(a, 0), PR_SLID), src);
}

static void all_combinations_of_uneven_ranges_come_once(void **state)
{
	_desk_ d = desk_new_lmc("tree 2 2 1", 3);
	bool seen[8] = { false };
	const struct desk_message *a;

	blank_names(d, "h0", "leaf2"); /* 8 LIDs to one */
	a = table(d, GIDS);
	assert_int_equal(a->n, 8);
	for (unsigned i = 0; i < 8; i++)
		seen[ib_get(desk_record(a, i), PR_SLID) - desk_lid(d, "h0")] = true;
	for (unsigned i = 0; i < 8; i++)
		assert_true(seen[i]);
}

static void a_get_is_answered_with_one_path(void **state)
{
	_desk_ d = desk_new_lmc("tree 2 2 1", 1);

	blank_names(d, "h0", "h3");
	one(get(d, GIDS));
	ib_put(d->record, PR_NUMB_PATH, 3);
	one(get(d, GIDS | SA_COMP(PR_NUMB_PATH)));
	one(get(d, 0));
}

static void all_paths_of_one_port_and_of_all(void **state)
{
	_desk_ d = two_leaves();

	blank_lids(d, 1, 1);
	assert_int_equal(table(d, SA_COMP(PR_SLID))->n, 7);
	assert_int_equal(table(d, SA_COMP(PR_DLID))->n, 7);
	assert_int_equal(table(d, 0)->n, 49);
	ib_put(d->record, PR_NUMB_PATH, 1);
	assert_int_equal(table(d, SA_COMP(PR_NUMB_PATH))->n, 49);
}

static void paths_of_a_wildcard_differ(void **state)
{
	_desk_ d = two_leaves();
	const struct desk_message *a;
	bool seen[8][8] = { { false } };

	desk_blank(d);
	a = table(d, 0);
	for (unsigned i = 0; i < a->n; i++) {
		const uint8_t *r = desk_record(a, i);
		bool *cell = &seen[ib_get(r, PR_SLID)][ib_get(r, PR_DLID)];

		assert_false(*cell);
		*cell = true;
	}
}

/* ---- partitions ----------------------------------------------------------------------------- */

/* Two hosts full in 1, h3 limited; leaves and h1 only in the default one. */
static struct desk *two_partitions(void)
{
	static const uint16_t both[] = { 0x8001, 0xFFFF }, limited[] = { 0x0001, 0xFFFF };
	static const uint16_t plain[] = { 0xFFFF }, only[] = { 0x8001 };
	struct desk *d = two_leaves();

	desk_keys(d, "h0", 2, both);
	desk_keys(d, "h1", 1, plain);
	desk_keys(d, "h2", 1, only);
	desk_keys(d, "h3", 2, limited);
	return d;
}

static unsigned pkey_of_path(struct desk *d, const char *src, const char *dst)
{
	const struct desk_message *a;

	blank_names(d, src, dst);
	a = table(d, GIDS);
	return a->n ? (unsigned)ib_get(desk_record(a, 0), PR_PKEY) : 0;
}

static void the_first_common_key_is_chosen(void **state)
{
	_desk_ d = two_partitions();

	assert_int_equal(pkey_of_path(d, "h0", "h2"), 0x8001);
	assert_int_equal(pkey_of_path(d, "h0", "h3"), 0x8001);
	assert_int_equal(pkey_of_path(d, "h3", "h0"), 0x0001); /* a limited source's own form */
	assert_int_equal(pkey_of_path(d, "h0", "h1"), 0xFFFF);
}

static void partitions_hide_ports_from_each_other(void **state)
{
	_desk_ d = two_partitions();

	assert_int_equal(pkey_of_path(d, "h1", "h2"), 0);
	assert_int_equal(pkey_of_path(d, "h2", "h1"), 0);
	d->from = "h2"; /* is not allowed to know of h1 */
	assert_int_equal(pkey_of_path(d, "h0", "h1"), 0);
	assert_int_equal(pkey_of_path(d, "h1", "h0"), 0);
	d->from = "h1"; /* nor this one of h2 */
	assert_int_equal(pkey_of_path(d, "h0", "h2"), 0);
	assert_int_equal(pkey_of_path(d, "h0", "h1"), 0xFFFF);
}

static void limited_members_have_no_path_to_each_other(void **state)
{
	static const uint16_t limited[] = { 0x7FFF };
	_desk_ d = two_leaves();

	desk_keys(d, "h1", 1, limited);
	desk_keys(d, "h2", 1, limited);
	assert_int_equal(pkey_of_path(d, "h1", "h2"), 0);
	assert_int_equal(pkey_of_path(d, "h1", "h0"), 0x7FFF);
	blank_names(d, "h1", "h2");
	ib_put(d->record, PR_PKEY, 0xFFFF);
	expect_none(d, GIDS | SA_COMP(PR_PKEY));
}

static void a_limited_member_hears_of_itself(void **state)
{
	static const uint16_t limited[] = { 0x7FFF };
	_desk_ d = two_leaves();

	desk_keys(d, "h1", 1, limited);
	d->from = "h1";
	assert_int_equal(pkey_of_path(d, "h1", "h0"), 0x7FFF);
	assert_int_equal(pkey_of_path(d, "h0", "h1"), 0xFFFF);
}

static void wildcards_show_what_the_requester_may_see(void **state)
{
	_desk_ d = two_partitions();

	d->from = "h2"; /* sees h0, h3 and itself */
	desk_blank(d);
	blank_lids(d, 3, 0);
	assert_int_equal(table(d, SA_COMP(PR_SLID))->n, 3);
	/* All pairs of these three. */
	assert_int_equal(table(d, 0)->n, 9);
}

static void raw_traffic_carries_no_key(void **state)
{
	_desk_ d = two_partitions();

	blank_names(d, "h0", "h2");
	ib_put(d->record, PR_RAW, 1);
	assert_int_equal(ib_get(one(table(d, GIDS | SA_COMP(PR_RAW))), PR_PKEY), 0);
	blank_names(d, "h1", "h2");
	ib_put(d->record, PR_RAW, 1);
	expect_none(d, GIDS | SA_COMP(PR_RAW));
}

/* ---- service levels, aliases, groups --------------------------------------------------------- */

static void the_sl_is_that_of_the_partition(void **state)
{
	static const char text[] = "Fast=0x0001, sl=3: ALL=full;\n";
	_desk_ d = two_partitions();
	struct partitions *parts = NULL;
	struct conf_report r = { 0 };

	desk_conf(d, "qos", "TRUE");
	assert_int_equal(partitions_parse(text, strlen(text), "text", d->conf, &r, &parts), 0);
	sa_set_partitions(d->sa, parts);
	blank_names(d, "h0", "h2"); /* in 0x0001 */
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_SL), 3);
	ib_put(d->record, PR_SL, 5); /* a request for one gets it */
	assert_int_equal(ib_get(one(get(d, GIDS | SA_COMP(PR_SL))), PR_SL), 5);
	blank_names(d, "h0", "h1"); /* in the default partition */
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_SL), 0);
	partitions_unref(parts);
	conf_report_clear(&r);
}

#define ALIAS UINT64_C(0x0ABC000000000001)

static void an_alias_is_answered_as_it_was_asked(void **state)
{
	_desk_ d = two_leaves();
	const uint8_t *r;

	desk_blank(d);
	ib_put(d->record, GIR_LID, 3);
	ib_put(d->record, GIR_GUID1, ALIAS);
	d->from = "h2";
	assert_int_equal(desk_set(d, SA_GUID_INFO_RECORD,
				  SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) | SA_COMP(GIR_GUID1))
				 ->status,
			 0);
	d->from = "h0";
	blank_names(d, "h0", "h2");
	ib_bits_put(d->record, PR_DGID + 64, 64, ALIAS);
	r = one(get(d, GIDS));
	assert_int_equal(ib_get(r, PR_DLID), 3);
	assert_int_equal(ib_bits_get(r, PR_DGID + 64, 64), ALIAS);
	assert_int_equal(ib_bits_get(r, PR_SGID + 64, 64), desk_end(d, "h0")->guid);
}

static const uint8_t mgid[16] = { 0xFF, 0x12, 0x40, 0x01, [15] = 7 };

static void join(struct desk *d, const char *name, unsigned scope)
{
	uint64_t mask = SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) | SA_COMP(MCM_JOIN_STATE) |
			SA_COMP(MCM_QKEY) | SA_COMP(MCM_TCLASS) | SA_COMP(MCM_PKEY) |
			SA_COMP(MCM_FLOW) | SA_COMP(MCM_SL) | SA_COMP(MCM_HOP) |
			SA_COMP(MCM_RATE_SEL) | SA_COMP(MCM_RATE) | SA_COMP(MCM_MTU_SEL) |
			SA_COMP(MCM_MTU);

	desk_blank(d);
	memcpy(ib_at(d->record, MCM_MGID), mgid, 16);
	ib_at(d->record, MCM_MGID)[1] = (uint8_t)(0x10 | scope);
	desk_gid(d, name, ib_at(d->record, MCM_PORT_GID));
	ib_put(d->record, MCM_JOIN_STATE, MC_FULL);
	ib_put(d->record, MCM_PKEY, 0xFFFF);
	ib_put(d->record, MCM_TCLASS, 9);
	ib_put(d->record, MCM_FLOW, 0x123);
	ib_put(d->record, MCM_HOP, 64);
	ib_put(d->record, MCM_SL, 2);
	ib_put(d->record, MCM_MTU_SEL, SA_EXACT);
	ib_put(d->record, MCM_MTU, IB_MTU_1024);
	ib_put(d->record, MCM_RATE_SEL, SA_EXACT);
	ib_put(d->record, MCM_RATE, 3);
	d->from = name;
	assert_int_equal(desk_set(d, SA_MC_MEMBER_RECORD, mask)->status, 0);
}

static void blank_to_group(struct desk *d, const char *src, unsigned scope)
{
	desk_blank(d);
	desk_gid(d, src, ib_at(d->record, PR_SGID));
	memcpy(ib_at(d->record, PR_DGID), mgid, 16);
	ib_at(d->record, PR_DGID)[1] = (uint8_t)(0x10 | scope);
}

static void a_member_is_told_the_values_of_the_group(void **state)
{
	_desk_ d = two_leaves();
	const uint8_t *r;

	join(d, "h0", 2);
	blank_to_group(d, "h0", 2);
	r = one(get(d, GIDS));
	assert_int_equal(ib_get(r, PR_DLID), 0xC000);
	assert_int_equal(ib_get(r, PR_SLID), 1);
	assert_memory_equal(ib_at(r, PR_DGID), mgid, 16);
	assert_int_equal(ib_get(r, PR_PKEY), 0xFFFF);
	assert_int_equal(ib_get(r, PR_TCLASS), 9);
	assert_int_equal(ib_get(r, PR_FLOW), 0x123);
	assert_int_equal(ib_get(r, PR_HOP), 64);
	assert_int_equal(ib_get(r, PR_SL), 2);
	assert_int_equal(ib_get(r, PR_NUMB_PATH), 1);
	assert_int_equal(byte_at(r, PR_MTU_SEL), 0x83);
	assert_int_equal(byte_at(r, PR_RATE_SEL), 0x83);
	assert_int_equal(table(d, GIDS)->n, 1);
}

static void who_is_no_member_has_no_path_to_the_group(void **state)
{
	static const uint16_t other[] = { 0x8001 };
	_desk_ d = two_leaves();

	join(d, "h0", 2);
	blank_to_group(d, "h2", 2);
	expect_none(d, GIDS);
	blank_to_group(d, "h0", 5); /* another group */
	expect_none(d, GIDS);
	one(get(d, SA_COMP(PR_SGID)));
	blank_to_group(d, "h0", 2);
	one(get(d, SA_COMP(PR_DGID))); /* no source named */
	desk_keys(d, "h3", 1, other);
	d->from = "h3"; /* not in the partition of the group */
	expect_none(d, SA_COMP(PR_DGID));
}

static void a_limited_member_does_not_see_another_in_the_group(void **state)
{
	static const uint16_t limited[] = { 0x7FFF };
	_desk_ d = two_leaves();

	join(d, "h0", 2);
	join(d, "h1", 2);
	desk_keys(d, "h0", 1, limited);
	desk_keys(d, "h1", 1, limited);
	d->from = "h0";
	blank_to_group(d, "h0", 2);
	one(get(d, GIDS));
	blank_to_group(d, "h1", 2);
	expect_none(d, GIDS);
}

static void a_group_is_found_by_its_mlid(void **state)
{
	_desk_ d = two_leaves();

	join(d, "h0", 2);
	blank_lids(d, 1, 0xC000);
	assert_memory_equal(ib_at(one(get(d, LIDS)), PR_DGID), mgid, 16);
	blank_lids(d, 1, 0xC001);
	expect_none(d, LIDS);
	blank_to_group(d, "h0", 2);
	ib_put(d->record, PR_DLID, 0xC001);
	expect_none(d, GIDS | SA_COMP(PR_DLID));
}

static void groups_of_wider_scope_cross_routers(void **state)
{
	_desk_ d = two_leaves();

	join(d, "h0", 0xE);
	blank_to_group(d, "h0", 0xE);
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_HOP), 0xFF);
}

static void values_of_a_group_must_be_what_is_asked(void **state)
{
	static const struct {
		uint64_t mask;
		unsigned at;
		uint8_t value;
		bool found;
	} rows[] = {
		{ MTU, PR_MTU_SEL, 0x83, true },
		{ MTU, PR_MTU_SEL, 0x82, false },
		{ MTU, PR_MTU_SEL, 0x44, true },
		{ MTU, PR_MTU_SEL, 0x03, false },
		{ MTU, PR_MTU_SEL, 0xC1, true },
		{ RATE, PR_RATE_SEL, 0x83, true },
		{ RATE, PR_RATE_SEL, 0x86, false },
		{ RATE, PR_RATE_SEL, 0x02, true },
		{ SA_COMP(PR_TCLASS), PR_TCLASS, 9, true },
		{ SA_COMP(PR_TCLASS), PR_TCLASS, 8, false },
		{ SA_COMP(PR_HOP), PR_HOP, 64, true },
		{ SA_COMP(PR_HOP), PR_HOP, 63, false },
	};
	_desk_ d = two_leaves();

	join(d, "h0", 2);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		blank_to_group(d, "h0", 2);
		d->record[rows[i].at / 8] = rows[i].value;
		assert_int_equal(table(d, GIDS | rows[i].mask)->n, rows[i].found);
	}
	blank_to_group(d, "h0", 2);
	ib_put(d->record, PR_PKEY, 0x7FFF); /* all 16 bits count */
	expect_none(d, GIDS | SA_COMP(PR_PKEY));
	ib_put(d->record, PR_SL, 2);
	ib_put(d->record, PR_FLOW, 0x124);
	one(get(d, GIDS | SA_COMP(PR_SL)));
	expect_none(d, GIDS | SA_COMP(PR_FLOW));
}

/* ---- other subnets -------------------------------------------------------------------------- */

#define FAR_PREFIX UINT64_C(0xFEC0000000000001)

static void route(struct desk *d, uint64_t prefix, guid_t guid)
{
	struct conf_prefix item = { .prefix = prefix, .guid = guid };
	struct conf_prefixes p = { .items = &item, .n = 1 };

	sa_set_prefixes(d->sa, &p);
}

static void blank_far(struct desk *d)
{
	blank_names(d, "h0", "h2");
	ib_bits_put(d->record, PR_DGID, 64, FAR_PREFIX);
	ib_bits_put(d->record, PR_DGID + 64, 64, 0xABCD);
}

static void make_router(struct desk *d, const char *name)
{
	desk_node(d, name)->type = IB_NODE_ROUTER;
	desk_publish(d);
}

static void another_subnet_is_reached_through_a_router(void **state)
{
	_desk_ d = two_leaves();
	const uint8_t *r;

	make_router(d, "h3");
	blank_far(d);
	expect_none(d, GIDS); /* no route yet */
	route(d, FAR_PREFIX, desk_end(d, "h3")->guid);
	r = one(get(d, GIDS));
	assert_int_equal(ib_get(r, PR_DLID), 4);
	assert_int_equal(ib_get(r, PR_HOP), 0xFF);
	assert_memory_equal(ib_at(r, PR_DGID), ib_at(d->record, PR_DGID), 16);
	assert_int_equal(byte_at(r, PR_MTU_SEL), 0x84);
	assert_int_equal(table(d, GIDS)->n, 1);
}

static void any_router_will_do_if_the_route_says_so(void **state)
{
	_desk_ d = two_leaves();

	blank_far(d);
	route(d, 0, 0);
	expect_none(d, GIDS); /* there is none */
	make_router(d, "h3");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_DLID), 4);
	make_router(d, "h1"); /* the lower GUID */
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_DLID), 2);
}

static void a_route_to_what_is_no_router_leads_nowhere(void **state)
{
	_desk_ d = two_leaves();

	blank_far(d);
	route(d, FAR_PREFIX, desk_end(d, "h3")->guid);
	expect_none(d, GIDS);
	route(d, FAR_PREFIX, 0x123456);
	expect_none(d, GIDS);
	make_router(d, "h3");
	route(d, FAR_PREFIX + 1, desk_end(d, "h3")->guid);
	expect_none(d, GIDS);
}

static void link_local_gids_are_ours_whatever_the_prefix(void **state)
{
	_desk_ d = two_leaves();
	const uint8_t *r;

	desk_conf(d, "subnet_prefix", "0xfec0000000000abc");
	desk_publish(d);
	blank_names(d, "h0", "h2");
	ib_bits_put(d->record, PR_DGID, 64, UINT64_C(0xFE80000000000000));
	r = one(get(d, GIDS));
	assert_int_equal(ib_get(r, PR_DLID), 3);
	assert_int_equal(ib_bits_get(r, PR_DGID, 64), UINT64_C(0xFEC0000000000ABC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_has_the_values_of_its_way),
		cmocka_unit_test(gids_and_lids_name_the_same_path),
		cmocka_unit_test(selectors_answer_as_the_peer_does),
		cmocka_unit_test(half_of_a_selector_is_ignored),
		cmocka_unit_test(no_paths_are_given_to_who_asks_for_none),
		cmocka_unit_test(the_p_key_is_echoed_if_both_hold_it),
		cmocka_unit_test(any_sl_is_accepted_and_echoed),
		cmocka_unit_test(what_is_no_matter_of_a_path_is_not_echoed),
		cmocka_unit_test(unknown_ends_give_no_record),
		cmocka_unit_test(a_gid_and_a_lid_must_mean_one_port),
		cmocka_unit_test(half_a_service_id_is_too_little),
		cmocka_unit_test(a_port_reaches_itself_at_once),
		cmocka_unit_test(switches_count_with_their_port_0),
		cmocka_unit_test(lmc_1_gives_up_to_four_the_diagonal_first),
		cmocka_unit_test(a_lid_fixes_the_path_bits_of_its_side),
		cmocka_unit_test(all_combinations_of_uneven_ranges_come_once),
		cmocka_unit_test(a_get_is_answered_with_one_path),
		cmocka_unit_test(all_paths_of_one_port_and_of_all),
		cmocka_unit_test(paths_of_a_wildcard_differ),
		cmocka_unit_test(the_first_common_key_is_chosen),
		cmocka_unit_test(partitions_hide_ports_from_each_other),
		cmocka_unit_test(limited_members_have_no_path_to_each_other),
		cmocka_unit_test(a_limited_member_hears_of_itself),
		cmocka_unit_test(wildcards_show_what_the_requester_may_see),
		cmocka_unit_test(raw_traffic_carries_no_key),
		cmocka_unit_test(the_sl_is_that_of_the_partition),
		cmocka_unit_test(an_alias_is_answered_as_it_was_asked),
		cmocka_unit_test(a_member_is_told_the_values_of_the_group),
		cmocka_unit_test(who_is_no_member_has_no_path_to_the_group),
		cmocka_unit_test(a_limited_member_does_not_see_another_in_the_group),
		cmocka_unit_test(a_group_is_found_by_its_mlid),
		cmocka_unit_test(groups_of_wider_scope_cross_routers),
		cmocka_unit_test(values_of_a_group_must_be_what_is_asked),
		cmocka_unit_test(another_subnet_is_reached_through_a_router),
		cmocka_unit_test(any_router_will_do_if_the_route_says_so),
		cmocka_unit_test(a_route_to_what_is_no_router_leads_nowhere),
		cmocka_unit_test(link_local_gids_are_ours_whatever_the_prefix),
	};

	return cmocka_run_group_tests_name("sa-path", tests, NULL, NULL);
}
