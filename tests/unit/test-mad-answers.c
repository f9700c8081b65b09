// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whose answers count: ids that cannot be guessed, and answers that come from elsewhere, are to
 * another question, or to none.
 */
#include "tests/unit/mad-desk.h"

#include <malloc.h>
#include <stdlib.h>

#include "util/random.h"

#define FLOOD 100000u

static uint64_t strays(const struct desk *d, enum mad_stray why)
{
	return mad_strays(d->engine)[why];
}

static uint64_t all_strays(const struct desk *d)
{
	uint64_t sum = 0;

	for (enum mad_stray why = 0; why < MAD_STRAYS; why++)
		sum += strays(d, why);
	return sum;
}

/* ---- one field is wrong ---------------------------------------------------------------------- */

struct forgery {
	const char *what;
	unsigned offset, width;
	uint64_t value;
	enum mad_stray why;
};

/* The request's path is 0,3,7. */
static const struct forgery directed[] = {
	{ "method", SMP_METHOD, SMP_METHOD_W, MAD_REPORT_RESP, MAD_STRAY_MISMATCHED },
	{ "class", SMP_CLASS, SMP_CLASS_W, MAD_CLASS_SMI_LID, MAD_STRAY_MISMATCHED },
	{ "attribute", SMP_ATTR_ID, SMP_ATTR_ID_W, IB_ATTR_NODE_INFO, MAD_STRAY_MISMATCHED },
	{ "modifier", SMP_ATTR_MOD, SMP_ATTR_MOD_W, 2, MAD_STRAY_MISMATCHED },
	{ "fewer hops", SMP_HOP_COUNT, SMP_HOP_COUNT_W, 1, MAD_STRAY_ELSEWHERE },
	{ "more hops", SMP_HOP_COUNT, SMP_HOP_COUNT_W, 3, MAD_STRAY_ELSEWHERE },
	{ "no hop", SMP_HOP_COUNT, SMP_HOP_COUNT_W, 0, MAD_STRAY_ELSEWHERE },
	{ "first hop", (SMP_INITIAL_PATH + 1) * 8, 8, 4, MAD_STRAY_ELSEWHERE },
	{ "last hop", (SMP_INITIAL_PATH + 2) * 8, 8, 6, MAD_STRAY_ELSEWHERE },
	{ "id", SMP_TID, SMP_TID_W, 0, MAD_STRAY_UNASKED },
};

static void an_answer_with_one_wrong_field_is_none(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(directed); i++) {
		const struct forgery *f = &directed[i];
		_desk_ d = desk_new(&plain);
		struct ask *a = ask(d, 1);

		run(d, 0);
		ib_bits_put(answer(d, 0, 0), f->offset, f->width, f->value);
		run(d, MONO_MS);
		if (a->ends || strays(d, f->why) != 1 || all_strays(d) != 1)
			fail_msg("wrong %s: believed, or counted as something else", f->what);
		answer(d, 0, 0);
		run(d, MONO_MS);
		assert_end(a, MAD_END_ANSWERED);
	}
}

/* Not compared: reserved bytes, what lies behind the path, the upper half of the id. */
static void what_others_may_write_does_not_matter(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);
	uint8_t *mad;

	run(d, 0);
	mad = answer(d, 0, 0);
	mad[SMP_INITIAL_PATH] = 9;
	memset(mad + SMP_INITIAL_PATH + 3, 0xEE, 61);
	memset(mad + SMP_RETURN_PATH, 0xDD, 64);
	ib_put(mad, SMP_HOP_POINTER, 77);
	run(d, 0);
	assert_end(a, MAD_END_ANSWERED);
	assert_int_equal(all_strays(d), 0);
}

static void ask_lid(struct desk *d, struct ask *a, lid_t lid, uint8_t lmc)
{
	struct mad_request rq = {
		.method = MAD_GET, .attr = IB_ATTR_SM_INFO, .lid = lid, .lmc = lmc
	};

	*a = (struct ask){ .desk = d };
	mad_submit(d->engine, &rq, on_done, d, a);
	run(d, 0);
}

static void answer_from(struct desk *d, lid_t lid)
{
	answer(d, 0, 0);
	d->paper.in[d->paper.in_tail - 1].from.lid = lid;
	run(d, 0);
}

