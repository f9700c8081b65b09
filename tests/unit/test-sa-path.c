// SPDX-License-Identifier: BSD-2-Clause
/* PathRecord: sa.md 4, and every row of the oracle in clients.md 3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sa/impl.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"

#define MTU	   (SA_COMP(PR_MTU_SEL) | SA_COMP(PR_MTU))
#define RATE	   (SA_COMP(PR_RATE_SEL) | SA_COMP(PR_RATE))
#define LIFE	   (SA_COMP(PR_LIFE_SEL) | SA_COMP(PR_LIFE))
#define SERVICE	   (SA_COMP(PR_SERVICE_ID_MSB) | SA_COMP(PR_SERVICE_ID_LSB))
#define LIDS	   (SA_COMP(PR_SLID) | SA_COMP(PR_DLID))
#define GIDS	   (SA_COMP(PR_SGID) | SA_COMP(PR_DGID))
#define REVERSIBLE 0x80

static uint8_t byte_at(const uint8_t *record, unsigned field)
{
	return record[field / 8];
}

/* As ibsim: 2048 on all ports but 1024 on port 0 of switches. */
static void set_mtus(struct desk *d)
{
	FABRIC_EACH_NODE(d->fabric, n)
		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++)
			ib_put(n->ports[i].info, PI_MTU_CAP, i ? IB_MTU_2048 : IB_MTU_1024);
	desk_publish(d);
}

/* h0 h1 on leaf1, h2 h3 on leaf2, spine1; LIDs in this order. */
static struct desk *two_leaves(void)
{
	struct desk *d = desk_new("tree 2 2 1");

	set_mtus(d);
	return d;
}

static void blank_lids(struct desk *d, unsigned slid, unsigned dlid)
{
	desk_blank(d);
	ib_put(d->record, PR_SLID, slid);
	ib_put(d->record, PR_DLID, dlid);
}

static void blank_names(struct desk *d, const char *src, const char *dst)
{
	desk_blank(d);
	desk_gid(d, src, ib_at(d->record, PR_SGID));
	desk_gid(d, dst, ib_at(d->record, PR_DGID));
}

static const struct desk_message *table(struct desk *d, uint64_t mask)
{
	return desk_table(d, SA_PATH_RECORD, mask);
}

static const struct desk_message *get(struct desk *d, uint64_t mask)
{
	return desk_get(d, SA_PATH_RECORD, mask);
}

static void expect_none(struct desk *d, uint64_t mask)
{
	const struct desk_message *a = table(d, mask);

	assert_int_equal(a->status, 0);
	assert_int_equal(a->n, 0);
	a = get(d, mask);
	assert_int_equal(a->status, SA_NO_RECORDS);
}

static void expect_status(struct desk *d, uint64_t mask, unsigned status)
{
	assert_int_equal(table(d, mask)->status, status);
	assert_int_equal(get(d, mask)->status, status);
}

/* The one record of the answer. */
static const uint8_t *one(const struct desk_message *a)
{
	assert_non_null(a);
	assert_int_equal(a->status, 0);
	assert_int_equal(a->n, 1);
	return desk_record(a, 0);
}

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

/* ---- ways that do not lead ------------------------------------------------------------------- */

/* The routes in force, to be damaged; nobody else looks at them while the test runs. */
static uint8_t *row_of(struct desk *d, const char *node)
{
	const struct routes *r = d->view->routes;

	return routes_row(r, topo_find_switch(r->topo, desk_node(d, node)->guid));
}

static void a_way_back_that_fails_is_not_reversible(void **state)
{
	_desk_ d = two_leaves();

	row_of(d, "spine1")[1] = LFT_NO_PORT; /* h2 -> h0 */
	blank_names(d, "h0", "h2");
	assert_int_equal(byte_at(one(table(d, GIDS)), PR_REVERSIBLE), 0);
	assert_int_equal(byte_at(one(table(d, GIDS | SA_COMP(PR_REVERSIBLE))), PR_REVERSIBLE), 0);
	ib_put(d->record, PR_REVERSIBLE, 1);
	expect_none(d, GIDS | SA_COMP(PR_REVERSIBLE));
	blank_names(d, "h2", "h0");
	expect_none(d, GIDS);
}

