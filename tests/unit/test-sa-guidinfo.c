// SPDX-License-Identifier: BSD-2-Clause
/*
 * GUIDInfoRecord: statuses and answers as the Debian peer gives them (sa.md 8). Ports have 16
 * GUIDs.
 */
#include "sa/guidinfo.h"
#include "sa-events.h"
#include "sa/mcast/mgroup.h"

#define WHERE	 (SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK))
#define PLACE(i) (SA_COMP(GIR_GUID0) << (i))
#define ASSIGNED 0x0014050000000000ull

/* Asks for `guid` at place `i` of a block of a node's port. */
static const struct desk_message *ask(struct desk *d, uint8_t method, const char *node,
				      unsigned block, unsigned i, guid_t guid)
{
	uint8_t *r = desk_blank(d);

	ib_put(r, GIR_LID, desk_lid(d, node));
	ib_put(r, GIR_BLOCK, block);
	ib_bits_put(r, GIR_GUID0 + 64 * i, 64, guid);
	return desk_ask(d, method, SA_GUID_INFO_RECORD, WHERE | PLACE(i));
}

static guid_t place(const struct desk_message *a, unsigned i)
{
	assert_int_equal(a->status, SA_OK);
	return ib_bits_get(desk_record(a, 0), GIR_GUID0 + 64 * i, 64);
}

/* What place `i` of a block comes to when `guid` is asked for. */
static guid_t set(struct desk *d, const char *node, unsigned block, unsigned i, guid_t guid)
{
	return place(ask(d, MAD_SET, node, block, i, guid), i);
}

static guid_t shown(struct desk *d, const char *node, unsigned block, unsigned i)
{
	ib_put(desk_blank(d), GIR_LID, desk_lid(d, node));
	ib_put(d->record, GIR_BLOCK, block);
	return place(desk_get(d, SA_GUID_INFO_RECORD, WHERE), i);
}

static void zero_is_assigned_once(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	a = ask(d, MAD_SET, "h0", 0, 1, 0);
	assert_int_equal(a->stride, 72);
	assert_int_equal(place(a, 0), desk_end(d, "h0")->guid);
	assert_int_equal(place(a, 1), ASSIGNED + 1);
	assert_int_equal(set(d, "h0", 0, 1, 0), ASSIGNED + 1); /* keeps what it has */
	assert_int_equal(set(d, "h0", 0, 2, 0), ASSIGNED + 2);
	desk_conf(d, "sm_assigned_guid", "0x5A");
	assert_int_equal(set(d, "h0", 0, 3, 0), ASSIGNED + 0x5A00000003ull);
}

static void assigned_guids_pass_by_those_in_use(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	assert_int_equal(set(d, "h1", 0, 5, ASSIGNED + 1), ASSIGNED + 1);
	assert_int_equal(set(d, "h0", 0, 1, 0), ASSIGNED + 2);
}

static void what_is_asked_for_is_given_if_it_is_free(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	assert_int_equal(set(d, "h0", 0, 1, 0x1111), 0x1111);
	assert_int_equal(set(d, "h0", 0, 1, 0x1111), 0x1111);
	assert_int_equal(set(d, "h0", 0, 2, 0x1111), 0); /* by another place */
	assert_int_equal(set(d, "h1", 0, 2, 0x1111), 0); /* by another port */
	assert_int_equal(set(d, "h1", 0, 2, 0x2222), 0x2222);
	assert_int_equal(set(d, "h1", 0, 2, 0x1111), 0x2222); /* declined: the old one stays */
	assert_int_equal(set(d, "h1", 0, 3, desk_end(d, "h2")->guid), 0);
	assert_int_equal(set(d, "h0", 0, 1, 0x3333), 0x3333); /* replaced */
	assert_int_equal(set(d, "h1", 0, 2, 0x1111), 0x1111);
	assert_int_equal(set(d, "h0", 0, 1, 0), 0x3333);
	assert_int_equal(sa_stats(d->sa)->guids, 2);
}

