// SPDX-License-Identifier: BSD-2-Clause
/*
 * MCMemberRecord: Set, Delete, Get. The order of decisions of sa.md 6.1 is a table: each row fails
 * at one step and would pass all later ones. All ports of the desk have 10 Gb/s (rate 3), MTU 4096
 * (5).
 */
#include "sa/base/sa_internal.h"
#include "tests/unit/mc-desk.h"
#include "util/log.h"

#define assert_status(call, status) assert_int_equal(call, status)
#define answer(d)		    desk_record(&(d)->answer, 0)

/* ---- Set ---- */

struct row {
	const char *words;
	unsigned status;
};

/* Each in a fabric of its own, with ff12::77 (Q_Key 0x77, MTU 4, rate 3, TClass 9) made by h1. */
static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_desk_ d = mc_start();
		unsigned status, groups;

		assert_status(mc_join(d, "h1",
				      "mgid=ff12::77 join=1 qkey=0x77 tclass=9 pkey=0xffff flow=5 "
				      "sl=2 hop=3 mtu=0x84 rate=0x83 life=0x92"),
			      0);
		groups = sa_stats(d->sa)->groups;
		status = mc_set(d, rows[i].words);
		if (status != rows[i].status)
			fail_msg("%s: status 0x%04x, not 0x%04x", rows[i].words, status,
				 rows[i].status);
		if (status)
			assert_int_equal(sa_stats(d->sa)->groups, groups);
	}
}

