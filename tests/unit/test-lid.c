// SPDX-License-Identifier: BSD-2-Clause
/*
 * The LID planner: its rules one by one, then invariants over random fabrics. The seed is printed;
 * TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan/lid.h"
#include "util/mem.h"

#define _plan_ _cleanup_(lid_plan_freep) struct lid_plan *

/* GUIDs whose last byte differs, so that OpenSM's order is the order of that byte. */
#define G(n) (0x0002c90300000000ull + (n))

static struct lid_job job_of(const struct lid_port *ports, size_t n)
{
	return (struct lid_job){ .ports = ports, .n_ports = n, .top = LID_MAX_UCAST };
}

static void fresh_ports_get_lids_in_order_with_the_sm_first(void **state)
{
	const struct lid_port ports[] = {
		{ .guid = 0x200001 }, { .guid = 0x100000 }, { .guid = 0x100003, .is_sm = true },
		{ .guid = 0x200000, .switch0 = true }, { .guid = 0x100102 },
	};
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = lid_plan(&job);

	assert_int_equal(plan->ports[2].base, 1); /* the SM */
	assert_int_equal(plan->ports[1].base, 2); /* 0x100000: bytes 00 00 10, backwards */
	assert_int_equal(plan->ports[3].base, 3); /* 0x200000 */
	assert_int_equal(plan->ports[0].base, 4); /* 0x200001 */
	assert_int_equal(plan->ports[4].base, 5); /* 0x100102 */
	assert_int_equal(plan->ports[4].reason, LID_NEW);
	assert_int_equal(plan->top, 5);
	assert_int_equal(plan->n_changed, 5);
}

static void what_is_held_stays(void **state)
{
	const struct lid_port ports[] = {
		{ .guid = G(1), .current = 0xBFFF }, { .guid = G(2), .current = 1 },
		{ .guid = G(3), .is_sm = true },
	};
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = lid_plan(&job);

	assert_int_equal(plan->ports[0].base, 0xBFFF);
	assert_int_equal(plan->ports[1].base, 1);
	assert_int_equal(plan->ports[2].base, 2);
	assert_int_equal(plan->ports[0].reason, LID_UNCHANGED);
	assert_int_equal(plan->n_changed, 1);
}

static void of_two_holders_the_sm_then_the_first_in_order_keeps_it(void **state)
{
	struct lid_port ports[] = {
		{ .guid = G(9), .current = 7 }, { .guid = G(1), .current = 7 },
		{ .guid = G(8), .current = 8, .is_sm = true }, { .guid = G(2), .current = 8 },
	};
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = lid_plan(&job);

	assert_int_equal(plan->ports[1].base, 7);
	assert_int_equal(plan->ports[2].base, 8);
	assert_int_equal(plan->ports[0].reason, LID_MOVED_TAKEN);
	assert_int_equal(plan->ports[3].reason, LID_MOVED_TAKEN);
	assert_int_equal(plan->ports[3].base, 1);
	assert_int_equal(plan->ports[0].base, 2);
}

static void invalid_lids_are_replaced(void **state)
{
	static const lid_t invalid[] = { 0xC000, 0xFFFF, 101, 0xFFFE };

	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		const struct lid_port port = { .guid = G(1), .current = invalid[i] };
		struct lid_job job = job_of(&port, 1);
		_plan_ plan = NULL;

		job.top = 100;
		plan = lid_plan(&job);
		assert_int_equal(plan->ports[0].base, 1);
		assert_int_equal(plan->ports[0].reason, LID_MOVED_INVALID);
	}
}

static void memory_wins_over_what_is_held(void **state)
{
	const struct lid_port ports[] = {
		{ .guid = G(1), .current = 50 }, { .guid = G(2), .current = 20 }, { .guid = G(3) },
	};
	const struct lid_range memory[] = { { G(1), 20, 20 }, { G(3), 30, 30 } };
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = NULL;

	job.remembered = memory;
	job.n_remembered = ARRAY_SIZE(memory);
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].base, 20);
	assert_int_equal(plan->ports[0].reason, LID_REMEMBERED);
	assert_int_equal(plan->ports[1].base, 1);
	assert_int_equal(plan->ports[1].reason, LID_MOVED_TAKEN);
	assert_int_equal(plan->ports[2].base, 30);
	assert_int_equal(plan->n_dropped, 0);
}

