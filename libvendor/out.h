// SPDX-License-Identifier: BSD-2-Clause
/* A message on its way from the main thread to a thread that writes it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opensm/transport.h"

#define OUT_HEADER 64 /* bytes in front of the MAD, as the device wants them */

struct out {
	int fd, agent; /* descriptor and agent of the device that sends it */
	int error; /* -errno of a failed write() */
	int retries;
	unsigned timeout_ms;
	/*
	 * Milliseconds of CLOCK_MONOTONIC until which it may be sent; later it comes back with
	 * -ETIMEDOUT. 0: no limit.
	 */
	uint64_t not_after;
	size_t length;
	uint32_t tid; /* id of a request in the window (window.h) */
	void *big; /* header and message when it is longer than one MAD, else NULL; malloc()ed */
	_Alignas(8) uint8_t umad[OUT_HEADER + TRANSPORT_MAD_SIZE];
};

/* CLOCK_MONOTONIC in microseconds. */
int64_t out_now_us(void);
/* A value of `not_after` that is `ms` milliseconds from now. */
uint64_t out_in_ms(unsigned ms);
/* Has `not_after` passed, perhaps because the process was stopped? */
bool out_is_late(const struct out *out);
