// SPDX-License-Identifier: BSD-2-Clause
/* The transaction engine: what goes out, what counts as its answer, and how a request ends. */
#include "tests/unit/mad-desk.h"

/* What goes out, and what an answer becomes */

static void answer_ends_the_request_with_its_payload(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 5);

	assert_int_equal(d->paper.n_sent, 0); /* never from submit */
	assert_int_equal(run(d, 0), 0);
	assert_int_equal(d->paper.n_sent, 1);
	answer(d, 0, 0);
	assert_int_equal(run(d, MONO_MS), 1);
	assert_end(a, MAD_END_ANSWERED);
	assert_int_equal(a->first_byte, 0x5A);
	assert_int_equal(a->result.attr, IB_ATTR_PORT_INFO);
	assert_int_equal(a->result.mod, 5);
	assert_int_equal(a->result.method, MAD_GET);
	assert_int_equal(mad_pending(d->engine), 0);
	assert_int_equal(mad_next(d->engine), MONO_NEVER);
}

static void request_is_a_directed_route_smp_to_the_permissive_lid(void **state)
{
	_desk_ d = desk_new(&plain);
	const struct sent *s = &d->paper.sent[0];

	ask(d, 5);
	run(d, 0);
	assert_int_equal(s->to.lid, LID_PERMISSIVE);
	assert_int_equal(s->timeout_ms, 200);
	assert_int_equal(ib_get(s->mad, SMP_CLASS), MAD_CLASS_SMI_DR);
	assert_int_equal(ib_get(s->mad, SMP_HOP_COUNT), 2);
	assert_int_equal(s->mad[SMP_INITIAL_PATH + 2], 7);
	assert_int_equal(ib_get(s->mad, SMP_M_KEY), 0x1122334455667788);
	assert_int_not_equal(ib_get(s->mad, SMP_TID), 0);
}

static void lid_routed_request_goes_to_its_lid(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask a = { .desk = d };
	uint8_t payload[SMP_DATA_SIZE] = { 9 };
	struct mad_request rq = { .method = MAD_SET, .attr = IB_ATTR_SM_INFO, .lid = 77,
				  .payload = payload, .long_timeout = true };

	mad_submit(d->engine, &rq, on_done, d, &a);
	payload[0] = 0; /* it was copied */
	run(d, 0);
	assert_int_equal(d->paper.sent[0].to.lid, 77);
	assert_int_equal(d->paper.sent[0].timeout_ms, 500);
	assert_int_equal(ib_get(d->paper.sent[0].mad, SMP_CLASS), MAD_CLASS_SMI_LID);
	assert_int_equal(smp_data(d->paper.sent[0].mad)[0], 9);
	answer(d, 0, 0);
	run(d, 0);
	assert_end(&a, MAD_END_ANSWERED);
}

static void bad_status_is_an_end_and_its_status_is_told(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	answer(d, 0, MAD_STATUS_BAD_VALUE);
	run(d, 0);
	assert_end(a, MAD_END_BAD_STATUS);
	assert_int_equal(a->result.status, MAD_STATUS_BAD_VALUE);
}

static void requests_go_out_in_order_of_submission(void **state)
{
	_desk_ d = desk_new(&plain);

	for (unsigned i = 0; i < 10; i++)
		ask(d, i);
	run(d, 0);
	for (unsigned done = 0; done < 10; done++) {
		answer(d, done, 0);
		run(d, 0);
	}
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(ib_get(d->paper.sent[i].mad, SMP_ATTR_MOD), i);
	assert_int_equal(d->ended, 10);
}

/* Tries */

static void each_try_has_a_fresh_tid_and_the_last_one_ends_it(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	for (unsigned try = 0; try < 4; try++) {
		assert_int_equal(d->paper.n_sent, try + 1);
		for (unsigned before = 0; before < try; before++)
			assert_int_not_equal(tid_of(d, try), tid_of(d, before));
		assert_int_equal(a->ends, 0);
		give_back(d, try);
		run(d, 200 * MONO_MS);
	}
	assert_int_equal(d->paper.n_sent, 4);
	assert_end(a, MAD_END_TIMEOUT);
	assert_null(a->result.payload);
}