static void lids_of_absent_ports_stay_reserved(void **state)
{
	const struct lid_port ports[] = { { .guid = G(1) }, { .guid = G(2), .current = 2 } };
	const struct lid_range memory[] = { { G(7), 1, 2 } };
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = NULL;

	job.remembered = memory;
	job.n_remembered = 1;
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].base, 3);
	assert_int_equal(plan->ports[1].base, 4); /* holds one that is not its own */
	assert_int_equal(plan->n_dropped, 0);
}

static void full_space_takes_from_absent_ports_and_says_so(void **state)
{
	const struct lid_port ports[] = { { .guid = G(1) }, { .guid = G(2) } };
	const struct lid_range memory[] = { { G(7), 1, 2 }, { G(8), 3, 4 } };
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = NULL;

	job.remembered = memory;
	job.n_remembered = ARRAY_SIZE(memory);
	job.top = 5;
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].base, 5);
	assert_int_equal(plan->ports[1].base, 1);
	assert_int_equal(plan->n_dropped, 1);
	assert_int_equal(plan->dropped[0], G(7));
	assert_int_equal(plan->n_unserved, 0);
}

static void ranges_are_aligned_and_switches_fill_the_gaps(void **state)
{
	const struct lid_port ports[] = {
		{ .guid = G(1), .is_sm = true }, { .guid = G(2), .switch0 = true },
		{ .guid = G(3), .switch0 = true, .enhanced0 = true }, { .guid = G(4) },
	};
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = NULL;

	job.lmc = 2;
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].base, 4);
	assert_int_equal(plan->ports[0].max, 7);
	assert_int_equal(plan->ports[1].base, 1);
	assert_int_equal(plan->ports[1].lmc, 0);
	assert_int_equal(plan->ports[2].base, 2);
	assert_int_equal(plan->ports[3].base, 8);
	assert_int_equal(plan->top, 11);
}

static void lmc_esp0_widens_enhanced_switch_ports_only(void **state)
{
	const struct lid_port ports[] = {
		{ .guid = G(2), .switch0 = true },
		{ .guid = G(3), .switch0 = true, .enhanced0 = true },
	};
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = NULL;

	job.lmc = 1;
	job.lmc_esp0 = true;
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].lmc, 0);
	assert_int_equal(plan->ports[1].lmc, 1);
	assert_int_equal(plan->ports[1].base, 2);
}

static void ranges_of_an_older_lmc_are_not_kept(void **state)
{
	const struct lid_port ports[] = {
		{ .guid = G(1), .current = 5 },
		{ .guid = G(2), .current = 8 },
	};
	const struct lid_range memory[] = { { G(1), 5, 5 }, { G(2), 8, 8 } };
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = NULL;

	job.remembered = memory;
	job.n_remembered = ARRAY_SIZE(memory);
	job.lmc = 2;
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].base, 4);
	assert_int_equal(plan->ports[0].reason, LID_MOVED_ALIGN);
	assert_int_equal(plan->ports[1].base, 8); /* what it holds happens to be aligned */
	assert_int_equal(plan->ports[1].max, 11);
}

static void smaller_lmc_keeps_the_range_for_its_return(void **state)
{
	const struct lid_port ports[] = {
		{ .guid = G(1), .current = 8 },
		{ .guid = G(2), .current = 9 },
	};
	const struct lid_range memory[] = { { G(1), 8, 11 } };
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = NULL;

	job.remembered = memory;
	job.n_remembered = 1;
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].base, 8);
	assert_int_equal(plan->ports[0].min, 8);
	assert_int_equal(plan->ports[0].max, 11);
	assert_int_equal(plan->ports[1].base, 1); /* 9 is reserved */
}

