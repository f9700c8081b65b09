// SPDX-License-Identifier: BSD-2-Clause
/*
 * The store of multicast groups: MLIDs, members, traps, quotas, views, partitions, restoring; and a
 * long random life beside a model. What a request is answered is in test-sa-mcmember.c.
 */
#include <errno.h>

#include "fabric/fabric_internal.h"
#include "sa/guidinfo.h"
#include "sa/base/sa_internal.h"
#include "tests/unit/mc-desk.h"
#include "tests/unit/sa-events.h"
#include "util/log.h"

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
	_desk_ d = mc_start();

	assert_int_equal(mc_mlid(d, MC_BROADCAST), 0xC000);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::1 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::2 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::3 " MC_NEW), 0);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::2 join=1"), 0);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::1 join=1"), 0);
	mc_check_mlids(d);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::4 " MC_NEW), 0);
	assert_int_equal(mc_mlid(d, "ff12::4"), 0xC001);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::5 " MC_NEW), 0);
	assert_int_equal(mc_mlid(d, "ff12::5"), 0xC002);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::6 " MC_NEW), 0);
	assert_int_equal(mc_mlid(d, "ff12::6"), 0xC004);
	mc_check_mlids(d);
}

/*
 * In OpenSM a group joined with 0x9 and left with 0x1 stays for ever: 1000 of them and it is full.
 */
static void both_kinds_of_full_members_count(void **state)
{
	_desk_ d = mc_start();
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
	mc_check_mlids(d);
}

static void a_port_that_dies_frees_its_mlids(void **state)
{
	_desk_ d = mc_start();

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
	mc_check_mlids(d);
}

static void when_mlids_run_out_requests_are_refused(void **state)
{
	_desk_ d = mc_start();
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
	mc_check_mlids(d);
}

static void solicited_node_groups_share_if_asked_to(void **state)
{
	_desk_ d = mc_start();
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
	mc_check_mlids(d);
	/* Freed with the last of them. */
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12:601b:ffff::1:ff00:1 join=1"), 0);
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12:601b:ffff::1:ff12:3456 join=1"), 0);
	assert_int_equal(sa_next_mlid(d->sa, 0xC001), 0xC001);
	assert_int_equal(mc_leave(d, "h1", "mgid=ff12:601b:ffff::1:ff12:3457 join=1"), 0);
	assert_int_equal(sa_next_mlid(d->sa, 0xC001), 0xC002);
	mc_check_mlids(d);
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
	_desk_ d = mc_start();

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
	_desk_ d = mc_start();
	unsigned before;

	assert_int_equal(mc_join(d, "h0", "mgid=ff12::1 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1 join=1"), 0);
	assert_int_equal(mc_join(d, "h2", "mgid=ff12::1 join=1"), 0);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::2 " MC_NEW), 0);
	before = d->mcast_changes;
	fabric_set_port_guid(d->fabric, desk_end(d, "h1"), 0xAAA1);
	mc_replace_port(d, "h2", 0xAAA2);
	assert_int_equal(d->mcast_changes - before, 2);
}

