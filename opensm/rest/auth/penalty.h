// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failed logins: after several of one key (an address, or a user) the next ones are refused for a
 * while, which doubles. Bounded: in a full table the key that failed longest ago is forgotten.
 *
 * A password that is known to be right (auth/verified.h), a token and a session are never refused
 * by it, so that a stranger that guesses does not lock a client out that works.
 */
#pragma once

#include "util/mem.h"
#include "util/mono.h"

#define PENALTY_KEYS   1024
#define PENALTY_FORGET (900 * MONO_S) /* without a failure */

struct penalty_limit {
	unsigned free;	 /* failures without a penalty */
	mono_t first, most; /* the first refusal's time, and the longest */
};

struct penalty;

struct penalty *penalty_new(const struct penalty_limit *limit);
struct penalty *penalty_free(struct penalty *p); /* NULL is fine; returns NULL */
FREEP(penalty_free, struct penalty)

/* How long `key` must wait; 0: it may try. */
mono_t penalty_wait(const struct penalty *p, const char *key, mono_t now);
void penalty_failed(struct penalty *p, const char *key, mono_t now);
void penalty_passed(struct penalty *p, const char *key);
