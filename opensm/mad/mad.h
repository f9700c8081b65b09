// SPDX-License-Identifier: BSD-2-Clause
/*
 * MAD transactions: a question goes out, and ends exactly once.
 *
 *   queued --window has room--> on the wire --response---------> ANSWERED or BAD_STATUS
 *      \                           |    ^---no answer in time, tries left (a fresh TID)
 *       \                          \-----tries used up----------> TIMEOUT
 *        \--not wanted any more, owner cancelled----------------> CANCELLED
 *
 * The window: at most `max_wire` requests are on the wire; when no response arrived for
 * `stall` the window may grow by one at a time up to `max_wire2` until responses flow again. A
 * request whose answer is overdue does not count: what was lost does not keep the window empty.
 * Where the transport keeps the window (transport.h), a few more requests wait in front of it.
 *
 * Tries: where round trips are known, a request is repeated when its answer is overdue, then after
 * twice that time, and so on up to the timeout; from there on once per timeout. It is given up
 * after `retries` + 1 timeouts, as without repetitions: a slow agent has as long as ever. The
 * answer to any try ends it. `retries` 0: one try and no more.
 *
 * Ids: every try has one that cannot be guessed (tids.h). An answer is one to the request with its
 * id, if it comes from where that was sent to: over the same directed route, or from the same LID;
 * and if class, attribute and modifier are those asked for. All else is counted (enum mad_stray),
 * told to the owner of the engine, and ends nothing.
 *
 * Targets carry what is known about one destination: how much is on its wire (small SMA queues) and
 * whether it is silent. A silent target's requests get one try instead of all, and between
 * failures it rests for a growing time (backoff); so one dead node costs its own timeouts only. A
 * question to a silent target leaves the window when its answer is overdue, up to 64 of them.
 *
 * The engine reads no clock, and a completion may submit, never dispatch.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ib/mad.h"
#include "opensm/transport.h"
#include "util/mono.h"

struct mad_engine;

/* Source of transaction IDs. `fn` NULL: the kernel's random numbers; tests use others. */
struct mad_draw {
	void (*fn)(void *arg, void *ret, size_t len);
	void *arg;
};

struct mad_params {
	unsigned max_wire;  /* >= 1 */
	unsigned max_wire2; /* window while no response arrives; no effect if <= max_wire */
	/* time without a response after which the window grows (max_smps_timeout) */
	mono_t stall;
	unsigned timeout_ms; /* timeout of one try */
	unsigned long_timeout_ms;
	unsigned retries;      /* tries after the first */
	unsigned per_target;   /* most requests under way to one target; 0: no limit */
	unsigned silent_after; /* failures in a row that make a target silent; 0: 1 */
	struct mad_draw draw;  /* read by mad_new() only */
};

struct mad_xact;

/* Round trips to one destination, or to all; written by the engine. */
enum mad_rtt_kind { MAD_RTT_GET, MAD_RTT_SET, MAD_RTTS };
struct mad_rtt {
	uint32_t mean, spread; /* microseconds; mean 0: not known */
};

/* A list of transactions; private to the engine. */
struct mad_xacts {
	struct mad_xact *first, *last;
};

/*
 * State of one destination; zero-initialised by its owner, which cancels before freeing or moving
 * it. The first three members may be read by all, and are written by the engine alone.
 */
struct mad_target {
	unsigned on_wire;  /* requests sent to it and neither answered nor given up */
	unsigned failures; /* requests in a row that ended in TIMEOUT; any answer clears it */
	mono_t rest_until; /* no new request before this time while it is silent */
	mono_t rest;	   /* length of the last pause: 1 s, doubled up to 60 s */
	struct mad_rtt rtt[MAD_RTTS];
	/* Set if the last request of the kind had no answer at all: no early repetitions. */
	bool mute[MAD_RTTS];
	/* set if its last answer took a large part of the timeout */
	bool slow;
	uint64_t answered_order;	  /* number of the latest try that it answered */
	mono_t answered_at;		  /* time of its last answer */
	struct mad_xacts members, parked; /* all its requests; those that wait for its limit */
};

enum mad_end { MAD_END_ANSWERED, MAD_END_BAD_STATUS, MAD_END_TIMEOUT, MAD_END_CANCELLED };