static void retry_goes_before_what_was_queued(void **state)
{
	struct mad_params one = plain;
	_desk_ d = NULL;

	one.max_wire = 1;
	d = desk_new(&one);
	for (unsigned i = 0; i < 3; i++)
		ask(d, i);
	run(d, 0);
	give_back(d, 0);
	run(d, 200 * MONO_MS);
	assert_int_equal(d->paper.n_sent, 2);
	assert_int_equal(ib_get(d->paper.sent[1].mad, SMP_ATTR_MOD), 0);
}

static void transport_that_forgets_is_overtaken_by_the_watchdog(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	for (unsigned try = 1; try <= 4; try++) {
		assert_int_equal(mad_next(d->engine), d->now + 290 * MONO_MS);
		run(d, 290 * MONO_MS - 1);
		assert_int_equal(d->paper.n_sent, try);
		run(d, 1);
	}
	assert_end(a, MAD_END_TIMEOUT);
	assert_int_equal(d->paper.n_sent, 4);
}

static void long_and_short_timeouts_each_fire_in_their_time(void **state)
{
	struct mad_params one = plain;
	_desk_ d = NULL;
	struct ask slow = { 0 };
	struct mad_request rq = { .method = MAD_SET, .attr = IB_ATTR_SL2VL, .path = &two_hops,
				  .long_timeout = true };

	one.retries = 0;
	d = desk_new(&one);
	slow.desk = d;
	mad_submit(d->engine, &rq, on_done, d, &slow);
	ask(d, 1);
	run(d, 0);
	run(d, 290 * MONO_MS);
	assert_end(&d->ask[0], MAD_END_TIMEOUT);
	assert_int_equal(slow.ends, 0);
	assert_int_equal(mad_next(d->engine), d->now + 360 * MONO_MS); /* 500 * 1.2 + 50 in all */
	run(d, 360 * MONO_MS);
	assert_end(&slow, MAD_END_TIMEOUT);
}

static void shorter_timeout_takes_effect_before_older_longer_ones(void **state)
{
	struct mad_params params = plain;
	_desk_ d = NULL;

	params.retries = 0;
	d = desk_new(&params);
	ask(d, 1);
	run(d, 0);
	params.timeout_ms = 10;
	mad_set_params(d->engine, &params);
	ask(d, 2);
	run(d, 0);
	run(d, 62 * MONO_MS);
	assert_int_equal(d->ask[0].ends, 0);
	assert_end(&d->ask[1], MAD_END_TIMEOUT);
}

static void refused_send_is_a_try(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	d->paper.refuse = -EINVAL;
	run(d, 0);
	assert_end(a, MAD_END_TIMEOUT);
	assert_int_equal(mad_sent(d->engine, 0), 0);
}

/* What is no answer */

static void duplicate_response_is_counted_and_ignored(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	answer(d, 0, 0);
	answer(d, 0, 0);
	give_back(d, 0);
	assert_int_equal(run(d, 0), 3);
	assert_end(a, MAD_END_ANSWERED);
	/* what comes back is no response */
	assert_int_equal(mad_strays(d->engine)[MAD_STRAY_LATE], 1);
}

static void late_response_to_an_earlier_try_is_ignored(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	give_back(d, 0);
	run(d, 200 * MONO_MS);
	answer(d, 0, MAD_STATUS_BAD_VALUE);
	run(d, MONO_MS);
	assert_int_equal(a->ends, 0);
	assert_int_equal(mad_strays(d->engine)[MAD_STRAY_LATE], 1);
	answer(d, 1, 0);
	run(d, MONO_MS);
	assert_end(a, MAD_END_ANSWERED);
}

struct forgery {
	const char *what;
	unsigned offset, width;
	uint64_t value;
};