static void one_request_cannot_have_it_twice(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	ib_put(desk_blank(d), GIR_LID, 1);
	ib_put(d->record, GIR_GUID2, 0x77);
	ib_put(d->record, GIR_GUID3, 0x77);
	a = desk_set(d, SA_GUID_INFO_RECORD, WHERE | PLACE(2) | PLACE(3));
	assert_int_equal(place(a, 2), 0x77);
	assert_int_equal(place(a, 3), 0);
}

static void lid_and_block_are_needed(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint64_t guid = PLACE(1);

	ib_put(desk_blank(d), GIR_LID, 1);
	assert_int_equal(desk_set(d, SA_GUID_INFO_RECORD, guid | SA_COMP(GIR_LID))->status,
			 SA_REQ_INSUFFICIENT_COMPONENTS);
	assert_int_equal(desk_set(d, SA_GUID_INFO_RECORD, guid | SA_COMP(GIR_BLOCK))->status,
			 SA_REQ_INSUFFICIENT_COMPONENTS);
	assert_int_equal(desk_delete(d, SA_GUID_INFO_RECORD, guid)->status,
			 SA_REQ_INSUFFICIENT_COMPONENTS);
}

static void the_ports_own_guid_stays(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	assert_int_equal(ask(d, MAD_SET, "h0", 0, 0, 0x99)->status, SA_REQ_INVALID);
	assert_int_equal(ask(d, MAD_SA_DELETE, "h0", 0, 0, 0)->status, SA_REQ_INVALID);
	assert_int_equal(set(d, "h0", 1, 0, 0x99), 0x99); /* of another block, it is an alias */
}

static void blocks_and_ports_must_be_there(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	assert_int_equal(ask(d, MAD_SET, "h0", 2, 1, 5)->status, SA_NO_RECORDS);
	assert_int_equal(ask(d, MAD_SA_DELETE, "h0", 40, 1, 5)->status, SA_NO_RECORDS);
	ib_put(desk_blank(d), GIR_LID, 0x50);
	assert_int_equal(desk_set(d, SA_GUID_INFO_RECORD, WHERE | PLACE(1))->status, SA_NO_RECORDS);
}

static void beyond_the_capacity_is_zero(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	ib_put(desk_end(d, "leaf1")->info, PI_GUID_CAP, 1);
	ib_put(desk_end(d, "h1")->info, PI_GUID_CAP, 10);
	desk_publish(d);
	assert_int_equal(set(d, "leaf1", 0, 1, 0x77), 0);
	assert_int_equal(set(d, "h1", 1, 1, 0x78), 0x78);
	assert_int_equal(set(d, "h1", 1, 2, 0x79), 0);
	assert_int_equal(ask(d, MAD_SET, "leaf1", 1, 0, 0x77)->status, SA_NO_RECORDS);
}

static void other_partitions_get_no_answer(void **state)
{
	static const uint16_t blue[] = { 0x8001 };
	_desk_ d = desk_new("tree 2 2 1");

	desk_keys(d, "h1", 1, blue);
	assert_null(ask(d, MAD_SET, "h1", 0, 1, 5));
	assert_null(ask(d, MAD_SA_DELETE, "h1", 0, 1, 5));
	d->from = "h1";
	assert_int_equal(set(d, "h1", 0, 1, 5), 5);
}

static void all_blocks_are_shown(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	set(d, "h1", 1, 7, 0xABC);
	assert_int_equal(shown(d, "h1", 1, 7), 0xABC);
	assert_int_equal(shown(d, "h1", 1, 0), 0);
	assert_int_equal(shown(d, "h1", 0, 0), desk_end(d, "h1")->guid);
	ib_put(desk_blank(d), GIR_LID, 2);
	assert_int_equal(desk_get(d, SA_GUID_INFO_RECORD, SA_COMP(GIR_LID))->status,
			 SA_TOO_MANY_RECORDS);
	assert_int_equal(desk_table(d, SA_GUID_INFO_RECORD, SA_COMP(GIR_LID))->n, 2);
	assert_int_equal(desk_table(d, SA_GUID_INFO_RECORD, 0)->n, 14);
	ib_put(desk_blank(d), GIR_GUID7, 0xABC);
	assert_int_equal(desk_table(d, SA_GUID_INFO_RECORD, PLACE(7))->n, 1);
	ib_put(d->record, GIR_BLOCK, 2);
	assert_int_equal(desk_table(d, SA_GUID_INFO_RECORD, SA_COMP(GIR_BLOCK))->n, 0);
}