static void members_are_listed_by_port(void **state)
{
	_desk_ d = mc_start();
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
	_desk_ d = mc_start();
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
	assert_true(mgroup_has_port(d->sa, mc_group(d, "ff12::1"), mc_guid(d, "h1")));
	assert_int_equal(mc_set(d, "mgid=ff12::1 gid=fe80::a:11a5 join=1"), 0);
	assert_int_equal(mc_leave(d, "h1", "mgid=ff12::1 join=1"), 0);
	assert_true(mgroup_has_port(d->sa, mc_group(d, "ff12::1"), mc_guid(d, "h1")));
	assert_false(mgroup_has_port(d->sa, mc_group(d, "ff12::1"), mc_guid(d, "h2")));
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
	_desk_ d = mc_start();
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
	_desk_ d = mc_start();

	assert_int_equal(mc_join(d, "h1", "mgid=" MC_BROADCAST " join=2"), 0);
	assert_int_equal(mc_join(d, "h2", "mgid=" MC_BROADCAST " join=1"), 0);
	/* A refused request puts no member out. */
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
	_desk_ d = mc_start(); /* 1024 MLIDs, one is taken; the last 128 are for the modest */

	assert_int_equal(make_groups(d, "h0", 1, 2000), 256);
	assert_int_equal(d->answer.status, 0x0100);
	assert_int_equal(make_groups(d, "h1", 2, 2000), 256);
	assert_int_equal(make_groups(d, "h2", 3, 2000), 256);
	assert_int_equal(make_groups(d, "h3", 4, 2000), 1024 - 128 - 1 - 3 * 256);
	/*
	 * By proxy it is no better; but a port that has none yet still gets some, and all join.
	 */
	d->from = "h0";
	assert_int_equal(mc_set(d, "mgid=ff12::9:1 port=leaf1 " MC_NEW), 0x0100);
	assert_int_equal(make_groups(d, "leaf1", 5, 2000), SA_FEW_GROUPS);
	assert_int_equal(mc_join(d, "h0", "mgid=" MC_BROADCAST " join=1"), 0);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1:1 join=1"), 0);
	mc_check_mlids(d);
	/* What goes is given back. */
	assert_int_equal(mc_leave(d, "h0", "mgid=ff12::1:2 join=1"), 0);
	desk_remove(d, "h3");
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::9:1 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=ff12::9:2 " MC_NEW), 0x0100);
}

static void one_port_cannot_have_all_members(void **state)
{
	_desk_ d = mc_start();
	struct mgroup *g = mc_group(d, MC_BROADCAST);
	guid_t greedy = mc_guid(d, "h0"), other = mc_guid(d, "h1");

	for (unsigned i = 0; i < d->conf->sa_max_members_per_port; i++) {
		assert_int_equal(quota_reached(d->sa, SA_QUOTA_MEMBERS, greedy), CONF_N_OPTIONS);
		mgroups_join(d->sa, g,
			     &(struct mgroup_join){ .id = 0x1000 + i,
						    .port = 0x1000 + i,
						    .requester = greedy,
						    .join = 1,
						    .proxy = true });
	}
	assert_int_equal(quota_reached(d->sa, SA_QUOTA_MEMBERS, greedy),
			 CONF_ID_sa_max_members_per_port);
	assert_int_equal(quota_reached(d->sa, SA_QUOTA_MEMBERS, other), CONF_N_OPTIONS);
	assert_int_equal(mc_join(d, "h0", "mgid=" MC_BROADCAST " join=1"), 0x0100);
	/* Adding a bit to a member adds no member. */
	assert_int_equal(mc_join(d, "h1", "mgid=" MC_BROADCAST " join=1"), 0);
	mgroups_leave(d->sa, g, 0x1000, 1);
	assert_int_equal(mc_join(d, "h0", "mgid=" MC_BROADCAST " join=1"), 0);
	assert_int_equal(mc_join(d, "h0", "mgid=" MC_BROADCAST " join=4"), 0);
	assert_int_equal(sa_stats(d->sa)->members, d->conf->sa_max_members_per_port + 1);
	desk_publish(d); /* there are no such ports */
	assert_int_equal(sa_stats(d->sa)->members, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_mlid_is_the_lowest_free_one),
		cmocka_unit_test(both_kinds_of_full_members_count),
		cmocka_unit_test(a_port_that_dies_frees_its_mlids),
		cmocka_unit_test(when_mlids_run_out_requests_are_refused),
		cmocka_unit_test(solicited_node_groups_share_if_asked_to),
		cmocka_unit_test(trees_hear_of_changes_only),
		cmocka_unit_test(a_view_tells_each_mlid_once),
		cmocka_unit_test(members_are_listed_by_port),
		cmocka_unit_test(an_alias_is_a_member_of_its_own_on_the_same_port),
		cmocka_unit_test(traps_follow_full_members),
		cmocka_unit_test(the_last_full_member_takes_the_others_with_it),
		cmocka_unit_test(one_port_cannot_have_all_groups),
		cmocka_unit_test(one_port_cannot_have_all_members),
	};

	log_set_sink(mc_not_shown, NULL);
	return cmocka_run_group_tests_name("sa-mgroup", tests, NULL, NULL);
}
