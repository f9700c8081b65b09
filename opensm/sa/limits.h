// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much one requester, and all of them together, may cost Subnet Administration. Every bound on
 * what a remote port can make us do or keep stands here; sa_limits_default is what the daemon uses,
 * tests set smaller ones.
 *
 * A requester is a port of the view (all its LIDs together), never a QP. What exceeds a bound of
 * time (too many questions at once) is dropped without an answer, as Linux clients need it; what
 * exceeds a bound of size is answered with NO_RESOURCES (0x0100).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sa_limits {
	/* Rows are what a record type looks at, whether they end in the answer or not. */
	uint32_t
		rows_at_once; /* when a question comes in; what is not done by then waits its turn */
	uint32_t rows_a_turn;  /* of one query before the next requester's */
	uint32_t rows_a_slice; /* of all turns of one sa_dispatch() */
	uint32_t queries;      /* waiting for a turn or for a device, in all */
	uint32_t queries_each; /* of one requester */
	uint32_t big_each;     /* of these, answers longer than big_bytes */
	size_t big_bytes;
	size_t answer_bytes;  /* the longest answer */
	size_t answers_bytes; /* all answers in the making */
	size_t request_bytes; /* of data in one request (a MultiPathRecord of 510 GIDs has 8,184) */
	uint32_t cells;	      /* tables read from devices for one query */
};

extern const struct sa_limits sa_limits_default;
