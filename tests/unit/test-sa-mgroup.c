// SPDX-License-Identifier: BSD-2-Clause
/*
 * The store of multicast groups: MLIDs, members, traps, quotas, views, partitions, restoring; and a
 * long random life beside a model. What a request is answered is in test-sa-mcmember.c.
 */
#include <errno.h>

#include "sa/guidinfo.h"
#include "sa/impl.h"
#include "tests/unit/mc-desk.h"
#include "tests/unit/sa-events.h"
#include "util/log.h"

static struct desk *start(void)
{
	struct desk *d = desk_new("tree 2 2 1");

	mc_partitions(d, MC_IPOIB);
	return d;
}

static guid_t guid_of(struct desk *d, const char *node)
{
	return desk_end(d, node)->guid;
}

/* The MLIDs in use are those of the groups there are, no more, no less. */
static void check_mlids(struct desk *d)
{
	uint8_t used[MLIDS_MAX] = { 0 };
	unsigned n = 0, n_groups = 0;

	for (struct mgroup *g = mgroup_next(d->sa, NULL); g;
	     g = mgroup_next(d->sa, mgroup_mgid(g))) {
		assert_in_range(mgroup_mlid(g), MLID_FIRST, MLID_LAST);
		used[mgroup_mlid(g) - MLID_FIRST] = 1;
		n_groups++;
	}
	for (unsigned mlid = sa_next_mlid(d->sa, 0); mlid; mlid = sa_next_mlid(d->sa, mlid + 1)) {
		assert_true(used[mlid - MLID_FIRST]);
		n++;
	}
	for (unsigned i = 0; i < MLIDS_MAX; i++)
		n -= used[i];
	assert_int_equal(n, 0);
	assert_int_equal(sa_stats(d->sa)->groups, n_groups);
}

/* "66 67 66 ": what subscribers have heard of groups since the last call. */
static const char *traps(struct desk *d, char ret[64])
{
	const struct desk_message *m;
	size_t len = 0;

	ret[0] = '\0';
	desk_settle(d);
	while ((m = desk_mail(d))) {
		if (trap_of(m) == 66 || trap_of(m) == 67)
			len += (size_t)snprintf(ret + len, 64 - len, "%u ", trap_of(m));
		answer_report(d, m);
		desk_settle(d);
	}
	return ret;
}

/* A port is gone and another one stands in its place. */
static void replace_port(struct desk *d, const char *node, guid_t guid)
{
	fabric_set_port_guid(d->fabric, desk_end(d, node), guid);
	desk_publish(d);
}

/* Gives `node` an alias GUID, number 1 of block 0. */
static void give_alias(struct desk *d, const char *node, guid_t alias)
{
	const char *before = d->from;

	desk_blank(d);
	ib_put(d->record, GIR_LID, desk_lid(d, node));
	ib_put(d->record, GIR_GUID1, alias);
	d->from = node;
	assert_int_equal(desk_set(d, SA_GUID_INFO_RECORD,
				  SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) | SA_COMP(GIR_GUID1))
				 ->status,
			 0);
	d->from = before;
}

/* ---- MLIDs ---- */

static void an_mlid_is_the_lowest_free_one(void **state)
{
	_desk_ d = start();

	assert_int_equal(mc_mlid(d, MC_BROADCAST), 0xC000);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::1 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::2 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::3 " MC_NEW), 0);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::2 join=1"), 0);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::1 join=1"), 0);
	check_mlids(d);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::4 " MC_NEW), 0);
	assert_int_equal(mc_mlid(d, "ff12::4"), 0xC001);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::5 " MC_NEW), 0);
	assert_int_equal(mc_mlid(d, "ff12::5"), 0xC002);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::6 " MC_NEW), 0);
	assert_int_equal(mc_mlid(d, "ff12::6"), 0xC004);
	check_mlids(d);
}

/* In OpenSM a group joined with 0x9 and left with 0x1 stays for ever: 1000 of them and it is full. */
static void both_kinds_of_full_members_count(void **state)
{
	_desk_ d = start();
	char words[128];

	for (unsigned i = 0; i < 3000; i++) {
		snprintf(words, sizeof(words),
			 "mgid=ff12::%x join=9 qkey=1 tclass=0 pkey=0xffff flow=0 sl=0", i + 1);
		assert_int_equal(mc_join(d, "h0", words), 0);
		assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_MLID), 0xC001);
		snprintf(words, sizeof(words), "mgid=ff12::%x join=%u", i + 1, i % 2 ? 1 : 8);
		assert_int_equal(mc_leave(d, "h0", words), 0);
		snprintf(words, sizeof(words), "ff12::%x", i + 1);
		assert_int_equal(mc_state(d, words, "h0"), i % 2 ? 8 : 1);
		snprintf(words, sizeof(words), "mgid=ff12::%x join=%u", i + 1, i % 2 ? 8 : 1);
		assert_int_equal(mc_leave(d, "h0", words), 0);
		assert_int_equal(sa_next_mlid(d->sa, 0xC001), 0);
	}
	check_mlids(d);
}

static void a_port_that_dies_frees_its_mlids(void **state)
{
	_desk_ d = start();

	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1 " MC_NEW), 0);
	assert_int_equal(
		mc_join(d, "h1", "mgid=ff12::2 join=9 qkey=1 tclass=0 pkey=0xffff flow=0 sl=0"), 0);
	assert_int_equal(mc_join(d, "h2", "mgid=ff12::2 join=6"), 0);
	assert_int_equal(mc_join(d, "h2", "mgid=ff12::3 " MC_NEW), 0);
	desk_remove(d, "h1");
	assert_null(mc_group(d, "ff12::1"));
	assert_null(mc_group(d, "ff12::2")); /* h2 was not full */
	assert_non_null(mc_group(d, "ff12::3"));
	assert_int_equal(sa_stats(d->sa)->members, 1);
	check_mlids(d);
}

