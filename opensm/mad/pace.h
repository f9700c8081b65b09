// SPDX-License-Identifier: BSD-2-Clause
/*
 * How long an answer takes, as measured: when one is overdue, and when to ask again. Private to
 * mad/.
 *
 * Every try has a TID of its own, and the transport waits for all of them: an answer tells which
 * try it belongs to. So every round trip is a true one (there is no ambiguity as in Karn's rule),
 * and a repetition that was not needed is known as such when the answer to an earlier try comes.
 *
 *   expected   mean + 4 spreads of the destination, at least twice the mean. Later, a try does not
 *              count as on the wire any more
 *   repeat     expected, at least PACE_FLOOR, doubled with every second try; at most the timeout
 *
 * A destination that never answered (a stranger) takes the figures of all others, doubled with each
 * try. Repetitions that turn out to be needless make all wait longer: caution, one for strangers
 * and one for the rest. It falls again with many answers, so that needless ones stay below 1 %.
 * While answers to earlier requests still come, there is a queue on the way and nothing is late
 * yet: pace_late().
 */
#pragma once

#include "mad/mad.h"

#define PACE_FLOOR    (2 * MONO_MS)
#define PACE_PATIENCE (20 * MONO_MS) /* least time that the transport waits for an answer */

struct pace {
	struct mad_rtt all[MAD_RTTS];
	uint64_t order;		 /* number of the last try */
	uint64_t answered_order; /* number of the latest try that was answered */
	mono_t answered_at;	 /* time of the last answer */
	struct caution {
		unsigned doublings; /* doublings of the time until a request is repeated */
		unsigned debt;	    /* answers until there is one doubling less */
		uint64_t from;	    /* first try since the last doubling was added */
	} strangers, known;
};

/* A try, while its answer may arrive. */
struct pace_try {
	mono_t sent;
	uint64_t order;
	bool strange; /* set if nothing was known of its target */
};

/* Notes a try that is sent now. */
void pace_sent(struct pace *p, const struct mad_target *target, uint8_t method,
	       struct pace_try *try, mono_t now);

/* Notes that a request was given up without an answer. */
void pace_silent(struct mad_target *target, uint8_t method);

/* Notes an answer. `needless`: tries of the same request that were sent after the answered one. */
void pace_answered(struct pace *p, struct mad_target *target, uint8_t method,
		   const struct pace_try *try, unsigned needless, mono_t now);

/* Has the target no known round trip for such a request? */
bool pace_is_strange(const struct mad_target *target, uint8_t method);

/* The round trip after which an answer is overdue; `limit` if nothing was ever answered. */
mono_t pace_expected(const struct pace *p, const struct mad_target *target, uint8_t method,
		     mono_t limit);

/* The time from one try to the next, after `repeats` repetitions; at most `limit`. */
mono_t pace_repeat(const struct pace *p, const struct mad_target *target, uint8_t method,
		   unsigned repeats, mono_t limit);

/*
 * The time at which the answer to `try` is late by `wait`. Counts from progress: answers to earlier
 * requests, by the same target or by all.
 */
mono_t pace_late(const struct pace *p, const struct mad_target *target, const struct pace_try *try,
		 mono_t wait);
