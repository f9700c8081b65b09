// SPDX-License-Identifier: BSD-2-Clause
/* Sends on a thread of their own: a device that waits, fails, or never comes back. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libvendor/ring.h"
#include "libvendor/sender.h"
#include "util/mem.h"

/* A device that takes a MAD when a byte comes through its pipe, and answers with that byte. */
struct device {
	int pipe[2];
	atomic_uint begun, written;
	unsigned last;
	struct bell *bell;
};

static int device_write(void *arg, struct out *out)
{
	struct device *d = arg;
	uint8_t error = 0;

	atomic_fetch_add(&d->begun, 1);
	if (read(d->pipe[0], &error, 1) != 1)
		return -EIO;
	d->last = out->timeout_ms;
	atomic_fetch_add(&d->written, 1);
	return -(int)error;
}

static struct sender *start(struct device *d)
{
	struct sender *s;

	*d = (struct device){ 0 };
	assert_int_equal(pipe(d->pipe), 0);
	d->bell = bell_new(BELL_POLLED);
	s = sender_new(device_write, d, NULL, d->bell);
	assert_non_null(s);
	return s;
}

static void end(struct device *d, struct sender *s)
{
	assert_true(sender_free(s, 10000));
	bell_free(d->bell);
}

static void let_through(struct device *d, uint8_t error)
{
	assert_int_equal(write(d->pipe[1], &error, 1), 1);
}

static void queue(struct sender *s, unsigned number)
{
	struct out *out = sender_reserve(s);

	assert_non_null(out);
	*out = (struct out){ .timeout_ms = number, .length = TRANSPORT_MAD_SIZE };
	sender_commit(s);
}

static void post(struct sender *s, unsigned number)
{
	queue(s, number);
	sender_flush(s);
}

static void wait_for(struct device *d, unsigned n)
{
	while (atomic_load(&d->written) < n)
		poll(NULL, 0, 1);
}

static void all_goes_out_in_order(void **state)
{
	struct device d;
	struct sender *s = start(&d);

	for (unsigned i = 1; i <= 5; i++) {
		post(s, i);
		let_through(&d, 0);
		wait_for(&d, i);
		assert_int_equal(d.last, i);
	}
	assert_null(sender_front(s));
	end(&d, s);
}

/* One that has slept since the last flush is not woken for each. */
static void many_go_out_without_a_flush(void **state)
{
	struct device d;
	struct sender *s = start(&d);
	unsigned n = 0;

	while (sender_reserve(s) && n < 100) {
		queue(s, ++n);
		let_through(&d, 0);
	}
	wait_for(&d, n - n % 16);
	sender_flush(s);
	wait_for(&d, n);
	assert_int_equal(d.last, n);
	end(&d, s);
}

static void what_fails_comes_back(void **state)
{
	struct device d;
	struct sender *s = start(&d);
	struct pollfd p = { .fd = bell_fd(d.bell), .events = POLLIN };

	assert_null(sender_front(s));
	post(s, 7);
	let_through(&d, ENXIO);
	assert_int_equal(poll(&p, 1, -1), 1);
	assert_non_null(sender_front(s));
	assert_int_equal(sender_front(s)->error, -ENXIO);
	assert_int_equal(sender_front(s)->timeout_ms, 7);
	sender_pop(s);
	assert_null(sender_front(s));
	end(&d, s);
}

/* The process was stopped while it was queued, perhaps: the device does not get it. */
static void what_is_late_comes_back(void **state)
{
	struct device d;
	struct sender *s = start(&d);
	struct pollfd p = { .fd = bell_fd(d.bell), .events = POLLIN };
	struct out *out = sender_reserve(s);

	*out = (struct out){ .timeout_ms = 7, .length = TRANSPORT_MAD_SIZE, .not_after = 1 };
	sender_commit(s);
	sender_flush(s);
	assert_int_equal(poll(&p, 1, -1), 1);
	assert_int_equal(sender_front(s)->error, -ETIMEDOUT);
	sender_pop(s);
	out = sender_reserve(s);
	*out = (struct out){ .timeout_ms = 8,
			     .length = TRANSPORT_MAD_SIZE,
			     .not_after = out_in_ms(1000000) };
	sender_commit(s);
	sender_flush(s);
	let_through(&d, 0);
	wait_for(&d, 1);
	assert_int_equal(d.last, 8);
	end(&d, s);
}

/* Nothing is read, nothing is written: the caller is told "later", and does not wait. */
static void full_queue_is_told(void **state)
{
	struct device d;
	struct sender *s = start(&d);
	unsigned n = 0;

	while (sender_reserve(s)) {
		post(s, n++);
		assert_in_range(n, 1, 5000);
	}
	let_through(&d, 0);
	wait_for(&d, 1);
	while (!sender_reserve(s))
		poll(NULL, 0, 1);
	close(d.pipe[1]);
	end(&d, s);
}

static void messages_that_were_not_sent_are_freed(void **state)
{
	struct device d;
	struct sender *s = start(&d);

	for (unsigned i = 0; i < 3; i++) {
		struct out *out = sender_reserve(s);

		*out = (struct out){ .big = xcalloc(1, 1000), .length = 900 };
		sender_commit(s);
		assert_int_equal(sender_big_bytes(s), 900 * (i + 1));
	}
	sender_flush(s);
	let_through(&d, 0);
	while (sender_big_bytes(s) != 2 * 900)
		poll(NULL, 0, 1);
	close(d.pipe[1]);
	end(&d, s);
}

/* Closing the device waits for this, so that what was handed over last goes out. */
static void is_idle_when_all_is_written(void **state)
{
	struct device d;
	struct sender *s = start(&d);

	assert_true(sender_is_idle(s));
	post(s, 1);
	post(s, 2);
	assert_false(sender_is_idle(s));
	let_through(&d, 0);
	wait_for(&d, 1);
	assert_false(sender_is_idle(s));
	let_through(&d, ENXIO);
	while (!sender_is_idle(s))
		poll(NULL, 0, 1);
	assert_int_equal(d.last, 2);
	end(&d, s);
}

/* The process must be able to end; what the thread uses stays. */
static void device_that_never_returns_does_not_hold_the_end(void **state)
{
	static struct device d;
	static struct sender *s;

	s = start(&d);
	post(s, 1);
	while (!atomic_load(&d.begun))
		poll(NULL, 0, 1);
	assert_false(sender_free(s, 20));
	close(d.pipe[1]); /* for the leak check: it ends by itself, later */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_goes_out_in_order),
		cmocka_unit_test(many_go_out_without_a_flush),
		cmocka_unit_test(what_fails_comes_back),
		cmocka_unit_test(what_is_late_comes_back),
		cmocka_unit_test(full_queue_is_told),
		cmocka_unit_test(messages_that_were_not_sent_are_freed),
		cmocka_unit_test(is_idle_when_all_is_written),
		cmocka_unit_test(device_that_never_returns_does_not_hold_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
