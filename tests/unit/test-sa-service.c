// SPDX-License-Identifier: BSD-2-Clause
/* ServiceRecord: statuses and answers as the Debian peer gives them (sa.md 7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sa/service.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"

#define ID_GID (SA_COMP(SVR_ID) | SA_COMP(SVR_GID))

/* Service `id` of a node; d->record. */
static uint8_t *service(struct desk *d, uint64_t id, const char *node)
{
	uint8_t *r = desk_blank(d);

	ib_put(r, SVR_ID, id);
	desk_gid(d, node, ib_at(r, SVR_GID));
	return r;
}

static uint16_t set(struct desk *d, uint64_t mask)
{
	return desk_set(d, SA_SERVICE_RECORD, mask)->status;
}

static unsigned n_services(struct desk *d)
{
	return sa_stats(d->sa)->services;
}

/* The one service with this id, as d->from sees it. */
static const uint8_t *get(struct desk *d, uint64_t id)
{
	const struct desk_message *a;

	ib_put(desk_blank(d), SVR_ID, id);
	a = desk_get(d, SA_SERVICE_RECORD, SA_COMP(SVR_ID));
	assert_int_equal(a->status, SA_OK);
	assert_int_equal(a->stride, 176);
	return desk_record(a, 0);
}

static void id_and_gid_are_needed(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	service(d, 1, "h0");
	assert_int_equal(set(d, SA_COMP(SVR_ID)), SA_REQ_INVALID);
	assert_int_equal(set(d, SA_COMP(SVR_GID)), SA_REQ_INVALID);
	assert_int_equal(n_services(d), 0);
	assert_int_equal(set(d, ID_GID), SA_OK);
	assert_int_equal(n_services(d), 1);
}

static void what_is_not_masked_is_kept_but_for_lease_and_pkey(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	service(d, 1, "h0");
	ib_put(d->record, SVR_LEASE, 30);
	ib_put(d->record, SVR_PKEY, 0x1234);
	memcpy(ib_at(d->record, SVR_NAME), "name", 4);
	ib_put(d->record, SVR_DATA16_7, 0xABCD);
	ib_put(d->record, SVR_DATA64_1, 7);
	a = desk_set(d, SA_SERVICE_RECORD, ID_GID);
	assert_int_equal(ib_get(desk_record(a, 0), SVR_PKEY), 0xFFFF); /* so answered */
	assert_int_equal(ib_get(desk_record(a, 0), SVR_LEASE), SERVICE_FOREVER);
	assert_int_equal(ib_get(get(d, 1), SVR_PKEY), 0);

	service(d, 2, "h0");
	memcpy(ib_at(d->record, SVR_NAME), "name", 4);
	ib_put(d->record, SVR_DATA16_7, 0xABCD);
	ib_put(d->record, SVR_DATA64_1, 7);
	set(d, ID_GID);
	assert_string_equal((const char *)ib_at(get(d, 2), SVR_NAME), "name");
	assert_int_equal(ib_get(get(d, 2), SVR_DATA16_7), 0xABCD);
	assert_int_equal(ib_get(get(d, 2), SVR_DATA64_1), 7);
	assert_int_equal(ib_get(get(d, 2), SVR_PKEY), 0);
}

static void the_same_identity_is_overwritten(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	service(d, 1, "h0");
	set(d, ID_GID);
	service(d, 2, "h0");
	set(d, ID_GID);
	service(d, 1, "h0");
	memcpy(ib_at(d->record, SVR_NAME), "again", 5);
	assert_int_equal(set(d, ID_GID), SA_OK);
	assert_int_equal(n_services(d), 2);
	assert_string_equal((const char *)ib_at(get(d, 1), SVR_NAME), "again");
	service(d, 1, "h1"); /* another GID: another service */
	set(d, ID_GID);
	assert_int_equal(n_services(d), 3);
}

static void a_masked_pkey_must_be_held_by_both(void **state)
{
	static const uint16_t both[] = { 0xFFFF, 0x8001 };
	_desk_ d = desk_new("tree 2 2 1");
	uint64_t mask = ID_GID | SA_COMP(SVR_PKEY);

	ib_put(service(d, 1, "h1"), SVR_PKEY, 0x8001);
	assert_int_equal(set(d, mask), SA_REQ_INVALID);
	desk_keys(d, "h0", 2, both);
	assert_int_equal(set(d, mask), SA_REQ_INVALID);
	desk_keys(d, "h1", 2, both);
	assert_int_equal(set(d, mask), SA_OK);
	ib_put(service(d, 2, "h1"), SVR_PKEY, 0x7FFF); /* membership does not count */
	assert_int_equal(set(d, mask), SA_OK);
	ib_put(service(d, 3, "h1"), SVR_PKEY, 0);
	assert_int_equal(set(d, mask), SA_OK);
}