static void response_to_another_question_is_ignored(void **state)
{
	static const struct forgery forgeries[] = {
		{ "attribute", SMP_ATTR_ID, SMP_ATTR_ID_W, IB_ATTR_NODE_INFO },
		{ "modifier", SMP_ATTR_MOD, SMP_ATTR_MOD_W, 2 },
		{ "method", SMP_METHOD, SMP_METHOD_W, MAD_REPORT_RESP },
		{ "class", SMP_CLASS, SMP_CLASS_W, MAD_CLASS_SMI_LID },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forgeries); i++) {
		const struct forgery *f = &forgeries[i];
		_desk_ d = desk_new(&plain);
		struct ask *a = ask(d, 1);

		run(d, 0);
		ib_bits_put(answer(d, 0, 0), f->offset, f->width, f->value);
		run(d, MONO_MS);
		if (a->ends || mad_strays(d->engine)[MAD_STRAY_MISMATCHED] != 1)
			fail_msg("wrong %s accepted", f->what);
		answer(d, 0, 0);
		run(d, MONO_MS);
		assert_end(a, MAD_END_ANSWERED);
	}
}

static void short_mad_is_ignored(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	answer(d, 0, 0);
	d->paper.in[0].length = 127;
	answer(d, 0, 0);
	d->paper.in[1].length = 0;
	run(d, MONO_MS);
	assert_int_equal(a->ends, 0);
	assert_int_equal(mad_strays(d->engine)[MAD_STRAY_MISMATCHED], 2);
}

static void on_inbox(void *owner, const struct transport_addr *from, const uint8_t *mad, mono_t now)
{
	struct desk *d = owner;

	d->inbox++;
	d->inbox_attr = ib_get(mad, SMP_ATTR_ID);
}

static void request_of_another_goes_to_the_inbox_whatever_its_tid(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	mad_set_inbox(d->engine, on_inbox, d);
	run(d, 0);
	paper_push(d, 0, TRANSPORT_MAD); /* our own request, looped back */
	run(d, 0);
	assert_int_equal(d->inbox, 1);
	assert_int_equal(d->inbox_attr, IB_ATTR_PORT_INFO);
	assert_int_equal(a->ends, 0);
}

/* Every combination */

enum fate {
	RETURNED,
	FORGOTTEN,
	RETURNED_THEN_ANSWERED,
	FORGED,
	ANSWERED,
	ANSWERED_TWICE,
	FORGED_THEN_ANSWERED,
	REFUSED,
	N_FATES,
};

/* Lets a fate befall the last MAD sent. */
static void befall(struct desk *d, enum fate fate)
{
	unsigned i = d->paper.n_sent - 1;

	switch (fate) {
	case RETURNED:
		give_back(d, i);
		break;
	case FORGOTTEN:
		break;
	case RETURNED_THEN_ANSWERED:
		give_back(d, i);
		answer(d, i, 0);
		break;
	case FORGED:
		ib_put(answer(d, i, 0), SMP_ATTR_MOD, 99);
		break;
	case ANSWERED_TWICE:
		answer(d, i, 0);
		answer(d, i, 0);
		break;
	case FORGED_THEN_ANSWERED:
		ib_put(answer(d, i, 0), SMP_ATTR_ID, IB_ATTR_NODE_DESC);
		answer(d, i, 0);
		break;
	case ANSWERED:
		answer(d, i, 0);
		break;
	case REFUSED:
		answer(d, i, MAD_STATUS_BUSY);
		break;
	case N_FATES:
		break;
	}
	run(d, 0);
	if (d->paper.n_sent == i + 1)
		run(d, 290 * MONO_MS); /* nothing came of it: the watchdog's time */
}

