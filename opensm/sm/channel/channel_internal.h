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

/* Number of MADs that may wait for an answer; of these, number that may be segments. */
#define CHANNEL_SHOTS	   80u
#define CHANNEL_DATA_SHOTS 56u
/* Segments after the first missing one that a receiver keeps. */
#define CHANNEL_WINDOW	   64u
/* Most bytes of all messages that are sent, and most bytes of all that arrive. */
#define CHANNEL_BYTES_MAX  (64u << 20)
#define VERSION_BYTES	   8u

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
	REASON_VERSION = 1, /* unknown version; VERSION of the answer is the one spoken */
	REASON_SESSION,	    /* unknown session; the sender begins with HELLO again */
	REASON_STREAM,	    /* no handler for the stream */
	REASON_LENGTH,	    /* message too long, or no memory for it */
	REASON_STALE,	    /* this message, or a later one, arrived already */
	REASON_MALFORMED,
};

struct channel_part {
	enum channel_kind kind;
	uint8_t version, stream, reason;
	uint32_t session, serial, length, offset;
	struct channel_tag tag;
	const uint8_t *bytes; /* contents of the segment, reply or meeting; `n` bytes */
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
	uint32_t tid; /* transaction ID; 0: free */
	unsigned peer;
	/* SHOT_SEGMENT: segment number `segment` of a message */
	enum { SHOT_SEGMENT, SHOT_HELLO, SHOT_CONFIRM } what;
	uint8_t stream;
	uint32_t segment;
	lid_t lid;
	mono_t sent_at, deadline;
};

/* A message that is sent. */
struct channel_out {
	bool busy;
	uint8_t *bytes; /* the version and the message; owned */
	size_t len;	/* bytes of the version and the message */
	uint32_t serial;
	uint32_t n_segments, base; /* base: first segment that the receiver lacks */
	/* bit n: segment base + n was received; segment base + n waits for an answer */
	uint64_t done, out;
	uint32_t fresh; /* first segment that was never sent */
	unsigned window, shots;
	mono_t not_before; /* time before which nothing is sent */
	mono_t cut_at;	   /* time of the last reduction of the window */
	/* time at which the receiver had it whole; MONO_NEVER: not yet */
	mono_t pending_since;
	channel_reply_fn *on_reply;
	void *arg;
};

/* A message that arrives. */
struct channel_in {
	enum { IN_NONE, IN_COMING, IN_WORKING, IN_REPLIED } state;
	uint8_t *bytes; /* contents so far; owned */
	size_t len, cap;
	uint32_t serial; /* with IN_NONE: the last message that is done with */
	uint32_t n_segments, base;
	uint64_t got;	   /* bit n: segment base + n has arrived */
	mono_t touched_at; /* time at which a part of it last arrived */
	/* The request that is answered when the handler has replied. */
	bool held;
	uint32_t held_segment; /* segment that completed the message */
	mono_t held_since;
	struct transport_addr held_from;
	uint8_t held_mad[SA_DATA];
	uint8_t reply[CHANNEL_REPLY_MAX];
	size_t reply_len;
};

/* Findings logged once about a manager: another version, or no channel; other keys. */
enum { TOLD_VERSION, TOLD_KEYS };

/* Another manager, with what we send to it and what it sends. */
struct channel_peer {
	guid_t guid;	 /* port GUID; 0: free */
	uint64_t life;	 /* number of its process, as proven last; 0: never */
	bool trusted;	 /* set if the election believes it */
	bool registered; /* set if this process of it has registered with our SA as MASTER */
	mono_t registered_at;
	struct transport_addr at; /* address at which it last proved itself; LID 0: never */
	struct told told;
	struct log_limit log; /* limits records that it went */
	bool lost_told;	      /* set if a record says that it went, and none that it is back */

	/* Our direction. */
	bool connected, hello_out, fail; /* fail: the next tick disconnects it */
	bool answered;			 /* set if it ever answered a HELLO */
	/* set if it answers, but not as a manager with this version of the channel does */
	bool is_foreign;
	struct channel_pair pair; /* keys of the last HELLO */
	struct channel_session next;	/* session that it is to confirm */
	struct channel_session session; /* session in which we send */
	uint32_t serial;		/* number of the last message */
	unsigned silent;		/* MADs in a row without an answer */
	unsigned tries;			/* HELLOs in a row without an answer */
	unsigned way;			/* index of the address that is tried */
	mono_t heard_at, hello_at, connected_at, lost_at;
	mono_t hastened_at; /* time at which it reported the session as unknown */
	struct channel_out out[CHANNEL_STREAMS];

	/* Its direction. */
	struct channel_session in_session;
	uint64_t turn; /* input to our nonces; changes after each session */
	mono_t in_at;  /* time at which it last proved itself or sent a part */
	struct channel_in in[CHANNEL_STREAMS];
};

struct channel_handler {
	channel_message_fn *fn;
	void *arg;
};

struct channel {
	const struct channel_questions *questions;
	mono_t master_since; /* start of the state MASTER; MONO_NEVER: in another state */
	/* channel_key.c: drawn when first needed; `life`: number of this process. */
	bool is_drawn, has_secret;
	uint64_t life;
	struct channel_secret own, secret;
	uint64_t sm_key, sa_key; /* keys that `secret` was made from */

