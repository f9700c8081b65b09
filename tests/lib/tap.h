// SPDX-License-Identifier: BSD-2-Clause
/*
 * A tap between a manager and its port: faults of what it exchanges with other managers, and what
 * it asked an SA last. All members are free to be read and set at any time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ib/mad.h"
#include "opensm/transport.h"

#define TAP_HEARD 64

struct tap {
	struct transport base, *under;
	/* the last question to an SA, and where it went; is its answer waited for; how many */
	struct transport_addr to;
	uint8_t mad[MAD_SIZE];
	bool waits;
	unsigned questions;
	bool unregistered; /* what it registers gets lost */
	bool deaf;	   /* SMInfo of others, and traps, do not arrive */
	/* sees whatever the manager sends; NULL: not wanted */
	void (*sees)(const struct transport_addr *to, const uint8_t *mad, size_t length);
	/* parts of the channel, per cent; `late`: one overtakes it */
	struct {
		unsigned lost, twice, late;
		unsigned flipped; /* a bit of it, or of an answer, is another one */
		bool cut;	  /* none arrives */
		bool old; /* this manager announces another version, and takes no part of ours */
		uint64_t dice;
		struct transport_event kept;
		unsigned wait;		/* MADs until `kept` arrives; 0: there is none */
		uint8_t sent[MAD_SIZE]; /* the last part, or answer */
		unsigned n_sent, n_requests;
		/* the last requests that arrived */
		struct transport_event heard[TAP_HEARD];
		unsigned n_heard;
		/* 8 bytes that are looked for in all parts that it sends; how often found */
		uint64_t sought;
		unsigned found;
	} channel;
};

/* Puts the tap before a port; other members stay. The result is not closed by its user. */
struct transport *tap_open(struct tap *tap, struct transport *under);
/* Is this MAD a part of the channel between managers? */
bool tap_is_part(const uint8_t *mad);
