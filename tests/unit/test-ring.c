// SPDX-License-Identifier: BSD-2-Clause
/* The ring between two threads: order, fullness, and that no thread sleeps through news. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>

#include "libvendor/ring.h"

#define SLOTS 8

static void put(struct ring *r, uint32_t value)
{
	uint32_t *slot = ring_reserve(r);

	assert_non_null(slot);
	*slot = value;
	ring_publish(r);
}

static bool readable(const struct ring *r)
{
	struct pollfd p = { .fd = ring_fd(r), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void slots_come_out_in_order(void **state)
{
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t));

	for (uint32_t lap = 0; lap < 3 * SLOTS; lap++) {
		put(r, lap);
		put(r, lap + 1000);
		assert_int_equal(*(uint32_t *)ring_front(r), lap);
		ring_pop(r);
		assert_int_equal(*(uint32_t *)ring_front(r), lap + 1000);
		ring_pop(r);
	}
	assert_null(ring_front(r));
	ring_free(r);
}

static void full_ring_has_no_slot_until_one_is_given_back(void **state)
{
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t));

	for (uint32_t i = 0; i < SLOTS; i++)
		put(r, i);
	assert_null(ring_reserve(r));
	assert_int_equal(*(uint32_t *)ring_front(r), 0);
	assert_null(ring_reserve(r));
	ring_pop(r);
	assert_non_null(ring_reserve(r));
	ring_free(r);
}

static void descriptor_is_readable_after_notify_and_quiet_once_drained(void **state)
{
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t));

	ring_notify(r);
	assert_false(readable(r));
	put(r, 1);
	put(r, 2);
	ring_notify(r);
	assert_true(readable(r));
	while (ring_front(r))
		ring_pop(r);
	assert_false(readable(r));
	ring_free(r);
}

static void reader_that_is_awake_costs_no_signal(void **state)
{
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t));

	put(r, 1);
	ring_notify(r);
	assert_non_null(ring_front(r)); /* awake: has not yet found it empty */
	while (ring_front(r))
		ring_pop(r);
	put(r, 2);
	ring_notify(r);
	assert_true(readable(r));
	assert_non_null(ring_front(r));
	put(r, 3);
	ring_notify(r); /* told once already */
	ring_pop(r);
	assert_int_equal(*(uint32_t *)ring_front(r), 3);
	ring_pop(r);
	assert_null(ring_front(r));
	assert_false(readable(r));
	ring_free(r);
}

#define MANY 200000u

static void *write_many(void *arg)
{
	struct ring *r = arg;
	uint32_t *slot;

	for (uint32_t i = 0; i < MANY; i++) {
		while (!(slot = ring_reserve(r)))
			ring_wait_room(r);
		*slot = i;
		ring_publish(r);
		if (i % 3 == 0 || i == MANY - 1)
			ring_notify(r);
	}
	return NULL;
}

/* Both sides sleep all the time: the ring has 8 slots, and the reader polls without a timeout. */
static void two_threads_lose_nothing_and_never_hang(void **state)
{
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t));
	struct pollfd p = { .fd = ring_fd(r), .events = POLLIN };
	pthread_t writer;
	uint32_t next = 0, *slot;

	assert_int_equal(pthread_create(&writer, NULL, write_many, r), 0);
	while (next < MANY) {
		slot = ring_front(r);
		if (!slot) {
			while (poll(&p, 1, -1) < 0)
				assert_int_equal(errno, EINTR);
			continue;
		}
		assert_int_equal(*slot, next);
		next++;
		ring_pop(r);
	}
	pthread_join(writer, NULL);
	assert_null(ring_front(r));
	ring_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_come_out_in_order),
		cmocka_unit_test(full_ring_has_no_slot_until_one_is_given_back),
		cmocka_unit_test(descriptor_is_readable_after_notify_and_quiet_once_drained),
		cmocka_unit_test(reader_that_is_awake_costs_no_signal),
		cmocka_unit_test(two_threads_lose_nothing_and_never_hang),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
