// SPDX-License-Identifier: BSD-2-Clause
/*
 * A patch in numbers and in words, for the log, events, metrics and the planner:
 * "leaf12/33 lost: 214 destinations moved in 3.1 ms (198 beside it, 16 one hop back, 0 waiting)"
 */
#pragma once

#include <stddef.h>

#include "route/patch/patch.h"

struct patch_tally {
	unsigned cables;   /* number of cables that died, 1 or more */
	unsigned switches; /* number of switches whose tables were written */
	/* table entries that led into these cables: a destination counts at each switch */
	unsigned destinations[PATCH_HOWS];
	unsigned groups;	   /* number of multicast groups whose trees were joined again */
	unsigned branches_waiting; /* number of branches of trees that found no other cable */
	unsigned us;		   /* from the news of the loss to the answer of the last Set */
};

/* Number of entries that got another port: all but those that wait. */
unsigned patch_tally_moved(const struct patch_tally *t);

/* "beside it", "by the engine's rule" ...: words behind a count, of a patch of so many cables. */
const char *patch_way_words(enum patch_how how, unsigned cables);

/*
 * The record in words. `what`: the cable or the device that was lost, as "leaf12/33" or "spine3";
 * NULL: no single one. Ways that moved nothing are left out. Returns `ret`, cut after `len` - 1
 * bytes; PATCH_TEXT_MAX suffices for a name of 100.
 */
#define PATCH_TEXT_MAX 500
char *patch_text(const char *what, const struct patch_tally *t, char *ret, size_t len);
