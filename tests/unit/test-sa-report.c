// SPDX-License-Identifier: BSD-2-Clause
/* Reports: which subscriber is told what, when it ends, and what silence costs (traps.md 4, 5). */
#include <stdio.h>

#include "sa-events.h"

/* transaction_timeout and _retries of the default configuration */
#define TIMEOUT (200 * MONO_MS)
#define TRIES	4

static unsigned n_mail(struct desk *d)
{
	unsigned n = 0;

	desk_settle(d);
	while (desk_mail(d))
		n++;
	return n;
}

/* The only message there is. */
static const struct desk_message *only(struct desk *d)
{
	const struct desk_message *m;

	desk_settle(d);
	m = desk_mail(d);
	assert_non_null(m);
	assert_int_equal(d->n_mail, 1);
	desk_mail(d); /* empties the box; `m` is valid still */
	return m;
}

/* One report goes through all its tries. */
static void lose(struct desk *d)
{
	for (unsigned i = 0; i < TRIES; i++) {
		const struct desk_message *m;

		desk_settle(d);
		m = desk_mail(d);
		if (!m)
			return;
		d->now += TIMEOUT;
		return_report(d, m);
	}
}

static void a_report_looks_like_this(void **state)
{
	static const uint8_t zero[SA_DATA - 24];
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *m;
	uint8_t gid[16];

	d->from = "h1";
	info_any(d->record);
	inform_by(d, 0x400);
	trap_from(d, "leaf1", TRAP_LINK_STATE);
	m = only(d);
	assert_int_equal(m->method, MAD_REPORT);
	assert_int_equal(ib_get(m->mad, SAH_CLASS), MAD_CLASS_SA);
	assert_int_equal(ib_get(m->mad, SAH_CLASS_VERSION), 2);
	assert_int_equal(m->attr, SA_NOTICE);
	assert_memory_equal(m->mad + 24, zero, sizeof(zero)); /* RMPP, SM_Key, offset, mask */
	assert_int_equal(ib_get(m->mad, SAH_ATTR_MOD), 0);
	assert_int_equal(m->len, MAD_SIZE);
	assert_int_equal(m->timeout_ms, 200);
	assert_int_equal(m->to.lid, desk_lid(d, "h1"));
	assert_int_equal(m->to.qp, 0x400);
	assert_int_equal(m->to.qkey, MAD_QP1_QKEY);
	assert_int_equal(trap_of(m), 128);
	desk_gid(d, "leaf1", gid);
	assert_memory_equal(ib_at(m->mad + SA_DATA, NT_ISSUER_GID), gid, 16);
}

static void link_errors_stay_here(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 0xFFFF);
	for (unsigned trap = 129; trap <= 131; trap++)
		trap_from(d, "leaf1", trap);
	assert_int_equal(n_mail(d), 0);
	trap_from(d, "leaf1", 144);
	assert_int_equal(n_mail(d), 1);
}

/* They name both ends: a subscriber to all traps has them only if it is trusted. */
static void security_traps_go_to_the_trusted_alone(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 0xFFFF);
	trap_from(d, "leaf1", 257);
	assert_int_equal(n_mail(d), 0);
	d->sm_key = 1;
	subscribe(d, "h1", 0xFFFF); /* the same subscription, with more trust */
	trap_from(d, "leaf1", 257);
	assert_int_equal(n_mail(d), 1);
}

static void traps_of_strangers_are_not_forwarded(void **state)
{
	const struct transport_addr from = { .lid = 0x1234 }, ourselves = { .lid = 0 };
	_desk_ d = desk_new("tree 2 2 1");
	uint8_t notice[SMP_DATA_SIZE] = { 0 };
	uint8_t gid[16];

	subscribe(d, "h1", 0xFFFF);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TRAP, 128);
	ib_put(notice, NT_ISSUER_LID, 0x1234);
	sa_forward_trap(d->sa, &from, notice, d->now);
	assert_int_equal(n_mail(d), 0);
	sa_forward_trap(d->sa, &ourselves, notice, d->now);
	desk_gid(d, "h0", gid);
	assert_memory_equal(ib_at(only(d)->mad + SA_DATA, NT_ISSUER_GID), gid, 16);
}

