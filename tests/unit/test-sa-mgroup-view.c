// SPDX-License-Identifier: BSD-2-Clause
/* What happens to groups from outside: the range of MLIDs, partitions, standby, restoring. */
#include <errno.h>

#include "fabric/fabric_internal.h"
#include "sa/guidinfo.h"
#include "sa/base/sa_internal.h"
#include "tests/unit/mc-desk.h"
#include "util/log.h"

static void the_range_follows_the_switches(void **state)
{
	_desk_ d = mc_start();

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
	mc_check_mlids(d);
}

static void groups_beyond_the_range_do_not_count(void **state)
{
	_desk_ d = mc_start();

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
	mc_check_mlids(d);
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
	mc_check_mlids(d);
}

static void a_group_that_stands_gets_the_mark(void **state)
{
	_desk_ d = mc_start();

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
	_desk_ d = mc_start(); /* MTU 4, rate 3 */

	mc_partitions(d,
		      /* it has no members */
		      "Default=0x7fff, ipoib, mtu=5, Q_Key=0x99 : ALL=full;");
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
	_desk_ d = mc_start();
	_cleanup_free_ struct sa_mc_port *list = NULL, *again = NULL;
	uint32_t n;

	assert_int_equal(mc_join(d, "h0", "mgid=ff12::1 " MC_NEW), 0);
	assert_int_equal(mc_join(d, "h1", "mgid=ff12::1 join=1"), 0);
	sa_publish(d->sa, NULL, d->now);
	list = sa_mc_members(d->sa, 0xC001, &n);
	assert_int_equal(n, 0); /* it is not known where they are */
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
	assert_int_equal(restore_member(d, "ff12::1", mc_guid(d, "h0"), 1), 0);
	assert_int_equal(restore_member(d, "ff12::1", 0xDEAD, 1), 0);
	assert_int_equal(restore_member(d, MC_BROADCAST, mc_guid(d, "h2"), 1), 0);
	assert_int_equal(restore_member(d, "ff12::2", 0xDEAD, 1), 0);
	assert_int_equal(restore_member(d, "ff12::3", mc_guid(d, "h0"), 2), 0);
	assert_int_equal(restore_member(d, "ff12::9", mc_guid(d, "h0"), 1), -ENOENT);
	assert_int_equal(restore_member(d, "ff12::1", mc_guid(d, "h0"), 0), -EINVAL);
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
	assert_int_equal(mc_leave(d, "h1", "mgid=ff12::1 join=1"), 0);
	assert_null(mc_group(d, "ff12::1"));
	mc_check_mlids(d);
}

/* The manager publishes first, and says then what the partitions are: with every sweep. */
static void the_file_decides_at_a_restart_though_it_comes_last(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	restart(d);
	assert_int_equal(restore(d, MC_BROADCAST, 0xC004, true), 0);
	assert_int_equal(restore(d, "ff12::4", 0xC003, true), 0);
	assert_int_equal(restore_member(d, MC_BROADCAST, mc_guid(d, "h2"), 1), 0);
	desk_publish(d);
	assert_int_equal(field_of_broadcast(d, MCM_QKEY, 32), 0);
	mc_partitions(d, MC_IPOIB);
	assert_int_equal(field_of_broadcast(d, MCM_QKEY, 32), 0xB1B);
	assert_null(mc_group(d, "ff12::4"));
	desk_publish(d);
	mc_partitions(d,
		      "Default=0x7fff, ipoib, Q_Key=0x99 : ALL=full;"); /* that was the restart */
	assert_int_equal(field_of_broadcast(d, MCM_QKEY, 32), 0xB1B);
}

static void a_restored_alias_finds_its_port(void **state)
{
	static const guid_t block[8] = { 0, 0xA11A5 };
	_desk_ d = desk_new("tree 2 2 1");

	restart(d);
	assert_int_equal(alias_guids_restore(d->sa, mc_guid(d, "h1"), 2, 0, block), 0);
	assert_int_equal(restore(d, "ff12::1", 0xC001, false), 0);
	assert_int_equal(restore_member(d, "ff12::1", 0xA11A5, 1), 0);
	desk_publish(d);
	assert_true(mgroup_has_port(d->sa, mc_group(d, "ff12::1"), mc_guid(d, "h1")));
	assert_int_equal(mgroup_member(mc_group(d, "ff12::1"), 0xA11A5)->port, mc_guid(d, "h1"));
	d->from = "h1";
	assert_int_equal(mc_delete(d, "mgid=ff12::1 gid=fe80::a:11a5 join=1"), 0);
	assert_null(mc_group(d, "ff12::1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_beyond_the_range_do_not_count),
		cmocka_unit_test(the_range_follows_the_switches),
		cmocka_unit_test(partition_groups_are_made_in_order),
		cmocka_unit_test(groups_the_file_no_longer_names_go_when_empty),
		cmocka_unit_test(a_group_that_stands_gets_the_mark),
		cmocka_unit_test(a_standing_group_follows_the_file_unless_members_cannot),
		cmocka_unit_test(groups_outlive_standby),
		cmocka_unit_test(what_was_dumped_is_there_again),
		cmocka_unit_test(the_file_decides_at_a_restart_though_it_comes_last),
		cmocka_unit_test(a_restored_alias_finds_its_port),
	};

	log_set_sink(mc_not_shown, NULL);
	return cmocka_run_group_tests_name("sa-mgroup-view", tests, NULL, NULL);
}