static void when_mlids_run_out_requests_are_refused(void **state)
{
	_desk_ d = start();
	char words[128];

	ib_put(desk_node(d, "leaf1")->switch_info, SI_MULTICAST_FDB_CAP, 10);
	desk_publish(d);
	for (unsigned i = 0; i < 9; i++) { /* the tenth is the broadcast group's */
		snprintf(words, sizeof(words), "mgid=ff12::%x " MC_NEW, i + 1);
		assert_int_equal(mc_join(d, "h0", words), 0);
	}
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::99 " MC_NEW), 0x0100);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::99 mlid=0xc00a " MC_NEW), 0x0100);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::99 rate=0x87 " MC_NEW),
			 0x0100); /* f before 9 */
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::3 join=1"), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::99 " MC_NEW), 0);
	assert_int_equal(mc_mlid(d, "ff12::99"), 0xC003);
	check_mlids(d);
}

static void the_range_follows_the_switches(void **state)
{
	_desk_ d = start();

	assert_int_equal(mc_join(d, "h0", "mgid=ff12::1 mlid=0xc3ff " MC_NEW), 0);
	ib_put(desk_node(d, "leaf1")->switch_info, SI_MULTICAST_FDB_CAP, 256);
	ib_put(desk_node(d, "leaf2")->switch_info, SI_MULTICAST_FDB_CAP, 0); /* cannot at all */
	desk_publish(d);
	assert_int_equal(mc_mlid(d, "ff12::1"), 0xC3FF); /* members know it by this MLID */
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::2 mlid=0xc100 " MC_NEW), 0);
	assert_int_equal(mc_mlid(d, "ff12::2"), 0xC001);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::1 join=1"), 0);
	ib_put(desk_node(d, "leaf1")->switch_info, SI_MULTICAST_FDB_CAP, 0xFFFF);
	ib_put(desk_node(d, "leaf2")->switch_info, SI_MULTICAST_FDB_CAP, 0xFFFF);
	ib_put(desk_node(d, "spine1")->switch_info, SI_MULTICAST_FDB_CAP, 0xFFFF);
	desk_publish(d);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::3 mlid=0xfffe " MC_NEW), 0);
	assert_int_equal(mc_mlid(d, "ff12::3"), 0xFFFE);
	assert_int_equal(sa_next_mlid(d->sa, 0xC002), 0xFFFE);
	assert_int_equal(sa_next_mlid(d->sa, 0xFFFF), 0);
	check_mlids(d);
}

static void groups_beyond_the_range_do_not_count(void **state)
{
	_desk_ d = start();

	assert_int_equal(mc_join(d, "h0", "mgid=ff12::1 mlid=0xc3fd " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::2 mlid=0xc3fe " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::3 mlid=0xc3ff " MC_NEW), 0);
	ib_put(desk_node(d, "leaf1")->switch_info, SI_MULTICAST_FDB_CAP, 4);
	desk_publish(d);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::4 " MC_NEW), 0);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::1 join=1"), 0);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::2 join=1"), 0);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::3 join=1"), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::5 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::6 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::7 " MC_NEW), 0x0100);
	check_mlids(d);
}

static void solicited_node_groups_share_if_asked_to(void **state)
{
	_desk_ d = start();
#define SNM "join=1 qkey=0xb1b tclass=0 pkey=0xffff flow=0 sl=0"

	assert_int_equal(mc_join(d, "h0", "mgid=ff12:601b:ffff::1:ff00:1 " SNM), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12:601b:ffff::1:ff00:2 " SNM), 0);
	assert_int_equal(mc_mlid(d, "ff12:601b:ffff::1:ff00:2"), 0xC002);
	desk_conf(d, "consolidate_ipv6_snm_req", "TRUE");
	assert_int_equal(mc_join(d, "h0", "mgid=ff12:601b:ffff::1:ff12:3456 " SNM), 0);
	assert_int_equal(mc_mlid(d, "ff12:601b:ffff::1:ff12:3456"), 0xC001);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12:601b:ffff::1:ff12:3457 " SNM), 0);
	assert_int_equal(mc_mlid(d, "ff12:601b:ffff::1:ff12:3457"), 0xC001);
	/* not like these: ff01:, all-nodes, another one's own MLID */
	assert_int_equal(mc_join(d, "h0", "mgid=ff12:601b:ffff::1:fe12:3457 " SNM), 0);
	assert_int_equal(mc_mlid(d, "ff12:601b:ffff::1:fe12:3457"), 0xC003);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12:601b:ffff::1:ff12:9 mlid=0xc010 " SNM), 0);
	assert_int_equal(mc_mlid(d, "ff12:601b:ffff::1:ff12:9"), 0xC010);
	check_mlids(d);
	/* Freed with the last of them. */
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12:601b:ffff::1:ff00:1 join=1"), 0);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12:601b:ffff::1:ff12:3456 join=1"), 0);
	assert_int_equal(sa_next_mlid(d->sa, 0xC001), 0xC001);
	assert_int_equal(mc_leave(d, "h1", "mgid=ff12:601b:ffff::1:ff12:3457 join=1"), 0);
	assert_int_equal(sa_next_mlid(d->sa, 0xC001), 0xC002);
	check_mlids(d);
}

/* ---- members, and what trees hear ---- */