static void nobody_speaks_for_another(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct transport_addr from = { .lid = desk_lid(d, "h2") };
	uint8_t notice[SMP_DATA_SIZE] = { 0 };

	subscribe(d, "h1", 0xFFFF);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TRAP, 128);
	ib_put(notice, NT_ISSUER_LID, desk_lid(d, "leaf1"));
	sa_forward_trap(d->sa, &from, notice, d->now);
	assert_int_equal(n_mail(d), 0);
	ib_put(notice, NT_ISSUER_LID, from.lid);
	ib_put(notice, NT_PRODUCER, 4);
	for (unsigned trap = TRAP_GID_IN_SERVICE; trap <= TRAP_MGID_DESTROYED; trap++) {
		ib_put(notice, NT_TRAP, trap); /* these are told by the SA alone */
		sa_forward_trap(d->sa, &from, notice, d->now);
	}
	assert_int_equal(n_mail(d), 0);
	ib_put(notice, NT_TRAP, 128);
	sa_forward_trap(d->sa, &from, notice, d->now);
	assert_int_equal(n_mail(d), 1);
}

static void a_port_of_dead_queue_pairs_does_not_hold_up_others(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *m;
	unsigned n = 0, to_h1 = 0;

	d->from = "h2";
	for (unsigned i = 0; i < 200; i++) {
		info_any(d->record);
		assert_int_equal(inform_by(d, 0x400 + i), SA_OK);
	}
	subscribe(d, "h1", 0xFFFF);
	trap_from(d, "leaf1", TRAP_LINK_STATE);
	while ((m = desk_mail(d))) {
		n++;
		to_h1 += m->to.lid == desk_lid(d, "h1");
	}
	assert_int_equal(to_h1, 1);
	assert_in_range(n, 2, 16);
	d->forgetful = true;
	for (unsigned i = 0; i < 400; i++) /* the dead ones get theirs, by and by */
		desk_wait(d, TIMEOUT);
	assert_in_range(sa_stats(d->sa)->reports, 201, 100000);
}

static void one_subscriber_hears_once(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 0xFFFF);
	subscribe(d, "h1", 128);
	trap_from(d, "leaf1", 128);
	assert_int_equal(n_mail(d), 1);
}

static void the_next_report_waits_for_the_answer(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *m;
	uint32_t tid;

	subscribe(d, "h1", 0xFFFF);
	trap_from(d, "leaf1", 128);
	trap_from(d, "leaf1", 144);
	m = only(d);
	assert_int_equal(trap_of(m), 128);
	tid = ib_get(m->mad, SAH_TID);
	answer_report(d, m);
	m = only(d);
	assert_int_equal(trap_of(m), 144);
	assert_int_not_equal((uint32_t)ib_get(m->mad, SAH_TID), tid);
	answer_report(d, m);
	assert_int_equal(n_mail(d), 0);
	assert_int_equal(sa_stats(d->sa)->reports, 2);
	assert_int_equal(sa_stats(d->sa)->reports_lost, 0);
	assert_true(sa_next(d->sa) == MONO_NEVER);
}

static void answers_of_others_do_not_count(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };
	const struct desk_message *m;

	subscribe(d, "h1", 0xFFFF);
	trap_from(d, "leaf1", 128);
	trap_from(d, "leaf1", 144);
	m = only(d);
	memcpy(ev.mad, m->mad, MAD_SIZE);
	ib_put(ev.mad, SAH_METHOD, MAD_REPORT_RESP);
	ev.from.lid = desk_lid(d, "h2");
	sa_receive(d->sa, &ev, d->now);
	assert_int_equal(n_mail(d), 0);
	ev.from.lid = desk_lid(d, "h1");
	ib_put(ev.mad, SAH_TID, ib_get(ev.mad, SAH_TID) + 0x1000);
	sa_receive(d->sa, &ev, d->now);
	assert_int_equal(n_mail(d), 0);
}