static void every_combination_of_fates_has_one_end(void **state)
{
	for (unsigned code = 0; code < N_FATES * N_FATES * N_FATES; code++) {
		const enum fate fates[] = { code % N_FATES, code / N_FATES % N_FATES,
					    code / N_FATES / N_FATES };
		struct mad_params params = plain;
		enum mad_end want = MAD_END_TIMEOUT;
		unsigned tries = 0;
		struct ask *a;
		_desk_ d = NULL;

		params.retries = ARRAY_SIZE(fates) - 1;
		d = desk_new(&params);
		a = ask(d, 1);
		run(d, 0);
		while (want == MAD_END_TIMEOUT && tries < ARRAY_SIZE(fates)) {
			enum fate fate = fates[tries++];

			assert_int_equal(a->ends, 0);
			assert_int_equal(d->paper.n_sent, tries);
			befall(d, fate);
			if (fate >= ANSWERED)
				want = fate == REFUSED ? MAD_END_BAD_STATUS : MAD_END_ANSWERED;
		}
		assert_end(a, want);
		assert_int_equal(d->paper.n_sent, tries);
		assert_int_equal(mad_pending(d->engine), 0);
		assert_int_equal(mad_next(d->engine), MONO_NEVER);
	}
}

/* The port goes away */

static void lost_port_ends_everything(void **state)
{
	struct mad_target target = { 0 };
	_desk_ d = desk_new(&plain);

	d->target = &target;
	for (unsigned i = 0; i < 10; i++)
		ask(d, i);
	run(d, 0);
	paper_push(d, 0, TRANSPORT_GONE)->error = -ENODEV;
	assert_int_equal(run(d, 0), -ENODEV);
	for (unsigned i = 0; i < 10; i++)
		assert_end(&d->ask[i], MAD_END_TIMEOUT);
	assert_int_equal(target.failures, 0);
	ask(d, 11);
	assert_true(mad_next(d->engine) <= d->now);
	assert_int_equal(run(d, 0), -ENODEV);
	assert_end(&d->ask[10], MAD_END_TIMEOUT);
	assert_int_equal(d->paper.n_sent, 4);
}

static void port_lost_at_send_ends_everything(void **state)
{
	_desk_ d = desk_new(&plain);

	for (unsigned i = 0; i < 10; i++)
		ask(d, i);
	d->paper.refuse = -ENODEV;
	d->paper.accept = 2;
	assert_int_equal(run(d, 0), -ENODEV);
	assert_int_equal(d->ended, 10);
	assert_int_equal(mad_pending(d->engine), 0);
}

static void freed_engine_calls_nobody_and_releases_targets(void **state)
{
	struct mad_target target = { 0 };
	_desk_ d = desk_new(&plain);

	d->target = &target;
	ask(d, 1);
	run(d, 0);
	ask(d, 2);
	d->engine = mad_free(d->engine);
	assert_int_equal(d->ended, 0);
	assert_int_equal(target.on_wire, 0);
	assert_null(target.members.first);
}

/* TIDs */

static void slot_of_a_new_request_is_not_reached_by_an_old_answer(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *b;

	ask(d, 1);
	run(d, 0);
	mad_cancel(d->engine, d, NULL);
	b = ask(d, 1); /* takes the same slot */
	run(d, 0);
	answer(d, 0, 0);
	run(d, 0);
	assert_int_equal(b->ends, 0);
	answer(d, 1, 0);
	run(d, 0);
	assert_end(b, MAD_END_ANSWERED);
}

/* Counters */

static const struct mad_count *count_of(struct desk *d, uint16_t attr, uint8_t method)
{
	unsigned n;
	const struct mad_count *row = mad_counts(d->engine, &n);

	for (unsigned i = 0; i < n; i++)
		if (row[i].attr == attr && row[i].method == method)
			return &row[i];
	fail_msg("no row for attribute 0x%x", attr);
	return NULL;
}

static void counters_tell_sends_retries_and_ends(void **state)
{
	_desk_ d = desk_new(&plain);
	const struct mad_count *c;

	for (unsigned i = 0; i < 3; i++)
		ask(d, i);
	run(d, 0);
	answer(d, 0, 0);
	answer(d, 1, MAD_STATUS_BAD_VALUE);
	for (unsigned try = 2; try < 6; try++) {
		give_back(d, try);
		run(d, 200 * MONO_MS);
	}
	c = count_of(d, IB_ATTR_PORT_INFO, MAD_GET);
	assert_int_equal(c->sent, 6);
	assert_int_equal(c->retries, 3);
	assert_int_equal(c->answered, 1);
	assert_int_equal(c->bad_status, 1);
	assert_int_equal(c->timeouts, 1);
	assert_int_equal(mad_sent(d->engine, MAD_GET), 6);
	assert_int_equal(mad_sent(d->engine, MAD_SET), 0);
	assert_int_equal(mad_sent(d->engine, 0), 6);
}