static void aliases_are_taken_back(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	set(d, "h0", 0, 1, 0x11);
	set(d, "h0", 0, 2, 0x22);
	assert_int_equal(place(ask(d, MAD_SA_DELETE, "h0", 0, 1, 0), 1), 0);
	assert_int_equal(place(ask(d, MAD_SA_DELETE, "h0", 0, 1, 0), 2), 0x22); /* again is fine */
	assert_int_equal(sa_stats(d->sa)->guids, 1);
	assert_int_equal(set(d, "h1", 0, 1, 0x11), 0x11);
}

static void devices_are_written_once_per_change(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	guid_t block[8];

	assert_false(sa_guid_block(d->sa, desk_end(d, "h1")->guid, 0, block));
	set(d, "h1", 1, 3, 0x11);
	assert_int_equal(d->guid_changes, 1);
	assert_int_equal(d->guid_last, desk_end(d, "h1")->guid);
	assert_int_equal(d->block_last, 1);
	assert_true(sa_guid_block(d->sa, desk_end(d, "h1")->guid, 1, block));
	assert_int_equal(block[3], 0x11);
	set(d, "h1", 1, 3, 0x11);
	assert_int_equal(d->guid_changes, 1);
	ask(d, MAD_SA_DELETE, "h1", 1, 3, 0);
	assert_int_equal(d->guid_changes, 2);
	assert_true(sa_guid_block(d->sa, desk_end(d, "h1")->guid, 1,
				  block)); /* zeroes, to be written */
	assert_int_equal(block[3], 0);
	assert_true(sa_guid_block(d->sa, desk_end(d, "h1")->guid, 0, block));
	assert_int_equal(block[0], desk_end(d, "h1")->guid);
	assert_false(sa_guid_block(d->sa, desk_end(d, "h1")->guid, 2, block));
}

static void a_member_keeps_its_alias(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint8_t mgid[16] = { 0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, [12] = 0xFF, 0xFF, 0xFF, 0xFF };
	uint8_t *r;

	set(d, "h0", 0, 1, 0x1111);
	set(d, "h0", 0, 2, 0x2222);
	r = desk_blank(d);
	memcpy(ib_at(r, MCM_MGID), mgid, 16);
	sa_gid(d->conf->subnet_prefix, 0x1111, ib_at(r, MCM_PORT_GID));
	ib_put(r, MCM_QKEY, 0xB1B);
	ib_put(r, MCM_PKEY, 0xFFFF);
	ib_put(r, MCM_JOIN_STATE, MC_FULL);
	assert_int_equal(desk_set(d, SA_MC_MEMBER_RECORD,
				  SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) |
					  SA_COMP(MCM_JOIN_STATE) | SA_COMP(MCM_QKEY) |
					  SA_COMP(MCM_TCLASS) | SA_COMP(MCM_PKEY) |
					  SA_COMP(MCM_FLOW) | SA_COMP(MCM_SL))
				 ->status,
			 SA_OK);
	assert_int_equal(ask(d, MAD_SA_DELETE, "h0", 0, 1, 0)->status, SA_REQ_DENIED);
	assert_int_equal(ask(d, MAD_SET, "h0", 0, 1, 0x3333)->status, SA_REQ_DENIED);
	ib_put(desk_blank(d), GIR_LID, 1);
	assert_int_equal(desk_delete(d, SA_GUID_INFO_RECORD, WHERE | PLACE(1) | PLACE(2))->status,
			 SA_REQ_DENIED);
	assert_int_equal(shown(d, "h0", 0, 1), 0x1111);
	assert_int_equal(shown(d, "h0", 0, 2), 0x2222); /* all or nothing */
}