static void trees_hear_of_changes_only(void **state)
{
	static const struct {
		const char *host, *words;
		bool leave;
		unsigned changes;
	} rows[] = {
		{ "h0", "mgid=ff12::1 " MC_NEW, false, 1 },
		{ "h0", "mgid=ff12::1 join=1", false, 0 },
		{ "h0", "mgid=ff12::1 join=14", false, 0 }, /* it receives already */
		{ "h1", "mgid=ff12::1 join=4", false, 1 },
		{ "h1", "mgid=ff12::1 join=8", false, 0 }, /* sends already */
		{ "h1", "mgid=ff12::1 join=2", false, 1 },
		{ "h1", "mgid=ff12::1 join=4", true, 0 },
		{ "h1", "mgid=ff12::1 join=2", true, 1 }, /* only sends now */
		{ "h1", "mgid=ff12::1 join=2", true, 0 }, /* refused */
		{ "h2", "mgid=ff12::1 join=2", false, 1 },
		{ "h0", "mgid=ff12::1 join=15", true, 1 },
		{ "h1", "mgid=ff12::1 join=8", true, 1 }, /* h2 is put out with it: once */
		{ "h0", "mgid=ff12::2 rate=0x87 " MC_NEW, false, 0 },
	};
	_desk_ d = start();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned before = d->mcast_changes;

		mc_as(d, rows[i].host, rows[i].leave ? MAD_SA_DELETE : MAD_SET, rows[i].words);
		if (d->mcast_changes - before != rows[i].changes)
			fail_msg("%s %s: %u changes", rows[i].host, rows[i].words,
				 d->mcast_changes - before);
		if (rows[i].changes)
			assert_int_equal(d->mcast_last, 0xC001);
	}
	assert_null(mc_group(d, "ff12::1"));
	desk_publish(d);
	assert_int_equal(d->mcast_changes, 7);
}

static void a_view_tells_each_mlid_once(void **state)
{
	_desk_ d = start();
	unsigned before;

	assert_int_equal(mc_join(d, "h0", "mgid=ff12::1 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1 join=1"), 0);
	assert_int_equal(mc_join(d, "h2", "mgid=ff12::1 join=1"), 0);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::2 " MC_NEW), 0);
	before = d->mcast_changes;
	fabric_set_port_guid(d->fabric, desk_end(d, "h1"), 0xAAA1);
	replace_port(d, "h2", 0xAAA2);
	assert_int_equal(d->mcast_changes - before, 2);
}

static void members_are_listed_by_port(void **state)
{
	_desk_ d = start();
	_cleanup_free_ struct sa_mc_port *list = NULL, *none = NULL;
	uint32_t n;

	assert_int_equal(mc_join(d, "h3", "mgid=ff12::1 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1 join=8"), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::1 join=2"), 0);
	assert_int_equal(mc_join(d, "h2", "mgid=ff12::2 " MC_NEW), 0);
	list = sa_mc_members(d->sa, 0xC001, &n);
	assert_int_equal(n, 3);
	for (unsigned i = 0; i < n; i++) {
		if (i)
			assert_true(list[i].port > list[i - 1].port);
		assert_int_equal(list[i].receives, list[i].port != desk_port(d, "h1"));
	}
	none = sa_mc_members(d->sa, 0xC005, &n);
	assert_int_equal(n, 0);
	assert_non_null(none);
}

static void an_alias_is_a_member_of_its_own_on_the_same_port(void **state)
{
	_desk_ d = start();
	_cleanup_free_ struct sa_mc_port *list = NULL;
	unsigned before;
	uint32_t n;

	give_alias(d, "h1", 0xA11A5);
	d->from = "h1";
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1 " MC_NEW), 0);
	assert_false(mgroups_uses_gid(d->sa, 0xA11A5));
	before = d->mcast_changes;
	assert_int_equal(mc_set(d, "mgid=ff12::1 gid=fe80::a:11a5 join=4"), 0);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_PROXY_JOIN), 0);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_JOIN_STATE), 4);
	assert_true(mgroups_uses_gid(d->sa, 0xA11A5));
	assert_int_equal(d->mcast_changes, before);
	assert_int_equal(mgroup_members(mc_group(d, "ff12::1")), 2);
	list = sa_mc_members(d->sa, 0xC001, &n);
	assert_int_equal(n, 1);
	assert_true(list[0].receives);
	assert_int_equal(list[0].port, desk_port(d, "h1"));
	assert_true(mgroup_has_port(d->sa, mc_group(d, "ff12::1"), guid_of(d, "h1")));
	assert_int_equal(mc_set(d, "mgid=ff12::1 gid=fe80::a:11a5 join=1"), 0);
	assert_int_equal(mc_leave(d, "h1", "mgid=ff12::1 join=1"), 0);
	assert_true(mgroup_has_port(d->sa, mc_group(d, "ff12::1"), guid_of(d, "h1")));
	assert_false(mgroup_has_port(d->sa, mc_group(d, "ff12::1"), guid_of(d, "h2")));
	/* Both go with the port. */
	desk_remove(d, "h1");
	assert_null(mc_group(d, "ff12::1"));
	assert_false(mgroups_uses_gid(d->sa, 0xA11A5));
}

/* ---- traps 66 and 67 ---- */