static void silence_is_asked_four_times(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 0xFFFF);
	trap_from(d, "leaf1", 128);
	for (unsigned i = 0; i < TRIES; i++) {
		const struct desk_message *m = only(d);

		assert_int_equal(trap_of(m), 128);
		d->now += TIMEOUT;
		return_report(d, m);
	}
	assert_int_equal(n_mail(d), 0);
	assert_int_equal(sa_stats(d->sa)->reports_lost, 1);
	assert_int_equal(sa_stats(d->sa)->reports, 1);
}

static void an_answer_to_an_earlier_try_counts(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *first, *second;

	subscribe(d, "h1", 0xFFFF);
	trap_from(d, "leaf1", 128);
	trap_from(d, "leaf1", 144);
	first = desk_mail(d);
	return_report(d, first);
	desk_settle(d);
	second = desk_mail(d);
	assert_int_equal(trap_of(second), 128);
	return_report(d, first); /* come back twice: not the one that is on its way */
	desk_settle(d);
	assert_null(desk_mail(d));
	answer_report(d, first);
	desk_settle(d);
	assert_int_equal(trap_of(desk_mail(d)), 144);
}

static void a_transport_that_forgets_is_watched(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 0xFFFF);
	trap_from(d, "leaf1", 128);
	for (unsigned i = 0; i < TRIES; i++) {
		assert_int_equal(n_mail(d), 1);
		assert_true(sa_next(d->sa) > d->now + TIMEOUT);
		d->now = sa_next(d->sa);
	}
	assert_int_equal(n_mail(d), 0);
	assert_int_equal(sa_stats(d->sa)->reports_lost, 1);
}

static void a_full_transport_is_tried_again(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 0xFFFF);
	d->refuse = -EAGAIN;
	trap_from(d, "leaf1", 128);
	assert_int_equal(sa_stats(d->sa)->reports, 0);
	assert_true(sa_next(d->sa) > d->now);
	d->refuse = 0;
	d->now = sa_next(d->sa);
	assert_int_equal(n_mail(d), 1);
}

static void the_silent_rest_and_hear_again(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *m;

	subscribe(d, "h1", 0xFFFF);
	trap_from(d, "leaf1", 128);
	trap_from(d, "leaf1", 144);
	lose(d);
	assert_int_equal(n_mail(d), 0);
	assert_true(sa_next(d->sa) > d->now);
	d->now = sa_next(d->sa);
	m = only(d);
	assert_int_equal(trap_of(m), 144);
	answer_report(d, m);
	trap_from(d, "leaf1", 145);
	assert_int_equal(n_mail(d), 1); /* without a rest */
}

static void the_dead_are_forgotten(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	mono_t start = d->now;

	subscribe(d, "h1", 0xFFFF);
	subscribe(d, "h1", 128);
	for (unsigned i = 0; i < 20; i++)
		trap_from(d, "leaf1", 128);
	for (unsigned i = 0; i < 7; i++) {
		lose(d);
		assert_int_equal(sa_stats(d->sa)->subscriptions, 2);
		d->now = sa_next(d->sa);
	}
	lose(d);
	assert_int_equal(sa_stats(d->sa)->subscriptions, 0);
	assert_true(d->now - start > 120 * MONO_S);
	desk_settle(d);
	assert_true(sa_next(d->sa) == MONO_NEVER);
}

static void an_answer_makes_the_dead_alive(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 0xFFFF);
	for (unsigned i = 0; i < 20; i++)
		trap_from(d, "leaf1", 128);
	for (unsigned i = 0; i < 7; i++) {
		lose(d);
		d->now = sa_next(d->sa);
	}
	answer_report(d, only(d));
	for (unsigned i = 0; i < 7; i++) {
		lose(d);
		d->now = sa_next(d->sa);
	}
	assert_int_equal(sa_stats(d->sa)->subscriptions, 1);
}