static void spare_part_is_given_away_when_nothing_else_is_left(void **state)
{
	const struct lid_port ports[] = {
		{ .guid = G(1), .current = 2 },
		{ .guid = G(2) },
		{ .guid = G(3) },
	};
	const struct lid_range memory[] = { { G(1), 2, 3 } };
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = NULL;

	job.remembered = memory;
	job.n_remembered = 1;
	job.top = 3;
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].max, 2);
	assert_int_equal(plan->ports[1].base, 1);
	assert_int_equal(plan->ports[2].base, 3);
}

static void reassign_forgets_everything(void **state)
{
	const struct lid_port ports[] = {
		{ .guid = G(1), .current = 50 },
		{ .guid = G(2), .current = 1 },
	};
	const struct lid_range memory[] = { { G(1), 20, 20 }, { G(7), 2, 2 } };
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	_plan_ plan = NULL;

	job.remembered = memory;
	job.n_remembered = ARRAY_SIZE(memory);
	job.reassign = true;
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].base, 1);
	assert_int_equal(plan->ports[1].base, 2);
	assert_int_equal(plan->ports[0].reason, LID_MOVED_REASSIGN);
	assert_int_equal(plan->n_dropped, 1);
	assert_int_equal(plan->dropped[0], G(7));
}

static void nonsense_in_memory_is_dropped(void **state)
{
	const struct lid_port port = { .guid = G(1), .current = 3 };
	const struct lid_range memory[] = { { G(1), 9, 2 }, { G(7), 0, 4 }, { G(8), 5, 0xC000 } };
	struct lid_job job = job_of(&port, 1);
	_plan_ plan = NULL;

	job.remembered = memory;
	job.n_remembered = ARRAY_SIZE(memory);
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].base, 3);
	assert_int_equal(plan->n_dropped, 2); /* G(1) is remembered anew */
}

static void lmc_that_does_not_fit_is_one_sentence(void **state)
{
	struct lid_port ports[702] = { 0 };
	struct lid_job job = job_of(ports, ARRAY_SIZE(ports));
	char text[LID_PLAN_STRLEN];
	_plan_ plan = NULL;

	for (unsigned i = 0; i < ARRAY_SIZE(ports); i++)
		ports[i] = (struct lid_port){ .guid = G(i + 1), .switch0 = i < 54 };
	job.lmc = 7;
	plan = lid_plan(&job);
	assert_int_equal(plan->n_unserved, 648 - 383); /* 384 blocks, the first has LID 0 */
	assert_int_equal(plan->lmc_fits, 6);
	assert_string_equal(lid_plan_error(&job, plan, text),
			    "LIDs 1 to 49151 do not suffice for 702 ports at LMC 7: "
			    "265 ports get none; LMC 6 would fit");
}

static void no_lids_at_all_serves_nobody(void **state)
{
	const struct lid_port port = { .guid = G(1), .current = 3 };
	struct lid_job job = job_of(&port, 1);
	_plan_ plan = NULL;

	job.top = 0;
	plan = lid_plan(&job);
	assert_int_equal(plan->ports[0].base, 0);
	assert_int_equal(plan->ports[0].reason, LID_UNSERVED);
	assert_int_equal(plan->lmc_fits, -1);
	job.n_ports = 0;
	lid_plan_freep(&plan);
	plan = lid_plan(&job);
	assert_int_equal(plan->n_unserved, 0);
}

/* Random fabrics */

struct dice {
	uint64_t x;
};

static uint32_t roll(struct dice *d, uint32_t n)
{
	d->x ^= d->x << 13;
	d->x ^= d->x >> 7;
	d->x ^= d->x << 17;
	return n ? (uint32_t)(d->x >> 32) % n : 0;
}

#define MAX_PORTS 300

struct world {
	struct lid_port ports[MAX_PORTS];
	struct lid_range memory[2 * MAX_PORTS];
	struct lid_job job;
};

static void random_ports(struct dice *d, struct world *w)
{
	for (size_t i = 0; i < w->job.n_ports; i++) {
		struct lid_port *p = &w->ports[i];

		p->guid = (uint64_t)roll(d, 4) << 40;
		p->guid |= roll(d, 3) << 24;
		p->guid += 2 * i + 1;
		p->switch0 = roll(d, 5) == 0;
		p->enhanced0 = p->switch0 && roll(d, 2);
		p->current = roll(d, 3) ? roll(d, w->job.top * 5 / 4 + 2) : 0;
	}
	if (w->job.n_ports)
		w->ports[roll(d, w->job.n_ports)].is_sm = true;
}

