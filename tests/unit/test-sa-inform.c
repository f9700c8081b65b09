// SPDX-License-Identifier: BSD-2-Clause
/*
 * InformInfo and InformInfoRecord: statuses and echoes as the Debian peer gives them (traps.md 6),
 * and what a subscription matches.
 */
#include "sa-events.h"

#define OUR_PREFIX 0xFE80000000000000ull

static uint8_t *wish(struct desk *d)
{
	info_any(d->record);
	return d->record;
}

static void put_gid(uint8_t *info, uint64_t prefix, guid_t id)
{
	ib_bits_put(ib_at(info, INF_GID), 0, 64, prefix);
	ib_bits_put(ib_at(info, INF_GID), 64, 64, id);
}

static uint16_t with_lids(struct desk *d, unsigned begin, unsigned end)
{
	ib_put(wish(d), INF_LID_BEGIN, begin);
	ib_put(d->record, INF_LID_END, end);
	return inform_by(d, 1);
}

static unsigned n_subscriptions(struct desk *d)
{
	return sa_stats(d->sa)->subscriptions;
}

static void the_answer_is_the_request(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	d->from = "h1";
	ib_put(wish(d), INF_TRAP, 66);
	ib_put(d->record, INF_QPN, 0x123456);
	ib_put(d->record, INF_RESP_TIME, 0x1F);
	a = desk_set(d, SA_INFORM_INFO, 0);
	assert_int_equal(a->status, SA_OK);
	assert_int_equal(a->method, MAD_GET_RESP);
	assert_int_equal(ib_get(a->mad, SAH_ATTR_OFFSET), 4);
	assert_memory_equal(a->mad + SA_DATA, d->record, INF_BYTES);
}

static void subscribing_twice_is_one_subscription(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	wish(d);
	assert_int_equal(inform_by(d, 1), SA_OK);
	assert_int_equal(inform_by(d, 1), SA_OK);
	assert_int_equal(n_subscriptions(d), 1);
	assert_int_equal(inform_by(d, 0x400), SA_OK); /* another queue pair is another subscriber */
	assert_int_equal(n_subscriptions(d), 2);
}

static void each_field_of_the_key_makes_another_subscription(void **state)
{
	static const struct {
		unsigned field, width, value;
	} other[] = {
		{ INF_LID_BEGIN, INF_LID_BEGIN_W, 2 },
		{ INF_LID_END, INF_LID_END_W, 9 },
		{ INF_IS_GENERIC, INF_IS_GENERIC_W, 0 },
		{ INF_TYPE, INF_TYPE_W, 3 },
		{ INF_TRAP, INF_TRAP_W, 64 },
		{ INF_RESP_TIME, INF_RESP_TIME_W, 5 },
		{ INF_PRODUCER, INF_PRODUCER_W, 4 },
	};
	_desk_ d = desk_new("tree 2 2 1");

	wish(d);
	inform_by(d, 1);
	for (unsigned i = 0; i < ARRAY_SIZE(other); i++) {
		ib_bits_put(wish(d), other[i].field, other[i].width, other[i].value);
		assert_int_equal(inform_by(d, 1), SA_OK);
		assert_int_equal(n_subscriptions(d), i + 2);
	}
}

static void subscribe_above_1_is_invalid(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	ib_put(wish(d), INF_SUBSCRIBE, 2);
	assert_int_equal(inform_by(d, 1), SA_REQ_INVALID);
	assert_int_equal(n_subscriptions(d), 0);
}

static void security_traps_are_for_the_trusted(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	for (unsigned trap = 256; trap <= 259; trap++) {
		ib_put(wish(d), INF_TRAP, trap);
		assert_int_equal(inform_by(d, 1), SA_REQ_INVALID);
	}
	wish(d); /* all traps: accepted, as the peer does */
	assert_int_equal(inform_by(d, 1), SA_OK);
	ib_put(wish(d), INF_TRAP, 257);
	d->sm_key = 1;
	assert_int_equal(inform_by(d, 1), SA_OK);
}

static void strangers_are_told_so(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };
	const struct desk_message *a;

	ev.from.lid = 0x1234;
	ib_put(ev.mad, SAH_BASE_VERSION, 1);
	ib_put(ev.mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(ev.mad, SAH_CLASS_VERSION, 2);
	ib_put(ev.mad, SAH_METHOD, MAD_SET);
	ib_put(ev.mad, SAH_ATTR_ID, SA_INFORM_INFO);
	info_any(ev.mad + SA_DATA);
	sa_receive(d->sa, &ev, d->now);
	a = desk_mail(d);
	assert_non_null(a);
	assert_int_equal(a->status, SA_REQ_INVALID);
}

