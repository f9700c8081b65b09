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
 * So many requests of a port with wrong keys are an event; more of them are not another one, until
 * none came for SA_GUESS_QUIET.
 */
#define SA_GUESSES     10u
#define SA_GUESS_QUIET (600 * MONO_S)

/*
 * So many requests of a port, of one enum sa_abuse and within the window, are an event; more of
 * them are not another one for SA_ABUSE_QUIET.
 */
#define SA_ABUSE_MANY	100u
#define SA_ABUSE_WINDOW (600 * MONO_S)
#define SA_ABUSE_QUIET	(3600 * MONO_S)

struct sa_limits {
	/*
	 * Rows are what a record type looks at, whether they end in the answer or not: of a
	 * question when it comes in (what is not done by then waits its turn), of one query before
	 * the next requester's turn, of all turns of one sa_dispatch().
	 */
	uint32_t rows_at_once, rows_a_turn, rows_a_slice;
	/*
	 * Queries that wait for a turn or for a device: in all (the last eighth is for requesters
	 * that have none waiting), and of one requester.
	 */
	uint32_t queries, queries_each;
	/*
	 * A query keeps the view it began with. One that began more views ago than this ends
	 * without an answer: so many pictures of the fabric are in memory at most, however slow the
	 * questions.
	 */
	uint32_t views;
	/* Long answers, those above big_bytes, of one requester at a time. */
	uint32_t big_each;
	size_t big_bytes;
	/* The longest answer, and all answers in the making (a quarter is for those not long). */
	size_t answer_bytes, answers_bytes;
	/*
	 * Tables of more than one MAD sent to one requester within a window: the kernel holds them
	 * until they are acknowledged, 8 s if they never are (RMPP: 4 tries of 2 s).
	 */
	size_t sent_bytes_each;
	mono_t sent_window;
	size_t request_bytes; /* of data in one request (a MultiPathRecord of 510 GIDs has 8,184) */
	uint32_t cells;	      /* tables read from devices for one query */
};

extern const struct sa_limits sa_limits_default;