static const struct row set_rows[] = {
	/* 1: components, then values, whatever the selector */
	{ "port=h0 join=1", 0x0600 },
	{ "mgid=ff12::77 join=1", 0x0600 },
	{ "mgid=ff12::77 port=h0", 0x0600 },
	{ "port=h0 mtu=0x80", 0x0600 },
	{ "mgid=ff12::77 port=h0 join=1 mtu=0x80", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 mtu=0xc0", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 mtu=0x86", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 mtu=0xc4", 0 },
	{ "mgid=ff12::77 port=h0 join=1 mtuval=6", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 rate=0xc1", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 rate=0x99", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 rate=0xc3", 0 },
	{ "mgid=ff12::77 gid=fe81::1 join=1 mtu=0x80", 0x0200 },
	/* 2, 3: PortGID */
	{ "mgid=ff12::77 gid=fe81::1 join=1", 0x0500 },
	{ "mgid=ff12::77 gid=fe81::1 join=1 pkey=0", 0x0500 },
	{ "mgid=ff12::77 gid=fe80::dead:beef join=1", 0x0200 },
	{ "mgid=ff12::77 gid=fe80:: join=1", 0x0200 },
	/* 5 */
	{ "mgid=ff12::77 port=h0 join=1 pkey=0", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 pkey=0x8000", 0x0200 },
	/* 6a, b: creation */
	{ "mgid=ff12::5 port=h0 join=2", 0x0200 },
	{ "mgid=ff12::5 port=h0 join=4 qkey=1 tclass=0 pkey=0xffff flow=0 sl=0", 0x0200 },
	{ "mgid=ff12::5 port=h0 join=0 qkey=1 tclass=0 pkey=0xffff flow=0 sl=0", 0x0200 },
	{ "mgid=ff12::5 port=h0 join=8 qkey=1 tclass=0 pkey=0xffff flow=0 sl=0", 0 },
	{ "mgid=ff12::5 port=h0 join=1", 0x0600 },
	{ "mgid=ff12::5 port=h0 join=1 tclass=0 pkey=0xffff flow=0 sl=0", 0x0600 },
	{ "mgid=ff12::5 port=h0 join=1 qkey=1 pkey=0xffff flow=0 sl=0", 0x0600 },
	{ "mgid=ff12::5 port=h0 join=1 qkey=1 tclass=0 flow=0 sl=0", 0x0600 },
	{ "mgid=ff12::5 port=h0 join=1 qkey=1 tclass=0 pkey=0xffff sl=0", 0x0600 },
	{ "mgid=ff12::5 port=h0 join=1 qkey=1 tclass=0 pkey=0xffff flow=0", 0x0600 },
	{ "mgid=fe12::5 port=h0 join=1 qkey=1 tclass=0 pkey=0xffff flow=0", 0x0600 },
	/* 6d: the MGID */
	{ "mgid=fe12::5 port=h0 " MC_NEW, 0x0200 },
	{ "mgid=ff42::5 port=h0 " MC_NEW, 0x0200 },
	{ "mgid=ff22::5 port=h0 " MC_NEW, 0x0200 },
	{ "mgid=ff82::5 port=h0 " MC_NEW, 0x0200 },
	{ "mgid=ff02::5 port=h0 " MC_NEW, 0 },
	{ "mgid=ff15:a01b::5 port=h0 " MC_NEW, 0 },
	{ "mgid=ff12:a01b::5 port=h0 " MC_NEW, 0x0200 },
	/* 6d: IPoIB; the broadcast group has Q_Key 0xb1b, all else 0 */
	{ "mgid=ff12:401b:ffff::1 port=h0 join=1 qkey=0xb1b tclass=0 pkey=0xffff flow=0 "
	  "sl=0",
	  0 },
	{ "mgid=ff12:601b:ffff::1 port=h0 join=1 qkey=0xb1b tclass=0 pkey=0xffff flow=0 "
	  "sl=0",
	  0 },
	{ "mgid=ff12:401b:ffff::1 port=h0 join=1 qkey=0xb1c tclass=0 pkey=0xffff flow=0 "
	  "sl=0",
	  0x0200 },
	{ "mgid=ff12:401b:ffff::1 port=h0 join=1 qkey=0xb1b tclass=1 pkey=0xffff flow=0 "
	  "sl=0",
	  0x0200 },
	{ "mgid=ff12:401b:ffff::1 port=h0 join=1 qkey=0xb1b tclass=0 pkey=0x7fff flow=0 "
	  "sl=0",
	  0x0200 },
	{ "mgid=ff12:401b:ffff::1 port=h0 join=1 qkey=0xb1b tclass=0 pkey=0xffff flow=1 "
	  "sl=0",
	  0x0200 },
	{ "mgid=ff12:401b:ffff::1 port=h0 join=1 qkey=0xb1b tclass=0 pkey=0xffff flow=0 "
	  "sl=1",
	  0x0200 },
	{ "mgid=ff12:401b:ffff::1 port=h0 join=1 qkey=0xb1b tclass=0 pkey=0xffff flow=0 "
	  "sl=0 hop=1",
	  0x0200 },
	{ "mgid=ff15:401b:ffff::1 port=h0 join=1 qkey=0xb1b tclass=0 pkey=0xffff flow=0 "
	  "sl=0",
	  0x0200 },
	{ "mgid=ff12:401b:8001::1 port=h0 join=1 qkey=0xb1b tclass=0 pkey=0xffff flow=0 "
	  "sl=0",
	  0x0200 },
	{ "mgid=ff15:401b:ffff::ffff:ffff port=h0 " MC_NEW, 0 },
	/* 6e: MTU and rate of the new group */
	{ "mgid=ff12::5 port=h0 mtu=0x04 " MC_NEW, 0 },	     /* greater than 2048 */
	{ "mgid=ff12::5 port=h0 mtu=0x05 " MC_NEW, 0x0200 }, /* than 4096 */
	{ "mgid=ff12::5 port=h0 mtu=0x41 " MC_NEW, 0x0200 }, /* less than 256 */
	{ "mgid=ff12::5 port=h0 rate=0x02 " MC_NEW, 0 },
	{ "mgid=ff12::5 port=h0 rate=0x03 " MC_NEW, 0x0200 },
	{ "mgid=ff12::5 port=h0 rate=0x42 " MC_NEW, 0x0200 }, /* less than 2.5 Gb/s */
	/* 7: an existing group */
	{ "mgid=ff12::77 port=h0 join=1", 0 },
	{ "mgid=ff12::77 port=h0 join=1 qkey=0x77 tclass=9 pkey=0xffff flow=5 sl=2 hop=3", 0 },
	{ "mgid=ff12::77 port=h0 join=1 qkey=0x78", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 tclass=8", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 pkey=0x8001", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 pkey=0x7fff", 0 }, /* one is full */
	{ "mgid=ff12::77 port=h0 join=1 flow=6", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 sl=1", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 hop=0", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 mlid=0xc123 scope=5 life=0x81", 0 }, /* ignored */
	/* 8: selectors */
	{ "mgid=ff12::77 port=h0 join=1 mtu=0x03", 0 },
	{ "mgid=ff12::77 port=h0 join=1 mtu=0x04", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 mtu=0x45", 0 },
	{ "mgid=ff12::77 port=h0 join=1 mtu=0x44", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 mtu=0x84", 0 },
	{ "mgid=ff12::77 port=h0 join=1 mtu=0x85", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 mtusel=0x80", 0x0200 }, /* exactly nothing */
	{ "mgid=ff12::77 port=h0 join=1 mtusel=0xc0", 0 },
	{ "mgid=ff12::77 port=h0 join=1 mtuval=5", 0 },
	{ "mgid=ff12::77 port=h0 join=1 rate=0x05", 0 }, /* 10 > 5 Gb/s */
	{ "mgid=ff12::77 port=h0 join=1 rate=0x03", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 rate=0x46", 0 },
	{ "mgid=ff12::77 port=h0 join=1 rate=0x45", 0x0200 }, /* 10 < 5 Gb/s */
	{ "mgid=ff12::77 port=h0 join=1 rate=0x83", 0 },
	{ "mgid=ff12::77 port=h0 join=1 rate=0x84", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 ratesel=0x80", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=1 rateval=7", 0 },
	/* 9: what the port can do */
	{ "mgid=ff12::5 port=h0 rate=0x87 " MC_NEW, 0x0200 },
	/* 10 */
	{ "mgid=ff12::77 port=h0 join=0", 0x0200 },
	{ "mgid=ff12::77 port=h0 join=2", 0 },
	{ "mgid=ff12::77 port=h0 join=4", 0 },
	{ "mgid=ff12::77 port=h0 join=8", 0 },
	{ "mgid=ff12::77 port=h0 join=15", 0 },
	/* 11 */
	{ "mgid=ff12::5 port=h0 join=1 qkey=1 tclass=0 pkey=0x8001 flow=0 sl=0", 0x0200 },
	/* 12: h1 joined for itself */
	{ "mgid=ff12::77 port=h1 join=2", 0x0200 },
	{ "mgid=ff12::77 port=h2 join=1", 0 }, /* a proxy join */
};

static void a_set_is_judged_in_order(void **state)
{
	check_rows(set_rows, ARRAY_SIZE(set_rows));
}

static void an_answer_holds_the_group_and_the_cumulative_state(void **state)
{
	_desk_ d = mc_start();
	uint8_t gid[16];

	assert_status(mc_join(d, "h1",
			      "mgid=ff12::77 qkey=0x77 tclass=9 pkey=0xffff flow=5 sl=2 hop=3 "
			      "mtu=0x84 rate=0x83 life=0x92 join=1"),
		      0);
	assert_status(mc_join(d, "h2", "mgid=ff12::77 join=1"), 0);
	assert_int_equal(d->answer.method, MAD_GET_RESP);
	assert_int_equal(d->answer.len, SA_DATA + MCM_BYTES);
	assert_status(mc_join(d, "h2", "mgid=ff12::77 join=4"), 0);
	assert_int_equal(ib_get(answer(d), MCM_JOIN_STATE), 5);
	assert_int_equal(ib_get(answer(d), MCM_SCOPE), 2);
	assert_int_equal(ib_get(answer(d), MCM_QKEY), 0x77);
	assert_int_equal(ib_get(answer(d), MCM_MLID), 0xC001);
	assert_int_equal(ib_bits_get(answer(d), MCM_MTU_SEL, 8), 0x84);
	assert_int_equal(ib_bits_get(answer(d), MCM_RATE_SEL, 8), 0x83);
	assert_int_equal(ib_bits_get(answer(d), MCM_LIFE_SEL, 8), 0x92);
	assert_int_equal(ib_get(answer(d), MCM_TCLASS), 9);
	assert_int_equal(ib_get(answer(d), MCM_PKEY), 0xFFFF);
	assert_int_equal(ib_get(answer(d), MCM_SL), 2);
	assert_int_equal(ib_get(answer(d), MCM_FLOW), 5);
	assert_int_equal(ib_get(answer(d), MCM_HOP), 3);
	assert_int_equal(ib_get(answer(d), MCM_PROXY_JOIN), 0);
	desk_gid(d, "h2", gid);
	assert_memory_equal(ib_at(answer(d), MCM_PORT_GID), gid, 16);
}

static void a_new_group_is_what_was_asked_for(void **state)
{
	static const struct {
		const char *words;
		unsigned mtu, rate, life;
	} rows[] = {
		{ "", 0x85, 0x83, 0x80 },
		{ "mtu=0x44 rate=0x43", 0x83, 0x85, 0x80 }, /* less than: the next lower */
		{ "mtu=0x02 rate=0x02", 0x85, 0x83, 0x80 }, /* greater than: what the port has */
		{ "mtu=0x81 rate=0x82 life=0x0f", 0x81, 0x82, 0x8F },
		{ "mtu=0xc2 rate=0xc5", 0x85, 0x83, 0x80 },
		{ "mtuval=1 rateval=2", 0x85, 0x83, 0x80 },
		{ "rate=0x46", 0x85, 0x83, 0x80 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_desk_ d = mc_start();
		char words[256];

		snprintf(words, sizeof(words), "mgid=ff12::5 " MC_NEW "%s", rows[i].words);
		assert_status(mc_join(d, "h0", words), 0);
		assert_int_equal(ib_bits_get(answer(d), MCM_MTU_SEL, 8), rows[i].mtu);
		assert_int_equal(ib_bits_get(answer(d), MCM_RATE_SEL, 8), rows[i].rate);
		assert_int_equal(ib_bits_get(answer(d), MCM_LIFE_SEL, 8), rows[i].life);
	}
}

static void an_mgid_is_assigned(void **state)
{
	static const uint8_t first[12] = { 0xFF, 0x12, 0xA0, 0x1B, 0xFE, 0x80 };
	_desk_ d = mc_start();
	uint8_t mgid[16];

	assert_status(mc_join(d, "h0", "mgid=:: " MC_NEW), 0);
	memcpy(mgid, ib_at(answer(d), MCM_MGID), 16);
	assert_memory_equal(mgid, first, sizeof(first));
	assert_status(mc_join(d, "h0", "mgid=:: " MC_NEW), 0);
	assert_memory_not_equal(mgid, ib_at(answer(d), MCM_MGID), 16);
	assert_int_equal(ib_get(answer(d), MCM_SCOPE), 2);
	assert_status(mc_join(d, "h0", "mgid=:: scope=5 " MC_NEW), 0);
	assert_int_equal(ib_at(answer(d), MCM_MGID)[1], 0x15);
	assert_int_equal(ib_get(answer(d), MCM_SCOPE), 5);
	assert_status(mc_join(d, "h0", "mgid=:: join=1"), 0x0600);
	assert_status(mc_join(d, "h0", "mgid=:: join=2"), 0x0200);
	/* Others join by the MGID that was assigned. */
	memcpy(ib_at(desk_blank(d), MCM_MGID), mgid, 16);
	desk_gid(d, "h1", ib_at(d->record, MCM_PORT_GID));
	ib_put(d->record, MCM_JOIN_STATE, 1);
	d->from = "h1";
	assert_int_equal(
		desk_set(d, SA_MC_MEMBER_RECORD,
			 SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) | SA_COMP(MCM_JOIN_STATE))
			->status,
		0);
}

static void an_mlid_may_be_asked_for(void **state)
{
	_desk_ d = mc_start();

	assert_status(mc_join(d, "h0", "mgid=ff12::1 mlid=0xc100 " MC_NEW), 0);
	assert_int_equal(ib_get(answer(d), MCM_MLID), 0xC100);
	assert_status(mc_join(d, "h0", "mgid=ff12::2 mlid=0xc100 " MC_NEW), 0);
	assert_int_equal(ib_get(answer(d), MCM_MLID), 0xC001); /* taken: the lowest free */
	assert_status(mc_join(d, "h0", "mgid=ff12::3 mlid=0xc400 " MC_NEW), 0);
	assert_int_equal(ib_get(answer(d), MCM_MLID), 0xC002); /* switches hold 1024 */
	assert_status(mc_join(d, "h0", "mgid=ff12::4 mlid=0xc3ff " MC_NEW), 0);
	assert_int_equal(ib_get(answer(d), MCM_MLID), 0xC3FF);
	assert_status(mc_join(d, "h0", "mgid=ff12::5 mlid=0x0001 " MC_NEW), 0);
	assert_int_equal(ib_get(answer(d), MCM_MLID), 0xC003);
}

static void a_port_below_the_group_cannot_join(void **state)
{
	_desk_ d = mc_start();
	struct port *p = desk_end(d, "h2");

	assert_status(mc_join(d, "h0", "mgid=ff12::5 " MC_NEW), 0); /* MTU 5, rate 3 */
	ib_put(p->info, PI_NEIGHBOR_MTU, IB_MTU_2048);
	desk_publish(d);
	assert_status(mc_join(d, "h2", "mgid=ff12::5 join=1"), 0x0200);
	ib_put(p->info, PI_NEIGHBOR_MTU, IB_MTU_4096);
	ib_put(p->info, PI_WIDTH_ACTIVE, 1);
	desk_publish(d);
	assert_status(mc_join(d, "h2", "mgid=ff12::5 join=1"), 0x0200);
	ib_put(p->info, PI_WIDTH_ACTIVE, 2);
	desk_publish(d);
	assert_status(mc_join(d, "h2", "mgid=ff12::5 join=1"), 0);
}

static void a_failed_creation_leaves_nothing(void **state)
{
	_desk_ d = mc_start();
	uint64_t version = sa_db_version(d->sa);

	/* Fails at step 9, with everything before fine. */
	assert_status(mc_join(d, "h0", "mgid=ff12::5 rate=0x87 " MC_NEW), 0x0200);
	assert_null(mc_group(d, "ff12::5"));
	assert_int_equal(sa_next_mlid(d->sa, 0xC001), 0);
	assert_int_equal(sa_db_version(d->sa), version);
	assert_int_equal(d->mcast_changes, 0);
}

static void validation_can_be_switched_off(void **state)
{
	_desk_ d = mc_start();

	desk_conf(d, "ipoib_mcgroup_creation_validation", "FALSE");
	assert_status(mc_join(d, "h0", "mgid=ff15:401b:ffff::1 " MC_NEW), 0);
	assert_status(mc_join(d, "h0", "mgid=ff42::5 " MC_NEW), 0);
	assert_status(mc_join(d, "h0", "mgid=fe12::5 " MC_NEW), 0x0200);
	assert_status(mc_join(d, "h1", "mgid=ff42::5 join=1 qkey=1"), 0x0200);
	desk_conf(d, "mcgroup_join_validation", "FALSE");
	assert_status(mc_join(d, "h1", "mgid=ff42::5 join=1 qkey=1"), 0);
	assert_status(mc_join(d, "h2", "mgid=ff42::5 join=1 mtu=0x84"), 0x0200); /* step 8 stays */
}

static void without_multicast_nobody_joins(void **state)
{
	_desk_ d = mc_start();

	assert_status(mc_join(d, "h1", "mgid=" MC_BROADCAST " join=1"), 0);
	desk_conf(d, "disable_multicast", "TRUE");
	assert_status(mc_join(d, "h0", "mgid=" MC_BROADCAST " join=1"), MAD_STATUS_BAD_METHOD_ATTR);
	assert_status(mc_leave(d, "h1", "mgid=" MC_BROADCAST " join=1"), 0);
}

static void the_default_prefix_stands_for_ours(void **state)
{
	_desk_ d = mc_start();
	uint8_t gid[16];
	char words[128], text[64];

	desk_conf(d, "subnet_prefix", "0xfec0000000000001");
	desk_publish(d);
	assert_status(mc_join(d, "h0", "mgid=ff12::5 " MC_NEW), 0);
	desk_gid(d, "h1", gid);
	ib_bits_put(gid, 0, 64, 0xFE80000000000000);
	inet_ntop(AF_INET6, gid, text, sizeof(text));
	d->from = "h1";
	snprintf(words, sizeof(words), "mgid=ff12::5 gid=%s join=5", text);
	assert_status(mc_set(d, words), 0);
	assert_memory_equal(ib_at(answer(d), MCM_PORT_GID), gid, 16);
	d->sm_key = 1;
	assert_int_equal(mc_table(d, "mgid=ff12::5 port=h1"), 1);
	desk_gid(d, "h1", gid);
	assert_memory_equal(ib_at(answer(d), MCM_PORT_GID), gid, 16); /* shown with our prefix */
	snprintf(words, sizeof(words), "mgid=ff12::5 gid=%s join=4", text);
	assert_int_equal(mc_table(d, words), 1);
	assert_status(mc_delete(d, words), 0);
	assert_int_equal(mc_state(d, "ff12::5", "h1"), 1);
	assert_status(mc_set(d, "mgid=ff12::5 gid=fec0::9 join=1"), 0x0500);
}

/* ---- proxies ---- */

static void a_proxy_needs_a_common_partition(void **state)
{
	static const uint16_t both[] = { 0xFFFF, 0x8001 }, one[] = { 0x8001 },
			      limited[] = { 0x7FFF };
	_desk_ d = mc_start();

	desk_keys(d, "h1", 1, one);
	assert_status(mc_set(d, "mgid=ff12::5 port=h1 " MC_NEW), 0x0200); /* nothing in common */
	desk_keys(d, "h1", 2, both);
	assert_status(mc_set(d, "mgid=ff12::5 port=h1 " MC_NEW), 0);
	assert_int_equal(ib_get(answer(d), MCM_PROXY_JOIN), 1);
	desk_keys(d, "h2", 1, limited);
	desk_keys(d, "h3", 1, limited);
	d->from = "h2";
	assert_status(mc_set(d, "mgid=ff12::5 port=h3 join=1"), 0x0200); /* limited to limited */
	d->from = "h3";
	assert_status(mc_set(d, "mgid=ff12::5 port=h1 join=2"), 0); /* a member by proxy */
	assert_int_equal(ib_get(answer(d), MCM_JOIN_STATE), 3);
}

static void who_joined_for_itself_is_left_alone(void **state)
{
	_desk_ d = mc_start();

	assert_status(mc_join(d, "h1", "mgid=ff12::5 " MC_NEW), 0);
	assert_status(mc_delete(d, "mgid=ff12::5 port=h1 join=1"), 0x0200);
	assert_status(mc_set(d, "mgid=ff12::5 port=h1 join=4"), 0x0200);
	assert_int_equal(mc_state(d, "ff12::5", "h1"), 1);
}

static void a_proxy_member_may_be_taken_back_by_its_partition(void **state)
{
	static const uint16_t other[] = { 0xFFFF, 0x8001 };
	_desk_ d = mc_start();

	for (unsigned i = 1; i < 4; i++)
		desk_keys(d, (const char *[]){ "h1", "h2", "h3" }[i - 1], 2, other);
	d->from = "h1";
	assert_status(
		mc_set(d, "mgid=ff12::5 port=h2 join=1 qkey=1 tclass=0 pkey=0x8001 flow=0 sl=0"),
		0);
	d->from = "h0";
	assert_status(mc_delete(d, "mgid=ff12::5 port=h2 join=1"), 0x0200); /* not in 0x8001 */
	d->from = "h3";
	assert_status(mc_delete(d, "mgid=ff12::5 port=h2 join=1"), 0);
	assert_null(mc_group(d, "ff12::5"));
}

static void who_joins_for_itself_is_no_proxy_any_more(void **state)
{
	_desk_ d = mc_start();

	assert_status(mc_set(d, "mgid=ff12::5 port=h2 " MC_NEW), 0);
	assert_status(mc_join(d, "h2", "mgid=ff12::5 join=1"), 0);
	assert_int_equal(ib_get(answer(d), MCM_PROXY_JOIN), 0);
	assert_status(mc_delete(d, "mgid=ff12::5 port=h2 join=1"), 0x0200);
}

/* ---- Delete ---- */

static void a_delete_is_judged_in_order(void **state)
{
	static const struct row rows[] = {
		{ "port=h0 join=1", 0x0600 },
		{ "mgid=ff12::5 join=1", 0x0600 },
		{ "mgid=ff12::5 port=h0", 0x0600 },
		{ "mgid=ff12::5 port=h0 join=1 mtu=0x80", 0x0200 },
		{ "mgid=ff12::5 port=h0 join=1 rate=0xc0", 0x0200 },
		{ "mgid=ff12::6 port=h0 join=1", 0x0200 },
		{ "mgid=ff12::5 port=h2 join=1", 0x0200 },
		{ "mgid=ff12::5 gid=fe81::1 join=1", 0x0200 },
		{ "mgid=ff12::5 gid=fe80:: join=1", 0x0200 },
		{ "mgid=ff12::5 port=h0 join=0", 0x0200 },
		{ "mgid=ff12::5 port=h0 join=2", 0x0200 },
		{ "mgid=ff12::5 port=h0 join=7", 0x0200 },
		{ "mgid=ff12::5 port=h1 join=1", 0x0200 },
		{ "mgid=ff12::5 port=h0 join=5", 0 },
		{ "mgid=ff12::5 port=h0 join=4 qkey=9 mlid=0xc999 pkey=0x1234", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_desk_ d = mc_start();
		unsigned status;

		assert_status(mc_join(d, "h0", "mgid=ff12::5 " MC_NEW), 0);
		assert_status(mc_join(d, "h0", "mgid=ff12::5 join=4"), 0);
		assert_status(mc_join(d, "h1", "mgid=ff12::5 join=1"), 0);
		status = mc_delete(d, rows[i].words);
		if (status != rows[i].status)
			fail_msg("%s: status 0x%04x, not 0x%04x", rows[i].words, status,
				 rows[i].status);
		assert_int_equal(mc_state(d, "ff12::5", "h1"), 1);
		if (status)
			assert_int_equal(mc_state(d, "ff12::5", "h0"), 5);
	}
}

static void a_delete_answers_what_remains(void **state)
{
	_desk_ d = mc_start();

	assert_status(mc_join(d, "h1", "mgid=ff15::5 " MC_NEW), 0);
	assert_status(mc_join(d, "h0", "mgid=ff15::5 join=7"), 0);
	assert_status(mc_leave(d, "h0", "mgid=ff15::5 join=5 qkey=0x99 mlid=0xc777"), 0);
	assert_int_equal(d->answer.method, MAD_SA_DELETE | MAD_RESPONSE_BIT);
	assert_int_equal(d->answer.len, SA_DATA + MCM_BYTES);
	assert_int_equal(ib_get(answer(d), MCM_JOIN_STATE), 2);
	assert_int_equal(ib_get(answer(d), MCM_SCOPE), 5);
	assert_int_equal(ib_get(answer(d), MCM_QKEY), 0x99);
	assert_int_equal(ib_get(answer(d), MCM_MLID), 0xC777);
}

/* ---- Get ---- */

static void the_untrusted_see_groups_without_members(void **state)
{
	static const uint8_t nobody[16];
	_desk_ d = mc_start();

	assert_status(mc_join(d, "h1", "mgid=ff12::5 " MC_NEW), 0);
	assert_status(mc_join(d, "h2", "mgid=ff12::5 join=1"), 0);
	assert_int_equal(mc_table(d, ""), 2);
	assert_int_equal(mc_get(d, "mgid=ff12::5"), 0);
	assert_memory_equal(ib_at(answer(d), MCM_PORT_GID), nobody, 16);
	assert_int_equal(ib_bits_get(answer(d), MCM_SCOPE, 8), 0x20);
	assert_int_equal(ib_get(answer(d), MCM_PROXY_JOIN), 0);
	assert_int_equal(mc_table(d, "port=h1"), 1); /* groups that h1 is in */
	assert_int_equal(mc_table(d, "port=h3"), 0);
	assert_int_equal(mc_table(d, "join=1"), 2);
	assert_int_equal(mc_table(d, "mgid=ff12::9"), 0);
	assert_int_equal(mc_get(d, "mgid=ff12::9"), 0x0300);
}

static void the_trusted_see_members_in_order(void **state)
{
	_desk_ d = mc_start();
	uint64_t last = 0;

	assert_status(mc_join(d, "h2", "mgid=ff12::5 " MC_NEW), 0);
	assert_status(mc_join(d, "h1", "mgid=ff12::5 join=2"), 0);
	assert_status(mc_set(d, "mgid=ff12::5 port=h3 join=9"), 0);
	d->sm_key = 1;
	assert_int_equal(mc_table(d, ""), 3); /* the broadcast group has no member */
	for (unsigned i = 0; i < 3; i++) {
		uint64_t id = ib_bits_get(desk_record(&d->answer, i), MCM_PORT_GID + 64, 64);

		assert_true(id > last);
		last = id;
	}
	assert_int_equal(mc_get(d, "mgid=ff12::5"), 0x0400);
	assert_int_equal(mc_get(d, "mgid=ff12::5 port=h3"), 0);
	assert_int_equal(ib_get(answer(d), MCM_JOIN_STATE), 9);
	assert_int_equal(ib_get(answer(d), MCM_PROXY_JOIN), 1);
	assert_int_equal(mc_get(d, "mgid=ff12::5 port=h0"), 0x0300);
	assert_int_equal(mc_table(d, "join=1"), 2);
	assert_int_equal(mc_table(d, "join=2"), 1);
	assert_int_equal(mc_table(d, "join=10"), 2);
	assert_int_equal(mc_table(d, "join=4"), 0);
	assert_int_equal(mc_table(d, "proxy=1"), 1);
	assert_int_equal(mc_table(d, "proxy=0"), 2);
}

static void a_query_filters(void **state)
{
	static const struct row rows[] = {
		{ "", 3 },
		{ "mgid=ff15::5", 1 },
		{ "mlid=0xc001", 1 },
		{ "mlid=0xc0ff", 0 },
		{ "qkey=0x55", 1 },
		{ "pkey=0xffff", 3 },
		{ "pkey=0x7fff", 0 },
		{ "tclass=7", 1 },
		{ "sl=3", 1 },
		{ "flow=0x12345", 1 },
		{ "hop=255", 1 },
		{ "scope=5", 1 },
		{ "scope=2", 2 },
		{ "mtu=0x82", 1 },
		{ "mtu=0x02", 2 },
		{ "mtu=0x43", 1 },
		{ "mtuval=2", 3 },
		{ "mtusel=0x80", 0 },
		{ "rate=0x82", 1 },
		{ "rate=0x02", 2 },
		{ "rate=0x45", 1 },
		{ "life=0x85", 3 }, /* ignored */
	};
	_desk_ d = mc_start();

	assert_status(mc_join(d, "h0", "mgid=ff12::1 " MC_NEW), 0);
	assert_status(mc_join(d, "h1",
			      "mgid=ff15::5 join=1 qkey=0x55 tclass=7 pkey=0xffff flow=0x12345 "
			      "sl=3 hop=255 mtu=0x82 rate=0x82"),
		      0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (mc_table(d, rows[i].words) != rows[i].status)
			fail_msg("%s: %u groups", rows[i].words, d->answer.n);
	}
	assert_int_equal(mc_ask(d, MAD_SA_GET_TABLE, "mtu=0xc0"), 0x0200);
	assert_int_equal(mc_get(d, "rate=0xc1"), 0x0200);
}

static void groups_come_in_the_order_of_their_mgids(void **state)
{
	_desk_ d = mc_start();
	uint8_t last[16] = { 0 };

	assert_status(mc_join(d, "h0", "mgid=ff15::1 " MC_NEW), 0);
	assert_status(mc_join(d, "h0", "mgid=ff12::2 " MC_NEW), 0);
	assert_status(mc_join(d, "h0", "mgid=ff12:ffff::1 " MC_NEW), 0);
	assert_status(mc_join(d, "h0", "mgid=ff12::1 " MC_NEW), 0);
	assert_int_equal(mc_table(d, ""), 5);
	for (unsigned i = 0; i < 5; i++) {
		const uint8_t *mgid = ib_at(desk_record(&d->answer, i), MCM_MGID);

		assert_true(memcmp(last, mgid, 16) < 0);
		memcpy(last, mgid, 16);
	}
}

static void groups_of_other_partitions_are_invisible(void **state)
{
	static const uint16_t other[] = { 0x8001 }, limited[] = { 0x7FFF };
	_desk_ d = mc_start();

	desk_keys(d, "h2", 1, other);
	desk_keys(d, "h3", 1, limited);
	d->from = "h2";
	assert_int_equal(mc_table(d, ""), 0);
	assert_int_equal(mc_get(d, "mgid=" MC_BROADCAST), 0x0300);
	assert_status(mc_set(d, "mgid=" MC_BROADCAST " port=h2 join=1"), 0x0200);
	d->from = "h3";
	assert_int_equal(mc_get(d, "mgid=" MC_BROADCAST), 0);
	assert_status(mc_set(d, "mgid=" MC_BROADCAST " port=h3 join=1 pkey=0xffff"), 0);
}

/* A long table is made in slices; groups that go in between must not disturb it. */
static void a_query_survives_groups_that_go(void **state)
{
	_desk_ d = mc_start();
	char words[128];
	unsigned n = 200;

	for (unsigned i = 0; i < n; i++) {
		snprintf(words, sizeof(words), "mgid=ff12::%x " MC_NEW, i + 1);
		assert_status(mc_join(d, "h1", words), 0);
	}
	d->sa->limits.rows_at_once = d->sa->limits.rows_a_turn = d->sa->limits.rows_a_slice = 3;
	d->sm_key = 1;
	desk_post(d, MAD_SA_GET_TABLE, SA_MC_MEMBER_RECORD, mc_write(d, ""));
	assert_null(desk_reply(d));
	for (unsigned i = 0; i < n; i++) { /* behind the query, and before it */
		unsigned last = i % 2 ? i / 2 + 1 : n - i / 2;

		snprintf(words, sizeof(words), "ff12::%x", last);
		mgroups_leave(d->sa, mc_group(d, words), desk_end(d, "h1")->guid, 1);
		sa_dispatch(d->sa, d->now);
	}
	assert_int_equal(sa_stats(d->sa)->groups, 1);
	desk_settle(d);
	assert_non_null(desk_reply(d));
	assert_int_equal(desk_reply(d)->status, 0);
	assert_in_range(desk_reply(d)->n, 1, n - 1);
}

/* ---- what clients send (sa.md 11) ---- */

static void the_kernel_brings_ipoib_up_and_down(void **state)
{
	_desk_ d = mc_start();

	assert_status(mc_join(d, "h1", "mgid=" MC_BROADCAST " pkey=0xffff join=1"), 0);
	assert_int_equal(ib_get(answer(d), MCM_MLID), 0xC000);
	assert_int_equal(ib_get(answer(d), MCM_QKEY), 0x0B1B);
	assert_int_equal(ib_bits_get(answer(d), MCM_MTU_SEL, 8), 0x84);
	assert_int_equal(ib_bits_get(answer(d), MCM_RATE_SEL, 8), 0x83);
	assert_int_equal(ib_bits_get(answer(d), MCM_SCOPE, 8), 0x21);
	/* 224.0.0.1, then send-only to 224.0.0.251 */
	assert_status(mc_join(d, "h1",
			      "mgid=ff12:401b:ffff::1 pkey=0xffff join=1 qkey=0xb1b mtu=0x84 "
			      "tclass=0 rate=0x83 sl=0 flow=0 hop=0"),
		      0);
	assert_status(mc_join(d, "h1",
			      "mgid=ff12:401b:ffff::fb pkey=0xffff join=8 qkey=0xb1b mtu=0x84 "
			      "tclass=0 rate=0x83 sl=0 flow=0 hop=0"),
		      0);
	assert_status(mc_leave(d, "h1", "mgid=ff12:401b:ffff::fb join=8"), 0);
	assert_status(mc_leave(d, "h1", "mgid=ff12:401b:ffff::1 join=1"), 0);
	assert_status(mc_leave(d, "h1", "mgid=" MC_BROADCAST " join=1"), 0);
	assert_int_equal(sa_stats(d->sa)->groups, 1);
	assert_int_equal(sa_stats(d->sa)->members, 0);
}

static void the_kernel_leaves_bit_by_bit(void **state)
{
	_desk_ d = mc_start();

	assert_status(mc_join(d, "h1", "mgid=ff12::5 " MC_NEW), 0);
	assert_status(mc_join(d, "h1", "mgid=ff12::5 join=8"), 0);
	assert_status(mc_leave(d, "h1", "mgid=ff12::5 join=1"), 0);
	assert_int_equal(mc_state(d, "ff12::5", "h1"), 8);
	assert_status(mc_leave(d, "h1", "mgid=ff12::5 join=8"), 0);
	assert_null(mc_group(d, "ff12::5"));
}

static void the_rdma_cm_joins(void **state)
{
	_desk_ d = mc_start();

	/* 239.0.0.1 in the format of RDMA CM; rdma_join_multicast() with no address */
	assert_status(mc_join(d, "h1",
			      "mgid=ff12:4001:ffff::ef00:1 pkey=0xffff join=1 qkey=0x1234567 sl=0 "
			      "flow=0 tclass=0"),
		      0);
	assert_status(mc_join(d, "h2",
			      "mgid=ff12:4001:ffff::ef00:1 pkey=0xffff join=1 qkey=0x1234567 sl=0 "
			      "flow=0 tclass=0"),
		      0);
	assert_status(
		mc_join(d, "h1", "mgid=:: pkey=0xffff join=1 qkey=0x1234567 sl=0 flow=0 tclass=0"),
		0);
}

static void ibacm_joins_with_scope_5(void **state)
{
	_desk_ d = mc_start();

	assert_status(mc_join(d, "h1",
			      "mgid=ff15:4001:ffff::1 pkey=0xffff join=1 qkey=0x80010000 tclass=0 "
			      "sl=0 flow=0 mtu=0x84 rate=0x83 scope=5"),
		      0);
	assert_int_equal(ib_get(answer(d), MCM_SCOPE), 5);
}

static void ipxe_joins_with_three_components(void **state)
{
	_desk_ d = mc_start();

	assert_status(mc_join(d, "h1", "mgid=" MC_BROADCAST " join=1"), 0);
	assert_int_equal(ib_get(answer(d), MCM_QKEY), 0x0B1B);
	assert_status(mc_leave(d, "h1", "mgid=" MC_BROADCAST " join=1"), 0);
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_set_is_judged_in_order),
		TEST(an_answer_holds_the_group_and_the_cumulative_state),
		TEST(a_new_group_is_what_was_asked_for),
		TEST(an_mgid_is_assigned),
		TEST(an_mlid_may_be_asked_for),
		TEST(a_port_below_the_group_cannot_join),
		TEST(a_failed_creation_leaves_nothing),
		TEST(validation_can_be_switched_off),
		TEST(without_multicast_nobody_joins),
		TEST(the_default_prefix_stands_for_ours),
		TEST(a_proxy_needs_a_common_partition),
		TEST(who_joined_for_itself_is_left_alone),
		TEST(a_proxy_member_may_be_taken_back_by_its_partition),
		TEST(who_joins_for_itself_is_no_proxy_any_more),
		TEST(a_delete_is_judged_in_order),
		TEST(a_delete_answers_what_remains),
		TEST(the_untrusted_see_groups_without_members),
		TEST(the_trusted_see_members_in_order),
		TEST(a_query_filters),
		TEST(groups_come_in_the_order_of_their_mgids),
		TEST(groups_of_other_partitions_are_invisible),
		TEST(a_query_survives_groups_that_go),
		TEST(the_kernel_brings_ipoib_up_and_down),
		TEST(the_kernel_leaves_bit_by_bit),
		TEST(the_rdma_cm_joins),
		TEST(ibacm_joins_with_scope_5),
		TEST(ipxe_joins_with_three_components),
	};

	log_set_sink(mc_not_shown, NULL);
	return cmocka_run_group_tests_name("sa-mcmember", tests, NULL, NULL);
}