static void a_source_must_be_known(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	d->from = "h1";
	put_gid(wish(d), OUR_PREFIX, desk_end(d, "h2")->guid);
	assert_int_equal(inform_by(d, 1), SA_OK);
	put_gid(wish(d), OUR_PREFIX, 0xDEAD);
	assert_int_equal(inform_by(d, 1), SA_REQ_INVALID);
	assert_int_equal(ib_get(desk_reply(d)->mad + SA_DATA, INF_SUBSCRIBE), 0); /* so the peer */
	assert_int_equal(with_lids(d, 3, 3), SA_OK);
	assert_int_equal(with_lids(d, 3, 0), SA_OK); /* reversed: fine with the peer */
	assert_int_equal(with_lids(d, 3, 50), SA_OK);
	assert_int_equal(with_lids(d, 0, 5), SA_OK);
	assert_int_equal(with_lids(d, 50, 50), SA_REQ_INVALID);
	assert_int_equal(with_lids(d, 0xC000, 0xC000), SA_REQ_INVALID);
	assert_int_equal(with_lids(d, 0xFFFF, 0), SA_OK);
}

static void a_source_in_another_partition_is_not_to_be_heard(void **state)
{
	static const uint16_t blue[] = { 0x8001 }, limited[] = { 0x7FFF };
	_desk_ d = desk_new("tree 2 2 1");

	d->from = "h1";
	desk_keys(d, "h2", 1, blue);
	desk_keys(d, "h3", 1, limited);
	put_gid(wish(d), OUR_PREFIX, desk_end(d, "h2")->guid);
	assert_int_equal(inform_by(d, 1), SA_REQ_INVALID);
	assert_int_equal(with_lids(d, desk_lid(d, "h2"), 0), SA_REQ_INVALID);
	put_gid(wish(d), OUR_PREFIX, desk_end(d, "h3")->guid);
	assert_int_equal(inform_by(d, 1), SA_OK);
	d->from = "h3"; /* limited members do not see each other; itself it does */
	assert_int_equal(inform_by(d, 1), SA_OK);
}

static void unsubscribing_needs_the_queue_pair_or_none(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	for (unsigned qpn = 0; qpn <= 0x400; qpn += 0x400) {
		wish(d);
		inform_by(d, 0x400);
		ib_put(d->record, INF_SUBSCRIBE, 0);
		ib_put(d->record, INF_QPN, 0x401);
		assert_int_equal(inform_by(d, 0x400), SA_REQ_INVALID);
		ib_put(d->record, INF_QPN, qpn);
		assert_int_equal(inform_by(d, 1), SA_REQ_INVALID); /* not its own */
		assert_int_equal(inform_by(d, 0x400), SA_OK);
		assert_int_equal(n_subscriptions(d), 0);
		assert_int_equal(inform_by(d, 0x400), SA_REQ_INVALID); /* gone */
	}
}

static void what_was_not_subscribed_cannot_be_taken_back(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	ib_put(wish(d), INF_TRAP, 66);
	ib_put(d->record, INF_RESP_TIME, 0x1F);
	inform_by(d, 1);
	ib_put(d->record, INF_SUBSCRIBE, 0);
	ib_put(d->record, INF_QPN, 1);
	ib_put(d->record, INF_RESP_TIME, 0);
	assert_int_equal(inform_by(d, 1), SA_REQ_INVALID);
	ib_put(d->record, INF_RESP_TIME, 0x1F);
	assert_int_equal(inform_by(d, 1), SA_OK);
}

