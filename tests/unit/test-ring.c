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

static bool readable(const struct bell *b)
{
	struct pollfd p = { .fd = bell_fd(b), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* The next slot as a loop takes it: NULL when it may poll. */
static uint32_t *next_of(struct ring *r, struct bell *b)
{
	uint32_t *slot;

	do
		slot = ring_front(r);
	while (!slot && !bell_is_quiet(b));
	return slot;
}

static void slots_come_out_in_order(void **state)
{
	struct bell *b = bell_new(BELL_POLLED);
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t), b);

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
	bell_free(b);
}

static void full_ring_has_no_slot_until_one_is_given_back(void **state)
{
	struct bell *b = bell_new(BELL_POLLED);
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t), b);

	for (uint32_t i = 0; i < SLOTS; i++)
		put(r, i);
	assert_null(ring_reserve(r));
	assert_int_equal(*(uint32_t *)ring_front(r), 0);
	assert_null(ring_reserve(r));
	ring_pop(r);
	assert_non_null(ring_reserve(r));
	ring_free(r);
	bell_free(b);
}

static void descriptor_is_readable_after_notify_and_quiet_once_drained(void **state)
{
	struct bell *b = bell_new(BELL_POLLED);
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t), b);

	ring_notify(r);
	assert_false(readable(b));
	put(r, 1);
	put(r, 2);
	ring_notify(r);
	assert_true(readable(b));
	while (next_of(r, b))
		ring_pop(r);
	assert_false(readable(b));
	ring_free(r);
	bell_free(b);
}

static void reader_that_is_awake_costs_no_signal(void **state)
{
	struct bell *b = bell_new(BELL_POLLED);
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t), b);

	put(r, 1);
	ring_notify(r);
	assert_non_null(ring_front(r)); /* awake: has not yet found it empty */
	while (next_of(r, b))
		ring_pop(r);
	put(r, 2);
	ring_notify(r);
	assert_true(readable(b));
	assert_non_null(ring_front(r));
	put(r, 3);
	ring_notify(r); /* told once already */
	ring_pop(r);
	assert_int_equal(*(uint32_t *)ring_front(r), 3);
	ring_pop(r);
	assert_null(next_of(r, b));
	assert_false(readable(b));
	ring_free(r);
	bell_free(b);
}

/* As two devices that one loop reads: what one of them has done is not taken for the other's. */
static void two_rings_share_a_bell(void **state)
{
	struct bell *b = bell_new(BELL_POLLED);
	struct ring *r[2];

	for (unsigned i = 0; i < 2; i++)
		r[i] = ring_new(SLOTS, sizeof(uint32_t), b);
	for (unsigned turn = 0; turn < 6; turn++) {
		struct ring *one = r[turn % 2], *other = r[(turn + 1) % 2];

		assert_false(readable(b));
		put(one, turn);
		put(other, turn + 100);
		ring_notify(one);
		ring_notify(other);
		assert_int_equal(*(uint32_t *)ring_front(one), turn);
		ring_pop(one);
		assert_null(ring_front(one));
		assert_true(readable(b)); /* the other one's */
		assert_int_equal(*(uint32_t *)ring_front(other), turn + 100);
		ring_pop(other);
		do {
			assert_null(ring_front(one));
			assert_null(ring_front(other));
		} while (!bell_is_quiet(b));
	}
	assert_false(readable(b));
	ring_free(r[0]);
	ring_free(r[1]);
	bell_free(b);
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
	struct bell *b = bell_new(BELL_POLLED);
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t), b);
	struct pollfd p = { .fd = bell_fd(b), .events = POLLIN };
	pthread_t writer;
	uint32_t next = 0, *slot;

	assert_int_equal(pthread_create(&writer, NULL, write_many, r), 0);
	while (next < MANY) {
		slot = next_of(r, b);
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
	bell_free(b);
}

/* The same with a reader that waits at the bell, as the sender does. */
static void waiting_reader_loses_nothing_and_never_hangs(void **state)
{
	struct bell *b = bell_new(BELL_WAITED);
	struct ring *r = ring_new(SLOTS, sizeof(uint32_t), b);
	pthread_t writer;
	uint32_t next = 0, *slot;

	assert_int_equal(pthread_create(&writer, NULL, write_many, r), 0);
	while (next < MANY) {
		slot = ring_front(r);
		if (!slot) {
			bell_wait(b);
			continue;
		}
		assert_int_equal(*slot, next);
		next++;
		ring_pop(r);
	}
	pthread_join(writer, NULL);
	assert_null(ring_front(r));
	ring_free(r);
	bell_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_come_out_in_order),
		cmocka_unit_test(full_ring_has_no_slot_until_one_is_given_back),
		cmocka_unit_test(descriptor_is_readable_after_notify_and_quiet_once_drained),
		cmocka_unit_test(reader_that_is_awake_costs_no_signal),
		cmocka_unit_test(two_rings_share_a_bell),
		cmocka_unit_test(two_threads_lose_nothing_and_never_hang),
		cmocka_unit_test(waiting_reader_loses_nothing_and_never_hangs),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