static void a_gid_of_nobody_is_fine_without_a_pkey(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	ib_bits_put(ib_at(service(d, 1, "h0"), SVR_GID), 64, 64, 0xDEAD);
	ib_put(d->record, SVR_PKEY, 0xFFFF);
	assert_int_equal(set(d, ID_GID | SA_COMP(SVR_PKEY)), SA_REQ_INVALID);
	ib_put(d->record, SVR_PKEY, 0);
	assert_int_equal(set(d, ID_GID), SA_OK);
	get(d, 1);
	service(d, 2, "h3"); /* of another port */
	assert_int_equal(set(d, ID_GID), SA_OK);
}

static void the_key_is_for_the_trusted(void **state)
{
	static const uint8_t key[16] = { 1, 2, 3 }, none[16];
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	memcpy(ib_at(service(d, 1, "h0"), SVR_KEY), key, 16);
	a = desk_set(d, SA_SERVICE_RECORD, ID_GID);
	assert_memory_equal(ib_at(desk_record(a, 0), SVR_KEY), none, 16);
	assert_memory_equal(ib_at(get(d, 1), SVR_KEY), none, 16);
	memcpy(ib_at(desk_blank(d), SVR_KEY), key, 16); /* by key: the real one */
	assert_int_equal(desk_table(d, SA_SERVICE_RECORD, SA_COMP(SVR_KEY))->n, 1);
	desk_blank(d);
	assert_int_equal(desk_table(d, SA_SERVICE_RECORD, SA_COMP(SVR_KEY))->n, 0);
	d->sm_key = 1;
	assert_memory_equal(ib_at(get(d, 1), SVR_KEY), key, 16);
}

