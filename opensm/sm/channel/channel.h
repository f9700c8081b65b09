// SPDX-License-Identifier: BSD-2-Clause
/*
 * A channel between managers of ours: whole messages of up to 16 MiB, each answered by a short
 * reply of the receiver. Each of two managers opens its own direction, in which it sends:
 *
 *   one       channel_send() ----parts of 128 bytes---> channel_register()ed handler    the other
 *             on_reply() <----------one reply---------- channel_reply(), at once or later
 *
 *   UNKNOWN --the election believes it, it registered with our SA, or proved itself--> KNOWN
 *      ^                                                                          |  ^
 *      |                                  HELLO, WELCOME, CONFIRM: both sides proven |
 *      |                                                                          v  |
 *      '--not heard of for 10 minutes-- KNOWN <--silent, or started anew--    CONNECTED
 *
 * NEWS_STANDBY_CONNECTED and NEWS_STANDBY_LOST tell when a manager enters and leaves CONNECTED, in
 * every state of ours but NOT_ACTIVE, in which there is no channel.
 *
 * Parts are plain GMPs of class SA on QP1 (no RMPP, which ibsim lacks): Set(0xFF4D) and GetResp.
 * Lost parts are sent again, in any order they arrive, several at a time. A message is handed to
 * the handler whole, once, and after those sent before it. Only a break (another session) between
 * its arrival and its reply can bring it twice. On each stream one message is under way to each
 * manager.
 *
 * What a sender must have: sm_key and sa_key as they are here, proven over fresh nonces, and a GUID
 * that allowed_sm_guids has. Where one of the keys is 0 or 1, as every distribution has it, it also
 * must be a manager that the election believes or that registered with our SA: then any host of the
 * subnet may be one. A manager that is connected is believed in all that it tells, also in rows
 * that other managers wrote.
 *
 * With keys that are not known, a host that reads and sends whatever it likes
 *   can     see which managers there are, when they speak, and how much; delay or drop parts, and
 *           so keep two managers apart; have HELLOs answered, each by one MAD, without a trace in
 *           memory
 *   cannot  read or change a message or reply, invent one, or have one taken in twice or later; end
 *           a session, or keep one from being made, by what it sends; make a manager keep anything
 *           for it
 * Neither key is sent, nor a thing by which one of them could be tried without the other. With one
 * of them known, the other can be tried on a proof that was recorded: 2^64 times. With both known
 * later, what was recorded before can be read.
 *
 * Not here: what messages mean. To a manager without a channel (an older version, a foreign one)
 * a HELLO is sent, and nothing more.
 */
#pragma once

#include "opensm/transport.h"
#include "sm/sm.h"

/* The version of this protocol; announced in SMC_CHANNEL. */
#define CHANNEL_VERSION	    3
#define CHANNEL_MESSAGE_MAX (16u << 20)
#define CHANNEL_REPLY_MAX   128

/* Messages to one manager: on each stream one is under way at a time. */
enum channel_stream {
	CHANNEL_LEDGER, /* rows */
	CHANNEL_STREAMS
};

enum channel_end {
	CHANNEL_REPLIED, /* the reply is in `bytes`, `len` */
	CHANNEL_REFUSED, /* the peer has no handler for the stream, or no memory for the message */
	CHANNEL_LOST,	 /* the peer is not connected any more, or never replied */
};

/*
 * Called once at the end of a message that was sent, from within sm_dispatch(). Another message may
 * be sent from within it. `bytes` are valid during the call.
 */
typedef void channel_reply_fn(struct sm *sm, void *arg, guid_t peer, enum channel_end end,
			      const uint8_t *bytes, size_t len);

/* Names the message that a reply belongs to. */
struct channel_ticket {
	enum channel_stream stream;
	uint32_t session, serial;
};

struct channel_message {
	guid_t from;	  /* port of the sender */
	uint64_t version; /* as the sender gave it */
	/* Valid during the call; the handler may take() them, and then frees them. */
	uint8_t *bytes;
	size_t len;
	struct channel_ticket ticket;
};
typedef void channel_message_fn(struct sm *sm, void *arg, struct channel_message *m);