static void traps_follow_full_members(void **state)
{
	static const struct {
		const char *host, *words;
		bool leave;
		const char *traps;
	} rows[] = {
		{ "h1", "mgid=" MC_BROADCAST " join=2", false, "" },
		{ "h1", "mgid=" MC_BROADCAST " join=8", false, "66 " }, /* well known, too */
		{ "h2", "mgid=" MC_BROADCAST " join=1", false, "" },
		{ "h1", "mgid=" MC_BROADCAST " join=10", true, "" },
		{ "h2", "mgid=" MC_BROADCAST " join=1", true, "67 " },
		{ "h1", "mgid=ff12::1 " MC_NEW, false, "66 " },
		{ "h2", "mgid=ff12::1 join=6", false, "" },
		{ "h1", "mgid=ff12::1 join=9", false, "" },
		{ "h1", "mgid=ff12::1 join=1", true, "" },
		{ "h1", "mgid=ff12::1 join=8", true, "67 " },
		{ "h1", "mgid=ff12::1 join=8", true, "" }, /* there is nothing any more */
		{ "h1", "mgid=ff12::2 rate=0x87 " MC_NEW, false, "" },
	};
	_desk_ d = start();
	char heard[64];

	subscribe(d, "h0", 0xFFFF);
	traps(d, heard);
	assert_string_equal(heard, "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		mc_as(d, rows[i].host, rows[i].leave ? MAD_SA_DELETE : MAD_SET, rows[i].words);
		if (strcmp(traps(d, heard), rows[i].traps))
			fail_msg("%s %s: heard %s", rows[i].host, rows[i].words, heard);
	}
	assert_int_equal(mc_join(d, "h2", "mgid=ff12::3 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h2", "mgid=" MC_BROADCAST " join=1"), 0);
	assert_string_equal(traps(d, heard), "66 66 ");
	desk_remove(d, "h2");
	assert_string_equal(traps(d, heard), "67 67 ");
}

static void the_last_full_member_takes_the_others_with_it(void **state)
{
	_desk_ d = start();

	assert_int_equal(mc_join(d, "h1", "mgid=" MC_BROADCAST " join=2"), 0);
	assert_int_equal(mc_join(d, "h2", "mgid=" MC_BROADCAST " join=1"), 0);
	/* What is refused puts nobody out. */
	assert_int_equal(mc_leave(d, "h2", "mgid=" MC_BROADCAST " join=2"), 0x0200);
	assert_int_equal(mc_leave(d, "h0", "mgid=" MC_BROADCAST " join=1"), 0x0200);
	assert_int_equal(mc_state(d, MC_BROADCAST, "h1"), 2);
	assert_int_equal(mc_leave(d, "h2", "mgid=" MC_BROADCAST " join=1"), 0);
	assert_int_equal(mgroup_members(mc_group(d, MC_BROADCAST)), 0);
	assert_int_equal(mc_mlid(d, MC_BROADCAST), 0xC000);
	/* A member that stops being full stays only beside another full one. */
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h2", "mgid=ff12::1 join=3"), 0);
	assert_int_equal(mc_leave(d, "h2", "mgid=ff12::1 join=1"), 0);
	assert_int_equal(mc_state(d, "ff12::1", "h2"), 2);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1 join=2"), 0);
	assert_int_equal(mc_leave(d, "h1", "mgid=ff12::1 join=1"), 0);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_JOIN_STATE), 0);
	assert_null(mc_group(d, "ff12::1"));
}

/* ---- quotas ---- */

/* Groups that `host` can make, numbered from `first`; at most `max`. */
static unsigned make_groups(struct desk *d, const char *host, unsigned first, unsigned max)
{
	char words[128];
	unsigned n = 0;

	while (n < max) {
		snprintf(words, sizeof(words), "mgid=ff12::%x:%x " MC_NEW, first, n + 1);
		if (mc_join(d, host, words))
			break;
		n++;
	}
	return n;
}

static void one_port_cannot_have_all_groups(void **state)
{
	_desk_ d = start(); /* 1024 MLIDs, one is taken; the last 128 are for the modest */

	assert_int_equal(make_groups(d, "h0", 1, 2000), 256);
	assert_int_equal(d->answer.status, 0x0100);
	assert_int_equal(make_groups(d, "h1", 2, 2000), 256);
	assert_int_equal(make_groups(d, "h2", 3, 2000), 256);
	assert_int_equal(make_groups(d, "h3", 4, 2000), 1024 - 128 - 1 - 3 * 256);
	/* By proxy it is no better; but who has nothing yet still gets some, and everybody joins. */
	d->from = "h0";
	assert_int_equal(mc_set(d, "mgid=ff12::9:1 port=leaf1 " MC_NEW), 0x0100);
	assert_int_equal(make_groups(d, "leaf1", 5, 2000), MGROUP_FEW);
	assert_int_equal(mc_join(d, "h0", "mgid=" MC_BROADCAST " join=1"), 0);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1:1 join=1"), 0);
	check_mlids(d);
	/* What goes is given back. */
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::1:2 join=1"), 0);
	desk_remove(d, "h3");
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::9:1 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::9:2 " MC_NEW), 0x0100);
}