struct mad_request {
	uint8_t method; /* MAD_GET or MAD_SET */
	uint16_t attr;
	uint32_t mod;
	uint64_t m_key;
	const struct dr_path *path; /* copied; NULL: the request is LID-routed */
	lid_t lid;		    /* destination, if path is NULL */
	/* LMC of the destination: the answer may come from any LID of its range */
	uint8_t lmc;
	const uint8_t *payload; /* SMP_DATA_SIZE bytes, copied; NULL: zeroes */
	bool long_timeout;
	/*
	 * Sent at once, ahead of all others, even if the window is full, and not counted in it. For
	 * a few requests per second.
	 */
	bool urgent;
	struct mad_target *target; /* NULL: none */
	/*
	 * Called just before the first send; false ends the request as CANCELLED without sending.
	 * NULL: always wanted. Must not call the engine.
	 */
	bool (*wanted)(void *owner, void *arg);
};

struct mad_result {
	enum mad_end end;
	/* set if sent at least once; false: its target paused, or it was cancelled before */
	bool sent;
	uint16_t status; /* status of the response (15 bits); 0 unless ANSWERED or BAD_STATUS */
	uint8_t method;	 /* as requested */
	uint16_t attr;
	uint32_t mod;
	uint64_t m_key;
	/* payload of the response, valid during the call; NULL: no response */
	const uint8_t *payload;
	void *arg;
	mono_t now;
};

/* May the M_Key of the request be wrong: was it sent, and not answered? */
static inline bool mad_doubts_key(const struct mad_result *r)
{
	return r->end == MAD_END_TIMEOUT && r->sent;
}

typedef void (*mad_done_fn)(void *owner, const struct mad_result *result);

struct mad_engine *mad_new(struct transport *tr, const struct mad_params *params);
/* Ends pending requests as CANCELLED without calling back. NULL is fine; returns NULL. */
struct mad_engine *mad_free(struct mad_engine *e);
void mad_set_params(struct mad_engine *e, const struct mad_params *params);

/*
 * Queues a request; it goes out in mad_dispatch(), in order of submission as far as window and
 * targets allow, urgent ones first. `on_done(owner, ...)` is called exactly once, never from inside
 * mad_submit().
 */
void mad_submit(struct mad_engine *e, const struct mad_request *rq, mad_done_fn on_done,
		void *owner, void *arg);

/*
 * Ends all requests of `owner` (only those to `target` if that is not NULL) as MAD_END_CANCELLED,
 * called back at once. Requests submitted from within a callback are spared.
 */
void mad_cancel(struct mad_engine *e, void *owner, struct mad_target *target);

/*
 * Cancels all requests of `attr`, of any owner: no Set is repeated, and late answers are ignored.
 */
void mad_cancel_attr(struct mad_engine *e, uint16_t attr);

/* Is the target silent after many failures? Its requests get one try then. NULL is not silent. */
bool mad_target_silent(const struct mad_engine *e, const struct mad_target *target);

/* One agent answers for both: measurements of `probed` hold for `target`, if it has none. */
void mad_target_is(struct mad_target *target, const struct mad_target *probed);

/* Notes that the target was heard in another way: it is not silent any more. */
void mad_target_revive(struct mad_target *target);

/*
 * Ends the pause of a silent target: its next request is sent, with the one try of a silent target.
 */
void mad_target_wake(struct mad_target *target);

/*
 * Sends a MAD that expects no answer: a response, TrapRepress, a last Set. Queued requests are not
 * sent before the next dispatch then. Returns 0 or -errno.
 */
int mad_send_once(struct mad_engine *e, const struct transport_addr *to, const uint8_t *mad);

/*
 * Sets the function that takes unsolicited MADs (requests, traps). `from` and `mad` are valid
 * during the call.
 */
typedef void (*mad_inbox_fn)(void *owner, const struct transport_addr *from, const uint8_t *mad,
			     mono_t now);
void mad_set_inbox(struct mad_engine *e, mad_inbox_fn fn, void *owner);

/*
 * GMPs (all classes but the two of SMPs) are no transactions here: requests, responses and
 * unanswered queries go to `fn` as they arrive. `ev` is valid during the call; `fn` may keep
 * ev->whole by taking it.
 */