/* The state of another manager, for administrators and for the ledger. */
struct channel_peer_view {
	guid_t guid;
	bool connected; /* messages can be sent to it */
	bool known;	/* it has answered a HELLO of this process */
	mono_t since;	/* time at which it was connected or lost; 0: never connected */
};

struct channel_stats {
	/* parts_again: repetitions, which are in parts_sent, too */
	uint64_t parts_sent, parts_again;
	uint64_t parts_received; /* of a session, repetitions included */
	uint64_t messages_sent, messages_received;
	uint64_t strangers; /* requests whose sender is not, or cannot be, proven */
	uint64_t refused;   /* parts of a session that were out of order or of no use */
	uint64_t damaged;   /* parts that name a session but are not sealed by its key */
};

/* Questions of the channel that machines above it answer. */
struct channel_questions {
	uint8_t (*path_sl)(const struct sm *sm, lid_t lid);
};

/* `questions` must stay valid until channel_free(). */
void channel_new(struct sm *sm, const struct channel_questions *questions);
/* Ends messages under way without a call of on_reply. */
void channel_free(struct sm *sm);

/*
 * Sends `len` bytes (0 to CHANNEL_MESSAGE_MAX; copied) to the manager on port `peer`, in every
 * state but NOT_ACTIVE. `on_reply` is called once, later, never from within. 0; -EMSGSIZE: longer;
 * -ENOTCONN: no such manager is connected; -EBUSY: a message is under way on this stream to it;
 * -ENOBUFS: too much is under way to all.
 */
int channel_send(struct sm *sm, guid_t peer, enum channel_stream stream, uint64_t version,
		 const void *bytes, size_t len, channel_reply_fn *on_reply, void *arg);
/* Is the manager on this port connected? */
bool channel_is_connected(const struct sm *sm, guid_t guid);
/* Are both keys of the channel secret (not 0, 1 or drawn here)? Else no secret may be sent. */
bool channel_is_secret(const struct sm *sm);
/* The n-th known manager (from 0), connected or not; false: there are no more. */
bool channel_peer_at(const struct sm *sm, unsigned n, struct channel_peer_view *ret);
/* Has this manager answered a HELLO of this process? */
bool channel_has_answered(const struct sm *sm, guid_t guid);
/* A number that this process drew at its start; the one that another port proved last, 0: never. */
uint64_t channel_own_life(struct sm *sm);
uint64_t channel_life_of(const struct sm *sm, guid_t guid);
/* HELLOs in a row that this manager did not answer; 0: it is connected, or none was sent. */
unsigned channel_tries(const struct sm *sm, guid_t guid);

/*
 * Standbys: as MASTER, managers that have registered with our SA and announced a channel, lately
 * and since they started.
 */

/* The n-th standby (from 0) that is connected; false: there are no more. */
bool channel_standby_at(const struct sm *sm, unsigned n, guid_t *ret);
/* Is this one a standby? */
bool channel_is_known(const struct sm *sm, guid_t guid);
/* Is this manager a connected standby? */
bool channel_is_standby(const struct sm *sm, guid_t guid);

/* Sends messages of the stream to `fn` from now on. NULL: they are refused. */
void channel_register(struct sm *sm, enum channel_stream stream, channel_message_fn *fn, void *arg);
/*
 * Sends the reply (at most CHANNEL_REPLY_MAX bytes) to a message, from within its handler or later.
 * A reply to a message that is not waited for any more has no effect.
 */
void channel_reply(struct sm *sm, const struct channel_ticket *ticket, const void *bytes,
		   size_t len);

/* A manager registered with our SA (`record`: SVR_BYTES; NULL: it asked for managers). */
void channel_manager_seen(struct sm *sm, guid_t guid, const uint8_t *record);
/* Called after every change of state. */
void channel_state_changed(struct sm *sm);
/* Takes a GMP of class SA. True: it belonged to the channel, and is done with. */
bool channel_receive(struct sm *sm, const struct transport_event *ev);
void channel_tick(struct sm *sm);
mono_t channel_next(const struct sm *sm);
const struct channel_stats *channel_stats(const struct sm *sm);