static void send_once_needs_no_room_and_never_comes_back(void **state)
{
	_desk_ d = desk_new(&plain);
	struct transport_addr to = { .lid = 9 };
	uint8_t mad[MAD_SIZE];

	for (unsigned i = 0; i < 4; i++)
		ask(d, i);
	run(d, 0);
	smp_build_lid(mad,
		      &(struct smp_head){ .method = MAD_TRAP_REPRESS, .attr = IB_ATTR_NOTICE },
		      NULL);
	assert_int_equal(mad_send_once(d->engine, &to, mad), 0);
	assert_int_equal(d->paper.sent[4].timeout_ms, 0);
	assert_int_equal(d->paper.sent[4].to.lid, 9);
	assert_int_equal(count_of(d, IB_ATTR_NOTICE, MAD_TRAP_REPRESS)->sent, 1);
	assert_int_equal(mad_pending(d->engine), 4);
}

static void counter_rows_are_limited(void **state)
{
	_desk_ d = desk_new(&plain);
	uint64_t sum = 0;
	const struct mad_count *row;
	unsigned n;

	for (unsigned attr = 0; attr < 200; attr++) {
		uint8_t mad[MAD_SIZE];

		smp_build_lid(mad, &(struct smp_head){ .method = MAD_GET_RESP, .attr = attr },
			      NULL);
		mad_send_once(d->engine, &(struct transport_addr){ .lid = 1 }, mad);
	}
	row = mad_counts(d->engine, &n);
	assert_true(n <= 64);
	for (unsigned i = 0; i < n; i++)
		sum += row[i].sent;
	assert_int_equal(sum, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answer_ends_the_request_with_its_payload),
		cmocka_unit_test(request_is_a_directed_route_smp_to_the_permissive_lid),
		cmocka_unit_test(lid_routed_request_goes_to_its_lid),
		cmocka_unit_test(bad_status_is_an_end_and_its_status_is_told),
		cmocka_unit_test(requests_go_out_in_order_of_submission),
		cmocka_unit_test(each_try_has_a_fresh_tid_and_the_last_one_ends_it),
		cmocka_unit_test(retry_goes_before_what_was_queued),
		cmocka_unit_test(transport_that_forgets_is_overtaken_by_the_watchdog),
		cmocka_unit_test(long_and_short_timeouts_each_fire_in_their_time),
		cmocka_unit_test(shorter_timeout_takes_effect_before_older_longer_ones),
		cmocka_unit_test(refused_send_is_a_try),
		cmocka_unit_test(duplicate_response_is_counted_and_ignored),
		cmocka_unit_test(late_response_to_an_earlier_try_is_ignored),
		cmocka_unit_test(response_to_another_question_is_ignored),
		cmocka_unit_test(short_mad_is_ignored),
		cmocka_unit_test(request_of_another_goes_to_the_inbox_whatever_its_tid),
		cmocka_unit_test(every_combination_of_fates_has_one_end),
		cmocka_unit_test(lost_port_ends_everything),
		cmocka_unit_test(port_lost_at_send_ends_everything),
		cmocka_unit_test(freed_engine_calls_nobody_and_releases_targets),
		cmocka_unit_test(slot_of_a_new_request_is_not_reached_by_an_old_answer),
		cmocka_unit_test(counters_tell_sends_retries_and_ends),
		cmocka_unit_test(send_once_needs_no_room_and_never_comes_back),
		cmocka_unit_test(counter_rows_are_limited),
	};

	return cmocka_run_group_tests_name("mad-engine", tests, NULL, NULL);
}