static void get_of_inform_info_is_no_method(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	wish(d);
	assert_int_equal(desk_get(d, SA_INFORM_INFO, 0)->status, MAD_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(desk_table(d, SA_INFORM_INFO, 0)->status, MAD_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(desk_delete(d, SA_INFORM_INFO, 0)->status, MAD_STATUS_BAD_METHOD_ATTR);
}

static void one_port_cannot_fill_the_store(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	d->from = "h1";
	for (unsigned i = 0; i < d->conf->sa_max_subscriptions_per_port; i++) {
		ib_put(wish(d), INF_TRAP, i);
		d->sm_key = 1;
		assert_int_equal(inform_by(d, 2 + i % 7), SA_OK);
	}
	ib_put(wish(d), INF_TRAP, d->conf->sa_max_subscriptions_per_port);
	assert_int_equal(inform_by(d, 100), SA_NO_RESOURCES);
	d->from = "h2";
	assert_int_equal(inform_by(d, 1), SA_OK);
}

/* ---- InformInfoRecord ---- */

static void the_newest_record_comes_first(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;
	uint8_t gid[16];

	subscribe(d, "h1", 64);
	subscribe(d, "h2", 65);
	a = desk_table(d, SA_INFORM_INFO_RECORD, 0);
	assert_int_equal(a->n, 2);
	assert_int_equal(a->stride, 64);
	desk_gid(d, "h2", gid);
	assert_memory_equal(desk_record(a, 0), gid, 16);
	assert_int_equal(ib_get(desk_record(a, 0) + IIR_BYTES, INF_TRAP), 65);
	assert_int_equal(ib_get(desk_record(a, 1) + IIR_BYTES, INF_TRAP), 64);
}

static void the_queue_pair_is_shown_to_the_trusted(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 64);
	assert_int_equal(
		ib_get(desk_record(desk_get(d, SA_INFORM_INFO_RECORD, 0), 0) + IIR_BYTES, INF_QPN),
		0);
	d->sm_key = 1;
	assert_int_equal(
		ib_get(desk_record(desk_get(d, SA_INFORM_INFO_RECORD, 0), 0) + IIR_BYTES, INF_QPN),
		1);
}

static void records_are_found_by_subscriber(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint64_t by_gid = SA_COMP(IIR_SUBSCRIBER_GID);

	subscribe(d, "h1", 64);
	subscribe(d, "h1", 65);
	subscribe(d, "h2", 65);
	desk_gid(d, "h1", desk_blank(d));
	assert_int_equal(desk_table(d, SA_INFORM_INFO_RECORD, by_gid)->n, 2);
	assert_int_equal(desk_get(d, SA_INFORM_INFO_RECORD, by_gid)->status, SA_TOO_MANY_RECORDS);
	desk_gid(d, "h3", d->record);
	assert_int_equal(desk_table(d, SA_INFORM_INFO_RECORD, by_gid)->n, 0);
	assert_int_equal(desk_get(d, SA_INFORM_INFO_RECORD, by_gid)->status, SA_NO_RECORDS);
	ib_put(desk_blank(d), IIR_ENUM, 1);
	assert_int_equal(desk_table(d, SA_INFORM_INFO_RECORD, SA_COMP(IIR_ENUM))->n, 0);
}

static void subscribers_of_another_partition_are_not_shown(void **state)
{
	static const uint16_t blue[] = { 0x8001 };
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 64);
	desk_keys(d, "h1", 1, blue);
	assert_int_equal(desk_table(d, SA_INFORM_INFO_RECORD, 0)->n, 0);
	d->from = "h1";
	assert_int_equal(desk_table(d, SA_INFORM_INFO_RECORD, 0)->n, 1);
}

/* ---- what matches ---- */

static uint8_t *notice_64(uint8_t *notice)
{
	memset(notice, 0, NT_BYTES);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TYPE, 3);
	ib_put(notice, NT_PRODUCER, 4);
	ib_put(notice, NT_TRAP, 64);
	ib_put(notice, NT_ISSUER_LID, 7);
	ib_bits_put(ib_at(notice, NT_ISSUER_GID), 64, 64, 0x77);
	return notice;
}

static bool matches(unsigned field, unsigned width, unsigned value)
{
	uint8_t info[SA_DATA_SIZE], notice[NT_BYTES];

	info_any(info);
	ib_bits_put(info, field, width, value);
	return inform_matches(info, notice_64(notice));
}

static void wildcards_match_and_values_are_compared(void **state)
{
	uint8_t info[SA_DATA_SIZE], notice[NT_BYTES];

	info_any(info);
	assert_true(inform_matches(info, notice_64(notice)));
	assert_true(matches(INF_TYPE, INF_TYPE_W, 3));
	assert_false(matches(INF_TYPE, INF_TYPE_W, 4));
	assert_true(matches(INF_TRAP, INF_TRAP_W, 64));
	assert_false(matches(INF_TRAP, INF_TRAP_W, 65));
	assert_true(matches(INF_PRODUCER, INF_PRODUCER_W, 4));
	assert_false(matches(INF_PRODUCER, INF_PRODUCER_W, 1));
	assert_false(matches(INF_IS_GENERIC, INF_IS_GENERIC_W, 0));
}

