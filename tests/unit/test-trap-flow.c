// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whose traps are heard: repetitions, storms of one and of all, what is owed, what it costs to
 * remember.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sm/trust/trap_flow.h"
#include "util/mem.h"

struct desk {
	struct trap_flow *flow;
	mono_t now;
	unsigned storms, looks, overs; /* handed out so far */
	struct trap_due last;	       /* of each kind: the last one */
	uint32_t kinds;		       /* of all looks */
	uint32_t serial;
};

static int open_desk(void **state)
{
	struct desk *d = xcalloc(1, sizeof(*d));

	d->flow = trap_flow_new();
	d->now = 1000 * MONO_S;
	*state = d;
	return 0;
}

static int close_desk(void **state)
{
	struct desk *d = *state;

	trap_flow_free(d->flow);
	free(d);
	return 0;
}

static void collect(struct desk *d)
{
	struct trap_due due;

	while (trap_flow_due(d->flow, d->now, &due)) {
		d->storms += due.what == TRAP_DUE_STORM;
		d->looks += due.what == TRAP_DUE_LOOK;
		d->overs += due.what == TRAP_DUE_OVER;
		d->kinds |= due.kinds;
		d->last = due;
	}
}

/* Time passes, and whatever is due on the way is taken. */
static void pass(struct desk *d, mono_t t)
{
	mono_t end = d->now + t;

	while (trap_flow_next(d->flow) <= end) {
		d->now = MAX(d->now, trap_flow_next(d->flow));
		collect(d);
	}
	d->now = end;
}

static enum trap_verdict arrive(struct desk *d, enum trap_from from, lid_t lid, uint64_t tid,
				uint32_t content)
{
	uint8_t notice[SMP_DATA_SIZE] = { 0 };
	const struct trap_arrival a = {
		.from = from,
		.lid = lid,
		.guid = 0x1000u + lid,
		.kind = content & 1,
		.tid = tid,
		.notice = notice,
	};

	memcpy(notice + 8, &content, sizeof(content));
	return trap_flow_arrived(d->flow, &a, d->now);
}

static enum trap_verdict another(struct desk *d, enum trap_from from, lid_t lid)
{
	d->serial += 2;
	return arrive(d, from, lid, d->serial, d->serial);
}

/* ---- repetitions --------------------------------------------------------------------------- */

static void a_repetition_has_the_same_tid_and_content(void **state)
{
	struct desk *d = *state;

	assert_int_equal(arrive(d, TRAP_FROM_SWITCH, 5, 77, 1), TRAP_TAKE);
	pass(d, MONO_S);
	assert_int_equal(arrive(d, TRAP_FROM_SWITCH, 5, 77, 1), TRAP_REPEAT);
	assert_int_equal(arrive(d, TRAP_FROM_SWITCH, 5, 77, 2), TRAP_TAKE);
	assert_int_equal(arrive(d, TRAP_FROM_SWITCH, 5, 78, 1), TRAP_TAKE);
	assert_int_equal(arrive(d, TRAP_FROM_SWITCH, 6, 77, 1), TRAP_TAKE);
}

/* ibsim gives all its traps TID 0: the second one may be another event. */
static void without_a_tid_every_notice_is_new(void **state)
{
	struct desk *d = *state;

	assert_int_equal(arrive(d, TRAP_FROM_SWITCH, 5, 0, 1), TRAP_TAKE);
	assert_int_equal(arrive(d, TRAP_FROM_SWITCH, 5, 0, 1), TRAP_TAKE);
}

static void a_repetition_is_one_as_long_as_it_is_repeated(void **state)
{
	struct desk *d = *state;

	assert_int_equal(arrive(d, TRAP_FROM_HOST, 5, 77, 1), TRAP_TAKE);
	for (unsigned i = 0; i < 20; i++) {
		pass(d, 50 * MONO_S);
		assert_int_equal(arrive(d, TRAP_FROM_HOST, 5, 77, 1), TRAP_REPEAT);
	}
	pass(d, 61 * MONO_S);
	assert_int_equal(arrive(d, TRAP_FROM_HOST, 5, 77, 1), TRAP_TAKE);
	assert_int_equal(d->looks, 0);
}

/* A device that cannot be repressed, once a second, for an hour. */
static void who_says_the_same_for_ever_is_looked_at_now_and_then(void **state)
{
	struct desk *d = *state;
	unsigned taken = 0;

	for (unsigned i = 0; i < 3600; i++) {
		taken += arrive(d, TRAP_FROM_SWITCH, 5, 0, 1) == TRAP_TAKE;
		pass(d, MONO_S);
	}
	assert_int_equal(taken, 10);
	assert_in_range(d->looks, 300, 360);
	assert_int_equal(d->storms, 1);
	assert_int_equal(d->overs, 0);
	pass(d, 30 * MONO_S);
	assert_int_equal(d->overs, 1);
}

/* ---- storms -------------------------------------------------------------------------------- */

static void a_burst_of_a_switch_is_heard(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(another(d, TRAP_FROM_SWITCH, 5), TRAP_TAKE);
	pass(d, 60 * MONO_S);
	assert_int_equal(d->storms + d->looks + d->overs, 0);
}

