// SPDX-License-Identifier: BSD-2-Clause
/* For files of our own that end with a hash of what stands before. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

static inline void require(bool holds)
{
	if (!holds)
		abort();
}

/* An input of that form with a hash of zeros gets the right one. */
static inline void put_hash_right(char *text, size_t len)
{
	static const char zeros[] = "end 0x0000000000000000\n";
	size_t tail = sizeof(zeros) - 1;
	char right[sizeof(zeros)];

	if (len < tail || memcmp(text + len - tail, zeros, tail))
		return;
	snprintf(right, sizeof(right), "end 0x%016" PRIx64 "\n",
		 hash_bytes(HASH_START, text, len - tail));
	memcpy(text + len - tail, right, tail);
}