/* The port of a switch whose cable leads to another. */
static uint8_t port_towards(struct desk *d, const char *from, const char *to)
{
	struct node *n = desk_node(d, from);

	for (unsigned i = 1; i <= n->n_ports; i++)
		if (n->ports[i].peer && n->ports[i].peer->node == desk_node(d, to))
			return (uint8_t)i;
	fail();
	return 0;
}

static void the_way_back_must_meet_the_constraints(void **state)
{
	_desk_ d = desk_new("ring 3 1");
	struct node *slow = desk_node(d, "s2");

	set_mtus(d);
	for (unsigned i = 1; i <= slow->n_ports; i++)
		ib_put(slow->ports[i].info, PI_MTU_CAP, IB_MTU_256);
	desk_publish(d);
	row_of(d, "s1")[1] = port_towards(d, "s1", "s2"); /* h1 -> h0 goes round by s2 */
	blank_lids(d, 1, 2);
	assert_int_equal(byte_at(one(table(d, LIDS)), PR_REVERSIBLE), REVERSIBLE);
	assert_int_equal(byte_at(one(table(d, LIDS)), PR_MTU_SEL), 0x84);
	ib_put(d->record, PR_MTU_SEL, SA_EXACT);
	ib_put(d->record, PR_MTU, IB_MTU_2048);
	assert_int_equal(byte_at(one(table(d, LIDS | MTU)), PR_REVERSIBLE), 0);
	ib_put(d->record, PR_REVERSIBLE, 1);
	expect_none(d, LIDS | MTU | SA_COMP(PR_REVERSIBLE));
}

static void loops_and_holes_give_no_path(void **state)
{
	_desk_ d = two_leaves();
	uint8_t *leaf = row_of(d, "leaf1"), *spine = row_of(d, "spine1");
	uint8_t to_leaf1 = spine[1], was = spine[3];

	blank_names(d, "h0", "h2");
	spine[3] = to_leaf1; /* leaf1 and spine1 send it to each other */
	expect_none(d, GIDS);
	spine[3] = 0; /* ends at a port 0 that is not meant */
	expect_none(d, GIDS);
	spine[3] = 200; /* no such port */
	expect_none(d, GIDS);
	spine[3] = was;
	leaf[3] = leaf[2]; /* ends at another host */
	expect_none(d, GIDS);
}

static void a_link_that_is_down_is_no_way(void **state)
{
	_desk_ d = two_leaves();
	struct port *p = desk_end(d, "h2");

	ib_put(p->info, PI_PORT_STATE, IB_PORT_DOWN);
	desk_publish(d);
	blank_names(d, "h0", "h2");
	expect_none(d, GIDS);
	blank_names(d, "h2", "h0");
	expect_none(d, GIDS);
}

static void a_host_without_a_cable_reaches_nobody(void **state)
{
	_desk_ d = two_leaves();

	fabric_disconnect(desk_end(d, "h2"));
	desk_publish(d);
	blank_names(d, "h2", "h0");
	expect_none(d, GIDS);
	blank_names(d, "h0", "h2");
	expect_none(d, GIDS);
}

static void two_hosts_need_no_switch(void **state)
{
	_desk_ d = desk_new("pair");
	const uint8_t *r;

	set_mtus(d);
	blank_lids(d, 1, 2);
	r = one(table(d, LIDS));
	assert_int_equal(byte_at(r, PR_MTU_SEL), 0x84);
	assert_int_equal(byte_at(r, PR_REVERSIBLE), REVERSIBLE);
	desk_blank(d);
	assert_int_equal(table(d, 0)->n, 4);
}

/* ---- rates ---------------------------------------------------------------------------------- */

static void make_link(struct port *p, unsigned speed, unsigned ext)
{
	ib_put(p->info, PI_SPEED_ACTIVE, speed);
	ib_put(p->info, PI_SPEED_EXT_ACTIVE, ext);
}