static void one_port_cannot_have_all_members(void **state)
{
	_desk_ d = start();
	struct mgroup *g = mc_group(d, MC_BROADCAST);
	guid_t greedy = guid_of(d, "h0"), other = guid_of(d, "h1");

	for (unsigned i = 0; i < MGROUP_MEMBERS_PER_PORT; i++) {
		assert_true(mgroups_may_join(d->sa, greedy));
		mgroups_join(d->sa, g,
			     &(struct mgroup_join){ .id = 0x1000 + i,
						    .port = 0x1000 + i,
						    .requester = greedy,
						    .join = 1,
						    .proxy = true });
	}
	assert_false(mgroups_may_join(d->sa, greedy));
	assert_true(mgroups_may_join(d->sa, other));
	assert_int_equal(mc_join(d, "h0", "mgid=" MC_BROADCAST " join=1"), 0x0100);
	/* Adding a bit to a member adds no member. */
	assert_int_equal(mc_join(d, "h1", "mgid=" MC_BROADCAST " join=1"), 0);
	mgroups_leave(d->sa, g, 0x1000, 1);
	assert_int_equal(mc_join(d, "h0", "mgid=" MC_BROADCAST " join=1"), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=" MC_BROADCAST " join=4"), 0);
	assert_int_equal(sa_stats(d->sa)->members, MGROUP_MEMBERS_PER_PORT + 1);
	desk_publish(d); /* there are no such ports */
	assert_int_equal(sa_stats(d->sa)->members, 2);
}

/* ---- partitions ---- */

static void partition_groups_are_made_in_order(void **state)
{
	static const uint16_t keys[] = { 0xFFFF, 0x8002 };
	_desk_ d = desk_new("tree 2 2 1");
	const uint8_t *r;

	desk_keys(d, "h0", 2, keys);
	mc_partitions(d, "Default=0x7fff, ipoib : ALL=full;\n"
			 "B=2, ipoib, rate=2, mtu=5, Q_Key=0x1234 : ALL=full;\n"
			 "C=3, ipoib : ALL=full;\n" /* no port holds it yet */);
	assert_int_equal(mc_mlid(d, MC_BROADCAST), 0xC000);
	assert_int_equal(mc_mlid(d, "ff12:401b:8002::ffff:ffff"), 0xC001);
	assert_null(mc_group(d, "ff12:401b:8003::ffff:ffff"));
	r = mgroup_record(mc_group(d, "ff12:401b:8002::ffff:ffff"));
	assert_int_equal(ib_get(r, MCM_QKEY), 0x1234);
	assert_int_equal(ib_bits_get(r, MCM_MTU_SEL, 8), 0x85);
	assert_int_equal(ib_bits_get(r, MCM_RATE_SEL, 8), 0x82);
	assert_int_equal(ib_bits_get(r, MCM_LIFE_SEL, 8), 0x92);
	assert_int_equal(ib_get(r, MCM_PKEY), 0x8002);
	assert_int_equal(ib_get(r, MCM_SCOPE), 2);
	assert_int_equal(d->mcast_changes, 0);
	desk_keys(d, "h1", 3, (const uint16_t[]){ 0xFFFF, 0x8002, 0x8003 });
	assert_int_equal(mc_mlid(d, "ff12:401b:8003::ffff:ffff"), 0xC002);
	assert_true(mgroup_is_well_known(mc_group(d, "ff12:401b:8003::ffff:ffff")));
}

static void groups_the_file_no_longer_names_go_when_empty(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	mc_partitions(d, "Default=0x7fff, ipoib : mgid=ff12::a, Q_Key=1\n mgid=ff12::b, Q_Key=2\n "
			 "ALL=full;");
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::a join=1"), 0);
	mc_partitions(d, MC_IPOIB);
	assert_null(mc_group(d, "ff12::b"));
	assert_non_null(mc_group(d, "ff12::a"));
	assert_false(mgroup_is_well_known(mc_group(d, "ff12::a")));
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::a join=1"), 0);
	assert_null(mc_group(d, "ff12::a"));
	assert_non_null(mc_group(d, MC_BROADCAST));
	check_mlids(d);
}

static void a_group_that_stands_gets_the_mark(void **state)
{
	_desk_ d = start();

	assert_int_equal(mc_join(d, "h0", "mgid=ff12::a mtu=0x84 rate=0x83 " MC_NEW), 0);
	mc_partitions(d, "Default=0x7fff, ipoib : mgid=ff12::a, Q_Key=0x11111111\n ALL=full;");
	assert_int_equal(mc_mlid(d, "ff12::a"), 0xC001);
	assert_true(mgroup_is_well_known(mc_group(d, "ff12::a")));
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::a join=1"), 0);
	assert_non_null(mc_group(d, "ff12::a"));
}

static unsigned field_of_broadcast(struct desk *d, unsigned offset, unsigned width)
{
	return ib_bits_get(mgroup_record(mc_group(d, MC_BROADCAST)), offset, width);
}

static void a_standing_group_follows_the_file_unless_members_cannot(void **state)
{
	_desk_ d = start(); /* MTU 4, rate 3 */

	mc_partitions(d,
		      "Default=0x7fff, ipoib, mtu=5, Q_Key=0x99 : ALL=full;"); /* nobody is in it */
	assert_int_equal(field_of_broadcast(d, MCM_MTU, 6), 5);
	assert_int_equal(field_of_broadcast(d, MCM_QKEY, 32), 0x99);
	assert_int_equal(mc_join(d, "h0", "mgid=" MC_BROADCAST " join=1"), 0);
	mc_partitions(d, "Default=0x7fff, ipoib, mtu=4, rate=2, Q_Key=0x99 : ALL=full;");
	assert_int_equal(field_of_broadcast(d, MCM_MTU, 6), 4);
	assert_int_equal(field_of_broadcast(d, MCM_RATE, 6), 2);
	mc_partitions(d,
		      "Default=0x7fff, ipoib, mtu=4, rate=7, Q_Key=0x99 : ALL=full;"); /* 40 Gb/s */
	assert_int_equal(field_of_broadcast(d, MCM_RATE, 6), 2);
	mc_partitions(d, "Default=0x7fff, ipoib, mtu=4, rate=3, Q_Key=0x98 : ALL=full;");
	assert_int_equal(field_of_broadcast(d, MCM_RATE, 6), 2);
	assert_int_equal(field_of_broadcast(d, MCM_QKEY, 32), 0x99);
	assert_int_equal(mc_leave(d, "h0", "mgid=" MC_BROADCAST " join=1"), 0);
	desk_publish(d); /* now it can */
	assert_int_equal(field_of_broadcast(d, MCM_QKEY, 32), 0x98);
	assert_int_equal(mc_mlid(d, MC_BROADCAST), 0xC000);
}

/* ---- standby, restoring ---- */

static void groups_outlive_standby(void **state)
{
	_desk_ d = start();
	_cleanup_free_ struct sa_mc_port *list = NULL, *again = NULL;
	uint32_t n;

	assert_int_equal(mc_join(d, "h0", "mgid=ff12::1 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1 join=1"), 0);
	sa_publish(d->sa, NULL, d->now);
	list = sa_mc_members(d->sa, 0xC001, &n);
	assert_int_equal(n, 0); /* nobody knows where they are */
	fabric_set_port_guid(d->fabric, desk_end(d, "h1"), 0xAAA1);
	desk_publish(d);
	again = sa_mc_members(d->sa, 0xC001, &n);
	assert_int_equal(n, 1);
	assert_int_equal(again[0].port, desk_port(d, "h0"));
}

/* A group as a dump would give it. */
static int restore(struct desk *d, const char *mgid, lid_t mlid, bool well_known)
{
	uint8_t record[MCM_BYTES] = { 0 };

	mc_mgid(mgid, ib_at(record, MCM_MGID));
	ib_bits_put(record, MCM_MTU_SEL, 8, 0x84);
	ib_bits_put(record, MCM_RATE_SEL, 8, 0x83);
	ib_put(record, MCM_PKEY, 0xFFFF);
	ib_put(record, MCM_SCOPE, 2);
	ib_put(record, MCM_JOIN_STATE, 1);
	return mgroups_restore(d->sa, record, mlid, well_known);
}

static int restore_member(struct desk *d, const char *group, guid_t id, unsigned join)
{
	uint8_t mgid[16];

	return mgroups_restore_member(d->sa, mc_mgid(group, mgid), id, join, false);
}

/* The desk publishes at once; a new SA on it has seen nothing yet. */
static void restart(struct desk *d)
{
	sa_free(d->sa);
	d->sa = sa_new(d->conf, d->fabric, d->mad, NULL);
}

static void what_was_dumped_is_there_again(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	char heard[64];

	restart(d);
	assert_int_equal(restore(d, "ff12::1", 0xC010, false), 0);
	assert_int_equal(restore(d, "ff12::1", 0xC010, false), 0);
	assert_int_equal(restore(d, "ff12::1", 0xC011, false), -EEXIST);
	assert_int_equal(restore(d, "ff12::2", 0xC010, false), -EEXIST);
	assert_int_equal(restore(d, "ff12::2", 0xBFFF, false), -EINVAL);
	assert_int_equal(restore(d, "ff12::2", 0xFFFF, false), -EINVAL);
	assert_int_equal(restore(d, "fe12::2", 0xC012, false), -EINVAL);
	assert_int_equal(restore(d, "ff12::2", 0xC001, false), 0);
	assert_int_equal(restore(d, "ff12::3", 0xC002, false), 0);
	assert_int_equal(restore(d, "ff12::4", 0xC003, true), 0);
	assert_int_equal(restore(d, MC_BROADCAST, 0xC004, true), 0);
	assert_int_equal(restore_member(d, "ff12::1", guid_of(d, "h0"), 1), 0);
	assert_int_equal(restore_member(d, "ff12::1", 0xDEAD, 1), 0);
	assert_int_equal(restore_member(d, MC_BROADCAST, guid_of(d, "h2"), 1), 0);
	assert_int_equal(restore_member(d, "ff12::2", 0xDEAD, 1), 0);
	assert_int_equal(restore_member(d, "ff12::3", guid_of(d, "h0"), 2), 0);
	assert_int_equal(restore_member(d, "ff12::9", guid_of(d, "h0"), 1), -ENOENT);
	assert_int_equal(restore_member(d, "ff12::1", guid_of(d, "h0"), 0), -EINVAL);
	assert_int_equal(restore_member(d, "ff12::1", 0, 1), -EINVAL);
	mc_partitions(d, MC_IPOIB);
	desk_publish(d);
	assert_int_equal(mc_mlid(d, "ff12::1"), 0xC010);
	assert_int_equal(mc_state(d, "ff12::1", "h0"), 1);
	assert_int_equal(mgroup_members(mc_group(d, "ff12::1")), 1);
	assert_null(mc_group(d, "ff12::2"));			      /* its port is gone */
	assert_null(mc_group(d, "ff12::3"));			      /* without a full member */
	assert_null(mc_group(d, "ff12::4"));			      /* not in the file */
	assert_int_equal(mc_mlid(d, MC_BROADCAST), 0xC004);	      /* hosts know it by this */
	assert_int_equal(field_of_broadcast(d, MCM_QKEY, 32), 0xB1B); /* the file decides */
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1 join=1"), 0);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::1 join=1"), 0);
	subscribe(d, "h0", 67);
	assert_int_equal(mc_leave(d, "h1", "mgid=ff12::1 join=1"), 0);
	assert_string_equal(traps(d, heard), "67 ");
	check_mlids(d);
}

