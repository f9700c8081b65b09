// SPDX-License-Identifier: BSD-2-Clause
/*
 * A channel from the master to each standby of ours: whole messages of up to 16 MiB, each answered
 * by a short reply of the receiver.
 *
 *   master    channel_send() ----parts of 128 bytes---> channel_register()ed handler    standby
 *             on_reply() <----------one reply---------- channel_reply(), at once or later
 *
 * For a standby, as the master sees it:
 *
 *   UNKNOWN --registers with our SA, and announces a channel--> KNOWN --answers HELLO--> CONNECTED
 *      ^                                                          ^                         |
 *      '------------------ not heard of for 10 minutes -----------'--silent, restarted, or--'
 *                                                                    we are not MASTER now
 *
 * NEWS_STANDBY_CONNECTED and NEWS_STANDBY_LOST tell when a standby enters and leaves CONNECTED.
 *
 * Parts are plain GMPs of class SA on QP1 (no RMPP, which ibsim lacks): Set(0xFF4D) and GetResp.
 * A standby takes them only from the port of the master it follows, if that is one of ours and
 * knows sa_key. A manager that is locked out, and has registered as a manager with the master that
 * its own port names, takes keys and cables of that one (replica_seek_keys()). Lost parts are sent
 * again, in any order they arrive, several at a time.
 *
 * A message is handed to the handler whole, once, and after those sent before it. Only a break
 * (another session) between its arrival and its reply can bring it twice: then with the same
 * version. On each stream one message is under way per standby.
 *
 * Not here: what messages mean. A manager without a channel (an older version, a foreign one) is
 * never sent a part.
 */
#pragma once

#include "opensm/transport.h"
#include "sm/sm.h"

/* Of this protocol; announced in SMC_CHANNEL. */
#define CHANNEL_VERSION	    1
#define CHANNEL_MESSAGE_MAX (16u << 20)
#define CHANNEL_REPLY_MAX   128

enum channel_stream {
	CHANNEL_TENANTS, /* the store of partitions at run time */
	CHANNEL_CONFIG,	 /* the master's configuration */
	CHANNEL_KEYS,	 /* seeds of M_Keys: secret */
	CHANNEL_CABLES,	 /* which ports are cabled to each other */
	CHANNEL_LINES,	 /* M_Keys of ports that are absent: secret */
	CHANNEL_LEDGER,
	CHANNEL_STREAMS
};

enum channel_end {
	CHANNEL_REPLIED, /* `bytes`, `len`: the reply */
	CHANNEL_REFUSED, /* the standby has no handler for the stream, or cannot keep so much */
	CHANNEL_LOST,	 /* the standby is not connected any more, or never replied */
};

/*
 * The end of a message that was sent, called once from within sm_dispatch(). Another message may be
 * sent from within. `bytes` are valid during the call.
 */
typedef void channel_reply_fn(struct sm *sm, void *arg, guid_t peer, enum channel_end end,
			      const uint8_t *bytes, size_t len);

/* Which message a reply is for. */
struct channel_ticket {
	enum channel_stream stream;
	uint32_t session, serial;
};

struct channel_message {
	guid_t from;	  /* port of the master */
	uint64_t version; /* as the sender gave it */
	/* valid during the call; the handler may take() them, and frees them then */
	uint8_t *bytes;
	size_t len;
	struct channel_ticket ticket;
};
typedef void channel_message_fn(struct sm *sm, void *arg, struct channel_message *m);

/* A standby that is connected now. */
struct channel_standby {
	guid_t guid;
	bool busy[CHANNEL_STREAMS]; /* a message is under way */
};

struct channel_stats {
	uint64_t parts_sent, parts_again; /* as MASTER; `again` are in `sent` too */
	uint64_t parts_received;	  /* as STANDBY, repetitions included */
	uint64_t messages_sent, messages_received;
	uint64_t strangers; /* parts that did not come from the master we follow */
	uint64_t refused;   /* parts of the master that were out of order or damaged */
};

struct channel;

/* Questions of the channel that machines above answer. */
struct channel_questions {
	/*
	 * Does a GMP come from the port of the master that we follow in STANDBY, and is that one of
	 * ours? Or, while we are locked out, of the one that we asked for keys?
	 */
	bool (*is_from_master)(const struct sm *sm, const struct transport_addr *from);
	uint8_t (*path_sl)(const struct sm *sm, lid_t lid);
};

/* `questions` outlive it. */
void channel_new(struct sm *sm, const struct channel_questions *questions);
/* Messages under way end without a call of on_reply. */
void channel_free(struct sm *sm);

/*
 * As MASTER: sends `len` bytes (0 to CHANNEL_MESSAGE_MAX; copied) to the standby on port `peer`.
 * `on_reply` is called once, later, never from within. 0; -EMSGSIZE: longer; -ENOTCONN: no such
 * standby is connected; -EBUSY: a message is under way on this stream to it; -ENOBUFS: too much is
 * under way to all.
 */
int channel_send(struct sm *sm, guid_t peer, enum channel_stream stream, uint64_t version,
		 const void *bytes, size_t len, channel_reply_fn *on_reply, void *arg);
/* The n-th standby (from 0) that is connected; false: there are no more. */
bool channel_standby_at(const struct sm *sm, unsigned n, struct channel_standby *ret);
/* Did this one announce a channel, lately? */
bool channel_is_known(const struct sm *sm, guid_t guid);
bool channel_is_secret(const struct sm *sm);
bool channel_has_answered(const struct sm *sm, guid_t guid);
/* Is this one connected? */
bool channel_is_connected(const struct sm *sm, guid_t guid);

/* As STANDBY: messages of the stream go to `fn`. NULL: they are refused. Counts until changed. */
void channel_register(struct sm *sm, enum channel_stream stream, channel_message_fn *fn, void *arg);
/*
 * The reply (at most CHANNEL_REPLY_MAX bytes) to a message, from within its handler or later. One
 * to a message that is not waited for any more has no effect.
 */
void channel_reply(struct sm *sm, const struct channel_ticket *ticket, const void *bytes,
		   size_t len);

/* A manager registered with our SA (`record`: SVR_BYTES; NULL: it asked for managers). */
void channel_manager_seen(struct sm *sm, guid_t guid, const uint8_t *record);
/* After every change of state. */
void channel_state_changed(struct sm *sm);
/* A GMP of class SA. True: it was for the channel, and is done with. */
bool channel_receive(struct sm *sm, const struct transport_event *ev);
void channel_tick(struct sm *sm);
mono_t channel_next(const struct sm *sm);
const struct channel_stats *channel_stats(const struct sm *sm);