	struct channel_peer peers[MAX_REMOTE_SMS];
	unsigned n_rows; /* rows of `peers` ever in use; loops end there */
	/* number of sessions made by others, or forgotten; source of `turn` */
	uint64_t n_sessions;
	uint64_t free_turn; /* `turn` for managers without a row */
	struct channel_shot shots[CHANNEL_SHOTS];
	unsigned n_shots, turn;	    /* turn: index of the peer that is served first */
	size_t out_bytes, in_bytes; /* bytes of all messages sent; of all that arrive */
	mono_t blocked_until;	    /* end of a pause after the transport was full */
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
/* Reads a part. False: no part, or one that contradicts itself; *ret is filled in nevertheless. */
bool channel_part_read(const struct transport_event *ev, struct channel_part *ret);
/* Decrypts a part. False: it was not sealed by this key. True: part->bytes point to `ret`. */
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
 * Sends a request of `shot`, whose tid, sent_at and deadline are filled in; `key` as for
 * channel_answer(). Returns 0; or -errno: it was not sent; -ENOTCONN: no address is known.
 */
int channel_shoot(struct sm *sm, const struct channel_shot *shot, const struct channel_part *part,
		  const uint8_t *key, unsigned timeout_ms);
/*
 * The shot that this answer, or returned request, belongs to; NULL: none. An answer without a shot
 * is counted as unrequested.
 */
struct channel_shot *channel_find_shot(struct sm *sm, const struct transport_event *ev);
void channel_free_shot(struct channel *c, struct channel_shot *shot);
void channel_free_shots(struct channel *c, unsigned peer);

/* ---- channel_key.c ---- */

/* Makes c->secret, c->own and c->life if they are missing. False: there can be no channel now. */
bool channel_is_ready(struct sm *sm);
/* They differ from those that were proven; channel_is_ready() makes another secret. */
bool channel_keys_changed(const struct sm *sm);
void channel_forget_keys(struct channel *c);

/* ---- channel_row.c ---- */

struct channel_peer *peer_find(struct channel *c, guid_t guid);
/* The manager that sends to us in this session. */
struct channel_peer *peer_of_session(struct channel *c, uint32_t session);
/* Adds a row for this manager; NULL: all are in use. */
struct channel_peer *peer_add(struct channel *c, guid_t guid);
void peer_clear(struct channel *c, struct channel_peer *p);
unsigned peer_index(const struct channel *c, const struct channel_peer *p);
/* May this manager become one of ours if it proves that? */
bool peer_is_welcome(const struct sm *sm, guid_t guid);

/* ---- channel_way.c ---- */

/* The address at which this manager is tried; LID 0: not known. */
struct transport_addr peer_address(const struct sm *sm, const struct channel_peer *p);

/* ---- channel_out.c ---- */

int out_start(struct sm *sm, struct channel_peer *p, enum channel_stream stream, uint64_t version,
	      const void *bytes, size_t len);
/* Sends as many segments as may be sent now. */
void out_feed(struct sm *sm);
/* Was this answer to a segment sealed by the manager that it was sent to? */
bool out_open(const struct channel_peer *p, const struct channel_shot *shot,
	      const struct transport_event *ev, struct channel_part *part,
	      uint8_t bytes[CHANNEL_PART_BYTES]);
/* Takes an answer to a segment that out_open() accepted. */
void out_answer(struct sm *sm, const struct channel_shot *shot, const struct channel_part *part);
void out_silence(struct sm *sm, const struct channel_shot *shot);
/* Ends all messages to this manager as LOST. */
void out_lose(struct sm *sm, struct channel_peer *p);
void out_clear(struct channel *c, struct channel_out *o);
mono_t out_next(const struct sm *sm);

/* ---- channel_in.c ---- */

/* Takes a decrypted SEGMENT of this manager. */
void in_segment(struct sm *sm, struct channel_peer *p, const struct transport_event *ev,
		const struct channel_part *part);
void in_reply(struct sm *sm, struct channel_peer *p, const struct channel_ticket *ticket,
	      const void *bytes, size_t len);
void in_tick(struct sm *sm);
mono_t in_next(const struct sm *sm);
/* Drops what is left of the session in which this manager sends. */
void in_reset(struct channel *c, struct channel_peer *p);

/* ---- channel_peer.c ---- */

void peer_seen(struct sm *sm, guid_t guid, const uint8_t *record);
/* Takes an answer to HELLO or CONFIRM; `part` NULL: it is no part of a channel. */
void peer_answer(struct sm *sm, const struct channel_shot *shot, const struct transport_event *ev,
		 struct channel_part *part);
void peer_silence(struct sm *sm, const struct channel_shot *shot);
/* Takes the proven number of its process: sessions with a former process end. */
void peer_lives(struct sm *sm, struct channel_peer *p, uint64_t life);
void peer_tick(struct sm *sm);
mono_t peer_next(const struct sm *sm);
void peer_lose_all(struct sm *sm, const char *why);

/* ---- channel_meet.c ---- */

/* Takes a request from any sender. */
void meet_receive(struct sm *sm, const struct transport_event *ev);