typedef void (*mad_gmp_fn)(void *owner, struct transport_event *ev, mono_t now);
void mad_set_gmp(struct mad_engine *e, mad_gmp_fn fn, void *owner);
/*
 * A new transaction ID for a GMP to LID `to` that expects an answer: random, and not used lately.
 */
uint32_t mad_gmp_tid(struct mad_engine *e, lid_t to);
/* A random number of 64 bits, never 0. */
uint64_t mad_nonce(struct mad_engine *e);
/* A new transaction ID for an SMP that is not waited for; `path` NULL: to LID `to`. */
uint32_t mad_once_tid(struct mad_engine *e, const struct dr_path *path, lid_t to);
/*
 * Sends one GMP message of `length` bytes (more than 256: RMPP). timeout_ms 0: no answer expected;
 * else the answer, or the message itself, comes to `fn` once. 0 or -errno of the transport.
 */
int mad_send_gmp(struct mad_engine *e, const struct transport_addr *to, const uint8_t *mad,
		 size_t length, unsigned timeout_ms);

/*
 * Takes in at most `limit` MADs, runs completions and timers, then fills the window. Returns the
 * number of MADs taken in; if that is `limit`, there may be more. -ENODEV: the port is gone, and
 * every request has ended as TIMEOUT.
 */
int mad_dispatch(struct mad_engine *e, mono_t now, unsigned limit);
/* The time at which dispatch must be called even if nothing arrives; MONO_NEVER: none. */
mono_t mad_next(const struct mad_engine *e);
/* The number of requests ended since the start: tells whether a dispatch called an owner back. */
uint64_t mad_ended(const struct mad_engine *e);
/* The number of requests queued or under way. */
unsigned mad_pending(const struct mad_engine *e);
unsigned mad_on_wire(const struct mad_engine *e); /* number of these that are under way */

/* Counters of SMPs sent, per attribute and method; `sent` includes `retries`. */
struct mad_count {
	uint16_t attr;
	uint8_t method;
	uint64_t sent, answered, bad_status, timeouts, retries;
};
/* Rows used so far, in order of first use; valid until the next dispatch. */
const struct mad_count *mad_counts(const struct mad_engine *e, unsigned *ret_n);
uint64_t mad_sent(const struct mad_engine *e,
		  uint8_t method); /* sum over attributes; method 0: all methods */
/* The number of SMPs answered, with any status, over all attributes but one. */
uint64_t mad_answered(const struct mad_engine *e, uint16_t but);

/* The reasons why an answer ends no request. */
enum mad_stray {
	/* answer to a try that had ended: late, repeated, cancelled meanwhile */
	MAD_STRAY_LATE,
	MAD_STRAY_UNASKED,    /* transaction ID that is not, and was not lately, in use */
	MAD_STRAY_ELSEWHERE,  /* right ID, from another LID or over another directed route */
	MAD_STRAY_MISMATCHED, /* right ID, wrong class, method, attribute, modifier or length */
	MAD_STRAYS
};
const char *mad_stray_name(enum mad_stray why); /* "late" ... */
/* Their numbers, of SMPs and GMPs, by enum mad_stray. */
const uint64_t *mad_strays(const struct mad_engine *e);

/* Called for each such answer except late ones: it may be forged. */
typedef void (*mad_stray_fn)(void *owner, enum mad_stray why, const struct transport_addr *from,
			     const uint8_t *mad, mono_t now);
void mad_set_stray(struct mad_engine *e, mad_stray_fn fn, void *owner);
/*
 * Called before each try of a Set. True: nothing more is sent in this dispatch, as the owner has to
 * check something first.
 */
typedef bool (*mad_hold_fn)(void *owner, uint16_t attr);
void mad_set_hold(struct mad_engine *e, mad_hold_fn fn, void *owner);
/*
 * Counts and reports a stray answer to a GMP, as its owner judges: `why` is UNASKED (late, if the
 * ID was drawn for the LID that it comes from), ELSEWHERE or MISMATCHED.
 */
void mad_refuse_gmp(struct mad_engine *e, enum mad_stray why, const struct transport_event *ev);