static void an_alias_is_known_as_its_port(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	set(d, "h2", 0, 1, 0x77);
	assert_int_equal(sa_port_of_interface_id(d->sa, d->view, 0x77), desk_port(d, "h2"));
	assert_int_equal(sa_port_of_interface_id(d->sa, d->view, desk_end(d, "h2")->guid),
			 desk_port(d, "h2"));
	assert_int_equal(sa_port_of_interface_id(d->sa, d->view, 0x78), VIEW_NONE);
	assert_int_equal(sa_port_of_interface_id(d->sa, d->view, 0), VIEW_NONE);
}

/* The trap, of the GID with this interface id, that is reported now. */
static void expect(struct desk *d, unsigned trap, guid_t id)
{
	const struct desk_message *m;
	uint8_t gid[16];

	desk_settle(d);
	m = desk_mail(d);
	assert_non_null(m);
	assert_int_equal(trap_of(m), trap);
	sa_gid(d->conf->subnet_prefix, id, gid);
	assert_memory_equal(m->mad + SA_DATA + NOTICE_GID, gid, 16);
	answer_report(d, m);
	desk_settle(d);
}

static void aliases_come_and_go_with_notices(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	guid_t h3 = desk_end(d, "h3")->guid;

	set(d, "h3", 0, 1, 0x55);
	subscribe(d, "h1", 0xFFFF);
	set(d, "h2", 0, 1, 0x77);
	expect(d, 64, 0x77);
	set(d, "h2", 0, 1, 0x78);
	expect(d, 65, 0x77);
	expect(d, 64, 0x78);
	ask(d, MAD_SA_DELETE, "h2", 0, 1, 0);
	expect(d, 65, 0x78);
	desk_remove(d, "h3");
	expect(d, 65, h3);
	expect(d, 65, 0x55);
	assert_null(desk_mail(d));
}

static void a_port_that_comes_back_has_its_aliases(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	struct view *with = view_ref(d->view);

	set(d, "h3", 1, 1, 0x55);
	set(d, "h2", 1, 1, 0x66);
	desk_remove(d, "h3");
	assert_int_equal(sa_port_of_interface_id(d->sa, d->view, 0x55), VIEW_NONE);
	d->guid_changes = 0;
	sa_publish(d->sa, with, d->now);
	assert_int_not_equal(sa_port_of_interface_id(d->sa, with, 0x55), VIEW_NONE);
	assert_int_equal(d->guid_changes, 2); /* both blocks are written */
	view_unref(with);
}

static void the_absent_have_no_claim(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	set(d, "h3", 0, 1, 0x55);
	desk_remove(d, "h3");
	assert_int_equal(set(d, "h2", 0, 1, 0x55), 0x55);
	assert_int_equal(sa_port_of_interface_id(d->sa, d->view, 0x55), desk_port(d, "h2"));
	assert_int_equal(sa_stats(d->sa)->guids, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zero_is_assigned_once),
		cmocka_unit_test(assigned_guids_pass_by_those_in_use),
		cmocka_unit_test(what_is_asked_for_is_given_if_it_is_free),
		cmocka_unit_test(one_request_cannot_have_it_twice),
		cmocka_unit_test(lid_and_block_are_needed),
		cmocka_unit_test(the_ports_own_guid_stays),
		cmocka_unit_test(blocks_and_ports_must_be_there),
		cmocka_unit_test(beyond_the_capacity_is_zero),
		cmocka_unit_test(other_partitions_get_no_answer),
		cmocka_unit_test(all_blocks_are_shown),
		cmocka_unit_test(aliases_are_taken_back),
		cmocka_unit_test(devices_are_written_once_per_change),
		cmocka_unit_test(a_member_keeps_its_alias),
		cmocka_unit_test(an_alias_is_known_as_its_port),
		cmocka_unit_test(aliases_come_and_go_with_notices),
		cmocka_unit_test(a_port_that_comes_back_has_its_aliases),
		cmocka_unit_test(the_absent_have_no_claim),
	};

	return cmocka_run_group_tests_name("sa-guidinfo", tests, NULL, NULL);
}
