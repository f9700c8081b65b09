// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of the channel, shared by channel*.c only; the rest of sm/ sees channel.h.
 *
 *   channel.c       the doors; which MAD is for which part of this
 *   channel_peer.c  as MASTER: standbys that come and go (HELLO)
 *   channel_out.c   as MASTER: messages that are sent, part by part
 *   channel_in.c    as STANDBY: messages that arrive
 *   channel_part.c  the format of a part, on the way out and in
 *
 * Kinds of parts, all with SESSION, which pairs one life of the master with one of the standby:
 *
 *   HELLO (SESSION: the master's own) -> WELCOME (SESSION: the pair's, drawn by the standby)
 *   SEGMENT -> RECEIVED   kept; others are missing
 *           -> PENDING    the message is whole, and its handler has not replied yet: ask again
 *           -> REPLY      the handler's reply
 *           -> REFUSED    REASON says why
 *
 * SEGMENT: LENGTH, DIGEST (hash_bytes() from HASH_START) and MESSAGE_VERSION of the whole message,
 * which is number SERIAL of this life of the master; OFFSET is a multiple of CHANNEL_PART_BYTES.
 * The segment that makes a message whole is answered when the handler has replied, or after HOLD.
 */
#pragma once

#include "ib/records.h"
#include "sm/channel/channel.h"
#include "sm/sm_internal.h"
#include "util/told.h"

/* MADs that wait for an answer; the last ones are for HELLO only. */
#define CHANNEL_SHOTS	    64u
#define CHANNEL_DATA_SHOTS  56u
/* Segments behind the first missing one that a receiver keeps. */
#define CHANNEL_WINDOW	    64u
/* Bytes of all messages that are under way. */
#define CHANNEL_BYTES_MAX   (64u << 20)

enum channel_kind {
	PART_HELLO = 1,
	PART_SEGMENT,
	PART_WELCOME,
	PART_RECEIVED,
	PART_PENDING,
	PART_REPLY,
	PART_REFUSED,
};

enum channel_reason {
	REASON_VERSION = 1, /* VERSION in the answer is what it speaks */
	REASON_SESSION,	    /* HELLO first */
	REASON_STREAM,	    /* it has no handler for it */
	REASON_LENGTH,	    /* too long, or no memory for it */
	REASON_STALE,	    /* a later message was here already */
	REASON_MALFORMED,
	REASON_DIGEST,	    /* all segments are there, and do not make up the message */
};

struct channel_part {
	enum channel_kind kind;
	uint8_t version, stream, reason;
	uint32_t session, serial, length, offset;
	uint64_t digest, message_version;
	const uint8_t *bytes; /* of the segment, or reply; n of them */
	size_t n;
};

/* A MAD that waits for its answer. */
struct channel_shot {
	uint32_t tid; /* 0: free */
	unsigned peer;
	bool hello; /* else `segment` of the message on `stream` */
	uint8_t stream;
	uint32_t segment;
	lid_t lid;
	mono_t sent_at, deadline;
};

/* A message to a standby. */
struct channel_out {
	bool busy;
	uint8_t *bytes; /* owned */
	size_t len;
	uint64_t version, digest;
	uint32_t serial;
	uint32_t n_segments, base; /* base: the first one not received there */
	uint64_t done, out; /* bit n: segment base + n was received; waits for an answer */
	uint32_t fresh;		   /* the first one that was never sent */
	unsigned window, shots;
	unsigned restarts;
	mono_t not_before;	   /* nothing is sent before */
	mono_t cut_at;		   /* since when the window was not reduced */
	mono_t pending_since;	   /* it is whole there; MONO_NEVER: not */
	channel_reply_fn *on_reply;
	void *arg;
};

enum { TOLD_VERSION };

struct channel_peer {
	guid_t guid; /* 0: free */
	bool connected, hello_out, fail; /* fail: it is to be LOST by the next tick */
	struct told told;
	uint32_t own_session; /* ours with it; 0: a new one is to be drawn */
	uint32_t session;     /* the pair's */
	unsigned silent; /* MADs in a row without an answer */
	mono_t registered_at, heard_at, hello_at, connected_at;
	struct log_limit log; /* that it came and went */
	struct channel_out out[CHANNEL_STREAMS];
};