/* 10,000 different ones a second for a minute, a hundred of which were accepted or looked after. */
static void a_storm_of_one_is_a_look_now_and_then(void **state)
{
	struct desk *d = *state;
	unsigned taken = 0;

	for (unsigned i = 0; i < 600000; i++) {
		taken += another(d, TRAP_FROM_HOST, 5) == TRAP_TAKE;
		pass(d, 100 * MONO_US);
	}
	assert_in_range(taken + d->looks, 30, 40);
	assert_int_equal(d->storms, 1);
	assert_int_equal(d->overs, 0);
	pass(d, 15 * MONO_S);
	assert_int_equal(d->overs, 1);
	assert_int_equal(d->last.what, TRAP_DUE_OVER);
	assert_int_equal(d->last.lid, 5);
	assert_in_range(d->last.suppressed, 599900, 600000);
	assert_in_range(d->last.lasted, 59 * MONO_S, 60 * MONO_S);
}

static void what_was_suppressed_is_owed_with_all_its_kinds(void **state)
{
	struct desk *d = *state;
	uint32_t last = 0;

	for (unsigned i = 0; i < 64; i++)
		another(d, TRAP_FROM_SWITCH, 5);
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal(arrive(d, TRAP_FROM_SWITCH, 5, 9000 + i, 0x10000 + i),
				 TRAP_SUPPRESS);
	pass(d, MONO_S);
	assert_int_equal(d->looks, 1);
	assert_int_equal(d->kinds, 3);
	memcpy(&last, d->last.notice + 8, sizeof(last));
	assert_int_equal(last, 0x10004);
	assert_int_equal(d->storms, 0); /* too few to be called one */
	pass(d, 30 * MONO_S);
	assert_int_equal(d->overs, 0);
}

static void the_storm_of_one_costs_another_nothing(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 0; i < 50000; i++) {
		another(d, TRAP_FROM_HOST, 5);
		another(d, TRAP_FROM_STRANGER, (lid_t)(1 + d->serial % 40000));
		pass(d, 100 * MONO_US);
		if (i % 10000 == 0) {
			assert_int_equal(another(d, TRAP_FROM_SWITCH, 7), TRAP_TAKE);
			assert_int_equal(another(d, TRAP_FROM_HOST, 6), TRAP_TAKE);
		}
	}
}

/*
 * Every host at once: each is looked at in its turn, at a pace that does not depend on their
 * number.
 */
static void a_storm_of_all_hosts_is_served_in_turn(void **state)
{
	struct desk *d = *state;
	unsigned taken = 0;

	for (unsigned i = 0; i < 1000000; i++) {
		taken += another(d, TRAP_FROM_HOST, (lid_t)(1 + i % 10000)) == TRAP_TAKE;
		if (i % 10 == 0)
			pass(d, MONO_MS);
	}
	assert_in_range(taken, 256, 256 + 4 * 101);
	assert_in_range(d->looks, 64 * 4 * 90, 64 * 4 * 101);
	assert_int_equal(another(d, TRAP_FROM_SWITCH, 20000), TRAP_TAKE);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void there_is_one_entry_per_lid_and_none_after_a_while(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 0; i < 200000; i++)
		another(d, i % 2 ? TRAP_FROM_HOST : TRAP_FROM_STRANGER, (lid_t)(i % 0x10000));
	assert_in_range(trap_flow_sources(d->flow), 1, LID_MAX_UCAST + 1);
	pass(d, 600 * MONO_S);
	assert_int_equal(trap_flow_sources(d->flow), 0);
	assert_int_equal(trap_flow_storms(d->flow), 0);
	assert_true(trap_flow_next(d->flow) == MONO_NEVER);
}

static void who_gets_the_lid_later_begins_anew(void **state)
{
	struct desk *d = *state;
	const uint8_t notice[SMP_DATA_SIZE] = { 0 };
	const struct trap_arrival newcomer = {
		.from = TRAP_FROM_HOST, .lid = 5, .guid = 99, .tid = 1, .notice = notice
	};

	for (unsigned i = 0; i < 100; i++)
		another(d, TRAP_FROM_HOST, 5);
	collect(d);
	assert_int_equal(trap_flow_storms(d->flow), 1);
	assert_int_equal(trap_flow_arrived(d->flow, &newcomer, d->now), TRAP_TAKE);
	assert_int_equal(trap_flow_storms(d->flow), 0);
	assert_int_equal(trap_flow_sources(d->flow), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_desk, close_desk)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_repetition_has_the_same_tid_and_content),
		TEST(without_a_tid_every_notice_is_new),
		TEST(a_repetition_is_one_as_long_as_it_is_repeated),
		TEST(who_says_the_same_for_ever_is_looked_at_now_and_then),
		TEST(a_burst_of_a_switch_is_heard),
		TEST(a_storm_of_one_is_a_look_now_and_then),
		TEST(what_was_suppressed_is_owed_with_all_its_kinds),
		TEST(the_storm_of_one_costs_another_nothing),
		TEST(a_storm_of_all_hosts_is_served_in_turn),
		TEST(there_is_one_entry_per_lid_and_none_after_a_while),
		TEST(who_gets_the_lid_later_begins_anew),
	};

	return cmocka_run_group_tests_name("trap-flow", tests, NULL, NULL);
}
