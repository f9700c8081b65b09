// SPDX-License-Identifier: BSD-2-Clause
/* Requests in front of the wire: when each is written, and what may be asked of it meanwhile. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libvendor/window.h"
#include "util/mem.h"

#define MANY 20000u

/* A device that notes what it is given. */
struct device {
	struct window *window;
	uint32_t got[MANY];
	atomic_uint n;
	int error;     /* of each write */
	int gate[2];   /* with is_gated, each write waits for a byte */
	bool is_gated;
	atomic_uint begun;
	uint32_t failed[8];
	unsigned n_failed;
};

static int device_write(void *arg, struct out *out)
{
	struct device *d = arg;
	char byte;

	atomic_fetch_add(&d->begun, 1);
	if (d->is_gated)
		assert_int_equal(read(d->gate[0], &byte, 1), 1);
	if (d->error)
		return d->error;
	d->got[atomic_load(&d->n) % MANY] = out->tid;
	atomic_fetch_add(&d->n, 1);
	return 0;
}

static void device_failed(void *arg, const struct out *out, int error)
{
	struct device *d = arg;

	assert_int_equal(error, d->error);
	d->failed[d->n_failed++] = out->tid;
}

static int setup(void **state)
{
	struct device *d = xcalloc(1, sizeof(*d));

	assert_int_equal(pipe(d->gate), 0);
	d->window = window_new(device_write, device_failed, d);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	struct device *d = *state;

	window_free(d->window);
	close(d->gate[0]);
	close(d->gate[1]);
	free(d);
	return 0;
}

static bool queue(struct device *d, uint32_t tid)
{
	struct out *out = window_reserve(d->window);

	assert_non_null(out);
	*out = (struct out){ .timeout_ms = 200, .length = TRANSPORT_MAD_SIZE };
	return window_commit(d->window, tid);
}

static enum transport_fate fate(struct device *d, uint32_t tid)
{
	int64_t at;

	return window_fate(d->window, tid, &at);
}

static void no_more_are_on_the_wire_than_the_window_has_places(void **state)
{
	struct device *d = *state;
	int64_t at;

	assert_false(window_set_size(d->window, 2));
	assert_true(queue(d, 1));
	for (uint32_t tid = 2; tid <= 10; tid++)
		assert_true(queue(d, tid)); /* until it is pumped */
	window_pump(d->window);
	assert_int_equal(d->n, 2);
	assert_false(queue(d, 11));
	assert_int_equal(window_fate(d->window, 2, &at), TRANSPORT_ON_WIRE);
	assert_true(at > 0);
	assert_int_equal(fate(d, 3), TRANSPORT_WAITS);
	assert_true(window_has_plenty(d->window));
	for (uint32_t tid = 1; tid <= 11; tid++) {
		assert_true(window_ended(d->window, tid) > 0);
		assert_int_equal(fate(d, tid), TRANSPORT_ENDED);
		window_pump(d->window);
		assert_int_equal(d->n, MIN(tid + 2, 11u));
	}
	for (uint32_t tid = 1; tid <= 11; tid++)
		assert_int_equal(d->got[tid - 1], tid);
	assert_false(window_has_plenty(d->window));
}

/* An answer with an id that is not on the wire, a forged one perhaps, makes no room. */
static void only_what_is_on_the_wire_ends(void **state)
{
	struct device *d = *state;

	queue(d, 1);
	queue(d, 2);
	window_pump(d->window);
	assert_int_equal(window_ended(d->window, 77), 0);
	assert_int_equal(window_ended(d->window, 2), 0); /* it waits */
	window_pump(d->window);
	assert_int_equal(d->n, 1);
	assert_true(window_ended(d->window, 1) > 0);
	assert_int_equal(window_ended(d->window, 1), 0);
	window_pump(d->window);
	assert_int_equal(d->n, 2);
}

static void what_is_forgotten_makes_room_or_is_never_written(void **state)
{
	struct device *d = *state;
	bool room;

	for (uint32_t tid = 1; tid <= 4; tid++)
		queue(d, tid);
	window_pump(d->window);
	assert_int_equal(window_forget(d->window, 2, &room), TRANSPORT_WAITS);
	assert_false(room);
	assert_int_equal(window_forget(d->window, 1, &room), TRANSPORT_ON_WIRE);
	assert_true(room);
	assert_int_equal(window_forget(d->window, 1, &room), TRANSPORT_ENDED);
	window_pump(d->window);
	assert_int_equal(d->n, 2);
	assert_int_equal(d->got[1], 3);
	assert_int_equal(window_ended(d->window, 1), 0); /* its answer comes late */
	assert_int_equal(window_forget(d->window, 4, &room), TRANSPORT_WAITS);
	assert_true(window_ended(d->window, 3) > 0);
	window_pump(d->window);
	assert_int_equal(d->n, 2);
}