static void a_port_that_is_away_is_not_written_to(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", TRAP_LINK_STATE);
	desk_remove(d, "h1");
	for (unsigned i = 0; i < 20; i++)
		trap_from(d, "leaf1", 128);
	assert_int_equal(n_mail(d), 0);
	assert_int_equal(sa_stats(d->sa)->reports_lost, 0);
	assert_int_equal(sa_stats(d->sa)->subscriptions, 1);
}

static void reports_follow_a_port_to_its_new_lid(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *m;

	subscribe(d, "h1", TRAP_LINK_STATE);
	desk_end(d, "h1")->lid = 77;
	desk_publish(d);
	trap_from(d, "leaf1", 128);
	m = only(d);
	assert_int_equal(m->to.lid, 77);
	answer_report(d, m);
	subscribe(d, "h1", TRAP_LINK_STATE); /* the client asks again, from there */
	assert_int_equal(sa_stats(d->sa)->subscriptions, 1);
}

static void reports_keep_to_their_path(void **state)
{
	_desk_ d = desk_new_lmc("tree 2 2 1", 2);
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };
	lid_t base = desk_lid(d, "h1");

	ev.from = (struct transport_addr){
		.lid = base + 3, .qp = 1, .sl = 5, .path_bits = 2, .pkey_index = 4, .global = true
	};
	ev.from.grh.hop_limit = 9;
	ib_put(ev.mad, SAH_BASE_VERSION, 1);
	ib_put(ev.mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(ev.mad, SAH_CLASS_VERSION, 2);
	ib_put(ev.mad, SAH_METHOD, MAD_SET);
	ib_put(ev.mad, SAH_ATTR_ID, SA_INFORM_INFO);
	info_any(ev.mad + SA_DATA);
	ib_put(ev.mad + SA_DATA, INF_TRAP, 128);
	sa_receive(d->sa, &ev, d->now);
	drop_mail(d);
	desk_end(d, "h1")->lid = 80;
	desk_publish(d);
	trap_from(d, "leaf1", 128);
	assert_int_equal(d->mail[0].to.lid, 83);
	assert_int_equal(d->mail[0].to.sl, 5);
	assert_int_equal(d->mail[0].to.path_bits, 2);
	assert_int_equal(d->mail[0].to.pkey_index, 4);
	assert_true(d->mail[0].to.global);
	assert_int_equal(d->mail[0].to.grh.hop_limit, 9);
}

static void a_standby_says_nothing(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *m;

	subscribe(d, "h1", 0xFFFF);
	trap_from(d, "leaf1", 128);
	trap_from(d, "leaf1", 128);
	m = only(d);
	sa_publish(d->sa, NULL, d->now);
	return_report(d, m);
	trap_from(d, "leaf1", 128);
	assert_int_equal(n_mail(d), 0);
	desk_wait(d, 60 * MONO_S);
	assert_int_equal(n_mail(d), 0);
	assert_true(sa_next(d->sa) == MONO_NEVER);
}

/* `n` queue pairs, spread over h0 to h19. */
static void subscribe_from_all(struct desk *d, unsigned n)
{
	char name[8];

	for (unsigned qp = 1; qp <= n; qp++) {
		snprintf(name, sizeof(name), "h%u", qp % 20);
		d->from = name;
		info_any(d->record);
		inform_by(d, qp);
	}
	d->from = "h0";
}

static void at_most_64_are_on_their_way(void **state)
{
	_desk_ d = desk_new("tree 2 10 1");

	subscribe_from_all(d, 100);
	trap_from(d, "leaf1", 128);
	assert_int_equal(d->n_mail, 64);
	answer_report(d, &d->mail[10]);
	desk_settle(d);
	assert_int_equal(d->n_mail, 65);
}

