// SPDX-License-Identifier: BSD-2-Clause
/* A message on its way from the main thread to a thread that writes it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opensm/transport.h"

#define OUT_HEADER 64 /* bytes in front of the MAD, as the device wants them */

struct out {
	int fd, agent; /* of the device that it leaves by */
	int error; /* of what failed: -errno */
	int retries;
	unsigned timeout_ms;
	/*
	 * Milliseconds of CLOCK_MONOTONIC. A MAD that is still in the queue then is not sent, and
	 * comes back with -ETIMEDOUT. 0: it may wait for ever.
	 */
	uint64_t not_after;
	size_t length;
	uint32_t tid; /* of a request in the window (window.h) */
	void *big; /* header and message when it is longer than one MAD, else NULL; malloc()ed */
	_Alignas(8) uint8_t umad[OUT_HEADER + TRANSPORT_MAD_SIZE];
};

/* CLOCK_MONOTONIC in microseconds. */
int64_t out_now_us(void);
/* In milliseconds, `ms` from now: a value of `not_after`. */
uint64_t out_in_ms(unsigned ms);
/* Its `not_after` is over, perhaps because the process was stopped. */
bool out_is_late(const struct out *out);