static void the_slowest_link_decides_by_bandwidth(void **state)
{
	_desk_ d = two_leaves();

	FABRIC_EACH_NODE(d->fabric, n)
		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++)
			make_link(&n->ports[i], 4, 2); /* 4x EDR: 100, code 16 */
	make_link(desk_end(d, "h2"), 4, 0);	       /* 4x QDR: 40, code 7 */
	make_link(desk_end(d, "h3"), 4, 1);	       /* 4x FDR: 56, code 12 */
	desk_publish(d);
	blank_names(d, "h0", "h1");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 16);
	blank_names(d, "h0", "h2");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 7);
	blank_names(d, "h2", "h3");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 7);
	blank_names(d, "h1", "h3");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 12);
}

static void newer_rates_are_kept_from_older_clients(void **state)
{
	_desk_ d = two_leaves();

	FABRIC_EACH_NODE(d->fabric, n)
		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++)
			make_link(&n->ports[i], 4, 8); /* 4x NDR: 400, code 21 */
	desk_publish(d);
	blank_names(d, "h0", "h2");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 21);
	desk_conf(d, "max_rate_enum", "18");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 18);
	ib_put(d->record, PR_RATE_SEL, SA_EXACT);
	ib_put(d->record, PR_RATE, 18);
	assert_int_equal(ib_get(one(get(d, GIDS | RATE)), PR_RATE), 18);
	desk_conf(d, "max_rate_enum", "63");
	desk_conf(d, "use_original_extended_sa_rates_only", "TRUE");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 18);
}

static void old_adapters_are_told_1024_if_the_quirk_is_on(void **state)
{
	_desk_ d = two_leaves();
	struct node *n = desk_node(d, "h2");

	n->vendor_id = 0x0002C9;
	n->device_id = 23108;
	desk_publish(d);
	blank_names(d, "h0", "h2");
	assert_int_equal(byte_at(one(get(d, GIDS)), PR_MTU_SEL), 0x84);
	desk_conf(d, "enable_quirks", "TRUE");
	assert_int_equal(byte_at(one(get(d, GIDS)), PR_MTU_SEL), 0x83);
	blank_names(d, "h2", "h0");
	assert_int_equal(byte_at(one(get(d, GIDS)), PR_MTU_SEL), 0x83);
	ib_put(d->record, PR_MTU_SEL, SA_EXACT); /* who insists gets it */
	ib_put(d->record, PR_MTU, IB_MTU_2048);
	assert_int_equal(byte_at(one(get(d, GIDS | MTU)), PR_MTU_SEL), 0x84);
	blank_names(d, "h0", "h1");
	assert_int_equal(byte_at(one(get(d, GIDS)), PR_MTU_SEL), 0x84);
}

static void life_time_is_the_subnet_timeout(void **state)
{
	_desk_ d = two_leaves();

	desk_conf(d, "subnet_timeout", "14");
	blank_lids(d, 1, 3);
	assert_int_equal(byte_at(one(get(d, LIDS)), PR_LIFE_SEL), 0x80 | 14);
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
		cmocka_unit_test(a_way_back_that_fails_is_not_reversible),
		cmocka_unit_test(the_way_back_must_meet_the_constraints),
		cmocka_unit_test(loops_and_holes_give_no_path),
		cmocka_unit_test(a_link_that_is_down_is_no_way),
		cmocka_unit_test(a_host_without_a_cable_reaches_nobody),
		cmocka_unit_test(two_hosts_need_no_switch),
		cmocka_unit_test(the_slowest_link_decides_by_bandwidth),
		cmocka_unit_test(newer_rates_are_kept_from_older_clients),
		cmocka_unit_test(old_adapters_are_told_1024_if_the_quirk_is_on),
		cmocka_unit_test(life_time_is_the_subnet_timeout),
		cmocka_unit_test(another_subnet_is_reached_through_a_router),
		cmocka_unit_test(any_router_will_do_if_the_route_says_so),
		cmocka_unit_test(a_route_to_what_is_no_router_leads_nowhere),
		cmocka_unit_test(link_local_gids_are_ours_whatever_the_prefix),
	};

	return cmocka_run_group_tests_name("sa-path", tests, NULL, NULL);
}