static void a_restored_alias_finds_its_port(void **state)
{
	static const guid_t block[8] = { 0, 0xA11A5 };
	_desk_ d = desk_new("tree 2 2 1");

	restart(d);
	assert_int_equal(alias_guids_restore(d->sa, guid_of(d, "h1"), 2, 0, block), 0);
	assert_int_equal(restore(d, "ff12::1", 0xC001, false), 0);
	assert_int_equal(restore_member(d, "ff12::1", 0xA11A5, 1), 0);
	desk_publish(d);
	assert_true(mgroup_has_port(d->sa, mc_group(d, "ff12::1"), guid_of(d, "h1")));
	assert_int_equal(mgroup_member(mc_group(d, "ff12::1"), 0xA11A5)->port, guid_of(d, "h1"));
	d->from = "h1";
	assert_int_equal(mc_delete(d, "mgid=ff12::1 gid=fe80::a:11a5 join=1"), 0);
	assert_null(mc_group(d, "ff12::1"));
}

/* ---- a long life beside a model ---- */

#define HOSTS  8
#define GROUPS 24
#define SHARED 8 /* of them, IPv6 solicited-node groups */

struct model {
	uint8_t join[GROUPS][HOSTS]; /* 0: not a member */
	bool proxy[GROUPS][HOSTS];
	lid_t mlid[GROUPS]; /* 0: no such group */
	uint64_t seed;
};

