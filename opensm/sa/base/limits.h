// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much one requester, and all of them together, may cost Subnet Administration in questions.
 * sa_limits_default is what the daemon uses, with queries, queries_each and big_each as options
 * (sa_max_queries ..) say; tests set smaller ones.
 *
 * A requester is a port of the view (all its LIDs together), never a QP. Requests beyond a bound of
 * number (too many queries at once) are dropped without an answer, as Linux clients need it; those
 * beyond a bound of size are answered with NO_RESOURCES (0x0100), and the log names it (enum
 * sa_shortage). Those that are no options stand in opensm(8), REQUESTS OF HOSTS.
 *
 * Registrations are bounded by quota.c (groups, members, services, subscriptions), by GUIDCap and
 * sa_max_alias_guids (guidinfo.h), Reports by report.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/mono.h"

/*
 * Number of requests of a port with wrong keys that raise an event; further requests raise none
 * until none arrived for SA_GUESS_QUIET.
 */
#define SA_GUESSES     10u
#define SA_GUESS_QUIET (600 * MONO_S)

/*
 * Number of requests of a port, of one enum sa_abuse and within the window, that raise an event;
 * further ones raise none for SA_ABUSE_QUIET.
 */
#define SA_ABUSE_MANY	100u
#define SA_ABUSE_WINDOW (600 * MONO_S)
#define SA_ABUSE_QUIET	(3600 * MONO_S)

struct sa_limits {
	/*
	 * Rows that are examined, whether they end in the answer or not: of a query when it arrives
	 * (the rest waits for its turn), of one query before the next requester's turn, of all
	 * turns of one sa_dispatch().
	 */
	uint32_t rows_at_once, rows_a_turn, rows_a_slice;
	/*
	 * Most queries that wait for a turn or a device: in all (the last eighth is for requesters
	 * without a waiting query), and of one requester.
	 */
	uint32_t queries, queries_each;
	/*
	 * Most views that are in memory. A query keeps the view it began with, and ends without an
	 * answer once it began more views ago.
	 */
	uint32_t views;
	/* Most long answers, above big_bytes, of one requester at a time. */
	uint32_t big_each;
	size_t big_bytes;
	/* Most bytes of one answer; of all unfinished answers (a quarter is for short ones). */
	size_t answer_bytes, answers_bytes;
	/*
	 * Most bytes of multi-MAD tables sent to one requester within a window: the kernel holds
	 * them until they are acknowledged, or for 8 s (RMPP: 4 tries of 2 s).
	 */
	size_t sent_bytes_each;
	mono_t sent_window;
	/* most data bytes of one request (a MultiPathRecord of 510 GIDs has 8,184) */
	size_t request_bytes;
	uint32_t cells; /* most tables read from devices for one query */
};

extern const struct sa_limits sa_limits_default;