/* Disjoint ranges in rising order, some of ports that are there, some of others. */
static void random_memory(struct dice *d, struct world *w)
{
	unsigned lid = 1, limit = MIN(w->job.top + 20u, LID_MAX_UCAST);
	size_t n = 0;

	for (size_t i = 0; i < MAX_PORTS; i++) {
		unsigned width = roll(d, 3) ? 1u << roll(d, w->job.lmc + 2u) : 1 + roll(d, 9);
		unsigned min = (lid + width - 1) / width * width + (roll(d, 8) == 0);

		if (min + width - 1 > limit || roll(d, 4) == 0)
			continue;
		w->memory[n++] = (struct lid_range){
			.guid = i < w->job.n_ports && roll(d, 4) ? w->ports[i].guid : 2 * i + 2,
			.min = min, .max = min + width - 1,
		};
		lid = min + width;
	}
	w->job.n_remembered = n;
}

static struct world *random_world(struct dice *d)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->job.ports = w->ports;
	w->job.remembered = w->memory;
	w->job.n_ports = roll(d, MAX_PORTS + 1);
	w->job.lmc = roll(d, 2) ? roll(d, 4) : 0;
	w->job.lmc_esp0 = roll(d, 2);
	w->job.reassign = roll(d, 8) == 0;
	w->job.top = roll(d, 4) ? 50 + roll(d, 2000) : 0xBFFF - roll(d, 3);
	random_ports(d, w);
	if (roll(d, 4))
		random_memory(d, w);
	return w;
}

static void check_ranges(const struct lid_job *job, const struct lid_plan *plan)
{
	_cleanup_free_ uint8_t *used = xcalloc(0x10000, 1);
	size_t unserved = 0;

	for (size_t i = 0; i < job->n_ports; i++) {
		const struct lid_assigned *a = &plan->ports[i];
		unsigned width = 1u << a->lmc;

		unserved += a->base == 0;
		if (!a->base)
			continue;
		assert_int_equal(a->base % width, 0);
		assert_true(a->base + width - 1 <= job->top);
		assert_int_equal(a->min, a->base);
		assert_true(a->max >= a->base + width - 1);
		for (unsigned lid = a->min; lid <= a->max; lid++)
			assert_int_equal(used[lid]++, 0);
	}
	assert_int_equal(unserved, plan->n_unserved);
}

static const struct lid_range *memory_of(const struct lid_job *job, guid_t guid)
{
	for (size_t i = 0; i < job->n_remembered; i++)
		if (job->remembered[i].guid == guid)
			return &job->remembered[i];
	return NULL;
}

static void check_memory_is_kept(const struct lid_job *job, const struct lid_plan *plan)
{
	for (size_t i = 0; i < job->n_ports; i++) {
		const struct lid_assigned *a = &plan->ports[i];
		const struct lid_range *r = memory_of(job, job->ports[i].guid);
		unsigned width = 1u << a->lmc;

		if (r && !job->reassign && r->min % width == 0 && r->min + width - 1 <= r->max &&
		    r->min + width - 1 <= job->top)
			assert_int_equal(a->base, r->min);
	}
}

static void assert_same(const struct lid_assigned *a, const struct lid_assigned *b)
{
	assert_int_equal(a->base, b->base);
	assert_int_equal(a->lmc, b->lmc);
	assert_int_equal(a->reason, b->reason);
	assert_int_equal(a->max, b->max);
}

/* The same ports in another order get the same. */
static void check_order(struct dice *d, struct world *w, const struct lid_plan *plan)
{
	size_t n = w->job.n_ports, at[MAX_PORTS];
	struct lid_port shuffled[MAX_PORTS];
	struct lid_job job = w->job;
	_plan_ other = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t j = roll(d, i + 1);

		at[i] = at[j];
		at[j] = i;
	}
	for (size_t i = 0; i < n; i++)
		shuffled[i] = w->ports[at[i]];
	job.ports = shuffled;
	other = lid_plan(&job);
	for (size_t i = 0; i < n; i++)
		assert_same(&other->ports[i], &plan->ports[at[i]]);
}