static void what_cannot_be_written_is_given_back_and_takes_no_place(void **state)
{
	struct device *d = *state;

	d->error = -ENXIO;
	for (uint32_t tid = 1; tid <= 3; tid++)
		queue(d, tid);
	window_pump(d->window);
	assert_int_equal(d->n_failed, 3);
	assert_int_equal(d->failed[0], 1);
	assert_int_equal(d->failed[2], 3);
	assert_int_equal(fate(d, 1), TRANSPORT_ENDED);
	d->error = 0;
	assert_true(queue(d, 4));
	window_pump(d->window);
	assert_int_equal(d->n, 1);
}

/* Where the process stood still, another manager may rule by now. */
static void what_waited_too_long_is_given_back(void **state)
{
	struct device *d = *state;
	struct out *out = window_reserve(d->window);

	*out = (struct out){ .timeout_ms = 200, .not_after = 1 };
	window_commit(d->window, 5);
	d->error = -ETIMEDOUT; /* for device_failed() */
	window_pump(d->window);
	assert_int_equal(d->begun, 0);
	assert_int_equal(d->n_failed, 1);
	assert_int_equal(fate(d, 5), TRANSPORT_ENDED);
}

static void the_queue_has_an_end(void **state)
{
	struct device *d = *state;
	uint32_t tid = 0;

	assert_false(window_set_size(d->window, WINDOW_MAX));
	while (tid < WINDOW_MAX) {
		queue(d, ++tid);
		window_pump(d->window);
	}
	assert_int_equal(d->n, WINDOW_MAX);
	for (unsigned i = 0; i < WINDOW_QUEUE; i++)
		assert_false(queue(d, ++tid));
	assert_null(window_reserve(d->window));
	window_pump(d->window);
	assert_null(window_reserve(d->window));
	assert_true(window_ended(d->window, 1) > 0);
	window_pump(d->window);
	assert_non_null(window_reserve(d->window));
	assert_false(window_set_size(d->window, 1));
	assert_true(window_ended(d->window, 2) > 0);
	window_pump(d->window);
	assert_int_equal(d->n, WINDOW_MAX + 1); /* all others have to end first */
}

static void *pump(void *arg)
{
	window_pump(((struct device *)arg)->window);
	return NULL;
}

/* A write() that never returns blocks the thread that called it, and no other. */
static void the_main_thread_never_waits_for_a_write(void **state)
{
	struct device *d = *state;
	pthread_t thread;
	bool room;

	d->is_gated = true;
	queue(d, 1);
	queue(d, 2);
	assert_int_equal(pthread_create(&thread, NULL, pump, d), 0);
	while (!atomic_load(&d->begun))
		poll(NULL, 0, 1);
	assert_true(window_is_writing(d->window));
	assert_int_equal(window_written(d->window), 0);
	assert_int_equal(fate(d, 1), TRANSPORT_ON_WIRE);
	assert_false(queue(d, 3));
	assert_int_equal(window_forget(d->window, 2, &room), TRANSPORT_WAITS);
	assert_int_equal(window_forget(d->window, 1, &room), TRANSPORT_ON_WIRE);
	assert_true(window_set_size(d->window, 3));
	assert_int_equal(write(d->gate[1], "ab", 2), 2);
	pthread_join(thread, NULL);
	assert_int_equal(d->n, 2);
	assert_int_equal(d->got[1], 3);
}

/* The receive thread: what is on the wire is answered, in order. */
static void *answer_all(void *arg)
{
	struct device *d = arg;

	for (uint32_t tid = 1; tid <= MANY; tid++) {
		while (!window_ended(d->window, tid))
			window_pump(d->window);
		window_pump(d->window);
	}
	return NULL;
}

static void *pump_on(void *arg)
{
	struct device *d = arg;

	while (atomic_load(&d->n) < MANY)
		window_pump(d->window);
	return NULL;
}

static void two_threads_write_each_once_and_in_order(void **state)
{
	struct device *d = *state;
	pthread_t receiver, sender;

	window_set_size(d->window, 4);
	assert_int_equal(pthread_create(&receiver, NULL, answer_all, d), 0);
	assert_int_equal(pthread_create(&sender, NULL, pump_on, d), 0);
	for (uint32_t tid = 1; tid <= MANY; tid++) {
		while (!window_reserve(d->window))
			poll(NULL, 0, 0);
		queue(d, tid);
	}
	pthread_join(receiver, NULL);
	pthread_join(sender, NULL);
	assert_int_equal(d->n, MANY);
	for (uint32_t tid = 1; tid <= MANY; tid++)
		assert_int_equal(d->got[tid - 1], tid);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(no_more_are_on_the_wire_than_the_window_has_places),
		T(only_what_is_on_the_wire_ends),
		T(what_is_forgotten_makes_room_or_is_never_written),
		T(what_cannot_be_written_is_given_back_and_takes_no_place),
		T(what_waited_too_long_is_given_back),
		T(the_queue_has_an_end),
		T(the_main_thread_never_waits_for_a_write),
		T(two_threads_write_each_once_and_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
