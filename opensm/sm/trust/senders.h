// SPDX-License-Identifier: BSD-2-Clause
/*
 * How often senders were heard lately, by whatever event the owner of the table counts. If there
 * are more senders than rows, those heard least are dropped: a frequent sender keeps its row, and a
 * host that invents senders takes only rows of little value.
 */
#pragma once

#include <stdint.h>

#include "util/mono.h"

#define SENDERS_MAX 32u

struct sender {
	uint64_t id;	    /* port GUID, or another number that the owner uses; 0: free */
	unsigned n;	    /* events in this window */
	mono_t since, told; /* told: for the owner; 0: never */
};

struct senders {
	mono_t window;
	struct sender rows[SENDERS_MAX];
};

/* Counts one event of `id`, which is not 0. Returns its row, valid until the next call. */
struct sender *senders_count(struct senders *s, uint64_t id, mono_t now);