static bool is_dropped(const struct lid_plan *plan, guid_t guid)
{
	for (size_t i = 0; i < plan->n_dropped; i++)
		if (plan->dropped[i] == guid)
			return true;
	return false;
}

static bool is_port(const struct lid_job *job, guid_t guid)
{
	for (size_t i = 0; i < job->n_ports; i++)
		if (job->ports[i].guid == guid)
			return true;
	return false;
}

/* What sm/ does with a plan. */
static void apply(struct world *w, const struct lid_plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < w->job.n_remembered; i++)
		if (!is_dropped(plan, w->memory[i].guid) && !is_port(&w->job, w->memory[i].guid))
			w->memory[n++] = w->memory[i];
	for (size_t i = 0; i < w->job.n_ports; i++) {
		const struct lid_assigned *a = &plan->ports[i];

		if (!a->base)
			continue;
		w->ports[i].current = a->base;
		w->memory[n++] = (struct lid_range){ w->ports[i].guid, a->min, a->max };
	}
	w->job.n_remembered = n;
	w->job.reassign = false;
}

static void check_idempotent(struct world *w, const struct lid_plan *plan)
{
	_plan_ again = NULL;

	apply(w, plan);
	again = lid_plan(&w->job);
	assert_int_equal(again->n_dropped, 0);
	assert_int_equal(again->top, plan->top);
	for (size_t i = 0; i < w->job.n_ports; i++) {
		assert_int_equal(again->ports[i].base, plan->ports[i].base);
		assert_int_equal(again->ports[i].max, plan->ports[i].max);
		if (again->ports[i].base)
			assert_int_equal(again->ports[i].reason, LID_UNCHANGED);
	}
}

static uint64_t seed_of_today(void)
{
	const char *text = getenv("TEST_SEED");

	return text ? strtoull(text, NULL, 0) : 0x9E3779B97F4A7C15ull;
}

static void random_fabrics_obey_the_rules(void **state)
{
	struct dice d = { seed_of_today() };

	print_message("TEST_SEED=0x%llx\n", (unsigned long long)d.x);
	for (unsigned round = 0; round < 2000; round++) {
		_cleanup_free_ struct world *w = random_world(&d);
		_plan_ plan = lid_plan(&w->job);

		check_ranges(&w->job, plan);
		check_memory_is_kept(&w->job, plan);
		check_order(&d, w, plan);
		check_idempotent(w, plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fresh_ports_get_lids_in_order_with_the_sm_first),
		cmocka_unit_test(what_is_held_stays),
		cmocka_unit_test(of_two_holders_the_sm_then_the_first_in_order_keeps_it),
		cmocka_unit_test(invalid_lids_are_replaced),
		cmocka_unit_test(memory_wins_over_what_is_held),
		cmocka_unit_test(lids_of_absent_ports_stay_reserved),
		cmocka_unit_test(full_space_takes_from_absent_ports_and_says_so),
		cmocka_unit_test(ranges_are_aligned_and_switches_fill_the_gaps),
		cmocka_unit_test(lmc_esp0_widens_enhanced_switch_ports_only),
		cmocka_unit_test(ranges_of_an_older_lmc_are_not_kept),
		cmocka_unit_test(smaller_lmc_keeps_the_range_for_its_return),
		cmocka_unit_test(spare_part_is_given_away_when_nothing_else_is_left),
		cmocka_unit_test(reassign_forgets_everything),
		cmocka_unit_test(nonsense_in_memory_is_dropped),
		cmocka_unit_test(lmc_that_does_not_fit_is_one_sentence),
		cmocka_unit_test(no_lids_at_all_serves_nobody),
		cmocka_unit_test(random_fabrics_obey_the_rules),
	};

	return cmocka_run_group_tests_name("lid", tests, NULL, NULL);
}
