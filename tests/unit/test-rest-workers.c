// SPDX-License-Identifier: BSD-2-Clause
/* Threads of opensm-rest: everything comes back, and owners have their share. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rest/http/workers.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_gate = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_done;

struct piece {
	struct work work;
	bool has_run;
};

static void run_at_once(struct work *w)
{
	((struct piece *)w)->has_run = true;
}

static void run_at_gate(struct work *w)
{
	pthread_mutex_lock(&gate);
	((struct piece *)w)->has_run = true;
	pthread_mutex_unlock(&gate);
}

static void run_at_other_gate(struct work *w)
{
	pthread_mutex_lock(&other_gate);
	((struct piece *)w)->has_run = true;
	pthread_mutex_unlock(&other_gate);
}

static void on_done(struct work *w)
{
	assert_true(((struct piece *)w)->has_run);
	n_done++;
}

static struct piece piece(const char *owner, void (*run)(struct work *w))
{
	return (struct piece){ .work = { .owner = owner, .run = run, .done = on_done } };
}

/* Until `n` pieces in all are done. */
static void reap(struct workers *w, unsigned n)
{
	struct pollfd pfd = { .fd = workers_fd(w), .events = POLLIN };

	for (unsigned turns = 0; n_done < n && turns < 100000; turns++) {
		assert_int_equal(poll(&pfd, 1, 60000), 1);
		workers_reap(w);
	}
	assert_int_equal(n_done, n);
}

static void everything_comes_back(void **state)
{
	struct workers_limits limits = { 3, 100, 2, 100 };
	struct workers *w = workers_new(&limits);
	struct piece pieces[100];

	n_done = 0;
	for (unsigned i = 0; i < 100; i++) {
		pieces[i] = piece(i % 2 ? "a" : "b", run_at_once);
		assert_int_equal(workers_add(w, &pieces[i].work), 0);
	}
	reap(w, 100);
	assert_int_equal(workers_count(w), 0);
	workers_free(w);
}

static void one_owner_does_not_keep_another_waiting(void **state)
{
	struct workers_limits limits = { 2, 8, 1, 4 };
	struct workers *w = workers_new(&limits);
	struct piece held[8], other = piece("b", run_at_once);
	unsigned n = 0;

	n_done = 0;
	pthread_mutex_lock(&gate);
	for (; n < 8; n++) {
		held[n] = piece("a", run_at_gate);
		if (workers_add(w, &held[n].work) < 0)
			break;
	}
	/* Four in the queue, and perhaps one that has left it for a thread. */
	assert_true(n == 4 || n == 5);
	assert_int_equal(workers_add(w, &other.work), 0);
	reap(w, 1);
	pthread_mutex_unlock(&gate);
	reap(w, n + 1);
	workers_free(w);
}

/* Of two threads "a" holds one. The other, once "c" leaves it, takes "b", though "a" is first. */
static void a_free_thread_goes_to_the_owner_with_the_fewest(void **state)
{
	struct workers_limits limits = { 2, 8, 2, 8 };
	struct workers *w = workers_new(&limits);
	struct piece pieces[] = { piece("a", run_at_gate), piece("c", run_at_other_gate),
				  piece("a", run_at_gate), piece("b", run_at_once) };

	n_done = 0;
	pthread_mutex_lock(&gate);
	pthread_mutex_lock(&other_gate);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(workers_add(w, &pieces[i].work), 0);
	pthread_mutex_unlock(&other_gate);
	reap(w, 2);
	assert_true(pieces[1].has_run && pieces[3].has_run);
	pthread_mutex_unlock(&gate);
	reap(w, 4);
	workers_free(w);
}

static void what_is_queued_at_the_end_is_dropped(void **state)
{
	struct workers_limits limits = { 1, 8, 1, 8 };
	struct workers *w = workers_new(&limits);
	struct piece pieces[8];

	n_done = 0;
	for (unsigned i = 0; i < 8; i++) {
		pieces[i] = piece("a", run_at_once);
		workers_add(w, &pieces[i].work);
	}
	workers_free(w);
	assert_int_equal(n_done, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(one_owner_does_not_keep_another_waiting),
		cmocka_unit_test(a_free_thread_goes_to_the_owner_with_the_fewest),
		cmocka_unit_test(what_is_queued_at_the_end_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