static void the_silent_have_a_small_part_of_the_window(void **state)
{
	_desk_ d = desk_new("tree 2 10 1");
	unsigned seen = 0;

	subscribe_from_all(d, 60);
	trap_from(d, "leaf1", 128);
	trap_from(d, "leaf1", 128);
	for (unsigned i = 0; i < TRIES * 60; i++, seen++)
		return_report(d, &d->mail[i]);
	d->n_mail = d->next_mail = 0;
	d->now = sa_next(d->sa);
	desk_settle(d);
	assert_int_equal(d->n_mail, 8);
	for (unsigned i = 0; i < 60; i++) {
		assert_true(i < d->n_mail);
		answer_report(d, &d->mail[i]);
		desk_settle(d);
	}
	assert_int_equal(d->n_mail, 60);
}

static void what_falls_off_the_log_is_counted(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct transport_addr from = { .lid = desk_lid(d, "leaf1") };
	uint8_t notice[SMP_DATA_SIZE] = { 0 };

	subscribe(d, "h1", 0xFFFF);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TRAP, 128);
	for (unsigned i = 0; i < 65536 + 100; i++)
		sa_forward_trap(d->sa, &from, notice, d->now);
	assert_int_equal(n_mail(d), 1);
	assert_int_equal(sa_stats(d->sa)->reports_lost, 100);
}

static void old_news_are_no_news(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *m;

	subscribe(d, "h1", 0xFFFF);
	for (unsigned i = 0; i < 5; i++)
		trap_from(d, "leaf1", 128);
	m = only(d);
	d->now += 301 * MONO_S;
	answer_report(d, m); /* before the watchdog had its turn */
	desk_settle(d);
	desk_settle(d);
	assert_int_equal(n_mail(d), 0);
}

/* ---- partitions ---- */

static void notices_keep_to_partitions(void **state)
{
	static const uint16_t blue[] = { 0x8001 };
	_desk_ d = desk_new("tree 2 2 1");

	subscribe(d, "h1", 128);
	subscribe(d, "h2", 128);
	desk_keys(d, "h2", 1, blue);
	trap_from(d, "h3", 128);
	assert_int_equal(only(d)->to.lid, desk_lid(d, "h1"));
	assert_int_equal(sa_stats(d->sa)->subscriptions, 2);
}

static void a_named_source_out_of_reach_ends_the_subscription(void **state)
{
	static const uint16_t blue[] = { 0x8001 };
	_desk_ d = desk_new("tree 2 2 1");

	d->from = "h1";
	info_any(d->record);
	ib_put(d->record, INF_LID_BEGIN, desk_lid(d, "h3"));
	inform_by(d, 1);
	subscribe(d, "h2", 0xFFFF);
	desk_keys(d, "h3", 1, blue);
	trap_from(d, "h3", 128);
	assert_int_equal(n_mail(d), 0);
	assert_int_equal(sa_stats(d->sa)->subscriptions, 1);
}

static void a_group_is_heard_of_by_holders_of_its_key(void **state)
{
	static const uint16_t both[] = { 0xFFFF, 0x0001 };
	_desk_ d = desk_new("tree 2 2 1");
	uint8_t mgid[16] = { 0xFF, 0x12 };

	subscribe(d, "h1", TRAP_MGID_CREATED);
	subscribe(d, "h2", TRAP_MGID_CREATED);
	desk_keys(d, "h2", 2, both);
	sa_raise_mgid(d->sa, TRAP_MGID_CREATED, mgid, 0x8001);
	assert_int_equal(only(d)->to.lid, desk_lid(d, "h2"));
}

/* ---- traps 64 and 65 ---- */

static void our_notices_have_no_garbage(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint8_t want[NT_BYTES] = { 0x83, 0, 0, 4, 0, 65, 0, 1 };
	const struct desk_message *m;

	desk_gid(d, "h3", want + NOTICE_GID);
	desk_gid(d, "h0", ib_at(want, NT_ISSUER_GID));
	subscribe(d, "h1", 65);
	desk_remove(d, "h3");
	m = only(d);
	assert_memory_equal(m->mad + SA_DATA, want, NT_BYTES);
}