static void only_the_lid_that_was_asked_answers(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask a;

	ask_lid(d, &a, 72, 0);
	answer_from(d, 73);
	answer_from(d, 0);
	answer_from(d, LID_PERMISSIVE);
	assert_int_equal(a.ends, 0);
	assert_int_equal(strays(d, MAD_STRAY_ELSEWHERE), 3);
	answer_from(d, 72);
	assert_end(&a, MAD_END_ANSWERED);
}

static void any_lid_of_the_port_answers(void **state)
{
	for (lid_t lid = 72; lid < 76; lid++) {
		_desk_ d = desk_new(&plain);
		struct ask a;

		ask_lid(d, &a, 73, 2);
		answer_from(d, 71);
		answer_from(d, 76);
		assert_int_equal(a.ends, 0);
		answer_from(d, lid);
		assert_end(&a, MAD_END_ANSWERED);
	}
}

/* ---- late, or forged ------------------------------------------------------------------------- */

static void the_answer_to_a_try_that_ended_is_late(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	give_back(d, 0);
	run(d, 200 * MONO_MS);
	answer(d, 1, 0);
	run(d, 0);
	assert_end(a, MAD_END_ANSWERED);
	answer(d, 0, 0);
	answer(d, 1, 0);
	run(d, 0);
	assert_int_equal(strays(d, MAD_STRAY_LATE), 2);
	assert_int_equal(all_strays(d), 2);
}

static void a_late_answer_over_another_path_is_forged(void **state)
{
	_desk_ d = desk_new(&plain);

	ask(d, 1);
	run(d, 0);
	answer(d, 0, 0);
	run(d, 0);
	answer(d, 0, 0)[SMP_INITIAL_PATH + 1]++;
	run(d, 0);
	assert_int_equal(strays(d, MAD_STRAY_UNASKED), 1);
	assert_int_equal(all_strays(d), 1);
}

/* An answer that counted does not push out the id of one that may still come. */
static void unanswered_ids_stay_longest(void **state)
{
	_desk_ d = desk_new(&plain);

	ask(d, 1);
	run(d, 0);
	mad_cancel(d->engine, d, NULL);
	for (unsigned i = 1; i < 400; i++) {
		ask(d, 1);
		run(d, 0);
		d->paper.in_head = d->paper.in_tail = 0;
		answer(d, i, 0);
		run(d, 0);
	}
	d->paper.in_head = d->paper.in_tail = 0;
	answer(d, 0, 0);
	run(d, 0);
	assert_int_equal(strays(d, MAD_STRAY_LATE), 1);
}

struct told {
	unsigned n[MAD_STRAYS];
	lid_t lid;
};

static void on_stray(void *owner, enum mad_stray why, const struct transport_addr *from,
		     const uint8_t *mad, mono_t now)
{
	struct told *t = owner;

	t->n[why]++;
	t->lid = from->lid;
	assert_true(ib_get(mad, SMP_METHOD) & MAD_RESPONSE_BIT);
}

static void the_owner_is_told_all_but_late_ones(void **state)
{
	_desk_ d = desk_new(&plain);
	struct told told = { 0 };
	struct ask a;

	mad_set_stray(d->engine, on_stray, &told);
	ask_lid(d, &a, 72, 0);
	answer_from(d, 99);
	assert_int_equal(told.n[MAD_STRAY_ELSEWHERE], 1);
	assert_int_equal(told.lid, 99);
	answer_from(d, 72);
	answer_from(d, 72);
	assert_int_equal(strays(d, MAD_STRAY_LATE), 1);
	assert_int_equal(told.n[MAD_STRAY_LATE], 0);
}

/* ---- a flood --------------------------------------------------------------------------------- */

/* As if the sender knew everything but the id. */
static void guess(struct desk *d, uint64_t *random)
{
	d->paper.in_head = d->paper.in_tail = 0;
	ib_put(answer(d, 0, 0), SMP_TID, random_next(random));
	run(d, 0);
}

static void guesses_end_nothing_and_cost_no_memory(void **state)
{
	_desk_ d = desk_new(&plain);
	uint64_t random = 7;
	struct ask *a = ask(d, 1);
	size_t before;

	run(d, 0);
	guess(d, &random);
	before = mallinfo2().uordblks;
	for (unsigned i = 1; i < FLOOD; i++)
		guess(d, &random);
	assert_int_equal(mallinfo2().uordblks, before);
	assert_int_equal(a->ends, 0);
	assert_int_equal(mad_on_wire(d->engine), 1);
	assert_int_equal(strays(d, MAD_STRAY_UNASKED), FLOOD);
	d->paper.in_head = d->paper.in_tail = 0;
	answer(d, 0, 0);
	run(d, 0);
	assert_end(a, MAD_END_ANSWERED);
}