static void the_newest_comes_first_and_filters_hold(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	for (unsigned i = 1; i <= 3; i++) {
		service(d, i, "h0");
		*ib_at(d->record, SVR_NAME) = i == 2 ? 'b' : 'a';
		set(d, ID_GID);
	}
	a = desk_table(d, SA_SERVICE_RECORD, 0);
	assert_int_equal(a->n, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(ib_get(desk_record(a, i), SVR_ID), 3 - i);
	*ib_at(desk_blank(d), SVR_NAME) = 'a';
	assert_int_equal(desk_table(d, SA_SERVICE_RECORD, SA_COMP(SVR_NAME))->n, 2);
	assert_int_equal(desk_get(d, SA_SERVICE_RECORD, SA_COMP(SVR_NAME))->status,
			 SA_TOO_MANY_RECORDS);
	ib_put(desk_blank(d), SVR_LEASE, 30); /* not looked at */
	assert_int_equal(desk_table(d, SA_SERVICE_RECORD, SA_COMP(SVR_LEASE))->n, 3);
	ib_put(desk_blank(d), SVR_ID, 9);
	assert_int_equal(desk_get(d, SA_SERVICE_RECORD, SA_COMP(SVR_ID))->status, SA_NO_RECORDS);
}

static void deleting_compares_the_identity_literally(void **state)
{
	static const uint8_t none[16];
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	service(d, 1, "h0");
	*ib_at(d->record, SVR_KEY) = 9;
	*ib_at(d->record, SVR_NAME) = 'n';
	set(d, ID_GID);
	ib_put(service(d, 1, "h0"), SVR_PKEY, 0xFFFF);
	assert_int_equal(desk_delete(d, SA_SERVICE_RECORD, ID_GID)->status, SA_NO_RECORDS);
	service(d, 1, "h0");
	a = desk_delete(d, SA_SERVICE_RECORD, 0); /* the mask does not count, nor does the key */
	assert_int_equal(a->status, SA_OK);
	assert_int_equal(a->method, 0x95);
	assert_int_equal(*ib_at(desk_record(a, 0), SVR_NAME), 'n');
	assert_memory_equal(ib_at(desk_record(a, 0), SVR_KEY), none, 16);
	assert_int_equal(n_services(d), 0);
	assert_int_equal(desk_delete(d, SA_SERVICE_RECORD, 0)->status, SA_NO_RECORDS);
}

static void leases_end(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint64_t mask = ID_GID | SA_COMP(SVR_LEASE);

	ib_put(service(d, 1, "h0"), SVR_LEASE, 30);
	set(d, mask);
	ib_put(service(d, 2, "h0"), SVR_LEASE, 0);
	assert_int_equal(set(d, mask), SA_OK);
	service(d, 3, "h0");
	set(d, ID_GID);
	desk_wait(d, 2 * MONO_S);
	assert_int_equal(n_services(d), 2); /* 2 is gone */
	desk_wait(d, 27 * MONO_S);
	assert_int_equal(ib_get(get(d, 1), SVR_LEASE), 30); /* as it was asked for */
	desk_wait(d, 2 * MONO_S);
	assert_int_equal(n_services(d), 1);
	desk_wait(d, 1000000 * MONO_S);
	assert_int_equal(n_services(d), 1);
}

static void registering_again_renews_the_lease(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	for (unsigned i = 0; i < 5; i++) {
		ib_put(service(d, 1, "h0"), SVR_LEASE, 30);
		set(d, ID_GID | SA_COMP(SVR_LEASE));
		desk_wait(d, 25 * MONO_S);
		assert_int_equal(n_services(d), 1);
	}
	desk_wait(d, 6 * MONO_S);
	assert_int_equal(n_services(d), 0);
}

static void the_timer_is_that_of_the_next_lease(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	ib_put(service(d, 1, "h0"), SVR_LEASE, 30);
	set(d, ID_GID | SA_COMP(SVR_LEASE));
	assert_true(sa_next(d->sa) == d->now + 30 * MONO_S);
	ib_put(service(d, 2, "h0"), SVR_LEASE, 5);
	set(d, ID_GID | SA_COMP(SVR_LEASE));
	assert_true(sa_next(d->sa) == d->now + 5 * MONO_S);
}

static void partitions_do_not_see_each_other(void **state)
{
	static const uint16_t blue[] = { 0x8001 }, both[] = { 0xFFFF, 0x8001 };
	_desk_ d = desk_new("tree 2 2 1");

	desk_keys(d, "h1", 1, blue);
	desk_keys(d, "h2", 2, both);
	d->from = "h2";
	service(d, 1, "h2");
	set(d, ID_GID);
	ib_put(service(d, 2, "h2"), SVR_PKEY, 0x8001);
	set(d, ID_GID | SA_COMP(SVR_PKEY));
	d->from = "h1";
	assert_int_equal(desk_table(d, SA_SERVICE_RECORD, 0)->n, 2);
	d->from = "h0";
	assert_int_equal(desk_table(d, SA_SERVICE_RECORD, 0)->n, 1);
	ib_put(service(d, 2, "h2"), SVR_PKEY, 0x8001); /* not seen, not deleted */
	assert_int_equal(desk_delete(d, SA_SERVICE_RECORD, 0)->status, SA_NO_RECORDS);
}

static void nobody_registers_in_a_partition_it_is_not_in(void **state)
{
	static const uint16_t blue[] = { 0x8001 };
	_desk_ d = desk_new("tree 2 2 1");

	desk_keys(d, "h1", 1, blue);
	/* not masked: not asked which ports hold it */
	ib_put(service(d, 1, "h0"), SVR_PKEY, 0x8001);
	assert_int_equal(set(d, ID_GID), SA_OK);
	service(d, 2, "h1"); /* ports that share a partition with h1 would see it */
	assert_int_equal(set(d, ID_GID), SA_REQ_INVALID);
	d->from = "h1";
	desk_blank(d);
	assert_int_equal(desk_table(d, SA_SERVICE_RECORD, 0)->n, 0);
}

static void what_is_not_seen_is_not_overwritten(void **state)
{
	static const uint16_t blue[] = { 0x8001 };
	_desk_ d = desk_new("tree 2 2 1");

	desk_keys(d, "h1", 1, blue);
	d->from = "h1";
	ib_bits_put(ib_at(service(d, 1, "h1"), SVR_GID), 64, 64, 0xDEAD); /* of no port */
	memcpy(ib_at(d->record, SVR_NAME), "h1", 2);
	assert_int_equal(set(d, ID_GID), SA_OK);
	d->from = "h0";
	memcpy(ib_at(d->record, SVR_NAME), "h0", 2);
	assert_int_equal(set(d, ID_GID), SA_REQ_INVALID);
	d->from = "h1";
	assert_string_equal((const char *)ib_at(get(d, 1), SVR_NAME), "h1");
}

static void one_port_cannot_fill_the_store(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	for (unsigned i = 0; i < d->conf->sa_max_services_per_port; i++) {
		service(d, i, "h1");
		assert_int_equal(set(d, ID_GID), SA_OK);
	}
	service(d, d->conf->sa_max_services_per_port, "h1");
	assert_int_equal(set(d, ID_GID), SA_NO_RESOURCES);
	service(d, 5, "h1"); /* what is there may be renewed */
	assert_int_equal(set(d, ID_GID), SA_OK);
	d->from = "h1";
	service(d, d->conf->sa_max_services_per_port, "h1");
	assert_int_equal(set(d, ID_GID), SA_OK);
	d->from = "h0";
	service(d, 5, "h1");
	desk_delete(d, SA_SERVICE_RECORD, 0);
	service(d, d->conf->sa_max_services_per_port + 1, "h1");
	assert_int_equal(set(d, ID_GID), SA_OK);
}

static void services_outlive_the_port_unless_told(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	for (unsigned i = 1; i <= 3; i++) {
		d->from = i == 1 ? "h1" : i == 2 ? "h2" : "h3";
		service(d, i, d->from);
		set(d, ID_GID);
	}
	d->from = "h0";
	desk_remove(d, "h1");
	assert_int_equal(n_services(d), 3);
	desk_conf(d, "drop_event_subscriptions", "TRUE");
	desk_remove(d, "h2");
	assert_int_equal(n_services(d), 1);
	sa_publish(d->sa, NULL, d->now);
	sa_publish(d->sa, d->view, d->now);
	assert_int_equal(n_services(d), 0);
}

static void a_table_survives_changes_between_its_slices(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	unsigned before;

	for (unsigned i = 0; i < 600; i++) {
		service(d, i, "h1");
		set(d, ID_GID);
	}
	desk_blank(d);
	desk_post(d, MAD_SA_GET_TABLE, SA_SERVICE_RECORD, 0);
	assert_null(desk_reply(d)); /* it rests */
	before = n_services(d);
	for (unsigned i = 0; i < 500; i++) { /* not through the desk, which waits for the table */
		struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };

		service(d, i, "h1");
		ev.from = (struct transport_addr){ .lid = desk_lid(d, "h0"), .qp = 1 };
		ib_put(ev.mad, SAH_BASE_VERSION, 1);
		ib_put(ev.mad, SAH_CLASS, MAD_CLASS_SA);
		ib_put(ev.mad, SAH_CLASS_VERSION, 2);
		ib_put(ev.mad, SAH_METHOD, MAD_SA_DELETE);
		ib_put(ev.mad, SAH_ATTR_ID, SA_SERVICE_RECORD);
		memcpy(ev.mad + SA_DATA, d->record, SA_DATA_SIZE);
		sa_receive(d->sa, &ev, d->now);
		while (desk_mail(d))
			;
	}
	assert_int_equal(n_services(d), before - 500);
	desk_settle(d);
	assert_non_null(desk_reply(d));
	for (unsigned i = 1; i < desk_reply(d)->n; i++)
		assert_true(ib_get(desk_record(desk_reply(d), i), SVR_ID) <
			    ib_get(desk_record(desk_reply(d), i - 1), SVR_ID));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(id_and_gid_are_needed),
		cmocka_unit_test(what_is_not_masked_is_kept_but_for_lease_and_pkey),
		cmocka_unit_test(the_same_identity_is_overwritten),
		cmocka_unit_test(a_masked_pkey_must_be_held_by_both),
		cmocka_unit_test(a_gid_of_nobody_is_fine_without_a_pkey),
		cmocka_unit_test(the_key_is_for_the_trusted),
		cmocka_unit_test(the_newest_comes_first_and_filters_hold),
		cmocka_unit_test(deleting_compares_the_identity_literally),
		cmocka_unit_test(leases_end),
		cmocka_unit_test(registering_again_renews_the_lease),
		cmocka_unit_test(the_timer_is_that_of_the_next_lease),
		cmocka_unit_test(partitions_do_not_see_each_other),
		cmocka_unit_test(nobody_registers_in_a_partition_it_is_not_in),
		cmocka_unit_test(what_is_not_seen_is_not_overwritten),
		cmocka_unit_test(one_port_cannot_fill_the_store),
		cmocka_unit_test(services_outlive_the_port_unless_told),
		cmocka_unit_test(a_table_survives_changes_between_its_slices),
	};

	return cmocka_run_group_tests_name("sa-service", tests, NULL, NULL);
}
