// SPDX-License-Identifier: BSD-2-Clause
/*
 * How often single senders were heard lately, of what the owner of the table counts. Of more
 * senders than rows those that were heard least give way: one that is loud keeps its row, and a
 * host that invents senders takes only rows that say nothing.
 */
#pragma once

#include <stdint.h>

#include "util/mono.h"

#define SENDERS_MAX 32u

struct sender {
	uint64_t id;	    /* GUID of a port, or what its owner takes for one; 0: free */
	unsigned n;	    /* in this window */
	mono_t since, told; /* told: the owner's; 0 never */
};

struct senders {
	mono_t window;
	struct sender rows[SENDERS_MAX];
};

/* One more of `id`, which is not 0. Its row, until the next call. */
struct sender *senders_count(struct senders *s, uint64_t id, mono_t now);