/* A message from the master. */
struct channel_in {
	enum { IN_NONE, IN_COMING, IN_WORKING, IN_REPLIED } state;
	uint8_t *bytes; /* owned; grows with what has arrived */
	size_t len, cap;
	uint32_t serial, n_segments, base;
	uint64_t got; /* bit n: segment base + n is there */
	uint64_t version, digest, hash; /* hash: of the segments before base */
	/* the request that is answered when the handler has replied */
	bool held;
	uint32_t held_segment; /* which made it whole */
	mono_t held_since;
	struct transport_addr held_from;
	uint8_t held_mad[SA_DATA];
	uint8_t reply[CHANNEL_REPLY_MAX];
	size_t reply_len;
};

struct channel_handler {
	channel_message_fn *fn;
	void *arg;
};

struct channel {
	const struct channel_questions *questions;
	/* as MASTER */
	uint32_t last_serial;
	struct channel_peer peers[MAX_REMOTE_SMS];
	unsigned n_rows; /* of peers: those behind were never in use, and are not looked at */
	struct channel_shot shots[CHANNEL_SHOTS];
	unsigned n_shots, turn; /* turn: the peer that is served first */
	size_t bytes;		/* of all messages */
	mono_t blocked_until;	/* the transport is full */
	/* as STANDBY */
	guid_t master;
	uint32_t master_session, session;
	/* both */
	uint64_t dice; /* sessions are drawn of it */
	struct channel_in in[CHANNEL_STREAMS];
	struct channel_handler handlers[CHANNEL_STREAMS];
	struct channel_stats stats;
	struct log_limit log;
};

_Static_assert(CHANNEL_PART_BYTES == CHANNEL_REPLY_MAX, "a reply fits one part");
_Static_assert(SA_DATA + CHP_BYTES + CHANNEL_PART_BYTES <= 224, "all of it arrives");

/* ---- channel_part.c ---- */

uint32_t channel_segments(size_t len); /* at least 1 */
size_t channel_segment_bytes(size_t len, uint32_t segment);
/* False: it is none, or contradicts itself; *ret is filled in all the same. */
bool channel_part_read(const struct transport_event *ev, struct channel_part *ret);
/* Answers a request whose first SA_DATA bytes are `mad`. */
void channel_answer(struct sm *sm, const struct transport_addr *from, const uint8_t *mad,
		    const struct channel_part *part);
/*
 * Sends a request of `shot` (tid, sent_at and deadline are filled in). 0 or -errno: it was not
 * sent.
 */
int channel_shoot(struct sm *sm, const struct channel_shot *shot, const struct channel_part *part,
		  unsigned timeout_ms);
/*
 * The shot that this answer, or returned request, belongs to; NULL: none, and an answer is counted
 * as one that was not asked for.
 */
struct channel_shot *channel_find_shot(struct sm *sm, const struct transport_event *ev);
void channel_free_shot(struct channel *c, struct channel_shot *shot);
void channel_free_shots(struct channel *c, unsigned peer);

/* ---- channel_out.c ---- */

int out_start(struct sm *sm, struct channel_peer *p, enum channel_stream stream, uint64_t version,
	      const void *bytes, size_t len);
/* As much as may be sent now. */
void out_feed(struct sm *sm);
/* An answer to a segment. */
void out_answer(struct sm *sm, const struct channel_shot *shot, const struct channel_part *part);
void out_silence(struct sm *sm, const struct channel_shot *shot);
/* All messages to this standby end as LOST. */
void out_lose(struct sm *sm, struct channel_peer *p);
void out_clear(struct channel *c, struct channel_out *o);
mono_t out_next(const struct sm *sm);

/* ---- channel_peer.c ---- */

void peer_seen(struct sm *sm, guid_t guid, const uint8_t *record);
struct channel_peer *peer_find(struct channel *c, guid_t guid);
void peer_answer(struct sm *sm, const struct channel_shot *shot, const struct channel_part *part);
void peer_silence(struct sm *sm, const struct channel_shot *shot);
void peer_tick(struct sm *sm);
mono_t peer_next(const struct sm *sm);
/* We are not MASTER any more. */
void peer_lose_all(struct sm *sm);

/* ---- channel_in.c ---- */

/* A request from any sender. */
void in_receive(struct sm *sm, const struct transport_event *ev);
void in_reply(struct sm *sm, const struct channel_ticket *ticket, const void *bytes, size_t len);
void in_tick(struct sm *sm);
mono_t in_next(const struct sm *sm);
void in_reset(struct channel *c);