/* ---- ids ------------------------------------------------------------------------------------- */

/* By default: of two engines, and of one, no two ids are near each other but by chance. */
static void ids_are_no_sequence(void **state)
{
	_desk_ d = desk_new(&plain);
	_desk_ other = desk_new(&plain);
	unsigned near = 0, upper = 0;
	uint32_t last = 0;

	for (unsigned i = 0; i < 1000; i++) {
		uint32_t id = mad_gmp_tid(d->engine, 1), theirs = mad_gmp_tid(other->engine, 1);

		near += id - last + 0x10000 < 0x20000;
		near += id - theirs + 0x10000 < 0x20000;
		upper += id >> 31;
		last = id;
	}
	assert_true(near < 5);
	assert_in_range(upper, 300, 700);
}

struct deck {
	const uint32_t *ids;
	unsigned n, at;
};

static void draw_deck(void *arg, void *ret, size_t len)
{
	struct deck *deck = arg;

	/* The last of a block is taken first. */
	for (size_t at = len; at >= sizeof(*deck->ids); at -= sizeof(*deck->ids))
		memcpy((uint8_t *)ret + at - sizeof(*deck->ids), &deck->ids[deck->at++ % deck->n],
		       sizeof(*deck->ids));
}

static void no_id_is_zero_on_the_wire_or_used_lately(void **state)
{
	static const uint32_t ids[] = { 0, 5, 5, 6, 5, 6, 7, 8 };
	struct deck deck = { ids, ARRAY_SIZE(ids), 0 };
	struct mad_params params = plain;
	_desk_ d = NULL;

	params.draw = (struct mad_draw){ draw_deck, &deck };
	d = desk_new(&params);
	ask(d, 1);
	ask(d, 2);
	run(d, 0);
	assert_int_equal(tid_of(d, 0), 5);
	assert_int_equal(tid_of(d, 1), 6);
	answer(d, 0, 0);
	run(d, 0);
	ask(d, 3);
	run(d, 0);
	assert_int_equal(tid_of(d, 2), 7);
	assert_int_equal(mad_gmp_tid(d->engine, 9), 8);
}

/* ---- GMPs ------------------------------------------------------------------------------------ */

static void the_late_answer_of_a_gmp_is_told_by_its_lid(void **state)
{
	_desk_ d = desk_new(&plain);
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };
	uint32_t id = mad_gmp_tid(d->engine, 40);

	ib_put(ev.mad, SMP_CLASS, MAD_CLASS_PERF);
	ib_put(ev.mad, SMP_METHOD, MAD_GET_RESP);
	ib_put(ev.mad, SMP_TID, 0x5500000000 | id);
	ev.from.lid = 40;
	mad_refuse_gmp(d->engine, MAD_STRAY_UNASKED, &ev);
	assert_int_equal(strays(d, MAD_STRAY_LATE), 1);
	ev.from.lid = 41;
	mad_refuse_gmp(d->engine, MAD_STRAY_UNASKED, &ev);
	assert_int_equal(strays(d, MAD_STRAY_UNASKED), 1);
	ev.from.lid = 40;
	mad_refuse_gmp(d->engine, MAD_STRAY_MISMATCHED, &ev);
	assert_int_equal(strays(d, MAD_STRAY_MISMATCHED), 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_with_one_wrong_field_is_none),
		cmocka_unit_test(what_others_may_write_does_not_matter),
		cmocka_unit_test(only_the_lid_that_was_asked_answers),
		cmocka_unit_test(any_lid_of_the_port_answers),
		cmocka_unit_test(the_answer_to_a_try_that_ended_is_late),
		cmocka_unit_test(a_late_answer_over_another_path_is_forged),
		cmocka_unit_test(unanswered_ids_stay_longest),
		cmocka_unit_test(the_owner_is_told_all_but_late_ones),
		cmocka_unit_test(guesses_end_nothing_and_cost_no_memory),
		cmocka_unit_test(ids_are_no_sequence),
		cmocka_unit_test(no_id_is_zero_on_the_wire_or_used_lately),
		cmocka_unit_test(the_late_answer_of_a_gmp_is_told_by_its_lid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