static void ports_come_and_go(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *m;
	struct port *h3 = desk_end(d, "h3");
	uint8_t gid[16];

	subscribe(d, "h1", 64);
	subscribe(d, "h2", 65);
	desk_publish(d);
	assert_int_equal(n_mail(d), 0); /* nothing is new */
	ib_put(h3->info, PI_PORT_STATE, IB_PORT_INIT);
	desk_publish(d);
	m = only(d);
	assert_int_equal(trap_of(m), 65);
	assert_int_equal(m->to.lid, desk_lid(d, "h2"));
	desk_gid(d, "h3", gid);
	assert_memory_equal(m->mad + SA_DATA + NOTICE_GID, gid, 16);
	answer_report(d, m);
	ib_put(h3->info, PI_PORT_STATE, IB_PORT_ACTIVE);
	desk_publish(d);
	m = only(d);
	assert_int_equal(trap_of(m), 64);
	assert_memory_equal(m->mad + SA_DATA + NOTICE_GID, gid, 16);
	assert_int_equal(m->to.lid, desk_lid(d, "h1"));
}

static void after_standby_every_port_is_told_of(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	unsigned n = 0;

	subscribe(d, "h1", 64);
	sa_publish(d->sa, NULL, d->now);
	sa_publish(d->sa, d->view, d->now);
	desk_settle(d);
	while (n < d->n_mail) {
		assert_int_equal(trap_of(&d->mail[n]), 64);
		answer_report(d, &d->mail[n++]);
		desk_settle(d);
	}
	assert_int_equal(n, 7); /* 4 hosts, 3 switches */
}

static void a_port_of_another_partition_goes_unheard(void **state)
{
	static const uint16_t blue[] = { 0x8001 };
	_desk_ d = desk_new("tree 2 2 1");

	desk_keys(d, "h3", 1, blue);
	desk_keys(d, "h2", 1, blue);
	subscribe(d, "h1", 65);
	subscribe(d, "h2", 65);
	desk_remove(d, "h3");
	assert_int_equal(only(d)->to.lid, desk_lid(d, "h2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_looks_like_this),
		cmocka_unit_test(link_errors_stay_here),
		cmocka_unit_test(security_traps_go_to_the_trusted_alone),
		cmocka_unit_test(traps_of_strangers_are_not_forwarded),
		cmocka_unit_test(nobody_speaks_for_another),
		cmocka_unit_test(a_port_of_dead_queue_pairs_does_not_hold_up_others),
		cmocka_unit_test(one_subscriber_hears_once),
		cmocka_unit_test(the_next_report_waits_for_the_answer),
		cmocka_unit_test(answers_of_others_do_not_count),
		cmocka_unit_test(silence_is_asked_four_times),
		cmocka_unit_test(an_answer_to_an_earlier_try_counts),
		cmocka_unit_test(a_transport_that_forgets_is_watched),
		cmocka_unit_test(a_full_transport_is_tried_again),
		cmocka_unit_test(the_silent_rest_and_hear_again),
		cmocka_unit_test(the_dead_are_forgotten),
		cmocka_unit_test(an_answer_makes_the_dead_alive),
		cmocka_unit_test(a_port_that_is_away_is_not_written_to),
		cmocka_unit_test(reports_follow_a_port_to_its_new_lid),
		cmocka_unit_test(reports_keep_to_their_path),
		cmocka_unit_test(a_standby_says_nothing),
		cmocka_unit_test(at_most_64_are_on_their_way),
		cmocka_unit_test(the_silent_have_a_small_part_of_the_window),
		cmocka_unit_test(what_falls_off_the_log_is_counted),
		cmocka_unit_test(old_news_are_no_news),
		cmocka_unit_test(notices_keep_to_partitions),
		cmocka_unit_test(a_named_source_out_of_reach_ends_the_subscription),
		cmocka_unit_test(a_group_is_heard_of_by_holders_of_its_key),
		cmocka_unit_test(our_notices_have_no_garbage),
		cmocka_unit_test(ports_come_and_go),
		cmocka_unit_test(after_standby_every_port_is_told_of),
		cmocka_unit_test(a_port_of_another_partition_goes_unheard),
	};

	return cmocka_run_group_tests_name("sa-report", tests, NULL, NULL);
}
