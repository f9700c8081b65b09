// SPDX-License-Identifier: BSD-2-Clause
/*
 * What umad_receive.c makes of messages of any length that others send. Stands in for the one call
 * of libibumad that reads; so it takes the source in, to get at the reader without its thread.
 */
#include "libvendor/umad_receive.c" /* first: the functions of this file */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

/* What the kernel holds; a message stands there until a reader has room for it. */
static int waiting[4];
static unsigned n_waiting;

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	int room = *length;

	if (!n_waiting) {
		errno = EAGAIN;
		return -EAGAIN;
	}
	*length = waiting[0];
	if (waiting[0] > room) {
		errno = ENOSPC;
		return -ENOSPC;
	}
	memset(umad_get_mad(umad), 0x5A, (size_t)waiting[0]);
	memmove(waiting, waiting + 1, --n_waiting * sizeof(waiting[0]));
	return 0;
}

static void arrive(int length)
{
	waiting[n_waiting++] = length;
}

static void a_long_request_comes_whole(void **state)
{
	struct receiver t = { .fd = -1 };
	struct slot slot;

	arrive(20000);
	assert_int_equal(read_mad(&t, &slot), 0);
	assert_int_equal(slot.length, 20000);
	assert_int_equal(slot.whole[19999], 0x5A);
	free(slot.whole);
	free(t.big);
}

/*
 * One that is longer than any request costs itself: neither the port, nor memory, nor what waits
 * behind.
 */
static void a_message_of_any_length_ends_nothing(void **state)
{
	struct receiver t = { .fd = -1 };
	struct slot slot;

	arrive(17 << 20);
	arrive(100000);
	arrive(TRANSPORT_MAD_SIZE);
	assert_int_equal(read_mad(&t, &slot), 0);
	assert_int_equal(slot.length, TRANSPORT_MAD_SIZE);
	assert_null(slot.whole);
	assert_null(t.big);
	arrive(17 << 20);
	assert_int_equal(read_mad(&t, &slot), -EAGAIN);
}

/* A host that sends one after the other does not keep the thread from its end. */
static void long_messages_do_not_hold_up_the_end(void **state)
{
	struct receiver t = { .fd = -1 };
	struct slot slot;

	atomic_store(&t.stop, true);
	arrive(17 << 20);
	arrive(17 << 20);
	assert_int_equal(read_mad(&t, &slot), -EAGAIN);
	assert_int_equal(n_waiting, 1);
	n_waiting = 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_request_comes_whole),
		cmocka_unit_test(a_message_of_any_length_ends_nothing),
		cmocka_unit_test(long_messages_do_not_hold_up_the_end),
	};

	return cmocka_run_group_tests_name("umad-big", tests, NULL, NULL);
}
