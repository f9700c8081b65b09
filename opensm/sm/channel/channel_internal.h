// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of the channel, shared by channel*.c only; the rest of sm/ sees channel.h.
 *
 *   channel.c       what others call; which MAD is for which part of this
 *   channel_meet.c  requests of others: their HELLOs and proofs
 *   channel_peer.c  managers that come and go: our own HELLOs
 *   channel_out.c   messages that are sent, part by part
 *   channel_in.c    messages that arrive
 *   channel_row.c   the table of managers
 *   channel_way.c   where each is reached
 *   channel_key.c   the keys that are proven, and what is drawn
 *   channel_part.c  the format of a part, on the way out and in
 *
 * Kinds of parts:
 *
 *   HELLO (GUID, life and nonce of the sender)
 *           -> WELCOME    GUID, life and nonce of the other side; SESSION: the one that it has from
 *                         this sender, 0: none; TAG proves all of it, and the HELLO's nonce
 *   CONFIRM (the same, and the nonce of WELCOME; SESSION: the new one; TAG proves all of it)
 *           -> CONFIRMED  the session begins
 *   SEGMENT -> RECEIVED   kept; others are missing
 *           -> PENDING    the message is whole, and its handler has not replied yet: ask again
 *           -> REPLY      the handler's reply
 *           -> REFUSED    REASON says why
 *
 * A manager that answers HELLO remembers nothing: its nonce is made of the HELLO, of a secret of
 * its own, and of the number of sessions before, so that a CONFIRM of another session does not fit.
 * Behind CONFIRM, each part and each answer is sealed by the keys of the session: its head is
 * proven, and segments and replies are encrypted. A part that was not sealed so is as if it had
 * never come; of answers only REFUSED for VERSION and SESSION are not sealed, and these only hasten
 * a HELLO.
 *
 * A connected manager is asked HELLO every 2 s, too: WELCOME proves whether it still has the
 * session.
 *
 * SEGMENT: LENGTH of the whole message, which is number SERIAL of the session and begins with its
 * version (VERSION_BYTES); OFFSET is a multiple of CHANNEL_PART_BYTES. The nonce of a seal is made
 * of KIND, STREAM, REASON, SERIAL and OFFSET: two parts for which these are the same are the same.
 * The segment that makes a message whole is answered when the handler has replied, or after HOLD.
 */
#pragma once

#include "ib/records.h"
#include "keys/channel_proof.h"
#include "sm/channel/channel.h"
#include "sm/sm_internal.h"
#include "util/told.h"

/* MADs that wait for an answer; the last ones are not for segments. */
#define CHANNEL_SHOTS	    80u
#define CHANNEL_DATA_SHOTS  56u
/* Segments behind the first missing one that a receiver keeps. */
#define CHANNEL_WINDOW	    64u
/* Bytes of all messages that are under way; and the same of those that arrive. */
#define CHANNEL_BYTES_MAX   (64u << 20)
#define VERSION_BYTES	    8u

enum channel_kind {
	PART_HELLO = 1,
	PART_SEGMENT,
	PART_WELCOME,
	PART_RECEIVED,
	PART_PENDING,
	PART_REPLY,
	PART_REFUSED,
	PART_CONFIRM,
	PART_CONFIRMED,
};

enum channel_reason {
	REASON_VERSION = 1, /* VERSION in the answer is what it speaks */
	REASON_SESSION,	    /* HELLO first */
	REASON_STREAM,	    /* it has no handler for it */
	REASON_LENGTH,	    /* too long, or no memory for it */
	REASON_STALE,	    /* this message, or a later one, was here already */
	REASON_MALFORMED,
};

struct channel_part {
	enum channel_kind kind;
	uint8_t version, stream, reason;
	uint32_t session, serial, length, offset;
	struct channel_tag tag;
	const uint8_t *bytes; /* of the segment, reply or meeting; n of them */
	size_t n;
};

/* The contents of HELLO, WELCOME and CONFIRM. */
struct channel_meeting {
	guid_t guid;
	uint64_t life;
	struct channel_nonce nonce, answered;
};

/* A MAD that waits for its answer. */
struct channel_shot {
	uint32_t tid; /* 0: free */
	unsigned peer;
	enum { SHOT_SEGMENT, SHOT_HELLO, SHOT_CONFIRM } what; /* `segment` of a message */
	uint8_t stream;
	uint32_t segment;
	lid_t lid;
	mono_t sent_at, deadline;
};

