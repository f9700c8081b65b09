// SPDX-License-Identifier: BSD-2-Clause
/* The worker of the daemon: jobs in order, jobs whose manager is gone, jobs that hang. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <poll.h>
#include <semaphore.h>

#include "daemon/worker.h"
#include "util/mem.h"

/* A job that waits until it may end. */
struct held {
	struct sm_job base;
	sem_t *may_end;
	unsigned *ended, *orphans, *told; /* of all jobs of a test */
	unsigned number;
};

struct desk {
	struct worker *worker;
	sem_t may_end;
	unsigned ended, orphans, told, next;
};

static void run(struct sm_job *base)
{
	struct held *job = (struct held *)base;

	while (sem_wait(job->may_end) < 0)
		;
}

static void done(struct sm_job *base)
{
	struct held *job = (struct held *)base;

	assert_int_equal(job->number, *job->ended);
	(*job->ended)++;
	*job->orphans += base->orphan;
	*job->told += !base->orphan;
	free(job);
}

static struct sm_job *hand_out(struct desk *d, mono_t now)
{
	struct held *job = xcalloc(1, sizeof(*job));

	job->base = (struct sm_job){ .run = run, .done = done, .what = "waiting" };
	job->may_end = &d->may_end;
	job->ended = &d->ended;
	job->orphans = &d->orphans;
	job->told = &d->told;
	job->number = d->next++;
	worker_submit(d->worker, &job->base, now);
	return &job->base;
}

static struct desk *desk_new(void)
{
	struct desk *d = xcalloc(1, sizeof(*d));

	assert_int_equal(sem_init(&d->may_end, 0, 0), 0);
	d->worker = worker_new();
	return d;
}

static void let_end(struct desk *d, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(sem_post(&d->may_end), 0);
}

/* Waits until one more job is back, and takes it in. */
static void await(struct desk *d, unsigned ended, mono_t now)
{
	struct pollfd pfd = { .fd = worker_fd(d->worker), .events = POLLIN };

	while (d->ended < ended) {
		assert_int_equal(poll(&pfd, 1, 60000), 1);
		worker_collect(d->worker, now);
	}
}

static void desk_free(struct desk *d)
{
	assert_int_equal(d->ended, d->next);
	worker_free(d->worker);
	sem_destroy(&d->may_end);
	free(d);
}

static void jobs_come_back_in_order(void **state)
{
	struct desk *d = desk_new();

	for (unsigned i = 0; i < 100; i++)
		hand_out(d, 0);
	let_end(d, 100);
	await(d, 100, 0);
	assert_int_equal(d->told, 100);
	desk_free(d);
}

static void it_is_known_what_runs_and_since_when(void **state)
{
	struct desk *d = desk_new();
	mono_t since;

	assert_null(worker_running(d->worker, 9 * MONO_S, &since));
	hand_out(d, 5 * MONO_S);
	hand_out(d, 6 * MONO_S);
	assert_string_equal(worker_running(d->worker, 9 * MONO_S, &since), "waiting");
	assert_int_equal(since, 5 * MONO_S);
	let_end(d, 1);
	await(d, 1, 9 * MONO_S);
	assert_string_equal(worker_running(d->worker, 9 * MONO_S, &since), "waiting");
	assert_int_equal(since, 9 * MONO_S);
	let_end(d, 1);
	await(d, 2, 10 * MONO_S);
	assert_null(worker_running(d->worker, 9 * MONO_S, &since));
	desk_free(d);
}

static void each_turn_of_a_job_begins_anew(void **state)
{
	struct desk *d = desk_new();
	struct sm_job *job = hand_out(d, 5 * MONO_S);
	mono_t since;

	job->turn++;
	assert_non_null(worker_running(d->worker, 700 * MONO_S, &since));
	assert_int_equal(since, 700 * MONO_S);
	assert_non_null(worker_running(d->worker, 900 * MONO_S, &since));
	assert_int_equal(since, 700 * MONO_S);
	let_end(d, 1);
	await(d, 1, 901 * MONO_S);
	desk_free(d);
}

/* The next client has jobs of its own behind them. */
static void jobs_whose_manager_is_gone_only_end(void **state)
{
	struct desk *d = desk_new();

	hand_out(d, 0);
	hand_out(d, 0);
	worker_orphan(d->worker);
	hand_out(d, 0);
	let_end(d, 3);
	await(d, 3, 0);
	assert_int_equal(d->orphans, 2);
	assert_int_equal(d->told, 1);
	desk_free(d);
}

static void the_end_does_not_wait_for_a_job_that_hangs(void **state)
{
	struct desk *d = desk_new();

	hand_out(d, 0);
	hand_out(d, 0);
	let_end(d, 1);
	await(d, 1, 0);
	assert_false(worker_drain(d->worker, 10));
	assert_int_equal(d->ended, 1);
	let_end(d, 1);
	assert_true(worker_drain(d->worker, 60000));
	assert_true(worker_drain(d->worker, 0));
	desk_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_come_back_in_order),
		cmocka_unit_test(it_is_known_what_runs_and_since_when),
		cmocka_unit_test(each_turn_of_a_job_begins_anew),
		cmocka_unit_test(jobs_whose_manager_is_gone_only_end),
		cmocka_unit_test(the_end_does_not_wait_for_a_job_that_hangs),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