static void a_source_is_a_gid_or_a_range_of_lids(void **state)
{
	static const struct {
		unsigned begin, end;
		bool yes;
	} range[] = {
		{ 7, 7, true },	 { 7, 0, true },  { 1, 9, true },  { 8, 9, false },
		{ 1, 6, false }, { 9, 1, false }, { 0, 0, false }, { 0, 7, true },
	};
	uint8_t info[SA_DATA_SIZE], notice[NT_BYTES];

	for (unsigned i = 0; i < ARRAY_SIZE(range); i++) {
		info_any(info);
		ib_put(info, INF_LID_BEGIN, range[i].begin);
		ib_put(info, INF_LID_END, range[i].end);
		assert_int_equal(inform_matches(info, notice_64(notice)), range[i].yes);
	}
	put_gid(info, 0, 0x77); /* LIDs do not count then: { 0, 7 } would fit, 0x78 would not */
	assert_true(inform_matches(info, notice_64(notice)));
	put_gid(info, 0, 0x78);
	assert_false(inform_matches(info, notice_64(notice)));
}

/* ---- the fabric changes ---- */

static void subscriptions_outlive_the_port_unless_told(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 64);
	subscribe(d, "h2", 64);
	desk_remove(d, "h1");
	assert_int_equal(n_subscriptions(d), 2);
	desk_conf(d, "drop_event_subscriptions", "TRUE");
	desk_remove(d, "h3");
	assert_int_equal(n_subscriptions(d), 1);
}

static void standby_ends_subscriptions_if_told(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 64);
	sa_publish(d->sa, NULL, d->now);
	sa_publish(d->sa, d->view, d->now);
	assert_int_equal(n_subscriptions(d), 1);
	desk_conf(d, "drop_event_subscriptions", "TRUE");
	sa_publish(d->sa, NULL, d->now);
	assert_int_equal(n_subscriptions(d), 1);
	sa_publish(d->sa, d->view, d->now);
	assert_int_equal(n_subscriptions(d), 0);
}

static void who_moves_to_the_same_place_is_one(void **state)
{
	const struct transport_addr old = { .lid = 1, .qp = 1 };
	_desk_ d = desk_new("tree 2 2 1");
	uint8_t info[SA_DATA_SIZE];
	guid_t h1 = desk_end(d, "h1")->guid;

	subscribe(d, "h1", 0xFFFF);
	subscribe(d, "h1", 64);
	info_any(info);
	assert_int_equal(informs_restore(d->sa, h1, &old, info), 0); /* from an older LID */
	ib_put(info, INF_TRAP, 65);
	assert_int_equal(informs_restore(d->sa, h1, &old, info), 0);
	assert_int_equal(n_subscriptions(d), 4);
	desk_publish(d);
	assert_int_equal(n_subscriptions(d), 3);
	d->from = "h1";
	for (unsigned trap = 64; trap <= 65; trap++) {
		ib_put(wish(d), INF_TRAP, trap);
		ib_put(d->record, INF_SUBSCRIBE, 0);
		assert_int_equal(inform_by(d, 1), SA_OK);
	}
}

static void a_moved_port_changes_the_database(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint64_t version;

	subscribe(d, "h1", 64);
	version = sa_db_version(d->sa);
	desk_publish(d);
	assert_int_equal(sa_db_version(d->sa), version);
	desk_end(d, "h1")->lid = 77;
	desk_publish(d);
	assert_int_not_equal(sa_db_version(d->sa), version);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_is_the_request),
		cmocka_unit_test(subscribing_twice_is_one_subscription),
		cmocka_unit_test(each_field_of_the_key_makes_another_subscription),
		cmocka_unit_test(subscribe_above_1_is_invalid),
		cmocka_unit_test(security_traps_are_for_the_trusted),
		cmocka_unit_test(strangers_are_told_so),
		cmocka_unit_test(a_source_must_be_known),
		cmocka_unit_test(a_source_in_another_partition_is_not_to_be_heard),
		cmocka_unit_test(unsubscribing_needs_the_queue_pair_or_none),
		cmocka_unit_test(what_was_not_subscribed_cannot_be_taken_back),
		cmocka_unit_test(get_of_inform_info_is_no_method),
		cmocka_unit_test(one_port_cannot_fill_the_store),
		cmocka_unit_test(the_newest_record_comes_first),
		cmocka_unit_test(the_queue_pair_is_shown_to_the_trusted),
		cmocka_unit_test(records_are_found_by_subscriber),
		cmocka_unit_test(subscribers_of_another_partition_are_not_shown),
		cmocka_unit_test(wildcards_match_and_values_are_compared),
		cmocka_unit_test(a_source_is_a_gid_or_a_range_of_lids),
		cmocka_unit_test(subscriptions_outlive_the_port_unless_told),
		cmocka_unit_test(standby_ends_subscriptions_if_told),
		cmocka_unit_test(who_moves_to_the_same_place_is_one),
		cmocka_unit_test(a_moved_port_changes_the_database),
	};

	return cmocka_run_group_tests_name("sa-inform", tests, NULL, NULL);
}