static unsigned random_below(struct model *m, unsigned n)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return (unsigned)(m->seed >> 33) % n;
}

static const char *mgid_name(unsigned g, char ret[64])
{
	if (g < SHARED)
		snprintf(ret, 64, "ff12:601b:ffff::1:ff00:%x", g + 1);
	else
		snprintf(ret, 64, "ff12::%x", g + 1);
	return ret;
}

static const char *host_name(unsigned h)
{
	static const char *const names[HOSTS] = { "h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7" };

	return names[h];
}

static bool full(unsigned join)
{
	return join & 9;
}

static unsigned others_full(const struct model *m, unsigned g, unsigned h)
{
	unsigned n = 0;

	for (unsigned i = 0; i < HOSTS; i++)
		n += i != h && full(m->join[g][i]);
	return n;
}

/* 0 nothing, 1 sends, 2 receives. */
static unsigned role(const struct model *m, lid_t mlid, unsigned h)
{
	unsigned r = 0;

	for (unsigned g = 0; g < GROUPS; g++) {
		if (m->mlid[g] == mlid && m->join[g][h])
			r = MAX(r, m->join[g][h] & 3 ? 2u : 1u);
	}
	return r;
}

/* MLIDs at which some host's role is another one than before. */
static unsigned count_changes(const struct model *before, const struct model *after)
{
	lid_t seen[2 * GROUPS];
	unsigned n_seen = 0, n = 0;

	for (unsigned i = 0; i < 2 * GROUPS; i++) {
		lid_t mlid = i < GROUPS ? before->mlid[i] : after->mlid[i - GROUPS];
		bool differs = false, known = !mlid;

		for (unsigned k = 0; k < n_seen; k++)
			known |= seen[k] == mlid;
		if (known)
			continue;
		seen[n_seen++] = mlid;
		for (unsigned h = 0; h < HOSTS; h++)
			differs |= role(before, mlid, h) != role(after, mlid, h);
		n += differs;
	}
	return n;
}

static void model_end_group(struct model *m, unsigned g)
{
	memset(m->join[g], 0, sizeof(m->join[g]));
	memset(m->proxy[g], 0, sizeof(m->proxy[g]));
	m->mlid[g] = 0;
}

static void model_leave(struct model *m, unsigned g, unsigned h, unsigned bits)
{
	m->join[g][h] &= ~bits;
	if (!full(m->join[g][h]) && !others_full(m, g, h))
		model_end_group(m, g);
	if (!m->join[g][h])
		m->proxy[g][h] = false;
}

static unsigned model_expects_join(const struct model *m, unsigned g, unsigned h, unsigned by,
				   unsigned bits)
{
	if (!m->mlid[g])
		return full(bits) ? 0 : SA_REQ_INVALID;
	if (!bits || (m->join[g][h] && !m->proxy[g][h] && h != by))
		return SA_REQ_INVALID;
	return 0;
}

static void random_join(struct desk *d, struct model *m)
{
	unsigned g = random_below(m, GROUPS), h = random_below(m, HOSTS),
		 bits = random_below(m, 16);
	unsigned by = random_below(m, 4) ? h : random_below(m, HOSTS);
	unsigned expected = model_expects_join(m, g, h, by, bits);
	bool fails = !m->mlid[g] && !random_below(m, 8);
	char words[256], name[64];

	snprintf(words, sizeof(words),
		 "mgid=%s port=%s join=%u qkey=0xb1b tclass=0 pkey=0xffff flow=0 sl=0%s%s",
		 mgid_name(g, name), host_name(h), bits, fails ? " rate=0x87" : "",
		 random_below(m, 8) ? "" : " mlid=0xc020");
	d->from = host_name(by);
	assert_int_equal(mc_set(d, words), fails ? SA_REQ_INVALID : expected);
	if (fails || expected)
		return;
	m->proxy[g][h] = (m->join[g][h] ? m->proxy[g][h] : true) && by != h;
	m->join[g][h] |= bits;
	if (!m->mlid[g])
		m->mlid[g] = ib_get(desk_record(&d->answer, 0), MCM_MLID);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_MLID), m->mlid[g]);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_JOIN_STATE), m->join[g][h]);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_PROXY_JOIN), m->proxy[g][h]);
}

