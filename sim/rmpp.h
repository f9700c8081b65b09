// SPDX-License-Identifier: BSD-2-Clause
/*
 * Long messages in segments (IBA 13.6), as the Linux kernel does it: windows of 64 segments, one
 * before the first acknowledgement; 2 s for an acknowledgement, then again from the last one; 40 s
 * for a whole message; duplicates acknowledged for 10 s after. Each segment is a MAD that travels,
 * and may be lost, by itself.
 *
 * Header of the data: 56 bytes in class SA, repeated in each segment; 64 in device classes, 40 in
 * vendor classes with an OUI.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sim/agent.h"

struct event;

enum rmpp_type { RMPP_DATA = 1, RMPP_ACK, RMPP_STOP, RMPP_ABORT };

/* Status of STOP and ABORT (13.6.2.1.1, table 110). */
enum rmpp_status {
	RMPP_OK = 0,
	RMPP_NO_RESOURCES = 1, /* STOP; the others are ABORTs */
	RMPP_TIME_TOO_LONG = 118,
	RMPP_BAD_LENGTH = 119,
	RMPP_BAD_SEGMENT = 120,
	RMPP_BAD_TYPE = 121,
	RMPP_WINDOW_TOO_SMALL = 122,
	RMPP_SEGMENT_TOO_BIG = 123,
	RMPP_BAD_STATUS = 124,
	RMPP_BAD_VERSION = 125,
	RMPP_TOO_MANY_RETRIES = 126,
};

/* A message to send: `head` is its first MAD_SIZE bytes with the final TID. */
struct rmpp_message {
	const uint8_t *head;
	const uint8_t *bytes;
	size_t length;
};

/* Is this MAD a segment by its flags? Classes without RMPP have none. */
bool rmpp_is_active(const uint8_t *mad);
/* Bytes before the data in this class; 0: the class has no RMPP. */
unsigned rmpp_header_length(unsigned mgmt_class);

/* Starts sending; `m` is copied. Errors are those of agent_send(). */
int rmpp_send(struct agent *a, const struct transport_addr *to, const struct rmpp_message *m,
	      unsigned timeout_ms, unsigned retries);
/* Handles an active MAD for this agent. Takes ev. */
void rmpp_arrive(struct agent *a, struct event *ev);
/* Ends sending of the request with the TID and class of `mad`, as it was answered. */
void rmpp_answered(struct agent *a, const uint8_t *mad);
/* Handles the timer of a session. Takes ev. */
void rmpp_clock(struct sim *sim, struct event *ev);
/* Ends all sessions. */
void rmpp_close(struct agent *a);