/* A message that is sent. */
struct channel_out {
	bool busy;
	uint8_t *bytes; /* owned; its version stands before it */
	size_t len;	/* with that */
	uint32_t serial;
	uint32_t n_segments, base; /* base: the first one not received there */
	uint64_t done, out; /* bit n: segment base + n was received; waits for an answer */
	uint32_t fresh;		   /* the first one that was never sent */
	unsigned window, shots;
	mono_t not_before;	   /* nothing is sent before */
	mono_t cut_at;		   /* since when the window was not reduced */
	mono_t pending_since;	   /* it is whole there; MONO_NEVER: not yet */
	channel_reply_fn *on_reply;
	void *arg;
};

/* A message that arrives. */
struct channel_in {
	enum { IN_NONE, IN_COMING, IN_WORKING, IN_REPLIED } state;
	uint8_t *bytes; /* owned; grows with what has arrived */
	size_t len, cap;
	uint32_t serial; /* IN_NONE: of the last one that was done with */
	uint32_t n_segments, base;
	uint64_t got;	   /* bit n: segment base + n is there */
	mono_t touched_at; /* a part of it arrived */
	/* the request that is answered when the handler has replied */
	bool held;
	uint32_t held_segment; /* which made it whole */
	mono_t held_since;
	struct transport_addr held_from;
	uint8_t held_mad[SA_DATA];
	uint8_t reply[CHANNEL_REPLY_MAX];
	size_t reply_len;
};

/* Said once of a manager: it has another version; other keys; or it answers as a foreign one. */
enum { TOLD_VERSION, TOLD_KEYS };

/* Another manager. Both directions: what we send, and what it sends. */
struct channel_peer {
	guid_t guid;	 /* 0: free */
	uint64_t life;	 /* of its process, as proven last; 0: never */
	bool trusted;	 /* the election believes it */
	bool registered; /* with our SA, as MASTER, in this life of it */
	mono_t registered_at;
	struct transport_addr at; /* where it proved itself last; LID 0: never */
	struct told told;
	struct log_limit log; /* that it came and went */

	/* what we send */
	bool connected, hello_out, fail; /* fail: it is to be LOST by the next tick */
	bool answered;	 /* a HELLO, ever */
	bool is_foreign; /* what it answers is of no channel, or of another version */
	struct channel_pair pair;	/* of the last HELLO */
	struct channel_session next;	/* that it is to confirm */
	struct channel_session session; /* of what is sent */
	uint32_t serial;		/* of the last message */
	unsigned silent; /* MADs in a row without an answer */
	unsigned tries;	 /* HELLOs in a row without an answer */
	unsigned way;	 /* which of its addresses is tried */
	mono_t heard_at, hello_at, connected_at, lost_at;
	mono_t hastened_at; /* it said that it does not know the session */
	struct channel_out out[CHANNEL_STREAMS];

	/* what it sends */
	struct channel_session in_session;
	uint64_t turn; /* goes into our nonces; another one after each session */
	mono_t in_at;  /* it proved itself, or sent a part */
	struct channel_in in[CHANNEL_STREAMS];
};

struct channel_handler {
	channel_message_fn *fn;
	void *arg;
};

struct channel {
	const struct channel_questions *questions;
	/* channel_key.c: drawn at the first need; `life`: of this process */
	bool is_drawn, has_secret;
	uint64_t life;
	struct channel_secret own, secret;
	uint64_t sm_key, sa_key; /* which `secret` was made of */

	struct channel_peer peers[MAX_REMOTE_SMS];
	unsigned n_rows; /* of peers: those behind were never in use, and are not looked at */
	uint64_t n_sessions;	/* that were ever made by others, or forgotten: for `turn` */
	uint64_t free_turn;	/* of a manager without a row */
	struct channel_shot shots[CHANNEL_SHOTS];
	unsigned n_shots, turn; /* turn: the peer that is served first */
	size_t out_bytes, in_bytes; /* of all messages */
	mono_t blocked_until;	/* the transport is full */
	struct channel_handler handlers[CHANNEL_STREAMS];
	struct channel_stats stats;
	struct log_limit log, version_log;
};

_Static_assert(CHANNEL_PART_BYTES == CHANNEL_REPLY_MAX, "a reply fits one part");
_Static_assert(SA_DATA + CHP_BYTES + CHANNEL_PART_BYTES <= 224, "all of it arrives");
_Static_assert(CHP_TAG_W == 8 * CHANNEL_TAG_BYTES && CHM_NONCE_W == 8 * CHANNEL_NONCE_BYTES,
	       "as in keys/channel_proof.h");

/* ---- channel_part.c ---- */

uint32_t channel_segments(size_t len); /* at least 1 */
size_t channel_segment_bytes(size_t len, uint32_t segment);
/* False: it is none, or contradicts itself; *ret is filled in all the same. */
bool channel_part_read(const struct transport_event *ev, struct channel_part *ret);
/* False: it was not sealed by this key. Else part->bytes are `ret` from now on. */
bool channel_part_open(const struct transport_event *ev, const uint8_t *key,
		       struct channel_part *part, uint8_t ret[CHANNEL_PART_BYTES]);