static void random_leave(struct desk *d, struct model *m)
{
	unsigned g = random_below(m, GROUPS), h = random_below(m, HOSTS),
		 bits = random_below(m, 16);
	unsigned by = random_below(m, 4) ? h : random_below(m, HOSTS);
	char words[256], name[64];
	bool ok;

	if (random_below(m, 4))
		bits &= m->join[g][h];
	ok = bits && !(bits & ~m->join[g][h]) && (h == by || m->proxy[g][h]);
	snprintf(words, sizeof(words), "mgid=%s port=%s join=%u", mgid_name(g, name), host_name(h),
		 bits);
	d->from = host_name(by);
	assert_int_equal(mc_delete(d, words), ok ? 0 : SA_REQ_INVALID);
	if (!ok)
		return;
	model_leave(m, g, h, bits);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_JOIN_STATE), m->join[g][h]);
}

/* A host goes, another one comes in its place. */
static void random_loss(struct desk *d, struct model *m)
{
	unsigned h = random_below(m, HOSTS);

	replace_port(d, host_name(h), 0x5000000 + random_below(m, 1u << 30) + 1);
	for (unsigned g = 0; g < GROUPS; g++) {
		if (m->join[g][h])
			model_leave(m, g, h, 0xF);
	}
}

static void check_model(struct desk *d, const struct model *m)
{
	unsigned n_groups = 0, n_members = 0;
	char name[64];

	for (unsigned g = 0; g < GROUPS; g++) {
		const struct mgroup *group = mc_group(d, mgid_name(g, name));

		assert_int_equal(group ? mgroup_mlid(group) : 0, m->mlid[g]);
		n_groups += group != NULL;
		for (unsigned h = 0; group && h < HOSTS; h++) {
			const struct mgroup_member *member =
				mgroup_member(group, guid_of(d, host_name(h)));

			assert_int_equal(member ? member->join : 0, m->join[g][h]);
			n_members += member != NULL;
		}
	}
	assert_int_equal(sa_stats(d->sa)->groups, n_groups);
	assert_int_equal(sa_stats(d->sa)->members, n_members);
}

static void check_roles(struct desk *d, const struct model *m)
{
	for (lid_t mlid = sa_next_mlid(d->sa, 0); mlid; mlid = sa_next_mlid(d->sa, mlid + 1)) {
		_cleanup_free_ struct sa_mc_port *list = NULL;
		uint32_t n;
		unsigned found = 0;

		list = sa_mc_members(d->sa, mlid, &n);
		for (unsigned h = 0; h < HOSTS; h++) {
			found -= role(m, mlid, h) != 0;
			for (uint32_t i = 0; i < n; i++) {
				if (list[i].port != desk_port(d, host_name(h)))
					continue;
				found++;
				assert_int_equal(role(m, mlid, h), list[i].receives ? 2 : 1);
			}
		}
		assert_int_equal(found, 0);
	}
}

static void a_long_life(uint64_t seed, unsigned operations)
{
	_desk_ d = desk_new("tree 2 4 1");
	struct model m = { .seed = seed };

	print_message("seed %#llx\n", (unsigned long long)seed);
	desk_conf(d, "ipoib_mcgroup_creation_validation", "FALSE");
	desk_conf(d, "consolidate_ipv6_snm_req", "TRUE");
	for (unsigned i = 0; i < operations; i++) {
		struct model before = m;
		unsigned changes = d->mcast_changes, what = random_below(&m, 1000);

		if (what < 5)
			random_loss(d, &m);
		else if (what < 600)
			random_join(d, &m);
		else
			random_leave(d, &m);
		assert_int_equal(d->mcast_changes - changes, count_changes(&before, &m));
		check_mlids(d);
		if (i % 16 == 0)
			check_model(d, &m);
		if (i % 64 == 0)
			check_roles(d, &m);
	}
	for (unsigned h = 0; h < HOSTS; h++)
		replace_port(d, host_name(h), 0x4000000 + h);
	assert_int_equal(sa_next_mlid(d->sa, 0), 0);
	assert_int_equal(sa_stats(d->sa)->members, 0);
}

static void no_mlid_leaks_in_a_long_life(void **state)
{
	a_long_life(0x9E3779B97F4A7C15, 50000);
	a_long_life(0xD1B54A32D192ED03, 50000);
}

static void not_shown(void *arg, unsigned bits, const char *text)
{
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_mlid_is_the_lowest_free_one),
		TEST(both_kinds_of_full_members_count),
		TEST(a_port_that_dies_frees_its_mlids),
		TEST(when_mlids_run_out_requests_are_refused),
		TEST(the_range_follows_the_switches),
		TEST(groups_beyond_the_range_do_not_count),
		TEST(solicited_node_groups_share_if_asked_to),
		TEST(trees_hear_of_changes_only),
		TEST(a_view_tells_each_mlid_once),
		TEST(members_are_listed_by_port),
		TEST(an_alias_is_a_member_of_its_own_on_the_same_port),
		TEST(traps_follow_full_members),
		TEST(the_last_full_member_takes_the_others_with_it),
		TEST(one_port_cannot_have_all_groups),
		TEST(one_port_cannot_have_all_members),
		TEST(partition_groups_are_made_in_order),
		TEST(groups_the_file_no_longer_names_go_when_empty),
		TEST(a_group_that_stands_gets_the_mark),
		TEST(a_standing_group_follows_the_file_unless_members_cannot),
		TEST(groups_outlive_standby),
		TEST(what_was_dumped_is_there_again),
		TEST(a_restored_alias_finds_its_port),
		TEST(no_mlid_leaks_in_a_long_life),
	};

	log_set_sink(not_shown, NULL);
	return cmocka_run_group_tests_name("sa-mgroup", tests, NULL, NULL);
}