/*
 * HELLO, WELCOME and CONFIRM have the same fields, struct channel_meeting. One function reads them
 * from a part that arrived; the other writes them as the CHM_BYTES of a part to be sent.
 */
void channel_meeting_read(const struct channel_part *part, struct channel_meeting *ret);
void channel_meeting_write(const struct channel_meeting *m, uint8_t ret[CHM_BYTES]);
/* Answers a request whose first SA_DATA bytes are `mad`. `key` NULL: part->tag as it is. */
void channel_answer(struct sm *sm, const struct transport_addr *from, const uint8_t *mad,
		    const struct channel_part *part, const uint8_t *key);
/*
 * Sends a request of `shot` (tid, sent_at and deadline are filled in), `key` as above. 0 or -errno:
 * it was not sent; -ENOTCONN: no address is known.
 */
int channel_shoot(struct sm *sm, const struct channel_shot *shot, const struct channel_part *part,
		  const uint8_t *key, unsigned timeout_ms);
/*
 * The shot that this answer, or returned request, belongs to; NULL: none, and an answer is counted
 * as one that was not asked for.
 */
struct channel_shot *channel_find_shot(struct sm *sm, const struct transport_event *ev);
void channel_free_shot(struct channel *c, struct channel_shot *shot);
void channel_free_shots(struct channel *c, unsigned peer);

/* ---- channel_key.c ---- */

/* There is a channel now: c->secret, c->own and c->life are there. */
bool channel_is_ready(struct sm *sm);
/* They differ from those that were proven; channel_is_ready() makes another secret. */
bool channel_keys_changed(const struct sm *sm);
void channel_forget_keys(struct channel *c);

/* ---- channel_row.c ---- */

struct channel_peer *peer_find(struct channel *c, guid_t guid);
/* The one whose session for what it sends this is. */
struct channel_peer *peer_of_session(struct channel *c, uint32_t session);
/* A row of its own; NULL: all are in use. */
struct channel_peer *peer_add(struct channel *c, guid_t guid);
void peer_clear(struct channel *c, struct channel_peer *p);
unsigned peer_index(const struct channel *c, const struct channel_peer *p);
/* May this one be a manager of ours, once it has proven that? */
bool peer_is_welcome(const struct sm *sm, guid_t guid);

/* ---- channel_way.c ---- */

/* LID 0: not known. */
struct transport_addr peer_address(const struct sm *sm, const struct channel_peer *p);

/* ---- channel_out.c ---- */

int out_start(struct sm *sm, struct channel_peer *p, enum channel_stream stream, uint64_t version,
	      const void *bytes, size_t len);
/* As much as may be sent now. */
void out_feed(struct sm *sm);
/* Was this answer to a segment sealed by the one that it was sent to? */
bool out_open(const struct channel_peer *p, const struct channel_shot *shot,
	      const struct transport_event *ev, struct channel_part *part,
	      uint8_t bytes[CHANNEL_PART_BYTES]);
/* Such an answer. */
void out_answer(struct sm *sm, const struct channel_shot *shot, const struct channel_part *part);
void out_silence(struct sm *sm, const struct channel_shot *shot);
/* All messages to this manager end as LOST. */
void out_lose(struct sm *sm, struct channel_peer *p);
void out_clear(struct channel *c, struct channel_out *o);
mono_t out_next(const struct sm *sm);

/* ---- channel_in.c ---- */

/* A SEGMENT of this manager, opened. */
void in_segment(struct sm *sm, struct channel_peer *p, const struct transport_event *ev,
		const struct channel_part *part);
void in_reply(struct sm *sm, struct channel_peer *p, const struct channel_ticket *ticket,
	      const void *bytes, size_t len);
void in_tick(struct sm *sm);
mono_t in_next(const struct sm *sm);
/* Nothing of the session is left. */
void in_reset(struct channel *c, struct channel_peer *p);

/* ---- channel_peer.c ---- */

void peer_seen(struct sm *sm, guid_t guid, const uint8_t *record);
/* `part` NULL: what came is none. */
void peer_answer(struct sm *sm, const struct channel_shot *shot, const struct transport_event *ev,
		 struct channel_part *part);
void peer_silence(struct sm *sm, const struct channel_shot *shot);
/* This life of it is proven: sessions with a former one are over. */
void peer_lives(struct sm *sm, struct channel_peer *p, uint64_t life);
void peer_tick(struct sm *sm);
mono_t peer_next(const struct sm *sm);
void peer_lose_all(struct sm *sm, const char *why);

/* ---- channel_meet.c ---- */

/* A request from any sender. */
void meet_receive(struct sm *sm, const struct transport_event *ev);
